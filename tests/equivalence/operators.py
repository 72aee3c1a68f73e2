"""Every operator and function in generated queries: its text, the kinds of its arguments and of its result.

The sweep applies each template to each column of the right kind; the generator of random queries nests them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

INTEGERS = ("ti", "sm", "i", "l", "big")
COLUMNS_OF = {
    "integer": INTEGERS,
    "small": ("ti", "sm"),
    "number": (*INTEGERS, "d", "f"),
    "summed": ("ti", "sm", "i", "l", "d", "f"),
    "inexact": ("d",),
    "double": ("d",),
    "string": ("s", "w", "n"),
    "boolean": ("b",),
    "time": ("`__time`",),
    "date": ("to_date(`__time`)",),
    "array": ("tags",),
}
"""The columns of each kind; there is no date column.

`summed`: numbers whose sum as a double does not depend on the order of the rows (2^63 - 2^63 + 1 would), used
unchanged. `inexact`: results that may differ in the last digit, which no other operator uses."""

NUMBER_LITERALS = ("0", "1", "-1", "2", "3", "100", "0.5", "2.5", "-0.5", "1e0", "1.5e0", "1e15", "2147483648", "9007199254740993",
                   "9223372036854775807", "9223372036854775808", "-9223372036854775809")  # fmt: skip
STRING_LITERALS = (
    "''",
    "'a'",
    "'A'",
    "'ab'",
    "'x'",
    "' a'",
    "'ä'",
    "'日本語'",
    "'10'",
    "'it\\'s'",
    "'back\\\\\\\\slash'",
    "'a%b'",
    "'😀'",
)
TIME_LITERALS = (
    "'2020-01-01'", "'2020-03-08 02:30:00'", "'2020-11-01 01:30:00'", "'2020-01-01 00:00:00.001'", "'1969-12-31 23:59:59.999'",
    "timestamp '2020-03-08 03:00:00'", "date '2020-11-02'", "'2020-06-15 00:00:00'",
)  # fmt: skip
ZONED_LITERALS = ("'2020-01-01 00:00:00 UTC'", "'2020-03-08 00:00:00 US/Pacific'", "'2020-06-15 00:00:00 Asia/Kolkata'")
DATE_LITERALS = ("'2020-01-01'", "date '2020-03-08'", "date '2020-11-01'", "'1969-12-31'")
PATTERNS = (
    "'a%'",
    "'%b'",
    "'_'",
    "'%'",
    "''",
    "'a_b'",
    "'a\\\\\\\\_b'",
    "'a\\\\\\\\%b'",
    "'%ä%'",
    "'A%'",
    "'a'",
    "'%\\\\\\\\\\\\\\\\%'",
)
REGEXES = (
    "'^a'",
    "'b$'",
    "'[0-9]+'",
    "'^$'",
    "'a.b'",
    "'a\\\\\\\\.b'",
    "'(a|b)+'",
    "'.*'",
    "'\\\\\\\\s'",
    "'ä'",
    "'^[^a]*$'",
)
UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
LITERALS = {
    "integer": ("0", "1", "-1", "2", "3", "100", "2147483648"),
    "small": ("1", "-2"),
    "number": NUMBER_LITERALS,
    "double": ("0.5e0", "1e0", "-2.5e0"),
    "string": STRING_LITERALS,
    "boolean": ("true", "false"),
    "time": ("timestamp '2020-01-01 00:00:00'",),
    "date": ("date '2020-03-08'",),
}


class Template(NamedTuple):
    """`{0}`, `{1}` … in `text` are replaced by values of `kinds`; `result` is the kind of the result."""

    text: str
    kinds: tuple[str, ...]
    result: str


def _templates(result: str, kinds: str, *texts: str) -> list[Template]:
    return [Template(text, tuple(kinds.split()), result) for text in texts]


COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "<=>")


def _compared(kind: str, literals: tuple[str, ...]) -> list[Template]:
    """Comparisons of two values, and of one with each constant, as ranges and in lists."""
    made = [Template(f"{{0}} {op} {{1}}", (kind, kind), "boolean") for op in COMPARISONS]
    made += [  # every operator and every constant, every second combination
        Template(f"{{0}} {op} {literal}", (kind,), "boolean")
        for i, op in enumerate(COMPARISONS)
        for j, literal in enumerate(literals)
        if (i + j) % 2 == 0
    ]
    made += _templates(
        "boolean", kind,
        f"{literals[1]} < {{0}}", f"{{0}} IN ({', '.join(literals[:4])})", f"{{0}} NOT IN ({', '.join(literals[1:3])})",
        f"{{0}} IN ({literals[0]}, NULL)", f"{{0}} NOT IN ({literals[0]}, {literals[1]}, NULL)", f"{{0}} IN ({literals[2]})",
        f"{{0}} BETWEEN {literals[0]} AND {literals[3]}", f"{{0}} NOT BETWEEN {literals[0]} AND {literals[3]}",
        f"{{0}} BETWEEN {literals[3]} AND {literals[0]}", "{0} IS NULL", "{0} IS NOT NULL", "{0} = NULL", "{0} <=> NULL",
    )  # fmt: skip
    return made


CONDITIONS: list[Template] = [
    *_compared("number", NUMBER_LITERALS),
    *_compared("string", STRING_LITERALS),
    *_compared("time", TIME_LITERALS),
    *_compared("date", DATE_LITERALS),
    *_templates("boolean", "time", *(f"{{0}} {op} {literal}" for op in (">=", "<", "=") for literal in ZONED_LITERALS)),
    *_templates("boolean", "boolean", "{0}", "NOT {0}", "{0} = true", "{0} = false", "{0} <> true", "{0} IS NULL", "{0} IS NOT NULL"),
    *_templates("boolean", "boolean", "{0} IS TRUE", "{0} IS FALSE", "{0} IS NOT TRUE", "{0} IS NOT FALSE", "{0} IN (true, false)"),
    *_templates("boolean", "boolean boolean", "{0} AND {1}", "{0} OR {1}", "NOT ({0} AND {1})", "{0} = {1}", "{0} <> {1}", "{0} <=> {1}"),
    *_templates("boolean", "string", *(f"{{0}} {op} {p}" for op in ("LIKE", "NOT LIKE") for p in PATTERNS)),
    *_templates("boolean", "string", *(f"{{0}} {op} {p}" for op in ("RLIKE", "NOT RLIKE") for p in REGEXES)),
    *_templates("boolean", "string number", "{0} = {1}", "{0} < {1}"),
    *_templates("boolean", "number", "{0} = '1'", "{0} > '0.5'", "{0} IN ('1', '2')", "{0} = 'abc'"),
    *_templates("boolean", "string", "{0} = 1", "{0} > 0.5", "{0} <= 10", "{0} <> 5", "{0} IN (5, 12.7)", "{0} BETWEEN 1 AND 10", "{0} >= 0", "{0} + 1 = 6"),
    *_templates("boolean", "string", "cast({0} AS int) = 5", "cast({0} AS int) BETWEEN 1 AND 10", "cast({0} AS bigint) > 5", "cast({0} AS boolean)",
                "cast({0} AS date) >= '2020-01-01'", "cast({0} AS timestamp) >= '2020-01-01 00:00:00'", "cast({0} AS timestamp) < '2020-03-08 10:30:00'"),
    *_templates("boolean", "string", "upper({0}) = 'A'", "upper({0}) IN ('A', 'AB')", "lower({0}) LIKE 'a%'", "trim({0}) RLIKE '^a'", "upper({0}) IS NULL",
                "{0} = 'a' OR {0} = 'b' OR {0} IN ('ab', 'A')", "{0} <> 'a' AND {0} <> 'b'", "{0} <=> ''", "upper({0}) <=> 'A'", "length({0}) IN (1, 2)"),
    *_templates("boolean", "number", "{0} + 1 > 2", "{0} = 1 OR {0} = 2 OR {0} IN (3, 5)", "{0} <> 1 AND {0} <> 2", "abs({0}) = 0", "{0} + 0.5e0 >= 0", "coalesce({0}, 0) = 0"),
    *_templates("boolean", "integer", "{0} * 1.5 > 10", "1.5 * {0} + 2 <= 7.5", "{0} * 2.5 = 5", "{0} - 0.5 <> 1", "-1.5 * {0} < 3", "{0} + 0.5 IN (1.5, 2)", "pmod({0}, 3) = 1"),
    *_templates("boolean", "double", "cast({0} AS decimal(10,2)) = 2.5", "cast({0} AS decimal(10,2)) > 0", "cast({0} AS decimal(5,1)) <= cast({0} AS decimal(10,2))"),
    *_templates("boolean", "boolean", "{0} > false", "{0} <= true", "{0} <=> true", "coalesce({0}, false)", "CASE WHEN {0} THEN true ELSE false END"),
    *_templates("boolean", "time", "year({0}) = 2020 AND month({0}) IN (3, 11)", "year({0}) = 2020 AND month({0}) = 3 AND day({0}) = 8", "year({0}) IN (1969, 2020) AND quarter({0}) = 1",
                "year({0}) BETWEEN 1969 AND 1970 OR month({0}) = 3", "{0} >= '2020-01-01' AND {0} < '2021-01-01' AND dayofweek({0}) = 1", "year({0}) = 2020 AND hour({0}) > 9",
                "NOT (year({0}) = 2020 AND month({0}) = 3)", *(f"ceil({{0}} TO {u}) {op} '2020-03-09'" for u in UNITS for op in ("=", ">=", "<"))),
    *_templates("boolean", "time", "unix_timestamp({0}) > 1583625600", "unix_timestamp({0}) = -1", "cast({0} AS bigint) >= 0", "date_add(to_date({0}), 1) = '2020-03-09'",
                "datediff({0}, '2020-03-08') BETWEEN 0 AND 10", "datediff('2020-03-08', {0}) < 0", "({0} - interval '1' hour) >= '2020-03-08 00:00:00'",
                "cast({0} AS string) < '2020-03-08'", "cast({0} AS string) >= '2020'", "cast({0} AS string) = '2020-03-08 10:00:00'", "cast(to_date({0}) AS string) = '2020-03-08'",
                "date_format({0}, 'yyyy-MM') = '2020-03'", "date_format({0}, 'yyyyMMdd') >= '20200308'", "trunc({0}, 'MM') = '2020-03-01'", "trunc({0}, 'YEAR') >= '2020-01-01'",
                "cast({0} AS timestamp) < '2020-11-01 01:30:00'", "cast({0} AS timestamp) BETWEEN '2020-03-08 02:10:00' AND '2020-11-01 01:10:00'",
                "({0} >= '2020-01-01') IS NOT TRUE", "{0} <=> '2020-01-01'"),
    *_templates("boolean", "time boolean", "year({0}) = 2020 OR {1}", "floor_month({0}) = '2020-03-01' OR NOT {1}"),
    *_templates("boolean", "time", *(f"year({{0}}) {op} 2020" for op in COMPARISONS), "year({0}) IN (1969, 2020)", "year({0}) NOT BETWEEN 1970 AND 2019"),
    *_templates("boolean", "time", "month({0}) = 3", "month({0}) IN (1, 11)", "hour({0}) BETWEEN 1 AND 9", "dayofweek({0}) <> 1", "quarter({0}) = 1"),
    *_templates("boolean", "time", *(f"floor_{u}({{0}}) {op} {lit}" for u in UNITS for op in ("=", "<", "<=", ">", ">=", "<>")
                                     for lit in ("'2020-01-01'", "'2020-03-08 10:00:00'"))),
    *_templates("boolean", "time", "floor_month({0}) BETWEEN '2020-01-01' AND '2020-03-01'", "floor_day({0}) IN ('2020-03-08', '2020-11-01')",
                "floor({0} TO week) = '2019-12-30'", "floor_day({0}) NOT BETWEEN '2020-03-08' AND '2020-11-01'"),
    *_templates("boolean", "time", "cast({0} AS date) = '2020-03-08'", "to_date({0}) IN (date '2020-01-01', date '2020-11-01')",
                "cast({0} AS date) NOT BETWEEN '2020-01-01' AND '2020-11-01'", "cast({0} AS string) >= '2020-03-08'",
                "cast({0} AS timestamp) >= '2020-03-08 02:30:00'", "{0} >= current_date", "{0} < current_timestamp - interval '1' month",
                "{0} >= date_sub(current_date, 2000)", "({0} + interval '1' day) > '2020-03-09'"),
    *_templates("boolean", "array", "array_contains({0}, 'x')", "array_contains({0}, '')", "array_contains({0}, '😀')", "size({0}) > 1", "size({0}) = -1",
                "{0}[0] = 'x'", "{0}[1] <> 'x'", "{0}[0] IS NULL", "{0} IS NULL", "{0} IS NOT NULL", "array_contains({0}, 'x') OR array_contains({0}, 'y')",
                "array_contains({0}, {0}[1])"),
    *_templates("boolean", "array string", "array_contains({0}, {1})", "{0}[0] = {1}"),
    *_templates("boolean", "time boolean", "{0} >= '2020-06-01' OR {1}", "NOT ({0} >= '2020-06-01' AND {1})", "({0} < '2020-01-01') IS NOT TRUE OR {1}"),
]  # fmt: skip


ARITHMETIC: list[Template] = [
    *_templates("number", "number number", "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "{0} % {1}"),
    *_templates("integer", "integer integer", "{0} div {1}"),
    *_templates("number", "number", "- {0}", "abs({0})", "{0} + 1", "{0} * 2", "{0} / 2", "{0} % 3", "{0} - 0.5", "{0} * 1.5e0", "{0} / 0", "{0} % 0"),
    *_templates("number", "number", "round({0})", "round({0}, 1)", "round({0}, 2)", "round({0}, -1)", "round({0}, -2)", "pmod({0}, 3)", "pmod({0}, 7)"),
    *_templates("double", "double", "bround({0})", "pmod({0}, 2.5e0)"),
    *_templates("integer", "integer", "~{0}", "({0} & 3)", "({0} | 5)", "({0} ^ 7)"),
    *_templates("number", "small", "{0} * 1.5", "{0} - 0.25", "1.5 * {0} + 2", "{0} / 1.5", "2.5 / {0}", "{0} / -0.7", "{0} / 0.0", "cast({0} AS decimal(4,1)) % 3"),
    *_templates("number", "small small", "cast({0} AS decimal(5,1)) / cast({1} AS decimal(3,1))"),
    *_templates("number", "double", "cast({0} AS decimal(6,2)) / 3", "cast({0} AS decimal(5,2)) / 0.07"),
    *_templates("integer", "integer", "{0} div 2", "{0} div 0", "- {0}"),
    *_templates("integer", "number", "floor({0})", "ceil({0})"),
    *_templates("double", "number", "sqrt({0})", "sign({0})"),
    *_templates("inexact", "number", "ln({0})", "log2({0})", "log10({0})", "log(2, {0})", "log(10, {0})", "power({0}, 2)"),
    *_templates("inexact", "small", "exp({0})", "power(2, {0})", "sin({0})", "cos({0})", "tan({0})", "asin({0})", "acos({0})", "atan({0})",
                "degrees({0})", "radians({0})", "cbrt({0})"),
    *_templates("integer", "integer integer", "({0} & {1})", "({0} | {1})", "({0} ^ {1})"),
]  # fmt: skip

STRINGS: list[Template] = [
    *_templates("string", "string", "upper({0})", "lower({0})", "ucase({0})", "trim({0})", "ltrim({0})", "rtrim({0})", "reverse({0})",
                "initcap({0})", "substring({0}, 2)", "substr({0}, 1, 2)", "substring({0}, 0)", "substr({0}, -2)", "substring({0}, 2, 100)",
                "substr({0}, 3, 0)", "lpad({0}, 4, '*')", "rpad({0}, 4, 'xy')", "lpad({0}, 1, ' ')", "repeat({0}, 2)", "replace({0}, 'a', 'bb')",
                "replace({0}, 'b', '')", "regexp_replace({0}, '[ab]+', '-')", "regexp_replace({0}, ' ', '')", "regexp_extract({0}, '(a)(b)?', 1)",
                "regexp_extract({0}, '([0-9]+)', 1)", "regexp_extract({0}, 'a(b)', 0)", "{0} || '-'", "concat('<', {0}, '>')", "md5({0})"),
    *_templates("string", "string", "substr({0}, -3, 2)", "substr({0}, 1, 2)", "lpad({0}, 4, '😀')", "rpad({0}, 3, '😀')", "lpad({0}, 0, 'x')", "repeat({0}, 0)", "concat_ws('-', {0}, 'x', {0})", "concat_ws('', {0}, 'x')", "translate({0}, 'ab', 'x')",
                "substring_index({0}, '.', 1)", "substring_index({0}, ' ', -1)", "split({0}, ' ')[0]", "split({0}, '[.]')[1]", "split({0}, '\\\\\\\\+')[1]",
                "regexp_replace({0}, '(a)(b)?', '$2-$1')", "trim(BOTH 'a' FROM {0})", "trim(LEADING ' a' FROM {0})"),
    *_templates("string", "string small", "substring({0}, {1})", "substring({0}, {1}, {1})", "substring({0}, 2, {1})"),
    *_templates("integer", "string", "locate('b', {0}, 2)", "locate('b', {0}, 4)", "locate('😀', {0})", "instr({0}, '😀')", "unix_timestamp({0})", "unix_timestamp({0}, 'yyyy-MM-dd')", "year(cast({0} AS timestamp))"),
    *_templates("integer", "string", "length({0})", "instr({0}, 'b')", "locate('a', {0})", "instr({0}, '')", "ascii({0})"),
    *_templates("string", "string string", "{0} || {1}", "concat({0}, '/', {1})", "concat_ws('-', {0}, {1})"),
    *_templates("string", "string number", "concat({0}, {1})"),
    *_templates("string", "string boolean", "concat({0}, {1})"),
]  # fmt: skip

_ANY = ("integer", "double", "string", "boolean", "time", "date")
CHOICES: list[Template] = [
    *(Template("CASE WHEN {0} THEN {1} ELSE {2} END", ("boolean", kind, kind), kind) for kind in (*_ANY, "number")),
    *(Template("CASE WHEN {0} THEN {1} END", ("boolean", kind), kind) for kind in _ANY),
    *(Template("if({0}, {1}, NULL)", ("boolean", kind), kind) for kind in _ANY),
    *(Template("coalesce({0}, {1})", (kind, kind), kind) for kind in (*_ANY, "number")),
    *(Template("nvl({0}, {1})", (kind, kind), kind) for kind in _ANY),
    *(Template("nullif({0}, {1})", (kind, kind), kind) for kind in _ANY),
    *(Template(f"{name}({{0}}, {{1}})", (kind, kind), kind) for name in ("greatest", "least") for kind in ("integer", "number", "string", "time", "date")),
    *(Template("CASE {0} WHEN {1} THEN 1 ELSE 2 END", (kind, kind), "integer") for kind in ("integer", "string", "boolean")),
    *_templates("integer", "integer", "coalesce({0}, 0)", "nullif({0}, 1)", "if({0} > 1, 1, 0)"),
    *_templates("string", "string", "coalesce({0}, 'none')", "nullif({0}, 'a')", "CASE {0} WHEN 'a' THEN 'one' WHEN 'x' THEN 'two' END"),
    *_templates("number", "number", "coalesce({0}, 0)", "greatest({0}, 0)", "least({0}, 1.5)", "CASE WHEN {0} > 0 THEN 1 ELSE 0.5 END"),
]  # fmt: skip

CASTS: list[Template] = [
    *(Template(f"cast({{0}} AS {to})", ("number",), result) for to, result in (
        ("string", "string"), ("tinyint", "integer"), ("smallint", "integer"), ("int", "integer"), ("bigint", "integer"), ("float", "number"),
        ("double", "double"), ("boolean", "boolean"), ("decimal(10,2)", "number"))),
    *(Template(f"cast({{0}} AS {to})", ("string",), result) for to, result in (
        ("int", "integer"), ("bigint", "integer"), ("double", "double"), ("boolean", "boolean"), ("date", "date"), ("timestamp", "time"),
        ("varchar(2)", "string"), ("char(3)", "string"), ("decimal(10,2)", "number"))),
    *(Template(f"cast({{0}} AS {to})", ("boolean",), result) for to, result in (("string", "string"), ("int", "integer"), ("double", "double"))),
    *(Template(f"cast({{0}} AS {to})", ("time",), result) for to, result in (("string", "string"), ("date", "date"), ("timestamp", "time"))),
    *(Template(f"cast({{0}} AS {to})", ("date",), result) for to, result in (("string", "string"), ("timestamp", "time"))),
]  # fmt: skip

TIMES: list[Template] = [
    *_templates("integer", "time", *(f"{part}({{0}})" for part in ("year", "quarter", "month", "day", "hour", "minute", "second", "weekofyear", "dayofweek"))),
    *_templates("integer", "date", *(f"{part}({{0}})" for part in ("year", "quarter", "month", "day", "weekofyear", "dayofweek"))),
    *_templates("integer", "time", "extract(month FROM {0})", "dayofyear({0})", "unix_timestamp({0})", "datediff({0}, '2020-03-08')", "datediff('2020-11-02', {0})"),
    *_templates("time", "time", *(f"floor_{unit}({{0}})" for unit in UNITS), *(f"floor({{0}} TO {unit})" for unit in UNITS),
                *(f"ceil({{0}} TO {unit})" for unit in UNITS)),
    *_templates("time", "time", *(f"({{0}} {sign} interval '{n}' {unit})" for sign in "+-" for n, unit in ((1, "day"), (25, "hour"), (1, "month"), (2, "year"), (90, "second")))),
    *_templates("date", "time", "to_date({0})", "date_add({0}, 1)", "date_sub({0}, 31)"),
    *_templates("date", "date", "date_add({0}, 1)", "({0} + interval '1' month)"),
    *_templates("string", "time", "date_format({0}, 'yyyy-MM-dd')", "date_format({0}, 'HH:mm')", "last_day({0})", "add_months({0}, 1)", "trunc({0}, 'MM')",
                "add_months({0}, -13)", "trunc({0}, 'Q')", "next_day({0}, 'MO')", "date_format({0}, 'y-M-d H:m:s.S')", "date_format({0}, 'yy/MM/dd hh:mm:ss.SSS D')",
                "date_format({0}, \"yyyy-MM-dd'T'HH:mm:ss\")"),
    *_templates("time", "time", "from_utc_timestamp({0}, 'Asia/Kolkata')", "to_utc_timestamp({0}, 'US/Pacific')", "floor_hour(from_utc_timestamp({0}, 'US/Pacific'))"),
    *_templates("integer", "time", "cast({0} AS bigint)", "unix_timestamp(cast({0} AS timestamp))"),
    *_templates("string", "small", "from_unixtime({0})"),
]  # fmt: skip

ARRAYS: list[Template] = [
    *_templates("integer", "array", "size({0})"),
    *_templates("string", "array", "{0}[0]", "{0}[1]", "{0}[5]", "coalesce({0}[0], {0}[1])"),
]

VALUES = [*ARITHMETIC, *STRINGS, *CHOICES, *CASTS, *TIMES, *ARRAYS]

AGGREGATES: list[Template] = [
    *(Template("count({0})", (kind,), "integer") for kind in _ANY),
    Template("count(*)", (), "integer"),
    *_templates("integer", "integer", "sum({0})", "sum(DISTINCT {0})"),
    *_templates("inexact", "summed", "sum({0})", "avg({0})", "sum(DISTINCT {0})", "avg(DISTINCT {0})"),
    *_templates("number", "number", "min({0})", "max({0})"),
    *(Template("count(DISTINCT {0})", (kind,), "integer") for kind in _ANY),
    *(Template(f"{name}({{0}})", (kind,), kind) for name in ("min", "max") for kind in ("string", "time", "date", "boolean")),
    *(Template(f"{name}({{0}}) FILTER (WHERE {{1}})", ("summed", "boolean"), "inexact") for name in ("sum", "max", "avg")),
    Template("count(*) FILTER (WHERE {0})", ("boolean",), "integer"),
    Template("count({0}) FILTER (WHERE {1})", ("string", "boolean"), "integer"),
    *_templates("number", "number", "max({0} * 2)", "sum(if({0} > 1, 1, 0))"),
    *_templates("integer", "integer", "sum({0} + 1)", "sum(CASE WHEN {0} > 0 THEN {0} END)"),
    *_templates("number", "small", "sum({0} / 1.5)", "sum(if({0} > 0, {0} / 3.0, 0.5))"),
    *_templates("number", "double", "sum(cast({0} AS decimal(10,2)))", "avg(cast({0} AS decimal(8,2)))", "sum(cast({0} AS decimal(6,2)) / 0.7 + 1)"),
    Template("count(DISTINCT {0}, {1})", ("string", "boolean"), "integer"),
]  # fmt: skip


def filled(templates: list[Template]) -> Iterator[str]:
    """Every template with every combination of columns; if there are many, only a few for the second argument."""
    seen = set()
    for template in templates:
        choices = [COLUMNS_OF[kind] for kind in template.kinds]
        for columns in product(*choices):
            text = template.text.format(*columns)
            if text not in seen:
                seen.add(text)
                yield text
