"""The partitions of an Iceberg table by columns: their values and sizes, from its manifests. Pure."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import HiveType
from hivedruid.errors import ExecutionError
from hivedruid.iceberg.files import TableFile, TableFiles
from hivedruid.lazy_dataclass import dataclass

Values = tuple[Any, ...]
"""The values of the partition columns of a table."""
ALL_ROWS = "true"
"""The condition of all rows of a table, as SQL."""


@dataclass(frozen=True)
class PartitionSize:
    """What is stored in a partition; `size` is in bytes."""

    files: int = 0
    rows: int = 0
    size: int = 0


def former_spec(table: Table) -> ExecutionError:
    """The error of files that were written by another partition spec."""
    return ExecutionError(
        f"{table.full_name} has files from before ALTER TABLE … SET PARTITION SPEC, which are not in these partitions",
        hint=f"run ALTER TABLE {table.name} COMPACT 'major' to write them anew, and rerun the statement",
    )


def partition_sizes(files: TableFiles, table: Table) -> Mapping[Values, PartitionSize]:
    """The partitions with files, by the values of the partition columns. Raises ExecutionError if an earlier partition
    spec did not have these columns."""
    found: dict[Values, list[TableFile]] = defaultdict(list)
    for file in files.data:
        values = _values(file, files, table.partition_columns)
        if values is None:
            raise former_spec(table)
        found[values].append(file)
    return {values: _size(inside) for values, inside in found.items()}


def _size(files: Iterable[TableFile]) -> PartitionSize:
    listed = list(files)
    return PartitionSize(len(listed), sum(file.rows for file in listed), sum(file.size for file in listed))


def _values(file: TableFile, files: TableFiles, columns: Sequence[Column]) -> Values | None:
    fields = files.specs.get(file.spec, {})
    stored = {
        field.column: value
        for name, value in file.partition
        if (field := fields.get(name)) is not None and field.transform == "identity"
    }
    if any(column.field_name not in stored for column in columns):
        return None
    return tuple(_decoded(stored[column.field_name], column.type) for column in columns)


def _decoded(value: Any, type_: HiveType) -> Any:
    """A value of a manifest as Python's value of the column's type."""
    if value is None:
        return None
    if type_.name == "decimal":
        return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-type_.params[1])
    convert = _DECODED.get(type_.name)
    return value if convert is None else convert(value)


def _moment(micros: int) -> datetime:
    return datetime(1970, 1, 1) + timedelta(microseconds=micros)


_DECODED: Mapping[str, Callable[[Any], Any]] = {
    "date": lambda days: date(1970, 1, 1) + timedelta(days=days),
    "timestamp": _moment,
    "timestamp with local time zone": lambda micros: _moment(micros).replace(tzinfo=UTC),
    "float": lambda number: struct.unpack("<f", struct.pack("<f", number))[0],
}
