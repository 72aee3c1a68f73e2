"""Relational nodes as Spark SQL: the part of a plan outside Druid, and (without pushdown) the reference of the
tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hivedruid.catalog.types import BOOLEAN
from hivedruid.errors import PlanError, UnsupportedError
from hivedruid.plan import nodes
from hivedruid.plan.ctes import with_ctes
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.rex import Agg, Literal, Ref, Rex, SortKey, Subquery, both, has, refs, walk
from hivedruid.plan.spark_rex import SparkRex
from hivedruid.plan.spark_text import quote_identifier

_MOST_ROWS = (1 << 31) - 1
"""Spark's largest sum of LIMIT and OFFSET."""

Leaf = Callable[[Node], str | None]
"""The view for a leaf (its columns named by their ids), or None if the node is not a leaf."""


def to_spark_sql(node: Node, zone: str, leaf: Leaf, names: tuple[str, ...] | None = None) -> str:
    """The node as one SELECT whose output columns, in order, are named by their ids, or by `names`."""
    writer = _Writer(zone, leaf)
    writer.rex.of_partitions = _reads_partitions(node)
    text = writer.query(node)
    if writer.ctes:
        text = f"WITH {', '.join(writer.ctes.values())} {text}"
    if names is None or names == tuple(c.id for c in node.columns):
        return text
    renamed = ", ".join(
        f"{quote_identifier(c.id)} AS {quote_identifier(n)}" for c, n in zip(node.columns, names, strict=True)
    )
    return f"SELECT {renamed} FROM ({text})"


def expressions_sql(expressions: Sequence[Rex], rex: SparkRex, leaf: Leaf, names: Mapping[str, str]) -> list[str]:
    """Expressions of a statement that is not a query, whose columns have these names; `rex` has its zone and options.
    Their subqueries contain no CTEs but those below leaves."""
    writer = _Writer(rex.zone, leaf)
    writer.rex.of_partitions, writer.rex.outer = rex.of_partitions, names
    texts = [writer.rex.sql(each, names) for each in expressions]
    assert not writer.ctes
    return texts


def _reads_partitions(node: Node) -> bool:
    """Whether it reads a table with partitions, also in subqueries."""
    for plan in with_ctes(node):
        for each in plan.walk():
            if isinstance(each, nodes.TableScan) and each.table.partition_spec:
                return True
            parts = (part for rex in each.expressions() for part in walk(rex))
            if any(isinstance(part, Subquery) and _reads_partitions(part.plan) for part in parts):
                return True
    return False


@dataclass
class _Block:
    """One SELECT being written; clauses are filled from top to bottom, and a clause out of order wraps it in a
    subquery."""

    from_: str
    columns: tuple[PlanColumn, ...]
    where: list[str] = field(default_factory=list)
    group: str | None = None
    has_grouping_sets: bool = False
    having: list[str] = field(default_factory=list)
    exprs: dict[str, str] = field(default_factory=dict)
    projected: bool = False
    order: list[SortKey] = field(default_factory=list)
    limit: str = ""

    def text(self, rex: SparkRex) -> str:
        items = []
        for column in self.columns:
            name = quote_identifier(column.id)
            expr = self.exprs.get(column.id, name)
            items.append(name if expr == name else f"{expr} AS {name}")
        clauses = [f"SELECT {', '.join(items) or '1'}"]
        if self.from_:
            clauses.append(f"FROM {self.from_}")
        if self.where:
            clauses.append(f"WHERE {' AND '.join(self.where)}")
        if self.group is not None:
            clauses.append(f"GROUP BY {self.group}") if self.group else None
        if self.having:
            clauses.append(f"HAVING {' AND '.join(self.having)}")
        if self.order:
            # an output column by its name, which also works for window functions and aggregates
            selected = {c.id: quote_identifier(c.id) for c in self.columns}
            rex.names = {**self.exprs, **selected}
            clauses.append(f"ORDER BY {', '.join(rex.sort_key(k) for k in self.order)}")
        return " ".join([*clauses, *([self.limit] if self.limit else [])])


def _has_output_only(block: _Block) -> bool:
    """Whether an expression is one that Spark accepts in SELECT and not in ORDER BY."""
    text = "".join(block.exprs.values())
    return any(part in text for part in (" OVER (", " IN (SELECT ", "EXISTS (SELECT "))


class _Writer:
    def __init__(self, zone: str, leaf: Leaf) -> None:
        self.leaf = leaf
        self.rex = SparkRex(zone, self._subquery)
        self.outside: list[set[str]] = []
        """The columns of the outer queries that the current subqueries read."""
        self.ctes: dict[str, str] = {}
        """The definitions of shared CTEs, in the order of WITH, by name."""
        self._names: dict[int, str] = {}

    def query(self, node: Node) -> str:
        return self._block(node).text(self.rex)

    def _subquery(self, rex: Subquery) -> str:
        """Spark resolves an outer column only in the query directly around a subquery, and only in its conditions."""
        outer = rex.plan.outer_refs()
        if any(outer & other for other in self.outside):
            raise UnsupportedError(
                "a nested subquery is correlated with the outermost query", hint="use a join instead"
            )
        calls = [e for n in rex.plan.walk() if isinstance(n, nodes.Aggregate) for e in n.expressions()]
        if any(outer & refs(call) for call in calls):
            raise UnsupportedError(
                "a subquery groups or aggregates a column of an outer query", hint="use a join instead"
            )
        self.outside.append(outer)
        try:
            return self.query(rex.plan)
        finally:
            self.outside.pop()

    def _derived(self, node: Node) -> str:
        view = self.leaf(node)
        if view is None:
            return f"({self.query(node)})"
        if not isinstance(node, nodes.TableScan) or all(c.id == c.name for c in node.columns):
            return quote_identifier(view)
        columns = ", ".join(f"{quote_identifier(c.name)} AS {quote_identifier(c.id)}" for c in node.columns)
        return f"(SELECT {columns} FROM {quote_identifier(view)})"

    def _from(self, node: Node) -> _Block:
        return _Block(self._derived(node), node.columns)

    def _block(self, node: Node) -> _Block:
        if self.leaf(node) is not None:
            return self._from(node)
        writer = _WRITERS.get(type(node))
        if writer is None:
            raise PlanError(f"no Spark SQL for {type(node).__name__}")
        return writer(self, node)

    def _sql(self, rex: Rex, block: _Block) -> str:
        return self.rex.sql(rex, block.exprs)

    def _filter(self, node: nodes.Filter) -> _Block:
        block = self._block(node.input)
        late = block.projected or block.limit or block.order
        # HAVING cannot contain a subquery, and over grouping sets Spark does not always resolve the keys in it
        if late or (block.group is not None and (block.has_grouping_sets or has(node.condition, Subquery))):
            block = self._from(node.input)
        target = block.where if block.group is None else block.having
        target.append(self._sql(node.condition, block))
        return block

    def _project(self, node: nodes.Project) -> _Block:
        block = self._block(node.input)
        same = all(isinstance(e, Ref) and e.id == c.id for e, c in zip(node.exprs, node.columns, strict=True))
        if block.order and same and not block.has_grouping_sets and not _has_output_only(block):
            block.columns = node.columns  # ORDER BY may use columns that are not in the output
            return block
        if (
            block.projected
            or block.limit
            or block.order
            or (block.group is not None and any(has(e, Subquery) for e in node.exprs))
            # without its aggregates a grand total would be one row for each input row
            or (block.group == "" and not any(refs(e) for e in node.exprs))
        ):
            block = self._from(node.input)
        exprs = {c.id: self._sql(e, block) for c, e in zip(node.columns, node.exprs, strict=True)}
        block.columns, block.exprs, block.projected = node.columns, exprs, True
        return block

    def _aggregate(self, node: nodes.Aggregate) -> _Block:
        block = self._block(node.input)
        if block.projected or block.limit or block.order or block.group is not None:
            block = self._from(node.input)
        if node.has_total:
            return self._with_total(node)
        if any(not isinstance(k, Ref) for k in node.keys) and (
            node.grouping_sets is not None or any(isinstance(k, Literal) for k in node.keys)
        ):
            block = self._from_keys(node)
            keys = [quote_identifier(f"_k{i}") for i in range(len(node.keys))]
        else:
            keys = [self._sql(k, block) for k in node.keys]
        return self._grouped(block, node, keys, node.calls)

    def _grouped(self, block: _Block, node: nodes.Aggregate, keys: list[str], calls: tuple[Agg, ...]) -> _Block:
        values = [
            *keys,
            *(self._sql(c, block) for c in calls),
            *(["grouping_id()"] if len(node.columns) > len(keys) + len(calls) else []),
        ]
        block.exprs = {c.id: v for c, v in zip(node.columns, values, strict=True)}
        block.columns = node.columns
        block.group = ", ".join(keys)
        if node.grouping_sets is not None:
            sets = ", ".join("(" + ", ".join(keys[i] for i in s) + ")" for s in node.grouping_sets)
            block.group += f" GROUPING SETS ({sets})"
            block.has_grouping_sets = True
        return block

    def _with_total(self, node: nodes.Aggregate) -> _Block:
        """Grouping sets with the empty one, which has a row even over no rows. Spark omits that row, so a row that no
        aggregate reads is added to the input, and its rows in the other sets are removed.
        """
        inner = self._from(node.input)
        names = [quote_identifier(f"_k{i}") for i in range(len(node.keys))]
        keys = [f"{self._sql(k, inner)} AS {name}" for k, name in zip(node.keys, names, strict=True)]
        items = [*(quote_identifier(c.id) for c in node.input.columns), *keys]
        nulls = ["NULL"] * len(items)
        rows = f"SELECT {', '.join([*items, 'TRUE AS `_row`'])} FROM {inner.from_}"
        block = _Block(f"({rows} UNION ALL SELECT {', '.join([*nulls, 'FALSE'])})", node.input.columns)
        is_row = Ref(BOOLEAN, "_row")
        calls = tuple(replace(c, condition=both(c.condition, is_row)) for c in node.calls)
        block = self._grouped(block, node, names, calls)
        block.having.append(f"(count_if(`_row`) > 0 OR grouping_id() = {(1 << len(names)) - 1})")
        return block

    def _from_keys(self, node: nodes.Aggregate) -> _Block:
        """The input with the key expressions as columns: GROUPING SETS and constants can only group by names."""
        inner = self._from(node.input)
        keys = [f"{self._sql(k, inner)} AS {quote_identifier(f'_k{i}')}" for i, k in enumerate(node.keys)]
        return _Block(f"(SELECT *, {', '.join(keys)} FROM {inner.from_})", node.input.columns)

    def _sort(self, node: nodes.Sort) -> _Block:
        block = self._block(node.input)
        # after HAVING, Spark's ORDER BY resolves only output columns
        if block.order or block.limit or block.having:
            block = self._from(node.input)
        block.order += node.keys
        if node.fetch is not None:
            block.limit = f"LIMIT {min(node.fetch, _MOST_ROWS - node.offset)}"
        if node.offset:
            block.limit += f"{' ' if block.limit else ''}OFFSET {node.offset}"
        return block

    def _join(self, node: nodes.Join) -> _Block:
        left, right = self._derived(node.left), self._derived(node.right)
        block = _Block("", node.columns)
        on = f" ON {self._sql(node.condition, block)}" if node.condition is not None else ""
        block.from_ = f"{left} {_JOINS[node.kind]} {right}{on}"
        return block

    def _set_op(self, node: nodes.SetOp) -> _Block:
        word = f" {node.kind.upper()}{' ALL' if node.all else ''} "
        branches = []
        for branch in node.branches:
            exprs = ", ".join(
                f"{quote_identifier(b.id)} AS {quote_identifier(c.id)}"
                for b, c in zip(branch.columns, node.columns, strict=True)
            )
            branches.append(f"(SELECT {exprs} FROM {self._derived(branch)})")
        return _Block(f"({word.join(branches)})", node.columns)

    def _values(self, node: nodes.Values) -> _Block:
        if not node.columns:
            return _Block("", ())
        if not node.rows:
            nulls = [self.rex.sql(Literal(c.type, None), {}) for c in node.columns]
            items = ", ".join(f"{n} AS {quote_identifier(c.id)}" for n, c in zip(nulls, node.columns, strict=True))
            return _Block(f"(SELECT {items} WHERE FALSE)", node.columns)
        names = ", ".join(quote_identifier(c.id) for c in node.columns)
        if not all(value.is_deterministic for row in node.rows for value in row):  # Spark's VALUES are constants
            selects = " UNION ALL ".join(f"SELECT {', '.join(self.rex.sql(v, {}) for v in row)}" for row in node.rows)
            return _Block(f"({selects}) AS _v ({names})", node.columns)
        rows = ", ".join("(" + ", ".join(self.rex.sql(v, {}) for v in row) + ")" for row in node.rows)
        return _Block(f"VALUES {rows} AS _v ({names})", node.columns)

    def _lateral_view(self, node: nodes.LateralView) -> _Block:
        block = self._from(node.input)
        names = ", ".join(quote_identifier(c.id) for c in node.generated)
        generator = self._sql(node.generator, block)
        outer = "OUTER " if node.outer else ""
        return _Block(f"{block.from_} LATERAL VIEW {outer}{generator} _l AS {names}", node.columns)

    def _cte_scan(self, node: nodes.CteScan) -> _Block:
        if id(node.plan) not in self._names:
            text = self.query(node.plan)
            name = self._names[id(node.plan)] = quote_identifier(f"cte_{len(self.ctes)}")
            self.ctes[name] = f"{name} AS ({text})"
        pairs = zip(node.plan.columns, node.columns, strict=True)
        exprs = ", ".join(f"{quote_identifier(a.id)} AS {quote_identifier(b.id)}" for a, b in pairs)
        return _Block(f"(SELECT {exprs} FROM {self._names[id(node.plan)]})", node.columns)

    def _scan(self, node: nodes.TableScan) -> _Block:
        raise PlanError(f"table {node.table.full_name} has no view")


_JOINS = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "cross": "CROSS JOIN",
    "semi": "LEFT SEMI JOIN",
    "anti": "LEFT ANTI JOIN",
}
_WRITERS: dict[type[Node], Callable[[_Writer, object], _Block]] = {
    nodes.Filter: _Writer._filter,  # type: ignore[dict-item]
    nodes.Project: _Writer._project,  # type: ignore[dict-item]
    nodes.Aggregate: _Writer._aggregate,  # type: ignore[dict-item]
    nodes.Sort: _Writer._sort,  # type: ignore[dict-item]
    nodes.Join: _Writer._join,  # type: ignore[dict-item]
    nodes.SetOp: _Writer._set_op,  # type: ignore[dict-item]
    nodes.Values: _Writer._values,  # type: ignore[dict-item]
    nodes.LateralView: _Writer._lateral_view,  # type: ignore[dict-item]
    nodes.CteScan: _Writer._cte_scan,  # type: ignore[dict-item]
    nodes.TableScan: _Writer._scan,  # type: ignore[dict-item]
}
