"""The time of the newest record of a batch, read from Kafka beside the Spark job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Thread
from time import monotonic

from hivedruid.catalog.properties import consumer_properties
from hivedruid.catalog.table import Table

LAST = 16
"""The number of offsets at the end of each partition that are read: some are those of control records, and times need
not increase with the offsets."""
PATIENCE = 5.0
"""Seconds to wait for the records."""
BYTES = 1 << 16
"""The size of a response; a larger batch of records is returned as a whole."""


class NewestRecord:
    """Reads the last records of each partition, in a thread. The time of the newest of them is that of the newest row
    that becomes visible with the batch."""

    def __init__(self, table: Table | None, start: Mapping[int, int], end: Mapping[int, int]) -> None:
        self._found: list[int] = []
        ranges = {number: (max(start.get(number, 0), to - LAST), to) for number, to in end.items()}
        ranges = {number: (first, to) for number, (first, to) in ranges.items() if first < to}
        self._thread = Thread(target=self._read, args=(table, ranges), name="newest record", daemon=True)
        self._thread.start()

    def at(self) -> datetime | None:
        """The time, or None if there is no record, or Kafka does not return it in time."""
        self._thread.join(PATIENCE)
        newest = max(list(self._found), default=None)
        return None if newest is None else datetime.fromtimestamp(newest / 1000, UTC)

    def _read(self, table: Table | None, ranges: Mapping[int, tuple[int, int]]) -> None:
        if table is None or not ranges:
            return
        from hivedruid.clients.kafka import kafka_python
        from hivedruid.clients.kafka_security import client_config
        from hivedruid.errors import HiveDruidError

        kafka = kafka_python()
        topic, properties = table.properties["kafka.topic"], consumer_properties(table.properties)
        try:
            consumer = kafka.KafkaConsumer(
                bootstrap_servers=table.properties["kafka.bootstrap.servers"], enable_auto_commit=False,
                isolation_level=properties.get("isolation.level", "read_committed"), auto_offset_reset="earliest",
                max_partition_fetch_bytes=BYTES, **client_config(properties),
            )  # fmt: skip
        except (kafka.errors.KafkaError, HiveDruidError):
            return
        limit = monotonic() + PATIENCE
        try:
            places = {kafka.TopicPartition(topic, number): span for number, span in ranges.items()}
            consumer.assign(list(places))
            for place, (first, _) in places.items():
                consumer.seek(place, first)
            while any(consumer.position(place) < to for place, (_, to) in places.items()) and monotonic() < limit:
                for place, records in consumer.poll(timeout_ms=500).items():
                    self._found += (each.timestamp for each in records if each.offset < places[place][1])
        except kafka.errors.KafkaError:
            return
        finally:
            consumer.close()
