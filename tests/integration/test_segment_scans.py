"""Spark reads the segment files of a real Druid in place of its queries, and returns the same rows."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid.clients.failures import AnswerError
from hivedruid.errors import DruidError
from hivedruid.qtest.runner import transcribe
from tests.equivalence.test_goldens import answers
from tests.integration.test_goldens import settings
from tests.support.ingestion import Feed, IngestionHome, until
from tests.support.segments import stored

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
FILES = {"hivedruid.druid.read": "segments", "hivedruid.local.evaluation.max.rows": "0"}
"""Spark reads all rows from segment files. Druid has no md5(): a query with it is one for Spark."""
READ = "druid.segments: read from"


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path, cluster.services, **FILES)
    yield made
    made.close()


@pytest.mark.parametrize("name", ["select_druid", "write_types"])
def test_goldens(name: str, cluster: Cluster, tmp_path: Path) -> None:
    """Every query of a golden, with its filters, types and times."""
    script = ROOT / "tests" / "q" / f"{name}.q"
    expected = list(answers(script.with_name(f"{script.name}.out").read_text(encoding="utf-8")))
    transcript = transcribe(
        script, scratch=tmp_path, settings={**settings(cluster), **FILES, "hivedruid.pushdown": "scans"}
    )
    assert transcript.bugs == ()
    assert list(answers(transcript.text)) == expected


def plan(home: IngestionHome, query: str) -> str:
    return "\n".join(str(row["Explain"]) for row in home.run(f"EXPLAIN {query}"))


def table(home: IngestionHome, columns: str, granularity: str = "DAY", **properties: str) -> str:
    """A table whose data source has its name, which is dropped afterwards."""
    name = f"s_{len(home.sources)}_{home.folder.name[-12:]}".lower().replace("-", "_")
    home.sources[name] = name
    given = {"druid.datasource": name, "druid.segment.granularity": granularity, "druid.query.granularity": "NONE"}
    given |= {key.replace("_", "."): value for key, value in properties.items()}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    home.run(f"CREATE TABLE {name} (`__time` timestamp, {columns}) STORED BY 'druid' TBLPROPERTIES ({pairs})")
    return name


@pytest.fixture
def hours(home: IngestionHome) -> str:
    """A table with 24 rows of one day, one in each hour, n being the hour."""
    name = table(home, "s string, n bigint")
    rows = ", ".join(f"(timestamp '2024-01-01 {n:02}:30:00', {text(n)}, {n})" for n in range(24))
    home.run(f"INSERT INTO {name} VALUES {rows}")
    return name


def text(n: int) -> str:
    return "NULL" if n % 7 == 3 else f"'{'abc'[n % 3]}'"


CONDITIONS: dict[str, Callable[[int], bool]] = {
    "s = 'a'": lambda n: text(n) == "'a'",
    "s IN ('a', 'b')": lambda n: text(n) in ("'a'", "'b'"),
    "s <> 'a'": lambda n: text(n) not in ("'a'", "NULL"),
    "s > 'a'": lambda n: text(n) in ("'b'", "'c'"),
    "s LIKE 'b%'": lambda n: text(n) == "'b'",
    "s IS NULL": lambda n: text(n) == "NULL",
    "s IS NOT NULL AND n % 2 = 0": lambda n: text(n) != "NULL" and n % 2 == 0,
    "n BETWEEN 3 AND 7 OR s = 'c'": lambda n: 3 <= n <= 7 or text(n) == "'c'",
    "`__time` >= '2024-01-01 05:00:00' AND `__time` < '2024-01-01 07:30:00'": lambda n: n in (5, 6),
    "hour(`__time`) = 4": lambda n: n == 4,
    "`__time` > '2025-01-01'": lambda n: False,
}


def test_conditions(home: IngestionHome, hours: str) -> None:
    for condition, holds in CONDITIONS.items():
        query = f"SELECT n, md5(s) FROM {hours} WHERE {condition}"
        assert READ in plan(home, query)
        found = sorted(row["n"] for row in home.run(query))
        assert found == [n for n in range(24) if holds(n)], condition
    assert home.notes == []


def test_only_what_is_needed_is_read(home: IngestionHome, hours: str) -> None:
    shown = plan(home, f"SELECT md5(s), n + 1 FROM {hours} WHERE s = 'a' AND n % 2 = 1")
    assert 'Output:["s","n"]' in shown
    assert '"matchValue": "a"' in shown
    assert "(`n` % 2) = 1" in shown  # in Spark
    assert f"{READ} 1 file," in shown
    shown = plan(home, f"SELECT md5(s) FROM {hours} WHERE `__time` > '2025-01-01'")
    assert f"{READ} 0 files, 0 bytes, in 0 partitions" in shown


def test_queries_that_druid_answers_remain(home: IngestionHome, hours: str) -> None:
    for query in (
        f"SELECT md5(s), count(*) FROM {hours} GROUP BY s",
        f"SELECT md5(s) FROM (SELECT s FROM {hours} LIMIT 3) x",
    ):
        assert READ not in plan(home, query)
    for mode, is_read in (("auto", False), ("query", False), ("segments", True)):
        home.run(f"SET hivedruid.druid.read={mode}")
        assert (READ in plan(home, f"SELECT md5(s) FROM {hours}")) == is_read


def test_a_segment_that_is_hidden_in_part(home: IngestionHome, hours: str) -> None:
    """Of the day, an hour is replaced: the older segment has 23 visible rows."""
    home.run(f"ALTER TABLE {hours} SET TBLPROPERTIES ('druid.segment.granularity'='HOUR')")
    home.run("SET hivedruid.overwrite.mode=dynamic")
    home.run(f"INSERT OVERWRITE TABLE {hours} VALUES (timestamp '2024-01-01 05:10:00', 'new', 100)")
    home.notes.clear()
    query = f"SELECT n, md5(s) FROM {hours}"
    assert f"{READ} 3 files" in plan(home, query)  # the parts before and after the hour, and the hour
    assert sorted(row["n"] for row in home.run(query)) == [n for n in range(24) if n != 5] + [100]
    assert home.notes == []


@pytest.mark.parametrize("damage", ["gone", "truncated"])
def test_files_that_cannot_be_read(home: IngestionHome, hours: str, damage: str) -> None:
    (folder,) = stored(home.druid, hours)
    if damage == "gone":
        shutil.rmtree(folder)
    else:
        largest = max(folder.iterdir(), key=lambda file: file.stat().st_size)
        data = largest.read_bytes()
        largest.unlink()  # the historical has a hard link to it
        largest.write_bytes(data[:200])
    assert sorted(row["n"] for row in home.run(f"SELECT n, md5(s) FROM {hours}")) == [*range(24)]
    (note,) = home.notes
    assert note.startswith(f"segment {hours}_2024-01-01T00:00:00.000Z_2024-01-02T00:00:00.000Z_")
    assert note.endswith("; reading the rows with queries")


def test_a_column_with_two_types(home: IngestionHome) -> None:
    """The files of the older segment have another type than the table."""
    name = table(home, "s string, v string")
    home.run(f"INSERT INTO {name} VALUES (timestamp '2024-01-01 00:00:00', 'a', 'x')")
    other = table(home, "s string, v bigint")
    home.run(f"DROP TABLE {other}")
    home.run(
        f"CREATE EXTERNAL TABLE {other} (`__time` timestamp, s string, v bigint) STORED BY 'druid'"
        f" TBLPROPERTIES ('druid.datasource'='{name}')"
    )
    home.run(f"INSERT INTO {other} VALUES (timestamp '2024-01-02 00:00:00', 'b', 7)")
    assert sorted(row["s"] for row in home.run(f"SELECT s, md5(s) FROM {name}")) == ["a", "b"]
    assert home.notes == []
    for mode in ("query", "segments"):
        home.run(f"SET hivedruid.druid.read={mode}")
        with pytest.raises(AnswerError, match="a numeric field has a value that is not a number"):
            home.run(f"SELECT md5(s), v FROM {other}")
    assert home.notes[-1].endswith("column 'v' has type STRING and not LONG; reading the rows with queries")


def test_rows_that_only_tasks_have(home: IngestionHome, topics: Topics) -> None:
    """While records are ingested, and published, each is read once."""
    feed = Feed(topics)
    feed.send(50)
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    home.expect(name, feed.expected)
    query = f"SELECT id, md5(id) FROM {name}"
    assert "that only tasks have" in plan(home, query)
    assert Counter(str(row["id"]) for row in home.run(query)) == feed.expected
    home.run(f"HANDOFF INGESTION {name}")
    feed.send(30)
    home.expect(name, feed.expected)
    until(lambda: f"{READ} 1 file" in plan(home, query), "the published segment")
    assert Counter(str(row["id"]) for row in home.run(query)) == feed.expected
    home.stop(name, feed.expected)
    until(lambda: "only tasks" not in plan(home, query), "published segments")
    assert Counter(str(row["id"]) for row in home.run(query)) == feed.expected


def test_compaction_during_a_statement(home: IngestionHome, hours: str) -> None:
    """The rows of a statement are those of its beginning, whatever replaces the segments."""
    home.run(f"INSERT INTO {hours} VALUES (timestamp '2024-01-01 12:00:00', 'x', 50)")
    (statement,) = home.session.statements(f"SELECT n, md5(s) FROM {hours}")
    before = home.session._built

    def then_compacted(*arguments: Any) -> Any:
        built = before(*arguments)
        home.session._built = before  # type: ignore[method-assign]
        home.run(f"ALTER TABLE {hours} COMPACT 'major' AND WAIT")
        return built

    home.session._built = then_compacted  # type: ignore[method-assign, assignment]
    found = sorted(row[0] for row in home.session.execute(statement).rows)
    assert found == [*range(24), 50]
    assert home.notes == []
    assert sorted(row["n"] for row in home.run(f"SELECT n, md5(s) FROM {hours}")) == [*range(24), 50]


# --- in this process -----------------------------------------------------------------------------------------------

IN_PROCESS = "by this process"


@pytest.fixture
def few(home: IngestionHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are read from the files in this process, as more are by default."""
    home.run("SET hivedruid.druid.read=auto")
    for module in ("hivedruid.actions.segments", "hivedruid.plan.segment_scans"):
        monkeypatch.setattr(f"{module}.FEW", 1)


@pytest.mark.usefixtures("few")
def test_conditions_in_process(home: IngestionHome, hours: str) -> None:
    for condition, holds in CONDITIONS.items():
        query = f"SELECT n, md5(s) FROM {hours} WHERE {condition}"
        found = sorted(row["n"] for row in home.run(query))
        assert found == [n for n in range(24) if holds(n)], condition
    assert IN_PROCESS in plan(home, f"SELECT n, md5(s) FROM {hours}")
    assert home.notes == []


@pytest.mark.usefixtures("few")
def test_keys_in_process(home: IngestionHome, hours: str, tmp_path: Path) -> None:
    """The keys of a semi-join reduction select the rows of the files."""
    (tmp_path / "dim").mkdir()
    parquet.write_table(pa.table({"k": [3, 30], "name": ["x", "y"]}), tmp_path / "dim" / "a.parquet")
    columns = "(k bigint, name string)"
    home.run(f"CREATE EXTERNAL TABLE keys_{hours} {columns} STORED AS PARQUET LOCATION '{tmp_path / 'dim'}'")
    query = f"SELECT h.n, md5(h.s), d.name FROM {hours} h JOIN keys_{hours} d ON h.n = d.k"
    shown = plan(home, query)
    assert IN_PROCESS in shown
    assert "only rows whose n is among" in shown
    assert [(row["n"], row["name"]) for row in home.run(query)] == [(3, "x")]
    (folder,) = stored(home.druid, hours)
    shutil.rmtree(folder)
    assert [(row["n"], row["name"]) for row in home.run(query)] == [(3, "x")]  # by a query
    assert home.notes == []


# --- results -------------------------------------------------------------------------------------------------------


FEW_OR_COMPUTED = ("s <> 'a'", "s IS NOT NULL AND n % 2 = 0", "hour(`__time`) = 4", "`__time` > '2025-01-01'")
"""Conditions of queries that are sent."""


@pytest.mark.usefixtures("few")
def test_results(home: IngestionHome, hours: str) -> None:
    for condition, holds in CONDITIONS.items():
        query = f"SELECT n FROM {hours} WHERE {condition}"
        assert sorted(row["n"] for row in home.run(query)) == [n for n in range(24) if holds(n)], condition
        assert (f"{READ} 1 file," in plan(home, query)) == (condition not in FEW_OR_COMPUTED), condition
    document = json.loads(plan(home, f"FORMATTED SELECT s FROM {hours}"))
    assert "is_in_process" in json.dumps(document)
    assert {"engine": "hivedruid", "operator": "Scan of segment files"}.items() <= document["operators"][0].items()
    for ending in ("ORDER BY `__time`", "LIMIT 30", "LIMIT 30 OFFSET 1"):
        assert READ not in plan(home, f"SELECT s, `__time` FROM {hours} {ending}")
    for item in ("n + 1", "count(*)", "DISTINCT s"):
        assert IN_PROCESS not in plan(home, f"SELECT {item} FROM {hours}")
    home.run("SET hivedruid.druid.read=query")
    assert READ not in plan(home, f"SELECT s FROM {hours}")
    assert home.notes == []


@pytest.mark.usefixtures("few")
def test_a_result_whose_files_vanish(home: IngestionHome, hours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first row of a segment, its rows and those after it are queried."""
    rows = ", ".join(f"(timestamp '2024-01-02 {n - 30:02}:00:00', 'd', {n})" for n in range(30, 40))
    home.run(f"INSERT INTO {hours} VALUES {rows}")
    expected = [*range(24), *range(30, 40)]
    first, second = sorted(stored(home.druid, hours))
    (statement,) = home.session.statements(f"SELECT n FROM {hours}")
    assert f"{READ} 2 files" in plan(home, statement.text)
    monkeypatch.setattr("hivedruid.plan.segment_files.PIECE", 400)
    begun = home.session.execute(statement).rows
    found = [next(iter(begun))]
    shutil.move(second, home.folder / "second")
    found += begun
    assert sorted(n for (n,) in found) == expected
    assert sorted(row["n"] for row in home.run(statement.text)) == expected
    shutil.move(home.folder / "second", second)
    begun = home.session.execute(statement).rows
    next(iter(begun))
    shutil.move(first, home.folder / "first")
    with pytest.raises(DruidError, match="became unreadable after some of its rows were returned") as raised:
        list(begun)
    assert "SET hivedruid.druid.read=query" in (raised.value.hint or "")
    shutil.move(home.folder / "first", first)
    assert home.notes == []


@pytest.mark.usefixtures("few")
def test_a_result_with_a_value_that_is_not_read_from_files(
    home: IngestionHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found before the first row: how Java writes so large a FLOAT depends on its version."""
    monkeypatch.setattr("hivedruid.actions.select.segment_rows.ROWS", 2)
    name = table(home, "n bigint, f float")
    values = [0.5, None, 0.1, 2.0**25]
    rows = ", ".join(f"(timestamp '2024-01-01 0{n}:00:00', {n}, {f or 'NULL'})" for n, f in enumerate(values))
    home.run(f"INSERT INTO {name} VALUES {rows}")
    query = f"SELECT n, f FROM {name}"
    assert IN_PROCESS in plan(home, query)
    assert sorted((row["n"], row["f"]) for row in home.run(query)) == list(enumerate(values))
    assert home.notes == []
