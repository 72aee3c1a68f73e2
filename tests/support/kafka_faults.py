"""Faults of Kafka that happen while a statement runs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hivedruid.errors import KafkaError
from hivedruid.session import Session
from tests.support.ingestion import until
from tests.support.job_homes import run

SLOWLY = {"kafka.consumer.max.partition.fetch.bytes": "1", "kafka.consumer.fetch.max.bytes": "1"}
"""One batch of records in a request."""
BATCH = 120
"""Bytes of a batch: some three records, so that Spark reads 20,000 of them for several seconds on a fast machine, and
reports the progress of a job after one second. (Kafka answers a request with whole batches, whatever the limits of the
request are.)"""


class Fault:
    """Happens once, when Spark reports that a job has run for a while."""

    def __init__(self, happen: Callable[[], object]) -> None:
        self._happen = happen
        self._thread = threading.Thread(target=self._run)
        self._error: BaseException | None = None
        self.has_begun = False

    def _run(self) -> None:
        try:
            self._happen()
        except BaseException as error:  # noqa: BLE001 - raised by `end`
            self._error = error

    def begin(self) -> None:
        if not self.has_begun:
            self.has_begun = True
            self._thread.start()

    def on_progress(self, text: str) -> None:
        if text.startswith("Spark: stage"):
            self.begin()

    def end(self) -> None:
        assert self.has_begun, "the statement was too fast"
        self._thread.join()
        if self._error is not None:
            raise self._error


def create(session: Session, bootstrap: str, topic: str, **more: str) -> str:
    """A table over a topic, which a broker that has just started may not know yet."""
    properties = {"kafka.topic": topic, "kafka.bootstrap.servers": bootstrap, **SLOWLY, **more}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())

    def is_created() -> bool:
        try:
            run(session, f"CREATE EXTERNAL TABLE {topic} (n bigint) STORED BY 'kafka' TBLPROPERTIES ({pairs})")
        except KafkaError as error:
            if "does not exist" not in error.message:
                raise
            return False
        return True

    until(is_created, f"the brokers to know {topic}")
    return topic


def total(session: Session, name: str) -> tuple[object, ...]:
    (row,) = run(session, f"SELECT count(*), count(DISTINCT n), sum(n) FROM {name}")
    return tuple(row.values())
