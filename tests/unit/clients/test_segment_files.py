"""The timeline of the broker with the files of the metadata store."""

from __future__ import annotations

from typing import Any

import msgspec

from hivedruid.clients import fitting, wire
from hivedruid.clients.segment_files import located
from hivedruid.druid.interval_sets import iso
from hivedruid.engine.segments import Segment
from hivedruid.plan.segment_files import SegmentFiles, SegmentKey

HOUR = 3_600_000


def visible(first: int, until: int, version: str = "v1", number: int = 0, *, growing: bool = False) -> Segment:
    state = "realtime" if growing else "available"
    return Segment("t", first * HOUR, until * HOUR, version, number, state=state)  # type: ignore[arg-type]


def stored(first: int, until: int, version: str = "v1", number: int = 0, **load: Any) -> wire.DataSegment:
    interval = f"{iso(first * HOUR)}/{iso(until * HOUR)}"
    load = load or {"type": "local", "path": f"/deep/{first}-{until}-{version}-{number}"}
    return wire.DataSegment(
        f"t_{first}_{until}_{version}_{number}", "t", fitting.Interval(interval), version,
        wire.ShardSpec("numbered", number), 10, load_spec=load,
    )  # fmt: skip


def places(found: SegmentFiles | None) -> list[tuple[int, int, str]]:
    assert found is not None
    return [(file.start // HOUR, file.end // HOUR, file.location) for file in found.files]


def test_parts_of_a_segment_that_is_hidden_in_part() -> None:
    found = located(
        [visible(0, 5), visible(5, 6, "v2"), visible(6, 24)], [stored(0, 24), stored(5, 6, "v2"), stored(0, 24, "v0")]
    )
    assert places(found) == [(0, 5, "/deep/0-24-v1-0"), (5, 6, "/deep/5-6-v2-0"), (6, 24, "/deep/0-24-v1-0")]


def test_segments_of_several_intervals_with_one_version_and_number() -> None:
    found = located([visible(0, 1), visible(1, 2), visible(2, 3, growing=True)], [stored(0, 1), stored(1, 2)])
    assert places(found) == [(0, 1, "/deep/0-1-v1-0"), (1, 2, "/deep/1-2-v1-0")]
    assert found is not None
    assert found.growing == (SegmentKey(2 * HOUR, 3 * HOUR, "v1", 0),)


def test_a_segment_that_was_published_and_is_still_on_its_task_is_read_from_its_file() -> None:
    found = located([visible(0, 1, growing=True)], [stored(0, 1)])
    assert places(found) == [(0, 1, "/deep/0-1-v1-0")]
    assert found is not None
    assert found.growing == ()


def test_a_segment_without_metadata_was_replaced() -> None:
    assert located([visible(0, 1), visible(1, 2)], [stored(0, 1)]) is None
    assert located([visible(0, 1, number=1)], [stored(0, 1)]) is None


def test_deep_storage_of_another_type() -> None:
    found = located([visible(0, 1)], [stored(0, 1, type="s3_zip", bucket="b", key="k")])
    assert places(found) == [(0, 1, "s3://b/k")]
    found = located([visible(0, 1)], [stored(0, 1, type="c*", path="x")])
    assert found is not None
    assert (found.files, found.problem) == ((), "deep storage of type c* is not supported")


def test_a_tombstone_beside_later_rows_has_no_file() -> None:
    """The broker lists it then."""
    tombstone = msgspec.structs.replace(
        stored(0, 1, type="tombstone", path=None), shard_spec=wire.ShardSpec("tombstone", 0)
    )
    found = located([visible(0, 1), visible(0, 1, number=1)], [tombstone, stored(0, 1, number=1)])
    assert places(found) == [(0, 1, "/deep/0-1-v1-1")]
    assert found is not None
    assert not found.problem
