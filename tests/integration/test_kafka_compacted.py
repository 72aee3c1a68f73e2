"""Topics that Kafka has compacted: the offsets of the records that are left have holes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.session import Session
from hivedruid.spark import topics as scans
from tests.integration.test_goldens import settings
from tests.support.ingestion import until
from tests.support.kafka_tables import KafkaTables, offsets
from tests.support.streams import stream_home

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

COMPACTED = {"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01"}
NOON, HOUR = 1_700_000_000_000, 3_600_000
SENT = 400
"""The records of a partition: n is the offset, which is also its time in milliseconds after noon."""
LEFT = [*range(0, SENT, 50), *range(391, 401)]
"""The offsets after compaction: keys that occur once, the last of the keys that occur again, and a tombstone at 400."""
LAST = 401
"""A record of the segment that is written, which is not compacted."""


@pytest.fixture
def topic(topics: Topics) -> str:
    made = topics.new(configs=COMPACTED)
    compact(topics, made)
    return made


@pytest.fixture
def tables(cluster: Cluster, topics: Topics, tmp_path: Path) -> Iterator[KafkaTables]:
    with Session(tmp_path / "home", hiveconf=settings(cluster), confirm=lambda _: True) as session:
        yield KafkaTables(session, topics)


def compact(topics: Topics, topic: str) -> None:
    """Fill the topic, and wait until it is compacted."""
    for n in range(SENT):
        key = f"once {n}" if n % 50 == 0 else f"often {n % 10}"
        topics.producer.send(topic, b'{"id": %d, "n": %d}' % (n, n), key.encode(), partition=0, timestamp_ms=NOON + n)
    topics.producer.send(topic, None, b"often 0", partition=0, timestamp_ms=NOON + SENT)
    topics.producer.flush()
    # A record of a later time begins another segment, if it is not in the same batch.
    topics.producer.send(topic, b'{"id": 401, "n": 401}', b"last", partition=0, timestamp_ms=NOON + HOUR)
    topics.producer.flush()
    until(lambda: len(topics.values(topic)) == len(LEFT) + 1, "the compaction")


@pytest.mark.parametrize("most", [200_000, 37], ids=["one task", "several tasks"])
def test_conditions(tables: KafkaTables, topic: str, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Ranges that begin, end or lie in holes; several tasks of Spark read parts that begin and end in holes."""
    monkeypatch.setattr(scans, "TASK_RECORDS", most)
    t = tables.create(topic, "n bigint")
    every = [(n, None if n == 400 else n) for n in [*LEFT, LAST]]
    assert tables.values(f"SELECT `__offset`, n FROM {t} ORDER BY `__offset`") == every
    conditions = {
        "TRUE": ([*LEFT, LAST], "at most 402 of 402 records in 1 of 1 partitions (0: 0..401)"),
        "`__offset` BETWEEN 101 AND 149": ([], "at most 49 of 402 records in 1 of 1 partitions (0: 101..149)"),
        "`__offset` IN (120, 150)": ([150], "at most 31 of 402 records in 1 of 1 partitions (0: 120..150)"),
        "`__offset` > 120 AND `__offset` < 393": (
            [150, 200, 250, 300, 350, 391, 392], "at most 272 of 402 records in 1 of 1 partitions (0: 121..392)",
        ),
        f"`__timestamp` >= {NOON + 120} AND `__offset` < 201": (
            [150, 200], "at most 51 of 402 records in 1 of 1 partitions (0: 150..200)",
        ),
    }  # fmt: skip
    for condition, (found, explained) in conditions.items():
        query = f"SELECT `__offset` FROM {t} WHERE {condition}"
        assert sorted(tables.values(query)) == [(n,) for n in found], condition
        assert offsets(tables.session, query) == explained


def test_insert(tables: KafkaTables, topic: str) -> None:
    t = tables.create(topic, "n bigint")
    tables.run("CREATE TABLE copy (n bigint, `offset` bigint)")
    tables.run(f"INSERT INTO copy SELECT n, `__offset` FROM {t}")
    assert tables.values("SELECT `offset` FROM copy ORDER BY 1") == [(n,) for n in [*LEFT, LAST]]
    name, time = f"d_{topic}", "CAST(from_unixtime(`__timestamp` DIV 1000) AS timestamp)"
    tables.run(
        f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, n bigint) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false')"
    )
    tables.run(f"INSERT INTO {name} SELECT {time}, n FROM {t} WHERE n IS NOT NULL")
    assert tables.values(f"SELECT count(*), sum(n) FROM {name}") == [(len(LEFT), sum(LEFT) - 400 + LAST)]
    tables.run(f"DROP TABLE {name} PURGE")


def test_stream(topics: Topics, topic: str, tmp_path: Path) -> None:
    """Batches that end in holes, or contain nothing else; a record is read once."""
    with stream_home(tmp_path / "home", topics) as home:
        home.run(f"ALTER TABLE r SET TBLPROPERTIES ('kafka.topic' = '{topic}')")
        home.create()
        for _ in range(0, LAST + 1, 30):
            home.run("RUN STREAM s LIMIT 30")
        assert [row["o"] for row in home.run("SELECT o FROM t ORDER BY o")] == [*LEFT, LAST]
        home.run("RUN STREAM s")
        assert (home.stream()["lag"], home.counts()[0]) == (0, len(LEFT) + 1)
        home.run("RESET STREAM s TO OFFSETS (0:120)")
        home.run("RUN STREAM s LIMIT 31")
        assert home.counts()[0] == len(LEFT) + 2  # the record at 150 again
