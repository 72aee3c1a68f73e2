"""Homes with a Kafka table and streams from it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.streams import StreamRecord, Streams
from hivedruid.session import Session
from hivedruid.spark import streams as commits
from hivedruid.spark.jobs import NOTHING, SparkRunner
from tests.support.job_homes import run

if TYPE_CHECKING:
    import pytest

    from tests.support.kafka import Topics

LONG = 300.0
"""Seconds to wait for a state."""
CONF = {"druid.url": "embedded:"}


class Home:
    """A home with a Kafka table `r` (id, n) of a topic, and streams from it into tables of their own. The topic is a new
    one of `topics`, or an empty `topic` of two partitions of the brokers `bootstrap`."""

    def __init__(
        self, path: Path, topics: Topics, session: Session, topic: str | None = None, bootstrap: str | None = None
    ) -> None:
        self.path, self.topics, self.session = path, topics, session
        self.topic = topic or topics.new(partitions=2)
        self.sent = self.sent_malformed = 0
        self.managers: list[subprocess.Popen[bytes]] = []
        self.run(
            "CREATE EXTERNAL TABLE r (id bigint, n int) STORED BY 'kafka' TBLPROPERTIES"
            f" ('kafka.topic' = '{self.topic}', 'kafka.bootstrap.servers' = '{bootstrap or topics.bootstrap}')"
        )

    def run(self, sql: str) -> list[Any]:
        return run(self.session, sql)

    def create(self, where: str = "", **properties: str) -> None:
        """The stream `s` into `t`; `_` in the names of properties is a point."""
        given = {"trigger": "PT0.2S", **{key.replace("_", "."): value for key, value in properties.items()}}
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        self.run(
            f"CREATE STREAM s FROM r INTO t WITH PROPERTIES ({pairs}) AS"
            f" SELECT id, n, `__partition` AS p, `__offset` AS o FROM r {where}"
        )

    def send(self, many: int, *, millis: int | None = None) -> None:
        """Produce the next records, with increasing ids, to the partitions in turn; `millis` is their time."""
        for number in range(self.sent, self.sent + many):
            self.topics.send(self.topic, {"id": number, "n": number % 10}, partition=number % 2, millis=millis)
        self.topics.producer.flush()
        self.sent += many

    def send_malformed(self, many: int) -> None:
        """Produce malformed records, each with another value, to the partitions in turn."""
        for number in range(self.sent_malformed, self.sent_malformed + many):
            value = b'{"id": "x%d"}' % number if number % 4 < 2 else b'{"id": %d' % number
            self.topics.send(self.topic, value, partition=number % 2)
        self.topics.producer.flush()
        self.sent_malformed += many

    def counts(self) -> tuple[int, int, int]:
        """The rows of t, their distinct places in the topic, and the sum of their ids."""
        row = self.run("SELECT count(*) AS a, count(DISTINCT p, o) AS b, sum(id) AS c FROM t")[0]
        return row["a"], row["b"], row["c"] or 0

    @property
    def expected(self) -> tuple[int, int, int]:
        return self.sent, self.sent, sum(range(self.sent))

    @property
    def streams(self) -> Streams:
        return Streams(self.session.catalog)

    def stream_record(self) -> StreamRecord:
        record = self.streams.find("default", "s")
        assert record is not None
        return record

    def stream(self) -> Any:
        return self.run("SHOW STREAMS")[0]

    def manage(self, *options: str) -> subprocess.Popen[bytes]:
        """Another manager, as a service would run it."""
        with (self.path / "manager.log").open("ab") as log:
            command = [sys.executable, "-m", "hivedruid", "streams", "run", "--home", str(self.path), *options]
            started = subprocess.Popen(command, stdout=log, stderr=log)
        self.managers.append(started)
        return started

    def close(self) -> None:
        for each in self.managers:
            each.send_signal(signal.SIGCONT)
            each.kill()
            each.wait()
        with Session(self.path, hiveconf=CONF) as session:
            for record in Streams(session.catalog).all():
                Streams(session.catalog).set_desired(record.stream, "stopped")


def until(is_so: Callable[[], bool], what: str) -> None:
    end = monotonic() + LONG
    while not is_so():
        assert monotonic() < end, f"timed out waiting for {what}"
        sleep(0.1)


@contextmanager
def stream_home(
    path: Path,
    topics: Topics,
    conf: Mapping[str, str] = CONF,
    topic: str | None = None,
    bootstrap: str | None = None,
) -> Iterator[Home]:
    with Session(path, hiveconf=conf, confirm=lambda _: True) as session:
        made = Home(path, topics, session, topic, bootstrap)
        try:
            yield made
        finally:
            made.close()


def commit_before(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another session commits the same records between the plan of the next batch and its commit."""
    append = commits.append_batch

    def late(runner: SparkRunner, *given: Any, **options: Any) -> bool:
        monkeypatch.setattr(commits, "append_batch", append)
        with Session(home.path, hiveconf=CONF, background="other") as other:
            run(other, "RUN STREAM s")
        return append(runner, *given, **options)

    monkeypatch.setattr(commits, "append_batch", late)


def in_spark(home: Home, statement: str) -> None:
    """A statement of Spark, as another tool may run it; {t} is the table, {id} its name in procedures."""
    with Session(home.path, hiveconf=CONF, background="tool") as session:
        table = session.catalog.find("default", "t")
        assert table is not None
        name = f"tables.`{table.table_id}`"
        with session._get_spark().running(NOTHING, target=table) as spark:
            spark.sql(statement.format(t=f"hivedruid.{name}", id=f"'{name}'")).collect()


def expire(home: Home) -> None:
    """Expire all but the current snapshot."""
    in_spark(
        home,
        "CALL hivedruid.system.expire_snapshots(table => {id}, older_than => TIMESTAMP '2100-01-01 00:00:00',"
        " retain_last => 1)",
    )
