"""Responses of a later Druid than those that were known: they may have more keys, and other values where none is needed.

`druid37/responses.json` was recorded on Druid 37, whose reports count rows with a key that Druid 33 does not have.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hivedruid.clients import wire
from hivedruid.clients.address import DruidAddress
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.fitting import fitted
from hivedruid.clients.overlord import Overlord
from hivedruid.clients.task_spec import marked
from hivedruid.engine.compaction import CompactionLimits
from hivedruid.errors import DruidError
from hivedruid.ingestion.model import RowCounts
from hivedruid.jobs.load import Load, LoadReport
from hivedruid.jobs.staged import StagedRows
from tests.support.journals import Notebook
from tests.unit.clients import test_wrong_answers as known
from tests.unit.clients.conftest import Answer, Asked, Serve
from tests.unit.clients.test_wrong_answers import STATEMENTS, World, place_of, world

__all__ = ["world"]
RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "druid37" / "responses.json").read_bytes())
DAY = (1_704_067_200_000, 1_704_153_600_000)
SCHEMA = {"dataSource": "d", "granularitySpec": {"rollup": False}, "timestampSpec": {"column": "__time"}}
SPEC = {"type": "index_parallel", "spec": {"dataSchema": SCHEMA, "ioConfig": {"inputSource": {"type": "local"}}}}
LOAD = Load("recorded_1", SPEC, StagedRows("/staged", 3, 10, (DAY,), {}), state="submitted")
PAGE = Answer(b"<!DOCTYPE html><title>Sign in</title>")


class Druid37:
    """Responds as the recorded Druid. With `is_away` a page answers instead of its reports."""

    def __init__(self) -> None:
        self.is_away = False
        self.is_compacted = False
        self.has_mark = True
        self.rows: Any = 3

    def __call__(self, asked: Asked) -> Answer:
        if asked.path.endswith("/reports") and self.is_away:
            return PAGE
        return Answer(json.dumps(self._found(asked)).encode())

    def _found(self, asked: Asked) -> Any:
        where = f"{asked.method} {asked.path.partition('?')[0]}"
        if where == "POST /druid/v2":
            is_total = json.loads(asked.body)["queryType"] == "timeseries"
            return [{"result": {"rows": self.rows}}] if is_total else RECORDED["metadata"]
        if asked.method == "POST" and where.endswith("/task"):
            self.is_compacted = True
            return {"task": json.loads(asked.body)["id"]}
        if where.endswith("/segments"):
            return [self._segment() | {"overshadowed": False, "replicationFactor": 1}]
        if where.endswith("/reports"):
            return RECORDED["compact reports" if self.is_compacted else "reports"]
        answers = {"/status": "status", "/candidates": "candidates", "/unusedSegments": "supervisors"}
        name = next((name for end, name in answers.items() if where.endswith(end)), "")
        name = "task status" if re.search(r"/task/.*/status", where) else name
        found = [] if name == "supervisors" else deepcopy(RECORDED[name])
        if name == "candidates":
            found[0]["version"] = self._segment()["version"]
        return found

    def _segment(self) -> dict[str, Any]:
        found: dict[str, Any] = RECORDED["segments"][0]
        if not self.is_compacted:
            return found | {"lastCompactionState": marked(LOAD.task, SCHEMA, {}) if self.has_mark else {}}
        version = "2026-11-28T20:00:00.000Z"
        return found | {
            "lastCompactionState": {},
            "version": version,
            "identifier": found["identifier"].replace(found["version"], version),
        }


@pytest.fixture
def druid37(serve: Serve) -> Iterator[tuple[Druid37, DruidCluster, list[str]]]:
    answers, notes = Druid37(), list[str]()
    url = serve(answers).url
    address = DruidAddress(url, url, url, url, tries=1)
    cluster = DruidCluster(address, progress=lambda _: None, note=notes.append, patience=5, slot_patience=5)
    yield answers, cluster, notes
    cluster.close()


def test_the_report_of_a_load(druid37: tuple[Druid37, DruidCluster, list[str]]) -> None:
    _, cluster, notes = druid37
    journal = Notebook()
    assert cluster.ingest(LOAD, journal) == LoadReport("recorded_1", 3, 1, 1312)
    assert (journal.state, notes) == ("verified", [])


def test_the_report_of_a_compaction(druid37: tuple[Druid37, DruidCluster, list[str]]) -> None:
    _, cluster, notes = druid37
    task = {
        "type": "compact",
        "dataSource": "d",
        "granularitySpec": {},
        "ioConfig": {"inputSpec": {"type": "interval"}},
    }
    (done,) = cluster.compact(task, CompactionLimits(5, 5), lambda _: None)
    assert done.startswith("hivedruid_compact_d_")
    assert notes == []


def test_a_report_that_cannot_be_read(druid37: tuple[Druid37, DruidCluster, list[str]]) -> None:
    """The error says where the rows are; the job is resumed without the report."""
    druid, cluster, notes = druid37
    druid.is_away = True
    journal = Notebook()
    with pytest.raises(DruidError, match=r"the rows are in Druid, but the report of task recorded_1 cannot be read: "):
        cluster.ingest(LOAD, journal)
    assert journal.state == "published"
    resumed = replace(LOAD, state="published", notes=json.loads(journal.notes))
    assert cluster.ingest(resumed, journal) == LoadReport("recorded_1", 3, 1, 1312)
    assert journal.state == "verified"
    assert notes == ["the report of task recorded_1 cannot be read; queries verify its rows"]


def test_a_report_of_a_compaction_that_cannot_be_read(druid37: tuple[Druid37, DruidCluster, list[str]]) -> None:
    druid, cluster, _ = druid37
    druid.is_away = True
    task = {
        "type": "compact",
        "dataSource": "d",
        "granularitySpec": {},
        "ioConfig": {"inputSpec": {"type": "interval"}},
    }
    ids: list[str] = []
    with pytest.raises(
        DruidError, match=r"d was compacted, but its rows before and after were not compared: the answer"
    ):
        cluster.compact(task, CompactionLimits(5, 5), ids.extend)
    assert cluster.resume_compaction("d", ids, CompactionLimits(5, 5)) == ()


def test_counts_that_are_not_numbers(druid37: tuple[Druid37, DruidCluster, list[str]]) -> None:
    _, cluster, _ = druid37
    counts = Overlord(cluster.client).report("recorded_1")
    assert counts == (RowCounts(processed=3), ())
    stats = {"buildSegments": {"processed": float("nan"), "unparseable": "Infinity", "thrownAway": {"a": 1}}}
    assert fitted(stats, wire.RowStats).counts == stats["buildSegments"]


# --- any response ------------------------------------------------------------------------------------------------

NEW: tuple[Any, ...] = ({"a": {"b": [1, None, {"c": "d"}]}}, [[{"x": 1}], None], {}, [], None, True)


def with_new_keys(answer: Any, chance: random.Random) -> Any:
    """The response with new keys in its objects, at random places; Kafka's properties are those of the user."""
    if isinstance(answer, list):
        return [with_new_keys(item, chance) for item in answer]
    if not isinstance(answer, dict):
        return answer
    items = [
        (key, value if key == "consumerProperties" else with_new_keys(value, chance)) for key, value in answer.items()
    ]
    if items and chance.random() < 0.8:
        items.insert(chance.randrange(len(items) + 1), (f"new{chance.randrange(99)}", chance.choice(NEW)))
    return dict(items)


CHANCE = re.compile(r"hivedruid_compact_[\w.]*|\b\d+\.\d\b")
"""What differs between two runs: the ids of new tasks, and the seconds that a task has been running."""


@pytest.mark.parametrize("text", STATEMENTS)
def test_new_keys_change_nothing(world: tuple[World, list[Asked]], text: str) -> None:
    """Not even in maps by names, such as those of tasks: what is no task is left out."""
    here, asked = world
    expected = CHANCE.sub("", here.run(text))
    first = {place_of(one): one for one in reversed(asked) if one.method != "DELETE"}
    chance = random.Random(7)
    for here.druid.place, one in sorted(first.items()):
        answer = here.druid.answer(one)
        is_created = "'START'" in text and "/supervisor" in here.druid.place  # it depends on what was sent
        if isinstance(answer, bytes) or is_created:
            continue
        for _ in range(3):
            changed = with_new_keys(answer, chance)
            here.druid.wrong = Answer(json.dumps(changed).encode())
            assert CHANCE.sub("", here.run(text)) == expected, (here.druid.place, changed)


SHAPES: tuple[tuple[Any, Any], ...] = (
    (known.ANSWERS["GET /status"], wire.Status),
    (known.ANSWERS["GET .*/candidates"], list[wire.Candidate]),
    ([known.SEGMENT], list[wire.DataSegment]),
    ([known.ANALYSIS], list[wire.SegmentAnalysis]),
    (known.ANSWERS["GET .*/supervisor"], list[wire.Supervisor]),
    (known.STATUS, wire.SupervisorStatus),
    ({"0": {known.TASK_ID: known.STATS}}, dict[str, dict[str, wire.RowStats]]),
    (known.PARSE_ERRORS, list[wire.ParseExceptionReport]),
    ([known.TASK], list[wire.Task]),
    ({"task": "t", "status": known.ENDED}, wire.TaskStatus),
    (known.REPORT, wire.Reports),
    (known.COMPACTIONS, wire.CompactionStatuses),
    (known.ANSWERS["GET .*/workers"], list[wire.Worker]),
    (known.ANSWERS["GET .*/servers"], list[wire.Server]),
    (known.ANSWERS["POST .*/sampler"], wire.Sampled),
    (RECORDED["reports"], wire.Reports),
    (RECORDED["compact reports"], wire.Reports),
    (RECORDED["task status"], wire.TaskStatus),
    (RECORDED["tasks"], list[wire.Task]),
    (RECORDED["workers"], list[wire.Worker]),
    (RECORDED["segments"], list[wire.DataSegment]),
    (RECORDED["candidates"], list[wire.Candidate]),
    (RECORDED["servers"], list[wire.Server]),
    (RECORDED["loadqueue"], dict[str, wire.LoadQueue]),
    (RECORDED["metadata"], list[wire.SegmentAnalysis]),
)
NEEDED = ["version", "interval", "partitionNumber", "identifier", "dataSource", "shardSpec", "shardSpec.type", "shardSpec.partitionNum", "id", "columns", "numRows", "hasMultipleValues", "payload", "payload.state", "status", "status.id", "worker", "worker.host", "worker.capacity", "currCapacityUsed", "type", "numRowsRead", "scheduleStatus", "latestStatus"]  # fmt: skip
"""The parts, without the names and numbers of maps and lists, without which a response is not one."""


@pytest.mark.parametrize(("answer", "shape"), SHAPES, ids=lambda value: str(getattr(value, "__name__", ""))[:20])
def test_new_values_of_optional_parts(answer: Any, shape: Any) -> None:
    """Exactly the parts that a statement needs must be as they were."""
    fitted(answer, shape)
    for path in known.paths(answer):
        for value in ({"new": [1]}, [["new"]], True, "new", 1.5):
            changed = deepcopy(answer)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            if type(inner[path[-1]]) is type(value) or isinstance(inner, list):
                continue
            inner[path[-1]] = value
            try:
                fitted(changed, shape)
            except ValueError:
                name = ".".join(key for key in path if isinstance(key, str))
                assert any(name == needed or name.endswith(f".{needed}") for needed in NEEDED) or len(inner) == 1, (
                    name,
                    value,
                )
    fitted(with_new_keys(answer, random.Random(1)), shape)


def run_with(here: World, place: str, answer: Any, text: str) -> str:
    here.druid.place, here.druid.wrong = place, Answer(json.dumps(answer).encode())
    return here.run(text)


UNKNOWN: tuple[tuple[str, Any, str, str, str], ...] = (
    ("GET /druid/indexer/v1/supervisor", [{"id": "default.fed", "state": {"name": "PAUSED"}, "spec": known.SPEC}],
     "SHOW INGESTIONS", '{"name": "PAUSED"}', "STOPPED"),
    ("GET /druid/indexer/v1/supervisor", [{"id": "default.fed", "state": "RUNNING", "spec": {"type": ["kafka"]}}],
     "SHOW INGESTIONS", "RUNNING", "STOPPED"),
    ("GET /druid/indexer/v1/supervisor", [{**known.ANSWERS["GET .*/supervisor"][0], "healthy": {"since": 1}}],
     "SHOW PROBLEMS", "parse errors", "unhealthy"),
    ("GET /druid/indexer/v1/task/ended/reports", {"ingestionStatsAndErrors": {"payload": {"rowStats": [1]}}},
     "SHOW TASK 'ended'", "no report available", "rows processed"),
    ("GET /druid/indexer/v1/supervisor/default.fed/stats", {"0": {known.TASK_ID: {"totals": [5]}}}, "SHOW INGESTIONS",
     "'RUNNING', '1/1', None, None, None, None,", "None, 0, "),
    ("GET /druid/indexer/v1/tasks", [{**known.TASK, "location": {"host": "h", "port": {"plain": 1}}}], "SHOW TASKS",
     "'h'", "h:None"),
    ("GET /druid/indexer/v1/compaction/status/datasources",
     {"latestStatus": [{**known.COMPACTIONS["latestStatus"][0], "bytesAwaitingCompaction": {"all": 1}}]},
     "SHOW COMPACTIONS", "None, '5 segment(s)", " 0 bytes"),
)  # fmt: skip
"""A value of an unknown type, the statement that reads it, what it returns, and what it would be wrong to return."""


@pytest.mark.parametrize(("place", "answer", "text", "right", "wrong"), UNKNOWN, ids=lambda value: str(value)[:40])
def test_a_value_that_cannot_be_read_is_not_taken_for_a_fact(
    world: tuple[World, list[Asked]], place: str, answer: Any, text: str, right: str, wrong: str
) -> None:
    here, _ = world
    told = run_with(here, place, answer, text)
    assert right in told
    assert wrong not in told


def test_a_scan_without_rows_is_not_an_empty_result(world: tuple[World, list[Asked]]) -> None:
    here, _ = world
    with pytest.raises(DruidError, match=r"the answer to POST .*/druid/v2"):
        run_with(here, "POST /druid/v2 scan", [{"columns": ["page", "added"]}], "SELECT page, added FROM d")


def test_a_number_of_values_that_is_not_finite(world: tuple[World, list[Asked]]) -> None:
    here, _ = world
    answer = [{"timestamp": known.NOW, "result": {"d0": float("inf"), "n0": 1, "d1": 1, "n1": 1}}]
    with pytest.raises(DruidError):
        run_with(here, "POST /druid/v2 timeseries", answer, "ANALYZE TABLE d COMPUTE STATISTICS FOR COLUMNS page")


def test_a_load_whose_segments_are_not_found(druid37: tuple[Druid37, DruidCluster, list[str]]) -> None:
    """A Druid that does not store the mark of a load: its rows are there, so it is not taken for rolled back."""
    druid, cluster, _ = druid37
    druid.has_mark = False
    journal = Notebook()
    with pytest.raises(DruidError, match=r"task recorded_1 published 1 segment\(s\), of which 0 are found") as raised:
        cluster.ingest(LOAD, journal)
    assert journal.state == "published"
    assert raised.value.hint is not None


@pytest.mark.parametrize("rows", ["NaN", None, 2.5, float("nan")])
def test_a_number_of_rows_that_cannot_be_read(druid37: tuple[Druid37, DruidCluster, list[str]], rows: Any) -> None:
    """It is not taken for another number of rows: the load would be rolled back."""
    druid, cluster, _ = druid37
    druid.rows = rows
    journal = Notebook()
    with pytest.raises(DruidError, match="the number of rows in Druid cannot be read"):
        cluster.ingest(LOAD, journal)
    assert journal.state == "published"
