"""The stored state of the sources of a materialized view, and its comparison."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hivedruid.catalog.materialized_views import (
    Built,
    SourceState,
    ViewFacts,
    all_views,
    find_built,
    invalidate,
    is_within_window,
    save,
)
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import TIMESTAMP

VIEW = Table(
    "default", "v", "druid", (Column("__time", TIMESTAMP),), view_text="SELECT 1", rewrite_enabled=True,
    properties={"druid.datasource": "default.v"},
)  # fmt: skip
SEGMENTS = SourceState("d1", ((0, 10, "a"), (10, 20, "b")))
OWN = SourceState("d2", ((0, 20, "x"),))
BUILT = Built(
    ("default.ev", "default.pv"),
    {"default.ev": SEGMENTS, "default.pv": SourceState("d3")},
    OWN,
    {"hive.local.time.zone": "UTC"},
    "2026-01-01T00:00:00+00:00",
    rows=3,
    root=1,
)
FACTS = ViewFacts(VIEW, BUILT, dict(BUILT.sources or {}), OWN)


def test_a_build_is_kept_as_it_is(catalog: Catalog) -> None:
    table = catalog.add(VIEW)
    save(catalog, table, BUILT)
    assert find_built(catalog, table) == BUILT
    assert all_views(catalog) == [(table, BUILT)]
    files = replace(
        BUILT, sources={"default.f": SourceState("d", None, "3 files", (), "stores its files on remote storage")}
    )
    save(catalog, table, files)
    assert find_built(catalog, table) == files
    catalog.remove(table)
    assert all_views(catalog) == []
    assert find_built(catalog, table) is None


def test_an_invalid_build_keeps_its_tables(catalog: Catalog) -> None:
    table = catalog.add(VIEW)
    save(catalog, table, BUILT)
    invalidate(catalog, table)
    left = find_built(catalog, table)
    assert left is not None
    assert (left.tables, left.sources, left.own, left.root) == (BUILT.tables, None, None, None)
    assert ViewFacts(table, left, FACTS.sources, OWN).staleness == "its last build did not complete"


def with_source(state: SourceState | None) -> ViewFacts:
    others = {name: known for name, known in FACTS.sources.items() if name != "default.ev"}
    return replace(FACTS, sources=others if state is None else {**others, "default.ev": state})


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (FACTS, ""),
        (with_source(replace(SEGMENTS, segments=((0, 10, "a"),))), "default.ev has changed"),
        (with_source(replace(SEGMENTS, segments=((0, 10, "a"), (10, 20, "c")))), "default.ev has changed"),
        (with_source(replace(SEGMENTS, definition="d9")), "the definition of default.ev has changed"),
        (with_source(replace(SEGMENTS, growing=((20, 30),))), "rows are being added to default.ev"),
        (
            with_source(replace(SEGMENTS, unknown="stores its files on remote storage")),
            "default.ev stores its files on remote storage",
        ),
        (with_source(None), "default.ev no longer exists"),
        (replace(FACTS, own=replace(OWN, segments=((0, 20, "y"),))), "its rows were changed outside REBUILD"),
        (replace(FACTS, problem="its sources cannot be queried"), "its sources cannot be queried"),
    ],
)
def test_when_a_view_is_stale(facts: ViewFacts, reason: str) -> None:
    assert facts.staleness == reason


def test_states_that_cannot_be_compared_are_never_the_same() -> None:
    state = SourceState("d", unknown="stores its files on remote storage")
    assert not state.is_same(state)
    growing = SourceState("d", (), growing=((0, 1),))
    assert not growing.is_same(growing)


STALE = with_source(replace(SEGMENTS, segments=()))
WINDOW = "hive.materializedview.rewriting.time.window"


@pytest.mark.parametrize(
    ("window", "minute", "is_within"),
    [
        ("0min", 0, False),
        ("10min", 9, True),
        ("10min", 10, False),
        ("600", 9, True),
        ("-1s", 59, True),
        ("1h", 59, True),
    ],
)
def test_the_time_window_of_a_stale_view(window: str, minute: int, is_within: bool) -> None:
    now = datetime(2026, 1, 1, 0, minute, tzinfo=UTC)
    assert is_within_window(STALE, {WINDOW: window}, now) is is_within


def test_the_views_own_window_goes_first() -> None:
    now = datetime(2026, 1, 1, 0, 5, tzinfo=UTC)
    own = replace(STALE, table=replace(VIEW, properties={"rewriting.time.window": "10min"}))
    assert is_within_window(own, {WINDOW: "0min"}, now)


def test_a_window_allows_no_rows_that_are_not_the_views() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    always = {WINDOW: "-1s"}
    assert not is_within_window(replace(STALE, own=SourceState("d2", ())), always, now)
    assert not is_within_window(with_source(replace(SEGMENTS, definition="d9")), always, now)
    assert not is_within_window(replace(STALE, built=Built(("default.ev",))), always, now)
    assert not is_within_window(with_source(None), always, now)
