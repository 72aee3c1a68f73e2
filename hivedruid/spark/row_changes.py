"""UPDATE, DELETE and MERGE of managed tables. Each of them is one commit of Iceberg, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import spark_type
from hivedruid.errors import ExecutionError, UnsupportedError
from hivedruid.plan.physical import SparkJob, TableInput
from hivedruid.spark.cells import fit, identifier
from hivedruid.spark.failures import full_text
from hivedruid.spark.inputs import iceberg_name
from hivedruid.spark.orc_times import storable
from hivedruid.spark.procedures import ATTEMPTS, ConflictError, conflict_error, repeated
from hivedruid.spark.relations import kept, release, views

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.jobs import SparkRunner

Clause = tuple[str, str | None, Sequence[tuple[str, str]]]
"""`update`, `delete` or `insert`, its condition, and the new values by column; all is SQL over `t` and `s`."""

MARK = "spark.sql.iceberg.snapshot-property.hivedruid.commit"
"""Marks the commits of a session as those of hivedruid, unless they only remove whole files."""


def change_rows(
    runner: SparkRunner,
    table: Table,
    condition: str | None,
    assignments: Sequence[tuple[str, str]],
    subqueries: Mapping[str, SparkJob],
    *,
    by_rows: bool,
) -> None:
    """Delete the rows for which a condition is true, or set columns of them; both are SQL over the table's columns, and
    over views of the rows of `subqueries`, which are computed once.

    `by_rows`: Iceberg does not decide by the metadata of files that all rows of one are deleted. The statement is
    repeated if another one changes the same files meanwhile. Raises ConflictError if that happens at every attempt.
    """
    if by_rows:
        condition = f"{condition} AND {_always(table)}"
    values = (f"{identifier(name)} = {_fitted(name, value, table)}" for name, value in assignments)
    name = iceberg_name(table)
    statement = f"UPDATE {name} AS t SET {', '.join(values)}" if assignments else f"DELETE FROM {name} AS t"
    statement += f" WHERE {condition}" if condition is not None else ""

    def change(spark: SparkSession, attempts: int) -> None:
        if not runner.iceberg.exists(spark, table):
            runner.iceberg.check_read(spark, table)
            return
        runner.iceberg.follow(spark, table)
        try:
            commit(spark, table, statement, attempts)
            runner.iceberg.undo_empty_commit(table)
        except Exception as error:
            if "Unexpected row-level read relations" not in full_text(error):
                raise
            raise UnsupportedError(
                "Spark cannot change rows by a subquery with an aggregate function that compares columns of the table"
                " with <, <=, >, >= or <>",
                hint=f"use MERGE INTO {table.full_name} with a join in its source; no row has changed",
            ) from error

    runner.iceberg.check_rows(None, table)
    if runner.iceberg.may_exist(table):
        _over_rows(runner, table, subqueries, change)


def merge_rows(runner: SparkRunner, table: Table, job: SparkJob, on: str, clauses: Sequence[Clause]) -> None:
    """Merge the rows of a job, `s`, into a table, `t`, which is created if it does not exist.

    The rows of the job are computed once, and kept in Spark: Iceberg reads them twice, first to find the files with
    rows that match. Raises ExecutionError if a row of the table matches several of them (hive.merge.cardinality.check),
    ConflictError as `change_rows` does.
    """
    runner.iceberg.check_rows(None, table)
    view = f"hivedruid_merge_{uuid4().hex}"

    def change(spark: SparkSession, attempts: int) -> None:
        if runner.iceberg.exists(spark, table):
            runner.iceberg.follow(spark, table)
        else:
            runner.iceberg.check_read(spark, table)
            runner.iceberg.make(spark, table)
        steps = " ".join(_step(*clause, table) for clause in clauses)
        try:
            statement = f"MERGE INTO {iceberg_name(table)} AS t USING {view} AS s ON {on} {steps}"
            commit(spark, table, statement, attempts)
            runner.iceberg.undo_empty_commit(table)
        except Exception as error:
            if "MERGE_CARDINALITY_VIOLATION" not in full_text(error):
                raise
            raise ExecutionError(
                f"Cardinality Violation in Merge statement: a row of {table.full_name} matches several rows of the"
                " source",
                hint="use a source with one row for each row of the table, such as a subquery with GROUP BY; no row has"
                " changed",
            ) from error

    _over_rows(runner, table, {view: job}, change)


def _over_rows(
    runner: SparkRunner,
    table: Table,
    jobs: Mapping[str, SparkJob],
    change: Callable[[SparkSession, int], None],
) -> None:
    """Change a table, with the rows of jobs as views; `change` gets the number of its attempts.

    If the jobs read the table itself, their rows are computed again when it has changed meanwhile.
    """
    nothing = SparkJob("", (), ())
    if not any(_reads(job, table) for job in jobs.values()):
        with _kept_rows(runner, jobs) as rows, runner.running(nothing, target=table) as spark, views(spark, rows):
            change(spark, ATTEMPTS)
        return
    for _ in range(ATTEMPTS):
        before = _current(runner, table)
        with _kept_rows(runner, jobs) as rows, runner.running(nothing, target=table) as spark, views(spark, rows):
            if _current(runner, table) != before:
                continue
            with suppress(ConflictError):
                change(spark, 1)
                return
    raise conflict_error(table, "change")


def _reads(job: SparkJob, table: Table) -> bool:
    """Whether a job reads the current rows of a table."""
    read = [item.table for item in job.inputs if isinstance(item, TableInput)]
    return any(each.table_id == table.table_id and each.snapshot is None for each in read)


def _current(runner: SparkRunner, table: Table) -> int | None:
    history = runner.iceberg_history(table)
    return history.current if history is not None else None


@contextmanager
def _kept_rows(runner: SparkRunner, jobs: Mapping[str, SparkJob]) -> Iterator[dict[str, DataFrame]]:
    rows: dict[str, DataFrame] = {}
    try:
        for view, job in jobs.items():
            with runner.running(job) as spark:
                rows[view] = kept(spark, spark.sql(job.sql))
        yield rows
    finally:
        for frame in rows.values():
            release(frame)


def _step(kind: str, condition: str | None, assignments: Sequence[tuple[str, str]], table: Table) -> str:
    """A clause of MERGE."""
    values = [(identifier(name), _fitted(name, value, table)) for name, value in assignments]
    if kind == "insert":
        given = f"({', '.join(name for name, _ in values)}) VALUES ({', '.join(value for _, value in values)})"
        return f"WHEN NOT MATCHED{f' AND {condition}' if condition is not None else ''} THEN INSERT {given}"
    if kind == "delete" and condition is None:
        condition = _always(table, "t.")  # without a condition Spark does not check that only one row matches
    effect = "DELETE" if kind == "delete" else f"UPDATE SET {', '.join(f'{name} = {value}' for name, value in values)}"
    return f"WHEN MATCHED{f' AND {condition}' if condition is not None else ''} THEN {effect}"


def _always(table: Table, qualifier: str = "") -> str:
    """A term that is true for every row of a table, and that Spark neither removes nor passes to Iceberg."""
    return f"hash({qualifier}{identifier(table.columns[0].field_name)} IS NULL) <= {(1 << 31) - 1}"


def _fitted(name: str, value: str, table: Table) -> str:
    """The value of a column as it is stored."""
    type_ = next(column.type for column in table.columns if column.field_name == name)
    return storable(fit(f"CAST({value} AS {spark_type(type_)})", type_), type_, table)


def commit(spark: SparkSession, table: Table, statement: str, attempts: int) -> None:
    """Run a statement that makes one commit."""
    spark.conf.set(MARK, uuid4().hex)
    try:
        repeated(spark, table, statement.partition(" ")[0], lambda: spark.sql(statement), attempts)
    finally:
        spark.conf.unset(MARK)
