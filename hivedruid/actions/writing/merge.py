"""The action of MERGE: the rows of the source as a Spark job, and what each clause does, as Spark's SQL. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from hivedruid.actions.lookup import find_table, refuse_if_materialized
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.writing.insert import check_conversion, positions, refuse_unknown_types
from hivedruid.actions.writing.model import MergeStep, MergeTableRows
from hivedruid.actions.writing.row_constraints import (
    RowCondition,
    conditions,
    default_of,
    guarded,
    with_defaults,
)
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import fold, nodes
from hivedruid.plan.accepted import reject_unsupported_arguments
from hivedruid.plan.build import Builder
from hivedruid.plan.convert import Converter
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.rex import Agg, Call, Literal, Over, Rex, Subquery, conjunction, has, is_random, refs, substitute
from hivedruid.plan.scope import Relation, Scope
from hivedruid.plan.spark_pruning import Pruning
from hivedruid.plan.spark_rex import SparkRex
from hivedruid.plan.spark_text import quote_identifier
from hivedruid.plan.split import optimized, spark_job
from hivedruid.tables.metastore_tables import is_iceberg_of_metastore

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.parser.statements.writing import Merge, WhenClause

_IN_SOURCE = "compute it in the source: USING (SELECT …) alias"


def merge(statement: Merge, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    """Raises SemanticError and UnsupportedError, with the position."""
    table = find_table(statement.table, snapshot)
    refuse_if_materialized(table, "merge into", statement.table.span)
    if not is_iceberg_of_metastore(table):
        table.check("change rows", statement.table.span)
    if table.is_tiered:
        raise UnsupportedError(
            f"MERGE into the tiered table {table.full_name} is not supported",
            span=statement.table.span,
            hint="use UPDATE and DELETE for archived rows, INSERT for new ones",
        )
    builder = Builder(statement.source, snapshot, note)
    reject_unsupported_arguments(statement.using, builder.span)
    builder.root = statement.using
    node, source = builder.relation(statement.using.args["from_"].this, None)
    refuse_unknown_types(node, builder.span(statement.using))
    clauses = _Clauses(statement, table, builder, source)
    on = clauses.condition(statement.on, "ON")
    steps = [clauses.step(clause) for clause in statement.clauses]
    used = refs(on).union(*(refs(rex) for step in steps for rex in step.expressions))
    kept, names = _source(node, used, builder)
    plan = optimized(kept, builder)
    job = spark_job(plan, tuple(names.values()), snapshot)
    writer = SparkRex(plan.zone, lambda _: "", Pruning.of((table,)))
    target = {c.id: f"t.{quote_identifier(d.field_name)}" for c, d in zip(clauses.columns, table.columns, strict=True)}
    texts = {**target, **{id_: f"s.{quote_identifier(name)}" for id_, name in names.items()}}
    rules = list(conditions(table, snapshot))
    written = tuple(step.written(lambda rex: writer.sql(rex, texts), table, clauses.columns, rules) for step in steps)
    action = MergeTableRows(job, table, writer.sql(on, texts), written)
    return StatementPlan((action,), (plan,))


def _source(node: Node, used: frozenset[str], builder: Builder) -> tuple[Node, dict[str, str]]:
    """The columns of the source that are used, at least one, and their names in the job by their ids."""
    columns = {c.id: c for c in node.columns if c.id in used} or {c.id: c for c in node.columns[:1]}
    names: dict[str, str] = {}
    for column in columns.values():
        is_taken = column.name in names.values()
        names[column.id] = column.id if is_taken else column.name
    made = tuple(builder.new_column(names[c.id], c.type) for c in columns.values())
    return nodes.Project(made, node, tuple(c.ref for c in columns.values())), names


@dataclass(frozen=True)
class _Step:
    clause: WhenClause
    condition: Rex | None
    values: Mapping[str, Rex]
    """By the names of columns."""

    @property
    def expressions(self) -> tuple[Rex, ...]:
        return (*([self.condition] if self.condition is not None else []), *self.values.values())

    def written(
        self, sql: Callable[[Rex], str], table: Table, columns: Sequence[PlanColumn], rules: Sequence[RowCondition]
    ) -> MergeStep:
        condition = sql(self.condition) if self.condition is not None else None
        return MergeStep(self.clause.kind, condition, guarded(rules, table, self.values, columns, sql))


@dataclass
class _Clauses:
    """The expressions of the clauses, over the columns of the table and of the source."""

    statement: Merge
    table: Table
    builder: Builder
    source: Relation
    first: Rex | None = None
    """The condition of the first WHEN MATCHED."""
    columns: tuple[PlanColumn, ...] = field(init=False)
    converter: Converter = field(init=False)

    def __post_init__(self) -> None:
        table, alias = self.table, self.statement.alias
        self.columns = tuple(self.builder.new_column(c.name, c.type) for c in table.columns)
        target = Relation(alias or table.name, self.columns, None if alias else table.database)
        if self.source.alias == target.alias and self.source.database == target.database:
            raise SemanticError(
                f"the table and the source have the same name '{target.alias}'",
                span=self.statement.table.span,
                hint="add an alias: MERGE INTO table AS t USING source AS s",
            )
        self.converter = Converter(self.builder, Scope([target, self.source]))

    def condition(self, e: exp.Expr, where: str) -> Rex:
        rex = self._checked(e, self.converter.boolean, where)
        if is_random(rex):
            raise UnsupportedError(
                f"the condition of {where} must have the same result whenever it is computed",
                span=self.builder.span(e),
                hint=_IN_SOURCE,
            )
        return rex

    def step(self, clause: WhenClause) -> _Step:
        where = "WHEN NOT MATCHED" if clause.kind == "insert" else "WHEN MATCHED"
        condition = self.condition(clause.condition, where) if clause.condition is not None else None
        if clause.kind == "insert":
            nulls: dict[str, Rex] = {c.id: Literal(c.type, None) for c in self.columns}
            condition = substitute(condition, nulls) if condition is not None else None
            return _Step(clause, condition, {k: substitute(v, nulls) for k, v in self._inserted(clause).items()})
        values = self._updated(clause)
        if self.first is not None:  # as in Hive, rows for which the first condition is NULL are not changed
            condition = conjunction([Call(self.first.type, "not", (self.first,)), *([condition] if condition else [])])
        else:
            self.first = condition
        return _Step(clause, condition, values)

    def _updated(self, clause: WhenClause) -> Mapping[str, Rex]:
        values = {}
        for number, name in enumerate(clause.columns):
            column = self.table.column(name)
            if column is None:
                hint = did_you_mean(name, [c.name for c in self.table.columns])
                span = clause.column_spans[number]
                raise SemanticError(f"table {self.table.full_name} has no column '{name}'", span=span, hint=hint)
            values[column.name] = self._value(clause, number, column)
        return values

    def _inserted(self, clause: WhenClause) -> Mapping[str, Rex]:
        order = positions(self.table, clause.columns, len(clause.values), clause.span)
        return {
            column.name: default_of(column, self.table, self.builder)
            if place is None
            else self._value(clause, place, column)
            for column, place in zip(self.table.columns, order, strict=True)
        }

    def _value(self, clause: WhenClause, number: int, column: Column) -> Rex:
        """A value in the type of its column, converted as INSERT does."""
        span = clause.value_spans[number]
        value = with_defaults(clause.values[number], column.name, self.table)
        rex = self._checked(value, self.converter.convert, clause.kind.upper())
        check_conversion(rex.type, column, number + 1, span)
        if column.type.is_timestamp and isinstance(rex, Literal):
            self.builder.note_cut(rex, span)
        return fold.cast(rex, column.type, self.builder.zone)

    def _checked(self, e: exp.Expr, convert: Callable[[exp.Expr], Rex], where: str) -> Rex:
        span: Span | None = self.builder.span(e)
        reject_unsupported_arguments(e, self.builder.span)
        rex = convert(e)
        if has(rex, Subquery):
            raise UnsupportedError(f"subqueries are not supported in {where} of MERGE", span=span, hint=_IN_SOURCE)
        if has(rex, Agg) or has(rex, Over):
            raise SemanticError(
                f"aggregate and window functions are not possible in {where} of MERGE", span=span, hint=_IN_SOURCE
            )
        return self.converter.complete(rex)
