"""Arrays of strings: native queries of both engines, compared with the rows of a scan, counted here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP, array_of
from hivedruid.plan.physical import DruidRead
from tests.support.both import NEW_YEAR, Both, stored_in_both
from tests.support.planning import read

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

YEAR = 366 * 86_400_000
SEGMENTS: dict[str, list[list[Any]]] = {
    "several values": [
        [[], None, [None], ["a"], ["a", None], [None, "a"], ["b", "a", "b"], [""], ["", None], "a", [None, None], ["a", "b"]],
        [[], None, [None], ["a"], [""], "b"],
        ["a", "b"],
        [None, None],
        [[], []],
        ["a", None],
    ],
    "one value": [["a", None, "", "b"], [["c"], ["a"]], [None]],
    "no value": [[None, []]],
}  # fmt: skip
"""Values by segment. A column has multiple values in some segments only, and is missing in others."""
SPEC = {"n": "long", "k": "string", "tags": "array"}
COLUMNS = {"n": BIGINT, "k": STRING, "tags": array_of(STRING), "__time": TIMESTAMP}
TABLE = Table(
    "default", "t", "druid", tuple(Column(*c) for c in COLUMNS.items()), True, properties={"druid.datasource": "edits"}
)

Row = tuple[int, str, "list[str | None] | None"]
Rows = list[tuple[Any, ...]]


def exploded(rows: list[Row], *, outer: bool = False) -> Iterator[tuple[int, str, list[str | None] | None, str | None]]:
    for n, k, tags in rows:
        for tag in tags or ([None] if outer else []):
            yield n, k, tags, tag


def counts(values: Any) -> Rows:
    return [(*(v if isinstance(v, tuple) else (v,)), c) for v, c in Counter(values).items()]


def has(tags: list[str | None] | None, value: str | None) -> bool:
    return value is not None and value in (tags or ())


def size(tags: list[str | None] | None) -> int:
    return -1 if tags is None else len(tags)


EXPLODE = "FROM t LATERAL VIEW explode(tags) v AS tag"
EXPLODED = f"FROM (SELECT n, k, tag, tags {EXPLODE}) e"
VALUES = [("a", 1), ("b", 2), ("a", 3), ("c", 4)]
PAIRS = f"JOIN (VALUES {', '.join(map(str, VALUES))}) AS p(w, v)"
CASES: dict[str, Callable[[list[Row]], Rows]] = {
    "SELECT n, tags FROM t": lambda rows: [(n, tags) for n, _, tags in rows],
    "SELECT n, size(tags), tags[0], tags[1] FROM t": lambda rows: [
        (n, size(tags), (tags or [None])[0], ([*(tags or ()), None, None])[1]) for n, _, tags in rows
    ],
    "SELECT n, array_contains(tags, 'a'), array_contains(tags, k), array_contains(tags, tags[0]) FROM t": lambda rows: [
        (n, has(tags, "a"), has(tags, k), has(tags, (tags or [None])[0])) for n, k, tags in rows
    ],
    "SELECT n FROM t WHERE array_contains(tags, 'a')": lambda rows: [(n,) for n, _, tags in rows if has(tags, "a")],
    "SELECT n FROM t WHERE NOT array_contains(tags, 'a')": lambda rows: [
        (n,) for n, _, tags in rows if not has(tags, "a")
    ],
    "SELECT n FROM t WHERE NOT (array_contains(tags, 'a') OR array_contains(tags, ''))": lambda rows: [
        (n,) for n, _, tags in rows if not has(tags, "a") and not has(tags, "")
    ],
    "SELECT n FROM t WHERE NOT array_contains(tags, k)": lambda rows: [
        (n,) for n, k, tags in rows if not has(tags, k)
    ],
    "SELECT n FROM t WHERE tags[0] = 'a' OR tags[1] <> 'a'": lambda rows: [
        (n,)
        for n, _, tags in rows
        if (tags or [None])[0] == "a" or ([*(tags or ()), None, None])[1] not in (None, "a")
    ],
    "SELECT n FROM t WHERE tags IS NULL": lambda rows: [(n,) for n, _, tags in rows if tags is None],
    "SELECT n FROM t WHERE tags IS NOT NULL AND size(tags) < 3": lambda rows: [
        (n,) for n, _, tags in rows if tags is not None and len(tags) < 3
    ],
    "SELECT size(tags), count(*) FROM t GROUP BY size(tags)": lambda rows: counts(size(tags) for *_, tags in rows),
    "SELECT tags[0], count(*) FROM t GROUP BY tags[0]": lambda rows: counts((tags or [None])[0] for *_, tags in rows),
    "SELECT array_contains(tags, 'b'), sum(size(tags)) FROM t GROUP BY array_contains(tags, 'b')": lambda rows: [
        (b, sum(size(tags) for *_, tags in rows if has(tags, "b") == b)) for b in {has(tags, "b") for *_, tags in rows}
    ],
    "SELECT count(*) FILTER (WHERE array_contains(tags, 'b')), sum(if(size(tags) > 1, n, 0)) FROM t": lambda rows: [
        (sum(has(tags, "b") for *_, tags in rows), sum(n for n, _, tags in rows if size(tags) > 1))
    ],
    f"SELECT n, tag, tags {EXPLODE}": lambda rows: [(n, tag, tags) for n, _, tags, tag in exploded(rows)],
    f"SELECT tag, count(*) {EXPLODE} GROUP BY tag": lambda rows: counts(tag for *_, tag in exploded(rows)),
    f"SELECT k, upper(tag), count(*) {EXPLODE} GROUP BY k, upper(tag)": lambda rows: counts(
        (k, tag and tag.upper()) for _, k, _, tag in exploded(rows)
    ),
    f"SELECT tag, size(tags), count(*) {EXPLODE} GROUP BY tag, size(tags)": lambda rows: counts(
        (tag, size(tags)) for *_, tags, tag in exploded(rows)
    ),
    f"SELECT tag, count(*) c {EXPLODE} GROUP BY tag ORDER BY tag NULLS FIRST LIMIT 2": lambda rows: sorted(
        counts(tag for *_, tag in exploded(rows)), key=lambda row: (row[0] is not None, row[0])
    )[:2],
    f"SELECT year(`__time`), count(tag), count(DISTINCT tag) {EXPLODE} GROUP BY year(`__time`)": lambda rows: [
        (
            2024 + 2 * int(k),
            sum(t is not None for _, key, _, t in exploded(rows) if key == k),
            len({t for _, key, _, t in exploded(rows) if key == k} - {None}),
        )
        for k in sorted({key for _, key, _, _ in exploded(rows)})
    ],
    f"SELECT count(*) {EXPLODE} WHERE tag = 'none'": lambda rows: [(0,)],
    f"SELECT n, tag {EXPLODE} WHERE tag <> 'a'": lambda rows: [
        (n, tag) for n, _, _, tag in exploded(rows) if tag not in (None, "a")
    ],
    f"SELECT n, tag {EXPLODE} WHERE tag IS NULL": lambda rows: [
        (n, tag) for n, _, _, tag in exploded(rows) if tag is None
    ],
    f"SELECT n, tag {EXPLODE} WHERE NOT tag IN ('a', 'c') OR tag LIKE 'a%'": lambda rows: [
        (n, tag) for n, _, _, tag in exploded(rows) if tag is not None and tag != "c"
    ],
    f"SELECT n, tag {EXPLODE} WHERE (upper(tag) = 'A' OR tag IS NULL) AND n <> 4 AND array_contains(tags, 'a')": lambda rows: [
        (n, tag) for n, _, tags, tag in exploded(rows) if tag in ("a", None) and n != 4 and has(tags, "a")
    ],
    f"SELECT n, tag {EXPLODE} WHERE (NOT tag = 'a' OR n = 4) AND array_contains(tags, tag) AND NOT array_contains(tags, '')": lambda rows: [
        (n, tag) for n, _, tags, tag in exploded(rows) if not has(tags, "") and tag is not None and (tag != "a" or n == 4)
    ],
    f"SELECT n, tag {EXPLODE} WHERE NOT (tag = k OR tag IS NULL AND n < 5)": lambda rows: [
        (n, tag) for n, k, _, tag in exploded(rows) if tag not in (k, None)
    ],
    f"SELECT n, tag {EXPLODE} WHERE NOT array_contains(tags, 'a')": lambda rows: [
        (n, tag) for n, _, tags, tag in exploded(rows) if not has(tags, "a")
    ],
    "SELECT n, tag FROM t LATERAL VIEW OUTER explode(tags) v AS tag": lambda rows: [
        (n, tag) for n, _, _, tag in exploded(rows, outer=True)
    ],
    "SELECT n, tag FROM t LATERAL VIEW OUTER explode(tags) v AS tag WHERE NOT tag = 'a' OR tag IS NULL": lambda rows: [
        (n, tag) for n, _, _, tag in exploded(rows, outer=True) if tag != "a"
    ],
    "SELECT x, y, count(*) FROM t LATERAL VIEW explode(tags) v AS x LATERAL VIEW OUTER explode(tags) w AS y"
    " WHERE x <> 'a' AND (y <> 'b' OR y IS NULL) GROUP BY x, y": lambda rows: counts(
        (x, y) for _, _, tags, x in exploded(rows) for y in tags or () if x not in (None, "a") and y != "b"
    ),
    f"SELECT n, tag, v {EXPLODED} {PAIRS} ON tag = w WHERE (NOT tag = 'a' OR n = 4) AND n <> 6": lambda rows: [
        (n, tag, v) for n, _, _, tag in exploded(rows) for w, v in VALUES if tag == w and (tag != "a" or n == 4) and n != 6
    ],
    f"SELECT v, count(*) {EXPLODED} {PAIRS} ON tag = w GROUP BY v": lambda rows: counts(
        v for *_, tag in exploded(rows) for w, v in VALUES if tag == w
    ),
    f"SELECT n, tag, v {EXPLODED} LEFT {PAIRS} ON tag = w WHERE NOT tag = 'a' OR v = 3": lambda rows: [
        (n, tag, v)
        for n, _, _, tag in exploded(rows)
        for v in [*(v for w, v in VALUES if w == tag)] or (None,)
        if tag not in (None, "a") or v == 3
    ],
    f"SELECT tag, count(*) {EXPLODED} WHERE tag IN (SELECT tags[0] FROM t WHERE n > 5 AND tags[0] <> '') GROUP BY tag": lambda rows: counts(
        tag for *_, tag in exploded(rows) if tag and tag in {(tags or [None])[0] for n, _, tags in rows if n > 5}
    ),
    f"SELECT n, tag {EXPLODED} WHERE NOT EXISTS (SELECT 1 FROM t WHERE tags[1] = e.tag)": lambda rows: [
        (n, tag) for n, _, _, tag in exploded(rows) if tag is None or tag not in {(tags or [])[1:2][0] for *_, tags in rows if tags and len(tags) > 1}
    ],
    f"SELECT n FROM t WHERE tags[0] IN (SELECT tag {EXPLODE} WHERE n = 12 GROUP BY tag)": lambda rows: [
        (n,) for n, _, tags in rows if tags and tags[0] in {tag for m, _, _, tag in exploded(rows) if m == 12}
    ],
}  # fmt: skip


@pytest.fixture(scope="module", params=SEGMENTS)
def segments(request: pytest.FixtureRequest) -> list[list[Any]]:
    return SEGMENTS[request.param]


@pytest.fixture(scope="module")
def both(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, segments: list[list[Any]]) -> Iterator[Both]:
    staged = [
        {"__time": NEW_YEAR + 2 * place * YEAR, "k": str(place), "tags": tags}
        for place, segment in enumerate(segments)
        for tags in segment
    ]
    rows = [{"n": n, **row} for n, row in enumerate(staged)]
    with stored_in_both(cluster, tmp_path_factory.mktemp("arrays"), rows, SPEC) as made:
        yield made


def of(both: Both, sql: str) -> DruidRead:
    made = read(sql, tables=(TABLE,))
    return DruidRead(both.named(json.loads(json.dumps(made.query))), made.fields)


def answered(engine: Any, asked: DruidRead) -> Rows:
    from hivedruid.plan.decode import decode_rows

    return sorted(decode_rows(engine.rows(asked), asked.fields, "UTC"), key=repr)


@pytest.mark.parametrize("engine", ["store", "druid"])
@pytest.mark.parametrize("sql", CASES)
def test_native_and_raw_answers(both: Both, engine: str, sql: str) -> None:
    asked = getattr(both, engine)
    raw: Any = answered(asked, of(both, "SELECT n, k, tags FROM t"))
    assert answered(asked, of(both, sql)) == sorted(CASES[sql](raw), key=repr)


@pytest.mark.parametrize("engine", ["store", "druid"])
def test_a_scan_tells_no_empty_array_from_null(both: Both, engine: str, segments: list[list[Any]]) -> None:
    raw = dict(getattr(both, engine).rows(of(both, "SELECT n, tags FROM t")))
    stored = [value for segment in segments for value in segment]
    assert [raw[n] for n in range(len(stored))] == [shown(value) for value in stored]


def shown(value: Any) -> Any:
    """A column's value as Druid returns it: a single value as such, none as null."""
    return value if not isinstance(value, list) or len(value) > 1 else next(iter(value), None)
