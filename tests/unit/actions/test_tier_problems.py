"""The problems of tiered tables, each from facts that have it and from facts that do not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hivedruid.actions.tiering.problems import WatchedTier, foreign, problems
from hivedruid.catalog.archives import Batch, Interval, Removal
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import TIMESTAMP
from hivedruid.druid.retention import Rule
from hivedruid.engine.segments import Segment
from hivedruid.iceberg.history import Snapshot, TableHistory

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
TABLE = Table(
    "default", "t", "druid", (Column("__time", TIMESTAMP),),
    properties={"druid.datasource": "s", "tiered.hot": "druid", "tiered.cold": "orc", "tiered.hot.period": "P10D"},
)  # fmt: skip
ONE = WatchedTier(TABLE, NOW)
FOREVER = Rule("dropForever")


def day(number: int, version: str = "v1") -> Segment:
    """A segment of a day of March."""
    start = datetime(2026, 3, number, tzinfo=UTC)
    first, last = (round(at.timestamp() * 1000) for at in (start, start + timedelta(days=1)))
    return Segment("s", first, last, version, 0)


def names(one: WatchedTier) -> list[tuple[str, str]]:
    return [(each.problem, each.repair) for each in problems([one])]


def test_nothing_is_known() -> None:
    assert names(ONE) == []


def test_archive_behind() -> None:
    """The 20th is the last day that is due: the 21st is ten days ago."""
    late = [("archive behind", "ARCHIVE TABLE default.t")]
    assert names(replace(ONE, segments=[day(18)])) == late
    assert names(replace(ONE, segments=[day(19), day(20), day(21)])) == []
    assert names(replace(ONE, segments=[day(18)], is_archived=True)) == []


@pytest.mark.parametrize(
    ("rules", "is_problem"),
    [
        ([Rule("loadForever")], False),
        ([Rule("loadByPeriod", "P20D"), FOREVER], False),
        ([Rule("loadByPeriod", "P5D"), FOREVER], True),
        ([Rule("loadByPeriod", "P5D"), Rule("loadByPeriod", "P20D"), FOREVER], False),
        ([Rule("dropBeforeByPeriod", "P3D"), Rule("loadForever")], True),
        ([Rule("dropByInterval", "2026-03-25T00:00:00.000Z/2026-03-26T00:00:00.000Z"), Rule("loadForever")], True),
        ([Rule("dropByInterval", "2026-03-01T00:00:00.000Z/2026-03-02T00:00:00.000Z"), Rule("loadForever")], False),
        ([Rule("loadByPeriod", "P5D")], False),
    ],
)
def test_retention_rules(rules: list[Rule], is_problem: bool) -> None:
    found = [problem for problem, _ in names(replace(ONE, rules=rules))]
    assert found == (["rows dropped before they are archived"] if is_problem else [])


def test_archived_segments_that_are_read() -> None:
    old = day(25)
    batch = Batch("b", "id", "done", (Interval(old.start, old.end, "v2"),), 1)
    (problem,) = problems([replace(ONE, batches=[batch], segments=[old])])
    assert (problem.problem, problem.evidence) == ("archived segments are read", "those of job(s) b")
    assert names(replace(ONE, batches=[batch], segments=[day(25, "v2")])) == []


def commits(*summaries: dict[str, str]) -> TableHistory:
    snapshots = {n: Snapshot(n, n - 1 or None, n * 1000, summary) for n, summary in enumerate(summaries, 1)}
    return TableHistory(len(summaries), snapshots)


def test_commits_of_others() -> None:
    own = {"operation": "append", "hivedruid.commit": "x", "added-records": "3"}
    undone = {"operation": "delete", "deleted-records": "3"}
    compacted = {"operation": "replace", "added-records": "3", "deleted-records": "3"}
    other = {"operation": "append", "added-records": "3"}
    assert foreign(commits(own, compacted, undone, own)) == []
    assert [each.id for each in foreign(commits(own, other, undone, undone))] == [2, 4]
    updated = {**own, "operation": "overwrite", "added-records": "3", "deleted-records": "3"}
    assert [each.id for each in foreign(commits(updated, undone))] == [2]
    deletion = Batch("d", "id", "done", (), effect="removed", removal=Removal(0, counts=(("b", 2), ("", 1))))
    assert foreign(commits(updated, undone), [deletion]) == []
    assert [each.id for each in foreign(commits(undone), [replace(deletion, state="cancelled")])] == [1]
    assert names(replace(ONE, history=commits(own, other))) == [("cold part changed", "VERIFY TABLE default.t")]
