"""Inspect Kafka and Druid before a supervisor is started: what `ingestion.checks` makes its findings of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hivedruid.clients.feed_offsets import topics_of
from hivedruid.clients.kafka import Kafka, NoTopicError, OnlyDruidError
from hivedruid.clients.overlord import Overlord
from hivedruid.clients.sampler import ROWS, sample
from hivedruid.errors import ConnectError, DruidError, KafkaError
from hivedruid.ingestion.checks import Seen
from hivedruid.ingestion.feed import Feed, feed_of
from hivedruid.ingestion.lifecycle import IngestionFacts, slots
from hivedruid.ingestion.model import FeedOffsets

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster


def inspect(cluster: DruidCluster, spec: Mapping[str, Any]) -> Seen:
    """Inspect Kafka and Druid for a supervisor's spec; see `KafkaIngestion.inspect_feed`.

    Raises ConnectError and DruidError of the overlord.
    """
    cluster.progress("Kafka: reading the topic's metadata")
    try:
        filled = cluster.kept.filled(spec)
        feed = feed_of(filled)
        seen = _kafka(feed, cluster.note)
        overlord = next(service for service in cluster.status() if service.service == "overlord")
        if overlord.problem:
            raise ConnectError(overlord.problem)
        workers = Overlord(cluster.client).workers()
        offsets = FeedOffsets.of_pattern(feed.topic, seen.topics) if seen.topics else None  # one topic counts alike
        room = slots(spec, IngestionFacts(workers=workers, topic=offsets))
        seen = replace(seen, modules=overlord.extensions, slots=room, now=datetime.now(UTC))
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
    try:
        with Kafka(feed.bootstrap, dict(feed.properties)) as kafka:
            found = topics_of(kafka, [feed])[feed]
    except OnlyDruidError as error:
        note(f"Kafka was not queried from this machine: {error.message}")
        return Seen()
    except (KafkaError, ConnectError) as error:
        return Seen(kafka=error)
    return Seen(kafka=found) if isinstance(found, KafkaError) else Seen(found)
