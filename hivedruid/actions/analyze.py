"""ANALYZE TABLE: look at a table's rows, and remember in the catalog how many there are and what values they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hivedruid.actions.lookup import find_table
from hivedruid.actions.model import Action
from hivedruid.catalog.statistics import ColumnStatistics, StatisticsStore, TableStatistics
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, STRING
from hivedruid.errors import SemanticError, UnsupportedError, did_you_mean
from hivedruid.plan.physical import SparkJob, TableInput
from hivedruid.results import ResultColumn

if TYPE_CHECKING:
    from hivedruid.actions.execute import Services
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.parser.statements.utility import AnalyzeTable

VIEW = "analysed"


@dataclass(frozen=True)
class ComputeStatistics(Action):
    """Remember how many rows a table has, and how many values these columns.

    `job` counts the rows of a table outside Druid, None: they are not looked at. `taken_at` is the statement's clock.
    """

    table: Table
    columns: tuple[Column, ...]
    job: SparkJob | None
    taken_at: str


def build(statement: AnalyzeTable, snapshot: Snapshot) -> tuple[Action, ...]:
    """The one action. Raises SemanticError and UnsupportedError for what has no statistics."""
    table = find_table(statement.name, snapshot)
    if table.kind == "view":
        raise SemanticError(
            f"{table.full_name} is a view, and has no rows of its own",
            span=statement.name.span,
            hint="ANALYZE the tables that it reads",
        )
    if table.kind == "kafka":
        raise UnsupportedError(
            f"{table.full_name} is a Kafka topic: its rows are never all there",
            span=statement.name.span,
            hint="ANALYZE the table that is fed from it",
        )
    columns = _columns(statement, table)
    job = None if table.kind == "druid" or statement.no_scan else _job(table, columns)
    return (ComputeStatistics(table, columns, job, snapshot.now.isoformat(timespec="seconds")),)


def _columns(statement: AnalyzeTable, table: Table) -> tuple[Column, ...]:
    if not statement.columns:
        return table.columns if statement.columns is not None else ()
    found: list[Column] = []
    for name, span in statement.columns:
        column = table.column(name)
        if column is None:
            known = [c.name for c in table.columns]
            raise SemanticError(
                f"column '{name}' not found in {table.full_name}", span=span, hint=did_you_mean(name, known)
            )
        if column not in found:
            found.append(column)
    return tuple(found)


def _job(table: Table, columns: tuple[Column, ...]) -> SparkJob:
    """The rows, and for each column its values (HyperLogLog), those that are there, the lowest and the highest."""
    items, answers = ["count(*) AS `n`"], [ResultColumn("n", BIGINT)]
    for i, column in enumerate(columns):
        name = f"`{column.name}`"
        is_plain = not column.type.children
        items += [f"approx_count_distinct({name}) AS `d{i}`" if is_plain else f"CAST(NULL AS BIGINT) AS `d{i}`"]
        items += [f"count({name}) AS `n{i}`"]
        answers += [ResultColumn(f"d{i}", BIGINT), ResultColumn(f"n{i}", BIGINT)]
        for function in ("min", "max"):
            value = f"CAST({function}({name}) AS STRING)" if is_plain else "CAST(NULL AS STRING)"
            items.append(f"{value} AS `{function}{i}`")
            answers.append(ResultColumn(f"{function}{i}", STRING))
    source = TableInput(VIEW, table, tuple(c.name for c in columns) or (table.columns[0].name,))
    return SparkJob(f"SELECT {', '.join(items)} FROM `{VIEW}`", (source,), tuple(answers))


def describe(action: ComputeStatistics) -> tuple[str, list[tuple[str, Any]]]:
    """For EXPLAIN."""
    table = action.table
    return "Statistics Operator", [
        ("name", table.full_name),
        ("data source", table.data_source if table.kind == "druid" else None),
        ("columns", [column.name for column in action.columns]),
        ("sql", action.job.sql if action.job else None),
    ]


def run(action: ComputeStatistics, services: Services) -> None:
    """Compute and keep them; columns that were looked at before stay known while the table is what it was then."""
    table = action.table
    if table.kind == "druid":
        key = (services.setting("druid.url"), table.data_source)
        found = _of_druid(action, services)
    else:
        key = ("", table.table_id)
        found = _of_files(action, services)
    store = StatisticsStore(services.catalog)
    before = store.find(*key)
    known: Mapping[str, ColumnStatistics] = before.columns if before and before.of == found.of else {}
    store.keep(*key, replace(found, columns={**known, **found.columns}, taken_at=action.taken_at))


def _of_druid(action: ComputeStatistics, services: Services) -> TableStatistics:
    druid = services.druid()
    types = druid.schema(action.table.data_source)
    columns = {c.field_name: types[c.field_name] for c in action.columns if c.field_name in types}
    return druid.analysed(action.table.data_source, columns)


def _of_files(action: ComputeStatistics, services: Services) -> TableStatistics:
    from hivedruid.actions.gather_statistics import stored_files

    found = stored_files(action.table, services.home) or TableStatistics()
    if action.job is None:
        return found
    row = _only(services.spark().rows(action.job))
    values = dict(zip([c.name for c in action.job.columns], row, strict=True))
    columns = {c.name: _column(i, values) for i, c in enumerate(action.columns)}
    return replace(found, rows=values["n"], columns=columns)


def _only(rows: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    found = list(rows)
    return found[0]


def _column(position: int, values: Mapping[str, Any]) -> ColumnStatistics:
    nulls = values[f"n{position}"] < values["n"]
    distinct = values[f"d{position}"]
    return ColumnStatistics(
        None if distinct is None else distinct + nulls,
        nulls,
        low=values[f"min{position}"],
        high=values[f"max{position}"],
    )
