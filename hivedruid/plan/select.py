"""One query block: SELECT … FROM … WHERE … GROUP BY … HAVING … ORDER BY … LIMIT. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.plan import nodes
from hivedruid.plan.convert import Converter
from hivedruid.plan.generators import generated, is_generator, lateral_view
from hivedruid.plan.grouping import Grouping, Lift, grouped_columns, has_grouping_sets, has_own_aggregate
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.output_names import with_names, written_name
from hivedruid.plan.rex import (
    Agg,
    Literal,
    Over,
    Ref,
    Rex,
    SortKey,
    Subquery,
    asks_for_grouping,
    conjunction,
    conjuncts,
    has,
    is_random,
    refs,
    walk,
)
from hivedruid.plan.scope import Relation, Scope
from hivedruid.plan.scripts import outside, script_of, transformed
from hivedruid.plan.sketch_kinds import kind_of

if TYPE_CHECKING:
    from hivedruid.plan.build import Builder


class SelectBlock:
    """One SELECT … FROM … WHERE … GROUP BY … HAVING … ORDER BY … LIMIT."""

    def __init__(self, builder: Builder, e: exp.Select, outer: Scope | None) -> None:
        self.b = builder
        self.e = e
        self.scope = Scope([], outer)
        self.c = Converter(builder, self.scope)
        self.c.windows = {w.name.lower(): w for w in e.args.get("windows") or ()}
        self.scope.sketch_kind = lambda rex: kind_of(rex, self.node)
        self.node: Node = nodes.Values((), ((),))
        self.generator: Rex | None = None
        self.generated: tuple[PlanColumn, ...] = ()

    def build(self) -> Node:
        for clause in ("connect", "match"):
            if self.e.args.get(clause):
                raise UnsupportedError(f"{clause.upper()} is not Hive SQL", span=self.b.span(self.e.args[clause]))
        saved, self.b.grouping_id = self.b.grouping_id, None
        try:
            if (call := script_of(self.e)) is not None:
                self.node = transformed(self.b, self.e, call, self.scope.parent)
                self.e = outside(self.e)
                self.scope.relations = [Relation(None, self.node.columns)]
                return self._select()
            self._from()
            if self.e.args.get("where"):
                condition = self._condition(self.e.args["where"].this)
                self._refuse_aggregates(condition, self.e.args["where"], "WHERE")
                self.node = nodes.Filter(self.node.columns, self.node, condition)
            return self._select()
        finally:
            self.b.grouping_id = saved

    @property
    def input_columns(self) -> set[str]:
        """The ids of the columns that the block reads."""
        return {c.id for r in self.scope.relations for c in (*r.columns, *r.hidden)}

    def _condition(self, e: exp.Expr) -> Rex:
        """A condition of WHERE, HAVING or ON, where NULL is treated as false."""
        rex = self.c.boolean(e)
        if not has(rex, Subquery):
            return conjunction(conjuncts(rex)) or rex
        from hivedruid.plan.quantified import exact_in_condition

        return exact_in_condition(rex, self.b.new_column)

    def _value(self, rex: Rex) -> Rex:
        """A value of the output, where IN (SELECT …) can be NULL."""
        if not has(rex, Subquery):
            return rex
        from hivedruid.plan.quantified import exact_in_value

        return exact_in_value(rex, self.b.new_column)

    # --- FROM --------------------------------------------------------------------------------------------------

    def _from(self) -> None:
        from_ = self.e.args.get("from_")
        if from_ is None:
            return
        self._sources(from_.this)
        for join in self.e.args.get("joins") or ():
            self._join(join)
        for lateral in self.e.args.get("laterals") or ():
            self._lateral_view(lateral)

    def _sources(self, e: exp.Expr) -> None:
        """The first item of FROM, with its joins and lateral views."""
        self.node, relations = self._item(e)
        self.scope.relations += relations
        for join in e.args.get("joins") or ():
            self._join(join)
        for lateral in e.args.get("laterals") or ():
            self._lateral_view(lateral)

    def _item(self, e: exp.Expr) -> tuple[Node, list[Relation]]:
        """One item of FROM; joins in parentheses keep the names of all their tables."""
        if not isinstance(e, exp.Subquery) or e.alias or not isinstance(e.this, exp.Table | exp.Subquery):
            node, relation = self.b.relation(e, self.scope.parent)
            return node, [relation]
        group = SelectBlock(self.b, exp.Select(), self.scope.parent)
        group._sources(e.this)
        self.scope.merged |= group.scope.merged
        self.scope.first += group.scope.first
        return group.node, group.scope.relations

    def _join(self, join: exp.Join) -> None:
        if isinstance(join.this, exp.Lateral):
            return self._lateral_view(join.this)
        right, right_relations = self._item(join.this)
        kind = self._join_kind(join)
        using = [i.name.lower() for i in join.args.get("using") or ()]
        left_columns = [self.scope.column(name, self.b.span(join)) for name in using]
        number = len(self.scope.relations)
        self.scope.relations += right_relations
        condition: Rex | None = None
        if join.method == "NATURAL":
            raise UnsupportedError(
                "NATURAL JOIN is not supported: Hive parses NATURAL as a table alias",
                span=self.b.span(join),
                hint="use JOIN … USING (a, b)",
            )
        if using:
            earlier, self.scope.first = self.scope.first, []
            pairs = zip(using, left_columns, strict=True)
            condition = conjunction([self._using(name, left, right_relations, join) for name, left in pairs])
            self.scope.first += earlier
        elif join.args.get("on") is not None:
            condition = self._condition(join.args["on"])
            self._refuse_aggregates(condition, join.args["on"], "ON")
        if condition is None and kind == "inner":
            kind = "cross"
        columns = self.node.columns if kind in ("semi", "anti") else (*self.node.columns, *right.columns)
        self.node = nodes.Join(columns, self.node, right, kind, condition)  # type: ignore[arg-type]
        if kind in ("semi", "anti"):
            del self.scope.relations[number:]
        return None

    def _using(self, name: str, left: PlanColumn, relations: list[Relation], join: exp.Join) -> Rex:
        """The condition on a column of USING, given that of the left side."""
        right = Scope(relations, merged=self.scope.merged).column(name, self.b.span(join))
        self.scope.merge(left, right, visible=right if self._join_kind(join) == "right" else left)
        return self.c.compare("=", left.ref, right.ref)

    def _join_kind(self, join: exp.Join) -> str:
        kind, side = (join.kind or "").upper(), (join.side or "").upper()
        if kind in ("SEMI", "ANTI"):
            return kind.lower()
        if kind == "CROSS":
            return "cross" if join.args.get("on") is None else "inner"
        return side.lower() or "inner"

    def _lateral_view(self, e: exp.Lateral) -> None:
        generator = self._convert_generator(e.this)
        alias = e.args.get("alias")
        made = self._columns_of(generator, [c.name for c in alias.columns] if alias else [], e)
        self.node = lateral_view(self.node, generator, made, self.b.new_column, outer=bool(e.args.get("outer")))
        self.scope.relations.append(Relation(alias.name.lower() if alias and alias.this else None, made))

    def _columns_of(self, generator: Rex, names: list[str], e: exp.Expr) -> tuple[PlanColumn, ...]:
        try:
            return generated(generator, [name.lower() for name in names], self.b.new_column)
        except SemanticError as error:
            raise error.at(self.b.span(e)) from None

    def _convert_generator(self, e: exp.Expr) -> Rex:
        """An expression where a table-generating function is allowed."""
        self.c.generator_call = e
        try:
            return self.c.convert(e)
        finally:
            self.c.generator_call = None

    # --- SELECT, GROUP BY, HAVING, ORDER BY ----------------------------------------------------------------------

    def _select(self) -> Node:
        items = self._select_items_if_plain()
        group = self.e.args.get("group")
        if group is not None and has_grouping_sets(group):
            # Spark treats the name grouping__id as its own
            self.b.grouping_id = self.b.new_column("_grouping_id", t.BIGINT)
        if group is not None:
            self.scope.grouped = grouped_columns(self, group)
        if items is None:
            items = self._select_items()
        having = self.e.args.get("having")
        self.scope.aliases = {name: rex for name, rex in items if name}
        having_rex = self._condition(having.this) if having is not None else None
        if having_rex is not None and has(having_rex, Over):
            raise SemanticError(
                "window functions are not allowed in HAVING",
                span=self.b.span(self.e.args["having"]),
                hint="compute it in a subquery, as a column",
            )
        order, hidden = self._order_items(items)
        items = [(name, self._value(rex)) for name, rex in items]
        hidden = [self._value(rex) for rex in [*hidden, *self._qualify()]]
        every = [rex for _, rex in items] + hidden + [rex for rex in (having_rex, self.generator) if rex]
        lift: Lift = lambda rex: rex  # noqa: E731
        inputs = self.input_columns
        if group is not None or any(has_own_aggregate(rex, inputs) for rex in every):
            lift = Grouping(self, group).aggregate(every)
            self._refuse_generated([*self.node.expressions(), *([having_rex] if having_rex else [])])
            if having_rex is not None:
                self.node = nodes.Filter(self.node.columns, self.node, lift(having_rex))
        elif any(asks_for_grouping(rex) for rex in every):
            raise SemanticError("grouping() requires GROUP BY", span=self.b.span(self.e))
        elif having is not None:
            raise SemanticError(
                "HAVING requires GROUP BY or an aggregate function", span=self.b.span(having), hint="use WHERE"
            )
        if self.generator is not None:
            self.node = lateral_view(self.node, lift(self.generator), self.generated, self.b.new_column)
        project = self._project([(name, lift(rex)) for name, rex in items], [lift(rex) for rex in hidden])
        return self._distinct_order_limit(self._qualified(project), len(items), order)

    def _qualify(self) -> list[Rex]:
        """The condition of QUALIFY, a hidden column: it is computed with the window functions, before DISTINCT."""
        qualify = self.e.args.get("qualify")
        if qualify is None:
            return []
        return [self.c.boolean(qualify.this)]

    def _qualified(self, project: nodes.Project) -> Node:
        if self.e.args.get("qualify") is None:
            return project
        *columns, condition = project.columns
        node = nodes.Filter(project.columns, project, condition.ref)
        return nodes.Project(tuple(columns), node, tuple(c.ref for c in columns))

    def _select_items_if_plain(self) -> list[tuple[str, Rex]] | None:
        return None if self.e.args.get("group") is not None else self._select_items()

    def _select_items(self) -> list[tuple[str, Rex]]:
        items: list[tuple[str, Rex]] = []
        unnamed: dict[int, exp.Expr] = {}
        for e in self.e.expressions:
            if isinstance(e, exp.Star) or (isinstance(e, exp.Column) and isinstance(e.this, exp.Star)):
                parts = [p.name for p in e.parts[:-1]] if isinstance(e, exp.Column) else []
                if not self.scope.relations:
                    raise SemanticError("SELECT * requires a FROM clause", span=self.b.span(e))
                items += [(c.name, c.ref) for c in self.scope.star(parts, self.b.span(e))]
                continue
            matching = self._matching_columns(e)
            if matching is not None:
                items += [(c.name, c.ref) for c in matching]
                continue
            rex = self._convert_generator((e.this if isinstance(e, exp.Alias | exp.Aliases) else e).unnest())
            if is_generator(rex):
                items += self._generated(rex, e)
                continue
            if isinstance(e, exp.Aliases):
                raise SemanticError(
                    "several names for a single column", span=self.b.span(e), hint="AS requires exactly one name here"
                )
            name = written_name(e)
            if not name:
                unnamed[len(items)] = e
            items.append((name, rex))
            self.c.aliases.setdefault(name, rex)
        return with_names(self, items, unnamed)

    def _matching_columns(self, e: exp.Expr) -> list[PlanColumn] | None:
        """The columns that match a backquoted pattern (hive.support.quoted.identifiers=none), None if it is not a
        pattern.
        """
        if not (isinstance(e, exp.Column) and isinstance(e.this, exp.Identifier) and e.this.args.get("quoted")):
            return None
        if self.b.snapshot.settings.get("hive.support.quoted.identifiers", "column").lower() != "none":
            return None
        try:
            pattern = re.compile(e.name, re.IGNORECASE)
        except re.error as error:
            raise SemanticError(
                f"`{e.name}` is not a valid regular expression: {error}",
                span=self.b.span(e),
                hint="with hive.support.quoted.identifiers=none a name in backquotes is a regular expression",
            ) from None
        columns = self.scope.star([p.name for p in e.parts[:-1]], self.b.span(e))
        matches = [c for c in columns if pattern.fullmatch(c.name)]
        if not matches:
            raise SemanticError(f"no column matches `{e.name}`", span=self.b.span(e))
        return matches

    def _generated(self, generator: Rex, e: exp.Expr) -> list[tuple[str, Rex]]:
        """The columns of SELECT f(…) AS (x, y), where f generates rows."""
        if self.generator is not None:
            raise SemanticError(
                "only one table-generating function is allowed in a SELECT",
                span=self.b.span(e),
                hint="use LATERAL VIEW for one of them",
            )
        names = [n.name for n in e.expressions] if isinstance(e, exp.Aliases) else [e.alias] if e.alias else []
        self.generator = generator
        self.generated = self._columns_of(generator, names, e)
        return [(c.name, c.ref) for c in self.generated]

    def _refuse_generated(self, below: list[Rex]) -> None:
        made = {c.id for c in self.generated}
        if any(refs(rex) & made for rex in below):
            raise SemanticError(
                "a table-generating function cannot be combined with GROUP BY, HAVING or aggregate functions in one"
                " SELECT",
                span=self.b.span(self.e),
                hint="generate the rows in a subquery, or with LATERAL VIEW",
            )

    def _order_items(self, items: list[tuple[str, Rex]]) -> tuple[list[tuple[Rex | int, exp.Expr]], list[Rex]]:
        """ORDER BY items as positions in the output, or as expressions to carry along as hidden columns."""
        order = self.e.args.get("order") or self.e.args.get("sort") or self.e.args.get("cluster")
        sort_items: list[tuple[Rex | int, exp.Expr]] = []
        hidden: list[Rex] = []
        columns = tuple(PlanColumn(name, name, rex.type) for name, rex in items)
        names = [name for name, _ in items]
        for item in order.expressions if order else ():
            key = item.this if isinstance(item, exp.Ordered) else item
            position = self.b.position(key, columns)
            if position is None and isinstance(key, exp.Column) and len(key.parts) == 1 and key.name.lower() in names:
                position = names.index(key.name.lower())
            if position is None:
                rex = self.c.convert(key)
                if isinstance(rex, Literal):
                    continue  # no order
                position = next((i for i, (_, r) in enumerate(items) if r == rex), None)
                if position is None:
                    hidden.append(rex)
                    position = len(items) + len(hidden) - 1
            sort_items.append((position, item))
        return sort_items, hidden

    def _project(self, items: list[tuple[str, Rex]], hidden: list[Rex]) -> nodes.Project:
        columns: list[PlanColumn] = []
        used: set[str] = set()
        below = {c.id for c in self.node.columns}
        for name, rex in [*items, *((f"_o{i}", rex) for i, rex in enumerate(hidden))]:
            if isinstance(rex, Ref) and rex.id not in used and rex.id in below:
                columns.append(PlanColumn(rex.id, name, rex.type))
            else:
                columns.append(self.b.new_column(name, rex.type))
            used.add(columns[-1].id)
        return nodes.Project(tuple(columns), self.node, tuple(rex for _, rex in [*items, *(("", r) for r in hidden)]))

    def _distinct_order_limit(self, node: Node, width: int, order: list[tuple[Rex | int, exp.Expr]]) -> Node:
        if self.e.args.get("distinct"):
            if len(node.columns) > width:
                raise SemanticError(
                    "ORDER BY of SELECT DISTINCT must use selected columns",
                    span=self.b.span(self.e.args["order"]),
                )
            fresh = tuple(self.b.new_column(c.name, c.type) for c in node.columns)
            node = nodes.Aggregate(fresh, node, tuple(c.ref for c in node.columns), ())
        keys = tuple(
            SortKey(node.columns[position].ref, bool(item.args.get("desc")), bool(item.args.get("nulls_first")))  # type: ignore[index]
            for position, item in order
        )
        keys = tuple(k for k in keys if not isinstance(k.rex, Literal))
        node = self.b.limited(node, keys, self.e)
        if len(node.columns) > width:
            kept = node.columns[:width]
            node = nodes.Project(kept, node, tuple(c.ref for c in kept))
        return node

    def _refuse_aggregates(self, rex: Rex, clause: exp.Expr, name: str) -> None:
        """In WHERE an aggregate can only be the outer query's: HAVING EXISTS (SELECT … WHERE x = min(outer.y))."""
        if asks_for_grouping(rex):
            raise SemanticError(
                f"grouping() is not allowed in {name}",
                span=self.b.span(clause),
                hint="use grouping() in SELECT or HAVING",
            )
        if name == "ON" and is_random(rex):
            raise UnsupportedError(
                "non-deterministic functions in ON are not supported",
                span=self.b.span(clause),
                hint="compute it in a subquery",
            )
        if has(rex, Over):
            raise SemanticError(
                f"window functions are not allowed in {name}",
                span=self.b.span(clause),
                hint="compute it in a subquery, as a column",
            )
        inputs = self.input_columns if has(rex, Agg) else set()
        if any(isinstance(part, Agg) and (not refs(part) or refs(part) & inputs) for part in walk(rex)):
            hint = "use HAVING" if name == "WHERE" else "compute it in a subquery"
            raise SemanticError(f"aggregate functions are not allowed in {name}", span=self.b.span(clause), hint=hint)
