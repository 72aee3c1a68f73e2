"""Hive expressions as Spark SQL (session zone UTC, ANSI off).

Where Spark's function of the same name differs from Hive's, the difference is implemented here; each entry of SPARK is
one such difference, with Hive's result pinned by a hand-checked golden in tests/q/hive_spark_differences.q.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from hivedruid.catalog.types import INTERVAL_YEAR_MONTH, STRING, HiveType, spark_type
from hivedruid.plan import literals, sketch_calls
from hivedruid.plan.java_calls import is_java, java_sql, returned
from hivedruid.plan.masks import MASKS
from hivedruid.plan.rex import Agg, Call, Literal, Over, Ref, Rex, SortKey, Subquery, with_lists
from hivedruid.plan.spark_casts import (
    INTERVAL_PLACES,
    decimal_text,
    decimal_to_integer,
    interval_text,
    matched_part,
    number_of_text,
    text_interval,
)
from hivedruid.plan.spark_collections import COLLECTIONS
from hivedruid.plan.spark_formats import FORMATS
from hivedruid.plan.spark_hash import HASHES
from hivedruid.plan.spark_numbers import NUMBERS
from hivedruid.plan.spark_pruning import COMPARISONS, Pruning, render_comparison, whole
from hivedruid.plan.spark_strings import STRINGS
from hivedruid.plan.spark_text import TEXTS, quote_identifier, quote_string
from hivedruid.plan.spark_times import TIMES, interval_part, with_hidden_times
from hivedruid.plan.spark_windows import distinct_over

BINARY_OPERATORS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "+", "-", "*", "/", "%", "div", "&", "|", "^"})


def literal_sql(value: Any, type_: HiveType) -> str:
    """A constant as Spark SQL, with exactly its type."""
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
    if type_ == INTERVAL_YEAR_MONTH:
        return f"make_ym_interval(0, {months})"
    seconds = Decimal(micros).scaleb(-6)
    return f"make_dt_interval(0, 0, 0, CAST('{seconds:.6f}' AS DECIMAL(18, 6)))"


_MOST_COMPARISONS = 100
"""More comparisons in place of IN would be a deep expression."""


class SparkRex:
    """Renders expressions of one query; `names` maps the id of a column to its name where the text is used."""

    def __init__(self, zone: str, subquery: Callable[[Subquery], str], pruning: Pruning = Pruning()) -> None:  # noqa: B008
        self.zone = zone
        self.is_utc = zone.upper() in ("UTC", "Z", "GMT", "ETC/UTC")
        self.subquery = subquery
        self.names: Mapping[str, str] = {}
        self.outer: Mapping[str, str] = {}
        """Names of columns of the statement around the query."""
        self.pruning = pruning
        self.hides_prefixes = False
        """Whether LIKE must not be passed to Iceberg."""

    def sql(self, rex: Rex, names: Mapping[str, str] | None = None) -> str:
        if names is not None:
            self.names = names
        return self._sql(rex)

    def render(self, rex: Rex) -> str:
        """The text of a part, with the names of the whole."""
        return self._sql(rex)

    def _sql(self, rex: Rex) -> str:
        if isinstance(rex, Ref):
            return self.names.get(rex.id) or self.outer.get(rex.id) or quote_identifier(rex.id)
        if isinstance(rex, Literal):
            return literal_sql(rex.value, rex.type)
        if isinstance(rex, Agg):
            return returned(rex, self._aggregate(rex))
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
        if is_java(rex):
            return java_sql(rex, self._sql)
        args = ", ".join(self._sql(a) for a in rex.args) if rex.args else "*"
        filtered = f" FILTER (WHERE {self._sql(rex.condition)})" if rex.condition else ""
        if sketch_calls.is_aggregate(rex.op):
            return sketch_calls.of_list(rex, self._sql, filtered)
        if rex.op in _WITHIN_GROUP:
            return _WITHIN_GROUP[rex.op].format(*(self._sql(a) for a in rex.args), filter=filtered)
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
        window = f"OVER ({' '.join(parts)})"
        if isinstance(rex.call, Agg) and rex.call.distinct:
            return distinct_over(rex.call, window, self._sql)
        if isinstance(rex.call, Agg) and sketch_calls.is_aggregate(rex.call.op):
            return sketch_calls.of_list(rex.call, self._sql, f" {window}")
        call = self._aggregate(rex.call) if isinstance(rex.call, Agg) else self._sql(rex.call)
        return returned(rex, f"{call}{nulls} {window}")

    def sort_key(self, key: SortKey) -> str:
        nulls = "FIRST" if key.nulls_first else "LAST"
        sql = f"map_entries({self._sql(key.rex)})" if key.rex.type.name == "map" else self._sql(key.rex)
        return f"{sql} {'DESC' if key.descending else 'ASC'} NULLS {nulls}"

    def _call(self, rex: Call) -> str:
        op, args = rex.op, rex.args
        if op in COMPARISONS or op == "in":
            return render_comparison(with_hidden_times(rex), self.pruning, self._unchanged)
        if op in ("+", "-") and any(a.type.name.startswith("interval") for a in args):
            return self._interval_arithmetic(rex)
        if op in BINARY_OPERATORS:
            return self._binary(op, args, rex.type)
        if op in ("and", "or"):
            terms = with_lists(args) if op == "or" else args
            return "(" + f" {op.upper()} ".join(self._sql(a) for a in terms) + ")"
        if op.startswith("field:"):
            return f"{self._sql(args[0])}.{quote_identifier(op[6:])}"
        if op.startswith(("floor_", "ceil_")) and op.partition("_")[2] in _TRUNC:
            return self._floor_time(op, args[0])
        if op.startswith("extract_") and args[0].type.name.startswith("interval"):
            return interval_part(self, op[8:], args[0])
        if op.startswith("interval_") and op[9:] in INTERVAL_PLACES:
            function, place = INTERVAL_PLACES[op[9:]]
            return f"{function}({'0, ' * place}{self._sql(args[0])})"
        if op.startswith("extract_"):
            return f"{_EXTRACT.get(op[8:], op[8:])}({self.local(args[0])})"
        special = SPARK.get(op)
        if special is not None:
            sql = special(self, rex)
            return f"CAST({sql} AS INT)" if sql.isdigit() else sql  # ORDER BY 0 would be a position
        if op in _KEEP_INSTANTS:
            return f"{op}({', '.join(self._sql(a) for a in args)})"
        if is_java(rex):
            return returned(rex, java_sql(rex, self._sql))
        return f"{op}({', '.join(self.local(a) for a in args)})"  # functions of a time use the session's calendar

    def _binary(self, op: str, args: tuple[Rex, ...], result: HiveType) -> str:
        left, right = (self._operand(a, result) for a in args)
        return f"({left} {op} {right})"

    def _unchanged(self, rex: Rex) -> str:
        """A comparison without regard to what readers skip."""
        if isinstance(rex, Call) and rex.op in COMPARISONS:
            return self._binary(rex.op, whole(rex.args), rex.type)
        if isinstance(rex, Call) and rex.op == "in":
            is_refused = self.pruning.by_partitions and rex.args[0].type.is_string
            return self._string_in(rex) if is_refused else _in(self, rex)
        return self._sql(rex)

    def _string_in(self, rex: Call) -> str:
        """IN as comparisons, which Iceberg evaluates for null, too; many of them are not passed to Iceberg."""
        value, *items = map(self._sql, rex.args)
        if len(items) > _MOST_COMPARISONS:
            return f"(concat({value}, '') IN ({', '.join(items)}))"
        return f"({' OR '.join(f'{value} = {item}' for item in items)})"

    def _operand(self, rex: Rex, result: HiveType) -> str:
        """A bigint has 19 digits in decimal arithmetic; in Spark it has 20, which results in another type. A decimal
        combined with a float is a float in Hive, and a double in Spark. Spark cannot compare maps, but it can compare
        their entries.
        """
        sql = self._sql(rex)
        if rex.type.name == "map":
            return f"sort_array(map_entries({sql}))"
        if result.name == "float" and rex.type.name == "decimal":
            return f"CAST({sql} AS FLOAT)"
        return f"CAST({sql} AS DECIMAL(19,0))" if result.name == "decimal" and rex.type.name == "bigint" else sql

    # --- time --------------------------------------------------------------------------------------------------

    def to_local(self, sql: str) -> str:
        """An instant as the wall-clock time of the session's zone, still typed TIMESTAMP (Spark runs in UTC)."""
        return sql if self.is_utc else f"from_utc_timestamp({sql}, {quote_string(self.zone)})"

    def from_local(self, sql: str) -> str:
        return sql if self.is_utc else f"to_utc_timestamp({sql}, {quote_string(self.zone)})"

    def local(self, rex: Rex) -> str:
        """A time value in its own calendar: zoned timestamps in the session's zone, others unchanged."""
        sql = self._sql(rex)
        return self.to_local(sql) if rex.type.name.endswith("zone") else sql

    def _floor_time(self, op: str, value: Rex) -> str:
        kind, _, unit = op.partition("_")
        zoned = value.type.name.endswith("zone")
        sql = self._sql(value)
        if zoned and unit in ("hour", "minute", "second") and not self.is_utc:
            # the time since the local unit began, subtracted from the instant: also right in the hour that a clock
            # repeats
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
        if a.type.name.startswith("interval") and b.type.name.startswith("interval"):
            return f"({self._sql(a)} {rex.op} {self._sql(b)})"
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
        if source.is_string and to.is_numeric:
            return number_of_text(sql, to)
        if source.is_string and to in literals.INTERVAL_TEXTS:
            return text_interval(sql, to)
        if source.name == "decimal" and to.is_integer:
            return decimal_to_integer(sql, to)
        if source.is_approximate and to.is_integer:
            return f"CAST(CAST({sql} AS BIGINT) AS {spark_type(to)})"  # reduced to the width of the type, as in Java
        if source.name == "char" and source.params and to.name == "binary":
            return f"CAST(rpad({sql}, {source.params[0]}, ' ') AS BINARY)"
        if source.is_timestamp and to.is_numeric:
            seconds = self._cast_time(sql, source, _LTZ) if source.name == "timestamp" else sql
            return f"CAST({seconds} AS {spark_type(to)})"
        return f"CAST({sql} AS {spark_type(to)})"

    def _cast_time(self, sql: str, source: HiveType, to: HiveType) -> str:
        if source.is_string:
            return self.text_to_time(sql, to)
        if source.name == "boolean":
            return f"CAST(timestamp_millis(CAST({sql} AS BIGINT)) AS {spark_type(to)})"
        if to.name.endswith("zone"):
            return self.from_local(f"CAST({sql} AS TIMESTAMP)")
        if source.name.endswith("zone"):
            return f"CAST({self.to_local(sql)} AS {spark_type(to)})"
        return f"CAST({sql} AS {spark_type(to)})"

    def plain_time(self, sql: str) -> str:
        """The timestamp in a string as unix_timestamp() parses it."""
        return f"CAST(upper({matched_part(sql, literals.PLAIN_TEXT)}) AS TIMESTAMP)"

    def text_to_time(self, sql: str, to: HiveType) -> str:
        """By the patterns of plan.literals, since Spark's cast accepts other strings as times than Hive's."""
        day = f"CAST({matched_part(sql, literals.DATE_TEXT)} AS DATE)"
        if to.name == "date":
            return day
        if to.name == "timestamp":
            moment = f"CAST(upper({matched_part(sql, literals.MOMENT_TEXT)}) AS TIMESTAMP_NTZ)"
            today = f"CAST({self.to_local('current_timestamp()')} AS DATE)"
            clock = f"concat({today}, ' ', regexp_extract({sql}, {quote_string(literals.CLOCK_TEXT)}, 1))"
            is_clock = f"{sql} RLIKE {quote_string(literals.CLOCK_TEXT)}"
            of_today = f"CASE WHEN {is_clock} THEN CAST({clock} AS TIMESTAMP_NTZ) END"
            return f"coalesce({moment}, CAST({day} AS TIMESTAMP_NTZ), {of_today})"
        pattern = quote_string(literals.LTZ_TEXT)
        local, zone = (f"regexp_extract({sql}, {pattern}, {group})" for group in (1, 2))
        midnight = f"concat({local}, CASE WHEN length({local}) = 10 THEN ' 00:00:00' ELSE '' END)"
        plain = self.from_local(f"CAST({midnight} AS TIMESTAMP)")
        return f"(CASE WHEN {zone} = '' THEN {plain} ELSE CAST(concat({midnight}, ' ', {zone}) AS TIMESTAMP) END)"

    def _cast_string(self, sql: str, source: HiveType, to: HiveType) -> str:
        if source.name == "boolean":
            text = f"upper(CAST({sql} AS STRING))"
        elif source.name.endswith("zone"):
            text = self._zoned_text(sql)
        elif source.name.startswith("interval"):
            text = interval_text(sql, source)
        elif source.name == "decimal":
            text = decimal_text(sql, source)
        else:
            text = f"CAST({sql} AS STRING)"
        if to.params:
            text = f"substring({text}, 1, {to.params[0]})"
            return f"rtrim({text})" if to.name == "char" else text
        return text

    def _zoned_text(self, sql: str) -> str:
        """With at least one fractional digit, and the zone's name (TimestampTZ.FORMATTER)."""
        local = f"CAST(CAST({self.to_local(sql)} AS TIMESTAMP_NTZ) AS STRING)"
        return f"concat({local}, CASE WHEN {local} LIKE '%.%' THEN '' ELSE '.0' END, {quote_string(' ' + self.zone)})"

    def seconds(self, rex: Rex) -> str:
        """Seconds since the epoch, floored; a plain timestamp is interpreted in the session's zone, as in Hive."""
        sql = self._sql(rex)
        return (
            f"unix_seconds({sql if rex.type.name.endswith('zone') else self.from_local(f'CAST({sql} AS TIMESTAMP)')})"
        )


def _time_difference(s: SparkRex, rex: Call) -> str:
    a, b = (f"CAST({s.local(arg)} AS TIMESTAMP_NTZ)" for arg in rex.args)
    return f"({a} - {b})"


_LTZ = HiveType("timestamp with local time zone")
_TRUNC = frozenset({"year", "quarter", "month", "week", "day", "hour", "minute", "second"})
_EXTRACT = {"week": "weekofyear", "day": "dayofmonth"}


_AT_FRACTION = (
    "get(sort_array(collect_list({{0}}){{filter}}, {}), int(ceil((count({{0}}){{filter}} - 1) * double({{1}}))))"
)
_WITHIN_GROUP = {
    "percentile_cont": "percentile_cont({1}) WITHIN GROUP (ORDER BY {0} ASC){filter}",
    "percentile_cont_desc": "percentile_cont({1}) WITHIN GROUP (ORDER BY {0} DESC){filter}",
    "percentile_disc": f"double({_AT_FRACTION.format('TRUE')})",
    "percentile_disc_desc": f"double({_AT_FRACTION.format('FALSE')})",
}
"""Ordered-set aggregates of a value and a fraction. Hive's percentile_disc is the value at position (n - 1) * fraction,
rounded up."""


_KEEP_INSTANTS = frozenset(
    {"coalesce", "array", "map", "struct", "named_struct", "hash", "if", "nullif", "lag", "lead", "sort_array", "stack"}
)
"""Functions that return their arguments unchanged."""


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
    pattern = rex.args[1]
    if not escape and isinstance(pattern, Literal) and re.search(r"(?<!\\)(\\\\)*\\$", str(pattern.value)):
        pattern = Literal(pattern.type, f"{pattern.value}\\")  # one backslash at the end is literal; Spark rejects it
    text = s._sql(pattern)
    if not escape and not isinstance(pattern, Literal):
        alone = quote_string(r"(?<!\\)(\\\\)*\\\z")
        text = f"CASE WHEN {text} RLIKE {alone} THEN concat({text}, {quote_string(chr(92))}) ELSE {text} END"
    value = s._sql(rex.args[0])
    if s.hides_prefixes:
        value = f"concat({value}, '')"
    return f"({value} LIKE {text}{escape})"


def _not(s: SparkRex, rex: Call) -> str:
    before, s.hides_prefixes = s.hides_prefixes, s.pruning.by_partitions
    try:
        return f"(NOT {s._sql(rex.args[0])})"
    finally:
        s.hides_prefixes = before


def _null_if_any_null(s: SparkRex, rex: Call) -> str:
    args = [s._sql(a) for a in rex.args]
    return f"(CASE WHEN {' OR '.join(f'{a} IS NULL' for a in args)} THEN NULL ELSE {rex.op}({', '.join(args)}) END)"


def _printf(s: SparkRex, rex: Call) -> str:
    """Times as strings, binaries as pairs of hexadecimal digits; Spark would return its internal representation."""
    args = [s._sql(rex.args[0])]
    for arg in rex.args[1:]:
        text = s._sql(arg)
        if arg.type.is_time or arg.type.name.startswith("interval"):
            text = s._cast_string(text, arg.type, STRING)
        elif arg.type.name == "binary":
            text = f"rtrim(regexp_replace(lower(hex({text})), '(..)', '$1 '))"
        elif arg.type.name == "char" and arg.type.params:
            text = f"rpad({text}, {arg.type.params[0]}, ' ')"
        args.append(text)
    return f"format_string({', '.join(args)})"


def _element(s: SparkRex, rex: Call) -> str:
    return f"{s._sql(rex.args[0])}[{s._sql(rex.args[1])}]"


def _to_millis(s: SparkRex, rex: Call) -> str:
    """Milliseconds since the epoch, floored, as Druid stores a time."""
    value = rex.args[0]
    sql = s._sql(value)
    return f"unix_millis({sql if value.type.name.endswith('zone') else f'CAST({sql} AS TIMESTAMP)'})"


def _text(name: str) -> Callable[[SparkRex, Call], str]:
    """By UTF-16 units, except for binaries and for search and padding strings that may be empty."""
    place = {"lpad": 2, "rpad": 2, "instr": 1, "locate": 0}.get(name)

    def lower(s: SparkRex, rex: Call) -> str:
        plain = rex.args[0].type.name != "binary" and not (name == "instr" and len(rex.args) > 2)
        if plain and place is not None:
            given = rex.args[place]
            plain = isinstance(given, Literal) and bool(given.value)
        return (TEXTS if plain else STRINGS)[name](s, rex)

    return lower


SPARK: dict[str, Callable[[SparkRex, Call], str]] = {
    **STRINGS,
    **MASKS,
    **NUMBERS,
    **COLLECTIONS,
    **HASHES,
    **TIMES,
    **FORMATS,
    "not": _not,
    "is_null": _postfix("IS NULL"),
    "is_not_null": _postfix("IS NOT NULL"),
    "is_true": _postfix("IS TRUE"),
    "is_false": _postfix("IS FALSE"),
    "is_not_true": _postfix("IS NOT TRUE"),
    "is_not_false": _postfix("IS NOT FALSE"),
    "negative": lambda s, rex: f"(- {s._sql(rex.args[0])})",
    "~": lambda s, rex: f"(~ {s._sql(rex.args[0])})",
    "like": _like,
    "case": _case,
    "cast": lambda s, rex: s.cast(rex),
    "greatest": _null_if_any_null,
    "least": _null_if_any_null,
    **{name: _text(name) for name in TEXTS},
    "element": _element,
    "printf": _printf,
    "time_difference": _time_difference,
    "to_millis": _to_millis,
    "grouping_bit": lambda s, rex: f"CAST(shiftright({s._sql(rex.args[0])}, {s._sql(rex.args[1])}) & 1 AS BIGINT)",
}
"""The Spark SQL of operators and functions that are not written as `name(arguments)`."""
