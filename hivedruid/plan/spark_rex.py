"""Hive expressions as Spark SQL (session zone UTC, ANSI off).

Where Spark's function of the same name answers otherwise than Hive's, the difference is written out here; each row
of SPARK is one such difference, with Hive's answer pinned by a hand-checked golden in tests/q/hive_spark_differences.q.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from hivedruid.catalog.types import STRING, HiveType, spark_type
from hivedruid.plan import literals
from hivedruid.plan.rex import Agg, Call, Literal, Over, Ref, Rex, SortKey, Subquery

BINARY_OPERATORS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "+", "-", "*", "/", "%", "div", "&", "|", "^"})

HIVE_TIMESTAMP = r"^\s*\d{4}-\d{1,2}-\d{1,2}( \d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,9})?)?)?\s*$"
"""What Hive reads as a timestamp; Spark's cast also takes ISO forms, which are NULL for Hive."""


def quote_identifier(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def quote_string(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def literal_sql(value: Any, type_: HiveType) -> str:
    """A constant as Spark SQL, of exactly its type."""
    if value is None:
        return f"CAST(NULL AS {spark_type(type_)})" if type_.name not in ("void", "unknown") else "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return quote_string(value)
    if isinstance(value, int):
        if type_.name == "int" and value > -(1 << 31):
            return str(value)
        return f"CAST('{value}' AS {spark_type(type_)})"
    if isinstance(value, float):
        return f"CAST('{value!r}' AS DOUBLE)"
    if isinstance(value, Decimal):
        return f"CAST('{value:f}' AS {spark_type(type_)})"
    if isinstance(value, datetime):
        if value.tzinfo:
            return f"TIMESTAMP_LTZ'{literals.timestamp_text(value.astimezone(UTC).replace(tzinfo=None))}'"
        return f"TIMESTAMP_NTZ'{literals.timestamp_text(value)}'"
    if isinstance(value, date):
        return f"DATE'{value.isoformat()}'"
    months, micros = value
    return f"INTERVAL '{months}' MONTH" if months else f"INTERVAL '{micros / 1_000_000:.6f}' SECOND"


class SparkRex:
    """Renders expressions of one query; `names` says what a column id is called where the text will stand."""

    def __init__(self, zone: str, subquery: Callable[[Subquery], str]) -> None:
        self.zone = zone
        self.is_utc = zone.upper() in ("UTC", "Z", "GMT", "ETC/UTC")
        self.subquery = subquery
        self.names: Mapping[str, str] = {}

    def sql(self, rex: Rex, names: Mapping[str, str] | None = None) -> str:
        if names is not None:
            self.names = names
        return self._sql(rex)

    def _sql(self, rex: Rex) -> str:
        if isinstance(rex, Ref):
            return self.names.get(rex.id) or quote_identifier(rex.id)
        if isinstance(rex, Literal):
            return literal_sql(rex.value, rex.type)
        if isinstance(rex, Agg):
            return self._aggregate(rex)
        if isinstance(rex, Over):
            return self._over(rex)
        if isinstance(rex, Subquery):
            return self._subquery(rex)
        assert isinstance(rex, Call)
        return self._call(rex)

    def _subquery(self, rex: Subquery) -> str:
        args = ", ".join(self._sql(a) for a in rex.args)
        saved = self.names
        text = self.subquery(rex)
        self.names = saved
        if rex.kind == "in":
            return f"(({args}) IN ({text}))" if len(rex.args) > 1 else f"({args} IN ({text}))"
        return f"EXISTS ({text})" if rex.kind == "exists" else f"({text})"

    def _aggregate(self, rex: Agg) -> str:
        args = ", ".join(self._sql(a) for a in rex.args) if rex.args else "*"
        filtered = f" FILTER (WHERE {self._sql(rex.condition)})" if rex.condition else ""
        name = "approx_count_distinct" if rex.op == "approx_distinct" else rex.op
        return f"{name}({'DISTINCT ' if rex.distinct else ''}{args}){filtered}"

    def _over(self, rex: Over) -> str:
        nulls, _, frame = rex.frame.partition("|")
        parts = []
        if rex.partition:
            parts.append("PARTITION BY " + ", ".join(self._sql(p) for p in rex.partition))
        if rex.order:
            parts.append("ORDER BY " + ", ".join(self.sort_key(k) for k in rex.order))
        if frame:
            parts.append(frame)
        return f"{self._sql(rex.call)}{nulls} OVER ({' '.join(parts)})"

    def sort_key(self, key: SortKey) -> str:
        nulls = "FIRST" if key.nulls_first else "LAST"
        return f"{self._sql(key.rex)} {'DESC' if key.descending else 'ASC'} NULLS {nulls}"

    def _call(self, rex: Call) -> str:
        op, args = rex.op, rex.args
        if op in ("+", "-") and any(a.type.name.startswith("interval") for a in args):
            return self._interval_arithmetic(rex)
        if op in BINARY_OPERATORS:
            return f"({self._sql(args[0])} {op} {self._sql(args[1])})"
        if op in ("and", "or"):
            return "(" + f" {op.upper()} ".join(self._sql(a) for a in args) + ")"
        if op.startswith("field:"):
            return f"{self._sql(args[0])}.{quote_identifier(op[6:])}"
        if op.startswith(("floor_", "ceil_")) and op.partition("_")[2] in _TRUNC:
            return self._floor_time(op, args[0])
        if op.startswith("extract_"):
            return f"{_EXTRACT.get(op[8:], op[8:])}({self._local(args[0])})"
        special = SPARK.get(op)
        if special is not None:
            return special(self, rex)
        if op in _KEEP_INSTANTS:
            return f"{op}({', '.join(self._sql(a) for a in args)})"
        return f"{op}({', '.join(self._local(a) for a in args)})"  # a function of a time reads the session's calendar

    # --- time --------------------------------------------------------------------------------------------------

    def to_local(self, sql: str) -> str:
        """An instant as the session zone's wall clock, still typed TIMESTAMP (Spark runs in UTC)."""
        return sql if self.is_utc else f"from_utc_timestamp({sql}, {quote_string(self.zone)})"

    def from_local(self, sql: str) -> str:
        return sql if self.is_utc else f"to_utc_timestamp({sql}, {quote_string(self.zone)})"

    def _local(self, rex: Rex) -> str:
        """A time value in its own calendar: zoned timestamps in the session's zone, the others as they are."""
        sql = self._sql(rex)
        return self.to_local(sql) if rex.type.name.endswith("zone") else sql

    def _floor_time(self, op: str, value: Rex) -> str:
        kind, _, unit = op.partition("_")
        zoned = value.type.name.endswith("zone")
        sql = self._sql(value)
        if zoned and unit in ("hour", "minute", "second") and not self.is_utc:
            # the time since the local unit began, taken off the instant: right also in the hour a clock repeats
            local = self.to_local(sql)
            begun = f"({sql} - ({local} - date_trunc('{unit.upper()}', {local})))"
            next_unit = f"CASE WHEN {begun} = {sql} THEN {sql} ELSE {begun} + INTERVAL '1' {unit.upper()} END"
            return begun if kind == "floor" else f"({next_unit})"
        local = self.to_local(sql) if zoned else f"CAST({sql} AS TIMESTAMP)"
        floored = f"date_trunc('{unit.upper()}', {local})"
        if kind == "ceil":
            step = {"week": "INTERVAL '7' DAY", "quarter": "INTERVAL '3' MONTH"}.get(
                unit, f"INTERVAL '1' {unit.upper()}"
            )
            floored = f"CASE WHEN {floored} = {local} THEN {local} ELSE {floored} + {step} END"
        return self.from_local(floored) if zoned else f"CAST({floored} AS TIMESTAMP_NTZ)"

    def _interval_arithmetic(self, rex: Call) -> str:
        a, b = rex.args
        interval, moment = (a, b) if a.type.name.startswith("interval") else (b, a)
        sql = self._sql(moment)
        if rex.type.name == "timestamp" and moment.type.name == "date":
            sql = f"CAST({sql} AS TIMESTAMP_NTZ)"
        sign = "-" if rex.op == "-" else "+"
        if moment.type.name.endswith("zone") and interval.type.name == "interval_year_month":
            return self.from_local(f"({self.to_local(sql)} {sign} {self._sql(interval)})")
        return f"({sql} {sign} {self._sql(interval)})"

    def cast(self, rex: Call) -> str:
        value, to = rex.args[0], rex.type
        sql, source = self._sql(value), value.type
        if to.is_time and source != to:
            return self._cast_time(sql, source, to)
        if to.name == "boolean" and source.is_string:
            return f"(CASE WHEN {sql} IS NULL THEN NULL ELSE lower({sql}) NOT IN ('', 'false', 'no', 'off', '0') END)"
        if to.is_string:
            return self._cast_string(sql, source, to)
        if source.is_timestamp and to.is_numeric:
            seconds = self._cast_time(sql, source, _LTZ) if source.name == "timestamp" else sql
            return f"CAST({seconds} AS {spark_type(to)})"
        return f"CAST({sql} AS {spark_type(to)})"

    def _cast_time(self, sql: str, source: HiveType, to: HiveType) -> str:
        if source.is_string:
            # Hive's texts only; a zoned text may carry its zone behind it
            if to.name.endswith("zone"):
                plain = f"CASE WHEN {sql} RLIKE {quote_string(HIVE_TIMESTAMP)} THEN {self.from_local(f'CAST({sql} AS TIMESTAMP)')}"
                zoned = (
                    r"^\s*\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,9})? ?[A-Za-z+-][A-Za-z_/+0-9:-]*\s*$"
                )
                return f"({plain} WHEN {sql} RLIKE {quote_string(zoned)} THEN CAST({sql} AS TIMESTAMP) END)"
            return f"(CASE WHEN {sql} RLIKE {quote_string(HIVE_TIMESTAMP)} THEN CAST({sql} AS {spark_type(to)}) END)"
        if to.name.endswith("zone"):
            return self.from_local(f"CAST({sql} AS TIMESTAMP)")
        if source.name.endswith("zone"):
            return f"CAST({self.to_local(sql)} AS {spark_type(to)})"
        return f"CAST({sql} AS {spark_type(to)})"

    def _cast_string(self, sql: str, source: HiveType, to: HiveType) -> str:
        if source.name == "boolean":
            text = f"upper(CAST({sql} AS STRING))"
        elif source.name.endswith("zone"):
            text = self._zoned_text(sql)
        else:
            text = f"CAST({sql} AS STRING)"
        if to.params:
            text = f"substring({text}, 1, {to.params[0]})"
            return f"rtrim({text})" if to.name == "char" else text
        return text

    def _zoned_text(self, sql: str) -> str:
        """At least one digit of the fraction, and the zone's name (TimestampTZ.FORMATTER)."""
        local = f"CAST(CAST({self.to_local(sql)} AS TIMESTAMP_NTZ) AS STRING)"
        return f"concat({local}, CASE WHEN {local} LIKE '%.%' THEN '' ELSE '.0' END, {quote_string(' ' + self.zone)})"

    def seconds(self, rex: Rex) -> str:
        """Seconds since the epoch, floored; a plain timestamp is read in the session's zone, as Hive does."""
        sql = self._sql(rex)
        return (
            f"unix_seconds({sql if rex.type.name.endswith('zone') else self.from_local(f'CAST({sql} AS TIMESTAMP)')})"
        )


_LTZ = HiveType("timestamp with local time zone")
_TRUNC = frozenset({"year", "quarter", "month", "week", "day", "hour", "minute", "second"})
_EXTRACT = {"week": "weekofyear", "day": "dayofmonth"}


_KEEP_INSTANTS = frozenset(
    {"coalesce", "array", "map", "struct", "named_struct", "hash", "if", "nullif", "lag", "lead", "sort_array", "stack"}
)
"""Functions that hand their arguments on as they are."""


def _postfix(text: str) -> Callable[[SparkRex, Call], str]:
    return lambda s, rex: f"({s._sql(rex.args[0])} {text})"


def _case(s: SparkRex, rex: Call) -> str:
    args = [s._sql(a) for a in rex.args]
    pairs = "".join(f" WHEN {args[i]} THEN {args[i + 1]}" for i in range(0, len(args) - 1, 2))
    return f"CASE{pairs}{f' ELSE {args[-1]}' if len(args) % 2 else ''} END"


def _in(s: SparkRex, rex: Call) -> str:
    return f"({s._sql(rex.args[0])} IN ({', '.join(s._sql(a) for a in rex.args[1:])}))"


def _like(s: SparkRex, rex: Call) -> str:
    escape = f" ESCAPE {s._sql(rex.args[2])}" if len(rex.args) > 2 else ""
    return f"({s._sql(rex.args[0])} LIKE {s._sql(rex.args[1])}{escape})"


def _null_if_any_null(s: SparkRex, rex: Call) -> str:
    args = [s._sql(a) for a in rex.args]
    return f"(CASE WHEN {' OR '.join(f'{a} IS NULL' for a in args)} THEN NULL ELSE {rex.op}({', '.join(args)}) END)"


def _abs(s: SparkRex, rex: Call) -> str:
    """An int for the narrower integers, too: abs(-128) is 128 (GenericUDFAbs); Spark's stays a tinyint and wraps."""
    value = s._sql(rex.args[0])
    return f"abs({value if rex.type == rex.args[0].type else f'CAST({value} AS {spark_type(rex.type)})'})"


def _sqrt(s: SparkRex, rex: Call) -> str:
    value = s._sql(rex.args[0])
    return f"(CASE WHEN {value} >= 0 THEN sqrt({value}) END)"


def _substring(s: SparkRex, rex: Call) -> str:
    """A start further left than the text is long gives '' (UDFSubstr.makeIndex); Spark starts at the first letter."""
    args = [s._sql(a) for a in rex.args]
    start = rex.args[1]
    text = f"substring({', '.join(args)})"
    if isinstance(start, Literal) and isinstance(start.value, int) and start.value >= 0:
        return text
    return f"(CASE WHEN {args[1]} < -length({args[0]}) THEN '' ELSE {text} END)"


def _trim(side: str) -> Callable[[SparkRex, Call], str]:
    """Characters to trim stand before the text in Spark's two-argument form."""

    def lower(s: SparkRex, rex: Call) -> str:
        args = [s._sql(a) for a in rex.args]
        return f"trim({side} {args[1]} FROM {args[0]})" if len(args) > 1 else f"{rex.op}({args[0]})"

    return lower


def _text_of_date(s: SparkRex, rex: Call) -> str:
    return f"CAST({rex.op}({', '.join(s._local(a) for a in rex.args)}) AS STRING)"


def _trunc(s: SparkRex, rex: Call) -> str:
    """Hive knows Q for a quarter and no weeks (GenericUDFTrunc)."""
    day, unit = s._local(rex.args[0]), s._sql(rex.args[1])
    known = f"CASE WHEN upper({unit}) = 'Q' THEN 'QUARTER' WHEN upper({unit}) <> 'WEEK' THEN {unit} END"
    return f"CAST(trunc({day}, {known}) AS STRING)"


def _add_months(s: SparkRex, rex: Call) -> str:
    """The last day of a month stays a last day (GenericUDFAddMonths)."""
    day, months = s._sql(rex.args[0]), s._sql(rex.args[1])
    moved = f"add_months({day}, {months})"
    moved = f"CASE WHEN {day} = last_day({day}) THEN last_day({moved}) ELSE {moved} END"
    return f"date_format({moved}, {s._sql(rex.args[2])})" if len(rex.args) > 2 else f"CAST({moved} AS STRING)"


def _date_format(s: SparkRex, rex: Call) -> str:
    return f"date_format({s._local(rex.args[0])}, {s._sql(rex.args[1])})"


def _unix_timestamp(s: SparkRex, rex: Call) -> str:
    value = rex.args[0]
    if not value.type.is_string:
        return s.seconds(value)
    text = s._sql(value)
    given = rex.args[1] if len(rex.args) > 1 else Literal(STRING, literals.UNIX_PATTERN)
    parsed = f"to_timestamp({text}, {s._sql(given)})"
    shape = literals.unix_shape(str(given.value)) if isinstance(given, Literal) else None
    if shape is not None:  # Spark takes years of more digits, too
        exactly = quote_string("^" + shape + r"\z")
        parsed = f"CASE WHEN {text} RLIKE {exactly} THEN {parsed} END"
    return f"unix_seconds({s.from_local(parsed)})"


def _from_unixtime(s: SparkRex, rex: Call) -> str:
    pattern = s._sql(rex.args[1]) if len(rex.args) > 1 else "'yyyy-MM-dd HH:mm:ss'"
    return f"date_format({s.to_local(f'timestamp_seconds({s._sql(rex.args[0])})')}, {pattern})"


def _zone_shift(s: SparkRex, rex: Call) -> str:
    value = s._sql(rex.args[0])
    return f"CAST({rex.op}(CAST({value} AS TIMESTAMP), {s._sql(rex.args[1])}) AS TIMESTAMP_NTZ)"


def _element(s: SparkRex, rex: Call) -> str:
    return f"{s._sql(rex.args[0])}[{s._sql(rex.args[1])}]"


def _to_millis(s: SparkRex, rex: Call) -> str:
    """Milliseconds since the epoch, floored: what Druid keeps of a time."""
    value = rex.args[0]
    sql = s._sql(value)
    return f"unix_millis({sql if value.type.name.endswith('zone') else f'CAST({sql} AS TIMESTAMP)'})"


SPARK: dict[str, Callable[[SparkRex, Call], str]] = {
    "not": lambda s, rex: f"(NOT {s._sql(rex.args[0])})",
    "is_null": _postfix("IS NULL"),
    "is_not_null": _postfix("IS NOT NULL"),
    "is_true": _postfix("IS TRUE"),
    "is_false": _postfix("IS FALSE"),
    "is_not_true": _postfix("IS NOT TRUE"),
    "is_not_false": _postfix("IS NOT FALSE"),
    "negative": lambda s, rex: f"(- {s._sql(rex.args[0])})",
    "~": lambda s, rex: f"(~ {s._sql(rex.args[0])})",
    "in": _in,
    "like": _like,
    "rlike": lambda s, rex: f"({s._sql(rex.args[0])} RLIKE {s._sql(rex.args[1])})",
    "case": _case,
    "cast": lambda s, rex: s.cast(rex),
    "greatest": _null_if_any_null,
    "least": _null_if_any_null,
    "abs": _abs,
    "sqrt": _sqrt,
    "substring": _substring,
    "trim": _trim("BOTH"),
    "ltrim": _trim("LEADING"),
    "rtrim": _trim("TRAILING"),
    "add_months": _add_months,
    "last_day": _text_of_date,
    "next_day": _text_of_date,
    "trunc": _trunc,
    "date_format": _date_format,
    "unix_timestamp": _unix_timestamp,
    "from_unixtime": _from_unixtime,
    "to_utc_timestamp": _zone_shift,
    "from_utc_timestamp": _zone_shift,
    "element": _element,
    "to_millis": _to_millis,
    "grouping_bit": lambda s, rex: f"CAST(shiftright({s._sql(rex.args[0])}, {s._sql(rex.args[1])}) & 1 AS INT)",
}
"""How operators and functions look in Spark SQL where it is not `name(arguments)`."""
