"""One ingestion on a cluster: the segments that it replaces, with concurrent writes."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hivedruid.catalog.types import BIGINT
from hivedruid.clients import task_spec, wire
from hivedruid.clients.segments import ETERNITY, Segments, interval
from hivedruid.errors import DruidError
from hivedruid.jobs.load import NoJournal
from hivedruid.jobs.staged import Sum
from tests.support.ingestion import until
from tests.support.loads import MakeLoad
from tests.support.staged import DAY, NewDataSource, scan, values

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
from tests.support.journals import Notebook, does_at

CONCURRENT = {"useConcurrentLocks": True}


# --- replaced segments -------------------------------------------------------------------------------------------


def test_intervals_alone_are_replaced(druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad) -> None:
    """Old segments may be shorter, or longer: then their rows in other intervals are kept."""
    name = new_data_source("t")
    hour = DAY // 24
    druid.ingest(load_of(name, {(1, 0): 1, (1, 5 * hour): 2, (2, 0): 3}, segment="HOUR"), NoJournal())
    druid.ingest(load_of(name, {40: 4, 41: 5, 50: 6}, segment="MONTH"), NoJournal())
    report = druid.ingest(load_of(name, {1: 7, 41: 8}, "intervals"), NoJournal())
    assert report.segments == 2
    assert values(druid, name) == [3, 4, 6, 7, 8]
    druid.ingest(load_of(name, {}, "intervals"), NoJournal())
    assert values(druid, name) == [3, 4, 6, 7, 8]


def test_what_tombstones_hide_is_dropped_before_them(
    druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    """A server that dropped a tombstone first would show the rows that it hid, for a moment."""
    name = new_data_source("t")
    segments = Segments(druid.client, name)
    for _ in range(3):
        druid.ingest(load_of(name, {1: 1, 2: 2, 3: 3}, "all"), NoJournal())
        old = segments.used()
        druid.ingest(load_of(name, {1: 4}, "all"), NoJournal())
        assert not {segment.id for segment in old} & segments.served(old)
        assert values(druid, name) == [4]


def test_rows_join_segments_that_are_finer_or_wider(
    druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    name = new_data_source("t")
    druid.ingest(load_of(name, {(1, 0): 1, (1, DAY // 2): 2}, segment="HOUR"), NoJournal())
    druid.ingest(load_of(name, {40: 3}, segment="MONTH"), NoJournal())
    druid.ingest(load_of(name, {1: 4, (1, DAY // 3): 5, 41: 6, 80: 7}), NoJournal())
    assert values(druid, name) == [1, 2, 3, 4, 5, 6, 7]
    name = new_data_source("t")
    druid.ingest(load_of(name, {0: 1}, segment="ALL"), NoJournal())
    druid.ingest(load_of(name, {40: 2}), NoJournal())
    assert values(druid, name) == [1, 2]
    path = f"/druid/coordinator/v1/metadata/datasources/{name}/segments?full"
    stored = druid.client.post("coordinator", path, list[wire.DataSegment], [interval(ETERNITY)])
    assert {item.identifier for item in stored} == {segment.id for segment in Segments(druid.client, name).used()}
    assert {segment.id for segment in druid.segments(name)} == {item.identifier for item in stored}


@pytest.mark.parametrize("most", [500, 0])
def test_a_reader_sees_old_rows_or_new_ones(
    druid: DruidCluster,
    other: DruidCluster,
    new_data_source: NewDataSource,
    load_of: MakeLoad,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
) -> None:
    """Tombstones by bucket, and if there would be too many, one for everything between two buckets with rows."""
    monkeypatch.setattr(task_spec, "MOST_TOMBSTONES", most)
    name = new_data_source("t")
    druid.ingest(load_of(name, {0: 1, 1: 2, 2: 3, 3: 4}), NoJournal())
    seen, done = set[tuple[int, ...]](), threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(tuple(sorted(x for (x,) in other.rows(scan(name, ("x", BIGINT))))))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        until(lambda: bool(seen), "the old rows")
        druid.ingest(load_of(name, {1: 9}, "all"), NoJournal())
    finally:
        done.set()
        reader.join()
    assert values(druid, name) == [9]
    assert (1, 2, 3, 4) in seen
    assert all(len({2, 9} & set(rows)) == 1 for rows in seen)
    assert [s.is_tombstone for s in Segments(druid.client, name).used()] == [False]


# --- others at the same time -------------------------------------------------------------------------------------


@pytest.mark.parametrize("context", [None, CONCURRENT])
def test_what_others_append_meanwhile_is_theirs(
    druid: DruidCluster, other: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad, context: object
) -> None:
    name = new_data_source("t")
    theirs = load_of(name, {0: 100, 3: 200}, context=context)
    druid.progress = does_at("are loaded", lambda: other.ingest(theirs, NoJournal()))
    druid.ingest(load_of(name, {0: 1, 3: 2}, context=context), NoJournal())
    assert values(druid, name) == [1, 2, 100, 200]
    again = load_of(name, {0: 300}, context=context)
    druid.progress = does_at("verifying the rows", lambda: other.ingest(again, NoJournal()))
    ours = load_of(name, {0: 3}, context=context)
    with pytest.raises(DruidError, match="the sum of x was 4 and is 3"):
        druid.ingest(replace(ours, staged=replace(ours.staged, sums={"x": Sum(4)})), NoJournal())
    assert values(druid, name) == [1, 2, 100, 200, 300]


def test_overwriting_beside_appends_with_concurrent_locks(
    druid: DruidCluster, other: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    name = new_data_source("t")
    druid.ingest(load_of(name, {0: 1, 1: 2}, context=CONCURRENT), NoJournal())
    theirs = load_of(name, {0: 100, 1: 200}, context=CONCURRENT)
    druid.progress = does_at("verifying the rows", lambda: other.ingest(theirs, NoJournal()))
    report = druid.ingest(load_of(name, {0: 3}, "all", context=CONCURRENT), NoJournal())
    assert report.rows == 1
    assert values(druid, name) == [3, 100, 200]


def test_rows_that_others_have_overwritten_cannot_be_checked(
    druid: DruidCluster, other: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    name, notes = new_data_source("t"), list[str]()
    druid.note = notes.append
    theirs = load_of(name, {0: 100}, "intervals")
    druid.progress = does_at("verifying the rows", lambda: other.ingest(theirs, NoJournal()))
    druid.ingest(load_of(name, {0: 1, 3: 2}), NoJournal())
    assert len(notes) == 1
    assert "1 of its 2 segments were replaced by a later write" in notes[0]
    assert values(druid, name) == [2, 100]


def test_what_another_session_takes_back_is_no_success(
    druid: DruidCluster, other: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    name, book = new_data_source("t"), Notebook()
    druid.ingest(load_of(name, {0: 1, 1: 2}), NoJournal())
    new = load_of(name, {0: 3}, "all")
    druid.progress = does_at("verifying the rows", lambda: other.roll_back(book.resumed(new), NoJournal()))
    with pytest.raises(DruidError, match="were dropped"):
        druid.ingest(new, book)
    assert book.state == "staged"
    assert values(druid, name) == [1, 2]
