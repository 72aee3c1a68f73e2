"""The names that Hive gives to columns of a SELECT without AS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.parser.functions import called_name
from hivedruid.plan import nodes
from hivedruid.plan.convert_calls import CAST_FUNCTIONS
from hivedruid.plan.rex import Agg, Over, Ref, Rex, has

if TYPE_CHECKING:
    from hivedruid.plan.select import SelectBlock


def written_name(item: exp.Expr) -> str:
    """The name after AS, that of a column, or that of a field of a struct; otherwise an empty string."""
    if isinstance(item, exp.Alias):
        return item.alias.lower()
    e = item.unnest()
    if isinstance(e, exp.Dot):
        return str(e.expression.name).lower()
    return e.name.lower() if isinstance(e, exp.Column) else ""


def with_names(block: SelectBlock, items: list[tuple[str, Rex]], unnamed: dict[int, exp.Expr]) -> list[tuple[str, Rex]]:
    """The items with names for all; `unnamed` are the expressions of those without one.

    A cast of a column of the only table has the name of the column (SemanticAnalyzer.recommendName). A column that is
    written, too, keeps its name, and the cast gets a number: Hive allows the name twice, but no table could have both.
    """
    names = {place: name for place, e in unnamed.items() if (name := _cast_name(block, e, items))}
    taken = {name for name, _ in items}
    for place, name in names.items():
        if name not in taken:
            taken.add(name)
            items[place] = (name, items[place][1])
    return [(name or f"_c{i}", rex) for i, (name, rex) in enumerate(items)]


def _cast_name(block: SelectBlock, e: exp.Expr, items: list[tuple[str, Rex]]) -> str | None:
    """The name of the column in the table, if the item is a cast of it."""
    operand = _operand(e.unnest())
    if operand is None or any(has(rex, Agg, Over) for _, rex in items):
        return None
    column = block.c.convert(operand)
    return _columns_of_the_table(block).get(column.id) if isinstance(column, Ref) else None


def _operand(e: exp.Expr) -> exp.Column | None:
    """The column that an expression casts: CAST(column AS type), type(column)."""
    if isinstance(e, exp.Cast):
        operand = e.this.unnest()
    elif isinstance(e, exp.Func) and called_name(e) in CAST_FUNCTIONS:
        operand = (e.expressions[0] if e.expressions else e.this).unnest()
    else:
        return None
    return operand if isinstance(operand, exp.Column) else None


def _columns_of_the_table(block: SelectBlock) -> dict[str, str]:
    """The names of the columns of the table that a block without groups reads, by id; empty if it reads anything else.

    Hive names columns once more when the outermost query is optimized, and subqueries have become part of it.
    """
    if block.e.args.get("group") is not None or block.e.args.get("distinct") or len(block.scope.relations) != 1:
        return {}
    node, relation = block.node, block.scope.relations[0]
    while isinstance(node, nodes.Filter) or (isinstance(node, nodes.Project) and block.e is block.b.root):
        node = node.input
    if isinstance(node, nodes.Join | nodes.LateralView):
        return {}
    columns = (
        relation.columns if relation.table is not None else node.columns if isinstance(node, nodes.TableScan) else ()
    )
    return {column.id: column.name for column in columns}
