"""Formats values as Hive prints them, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from hivedruid.catalog.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTERVAL_DAY_TIME,
    INTERVAL_YEAR_MONTH,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    HiveType,
    array_of,
    decimal,
)
from hivedruid.java_numbers import double_text, float_text
from hivedruid.lazy_dataclass import dataclass
from hivedruid.results import Batches, Column, values

Formatter = Callable[[Any], str]


def padded(columns: Sequence[HiveType], rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Pad each char(n) value in the rows to its length, also inside arrays, maps and structs. Everywhere else char
    values have no trailing blanks, since Hive compares them without.
    """
    fillers = [(position, filler) for position, hive in enumerate(columns) if (filler := _filler(hive))]
    if not fillers:
        return rows
    if isinstance(rows, Batches):
        return rows.mapped(lambda columns: _filled_columns(columns, fillers))
    return (_filled(row, fillers) for row in rows)


def _filled_columns(columns: tuple[Column, ...], fillers: list[tuple[int, Callable[[Any], Any]]]) -> tuple[Column, ...]:
    filled = list(columns)
    for position, filler in fillers:
        filled[position] = [filler(cell) for cell in values(columns[position])]
    return tuple(filled)


def _filled(row: tuple[Any, ...], fillers: list[tuple[int, Callable[[Any], Any]]]) -> tuple[Any, ...]:
    cells = list(row)
    for position, filler in fillers:
        cells[position] = filler(cells[position])
    return tuple(cells)


def _filler(hive: HiveType) -> Callable[[Any], Any] | None:
    """A function that pads the char values in a value of this type; None if it contains none."""
    if hive.name == "char" and hive.params:
        return lambda text: None if text is None else text.ljust(hive.params[0])
    inner = [_filler(child) for child in hive.children]
    if not any(inner):
        return None
    member = [filler or (lambda value: value) for filler in inner]
    if hive.name == "array":
        return lambda values: None if values is None else [member[0](value) for value in values]
    if hive.name == "map":
        return lambda pairs: None if pairs is None else {member[0](k): member[1](v) for k, v in pairs.items()}
    return lambda cells: None if cells is None else {n: f(v) for (n, v), f in zip(cells.items(), member, strict=True)}


def hive_text(hive: HiveType) -> Formatter:
    """The function that formats a value of this type as Hive prints it; the value must not be None."""
    if hive.name in _SCALARS:
        return _SCALARS[hive.name]
    if hive.children:
        return _nested(hive, strict=False)
    return lambda value: hive_text(_type_of(value))(value)


def json_text(hive: HiveType) -> Formatter:
    """The function that converts a value of this type to JSON; None becomes null, NaN and Infinity become strings."""
    return _nested(hive, strict=True)


def _timestamp_text(value: datetime) -> str:
    """`yyyy-MM-dd HH:mm:ss[.fraction]`; with a zone at least one digit of fraction, and the zone's id
    (TimestampTZ.FORMATTER)."""
    text = value.replace(tzinfo=None).isoformat(" ")
    if value.microsecond:
        text = text.rstrip("0")
    if value.tzinfo is None:
        return text
    return f"{text if value.microsecond else text + '.0'} {_zone_id(value)}"


def _zone_id(value: datetime) -> str:
    zone = getattr(value.tzinfo, "key", None)
    if isinstance(zone, str):
        return zone
    return value.isoformat()[-6:] if value.utcoffset() else "UTC"


def _date_text(value: date) -> str:
    return value.isoformat()


def _binary_text(value: bytes) -> str:
    """The bytes decoded as UTF-8, or their hexadecimal digits if invalid."""
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return bytes(value).hex().upper()


class DayTimeInterval(timedelta):
    """A day-time interval, formatted as in Hive."""

    def __str__(self) -> str:
        return day_time_text(self)


@dataclass(frozen=True, order=True)
class YearMonthInterval:
    """A year-month interval, formatted as in Hive."""

    months: int

    def __str__(self) -> str:
        return year_month_text(self)


def interval_of(value: tuple[int, int], type_: HiveType) -> YearMonthInterval | DayTimeInterval:
    """The result value of an interval literal (`rex.Literal`), from its months and microseconds."""
    months, micros = value
    return YearMonthInterval(months) if type_ == INTERVAL_YEAR_MONTH else DayTimeInterval(microseconds=micros)


def _boolean_text(value: object) -> str:
    return "true" if value else "false"


def _decimal_text(value: Decimal | int) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def day_time_text(value: timedelta) -> str:
    """Hive's HiveIntervalDayTime: `[-]days hours:minutes:seconds.nanoseconds`."""
    span = abs(value)
    hours, rest = divmod(span.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    sign = "-" if value < timedelta(0) else ""
    return f"{sign}{span.days} {hours:02}:{minutes:02}:{seconds:02}.{span.microseconds * 1000:09}"


def year_month_text(value: YearMonthInterval) -> str:
    """Hive's HiveIntervalYearMonth: `[-]years-months`."""
    years, months = divmod(abs(value.months), 12)
    return f"{'-' if value.months < 0 else ''}{years}-{months}"


_SCALARS: dict[str, Formatter] = {
    "void": str,
    "boolean": _boolean_text,
    "tinyint": str,
    "smallint": str,
    "int": str,
    "bigint": str,
    "float": float_text,
    "double": double_text,
    "decimal": _decimal_text,
    "string": str,
    "varchar": str,
    "char": str,
    "binary": _binary_text,
    "date": _date_text,
    "timestamp": _timestamp_text,
    "timestamp with local time zone": _timestamp_text,
    "interval_year_month": year_month_text,
    "interval_day_time": day_time_text,
}

_UNQUOTED = {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal"}


def _nested(hive: HiveType, *, strict: bool) -> Formatter:
    """A value inside an array, map or struct, as JSON.

    Hive (SerDeUtils.getJSONString) does not quote numeric map keys, NaN, Infinity and intervals; `strict` does.
    """
    if hive.name == "array":
        return _array(_nested(hive.children[0], strict=strict))
    if hive.name == "map":
        key = _nested(hive.children[0], strict=strict)
        return _map(_quoted_key(key) if strict else key, _nested(hive.children[1], strict=strict))
    if hive.name == "struct":
        members = tuple((quoted(f), _nested(t, strict=strict)) for f, t in zip(hive.fields, hive.children, strict=True))
        return _struct(hive.fields, members)
    if hive.name in _UNQUOTED:
        number = _finite(_SCALARS[hive.name]) if strict and hive.is_approximate else _SCALARS[hive.name]
        return lambda value: "null" if value is None else number(value)
    if hive.name in _SCALARS:
        text = _SCALARS[hive.name]
        if hive.name.startswith("interval") and not strict:
            return lambda value: "null" if value is None else text(value)
        return lambda value: "null" if value is None else quoted(text(value))
    return lambda value: "null" if value is None else _nested(_type_of(value), strict=strict)(value)


def _array(element: Formatter) -> Formatter:
    return lambda value: "null" if value is None else f"[{','.join(map(element, value))}]"


def _map(key: Formatter, item: Formatter) -> Formatter:
    def text(value: Mapping[Any, Any] | None) -> str:
        if value is None:
            return "null"
        return "{" + ",".join(f"{key(k)}:{item(v)}" for k, v in value.items()) + "}"

    return text


def _struct(names: tuple[str, ...], members: tuple[tuple[str, Formatter], ...]) -> Formatter:
    def text(value: Mapping[str, Any] | tuple[Any, ...] | None) -> str:
        if value is None:
            return "null"
        items = [value.get(name) for name in names] if isinstance(value, Mapping) else value
        return "{" + ",".join(f"{name}:{item(v)}" for (name, item), v in zip(members, items, strict=True)) + "}"

    return text


def _quoted_key(key: Formatter) -> Formatter:
    def text(value: object) -> str:
        written = key(value)
        return written if written.startswith('"') else quoted(written)

    return text


def _finite(number: Formatter) -> Formatter:
    return lambda value: number(value) if math.isfinite(value) else quoted(number(value))


def quoted(text: str) -> str:
    """A JSON string literal; non-ASCII characters stay as they are."""
    from json.encoder import encode_basestring

    literal: str = encode_basestring(text)
    return literal


def _type_of(value: object) -> HiveType:
    """The Hive type of a value whose column type is unknown."""
    for python, hive in _TYPE_OF.items():
        if isinstance(value, python):
            return hive
    return STRING


_TYPE_OF: dict[type, HiveType] = {
    str: STRING,
    bool: BOOLEAN,
    YearMonthInterval: INTERVAL_YEAR_MONTH,
    int: BIGINT,
    float: DOUBLE,
    Decimal: decimal(),
    datetime: TIMESTAMP,
    date: DATE,
    timedelta: INTERVAL_DAY_TIME,
    bytes: BINARY,
    bytearray: BINARY,
    list: array_of(UNKNOWN),
    tuple: array_of(UNKNOWN),
    dict: HiveType("map", children=(UNKNOWN, UNKNOWN)),
}
