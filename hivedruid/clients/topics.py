"""The offsets of the topics of Kafka tables, when a statement begins."""

from __future__ import annotations

from collections.abc import Iterable

from hivedruid.catalog.properties import consumer_properties
from hivedruid.catalog.table import Table
from hivedruid.errors import KafkaError, UnsupportedError
from hivedruid.plan.topic_scans import TopicState


def topic_state(table: Table, moments: Iterable[int]) -> TopicState:
    """The offsets of a table's topic. `moments` are times in milliseconds since 1970.

    Records of transactions that are open or aborted are not read: the end is the last stable offset. Raises KafkaError,
    ConnectError, UnsupportedError.
    """
    given = consumer_properties(table.properties)
    if given.get("security.protocol", "PLAINTEXT").upper() != "PLAINTEXT":
        raise UnsupportedError(
            f"queries of {table.full_name} are not supported: kafka.consumer.security.protocol is"
            f" {given['security.protocol']}",
            hint="only PLAINTEXT is supported; ingest the topic into a Druid table and query that table",
        )
    from hivedruid.clients.kafka import Kafka

    topic = table.properties["kafka.topic"]
    with Kafka(table.properties["kafka.bootstrap.servers"], given) as kafka:
        found = kafka.offsets([topic])[topic]
        if isinstance(found, KafkaError):
            raise found
        # The end is fixed before the starts: a time that is later than all these records then starts at or after it.
        starts = {moment: kafka.offsets_within(found, moment) for moment in moments}
    return TopicState(topic, found.earliest, found.latest, starts)
