"""The batches of tiered tables in the catalog: what a query reads of them, and the migration of their intervals."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hivedruid.catalog.archives import Batch, Batches, BatchState, Interval, Removal
from hivedruid.catalog.database import FILE_NAME, copy_database, open_database
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.catalog.store import Catalog
from hivedruid.druid.interval_sets import ALL, MAX, MIN, merged

BEFORE = next(n for n, steps in enumerate(MIGRATIONS) if any("CREATE TABLE archived_intervals" in s for s in steps))
"""The last schema version in which intervals were JSON."""


def kept(catalog: Catalog, *batches: Batch) -> Batches:
    records = Batches(catalog)
    for batch in batches:
        records.keep(batch)
    return records


def batch(id_: str, state: BatchState = "done", *intervals: tuple[int, int], rows: int = 1, table: str = "t") -> Batch:
    return Batch(id_, table, state, tuple(Interval(*each, "v") for each in intervals), rows)


def ids(batches: tuple[Batch, ...]) -> list[str]:
    return [each.id for each in batches]


def test_a_batch_comes_back_as_it_was(catalog: Catalog) -> None:
    first = Batch("a", "t", "planned", (Interval(5, 9, "v2"), Interval(0, 5, "v1")), 3)
    removal = Batch("b", "t", "staged", (Interval(MIN, MAX),), 0, "removed", Removal(1, ("x",), True, (("a", 2),)))
    records = kept(catalog, first, removal, batch("other", table="u"))
    assert records.of("t") == (first, removal)
    assert records.find("b") == removal
    assert records.find("c") is None
    changed = Batch("a", "t", "done", (Interval(0, 9, "v3"),), 4, sums=(("n", 1 << 62), ("m", None)))
    records.keep(changed)
    assert records.of("t") == (changed, removal)
    records.remove("t")
    assert records.of("t") == ()
    assert ids(records.of("u")) == ["other"]
    assert not records.may_hold("t", ALL)


def test_current_batches(catalog: Catalog) -> None:
    """Those that are not done, and the newest one; and those since a removal that is not done."""
    records = kept(catalog, batch("a"), batch("b", "cancelled"), batch("c"), batch("d"))
    assert ids(records.current("t")) == ["b", "d"]
    third = records.of("t")[2]
    records.keep(Batch("e", "t", "staged", (), 0, "removed", Removal(third.number - 1)))
    assert ids(records.current("t")) == ["b", "c", "d", "e"]
    assert records.current("u") == ()


def test_batches_that_may_have_changed(catalog: Catalog) -> None:
    records = kept(catalog, batch("a"), batch("b", "staged"), batch("c"))
    before = records.current("t")
    assert records.since("t", before) == before
    records.keep(batch("b"))
    records.keep(batch("d"))
    assert ids(records.since("t", before)) == ["b", "c", "d"]
    records.remove("t")
    records.keep(batch("e"))  # may have the number of a batch that was removed
    assert ids(records.since("t", before)) == ["e"]
    assert ids(records.since("t", ())) == ["e"]


def test_times_that_the_cold_part_may_hold(catalog: Catalog) -> None:
    records = kept(catalog, batch("a", "planned", (0, 10)), batch("b", "done", (10, 20), (20, 30)))
    assert records.may_hold("t", [(29, 99)])
    assert records.may_hold("t", ALL)
    assert records.may_hold("t", [(-5, 1)])
    assert not records.may_hold("t", [(30, 99), (-5, 0)])
    assert not records.may_hold("t", ())
    assert not records.may_hold("u", ALL)
    removal = Batch("r", "u", "staged", (Interval(0, 9),), 0, "removed", Removal(0))
    assert kept(catalog, removal).may_hold("u", ALL)
    assert not kept(catalog, Batch("r", "u", "done", (Interval(0, 9),), 0, "removed", Removal(0))).may_hold("u", ALL)


def test_the_edge_is_the_end_of_archived_rows(catalog: Catalog) -> None:
    records = kept(catalog, batch("a", "done", (0, 10)), batch("b", "staged", (20, 30)))
    assert records.edge("t") == 10
    assert records.edge("u") is None
    records = kept(catalog, batch("c", "switched", (10, 15), (0, 5)), batch("d", "done", (50, 60), rows=0))
    assert records.edge("t") == 15


TIMES = st.tuples(st.integers(-20, 20), st.integers(1, 15)).map(lambda each: (each[0], each[0] + each[1]))


@given(st.lists(st.lists(TIMES, max_size=5), max_size=5), st.lists(TIMES, max_size=4))
@settings(max_examples=60, deadline=None)
def test_hidden_intervals_are_those_that_overlap(
    batches: list[list[tuple[int, int]]], spans: list[tuple[int, int]]
) -> None:
    with closing(copy_database(Path("no such home"))) as connection:
        records = kept(Catalog(connection), *(batch(f"b{n}", "done", *set(each)) for n, each in enumerate(batches)))
        asked = merged(spans)
        found = {b.id: {(each.start, each.end) for each in b.intervals} for b in records.hidden("t", asked)}
        overlapping = {
            f"b{n}": {each for each in some if any(each[0] < end and start < each[1] for start, end in asked)}
            for n, some in enumerate(batches)
        }
        assert found == {id_: some for id_, some in overlapping.items() if some}
        assert records.may_hold("t", asked) == bool(found)


def test_intervals_are_carried_over(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as old:
        for statement in (each for steps in MIGRATIONS[:BEFORE] for each in steps):
            if "INSERT INTO operations" not in statement:  # its functions belong to the migration; there are no jobs
                old.execute(statement)
        old.execute(f"PRAGMA user_version = {BEFORE}")
        add = "INSERT INTO archived_batches (batch_id, table_id, state, intervals, row_count) VALUES (?, 't', ?, ?, ?)"
        old.execute(add, ("a", "done", '[[5, 9, "v2"], [-7, 5, "v1"]]', 3))
        old.execute(add, ("b", "planned", "[]", 0))
    with closing(open_database(tmp_path)) as connection:
        first = Batch("a", "t", "done", (Interval(5, 9, "v2"), Interval(-7, 5, "v1")), 3)
        assert Batches(Catalog(connection)).of("t") == (first, Batch("b", "t", "planned", ()))
