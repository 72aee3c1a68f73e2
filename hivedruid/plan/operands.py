"""Checks the operand types of casts, comparisons, operators and branches. Expressions that are invalid in Hive are
rejected here and never reach Spark. The errors have no position: `Converter.convert` adds that of the expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from hivedruid.catalog.types import BIGINT, BINARY, BOOLEAN, INT, UNKNOWN, VOID, HiveType, decimal
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.plan.rex import Literal, Rex

if TYPE_CHECKING:
    from hivedruid.plan.convert import Converter

NESTED = frozenset({"array", "map", "struct", "uniontype"})
_BYTES = "read a sketch by its estimate, as ds_theta_estimate(x); CAST other bytes AS STRING"
_CAST = "CAST one of them to the type of the other"


def is_interval(type_: HiveType) -> bool:
    return type_.name.startswith("interval")


def can_cast(source: HiveType, to: HiveType) -> bool:
    """Whether a value of one type can be cast to another (the types that Hive's GenericUDFs and UDFTo… accept)."""
    if source in (to, UNKNOWN, VOID) or to is UNKNOWN:
        return True
    if source.name in NESTED or to.name in NESTED:
        return same_shape(source, to) and all(map(can_cast, source.children, to.children))
    if is_interval(to):
        return source.is_string
    if to.is_string:
        return True
    if is_interval(source) or source.name == "binary":
        return to == source
    if to.name == "binary":
        return source.is_string
    if to == BOOLEAN:
        return not source.is_time
    if to.name == "timestamp":
        return not source.is_numeric  # hive.strict.timestamp.conversion
    return to.name != "date" or not (source.is_numeric or source == BOOLEAN)


def check_cast(source: HiveType, to: HiveType) -> None:
    if not can_cast(source, to):
        seconds = source.is_numeric and to.name == "timestamp"
        hint = "CAST(from_unixtime(seconds) AS timestamp)" if seconds else "run DESCRIBE to see the column types"
        raise SemanticError(f"{source} cannot be cast to {to}", hint=hint)


def check_condition(type_: HiveType) -> None:
    if not can_cast(type_, BOOLEAN):
        raise SemanticError(f"a condition must be boolean, not {type_}", hint="compare it with a value")


def check_comparison(op: str, a: HiveType, b: HiveType, common: HiveType) -> None:
    """`common` is the comparison type of the two, UNKNOWN if there is none."""
    if UNKNOWN in (a, b) or VOID in (a, b):
        return
    if common is UNKNOWN and not alike(a, b):
        raise SemanticError(f"{a} and {b} cannot be compared", hint=_CAST)
    for type_ in (a, b):
        if type_.name in NESTED and op not in ("=", "<>", "<=>"):
            raise SemanticError(f"{op} does not take {type_}", hint="compare its elements")
        if any(has_map(child) for child in type_.children):
            raise UnsupportedError(f"comparing {type_} is not supported", hint="compare the keys or values of the maps")


def has_map(type_: HiveType) -> bool:
    """Whether the type is or contains a map: Spark neither compares nor sorts maps."""
    return type_.name == "map" or any(map(has_map, type_.children))


def alike(a: HiveType, b: HiveType) -> bool:
    """Whether values of both can be combined: numbers, strings, times, or nested values of them."""
    if a == b or UNKNOWN in (a, b) or VOID in (a, b):
        return True
    if a.name in NESTED or b.name in NESTED:
        return same_shape(a, b) and all(map(alike, a.children, b.children))
    return (a.is_numeric and b.is_numeric) or (a.is_string and b.is_string) or (a.is_time and b.is_time)


def same_shape(a: HiveType, b: HiveType) -> bool:
    """Whether both are arrays, maps, or structs with the same fields in the same order."""
    fields = [f.lower() for f in a.fields] == [f.lower() for f in b.fields]
    return a.name == b.name and len(a.children) == len(b.children) and fields


def check_branches(types: Sequence[HiveType], common: HiveType, what: str) -> None:
    """`common` is their common type, UNKNOWN if Hive has none."""
    if common is not UNKNOWN:
        return
    known = [type_ for type_ in types if type_ not in (UNKNOWN, VOID)]
    for other in known[1:]:
        if not alike(known[0], other):
            raise SemanticError(f"{what} must have the same type, not {known[0]} and {other}", hint=_CAST)


def check_operands(op: str, types: Sequence[HiveType], result: HiveType) -> None:
    """`result` is the type of the operation, UNKNOWN if it is invalid."""
    if result is not UNKNOWN or UNKNOWN in types:
        return
    raise SemanticError(
        f"{op} does not take {' and '.join(map(str, types))}",
        hint=_BYTES if BINARY in types else "CAST the operands to supported types",
    )


def matched(c: Converter, op: str, value: Rex) -> Rex:
    """The text that LIKE and RLIKE match; Hive has neither for BINARY."""
    if value.type == BINARY:
        raise SemanticError(f"{op} does not take binary", hint=hint_for(BINARY))
    return c.text(value)


def hint_for(type_: HiveType) -> str | None:
    """What to use where an operand of a type is refused by its type alone."""
    return _BYTES if type_ == BINARY else None


def check_bits(op: str, types: Sequence[HiveType]) -> None:
    for type_ in types:
        if not (type_.is_integer or type_ in (UNKNOWN, VOID)):
            raise SemanticError(f"{op} takes integers, not {type_}", hint="CAST it to bigint")


def days_of(c: Converter, days: Rex) -> Rex:
    """A number of days; Spark does not accept a bigint."""
    return c.cast(days, INT) if days.type == BIGINT else days


def narrowed(rex: Rex, other: Rex) -> Rex:
    """An integer literal combined with a decimal becomes a decimal with exactly its digits (HiveDecimalUtils, for
    constants).
    """
    if other.type.name != "decimal" or not rex.type.is_integer or not isinstance(rex, Literal) or rex.value is None:
        return rex
    return Literal(decimal(len(str(abs(rex.value))), 0), Decimal(rex.value))


def check_escape(pattern: Rex, escape: Rex) -> None:
    """`LIKE pattern ESCAPE escape`, which Hive does not have. Spark requires what the SQL standard does."""
    if not (isinstance(escape, Literal) and isinstance(escape.value, str) and len(escape.value) == 1):
        raise SemanticError(
            "the escape of LIKE must be a constant of one character",
            hint="use a backslash before % and _ in the pattern, without ESCAPE",
        )
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        rest = pattern.value.replace(escape.value * 2, "")
        if re.search(re.escape(escape.value) + "(?![%_])", rest):
            raise SemanticError(
                f"invalid LIKE pattern '{pattern.value}': '{escape.value}' must precede %, _ or itself",
                hint=f"double it to match it: '{escape.value * 2}'",
            )
