"""Intervals and units of time to `Rex`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.errors import SemanticError
from hivedruid.plan import literals, operands
from hivedruid.plan.convert_calls import cast_function, check_count, function
from hivedruid.plan.functions import (
    EXTRACT_UNITS,
    TIME_UNITS,
)
from hivedruid.plan.rex import Call, Literal, Rex

if TYPE_CHECKING:
    from hivedruid.plan.convert import Converter


def interval_arithmetic(c: Converter, op: str, a: Rex, b: Rex, interval: Rex) -> Rex:
    moment = b if interval is a else a
    if moment.type.name.startswith("interval"):
        same = a.type if a.type == b.type and op in ("+", "-") else t.UNKNOWN
        operands.check_operands(op, (a.type, b.type), same)
        return c.fold(Call(same, op, (a, b)))
    if moment.type.is_string:
        moment = c.cast(moment, t.TIMESTAMP)
    daytime = interval.type == t.INTERVAL_DAY_TIME
    type_ = t.TIMESTAMP if moment.type == t.DATE and daytime else moment.type
    meant = op == "+" or (op == "-" and interval is b)
    type_ = type_ if moment.type.is_time and meant else t.VOID if moment.type is t.VOID else t.UNKNOWN
    operands.check_operands(op, (a.type, b.type), type_)
    if type_ is t.VOID:
        return c.constant(t.TIMESTAMP, None, a, b)
    args = (interval, moment) if interval is a else (moment, interval)
    return c.fold(Call(type_, op, args))


def interval(c: Converter, e: exp.Expr) -> Rex:
    unit = e.args.get("unit")
    if unit is None:
        raise SemanticError(
            f"INTERVAL {e.this.sql('hive')} requires an amount and a unit",
            span=c.span(e),
            hint="for example: INTERVAL '1' DAY",
        )
    name = f"{unit.this.name} to {unit.expression.name}" if isinstance(unit, exp.IntervalSpan) else unit.name
    amount = c.convert(e.this)
    singular = name.lower().removesuffix("s")
    if not isinstance(amount, Literal) and singular in literals.INTERVAL_UNITS:
        kind = t.INTERVAL_YEAR_MONTH if singular in ("year", "month", "quarter") else t.INTERVAL_DAY_TIME
        return Call(kind, f"interval_{singular}", (c.cast(amount, t.INT),))
    whole = next((kind for kind, units in literals.INTERVAL_TEXTS.items() if units == name.lower()), None)
    if whole is not None and not isinstance(amount, Literal):
        return cast_function(c, whole, amount, e)
    value = literals.parse_interval(str(amount.value), name) if isinstance(amount, Literal) else None
    if value is None:
        raise SemanticError(
            f"invalid INTERVAL literal: {e.this.sql('hive')} {name.upper()}",
            span=c.span(e),
            hint="use INTERVAL '1' DAY, INTERVAL '1-2' YEAR TO MONTH or INTERVAL '1 02:03:04' DAY TO SECOND",
        )
    return Literal(t.INTERVAL_YEAR_MONTH if value[0] or "year" in name.lower() else t.INTERVAL_DAY_TIME, value)


def floor(c: Converter, e: exp.Expr) -> Rex:
    op = "floor" if isinstance(e, exp.Floor) else "ceil"
    if e.this is None:
        check_count(c, op, op, 0, e)
    unit = e.args.get("to")
    if unit is None:
        extra = [c.convert(e.args["decimals"])] if e.args.get("decimals") else []
        return function(c, op, [c.convert(e.this), *extra], e)
    return time_unit(c, op, unit.name.lower(), c.convert(e.this), e)


def extract(c: Converter, e: exp.Expr) -> Rex:
    unit = {"dow": "dayofweek", "doy": "dayofyear"}.get(e.this.name.lower(), e.this.name.lower())
    if unit not in EXTRACT_UNITS:
        raise SemanticError(f"unknown time unit '{unit}'", span=c.span(e), hint="units: " + ", ".join(EXTRACT_UNITS))
    return function(c, f"extract_{unit}", [c.convert(e.expression)], e)


def time_unit(c: Converter, op: str, unit: str, value: Rex, e: exp.Expr) -> Rex:
    """floor(x TO unit) and floor_unit(x); the units are Druid's granularities."""
    if unit not in TIME_UNITS:
        raise SemanticError(f"unknown time unit '{unit}'", span=c.span(e), hint="units: " + ", ".join(TIME_UNITS))
    if value.type.is_string or value.type == t.DATE:
        value = c.cast(value, t.TIMESTAMP)
    return c.fold(Call(value.type, f"{op}_{unit}", (value,)))
