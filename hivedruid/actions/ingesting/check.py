"""The check of Kafka and Druid when a table fed from Kafka is created: building and running the action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivedruid.actions.ingesting.model import CheckIngestion
from hivedruid.catalog.properties import KAFKA_CHECK, is_fed
from hivedruid.catalog.table import Table
from hivedruid.engine.capabilities import session_can
from hivedruid.errors import ConnectError, DruidError, ExecutionError, HiveDruidError, KafkaError

if TYPE_CHECKING:
    from hivedruid.actions.services import Services
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.ingestion.checks import Seen
    from hivedruid.ingestion.feed import Feed
    from hivedruid.ingestion.model import TopicOffsets

SETTING = "hivedruid.kafka.check"
WORKERS, SAMPLER = "/druid/indexer/v1/workers", "/druid/indexer/v1/sampler"


def checks(table: Table, settings: Mapping[str, str]) -> tuple[CheckIngestion, ...]:
    """The check before a table is created; none for the embedded store, or if it is turned off."""
    if not table.has_data_source or not is_fed(table.properties) or not session_can(settings, "ingestion"):
        return ()
    mode = (table.properties.get(KAFKA_CHECK) or settings.get(SETTING, "warn")).upper()
    if mode == "OFF":
        return ()
    from hivedruid.druid.supervisor import supervisor_spec

    return (CheckIngestion(table, supervisor_spec(table, settings), "REFUSE" if mode == "REFUSE" else "WARN"),)


def check(action: CheckIngestion, services: Services) -> None:
    """Check, and note the findings. Raises ExecutionError with all findings if one is fatal and the mode is REFUSE."""
    from hivedruid.ingestion.checks import findings

    cluster = services.cluster()
    try:
        seen = look(cluster, action.spec, services.note)
    except (ConnectError, DruidError) as error:
        if action.mode == "REFUSE":
            raise
        services.note(f"{action.table.full_name} was not checked: {error.message}")
        return
    found = findings(action.spec, seen)
    if action.mode == "REFUSE" and any(finding.is_fatal for finding in found):
        raise ExecutionError(
            f"the ingestion into {action.table.full_name} cannot start: {'; '.join(map(str, found))}",
            hint=f"fix this, or set {KAFKA_CHECK} to WARN",
        )
    for finding in found:
        services.note(f"{action.table.full_name}: {finding}")


def look(cluster: DruidCluster, spec: Mapping[str, Any], note: Callable[[str], None]) -> Seen:
    """Inspect Kafka and Druid for a supervisor's spec. Raises ConnectError and DruidError of the overlord.

    Druid samples the topic only if it exists; an empty topic is not waited for.
    """
    from hivedruid.clients.kafka import NoTopicError
    from hivedruid.clients.overlord import Overlord
    from hivedruid.clients.sampler import ROWS, sample
    from hivedruid.ingestion.feed import feed_of
    from hivedruid.ingestion.lifecycle import IngestionFacts, slots

    cluster.progress("Kafka: reading the topic's metadata")
    try:
        filled = cluster.kept.filled(spec)
        seen = _kafka(feed_of(filled), note)
        overlord = next(service for service in cluster.status() if service.service == "overlord")
        if overlord.problem:
            raise ConnectError(overlord.problem)
        workers = Overlord(cluster.client).workers()
        room = slots(spec, IngestionFacts(workers=workers, topic=_together(seen.topics)))
        seen = replace(seen, modules=overlord.extensions, slots=room)
        if isinstance(seen.kafka, NoTopicError):
            return seen
        cluster.progress("Druid: sampling the topic")
        try:
            rows = ROWS if seen.records is None else min(ROWS, seen.records)
            return replace(seen, sample=sample(cluster.client, filled, rows=rows))
        except DruidError as error:
            return replace(seen, sample=error)
    finally:
        cluster.progress("")


def _kafka(feed: Feed, note: Callable[[str], None]) -> Seen:
    """The topics as seen from this machine, or the error; credentials that only Druid has are not an error."""
    from hivedruid.clients.kafka import Kafka, NoTopicError, OnlyDruidError
    from hivedruid.ingestion.checks import Seen

    try:
        with Kafka(feed.bootstrap, dict(feed.properties)) as kafka:
            names = kafka.topics(feed.topic) if feed.is_pattern else (feed.topic,)
            if not names:
                raise NoTopicError(
                    f"no topic in Kafka at {feed.bootstrap} matches {feed.topic}",
                    hint="create one, or set druid.kafka.ingestion.topicPattern",
                )
            found = kafka.offsets(names)
    except OnlyDruidError as error:
        note(f"Kafka was not queried from this machine: {error.message}")
        return Seen()
    except (KafkaError, ConnectError) as error:
        return Seen(kafka=error)
    problems: list[HiveDruidError] = [item for item in found.values() if isinstance(item, KafkaError)]
    topics = tuple(item for item in found.values() if not isinstance(item, KafkaError))
    return Seen(topics, problems[0] if problems else None)


def _together(topics: tuple[TopicOffsets, ...]) -> TopicOffsets | None:
    """The topics of a pattern share the tasks: their partitions are counted together."""
    from hivedruid.ingestion.model import TopicOffsets

    if not topics:
        return None
    latest = [offset for topic in topics for offset in topic.latest.values()]
    numbered = dict(enumerate(latest))
    return TopicOffsets(topics[0].topic, numbered, numbered)
