"""Whether the files that a job on other machines has committed to managed tables are on this machine. A commit whose
files are not is undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Table
from hivedruid.errors import SparkError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.files import added_files
from hivedruid.iceberg.metadata import document, local_path
from hivedruid.setting_types import other_machines
from hivedruid.spark import procedures
from hivedruid.spark.arrivals import HINT, missing
from hivedruid.spark.inputs import iceberg_name

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.iceberg import IcebergTables


@contextmanager
def checked(spark: SparkSession, tables: IcebergTables, written: Sequence[Table]) -> Iterator[None]:
    """Check what the block commits to these tables. Raises SparkError; the tables are then as they were before, unless
    another writer has committed since. A catalog outside the home folder is not checked: Spark alone accesses it."""
    written = [table for table in written if tables.is_own(table)]
    if not (written and other_machines(tables.settings)):
        yield
        return
    before = {table.table_id: _current(tables, table) for table in written}
    yield
    for table in written:
        _check(spark, tables, table, before[table.table_id])


def _current(tables: IcebergTables, table: Table) -> int | None:
    known = home_catalog.history(tables.home, table.table_id)
    return known.current if known is not None else None


def _check(spark: SparkSession, tables: IcebergTables, table: Table, before: int | None) -> None:
    metadata = home_catalog.current_metadata(tables.home, table.table_id)
    if metadata is None:
        return
    if not metadata.exists():
        raise missing(f"the files of 0 commits to {table.full_name}", metadata.parent)
    content, known = document(metadata), home_catalog.history(tables.home, table.table_id)
    new = list(takewhile(lambda each: each.id != before, known.ancestors())) if known is not None else []
    lost = {each.id: names for each in new if (names := _lost(content, each.id))}
    if not lost:
        return
    first = next(each for each in reversed(new) if each.id in lost)
    undone = all(each.id in lost for each in takewhile(lambda each: each.id != first.parent, new))
    if undone and first.parent is not None:
        procedures.make_current(spark, table, first.parent, is_rollback=True)
    elif undone:
        procedures.repeated(spark, table, "DELETE", lambda: spark.sql(f"DELETE FROM {iceberg_name(table)}").collect())
    names = [name for found in lost.values() for name in found]
    result = (
        "nothing was changed" if undone else f"snapshot {first.id} of the table is damaged: other commits follow it"
    )
    raise SparkError(
        f"Spark committed {len(names)} files to {table.full_name} that are not on this machine, for example {names[0]}",
        hint=f"{HINT}; {result}",
    )


def _lost(metadata: dict[str, object], snapshot: int) -> list[str]:
    return [path for path in added_files(metadata, snapshot) if not local_path(path).exists()]
