"""Window functions over rows in memory."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from hivedruid.evaluation.aggregates import aggregate, key
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.expressions import Compiled, Row, Scope, compiled
from hivedruid.evaluation.ordering import ordered
from hivedruid.plan.rex import Agg, Call, Literal, Over
from hivedruid.plan.sketch_calls import is_aggregate

MOST_WORK = 5_000_000
"""Maximum total size of frames that do not only grow."""

Partition = Sequence[Row]
Peers = Sequence[int]
"""For each row of a sorted partition, the number of its peer group."""
Frame = Callable[[int, Peers], tuple[int, int]]
"""The start (inclusive) and end (exclusive) of a row's frame."""
Values = Callable[[Partition, Peers], list[Any]]


def window(over: Over, scope: Scope) -> Callable[[list[Row]], list[Any]]:
    """The function's value for each row, in the order of the rows. Raises NotLocal."""
    parts = [compiled(p, scope) for p in over.partition]
    sort = ordered(over.order, scope)
    order = [compiled(k.rex, scope) for k in over.order]
    values = _values(over, scope)

    def compute(rows: list[Row]) -> list[Any]:
        partitions: dict[tuple[Any, ...], list[int]] = {}
        for number, row in enumerate(rows):
            partitions.setdefault(tuple([key(p(row)) for p in parts]), []).append(number)
        results: list[Any] = [None] * len(rows)
        for unsorted in partitions.values():
            numbers = sort(unsorted, rows)
            members = [rows[n] for n in numbers]
            for number, value in zip(numbers, values(members, _peers(members, order)), strict=True):
                results[number] = value
        return results

    return compute


def _peers(rows: Partition, order: list[Compiled]) -> list[int]:
    result: list[int] = []
    before: tuple[Any, ...] | None = None
    for row in rows:
        now = tuple([k(row) for k in order])
        result.append(0 if before is None else result[-1] + (now != before))
        before = now
    return result


def _values(over: Over, scope: Scope) -> Values:
    nulls, _, frame_text = over.frame.partition("|")
    if nulls:
        raise NotLocal("a window function with IGNORE NULLS")
    call = over.call
    if isinstance(call, Agg) and call.op not in _OF_FRAME:
        return _aggregated(call, _frame(frame_text, is_ordered=bool(over.order)), scope)
    if isinstance(call, Agg | Call) and call.op in _OF_FRAME:
        return _edge(call, _frame(frame_text, is_ordered=bool(over.order)), scope)
    if isinstance(call, Call) and call.op in ("lag", "lead"):
        return _neighbour(call, scope)
    ranking = _RANKINGS.get(call.op) if isinstance(call, Call) else None
    if ranking is None or not isinstance(call, Call):
        raise NotLocal("a window function that is not evaluated locally")
    if not over.order:
        raise NotLocal(f"{call.op}() without ORDER BY")
    return ranking(call)


# --- frames ------------------------------------------------------------------------------------------------------


_FRAME = re.compile(r"(ROWS|RANGE) BETWEEN (.+) (PRECEDING|FOLLOWING|ROW) AND (.+) (PRECEDING|FOLLOWING|ROW)")


def _frame(text: str, *, is_ordered: bool) -> Frame:
    """The frame's bounds; by default up to the last peer, or all rows without ORDER BY."""
    if not text and not is_ordered:
        return lambda _i, peers: (0, len(peers))
    if not text:
        text = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    match = _FRAME.fullmatch(text.upper())
    if not match:
        raise NotLocal(f"the window frame {text}")
    begin = _bound(match[1], match[2], match[3], is_end=False)
    end = _bound(match[1], match[4], match[5], is_end=True)
    return lambda i, peers: (begin(i, peers), end(i, peers))


def _bound(unit: str, amount: str, side: str, *, is_end: bool) -> Callable[[int, Peers], int]:
    if amount == "UNBOUNDED":
        if (side == "FOLLOWING") != is_end:
            raise NotLocal("an empty window frame")
        return (lambda _i, peers: len(peers)) if is_end else (lambda _i, _peers: 0)
    offset = 0 if amount == "CURRENT" else int(amount) if amount.isdigit() else None
    if offset is None or (unit == "RANGE" and amount != "CURRENT"):
        raise NotLocal("a window frame with value offsets")
    if unit == "RANGE":
        return _last_peer if is_end else _first_peer
    offset = -offset if side == "PRECEDING" else offset
    return lambda i, peers: max(0, min(len(peers), i + offset + is_end))


def _first_peer(i: int, peers: Peers) -> int:
    return bisect_left(peers, peers[i])


def _last_peer(i: int, peers: Peers) -> int:
    return bisect_right(peers, peers[i])


def _aggregated(call: Agg, frame: Frame, scope: Scope) -> Values:
    if call.condition is not None:
        raise NotLocal(f"{call.op}() with FILTER in a window")
    if is_aggregate(call.op):
        raise NotLocal(f"{call.op}() in a window")
    fold = aggregate(call)
    if len(call.args) > 1:
        raise NotLocal(f"{call.op}() with several arguments in a window")
    arg = compiled(call.args[0], scope) if call.args else None

    def values(rows: Partition, peers: Peers) -> list[Any]:
        inputs = [arg(row) for row in rows] if arg else [1] * len(rows)
        results: list[Any] = []
        state, begin, end, work = fold.start, 0, 0, 0
        before: set[Any] = set()
        for i in range(len(rows)):
            first, last = frame(i, peers)
            if first != begin or last < end:  # otherwise the frame has only grown
                state, begin, end = fold.start, first, first
                before.clear()
            work += last - end
            if work > MOST_WORK:
                raise Unsure("window frames with too many rows")
            for value in inputs[end:last]:
                if value is not None and (not call.distinct or key(value) not in before):
                    state = fold.step(state, value)
                    if call.distinct:
                        before.add(value)
            end = max(end, last)
            results.append(fold.finish(state))
        return results

    return values


_OF_FRAME = ("first_value", "last_value")


def _edge(call: Agg | Call, frame: Frame, scope: Scope) -> Values:
    """first_value() and last_value(); a second argument is true to skip nulls."""
    skip = len(call.args) > 1
    if skip and not (isinstance(call.args[1], Literal) and call.args[1].value is False):
        raise NotLocal(f"{call.op}() with IGNORE NULLS")
    arg, is_first = compiled(call.args[0], scope), call.op == "first_value"

    def values(rows: Partition, peers: Peers) -> list[Any]:
        inputs = [arg(row) for row in rows]
        frames = [frame(i, peers) for i in range(len(rows))]
        return [None if begin >= end else inputs[begin if is_first else end - 1] for begin, end in frames]

    return values


def _neighbour(call: Call, scope: Scope) -> Values:
    """lag(x[, n[, default]]) and lead()."""
    distance = 1
    if len(call.args) > 1:
        given = call.args[1]
        if not isinstance(given, Literal) or not isinstance(given.value, int) or given.value < 0:
            raise NotLocal(f"{call.op}() with a non-constant offset")
        distance = given.value
    default = call.args[2] if len(call.args) > 2 else Literal(call.type, None)
    same = default.type == call.type or (default.type.is_integer and call.type.is_integer)
    if not same and default.type.name != "void":
        raise NotLocal(f"{call.op}() with a default of another type")
    arg, default_of = compiled(call.args[0], scope), compiled(default, scope)
    shift = -distance if call.op == "lag" else distance

    def values(rows: Partition, _peers: Peers) -> list[Any]:
        inputs = [arg(row) for row in rows]
        return [inputs[i + shift] if 0 <= i + shift < len(rows) else default_of(row) for i, row in enumerate(rows)]

    return values


# --- ranks -------------------------------------------------------------------------------------------------------


def _row_number(_call: Call) -> Values:
    return lambda rows, _peers: list(range(1, len(rows) + 1))


def _rank(_call: Call) -> Values:
    return lambda _rows, peers: _ranks(peers)


def _ranks(peers: Peers) -> list[int]:
    result: list[int] = []
    for i, peer in enumerate(peers):
        result.append(result[-1] if i and peers[i - 1] == peer else i + 1)
    return result


def _dense_rank(_call: Call) -> Values:
    return lambda _rows, peers: [peer + 1 for peer in peers]


def _percent_rank(_call: Call) -> Values:
    return lambda rows, peers: [(r - 1) / (len(rows) - 1) if len(rows) > 1 else 0.0 for r in _ranks(peers)]


def _cume_dist(_call: Call) -> Values:
    return lambda rows, peers: [_last_peer(i, peers) / len(rows) for i in range(len(rows))]


def _ntile(call: Call) -> Values:
    given = call.args[0] if len(call.args) == 1 else None
    if not isinstance(given, Literal) or not isinstance(given.value, int) or given.value < 1:
        raise NotLocal("ntile() with a non-constant argument")
    buckets = given.value

    def values(rows: Partition, _peers: Peers) -> list[int]:
        size, larger = divmod(len(rows), buckets)
        edge = larger * (size + 1)
        return [i // (size + 1) + 1 if i < edge else larger + (i - edge) // size + 1 for i in range(len(rows))]

    return values


_RANKINGS: dict[str, Callable[[Call], Values]] = {
    "row_number": _row_number,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "ntile": _ntile,
}
