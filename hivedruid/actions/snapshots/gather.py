"""Read the snapshots of managed tables."""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.actions.facts import Facts
from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError
from hivedruid.iceberg import catalog
from hivedruid.iceberg.history import TableHistory


def gather_histories(
    tables: Mapping[tuple[str, str], Table], facts: Facts, *, only_own: bool = False
) -> Mapping[tuple[str, str], TableHistory]:
    """The snapshots of managed tables by (database, name). Those of another catalog are only read to run a statement,
    and not if `only_own`.

    Raises ExecutionError if the metadata of a table cannot be read.
    """
    asks = not (facts.plan_only or only_own)
    managed = {key: table for key, table in tables.items() if table.has_snapshots}
    return {
        key: _history(table, facts) for key, table in managed.items() if asks or catalog.is_own(facts.settings, table)
    }


def _history(table: Table, facts: Facts) -> TableHistory:
    try:
        return facts.spark().iceberg_history(table) or TableHistory()
    except (OSError, ValueError) as error:
        raise ExecutionError(
            f"the metadata of {table.full_name} cannot be read: {error}",
            hint=f"restore the files from a backup of the home folder, or DROP TABLE {table.full_name}",
        ) from error
