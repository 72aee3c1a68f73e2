"""The one value for a segment: its names in Druid, and what makes two values equal."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.clients import fitting, wire
from hivedruid.clients.segments import segment_of
from hivedruid.druid.interval_sets import MAX, MIN
from hivedruid.engine.segments import Segment

DAY = 86_400_000
ONE = Segment("default.t", 0, DAY, "2024-01-01T00:00:00.000Z", 0)


def test_the_names_are_those_of_druid() -> None:
    name = "default.t_1970-01-01T00:00:00.000Z_1970-01-02T00:00:00.000Z_2024-01-01T00:00:00.000Z"
    assert (ONE.id, replace(ONE, number=12).id) == (name, f"{name}_12")
    always = replace(ONE, start=MIN, end=MAX)
    assert always.interval == "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"
    assert always.descriptor == {"itvl": always.interval, "ver": ONE.version, "part": 0}


def test_a_segment_of_the_metadata_store() -> None:
    answer = {
        "dataSource": ONE.data_source, "identifier": replace(ONE, number=3).id, "interval": ONE.interval, "version": ONE.version, "size": 7,
        "shardSpec": {"type": "numbered", "partitionNum": 3, "partitions": 4},
    }  # fmt: skip
    item = fitting.fitted(answer, wire.DataSegment)
    found = segment_of("default.t", item)
    assert (found.id, found.size, found.state, found.rows) == (item.identifier, 7, "used", None)
    assert segment_of("default.t", item, "unused").state == "unused"
    tombstone = fitting.fitted({**answer, "shardSpec": {"type": "tombstone"}}, wire.DataSegment)
    assert segment_of("default.t", tombstone).is_tombstone


def test_equal_values_are_the_same_segment() -> None:
    seen = replace(ONE, rows=5, size=9, state="realtime", replicas=2, task="x")
    assert (seen == ONE, len({ONE, seen}), seen.is_growing) == (True, 1, True)
    assert ONE not in {
        replace(ONE, number=1),
        replace(ONE, end=1),
        replace(ONE, version="v"),
        replace(ONE, data_source="u"),
    }


def test_a_token_is_the_file_of_the_embedded_store_or_version_and_number() -> None:
    assert ONE.token == "2024-01-01T00:00:00.000Z_0"
    assert replace(ONE, path="segments/t/0.parquet").token == "segments/t/0.parquet"
