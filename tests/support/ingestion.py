"""Tables that ingest from real topics, and the records in Druid, with the number of occurrences of each."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from hivedruid.clients import wire
from hivedruid.clients.address import address
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.failures import MissingError
from hivedruid.clients.overlord import Overlord
from hivedruid.ingestion.supervisor import supervisor_path
from hivedruid.session import Session
from hivedruid.settings import Settings

if TYPE_CHECKING:
    from hivedruid.local.state import LocalServices
    from tests.support.kafka import Topics

PATIENCE = 300.0
"""Timeout in seconds, for a machine that is several times slower than a usual one."""
AT_ONCE = {"startDelay": "PT0S", "period": "PT1S", "offsetFetchPeriod": "PT1S", "chatRetries": "3"}
"""Ingestion properties with which a supervisor reacts without delay and gives up quickly."""

Row = Mapping[str, Any]
_Seen = TypeVar("_Seen")


def until(look: Callable[[], _Seen | None], wanted: str = "what is waited for") -> _Seen:
    """The first value other than None and False."""
    end = monotonic() + PATIENCE
    while (seen := look()) is None or seen is False:
        assert monotonic() < end, f"not seen in {PATIENCE:g} s: {wanted}"
        sleep(0.2)
    return seen


def ingest_all(druid: DruidCluster, specs: Iterable[Mapping[str, Any]]) -> None:
    """Run index_parallel tasks side by side, and wait until queries read a segment of each."""
    overlord = Overlord(druid.client)
    tasks = {f"made_{uuid4().hex}": spec for spec in specs}
    for name, spec in tasks.items():
        overlord.submit({**spec, "id": name})

    def is_over(name: str) -> bool:
        task = overlord.task(name)
        assert task is None or task.state != "FAILED", task
        return task is not None and task.state == "SUCCESS"

    for name in tasks:
        until(lambda name=name: is_over(name), f"the task {name}")  # type: ignore[misc]
    for source, number in Counter(spec["spec"]["dataSchema"]["dataSource"] for spec in tasks.values()).items():
        until(lambda source=source, number=number: len(druid.segments(source)) >= number, source)  # type: ignore[misc]


def record(number: int) -> dict[str, Any]:
    """A record with a unique number."""
    return {"time": "2015-09-12T00:00:00Z", "id": str(number)}


class IngestionHome:
    """A home with tables that ingest from topics, and a session in it that answers yes.

    `notes` and `asked` are its notes and questions. At the end every supervisor of its tables is terminated, and their
    data is dropped.
    """

    def __init__(self, folder: Path, services: LocalServices, **conf: str) -> None:
        self.folder = folder
        self.services = services
        self.conf = {
            "druid.url": services.broker, "druid.coordinator.url": services.coordinator,
            "druid.overlord.url": services.overlord, "hivedruid.kafka.check": "off", **conf,
        }  # fmt: skip
        self.notes: list[str] = []
        self.asked: list[str] = []
        self.session = Session(folder, hiveconf=self.conf, note=self.notes.append, confirm=self._confirm)
        self.druid = DruidCluster(
            address(Settings(self.conf), services), progress=lambda _: None, note=self.notes.append
        )
        self.overlord = Overlord(self.druid.client)
        self.sources: dict[str, str] = {}

    def _confirm(self, told: str) -> bool:
        self.asked.append(told)
        return True

    def run(self, text: str) -> list[Row]:
        (statement,) = self.session.statements(text)
        result = self.session.execute(statement)
        names = [column.name for column in result.columns]
        return [dict(zip(names, row, strict=True)) for row in result.rows]

    def create(self, topic: str, data_source: str | None = None, **properties: str) -> str:
        """A table over a topic, from its beginning; names of ingestion properties are as in Druid's spec."""
        name = f"t_{uuid4().hex[:12]}"
        self.sources[name] = data_source or name
        ingestion = {"useEarliestOffset": "true", **AT_ONCE, **properties}
        given = {
            "druid.datasource": self.sources[name], "kafka.topic": topic, "druid.rollup": "false",
            "kafka.bootstrap.servers": self.services.kafka, "druid.timestamp.column": "time",
            **{f"druid.kafka.ingestion.{key}": value for key, value in ingestion.items()},
        }  # fmt: skip
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        self.run(
            f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, id string) STORED BY 'druid' TBLPROPERTIES ({pairs})"
        )
        return name

    # --- state -------------------------------------------------------------------------------------------------

    def ingestion(self, name: str) -> Row:
        (row,) = self.run(f"SHOW INGESTIONS LIKE '{name}'")
        return row

    def problems(self, name: str) -> dict[str, Row]:
        """The rows of SHOW PROBLEMS about a table, by the problem's name."""
        subjects = (name, f"default.{name}")
        return {row["problem"]: row for row in self.run("SHOW PROBLEMS") if row["subject"] in subjects}

    def problem(self, name: str, problem: str) -> Row:
        """Wait for that problem of the table."""
        return until(lambda: self.problems(name).get(problem), f"problem '{problem}' of {name}")

    def repaired(self, name: str, problem: str) -> Row:
        """Wait for that problem of the table, run its repair as it is printed, and wait until the problem is gone."""
        row = self.problem(name, problem)
        command = row["repair"].removeprefix("-- $ hivedruid ")
        if command != row["repair"]:
            subprocess.run([sys.executable, "-m", "hivedruid", *shlex.split(command)], check=True, timeout=PATIENCE)
        for statement in self.session.statements(row["repair"]):
            list(self.session.execute(statement).rows)
        until(lambda: problem not in self.problems(name), f"no problem '{problem}' of {name}")
        return row

    def shown(self, name: str, problem: str) -> list[Row]:
        """Wait for that problem of the table, and run its repair, which shows more."""
        return self.run(self.problem(name, problem)["repair"])

    def settle(self, name: str, *but: str) -> None:
        """Wait until the table has no problems other than these. Some last until the next poll of the supervisor."""
        until(lambda: self.problems(name).keys() <= {*but}, f"no problems of {name}")

    def counted(self, name: str) -> Counter[str]:
        """The number of occurrences of each record in Druid."""
        query = {
            "queryType": "groupBy", "dataSource": self.sources[name], "intervals": ["2015-09-12/P1D"], "granularity": "all",
            "dimensions": ["id"], "aggregations": [{"type": "count", "name": "times"}],
        }  # fmt: skip
        request = urllib.request.Request(  # noqa: S310 - ours
            f"{self.services.broker}/druid/v2", json.dumps(query).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return Counter({row["event"]["id"]: row["event"]["times"] for row in json.load(answer)})

    def expect(self, name: str, records: Mapping[str, int]) -> None:
        """Wait until Druid has each record this number of times, no other record, and none more often."""
        counted: Counter[str] = Counter()

        def look() -> bool:
            nonlocal counted
            counted = self.counted(name)
            return counted == records

        try:
            until(look)
        except AssertionError:
            wrong = {id_: (counted[id_], records.get(id_, 0)) for id_ in {*counted, *records}}
            wrong = {id_: both for id_, both in wrong.items() if both[0] != both[1]}
            raise AssertionError(f"{len(wrong)} of {len(records)} records are counted wrong: {wrong}") from None

    def tasks(self, name: str) -> list[str]:
        """The running tasks of a table."""
        return [task.id for task in self.overlord.tasks(self.sources[name]) if not task.is_complete]

    def has_failed(self, name: str, tasks: Iterable[str]) -> bool:
        """Whether one of these tasks has failed."""
        return any(task.state == "FAILED" for task in self.overlord.tasks(self.sources[name]) if task.id in set(tasks))

    def stop(self, name: str, records: Mapping[str, int]) -> None:
        """STOP, after which the records in Druid are permanent."""
        self._publish(name, records, "STOP", "START")

    def suspend(self, name: str, records: Mapping[str, int]) -> None:
        """SUSPEND, after which the records in Druid are permanent."""
        self._publish(name, records, "SUSPEND", "RESUME")

    def _publish(self, name: str, records: Mapping[str, int], end: str, begin: str) -> None:
        """A task may fail when it is asked to publish (the suspended supervisor and the previous one communicate with
        it at the same time, or it does not respond in time): the next task reads its records again.
        """
        while True:
            running = self.tasks(name)
            self.run(f"{end} INGESTION {name}")
            if not self.has_failed(name, running):
                break
            self.run(f"{begin} INGESTION {name}")
            self.expect(name, records)
        self.expect(name, records)

    # --- clean-up ----------------------------------------------------------------------------------------------

    def close(self) -> None:
        try:
            sources = set(self.sources.values())
            for source in sources:
                with suppress(MissingError):
                    self.druid.client.post("overlord", supervisor_path(source, "terminate"), wire.SupervisorId)
            until(lambda: not sum(self._end(source) for source in sources), "tasks that end")
            for source in sources & set(self.druid.data_sources()):
                self.druid.drop(source)
        finally:
            self.session.close()
            self.druid.close()

    def _end(self, source: str) -> int:
        """Stop the tasks of a data source; returns their number."""
        running = [task for task in self.overlord.tasks(source) if not task.is_complete]
        for task in running:
            self.overlord.kill(task.id)
        return len(running)


class Feed:
    """A topic with consecutively numbered records, and the expected number of occurrences of each."""

    def __init__(self, topics: Topics, partitions: int = 1) -> None:
        self.topics = topics
        self.topic = topics.new(partitions=partitions)
        self.partitions = partitions
        self.expected: Counter[str] = Counter()
        self.sent = 0

    def send(self, count: int, partitions: Iterable[int] | None = None) -> list[str]:
        """Produce this number of new records, to the partitions in turn; returns their numbers."""
        places = list(partitions or range(self.partitions))
        numbers = [str(self.sent + n) for n in range(count)]
        for n in numbers:
            self.topics.send(self.topic, record(int(n)), partition=places[int(n) % len(places)])
        self.topics.producer.flush()
        self.sent += count
        self.expected.update(numbers)
        return numbers

    def recreate(self, partitions: int) -> None:
        """Delete the topic with all of its records, and create an empty one with the same name."""
        self.topics.recreate(self.topic, partitions)
        self.partitions = partitions
