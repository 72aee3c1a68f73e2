"""The same native JSON on a Druid cluster and the embedded store: joins, subtotals, folds, sketches, nested queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.catalog.types import BIGINT, BOOLEAN, HiveType
from hivedruid.druid.expressions import DruidColumn, DruidExpressions, druid_type
from hivedruid.druid.filters import to_filter
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.errors import DruidError, ExecutionError, ResourceError
from hivedruid.plan.rex import Call, Literal, Ref
from tests.hive import parsed_strings
from tests.hive.string_casts import PUSHED, casts_in_druid, computed_in_druid, different, string_casts
from tests.support.both import EDIT_COLUMNS, EDITS, PAGE_COLUMNS, PAGES, Both
from tests.support.loads import ingest
from tests.support.native_json import (
    COUNT,
    Json,
    at_least,
    bits,
    equals,
    extreme,
    fold,
    group,
    inline,
    inner_scan,
    join,
    moments,
    nested,
    scan,
    total,
    virtual,
)
from tests.support.staged import stage, task

if TYPE_CHECKING:
    from tests.support.cluster import Cluster


@pytest.fixture(scope="module")
def both(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder: Path = tmp_path_factory.mktemp("features")
    suffix = uuid4().hex[:12]
    connection = open_database(folder / "home")
    store = EmbeddedStore(folder / "home", connection)
    druid = cluster.druid()
    made = Both(druid, store, f"edits_{suffix}", f"pages_{suffix}")
    for name, rows, columns in ((made.edits, EDITS, EDIT_COLUMNS), (made.pages, PAGES, PAGE_COLUMNS)):
        spec = task(name, stage(folder / name, rows), columns=columns, segment="WEEK")
        ingest(store, spec)
        ingest(druid, spec)
    yield made
    for name in (made.edits, made.pages):
        druid.drop(name)
    druid.close()
    store.close()
    connection.close()


PAGES_BY_KEY = inner_scan("pages", "k:STRING n:LONG x:DOUBLE name:STRING")
EDITS_BY_TIME = inner_scan("edits", "__time:LONG s:STRING l:LONG d:DOUBLE g:STRING")
PER_KEY = nested(group("edits", "s:STRING:k", COUNT, {"type": "longSum", "name": "sl", "fieldName": "l"}))
PER_PAGE = nested(group("pages", "k:STRING", COUNT, {"type": "longSum", "name": "sn", "fieldName": "n"}))
JOINED = "s:s l:l j0.k:s j0.n:l j0.name:s"
COLUMNS = ("s", "l", "j0.k", "j0.n", "j0.name")
ON = '(s == "j0.k")'
SETS = [["s", "g"], ["s"], ["g"], []]
GROUPING = {"type": "grouping", "name": "gid", "groupings": ["s", "g"]}
CUBE = group("edits", "s:STRING g:STRING", COUNT, GROUPING, subtotalsSpec=SETS)
VARIANCE = {
    "type": "expression",
    "name": "v",
    "expression": "case_searched(array_offset(w,0) > 0, array_offset(w,2) / array_offset(w,0))",
    "outputType": "DOUBLE",
}
MEDIAN = {
    "type": "quantilesDoublesSketchToQuantile",
    "name": "m",
    "fraction": 0.5,
    "field": {"type": "fieldAccess", "name": "f", "fieldName": "q"},
}
VALUES = {"type": "expression", "name": "e", "expression": "case_searched(q > 0, m)", "outputType": "DOUBLE"}
NOTHING = {"type": "false"}
SKIP = {"context": {"skipEmptyBuckets": True}}


def counted(name: str, gid: int, column: str) -> Json:
    present = {"type": "not", "field": {"type": "null", "column": column}}
    both_hold = {"type": "and", "fields": [equals("gid", gid, "LONG"), present]}
    return {"type": "filtered", "name": name, "filter": both_hold, "aggregator": {"type": "count", "name": name}}


def joins() -> dict[str, tuple[Json, str]]:
    """Joins by name: the query and its fields."""
    cases: dict[str, tuple[Json, str]] = {}
    for kind in ("INNER", "LEFT", "RIGHT", "FULL"):
        cases[f"queries {kind}"] = scan(join(EDITS_BY_TIME, PAGES_BY_KEY, ON, kind), *COLUMNS), JOINED
        cases[f"aggregates {kind}"] = (
            scan(join(PER_KEY, PER_PAGE, '(k == "j0.k")', kind), "k", "sl", "j0.k", "j0.sn"),
            "k:s sl:l j0.k:s j0.sn:l",
        )
    for kind in ("INNER", "LEFT"):
        cases[f"table {kind}"] = scan(join("edits", PAGES_BY_KEY, ON, kind), *COLUMNS), JOINED
    for name, condition in {
        "nulls match": 'notdistinctfrom(s, "j0.k")',
        "reversed": '("j0.k" == s)',
        "two keys": '((s == "j0.k") && (l == "j0.n"))',
        "two keys with nulls": '(notdistinctfrom(s, "j0.k") && notdistinctfrom(l, "j0.n"))',
        "expression": "(concat(s, 'z') == \"j0.k\")",
        "constant": "('a' == \"j0.k\")",
        "always": "1",
        "never": "0",
    }.items():
        cases[name] = scan(join("edits", PAGES_BY_KEY, condition, "LEFT"), *COLUMNS), JOINED
    for left, right in (
        ("l", "n"),
        ("d", "x"),
        ("l", "x"),
        ("d", "n"),
        ("s", "n"),
        ("l", "k"),
        ("f", "x"),
        ("(d + 0.0)", "x"),
    ):
        query = scan(join("edits", PAGES_BY_KEY, f'({left} == "j0.{right}")'), "l", "j0.name")
        cases[f"{left} = {right}"] = query, "l:l j0.name:s"
    rows = inline("k:STRING n:LONG", ["a", 1], [None, 2], ["😀", 2**40])
    cases["inline"] = scan(join("edits", rows, ON, "LEFT"), "s", "j0.n"), "s:s j0.n:l"
    cases["inline numbers"] = (
        scan(join("edits", inline("k:LONG", [1], [2**53 + 1], [None]), '(l == "j0.k")'), "l"),
        "l:l",
    )
    cases["inline doubles"] = (
        scan(join("edits", inline("k:DOUBLE", [1.5], [2], [0.0]), '((d + 0.0) == "j0.k")'), "l"),
        "l:l",
    )
    cases["inline left"] = scan(join(rows, PAGES_BY_KEY, '(k == "j0.k")', "FULL"), "n", "j0.name"), "n:l j0.name:s"
    cases["nothing on the right"] = (
        scan(join("edits", inline("k:STRING n:LONG"), ON, "LEFT"), "s", "j0.n"),
        "s:s j0.n:l",
    )
    cases["no such data source"] = (
        scan(join("edits", inner_scan("nowhere", "k:STRING n:LONG"), ON, "LEFT"), "s", "j0.n"),
        "s:s j0.n:l",
    )
    both_joined = join(join("edits", PAGES_BY_KEY, ON, "LEFT"), PAGES_BY_KEY, '("j0.n" == "j1.n")', "LEFT", "j1.")
    cases["chain"] = scan(both_joined, "s", "j0.name", "j1.name"), "s:s j0.name:s j1.name:s"
    cases["left filter"] = scan(join("edits", PAGES_BY_KEY, ON, "LEFT", leftFilter=equals("g", "x")), *COLUMNS), JOINED
    kept = {"type": "filter", "base": {"type": "table", "name": "edits"}, "filter": equals("g", "x")}
    cases["filter on the left"] = scan(join(kept, PAGES_BY_KEY, ON, "LEFT"), *COLUMNS), JOINED
    cases["intervals"] = (
        {**scan(join("edits", PAGES_BY_KEY, ON, "LEFT"), *COLUMNS), "intervals": ["2024-01-01/P1D"]},
        JOINED,
    )
    cases["intervals of a query"] = (
        {**scan(join(EDITS_BY_TIME, PAGES_BY_KEY, ON, "RIGHT"), *COLUMNS), "intervals": ["2024-01-01/P1D"]},
        JOINED,
    )
    whole = join("edits", PAGES_BY_KEY, ON, "LEFT")
    cases["filter on the right"] = scan(whole, *COLUMNS, filter={"type": "null", "column": "j0.k"}), JOINED
    cases["filter on both"] = scan(whole, *COLUMNS, filter={"type": "expression", "expression": 'l < "j0.n"'}), JOINED
    cases["virtual column of both"] = scan(whole, "v", virtualColumns=[virtual("v", 'l + "j0.n"', "LONG")]), "v:l"
    cases["groupBy"] = (
        group(whole, "j0.k:STRING:k g:STRING", COUNT, {"type": "longSum", "name": "n", "fieldName": "j0.n"}),
        "k:s g:s c:l n:l",
    )
    cases["timeseries"] = {**total(whole, COUNT), "granularity": "day", **SKIP}, "timestamp:l c:l"
    cases["grand total of nothing"] = (
        total(whole, COUNT, {"type": "longSum", "name": "n", "fieldName": "j0.n"}, filter=NOTHING),
        "c:l n:l",
    )
    cases["topN"] = (
        {
            "queryType": "topN",
            "dataSource": whole,
            "granularity": "all",
            "dimension": "j0.name",
            "metric": {"type": "dimension"},
            "threshold": 9,
            "aggregations": [COUNT],
        },
        "j0.name:s c:l",
    )
    cases["scalar"] = (
        scan(
            join("edits", nested(total("pages", {"type": "longMin", "name": "m", "fieldName": "n"})), "1"),
            "l",
            "j0.m",
            filter={"type": "expression", "expression": 'l <= "j0.m"'},
        ),
        "l:l j0.m:l",
    )
    cases["anti join"] = (
        group(join("edits", PER_PAGE, ON, "LEFT"), "g:STRING", COUNT, filter={"type": "null", "column": "j0.c"}),
        "g:s c:l",
    )
    cases["subtotals"] = group(whole, "s:STRING g:STRING", COUNT, GROUPING, subtotalsSpec=SETS), "s:s g:s c:l gid:l"
    return cases


def others() -> dict[str, tuple[Json, str]]:
    """Everything other than joins by name: the query and its fields."""
    cube = "s:s g:s c:l gid:l"
    by_sum = {
        "type": "default",
        "limit": 3,
        "columns": [{"dimension": "c", "direction": "descending", "dimensionOrder": "numeric"}],
    }
    limited = group(
        "edits",
        "s:STRING",
        {"type": "longMax", "name": "m", "fieldName": "l"},
        limitSpec={
            "type": "default",
            "limit": 2,
            "columns": [{"dimension": "m", "direction": "descending", "dimensionOrder": "numeric"}],
        },
    )
    sets = group("edits", "s:STRING g:STRING", COUNT, GROUPING, subtotalsSpec=[["s"], ["g"], []])
    distinct = (counted("s", 1, "s"), counted("g", 2, "g"))
    per_hour = nested({**total("edits", COUNT), "granularity": "hour", **SKIP})
    floored = virtual("v", "timestamp_floor(__time,'P1D')", "LONG")
    sketches = (
        {"type": "HLLSketchBuild", "name": "h", "fieldName": "l", "round": True},
        {"type": "thetaSketch", "name": "t", "fieldName": "s"},
    )
    quantiles = {"type": "quantilesDoublesSketch", "name": "q", "fieldName": "l", "k": 128}
    array = virtual("u", "string_to_array(concat(s,',',g),',')", "ARRAY<STRING>")
    single = {"type": "singleValue", "name": "s", "fieldName": "s", "columnType": "STRING"}
    folds = (
        extreme("hi", "s", ">"),
        extreme("lo", "s", "<"),
        bits("a", "l", "bitwiseAnd", -1),
        bits("o", "l", "bitwiseOr", 0),
        bits("x", "l", "bitwiseXor", 0),
        moments("w", "d"),
    )
    folded = "hi:s lo:s a:l o:l x:l v:d"
    return {
        "cube": (CUBE, cube),
        "cube of nothing": ({**CUBE, "filter": NOTHING}, cube),
        "total of nothing": (group("edits", "", COUNT, filter=NOTHING), "c:l"),
        "cube having": ({**CUBE, "having": {"type": "filter", "filter": at_least("c", 2)}}, cube),
        "cube limit": ({**CUBE, "limitSpec": by_sum}, cube),
        "cube plain limit": ({**CUBE, "limitSpec": {"type": "default", "limit": 2, "columns": []}}, cube),
        "renamed keys": (
            group("edits", "s:STRING:a g:STRING:b", COUNT, GROUPING, subtotalsSpec=[["a"], ["b"], []]),
            "a:s b:s c:l gid:l",
        ),
        "several distincts": (total(nested(sets), *distinct), "s:l g:l"),
        "several distincts of nothing": (total(nested({**sets, "filter": NOTHING}), *distinct), "s:l g:l"),
        "group over group": (group(nested(group("edits", "s:STRING g:STRING", COUNT)), "g:STRING", COUNT), "g:s c:l"),
        "total over limited": (
            total(nested(limited), COUNT, {"type": "longMin", "name": "x", "fieldName": "m"}),
            "c:l x:l",
        ),
        "total over a page": (
            total(
                inner_scan("edits", "__time:LONG l:LONG", order="ascending", limit=3, offset=2),
                COUNT,
                {"type": "longSum", "name": "x", "fieldName": "l"},
            ),
            "c:l x:l",
        ),
        "having of a total": (scan(nested(total("edits", COUNT)), "c", filter=at_least("c", 9)), "c:l"),
        "having of a total that holds": (scan(nested(total("edits", COUNT)), "c", filter=at_least("c", 8)), "c:l"),
        "days over hours": (
            group(per_hour, "v:LONG", {"type": "longSum", "name": "n", "fieldName": "c"}, virtualColumns=[floored]),
            "v:l n:l",
        ),
        "buckets of a query": (
            {**total(EDITS_BY_TIME, COUNT), "granularity": "day", "intervals": ["2023-12-31/P5D"]},
            "timestamp:l c:l",
        ),
        "no limit": (scan("edits", "l", limit=0), "l:l"),
        "offset alone": (group("edits", "l:LONG", limitSpec={"type": "default", "offset": 5, "columns": []}), "l:l"),
        "union": (
            group({"type": "union", "dataSources": ["edits", "pages"]}, "s:STRING k:STRING", COUNT),
            "s:s k:s c:l",
        ),
        "union twice": (total({"type": "union", "dataSources": ["edits", "edits"]}, COUNT), "c:l"),
        "unnest": (
            scan({"type": "unnest", "base": {"type": "table", "name": "edits"}, "virtualColumn": array}, "s", "u"),
            "s:s u:s",
        ),
        "unnest filter": (
            scan(
                {
                    "type": "unnest",
                    "base": {"type": "table", "name": "edits"},
                    "virtualColumn": array,
                    "unnestFilter": equals("u", "x"),
                },
                "s",
                "u",
            ),
            "s:s u:s",
        ),
        "folds": (total("edits", *folds, postAggregations=[VARIANCE]), folded),
        "folds by group": (group("edits", "g:STRING", *folds, postAggregations=[VARIANCE]), f"g:s {folded}"),
        "folds over a query": (total(EDITS_BY_TIME, *folds, postAggregations=[VARIANCE]), folded),
        "folds of nothing": (total("edits", *folds, postAggregations=[VARIANCE], filter=NOTHING), folded),
        "folds of nulls": (
            total("edits", *folds, postAggregations=[VARIANCE], filter={"type": "null", "column": "l"}),
            folded,
        ),
        "fold above": (group(nested(group("edits", "g:STRING", extreme("m", "s", ">"))), "m:STRING", COUNT), "m:s c:l"),
        "least double": (total("edits", {"type": "doubleMin", "name": "x", "fieldName": "d"}), "x:d"),
        "mean": (group("edits", "g:STRING", {"type": "doubleMean", "name": "x", "fieldName": "l"}), "g:s x:d"),
        "single value": (total(inner_scan("edits", "s:STRING", filter=equals("l", 2, "LONG")), single), "s:s"),
        "single value of none": (total(inner_scan("edits", "s:STRING", filter=NOTHING), single), "s:s"),
        "sketches": (total("edits", *sketches, quantiles, postAggregations=[MEDIAN, VALUES]), "h:l t:d q:l m:d e:d"),
        "sketches by group": (
            group("edits", "g:STRING", *sketches, quantiles, postAggregations=[MEDIAN, VALUES]),
            "g:s h:l t:d q:l m:d e:d",
        ),
        "sketches of nothing": (
            total("edits", *sketches, quantiles, postAggregations=[MEDIAN, VALUES], filter=NOTHING),
            "h:l t:d q:l m:d e:d",
        ),
    }


FEATURES = {**{f"join: {name}": case for name, case in joins().items()}, **others()}
LISTS = ("topN", "timeseries", "limit", "total", "buckets", "offset alone")
"""Words in the names of queries with a defined order."""


def key(row: tuple[Any, ...]) -> str:
    return json.dumps([float(f"{cell:.11g}") if isinstance(cell, float) else cell for cell in row], sort_keys=True)


@pytest.mark.parametrize(
    "title",
    [pytest.param(title, marks=pytest.mark.sketches) if "sketches" in title else title for title in FEATURES],
)
def test_both_answer_alike(both: Both, title: str) -> None:
    read = both.read(*FEATURES[title])
    real, embedded = list(map(key, both.druid.rows(read))), list(map(key, both.store.rows(read)))
    assert sorted(real) == sorted(embedded)
    if any(word in title for word in LISTS):
        assert real == embedded


REFUSED: dict[str, Json] = {
    "a table on the right": scan(join("edits", {"type": "table", "name": "pages"}, ON), "s"),
    "less than": scan(join("edits", PAGES_BY_KEY, '(l < "j0.n")'), "s"),
    "a term of one side": scan(join("edits", PAGES_BY_KEY, '((s == "j0.k") && (l == 1))'), "s"),
    "an expression over the right": scan(join("edits", PAGES_BY_KEY, '(s == lower("j0.k"))'), "s"),
    "or": scan(join("edits", PAGES_BY_KEY, '((s == "j0.k") || (l == "j0.n"))'), "s"),
    "no prefix": scan(join("edits", PAGES_BY_KEY, "(s == k)", prefix=""), "s"),
    "the prefix of __time": scan(join("edits", PAGES_BY_KEY, '(s == "_k")', prefix="_"), "s"),
    "a left filter over a query": scan(join(EDITS_BY_TIME, PAGES_BY_KEY, ON, leftFilter=equals("s", "a")), "s"),
    "a union of queries": scan({"type": "union", "dataSources": [EDITS_BY_TIME, EDITS_BY_TIME]}, "s"),
    "a small time inline": total(inline("__time:LONG", [5]), COUNT),
    "a query ordered by time": scan(EDITS_BY_TIME, "__time", order="ascending"),
    "a scan ordered by text": scan("edits", "s", orderBy=[{"columnName": "s", "order": "ascending"}]),
    "a groupBy of no row": group("edits", "s:STRING", limitSpec={"type": "default", "limit": 0, "columns": []}),
    "a topN of no row": {
        "queryType": "topN",
        "dataSource": "edits",
        "granularity": "all",
        "dimension": "s",
        "metric": {"type": "dimension"},
        "threshold": 0,
        "aggregations": [],
    },
    "two rows for one": total(
        EDITS_BY_TIME, {"type": "singleValue", "name": "s", "fieldName": "s", "columnType": "STRING"}
    ),
    "an array for a scalar": total(
        "edits",
        fold("m", "s", "ARRAY<STRING>[]", "if(isnull(s), __acc, array_append(__acc, s))", "array_concat(__acc, m)"),
    ),
    "a fold without combine": total("edits", {k: v for k, v in extreme("m", "s", ">").items() if k != "combine"}),
}


@pytest.mark.parametrize("title", REFUSED)
def test_both_refuse(both: Both, title: str) -> None:
    read = both.read(REFUSED[title], "s:s")
    with pytest.raises(ExecutionError):
        list(both.druid.rows(read))
    with pytest.raises(DruidError):
        list(both.store.rows(read))


@pytest.mark.parametrize("type_", PUSHED)
def test_casts_of_strings_are_hives(both: Both, type_: str) -> None:
    hive = string_casts()[type_]
    assert not different(type_, hive, casts_in_druid(both.druid, type_, hive))


@pytest.mark.parametrize("pattern", parsed_strings.PUSHED)
def test_strings_that_are_parsed_with_a_pattern(both: Both, pattern: str) -> None:
    hive = parsed_strings.parsed_strings()[pattern]
    assert computed_in_druid(both.druid, parsed_strings.parsed_with(pattern), BIGINT, hive) == hive


LONG: dict[str, tuple[str, list[str | float]]] = {
    "s": ("string", ["a", "zz", *(f"x{i}" for i in range(3000))]),
    "l": ("bigint", [-7, *range(3000)]),
    "d": ("double", [-1.0, *map(float, range(3000))]),
}
"""Columns, and lists that contain some of their values."""


@pytest.mark.parametrize("name", LONG)
def test_long_lists(both: Both, name: str) -> None:
    """As a filter and as a value; -0.0 and 0.0 are equal."""
    type_, items = LONG[name]
    column = DruidColumn(name, druid_type(HiveType(type_)))
    rex = Call(BOOLEAN, "in", (Ref(HiveType(type_), name), *(Literal(HiveType(type_), item) for item in items)))
    expressions = DruidExpressions({name: column}, "UTC")
    value = virtual("v", expressions.text(rex), "LONG")
    values = both.read(scan("edits", name, "v", virtualColumns=[value]), f"{name}:{name} v:l")
    matches = both.read(scan("edits", name, filter=to_filter(rex, expressions)), f"{name}:{name}")
    for engine in (both.druid, both.store):
        rows = list(engine.rows(values))
        assert {key((v, None if v is None else int(v in items))) for v, _ in rows} == set(map(key, rows))
        assert sorted(map(key, engine.rows(matches))) == sorted(key(row[:1]) for row in rows if row[1])
        assert any(found for _, found in rows)


@pytest.mark.parametrize("place", ["value", "filter"])
def test_an_expression_that_overflows_the_stack(both: Both, place: str) -> None:
    deep = f"({' + '.join(['l'] * 20_000)})"
    more = {"virtualColumns": [virtual("v", deep, "LONG")], "filter": {"type": "null", "column": "v"}}
    read = both.read(
        scan("edits", "l", **(more if place == "value" else {"filter": {"type": "expression", "expression": deep}})),
        "l:l",
    )
    with pytest.raises(ResourceError):
        list(both.druid.rows(read))
