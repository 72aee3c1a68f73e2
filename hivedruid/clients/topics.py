"""The offsets of the topics of Kafka tables, when a statement begins."""

from __future__ import annotations

from collections.abc import Iterable

from hivedruid.catalog.properties import consumer_properties, producer_properties
from hivedruid.catalog.table import Table
from hivedruid.errors import KafkaError
from hivedruid.plan.topic_scans import TopicState


def topic_state(table: Table, moments: Iterable[int]) -> TopicState:
    """The offsets of a table's topic. `moments` are times in milliseconds since 1970.

    Records of transactions that are open or aborted are not read: the end is the last stable offset. Raises KafkaError,
    ConnectError.
    """
    from hivedruid.clients.kafka import Kafka

    topic = table.properties["kafka.topic"]
    with Kafka(table.properties["kafka.bootstrap.servers"], consumer_properties(table.properties)) as kafka:
        topic_id = kafka.topic_id(topic)
        found = kafka.offsets_of(topic)
        # The end is fixed before the starts: a time that is later than all these records then starts at or after it.
        starts = {moment: kafka.offsets_within(found, moment) for moment in moments}
    return TopicState(topic, found.earliest, found.latest, starts, topic_id)


def check_same(table: Table, state: TopicState) -> None:
    """Raise KafkaError if a topic is not the one of that state any more: its offsets are those of other records. All
    records have been read, so a broker that restarts now is waited for."""
    from hivedruid.clients.kafka import Kafka

    servers, properties = table.properties["kafka.bootstrap.servers"], consumer_properties(table.properties)
    with Kafka(servers, properties, may_restart=True) as kafka:
        if kafka.topic_id(state.topic) != state.topic_id:
            raise KafkaError(
                f"topic '{state.topic}' was deleted and created again while the statement read it",
                hint="rerun the statement",
            )


def check_target(table: Table) -> None:
    """Check a table's producer properties, and that its topic exists: a producer may create it. Raises KafkaError,
    ConnectError, SemanticError."""
    from hivedruid.clients.kafka import Kafka
    from hivedruid.clients.producer_config import producer_config

    topic, given = table.properties["kafka.topic"], producer_properties(table.properties)
    producer_config(given)
    with Kafka(table.properties["kafka.bootstrap.servers"], given) as kafka:
        kafka.offsets_of(topic)
