"""Converts values of native rows to Python values of their Hive types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.types import HiveType
from hivedruid.errors import DruidError
from hivedruid.plan.literals import EPOCH, zone_of
from hivedruid.plan.physical import Field
from hivedruid.results import Batch, Batches, Column, values

if TYPE_CHECKING:
    import pyarrow as pa

Decoder = Callable[[Any], Any]


class UnreadableValueError(DruidError):
    """A value that this process cannot represent in its Hive type, such as a time after the year 9999."""


def decode_rows(rows: Iterable[tuple[Any, ...]], fields: tuple[Field, ...], zone: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a native query, converted to the Hive types of the fields; zoned timestamps in the session's time
    zone. Raises UnreadableValueError."""
    return Batches(_batches(rows.batches, fields, zone)) if isinstance(rows, Batches) else _rows(rows, fields, zone)


def _rows(rows: Iterable[tuple[Any, ...]], fields: tuple[Field, ...], zone: str) -> Iterator[tuple[Any, ...]]:
    decoders = [decoder(f.type, zone) for f in fields]
    if all(d is None for d in decoders):
        yield from rows
        return
    for row in rows:
        try:
            decoded = tuple([v if v is None or d is None else d(v) for v, d in zip(row, decoders, strict=True)])
        except (ArithmeticError, TypeError, ValueError):
            raise _unreadable(row, fields, zone) from None
        yield decoded


def _batches(batches: Iterable[Batch], fields: tuple[Field, ...], zone: str) -> Iterator[Batch]:
    for batch in batches:
        try:
            columns = [_column(column, f.type, zone) for column, f in zip(batch.columns, fields, strict=True)]
        except (ArithmeticError, TypeError, ValueError):  # the rows before the invalid one are returned
            yield from (Batch(1, tuple([cell] for cell in row)) for row in _rows(batch.rows(), fields, zone))
            continue
        yield Batch(batch.size, tuple(columns))


def _column(column: Column, type_: HiveType, zone: str) -> Column:
    decode = decoder(type_, zone)
    if decode is None or (not isinstance(column, Sequence) and str(column.type) == _UNCHANGED.get(type_.name)):
        return column
    if not isinstance(column, Sequence) and str(column.type) == "int64" and type_.name in ("boolean", *_TIMES):
        return _arrow_column(column, type_)
    return [None if cell is None else decode(cell) for cell in values(column)]


def _arrow_column(column: pa.Array, type_: HiveType) -> pa.Array:
    """Druid's 0 and 1, or milliseconds, as Arrow's boolean, timestamp or date. Raises ValueError."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if type_.name == "boolean":
        return column.cast(pa.bool_())
    span = pc.min_max(column).as_py()
    if span["min"] is not None and not (span["min"] >= _FIRST and span["max"] <= _LAST):
        raise ValueError("a time is outside of the years 1 to 9999")
    times = column.cast(pa.timestamp("ms"))
    return times if type_.name == "timestamp" else pc.floor_temporal(times, unit="day").cast(pa.date32())


_UNCHANGED = {**dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "int64"), "double": "double"}
"""The Arrow type that is not converted, by the name of the Hive type."""
_TIMES = ("timestamp", "date")
_FIRST = -62_135_596_800_000
_LAST = 253_402_300_799_999
"""The first and the last millisecond of the years 1 to 9999."""


def _unreadable(row: tuple[Any, ...], fields: tuple[Field, ...], zone: str) -> UnreadableValueError:
    """The error for the first invalid value in a row, for example a year above 9999."""
    for value, field in zip(row, fields, strict=True):
        decode = decoder(field.type, zone)
        try:
            _ = decode(value) if decode is not None and value is not None else None
        except (ArithmeticError, TypeError, ValueError):
            hint = "times must be in the years 1 to 9999; exclude the row with WHERE" if field.type.is_time else None
            message = f"column '{field.name}' has {value!r}, which is not a valid {field.type}"
            return UnreadableValueError(message, hint=hint)
    return UnreadableValueError(f"a row from Druid does not match the column types: {row!r}")


def decoder(type_: HiveType, zone: str) -> Decoder | None:
    """A function that converts Druid's value (never null) to the Hive type; None if they are the same."""
    if type_.name == "timestamp with local time zone":
        session = zone_of(zone) or UTC
        return lambda millis: _moment(millis).replace(tzinfo=UTC).astimezone(session)
    if type_.name == "decimal":
        unit = Decimal(1).scaleb(-(type_.params or (10, 0))[1])
        return lambda number: Decimal(repr(number)).quantize(unit, ROUND_HALF_UP)
    return _DECODERS.get(type_.name)


def _moment(millis: int) -> datetime:
    return EPOCH + timedelta(milliseconds=int(millis))


def _date(millis: int) -> date:
    return _moment(millis).date()


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


_DECODERS: dict[str, Decoder] = {
    "boolean": lambda v: bool(int(v)),
    "tinyint": int,
    "smallint": int,
    "int": int,
    "bigint": int,
    "float": float,
    "double": float,
    "timestamp": _moment,
    "date": _date,
    "array": _list,
}
