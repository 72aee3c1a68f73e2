"""Relations between conditions: their union, and whether two conditions exclude each other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import chain, combinations, pairwise
from typing import Any

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.druid import intervals
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.implication import HIGH, LOW, Cut
from hivedruid.plan.nodes import TableScan
from hivedruid.plan.rex import Call, Literal, Rex, conjunction, conjuncts, disjunction, is_deterministic


def either(filters: Sequence[Rex | None], scan: TableScan, zone: str) -> tuple[Rex | None, list[Rex | None]]:
    """The condition of rows that satisfy any of the filters, and for each filter the condition that selects its rows
    among them.

    Common terms occur once. Conditions on time that all filters have are separate terms, so that they become intervals.
    """
    terms = [conjuncts(f) for f in filters]
    common = [t for t in terms[0] if all(t in other for other in terms[1:])]
    own = [conjunction([t for t in each if t not in common]) for each in terms]
    if any(o is None for o in own):
        return conjunction(common), own
    alternatives = tuple(dict.fromkeys(o for o in own if o is not None))
    parts = [*common, *_time_span(alternatives, scan, zone), disjunction(alternatives)]
    return conjunction([part for part in parts if part is not None]), own


def _time_span(alternatives: Sequence[Rex], scan: TableScan, zone: str) -> list[Rex]:
    """The conditions on time of all alternatives, if one of them also has other conditions."""
    time_id = next((c.id for c in scan.columns if is_time(scan, c.name)), None)
    if time_id is None:
        return []
    spans: list[Rex] = []
    mixed = False
    for alternative in alternatives:
        terms = conjuncts(alternative)
        times = [t for t in terms if intervals.of_predicate(t, time_id, zone) is not None]
        span = conjunction(times)
        if span is None:
            return []
        mixed = mixed or len(times) < len(terms)
        spans.append(span)
    span_of_all = disjunction(dict.fromkeys(spans))
    return [span_of_all] if mixed and span_of_all is not None else []


def is_time(scan: TableScan, name: str) -> bool:
    """Whether a column is `__time` in Druid."""
    stored = scan.table.column(name)
    return (stored.field_name if stored else name) == TIME_COLUMN


def are_disjoint(conditions: Sequence[Rex | None]) -> bool:
    """Whether it is certain that no row satisfies two of the conditions; None is true for all rows."""
    known = [_Terms.of(c) for c in conditions if c is not None]
    if len(known) < len(conditions) or not all(c.is_deterministic for c in known):
        return len(conditions) < 2
    return _differ_in_one(known) or all(_contradict(a, b) for a, b in combinations(known, 2))


@dataclass(frozen=True)
class _Terms:
    """The terms of a condition, and the values that each comparison with constants allows."""

    terms: tuple[Rex, ...]
    ranges: tuple[tuple[Rex, _Range], ...]

    @staticmethod
    def of(condition: Rex) -> _Terms:
        terms = tuple(conjuncts(condition))
        return _Terms(terms, tuple(r for r in map(_range, terms) if r is not None))

    @property
    def is_deterministic(self) -> bool:
        return all(is_deterministic(t) for t in self.terms)

    def spans(self, subject: Rex) -> list[tuple[Cut, Cut]]:
        """The values of an expression that the terms allow, as ranges between cuts; empty if no term limits them."""
        limits = [r for s, r in self.ranges if s == subject]
        listed = next((r.values for r in limits if r.values is not None), None)
        if listed is not None:
            return [((1, v, 0), (1, v, 1)) for v in listed if all(r.has(v) for r in limits)]
        return [(max(r.low_cut for r in limits), min(r.high_cut for r in limits))] if limits else []


def _differ_in_one(conditions: Sequence[_Terms]) -> bool:
    """Whether all conditions limit the values of one expression, and no value is allowed twice: compares neighbours in
    the order of the values.
    """
    for subject in dict.fromkeys(s for s, _ in conditions[0].ranges) if conditions else ():
        try:
            spans = [c.spans(subject) for c in conditions]
            if all(spans) and all(a[1] <= b[0] for a, b in pairwise(sorted(chain.from_iterable(spans)))):
                return True
        except TypeError:  # a date and a time, or times with and without a zone
            continue
    return False


def _contradict(a: _Terms, b: _Terms) -> bool:
    if any(_negates(p, q) or _negates(q, p) for p in a.terms for q in b.terms):
        return True
    return any(p == q and not _meet(mine, theirs) for p, mine in a.ranges for q, theirs in b.ranges)


def _negates(p: Rex, q: Rex) -> bool:
    """Whether they are NOT p and p, or IS NULL and a condition that is false for null."""
    if isinstance(p, Call) and p.op == "not" and p.args[0] == q:
        return True
    if not isinstance(p, Call) or not isinstance(q, Call) or not p.args or not q.args:
        return False
    if p.op == "is_null" and p.args[0] == q.args[0]:
        return q.op in ("is_not_null", "=", "<>", "<", "<=", ">", ">=", "in", "like")
    return p.op == "=" and q.op == "<>" and p.args == q.args


class _Range:
    """Values of one type: a set, or those between two bounds."""

    def __init__(self, values: frozenset[Any] | None, low: Any, low_open: bool, high: Any, high_open: bool) -> None:
        self.values = values
        self.low, self.low_open, self.high, self.high_open = low, low_open, high, high_open

    @property
    def low_cut(self) -> Cut:
        return LOW if self.low is None else (1, self.low, int(self.low_open))

    @property
    def high_cut(self) -> Cut:
        return HIGH if self.high is None else (1, self.high, int(not self.high_open))

    def has(self, value: Any) -> bool:
        if self.values is not None:
            return value in self.values
        if self.low is not None and (value < self.low or (self.low_open and value == self.low)):
            return False
        return not (self.high is not None and (value > self.high or (self.high_open and value == self.high)))


def _range(term: Rex) -> tuple[Rex, _Range] | None:
    """The expression that is compared with constants, and the values for which the comparison is true."""
    if not isinstance(term, Call) or len(term.args) < 2:
        return None
    values = [a.value for a in term.args[1:] if isinstance(a, Literal)]
    subject = term.args[0]
    if len(values) != len(term.args) - 1 or not all(_is_plain(v, values[0]) for v in values):
        return None
    if any(isinstance(a, Literal) and a.type != term.args[1].type for a in term.args[1:]):
        return None
    first = values[0]
    if isinstance(first, str) and term.op not in ("=", "in"):
        return None  # not every engine orders strings as Python does
    made = {
        "=": _Range(frozenset(values), None, False, None, False),
        "in": _Range(frozenset(values), None, False, None, False),
        "<": _Range(None, None, False, first, True),
        "<=": _Range(None, None, False, first, False),
        ">": _Range(None, first, True, None, False),
        ">=": _Range(None, first, False, None, False),
    }.get(term.op)
    return (subject, made) if made is not None else None


def _is_plain(value: Any, first: Any) -> bool:
    """Values that Python compares as Hive and Druid do: not doubles, since NaN is the greatest double in Hive."""
    return isinstance(value, str | bool | int | date) and type(value) is type(first)


def _meet(a: _Range, b: _Range) -> bool:
    try:
        if a.values is not None:
            return any(b.has(v) for v in a.values)
        if b.values is not None:
            return any(a.has(v) for v in b.values)
        for lower, upper in ((a, b), (b, a)):
            if lower.low is None or upper.high is None:
                continue
            if lower.low > upper.high or (lower.low == upper.high and (lower.low_open or upper.high_open)):
                return False
    except TypeError:  # a date and a time, or times with and without a zone
        return True
    return True
