"""The enabled constraints of a managed table: conditions on the rows that are written, and defaults. Pure.

As in Hive (ConstraintsUtils, GenericUDFEnforceConstraint), a row violates CHECK if the condition is false, not if it is
NULL, and no row of the statement is written then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.constraints import VIOLATED, Constraint
from hivedruid.errors import HiveDruidError, SemanticError, Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.queries import parse_query
from hivedruid.parser.tokens import tokenize
from hivedruid.plan import fold
from hivedruid.plan.build import Builder
from hivedruid.plan.convert import Converter
from hivedruid.plan.rex import Agg, Call, Literal, Over, Rex, Subquery, has, refs, substitute
from hivedruid.plan.scope import Relation, Scope
from hivedruid.plan.spark_rex import SparkRex
from hivedruid.plan.spark_text import quote_identifier, quote_string
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from hivedruid.catalog.table import Column, Table
    from hivedruid.plan.facts import PlannerFacts
    from hivedruid.plan.nodes import PlanColumn
    from hivedruid.plan.physical import SparkJob

_LONGEST_DEFAULT = 255
"""Characters, as in Hive."""


@dataclass(frozen=True)
class RowCondition:
    """A constraint as the condition of a violation, over the columns of the table by name."""

    name: str
    violation: Rex
    columns: Mapping[str, str]
    """The names of columns by their ids."""

    @property
    def used(self) -> set[str]:
        return {self.columns[id_] for id_ in refs(self.violation)}


def conditions(table: Table, facts: PlannerFacts) -> Iterator[RowCondition]:
    """The enabled NOT NULL and CHECK constraints. Raises HiveDruidError for a CHECK that cannot be converted."""
    for constraint in table.constraints:
        if constraint.enabled and constraint.kind in ("NOT NULL", "CHECK"):
            yield _condition(constraint, table, facts)


def _condition(constraint: Constraint, table: Table, facts: PlannerFacts) -> RowCondition:
    builder = Builder(_source(constraint), facts)
    columns = tuple(builder.new_column(c.name, c.type) for c in table.columns)
    names = {column.id: column.name for column in columns}
    if constraint.kind == "NOT NULL":
        (ref,) = (column.ref for column in columns if column.name == constraint.columns[0])
        return RowCondition(constraint.name, Call(t.BOOLEAN, "is_null", (ref,)), names)
    tree = parsed(constraint.text)
    condition = Converter(builder, Scope([Relation(table.name, columns, table.database)])).convert(tree)
    if condition.type != t.BOOLEAN:
        raise SemanticError(
            f"Only boolean type is supported for CHECK constraint: {constraint.text}. Found: {condition.type}",
            hint="write a comparison",
        )
    return RowCondition(constraint.name, Call(t.BOOLEAN, "not", (condition,)), names)


def default_of(column: Column, table: Table, builder: Builder) -> Rex:
    """The value of a column that a statement does not set, in the column's type: its enabled DEFAULT, otherwise
    NULL."""
    default = _default(column.name, table)
    if default is None:
        return Literal(column.type, None)
    return fold.cast(Converter(builder, Scope([])).convert(default), column.type, builder.zone)


def with_defaults(e: exp.Expr, column: str, table: Table) -> exp.Expr:
    """The expression, or the default of the column if it is the word DEFAULT."""
    is_word = isinstance(e, exp.Var) or (isinstance(e, exp.Column) and len(e.parts) == 1 and not e.this.quoted)
    if not is_word or e.name.upper() != "DEFAULT" or table.column("default") is not None:
        return e
    default = _default(column, table) or exp.Null()
    position = next((node.meta for node in e.walk() if "start" in node.meta), {})
    for node in default.walk():
        node.meta.update(position)
    return default


def _default(column: str, table: Table) -> exp.Expr | None:
    """The enabled DEFAULT of a column."""
    found = (c for c in table.constraints if c.kind == "DEFAULT" and c.enabled and c.columns == (column,))
    return next((parsed(constraint.text) for constraint in found), None)


# --- Spark's SQL -------------------------------------------------------------------------------------------------


def checked(job: SparkJob, table: Table, facts: PlannerFacts) -> SparkJob:
    """The job, which fails if one of its rows, with the columns of the table, violates a constraint."""
    found = list(conditions(table, facts))
    if not found:
        return job
    names = {id_: quote_identifier(name) for id_, name in found[0].columns.items()}
    tests = [_test(SparkRex(facts.zone, lambda _: "").sql(each.violation, names), each.name) for each in found]
    # a condition that is not deterministic is computed for every row, after the conditions of the query
    condition = f"CASE {' '.join(tests)} ELSE spark_partition_id() >= 0 END"
    return replace(job, sql=f"SELECT * FROM ({job.sql}) WHERE {condition}")


def guarded(
    found: Iterable[RowCondition],
    table: Table,
    values: Mapping[str, Rex],
    columns: Iterable[PlanColumn],
    sql: Callable[[Rex], str],
) -> tuple[tuple[str, str], ...]:
    """The new values of columns, given by name, as SQL by stored name. The first one fails if the row violates a
    constraint with one of these columns; `columns` are those of the table, with the present values."""
    former: dict[str, Rex] = {column.name: column.ref for column in columns}
    texts = {name: sql(value) for name, value in values.items()}
    tests = []
    for each in found:
        if each.used & values.keys():
            row = {id_: values.get(name, former.get(name)) for id_, name in each.columns.items()}
            given = {id_: value for id_, value in row.items() if value is not None}
            tests.append(_test(sql(substitute(each.violation, given)), each.name))
    if tests:
        first = next(iter(texts))
        texts[first] = f"CASE {' '.join(tests)} ELSE {texts[first]} END"
    stored = {column.name: column.field_name for column in table.columns}
    return tuple((stored[name], text) for name, text in texts.items())


def _test(violation: str, name: str) -> str:
    return f"WHEN {violation} THEN raise_error({quote_string(VIOLATED + name + ' ')})"


# --- definitions -------------------------------------------------------------------------------------------------


def check_definitions(table: Table, before: Table | None, span: Span | None, facts: PlannerFacts) -> None:
    """Raise SemanticError, at `span`, for an expression of an enabled constraint that the table cannot have; defaults
    that it had `before` are not checked again."""
    known = {c.name for c in before.constraints} if before is not None else set()
    for constraint in table.constraints:
        if not constraint.enabled or constraint.kind not in ("CHECK", "DEFAULT"):
            continue
        try:
            if constraint.kind == "CHECK":
                _check_condition(constraint, table, facts)
            elif constraint.name not in known:
                _check_default(constraint, table, facts)
        except HiveDruidError as error:
            raise SemanticError(
                f"{constraint.kind} constraint {constraint.name} of {table.full_name}: {error.message}",
                span=span,
                hint=f"run ALTER TABLE {table.name} DROP CONSTRAINT {constraint.name} first"
                if constraint.name in known
                else error.hint,
            ) from error


def _check_condition(constraint: Constraint, table: Table, facts: PlannerFacts) -> None:
    _refuse_others(_condition(constraint, table, facts).violation)


def _check_default(constraint: Constraint, table: Table, facts: PlannerFacts) -> None:
    column = table.column(constraint.columns[0])
    assert column is not None
    if len(constraint.text) > _LONGEST_DEFAULT:
        raise SemanticError(f"the expression has more than {_LONGEST_DEFAULT} characters")
    value = Converter(Builder(_source(constraint), facts), Scope([])).convert(parsed(constraint.text))
    _refuse_others(value)
    if value.type not in (column.type, t.VOID):
        raise SemanticError(
            f"Invalid type: {value.type} for default value: {constraint.text}. Please make sure that the type is"
            f" compatible with column type: {column.type}",
            hint=f"use CAST({constraint.text} AS {column.type})",
        )


def _refuse_others(rex: Rex) -> None:
    if has(rex, Subquery):
        raise SemanticError("it contains a subquery", hint="use columns, constants and functions of them")
    if has(rex, Agg) or has(rex, Over):
        raise SemanticError(
            "it contains an aggregate or window function", hint="use columns, constants and functions of them"
        )
    if not rex.is_deterministic:
        raise SemanticError("its value is not always the same", hint="use deterministic built-in functions")


def parsed(text: str) -> exp.Expr:
    """The tree of an expression, without positions. Raises ParseError."""
    source = SourceStatement(f"SELECT ({text})")
    query = parse_query(source, tokenize(source))
    item = query.expressions[0]
    tree: exp.Expr = item.this if isinstance(item, exp.Paren) else item
    for node in tree.walk():
        node.meta.clear()
    tree.pop()
    return tree


def _source(constraint: Constraint) -> SourceStatement:
    return SourceStatement(constraint.text)
