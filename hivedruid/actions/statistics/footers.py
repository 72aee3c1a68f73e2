"""Statistics of tables from the footers of their files, or from Iceberg's manifests.

A file is read once: its facts are stored in the catalog. A statement reads a bounded number of files in a bounded time.
What it does not read stays unknown, and the next statement continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from hashlib import blake2b
from pathlib import Path
from time import monotonic

from hivedruid.actions.statistics.footer_formats import READERS, Read
from hivedruid.catalog.footers import ColumnFacts, FileFacts, FooterStore, StoredFile, merged
from hivedruid.catalog.statistics import ColumnStatistics, TableStatistics
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import HiveType
from hivedruid.lazy_dataclass import dataclass

MOST_FILES = 1_000
"""The maximum number of footers and manifests that a statement reads."""
MOST_SECONDS = 0.2
"""The time after which a statement begins to read no further one. Loading pyarrow for ORC takes as long, once a
process."""
MOST_COLUMNS = 20_000
"""For more files times columns, only rows are added up: the bounds would take longer than some 0.2 s."""


@dataclass(frozen=True)
class FileSource:
    """The files of a table: `reader` prepares to read them, `statistics` converts what all of them contain."""

    place: str
    files: Sequence[StoredFile]
    reader: Callable[[], Read]
    statistics: Callable[[FileFacts], TableStatistics]


@dataclass
class FooterReader:
    """Reads files for one statement, within its limits. `opened` counts them."""

    store: FooterStore
    most: int = MOST_FILES
    seconds: float = MOST_SECONDS
    most_columns: int = MOST_COLUMNS
    clock: Callable[[], float] = monotonic
    opened: int = 0
    _spent: float = field(default=0.0, init=False)

    def statistics(self, table: Table, state: str, source: Callable[[], FileSource]) -> TableStatistics | None:
        """The statistics of a table whose files are in this state; None as long as not all of them were read. Raises
        OSError and ValueError if the source cannot be read."""
        key = f"{state} {_digest(f'{column.field_name} {column.type}' for column in table.columns)}"
        found = self.store.combined(table.table_id, key)
        if found is None:
            files = source()
            facts = self._facts(files, len(table.columns))
            if facts is None:
                return None
            parts = [part for part in facts if part is not None]
            is_whole = len(parts) == len(facts)  # nothing is known of a table with a damaged file
            found = files.statistics(merged(parts)) if is_whole else TableStatistics()
            self.store.keep_combined(table.table_id, key, found)
        return found

    def _facts(self, source: FileSource, columns: int) -> list[FileFacts | None] | None:
        """The facts of all files, None of damaged ones; or None if some files are still to be read."""
        known = self.store.known(source.place)
        unknown = [file for file in source.files if file not in known]
        read = self._read(source, unknown) if unknown else {}
        self.store.keep(source.place, read)
        if len(read) < len(unknown):
            return None
        if len(source.files) * columns <= self.most_columns:
            facts = self.store.facts(source.place) | read
        else:
            rows_alone = {file: part and FileFacts(part.rows) for file, part in read.items()}
            facts = self.store.facts(source.place, with_columns=False) | rows_alone
        self.store.forget(source.place, facts.keys() - set(source.files))
        return [facts[file] for file in source.files] if facts.keys() >= set(source.files) else None

    def _read(self, source: FileSource, files: Iterable[StoredFile]) -> dict[StoredFile, FileFacts | None]:
        """The facts of those that could be read within the limits."""
        read, facts = source.reader(), dict[StoredFile, FileFacts | None]()
        begun = self.clock()
        for file in files:
            if self.opened >= self.most or self._spent + self.clock() - begun >= self.seconds:
                break
            self.opened += 1
            try:
                facts[file] = read(Path(file.path))
            except ValueError:
                facts[file] = None
            except OSError:  # it may be readable later
                break
        self._spent += self.clock() - begun
        return facts


def footers_of(table: Table, files: Sequence[StoredFile]) -> tuple[str, Callable[[], FileSource]] | None:
    """The state and the source of an external table's files; None if they have no footers."""
    reader = READERS.get(table.format or "")
    if reader is None or not files:
        return None
    state = _digest(f"{file.path} {file.size} {file.modified}" for file in sorted(files))
    return state, lambda: FileSource(table.location or "", files, reader, lambda facts: _of_table(table, facts))


def _digest(parts: Iterable[str]) -> str:
    return blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=16).hexdigest()


def _of_table(table: Table, facts: FileFacts) -> TableStatistics:
    """The columns of the table by their names in its files: `_col0`, `_col1` and so on in those of old versions of
    Hive."""
    by_name = facts.columns
    is_by_position = all(name.startswith("_col") and name[4:].isdigit() for name in by_name)
    names = [f"_col{n}" if is_by_position else c.field_name.lower() for n, c in enumerate(table.columns)]
    return TableStatistics(facts.rows, columns=of_columns(table, [by_name.get(name) for name in names]))


def of_columns(table: Table, facts: Iterable[ColumnFacts | None]) -> dict[str, ColumnStatistics]:
    """The statistics of a table's columns, whose facts are in the same order."""
    pairs = zip(table.columns, facts, strict=True)
    return {column.field_name: _of_column(known, column) for column, known in pairs if known is not None}


def _of_column(facts: ColumnFacts, column: Column) -> ColumnStatistics:
    """Without bounds if the values of the column are not those of the files."""
    fits = facts.kind is not None and _FITS[facts.kind](column.type)
    low, high = (facts.low, facts.high) if fits else (None, None)
    has_nulls = None if facts.nulls is None else facts.nulls > 0
    return ColumnStatistics(has_nulls=has_nulls, low=low, high=high, nulls=facts.nulls)


_FITS: Mapping[str, Callable[[HiveType], bool]] = {
    "integer": lambda hive: hive.is_numeric,
    "decimal": lambda hive: hive.name == "decimal",
    "double": lambda hive: hive.is_approximate,
    "date": lambda hive: hive.is_time,
    "timestamp": lambda hive: hive.is_timestamp,
}
