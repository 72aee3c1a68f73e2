"""One list of segments, from those of the coordinator and those that the broker reads. The responses are those of Druid
33.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hivedruid.clients import fitting, wire
from hivedruid.clients.compaction import automatic_of, is_compacted
from hivedruid.clients.segment_list import combined
from hivedruid.engine.compaction import AutomaticCompaction, CompactionAmount
from hivedruid.engine.segments import Segment, SegmentState

DAY, NEXT = 1_704_067_200_000, 1_704_153_600_000
INTERVAL = "2024-01-01T00:00:00.000Z/2024-01-02T00:00:00.000Z"
ID = "d_2024-01-01T00:00:00.000Z_2024-01-02T00:00:00.000Z_"


def stored(version: str, number: int = 0, **changes: Any) -> wire.DataSegment:
    answer = {
        "dataSource": "d", "overshadowed": False, "replicationFactor": 1, "interval": INTERVAL, "version": version, "size": 9,
        "shardSpec": {"type": "numbered", "partitionNum": number, "partitions": 1},
        "identifier": f"{ID}{version}" + (f"_{number}" if number else ""), **changes,
    }  # fmt: skip
    return fitting.fitted(answer, wire.DataSegment)


def seen(version: str, number: int = 0, historicals: int = 1, tasks: int = 0) -> Segment:
    state: SegmentState = "available" if historicals else "realtime"
    return Segment("d", DAY, NEXT, version, number, size=5, state=state, replicas=historicals or tasks)


def states(*segments: Segment) -> list[tuple[str, int, str, int | None, int]]:
    return [(s.version, s.number, s.state, s.rows, s.replicas) for s in segments]


def test_states() -> None:
    found = combined(
        "d",
        [
            stored("v3", 1), stored("v3"), stored("v1", overshadowed=True, replicationFactor=0),
            stored("v2", shardSpec={"type": "tombstone"}), stored("v4", replicationFactor=None), stored("v5", replicationFactor=0),
        ],
        [seen("v3", historicals=2), seen("v3", 1), seen("v6", 3, 0, 1), seen("v7", 0, 1, 1)],
        {f"{ID}v3": 10, f"{ID}v3_1": 11, f"{ID}v6_3": 12, f"{ID}v7": 13},
    )  # fmt: skip
    assert states(*found) == [
        ("v1", 0, "overshadowed", None, 0), ("v2", 0, "tombstone", 0, 0), ("v3", 0, "available", 10, 2),
        ("v3", 1, "available", 11, 1), ("v4", 0, "loading", None, 0), ("v5", 0, "unavailable", None, 0),
        ("v6", 3, "realtime", 12, 1), ("v7", 0, "available", 13, 1),
    ]  # fmt: skip


def test_a_segment_that_is_hidden_in_part_is_listed_once() -> None:
    half = Segment("d", DAY, DAY + 1000, "v1", 0, size=9, state="available", replicas=1)
    (found,) = combined("d", [stored("v1")], [half], {f"{ID}v1": 4})
    assert (found.start, found.end, found.state, found.rows) == (DAY, NEXT, "available", 4)


def test_automatic_compaction_before_and_after_the_coordinator_looks() -> None:
    assert automatic_of("d", None) == AutomaticCompaction("d", "PENDING")
    status = {
        "dataSource": "d", "scheduleStatus": "RUNNING", "message": None, "bytesAwaitingCompaction": 1, "bytesCompacted": 2,
        "bytesSkipped": 3, "segmentCountAwaitingCompaction": 4, "segmentCountCompacted": 5, "segmentCountSkipped": 6,
        "intervalCountAwaitingCompaction": 7, "intervalCountCompacted": 8, "intervalCountSkipped": 9,
    }  # fmt: skip
    assert automatic_of("d", fitting.fitted(status, wire.CompactionStatus)) == AutomaticCompaction(
        "d", "RUNNING", CompactionAmount(4, 7, 1), CompactionAmount(5, 8, 2), CompactionAmount(6, 9, 3)
    )


def test_what_others_append_meanwhile_is_not_the_compactions() -> None:
    state: dict[str, Any] = {"lastCompactionState": {"partitionsSpec": {}}}
    assert is_compacted(stored("v2", **state))
    assert not is_compacted(stored("v2", 1))
    mark = {
        "type": "or",
        "fields": [{"type": "true"}, {"type": "selector", "dimension": "__hivedruid_task", "value": "x"}],
    }
    assert not is_compacted(stored("v2", 1, lastCompactionState={"transformSpec": {"filter": mark}}))
    assert not is_compacted(stored("v2", shardSpec={"type": "tombstone"}, **state))


def test_a_segment_with_the_fingerprint_of_its_state_is_compacted() -> None:
    """As Druid 37's class writes it (druid37/README.md)."""
    found = json.loads((Path(__file__).parent / "druid37" / "compacted_segment.json").read_text(encoding="utf-8"))
    assert is_compacted(fitting.fitted(found, wire.DataSegment))
    del found["indexingStateFingerprint"]
    assert not is_compacted(fitting.fitted(found, wire.DataSegment))
