"""Typed DuckDB SQL expressions, and Druid's type conversions.

A `Sql` is one scalar with its Druid type. Times are LONG milliseconds. Druid's booleans are LONG 0/1; here they remain
DuckDB's BOOLEAN (type BOOLEAN) until the number is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hivedruid.catalog.druid_columns import SKETCHES
from hivedruid.embedded.binding import let, named, once
from hivedruid.errors import DruidError
from hivedruid.sketches.kinds import AGGREGATORS

SKETCH_TYPES = tuple(AGGREGATORS[function].druid_types[0] for function in SKETCHES)
"""The types of columns with sketches, whose values are their bytes in base64, as in a response of Druid."""
DUCKDB_TYPES = {
    "LONG": "BIGINT",
    "DOUBLE": "DOUBLE",
    "FLOAT": "FLOAT",
    "STRING": "VARCHAR",
    "ARRAY<STRING>": "VARCHAR[]",
    "ARRAY<LONG>": "BIGINT[]",
    "ARRAY<DOUBLE>": "DOUBLE[]",
    **dict.fromkeys(SKETCH_TYPES, "VARCHAR"),
}
"""Druid's column types and the DuckDB types that hold them."""

LONG_MIN = -(1 << 63)
LONG_MAX = (1 << 63) - 1


class Sql:
    """A scalar: SQL `text`, Druid `type` (LONG DOUBLE FLOAT STRING ARRAY<…>, BOOLEAN, or NULL for the null literal).

    `fails`: evaluating it can raise, so that its guards must be evaluated first. `literal`: its value if it is a
    constant (`is_literal`).
    """

    __slots__ = ("fails", "is_literal", "literal", "text", "type")

    def __init__(
        self, text: str, type_: str, *, fails: bool = False, literal: Any = None, is_literal: bool = False
    ) -> None:
        self.text = text
        self.type = type_
        self.fails = fails
        self.literal = literal
        self.is_literal = is_literal

    @property
    def is_numeric(self) -> bool:
        return self.type in ("LONG", "DOUBLE", "FLOAT", "BOOLEAN")

    @property
    def is_array(self) -> bool:
        return self.type.startswith("ARRAY")


NULL = Sql("NULL", "NULL", is_literal=True)


def identifier(name: str) -> str:
    """A Druid name as a DuckDB name. DuckDB's names are case-insensitive, so capitals are encoded in a suffix."""
    capitals = [str(place) for place, letter in enumerate(name) if letter != letter.lower()]
    return plain_identifier(f"{name}^{'.'.join(capitals)}" if capitals else name)


def multi_value(text: str) -> str:
    """SQL of a multi-value column for scans and expressions: an empty one, or one with a single null, is null."""
    return f"(CASE WHEN len({text}) > 1 OR {text}[1] IS NOT NULL THEN {text} END)"


def plain_identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def string_literal(value: str) -> str:
    if "\0" in value:
        raise DruidError("a string constant with a NUL character is not supported by the embedded store")
    return "'" + value.replace("'", "''") + "'"


def long(value: int) -> Sql:
    return Sql(f"CAST('{value}' AS BIGINT)", "LONG", literal=value, is_literal=True)


def double(value: float) -> Sql:
    return Sql(f"CAST('{value!r}' AS DOUBLE)", "DOUBLE", literal=value, is_literal=True)


def string(value: str | None) -> Sql:
    return NULL if value is None else Sql(string_literal(value), "STRING", literal=value, is_literal=True)


def constant(value: Any) -> Sql:
    """A JSON value as a constant of its own type."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return long(int(value))
    if isinstance(value, int):
        return long(value) if LONG_MIN <= value <= LONG_MAX else double(float(value))
    return double(value) if isinstance(value, float) else string(str(value))


def combine(text: str, type_: str, *parts: Sql) -> Sql:
    """A scalar that is composed of `parts`: it can fail if one of them can."""
    return Sql(text, type_, fails=any(part.fails for part in parts))


def bind(arguments: list[Sql], build: Callable[[list[Sql]], Sql], *, beside: Sequence[Sql] = ()) -> Sql:
    """`build(arguments)`, with each long argument that it uses more than once computed once.

    All arguments are computed: values that `build` may skip because they can fail must be passed as `beside`.
    """
    name, names = named([argument.text for argument in arguments], [value.text for value in beside])
    if not names:
        return build(arguments)
    short = list(arguments)
    for place, field in names.items():
        whole = arguments[place]
        if not whole.is_literal:
            short[place] = Sql(field, whole.type, fails=whole.fails)
    built = build(short)
    text = let(name, {field: arguments[place].text for place, field in names.items()}, built.text)
    return Sql(text, built.type, fails=built.fails, literal=built.literal, is_literal=built.is_literal)


def _convert(template: str, type_: str, value: Sql) -> Sql:
    return combine(once([value.text], lambda texts: template.format(*texts)), type_, value)


def wrapped(text: str) -> str:
    """HUGEINT arithmetic as a BIGINT that overflows as Java's."""
    return once([text], lambda texts: f"druid_wrap({texts[0]})")


def refuse_constant_division(left: Sql, right: Sql) -> None:
    """Druid folds constants while it parses an expression, even in a branch that is never evaluated."""
    if left.is_literal and left.type == right.type == "LONG" and right.literal == 0:
        raise DruidError("/ by zero")


def java_double(value: float) -> str:
    """`Double.toString`: Druid's text of a double."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if abs(value) == 5e-324:  # Double.MIN_VALUE: Java writes at least two digits
        return "4.9E-324" if value > 0 else "-4.9E-324"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value) if "e" not in repr(value) else f"{value:.17f}".rstrip("0")
    mantissa, exponent = f"{value!r}e0".split("e")[:2] if "e" in repr(value) else (repr(value), "0")
    sign, mantissa = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    lead = len(digits) - len(digits.lstrip("0"))
    power = int(exponent) + len(whole) - lead - 1
    digits = digits.strip("0") or "0"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _refuse(value: Sql, wanted: str) -> DruidError:
    if value.type == "ARRAY<STRING>":
        return DruidError(f"a multi-value or array value cannot be used as {wanted} here: {value.text[:60]}")
    return DruidError(f"cannot use a value of type {value.type} as {wanted}")


def as_long(value: Sql) -> Sql:
    """The value as LONG: doubles lose their fraction and saturate, strings are parsed as numbers, or null."""
    match value.type:
        case "LONG":
            return value
        case "BOOLEAN":
            return combine(f"CAST({value.text} AS BIGINT)", "LONG", value)
        case "DOUBLE" | "FLOAT":
            return _convert("druid_double_to_long({0})", "LONG", value)
        case "STRING":
            return _convert("druid_string_to_long({0})", "LONG", value)
        case "NULL":
            return Sql("CAST(NULL AS BIGINT)", "LONG")
    raise _refuse(value, "LONG")


def as_double(value: Sql) -> Sql:
    match value.type:
        case "DOUBLE":
            return value
        case "LONG" if value.is_literal:
            return double(float(value.literal))
        case "LONG" | "FLOAT":
            return combine(f"CAST({value.text} AS DOUBLE)", "DOUBLE", value)
        case "BOOLEAN":
            return combine(f"CAST(CAST({value.text} AS BIGINT) AS DOUBLE)", "DOUBLE", value)
        case "STRING":
            return _convert("druid_string_to_double({0})", "DOUBLE", value)
        case "NULL":
            return Sql("CAST(NULL AS DOUBLE)", "DOUBLE")
    raise _refuse(value, "DOUBLE")


def as_float(value: Sql) -> Sql:
    if value.type == "FLOAT":
        return value
    return _convert("druid_double_to_float({0})", "FLOAT", as_double(value))


def as_string(value: Sql) -> Sql:
    match value.type:
        case "STRING":
            return value
        case "LONG" if value.is_literal:
            return string(str(value.literal))
        case "LONG":
            return combine(f"CAST({value.text} AS VARCHAR)", "STRING", value)
        case "BOOLEAN":
            return combine(f"CAST(CAST({value.text} AS BIGINT) AS VARCHAR)", "STRING", value)
        case "DOUBLE" | "FLOAT":
            return _convert("druid_double_to_string({0})", "STRING", value)
        case "NULL":
            return Sql("CAST(NULL AS VARCHAR)", "STRING")
    raise _refuse(value, "STRING")


def as_condition(value: Sql) -> Sql:
    """The value as a three-valued boolean: a number is true above zero, a string if it is 'true'."""
    match value.type:
        case "BOOLEAN":
            return value
        case "LONG":
            return combine(f"({value.text} > 0)", "BOOLEAN", value)
        case "DOUBLE" | "FLOAT":
            return _convert("({0} > 0 AND NOT isnan({0}))", "BOOLEAN", value)
        case "STRING":
            return combine(f"(lower({value.text}) = 'true')", "BOOLEAN", value)
        case "NULL":
            return Sql("CAST(NULL AS BOOLEAN)", "BOOLEAN")
    raise _refuse(value, "a condition")


_CASTS = {"LONG": as_long, "DOUBLE": as_double, "FLOAT": as_float, "STRING": as_string, "BOOLEAN": as_condition}


def as_array(value: Sql, type_: str) -> Sql:
    element = type_[len("ARRAY<") : -1]
    if value.type == "NULL":
        return Sql(f"CAST(NULL AS {DUCKDB_TYPES[type_]})", type_)
    if value.is_array:
        if value.type == type_:
            return value
        inner = cast(Sql("e", value.type[len("ARRAY<") : -1]), element)
        return combine(f"list_transform({value.text}, lambda e: {inner.text})", type_, value)

    def build(values: list[Sql]) -> Sql:
        inner = cast(values[0], element)
        return combine(f"(CASE WHEN {values[0].text} IS NOT NULL THEN [{inner.text}] END)", type_, *values)

    return bind([value], build)


def cast(value: Sql, type_: str) -> Sql:
    """The value converted to a Druid type, as in Druid. Raises DruidError for a type that is not supported."""
    if type_ in _CASTS:
        return _CASTS[type_](value)
    if type_ in SKETCH_TYPES and value.type in (type_, "NULL"):
        return Sql(f"CAST({value.text} AS VARCHAR)", type_)
    if type_ in DUCKDB_TYPES and type_ not in SKETCH_TYPES:
        return as_array(value, type_)
    raise DruidError(f"type {type_} is not supported by the embedded store")


def common_type(values: list[Sql]) -> str:
    """The type that holds all of the values (`NULL` adds nothing): STRING over DOUBLE over LONG."""
    types = {value.type for value in values} - {"NULL"}
    arrays = [t for t in types if t.startswith("ARRAY")]
    if arrays:
        return arrays[0] if len(arrays) == 1 else "ARRAY<STRING>"
    if types == {"BOOLEAN"}:
        return "BOOLEAN"
    for candidate in ("STRING", "DOUBLE"):
        if candidate in types:
            return candidate
    if "FLOAT" in types:
        return "FLOAT" if types == {"FLOAT"} else "DOUBLE"
    return "LONG" if types else "NULL"


def all_of(conditions: list[Sql]) -> Sql:
    """Three-valued AND, left to right: a condition that can fail is evaluated only if those before it are true."""
    return _connect(conditions, "AND", "TRUE", "FALSE")


def any_of(conditions: list[Sql]) -> Sql:
    """Three-valued OR, left to right: a condition that can fail is evaluated only if none before it is true."""
    return _connect(conditions, "OR", "FALSE", "TRUE")


def _connect(conditions: list[Sql], operator: str, neutral: str, absorbing: str) -> Sql:
    if not conditions:
        return Sql(neutral, "BOOLEAN")
    # Kept flat: a filter may have thousands of fields, and DuckDB limits how deep an expression nests.
    terms: list[str] = []
    for condition in conditions:
        if condition.fails and terms:
            terms = [_guarded(f"({f' {operator} '.join(terms)})", operator, absorbing, condition.text)]
        else:
            terms.append(condition.text)
    return combine(f"({f' {operator} '.join(terms)})", "BOOLEAN", *conditions)


def _guarded(before: str, operator: str, absorbing: str, condition: str) -> str:
    def write(texts: Sequence[str]) -> str:
        return f"(CASE WHEN {texts[0]} IS {absorbing} THEN {absorbing} ELSE {texts[0]} {operator} {condition} END)"

    # DuckDB has no subqueries in lambdas.
    return write([before]) if "SELECT" in condition else once([before], write, beside=[condition])
