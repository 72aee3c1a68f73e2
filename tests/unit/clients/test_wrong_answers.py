"""Invalid responses in place of each response that a statement receives: an error that names the URL, and nothing else.

The server is a real one on a socket. It answers as Druid 33 does, except for one path at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from hivedruid.clients import tasks
from hivedruid.clients.address import DruidAddress
from hivedruid.clients.cluster import DruidCluster
from hivedruid.errors import DruidError, HiveDruidError
from hivedruid.jobs.load import Load, NoJournal
from hivedruid.jobs.staged import StagedRows
from hivedruid.session import Session
from tests.unit.clients.conftest import Answer, Asked, Serve

INTERVAL = "2024-01-01T00:00:00.000Z/2024-01-02T00:00:00.000Z"
NOW = "2026-11-22T12:00:00.000Z"
PAGE = b"<!DOCTYPE html><html><title>Sign\x1b[31m in</title>password=canary</html>"
TASK_ID = "index_kafka_default.fed_1"
SEGMENT = {
    "dataSource": "default.d", "interval": INTERVAL, "version": "v1", "identifier": f"default.d_{INTERVAL}_v1", "size": 9,
    "shardSpec": {"type": "numbered", "partitionNum": 0, "partitions": 1}, "binaryVersion": 9,
    "lastCompactionState": {"transformSpec": {"filter": {"type": "selector", "dimension": "x", "value": "y"}}},
    "overshadowed": False, "replicationFactor": 1,
}  # fmt: skip
TASK = {
    "id": TASK_ID, "groupId": "g", "type": "index_kafka", "createdTime": NOW, "statusCode": "RUNNING", "status": "RUNNING",
    "runnerStatusCode": "RUNNING", "duration": -1, "location": {"host": "h", "port": 8100, "tlsPort": -1},
    "dataSource": "default.fed", "errorMsg": None,
}  # fmt: skip
ENDED = {**TASK, "id": "ended", "statusCode": "SUCCESS", "status": "SUCCESS", "duration": 5}
COLUMNS = {
    "__time": {"type": "LONG", "typeSignature": "LONG", "hasMultipleValues": False, "hasNulls": False, "cardinality": None},
    "page": {"type": "STRING", "typeSignature": "STRING", "hasMultipleValues": False, "hasNulls": True, "cardinality": 2},
    "added": {"type": "LONG", "typeSignature": "LONG", "hasMultipleValues": False, "hasNulls": False, "cardinality": None},
}  # fmt: skip
ANALYSIS = {"id": "x", "intervals": [INTERVAL], "columns": COLUMNS, "size": 0, "numRows": 3, "aggregators": None}
SPEC = {
    "type": "kafka", "suspended": False, "context": {},
    "spec": {
        "dataSchema": {"dataSource": "default.fed"}, "tuningConfig": {"type": "kafka"},
        "ioConfig": {"topic": "edits", "taskCount": 1, "replicas": 1, "consumerProperties": {"bootstrap.servers": "127.0.0.1:9"}},
    },
}  # fmt: skip
COUNTS = {"processed": 5, "unparseable": 1, "processedWithError": 0, "thrownAway": 0, "processedBytes": 7}
STATS = {"movingAverages": {"buildSegments": {"1m": {**COUNTS, "processed": 1.5}}}, "totals": {"buildSegments": COUNTS}}
PARSE_ERRORS = [{"input": "{x", "details": ["no JSON"], "timeOfExceptionMillis": 7, "errorType": "PARSE"}]
STATUS = {
    "id": "default.fed",
    "payload": {
        "dataSource": "default.fed", "stream": "edits", "partitions": 1, "replicas": 1, "suspended": False, "healthy": True,
        "state": "RUNNING", "detailedState": "RUNNING", "latestOffsets": {"0": 5}, "minimumLag": {"0": 1}, "aggregateLag": 1,
        "activeTasks": [{"id": TASK_ID, "startingOffsets": {"0": 0}, "currentOffsets": {"0": 4}, "startTime": NOW, "remainingSeconds": 9}],
        "publishingTasks": [], "offsetsLastUpdated": NOW,
        "recentErrors": [{"timestamp": NOW, "exceptionClass": "x.Y", "message": "x.Y: it broke", "streamException": False}],
    },
}  # fmt: skip
REPORT = {
    "ingestionStatsAndErrors": {
        "taskId": TASK_ID, "type": "ingestionStatsAndErrors",
        "payload": {
            "ingestionState": "BUILD_SEGMENTS", "rowStats": STATS, "unparseableEvents": {"buildSegments": PARSE_ERRORS},
            "errorMsg": None, "segmentsRead": None, "segmentsPublished": 1, "recordsProcessed": {"0": 5},
        },
    },
    "taskContext": {"taskId": TASK_ID, "type": "taskContext", "payload": {"useConcurrentLocks": True}},
}  # fmt: skip
COMPACTIONS = {
    "latestStatus": [
        {
            "dataSource": "default.d", "scheduleStatus": "RUNNING", "message": None, "bytesAwaitingCompaction": 1,
            "bytesCompacted": 2, "bytesSkipped": 3, "segmentCountAwaitingCompaction": 4, "segmentCountCompacted": 5,
            "segmentCountSkipped": 6, "intervalCountAwaitingCompaction": 7, "intervalCountCompacted": 8,
            "intervalCountSkipped": 9,
        }
    ]
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    r"GET /status/properties": {"druid.service": "druid/broker", "druid.processing.numThreads": "1"},
    r"GET /status": {"version": "33.0.0", "modules": [{"name": "m", "artifact": "druid-datasketches", "version": "33.0.0"}]},
    r"GET /druid/v2/datasources": ["default.d", "default.fed"],
    r"GET .*/candidates": [
        {"interval": INTERVAL, "version": "v1", "partitionNumber": 0, "size": 9, "locations": [{"name": "h", "type": "historical"}]}
    ],
    r"GET .*/supervisor": [{"id": "default.fed", "state": "RUNNING", "detailedState": "RUNNING", "healthy": True, "spec": SPEC}],
    r"GET .*/supervisor/[^/]+/status": STATUS,
    r"GET .*/supervisor/[^/]+/stats": {"0": {TASK_ID: STATS}},
    r"GET .*/supervisor/[^/]+/parseErrors": PARSE_ERRORS,
    r"GET .*/supervisor/[^/]+/history": [{"version": NOW, "spec": SPEC}],
    r"GET .*/supervisor/[^/]+": SPEC,
    r"POST .*/supervisor(/[^/]+/terminate)?": {"id": "default.fed"},
    r"GET .*/tasks": [TASK, ENDED],
    r"GET .*/task/[^/]+/status": {"task": "ended", "status": ENDED},
    r"GET .*/task/[^/]+/reports": REPORT,
    r"GET .*/unusedSegments": [],
    r"POST .*/sampler": {"numRowsRead": 1, "numRowsIndexed": 1, "data": []},
    r"POST .*/task(/[^/]+/shutdown)?": {"task": TASK_ID},
    r"GET .*/workers": [{"worker": {"host": "h:8100", "capacity": 2}, "currCapacityUsed": 1}],
    r"GET .*/loadstatus": {"default.d": 0},
    r"GET .*/metadata/segments": [SEGMENT],
    r"POST .*/metadata/datasources/[^/]+/segments": [SEGMENT],
    r"POST .*/markUnused": {"numChangedSegments": 1, "segmentStateChanged": True},
    r"GET .*/servers": [{"host": "h", "type": "historical", "tier": "t", "priority": 0, "currSize": 1, "maxSize": 2}],
    r"GET .*/compaction/config/datasources": {"compactionConfigs": [{"dataSource": "default.d", "taskPriority": 25}]},
    r"GET .*/compaction/status/datasources": COMPACTIONS,
}  # fmt: skip
"""The response of a path, by a pattern of the method and the path without query parameters."""
TEXTS = {r"GET .*/task/[^/]+/log": b"2026-11-22 INFO it runs"}
ROW = {"page": "a", "added": 1}
NATIVE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "segmentMetadata": lambda _: [ANALYSIS],
    "scan": lambda query: [{"columns": query["columns"], "events": [[1] * len(query["columns"])]}],
    "timeseries": lambda query: [{"timestamp": NOW, "result": _values(query)}],
    "topN": lambda query: [{"timestamp": NOW, "result": [_values(query)]}],
    "groupBy": lambda query: [{"version": "v1", "timestamp": NOW, "event": _values(query)}],
    "timeBoundary": lambda _: [{"timestamp": NOW, "result": {"minTime": NOW, "maxTime": NOW}}],
}
"""The response to a native query, by its type."""

WRONG: dict[str, Answer] = {
    "page": Answer(PAGE),
    "null": Answer(b"null"),
    "number": Answer(b"5"),
    "text": Answer(b'"OK"'),
    "empty": Answer(b""),
    "no content": Answer(b"", 204),
    "no JSON": Answer(b"[{]"),
    "no UTF-8": Answer(b'["\xff\xfe"]'),
    "nested": Answer(b"[" * 100_000),
    "a null in a list": Answer(b"[null]"),
    "a number in a list": Answer(b"[5]"),
    "another object": Answer(b'{"loginRequired": {"at": ["https://sso"]}}'),
    "a page that is missing": Answer(PAGE, 404),
}
EMPTY_IS_FINE = ("markUnused", "/reports")
"""Requests whose response may be empty or another object: it is not read, or a task has no report yet."""

STATEMENTS = (
    "SELECT count(*), sum(added) FROM d",
    "SELECT page, added FROM d",
    "SELECT page, count(*) FROM d GROUP BY page",
    "SELECT page, added, count(*) FROM d GROUP BY page, added",
    "SELECT page, sum(added) s FROM d GROUP BY page ORDER BY s DESC LIMIT 5",
    "SELECT max(`__time`), min(`__time`) FROM d",
    "SELECT cast(`__time` AS date) d, count(*) FROM d GROUP BY cast(`__time` AS date)",
    "SHOW INGESTIONS",
    "SHOW TASKS",
    "SHOW TASK 'ended'",
    "KILL TASK 'ended'",
    "SHOW PROBLEMS",
    "SHOW SEGMENTS FOR d",
    "SHOW COMPACTIONS",
    "ALTER TABLE d COMPACT 'major'",
    "ANALYZE TABLE d COMPUTE STATISTICS FOR COLUMNS",
    "DESCRIBE EXTENDED fed",
    "ALTER TABLE fed SET TBLPROPERTIES ('druid.kafka.ingestion' = 'START')",
    "EXPLAIN SELECT count(*) FROM d",
)
TABLES = """
CREATE EXTERNAL TABLE d (`__time` timestamp, page string, added bigint) STORED BY 'druid'
    TBLPROPERTIES ('druid.datasource' = 'default.d');
CREATE EXTERNAL TABLE fed (`__time` timestamp, page string) STORED BY 'druid'
    TBLPROPERTIES ('kafka.topic' = 'edits', 'kafka.bootstrap.servers' = '127.0.0.1:9');
"""


def _values(query: dict[str, Any]) -> dict[str, Any]:
    """A row of an aggregation: 1 for every field."""
    dimensions = query.get("dimensions") or [query.get("dimension")]
    names = [d if isinstance(d, str) else d["outputName"] for d in dimensions if d]
    names += [a.get("name") or a["aggregator"]["name"] for a in query.get("aggregations") or ()]
    names += [p["name"] for p in query.get("postAggregations") or ()]
    return dict.fromkeys(names, 1)


class Druid:
    """Answers as Druid does; `wrong` replaces the responses of one `place` (method and path).

    With `is_new` there is no supervisor until one is `sent`.
    """

    def __init__(self) -> None:
        self.sent: dict[str, Any] | None = None
        self.is_new = False
        self.place = ""
        self.wrong: Answer | None = None

    def __call__(self, asked: Asked) -> Answer:
        if self.wrong is not None and place_of(asked) == self.place:
            return self.wrong
        found = self.answer(asked)
        if found is None:
            return Answer(b"Cannot find any supervisor", 404)
        return Answer(found if isinstance(found, bytes) else json.dumps(found).encode())

    def answer(self, asked: Asked) -> Any:
        where = f"{asked.method} {asked.path.partition('?')[0]}"
        if where == "POST /druid/v2":
            query = json.loads(asked.body)
            return NATIVE[query["queryType"]](query)
        if where.startswith("DELETE"):
            return b""
        for pattern, text in TEXTS.items():
            if re.fullmatch(pattern, where):
                return text
        if where.endswith("/supervisor") and asked.method == "POST":
            self.sent = json.loads(asked.body)
        if re.fullmatch(r"GET .*/supervisor/[^/]+(/status)?", where) and self.is_new and self.sent is None:
            return None
        if re.fullmatch(r"GET .*/tasks", where) and self.is_new and self.sent is None:
            return []
        if re.fullmatch(r"GET .*/supervisor/[^/]+", where) and self.sent is not None:
            return self.sent
        return next(answer for pattern, answer in ANSWERS.items() if re.fullmatch(pattern, where))


def place_of(asked: Asked) -> str:
    """The identity of a request, including the type of a native query."""
    kind = f" {json.loads(asked.body)['queryType']}" if asked.path == "/druid/v2" else ""
    return f"{asked.method} {asked.path.partition('?')[0]}{kind}"


class World:
    def __init__(self, home: Path, url: str, druid: Druid) -> None:
        self.home, self.url, self.druid = home, url, druid

    def run(self, text: str) -> str:
        """Everything that a user would see: notes, and the rows of the result."""
        told: list[str] = []
        conf = {"druid.url": self.url, "hive.druid.maxTries": "1", "hivedruid.segment.load.timeout": "PT1S"}
        conf["hivedruid.ingestion.timeout"] = "PT0.1S"
        self.druid.sent, self.druid.is_new = None, "'START'" in text
        with Session(self.home, hiveconf=conf, note=told.append) as session:
            (statement,) = session.statements(text)
            told += map(str, session.execute(statement).rows)
        return "\n".join(told)

    def told(self, text: str) -> str:
        """The same; or the message of a DruidError, which is the only allowed error."""
        try:
            return self.run(text)
        except DruidError as error:
            return error.message


@pytest.fixture
def world(serve: Serve, tmp_path: Path) -> tuple[World, list[Asked]]:
    with Session(tmp_path) as session:
        for statement in session.statements(TABLES):
            session.execute(statement)
    druid = Druid()
    served = serve(druid)
    return World(tmp_path, served.url, druid), served.asked


@pytest.mark.parametrize("text", STATEMENTS)
def test_every_wrong_answer_is_told(world: tuple[World, list[Asked]], text: str) -> None:
    here, asked = world
    here.run(text)
    places = sorted({place_of(one) for one in asked if one.method != "DELETE"})
    assert places
    for here.druid.place in places:
        for name, here.druid.wrong in WRONG.items():
            if name in ("empty", "no content", "another object") and here.druid.place.endswith(EMPTY_IS_FINE):
                continue
            if here.druid.place.endswith("/log") and name not in ("page", "a page that is missing"):
                continue  # a log is any text
            told = here.told(text)
            what = (text, here.druid.place, name, told)
            path = here.druid.place.split()[1]
            assert here.url in told, what
            if name == "page":
                assert path in told, what
                assert "<!DOCTYPE html>" in told, what
                assert "\\x1b[31m" in told, what
            assert "canary" not in told, what


def test_a_wrong_type_inside_is_never_an_internal_error(world: tuple[World, list[Asked]]) -> None:
    here, asked = world
    seen: set[str] = set()
    for text in STATEMENTS:
        asked.clear()
        here.druid.wrong = None
        here.run(text)
        first = {place_of(one): one for one in reversed(asked) if one.method != "DELETE"}
        for here.druid.place, one in sorted(first.items()):
            answer = here.druid.answer(one)
            if here.druid.place in seen or isinstance(answer, bytes):
                continue
            seen.add(here.druid.place)
            for wrong in changed(answer):
                here.druid.wrong = Answer(json.dumps(wrong).encode())
                with suppress(HiveDruidError):
                    here.run(text)
    assert len(seen) > 20


def changed(answer: Any) -> Iterator[Any]:
    """The response with one of its parts removed, or replaced by a value of another type: each part in turn."""
    values: Iterator[Any] = cycle(("x", 1.5, None, [{}], {"x": []}, -1))
    for path in paths(answer):
        for value in (next(values), next(values)):
            copy = deepcopy(answer)
            inner = copy
            for key in path[:-1]:
                inner = inner[key]
            if value is None:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            yield copy


def paths(value: Any, so_far: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*so_far, key)
        yield from paths(inner, (*so_far, key))


def test_ingesting_and_dropping_never_end_in_an_internal_error(
    world: tuple[World, list[Asked]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine calls of INSERT and DROP: their requests to Druid, without Spark's rows and without a table to
    drop."""
    for name in ("OVERLORD_AWAY", "LOST_WORKER"):
        monkeypatch.setattr(tasks, name, 0.2)
    here, asked = world
    schema = {
        "dataSource": "default.d",
        "granularitySpec": {"intervals": [INTERVAL]},
        "timestampSpec": {"column": "__time"},
    }
    source = {"type": "local", "baseDir": "/staged", "filter": "*"}
    spec = {
        "type": "index_parallel",
        "spec": {
            "dataSchema": schema,
            "ioConfig": {"inputSource": source, "inputFormat": {"type": "json"}, "dropExisting": True},
        },
    }
    staged = StagedRows("/staged", 5, 10, ((1_704_067_200_000, 1_704_153_600_000),), {})

    def ingest(druid: DruidCluster) -> None:
        druid.ingest(Load("ended", spec, staged, "intervals"), NoJournal())

    def drop(druid: DruidCluster) -> None:
        druid.drop("default.gone")
        druid.delete_unused("default.gone")

    def done(what: Callable[[DruidCluster], None]) -> str:
        notes: list[str] = []
        address = DruidAddress(here.url, here.url, here.url, here.url, tries=1)
        druid = DruidCluster(address, progress=lambda _: None, note=notes.append, patience=0.2, slot_patience=0.2)
        try:
            what(druid)
        except HiveDruidError as error:
            notes.append(error.message)
        finally:
            druid.close()
        return "\n".join(notes)

    for what in (ingest, drop):
        asked.clear()
        here.druid.wrong = None
        done(what)
        places = sorted({place_of(one) for one in asked})
        assert len(places) > 2
        for here.druid.place in places:
            for name, here.druid.wrong in WRONG.items():
                told = done(what)
                assert "canary" not in told, (what, here.druid.place, name, told)
