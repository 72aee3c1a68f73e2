"""Rows on their way from Spark to Python: exact, whatever zone this machine is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hivedruid.spark import session
from hivedruid.spark.cells import identifier, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

Decoder = Callable[[Any], Any]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def stream(frame: DataFrame) -> Iterator[tuple[Any, ...]]:
    """The rows in their order, as they come, in the Python values that `results.Result` names.

    pyspark turns TIMESTAMP into naive datetimes in the machine's zone, which has hours twice: they travel as
    microseconds instead. Intervals of years and months travel as months, which pyspark cannot read otherwise.
    """
    names = [f"_{number}" for number in range(len(frame.columns))]
    frame = frame.toDF(*names)
    types = [field.dataType for field in frame.schema.fields]
    expressions = [
        f"{_wire(identifier(name), kind)} AS {identifier(name)}" for name, kind in zip(names, types, strict=True)
    ]
    decoders = [(position, decoder) for position, kind in enumerate(types) if (decoder := _decoder(kind))]
    for row in _local_rows(frame.selectExpr(*expressions)):
        cells = list(row)
        for position, decoder in decoders:
            if cells[position] is not None:
                cells[position] = decoder(cells[position])
        yield tuple(cells)


def _local_rows(frame: DataFrame) -> Iterator[Any]:
    """pyspark's local iterator. When it goes it reads its partition to the end, so one that is left early has to be
    cancelled before (`yield from` would close it first)."""
    rows = frame.toLocalIterator(prefetchPartitions=True)
    try:
        for row in rows:  # noqa: UP028
            yield row
    except BaseException:
        session.cancel()
        raise


def _wire(expression: str, kind: DataType, depth: int = 0) -> str:
    """The value in the form in which it travels."""
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
            return f"map_from_entries(transform(map_entries({expression}), {x} -> struct({key}, {value})))"
        case "struct":
            members = (
                f"{literal(field.name)}, {_wire(f'{expression}.{identifier(field.name)}', field.dataType, depth + 1)}"
                for field in kind.fields
            )
            return f"IF({expression} IS NULL, NULL, named_struct({', '.join(members)}))"
        case _:
            return f"CAST(extract(YEAR FROM {expression}) * 12 + extract(MONTH FROM {expression}) AS INT)"


def _travels(kind: DataType) -> bool:
    """Whether the type holds something that pyspark would not hand over as it is."""
    match kind.typeName():
        case "array":
            return _travels(kind.elementType)
        case "map":
            return _travels(kind.keyType) or _travels(kind.valueType)
        case "struct":
            return any(_travels(field.dataType) for field in kind.fields)
        case name:
            return bool(name in ("timestamp", "yearmonthinterval"))


def _decoder(kind: DataType) -> Decoder | None:
    """What makes a Python value of what has travelled; None where it is one already. Never called with None."""
    match kind.typeName():
        case "timestamp":
            return lambda micros: EPOCH + timedelta(microseconds=micros)
        case "binary":
            return bytes
        case "array":
            element = _or_none(_decoder(kind.elementType))
            return (lambda values: [element(value) for value in values]) if element else None
        case "map":
            key = _or_none(_decoder(kind.keyType)) or _same
            value = _or_none(_decoder(kind.valueType)) or _same
            return lambda values: {key(k): value(v) for k, v in values.items()}
        case "struct":
            members = [(field.name, _or_none(_decoder(field.dataType)) or _same) for field in kind.fields]
            return lambda row: {name: member(cell) for (name, member), cell in zip(members, row, strict=True)}
        case _:
            return None


def _or_none(decoder: Decoder | None) -> Decoder | None:
    return (lambda value: None if value is None else decoder(value)) if decoder else None


def _same(value: Any) -> Any:
    return value
