"""Relational nodes as Spark SQL: the part of a plan outside Druid, and (without pushdown) the reference of the
tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace

from hivedruid.catalog.types import BOOLEAN, spark_type
from hivedruid.errors import PlanError, UnsupportedError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import nodes
from hivedruid.plan.java_calls import has_times, is_java
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.rex import Agg, Literal, Ref, Rex, SortKey, Subquery, both, has, refs
from hivedruid.plan.spark_pruning import Pruning
from hivedruid.plan.spark_rex import SparkRex
from hivedruid.plan.spark_text import quote_identifier

_MOST_ROWS = (1 << 31) - 1
"""Spark's largest sum of LIMIT and OFFSET."""


@dataclass(frozen=True)
class View:
    """A Spark view. Its columns are those of a node, named by their ids, those of a table by their own names, and those
    of a CTE by the ids of its plan. `has_more`: it also has columns of the table that the node does not read."""

    name: str
    has_more: bool = False


Leaf = Callable[[Node], View | None]
"""The view for a leaf, or None if the node is not a leaf."""


def to_spark_sql(node: Node, zone: str, leaf: Leaf, names: tuple[str, ...] | None, pruning: Pruning) -> str:
    """The node as one SELECT whose output columns, in order, are named by their ids, or by `names`. `pruning`
    is that of the tables that it reads, by itself, in a subquery, or through a view."""
    writer = _Writer(zone, leaf, pruning)
    writer.uses_ids = any(has(rex, Subquery) for each in node.walk() for rex in each.expressions())
    wanted = names or tuple(c.id for c in node.columns)
    query = writer.query(node, wanted)
    text = query.text
    if wanted == tuple(query.names[c.id] for c in node.columns):
        return text
    renamed = ", ".join(
        f"{quote_identifier(query.names[c.id])} AS {quote_identifier(n)}"
        for c, n in zip(node.columns, wanted, strict=True)
    )
    return f"SELECT {renamed} FROM ({text})"


def expressions_sql(expressions: Sequence[Rex], rex: SparkRex, leaf: Leaf, names: Mapping[str, str]) -> list[str]:
    """Expressions of a statement that is not a query, whose columns have these names; `rex` has the time zone and the
    options."""
    writer = _Writer(rex.zone, leaf, rex.pruning)
    writer.uses_ids = True
    writer.rex.outer = names
    return [writer.rex.sql(each, names) for each in expressions]


@dataclass(frozen=True)
class _Query:
    """A query or a view, and the names of its columns by their ids."""

    text: str
    names: dict[str, str]


@dataclass
class _Block:
    """One SELECT being written; clauses are filled from top to bottom, and a clause out of order wraps it in a
    subquery."""

    from_: str
    columns: tuple[PlanColumn, ...]
    exprs: dict[str, str] = field(default_factory=dict)
    """The text of each column by its id, where it is not the quoted id."""
    sources: dict[str, str] = field(default_factory=dict)
    """The columns that FROM has: their texts, which qualify what is not unique, and names."""
    where: list[str] = field(default_factory=list)
    group: str | None = None
    has_grouping_sets: bool = False
    having: list[str] = field(default_factory=list)
    projected: bool = False
    has_values: bool = False
    """Whether `projected` means only scalar subqueries beside columns of FROM."""
    order: list[SortKey] = field(default_factory=list)
    limit: str = ""

    def query(self, rex: SparkRex, uses_ids: bool, wanted: Sequence[str] = ()) -> _Query:
        names = self._names(uses_ids, wanted)
        quoted = {id_: quote_identifier(name) for id_, name in names.items()}
        items = []
        for column in self.columns:
            name = names[column.id]
            expr = self.exprs.get(column.id, quote_identifier(column.id))
            items.append(expr if self.sources.get(expr) == name else _named(expr, name))
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
            rex.names = {**self.exprs, **quoted}
            clauses.append(f"ORDER BY {', '.join(rex.sort_key(k) for k in self.order)}")
        return _Query(" ".join([*clauses, *([self.limit] if self.limit else [])]), names)

    def _names(self, uses_ids: bool, wanted: Sequence[str]) -> dict[str, str]:
        """The names of the output. A column of FROM keeps its name; others do not have the name of a column of FROM,
        which ORDER BY or HAVING could mean. So two copies of one query have the same text, with which Spark runs what
        they share once: it compares plans, and a renamed column is a difference.
        """
        if uses_ids:
            return {column.id: column.id for column in self.columns}
        free = _FreeNames(self.sources.values())
        is_plain = self.group is None and not self.order
        names: dict[str, str] = {}
        for place, column in enumerate(self.columns):
            own = self.sources.get(self.exprs.get(column.id, quote_identifier(column.id)))
            if wanted and own != wanted[place] and free.take(wanted[place], shadows=is_plain):
                names[column.id] = wanted[place]
            elif own is not None and free.take(own, shadows=True):
                names[column.id] = own
            else:
                names[column.id] = free.new(column.name or column.id)
        return names


class _FreeNames:
    """The names that the output of a query may get; Spark ignores case."""

    def __init__(self, visible: Iterable[str]) -> None:
        self._visible = {name.lower() for name in visible}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def take(self, name: str, *, shadows: bool = False) -> bool:
        """Take a name, if it is not taken, and no column of FROM has it or may be shadowed."""
        low = name.lower()
        if low in self._taken or (low in self._visible and not shadows):
            return False
        self._taken.add(low)
        return True

    def new(self, base: str) -> str:
        """A name that nothing has."""
        name = base
        while not self.take(name):
            self._counts[base] = self._counts.get(base, 0) + 1
            name = f"{base}_{self._counts[base]}"
        return name


def _has_output_only(block: _Block) -> bool:
    """Whether an expression is one that Spark accepts in SELECT and not in ORDER BY."""
    text = "".join(block.exprs.values())
    return any(part in text for part in (" OVER (", "(SELECT "))


def _is_beside_value(join: nodes.Join) -> bool:
    return join.kind in ("cross", "inner") and len(join.right.columns) == 1 and _is_one_value(join.right)


def _is_one_value(node: Node) -> bool:
    """Whether it is the row of an aggregate without keys."""
    while isinstance(node, nodes.Project):
        node = node.input
    return isinstance(node, nodes.Aggregate) and not node.keys and node.grouping_sets is None


class _Writer:
    def __init__(self, zone: str, leaf: Leaf, pruning: Pruning) -> None:
        self.leaf = leaf
        self.rex = SparkRex(zone, self._subquery, pruning)
        self.outside: list[set[str]] = []
        """The columns of the outer queries that the current subqueries read."""
        self.uses_ids = False
        """Whether all columns have their ids as names, which are unique in the whole plan: a subquery may read columns
        of the queries around it."""

    def query(self, node: Node, wanted: Sequence[str] = ()) -> _Query:
        """The query of a node, if possible with the `wanted` names of its columns."""
        return self._block(node).query(self.rex, self.uses_ids, wanted)

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
            return self.query(rex.plan).text
        finally:
            self.outside.pop()

    def _derived(self, node: Node) -> _Query:
        view = self.leaf(node)
        if view is None or view.has_more:
            return self._in_brackets(self._block(node))
        return self._source(node, view)

    def _source(self, node: Node, view: View) -> _Query:
        """The view, or its columns under their ids where a subquery could take others for those of the queries around
        it."""
        names = [c.id for c in node.columns]
        if isinstance(node, nodes.TableScan):
            names = [c.name for c in node.columns]
        elif isinstance(node, nodes.CteScan):
            names = [c.id for c in node.plan.columns]
        source = _Query(quote_identifier(view.name), {c.id: n for c, n in zip(node.columns, names, strict=True)})
        if not self.uses_ids or (not view.has_more and all(id_ == name for id_, name in source.names.items())):
            return source
        return self._in_brackets(self._of(source.text, node.columns, source.names))

    def _in_brackets(self, block: _Block) -> _Query:
        query = block.query(self.rex, self.uses_ids)
        return _Query(f"({query.text})", query.names)

    def _from(self, node: Node) -> _Block:
        query = self._derived(node)
        return self._of(query.text, node.columns, query.names)

    def _block(self, node: Node) -> _Block:
        view = self.leaf(node)
        if view is not None:
            source = self._source(node, view)
            return self._of(source.text, node.columns, source.names)
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
        is_total = block.group == ""  # without its aggregates a grand total would be one row for each input row
        if block.order and same and not is_total and not block.has_grouping_sets and not _has_output_only(block):
            block.columns = node.columns  # ORDER BY may use columns that are not in the output
            return block
        if (
            block.projected
            or block.limit
            or block.order
            or (block.group is not None and any(has(e, Subquery) for e in node.exprs))
            or (is_total and not any(refs(e) for e in node.exprs))
        ):
            block = self._from(node.input)
        exprs = {c.id: self._sql(e, block) for c, e in zip(node.columns, node.exprs, strict=True)}
        block.columns, block.exprs, block.projected, block.has_values = node.columns, exprs, True, False
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
        items = [*(inner.exprs[c.id] for c in node.input.columns), *keys]
        nulls = ["NULL"] * len(items)
        rows = f"SELECT {', '.join([*items, 'TRUE AS `_row`'])} FROM {inner.from_}"
        both_rows = f"({rows} UNION ALL SELECT {', '.join([*nulls, 'FALSE'])})"
        block = _Block(both_rows, node.input.columns, inner.exprs, inner.sources)
        is_row = Ref(BOOLEAN, "_row")
        calls = tuple(replace(c, condition=both(c.condition, is_row)) for c in node.calls)
        block = self._grouped(block, node, names, calls)
        block.having.append(f"(count_if(`_row`) > 0 OR grouping_id() = {(1 << len(names)) - 1})")
        return block

    def _from_keys(self, node: nodes.Aggregate) -> _Block:
        """The input with the key expressions as columns: GROUPING SETS and constants can only group by names."""
        inner = self._from(node.input)
        keys = [f"{self._sql(k, inner)} AS {quote_identifier(f'_k{i}')}" for i, k in enumerate(node.keys)]
        return _Block(
            f"(SELECT *, {', '.join(keys)} FROM {inner.from_})", node.input.columns, inner.exprs, inner.sources
        )

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
        """A chain of joins in one FROM; the names of columns that several of its inputs have are qualified."""
        if _is_beside_value(node):
            return self._beside_value(node)
        chain = [node]
        while isinstance(chain[-1].left, nodes.Join) and not _is_beside_value(chain[-1].left):
            chain.append(chain[-1].left)
        chain.reverse()
        inputs = [self._derived(chain[0].left), *(self._derived(join.right) for join in chain)]
        aliases = ["_left", "_right"] if len(inputs) == 2 else [f"_input{place}" for place in range(len(inputs))]
        counts = Counter(name for query in inputs for name in {name.lower() for name in query.names.values()})
        is_unique = all(count == 1 for count in counts.values())
        block = _Block("", node.columns)
        parts: list[str] = []
        for place, (query, alias) in enumerate(zip(inputs, aliases, strict=True)):
            for id_, name in query.names.items():
                quoted = quote_identifier(name)
                text = quoted if counts[name.lower()] == 1 else f"{alias}.{quoted}"
                block.exprs[id_], block.sources[text] = text, name
            table = query.text if is_unique else f"{query.text} AS {alias}"
            if place == 0:
                parts.append(table)
                continue
            join = chain[place - 1]
            on = f" ON {self._sql(join.condition, block)}" if join.condition is not None else ""
            parts.append(f"{_JOINS[join.kind]} {table}{on}")
        block.from_ = " ".join(parts)
        return block

    def _beside_value(self, node: nodes.Join) -> _Block:
        """A join with one row as a scalar subquery: Spark computes such values at the same time, those of the same rows
        together and equal ones once, and pushes conditions on them into scans."""
        block = self._block(node.left)
        if block.limit or block.order or block.group is not None or (block.projected and not block.has_values):
            block = self._from(node.left)
        (column,) = node.right.columns
        block.exprs[column.id] = f"({self.query(node.right).text})"
        block.columns, block.projected, block.has_values = node.columns, True, True
        if node.condition is None:
            return block
        query = self._in_brackets(block)
        block = self._of(query.text, node.columns, query.names)
        block.where.append(self._sql(node.condition, block))
        return block

    def _set_op(self, node: nodes.SetOp) -> _Block:
        """The columns of the first branch name those of all."""
        word = f" {node.kind.upper()}{' ALL' if node.all else ''} "
        branches, names = [], self._new_names(node.columns)
        for place, branch in enumerate(node.branches):
            query = self._derived(branch)
            items = [quote_identifier(query.names[c.id]) for c in branch.columns]
            if place == 0:
                items = [_named(item, names[c.id]) for item, c in zip(items, node.columns, strict=True)]
            branches.append(f"(SELECT {', '.join(items)} FROM {query.text})")
        return self._of(f"({word.join(branches)})", node.columns, names)

    def _values(self, node: nodes.Values) -> _Block:
        if not node.columns:
            return _Block("", ())
        names = self._new_names(node.columns)
        quoted = [quote_identifier(names[c.id]) for c in node.columns]
        if not node.rows:
            nulls = [self.rex.sql(Literal(c.type, None), {}) for c in node.columns]
            items = ", ".join(f"{null} AS {name}" for null, name in zip(nulls, quoted, strict=True))
            return self._of(f"(SELECT {items} WHERE FALSE)", node.columns, names)
        if not all(value.is_deterministic for row in node.rows for value in row):  # Spark's VALUES are constants
            selects = " UNION ALL ".join(f"SELECT {', '.join(self.rex.sql(v, {}) for v in row)}" for row in node.rows)
            return self._of(f"({selects}) AS _v ({', '.join(quoted)})", node.columns, names)
        rows = ", ".join("(" + ", ".join(self.rex.sql(v, {}) for v in row) + ")" for row in node.rows)
        return self._of(f"VALUES {rows} AS _v ({', '.join(quoted)})", node.columns, names)

    def _lateral_view(self, node: nodes.LateralView) -> _Block:
        block = self._from(node.input)
        names = self._new_names(node.generated, block.sources.values())
        generated = self._of("", node.generated, names)
        generator = self._sql(node.generator, block)
        outer = "OUTER " if node.outer else ""
        text = f"{block.from_} LATERAL VIEW {outer}{generator} _l AS {', '.join(generated.sources)}"
        made = _Block(text, node.columns, block.exprs | generated.exprs, block.sources | generated.sources)
        if is_java(node.generator):
            times = [c for c in node.generated if has_times(c.type)]
            made.exprs |= {c.id: f"CAST({generated.exprs[c.id]} AS {spark_type(c.type)})" for c in times}
            made.projected = bool(times)
        return made

    def _new_names(self, columns: Sequence[PlanColumn], visible: Iterable[str] = ()) -> dict[str, str]:
        free = _FreeNames(visible)
        return {c.id: c.id if self.uses_ids else free.new(c.name or c.id) for c in columns}

    @staticmethod
    def _of(text: str, columns: tuple[PlanColumn, ...], names: dict[str, str]) -> _Block:
        exprs = {id_: quote_identifier(name) for id_, name in names.items()}
        return _Block(text, columns, exprs, {exprs[id_]: name for id_, name in names.items()})

    def _scan(self, node: nodes.TableScan) -> _Block:
        raise PlanError(f"table {node.table.full_name} has no view")


def _named(text: str, name: str) -> str:
    quoted = quote_identifier(name)
    return text if text == quoted else f"{text} AS {quoted}"


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
    nodes.TableScan: _Writer._scan,  # type: ignore[dict-item]
}
