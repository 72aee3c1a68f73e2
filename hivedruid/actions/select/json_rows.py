"""The rows of small JSON files without a Spark job: only if each record is plain (`plain_json`), so that Spark, by the
rules of Hive's JsonSerDe, reads the same values."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.actions.select.small_files import lines_of, small_files
from hivedruid.evaluation.exactness import Unsure
from hivedruid.plain_json import KINDS, PlainJson, column_name
from hivedruid.spark.serde import is_json

if TYPE_CHECKING:
    import pyarrow as pa

    from hivedruid.catalog.table import Column, Table

_ENDINGS = frozenset({"", ".json", ".jsonl", ".ndjson", ".log", ".txt"})
_BLANKS = b" \t\n\x0b\f\r"


def has_small_json(table: Table) -> bool:
    """Whether all rows of a table are in few small JSON files on this machine, whose records may be plain."""
    return bool(_paths(table))


def _paths(table: Table) -> list[Path]:
    return small_files(table, _ENDINGS) if _is_suitable(table) else []


def _is_suitable(table: Table) -> bool:
    if table.kind != "files" or table.has_partitions or table.metastore or not is_json(table):
        return False
    if any(key == "timestamp.formats" or key.startswith("mapping.") for key in table.effective_serde):
        return False
    return all(each.type.name in KINDS and each.type.name != "binary" for each in table.columns)


def rows_of(table: Table, columns: list[Column]) -> pa.Table:
    """The columns of all rows. Each record is checked as a whole, as Spark does, whatever is read of it.

    Raises Unsure if not all records are plain, or have a time in an unusual format.
    """
    import pyarrow as pa

    paths = _paths(table)
    if not paths:
        raise Unsure(f"the files of {table.full_name} have changed")
    records = [line for path in paths for line in lines_of(path) if line.strip(_BLANKS)]
    plain = PlainJson(
        tuple((column.field_name.lower(), KINDS[column.type.name]) for column in table.columns),
        tuple(range(len(table.columns))),
    )
    (batch,) = plain([pa.RecordBatch.from_pydict({"value": pa.array(records, pa.binary())})])
    if batch["value"].null_count < len(records):
        raise Unsure(f"not all records of {table.full_name} are plain JSON")
    places = {column.name: place for place, column in enumerate(table.columns)}
    arrays = {name: _typed(batch[column_name(place)], table.columns[place]) for name, place in places.items()}
    return pa.table({column.name: arrays[column.name] for column in columns})


# --- times ----------------------------------------------------------------------------------------------------------


def _typed(values: pa.Array, column: Column) -> pa.Array:
    """Plain values in the type of their column."""
    import pyarrow as pa

    read = TIMES.get(column.type.name)
    if read is None:
        return values
    types = {"date": pa.date32(), "timestamp": pa.timestamp("us")}
    moments = [None if text is None else read(text) for text in values.to_pylist()]
    return pa.array(moments, types.get(column.type.name, pa.timestamp("us", "UTC")))


_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(\.\d{1,6})?"
_DATE, _LOCAL, _INSTANT = (
    re.compile(pattern, re.ASCII) for pattern in (_DAY, f"{_DAY} {_CLOCK}", f"{_DAY}[ T]{_CLOCK}Z")
)


def _read(pattern: re.Pattern[str], parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """The usual form of a time; Spark reads the others. Raises Unsure."""

    def read(text: str) -> Any:
        if pattern.fullmatch(text) is None:
            raise Unsure("a time in an unusual format")
        try:
            return parse(text)
        except ValueError as error:
            raise Unsure("a time that does not exist") from error

    return read


TIMES: dict[str, Callable[[str], Any]] = {
    "date": _read(_DATE, date.fromisoformat),
    "timestamp": _read(_LOCAL, datetime.fromisoformat),
    "timestamp with local time zone": _read(
        _INSTANT, lambda text: datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)
    ),
}
"""The times that JSON strings of each type are, by the name of the type."""
