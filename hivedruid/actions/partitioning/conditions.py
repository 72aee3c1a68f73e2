"""The condition of SHOW PARTITIONS … WHERE, evaluated for the values of each partition. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hivedruid.actions.partitioning.pruning import no_subquery
from hivedruid.actions.partitioning.values import typed
from hivedruid.errors import ExecutionError, UnsupportedError
from hivedruid.evaluation import expressions
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.functions import Given
from hivedruid.parser.checks import span_of_expression
from hivedruid.plan.build import Builder
from hivedruid.plan.convert import Converter
from hivedruid.plan.scope import Relation, Scope

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.catalog.partitions import Partition
    from hivedruid.catalog.table import Table
    from hivedruid.plan.facts import PlannerFacts
    from hivedruid.script import SourceStatement


def satisfying(
    condition: exp.Expression, source: SourceStatement, table: Table, known: Iterable[Partition], facts: PlannerFacts
) -> tuple[Partition, ...]:
    """The partitions for which a condition on the partition columns is true. Raises UnsupportedError for functions that
    only Spark computes."""
    builder = Builder(source, facts)
    columns = tuple(builder.new_column(column.name, column.type) for column in table.partition_columns)
    converter = Converter(builder, Scope([Relation(table.name, columns)]))
    rex = converter.complete(converter.boolean(condition))
    slots = {column.id: place for place, column in enumerate(columns)}
    span = span_of_expression(source, condition)
    try:
        test = expressions.compiled(rex, expressions.Scope(slots, Given(facts.zone), no_subquery))
    except NotLocal as error:
        raise UnsupportedError(
            f"SHOW PARTITIONS cannot evaluate the condition: {error}", span=span,
            hint=f"use SELECT DISTINCT {', '.join(c.name for c in columns)} FROM {table.full_name} WHERE …",
        ) from None  # fmt: skip

    def row(partition: Partition) -> tuple[Any, ...]:
        pairs = zip(partition.values, table.partition_columns, strict=True)
        return tuple(typed(text, column, facts.zone)[1] for text, column in pairs)

    try:
        return tuple(each for each in known if test(row(each)) is True)
    except (Unsure, ArithmeticError) as error:
        raise ExecutionError(f"cannot evaluate the condition: {error}", span=span, hint="use comparisons") from None
