"""Transfers rows from Spark to Python without loss, independent of this machine's time zone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryFile
from threading import Condition
from typing import IO, TYPE_CHECKING, Any

from hivedruid.cells import DayTimeInterval, YearMonthInterval
from hivedruid.java_numbers import float_text
from hivedruid.results import Batch, Batches
from hivedruid.spark.calls import NOTICED, SparkCall
from hivedruid.spark.cells import identifier, literal

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.types import DataType, StructType

    from hivedruid.catalog.types import HiveType

Decoder = Callable[[Any], Any]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = (
    (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1) for moment in (datetime.min, datetime.max)
)
"""Microseconds since then of the first and last times of Python."""

_PLAIN = {
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal",
    "string",
    "varchar",
    "char",
    "binary",
    "date",
    "timestamp",
}
"""The Hive types whose Spark types are not encoded."""

HELD = 64 * 1024 * 1024
"""Bytes of unread rows kept in memory; the rest is spilled to a file."""


def stream(frame: DataFrame, expected: Sequence[HiveType] = ()) -> Batches:
    """The rows in order, streamed, as the Python values documented in `results.Result`. Some values are encoded for
    transfer: TIMESTAMP as microseconds, since naive datetimes in the machine's time zone repeat hours; year-month
    intervals as months, which Arrow does not support; maps as pairs; structs by position, since field names may
    repeat.

    If none of the `expected` types is encoded, one request has the schema and the rows; otherwise another has the
    schema first. The types that Spark returns are those that count.
    """
    return Batches(_batches(frame, is_plain=bool(expected) and all(kind.name in _PLAIN for kind in expected)))


def arrow_batches(frame: DataFrame) -> Iterator[RecordBatch]:
    """The rows in order, streamed, as Spark sends them: for types without time zones and nested values."""
    with closing(iter(_Arrivals(frame))) as arrivals:
        next(arrivals)  # the schema
        yield from arrivals


def _batches(frame: DataFrame, *, is_plain: bool) -> Iterator[Batch]:
    with closing(iter(_Arrivals(frame if is_plain else _encoded(frame, types := _types(frame.schema))))) as arrivals:
        received = _types(next(arrivals))
        if not (is_plain and any(map(_travels, received))):
            yield from _decoded(arrivals, received if is_plain else types)
            return
    yield from _batches(frame, is_plain=False)


def _types(schema: StructType) -> list[DataType]:
    return [field.dataType for field in schema.fields]


def _encoded(frame: DataFrame, types: Sequence[DataType]) -> DataFrame:
    names = [f"_{number}" for number in range(len(types))]
    expressions = [
        f"{_wire(identifier(name), kind)} AS {identifier(name)}" for name, kind in zip(names, types, strict=True)
    ]
    return frame.toDF(*names).selectExpr(*expressions)


def _decoded(arrivals: Iterator[Any], types: Sequence[DataType]) -> Iterator[Batch]:
    decoders = [None if kind.typeName() == "float" else _decoder(kind) for kind in types]
    for batch in arrivals:
        columns = [
            [None if cell is None else decoder(cell) for cell in column.to_pylist()] if decoder else _of_python(column)
            for column, decoder in zip(batch.columns, decoders, strict=True)
        ]
        yield Batch(batch.num_rows, tuple(columns))


def _of_python(column: Any) -> Any:
    """The column with null for dates and times before the year 1 and after 9999, which Python does not have."""
    import pyarrow as pa

    kind = column.type
    if not (pa.types.is_date32(kind) or pa.types.is_timestamp(kind)):
        return column
    import pyarrow.compute as pc

    first, last = (pa.scalar(moment).cast(kind) for moment in (datetime.min, datetime.max))
    is_known = pc.and_(pc.greater_equal(column, first), pc.less_equal(column, last))
    return pc.if_else(is_known, column, pa.scalar(None, kind))


class _Arrivals:
    """The schema and the batches of a job's result, fetched by a separate thread as fast as Spark produces them. Slow
    readers do not block Spark: unread rows are buffered here, and the job ends when the last one has arrived. A reader
    that stops early cancels the job.
    """

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame
        self._changed = Condition()
        self._waiting: deque[Any] = deque()
        self._held = 0
        self._file: IO[bytes] | None = None
        self._schema: Any = None
        self._left = False
        self._over = False

    def __iter__(self) -> Generator[Any, None, None]:
        call = SparkCall(self._frame.sparkSession, self._fetch)
        try:
            while (batch := self._next()) is not None:
                yield batch
            call.wait()
        finally:
            self._left = True
            call.end()
            if self._file is not None:
                self._file.close()

    def _next(self) -> Any:
        """The schema, then the batches, None after the last one; spilled batches are read from the file on demand."""
        with self._changed:
            while not self._waiting and not self._over:
                self._changed.wait(NOTICED)
            if not self._waiting:
                return None
            batch = self._waiting.popleft()
            if not isinstance(batch, tuple):
                self._held -= _size(batch)
                return batch
            import pyarrow as pa

            position, size = batch
            assert self._file is not None
            self._file.seek(position)
            return pa.ipc.read_record_batch(pa.py_buffer(self._file.read(size)), self._schema)

    def _fetch(self) -> None:
        client, plan = self._frame.sparkSession.client, self._frame._plan
        try:
            for item in client.to_table_as_iterator(plan.to_proto(client), plan.observations):
                if self._left:
                    break
                for part in item.to_batches() if hasattr(item, "to_batches") else [item]:
                    self._put(part)
        finally:
            with self._changed:
                self._over = True
                self._changed.notify()

    def _put(self, batch: Any) -> None:
        size = _size(batch)
        with self._changed:
            if self._held + size > HELD:
                self._waiting.append(self._spilt(batch))
            else:
                self._held += size
                self._waiting.append(batch)
            self._changed.notify()

    def _spilt(self, batch: Any) -> tuple[int, int]:
        """Write the batch to the file; returns its position."""
        if self._file is None:
            self._file = TemporaryFile(prefix="hivedruid-rows-")  # noqa: SIM115 - closed with the reader
            self._schema = batch.schema
        position = self._file.seek(0, 2)
        return position, self._file.write(batch.serialize())


def _size(part: Any) -> int:
    """The bytes of a batch. Its `nbytes` reads offsets that Spark leaves out of an empty array of arrays."""
    return part.get_total_buffer_size() if hasattr(part, "get_total_buffer_size") else 0


def _wire(expression: str, kind: DataType, depth: int = 0) -> str:
    """SQL for the encoded form of a value."""
    if not _travels(kind):
        return expression
    x = f"x{depth}"
    match kind.typeName():
        case "timestamp":
            return f"unix_micros({expression})"
        case "array":
            return f"transform({expression}, {x} -> {_wire(x, kind.elementType, depth + 1)})"
        case "map":
            key = _wire(f"{x}.key", kind.keyType, depth + 1)
            value = _wire(f"{x}.value", kind.valueType, depth + 1)
            return f"transform(map_entries({expression}), {x} -> named_struct('k', {key}, 'v', {value}))"
        case "struct":
            members = (
                f"{literal(str(number))}, {_wire(f'{expression}.{identifier(field.name)}', field.dataType, depth + 1)}"
                for number, field in enumerate(kind.fields)
            )
            return f"IF({expression} IS NULL, NULL, named_struct({', '.join(members)}))"
        case _:
            return f"CAST(CAST({expression} AS INTERVAL MONTH) AS INT)"


def _travels(kind: DataType) -> bool:
    """Whether the type contains values that must be encoded."""
    if kind.typeName() == "array":
        return _travels(kind.elementType)
    return kind.typeName() in ("map", "struct", "timestamp", "yearmonthinterval")


def _decoder(kind: DataType) -> Decoder | None:
    """A function that decodes a transferred value; None if no decoding is required. Never called with None."""
    match kind.typeName():
        case "timestamp":
            return lambda micros: EPOCH + timedelta(microseconds=micros) if FIRST <= micros <= LAST else None
        case "array":
            element = _or_none(_decoder(kind.elementType))
            return (lambda values: [element(value) for value in values]) if element else None
        case "map":
            key = _or_none(_decoder(kind.keyType)) or _same
            value = _or_none(_decoder(kind.valueType)) or _same
            return lambda pairs: {key(pair["k"]): value(pair["v"]) for pair in pairs}
        case "struct":
            members = [
                (field.name, str(number), _or_none(_decoder(field.dataType)) or _same)
                for number, field in enumerate(kind.fields)
            ]
            return lambda cells: {name: member(cells[number]) for name, number, member in members}
        case "daytimeinterval":
            return lambda span: DayTimeInterval(span.days, span.seconds, span.microseconds)
        case "yearmonthinterval":
            return YearMonthInterval
        case "float":
            return lambda number: float(float_text(number))  # 1.414, not the nearest double
        case _:
            return None


def _or_none(decoder: Decoder | None) -> Decoder | None:
    return (lambda value: None if value is None else decoder(value)) if decoder else None


def _same(value: Any) -> Any:
    return value
