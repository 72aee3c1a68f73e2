"""Random queries in Hive SQL over the tables `t` and `u` of a world."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from hivedruid.catalog.types import HiveType
from tests.equivalence import shapes
from tests.equivalence.operators import AGGREGATES, COLUMNS_OF, CONDITIONS, LITERALS, UNITS, VALUES, Template

OPERATORS = [*VALUES, *CONDITIONS]
OUTSIDE = re.compile(
    r"[&|^] |md5|initcap|concat_ws|ascii|char\(|decimal|AS float|add_months|last_day|trunc|-2\)|NULL\)$|, 0\)$"
)
"""Operators that Druid does not compute as Hive does; with them, little of a random query could be pushed down."""

MAKING: dict[str, list[Template]] = {}
for _template in OPERATORS:
    MAKING.setdefault(_template.result, []).extend([_template] * (1 if OUTSIDE.search(_template.text) else 4))
MAKING["number"] += [t for t in OPERATORS if t.result in ("integer", "double")]
MAKING["double"] += [t for t in OPERATORS if t.result == "integer" and t.kinds == ("integer",)]

PROJECTED = ("integer", "number", "double", "inexact", "string", "boolean", "time", "date")
ORDERED = ("integer", "string", "boolean", "time", "date")
"""Kinds whose order does not depend on the last digit of a double."""


@dataclass(frozen=True)
class Query:
    """A query's text, whether its ORDER BY is unique, and its shape."""

    sql: str
    ordered: bool = False
    shape: str = "one SELECT"


@dataclass
class Relation:
    """The columns of a FROM, by kind."""

    from_: str
    columns: dict[str, list[str]] = field(default_factory=dict)
    unique: str | None = None
    """A column without duplicates and nulls."""

    def of(self, kind: str) -> list[str]:
        return self.columns.get(kind, [])


BASE = Relation(
    "t", {kind: [*columns, "id"] if kind == "integer" else list(columns) for kind, columns in COLUMNS_OF.items()}, "id"
)


@st.composite
def value(draw: st.DrawFn, relation: Relation, kind: str, depth: int) -> str:
    """An expression of a kind: a column, a constant, or an operator over others."""
    columns = relation.of(kind)
    choice = draw(st.integers(0, 9))
    if depth <= 0 or choice < 4 or kind not in MAKING or kind == "summed":
        if columns and (choice != 3 or kind in ("summed", "array")):
            return draw(st.sampled_from(columns))
        if kind in LITERALS:
            return draw(st.sampled_from(LITERALS[kind]))
        if kind in ("summed", "inexact"):
            return draw(value(relation, "integer", 0))
    template = draw(st.sampled_from([t for t in MAKING[kind] if "array" not in t.kinds or relation.of("array")]))
    arguments = [draw(value(relation, k, depth - 1)) for k in template.kinds]
    text = template.text.format(*arguments)
    return f"({text})" if template.text.startswith(("{", "-", "~", "NOT", "year({0}) ")) else text


def condition(relation: Relation, depth: int = 2) -> st.SearchStrategy[str]:
    """A condition with a few levels of AND, OR and NOT."""
    leaf = value(relation, "boolean", depth)
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]} AND {pair[1]})"),
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]} OR {pair[1]})"),
            inner.map(lambda one: f"NOT ({one})"),
        ),
        max_leaves=4,
    )


def where(relation: Relation) -> st.SearchStrategy[str]:
    return st.one_of(st.just(""), condition(relation).map(lambda text: f" WHERE {text}"))


def projection(relation: Relation, most: int = 4) -> st.SearchStrategy[list[tuple[str, str]]]:
    """Expressions with their kinds."""
    kinds = [k for k in PROJECTED if relation.of(k)]
    one = st.sampled_from(kinds).flatmap(lambda kind: st.tuples(st.just(kind), value(relation, kind, 2)))
    return st.lists(one, min_size=1, max_size=most)


direction = st.sampled_from(
    ["", "", " ASC", " DESC", " NULLS FIRST", " NULLS LAST", " DESC NULLS FIRST", " DESC NULLS LAST"]
)
limits = st.tuples(st.integers(1, 6), st.sampled_from(["", "", " OFFSET 1", " OFFSET 3"])).map(
    lambda p: f" LIMIT {p[0]}{p[1]}"
)


@st.composite
def scans(draw: st.DrawFn, relation: Relation = BASE) -> Query:
    shape = (
        draw(st.sampled_from(["any order"] * 6 + ["by time", "by time", "by more"])) if relation.unique else "any order"
    )
    items = [text for _, text in draw(projection(relation))]
    order = ""
    if shape == "by time":  # rows of one time are equal if nothing else is selected
        items = ["`__time`", *draw(st.lists(value(Relation("", {"time": ["`__time`"]}), "integer", 1), max_size=2))]
        order = f" ORDER BY `__time`{draw(direction)}{draw(st.one_of(st.just(''), limits))}"
    elif shape == "by more":
        by_expression = group_key(relation).filter(lambda key: not key[1].isdigit())  # a number would be a position
        keys = [*draw(st.sampled_from([[], ["`__time`"], [draw(by_expression)[1]]])), relation.unique]
        order = (
            f" ORDER BY {', '.join(f'{key}{draw(direction)}' for key in keys)}{draw(st.one_of(st.just(''), limits))}"
        )
        assert relation.unique is not None
        items = [relation.unique, *items]
    listed = ", ".join(f"{text} AS c{i}" for i, text in enumerate(items))
    return Query(f"SELECT {listed} FROM {relation.from_}{draw(where(relation))}{order}", shape != "any order")


@st.composite
def distinct(draw: st.DrawFn, relation: Relation = BASE) -> Query:
    items = draw(projection(relation, 3))
    listed = ", ".join(f"{text} AS c{i}" for i, (_, text) in enumerate(items))
    order, ordered = "", False
    if all(kind in ORDERED for kind, _ in items) and draw(st.booleans()):
        keys = [f"c{i}{draw(direction)}" for i in range(len(items))]
        order, ordered = f" ORDER BY {', '.join(keys)}{draw(st.one_of(st.just(''), limits))}", True
    return Query(f"SELECT DISTINCT {listed} FROM {relation.from_}{draw(where(relation))}{order}", ordered)


def group_key(relation: Relation) -> st.SearchStrategy[tuple[str, str]]:
    """A column, an expression, or a unit of time."""
    floors = [("time", f"floor_{unit}({t})") for unit in UNITS for t in relation.of("time")]
    parts = [
        ("integer", f"{part}({t})") for part in ("year", "month", "hour", "dayofweek") for t in relation.of("time")
    ]
    few = [("string", name) for name in relation.of("string") if name in ("w", "n")] + [
        ("boolean", n) for n in relation.of("boolean")
    ]
    kinds = [k for k in ORDERED if relation.of(k)]
    computed = st.sampled_from(kinds).flatmap(lambda kind: st.tuples(st.just(kind), value(relation, kind, 1)))
    plain = [(kind, name) for kind in kinds for name in relation.of(kind)]
    options = [st.sampled_from(pool) for pool in (few, floors, parts, plain) if pool]
    return st.one_of(*options, computed)


@st.composite
def aggregate(draw: st.DrawFn, relation: Relation) -> tuple[str, str]:
    template = draw(st.sampled_from([t for t in AGGREGATES if all(relation.of(k) for k in t.kinds)]))
    arguments = [draw(value(relation, kind, 1)) for kind in template.kinds]
    return template.result, template.text.format(*arguments)


@st.composite
def groups(draw: st.DrawFn, relation: Relation = BASE) -> Query:
    keys = draw(st.lists(group_key(relation), max_size=3, unique_by=lambda key: key[1]))
    calls = draw(st.lists(aggregate(relation), min_size=0 if keys else 1, max_size=4))
    outputs = [*keys, *calls]
    if calls and draw(st.integers(0, 3)) == 0:
        outputs.append(
            (
                "inexact",
                draw(st.sampled_from(["count(*) + 1", "sum(l) / count(*)", "max(i) - min(i)", "count(*) % 2 = 0"])),
            )
        ) if relation is BASE else None
    listed = ", ".join(f"{text} AS c{i}" for i, (_, text) in enumerate(outputs))
    group = f" GROUP BY {', '.join(text for _, text in keys)}" if keys else ""
    having = draw(st.one_of(st.just(""), _having(calls, relation))) if keys else ""
    order, ordered = "", False
    if bool(keys) and draw(st.booleans()):
        first = [f"c{i}" for i, (kind, _) in enumerate(outputs) if kind in ORDERED and i >= len(keys)]
        chosen = (
            [*draw(st.lists(st.sampled_from(first), max_size=1)), *(f"c{i}" for i in range(len(keys)))]
            if first
            else [f"c{i}" for i in range(len(keys))]
        )
        order, ordered = " ORDER BY " + ", ".join(f"{c}{draw(direction)}" for c in chosen), True
        order += draw(st.one_of(st.just(""), limits))
    return Query(f"SELECT {listed} FROM {relation.from_}{draw(where(relation))}{group}{having}{order}", ordered)


def _having(calls: list[tuple[str, str]], relation: Relation) -> st.SearchStrategy[str]:
    """Over the selected aggregates, and over one that is not selected."""
    exact = [text for kind, text in calls if kind == "integer"]
    terms = ["count(*) > 1", "count(*) IN (1, 3)", *(f"max({name}) IS NULL" for name in relation.of("integer")[:1])]
    terms += [
        f"{text} {op}"
        for text in exact
        for op in ("> 1", "IS NOT NULL", "BETWEEN 1 AND 5", "NOT IN (1, 2)", "<= 2 OR count(*) = 1")
    ]
    return st.sampled_from(terms).map(lambda term: f" HAVING {term}")


# --- queries over queries ------------------------------------------------------------------------------------------

Types = Callable[[str], list[HiveType]]
"""The column types of a query, according to the planner."""

_KIND_OF = {
    "tinyint": ("integer", "small", "number", "summed"), "smallint": ("integer", "small", "number", "summed"),
    "int": ("integer", "number", "summed"), "bigint": ("integer", "number"), "float": ("number", "summed"), "double": ("number", "double"),
    "string": ("string",), "varchar": ("string",), "boolean": ("boolean",), "date": ("date",), "timestamp": ("time",),
    "timestamp with local time zone": ("time",),
}  # fmt: skip


def derived(inner: Query, types: list[HiveType]) -> Relation | None:
    """The query as an item of FROM; None if it has columns that the generator cannot use."""
    columns: dict[str, list[str]] = {}
    for position, type_ in enumerate(types):
        for kind in _KIND_OF.get(type_.name, ()):
            columns.setdefault(kind, []).append(f"c{position}")
    return Relation(f"({inner.sql}) x", columns) if any(columns.get(kind) for kind in ORDERED) else None


@st.composite
def nested(draw: st.DrawFn, types: Types) -> Query:
    inner = draw(st.one_of(groups(), scans(), distinct(), shaped()))
    try:
        relation = derived(inner, types(inner.sql))
    except Exception:  # noqa: BLE001 - a query without a plan is asked as it is, and shown
        return inner
    if relation is None:
        return inner
    return draw(st.one_of(groups(relation), scans(relation), distinct(relation)))


@st.composite
def unions(draw: st.DrawFn) -> Query:
    kinds = draw(st.lists(st.sampled_from(["integer", "string", "boolean", "time"]), min_size=1, max_size=3))
    branches = []
    for _ in range(draw(st.integers(2, 3))):
        items = ", ".join(f"{draw(value(BASE, kind, 1))} AS c{i}" for i, kind in enumerate(kinds))
        branches.append(f"SELECT {items} FROM t{draw(where(BASE))}")
    text = draw(st.sampled_from([" UNION ALL ", " UNION ALL ", " UNION "])).join(branches)
    if draw(st.booleans()):
        return Query(text)
    relation = Relation(f"({text}) x", {kind: [f"c{kinds.index(kind)}"] for kind in kinds})
    return draw(st.one_of(groups(relation), scans(relation)))


@st.composite
def joins(draw: st.DrawFn) -> Query:
    kind = draw(st.sampled_from(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN"]))
    on = draw(
        st.sampled_from(
            [
                "t.w = u.w",
                "t.l = u.l",
                "t.w = u.w AND t.l = u.l",
                "t.id = u.id",
                "t.w = u.w AND u.l > 0",
                "t.w = u.w AND t.i < 3",
            ]
        )
    )
    left_only = kind == "LEFT SEMI JOIN"
    columns = {
        "integer": ["t.id", "t.l", "t.i"],
        "string": ["t.w", "t.s"],
        "boolean": ["t.b"],
        "time": ["t.`__time`"],
        "number": ["t.l"],
    }
    if not left_only:
        columns["integer"] += ["u.l", "u.id"]
        columns["string"] += ["u.w"]
    relation = Relation(f"t {kind} u ON {on}", columns)
    return draw(st.one_of(scans(relation), groups(relation)))


# --- shapes --------------------------------------------------------------------------------------------------------

_QUALIFIED = {
    "integer": ("id", "i", "l"),
    "string": ("w", "s"),
    "boolean": ("b",),
    "time": ("`__time`",),
    "number": ("d", "l"),
    "double": ("d",),
}
OF_T = Relation("", {kind: [f"t.{name}" for name in names] for kind, names in _QUALIFIED.items()})
OF_U = Relation(
    "",
    {
        "integer": ["u.id", "u.l"],
        "string": ["u.w"],
        "time": ["u.`__time`"],
        "number": ["u.d", "u.l"],
        "double": ["u.d"],
    },
)
"""The columns of both sides of a join, under their names above it."""

EXACT = (
    "count(*)",
    "sum(i)",
    "max(l)",
    "count(DISTINCT w)",
    "min(s)",
    "max(`__time`)",
    "count(s)",
    "sum(if(b, 1, 0))",
    "min(big)",
    "max(b)",
)
"""Aggregates whose order does not depend on the last digit of a double."""


def _any_value(relation: Relation) -> st.SearchStrategy[str]:
    kinds = [kind for kind in ORDERED if relation.of(kind)]
    made = st.sampled_from(kinds).flatmap(lambda kind: value(relation, kind, 1))
    return made.filter(lambda text: not text.lstrip("-").isdigit())  # a number would be a position


def _maybe(word: str, strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.just(""), strategy.map(lambda text: f" {word} {text}"))


PARTS: dict[str, st.SearchStrategy[str]] = {
    "v": _any_value(BASE),
    "x": st.sampled_from(COLUMNS_OF["summed"]),
    "n": value(BASE, "integer", 1),
    "s": value(BASE, "string", 1),
    "b": value(BASE, "boolean", 1),
    "tm": value(BASE, "time", 1),
    "date": value(BASE, "date", 1),
    "floor": st.sampled_from([f"floor_{unit}(`__time`)" for unit in UNITS]),
    "part": st.sampled_from(
        [
            *(f"{part}(`__time`)" for part in ("quarter", "month", "day", "hour", "minute", "dayofweek", "weekofyear")),
            "i % 5",
            "l > 2",
        ]
    ),
    "tfloor": st.sampled_from([f"floor_{unit}(t.`__time`)" for unit in UNITS]),
    "agg": aggregate(BASE).map(lambda call: call[1]),
    "exact": st.sampled_from(EXACT),
    "whole": st.sampled_from(["count(*)", "sum(i)", "max(l)", "count(DISTINCT w)", "count(s)", "sum(if(b, 1, 0))"]),
    "have": st.sampled_from(shapes.HAVINGS),
    "false": st.sampled_from(shapes.FALSE),
    "cond": condition(BASE, 1),
    "where": where(BASE),
    "and": _maybe("AND", condition(BASE, 1)),
    "tcond": condition(OF_T, 1),
    "twhere": _maybe("WHERE", condition(OF_T, 1)),
    "ucond": condition(OF_U, 1),
    "tv": _any_value(OF_T),
    "uv": _any_value(OF_U),
    "t": st.sampled_from(shapes.T_RELATIONS),
    "u": st.sampled_from(shapes.U_RELATIONS),
    "kind": st.sampled_from(shapes.KINDS),
    "on": st.sampled_from(shapes.ON),
    "dir": direction,
    "op": st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
    "lim": st.integers(1, 6).map(str),
    "off": st.integers(0, 3).map(str),
}
"""The content of a hole of a shape; the keys of a grouping, `g`, are drawn together and are different."""


@st.composite
def shaped(draw: st.DrawFn) -> Query:
    """A query of a shape; all shapes are equally frequent."""
    name = draw(st.sampled_from(list(shapes.TEXTS)))
    shape = draw(st.sampled_from([shape for shape in shapes.SHAPES if shape.name == name]))
    keys = draw(st.lists(st.sampled_from(shapes.KEYS), min_size=3, max_size=3, unique=True))
    chosen = {"g": keys[0], "g2": keys[1], "g3": keys[2]}
    for hole in shape.holes:
        if hole not in chosen:
            chosen[hole] = draw(PARTS[shapes.kind_of(hole)])
    if any("tags" in part for hole, part in chosen.items() if hole != "t"):
        chosen["t"] = "t"  # DISTINCT is not used with arrays
    return Query(shape.text.format_map(chosen), shape.ordered, shape.name)


def queries(types: Types) -> st.SearchStrategy[Query]:
    """Mostly queries of the kind that Druid is designed for, and some of every other kind."""
    shares: list[tuple[int, st.SearchStrategy[Query]]] = [
        (26, groups()), (14, scans()), (6, distinct()), (12, nested(types)), (3, unions()), (4, joins()), (35, shaped()),
    ]  # fmt: skip
    return st.sampled_from([strategy for share, strategy in shares for _ in range(share)]).flatmap(
        lambda strategy: strategy
    )
