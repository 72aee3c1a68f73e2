"""Scans of Kafka topics: the offsets of each partition that Spark reads, as facts for planning and as parts of a plan.

The offsets are fixed when the statement begins, so that its answer does not depend on records that arrive while it
runs. Conditions on `__partition`, `__offset` and `__timestamp` restrict them; Spark evaluates the conditions all the
same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from hivedruid.druid.interval_sets import ALL, MAX, MIN, NONE, IntervalSet, intersection, union
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import TableScan
from hivedruid.plan.rex import Call, Literal, Ref, Rex, walk

PARTITION, OFFSET, TIMESTAMP = "__partition", "__offset", "__timestamp"
_FLIPPED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class TopicState:
    """The offsets of a topic when a statement begins: of the first record of each partition, and after the last
    committed one. `starts` has, by a time in milliseconds, the offset of each partition's first record at or after
    it. `topic_id` differs when a topic was deleted and created again.

    `problem` says why they are unknown, which only EXPLAIN accepts.
    """

    topic: str
    earliest: Mapping[int, int] = field(default_factory=dict)
    latest: Mapping[int, int] = field(default_factory=dict)
    starts: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    topic_id: str = ""
    problem: str = ""


@dataclass(frozen=True)
class OffsetRange:
    """The offsets of a partition from `start` up to, but not including, `end`."""

    partition: int
    start: int
    end: int


@dataclass(frozen=True)
class TopicScan:
    """The records that Spark reads of a topic: the partitions without records to read are left out.

    `moments` are the times whose offsets the plan needs; as long as they are not known, `state` is None.
    """

    moments: tuple[int, ...]
    ranges: tuple[OffsetRange, ...] = ()
    state: TopicState | None = None

    @property
    def records(self) -> int:
        """The number of offsets; those of control records and of compacted records have no row."""
        return sum(each.end - each.start for each in self.ranges)


def topic_scan(scan: TableScan, condition: Rex | None, state: TopicState | None) -> TopicScan:
    """The records of a topic that can satisfy a condition over the columns of the scan."""
    names = {column.id: column.name for column in scan.columns}
    moments = tuple(sorted(set(_moments(condition, names))))
    if state is None:
        return TopicScan(moments)
    ranges = tuple(_ranges(condition, names, state))
    return TopicScan(moments, ranges, state)


def _moments(condition: Rex | None, names: Mapping[str, str]) -> Iterator[int]:
    """The times that are lower bounds of `__timestamp`."""
    for rex in walk(condition) if condition is not None else ():
        for name, op, value in _comparisons(rex, names):
            if name == TIMESTAMP and op in ("=", ">", ">="):
                yield value + (op == ">")


def _ranges(condition: Rex | None, names: Mapping[str, str], state: TopicState) -> Iterator[OffsetRange]:
    """One range for each partition: from the first to the last offset that can satisfy the condition."""
    for partition, latest in sorted(state.latest.items()):
        there = ((state.earliest.get(partition, latest), latest),)
        wanted = there if condition is None else intersection(there, _offsets(condition, names, state, partition))
        if wanted and wanted[0][0] < wanted[-1][1]:
            yield OffsetRange(partition, wanted[0][0], wanted[-1][1])


def _offsets(rex: Rex, names: Mapping[str, str], state: TopicState, partition: int) -> IntervalSet:
    """Offsets that contain all those of a partition that satisfy a condition."""
    if isinstance(rex, Call) and rex.op in ("and", "or"):
        parts = [_offsets(arg, names, state, partition) for arg in rex.args]
        return union(parts) if rex.op == "or" else _common(parts)
    found = _comparisons(rex, names)
    return union([_of_comparison(*each, state, partition) for each in found]) if found else ALL


def _common(parts: Sequence[IntervalSet]) -> IntervalSet:
    found = ALL
    for part in parts:
        found = intersection(found, part)
    return found


def _of_comparison(name: str, op: str, value: int, state: TopicState, partition: int) -> IntervalSet:
    if name == TIMESTAMP:
        # Times need not increase with the offsets: only the records before the first one that is late enough are known
        # to be too early.
        after = state.starts.get(value + (op == ">"), {}).get(partition, MIN)
        return ((after, MAX),) if op in ("=", ">", ">=") else ALL
    low, high = {
        "=": (value, value + 1), "<": (MIN, value), "<=": (MIN, value + 1), ">": (value + 1, MAX), ">=": (value, MAX),
    }[op]  # fmt: skip
    if name == OFFSET:
        return ((low, high),) if low < high else NONE
    return ALL if low <= partition < high else NONE


def _comparisons(rex: Rex, names: Mapping[str, str]) -> list[tuple[str, str, int]]:
    """The alternatives of a condition as column of the record, operator and value; none if it is not a comparison of
    such a column with constants."""
    if not isinstance(rex, Call):
        return []
    column, *values = rex.args or (rex,)
    if rex.op == "in":
        found = [_comparison(column, "=", value, names) for value in values]
    elif rex.op in _FLIPPED and len(values) == 1:
        found = [
            _comparison(column, rex.op, values[0], names) or _comparison(values[0], _FLIPPED[rex.op], column, names)
        ]
    else:
        return []
    return [each for each in found if each is not None] if None not in found else []


def _comparison(column: Rex, op: str, value: Rex, names: Mapping[str, str]) -> tuple[str, str, int] | None:
    name = names.get(column.id) if isinstance(column, Ref) else None
    if name not in (PARTITION, OFFSET, TIMESTAMP) or not isinstance(value, Literal):
        return None
    return (name, op, value.value) if type(value.value) is int else None
