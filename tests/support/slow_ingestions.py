"""The problems of SHOW PROBLEMS that need minutes of reading, on a real Druid and Kafka: each is seen, its repair is run as
it is printed, and the problem is gone.

    python -m tests.support.slow_ingestions

Brokers answer each request of a slow consumer after a second, or never, with one record of each partition. That takes
some eight minutes, for most of which nothing happens: a part of `make soak`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import monotonic, sleep

from hivedruid.ingestion.reading import BEHIND, RECOVERED
from hivedruid.local.state import LocalServices
from tests.support.cluster import running_cluster
from tests.support.ingestion import IngestionHome, record, until
from tests.support.kafka import Topics, topics_of

CONSUMER = "consumer."
NEVER = {"fetch.min.bytes": "50000000", "fetch.max.wait.ms": "3600000", "request.timeout.ms": "30000"}
"""A broker does not answer before the consumer gives up."""
SLOWLY = {"fetch.min.bytes": "50000000", "fetch.max.wait.ms": "1000", "max.partition.fetch.bytes": "1"}
"""A broker answers after a second, with one batch of records, even if it is larger than max.partition.fetch.bytes."""
PARTITIONS = 2
MOMENT = 1.0


class Slow:
    """An ingestion with a slow consumer: one task reads two partitions whose batches have one record each."""

    def __init__(self, folder: Path, services: LocalServices, consumer: dict[str, str]) -> None:
        self.home = IngestionHome(folder, services)
        self.consumer = {f"{CONSUMER}{key}": value for key, value in consumer.items()}
        self.sent = 0

    def begin(self, topics: Topics, records: int) -> str:
        self.topics, self.topic = topics, topics.new(partitions=PARTITIONS)
        self.send(records)
        name = self.home.create(self.topic, taskCount="1", **self.consumer)
        self.home.run(f"START INGESTION {name}")
        return name

    def send(self, count: int) -> None:
        """Send records one by one, so that each is a batch."""
        for number in range(self.sent, self.sent + count):
            self.topics.send(self.topic, record(number), partition=number % PARTITIONS)
            self.topics.producer.flush()
        self.sent += count

    def speed(self, name: str) -> float:
        """Records per second after a minute and a half, over which Druid computes the average of a minute."""
        end = monotonic() + 90
        while monotonic() < end:
            sleep(MOMENT)
        return float(until(lambda: self.home.ingestion(name)["rows_per_second"], "a speed"))

    def stays_well(self, name: str, problem: str) -> None:
        """The problem is not back after the time in which it is not reported of new tasks."""
        end = monotonic() + RECOVERED.total_seconds() + 30
        while monotonic() < end:
            assert problem not in self.home.problems(name), self.home.problems(name)[problem]
            sleep(10 * MOMENT)


def lag(slow: Slow, topics: Topics, say: Callable[[str], None]) -> None:
    """One task needs more than BEHIND seconds for what is left, and two do not."""
    name = slow.begin(topics, 200)
    speed = slow.speed(name)
    say(f"lag: {speed} records/s")
    slow.send(round(speed * 1.6 * BEHIND))
    problem = slow.home.repaired(name, "lag")
    say(f"lag: {problem['cause']}; {problem['evidence']}; {problem['repair']}")
    assert problem["repair"].endswith("('druid.kafka.ingestion.taskCount' = '2');")
    slow.stays_well(name, "lag")


def growing_lag(slow: Slow, topics: Topics, say: Callable[[str], None]) -> None:
    """More is written than one task reads, and less than two read."""
    name = slow.begin(topics, 200)
    speed = slow.speed(name)
    say(f"growing lag: {speed} records/s")
    slow.send(round(speed * 1.4 * BEHIND))
    is_over = Event()

    def write() -> None:
        begin, sent = monotonic(), 0
        while not is_over.wait(0.2):
            due = round((monotonic() - begin) * 1.3 * speed) - sent
            slow.send(due)
            sent += due

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            problem = slow.home.repaired(name, "growing lag")
            say(f"growing lag: {problem['cause']}; {problem['evidence']}; {problem['repair']}")
            slow.stays_well(name, "growing lag")
        finally:
            is_over.set()
        writing.result()


def reading_stalled(slow: Slow, topics: Topics, say: Callable[[str], None]) -> None:
    """The repair shows the task, which runs and reads nothing: the properties of its consumer are the cause."""
    name = slow.begin(topics, 10)
    problem = slow.home.problem(name, "reading stalled")
    say(f"reading stalled: {problem['cause']}; {problem['evidence']}; {problem['repair']}")
    assert [row["state"] for row in slow.home.shown(name, "reading stalled")] == ["RUNNING"]
    keys = ", ".join(f"'druid.kafka.ingestion.{key}'" for key in slow.consumer)
    slow.home.run(f"ALTER TABLE {name} UNSET TBLPROPERTIES ({keys})")
    slow.home.expect(name, {str(number): 1 for number in range(10)})
    slow.home.settle(name)


CASES = ((lag, SLOWLY), (growing_lag, SLOWLY), (reading_stalled, NEVER))


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()

    with (
        tempfile.TemporaryDirectory(prefix="hivedruid-slow-") as folder,
        running_cluster(Path(folder) / "c") as cluster,
    ):

        def run(number: int) -> None:
            case, consumer = CASES[number]
            slow = Slow(Path(folder) / str(number), cluster.services, consumer)
            try:
                with topics_of(cluster.services.kafka) as topics:
                    case(slow, topics, lambda text: print(text, flush=True))
            finally:
                slow.home.close()

        with ThreadPoolExecutor(len(CASES)) as pool:
            list(pool.map(run, range(len(CASES))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
