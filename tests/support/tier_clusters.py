"""Steps of the histories of `tier_histories.py` that only a cluster can have: events of Kafka, late ones included,
compaction and reindexing by Druid, retention rules that drop days, and services that are killed."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from time import sleep
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.actions.tiering import reading
from hivedruid.clients import wire
from hivedruid.clients.address import address
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.lifecycle import TASK_TYPE
from hivedruid.clients.overlord import Overlord
from hivedruid.clients.segments import Segments
from hivedruid.engine.archiving import Holding
from hivedruid.errors import HiveDruidError, TiersChangedError
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.state import LocalServices
from hivedruid.operations.archives import ArchiveJob
from hivedruid.operations.store import Operations
from hivedruid.settings import Settings
from tests.support import killed
from tests.support.ingestion import AT_ONCE, until
from tests.support.job_homes import conf_of
from tests.support.kafka import Topics, topics_of
from tests.support.spark_settings import FEW_ROWS
from tests.support.tier_histories import DAYS, FIRST, History, WrongAnswerError, running, session_of

if TYPE_CHECKING:
    from hivedruid.clients.druid import DruidClient

SERVICES = (("coordinator",), ("broker",), ("historical",), ("indexer", "coordinator"))
"""Those that are killed together; the coordinator is also the overlord, which would wait five minutes for a task that it
has just assigned to a lost indexer, and assign no other task meanwhile."""
MONTH = "2026-01-01/P1M"
"""It contains all rows."""
LONGEST = 5.0
"""Seconds after which a service is killed at the latest, while a statement archives."""


@dataclass
class ClusterHistory(History):
    """A tiered table into which Kafka is ingested. Services are killed only if `local` is given."""

    topics: Topics = field(kw_only=True)
    services: LocalServices = field(kw_only=True)
    local: LocalCluster | None = field(kw_only=True, default=None)
    topic: str = ""

    def create(self, properties: Mapping[str, str] = MappingProxyType({})) -> None:
        self.topic = self.topics.new()
        ingestion = {"useEarliestOffset": "true", "taskDuration": "PT1M", **AT_ONCE}
        given = {
            "kafka.topic": self.topic, "kafka.bootstrap.servers": self.services.kafka, "druid.timestamp.column": "time",
            **{f"druid.kafka.ingestion.{key}": value for key, value in ingestion.items()},
        }  # fmt: skip
        super().create({**given, **properties})
        self.run("START INGESTION t")

    def end(self) -> None:
        self.finish()
        self.run("STOP INGESTION t")
        self.run("DROP TABLE t PURGE")

    def steps_to_choose(self) -> list[tuple[int, Callable[[], None]]]:
        steps = [
            *super().steps_to_choose(), (4, self.send), (2, self.rewrite), (1, self.drop_day), (1, self.use_again)
        ]  # fmt: skip
        return [*steps, (2, self.kill), (2, self.kill_while_archiving)] if self.local is not None else steps

    def settle(self) -> None:
        """Wait until all rows can be queried. Never are there more."""
        (expected,) = self.model.execute("SELECT count(*) FROM t").fetchone() or (0,)

        def look() -> bool:
            try:
                ((count,),) = [row.values() for row in self.run("SELECT count(*) AS a FROM t")]
            except HiveDruidError:  # a service is not ready yet
                return False
            if count > expected:
                raise WrongAnswerError(f"{count} rows instead of {expected}, after {self.steps}")
            return bool(count == expected)

        until(look, f"{expected} rows, after {self.steps}")

    # --- steps ---------------------------------------------------------------------------------------------------

    def send(self) -> None:
        rows = self.new_rows()
        self.steps.append(f"send {len(rows)} events")
        for at, k, n in rows:
            self.topics.send(self.topic, {"time": f"{at.isoformat()}Z", "k": k, "n": n})
        self.topics.producer.flush()
        self.add_to_model(rows)
        self.settle()
        if self.random.random() < 0.5:
            self.publish()

    def publish(self) -> None:
        """The tasks of Kafka publish their segments and end. One may fail when it is asked to publish, as on a busy
        machine: the next task reads its records again."""
        self.steps.append("publish")
        before = self._failed()
        self.run("SUSPEND INGESTION t")
        while (now := self._failed()) != before:
            before = now
            self.run("RESUME INGESTION t")
            self.settle()
            self.run("SUSPEND INGESTION t")
        self.check()
        self.run("RESUME INGESTION t")

    def _failed(self) -> set[str]:
        """The failed tasks of Kafka."""
        with self.druid() as druid:
            tasks = Overlord(druid).tasks(self.data_source)
        return {task.id for task in tasks if task.state == "FAILED" and task.type == TASK_TYPE}

    def rewrite(self) -> None:
        """Druid compacts or reindexes all segments, of days or of a month. The task may fail, as a Kafka task has the
        higher priority."""
        self.finish()  # the locks of an interrupted job would stop it
        segments = self.random.choice(["DAY", "DAY", "MONTH"])
        task = self.random.choice([_compact, _reindex])(self.data_source, segments)
        self.steps.append(f"{task['type']} of {segments} segments")
        with self.druid() as druid:
            overlord = Overlord(druid)
            overlord.submit(task)

            def has_ended() -> bool:
                return any(found.id == task["id"] and found.is_complete for found in overlord.tasks(self.data_source))

            until(has_ended, f"the end of {task['id']}")

    def archive_all(self) -> None:
        """Segments to which Kafka tasks add rows are left out."""
        self.steps.append("archive all")
        self.run(f"ARCHIVE TABLE t UP TO '{(FIRST + timedelta(days=DAYS)).date()}'")

    def drop_day(self) -> None:
        """Retention rules drop what Druid has of a day; archived rows of that day are kept."""
        self.finish()
        day = FIRST + timedelta(days=self.random.randrange(DAYS))
        dropped = self._hot(day)
        self.steps.append(f"drop {day.date()}: {dropped}")
        interval = f"{day.isoformat()}Z/{(day + timedelta(days=1)).isoformat()}Z"
        self.set_rules({"type": "dropByInterval", "interval": interval})
        until(lambda: not self._hot(day), f"rows of {day.date()} are dropped")
        self.set_rules()
        if dropped:
            self.model.execute(f"DELETE FROM t WHERE n IN ({', '.join(map(str, dropped))})")

    def use_again(self) -> None:
        """Archived segments are marked as used in place of their tombstones: no query may return their rows, too."""
        self.finish()
        table_id = self.session.catalog.get("default", "t").table_id
        jobs = [job for job in Operations(self.session.catalog).all() if isinstance(job, ArchiveJob)]
        jobs = [job for job in jobs if job.table_id == table_id and job.state == "done"]
        if not jobs:
            return
        holding = Holding.of_notes(self.random.choice(jobs).holding)
        with self.druid() as druid:
            segments = Segments(druid, self.data_source)
            known = {segment.id for span in holding.spans for segment in segments.unused(span)}
            old = [segment for segment in holding.segments if segment.id in known]
            above = segments.used(holding.spans)
            if not old or not all(segment.is_tombstone for segment in above):
                return
            self.steps.append(f"use {len(old)} archived segment(s) again")

            def are_read() -> bool:
                return any(segment in old for segment in segments.visible(holding.spans))

            segments.mark_unused(above)
            segments.mark_used(old)
            until(are_read, "archived segments that are read")
            patience, reading.PATIENCE = reading.PATIENCE, 0.5
            try:
                with suppress(TiersChangedError):
                    self.check()
            finally:
                reading.PATIENCE = patience
                segments.mark_used(above)
                segments.mark_unused(old)
                until(lambda: not are_read(), "archived segments that are not read")

    def _hot(self, day: datetime) -> list[int]:
        hot = {*self.rows_of("hot")}
        rows = self.model.execute(
            'SELECT n FROM t WHERE "__time" >= ? AND "__time" < ?', (day, day + timedelta(days=1))
        )
        return sorted(hot & {n for (n,) in rows.fetchall()})

    def set_rules(self, *rules: Mapping[str, Any]) -> None:
        path = f"/druid/coordinator/v1/rules/{self.data_source}"
        with self.druid() as druid:
            druid.post("coordinator", path, wire.Acknowledgement, [*rules, {"type": "loadForever"}])

    def kill(self) -> None:
        self._kill(self.random.choice(SERVICES))
        self.settle()

    def kill_while_archiving(self) -> None:
        """A service is killed while another process archives, whose job may be interrupted."""
        statement, services = self.archive_statement, self.random.choice(SERVICES)
        process = killed.begin(self.path, self.conf, statement)
        sleep(self.random.uniform(0, LONGEST))  # the moment of the kill
        self._kill(services)
        outcome = process.outcome()
        self.steps.append(f"{statement}: {outcome.effects[-1:]} {outcome.error}")
        self.settle()

    def _kill(self, services: Sequence[str]) -> None:
        assert self.local is not None
        pids = {row.name: row.pid for row in self.local.status()}
        self.steps.append(f"kill {' and '.join(services)}")
        for service in services:
            os.kill(pids[service] or 0, signal.SIGKILL)
        self.local.up()

    @contextmanager
    def druid(self) -> Iterator[DruidClient]:
        known = address(Settings(self.conf), self.services)
        with closing(DruidCluster(known, progress=lambda _: None, note=lambda _: None)) as druid:
            yield druid.client


def _compact(data_source: str, segments: str) -> dict[str, Any]:
    return {
        "type": "compact", "id": f"compact_{uuid4().hex}", "dataSource": data_source,
        "ioConfig": {"type": "compact", "inputSpec": {"type": "interval", "interval": MONTH}},
        "granularitySpec": {"segmentGranularity": segments},
    }  # fmt: skip


def _reindex(data_source: str, segments: str) -> dict[str, Any]:
    columns = ["k", {"type": "long", "name": "n"}]
    return {
        "type": "index_parallel", "id": f"reindex_{uuid4().hex}",
        "spec": {
            "dataSchema": {
                "dataSource": data_source, "timestampSpec": {"column": "__time", "format": "millis"},
                "dimensionsSpec": {"dimensions": columns},
                "granularitySpec": {"segmentGranularity": segments, "rollup": False, "intervals": [MONTH]},
            },
            "ioConfig": {
                "type": "index_parallel", "appendToExisting": False, "dropExisting": True,
                "inputSource": {"type": "druid", "dataSource": data_source, "interval": MONTH},
            },
        },
    }  # fmt: skip


@dataclass(frozen=True)
class OnCluster:
    """A cluster for histories."""

    services: LocalServices
    topics: Topics
    local: LocalCluster | None = None

    def history(self, seed: int, path: Path) -> AbstractContextManager[ClusterHistory]:
        conf = {**conf_of(self.services), **FEW_ROWS, "hivedruid.kafka.check": "off"}
        return running(
            ClusterHistory(
                path, session_of(path, conf), conf, Random(seed), topics=self.topics, services=self.services,
                local=self.local,
            )
        )  # fmt: skip


@contextmanager
def on_cluster(home: Path | None) -> Iterator[OnCluster]:
    """The running cluster of that home, or one that ends with the context. Its services may be killed."""
    with tempfile.TemporaryDirectory(prefix="hivedruid-tiers-") as folder:
        local = LocalCluster(home or Path(folder), heap=None if home else "small")
        services = local.up()
        try:
            with topics_of(services.kafka) as topics:
                yield OnCluster(services, topics, local)
        finally:
            if home is None:
                local.down(clean=True)
