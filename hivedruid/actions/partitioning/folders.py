"""The folders of partitions below the LOCATION of a table, on this machine or elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.partitioning.values import shown, typed
from hivedruid.catalog.partitions import NULL_VALUE, Partition, parse_name
from hivedruid.errors import ExecutionError
from hivedruid.filesystems import Access, Location, local_path, open_location
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hivedruid.catalog.table import Table


@dataclass(frozen=True)
class PartitionFolders:
    """The partitions that the folders at the LOCATION stand for, the other folders, the partitions of the catalog whose
    folder does not exist, and the names of partitions that several folders stand for."""

    found: tuple[Partition, ...] = ()
    others: tuple[str, ...] = ()
    missing: frozenset[Partition] = frozenset()
    twice: tuple[str, ...] = ()


def partition_folders(table: Table, known: Iterable[Partition], settings: Mapping[str, str]) -> PartitionFolders:
    """Raises ExecutionError if the LOCATION cannot be read."""
    access = Access.of(settings)
    columns = table.partition_columns
    found: dict[tuple[str, ...], Partition] = {}
    others, twice = [], []
    try:
        for name in _names(table.location or "", len(columns), access):
            partition = _of_folder(name, table)
            if partition is None:
                others.append(name)
            elif partition.values in found:
                twice.append(partition.name(columns))
            else:
                found[partition.values] = partition
        there = {each.folder(table) for each in found.values()}
        missing = [p for p in known if p.folder(table) not in there and not _exists(p.folder(table), access)]
    except OSError as error:
        raise ExecutionError(
            f"cannot read the folders of {table.full_name} at {table.location}: {error.strerror or error}",
            hint="check the LOCATION and its permissions",
        ) from error
    in_order = sorted(found.values(), key=lambda each: each.name(columns))
    return PartitionFolders(tuple(in_order), tuple(others), frozenset(missing), tuple(twice))


def _of_folder(name: str, table: Table) -> Partition | None:
    """The partition of a folder below the LOCATION; None if its name is not one of a partition. A number has its usual
    form, as in Hive: `k=01` is the partition k=1."""
    columns = table.partition_columns
    partition = parse_name(name, columns)
    if partition is None:
        return None
    values = []
    for text, column in zip(partition.values, columns, strict=True):
        known, value = typed(text, column, "UTC") if column.type.is_numeric and text != NULL_VALUE else (False, None)
        if known and value is None:
            return None
        values.append(shown(value, column) if known else text)
    partition = Partition(tuple(values))
    is_usual = partition.name(columns) == name
    return partition if is_usual else replace(partition, location=f"{(table.location or '').rstrip('/')}/{name}")


def _names(location: str, depth: int, access: Access) -> Iterator[str]:
    """The folders at that depth, as paths below the location; hidden ones do not count, as in Hadoop."""
    path = local_path(location)
    below = local_names(str(path), depth) if path is not None else _elsewhere(open_location(location, access), depth)
    yield from sorted(below)


def local_names(folder: str, depth: int) -> Iterator[str]:
    """The folders at that depth below a folder of this machine."""
    if not os.path.isdir(folder):  # noqa: PTH112
        return
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if not entry.name.startswith(("_", ".")) and entry.is_dir()]
    for name in names:
        if depth == 1:
            yield name
        else:
            yield from (f"{name}/{below}" for below in local_names(f"{folder}/{name}", depth - 1))


def _elsewhere(folder: Location, depth: int) -> Iterator[str]:
    for name in folder.names():
        inner = folder / name
        if name.startswith(("_", ".")) or not inner.is_folder():
            continue
        if depth == 1:
            yield name
        else:
            yield from (f"{name}/{below}" for below in _elsewhere(inner, depth - 1))


def _exists(location: str, access: Access) -> bool:
    path = local_path(location)
    return path.exists() if path is not None else open_location(location, access).exists()
