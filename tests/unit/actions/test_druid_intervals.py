"""DROP and RESTORE PARTITION of Druid tables: the intervals that bounds choose, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivedruid.actions.build import build
from hivedruid.actions.ddl.model import ConfigureRetention
from hivedruid.actions.ddl.retention import changed
from hivedruid.actions.partitioning.intervals import last_marked
from hivedruid.actions.partitioning.model import DropIntervals, RestoreIntervals
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING, TIMESTAMP
from hivedruid.druid.granularities import DAY
from hivedruid.druid.retention import Rule
from hivedruid.engine.segments import Segment, SegmentState
from hivedruid.errors import HiveDruidError, SemanticError
from hivedruid.parser import parse
from hivedruid.script import SourceStatement
from tests.unit.actions.ddl_world import World

TABLE = Table("default", "t", "druid", (Column("__time", TIMESTAMP), Column("a", STRING)))
CLUSTER = {"druid.url": "http://h:1"}


def day(number: int, state: SegmentState = "available", version: str = "v1", marked: str = "") -> Segment:
    return Segment(
        "default.t", number * DAY, (number + 1) * DAY, version, 0, rows=1, size=10, state=state, marked=marked
    )


def built(text: str, *segments: Segment, **given: str) -> object:
    world = World({("default", "t"): TABLE})
    statement = parse(SourceStatement(text))
    snapshot = world.snapshot(statement)
    settings = {**snapshot.settings, **CLUSTER, **given}
    plan = build(statement, replace(snapshot, settings=settings, source_segments={"default.t": segments}))
    return plan.actions[0] if plan.actions else None


@pytest.mark.parametrize(
    ("bounds", "days"),
    [
        ("__time < '1970-01-03'", [0, 1]),
        ("__time <= '1970-01-02 23:59:59.999'", [0, 1]),
        ("__time >= '1970-01-02', __time < '1970-01-03'", [1]),
        ("__time > '1970-01-01 23:59:59.999'", [1, 2]),
    ],
)
def test_the_intervals_within_bounds(bounds: str, days: list[int]) -> None:
    action = built(f"ALTER TABLE t DROP PARTITION ({bounds})", day(0), day(1), day(2))
    assert isinstance(action, DropIntervals)
    assert action.intervals == tuple((each * DAY, (each + 1) * DAY) for each in days)
    assert action.segments == tuple(day(each) for each in days)
    assert action.purged == ()


def test_purge_also_deletes_what_was_dropped_before() -> None:
    text = "ALTER TABLE t DROP PARTITION (__time < '1970-01-03') PURGE"
    action = built(text, day(0, "unused"), day(1), day(2, "unused"))
    assert isinstance(action, DropIntervals)
    assert (action.intervals, action.purged) == (((DAY, 2 * DAY),), ((0, 2 * DAY),))
    action = built(text, day(0, "unused"))
    assert isinstance(action, DropIntervals)
    assert (action.intervals, action.purged) == ((), ((0, DAY),))


@pytest.mark.parametrize(
    ("text", "segments", "message"),
    [
        ("DROP PARTITION (__time < '1970-01-01 12:00:00')", [day(0)], "the bounds cut segments of default.t: 1970-01-01"),
        ("DROP PARTITION (__time < '1970-01-02')", [day(0, "realtime")], "tasks add rows to segments of default.t"),
        ("DROP PARTITION (a < 'x')", [day(0)], "'a' does not divide the rows of default.t"),
        ("DROP PARTITION (__time = '1970-01-01')", [day(0)], "__time = a time is not an interval"),
        ("DROP PARTITION (__time < 'x')", [day(0)], "invalid TIMESTAMP literal 'x'"),
        ("DROP PARTITION (__time < '1970-01-01', __time > '1970-01-02')", [day(0)], "no time is within the bounds"),
        ("RESTORE PARTITION (__time < '1970-01-02')", [day(0)], "Druid has no unused segments"),
        (
            "RESTORE PARTITION (__time < '1970-01-02')", [day(0, "unused"), day(0, version="v2")],
            "default.t has rows where segments would be restored",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, segments: list[Segment], message: str) -> None:
    with pytest.raises(HiveDruidError) as caught:
        built(f"ALTER TABLE t {text}", *segments)
    assert caught.value.message.startswith(message)
    assert caught.value.span is not None


def test_nothing_within_the_bounds() -> None:
    """As for other tables, an error only if hive.exec.drop.ignorenonexistent is false."""
    text = "ALTER TABLE t DROP PARTITION (__time < '1970-01-02')"
    assert built(text, day(3)) is None
    assert built(text, day(0, "unused")) is None
    strict = {"hive.exec.drop.ignorenonexistent": "false"}
    with pytest.raises(SemanticError, match=r"no segment of default\.t is within the bounds"):
        built(text, day(3), **strict)
    assert built(text.replace("DROP", "DROP IF EXISTS"), day(3), **strict) is None


def test_what_was_dropped_last_is_restored() -> None:
    replaced, last, other = day(0, "unused", "v1", "1"), day(0, "unused", "v2", "2"), day(1, "unused", "v1", "1")
    assert last_marked([replaced, last, other]) == [last, other]
    action = built("ALTER TABLE t RESTORE PARTITION (__time < '1970-01-02')", replaced, last, other)
    assert action == RestoreIntervals(TABLE, (last,))


def test_the_rules_of_others_are_not_replaced() -> None:
    table = replace(TABLE, properties={"druid.retention.rules": "load forever"})
    own, others = (Rule("loadForever"),), (Rule("dropForever"),)
    snapshot = World().snapshot()
    snapshot = replace(snapshot, settings={**snapshot.settings, **CLUSTER})
    for there in (None, {}, {"default.t": own}):
        assert changed(TABLE, table, replace(snapshot, retention=there)) == (ConfigureRetention(table, own),)
    with pytest.raises(SemanticError, match=r"has retention rules that default\.t did not set: drop forever"):
        changed(TABLE, table, replace(snapshot, retention={"default.t": others}))
    assert changed(table, None, replace(snapshot, retention={"default.t": own})) == (ConfigureRetention(table, ()),)
    kept = changed(table, None, replace(snapshot, retention={"default.t": others}))
    assert kept == (ConfigureRetention(table, (), others),)
    assert changed(table, table, replace(snapshot, retention={"default.t": others})) == ()
