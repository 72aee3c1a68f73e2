"""Aggregates of decimals as aggregates of the integers that the decimals are computed from, which is exact.

`sum(x * 1.5)` is `1.5 * sum(x)`: Druid adds integers, and the decimals are computed from the few sums. An argument may
be a sum of columns with constant factors, and a different one for each branch of a CASE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from decimal import Decimal
from fractions import Fraction

from hivedruid.catalog.types import BIGINT, BOOLEAN, HiveType, decimal
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.common_types import arithmetic_type, precision_scale
from hivedruid.plan.nodes import Aggregate, DruidQuery, Node, PlanColumn, Project
from hivedruid.plan.rex import Agg, Call, Literal, Rex, Subquery, conjunction, conjuncts, has, is_deterministic
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.condition import inlined
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.distinct import aggregate_expand_distinct

MAX_PIECES = 8
_ROWS = 10
"""The digits of a number of rows."""
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_HALF = 1 << 32


@dataclass(frozen=True)
class Piece:
    """The value of an argument in the rows that satisfy the terms: `constant` plus each integer times its factor."""

    terms: tuple[Rex, ...] = ()
    factors: tuple[tuple[Rex, Fraction], ...] = ()
    constant: Fraction = Fraction(0)

    def times(self, by: Fraction) -> Piece:
        return replace(self, factors=tuple((x, f * by) for x, f in self.factors), constant=self.constant * by)

    def plus(self, other: Piece) -> Piece:
        factors = dict(self.factors)
        for x, f in other.factors:
            factors[x] = factors.get(x, Fraction(0)) + f
        terms = tuple(dict.fromkeys((*self.terms, *other.terms)))
        return Piece(terms, tuple(factors.items()), self.constant + other.constant)

    def within(self, *terms: Rex) -> Piece:
        return replace(self, terms=(*terms, *self.terms))


def aggregate_decimal_units(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[k, sum(x * 1.5)](q) => Project[k, s * 15 * 0.1](Aggregate[k, s := sum(x)](q))      x an integer

    Also avg, min, max and count. A BIGINT is summed in two halves, since the sum may exceed its range.
    """
    if not isinstance(node, Aggregate) or not isinstance(node.input, DruidQuery):
        return None
    whole = inlined(node, node.input)
    if not any(_is_decimal(c) for c in whole.calls):
        return None
    parts = _Parts(whole, context)
    values = [parts.value(c) if _is_decimal(c) else parts.total(c) for c in whole.calls]
    outputs = [v for v in values if v is not None]
    if len(outputs) < len(values):
        return None
    width = len(whole.keys)
    extra = whole.columns[width + len(whole.calls) :]
    keys = [context.new_column(c.name, c.type) for c in whole.columns[:width]]
    columns = (*keys, *parts.calls.values(), *extra)
    made = replace(whole, columns=columns, calls=tuple(parts.calls))
    query = whole.input
    assert isinstance(query, DruidQuery)
    below: Node | None = pushed(lambda: push_aggregate(query, made, context))
    if below is None and any(c.distinct for c in made.calls):
        below = aggregate_expand_distinct(made, context)
    if below is None:
        return None
    return Project(node.columns, below, (*(k.ref for k in keys), *outputs, *(c.ref for c in extra)))


def _is_decimal(call: Agg) -> bool:
    is_one = len(call.args) == 1 and not call.distinct and call.op in ("sum", "avg", "min", "max", "count")
    return is_one and call.args[0].type.name == "decimal"


# --- arguments in pieces ----------------------------------------------------------------------------------------------


def pieces(rex: Rex) -> list[Piece] | None:
    """The pieces of an argument, without rows in which it is null; None if it is not computed from integers in this
    way.
    """
    if isinstance(rex, Literal):
        if rex.value is None:
            return []
        known = isinstance(rex.value, int | Decimal) and not isinstance(rex.value, bool)
        return [Piece(constant=Fraction(rex.value))] if known else None
    if rex.type.is_integer:
        return [Piece(factors=((rex, Fraction(1)),))]
    if not isinstance(rex, Call) or rex.type.name != "decimal":
        return None
    split = _SPLIT.get(rex.op)
    result = split(rex) if split is not None else None
    return result if result is not None and len(result) <= MAX_PIECES else _units(rex)


def _units(rex: Call) -> list[Piece]:
    """A value that Druid computes in units for each row, such as a quotient or a cast of a double."""
    units = Call(BIGINT, "decimal_units", (rex,))
    return [Piece(factors=((units, Fraction(1, 10 ** precision_scale(rex.type)[1])),))]


def _of_cast(rex: Call) -> list[Piece] | None:
    """NULL if the number has more digits than the decimal."""
    value = rex.args[0]
    if value.type.name not in (*_DIGITS, "decimal"):
        return None
    (given, own), (precision, scale) = precision_scale(value.type), precision_scale(rex.type)
    parts = pieces(value)
    if parts is None or scale < own or (value.type.name == "decimal" and precision - scale < given - own):
        return None
    if precision - scale >= given - own:
        return parts
    most = Literal(BIGINT, 10 ** (precision - scale))
    fits = (Call(BOOLEAN, "<", (value, most)), Call(BOOLEAN, ">", (value, Literal(BIGINT, -most.value))))
    return [piece.within(*fits) for piece in parts]


def _of_arithmetic(rex: Call) -> list[Piece] | None:
    if precision_scale(rex.type)[0] >= 38:  # where Hive may drop digits
        return None
    a, b = (pieces(arg) for arg in rex.args)
    if a is None or b is None:
        return None
    if rex.op == "*":
        if any(p.factors for p in a):
            a, b = b, a
        return None if any(p.factors for p in a) else [q.times(p.constant).within(*p.terms) for p in a for q in b]
    sign = Fraction(1 if rex.op == "+" else -1)
    return [p.plus(q.times(sign)) for p in a for q in b]


def _of_negative(rex: Call) -> list[Piece] | None:
    parts = pieces(rex.args[0])
    return None if parts is None else [piece.times(Fraction(-1)) for piece in parts]


def _of_case(rex: Call) -> list[Piece] | None:
    parts: list[Piece] = []
    passed: list[Rex] = []
    pairs = len(rex.args) // 2
    for condition, value in zip(rex.args[::2], rex.args[1::2], strict=False):
        mine = pieces(value)
        if mine is None or not is_deterministic(condition) or has(condition, Subquery):
            return None
        parts += [piece.within(*passed, condition) for piece in mine]
        passed.append(Call(BOOLEAN, "is_not_true", (condition,)))
    others = pieces(rex.args[-1]) if len(rex.args) > 2 * pairs else []
    return None if others is None else [*parts, *(piece.within(*passed) for piece in others)]


def _of_coalesce(rex: Call) -> list[Piece] | None:
    """CASE WHEN the first is not null THEN it … END"""
    first, *others = rex.args
    mine = pieces(first)
    if mine is None or len(mine) != 1 or mine[0].terms:
        return None
    if not others:
        return mine
    is_there = conjunction([Call(BOOLEAN, "is_not_null", (x,)) for x, _ in mine[0].factors])
    if is_there is None:
        return mine
    return _of_case(Call(rex.type, "case", (is_there, first, Call(rex.type, "coalesce", tuple(others)))))


_SPLIT: dict[str, Callable[[Call], list[Piece] | None]] = {
    "cast": _of_cast,
    **dict.fromkeys(("+", "-", "*"), _of_arithmetic),
    "negative": _of_negative,
    "case": _of_case,
    "coalesce": _of_coalesce,
}


def _never_null(rex: Rex) -> bool:
    if isinstance(rex, Literal):
        return rex.value is not None
    if not isinstance(rex, Call) or rex.op not in _SPLIT:
        return False
    if rex.op == "case":
        return len(rex.args) % 2 == 1 and all(_never_null(v) for v in (*rex.args[1::2], rex.args[-1]))
    if rex.op == "cast":  # only a constant: other texts may be too long
        return False
    return (any if rex.op == "coalesce" else all)(_never_null(a) for a in rex.args)


# --- calls in parts ---------------------------------------------------------------------------------------------------


@dataclass
class _Parts:
    """The aggregates of integers that the calls are computed from, without duplicates."""

    aggregate: Aggregate
    context: RuleContext
    calls: dict[Agg, PlanColumn] = field(default_factory=dict)

    def total(self, call: Agg) -> Rex:
        if call not in self.calls:
            self.calls[call] = self.context.new_column(f"_d{len(self.calls)}", call.type)
        return self.calls[call].ref

    def value(self, call: Agg) -> Rex | None:
        """The call computed from its parts; None if that is not possible."""
        argument = call.args[0]
        scale = precision_scale(argument.type)[1]
        parts = pieces(argument)
        if not parts:
            return None
        given = tuple(conjuncts(call.condition))
        parts = [p.within(*given).times(Fraction(10**scale)) for p in parts]
        if any(f.denominator != 1 for p in parts for f in (p.constant, *(f for _, f in p.factors))):
            return None
        if call.op == "count":
            return self._rows(argument, parts, given)
        if call.op in ("min", "max"):
            return self._extreme(call, parts, scale)
        target = precision_scale(call.type)[1]
        if not _fits(parts, _ROWS + target - scale + (1 if call.op == "avg" else 0), scale):
            return None
        units = self._sum(argument, parts, given)
        if call.op == "sum":
            return _in_units(units, scale, call.type)
        numerator = _arithmetic("*", units, _number(10 ** (target - scale)))
        return _in_units(_rounded(numerator, self._rows(argument, parts, given)), target, call.type)

    def _sum(self, argument: Rex, pieces: list[Piece], given: tuple[Rex, ...]) -> Rex:
        """The sum in units; NULL if no row has a value."""
        sums: list[Rex] = []
        for piece in pieces:
            parts = [_arithmetic("*", self._whole(x, piece), _number(int(f))) for x, f in piece.factors if f]
            if len(pieces) > 1:
                parts = [Call(p.type, "coalesce", (p, _number(0, p.type))) for p in parts]
            if piece.constant:
                rows = _decimal(self._count(piece))
                parts.append(_arithmetic("*", rows, _number(int(piece.constant))))
            sums += parts
        total: Rex = _number(0)
        for place, part in enumerate(sums):
            total = part if not place else _arithmetic("+", total, part)
        if sums and len(pieces) == 1:
            return total if any(f for _, f in pieces[0].factors) else self._unless_none(argument, pieces, given, total)
        return self._unless_none(argument, pieces, given, total)

    def _unless_none(self, argument: Rex, parts: list[Piece], given: tuple[Rex, ...], total: Rex) -> Rex:
        node = self.aggregate
        if _never_null(argument) and node.keys and node.grouping_sets is None and not given:
            return total
        is_empty = Call(BOOLEAN, "=", (self._rows(argument, parts, given), Literal(BIGINT, 0)))
        return Call(total.type, "case", (is_empty, Literal(total.type, None), total))

    def _rows(self, argument: Rex, parts: list[Piece], given: tuple[Rex, ...]) -> Rex:
        """The number of rows that have a value."""
        if _never_null(argument):
            return self._count(Piece(given))
        counts = [self._count(piece) for piece in parts]
        total = counts[0]
        for count in counts[1:]:
            total = Call(BIGINT, "+", (total, count))
        return total

    def _count(self, piece: Piece) -> Rex:
        numbers = tuple(x for x, _ in piece.factors)
        if len(numbers) == 1:
            return self.total(Agg(BIGINT, "count", numbers, condition=conjunction(list(piece.terms))))
        terms = [*piece.terms, *(_is_there(x) for x in numbers)]
        return self.total(Agg(BIGINT, "count", (), condition=conjunction(terms)))

    def _whole(self, number: Rex, piece: Piece) -> Rex:
        """The sum of an integer over the rows of a piece without nulls, as a decimal."""
        others = [_is_there(x) for x, _ in piece.factors if x != number]
        condition = conjunction([*piece.terms, *others])

        def total(rex: Rex) -> Rex:
            return _decimal(self.total(Agg(BIGINT, "sum", (rex,), condition=condition)))

        if number.type.name != "bigint":  # a table cannot have so many rows that this exceeds a BIGINT
            return total(number)
        low = Call(BIGINT, "&", (number, Literal(BIGINT, _HALF - 1)))
        high = Call(BIGINT, "div", (Call(BIGINT, "-", (number, low)), Literal(BIGINT, _HALF)))
        return _arithmetic("+", _arithmetic("*", total(high), _number(_HALF)), total(low))

    def _extreme(self, call: Agg, parts: list[Piece], scale: int) -> Rex | None:
        if len(parts) != 1 or len(parts[0].factors) != 1 or not parts[0].factors[0][1]:
            return None
        ((number, factor),) = parts[0].factors
        op = call.op if factor > 0 else {"min": "max", "max": "min"}[call.op]
        value = self.total(Agg(number.type, op, (number,), condition=conjunction(list(parts[0].terms))))
        units = _arithmetic("*", _decimal(value), _number(int(factor)))
        if parts[0].constant:
            units = _arithmetic("+", units, _number(int(parts[0].constant)))
        return _in_units(units, scale, call.type) if _fits(parts, 0, scale) else None


def _is_there(rex: Rex) -> Rex:
    return Call(BOOLEAN, "is_not_null", (rex,))


def _fits(parts: list[Piece], rows: int, scale: int) -> bool:
    """Whether intermediate numbers of this scale, with the digits of the values in units plus `rows`, keep all
    digits."""
    most = max(len(str(abs(int(f)))) + digits for p in parts for f, digits in _sizes(p))
    return most + rows + len(str(len(parts))) <= 37 - scale


def _sizes(piece: Piece) -> list[tuple[Fraction, int]]:
    return [(piece.constant, 0), *((f, _digits(x)) for x, f in piece.factors)]


def _digits(number: Rex) -> int:
    """The maximum number of digits of an integer."""
    in_units = isinstance(number, Call) and number.op == "decimal_units"
    return precision_scale(number.args[0].type)[0] if in_units else _DIGITS[number.type.name]  # type: ignore[attr-defined]


def _number(value: int, type_: HiveType | None = None) -> Literal:
    return Literal(type_ or decimal(len(str(abs(value))), 0), Decimal(value))


def _decimal(rex: Rex) -> Rex:
    return Call(decimal(_DIGITS[rex.type.name], 0), "cast", (rex,))


def _arithmetic(op: str, a: Rex, b: Rex) -> Rex:
    return Call(arithmetic_type(op, a.type, b.type), op, (a, b))


def _in_units(units: Rex, scale: int, to: HiveType) -> Rex:
    """The decimal with this number of units of its scale, computed in a type with room for both, so that no digit is
    dropped.
    """
    if not scale:
        return Call(to, "cast", (units,)) if units.type != to else units
    room = Call(decimal(37 - scale, 0), "cast", (units,))
    value = _arithmetic("*", room, Literal(decimal(scale, scale), Decimal(1).scaleb(-scale)))
    return Call(to, "cast", (value,)) if value.type != to else value


def _rounded(numerator: Rex, rows: Rex) -> Rex:
    """The quotient rounded to an integer, halves away from zero, in exact steps."""
    by = _arithmetic("*", _decimal(rows), _number(2))
    size = Call(numerator.type, "abs", (numerator,))
    above = _arithmetic("+", _arithmetic("*", size, _number(2)), _decimal(rows))
    quotient = _arithmetic("/", _arithmetic("-", above, _arithmetic("%", above, by)), by)
    is_negative = Call(BOOLEAN, "<", (numerator, _number(0)))
    return Call(quotient.type, "case", (is_negative, Call(quotient.type, "negative", (quotient,)), quotient))
