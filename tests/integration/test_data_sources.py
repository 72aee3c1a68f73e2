"""Every kind of column of a data source that hivedruid did not make: each statement agrees with Druid's own scan."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.clients.overlord import Overlord
from hivedruid.errors import SemanticError, UnsupportedError
from tests.support.data_sources import (
    KINDS,
    METRICS,
    PATHS,
    SEGMENTS,
    Kind,
    as_hive,
    by_row,
    hive_text,
    key_of,
    spec_of,
)
from tests.support.ingestion import until

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster, Run

DATA_SOURCE = "kinds_of_others"
EVERYTHING = "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"


@pytest.fixture(scope="module")
def other(cluster: Cluster) -> Iterator[DruidCluster]:
    with closing(cluster.druid()) as druid:
        overlord = Overlord(druid.client)
        for number in range(SEGMENTS):
            task = f"kinds_{number}_{uuid4().hex[:8]}"
            overlord.submit({**spec_of(DATA_SOURCE, number), "id": task})
            _wait(overlord, task)
        until(lambda: len(druid.segments(DATA_SOURCE)) == SEGMENTS, "the segments")
        yield druid
        druid.drop(DATA_SOURCE)


def _wait(overlord: Overlord, name: str) -> None:
    def is_over() -> bool:
        task = overlord.task(name)
        assert task is None or task.state != "FAILED", task
        return task is not None and task.state == "SUCCESS"

    until(is_over, f"the task {name}")


@pytest.fixture(scope="module")
def run(cluster: Cluster, other: DruidCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs statements in a home with the table `d` over the data source and its copy `m`."""
    with cluster.statements(tmp_path_factory.mktemp("home")) as run:
        run(f"CREATE EXTERNAL TABLE d STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{DATA_SOURCE}')")
        run("CREATE TABLE m AS SELECT * FROM d")
        yield run


@pytest.fixture(scope="module")
def types(run: Run) -> dict[str, str]:
    return {row[0]: row[1] for row in run("DESCRIBE d")}


@pytest.fixture(scope="module")
def scanned(other: DruidCluster, types: dict[str, str]) -> dict[str, dict[str, Any]]:
    """What Druid's own scan returns, by column and row."""
    query = {
        "queryType": "scan", "dataSource": DATA_SOURCE, "intervals": [EVERYTHING], "resultFormat": "compactedList",
        "columns": ["r", *(kind.column for kind in KINDS)],
    }  # fmt: skip
    batches = other.client.post("broker", "/druid/v2", list[dict[str, Any]], query)
    rows = [row for batch in batches for row in batch["events"]]
    return {
        kind.column: {row[0]: as_hive(row[at], types[kind.column.lower()]) for row in rows}
        for at, kind in enumerate(KINDS, 1)
    }


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    made: Kind = request.param
    return made


def test_the_types_are_those_of_the_page(other: DruidCluster) -> None:
    schema = other.schema(DATA_SOURCE)
    for kind in KINDS:
        differing = set(schema.differing.get(kind.column, ())) or {schema[kind.column]}
        if "ARRAY<STRING>" in kind.types and kind.types <= {"STRING", "ARRAY<STRING>"}:
            assert schema[kind.column] == "ARRAY<STRING>", kind
        else:
            assert differing == kind.types - {""}, kind


def test_rows(kind: Kind, run: Run, scanned: dict[str, dict[str, Any]]) -> None:
    x = f"`{kind.column}`"
    expected = scanned[kind.column]
    assert by_row(run(f"SELECT r, {x} FROM d")) == expected
    assert by_row(run(f"SELECT r, {x} FROM m")) == expected, "CREATE TABLE … AS SELECT"
    assert {row[0] for row in run(f"SELECT r FROM d WHERE {x} IS NULL")} == {
        r for r, v in expected.items() if v is None
    }


def test_groups(kind: Kind, run: Run, scanned: dict[str, dict[str, Any]]) -> None:
    x = f"`{kind.column}`"
    values = list(scanned[kind.column].values())
    groups = Counter(map(repr, values))
    assert {repr(row[0]): row[1] for row in run(f"SELECT {x}, count(*) FROM d GROUP BY {x}")} == groups
    present = [value for value in values if value is not None]
    (counts,) = run(f"SELECT count({x}), count(DISTINCT {x}), count(*), min({x}), max({x}) FROM d")
    assert counts[:3] == (len(present), len(set(map(repr, present))), len(values))
    if not isinstance(present[0], list):
        assert counts[3:] == (min(present), max(present))
        ordered = [row[0] for row in run(f"SELECT {x} FROM d ORDER BY {x} NULLS LAST")]
        assert ordered == sorted(values, key=key_of)


def test_conditions(kind: Kind, run: Run, scanned: dict[str, dict[str, Any]], types: dict[str, str]) -> None:
    x, expected = f"`{kind.column}`", scanned[kind.column]
    sample = next(value for value in expected.values() if value not in (None, []))
    if isinstance(sample, list):
        item = next(each for each in sample if each is not None)
        literal = f"'{item}'" if isinstance(item, str) else repr(item)
        found = {row[0] for row in run(f"SELECT r FROM d WHERE array_contains({x}, {literal})")}
        assert found == {r for r, v in expected.items() if v is not None and item in v}
        sizes = by_row(run(f"SELECT r, size({x}) FROM d"))
        assert sizes == {r: -1 if v is None else len(v) for r, v in expected.items()}
        return
    literal = (
        _quoted(sample)
        if types[kind.column.lower()] == "string"
        else f"CAST({sample!r} AS {types[kind.column.lower()]})"
    )
    for op, holds in (("=", operator.eq), (">=", operator.ge), ("<>", operator.ne)):
        found = {row[0] for row in run(f"SELECT r FROM d WHERE {x} {op} {literal}")}
        assert found == {r for r, v in expected.items() if v is not None and holds(v, sample)}, op


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.types == {"COMPLEX<json>"}], ids=lambda kind: kind.name
)
def test_paths_of_nested_data(kind: Kind, run: Run, scanned: dict[str, dict[str, Any]]) -> None:
    x, documents = f"`{kind.column}`", scanned[kind.column]
    values = [f"get_json_object({x}, '{path}')" for path in PATHS]
    plan = "\n".join(str(row[0]) for row in run(f"EXPLAIN SELECT r, {', '.join(values)} FROM d"))
    assert "json_query" in plan
    assert "Spark" not in plan
    rows = run(f"SELECT r, {', '.join(values)} FROM d")
    expected = {r: [hive_text(text, path) for path in PATHS] for r, text in documents.items()}
    assert {row[0]: list(row[1:]) for row in rows} == expected
    for at, value in enumerate(values[:6]):
        texts = Counter(row[at] for row in expected.values())
        assert dict(run(f"SELECT {value}, count(*) FROM d GROUP BY {value}")) == texts
        counted = run(f"SELECT count({value}), sum(CAST({value} AS BIGINT)), max({value}) FROM d")
        present = [text for text in texts.elements() if text is not None]
        whole = [int(float(t)) for t in present if re.fullmatch(r"-?\d+([.]\d*)?", t) and abs(float(t)) < 2**63]
        assert counted == [(len(present), sum(whole) if whole else None, max(present, default=None))]
        for text in {*present, "other"}:
            literal = _quoted(text)
            found = {row[0] for row in run(f"SELECT r FROM d WHERE {value} = {literal}")}
            assert found == {r for r, row in expected.items() if row[at] == text}
            others = {row[0] for row in run(f"SELECT r FROM d WHERE NOT {value} = {literal}")}
            assert others == {r for r, row in expected.items() if row[at] not in (text, None)}


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


DECLARED = {"l": "bigint", "d": "double", "s": "string", "b": "boolean", "x": "double"}


@pytest.fixture(scope="module")
def declared(run: Run) -> Run:
    """The table `p`, some of whose columns are values in nested data, and its copy `c`."""
    nested, paths = "json_of_several_types", "l:{0}.long, d:{0}.double, s:{0}.text, b:{0}.yes, x:{0}.object.x"
    columns = ", ".join(f"{name} {type_}" for name, type_ in DECLARED.items())
    run(
        f"CREATE EXTERNAL TABLE p (`__time` timestamp, r string, {nested} string, {columns}) STORED BY 'druid'"
        f" TBLPROPERTIES ('druid.datasource' = '{DATA_SOURCE}', 'druid.columns.path' = '{paths.format(nested)}')"
    )
    run("CREATE TABLE c AS SELECT * FROM p")
    return run


def test_declared_paths(declared: Run, scanned: dict[str, dict[str, Any]]) -> None:
    run, documents = declared, scanned["json_of_several_types"]
    texts = {r: [hive_text(text, f"$.{path}") for path in ("text", "double")] for r, text in documents.items()}
    assert {row[0]: list(row[1:]) for row in run("SELECT r, s, CAST(d AS string) FROM p WHERE d = 1.0")} == {
        r: row for r, row in texts.items() if row[1] == "1.0"
    }
    assert sorted(run("SELECT r, s FROM p")) == sorted((r, row[0]) for r, row in texts.items())
    for name, type_ in DECLARED.items():
        for statement in (
            f"SELECT r, {name} FROM {{0}}",
            f"SELECT {name}, count(*) FROM {{0}} GROUP BY {name}",
            f"SELECT count({name}), count(DISTINCT {name}), min({name}), max({name}) FROM {{0}}",
            f"SELECT {name} FROM {{0}} ORDER BY {name} DESC NULLS LAST",
            f"SELECT r FROM {{0}} WHERE {name} IS NULL",
            f"SELECT r FROM {{0}} WHERE {name} >= CAST('1.0' AS {type_})",
        ):
            pushed, copied = run(statement.format("p")), run(statement.format("c"))
            assert pushed == copied if "ORDER" in statement else Counter(pushed) == Counter(copied), statement


def test_files_are_not_read_for_declared_paths(declared: Run) -> None:
    statement = "SELECT r, l FROM {} WHERE soundex(concat('x', r)) IS NOT NULL"
    declared("SET hivedruid.druid.read = segments")
    try:
        assert Counter(declared(statement.format("p"))) == Counter(declared(statement.format("c")))
    finally:
        declared("SET hivedruid.druid.read = auto")


def test_declared_paths_are_described(declared: Run) -> None:
    declared("ANALYZE TABLE p COMPUTE STATISTICS FOR COLUMNS")
    assert ("l", "json_of_several_types.long") in [row[:2] for row in declared("DESCRIBE EXTENDED p")]
    shown = "\n".join(row[0] for row in declared("SHOW CREATE TABLE p"))
    assert "'druid.columns.path'='l:json_of_several_types.long" in shown
    declared("ALTER TABLE p ADD COLUMNS (y bigint)")
    with pytest.raises(SemanticError, match="column 'z'"):
        declared("ALTER TABLE p SET TBLPROPERTIES ('druid.columns.path' = 'z:json_of_several_types.yes')")
    declared("ALTER TABLE p SET TBLPROPERTIES ('druid.columns.path' = 'y:json_of_several_types.long')")
    assert declared("SELECT max(y) FROM p") == declared("SELECT max(l) FROM c")
    with pytest.raises(UnsupportedError, match=r"its column 'y' is the value at json_of_several_types[.]long"):
        declared("INSERT INTO p SELECT * FROM p")


def test_nulls_are_pushed(kind: Kind, run: Run, scanned: dict[str, dict[str, Any]]) -> None:
    x, values = f"`{kind.column}`", scanned[kind.column].values()
    null = sum(value is None for value in values)
    statement = f"SELECT count({x}), sum(if({x} IS NULL, 1, 0)), max(CASE WHEN {x} IS NOT NULL THEN r END) FROM d"
    assert "Spark" not in "\n".join(str(row[0]) for row in run(f"EXPLAIN {statement}"))
    last = max(r for r, value in scanned[kind.column].items() if value is not None)
    assert run(statement) == [(len(values) - null, null, last)]


def test_values_of_subqueries_are_those_of_rows(run: Run, scanned: dict[str, dict[str, Any]]) -> None:
    for column in ("json", "array_of_long"):
        inner = f"(SELECT r, {column} x FROM d LIMIT 100) t"
        found = run(f"SELECT x, count(*) FROM {inner} GROUP BY x")
        assert Counter({repr(row[0]): row[1] for row in found}) == Counter(map(repr, scanned[column].values()))


def test_files_have_the_rows_of_queries(run: Run, scanned: dict[str, dict[str, Any]]) -> None:
    """Each column alone: one that is not read from files would keep the others from it."""
    run("SET hivedruid.druid.read = segments")
    try:
        for kind in KINDS:
            rows = run(f"SELECT r, `{kind.column}` FROM d WHERE soundex(concat('x', r)) IS NOT NULL")
            assert by_row(rows) == scanned[kind.column], kind.name
    finally:
        run("SET hivedruid.druid.read = auto")


def test_statistics(run: Run) -> None:
    run("ANALYZE TABLE d COMPUTE STATISTICS FOR COLUMNS")
    assert run("SELECT count(*) FROM d WHERE array_of_long IS NOT NULL")


def test_mixed_types_are_described(run: Run) -> None:
    text = "\n".join(" ".join(map(str, row)) for row in run("DESCRIBE EXTENDED d"))
    assert "DOUBLE in 2 segments, LONG in 1 segment" in text


def test_every_metric_has_a_kind() -> None:
    assert {part.spec for kind in KINDS for part in kind.parts} >= METRICS.keys()
