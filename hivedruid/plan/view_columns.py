"""Rewrites expressions over a materialized view's tables to expressions over the view's columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta

from hivedruid.catalog.types import BOOLEAN
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import literals
from hivedruid.plan.implication import HIGH, LOW, normal, values_of
from hivedruid.plan.rex import Agg, Call, Literal, Ref, Rex, disjunction, substitute


class MissingError(Exception):
    """The view does not contain what an expression needs; `reason` is for EXPLAIN."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


_FINER = {
    "millisecond": ("second",),
    "second": ("minute",),
    "minute": ("hour",),
    "hour": ("day",),
    "day": ("week", "month"),
    "month": ("quarter",),
    "quarter": ("year",),
}
_PARTS = {"dayofweek": "day", "dayofyear": "day"}
"""The unit from which a part of the time can be computed, if it is not the part itself."""


def rolls_up(fine: str, coarse: str) -> bool:
    """Whether every bucket of the coarse unit consists of whole buckets of the fine one."""
    return fine == coarse or any(rolls_up(unit, coarse) for unit in _FINER.get(fine, ()))


@dataclass(frozen=True)
class FlooredTime:
    """A time that a view has rounded down to `unit`: `base` in the tables, `column` in the view."""

    unit: str
    base: Rex
    column: Rex

    def serves(self, coarse: str, zone: str) -> bool:
        """Whether `coarse` can be computed from it. Days begin by the session's zone; hours of some zones once had
        other boundaries.
        """
        if not rolls_up(self.unit, coarse):
            return False
        local = self.base.type.name.endswith("zone") and literals.zone_of(zone) is not UTC
        return not local or self.unit == coarse or self.unit not in ("second", "minute", "hour")


@dataclass
class ViewColumns:
    """Expressions over the view's tables, in `normal` form, and the expressions over the view's own columns that
    compute them.
    """

    zone: str
    whole: frozenset[str]
    """Columns of the tables that contain whole milliseconds and are never null."""
    exact: dict[Rex, Rex] = field(default_factory=dict)
    floored: list[FlooredTime] = field(default_factory=list)
    calls: dict[Agg, Rex] = field(default_factory=dict)

    def add(self, rex: Rex, column: Rex, *, in_druid: bool) -> None:
        """One column of the view, which contains `rex`. Druid stores times in milliseconds, and no padding of CHAR."""
        if rex.type != column.type or isinstance(rex, Literal) or rex.type.name == "char":
            return
        if rex.type.is_timestamp:
            if not in_druid or self._is_whole(rex):
                self.exact.setdefault(rex, column)
            self._add_time(rex, column)
        elif isinstance(rex, Agg):
            self.calls.setdefault(rex, column)
        else:
            self.exact.setdefault(rex, column)

    def _add_time(self, rex: Rex, column: Rex) -> None:
        if isinstance(rex, Call) and rex.op.startswith("floor_"):
            self.floored.append(FlooredTime(rex.op[6:], rex.args[0], column))
            return
        self.floored.append(FlooredTime("millisecond", rex, column))
        same = isinstance(rex, Call) and rex.op == "cast" and rex.args[0].type.is_timestamp
        if isinstance(rex, Call) and same and literals.zone_of(self.zone) is UTC:  # the same instant with another name
            base = rex.args[0]
            back = Call(base.type, "cast", (column,))
            self.floored.append(FlooredTime("millisecond", base, back))
            if self._is_whole(base):
                self.exact.setdefault(base, back)

    def _is_whole(self, rex: Rex) -> bool:
        """Whether a timestamp has no fraction of a millisecond."""
        if isinstance(rex, Ref):
            return rex.id in self.whole
        if not isinstance(rex, Call):
            return False
        if rex.op == "cast":
            return rex.args[0].type.name == "date" or (rex.args[0].type.is_timestamp and self._is_whole(rex.args[0]))
        return rex.op.startswith("floor_")

    # --- expressions -------------------------------------------------------------------------------------------

    def rewrite(self, rex: Rex) -> Rex:
        """The expression over the view's columns. Raises MissingError."""
        column = self.exact.get(rex)
        if column is not None:
            return column
        if isinstance(rex, Literal):
            return rex
        if isinstance(rex, Call) and rex.args:
            return self._of_time(rex) or Call(rex.type, rex.op, tuple([self.rewrite(a) for a in rex.args]))
        if isinstance(rex, Call):
            return rex
        raise MissingError(self._missing(rex))

    def _missing(self, rex: Rex) -> str:
        name = rex.id.partition(".")[2] if isinstance(rex, Ref) else type(rex).__name__
        for time in self.floored:
            if time.base == rex:
                return f"it contains {name} only by {time.unit}"
        return f"it does not contain column {name}"

    def can(self, rex: Rex) -> bool:
        try:
            self.rewrite(rex)
        except MissingError:
            return False
        return True

    def _of_time(self, rex: Call) -> Rex | None:
        """floor_…, parts and the date of a time, from a time that was rounded down to the same or a smaller unit."""
        unit = None
        if rex.op.startswith("floor_"):
            unit = rex.op[6:]
        elif rex.op.startswith("extract_"):
            unit = _PARTS.get(rex.op[8:], rex.op[8:])
        elif rex.op in ("cast", "to_date") and rex.type.name == "date":
            unit = "day"
        if unit is None or not rex.args[0].type.is_timestamp:
            return None
        for time in self.floored:
            if time.base == rex.args[0] and time.serves(unit, self.zone):
                same = rex.op == f"floor_{time.unit}"
                return time.column if same else Call(rex.type, rex.op, (time.column,))
        return None

    # --- conditions --------------------------------------------------------------------------------------------

    def rewrite_term(self, term: Rex) -> Rex:
        """A condition over the view's columns. Raises MissingError."""
        try:
            return self.rewrite(term)
        except MissingError as missing:
            rewritten = self._edges(term)
            if rewritten is None:
                raise missing
            return rewritten

    def _edges(self, term: Rex) -> Rex | None:
        """A range of times whose bounds are bucket boundaries of a time that was rounded down."""
        for time in self.floored:
            if isinstance(time.base, Ref) and time.base.id in self.whole:
                values = values_of(term, self.whole, self.zone)
                if values is not None and values[0] == time.base:
                    made = self._ranges(values[1], time)
                    if made is not None:
                        return made
            if isinstance(term, Call) and term.op in (">=", "<") and term.args[0] == time.base:
                edge = term.args[1]
                if isinstance(edge, Literal) and self._is_edge(edge.value, time):
                    return Call(BOOLEAN, term.op, (time.column, edge))
        return None

    def _ranges(
        self, spans: tuple[tuple[tuple[object, ...], tuple[object, ...]], ...], time: FlooredTime
    ) -> Rex | None:
        alternatives: list[Rex] = []
        for low, high in spans:
            terms: list[Rex] = []
            for op, cut, open_end in ((">=", low, LOW), ("<", high, HIGH)):
                if cut == open_end:
                    continue
                moment = self._moment(cut[1], zoned=time.base.type.name.endswith("zone"))
                if moment is None or not self._is_edge(moment, time):
                    return None
                terms.append(Call(BOOLEAN, op, (time.column, Literal(time.base.type, moment))))
            if not terms:
                return None
            alternatives.append(terms[0] if len(terms) == 1 else Call(BOOLEAN, "and", tuple(terms)))
        return disjunction(alternatives) or Literal(BOOLEAN, False)

    @staticmethod
    def _moment(millis: object, *, zoned: bool) -> datetime | None:
        assert isinstance(millis, int)
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
        except OverflowError:
            return None
        return moment if zoned else moment.replace(tzinfo=None)

    def _is_edge(self, value: object, time: FlooredTime) -> bool:
        """Whether a bucket starts at that instant."""
        if not isinstance(value, datetime):
            return False
        if time.unit == "millisecond":
            return value.microsecond % 1000 == 0
        calendar = literals.zone_of(self.zone) if value.tzinfo else UTC
        if calendar is None or (calendar is not UTC and time.unit in ("second", "minute", "hour")):
            return False
        local = value.astimezone(calendar).replace(tzinfo=None) if value.tzinfo else value
        if value.tzinfo and literals.from_local(local, calendar) != value:  # the second midnight of a night
            return False
        return _IS_BEGIN[time.unit](local)


def _is_midnight(local: datetime) -> bool:
    return (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0)


_IS_BEGIN: dict[str, Callable[[datetime], bool]] = {
    "second": lambda d: d.microsecond == 0,
    "minute": lambda d: d.second == d.microsecond == 0,
    "hour": lambda d: d.minute == d.second == d.microsecond == 0,
    "day": _is_midnight,
    "week": lambda d: _is_midnight(d) and d.weekday() == 0,
    "month": lambda d: _is_midnight(d) and d.day == 1,
    "quarter": lambda d: _is_midnight(d) and d.day == 1 and d.month % 3 == 1,
    "year": lambda d: _is_midnight(d) and d.day == d.month == 1,
}


def canonical(rex: Rex, names: Mapping[str, Ref], equal: Mapping[str, Ref]) -> Rex:
    """The expression over the tables of a view, in `normal` form, with equal columns replaced by one of them."""
    return _normal(substitute(substitute(rex, dict(names)), dict(equal)))


def _normal(rex: Rex) -> Rex:
    if isinstance(rex, Agg):
        condition = normal(rex.condition) if rex.condition is not None else None
        return Agg(rex.type, rex.op, tuple(normal(a) for a in rex.args), rex.distinct, condition)
    return normal(rex)
