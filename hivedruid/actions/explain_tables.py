"""EXPLAIN DEPENDENCY and EXPLAIN DDL: the tables that a statement reads, as Hive shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hivedruid.actions.utility.show import create_statement, table_type
from hivedruid.plan.physical import TableInput
from hivedruid.results import Result, text_result

if TYPE_CHECKING:
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.actions.statement_plan import StatementPlan
    from hivedruid.catalog.table import Table


def dependencies(built: StatementPlan, snapshot: Snapshot) -> Result:
    """One JSON document: the tables and views that queries read, and the partitions that their conditions leave."""
    tables = [
        {"tablename": f"{table.database}@{table.name}", "tabletype": table_type(table)} for table in _read(snapshot)
    ]
    partitions = [{"partitionName": name} for name in dict.fromkeys(_partitions(built))]
    document = {"input_tables": tables, "input_partitions": partitions}
    return text_result("Explain", json.dumps(document, separators=(",", ":")), is_json=True)


def ddl(snapshot: Snapshot) -> Result:
    """The CREATE statements of the tables and views that queries read, tables first."""
    tables = sorted(_read(snapshot), key=lambda table: table.is_view)
    lines = "\n\n".join(f"{create_statement(table)};" for table in tables)
    return text_result("Explain", lines or "no query")


def _read(snapshot: Snapshot) -> list[Table]:
    return [snapshot.tables[key] for key in sorted(snapshot.queried) if key in snapshot.tables]


def _partitions(built: StatementPlan) -> Iterator[str]:
    inputs = (item for action in built.actions for job in action.jobs for item in job.inputs)
    for item in inputs:
        if isinstance(item, TableInput) and item.partitions is not None:
            table = item.table
            names = (each.name(table.partition_columns) for each in item.partitions.read)
            yield from (f"{table.database}@{table.name}@{name}" for name in names)
