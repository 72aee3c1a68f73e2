"""The action of ANALYZE TABLE. Pure: the snapshot holds all facts."""

from __future__ import annotations

from hivedruid.actions.lookup import find_table
from hivedruid.actions.partitioning.insert import no_partitions
from hivedruid.actions.partitioning.values import partition_column
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.statistics.model import ComputeStatistics
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, BINARY, STRING
from hivedruid.errors import SemanticError, did_you_mean
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.partitioning import PartitionSpec
from hivedruid.parser.statements.statistics import AnalyzeTable
from hivedruid.plan.physical import SparkJob, TableInput
from hivedruid.results import ResultColumn

VIEW = "analysed"


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """Raises SemanticError and UnsupportedError for tables that have no statistics."""
    assert isinstance(statement, AnalyzeTable)
    table = find_table(statement.name, snapshot)
    table.check("analyze", statement.name.span)
    if statement.partition is not None:
        _check_partition(statement.partition, table, note)
    columns = _columns(statement, table)
    job = None if table.has_data_source or statement.no_scan else _job(table, columns, snapshot)
    return StatementPlan((ComputeStatistics(table, columns, job, snapshot.now.isoformat(timespec="seconds")),))


def _check_partition(spec: PartitionSpec, table: Table, note: Note | None) -> None:
    """PARTITION limits nothing: the planner uses the statistics of tables."""
    if not table.partition_columns:
        raise no_partitions(table, spec)
    for given in spec.values:
        partition_column(given, table)
    if note is not None:
        note("PARTITION has no effect: ANALYZE computes the statistics of the whole table", spec.span)


def _columns(statement: AnalyzeTable, table: Table) -> tuple[Column, ...]:
    if not statement.columns:
        return table.columns if statement.columns is not None else ()
    columns: list[Column] = []
    for name, span in statement.columns:
        column = table.column(name)
        if column is None:
            known = [c.name for c in table.columns]
            raise SemanticError(
                f"column '{name}' not found in {table.full_name}", span=span, hint=did_you_mean(name, known)
            )
        if column not in columns:
            columns.append(column)
    return tuple(columns)


def _job(table: Table, columns: tuple[Column, ...], snapshot: Snapshot) -> SparkJob:
    """Counts rows, and for each column its distinct values (HyperLogLog), its non-null values, minimum and maximum.
    Bytes have no bounds: they are no text."""
    items, answers = ["count(*) AS `n`"], [ResultColumn("n", BIGINT)]
    for i, column in enumerate(columns):
        name = f"`{column.name}`"
        is_plain = not column.type.children
        items += [f"approx_count_distinct({name}) AS `d{i}`" if is_plain else f"CAST(NULL AS BIGINT) AS `d{i}`"]
        items += [f"count({name}) AS `n{i}`"]
        answers += [ResultColumn(f"d{i}", BIGINT), ResultColumn(f"n{i}", BIGINT)]
        for function in ("min", "max"):
            value = (
                f"CAST({function}({name}) AS STRING)" if is_plain and column.type != BINARY else "CAST(NULL AS STRING)"
            )
            items.append(f"{value} AS `{function}{i}`")
            answers.append(ResultColumn(f"{function}{i}", STRING))
    names = tuple(c.name for c in columns) or (table.columns[0].name,)
    source = TableInput(VIEW, table, names, partitions=snapshot.partition_choice(table, {}, None))
    return SparkJob(f"SELECT {', '.join(items)} FROM `{VIEW}`", (source,), tuple(answers))
