"""The offsets and counts of RESET."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.ingestion.model import (
    FeedOffsets,
    Offsets,
    ReadingTask,
    SupervisorError,
    SupervisorStatus,
    TopicOffsets,
    TopicPartition,
    offset_list,
    partition_of,
)
from hivedruid.ingestion.offsets import Move, moves, next_offsets, summary, with_lag


@pytest.mark.parametrize(
    ("before", "after", "lost", "repeated", "told"),
    [
        (5, 5, 0, 0, "no records are lost or read again"),
        (5, 9, 4, 0, "4 records are lost, 0 records are read again"),
        (9, 8, 0, 1, "0 records are lost, 1 record is read again"),
        (1, 9, 6, 0, "6 records are lost, 0 records are read again; Kafka deleted 2 records before they were read"),
        (1, 3, 0, 0, "no records are lost or read again; Kafka deleted 2 records before they were read"),
        (9, 0, 0, 6, "0 records are lost, 6 records are read again"),
    ],
)
def test_one_partition(before: int, after: int, lost: int, repeated: int, told: str) -> None:
    topic = FeedOffsets("t", {0: 3}, {0: 20})
    planned = moves({0: before}, {0: after}, topic)
    assert planned == (Move(0, before, after, lost, repeated, max(0, 3 - before)),)
    assert planned[0].is_harmless == (before == after)
    assert summary(planned) == told


def test_where_reading_goes_on() -> None:
    status = SupervisorStatus("RUNNING", "RUNNING", suspended=False, healthy=True)
    assert next_offsets(None) == next_offsets(status) == {}
    gone = "Previous sequenceNumber [5] is no longer available for partition [KafkaTopicPartition{partition=1, …}]"
    expired = replace(status, errors=(SupervisorError("now", gone),))
    assert next_offsets(expired) == {1: 5}
    publishing, active = ReadingTask("a", {0: 1, 1: 0}, {0: 7, 1: 4}), ReadingTask("b", {0: 7, 1: 4}, {0: 9})
    assert next_offsets(replace(expired, publishing=(publishing,), active=(active,))) == {0: 9, 1: 4}


def test_a_partition_of_which_nothing_is_known() -> None:
    planned = moves({0: 1}, {0: 1, 1: 7}, None)
    assert planned[1] == Move(1, None, 7, None, None)
    assert summary(planned).startswith("the current offsets are unknown")


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_there_and_back_repeats_what_was_lost(before: int, after: int, earliest: int) -> None:
    topic = FeedOffsets("t", {0: earliest}, {0: 50})
    (there,) = moves({0: before}, {0: after}, topic)
    (back,) = moves({0: after}, {0: before}, topic)
    assert (there.lost, there.repeated) == (back.repeated, back.lost)
    assert 0 in (there.lost, there.repeated)


def test_the_lag_of_tasks_whose_supervisor_has_not_fetched_it() -> None:
    status = SupervisorStatus("RUNNING", "RUNNING", suspended=False, healthy=True)
    status = replace(status, active=(ReadingTask("a", {0: 1}, {0: 7}), ReadingTask("b", {1: 0}, {1: 4})))
    known = with_lag(status, {0: 9, 1: 4}, "now")
    assert (known.lag, known.total_lag, known.latest_offsets) == ({0: 2, 1: 0}, 2, {0: 9, 1: 4})
    assert known.offsets_updated == "now"
    unread: Offsets = {0: 9, 1: 4, 2: 1}
    assert with_lag(status, unread, "now") == with_lag(status, {}, "now") == status


def test_an_end_offset_that_kafka_reported_before_a_task_read_on_is_no_negative_lag() -> None:
    status = SupervisorStatus(
        "RUNNING", "RUNNING", suspended=False, healthy=True, active=(ReadingTask("a", {}, {0: 7}),)
    )
    assert with_lag(status, {0: 6}, "now").lag == {0: 0}


PA, PB = TopicPartition("a", 0), TopicPartition("b", 0)


@pytest.mark.parametrize(
    ("text", "partition"),
    [
        ("0", 0),
        ("12", 12),
        ("a:0", PA),
        ("with:colon:3", TopicPartition("with:colon", 3)),
        ("KafkaTopicPartition{partition=7, topic='null', multiTopicPartition=false}", 7),
        ("KafkaTopicPartition{partition=0, topic='a', multiTopicPartition=true}", PA),
        ("a", None),
        ("", None),
    ],
)
def test_partitions_in_answers_of_druid(text: str, partition: int | TopicPartition | None) -> None:
    assert partition_of(text) == partition


def test_partitions_of_several_topics_are_kept_apart() -> None:
    """`a:0` and `b:0` have the same number."""
    topics = TopicOffsets("a", {0: 0}, {0: 5}), TopicOffsets("b", {0: 2}, {0: 8})
    feed = FeedOffsets.of_pattern("[ab]", topics)
    assert offset_list(feed.latest) == "a:0:5, b:0:8"
    status = SupervisorStatus("RUNNING", "RUNNING", suspended=False, healthy=True)
    status = replace(status, active=(ReadingTask("x", {PA: 0, PB: 2}, {PA: 4, PB: 8}),))
    assert next_offsets(status) == {PA: 4, PB: 8}
    assert with_lag(status, feed.latest, "now").lag == {PA: 1, PB: 0}
    planned = moves(next_offsets(status), feed.earliest, feed)
    assert planned == (Move(PA, 4, 0, 0, 4), Move(PB, 8, 2, 0, 6))
