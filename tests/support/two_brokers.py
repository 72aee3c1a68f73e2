"""A real Kafka of two brokers. The first is also the controller and keeps running; tests kill the second. The first
also coordinates all groups and transactions, until `coordinate_by_both`."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hivedruid.clients.transactions import Transaction
from hivedruid.local import cluster, services
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.state import HOST, Started, read_state, runs
from tests.support.ingestion import until
from tests.support.kafka import Topics, kafka_python, topics_of

STAYS, DIES = 1, 2
"""The ids of the brokers."""
_ID = "dHdvLWJyb2tlcnMtaGVyZQ"
"""The id of the Kafka cluster, which both brokers store."""


@dataclass(frozen=True)
class TwoBrokers:
    """`topics` are those of the broker that stays; `bootstrap` names both, the one that is killed first."""

    topics: Topics
    bootstrap: str
    _second: LocalCluster

    def new_topic(
        self, records: Iterable[dict[str, Any]] = (), partitions: int = 1, batch_bytes: int | None = None
    ) -> str:
        """A topic with two replicas of each partition, whose leader is the broker that is killed."""
        return self.topics.new(records, partitions=partitions, replicas=[DIES, STAYS], batch_bytes=batch_bytes)

    def coordinate_by_both(self) -> None:
        """Groups and transactions have the broker that is killed as coordinator, and then the other one."""
        place = kafka_python().TopicPartition
        moved = [place(name, 0) for name in ("__consumer_offsets", "__transaction_state")]
        admin = self.topics.admin
        admin.alter_partition_reassignments({each: [DIES, STAYS] for each in moved})
        until(lambda: not admin.list_partition_reassignments(moved), "the replicas to be moved")
        admin.elect_leaders(0, {each.topic: [0] for each in moved})  # the preferred ones
        until(lambda: all(self.topics.leaders(each.topic) == {DIES} for each in moved), "the coordinator to lead")

    def kill(self) -> None:
        """kill -9 of the leader."""
        process = self._signal(signal.SIGKILL)
        until(lambda: not runs(self._second.home, "kafka", process), "the end of the broker")

    def pause(self) -> None:
        """The leader does not run until `resume`, and its connections stay open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> Started:
        process = read_state(self._second.home).processes["kafka"]
        os.kill(process.pid, number)
        return process

    def start(self) -> None:
        """Start the second broker again, and wait until all its replicas are in sync."""
        self._second.up(druid=False)
        admin = self.topics.admin

        def in_sync() -> bool:
            return all(
                set(partition["isr_nodes"]) == set(partition["replica_nodes"])
                for topic in admin.describe_topics(admin.list_topics())
                for partition in topic["partitions"]
            )

        until(in_sync, "the replicas to be in sync")


@contextmanager
def two_brokers(folder: Path) -> Iterator[TwoBrokers]:
    plain = services._kafka
    first, second = LocalCluster(folder / "first", heap="small"), LocalCluster(folder / "second", heap="small")

    def settings(home: Path, *arguments: Any) -> dict[str, object]:
        found = plain(home, *arguments) | {
            "broker.session.timeout.ms": 3000, "broker.heartbeat.interval.ms": 500, "offsets.topic.num.partitions": 1,
            "transaction.state.log.num.partitions": 1,
        }  # fmt: skip
        if home != second.home:
            return found
        controller = read_state(first.home).ports["controller"]
        address = found["advertised.listeners"]
        return found | {
            "process.roles": "broker", "node.id": DIES, "listeners": address,
            "controller.quorum.voters": f"{STAYS}@{HOST}:{controller}",
        }  # fmt: skip

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "_kafka", settings)
        patch.setattr(cluster, "_random_uuid", lambda: _ID)
        try:
            staying = first.up(druid=False).kafka
            _create_internal_topics(staying)
            dying = second.up(druid=False).kafka
            with topics_of(staying) as topics:
                until(lambda: len(topics.admin.describe_cluster()["brokers"]) == 2, "both brokers")
                yield TwoBrokers(topics, f"{dying},{staying}", second)
                topics.made.clear()  # all data is removed, and the controller to ask may be the broker that was killed
        finally:
            second.down(clean=True)
            first.down(clean=True)


def _create_internal_topics(bootstrap: str) -> None:
    """Those of groups and transactions, whose partitions are then all on the broker that runs now."""
    properties = {"kafka.bootstrap.servers": bootstrap, "kafka.topic": "none"}
    with closing(Transaction(properties, "first")) as transaction:
        assert not transaction.is_committed()
