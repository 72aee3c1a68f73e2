"""Read the files of managed tables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from hivedruid.actions.facts import Facts
from hivedruid.catalog.table import Table
from hivedruid.iceberg import catalog, home_catalog
from hivedruid.iceberg.files import TableFiles


def gather_files(tables: Mapping[tuple[str, str], Table], facts: Facts) -> Mapping[tuple[str, str], TableFiles]:
    """The files of managed tables, by (database, name). Those of another catalog are not known without Spark, and those
    of damaged metadata not at all: the job that reads the table reports the error.
    """
    found: dict[tuple[str, str], TableFiles] = {}
    for key, table in tables.items():
        if table.has_snapshots and catalog.is_own(facts.settings, table):
            with suppress(OSError, ValueError):
                found[key] = home_catalog.files(facts.home, table.table_id)
    return found
