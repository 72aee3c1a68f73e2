"""Data sources of native queries: tables, unions, joins, and other native queries, with the names and types of their
columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from itertools import count
from typing import Any

from hivedruid.catalog.stored_types import ROWS, SCANNED
from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.catalog.types import HiveType
from hivedruid.druid.arrays import elements
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.expressions import DruidColumn, DruidExpressions, druid_type
from hivedruid.druid.filters import to_filter
from hivedruid.druid.syntax import millis
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import DruidJoin, DruidQuery, DruidUnion, DruidUnnest, PlanColumn, TableScan, Values
from hivedruid.plan.physical import DruidRead, Field
from hivedruid.plan.rex import Call, Literal, Ref, Rex, conjunction, conjuncts, refs

Render = Callable[[DruidQuery], DruidRead]
"""Converts an inner query to native JSON."""

Below = TableScan | DruidUnion | DruidUnnest | DruidJoin | DruidQuery
Json = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """A `dataSource`, its columns by plan id, the id of its `__time` if the plan has it, and if it is a join the
    prefixes of its columns."""

    data_source: Any
    columns: dict[str, DruidColumn]
    time_id: str | None = None
    prefixes: frozenset[str] = frozenset()


def source_of(source: Below, render: Render, zone: str) -> Source:
    """The data source for a node below a native query. Raises NotExact if Druid does not support it."""
    if isinstance(source, TableScan):
        return _table(source)
    if isinstance(source, DruidUnion):
        return _union(source)
    if isinstance(source, DruidUnnest):
        return _unnest(source, render, zone)
    if isinstance(source, DruidJoin):
        return _join(source, render, zone)
    return _query(source, render)


def _table(scan: TableScan) -> Source:
    columns: dict[str, DruidColumn] = {}
    time_id = None
    for column in scan.columns:
        stored = scan.table.column(column.name)
        name = stored.field_name if stored else column.name
        columns[column.id] = DruidColumn(name, _stored_type(column), _reading(scan, column))
        if name == TIME_COLUMN:
            time_id = column.id
    return Source(scan.table.data_source, columns, time_id)


def _union(union: DruidUnion) -> Source:
    first = _table(union.scans[0])
    names = [scan.table.data_source for scan in union.scans]
    return Source({"type": "union", "dataSources": names}, first.columns, first.time_id)


def _query(query: DruidQuery, render: Render) -> Source:
    read = render(query)
    if read.over_nothing is not None:
        raise NotExact("a query over grouping sets with a grand total, which is a row even for no rows")
    inner = _timeless(read)
    columns: dict[str, DruidColumn] = {}
    scanned = _scanned(query)
    for column, field in zip(query.columns, inner.fields, strict=True):
        name = TIME_COLUMN if field.name == "timestamp" and inner.query["queryType"] == "timeseries" else field.name
        columns[column.id] = DruidColumn(name, druid_type(column.type), ROWS if column.id in scanned else "")
    return Source({"type": "query", "query": _typed(inner, columns)}, columns)


def _scanned(source: Below | Values) -> set[str]:
    """Ids of the columns whose values Druid only returns, in rows, also as those of an outer query."""
    if isinstance(source, TableScan):
        return {column.id for column in source.columns if _reading(source, column) in SCANNED}
    if isinstance(source, DruidUnion):
        return _scanned(source.scans[0])
    if isinstance(source, DruidJoin):
        return _scanned(source.left) | _scanned(source.right)
    if isinstance(source, DruidUnnest):
        return _scanned(source.input)
    if isinstance(source, Values):
        return set()
    below = _scanned(source.source)
    pairs = zip(source.columns, source.exprs, strict=True) if below else ()
    return {column.id for column, rex in pairs if isinstance(rex, Ref) and rex.id in below}


def _reading(scan: TableScan, column: PlanColumn) -> str:
    stored = scan.table.column(column.name)
    return stored.reading if stored else ""


INNER_TIME = "$time"


def _timeless(inner: DruidRead) -> DruidRead:
    """Rename `__time` of an inner scan if possible. The broker receives small numbers as Integers, which it does not
    accept as `__time` (ClassCastException for the first weeks of 1970).
    """
    json = dict(inner.query)
    if json["queryType"] != "scan" or TIME_COLUMN not in json["columns"] or "order" in json:
        return inner
    time = {"type": "expression", "name": INNER_TIME, "expression": f'"{TIME_COLUMN}"', "outputType": "LONG"}
    json["virtualColumns"] = [*json.get("virtualColumns", ()), time]
    json["columns"] = [INNER_TIME if name == TIME_COLUMN else name for name in json["columns"]]
    fields = tuple(Field(INNER_TIME if f.name == TIME_COLUMN else f.name, f.type) for f in inner.fields)
    return DruidRead(json, fields)


def _typed(inner: DruidRead, columns: Mapping[str, DruidColumn]) -> Json:
    """An inner query; a scan declares the types of its columns, which are otherwise unknown to the outer query."""
    json = dict(inner.query)
    if json["queryType"] != "scan":
        return json
    types = {c.name: c.type for c in columns.values()}
    types |= {TIME_COLUMN: "LONG", INNER_TIME: "LONG"}
    return {**json, "columnTypes": [types.get(name, "STRING") for name in json["columns"]]}


def _stored_type(column: PlanColumn) -> str:
    if column.type.name == "array":
        return "ARRAY<STRING>"
    return druid_type(column.type)


def _as_json(data_source: Any) -> Json:
    return data_source if isinstance(data_source, dict) else {"type": "table", "name": data_source}


# --- unnest ----------------------------------------------------------------------------------------------------------


def _unnest(unnest: DruidUnnest, render: Render, zone: str) -> Source:
    base = source_of(unnest.input, render, zone)
    text = elements(DruidExpressions(base.columns, zone), unnest.array, outer=unnest.outer)
    taken = {c.field_name for scan in unnest.walk() if isinstance(scan, TableScan) for c in scan.table.columns}
    taken |= {c.name for c in base.columns.values()}
    name = next(n for i in count() if (n := unnest.element.name + (f"_{i}" if i else "")) not in taken)
    column = DruidColumn(name, "STRING")
    virtual = {"type": "expression", "name": name, "expression": text, "outputType": "ARRAY<STRING>"}
    data_source: Json = {"type": "unnest", "base": _as_json(base.data_source), "virtualColumn": virtual}
    if unnest.condition is not None:
        data_source["unnestFilter"] = to_filter(unnest.condition, DruidExpressions({unnest.element.id: column}, zone))
    return Source(data_source, {**base.columns, unnest.element.id: column}, base.time_id)


def with_unnest_filters(source: Below, terms: list[Rex]) -> tuple[Below, list[Rex]]:
    """The source with conditions on elements moved to their `unnest`, and the remaining conditions."""
    if isinstance(source, DruidJoin):
        if not isinstance(source.first, DruidUnnest):
            return source, terms
        left, terms = with_unnest_filters(source.left, terms)
        return replace(source, left=left), terms
    if not isinstance(source, DruidUnnest):
        return source, terms
    mine = [t for t in terms if refs(t) == {source.element.id}]
    rest = [t for t in terms if refs(t) != {source.element.id}]
    below, rest = with_unnest_filters(source.input, rest)
    assert isinstance(below, TableScan | DruidUnion | DruidUnnest)
    return replace(source, input=below, condition=conjunction(mine)), rest


def elements_of(source: Below) -> set[str]:
    """Ids of the columns that an `unnest` produces."""
    if isinstance(source, DruidJoin):
        return elements_of(source.first)
    return {source.element.id} | elements_of(source.input) if isinstance(source, DruidUnnest) else set()


# --- joins -----------------------------------------------------------------------------------------------------------


def _join(join: DruidJoin, render: Render, zone: str) -> Source:
    """The data source of a join. Rules add one join after the other, and each of them renders the whole chain, so the
    result is kept with the node.
    """
    source: Source | None = join.rendered.get(zone)
    if source is None:
        source = join.rendered[zone] = _join_source(join, render, zone)
    return source


def _join_source(join: DruidJoin, render: Render, zone: str) -> Source:
    left = source_of(join.left, render, zone)
    right = _inline(join.right) if isinstance(join.right, Values) else _query(join.right, render)
    taken = left.prefixes or {c.name.partition(".")[0] + "." for c in left.columns.values() if "." in c.name}
    prefix = next(p for p in (f"j{i}." for i in count(len(left.prefixes))) if p not in taken)
    prefixed = {i: c._replace(name=prefix + c.name) for i, c in right.columns.items()}
    data_source = {
        "type": "join",
        "left": _as_json(left.data_source),
        "right": right.data_source,
        "rightPrefix": prefix,
        "condition": _condition(join.condition, left.columns, prefixed, zone),
        "joinType": join.kind.upper(),
    }
    return Source(data_source, {**left.columns, **prefixed}, left.time_id, frozenset({*taken, prefix}))


def read_by(query: DruidQuery) -> set[str]:
    """Ids of the columns that the parts of a query read."""
    parts = [*query.exprs, *query.keys, *query.calls, *(key.rex for key in query.sort)]
    return {i for rex in (*parts, query.filter, query.having) if rex is not None for i in refs(rex)}


def narrowed(source: Below, used: set[str]) -> Below:
    """The source with the right sides of joins reduced to the columns read: Druid keeps them in memory."""
    if source.ids <= used:
        return source
    chain: list[tuple[DruidJoin, DruidQuery | Values]] = []
    while isinstance(source, DruidJoin):
        used |= refs(source.condition) if source.condition is not None else frozenset()
        chain.append((source, _narrowed_side(source.right, used)))
        source = source.left
    for join, right in reversed(chain):
        is_same = join.left is source and join.right is right
        source = join if is_same else replace(join, left=source, right=right)
    return source


def _narrowed_side(side: DruidQuery | Values, used: set[str]) -> DruidQuery | Values:
    if not isinstance(side, DruidQuery) or side.ids <= used:
        return side
    kept = [(c, e) for c, e in zip(side.columns, side.exprs, strict=True) if c.id in used]
    kept = kept or [(side.columns[0], side.exprs[0])]
    if len(kept) == len(side.columns):
        return side
    return replace(side, columns=tuple(c for c, _ in kept), exprs=tuple(e for _, e in kept))


def _condition(
    condition: Rex | None, left: Mapping[str, DruidColumn], right: Mapping[str, DruidColumn], zone: str
) -> str:
    """The equalities in the form of Druid's joins: any expression over the left, a plain column of the right. In
    Druid's JoinConditionAnalysis, `==` never matches nulls, `notdistinctfrom` does; `1` is every pair.
    """
    mine, theirs = DruidExpressions(left, zone), DruidExpressions(right, zone)
    texts = []
    for term in conjuncts(condition):
        if not isinstance(term, Call) or term.op not in ("=", "<=>"):
            raise NotExact("a join on a condition other than column equality")
        a, b = term.args
        if not isinstance(b, Ref) or b.id not in right:
            a, b = b, a
        if not isinstance(b, Ref) or b.id not in right or refs(a) & set(right):
            raise NotExact("a join on an expression that uses both sides")
        comparable(a.type, b.type)
        sides = mine.text(a), theirs.text(b)
        texts.append(f"({sides[0]} == {sides[1]})" if term.op == "=" else f"notdistinctfrom({','.join(sides)})")
    return " && ".join(texts) if texts else "1"


def comparable(a: HiveType, b: HiveType) -> None:
    """Raise NotExact unless Druid's hash join has the same equality as Hive for these types. It distinguishes -0.0
    from 0.0, so 0.0 is added to doubles.
    """
    alike = a == b or (a.is_integer and b.is_integer) or (a.is_string and b.is_string)
    if not alike or a.name == "array":
        raise NotExact(f"a join on keys of types {a} and {b}")
    if druid_type(a) == "FLOAT" or a.name == "decimal":
        raise NotExact(f"a join on keys of type {a}")


def _inline(values: Values) -> Source:
    names = [f"c{i}" for i in range(len(values.columns))]
    types = [druid_type(c.type) for c in values.columns]
    rows = [[_plain(v) for v in row] for row in values.rows]
    columns = {c.id: DruidColumn(n, t) for c, n, t in zip(values.columns, names, types, strict=True)}
    return Source({"type": "inline", "columnNames": names, "columnTypes": types, "rows": rows}, columns)


def _plain(rex: Rex) -> object:
    """A constant as Druid stores it."""
    if not isinstance(rex, Literal):
        raise NotExact("rows with non-constant values")
    value = rex.value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, date):
        return millis(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise NotExact(f"constant rows of type {rex.type}")
