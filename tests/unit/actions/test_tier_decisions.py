"""Which rows of a tiered table count, from the few batches that a query reads of the catalog, is the same as from all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from hivedruid.actions.tiering.decisions import decided, is_same
from hivedruid.catalog.archives import Batch, Batches, BatchState, Interval
from hivedruid.catalog.database import copy_database
from hivedruid.catalog.store import Catalog
from hivedruid.druid.interval_sets import IntervalSet, intersection, merged
from hivedruid.engine.segments import Segment
from hivedruid.errors import TiersChangedError
from hivedruid.plan.tiers import TierFacts

TIMES = st.tuples(st.integers(0, 20), st.integers(1, 5)).map(lambda each: (each[0], each[0] + each[1]))
VERSIONS = st.sampled_from(["v1", "v2", "v3"])
STATES = st.sampled_from(get_args(BatchState))
BATCHES = st.lists(st.tuples(STATES, st.lists(st.tuples(TIMES, VERSIONS), max_size=3)), max_size=5)
SEGMENTS = st.lists(st.tuples(TIMES, VERSIONS), max_size=4)


def batch(number: int, state: str, intervals: Sequence[tuple[tuple[int, int], str]]) -> Batch:
    found = tuple(Interval(*times, version) for times, version in dict(intervals).items())
    return Batch(f"b{number}", "t", cast("BatchState", state), found)


def facts_of(known: TierFacts, hidden: Sequence[Batch], segments: Sequence[Segment], asked: IntervalSet) -> object:
    """What a plan depends on; None if a query has to wait."""
    try:
        made = decided("t", known, hidden, set(), segments, asked)
    except TiersChangedError:
        return None
    return made.left_out, made.hot, made.segments


@given(BATCHES, SEGMENTS, st.lists(TIMES, min_size=1, max_size=2), st.data())
@settings(max_examples=150, deadline=None)
def test_few_batches_are_enough(
    given_batches: list[tuple[str, list[tuple[tuple[int, int], str]]]],
    given_segments: list[tuple[tuple[int, int], str]],
    spans: list[tuple[int, int]],
    data: st.DataObject,
) -> None:
    with closing(copy_database(Path("no such home"))) as connection:
        records = Batches(Catalog(connection))
        for number, (state, intervals) in enumerate(given_batches):
            records.keep(batch(number, state, intervals))
        asked = merged(spans)
        segments = [Segment("t", *times, version, n) for n, (times, version) in enumerate(given_segments)]
        every, current = TierFacts(records.of("t")), TierFacts(records.current("t"))
        seen = intersection(merged((s.start, s.end) for s in segments), asked)
        found = facts_of(current, records.hidden("t", seen), segments, asked)
        assert found == facts_of(every, (), segments, asked)
        assert records.may_hold("t", asked) == bool(intersection(every.times, asked))

        for number in data.draw(st.sets(st.integers(0, 6), max_size=2)):
            state, intervals = data.draw(STATES), data.draw(st.lists(st.tuples(TIMES, VERSIONS), max_size=3))
            old = records.find(f"b{number}")
            if old is None or not old.is_decided:
                records.keep(batch(number, state, intervals))
        before_every, before = (replace(each, asked=asked, archived=switched(each)) for each in (every, current))
        now_every, now = TierFacts(records.of("t")), TierFacts(records.since("t", current.batches))
        changed = not is_same(before_every, replace(now_every, archived=switched(now_every)))
        assert is_same(before, replace(now, archived=switched(now))) != changed


def switched(facts: TierFacts) -> frozenset[str]:
    return frozenset(each.id for each in facts.batches if each.state in ("switched", "done"))
