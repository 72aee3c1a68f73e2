"""Materialized views without a catalog: from the texts of a view and a query to the rewritten plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hivedruid.catalog.table import Column, Table
from hivedruid.plan.blocks import definition_of
from hivedruid.plan.build import Builder
from hivedruid.plan.materialize import rewrite
from hivedruid.plan.nodes import Node
from hivedruid.plan.optimizer import optimize
from hivedruid.plan.rules import RULES, RuleContext
from hivedruid.plan.show import tree
from hivedruid.plan.view_match import MaterializedView
from tests.support.planning import TABLES, parse, snapshot


@dataclass(frozen=True)
class Rewritten:
    """The plan before and after all rules, and the messages of the rewriting."""

    node: Node
    optimized: Node
    said: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(tree(self.node))

    @property
    def is_answered(self) -> bool:
        return any(" is used instead of " in sentence for sentence in self.said)

    @property
    def reason(self) -> str:
        assert len(self.said) == 1, self.said
        return self.said[0].partition(" is not used: ")[2]


def view(
    sql: str, zone: str = "UTC", *, name: str = "mv", tables: tuple[Table, ...] = TABLES, kind: str = "druid",
    rows: int | None = None, root: int | None = None, ids: dict[str, int] | None = None,
) -> MaterializedView:  # fmt: skip
    """The view that CREATE MATERIALIZED VIEW makes of a query."""
    expression, source = parse(sql)
    node = Builder(source, snapshot(zone, tables), None, ids).query(expression, None)
    definition = definition_of(node)
    assert not isinstance(definition, str), definition
    columns = tuple(Column(c.name, c.type) for c in node.columns)
    table = Table("default", name, kind, columns, view_text=sql, rewrite_enabled=True)  # type: ignore[arg-type]
    return MaterializedView(table, definition, zone, rows, root)


def rewritten(
    views: Sequence[str] | str, query: str, zone: str = "UTC", *, tables: tuple[Table, ...] = TABLES,
    kind: str = "druid", root: int | None = None,
) -> Rewritten:  # fmt: skip
    """A query with views of these texts, named mv, mv1 …"""
    texts = [views] if isinstance(views, str) else list(views)
    ids: dict[str, int] = {}
    made = [
        view(text, zone, name=f"mv{i or ''}", tables=tables, kind=kind, root=root, ids=ids)
        for i, text in enumerate(texts)
    ]
    expression, source = parse(query)
    builder = Builder(source, snapshot(zone, tables), None, ids)
    node = builder.query(expression, None)
    context = RuleContext(zone, builder.new_column)
    said: list[str] = []
    result = rewrite(node, made, context, said)
    return Rewritten(result, optimize(result, context, RULES), tuple(said))
