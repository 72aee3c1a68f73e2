"""Writes records to Kafka topics from Spark's Python workers, which have Spark's rows as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyarrow import RecordBatch

LARGEST = 1 << 26
"""Bytes of the largest record that the client sends; the broker's and the topic's limits apply as well."""


@dataclass(frozen=True)
class Produce:
    """Sends the rows of a partition, and returns their number as `sent`: columns `value`, `__key`, `__partition` and
    `__timestamp`, of which only `value` is never null.

    All records are acknowledged by all in-sync replicas before it ends. Raises RuntimeError, whose message begins with
    `failed`. `properties` are a Java producer's, with secrets in files: they become a part of Spark's plan.
    """

    brokers: str
    properties: Mapping[str, str]
    topic: str
    failed: str

    def __call__(self, batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        import pyarrow as pa

        from hivedruid.clients.kafka import kafka_python
        from hivedruid.clients.kafka_security import client_config

        count = 0
        config = {**client_config(self.properties), "acks": "all", "linger_ms": 20, "max_request_size": LARGEST}
        producer = kafka_python().KafkaProducer(bootstrap_servers=self.brokers, **config)
        try:
            for batch in batches:
                futures = [self._sent(producer, row) for row in batch.to_pylist()]
                producer.flush()
                for future in futures:
                    future.get(timeout=0)
                count += len(futures)
        except Exception as error:  # noqa: BLE001 - kafka-python raises AssertionError for an unknown partition
            raise RuntimeError(f"{self.failed}{self.topic}: {error}") from None
        finally:
            producer.close()
        yield pa.RecordBatch.from_pydict({"sent": pa.array([count], pa.int64())})

    def _sent(self, producer: Any, row: Mapping[str, Any]) -> Any:
        given = {"key": row["__key"], "partition": row["__partition"], "timestamp_ms": row["__timestamp"]}
        return producer.send(self.topic, row["value"], **{k: v for k, v in given.items() if v is not None})
