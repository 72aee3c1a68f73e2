"""Every kind of column of a data source that hivedruid did not make: each statement agrees with Druid's own scan."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.clients.overlord import Overlord
from tests.support.data_sources import KINDS, METRICS, SEGMENTS, Kind, as_hive, by_row, key_of, spec_of
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
        f"'{sample}'" if types[kind.column.lower()] == "string" else f"CAST({sample!r} AS {types[kind.column.lower()]})"
    )
    for op, holds in (("=", operator.eq), (">=", operator.ge), ("<>", operator.ne)):
        found = {row[0] for row in run(f"SELECT r FROM d WHERE {x} {op} {literal}")}
        assert found == {r for r, v in expected.items() if v is not None and holds(v, sample)}, op


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
    assert {part.spec for kind in KINDS for part in kind.parts} >= METRICS
