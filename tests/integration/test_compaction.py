"""COMPACT, automatic compaction, SHOW COMPACTIONS and SHOW SEGMENTS on a cluster, also while a table ingests from
Kafka.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.clients import wire
from hivedruid.druid.compaction import TASK, config_path
from hivedruid.druid.ingestion import index_parallel_spec
from tests.support.ingestion import Feed, IngestionHome, Row, until
from tests.support.loads import ingest

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

FORCE = "/druid/coordinator/v1/compaction/compact"
"""Makes the coordinator run automatic compaction now instead of within half an hour."""
SECOND = 2**53 + 1


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path, cluster.services)
    yield made
    made.close()


class Tables:
    """Tables to which tasks append rows, without Spark."""

    def __init__(self, home: IngestionHome) -> None:
        self.home = home

    def create(self, columns: str, **properties: str) -> str:
        name = f"c_{uuid4().hex[:12]}"
        self.home.sources[name] = name
        given = {"druid.datasource": name, **{key.replace("_", "."): value for key, value in properties.items()}}
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        self.home.run(f"CREATE TABLE {name} (`__time` timestamp, {columns}) STORED BY 'druid' TBLPROPERTIES ({pairs})")
        return name

    def append(self, name: str, rows: list[Mapping[str, Any]], dimensions: list[Any], **granularity: Any) -> None:
        """Run a task that appends the rows, and wait until they can be queried."""
        before = self.count(name)
        task_id = f"{name}_{uuid4().hex}"
        schema = {
            "dataSource": name, "timestampSpec": {"column": "time", "format": "iso"},
            "metricsSpec": granularity.pop("metrics", []), "dimensionsSpec": {"dimensions": dimensions},
            "granularitySpec": {
                "type": "uniform", "segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": False, **granularity,
            },
        }  # fmt: skip
        source = {"type": "inline", "data": "\n".join(map(json.dumps, rows))}
        io = {
            "type": "index_parallel",
            "inputSource": source,
            "inputFormat": {"type": "json"},
            "appendToExisting": True,
        }
        spec = {"dataSchema": schema, "ioConfig": io, "tuningConfig": {"type": "index_parallel"}}
        self.home.druid.client.post(
            "overlord", TASK, wire.TaskId, {"type": "index_parallel", "id": task_id, "spec": spec}
        )
        until(lambda: (t := self.home.overlord.task(task_id)) is not None and t.is_complete)
        task = self.home.overlord.task(task_id)
        assert task is not None
        assert task.state == "SUCCESS", task
        until(lambda: self.count(name) == before + len(rows), "rows that were appended")

    def count(self, name: str) -> int:
        return sum(segment.rows or 0 for segment in self.home.druid.listed_segments([name])[0])

    def segments(self, name: str) -> list[Row]:
        return self.home.run(f"SHOW SEGMENTS FOR {name}")

    def states(self, name: str) -> list[tuple[str, int]]:
        return [(row["state"], row["rows"]) for row in self.segments(name) if row["state"] != "overshadowed"]


@pytest.fixture
def tables(home: IngestionHome) -> Tables:
    return Tables(home)


def test_compact_merges_segments_and_changes_no_answer(home: IngestionHome, tables: Tables) -> None:
    name = tables.create("id string, n bigint, x double", druid_rollup="false", druid_segment_granularity="DAY")
    dimensions = ["id", {"type": "long", "name": "n"}, {"type": "double", "name": "x"}, _several("tags")]
    rows: list[Mapping[str, Any]] = [
        {"time": f"2024-01-0{day}T0{hour}:00:00.123Z", "id": "" if hour else None, "n": SECOND + hour, "x": hour / 3,
         "tags": ["z", "a", "z"]}
        for day in (1, 2, 5) for hour in range(3)
    ]  # fmt: skip
    for _ in range(2):
        tables.append(name, rows, dimensions, segmentGranularity="HOUR")
    assert tables.states(name) == [("available", 1)] * 18
    query = f"SELECT `__time`, id, n, x, count(*) FROM {name} GROUP BY `__time`, id, n, x"
    before = sorted(map(str, home.run(query)))
    (*tasks,) = home.run(f"ALTER TABLE {name} COMPACT 'major' AND WAIT")
    assert len(tasks) == 2  # two days, a gap, and another day
    assert tables.states(name) == [("available", 6)] * 3
    assert sorted(map(str, home.run(query))) == before
    read = [row["bytes"] for row in tables.segments(name) if row["state"] == "available"]
    assert home.druid.analysed(name, {}).bytes == sum(read)  # without overshadowed ones
    scan = {"queryType": "scan", "dataSource": name, "intervals": ["2024/2025"], "columns": ["tags"]}
    found = [event["tags"] for part in home.druid.answer(scan, wire.JsonObject) for event in part["events"]]
    assert found == [["z", "a", "z"]] * 18
    listed = home.run(f"SHOW COMPACTIONS FOR {name}")
    assert {row["task"] for row in listed} == {row["task"] for row in tasks}
    assert {(row["table"], row["type"], row["state"]) for row in listed} == {(f"default.{name}", "major", "SUCCESS")}
    assert home.notes == []


def test_rows_of_a_table_that_rolls_up_are_merged(home: IngestionHome, tables: Tables) -> None:
    """Its metrics do not change; all of time is one interval."""
    name = tables.create("id string, n bigint, most bigint", druid_rollup="true")
    metrics = [
        {"type": "longSum", "name": "n", "fieldName": "n"}, {"type": "longMax", "name": "most", "fieldName": "n"},
    ]  # fmt: skip
    for number in range(3):
        tables.append(
            name, [{"time": "2024-01-01T00:00:00Z", "id": "a", "n": number}], ["id"], segmentGranularity="ALL",
            rollup=True, metrics=metrics,
        )  # fmt: skip
    home.run(f"ALTER TABLE {name} COMPACT 'major' AND WAIT")
    assert tables.states(name) == [("available", 1)]
    assert home.run(f"SELECT id, sum(n) AS n, max(most) AS most FROM {name} GROUP BY id") == [
        {"id": "a", "n": 3, "most": 2}
    ]


def test_times_stay_where_granularities_do_not_nest(home: IngestionHome, tables: Tables) -> None:
    """A month that begins within a week: by default Druid uses the finest granularity of the segments."""
    name = tables.create("id string, n bigint", druid_rollup="true", druid_segment_granularity="YEAR")
    metrics = [{"type": "longSum", "name": "n", "fieldName": "n"}]
    for granularity in ("MONTH", "MONTH", "WEEK"):
        tables.append(
            name, [{"time": "2024-05-09T10:00:00Z", "id": "a", "n": 1}], ["id"], segmentGranularity="YEAR",
            queryGranularity=granularity, rollup=True, metrics=metrics,
        )  # fmt: skip
    home.run(f"ALTER TABLE {name} COMPACT 'major' AND WAIT")
    assert tables.states(name) == [("available", 2)]
    assert [(str(row["__time"]), row["n"]) for row in home.run(f"SELECT `__time`, n FROM {name} ORDER BY `__time`")] == [
        ("2024-05-01 00:00:00", 2), ("2024-05-06 00:00:00", 1),
    ]  # fmt: skip


def test_there_may_be_nothing_to_compact(home: IngestionHome, tables: Tables) -> None:
    name = tables.create("id string")
    assert home.run(f"ALTER TABLE {name} COMPACT 'major' AND WAIT") == []
    assert home.notes == [f"default.{name} has no queryable segments: nothing to compact"]
    assert tables.segments(name) == []


def test_automatic_compaction(home: IngestionHome, tables: Tables) -> None:
    offset = {"druid_compaction_auto": "true", "druid_compaction_skipOffsetFromLatest": "PT0S"}
    name = tables.create("id string", druid_rollup="false", **offset)
    assert _config(home, name)["taskContext"] == {"useConcurrentLocks": True}
    assert [row["state"] for row in home.run(f"SHOW COMPACTIONS FOR {name}")] == ["PENDING"]
    for number in range(2):
        tables.append(name, [{"time": "2024-01-01T00:00:00Z", "id": str(number)}], ["id"])

    def compacted() -> Row | None:
        home.druid.client.post("coordinator", FORCE, wire.Acknowledgement)
        rows = home.run(f"SHOW COMPACTIONS FOR {name}")
        done = [row for row in rows[1:] if row["type"] == "automatic" and row["state"] == "SUCCESS"]
        return rows[0] if done and (rows[0]["compacted"] or "").startswith("1 segment(s), 1 interval(s)") else None

    seen = until(compacted, "automatic compaction")
    assert (seen["type"], seen["state"], seen["task"]) == ("automatic", "RUNNING", None)
    until(lambda: tables.states(name) == [("available", 2)], "the one segment")

    def tasks() -> list[object]:
        return [row["task"] for row in home.run(f"SHOW COMPACTIONS FOR {name}") if row["task"]]

    def settled() -> bool:
        """The coordinator compacts again what its copy of the metadata still shows as not compacted."""
        before = tasks()
        home.druid.client.post("coordinator", FORCE, wire.Acknowledgement)
        return tasks() == before

    until(settled, "no further compaction")
    home.run(f"ALTER TABLE {name} SET TBLPROPERTIES ('druid.compaction.skipOffsetFromLatest' = 'P7D')")
    assert _config(home, name)["skipOffsetFromLatest"] == "P7D"
    home.run(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('druid.compaction.auto')")
    assert _config(home, name) == {}
    home.run(f"ALTER TABLE {name} SET TBLPROPERTIES ('druid.compaction.auto' = 'true')")
    home.run(f"DROP TABLE {name}")
    assert _config(home, name) == {}


@pytest.fixture
def with_supervisors(home: IngestionHome) -> Iterator[None]:
    """Compaction supervisors of the overlord compact, as by default in Druid 37."""
    path = "/druid/indexer/v1/compaction/config/cluster"
    home.druid.client.post("overlord", path, wire.Acknowledgement, {"useSupervisors": True})
    yield
    home.druid.client.post("overlord", path, wire.Acknowledgement, {"useSupervisors": False})


def test_automatic_compaction_by_supervisors(home: IngestionHome, tables: Tables, with_supervisors: None) -> None:
    def supervised() -> list[str]:
        return [one.id for one in home.overlord.supervisors() if one.type == "autocompact" and one.id.endswith(name)]

    name = tables.create("id string", druid_compaction_auto="true")
    assert supervised() == [f"autocompact__{name}"]
    (row,) = home.run(f"SHOW COMPACTIONS FOR {name}")
    assert (row["type"], row["state"]) == ("automatic", "PENDING")
    assert [one["table"] for one in home.run("SHOW INGESTIONS") if name in one["table"]] == []
    home.run(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('druid.compaction.auto')")
    assert supervised() == []
    assert home.run(f"SHOW COMPACTIONS FOR {name}") == []


def test_a_table_is_compacted_and_overwritten_while_it_is_fed(
    home: IngestionHome, tables: Tables, topics: Topics, tmp_path: Path
) -> None:
    """No record is lost or duplicated, no task fails, and reading never stops.

    OVERWRITE replaces the rows that are published when its task gets its lock; records that tasks have read and not
    published, and those that arrive meanwhile, are added to the new rows.
    """
    feed = Feed(topics)
    name = home.create(feed.topic)
    feed.send(20)
    home.run(f"START INGESTION {name}")
    with _fed(feed):
        for _ in range(2):
            home.run(f"HANDOFF INGESTION {name}")
            until(lambda: home.run(f"ALTER TABLE {name} COMPACT 'major' AND WAIT"), "segments to compact")
        assert not [note for note in home.notes if "not compared" in note]
        published = set(home.counted(name))
        home.run(f"HANDOFF INGESTION {name}")
        reading, begun = home.tasks(name), feed.sent
        report = ingest(home.druid, _overwriting(home, name, tmp_path))
        assert report.rows == 1
        until(lambda: home.counted(name)["new"] == 1, "the new row")
        later = feed.sent
        until(lambda: feed.sent > later + 10)
        assert set(reading) <= set(home.tasks(name))

        until(
            lambda: any(row["rows"] for row in tables.segments(name) if row["state"] == "realtime"),
            "growing segments with their rows",
        )
    later_ones = dict.fromkeys(map(str, range(begun, feed.sent)), 1)
    until(lambda: later_ones.items() <= home.counted(name).items(), "all records since the overwrite, once")
    counted = home.counted(name)
    assert counted["new"] == 1
    assert set(counted.values()) == {1}
    assert not published & set(counted)
    assert not [task for task in home.overlord.tasks(home.sources[name]) if task.state == "FAILED"]
    home.stop(name, counted)


class _fed:  # noqa: N801 - used as a function
    """Produces records continuously."""

    def __init__(self, feed: Feed) -> None:
        self.feed, self.ended = feed, Event()
        self.thread = Thread(target=self._produce)

    def _produce(self) -> None:
        while not self.ended.wait(0.1):
            self.feed.send(2)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()


def _overwriting(home: IngestionHome, name: str, folder: Path) -> Row:
    """The task of an INSERT OVERWRITE of one row, with its files."""
    table = home.session.catalog.find("default", name)
    assert table is not None
    spec = index_parallel_spec(table, home.session.settings, "all")
    assert spec["context"] == {"useConcurrentLocks": True}
    staged = folder / "staged"
    staged.mkdir()
    with gzip.open(staged / "0.json.gz", "wt") as file:
        file.write(json.dumps({"__time": 1_442_016_000_000, "id": "new"}) + "\n")
    spec["spec"]["ioConfig"]["inputSource"]["baseDir"] = str(staged)
    return spec


def _several(name: str) -> Row:
    return {"type": "string", "name": name, "multiValueHandling": "ARRAY"}


def _config(home: IngestionHome, data_source: str) -> Row:
    found: Row = home.druid.client.get("overlord", config_path(data_source), wire.JsonObject, missing={})
    return found
