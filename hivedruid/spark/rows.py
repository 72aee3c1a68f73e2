"""Transfers rows from Spark to Python without loss, independent of this machine's time zone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryFile
from threading import Condition
from typing import IO, TYPE_CHECKING, Any

from hivedruid.cells import DayTimeInterval, YearMonthInterval, float_text
from hivedruid.results import Batch, Batches
from hivedruid.spark.calls import SparkCall
from hivedruid.spark.cells import identifier, literal

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.types import DataType

Decoder = Callable[[Any], Any]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

HELD = 64 * 1024 * 1024
"""Bytes of unread rows kept in memory; the rest is spilled to a file."""


def stream(frame: DataFrame) -> Batches:
    """The rows in order, streamed, as the Python values documented in `results.Result`. Some values are encoded for
    transfer: TIMESTAMP as microseconds, since naive datetimes in the machine's time zone repeat hours; year-month
    intervals as months, which Arrow does not support; maps as pairs; structs by position, since field names may
    repeat.
    """
    return Batches(_batches(frame))


def _batches(frame: DataFrame) -> Iterator[Batch]:
    types = [field.dataType for field in frame.schema.fields]
    names = [f"_{number}" for number in range(len(types))]
    expressions = [
        f"{_wire(identifier(name), kind)} AS {identifier(name)}" for name, kind in zip(names, types, strict=True)
    ]
    decoders = [None if kind.typeName() == "float" else _decoder(kind) for kind in types]
    for batch in _Arrivals(frame.toDF(*names).selectExpr(*expressions)):
        columns = [
            [None if cell is None else decoder(cell) for cell in column.to_pylist()] if decoder else column
            for column, decoder in zip(batch.columns, decoders, strict=True)
        ]
        yield Batch(batch.num_rows, tuple(columns))


class _Arrivals:
    """The batches of a job's result, fetched by a separate thread as fast as Spark produces them. Slow readers do not
    block Spark: unread rows are buffered here, and the job ends when the last one has arrived. A reader that stops
    early cancels the job.
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

    def __iter__(self) -> Iterator[Any]:
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
        """The next batch, None after the last one; spilled batches are read from the file on demand."""
        with self._changed:
            while not self._waiting and not self._over:
                self._changed.wait()
            if not self._waiting:
                return None
            batch = self._waiting.popleft()
            if not isinstance(batch, tuple):
                self._held -= batch.get_total_buffer_size()
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
                if hasattr(item, "to_batches"):  # other items are the schema
                    for batch in item.to_batches():
                        self._put(batch)
        finally:
            with self._changed:
                self._over = True
                self._changed.notify()

    def _put(self, batch: Any) -> None:
        size = batch.get_total_buffer_size()  # nbytes reads offsets that Spark leaves out of an empty array of arrays
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
            return lambda micros: EPOCH + timedelta(microseconds=micros)
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
