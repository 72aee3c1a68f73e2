"""Transactions of Kafka that contain all records of a job, and tell afterwards whether they were committed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

from hivedruid.catalog.properties import producer_properties
from hivedruid.clients.kafka import error_text, kafka_python
from hivedruid.clients.kafka_security import client_config
from hivedruid.clients.producer_config import producer_config
from hivedruid.clients.records import Record, records_of
from hivedruid.errors import ExecutionError, KafkaError

TIMEOUT = 900.0
"""Seconds within which a transaction must be committed: the default of the broker's transaction.max.timeout.ms."""
END = 60.0
"""Seconds to wait for each response on the way to the end of a transaction, as Java's max.block.ms."""
_COORDINATOR = 30.0
"""Seconds to wait for the coordinator of a group."""
_MARK = 1
"""The offset of the group."""
_AT_ONCE = 10_000
"""Records between two checks of what was sent."""


class Transaction:
    """The transaction of a job, whose id is also that of a consumer group: an offset of this group is part of the
    transaction.

    An earlier one with this id has ended when this object exists: it was aborted, or its commit was completed; its
    producer cannot write any more. Raises KafkaError.
    """

    def __init__(self, properties: Mapping[str, str], name: str) -> None:
        self.name = name
        self._properties = properties
        self._topic = properties["kafka.topic"]
        self._servers = properties["kafka.bootstrap.servers"]
        given = producer_properties(properties)
        self._client = client_config(given)
        with self._errors():
            self._producer = kafka_python().KafkaProducer(
                bootstrap_servers=self._servers, transactional_id=name, transaction_timeout_ms=int(TIMEOUT * 1000),
                **producer_config(given),
            )  # fmt: skip
            try:
                self._producer.init_transactions()
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        with suppress(Exception):
            self._producer.close(timeout=5)

    def is_committed(self) -> bool:
        """Whether an earlier transaction with this id was committed."""
        with self._errors():
            admin = kafka_python().admin.KafkaAdminClient(bootstrap_servers=self._servers, **self._client)
            try:
                return self._has_mark(admin)
            finally:
                admin.close()

    def _has_mark(self, admin: Any) -> bool:
        """Kafka creates the topic of all groups' offsets with the first request for one."""
        end = monotonic() + _COORDINATOR
        while True:
            try:
                offsets = admin.list_group_offsets(self.name)[self.name]
                return any(found.offset == _MARK for found in offsets.values())
            except kafka_python().errors.KafkaError as error:
                if not error.retriable or monotonic() > end:
                    raise
            sleep(0.1)

    def write(self, records: Iterable[Record]) -> None:
        """Begin the transaction, and send the records in it. It is aborted if that fails, since readers of committed
        records wait for its end."""
        with self._errors():
            self._producer.begin_transaction()
            sent: list[Any] = []
            try:
                for record in records:
                    sent.append(record.sent(self._producer, self._topic))
                    if len(sent) == _AT_ONCE:
                        self._check(sent)
                self._check(sent)
            except BaseException:
                with suppress(Exception):
                    self._ended(self._producer.abort_transaction)
                raise

    def commit(self) -> None:
        """Commit the records, and wait until readers see them.

        Kafka confirms a commit before it has written the markers that make the records visible (KIP-98, section
        EndTxnRequest). After an error it is unknown whether it was committed: `is_committed` of another object tells.
        """
        with self._errors():
            kafka = kafka_python()
            offset = {kafka.TopicPartition(self._topic, 0): kafka.OffsetAndMetadata(_MARK, "", -1)}
            self._ended(lambda: self._producer.send_offsets_to_transaction(offset, self.name))
            self._ended(self._producer.commit_transaction)
        Transaction(self._properties, self.name).close()

    def _ended(self, step: Callable[[], None]) -> None:
        """A step to the end of the transaction. Without a limit it may take forever: kafka-python's producer drops a
        request when it loses the coordinator (Sender._maybe_send_pending_request)."""
        done: Future[None] = Future()

        def run() -> None:
            try:
                step()
                done.set_result(None)
            except BaseException as error:  # noqa: BLE001 - raised by `result`
                done.set_exception(error)

        Thread(target=run, daemon=True, name="transaction").start()
        try:
            done.result(END)
        except TimeoutError:
            raise kafka_python().errors.KafkaTimeoutError(
                f"timed out after {END:g} s waiting for the coordinator of transaction {self.name}"
            ) from None

    def _check(self, sent: list[Any]) -> None:
        self._producer.flush()
        for future in sent:
            future.get(timeout=0)
        sent.clear()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (kafka_python().errors.KafkaError, ValueError) as error:  # ValueError: an unknown partition
            raise KafkaError(f"cannot write to topic {self._topic} at {self._servers}: {error_text(error)}") from error


def staged_records(folder: str, rows: int) -> Iterator[Record]:
    """The records in a folder of Parquet files, in the order of the files. Raises ExecutionError if one is missing."""
    from pyarrow.parquet import ParquetFile

    count = 0
    for path in sorted(Path(folder).glob("*.parquet")):
        with ParquetFile(path) as file:
            count += file.metadata.num_rows
            for batch in file.iter_batches():
                yield from records_of(batch)
    if count != rows:
        raise ExecutionError(f"{folder} contains {count} of {rows} staged records", hint="CANCEL JOB deletes them")
