"""SELECT → relational nodes: names resolved, types known, every column with an id of its own. Pure."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.plan import nodes
from hivedruid.plan.convert import Converter
from hivedruid.plan.functions import common_type
from hivedruid.plan.generators import generated, is_generator, lateral_view
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.rex import (
    Agg,
    Call,
    Literal,
    Over,
    Ref,
    Rex,
    SortKey,
    Subquery,
    conjunction,
    has,
    refs,
    transform,
)
from hivedruid.plan.scope import Relation, Scope
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from hivedruid.actions.snapshot import Snapshot

MAX_VIEW_DEPTH = 32
MAX_ROWS = (1 << 31) - 1
"""The most that LIMIT and OFFSET take: Hive and Spark count in an int."""


def build_query(
    expression: exp.Expr,
    source: SourceStatement,
    snapshot: Snapshot,
    note: Callable[[str, Span | None], None] | None = None,
) -> Node:
    """The plan of a query; the names of its output columns are Hive's (`_c0` where there is none).

    Raises SemanticError for unknown names and ill-typed texts, UnsupportedError for forms Hive has not.
    """
    return Builder(source, snapshot, note).query(expression, None)


class Builder:
    """Builds the plan of one statement; ids are unique within it."""

    def __init__(
        self,
        source: SourceStatement,
        snapshot: Snapshot,
        note: Callable[[str, Span | None], None] | None = None,
        ids: dict[str, int] | None = None,
        depth: int = 0,
    ) -> None:
        self.source = source
        self.snapshot: Snapshot = snapshot
        self.zone = snapshot.zone
        self.note = note or (lambda _message, _span: None)
        self.ids = ids if ids is not None else {}
        self.depth = depth
        self.ctes: dict[str, tuple[exp.CTE, dict[str, object]]] = {}
        self.grouping_id: PlanColumn | None = None

    # --- names -------------------------------------------------------------------------------------------------

    def span(self, e: exp.Expr) -> Span | None:
        """Where an expression stands: the first part of it that sqlglot gave a position."""
        for node in e.walk():
            start, end = node.meta.get("start"), node.meta.get("end")
            if start is not None and end is not None:
                return self.source.span(start, end + 1)
        return None

    def new_column(self, name: str, type_: HiveType) -> PlanColumn:
        """A column with a fresh id made from its name."""
        base = name.lower() or "_c"
        count = self.ids.get(base, 0)
        self.ids[base] = count + 1
        if count == 0:
            return PlanColumn(base, name.lower(), type_)
        candidate = f"{base}_{count}"
        while candidate in self.ids:
            count += 1
            candidate = f"{base}_{count}"
        self.ids[candidate] = 1
        return PlanColumn(candidate, name.lower(), type_)

    # --- query expressions -------------------------------------------------------------------------------------

    def query(self, e: exp.Expr, outer: Scope | None) -> Node:
        """A select, set operation, VALUES or parenthesised query."""
        saved = self.ctes
        with_ = e.args.get("with_")
        if with_ is not None:
            self.ctes = dict(saved)
            for cte in with_.expressions:
                self.ctes[cte.alias.lower()] = (cte, dict(self.ctes))
        try:
            if isinstance(e, exp.Select):
                return _SelectBlock(self, e, outer).build()
            if isinstance(e, exp.SetOperation):
                return self._set_operation(e, outer)
            if isinstance(e, exp.Subquery):
                return self._order_limit_only(self.query(e.this, outer), e, outer)
            if isinstance(e, exp.Values):
                return self._values(e)
            if isinstance(e, exp.Table):
                return self.query(exp.select("*").from_(e), outer)
        finally:
            self.ctes = saved
        raise UnsupportedError(f"not a query: {e.sql('hive')[:60]}", span=self.span(e))

    def _set_operation(self, e: exp.SetOperation, outer: Scope | None) -> Node:
        left, right = self.query(e.left, outer), self.query(e.right, outer)
        if len(left.columns) != len(right.columns):
            raise SemanticError(
                f"the two sides of {e.key.upper()} have {len(left.columns)} and {len(right.columns)} columns",
                span=self.span(e.right),
            )
        types = [common_type([a.type, b.type]) for a, b in zip(left.columns, right.columns, strict=True)]
        branches = (self._aligned(left, types), self._aligned(right, types))
        columns = tuple(self.new_column(c.name, type_) for c, type_ in zip(left.columns, types, strict=True))
        kind = "union" if isinstance(e, exp.Union) else "intersect" if isinstance(e, exp.Intersect) else "except"
        node: Node = nodes.SetOp(columns, kind, not e.args.get("distinct"), branches)  # type: ignore[arg-type]
        return self._order_limit_only(node, e, outer)

    def _aligned(self, node: Node, types: list[HiveType]) -> Node:
        """The node with its columns brought to the given types."""
        if all(c.type == type_ or type_ is t.UNKNOWN for c, type_ in zip(node.columns, types, strict=True)):
            return node
        converter = Converter(self, Scope([]))
        exprs = tuple(converter.cast(c.ref, type_) for c, type_ in zip(node.columns, types, strict=True))
        columns = tuple(self.new_column(c.name, type_) for c, type_ in zip(node.columns, types, strict=True))
        return nodes.Project(columns, node, exprs)

    def _order_limit_only(self, node: Node, e: exp.Expr, outer: Scope | None) -> Node:
        """ORDER BY and LIMIT behind a set operation or parentheses: over output columns only."""
        scope = Scope([Relation(None, node.columns)], outer)
        converter = Converter(self, scope)
        keys = []
        order = e.args.get("order") or e.args.get("sort")
        for item in order.expressions if order else ():
            position = self.position(item.this, node.columns)
            key = converter.sort_key(item) if position is None else None
            keys.append(
                key
                or SortKey(
                    node.columns[position or 0].ref, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))
                )
            )
        return self.limited(node, tuple(keys), e)

    def limited(self, node: Node, keys: tuple[SortKey, ...], e: exp.Expr) -> Node:
        fetch, offset = self._number(e.args.get("limit")), self._number(e.args.get("offset")) or 0
        if not keys and fetch is None and not offset:
            return node
        return nodes.Sort(node.columns, node, keys, fetch, offset)

    def _number(self, clause: exp.Expr | None) -> int | None:
        if clause is None:
            return None
        value = clause.expression if clause.expression is not None else clause.args.get("count")
        if isinstance(value, exp.Literal) and not value.is_string and value.name.isdigit():
            if int(value.name) <= MAX_ROWS:
                return int(value.name)
            raise SemanticError(f"{clause.key.upper()} {value.name} is more than {MAX_ROWS}", span=self.span(clause))
        raise SemanticError(f"{clause.key.upper()} needs a whole number", span=self.span(clause))

    def position(self, e: exp.Expr, columns: tuple[PlanColumn, ...]) -> int | None:
        """The column that an integer in ORDER BY means (hive.orderby.position.alias), None for other expressions."""
        if not (isinstance(e, exp.Literal) and not e.is_string and e.name.isdigit()):
            return None
        if self.snapshot.settings.get("hive.orderby.position.alias", "true").lower() != "true":
            return None
        if not 1 <= int(e.name) <= len(columns):
            raise SemanticError(f"ORDER BY position {e.name} is not between 1 and {len(columns)}", span=self.span(e))
        return int(e.name) - 1

    def _values(self, e: exp.Values) -> Node:
        converter = Converter(self, Scope([]))
        rows = [
            tuple(converter.convert(v) for v in (r.expressions if isinstance(r, exp.Tuple) else [r]))
            for r in e.expressions
        ]
        if any(len(row) != len(rows[0]) for row in rows):
            raise SemanticError("the rows of VALUES have different numbers of columns", span=self.span(e))
        types = [common_type([row[i].type for row in rows]) for i in range(len(rows[0]))]
        names = [c.name for c in e.args["alias"].columns] if e.args.get("alias") else []
        names = names or [f"col{i + 1}" for i in range(len(types))]
        columns = tuple(self.new_column(name, type_) for name, type_ in zip(names, types, strict=True))
        typed = tuple(tuple(converter._branch(v, type_) for v, type_ in zip(row, types, strict=True)) for row in rows)
        return nodes.Values(columns, typed)

    # --- FROM --------------------------------------------------------------------------------------------------

    def relation(self, e: exp.Expr, outer: Scope | None) -> tuple[Node, Relation]:
        """One item of FROM."""
        if e.args.get("sample"):
            raise UnsupportedError("TABLESAMPLE is not supported", span=self.span(e), hint="use WHERE rand() < 0.1")
        if isinstance(e, exp.Table):
            return self._table(e)
        if isinstance(e, exp.Subquery):
            node = self.query(e.this, outer) if not isinstance(e.this, exp.Table) else self.relation(e.this, outer)[0]
            return node, self._named(node, e)
        if isinstance(e, exp.Values):
            node = self._values(e)
            return node, Relation(e.alias.lower() or None, node.columns)
        raise UnsupportedError(f"cannot read from {e.sql('hive')[:60]}", span=self.span(e))

    def _named(self, node: Node, e: exp.Expr) -> Relation:
        names = [c.name.lower() for c in e.args["alias"].columns] if e.args.get("alias") else []
        if names and len(names) != len(node.columns):
            raise SemanticError(f"{len(names)} column names for {len(node.columns)} columns", span=self.span(e))
        columns = tuple(
            PlanColumn(c.id, n, c.type)
            for c, n in zip(node.columns, names or [c.name for c in node.columns], strict=True)
        )
        return Relation(e.alias.lower() or None, columns)

    def _table(self, e: exp.Table) -> tuple[Node, Relation]:
        name, database = e.name.lower(), (e.db or "").lower() or None
        alias = (e.alias or e.name).lower()
        if database is None and name in self.ctes:
            cte, visible = self.ctes[name]
            saved, self.ctes = self.ctes, visible  # type: ignore[assignment]
            try:
                node = self.query(cte.this, None)
            finally:
                self.ctes = saved
            return node, Relation(alias, self._named(node, cte).columns)
        table = self.snapshot.table(database, name)
        if table is None:
            known = [t.name for t in self.snapshot.all_tables] + [n for _, n in self.snapshot.tables]
            raise SemanticError(
                f"Table not found {name if database is None else f'{database}.{name}'}",
                span=self.span(e.this),
                hint=did_you_mean(name, known) or "SHOW TABLES lists the tables",
            )
        node = self._view(table, e) if table.kind == "view" else self._scan(table, e)
        renamed = (
            self._named(node, e) if e.args.get("alias") and e.args["alias"].columns else Relation(alias, node.columns)
        )
        return node, Relation(alias, renamed.columns, None if e.alias else table.database)

    def _scan(self, table: Table, e: exp.Expr) -> Node:
        if table.kind == "kafka":
            raise UnsupportedError(
                f"reading the Kafka table {table.full_name} is not supported in this version",
                span=self.span(e),
                hint="ingest the topic into a Druid table and query that",
            )
        return nodes.TableScan(tuple(self.new_column(c.name, c.type) for c in table.columns), table)

    def _view(self, table: Table, e: exp.Expr) -> Node:
        from hivedruid.parser import parse

        if self.depth >= MAX_VIEW_DEPTH:
            raise SemanticError(f"view {table.full_name} refers to itself", span=self.span(e))
        source = SourceStatement(
            table.view_text or "", file=f"view {table.full_name}", nulls_last=self.source.nulls_last
        )
        statement = parse(source)
        builder = Builder(source, self.snapshot.within(table.database), self.note, self.ids, self.depth + 1)
        node = builder.query(statement.expression, None)  # type: ignore[attr-defined]
        columns = tuple(PlanColumn(c.id, v.name, c.type) for c, v in zip(node.columns, table.columns, strict=True))
        exprs = tuple(c.ref for c in node.columns)
        return nodes.Project(columns, node, exprs) if len({c.id for c in columns}) == len(columns) else node

    # --- subqueries in expressions -----------------------------------------------------------------------------

    def scalar_subquery(self, e: exp.Expr, scope: Scope) -> Rex:
        plan = self.query(e.this if isinstance(e, exp.Subquery) else e, scope)
        if len(plan.columns) != 1:
            raise SemanticError(f"a subquery used as a value has {len(plan.columns)} columns", span=self.span(e))
        return Subquery(plan.columns[0].type, "scalar", plan)

    def exists_subquery(self, e: exp.Expr, scope: Scope) -> Rex:
        return Subquery(t.BOOLEAN, "exists", self.query(e, scope))

    def in_subquery(self, values: tuple[Rex, ...], e: exp.Expr, scope: Scope) -> Rex:
        plan = self.query(e.this if isinstance(e, exp.Subquery) else e, scope)
        if len(plan.columns) != len(values):
            raise SemanticError(f"IN compares {len(values)} values with {len(plan.columns)} columns", span=self.span(e))
        converter = Converter(self, scope)
        casts = []
        for value, column in zip(values, plan.columns, strict=True):
            compared = converter.compare("=", value, column.ref)
            a, b = compared.args if isinstance(compared, Call) and len(compared.args) == 2 else (value, column.ref)
            casts.append((a, b) if column.id in refs(b) else (b, a))  # a constant stands last in a comparison
        if any(b != c.ref for (_, b), c in zip(casts, plan.columns, strict=True)):
            columns = tuple(self.new_column(c.name, b.type) for (_, b), c in zip(casts, plan.columns, strict=True))
            plan = nodes.Project(columns, plan, tuple(b for _, b in casts))
        return Subquery(t.BOOLEAN, "in", plan, tuple(a for a, _ in casts))


class _SelectBlock:
    """One SELECT … FROM … WHERE … GROUP BY … HAVING … ORDER BY … LIMIT."""

    def __init__(self, builder: Builder, e: exp.Select, outer: Scope | None) -> None:
        self.b = builder
        self.e = e
        self.scope = Scope([], outer)
        self.c = Converter(builder, self.scope)
        self.c.windows = {w.name.lower(): w for w in e.args.get("windows") or ()}
        self.node: Node = nodes.Values((), ((),))
        self.generator: Rex | None = None
        self.generated: tuple[PlanColumn, ...] = ()

    def build(self) -> Node:
        for clause in ("qualify", "connect", "match"):
            if self.e.args.get(clause):
                raise UnsupportedError(f"{clause.upper()} is not Hive SQL", span=self.b.span(self.e.args[clause]))
        saved, self.b.grouping_id = self.b.grouping_id, None
        try:
            self._from()
            if self.e.args.get("where"):
                condition = self.c.boolean(self.e.args["where"].this)
                self._refuse_aggregates(condition, self.e.args["where"])
                self.node = nodes.Filter(self.node.columns, self.node, condition)
            return self._select()
        finally:
            self.b.grouping_id = saved

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
        """The first item of FROM, with the joins and lateral views that hang on it."""
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
        group = _SelectBlock(self.b, exp.Select(), self.scope.parent)
        group._sources(e.this)
        self.scope.merged |= group.scope.merged
        return group.node, group.scope.relations

    def _join(self, join: exp.Join) -> None:
        if isinstance(join.this, exp.Lateral):
            return self._lateral_view(join.this)
        right, right_relations = self._item(join.this)
        kind = self._join_kind(join)
        left_relations = list(self.scope.relations)
        self.scope.relations += right_relations
        condition: Rex | None = None
        using = [i.name.lower() for i in join.args.get("using") or ()]
        if join.method == "NATURAL":
            known = {c.name for r in left_relations for c in r.columns}
            using = [c.name for r in right_relations for c in r.columns if c.name in known]
        if using:
            pairs = [(self._side(left_relations, n, join), self._side(right_relations, n, join)) for n in using]
            condition = conjunction([self.c.compare("=", a, b) for a, b in pairs])
            self.scope.merged.update(using)
        elif join.args.get("on") is not None:
            condition = self.c.boolean(join.args["on"])
        if condition is None and kind == "inner":
            kind = "cross"
        columns = self.node.columns if kind in ("semi", "anti") else (*self.node.columns, *right.columns)
        self.node = nodes.Join(columns, self.node, right, kind, condition)  # type: ignore[arg-type]
        if kind in ("semi", "anti"):
            self.scope.relations = left_relations
        return None

    def _side(self, relations: list[Relation], name: str, join: exp.Join) -> Rex:
        return Scope(relations).resolve([name], self.b.span(join))

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
        made = generated(generator, [c.name.lower() for c in alias.columns] if alias else [], self.b.new_column)
        self.node = lateral_view(self.node, generator, made, self.b.new_column, outer=bool(e.args.get("outer")))
        self.scope.relations.append(Relation(alias.name.lower() if alias and alias.this else None, made))

    def _convert_generator(self, e: exp.Expr) -> Rex:
        """An expression where a function may make rows."""
        self.c.generator_call = e
        try:
            return self.c.convert(e)
        finally:
            self.c.generator_call = None

    # --- SELECT, GROUP BY, HAVING, ORDER BY ----------------------------------------------------------------------

    def _select(self) -> Node:
        items = self._select_items_if_plain()
        group = self.e.args.get("group")
        if group is not None and self._has_grouping_sets(group):
            self.b.grouping_id = self.b.new_column("grouping__id", t.BIGINT)
        if group is not None:
            self.scope.grouped = self._grouped_columns(group)
        if items is None:
            items = self._select_items()
        having = self.e.args.get("having")
        self.scope.aliases = {name: rex for name, rex in items if name}
        having_rex = self.c.boolean(having.this) if having is not None else None
        order, hidden = self._order_items(items)
        every = [rex for _, rex in items] + hidden + [rex for rex in (having_rex, self.generator) if rex]
        lift: Callable[[Rex], Rex] = lambda rex: rex  # noqa: E731
        if group is not None or any(_has_own_aggregate(rex) for rex in every):
            lift = self._aggregate(group, every)
            self._refuse_generated([*self.node.expressions(), *([having_rex] if having_rex else [])])
            if having_rex is not None:
                self.node = nodes.Filter(self.node.columns, self.node, lift(having_rex))
        elif having is not None:
            raise SemanticError("HAVING without GROUP BY or an aggregate", span=self.b.span(having), hint="use WHERE")
        if self.generator is not None:
            self.node = lateral_view(self.node, lift(self.generator), self.generated, self.b.new_column)
        project = self._project([(name, lift(rex)) for name, rex in items], [lift(rex) for rex in hidden])
        return self._distinct_order_limit(project, len(items), order)

    def _select_items_if_plain(self) -> list[tuple[str, Rex]] | None:
        return None if self.e.args.get("group") is not None else self._select_items()

    def _select_items(self) -> list[tuple[str, Rex]]:
        items: list[tuple[str, Rex]] = []
        for e in self.e.expressions:
            if isinstance(e, exp.Star) or (isinstance(e, exp.Column) and isinstance(e.this, exp.Star)):
                parts = [p.name for p in e.parts[:-1]] if isinstance(e, exp.Column) else []
                if not self.scope.relations:
                    raise SemanticError("SELECT * needs a FROM", span=self.b.span(e))
                items += [(c.name, c.ref) for c in self.scope.star(parts, self.b.span(e))]
                continue
            rex = self._convert_generator((e.this if isinstance(e, exp.Alias | exp.Aliases) else e).unnest())
            if is_generator(rex):
                items += self._generated(rex, e)
                continue
            if isinstance(e, exp.Aliases):
                raise SemanticError("several names for one column", span=self.b.span(e), hint="AS takes one name here")
            name = e.alias.lower() if isinstance(e, exp.Alias) else e.name.lower() if isinstance(e, exp.Column) else ""
            items.append((name, rex))
        return [(name or f"_c{i}", rex) for i, (name, rex) in enumerate(items)]

    def _generated(self, generator: Rex, e: exp.Expr) -> list[tuple[str, Rex]]:
        """The columns that SELECT f(…) AS (x, y) has of the rows that f makes, of what GROUP BY and HAVING leave."""
        if self.generator is not None:
            raise SemanticError(
                "two functions that make rows in one SELECT",
                span=self.b.span(e),
                hint="write one of them as LATERAL VIEW",
            )
        names = [n.name for n in e.expressions] if isinstance(e, exp.Aliases) else [e.alias] if e.alias else []
        self.generator = generator
        self.generated = generated(generator, [name.lower() for name in names], self.b.new_column)
        return [(c.name, c.ref) for c in self.generated]

    def _refuse_generated(self, below: list[Rex]) -> None:
        made = {c.id for c in self.generated}
        if any(refs(rex) & made for rex in below):
            raise SemanticError(
                "rows are made of what GROUP BY, HAVING and aggregates leave: none of them can read the new ones",
                span=self.b.span(self.e),
                hint="make the rows in a subquery, or with LATERAL VIEW",
            )

    def _order_items(self, items: list[tuple[str, Rex]]) -> tuple[list[tuple[Rex | int, exp.Expr]], list[Rex]]:
        """ORDER BY items as positions in the output, or as expressions to carry along as hidden columns."""
        order = self.e.args.get("order") or self.e.args.get("sort") or self.e.args.get("cluster")
        found: list[tuple[Rex | int, exp.Expr]] = []
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
                position = next((i for i, (_, r) in enumerate(items) if r == rex), None)
                if position is None:
                    hidden.append(rex)
                    position = len(items) + len(hidden) - 1
            found.append((position, item))
        return found, hidden

    def _project(self, items: list[tuple[str, Rex]], hidden: list[Rex]) -> nodes.Project:
        columns: list[PlanColumn] = []
        used: set[str] = set()
        for name, rex in [*items, *((f"_o{i}", rex) for i, rex in enumerate(hidden))]:
            if isinstance(rex, Ref) and rex.id not in used and rex.id in {c.id for c in self.node.columns}:
                columns.append(PlanColumn(rex.id, name, rex.type))
            else:
                columns.append(self.b.new_column(name, rex.type))
            used.add(columns[-1].id)
        return nodes.Project(tuple(columns), self.node, tuple(rex for _, rex in [*items, *(("", r) for r in hidden)]))

    def _distinct_order_limit(
        self, project: nodes.Project, width: int, order: list[tuple[Rex | int, exp.Expr]]
    ) -> Node:
        node: Node = project
        if self.e.args.get("distinct"):
            if len(project.columns) > width:
                raise SemanticError(
                    "ORDER BY of a SELECT DISTINCT may only name selected columns",
                    span=self.b.span(self.e.args["order"]),
                )
            fresh = tuple(self.b.new_column(c.name, c.type) for c in project.columns)
            node = nodes.Aggregate(fresh, project, tuple(c.ref for c in project.columns), ())
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

    def _refuse_aggregates(self, rex: Rex, clause: exp.Expr) -> None:
        if has(rex, Agg) and not has(rex, Subquery):
            raise SemanticError("an aggregate function in WHERE", span=self.b.span(clause), hint="use HAVING")

    # --- aggregation ---------------------------------------------------------------------------------------------

    def _has_grouping_sets(self, group: exp.Group) -> bool:
        return bool(_grouping_clauses(group))

    def _group_keys(self, group: exp.Group | None) -> tuple[list[Rex], tuple[tuple[int, ...], ...] | None]:
        """The distinct keys, and for ROLLUP, CUBE and GROUPING SETS the sets as positions in them."""
        keys: list[Rex] = []
        if group is None:
            return keys, None

        def add(e: exp.Expr) -> int:
            rex = self._group_key(e)
            if rex not in keys:
                keys.append(rex)
            return keys.index(rex)

        plain = [add(e) for e in group.expressions if not isinstance(e, _GROUPING_SETS)]
        sets: list[tuple[int, ...]] | None = None
        for clause, is_alone in _grouping_clauses(group):
            if sets is not None:
                raise SemanticError("more than one of ROLLUP, CUBE and GROUPING SETS", span=self.b.span(group))
            if isinstance(clause, exp.GroupingSets):
                items = [i.expressions if isinstance(i, exp.Tuple) else [i.unnest()] for i in clause.expressions]
                sets = [tuple([add(e) for e in item]) for item in items]
                sets = [(*plain, *(p for p in s if p not in plain)) for s in sets] if is_alone else sets
                continue
            positions = [add(e) for e in clause.expressions] or plain
            fixed = [p for p in plain if p not in positions]
            sizes = range(len(positions), -1, -1)
            if isinstance(clause, exp.Rollup):
                sets = [tuple(fixed + positions[:n]) for n in sizes]
            else:
                sets = [tuple(fixed + list(c)) for n in sizes for c in combinations(positions, n)]
        if sets is None:
            return keys, None
        return keys, tuple(dict.fromkeys(tuple(sorted(set(s))) for s in sets))  # a set given twice counts once

    def _grouped_columns(self, group: exp.Group) -> dict[str, PlanColumn]:
        """The columns that are keys with their table's name in front, by their own; not where two have the same."""
        found: dict[str, PlanColumn] = {}
        twice: set[str] = set()
        for e in group.expressions:
            rex = self.c.convert(e) if isinstance(e, exp.Column) and len(e.parts) > 1 else None
            if isinstance(rex, Ref):
                name = e.name.lower()
                twice |= {name} if name in found and found[name].id != rex.id else set()
                found[name] = PlanColumn(rex.id, name, rex.type)
        return {name: column for name, column in found.items() if name not in twice}

    def _group_key(self, e: exp.Expr) -> Rex:
        by_position = self.b.snapshot.settings.get("hive.groupby.position.alias", "false").lower() == "true"
        if (
            by_position
            and isinstance(e, exp.Literal)
            and e.name.isdigit()
            and 1 <= int(e.name) <= len(self.e.expressions)
        ):
            return self.c.convert(self.e.expressions[int(e.name) - 1])
        try:
            return self.c.convert(e)
        except SemanticError:
            for item in self.e.expressions:
                if isinstance(e, exp.Column) and isinstance(item, exp.Alias) and item.alias.lower() == e.name.lower():
                    return self.c.convert(item)
            raise

    def _aggregate(self, group: exp.Group | None, every: list[Rex]) -> Callable[[Rex], Rex]:
        """Put an Aggregate below, and answer how to rewrite expressions over its output."""
        keys, sets = self._group_keys(group)
        calls: list[Agg] = []
        for rex in every:
            _collect_aggregates(rex, calls)
        key_columns = [self._key_column(rex) for rex in keys]
        call_columns = [self.b.new_column(f"$f{len(keys) + i}", call.type) for i, call in enumerate(calls)]
        extra = (self.b.grouping_id,) if sets is not None and self.b.grouping_id else ()
        columns = (*key_columns, *call_columns, *extra)
        self.node = nodes.Aggregate(columns, self.node, tuple(keys), tuple(calls), sets)
        by_key = dict(zip(keys, key_columns, strict=True))
        by_call = dict(zip(calls, call_columns, strict=True))
        made = {c.id for c in columns}
        inputs = {c.id for r in self.scope.relations for c in r.columns}

        def change(rex: Rex) -> Rex | None:
            if rex in by_key:
                return by_key[rex].ref
            if isinstance(rex, Agg):
                return by_call[rex].ref
            if isinstance(rex, Call) and rex.op == "grouping":
                return self._grouping_bit(rex, keys)
            if isinstance(rex, Over) and isinstance(rex.call, Agg):
                call = Agg(
                    rex.call.type, rex.call.op, tuple(transform(a, change) for a in rex.call.args), rex.call.distinct
                )
                order = tuple(SortKey(transform(k.rex, change), k.descending, k.nulls_first) for k in rex.order)
                return Over(rex.type, call, tuple(transform(p, change) for p in rex.partition), order, rex.frame)
            if isinstance(rex, Ref) and rex.id in inputs and rex.id not in made:
                raise SemanticError(
                    f"column '{rex.id}' is neither in GROUP BY nor inside an aggregate function",
                    span=self._span_of_name(rex.id),
                    hint="add it to GROUP BY, or take min(…) or max(…) of it",
                )
            return None

        return lambda rex: transform(rex, change)

    def _key_column(self, rex: Rex) -> PlanColumn:
        name = rex.op if isinstance(rex, Call) else rex.id if isinstance(rex, Ref) else "_key"
        return self.b.new_column(name if name.replace("_", "a").isalnum() else "_key", rex.type)

    def _grouping_bit(self, rex: Call, keys: list[Rex]) -> Rex:
        """grouping(a, b, …): 1 for each that is not a key of the row's set, the first in the highest bit."""
        if self.b.grouping_id is None or not rex.args or any(a not in keys for a in rex.args):
            raise SemanticError("grouping() takes a column of GROUP BY … ROLLUP, CUBE or GROUPING SETS")
        found: Rex | None = None
        for arg in rex.args:
            shift = Literal(t.INT, len(keys) - 1 - keys.index(arg))
            bit = Call(t.INT, "grouping_bit", (self.b.grouping_id.ref, shift))
            found = bit if found is None else Call(t.INT, "+", (Call(t.INT, "*", (found, Literal(t.INT, 2))), bit))
        assert found is not None
        return found

    def _span_of_name(self, name: str) -> Span | None:
        for column in self.e.find_all(exp.Column):
            if column.name.lower() == name:
                return self.b.span(column)
        return self.b.span(self.e)


_GROUPING_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def _grouping_clauses(group: exp.Group) -> list[tuple[exp.Expr, bool]]:
    """ROLLUP, CUBE and GROUPING SETS; True for the standard's form, which stands among the keys: GROUP BY a, CUBE(b, c)."""
    behind = [(clause, False) for kind in ("rollup", "cube", "grouping_sets") for clause in group.args.get(kind) or ()]
    return behind + [(e, True) for e in group.expressions if isinstance(e, _GROUPING_SETS)]


def _has_own_aggregate(rex: Rex) -> bool:
    found: list[Agg] = []
    _collect_aggregates(rex, found)
    return bool(found)


def _collect_aggregates(rex: Rex, into: list[Agg]) -> None:
    """Aggregates of this block: not those that are a window's own function, nor those of subqueries."""
    if isinstance(rex, Agg):
        if rex not in into:
            into.append(rex)
        return
    if isinstance(rex, Over):
        parts = [
            *(rex.call.args if isinstance(rex.call, Agg | Call) else ()),
            *rex.partition,
            *(k.rex for k in rex.order),
        ]
    else:
        parts = list(rex.args) if isinstance(rex, Call | Subquery) else []
    for part in parts:
        _collect_aggregates(part, into)
