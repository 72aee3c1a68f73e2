"""Row expressions in Druid's expression language, where it computes exactly what Hive does.

Booleans and times are LONG in Druid: 0/1, and milliseconds since the epoch (a DATE is its midnight in UTC).
What Druid 33 does with each function was evaluated against its own classes; a guard around a function is a
difference found there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from math import ceil, floor, isfinite
from typing import NamedTuple

from hivedruid.catalog.types import TYPES, HiveType
from hivedruid.druid.exactness import NotExact
from hivedruid.plan.literals import to_micros
from hivedruid.plan.rex import Call, Literal, Ref, Rex, walk

PERIODS = {
    "second": "PT1S",
    "minute": "PT1M",
    "hour": "PT1H",
    "day": "P1D",
    "week": "P1W",
    "month": "P1M",
    "quarter": "P3M",
    "year": "P1Y",
}
DAY_MILLIS = 86_400_000
MIN_LONG, MAX_LONG = -(1 << 63), (1 << 63) - 1


class DruidColumn(NamedTuple):
    """A column as a native query sees it: its name, and its Druid type."""

    name: str
    type: str


def druid_type(type_: HiveType) -> str:
    """The Druid type that holds values of a Hive type inside a query; NotExact where none does."""
    if type_.is_time:
        return "LONG"
    if type_.name == "void":
        return "STRING"
    names = TYPES.get(type_.name)
    if names is None or names.druid is None:
        raise NotExact(f"Druid has no type for {type_}")
    return names.druid


def quote(name: str) -> str:
    """A column name as an identifier of the expression language."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def string_literal(text: str) -> str:
    """A string constant; everything but plain characters is written \\uXXXX."""
    out = []
    for char in text:
        if char.isascii() and (char.isalnum() or char in " -_.,:;/<>=!?#%&()[]{}*+|@^$~"):
            out.append(char)
        else:
            raw = char.encode("utf-16-be")
            out += [f"\\u{raw[i]:02x}{raw[i + 1]:02x}" for i in range(0, len(raw), 2)]
    return "'" + "".join(out) + "'"


def millis(value: date | datetime) -> int:
    """A time constant in milliseconds; NotExact where it has microseconds (callers round bounds before)."""
    micros = to_micros(value)
    if micros % 1000:
        raise NotExact("Druid keeps milliseconds, the constant has microseconds")
    return micros // 1000


def integer_bound(op: str, value: Decimal) -> tuple[str, int] | bool:
    """`x op value` over LONGs x as a comparison with a LONG, or the constant it is (for x not null)."""
    if not MIN_LONG <= value <= MAX_LONG:
        return op == "<>" or (op in ("<", "<=") if value > 0 else op in (">", ">="))
    whole = value == value.to_integral_value()
    if whole:
        return op, int(value)
    if op in ("=", "<>"):
        return op == "<>"
    return ("<=", floor(value)) if op in ("<", "<=") else (">=", ceil(value))


def exact_number(literal: Literal, type_: HiveType) -> Decimal | None:
    """The constant as a number on the scale in which Druid keeps values of `type_`; None for other constants.

    Whole numbers for integers, booleans 0/1, milliseconds (with a fraction for microseconds) for times.
    """
    value = literal.value
    if type_.is_time and isinstance(value, date):
        return Decimal(to_micros(value)) / 1000
    if isinstance(value, bool):
        return Decimal(int(value))
    if isinstance(value, int | Decimal) and not type_.is_time:
        return Decimal(value)
    if isinstance(value, float) and isfinite(value) and type_.name in ("tinyint", "smallint", "int"):
        return Decimal(value)
    return None


def may_be_negative_zero(rex: Rex) -> bool:
    """Whether a value could be -0.0, which Druid groups, sorts and (in part) compares apart from 0.0."""
    if not rex.type.is_approximate:
        return False
    if isinstance(rex, Literal):
        return rex.value is not None and rex.value == 0 and str(rex.value).startswith("-")
    return not (isinstance(rex, Call) and rex.op == "cast" and not rex.args[0].type.is_approximate)


def _is_whole(type_: HiveType) -> bool:
    return type_.is_integer or type_.is_time or type_.name == "boolean"


class DruidExpressions:
    """Translates expressions over the columns of one native query; NotExact where that is not possible."""

    def __init__(self, columns: Mapping[str, DruidColumn], zone: str) -> None:
        self.columns = columns
        self.session_zone = zone
        self.is_utc = zone.upper() in ("UTC", "Z", "GMT", "ETC/UTC")

    def text(self, rex: Rex) -> str:
        if isinstance(rex, Ref):
            return quote(self.column(rex).name)
        if isinstance(rex, Literal):
            return self._literal(rex)
        if not isinstance(rex, Call):
            raise NotExact(f"{type(rex).__name__.lower()} expressions are computed outside Druid")
        return self._call(rex)

    def column(self, ref: Ref) -> DruidColumn:
        column = self.columns.get(ref.id)
        if column is None:
            raise NotExact(f"column {ref.id} is not a column of this Druid query")
        if column.type.startswith("ARRAY"):
            raise NotExact(f"{column.name} is a multi-value dimension, which Druid would expand")
        return column

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
        raise NotExact(f"Druid has no constant of type {rex.type}")

    def _call(self, rex: Call) -> str:
        op = rex.op
        if op in _COMPARISONS:
            return self._comparison(rex)
        if op in ("and", "or"):
            return "(" + (" && " if op == "and" else " || ").join(self.text(a) for a in rex.args) + ")"
        if op in ("+", "-", "*", "/", "%", "div"):
            return self._arithmetic(rex)
        kind, _, unit = op.partition("_")
        if kind in ("floor", "ceil") and unit in PERIODS:
            value = rex.args[0]
            return f"timestamp_{kind}({self.text(value)},'{PERIODS[unit]}',null,'{self.zone(value)}')"
        if kind == "extract" and unit in _EXTRACT:
            return self._extract(unit, rex.args[0])
        translate = DRUID.get(op)
        if translate is None:
            raise NotExact(f"Druid has no {op}() that answers as Hive's")
        return translate(self, rex)

    # --- comparisons and arithmetic ----------------------------------------------------------------------------

    def _comparison(self, rex: Call) -> str:
        left, right = rex.args
        if "decimal" in (left.type.name, right.type.name) or _is_whole(left.type):
            bounded = self._whole_comparison(rex.op, left, right)
            if bounded is not None:
                return bounded
        if "decimal" in (left.type.name, right.type.name):
            left, right = _as_double(left, right), _as_double(right, left)
        if (left.type.name == "bigint" and right.type.is_approximate) or (
            right.type.name == "bigint" and left.type.is_approximate
        ):
            left, right = (Call(_DOUBLE, "cast", (x,)) if x.type.is_integer else x for x in (left, right))
        if "float" in (left.type.name, right.type.name):
            _refuse_rounding(left, right)
        if _is_whole(left.type) != _is_whole(right.type) and not (left.type.is_numeric and right.type.is_numeric):
            raise NotExact(f"comparing {left.type} with {right.type}")
        if left.type.name == "boolean" and rex.op not in ("=", "<>", "<=>"):
            raise NotExact("ordering of booleans")
        if rex.op == "<=>":
            return f"notdistinctfrom({self.text(left)},{self.text(right)})"
        a, b = self._sides(rex.op, left, right)
        return f"({a} {_COMPARISONS[rex.op]} {b})"

    def _sides(self, op: str, left: Rex, right: Rex) -> tuple[str, str]:
        """Both sides of a comparison. In an order, Druid has -0.0 below 0.0 where it does not vectorize; Hive never."""
        constant = right.value if isinstance(right, Literal) else None
        if op in ("=", "<>") or constant:
            return self.text(left), self.text(right)
        if constant is not None and left.type.is_approximate:
            return self.text(left), "0.0" if op in (">", "<=") else "-0.0"
        return self.without_negative_zero(left), self.without_negative_zero(right)

    def without_negative_zero(self, rex: Rex) -> str:
        """The value; of a double or float that may be -0.0, the value plus 0.0, which never is."""
        text = self.text(rex)
        return f"({text} + 0.0)" if may_be_negative_zero(rex) else text

    def _whole_comparison(self, op: str, left: Rex, right: Rex) -> str | None:
        """A whole number against a constant with a fraction, on whole numbers alone."""
        if op == "<=>" or not isinstance(right, Literal) or not _is_whole(left.type):
            return None
        number = exact_number(right, left.type)
        if number is None:
            return None
        bound = integer_bound(op, number)
        value = self.text(left)
        if isinstance(bound, bool):
            return f"({value} {'==' if bound else '!='} {value})"
        return f"({value} {_COMPARISONS[bound[0]]} {bound[1]})"

    def _arithmetic(self, rex: Call) -> str:
        left, right = rex.args
        interval = next((a for a in rex.args if a.type.name.startswith("interval")), None)
        if interval is not None:
            return self._shift(rex, interval)
        if rex.type.name not in ("tinyint", "smallint", "int", "bigint", "double"):
            raise NotExact(f"arithmetic in {rex.type}")
        a, b = self.text(_as_double(left, rex)), self.text(_as_double(right, rex))
        if rex.op in ("+", "-", "*"):
            return self.fit(rex.type, f"({a} {rex.op} {b})")
        if rex.op == "/" and left.type.is_integer:
            a = self._double(left)
        if rex.op == "%" and rex.type.name == "double":
            a = self._double(left)
        text = f"div({a},{b})" if rex.op == "div" else f"({a} {rex.op} {b})"
        if isinstance(right, Literal):
            return text if right.value else "null"
        if not any(isinstance(part, Ref) for part in walk(rex)):
            raise NotExact("Druid divides constants at once, also by zero, before it looks at what guards them")
        return f"if({b} == 0,null,{text})"  # Hive: NULL; Druid: an error for longs, Infinity for doubles

    def _double(self, rex: Rex) -> str:
        return f"CAST({self.text(rex)},'DOUBLE')"

    def fit(self, type_: HiveType, text: str) -> str:
        """Hive's narrow integers wrap where Druid's LONG goes on."""
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
            raise NotExact("Druid keeps milliseconds, the interval has microseconds")
        text = self.text(moment)
        if months:
            text = f"timestamp_shift({text},'P1M',{sign * months},'{self.zone(moment)}')"
        return f"({text} + {sign * micros // 1000})" if micros else text

    # --- time --------------------------------------------------------------------------------------------------

    def zone(self, rex: Rex) -> str:
        """The zone whose calendar a time value is read in: the session's for zoned timestamps, else UTC."""
        return "UTC" if self.is_utc or not rex.type.name.endswith("zone") else self.session_zone

    def _extract(self, unit: str, value: Rex) -> str:
        if not value.type.is_time:
            raise NotExact(f"{unit} of {value.type}")
        text = f"timestamp_extract({self.text(value)},'{_EXTRACT[unit]}','{self.zone(value)}')"
        return f"(({text} % 7) + 1)" if unit == "dayofweek" else text

    def day(self, value: Rex) -> str:
        """The date of a timestamp: midnight UTC of its calendar day."""
        zone, text = self.zone(value), self.text(value)
        if zone == "UTC":
            return f"timestamp_floor({text},'P1D',null,'UTC')"
        return f"timestamp_parse(timestamp_format({text},'yyyy-MM-dd','{zone}'),'yyyy-MM-dd','UTC')"

    def timestamp_text(self, value: Rex) -> str:
        """A timestamp as Hive prints it: a fraction without trailing zeros; a zoned one has at least one digit."""
        text, zone = self.text(value), self.zone(value)
        pattern = "yyyy-MM-dd HH:mm:ss"
        zoned = value.type.name.endswith("zone")
        whole = f"timestamp_format({text},'{pattern}{'.S' if zoned else ''}','{zone}')"
        parts = [f"timestamp_format({text},'{pattern}.{'S' * digits}','{zone}')" for digits in (1, 2, 3)]
        plain = f"case_searched({text} % 1000 == 0,{whole},{text} % 100 == 0,{parts[0]},{text} % 10 == 0,{parts[1]},{parts[2]})"
        return (
            f"concat({plain},{string_literal(' ' + self.session_zone)})" if value.type.name.endswith("zone") else plain
        )


_DOUBLE = HiveType("double")
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


def _as_double(rex: Rex, other: Rex) -> Rex:
    """A decimal constant beside a double, as the double Hive makes of it."""
    if rex.type.name == "decimal" and isinstance(rex, Literal) and rex.value is not None and other.type.is_approximate:
        return Literal(_DOUBLE, float(rex.value))
    return rex


def _refuse_rounding(left: Rex, right: Rex) -> None:
    """Hive brings a whole number beside a float to single precision, Druid both to double."""
    for rex in (left, right):
        small = isinstance(rex, Literal) and isinstance(rex.value, int) and abs(rex.value) <= 1 << 24
        if rex.type.is_integer and not small:
            raise NotExact(f"comparing {left.type} with {right.type}")


def _function(name: str) -> Callable[[DruidExpressions, Call], str]:
    return lambda d, rex: f"{name}({','.join(d.text(a) for a in rex.args)})"


def _strings(name: str, count: int) -> Callable[[DruidExpressions, Call], str]:
    def translate(d: DruidExpressions, rex: Call) -> str:
        if len(rex.args) != count or not all(a.type.is_string for a in rex.args):
            raise NotExact(f"this form of {rex.op}()")
        return f"{name}({','.join(d.text(a) for a in rex.args)})"

    return translate


def _math(name: str, domain: str = "") -> Callable[[DruidExpressions, Call], str]:
    """A function of doubles; outside its `domain` Hive answers NULL where Java answers NaN."""

    def translate(d: DruidExpressions, rex: Call) -> str:
        if not all((a.type.is_numeric and a.type.name != "decimal") or isinstance(a, Literal) for a in rex.args):
            raise NotExact(f"{rex.op}() of {rex.args[0].type}")
        args = [d._double(a) if a.type.is_integer else d.text(_as_double(a, rex)) for a in rex.args]
        text = f"{name}({','.join(args)})"
        return f"if({args[0]} {domain},{text},null)" if domain else text

    return translate


def _constant(rex: Rex, kind: type, what: str) -> object:
    if not isinstance(rex, Literal) or not isinstance(rex.value, kind) or isinstance(rex.value, bool):
        raise NotExact(f"{what} is not a constant")
    return rex.value


def _int(rex: Rex, what: str) -> int:
    return int(str(_constant(rex, int, what)))


def _str(rex: Rex, what: str) -> str:
    return str(_constant(rex, str, what))


def _length(d: DruidExpressions, rex: Call) -> str:
    """Hive counts characters, Druid UTF-16 units: a character beyond the basic plane is made one unit first."""
    return f"strlen(regexp_replace({d.text(rex.args[0])},'[\\\\x{{10000}}-\\\\x{{10FFFF}}]','.'))"


def _substring(d: DruidExpressions, rex: Call) -> str:
    """1-based; behind the end Hive answers '', Druid null."""
    start = max(_int(rex.args[1], "the start of substring()"), -1)
    if start < 0:
        raise NotExact("substring() counting from the end")
    start = max(start - 1, 0)
    length = _int(rex.args[2], "the length of substring()") if len(rex.args) > 2 else -1
    if len(rex.args) > 2 and length < 1:
        raise NotExact("substring() of no characters")
    text = d.text(rex.args[0])
    return f"case_searched(strlen({text}) > {start},substring({text},{start},{length}),notnull({text}),'')"


def _pad(d: DruidExpressions, rex: Call) -> str:
    length, fill = (
        _int(rex.args[1], f"the length of {rex.op}()"),
        _str(rex.args[2], f"the padding of {rex.op}()") if len(rex.args) > 2 else " ",
    )
    if length < 1 or not fill:
        raise NotExact(f"{rex.op}() to nothing or with nothing")
    return f"{rex.op}({d.text(rex.args[0])},{length},{string_literal(fill)})"


def _repeat(d: DruidExpressions, rex: Call) -> str:
    times = _int(rex.args[1], "the count of repeat()")
    if times < 1:
        raise NotExact("repeat() of nothing")
    return f"repeat({d.text(rex.args[0])},{times})"


def _replace(d: DruidExpressions, rex: Call) -> str:
    if not _str(rex.args[1], "the text searched by replace()"):
        raise NotExact("replace() of the empty text")
    return f"replace({','.join(d.text(a) for a in rex.args)})"


_SAFE_REGEX = re.compile(r"(?:[^\\(]|\((?!\?)|\\[dDwWsSbnt.\\\[\](){}*+?|^$/-])*")


def regex_literal(rex: Rex) -> str:
    """A constant regular expression in the subset that all regular expression engines agree on."""
    pattern = _str(rex, "the regular expression")
    if not _SAFE_REGEX.fullmatch(pattern) or re.search(r"[*+?}]\+|&&|\[\[|\[:", pattern):
        raise NotExact("a regular expression with look-around, back references or possessive parts")
    return string_literal(pattern)


def _rlike(d: DruidExpressions, rex: Call) -> str:
    text = d.text(rex.args[0])
    return f"if(notnull({text}),regexp_like({text},{regex_literal(rex.args[1])}),null)"


def _regexp_extract(d: DruidExpressions, rex: Call) -> str:
    group = _int(rex.args[2], "the group of regexp_extract()") if len(rex.args) > 2 else 1
    text = d.text(rex.args[0])
    return f"if(notnull({text}),nvl(regexp_extract({text},{regex_literal(rex.args[1])},{group}),''),null)"


def _regexp_replace(d: DruidExpressions, rex: Call) -> str:
    replacement = _str(rex.args[2], "the replacement of regexp_replace()")
    if "\\" in replacement or "$" in replacement:
        raise NotExact("group references in a replacement")
    return f"regexp_replace({d.text(rex.args[0])},{regex_literal(rex.args[1])},{string_literal(replacement)})"


def like_pattern(rex: Call) -> tuple[str, str | None]:
    """Pattern and escape of LIKE; Hive's escape is the backslash."""
    pattern = _str(rex.args[1], "the pattern of LIKE")
    escape = _str(rex.args[2], "the escape of LIKE") if len(rex.args) > 2 else "\\"
    if escape and escape not in pattern:
        return pattern, None
    if re.search(re.escape(escape) + r"(?![%_" + re.escape(escape) + "])", pattern.replace(escape * 2, "")):
        raise NotExact("a LIKE pattern that escapes an ordinary character")
    return pattern, escape


def _like(d: DruidExpressions, rex: Call) -> str:
    pattern, escape = like_pattern(rex)
    extra = f",{string_literal(escape)}" if escape else ""
    return f"like({d.text(rex.args[0])},{string_literal(pattern)}{extra})"


def _round(d: DruidExpressions, rex: Call) -> str:
    """HALF_UP as Hive; beyond 2^52 nothing is behind the point, and Druid would answer 0 for NaN."""
    digits = _int(rex.args[1], "the digits of round()") if len(rex.args) > 1 else 0
    value = rex.args[0]
    if digits < 0 or value.type.name in ("decimal", "float"):
        raise NotExact(f"round() of {value.type} to {digits} digits")
    text = d.text(value)
    if value.type.is_integer:
        return text
    return f"if(abs({text}) < 4503599627370496,round({text}{f',{digits}' if digits else ''}),{text})"


def _whole(name: str) -> Callable[[DruidExpressions, Call], str]:
    def translate(d: DruidExpressions, rex: Call) -> str:
        value = rex.args[0]
        if len(rex.args) > 1 or value.type.name == "decimal":
            raise NotExact(f"{rex.op}() of {value.type}")
        return d.text(value) if value.type.is_integer else f"CAST({name}({d.text(value)}),'LONG')"

    return translate


def _case(d: DruidExpressions, rex: Call) -> str:
    return f"case_searched({','.join(d.text(a) for a in rex.args)})"


def _any_null(d: DruidExpressions, rex: Call) -> str:
    """Hive: NULL as soon as one argument is; Druid skips nulls."""
    if rex.type.name in ("decimal", "float", "boolean"):
        raise NotExact(f"{rex.op}() of {rex.type}")
    args = [d.text(a) for a in rex.args]
    return f"if({' && '.join(f'notnull({a})' for a in args)},{rex.op}({','.join(args)}),null)"


def _in(d: DruidExpressions, rex: Call) -> str:
    value, *items = rex.args
    if not all(isinstance(i, Literal) and i.value is not None for i in items):
        raise NotExact("IN with NULL among its values")
    return "(" + " || ".join(d._comparison(Call(rex.type, "=", (value, item))) for item in items) + ")"


def _cast(d: DruidExpressions, rex: Call) -> str:
    value, to = rex.args[0], rex.type
    source = value.type
    if to.is_string:
        return _cast_to_string(d, value, to)
    if to.is_time:
        return _cast_to_time(d, value, to)
    if source.is_integer or source.name == "boolean":
        if to.is_integer:
            return d.fit(to, d.text(value)) if _WIDTH[to.name] < _WIDTH.get(source.name, 0) else d.text(value)
        if to.name == "double":
            return d._double(value)
        if to.name == "boolean":
            return f"({d.text(value)} != 0)"
    if source.is_approximate and to.name == "double":
        return d.text(value)
    if source.is_approximate and to.name == "bigint":
        return f"CAST({d.text(value)},'LONG')"
    raise NotExact(f"CAST of {source} to {to}")


_WIDTH = {"boolean": 0, "tinyint": 1, "smallint": 2, "int": 3, "bigint": 4}


def _cast_to_string(d: DruidExpressions, value: Rex, to: HiveType) -> str:
    source = value.type
    if source.is_string:
        text = d.text(value)
    elif source.is_integer or source.name == "double":
        text = f"CAST({d.text(value)},'STRING')"
    elif source.name == "boolean":
        inner = d.text(value)
        text = f"case_searched({inner} == 1,'TRUE',{inner} == 0,'FALSE')"
    elif source.name == "date":
        text = f"timestamp_format({d.text(value)},'yyyy-MM-dd','UTC')"
    elif source.is_timestamp:
        text = d.timestamp_text(value)
    else:
        raise NotExact(f"CAST of {source} to {to}")
    if to.name == "varchar" and to.params:
        return f"left({text},{to.params[0]})"
    if to.name == "char":
        raise NotExact("CAST to char")
    return text


def _cast_to_time(d: DruidExpressions, value: Rex, to: HiveType) -> str:
    source = value.type
    if not source.is_time:
        raise NotExact(f"CAST of {source} to {to}")
    if to.name == "date":
        return d.day(value)
    if source.name.endswith("zone") == to.name.endswith("zone") or d.is_utc:
        return d.text(value)
    raise NotExact(f"CAST between {source} and {to} in the zone {d.session_zone}")


_SAFE_PATTERN = re.compile(r"(?:yyyy|MM|dd|HH|mm|ss|[-/:. ,_])+")


def _date_format(d: DruidExpressions, rex: Call) -> str:
    value, pattern = rex.args[0], _str(rex.args[1], "the pattern of date_format()")
    if not value.type.is_time or not _SAFE_PATTERN.fullmatch(pattern):
        raise NotExact("date_format() with letters whose meaning differs in Druid")
    return f"timestamp_format({d.text(value)},{string_literal(pattern)},'{d.zone(value)}')"


def _from_unixtime(d: DruidExpressions, rex: Call) -> str:
    pattern = _str(rex.args[1], "the pattern of from_unixtime()") if len(rex.args) > 1 else "yyyy-MM-dd HH:mm:ss"
    if not rex.args[0].type.is_integer or not _SAFE_PATTERN.fullmatch(pattern):
        raise NotExact("from_unixtime() with letters whose meaning differs in Druid")
    return f"timestamp_format({d.text(rex.args[0])} * 1000,{string_literal(pattern)},'{d.session_zone}')"


def _unix_timestamp(d: DruidExpressions, rex: Call) -> str:
    value = rex.args[0]
    if not value.type.name.endswith("zone") and not (value.type.is_time and d.is_utc):
        raise NotExact(f"unix_timestamp() of {value.type}")
    return f"CAST(floor({d.text(value)} / 1000.0),'LONG')"


def _date_add(d: DruidExpressions, rex: Call) -> str:
    day, days = rex.args
    if day.type.name != "date" or not days.type.is_integer:
        raise NotExact(f"{rex.op}() of {day.type}")
    return f"({d.text(day)} {'+' if rex.op == 'date_add' else '-'} {d.text(days)} * {DAY_MILLIS})"


def _datediff(d: DruidExpressions, rex: Call) -> str:
    if not all(a.type.name == "date" for a in rex.args):
        raise NotExact("datediff() of other than dates")
    return f"div({d.text(rex.args[0])} - {d.text(rex.args[1])},{DAY_MILLIS})"


def _log(d: DruidExpressions, rex: Call) -> str:
    if len(rex.args) == 1:
        return _math("log", "> 0")(d, rex)
    base = rex.args[0]
    if not isinstance(base, Literal) or not isinstance(base.value, int | float) or base.value <= 1:
        raise NotExact("log() to a base that is not a constant above 1")
    value = _math("log", "> 0")(d, Call(rex.type, "ln", (rex.args[1],)))
    return f"({value} / log({float(base.value)!r}))"


def _coalesce(d: DruidExpressions, rex: Call) -> str:
    if rex.type.name in ("decimal", "float"):
        raise NotExact(f"coalesce() of {rex.type}")
    return f"coalesce({','.join(d.text(a) for a in rex.args)})"


DRUID: dict[str, Callable[[DruidExpressions, Call], str]] = {
    "not": lambda d, rex: f"!({d.text(rex.args[0])})",
    "is_null": _function("isnull"),
    "is_not_null": _function("notnull"),
    "is_true": _function("istrue"),
    "is_false": _function("isfalse"),
    "is_not_true": _function("nottrue"),
    "is_not_false": _function("notfalse"),
    "negative": lambda d, rex: d.fit(
        rex.type, f"(0 - {d.text(rex.args[0])})" if rex.type.is_integer else f"(-({d.text(rex.args[0])}))"
    ),
    "in": _in,
    "case": _case,
    "coalesce": _coalesce,
    "cast": _cast,
    "like": _like,
    "rlike": _rlike,
    "greatest": _any_null,
    "least": _any_null,
    "concat": _function("concat"),
    "upper": _strings("upper", 1),
    "lower": _strings("lower", 1),
    "trim": _strings("trim", 1),
    "ltrim": _strings("ltrim", 1),
    "rtrim": _strings("rtrim", 1),
    "reverse": _strings("reverse", 1),
    "length": _length,
    "substring": _substring,
    "lpad": _pad,
    "rpad": _pad,
    "repeat": _repeat,
    "replace": _replace,
    "instr": lambda d, rex: f"(strpos({d.text(rex.args[0])},{d.text(rex.args[1])}) + 1)",
    "regexp_extract": _regexp_extract,
    "regexp_replace": _regexp_replace,
    "abs": lambda d, rex: d.fit(rex.type, f"abs({d.text(rex.args[0])})"),
    "sqrt": _math("sqrt", ">= -0.0"),
    "exp": _math("exp"),
    "ln": _math("log", "> 0"),
    "log": _log,
    "log2": lambda d, rex: _log(d, Call(rex.type, "log", (Literal(_DOUBLE, 2.0), *rex.args))),
    "log10": _math("log10", "> 0"),
    "power": _math("pow"),
    "sin": _math("sin"),
    "cos": _math("cos"),
    "tan": _math("tan"),
    "asin": _math("asin"),
    "acos": _math("acos"),
    "atan": _math("atan"),
    "cbrt": _math("cbrt"),
    "degrees": _math("todegrees"),
    "radians": _math("toradians"),
    "pi": lambda _d, _rex: "pi()",
    "sign": _math("signum"),
    "floor": _whole("floor"),
    "ceil": _whole("ceil"),
    "round": _round,
    "date_format": _date_format,
    "from_unixtime": _from_unixtime,
    "unix_timestamp": _unix_timestamp,
    "date_add": _date_add,
    "date_sub": _date_add,
    "datediff": _datediff,
}
"""Hive operators and functions that Druid computes exactly; one that is missing stays on Spark."""
