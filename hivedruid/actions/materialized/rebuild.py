"""Incremental REBUILD: the intervals of a materialized view that must be recomputed. Pure."""

from __future__ import annotations

from datetime import UTC

from hivedruid.catalog.materialized_views import Built, SourceState, ViewFacts
from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.druid import granularities
from hivedruid.druid.interval_sets import merged
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import literals
from hivedruid.plan.blocks import Definition, definition_of
from hivedruid.plan.materialize import ZONE
from hivedruid.plan.nodes import Node
from hivedruid.plan.rex import Call, Ref
from hivedruid.plan.time_ranges import in_times

Intervals = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Incremental:
    """The intervals, in milliseconds, that are recomputed: whole segments of the view."""

    intervals: Intervals


def incremental(facts: ViewFacts, now: Built, node: Node) -> Incremental | str:
    """The intervals to recompute, or why all rows must be: `facts.built` is the old state of the sources, `now` the
    new."""
    then = facts.built
    if then.sources is None or now.sources is None:
        return "its last build did not complete"
    if not facts.table.has_data_source:
        return "it is not stored in Druid"
    if facts.own is None or not facts.own.is_same(then.own):
        return "its rows were changed outside REBUILD"
    definition = definition_of(node)
    if isinstance(definition, str):
        return definition
    if len(definition.block.scans) != 1 or not definition.block.scans[0].table.has_data_source:
        return "its query reads more than one Druid table" if definition.block.scans else "its query reads no table"
    source = definition.block.scans[0].table
    if set(then.sources) != set(now.sources) or any(
        then.sources[name].definition != state.definition for name, state in now.sources.items()
    ):
        return "the definition of its sources has changed"
    reach = _reach(definition, node, then.settings.get(ZONE, "UTC"))
    if isinstance(reach, str):
        return reach
    granularity = facts.table.properties.get("druid.segment.granularity", "DAY").upper()
    spans = _changed(then.sources[source.full_name], now.sources[source.full_name])
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if start < _FIRST or end > _LAST:
            return "its source's segments are not partitioned by time"
        if granularity in ("ALL", "NONE"):
            return f"its segments ({granularity}) cannot be replaced individually"
        low = granularities.floor(reach.earliest(start), granularity)
        found.append((low, granularities.ceiling(end, granularity)))
    return Incremental(merged(found))


_FIRST, _LAST = -62_000_000_000_000, 253_000_000_000_000
"""Approximately the instants of years with four digits."""


def _changed(then: SourceState, now: SourceState) -> Intervals:
    """The intervals whose segments differ, or to which rows were or are being added."""
    before, after = set(then.segments or ()), set(now.segments or ())
    return merged([(s, e) for s, e, _ in before ^ after] + [*then.growing, *now.growing])


# --- from the source's time to the view's ------------------------------------------------------------------------

_LENGTHS = {"second": 1, "minute": 60, "hour": 3600, "day": 26 * 3600, "week": 8 * 86_400, "month": 32 * 86_400,
            "quarter": 94 * 86_400, "year": 367 * 86_400}  # fmt: skip
"""The maximum length of a bucket in any time zone, in seconds."""


@dataclass(frozen=True)
class _Reach:
    """How far the view's time of a row may lie before the row's own time."""

    unit: str
    exact: bool

    def earliest(self, millis: int) -> int:
        if not self.unit:
            return millis
        if self.exact:
            return granularities.floor(millis, self.unit.upper())
        return millis - _LENGTHS[self.unit] * 1000


def _reach(definition: Definition, node: Node, zone: str) -> _Reach | str:
    """The reach if the view's `__time` is the source's, possibly rounded down; otherwise the reason for a full
    rebuild."""
    source = definition.block.scans[0]
    time = next((c.ref for c in source.columns if c.name == TIME_COLUMN), None)
    outputs = {c.name: rex for c, rex in zip(node.columns, definition.outputs, strict=True)}
    rex = outputs.get(TIME_COLUMN)
    in_utc = not source_is_zoned(time) or literals.zone_of(zone) is UTC
    while isinstance(rex, Call) and rex.op == "cast" and rex.type.is_timestamp and literals.zone_of(zone) is UTC:
        rex = rex.args[0]
    if time is not None and rex == time:
        return _Reach("", exact=True)
    if isinstance(rex, Call) and rex.op.startswith("floor_") and rex.args[0] == time and rex.op[6:] in _LENGTHS:
        return _Reach(rex.op[6:], exact=in_utc)
    return f"its {TIME_COLUMN} is not the source's {TIME_COLUMN}, nor that rounded down"


def source_is_zoned(time: Ref | None) -> bool:
    return time is not None and time.type.name.endswith("zone")


def within(node: Node, found: Incremental) -> Node:
    """The rows of a view's query whose `__time` is in the intervals."""
    return in_times(node, found.intervals)


__all__ = ["Incremental", "Table", "incremental", "within"]
