"""Topics in Kafka, as SHOW TOPICS and DESCRIBE EXTENDED | FORMATTED of a Kafka table show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from hivedruid.actions.facts import Facts
from hivedruid.actions.ingesting.describe import offsets_text
from hivedruid.actions.utility.show import matches
from hivedruid.actions.watching.model import ListTopics
from hivedruid.catalog.properties import consumer_properties
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import BIGINT, INT, STRING
from hivedruid.errors import ConnectError, KafkaError, SemanticError
from hivedruid.ingestion.model import TopicDetails, TopicOffsets
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.utility import DescribeTable
from hivedruid.results import Result, ResultColumn

if TYPE_CHECKING:
    from hivedruid.actions.services import Services

Key = tuple[str, str]
Row = tuple[str, str, str]

SETTING = "hivedruid.kafka.bootstrap.servers"
TOPIC_COLUMNS = (
    ResultColumn("topic", STRING), ResultColumn("partitions", INT), ResultColumn("records", BIGINT),
    ResultColumn("tables", STRING), ResultColumn("brokers", STRING),
)  # fmt: skip
SHOWN = (
    "cleanup.policy", "retention.ms", "retention.bytes", "max.message.bytes", "message.timestamp.type",
    "min.insync.replicas",
)  # fmt: skip
"""The configuration of a topic that DESCRIBE shows."""


# --- SHOW TOPICS -------------------------------------------------------------------------------------------------


def list_topics(action: ListTopics, services: Services) -> Result:
    """The topics of the brokers in the setting, or else of those that tables name; `records` counts offsets.

    Brokers that do not respond are noted; raises their error if none responds.
    """
    tables = services.catalog.topic_tables()
    brokers = [action.brokers] if action.brokers else sorted({_brokers(table) for table in tables})
    if not brokers:
        raise SemanticError("no Kafka broker is known: no table names one", hint=f"SET {SETTING}=host:port")
    found: list[tuple[object, ...]] = []
    problems: list[ConnectError | KafkaError] = []
    for each in brokers:
        near = [table for table in tables if _brokers(table) == each]
        try:
            found += _topics(each, near, action.like)
        except (ConnectError, KafkaError) as error:
            problems.append(error)
    if len(problems) == len(brokers):
        raise problems[0]
    for problem in problems:
        services.note(problem.message)
    return Result(TOPIC_COLUMNS, iter(found))


def _topics(brokers: str, tables: Iterable[Table], like: str | None) -> Iterator[tuple[object, ...]]:
    """The topics of one cluster, with the consumer properties of the first table that reads from it."""
    from hivedruid.clients.kafka import Kafka

    readers: dict[str, list[str]] = {}
    given: dict[str, str] = {}
    for table in tables:
        given = given or consumer_properties(table.properties)
        readers.setdefault(table.properties.get("kafka.topic", ""), []).append(table.full_name)
    with Kafka(brokers, given) as kafka:
        names = [name for name in kafka.topics() if like is None or matches(like, name)]
        for topic, offsets in sorted(kafka.offsets(names).items()):
            known = isinstance(offsets, TopicOffsets)
            partitions, records = (len(offsets.latest), offsets.records) if known else (None, None)  # type: ignore[union-attr]
            yield topic, partitions, records, ", ".join(readers.get(topic, ())) or None, brokers


def _brokers(table: Table) -> str:
    return table.properties["kafka.bootstrap.servers"]


# --- DESCRIBE ----------------------------------------------------------------------------------------------------


def gather_topics(statement: Statement, tables: Mapping[Key, Table], facts: Facts) -> Mapping[Key, TopicDetails | str]:
    """The topic of a Kafka table that is described, or why it is not known."""
    if facts.plan_only or not isinstance(statement, DescribeTable) or statement.mode == "plain":
        return {}
    from hivedruid.clients.kafka import Kafka

    found: dict[Key, TopicDetails | str] = {}
    for key, table in tables.items():
        if table.has_topic:
            try:
                with Kafka(_brokers(table), consumer_properties(table.properties)) as kafka:
                    found[key] = kafka.details(table.properties["kafka.topic"])
            except (ConnectError, KafkaError) as error:
                found[key] = error.message
    return found


def rows(topic: TopicDetails | str) -> list[Row]:
    """The last block of DESCRIBE, in the form that Hive has for a Druid table's ingestion."""
    return [(line, "", "") for line in ("", "StorageHandlerInfo", *_lines(topic))]


def _lines(topic: TopicDetails | str) -> list[str]:
    if isinstance(topic, str):
        return [f"Kafka Storage Handler Runtime Status : unknown: {topic}"]
    offsets, sizes = topic.offsets, topic.sizes
    lines = [
        f"Kafka Storage Handler Runtime Status for {offsets.topic}",
        f"partitions={len(offsets.latest)}",
        f"replicas={topic.replicas}",
        f"earliestOffsets={offsets_text(offsets.earliest)}",
        f"latestOffsets={offsets_text(offsets.latest)}",
        f"records={offsets.records}",
    ]
    if sizes:
        lines += [f"partitionBytes={offsets_text(sizes)}", f"bytes={sum(sizes.values())}"]
    return [*lines, *(f"{name}={topic.configuration[name]}" for name in SHOWN if name in topic.configuration)]
