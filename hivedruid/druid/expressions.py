"""Row expressions in Druid's expression language, if it computes exactly what Hive does.

Booleans and times are LONG in Druid: 0/1, and milliseconds since the epoch (a DATE is its midnight in UTC). A DECIMAL
of at most 15 digits is the DOUBLE nearest to it, which is unique to it. The behavior of each function was tested with
Druid 33's own classes; a guard around a function handles a difference found there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from hivedruid.catalog.functions import SPARK_PREFIXES, shown_name
from hivedruid.catalog.stored_types import CAST, SCANNED
from hivedruid.catalog.types import DOUBLE, HiveType
from hivedruid.druid.decimals import decimal_arithmetic, solved_comparison
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.interval_sets import ALL, MAX, IntervalSet
from hivedruid.druid.syntax import (
    PERIODS,
    DruidColumn,
    as_double,
    chain,
    decimal_digits,
    druid_type,
    exact_number,
    integer_bound,
    is_whole,
    may_be_nan,
    may_be_negative_zero,
    millis,
    quote,
    string_literal,
)
from hivedruid.plan import literals
from hivedruid.plan.rex import Call, Literal, Ref, Rex, walk

if TYPE_CHECKING:
    from hivedruid.druid.clocks import Disturbance

__all__ = [
    "PERIODS",
    "DruidColumn",
    "DruidExpressions",
    "check_order",
    "druid_type",
    "may_be_negative_zero",
    "quote",
    "string_literal",
]

Translate = Callable[["DruidExpressions", Call], str]
Compute = Callable[[str, str], DruidColumn]
"""Creates a virtual column from an expression and its Druid type."""
MAX_DEPTH = 100
"""Druid's parser recurses for each operator, and most are written as several. Its stack overflows at some 700."""


class Times(NamedTuple):
    """The id of the column that is `__time`, and the times that its rows have."""

    id: str | None
    span: IntervalSet


NO_TIMES = Times(None, ALL)


class DruidExpressions:
    """Translates expressions over the columns of one native query; raises NotExact if that is not possible."""

    def __init__(
        self,
        columns: Mapping[str, DruidColumn],
        zone: str,
        times: Times = NO_TIMES,
        compute: Compute | None = None,
    ) -> None:
        self.columns = columns
        self._compute = compute
        self.session_zone = zone
        self.times = times
        self.is_utc = zone.upper() in ("UTC", "Z", "GMT", "ETC/UTC")
        self._depth = 0

    def text(self, rex: Rex) -> str:
        if isinstance(rex, Ref):
            column = self.column(rex)
            return f"CAST({quote(column.name)},'{column.type}')" if column.reading == CAST else quote(column.name)
        if isinstance(rex, Literal):
            return self._literal(rex)
        if not isinstance(rex, Call):
            raise NotExact(f"{type(rex).__name__.lower()} expressions are computed outside Druid")
        if self._depth == MAX_DEPTH:
            raise NotExact(f"an expression of more than {MAX_DEPTH} nested operators")
        self._depth += 1
        try:
            return self._call(rex)
        finally:
            self._depth -= 1

    def column(self, ref: Ref) -> DruidColumn:
        column = self.columns.get(ref.id)
        if column is None:
            raise NotExact(f"column {ref.id} is not a column of this Druid query")
        if column.reading in SCANNED:
            raise NotExact(f"{column.name} has values that Druid only returns, in rows")
        if column.type.startswith("ARRAY"):
            raise NotExact(f"{column.name} is a multi-value dimension, which Druid would unnest")
        return column

    def scanned(self, rex: Rex) -> DruidColumn | None:
        """The column of values that Druid only returns, in rows; its `null` is exact for them, and for the bytes of
        which they are the base64."""
        if isinstance(rex, Call) and rex.op == "unbase64":
            rex = rex.args[0]
        column = self.columns.get(rex.id) if isinstance(rex, Ref) else None
        return column if column is not None and column.reading in SCANNED else None

    def shared(self, text: str, type_: str) -> str:
        """An expression that others contain several times: a virtual column, if the query can have one."""
        return text if self._compute is None else quote(self._compute(text, type_).name)

    def _literal(self, rex: Literal) -> str:
        value = rex.value
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "1" if value else "0"
        if isinstance(value, str):
            return string_literal(value)
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float) and isfinite(value):
            return repr(value).replace("e+", "e")
        if isinstance(value, date):
            return str(millis(value))
        if isinstance(value, Decimal):
            decimal_digits(rex.type)
            return repr(float(value)).replace("e+", "e")
        raise NotExact(f"Druid does not support constants of type {rex.type}")

    def _call(self, rex: Call) -> str:
        op = rex.op
        if op in _COMPARISONS:
            return self.comparison(rex)
        if op in ("and", "or"):
            return chain("&&" if op == "and" else "||", [self.text(a) for a in rex.args])
        if op in ("+", "-", "*", "/", "%", "div"):
            return self._arithmetic(rex)
        kind, _, unit = op.partition("_")
        if kind in ("floor", "ceil") and unit in PERIODS:
            return self._bucket(kind, unit, rex.args[0])
        if kind == "extract" and unit in _EXTRACT:
            return self._extract(unit, rex.args[0])
        from hivedruid.druid.functions import translation

        translate = translation(op)
        if translate is None:
            whose = "" if op.startswith(SPARK_PREFIXES) else "Hive's "
            raise NotExact(f"Druid has no equivalent of {whose}{shown_name(op)}()")
        return translate(self, rex)

    # --- comparisons and arithmetic ----------------------------------------------------------------------------

    def comparison(self, rex: Call) -> str:
        rex = solved_comparison(rex)
        left, right = rex.args
        if "decimal" in (left.type.name, right.type.name) or is_whole(left.type):
            bounded = self._whole_comparison(rex.op, left, right)
            if bounded is not None:
                return bounded
        if "decimal" in (left.type.name, right.type.name):
            left, right = as_double(left, right), as_double(right, left)
            if "bigint" in (left.type.name, right.type.name):
                raise NotExact(f"comparing {left.type} with {right.type}")
        if (left.type.name == "bigint" and right.type.is_approximate) or (
            right.type.name == "bigint" and left.type.is_approximate
        ):
            left, right = (Call(DOUBLE, "cast", (x,)) if x.type.is_integer else x for x in (left, right))
        if "float" in (left.type.name, right.type.name):
            _refuse_rounding(left, right)
        if is_whole(left.type) != is_whole(right.type) and not (left.type.is_numeric and right.type.is_numeric):
            raise NotExact(f"comparing {left.type} with {right.type}")
        for side in (left, right):
            if rex.op in ("<", "<=", ">", ">="):
                check_order(side)
        a, b = self._sides(rex.op, left, right)
        text = f"notdistinctfrom({a},{b})" if rex.op == "<=>" else f"({a} {_COMPARISONS[rex.op]} {b})"
        if rex.op in ("=", "<>", "<=>") and may_be_nan(left) and may_be_nan(right):
            return _with_equal_nans(rex.op, text, a, b)
        return text

    def _sides(self, op: str, left: Rex, right: Rex) -> tuple[str, str]:
        """Both sides of a comparison. Without vectorization, Druid orders -0.0 before 0.0; Hive does not."""
        constant = right.value if isinstance(right, Literal) else None
        if op in ("=", "<>", "<=>") or constant:
            return self.text(left), self.text(right)
        if constant is not None and left.type.is_approximate:
            return self.text(left), "0.0" if op in (">", "<=") else "-0.0"
        return self.without_negative_zero(left), self.without_negative_zero(right)

    def without_negative_zero(self, rex: Rex) -> str:
        """The value; plus 0.0 for a double or float that may be -0.0."""
        text = self.text(rex)
        return f"({text} + 0.0)" if may_be_negative_zero(rex) else text

    def _whole_comparison(self, op: str, left: Rex, right: Rex) -> str | None:
        """Compare an integer with a fractional constant, using only integers."""
        if op == "<=>" or not isinstance(right, Literal) or not is_whole(left.type):
            return None
        number = exact_number(right, left.type)
        if number is None:
            return None
        bound = integer_bound(op, number)
        cut = op in (">=", "<") and number == number.to_integral_value()
        value = self.moment(left) if cut else self.text(left)
        if isinstance(bound, bool):
            return f"({value} {'==' if bound else '!='} {value})"
        return f"({value} {_COMPARISONS[bound[0]]} {bound[1]})"

    def _arithmetic(self, rex: Call) -> str:
        left, right = rex.args
        interval = next((a for a in rex.args if a.type.name.startswith("interval")), None)
        if interval is not None:
            return self._shift(rex, interval)
        if rex.type.name == "decimal":
            return decimal_arithmetic(self, rex)
        if rex.type.name not in ("tinyint", "smallint", "int", "bigint", "double"):
            raise NotExact(f"{rex.type} arithmetic")
        a, b = self.text(as_double(left, rex)), self.text(as_double(right, rex))
        if rex.op in ("+", "-", "*"):
            return self.fit(rex.type, f"({a} {rex.op} {b})")
        if rex.op == "/" and left.type.is_integer:
            a = self.double(left)
        if rex.op == "%" and rex.type.name == "double":
            a = self.double(left)
        text = f"div({a},{b})" if rex.op == "div" else f"({a} {rex.op} {b})"
        if isinstance(right, Literal):
            return text if right.value else "null"
        if not any(isinstance(part, Ref) for part in walk(rex)):
            raise NotExact("Druid evaluates a division of constants, even by zero, before its enclosing condition")
        return f"if({b} == 0,null,{text})"  # Hive: NULL; Druid: an error for longs, Infinity for doubles

    def double(self, rex: Rex) -> str:
        return f"CAST({self.text(rex)},'DOUBLE')"

    def fit(self, type_: HiveType, text: str) -> str:
        """Wrap around like Hive's narrow integers; Druid computes with LONG."""
        bits = {"tinyint": 8, "smallint": 16, "int": 32}.get(type_.name)
        if bits is None:
            return text
        return f"(bitwiseXor(bitwiseAnd({text},{(1 << bits) - 1}),{1 << (bits - 1)}) - {1 << (bits - 1)})"

    def _shift(self, rex: Call, interval: Rex) -> str:
        moment = rex.args[1] if rex.args[0] is interval else rex.args[0]
        if not isinstance(interval, Literal) or not moment.type.is_time or (rex.args[0] is interval and rex.op == "-"):
            raise NotExact("arithmetic on intervals")
        months, micros = interval.value
        sign = -1 if rex.op == "-" else 1
        if micros % 1000:
            raise NotExact("Druid has millisecond precision, the interval has microseconds")
        text = self.text(moment)
        if months:
            text = f"timestamp_shift({text},'P1M',{sign * months},'{self.zone(moment)}')"
        return f"({text} + {sign * micros // 1000})" if micros else text

    # --- time --------------------------------------------------------------------------------------------------

    def zone(self, rex: Rex) -> str:
        """The time zone in which a time value is interpreted: the session's for zoned timestamps, else UTC."""
        return "UTC" if self.is_utc or not rex.type.name.endswith("zone") else self.session_zone

    def disturbance(self, unit: str, value: Rex) -> Disturbance | None:
        """The effect of clock changes on the starts of a unit, within the times that a value may have; None if there is
        none.
        """
        if self.zone(value) == "UTC":
            return None
        from hivedruid.druid.clocks import disturbance

        span = self.times.span if isinstance(value, Ref) and value.id == self.times.id else ALL
        return disturbance(literals.zone_of(self.session_zone), unit, span) or None

    def _bucket(self, kind: str, unit: str, value: Rex) -> str:
        """The start or end of a bucket. Druid's functions move starts that are skipped or repeated."""
        text = self.moment(value) if kind == "floor" else self.text(value)
        zone, period = self.zone(value), PERIODS[unit]
        plain = f"timestamp_{kind}({text},'{period}',null,'{zone}')"
        disturbance = self.disturbance(unit, value)
        if not disturbance or unit in ("second", "minute", "hour"):
            return plain
        if unit == "week" and kind == "floor" and disturbance.skipped:  # it keeps the hour at which the day starts
            plain = f"timestamp_floor({plain},'P1D',null,'{zone}')"
        if kind == "floor" and not disturbance.repeated:
            return plain
        by_wall = self.instant(f"timestamp_{kind}({self.wall_clock(value, zone)},'{period}',null,'UTC')", zone)
        since = disturbance.until < MAX and kind == "floor"
        return f"case_searched({text} >= {disturbance.until},{plain},{by_wall})" if since else by_wall

    def _extract(self, unit: str, value: Rex) -> str:
        if not value.type.is_time:
            raise NotExact(f"{unit} of {value.type}")
        text = f"timestamp_extract({self.moment(value)},'{_EXTRACT[unit]}','{self.zone(value)}')"
        return f"(({text} % 7) + 1)" if unit == "dayofweek" else text

    def day(self, value: Rex) -> str:
        """The date of a timestamp: midnight UTC of its calendar day."""
        zone, text = self.zone(value), self.moment(value)
        if zone == "UTC":
            return f"timestamp_floor({text},'P1D',null,'UTC')"
        return f"timestamp_parse(timestamp_format({text},'yyyy-MM-dd','{zone}'),'yyyy-MM-dd','UTC')"

    def moment(self, value: Rex) -> str:
        """A time where sub-millisecond precision does not matter."""
        return self.text(value)

    def wall_clock(self, value: Rex, zone: str) -> str:
        """An instant as the local time in a zone."""
        return f"timestamp_parse(timestamp_format({self.text(value)},{_WALL},'{zone}'),{_WALL},'UTC')"

    def instant(self, wall: str, zone: str) -> str:
        """The instant of a timestamp in a zone: the earlier of two, and moved forward if skipped. Druid returns null
        for a skipped time; a day and an hour earlier, the clocks had not been set forward yet.
        """
        direct = f"timestamp_parse(timestamp_format({wall},{_WALL},'UTC'),{_WALL},'{zone}')"
        before = f"timestamp_parse(timestamp_format({wall} - 90000000,{_WALL},'UTC'),{_WALL},'{zone}')"
        return f"nvl({direct},{before} + 90000000)"

    def seconds(self, value: Rex) -> str:
        """Whole seconds since the epoch, floored; a timestamp without zone is the session's."""
        text = self.moment(value)
        if not value.type.name.endswith("zone") and not self.is_utc:
            text = self.instant(text, self.session_zone)
        return f"CAST(floor({text} / 1000.0),'LONG')"

    def timestamp_text(self, value: Rex) -> str:
        """A timestamp as Hive prints it: a fraction without trailing zeros; a zoned one has at least one digit."""
        text, zone = self.text(value), self.zone(value)
        pattern = "yyyy-MM-dd HH:mm:ss"
        zoned = value.type.name.endswith("zone")
        whole = f"timestamp_format({text},'{pattern}{'.S' if zoned else ''}','{zone}')"
        parts = [f"timestamp_format({text},'{pattern}.{'S' * digits}','{zone}')" for digits in (1, 2, 3)]
        plain = (
            f"case_searched({text} % 1000 == 0,{whole},{text} % 100 == 0,{parts[0]},"
            f"{text} % 10 == 0,{parts[1]},{parts[2]})"
        )
        return (
            f"concat({plain},{string_literal(' ' + self.session_zone)})" if value.type.name.endswith("zone") else plain
        )


_WALL = "'yyyy-MM-dd HH:mm:ss.SSS'"


def _with_equal_nans(op: str, text: str, a: str, b: str) -> str:
    """A comparison in which NaN is equal to itself; in Druid it is not."""
    match op:
        case "=":
            return f"({text} || (({a} != {a}) && ({b} != {b})))"
        case "<>":
            return f"({text} && (({a} == {a}) || ({b} == {b})))"
        case _:
            return f"({text} || nvl(({a} != {a}) && ({b} != {b}),0))"


_COMPARISONS = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>"}
_EXTRACT = {
    "year": "YEAR",
    "quarter": "QUARTER",
    "month": "MONTH",
    "week": "WEEK",
    "day": "DAY",
    "hour": "HOUR",
    "minute": "MINUTE",
    "second": "SECOND",
    "dayofweek": "DOW",
    "dayofyear": "DOY",
}


def check_order(rex: Rex) -> None:
    """NotExact for a constant that Hive and Druid order differently: by characters, or by UTF-16 units."""
    if isinstance(rex, Literal) and isinstance(rex.value, str) and max(rex.value, default="") >= "\ud800":
        raise NotExact("the order of characters after U+D7FF, which Druid compares as UTF-16 code units")


def _refuse_rounding(left: Rex, right: Rex) -> None:
    """Hive converts an integer compared with a float to single precision, Druid both to double."""
    for rex in (left, right):
        small = isinstance(rex, Literal) and isinstance(rex.value, int) and abs(rex.value) <= 1 << 24
        if rex.type.is_integer and not small:
            raise NotExact(f"comparing {left.type} with {right.type}")
