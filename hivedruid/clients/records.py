"""Writes records to Kafka topics, from Arrow batches of Spark: in its Python workers, or in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from pyarrow import RecordBatch


@dataclass(frozen=True, slots=True)
class Record:
    """A record to be sent; Kafka's client chooses the partition and the time (ms since 1970) if they are None."""

    value: bytes
    key: bytes | None
    partition: int | None
    millis: int | None

    def sent(self, producer: Any, topic: str) -> Any:
        """The future of the record, which the producer sends."""
        return producer.send(topic, self.value, self.key, partition=self.partition, timestamp_ms=self.millis)


def records_of(batch: RecordBatch) -> Iterator[Record]:
    """The rows of columns `value`, `__key`, `__partition` and `__timestamp`."""
    columns = (batch[name].to_pylist() for name in ("value", "__key", "__partition", "__timestamp"))
    return (Record(*row) for row in zip(*columns, strict=True))


@dataclass(frozen=True)
class Produce:
    """Sends the rows of a partition, see `records_of`, and returns their number as `sent`.

    All records are acknowledged by all in-sync replicas before it ends. If Kafka refuses them, it raises RuntimeError,
    whose message begins with `failed`. `properties` are a Java producer's, with secrets in files: they become a part of
    Spark's plan.
    """

    brokers: str
    properties: Mapping[str, str]
    topic: str
    failed: str

    def __call__(self, batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        import pyarrow as pa

        from hivedruid.clients.kafka import kafka_python
        from hivedruid.clients.producer_config import producer_config

        count = 0
        with self._reported():
            config = producer_config(self.properties)
            producer = kafka_python().KafkaProducer(bootstrap_servers=self.brokers, **config)
        try:
            for batch in batches:
                with self._reported():
                    self._send(batch, producer)
                count += batch.num_rows
        finally:
            producer.close()
        yield pa.RecordBatch.from_pydict({"sent": pa.array([count], pa.int64())})

    def _send(self, batch: RecordBatch, producer: Any) -> None:
        futures = [record.sent(producer, self.topic) for record in records_of(batch)]
        producer.flush()
        for future in futures:
            future.get(timeout=0)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - kafka-python raises AssertionError for an unknown partition
            raise RuntimeError(f"{self.failed}{self.topic}: {error}") from None
