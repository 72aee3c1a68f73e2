"""The statistics of tables outside Druid: from their files, footers and manifests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.actions.statistics.footers import FileSource, FooterReader, footers_of, of_columns
from hivedruid.catalog.footers import FileFacts, FooterStore, StoredFile
from hivedruid.catalog.statistics import TableStatistics
from hivedruid.errors import HiveDruidError
from hivedruid.filesystems import local_path
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.catalog import current_metadata, is_own
from hivedruid.iceberg.manifest_facts import Manifests, read_manifests
from hivedruid.iceberg.metadata import read

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts
    from hivedruid.catalog.table import Table
    from hivedruid.iceberg.metadata import TableState

MOST_FILES = 10_000
"""The maximum number of files whose sizes are summed."""


def statistics_outside(tables: Iterable[Table], facts: Facts) -> Iterator[tuple[Table, TableStatistics | None]]:
    """The statistics of tables with files; the limits of reading them are those of one statement."""
    footers = FooterReader(FooterStore(facts.catalog))
    for table in tables:
        if table.has_snapshots:
            yield table, _managed(table, facts, footers)
        elif table.has_folder:
            # the catalog keeps nothing of a temporary table or of a file without one; partitions may be elsewhere
            is_unsure = table.is_temporary or table.is_loose or table.has_partitions
            yield table, stored_files(table, None if is_unsure else footers)


def _managed(table: Table, facts: Facts, footers: FooterReader) -> TableStatistics | None:
    """The statistics of a managed table. A query does not wait for a catalog that only Spark can read."""
    if table.iceberg is not None:
        return None
    if is_own(facts.settings):
        return iceberg_with_columns(table, facts.home, footers)
    with suppress(OSError, ValueError, HiveDruidError):
        metadata = current_metadata(facts.settings, facts.home, facts.catalog, table.table_id)
        if metadata is not None:
            state = read(metadata)
            return _with_manifests(table, iceberg_elsewhere(state), state, metadata, footers)
    return None


def stored_files(table: Table, footers: FooterReader | None = None) -> TableStatistics | None:
    """The size of the files at a LOCATION on this machine; with `footers` also the rows and columns in them."""
    folder = local_path(table.location or "")
    if folder is None or not folder.exists():
        return None
    files = files_in(folder)
    found = _of_files(files, rows=None)
    source = None if footers is None or found is None else footers_of(table, files)
    if footers is None or found is None or source is None:
        return found
    known = footers.statistics(table, *source)
    return found if known is None else _with(found, known, f"footers of {len(files):,} file{'s'[: len(files) != 1]}")


def _with(found: TableStatistics, known: TableStatistics, source: str) -> TableStatistics:
    """With rows and columns from this source."""
    columns = {name: replace(column, range_from=source) for name, column in known.columns.items()}
    return replace(found, rows=known.rows, columns=columns, rows_from=source)


def home_iceberg(table: Table, home: Path) -> TableStatistics | None:
    """The number of rows and bytes of a table in the home's own Iceberg catalog."""
    return _home_iceberg(table, home, _state(table, home))


def _home_iceberg(table: Table, home: Path, state: TableState | None) -> TableStatistics | None:
    folder = home_catalog.folder(home, table.table_id)
    if not folder.exists():
        return TableStatistics(0, 0, of="nothing")
    return _of_files(files_in(folder / "data"), None if state is None else state.rows)


def iceberg_with_columns(table: Table, home: Path, footers: FooterReader) -> TableStatistics | None:
    """`home_iceberg` with the bounds and nulls of columns in the manifests."""
    state = _state(table, home)
    found = _home_iceberg(table, home, state)
    if found is None or state is None or found.rows is None:
        return found
    return _with_manifests(table, found, state, home_catalog.current_metadata(home, table.table_id), footers)


def _with_manifests(
    table: Table, found: TableStatistics, state: TableState, metadata: Path | None, footers: FooterReader
) -> TableStatistics:
    known = None
    with suppress(OSError, ValueError, HiveDruidError):
        known = footers.statistics(table, state.token, lambda: _manifests(table, metadata))
    return _with(found, replace(known or TableStatistics(), rows=found.rows), "Iceberg snapshot")


def _manifests(table: Table, metadata: Path | None) -> FileSource:
    found = read_manifests(metadata) if metadata is not None else Manifests()

    def statistics(facts: FileFacts) -> TableStatistics:
        return TableStatistics(columns=of_columns(table, [found.of(c.field_name, facts) for c in table.columns]))

    return FileSource(table.table_id, found.files, lambda: found.read, statistics)


def _state(table: Table, home: Path) -> TableState | None:
    with suppress(OSError, ValueError, HiveDruidError):
        return home_catalog.state(home, table.table_id)
    return None


def iceberg_elsewhere(state: TableState | None) -> TableStatistics:
    """The same for a table in another catalog, from its snapshot."""
    if state is None:
        return TableStatistics(0, 0, of="nothing")
    return TableStatistics(state.rows, state.bytes, of=state.token)


def _of_files(files: list[StoredFile], rows: int | None) -> TableStatistics | None:
    if len(files) > MOST_FILES:
        return None
    size, newest = sum(file.size for file in files), max((file.modified for file in files), default=0)
    return TableStatistics(rows, size, of=f"{len(files)} files, {size} bytes, {newest}")


def files_in(folder: Path) -> list[StoredFile]:
    """The file, or the files of a folder, without hidden ones, as in Hadoop; a few more than the maximum number at
    most."""
    found: list[StoredFile] = []
    with suppress(OSError):
        if folder.is_file():
            return [_file(folder)]
        for path, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if not name.startswith(("_", "."))]
            for name in names:
                if not name.startswith(("_", ".")):
                    with suppress(OSError):  # it was deleted in the meantime
                        found.append(_file(Path(path, name)))
            if len(found) > MOST_FILES:
                break
    return found


def _file(path: Path) -> StoredFile:
    status = path.stat()
    return StoredFile(str(path), status.st_size, status.st_mtime_ns)
