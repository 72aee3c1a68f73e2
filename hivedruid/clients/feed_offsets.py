"""The offsets of the topics that supervisors read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivedruid.errors import ConnectError, KafkaError
from hivedruid.ingestion.feed import Feed, feed_of
from hivedruid.ingestion.model import FeedOffsets, Offsets, TopicOffsets

if TYPE_CHECKING:
    from hivedruid.clients.kafka import Kafka


def feed_offsets(spec: Mapping[str, Any], moment: int | None = None) -> tuple[FeedOffsets, Offsets | None]:
    """The offsets of the topics that a supervisor's spec reads, and those of their first records at or after a moment
    in milliseconds. Raises KafkaError, ConnectError."""
    from hivedruid.clients.kafka import Kafka

    feed = feed_of(spec)
    with Kafka(feed.bootstrap, dict(feed.properties)) as kafka:
        topics = topics_of(kafka, [feed])[feed]
        if isinstance(topics, KafkaError):
            raise topics
        if moment is None:
            return offsets_of(feed, topics), None
        starts = (replace(topic, latest=kafka.offsets_within(topic, moment)) for topic in topics)
        return offsets_of(feed, topics), offsets_of(feed, starts).latest


def topics_of(kafka: Kafka, feeds: Sequence[Feed]) -> dict[Feed, tuple[TopicOffsets, ...] | KafkaError]:
    """The offsets of the topics of each feed of one Kafka, or why those of a topic cannot be read. All topics share
    their requests; one more lists them if a feed has a pattern."""
    names = {feed: kafka.topics(feed.topic) if feed.is_pattern else (feed.topic,) for feed in feeds}
    found = kafka.offsets(name for each in names.values() for name in each)
    return {feed: _all_or_error(feed, [found[name] for name in each]) for feed, each in names.items()}


def _all_or_error(feed: Feed, found: Sequence[TopicOffsets | KafkaError]) -> tuple[TopicOffsets, ...] | KafkaError:
    problem = next((item for item in found if isinstance(item, KafkaError)), None)
    if problem is None and not found:
        problem = _no_match(feed)
    return problem or tuple(item for item in found if isinstance(item, TopicOffsets))


def _no_match(feed: Feed) -> KafkaError:
    from hivedruid.clients.kafka import NoTopicError

    return NoTopicError(
        f"no topic in Kafka at {feed.bootstrap} matches '{feed.topic}'",
        hint="create one, or set druid.kafka.ingestion.topicPattern",
    )


def check_topics(spec: Mapping[str, Any]) -> None:
    """Raises KafkaError if no topic exists that a supervisor's spec reads. Nothing is checked if Kafka does not respond
    to this machine, or refuses: Druid may read it nevertheless."""
    from hivedruid.clients.kafka import NoTopicError

    try:
        feed_offsets(spec)
    except NoTopicError:
        raise
    except (ConnectError, KafkaError):
        return


def offsets_of(feed: Feed, topics: Iterable[TopicOffsets]) -> FeedOffsets:
    """The offsets by the partitions of the supervisor that has this feed."""
    return FeedOffsets.of_pattern(feed.topic, topics) if feed.is_pattern else FeedOffsets.of_topic(*topics)
