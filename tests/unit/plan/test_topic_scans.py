"""Offsets of Kafka topics: for random conditions and records, no record that satisfies the condition is left out."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import BIGINT, BOOLEAN, STRING
from hivedruid.plan.nodes import PlanColumn, TableScan
from hivedruid.plan.rex import Call, Literal, Ref, Rex
from hivedruid.plan.topic_scans import OffsetRange, TopicState, topic_scan
from hivedruid.tables.hive_tables import KAFKA_COLUMNS

COLUMNS = tuple(PlanColumn(f"{c.name}_id", c.name, c.type) for c in KAFKA_COLUMNS)
SCAN = TableScan(COLUMNS, Table("default", "t", "kafka", KAFKA_COLUMNS, external=True))
OPERATORS: dict[str, Any] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "<>": operator.ne,
}  # fmt: skip
Record = dict[str, int]


def ref(name: str) -> Ref:
    return next(c.ref for c in COLUMNS if c.name == name)


def number(value: int) -> Literal:
    return Literal(BIGINT, value)


def call(op: str, *args: Rex) -> Call:
    return Call(BOOLEAN, op, args)


numbers = st.integers(-1, 8)
names = st.sampled_from(("__partition", "__offset", "__timestamp"))
comparisons = st.one_of(
    st.builds(lambda op, n, v: call(op, ref(n), number(v)), st.sampled_from([*OPERATORS]), names, numbers),
    st.builds(lambda op, n, v: call(op, number(v), ref(n)), st.sampled_from([*OPERATORS]), names, numbers),
    st.builds(lambda n, vs: call("in", ref(n), *map(number, vs)), names, st.lists(numbers, min_size=1, max_size=3)),
)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds(
            lambda op, args: call(op, *args), st.sampled_from(("and", "or")), st.lists(inner, min_size=1, max_size=3)
        ),
        st.builds(lambda arg: call("not", arg), inner),
    ),
    max_leaves=6,
)
topics = st.lists(st.tuples(st.integers(0, 4), st.lists(numbers, max_size=6)), min_size=1, max_size=3)
"""The earliest offset and the times of the records of each partition, in any order."""


def satisfies(rex: Rex, record: Record) -> bool:
    assert isinstance(rex, Call)
    if rex.op in ("and", "or"):
        return (all if rex.op == "and" else any)(satisfies(arg, record) for arg in rex.args)
    if rex.op == "not":
        return not satisfies(rex.args[0], record)
    left, *values = (record[arg.id] if isinstance(arg, Ref) else arg.value for arg in rex.args)  # type: ignore[attr-defined]
    return left in values if rex.op == "in" else bool(OPERATORS[rex.op](left, values[0]))


def state_of(topic: list[tuple[int, list[int]]], moments: tuple[int, ...]) -> TopicState:
    """The offsets as Kafka reports them."""
    ends = {number: first + len(times) for number, (first, times) in enumerate(topic)}
    starts = {
        moment: {
            number: next((first + place for place, time in enumerate(times) if time >= moment), ends[number])
            for number, (first, times) in enumerate(topic)
        }
        for moment in moments
    }
    return TopicState("t", {number: first for number, (first, _) in enumerate(topic)}, ends, starts)


@given(conditions, topics)
def test_no_record_is_left_out(condition: Rex, topic: list[tuple[int, list[int]]]) -> None:
    needed = topic_scan(SCAN, condition, None)
    assert needed.state is None
    state = state_of(topic, needed.moments)
    ranges = {each.partition: each for each in topic_scan(SCAN, condition, state).ranges}
    for partition, (first, times) in enumerate(topic):
        for place, time in enumerate(times):
            record = {"__partition_id": partition, "__offset_id": first + place, "__timestamp_id": time}
            if satisfies(condition, record):
                assert ranges[partition].start <= first + place < ranges[partition].end
    for each in ranges.values():
        assert state.earliest[each.partition] <= each.start < each.end <= state.latest[each.partition]


STATE = TopicState("t", {0: 10, 1: 0, 2: 5}, {0: 20, 1: 8, 2: 5}, {7: {0: 14, 1: 8, 2: 5}, 8: {0: 15, 1: 8, 2: 5}})
"""Partition 2 is empty."""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (None, [(0, 10, 20), (1, 0, 8)]),
        (call("=", ref("__partition"), number(1)), [(1, 0, 8)]),
        (call("in", ref("__partition"), number(0), number(7)), [(0, 10, 20)]),
        (call(">=", ref("__offset"), number(15)), [(0, 15, 20)]),
        (call("<", number(3), ref("__offset")), [(0, 10, 20), (1, 4, 8)]),
        (call("in", ref("__offset"), number(2), number(17)), [(0, 17, 18), (1, 2, 3)]),
        (call(">=", ref("__timestamp"), number(7)), [(0, 14, 20)]),
        (call(">", ref("__timestamp"), number(7)), [(0, 15, 20)]),
        (call("=", ref("__timestamp"), number(7)), [(0, 14, 20)]),
        # records are not in the order of their times
        (call("<", ref("__timestamp"), number(7)), [(0, 10, 20), (1, 0, 8)]),
        (
            call("or", call("=", ref("__offset"), number(11)), call("=", ref("__offset"), number(13))),
            [(0, 11, 14)],
        ),
        (
            call("and", call("=", ref("__partition"), number(0)), call("<=", ref("__offset"), number(12))),
            [(0, 10, 13)],
        ),
        (call("=", ref("__partition"), number(2)), []),
        (call("=", ref("__offset"), Literal(STRING, "5")), [(0, 10, 20), (1, 0, 8)]),
    ],
)
def test_offsets(condition: Rex | None, expected: list[tuple[int, int, int]]) -> None:
    assert topic_scan(SCAN, condition, STATE).ranges == tuple(OffsetRange(*each) for each in expected)
