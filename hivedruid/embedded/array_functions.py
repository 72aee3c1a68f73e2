"""Druid's array functions, and the same for multi-value strings (`mv_…`), as SQL."""

from __future__ import annotations

from collections.abc import Callable

from hivedruid.embedded.sql import Sql, as_array, as_long, as_string, cast, combine, common_type
from hivedruid.embedded.string_functions import java_regex, literal_text
from hivedruid.errors import DruidError

Function = tuple[int, int, Callable[[list[Sql]], Sql]]


def _array(arguments: list[Sql]) -> Sql:
    element = common_type(arguments)
    element = {"NULL": "STRING", "BOOLEAN": "LONG", "FLOAT": "DOUBLE"}.get(element, element)
    values = [cast(argument, element) for argument in arguments]
    return combine("[" + ", ".join(value.text for value in values) + "]", f"ARRAY<{element}>", *values)


def _as_any_array(value: Sql) -> Sql:
    if value.is_array:
        return value
    element = {"NULL": "STRING", "BOOLEAN": "LONG", "FLOAT": "DOUBLE"}.get(value.type, value.type)
    return as_array(value, f"ARRAY<{element}>")


def _array_length(arguments: list[Sql]) -> Sql:
    array = _as_any_array(arguments[0])
    return combine(f"CAST(len({array.text}) AS BIGINT)", "LONG", array)


def _array_contains(arguments: list[Sql]) -> Sql:
    array = _as_any_array(arguments[0])
    if arguments[1].is_array:
        return combine(f"list_has_all({array.text}, {as_array(arguments[1], array.type).text})", "BOOLEAN", *arguments)
    sought = cast(arguments[1], array.type[len("ARRAY<") : -1])
    return combine(f"list_contains({array.text}, {sought.text})", "BOOLEAN", array, sought)


def _array_overlap(arguments: list[Sql]) -> Sql:
    array = _as_any_array(arguments[0])
    other = as_array(_as_any_array(arguments[1]), array.type)
    return combine(f"list_has_any({array.text}, {other.text})", "BOOLEAN", array, other)


def _scalar_in_array(arguments: list[Sql]) -> Sql:
    scalar, array = arguments
    if array.type == "NULL":
        return Sql("CAST(NULL AS BOOLEAN)", "BOOLEAN")
    array = _as_any_array(array)
    scalar = cast(scalar, array.type[len("ARRAY<") : -1])
    found = f"list_contains({array.text}, {scalar.text})"
    null_in = f"list_position({array.text}, NULL) IS NOT NULL"
    sql = f"(CASE WHEN {scalar.text} IS NULL THEN CASE WHEN {null_in} THEN TRUE END ELSE {found} END)"
    return combine(sql, "BOOLEAN", scalar, array)


def _array_to_string(arguments: list[Sql]) -> Sql:
    array = as_array(_as_any_array(arguments[0]), "ARRAY<STRING>")
    separator = as_string(arguments[1])
    shown = f"list_transform({array.text}, lambda e: coalesce(e, 'null'))"
    return combine(f"array_to_string({shown}, {separator.text})", "STRING", array, separator)


def _array_at(first: int) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        array, index = _as_any_array(arguments[0]), as_long(arguments[1])
        place = f"{index.text} + {1 - first}"
        text = f"(CASE WHEN {place} > 0 THEN list_extract({array.text}, {place}) END)"
        return combine(text, array.type[len("ARRAY<") : -1], array, index)

    return build


def _array_place(first: int) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        array = _as_any_array(arguments[0])
        sought = cast(arguments[1], array.type[len("ARRAY<") : -1])
        text = f"CAST(list_position({array.text}, {sought.text}) AS BIGINT) - {1 - first}"
        return combine(f"({text})", "LONG", array, sought)

    return build


def _array_join(arguments: list[Sql]) -> Sql:
    """`array_concat`: the result has the element type of the first argument."""
    first = _as_any_array(arguments[0])
    second = as_array(arguments[1], first.type)
    return combine(f"list_concat({first.text}, {second.text})", first.type, first, second)


def _array_append(arguments: list[Sql]) -> Sql:
    array = _as_any_array(arguments[0])
    if arguments[1].is_array:
        return _array_join(arguments)
    element = cast(arguments[1], array.type[len("ARRAY<") : -1])
    return combine(f"list_append({array.text}, {element.text})", array.type, array, element)


def _array_prepend(arguments: list[Sql]) -> Sql:
    second = _as_any_array(arguments[1])
    first = as_array(arguments[0], second.type)
    return combine(f"list_concat({first.text}, {second.text})", second.type, first, second)


def _array_slice(arguments: list[Sql]) -> Sql:
    """`array_slice(array, start[, end))`: null if a bound is out of range, nulls beyond the last element."""
    array, start = _as_any_array(arguments[0]), as_long(arguments[1])
    size = f"len({array.text})"
    end = as_long(arguments[2]).text if len(arguments) > 2 else size
    valid = f"{start.text} >= 0 AND {start.text} <= {size} AND {end} >= {start.text}"
    sliced = f"list_resize(list_slice({array.text}, {start.text} + 1, {end}), {end} - {start.text})"
    return combine(f"(CASE WHEN {valid} THEN {sliced} END)", array.type, *arguments)


def _string_to_array(arguments: list[Sql]) -> Sql:
    text = as_string(arguments[0])
    separator = literal_text(arguments[1], "string_to_array", "separator")
    if separator is None:
        raise DruidError("Function[string_to_array] needs a separator")
    return combine(f"string_split_regex({text.text}, {java_regex(separator)})", "ARRAY<STRING>", text)


def _mv_to_array(arguments: list[Sql]) -> Sql:
    if arguments[0].is_literal and arguments[0].type != "NULL":
        raise DruidError(
            f"Function[mv_to_array] argument {arguments[0].literal} should be an identifier expression. Use array()"
            " instead"
        )
    return as_array(arguments[0], "ARRAY<STRING>")


ARRAY_FUNCTIONS: dict[str, Function] = {
    "array": (0, 99_999, _array),
    "array_length": (1, 1, _array_length),
    "mv_length": (1, 1, _array_length),
    "array_contains": (2, 2, _array_contains),
    "mv_contains": (2, 2, _array_contains),
    "array_overlap": (2, 2, _array_overlap),
    "mv_overlap": (2, 2, _array_overlap),
    "scalar_in_array": (2, 2, _scalar_in_array),
    "array_to_string": (2, 2, _array_to_string),
    "mv_to_string": (2, 2, _array_to_string),
    "array_offset": (2, 2, _array_at(0)),
    "mv_offset": (2, 2, _array_at(0)),
    "array_ordinal": (2, 2, _array_at(1)),
    "mv_ordinal": (2, 2, _array_at(1)),
    "array_offset_of": (2, 2, _array_place(0)),
    "array_ordinal_of": (2, 2, _array_place(1)),
    "array_append": (2, 2, _array_append),
    "array_concat": (2, 2, _array_join),
    "array_prepend": (2, 2, _array_prepend),
    "array_slice": (2, 3, _array_slice),
    "string_to_array": (2, 2, _string_to_array),
    "mv_to_array": (1, 1, _mv_to_array),
}
"""Function by lower-case name: minimum and maximum number of arguments, and its translation."""
