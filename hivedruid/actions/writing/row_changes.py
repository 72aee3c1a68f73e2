"""The action of UPDATE and DELETE: the condition and the new values, from the plan of a query of the rows. Pure.

A tiered table can be changed where no row in Druid can satisfy the condition: then its cold part is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.actions.lookup import find_table, refuse_if_materialized
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.tiering.decisions import touched
from hivedruid.actions.writing.insert import check_conversion
from hivedruid.actions.writing.model import ChangeTableRows
from hivedruid.actions.writing.row_constraints import conditions, guarded, with_defaults
from hivedruid.catalog.druid_columns import sketch_columns
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.catalog.tiers import BATCH_COLUMN, cold_part
from hivedruid.catalog.types import STRING
from hivedruid.druid.interval_sets import intersection
from hivedruid.errors import ExecutionError, SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.iceberg.pruning import is_decided_by_files
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import fold, nodes
from hivedruid.plan.build import Builder
from hivedruid.plan.kept_rows import KeptRows
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.rex import Literal, Over, Rex, Subquery, conjunction, has, is_random, substitute
from hivedruid.plan.spark_pruning import Pruning, truncation
from hivedruid.plan.spark_rex import SparkRex
from hivedruid.plan.spark_sql import expressions_sql
from hivedruid.plan.spark_text import quote_identifier
from hivedruid.plan.split import optimized, spark_job
from hivedruid.plan.tiers import NO_FACTS, of_known_batches
from hivedruid.plan.virtual_columns import virtual_among
from hivedruid.tables.metastore_tables import is_iceberg_of_metastore

if TYPE_CHECKING:
    from hivedruid.parser.statements.writing import ChangeRows
    from hivedruid.plan.split import QueryPlan

_OVERWRITE = "use INSERT OVERWRITE TABLE … SELECT to write the rows that remain or change"


def change_rows(statement: ChangeRows, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    """Raises SemanticError and UnsupportedError, with the position."""
    table = find_table(statement.table, snapshot)
    refuse_if_materialized(table, "change rows of", statement.table.span)
    if not (table.is_tiered or is_iceberg_of_metastore(table)):
        table.check("change rows", statement.table.span)
    columns = _columns(statement, table)
    settings = {**snapshot.settings, "hivedruid.tiered.read": "exact"}
    # the rows themselves are needed, and the part that has them
    facts = replace(snapshot, settings=settings, materialized_views=(), scans_only=False)
    builder = Builder(statement.source, facts, note)
    node = _with_values(builder.whole(_query(statement, columns, table)), columns, statement, builder)
    subquery = _subquery(statement)
    if subquery is not None:
        if table.is_tiered:
            raise UnsupportedError(
                "subqueries are not supported in UPDATE and DELETE of tiered tables",
                span=builder.span(subquery),
                hint="write constants, or UNARCHIVE the rows and use INSERT OVERWRITE TABLE … SELECT",
            )
        return _with_subqueries(table, columns, node, builder, snapshot)
    plan = optimized(node, builder)
    if table.is_tiered and not _is_decided(plan, table, snapshot, statement.table.span):
        return StatementPlan((), (plan,))  # it is built again when Druid was asked
    return StatementPlan((_action(table, columns, plan, facts),), (plan,))


def _columns(statement: ChangeRows, table: Table) -> tuple[Column, ...]:
    """The columns that UPDATE sets."""
    found = []
    sketches = sketch_columns(table.columns, table.properties)
    for name, span in zip(statement.columns, statement.column_spans, strict=True):
        column = table.column(name)
        if column is None:
            hint = did_you_mean(name, [c.name for c in table.columns])
            raise SemanticError(f"table {table.full_name} has no column '{name}'", span=span, hint=hint)
        if table.is_tiered and name == TIME_COLUMN:
            raise UnsupportedError(
                f"the {TIME_COLUMN} of rows of a tiered table cannot be changed: it decides which part has a row",
                span=span,
                hint="UNARCHIVE the rows, and use INSERT OVERWRITE TABLE … SELECT",
            )
        if name in sketches:
            raise UnsupportedError(
                f"sketches cannot be changed: column '{name}' of {table.full_name}", span=span,
                hint="UNARCHIVE the rows, and use INSERT OVERWRITE TABLE … SELECT",
            )  # fmt: skip
        found.append(column)
    return tuple(found)


def _query(statement: ChangeRows, columns: Sequence[Column], table: Table) -> exp.Expression:
    """The query of the rows, with defaults in place of the word DEFAULT."""
    if not any(constraint.kind == "DEFAULT" for constraint in table.constraints):
        return statement.query
    changed = statement.query.copy()
    values = zip(changed.expressions, columns, strict=False)
    changed.set("expressions", [with_defaults(e, column.name, table) for e, column in values] or changed.expressions)
    return changed


def _subquery(statement: ChangeRows) -> exp.Expr | None:
    """The first subquery of the statement."""
    return next((e for e in statement.query.find_all(exp.Query) if e.parent is not None), None)


def _with_values(node: Node, columns: Sequence[Column], statement: ChangeRows, builder: Builder) -> Node:
    """The rows that are changed, with the values of UPDATE in the types of their columns."""
    _refuse_others(node, statement, builder)
    _refuse_virtual(node, builder)
    if not columns:
        return node
    exprs: list[Rex] = []
    for number, (column, given) in enumerate(zip(columns, node.columns, strict=True), 1):
        span = statement.value_spans[number - 1]
        check_conversion(given.type, column, number, span)
        if column.type.is_timestamp and isinstance(node, nodes.Project):
            written = node.exprs[number - 1]
            builder.note_cut(written, span) if isinstance(written, Literal) else None
        exprs.append(fold.cast(given.ref, column.type, builder.zone))
    made = tuple(builder.new_column(c.name, e.type) for c, e in zip(columns, exprs, strict=True))
    return nodes.Project(made, node, tuple(exprs))


def _refuse_virtual(node: Node, builder: Builder) -> None:
    for scan in (each for each in node.walk() if isinstance(each, nodes.TableScan)):
        for name in virtual_among(scan.columns, scan.table):
            place = builder.source.text.lower().find(name)
            raise UnsupportedError(
                f"{name.upper()} is not supported in UPDATE and DELETE",
                span=builder.source.span(place, place + len(name)),
                hint="use conditions on the columns of the table",
            )


def _refuse_others(node: Node, statement: ChangeRows, builder: Builder) -> None:
    """Refuse what the value of a row cannot contain, and conditions that are not the same when they are tried again."""
    span = statement.value_spans[0] if statement.value_spans else statement.table.span
    below = node
    while isinstance(below, nodes.Project | nodes.Filter):
        if any(has(rex, Over) for rex in below.expressions()):
            raise SemanticError("window functions are not possible in UPDATE and DELETE", span=span, hint=_OVERWRITE)
        if isinstance(below, nodes.Filter) and is_random(below.condition):
            where = statement.query.args.get("where")
            raise UnsupportedError(
                "the condition of UPDATE and DELETE must have the same result whenever it is computed",
                span=builder.span(where) if where is not None else span,
                hint=_OVERWRITE,
            )
        below = below.input
    if isinstance(below, nodes.Aggregate | nodes.LateralView):
        raise SemanticError(
            "aggregate functions and table-generating functions are not possible in SET", span=span, hint=_OVERWRITE
        )


# --- tiered tables -----------------------------------------------------------------------------------------------


def _is_decided(plan: QueryPlan, table: Table, snapshot: Snapshot, span: Span | None) -> bool:
    """Whether only the cold part can have the rows; False if Druid has to be asked first.

    Raises UnsupportedError if rows in Druid may be among them, ExecutionError if a job has not decided which part has
    them.
    """
    key = (table.database, table.name)
    facts, spans = snapshot.tiers.get(key, NO_FACTS), plan.tier_spans.get(key, ())
    if any(isinstance(each, nodes.DruidQuery) for each in plan.node.walk()):
        if not facts.asked and intersection(spans, facts.times):
            return False
        raise UnsupportedError(
            f"rows of {table.full_name} that satisfy the condition may be in Druid, where rows cannot be changed",
            span=span,
            hint=f"run ARCHIVE TABLE {table.full_name} first, or add a condition on {TIME_COLUMN} for archived times",
        )
    for batch in touched(facts.batches, spans):
        if not batch.is_decided:
            raise ExecutionError(
                f"job {batch.id}, which moves rows of {table.full_name}, has not ended",
                hint=f"wait for it, or run RESUME JOB '{batch.id}' if it was interrupted, and rerun the statement",
            )
    return True


# --- the action --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Rows of a table, and values of each, as expressions over the columns of the scan."""

    scan: nodes.TableScan
    terms: tuple[Rex, ...]
    values: tuple[Rex, ...]


def _rows(node: Node) -> _Rows | None:
    """None if there are no rows."""
    if isinstance(node, nodes.TableScan):
        return _Rows(node, (), tuple(c.ref for c in node.columns))
    if isinstance(node, nodes.Values):
        return None
    assert isinstance(node, nodes.Project | nodes.Filter), node
    below = _rows(node.input)
    if below is None:
        return None
    mapping = dict(zip((c.id for c in node.input.columns), below.values, strict=True))
    if isinstance(node, nodes.Filter):
        return replace(below, terms=(*below.terms, substitute(node.condition, mapping)))
    return replace(below, values=tuple(substitute(rex, mapping) for rex in node.exprs))


def _with_subqueries(
    table: Table, columns: Sequence[Column], node: Node, builder: Builder, facts: Snapshot
) -> StatementPlan:
    """The change, with the rows of its subqueries computed by Spark jobs before."""
    found = _rows(node)
    nulls = tuple((column.field_name, "NULL") for column in columns)
    if found is None:
        return StatementPlan((ChangeTableRows(table, None, nulls, changes_nothing=True),))
    condition = conjunction(list(found.terms))
    changes = [condition] if condition is not None else []
    kept, expressions = KeptRows.of([*changes, *(found.values if columns else ())])
    plans = {view: optimized(part, builder) for view, part in kept.views.items()}
    jobs = {view: spark_job(plan, tuple(c.id for c in kept.views[view].columns), facts) for view, plan in plans.items()}
    rex = SparkRex(builder.zone, lambda _: "", Pruning.of((table,)))
    stored = {column.name: column.field_name for column in table.columns}
    names = {column.id: f"t.{quote_identifier(stored[column.name])}" for column in found.scan.columns}
    kept_values = expressions[len(changes) :]
    where = expressions_sql(expressions[: len(changes)], rex, kept.view, names)
    values = _assignments(
        table, columns, kept_values, found.scan, facts, lambda value: expressions_sql([value], rex, kept.view, names)[0]
    )
    plain = conjunction([term for term in found.terms if not has(term, Subquery)])
    action = ChangeTableRows(
        table,
        where[0] if where else None,
        values,
        files=facts.file_count(found.scan, plain),
        by_rows=bool(where),
        subqueries=jobs,
    )
    return StatementPlan((action,), tuple(plans.values()))


def _action(table: Table, columns: Sequence[Column], plan: QueryPlan, facts: Snapshot) -> ChangeTableRows:
    tiered = table if table.is_tiered else None
    nulls = tuple((column.name, "NULL") for column in columns)
    nothing = ChangeTableRows(table if tiered is None else cold_part(table), None, nulls, tiered, changes_nothing=True)
    found = _rows(plan.node)
    if found is None or (tiered is not None and not found.scan.table.is_written):
        return nothing
    changed = found.scan.table
    terms, read = list(found.terms), {column.name: column for column in found.scan.columns}
    if tiered is not None:
        batch = read.setdefault(BATCH_COLUMN, PlanColumn(BATCH_COLUMN, BATCH_COLUMN, STRING))
        terms.append(of_known_batches(batch, facts.tiers.get((table.database, table.name), NO_FACTS)))
    condition = conjunction(terms)
    if isinstance(condition, Literal) and condition.value is not True:
        return nothing
    writer = SparkRex(plan.zone, lambda _: "", Pruning.of((changed,)))
    stored = {column.name: column.field_name for column in changed.columns}
    names = {column.id: quote_identifier(stored.get(column.name, column.name)) for column in read.values()}
    return ChangeTableRows(
        changed,
        None if condition is None else writer.sql(condition, names),
        _assignments(changed, columns, found.values, found.scan, facts, lambda value: writer.sql(value, names)),
        tiered,
        files=facts.file_count(found.scan, condition),
        by_rows=condition is not None and not (is_decided_by_files(condition) and not truncation(changed)),
    )


def _assignments(
    table: Table,
    columns: Sequence[Column],
    values: Sequence[Rex],
    scan: nodes.TableScan,
    facts: Snapshot,
    sql: Callable[[Rex], str],
) -> tuple[tuple[str, str], ...]:
    """The new values by stored column, with the checks of constraints."""
    given = {column.name: value for column, value in zip(columns, values, strict=False)}
    return guarded(conditions(table, facts), table, given, scan.columns, sql) if columns else ()
