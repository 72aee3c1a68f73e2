"""Druid's string and array functions as SQL."""

from __future__ import annotations

import re
from collections.abc import Callable

from hivedruid.embedded.sql import (
    NULL,
    Sql,
    as_array,
    as_double,
    as_long,
    as_string,
    cast,
    combine,
    common_type,
    string_literal,
)
from hivedruid.errors import DruidError

Function = tuple[int, int, Callable[[list[Sql]], Sql]]


def _strings(template: str, type_: str = "STRING") -> Callable[[list[Sql]], Sql]:
    """A function of strings; the template's own SQL gives null for null."""

    def build(arguments: list[Sql]) -> Sql:
        values = [as_string(argument) for argument in arguments]
        return combine(template.format(*(value.text for value in values)), type_, *values)

    return build


def literal_text(argument: Sql, function: str, what: str) -> str | None:
    """The value of an argument that Druid wants as a constant."""
    if not argument.is_literal:
        raise DruidError(f"Function[{function}] {what} argument must be a literal")
    return None if argument.literal is None else str(argument.literal)


def _substring(arguments: list[Sql]) -> Sql:
    text, start, length = as_string(arguments[0]), as_long(arguments[1]), as_long(arguments[2])
    positive = start.is_literal and start.literal >= 0
    sql = f"druid_substring({text.text}, {start.text}, {length.text})"
    return Sql(sql, "STRING", fails=not positive or text.fails or length.fails)


def _sided(name: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        text, count = as_string(arguments[0]), as_long(arguments[1])
        positive = count.is_literal and count.literal is not None and count.literal >= 0
        return Sql(f"druid_{name}({text.text}, {count.text})", "STRING", fails=not positive or text.fails)

    return build


def _padded(name: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        text, count, pad = as_string(arguments[0]), as_long(arguments[1]), as_string(arguments[2])
        return combine(f"druid_{name}({text.text}, {count.text}, {pad.text})", "STRING", text, count, pad)

    return build


def _trim(name: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        text = as_string(arguments[0])
        characters = as_string(arguments[1]).text if len(arguments) > 1 else "' '"
        return combine(f"{name}({text.text}, {characters})", "STRING", *arguments)

    return build


def _concat(arguments: list[Sql]) -> Sql:
    if not arguments:
        return NULL
    values = [as_string(argument) for argument in arguments]
    return combine("(" + " || ".join(value.text for value in values) + ")", "STRING", *values)


def _strpos(arguments: list[Sql]) -> Sql:
    text, sought = as_string(arguments[0]), as_string(arguments[1])
    if len(arguments) == 2:
        return combine(f"druid_strpos({text.text}, {sought.text})", "LONG", text, sought)
    start = as_long(arguments[2])
    return combine(f"druid_strpos_from({text.text}, {sought.text}, {start.text})", "LONG", text, sought, start)


def _repeat(arguments: list[Sql]) -> Sql:
    text, count = as_string(arguments[0]), as_long(arguments[1])
    return combine(f"(CASE WHEN {count.text} > 0 THEN repeat({text.text}, {count.text}) END)", "STRING", text, count)


def _reverse(arguments: list[Sql]) -> Sql:
    if arguments[0].type not in ("STRING", "NULL"):
        raise DruidError(f"Function[reverse] needs a STRING argument but got {arguments[0].type} instead")
    return _strings("druid_reverse({0})")(arguments)


def _parse_long(arguments: list[Sql]) -> Sql:
    text = as_string(arguments[0])
    radix = literal_text(arguments[1], "parse_long", "radix") if len(arguments) > 1 else "10"
    if radix == "10":
        sql = f"(CASE WHEN regexp_full_match({text.text}, '[+-]?[0-9]+') THEN TRY_CAST({text.text} AS BIGINT) END)"
    elif radix == "16":
        digits = f"regexp_replace({text.text}, '^0[xX]', '')"
        sql = f"(CASE WHEN regexp_full_match({digits}, '[0-9a-fA-F]+') THEN TRY_CAST('0x' || {digits} AS BIGINT) END)"
    else:
        raise DruidError(f"Function[parse_long] with radix {radix} is not supported by the embedded store")
    return combine(sql, "LONG", text)


def like(text: Sql, pattern: str, escape: str | None) -> Sql:
    """SQL LIKE; without an escape character none escapes."""
    plain = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        escaped = character == escape and position + 1 < len(pattern)
        if escaped:
            position += 1
            character = pattern[position]
        plain.append(f"\\{character}" if character == "\\" or (escaped and character in "%_") else character)
        position += 1
    quoted = string_literal("".join(plain))
    value = as_string(text)
    return combine(f"({value.text} LIKE {quoted} ESCAPE '\\')", "BOOLEAN", value)


def _like(arguments: list[Sql]) -> Sql:
    pattern = literal_text(arguments[1], "like", "pattern")
    escape = literal_text(arguments[2], "like", "escape") if len(arguments) > 2 else None
    if pattern is None or (escape is not None and len(escape) != 1):
        raise DruidError("Function[like] needs a pattern, and an escape of one character")
    return like(arguments[0], pattern, escape)


def _contains(arguments: list[Sql]) -> Sql:
    return _strings("contains({0}, {1})", "BOOLEAN")(arguments)


def _regexp(arguments: list[Sql], function: str) -> tuple[Sql, str]:
    pattern = literal_text(arguments[1], function, "pattern")
    if pattern is None:
        raise DruidError(f"Function[{function}] needs a pattern")
    return as_string(arguments[0]), java_regex(pattern)


def java_regex(pattern: str) -> str:
    """A Java regular expression as a quoted RE2 one; what RE2 lacks is refused."""
    if re.search(r"\(\?(?:[=!>]|<[=!])|\\[1-9]|[*+?}]\+", pattern):
        raise DruidError(f"regular expression '{pattern}': look-around, back references and possessive quantifiers"
                         " are not supported by the embedded store")  # fmt: skip
    return string_literal(pattern)


def _group_count(pattern: str) -> int:
    return len(re.findall(r"\((?!\?)|\(\?<[a-zA-Z]", re.sub(r"\\.|\[[^\]]*\]", "", pattern)))


def _regexp_like(arguments: list[Sql]) -> Sql:
    text, pattern = _regexp(arguments, "regexp_like")
    return combine(f"regexp_matches({text.text}, {pattern})", "BOOLEAN", text)


def _regexp_extract(arguments: list[Sql]) -> Sql:
    text, pattern = _regexp(arguments, "regexp_extract")
    index = literal_text(arguments[2], "regexp_extract", "index") if len(arguments) > 2 else "0"
    if int(index or 0) > _group_count(str(arguments[1].literal)):
        raise DruidError(f"No group {index}")
    extracted = f"regexp_extract({text.text}, {pattern}, {index})"
    if index != "0" and re.search(r"\)[?*{]|\|", pattern):
        extracted = f"nullif({extracted}, '')"  # a group that took no part is null; DuckDB gives ''
    return combine(f"(CASE WHEN regexp_matches({text.text}, {pattern}) THEN {extracted} END)", "STRING", text)


def _regexp_replace(arguments: list[Sql]) -> Sql:
    text, pattern = _regexp(arguments, "regexp_replace")
    replacement = literal_text(arguments[2], "regexp_replace", "replacement")
    if replacement is None:
        return NULL

    def convert(match: re.Match[str]) -> str:
        if match[1]:
            return f"\\{match[1]}"
        return "\\\\" if match[2] == "\\" else match[2] or "\\\\"

    converted = re.sub(r"\$(\d)|\\(.)|\\", convert, replacement)
    return combine(f"regexp_replace({text.text}, {pattern}, {string_literal(converted)}, 'g')", "STRING", text)


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
    """`array_concat`, `array_append`: the first argument's element type counts."""
    first = _as_any_array(arguments[0])
    second = as_array(arguments[1], first.type)
    return combine(f"list_concat({first.text}, {second.text})", first.type, first, second)


def _array_prepend(arguments: list[Sql]) -> Sql:
    second = _as_any_array(arguments[1])
    first = as_array(arguments[0], second.type)
    return combine(f"list_concat({first.text}, {second.text})", second.type, first, second)


def _array_slice(arguments: list[Sql]) -> Sql:
    """`array_slice(array, start[, end))`: null where a bound is outside, nulls beyond the last element."""
    array, start = _as_any_array(arguments[0]), as_long(arguments[1])
    size = f"len({array.text})"
    end = as_long(arguments[2]).text if len(arguments) > 2 else size
    valid = f"{start.text} >= 0 AND {start.text} <= {size} AND {end} >= {start.text}"
    sliced = f"list_resize(list_slice({array.text}, {start.text} + 1, {end}), {end} - {start.text})"
    return combine(f"(CASE WHEN {valid} THEN {sliced} END)", array.type, *arguments)


_FORMAT_PART = re.compile(r"%(?:%|([-0]?\d*(?:\.\d+)?)([sdxf]))")


def _format(arguments: list[Sql]) -> Sql:
    """`format(pattern, …)`: Java's %s %d %x %f with width, zeros and precision."""
    pattern = literal_text(arguments[0], "format", "pattern")
    if pattern is None:
        return NULL
    values = iter(arguments[1:])
    parts: list[str] = []
    position = 0
    for match in _FORMAT_PART.finditer(pattern):
        parts.append(string_literal(pattern[position : match.start()]))
        position = match.end()
        value = next(values, None) if match[2] else None
        if match[2] and value is None:
            raise DruidError(f"Function[format] has too few arguments for '{pattern}'")
        parts.append("'%'" if value is None else _format_value(match[1], match[2], value))
    if "%" in pattern[position:] or "%" in "".join(p for p in parts if p != "'%'" and p.startswith("'")):
        raise DruidError(f"Function[format] knows %s %d %x %f and %%, not all of '{pattern}'")
    parts.append(string_literal(pattern[position:]))
    return combine("(" + " || ".join(parts) + ")", "STRING", *arguments)


def _format_value(flags: str, kind: str, value: Sql) -> str:
    typed = as_string(value) if kind == "s" else as_double(value) if kind == "f" else as_long(value)
    shown = f"printf('%{flags}{kind}', {typed.text})"
    return f"coalesce({shown}, {string_literal('null'.rjust(int(re.sub('[^0-9].*', '', flags) or 0)))})"


def _human_readable(function: str, base: int, units: str, space: str) -> Callable[[list[Sql]], Sql]:
    """`human_readable_…_format(x[, precision])`: the number in the largest unit that it reaches."""

    def build(arguments: list[Sql]) -> Sql:
        precision = literal_text(arguments[1], function, "precision") if len(arguments) > 1 else "2"
        if arguments[0].type == "STRING":
            return Sql("CAST(NULL AS VARCHAR)", "STRING")
        x = as_long(arguments[0])
        branches = [
            f"WHEN abs(CAST({x.text} AS HUGEINT)) >= {base**power}"
            f" THEN printf('%.{precision}f', {x.text} / CAST('{base**power}' AS DOUBLE)) || ' {unit}'"
            for power, unit in reversed(list(enumerate(units.split(), start=1)))
        ]
        plain = f"CAST({x.text} AS VARCHAR) || '{space}'"
        return combine(f"(CASE {' '.join(branches)} ELSE {plain} END)", "STRING", x)

    return build


def _string_to_array(arguments: list[Sql]) -> Sql:
    text = as_string(arguments[0])
    separator = literal_text(arguments[1], "string_to_array", "separator")
    if separator is None:
        raise DruidError("Function[string_to_array] needs a separator")
    return combine(f"string_split_regex({text.text}, {java_regex(separator)})", "ARRAY<STRING>", text)


def _mv_to_array(arguments: list[Sql]) -> Sql:
    if arguments[0].is_literal and arguments[0].type != "NULL":
        raise DruidError(
            f"Function[mv_to_array] argument {arguments[0].literal} should be an identifier expression. Use array() instead"
        )
    return as_array(arguments[0], "ARRAY<STRING>")


STRING_FUNCTIONS: dict[str, Function] = {
    "concat": (0, 99, _concat),
    "strlen": (1, 1, _strings("druid_strlen({0})", "LONG")),
    "upper": (1, 1, _strings("druid_upper({0})")),
    "lower": (1, 1, _strings("druid_lower({0})")),
    "replace": (3, 3, _strings("druid_replace({0}, {1}, {2})")),
    "substring": (3, 3, _substring),
    "left": (2, 2, _sided("left")),
    "right": (2, 2, _sided("right")),
    "lpad": (3, 3, _padded("lpad")),
    "rpad": (3, 3, _padded("rpad")),
    "trim": (1, 2, _trim("trim")),
    "ltrim": (1, 2, _trim("ltrim")),
    "rtrim": (1, 2, _trim("rtrim")),
    "strpos": (2, 3, _strpos),
    "repeat": (2, 2, _repeat),
    "reverse": (1, 1, _reverse),
    "parse_long": (1, 2, _parse_long),
    "like": (2, 3, _like),
    "contains_string": (2, 2, _contains),
    "icontains_string": (2, 2, _strings("contains(druid_lower({0}), druid_lower({1}))", "BOOLEAN")),
    "regexp_like": (2, 2, _regexp_like),
    "regexp_extract": (2, 3, _regexp_extract),
    "regexp_replace": (3, 3, _regexp_replace),
    "array": (0, 999, _array),
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
    "array_append": (2, 2, _array_join),
    "array_concat": (2, 2, _array_join),
    "array_prepend": (2, 2, _array_prepend),
    "array_slice": (2, 3, _array_slice),
    "format": (1, 99, _format),
    "human_readable_binary_byte_format": (
        1, 2, _human_readable("human_readable_binary_byte_format", 1024, "KiB MiB GiB TiB PiB EiB", " B")
    ),
    "human_readable_decimal_byte_format": (
        1, 2, _human_readable("human_readable_decimal_byte_format", 1000, "KB MB GB TB PB EB", " B")
    ),
    "human_readable_decimal_format": (
        1, 2, _human_readable("human_readable_decimal_format", 1000, "K M G T P E", "")
    ),
    "string_to_array": (2, 2, _string_to_array),
    "mv_to_array": (1, 1, _mv_to_array),
}
"""Function by lower-case name: fewest and most arguments, and its translation."""

