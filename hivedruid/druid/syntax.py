"""Druid's expression language: names, constants, and types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from math import ceil, floor, isfinite, isnan
from typing import NamedTuple

from hivedruid.catalog.types import DOUBLE, TYPES, HiveType
from hivedruid.druid.exactness import NotExact
from hivedruid.lazy_regex import regex
from hivedruid.plan.literals import to_micros
from hivedruid.plan.rex import Call, Literal, Rex

PERIODS = {
    "second": "PT1S",
    "minute": "PT1M",
    "hour": "PT1H",
    "day": "P1D",
    "week": "P1W",
    "month": "P1M",
    "quarter": "P3M",
    "year": "P1Y",
}
DAY_MILLIS = 86_400_000
MAX_DECIMAL_DIGITS = 15
"""Decimals with at most so many digits are distinct doubles, and each is the shortest representation of its double."""
NO_STRING = "CAST(null,'STRING')"
"""A null with a type. From Druid 37 on, a bare null may count as a number (`versions`)."""
MIN_LONG, MAX_LONG = -(1 << 63), (1 << 63) - 1


_NOT_PLAIN = regex(r"[^A-Za-z0-9 \-_.,:;/<>=!?#%&()\[\]{}*+|@^$~]")


class DruidColumn(NamedTuple):
    """A column as a native query sees it: its name, its Druid type, and how it is read (`Column.reading`)."""

    name: str
    type: str
    reading: str = ""


def druid_type(type_: HiveType) -> str:
    """The Druid type for values of a Hive type inside a query; raises NotExact if there is none."""
    if type_.is_time:
        return "LONG"
    if type_.name == "void":
        return "STRING"
    if type_.name == "decimal":
        decimal_digits(type_)
        return "DOUBLE"
    names = TYPES.get(type_.name)
    if names is None or names.druid is None:
        raise NotExact(f"Druid does not support type {type_}")
    return names.druid


def decimal_digits(type_: HiveType) -> tuple[int, int]:
    """Precision and scale of a decimal that a DOUBLE represents uniquely; raises NotExact for longer ones."""
    precision, scale = type_.params or (10, 0)
    if precision > MAX_DECIMAL_DIGITS:
        raise NotExact(f"{type_} exceeds the {MAX_DECIMAL_DIGITS} digits of a DOUBLE")
    return precision, scale


MAX_CHAIN = 64


def chain(operator: str, terms: Sequence[str]) -> str:
    """Terms with an associative operator between them. Many are a balanced tree: Druid recurses over the operands, and
    some hundred in a row overflow its stack.
    """
    if len(terms) > MAX_CHAIN:
        middle = len(terms) // 2
        return f"({chain(operator, terms[:middle])} {operator} {chain(operator, terms[middle:])})"
    return "(" + f" {operator} ".join(terms) + ")"


def zeros_twice(values: Iterable[float]) -> list[float]:
    """Doubles with both zeros in place of one: they are equal in Hive, and two values in Druid's sets."""
    return [each for v in values for each in ((float(v),) if v else (-0.0, 0.0))]


def quote(name: str) -> str:
    """A column name as an identifier of the expression language."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def string_literal(text: str) -> str:
    """A string constant; everything but plain characters is written \\uXXXX."""
    return "'" + _NOT_PLAIN.sub(_escape, text) + "'"


def _escape(character: re.Match[str]) -> str:
    raw = character[0].encode("utf-16-be")
    return "".join([f"\\u{raw[i]:02x}{raw[i + 1]:02x}" for i in range(0, len(raw), 2)])


def millis(value: date | datetime) -> int:
    """A time constant in milliseconds; raises NotExact if it has microseconds (callers round bounds before)."""
    micros = to_micros(value)
    if micros % 1000:
        raise NotExact("Druid has millisecond precision, the constant has microseconds")
    return micros // 1000


def integer_bound(op: str, value: Decimal) -> tuple[str, int] | bool:
    """`x op value` over LONGs x as a comparison with a LONG, or the constant it is (for x not null)."""
    if not MIN_LONG <= value <= MAX_LONG:
        return op == "<>" or (op in ("<", "<=") if value > 0 else op in (">", ">="))
    whole = value == value.to_integral_value()
    if whole:
        return op, int(value)
    if op in ("=", "<>"):
        return op == "<>"
    return ("<=", floor(value)) if op in ("<", "<=") else (">=", ceil(value))


def exact_number(literal: Literal, type_: HiveType) -> Decimal | None:
    """The constant as a number on Druid's scale for `type_`; None for other constants. Integers for integers, booleans
    0/1, milliseconds (with a fraction for microseconds) for times.
    """
    value = literal.value
    if type_.is_time and isinstance(value, date):
        return Decimal(to_micros(value)) / 1000
    if isinstance(value, bool):
        return Decimal(int(value))
    if isinstance(value, int | Decimal) and not type_.is_time:
        return Decimal(value)
    if isinstance(value, float) and isfinite(value) and type_.name in ("tinyint", "smallint", "int"):
        return Decimal(value)
    return None


def may_be_negative_zero(rex: Rex) -> bool:
    """Whether a value could be -0.0, which Druid groups, sorts and (in part) compares differently from 0.0."""
    if not rex.type.is_approximate:
        return False
    if isinstance(rex, Literal):
        return rex.value is not None and rex.value == 0 and str(rex.value).startswith("-")
    if not isinstance(rex, Call) or rex.op != "cast":
        return True
    source = rex.args[0].type
    return source.is_approximate or source.is_string


def may_be_nan(rex: Rex) -> bool:
    """Whether the value may be NaN, which only Hive considers equal to itself."""
    if not rex.type.is_approximate:
        return False
    if isinstance(rex, Literal):
        return rex.value is not None and isnan(rex.value)
    if isinstance(rex, Call) and rex.op == "cast":
        return rex.args[0].type.is_string or may_be_nan(rex.args[0])
    return True


def is_whole(type_: HiveType) -> bool:
    return type_.is_integer or type_.is_time or type_.name == "boolean"


def as_double(rex: Rex, other: Rex) -> Rex:
    """A decimal constant converted to double as in Hive, for a comparison with a double."""
    if rex.type.name == "decimal" and isinstance(rex, Literal) and rex.value is not None and other.type.is_approximate:
        return Literal(DOUBLE, float(rex.value))
    return rex


def constant(rex: Rex, kind: type, what: str) -> object:
    """The value of a literal of a kind; raises NotExact for anything else."""
    if not isinstance(rex, Literal) or not isinstance(rex.value, kind) or isinstance(rex.value, bool):
        raise NotExact(f"{what} is not a constant")
    return rex.value


def int_constant(rex: Rex, what: str) -> int:
    return int(str(constant(rex, int, what)))


def str_constant(rex: Rex, what: str) -> str:
    return str(constant(rex, str, what))
