"""Builds relational nodes from SELECT: resolves names and types, and gives every column a unique id. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.table import LOOSE_FILES, Table
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError, Span, TableNotFound, UnsupportedError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.checks import span_of_expression
from hivedruid.parser.loose_files import stem
from hivedruid.plan import literals, nodes, operands
from hivedruid.plan.accepted import reject_unsupported_arguments
from hivedruid.plan.common_types import common_type
from hivedruid.plan.convert import Converter
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.rex import Agg, Call, Literal, Over, Rex, SortKey, Subquery, has, refs
from hivedruid.plan.scope import Relation, Scope
from hivedruid.plan.select import SelectBlock
from hivedruid.plan.virtual_columns import named_in, of_table
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from hivedruid.plan.facts import PlannerFacts

MAX_VIEW_DEPTH = 32
MAX_ROWS = (1 << 31) - 1
"""The maximum of LIMIT and OFFSET, which are ints in Hive and Spark."""
MAX_COPIES = 16
"""How often a CTE may contain another one before its references share one plan."""


@dataclass
class Cte:
    """A CTE in scope, and the CTEs that its query sees.

    Each reference builds a plan of its own, because conditions move from the reference into the plan. CTEs that refer
    to each other several times would make such a plan exponential, so a large one is built once (`CteScan`).
    """

    expression: exp.CTE
    visible: dict[str, Cte]
    copies: Counter[int] = field(default_factory=Counter)
    """How often the plan contains the query of each CTE, by the identity of its expression; set with the first plan."""
    plan: Node | None = None
    """The plan that all references share."""


@dataclass
class View:
    """A view that a statement reads. `query` is parsed once, `plan` as in `Cte`."""

    query: exp.Expr
    plan: Node | None = None


class Builder:
    """Builds the plan of one statement, or of a view that the statement of `outer` reads; ids are unique within it."""

    def __init__(
        self,
        source: SourceStatement,
        snapshot: PlannerFacts,
        note: Callable[[str, Span | None], None] | None = None,
        ids: dict[str, int] | None = None,
        outer: Builder | None = None,
    ) -> None:
        self.source = source
        self.snapshot: PlannerFacts = snapshot
        self.zone = snapshot.zone
        self.note = note or (lambda _message, _span: None)
        self.ids = ids if ids is not None else {}
        self.depth: int = outer.depth + 1 if outer is not None else 0
        self.statement: Builder = outer.statement if outer is not None else self
        self.views: dict[str, View] = {}
        """Of the statement, by full name."""
        self.view_references: Counter[str] | None = None
        """How often the statement and its views contain each name of a view."""
        self.root: exp.Expr | None = None
        self.ctes: dict[str, Cte] = {}
        self.copies: Counter[int] = Counter()
        """How often the plan of the current CTE or view contains the query of each CTE and view."""
        self.references: Counter[str] | None = None
        """How often the statement contains each name of a table or CTE."""
        self.has_cte_scans = False
        self.folds_later = False
        """Whether an expression is to be folded when the plan is complete (`Converter.fold`)."""
        self.grouping_id: PlanColumn | None = None

    # --- names -------------------------------------------------------------------------------------------------

    def span(self, e: exp.Expr) -> Span | None:
        """The position of an expression: that of its first part with a position from sqlglot."""
        return span_of_expression(self.source, e)

    def note_cut(self, constant: Literal, span: Span | None) -> None:
        """Note that digits of a timestamp literal are truncated."""
        if isinstance(constant.value, str) and literals.is_cut(constant.value):
            self.note(f"'{constant.value}' is truncated to microseconds: timestamps have six fractional digits", span)

    def new_column(self, name: str, type_: HiveType) -> PlanColumn:
        """A column with a unique id derived from its name."""
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

    def whole(self, e: exp.Expr) -> Node:
        """A complete query: every clause must be supported."""
        reject_unsupported_arguments(e, self.span)
        self.root = e
        return self.complete(e)

    def complete(self, e: exp.Expr) -> Node:
        """A query that is not part of another, with all its expressions folded."""
        node = self.query(e, None)
        if not self.folds_later:
            return node
        from hivedruid.plan.folded import fold_plan

        return fold_plan(node, self.zone)

    def query(self, e: exp.Expr, outer: Scope | None) -> Node:
        """A select, set operation, VALUES or parenthesised query."""
        saved = self.ctes
        with_ = e.args.get("with_")
        if with_ is not None:
            self.ctes = dict(saved)
            for cte in with_.expressions:
                self.ctes[cte.alias.lower()] = Cte(cte, dict(self.ctes))
        try:
            if isinstance(e, exp.Select):
                return SelectBlock(self, e, outer).build()
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
                f"the two sides of {e.key.upper()} have different numbers of columns: {len(left.columns)} and"
                f" {len(right.columns)}",
                span=self.span(e.right),
            )
        types = [common_type([a.type, b.type]) for a, b in zip(left.columns, right.columns, strict=True)]
        for place, (a, b, type_) in enumerate(zip(left.columns, right.columns, types, strict=True), 1):
            if type_ is t.UNKNOWN and a.type.is_known and b.type.is_known:
                raise SemanticError(
                    f"column {place} of {e.key.upper()} has incompatible types: {a.type} and {b.type}",
                    span=self.span(e.right),
                    hint="CAST one of them to the type of the other",
                )
        branches: tuple[Node, ...] = (self._aligned(left, types), self._aligned(right, types))
        columns = tuple(self.new_column(c.name, type_) for c, type_ in zip(left.columns, types, strict=True))
        kind = "union" if isinstance(e, exp.Union) else "intersect" if isinstance(e, exp.Intersect) else "except"
        every = not e.args.get("distinct")
        node = nodes.SetOp(columns, kind, every, branches).merged()  # type: ignore[arg-type]
        return self._order_limit_only(node, e, outer)

    def _aligned(self, node: Node, types: list[HiveType]) -> Node:
        """The node with its columns cast to the given types."""
        if all(c.type == type_ or type_ is t.UNKNOWN for c, type_ in zip(node.columns, types, strict=True)):
            return node
        converter = Converter(self, Scope([]))
        exprs = tuple(converter.cast(c.ref, type_) for c, type_ in zip(node.columns, types, strict=True))
        columns = tuple(self.new_column(c.name, type_) for c, type_ in zip(node.columns, types, strict=True))
        return nodes.Project(columns, node, exprs)

    def _order_limit_only(self, node: Node, e: exp.Expr, outer: Scope | None) -> Node:
        """ORDER BY and LIMIT after a set operation or parentheses: over output columns only."""
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
        kept = tuple(key for key in keys if not isinstance(key.rex, Literal))
        if not any(has(key.rex, Subquery) for key in kept):
            return self.limited(node, kept, e)
        named, kept = self._named_keys(node, kept)
        rows = self.limited(named, kept, e)
        return nodes.Project(node.columns, rows, tuple(c.ref for c in node.columns))

    def _named_keys(self, node: Node, keys: tuple[SortKey, ...]) -> tuple[Node, tuple[SortKey, ...]]:
        """The node with a column for each key, and the keys by these columns: Spark sorts by IN (SELECT …) only so."""
        from hivedruid.plan.quantified import exact_in_value

        columns = tuple(self.new_column("_key", key.rex.type) for key in keys)
        values = tuple(exact_in_value(key.rex, self.new_column) for key in keys)
        named = nodes.Project((*node.columns, *columns), node, (*(c.ref for c in node.columns), *values))
        return named, tuple(replace(key, rex=column.ref) for key, column in zip(keys, columns, strict=True))

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
            raise SemanticError(
                f"{clause.key.upper()} {value.name} exceeds the maximum of {MAX_ROWS}", span=self.span(clause)
            )
        raise SemanticError(f"{clause.key.upper()} must be an integer", span=self.span(clause))

    def position(self, e: exp.Expr, columns: tuple[PlanColumn, ...]) -> int | None:
        """The column to which an integer in ORDER BY refers (hive.orderby.position.alias), None for other
        expressions."""
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
        if any(has(value, Subquery, Agg, Over) for row in rows for value in row):
            raise UnsupportedError(
                "a subquery, an aggregate or a window function in VALUES is not supported",
                span=self.span(e),
                hint="use SELECT … UNION ALL SELECT …",
            )
        types = [
            converter.common([row[i] for row in rows], f"the values of column {i + 1}") for i in range(len(rows[0]))
        ]
        names = [c.name for c in e.args["alias"].columns] if e.args.get("alias") else []
        names = names or [f"col{i + 1}" for i in range(len(types))]
        columns = tuple(self.new_column(name, type_) for name, type_ in zip(names, types, strict=True))
        typed = tuple(tuple(converter.branch(v, type_) for v, type_ in zip(row, types, strict=True)) for row in rows)
        return nodes.Values(columns, typed)

    # --- FROM --------------------------------------------------------------------------------------------------

    def relation(self, e: exp.Expr, outer: Scope | None) -> tuple[Node, Relation]:
        """One item of FROM."""
        node, relation = self._relation(e, outer)
        sample = e.args.get("sample")
        if sample is not None:
            from hivedruid.plan.sampling import sampled

            node = sampled(node, sample, Converter(self, Scope([relation])), self.span(e))
        return node, relation

    def _relation(self, e: exp.Expr, outer: Scope | None) -> tuple[Node, Relation]:
        if isinstance(e, exp.Table):
            return self._table(e)
        if isinstance(e, exp.Subquery):
            if isinstance(e.this, exp.Table):
                node, inner = self.relation(e.this, outer)
                return node, self._named(inner.columns, e)
            node = self.query(e.this, outer)
            return node, self._named(node.columns, e)
        if isinstance(e, exp.Values):
            node = self._values(e)
            return node, Relation(e.alias.lower() or None, node.columns)
        raise UnsupportedError(f"cannot read from {e.sql('hive')[:60]}", span=self.span(e))

    def _named(self, columns: tuple[PlanColumn, ...], e: exp.Expr) -> Relation:
        names = [c.name.lower() for c in e.args["alias"].columns] if e.args.get("alias") else []
        if names and len(names) != len(columns):
            raise SemanticError(f"{len(names)} column names for {len(columns)} columns", span=self.span(e))
        named = zip(columns, names or [c.name for c in columns], strict=True)
        return Relation(e.alias.lower() or None, tuple(PlanColumn(c.id, n, c.type) for c, n in named))

    def _table(self, e: exp.Table) -> tuple[Node, Relation]:
        if e.db == LOOSE_FILES:
            return self._loose_file(e)
        name, database = e.name.lower(), (e.db or "").lower() or None
        alias = (e.alias or e.name).lower()
        version = e.args.get("version")
        if database is None and name in self.ctes:
            if version is not None:
                raise SemanticError(
                    f"Time travel is not allowed for the CTE {name}", span=self.span(version.expression)
                )
            node = self._cte(name, self.ctes[name])
            return node, Relation(alias, self._named(node.columns, self.ctes[name].expression).columns)
        table = self.snapshot.table(database, name)
        if table is None:
            shown = name if database is None else f"{database}.{name}"
            database = database or self.snapshot.database
            raise TableNotFound(f"Table not found {shown}", database=database, name=name, span=self.span(e.this))
        table.check_readable(self.span(e.this))
        if version is not None:
            from hivedruid.plan.time_travel import at_snapshot

            table = at_snapshot(table, version, self)
        node = self._view(table, e) if table.is_view else self._scan(table)
        columns, hidden = node.columns[: len(table.columns)], node.columns[len(table.columns) :]
        if e.args.get("alias") and e.args["alias"].columns:
            columns = self._named(columns, e).columns
        database, read = None if e.alias else table.database, None if table.is_view else table
        return node, Relation(alias, columns, database, read, hidden)

    def _loose_file(self, e: exp.Table) -> tuple[Node, Relation]:
        """A file without a table; its alias is its name without folder and ending."""
        table = self.snapshot.tables[LOOSE_FILES, e.name]
        table.check_readable(self.span(e.this))
        if (version := e.args.get("version")) is not None:
            from hivedruid.plan.time_travel import at_snapshot

            table = at_snapshot(table, version, self)
        node = self._scan(table)
        columns, hidden = node.columns[: len(table.columns)], node.columns[len(table.columns) :]
        if e.args.get("alias") and e.args["alias"].columns:
            columns = self._named(columns, e).columns
        return node, Relation((e.alias or stem(e.name)).lower(), columns, None, table, hidden)

    def _cte(self, name: str, cte: Cte) -> Node:
        if cte.plan is not None:
            return self._shared(name, cte.plan)
        saved = self.ctes, self.copies
        self.ctes, self.copies = cte.visible, Counter({id(cte.expression): 1})
        try:
            plan = self.query(cte.expression.this, None)
            cte.copies = self.copies
        finally:
            self.ctes, self.copies = saved
        if max(cte.copies.values()) > MAX_COPIES and self._references(cte) > 1:
            cte.plan = plan
            return self._shared(name, plan)
        self.copies.update(cte.copies)
        return plan

    def _shared(self, name: str, plan: Node, *, is_view: bool = False) -> Node:
        self.statement.has_cte_scans = True
        return nodes.CteScan(tuple(self.new_column(c.name, c.type) for c in plan.columns), name, plan, is_view)

    def _references(self, cte: Cte) -> int:
        """How often the statement contains the name of the CTE, which may also be that of another table."""
        if self.references is None:
            tables = cte.expression.root().find_all(exp.Table)
            self.references = Counter(table.name.lower() for table in tables if not table.db)
        return self.references[cte.expression.alias.lower()]

    def _scan(self, table: Table) -> Node:
        if table.is_tiered:
            from hivedruid.plan.tiers import tiered_scan

            return tiered_scan(table, self)
        if table.has_data_source:
            from hivedruid.plan.computed_columns import scan_with_computed

            if (computed := scan_with_computed(table, self)) is not None:
                return computed
        scan = self.table_scan(table)
        if self.root is None or not (virtual := of_table(table, self._virtual)):
            return scan
        return replace(scan, columns=(*scan.columns, *(self.new_column(name, type_) for name, type_ in virtual)))

    @cached_property
    def _virtual(self) -> tuple[str, ...]:
        """The virtual columns that the statement, or the view, names."""
        return named_in(self.root) if self.root is not None else ()

    def table_scan(self, table: Table) -> nodes.TableScan:
        """All columns of a table; of a tiered one only the rows that are in Druid."""
        return nodes.TableScan(tuple(self.new_column(c.name, c.type) for c in table.columns), table)

    def _view(self, table: Table, e: exp.Expr) -> Node:
        if self.depth >= MAX_VIEW_DEPTH:
            raise SemanticError(f"view {table.full_name} refers to itself", span=self.span(e))
        view = self._parsed(table)
        if view.plan is not None:
            return self._shared(table.full_name, view.plan, is_view=True)
        builder = Builder(self._source(table), self.snapshot.within(table.database), self.note, self.ids, self)
        builder.copies = Counter({id(view.query): 1})
        node = builder.whole(view.query)
        columns = tuple(PlanColumn(c.id, v.name, c.type) for c, v in zip(node.columns, table.columns, strict=True))
        if len({c.id for c in columns}) == len(columns):
            node = nodes.Project(columns, node, tuple(c.ref for c in node.columns))
        if max(builder.copies.values()) > MAX_COPIES and self._references_to_view(table) > 1:
            view.plan = node
            return self._shared(table.full_name, node, is_view=True)
        self.copies.update(builder.copies)
        return node

    def _parsed(self, table: Table) -> View:
        from hivedruid.parser import parse

        views = self.statement.views
        if table.full_name not in views:
            views[table.full_name] = View(parse(self._source(table)).expression)  # type: ignore[attr-defined]
        return views[table.full_name]

    def _source(self, view: Table) -> SourceStatement:
        return SourceStatement(view.view_text or "", file=f"view {view.full_name}", nulls_last=self.source.nulls_last)

    def _references_to_view(self, view: Table) -> int:
        """How often the statement and the views that it reads contain the name of the view."""
        statement = self.statement
        if statement.view_references is None:
            found = statement.view_references = Counter[str]()
            pending = [(statement.root, statement.snapshot)] if statement.root is not None else []
            while pending:
                query, facts = pending.pop()
                for e in query.find_all(exp.Table):
                    table = facts.table(e.db or None, e.name)
                    if table is not None and table.is_view:
                        if table.full_name not in found:
                            pending.append((self._parsed(table).query, facts.within(table.database)))
                        found[table.full_name] += 1
        return statement.view_references[view.full_name]

    # --- subqueries in expressions -----------------------------------------------------------------------------

    def scalar_subquery(self, e: exp.Expr, scope: Scope) -> Rex:
        plan = self.query(e.this if isinstance(e, exp.Subquery) else e, scope)
        if len(plan.columns) != 1:
            raise SemanticError(f"a scalar subquery must return one column, not {len(plan.columns)}", span=self.span(e))
        return Subquery(plan.columns[0].type, "scalar", plan)

    def exists_subquery(self, e: exp.Expr, scope: Scope) -> Rex:
        return Subquery(t.BOOLEAN, "exists", self.query(e, scope))

    def in_subquery(self, values: tuple[Rex, ...], e: exp.Expr, scope: Scope) -> Rex:
        plan, values = self.compared_subquery(values, e, scope)
        return Subquery(t.BOOLEAN, "in", plan, values)

    def compared_subquery(self, values: tuple[Rex, ...], e: exp.Expr, scope: Scope) -> tuple[Node, tuple[Rex, ...]]:
        """A subquery and the values compared with its columns, both cast to their comparison types."""
        plan = self.query(e.this if isinstance(e, exp.Subquery) else e, scope)
        if len(plan.columns) != len(values):
            raise SemanticError(f"IN compares {len(values)} values with {len(plan.columns)} columns", span=self.span(e))
        converter = Converter(self, scope)
        casts = []
        for value, column in zip(values, plan.columns, strict=True):
            compared = converter.compare("=", value, column.ref, e)
            if operands.has_map(column.type) or operands.has_map(value.type):
                raise UnsupportedError(
                    "a subquery that returns maps is not supported here", hint="compare the keys or values of the maps"
                )
            a, b = compared.args if isinstance(compared, Call) and len(compared.args) == 2 else (value, column.ref)
            casts.append((a, b) if column.id in refs(b) else (b, a))  # constants are on the right of a comparison
        if any(b != c.ref for (_, b), c in zip(casts, plan.columns, strict=True)):
            columns = tuple(self.new_column(c.name, b.type) for (_, b), c in zip(casts, plan.columns, strict=True))
            plan = nodes.Project(columns, plan, tuple(b for _, b in casts))
        return plan, tuple(a for a, _ in casts)
