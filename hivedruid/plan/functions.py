"""Hive's functions: what each returns. One table; SHOW FUNCTIONS, completion and the reference page read it too.

A function that is not here still runs: it goes to Spark as written, its type unknown until then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hivedruid.catalog.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    VOID,
    HiveType,
    array_of,
    decimal,
)
from hivedruid.plan.rex import Rex

Returns = HiveType | Callable[[tuple[Rex, ...]], HiveType]


class Function(NamedTuple):
    """One function: what it returns, and whether it is scalar, aggregate, window or table-generating."""

    returns: Returns
    kind: str = "scalar"

    def type(self, args: tuple[Rex, ...]) -> HiveType:
        return self.returns(args) if callable(self.returns) else self.returns


_RANK = {"tinyint": 0, "smallint": 1, "int": 2, "bigint": 3, "float": 5, "double": 6}


def common_type(types: list[HiveType]) -> HiveType:
    """The type that values of all these types are brought to (CASE, COALESCE, UNION …), UNKNOWN where Hive has none.

    FunctionRegistry.getCommonClassForUnionAll: numbers widen, a string among numbers makes strings, dates widen to
    timestamps.
    """
    kinds = [t for t in types if t is not VOID]
    if not kinds:
        return VOID
    if UNKNOWN in kinds:
        return UNKNOWN
    result = kinds[0]
    for other in kinds[1:]:
        result = _common(result, other)
    return result


def _common(a: HiveType, b: HiveType) -> HiveType:
    if a == b:
        return a
    if a.is_numeric and b.is_numeric:
        return widen(a, b)
    if a.is_string and b.is_string:
        return STRING
    if a.is_time and b.is_time:
        return next((t for t in (a, b) if t.name.endswith("zone")), TIMESTAMP)
    if a.is_string or b.is_string:
        return STRING
    return UNKNOWN


def widen(a: HiveType, b: HiveType) -> HiveType:
    """The type of two numbers brought together."""
    if a.name == "decimal" or b.name == "decimal":
        if a.is_approximate or b.is_approximate:
            return DOUBLE
        (pa, sa), (pb, sb) = precision_scale(a), precision_scale(b)
        scale = max(sa, sb)
        return decimal(min(38, max(pa - sa, pb - sb) + scale), scale)
    return a if _RANK[a.name] >= _RANK[b.name] else b


def precision_scale(t: HiveType) -> tuple[int, int]:
    """Precision and scale of a number seen as a decimal (HiveDecimalUtils)."""
    if t.name == "decimal":
        return (t.params[0], t.params[1]) if t.params else (10, 0)
    return {"tinyint": (3, 0), "smallint": (5, 0), "int": (10, 0), "bigint": (19, 0)}.get(t.name, (38, 18))


def arithmetic_type(op: str, a: HiveType, b: HiveType) -> HiveType:
    """GenericUDFBaseNumeric: division is double (or decimal), strings count as doubles, DIV is bigint."""
    if UNKNOWN in (a, b):
        return UNKNOWN
    a, b = (DOUBLE if t.is_string else t for t in (a, b))
    if VOID in (a, b):
        a, b = (b if a is VOID else a), (a if b is VOID else b)
        if a is VOID:
            return DOUBLE if op == "/" else VOID
    if not (a.is_numeric and b.is_numeric):
        return UNKNOWN
    if op == "div":
        return BIGINT if a.is_integer and b.is_integer else UNKNOWN
    if "decimal" in (a.name, b.name) and not (a.is_approximate or b.is_approximate):
        return _decimal_result(op, *precision_scale(a), *precision_scale(b))
    if op == "/":
        return DOUBLE
    return widen(a, b)


def _decimal_result(op: str, p1: int, s1: int, p2: int, s2: int) -> HiveType:
    """Precision and scale of decimal arithmetic (GenericUDFOPPlus … Divide; Spark has the same rules)."""
    if op in ("+", "-"):
        scale = max(s1, s2)
        precision = scale + max(p1 - s1, p2 - s2) + 1
    elif op == "*":
        scale, precision = s1 + s2, p1 + p2 + 1
    elif op == "/":
        scale = max(6, s1 + p2 + 1)
        precision = p1 - s1 + s2 + scale
    else:
        scale = max(s1, s2)
        precision = min(p1 - s1, p2 - s2) + scale
    if precision > 38:
        integral = precision - scale
        scale = max(38 - integral, min(scale, 6))
        precision = 38
    return decimal(precision, scale)


def comparison_type(a: HiveType, b: HiveType) -> HiveType:
    """What both sides of a comparison are brought to (FunctionRegistry.getCommonClassForComparison)."""
    if UNKNOWN in (a, b):
        return UNKNOWN
    if a == b:
        return a
    if VOID in (a, b):
        return b if a is VOID else a
    if a.is_string and b.is_string:
        return STRING
    if a.is_numeric and b.is_numeric:
        return widen(a, b)
    for one, other in ((a, b), (b, a)):
        if one.is_time and (other.is_time or other.is_string):
            return _common(a, b) if other.is_time else one
        if one.is_numeric and other.is_string:
            return DOUBLE
    return UNKNOWN


def _same(args: tuple[Rex, ...]) -> HiveType:
    return args[0].type if args else UNKNOWN


def _common_of(args: tuple[Rex, ...]) -> HiveType:
    return common_type([a.type for a in args])


def _if(args: tuple[Rex, ...]) -> HiveType:
    return common_type([a.type for a in args[1:]])


def _abs(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    return INT if t.name in ("tinyint", "smallint") else t if t.is_numeric else DOUBLE if t.is_string else UNKNOWN


def _floor(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    if t.name == "decimal":
        precision, scale = precision_scale(t)
        return decimal(precision - scale + (1 if scale else 0), 0)
    return BIGINT if t.is_numeric or t.is_string else UNKNOWN


def _round(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    if t.is_string:
        return DOUBLE
    return UNKNOWN if t.name == "decimal" else t


def _sum(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    if t.is_integer:
        return BIGINT
    if t.name == "decimal":
        precision, scale = precision_scale(t)
        return decimal(min(38, precision + 10), scale)
    return DOUBLE if t.is_approximate or t.is_string else UNKNOWN


def _avg(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    if t.name == "decimal":
        precision, scale = precision_scale(t)
        return decimal(min(38, precision + 4), min(38, scale + 4))
    return DOUBLE if t.is_numeric or t.is_string else UNKNOWN


def _array(args: tuple[Rex, ...]) -> HiveType:
    return array_of(_common_of(args)) if _common_of(args) is not UNKNOWN else UNKNOWN


def _collect(args: tuple[Rex, ...]) -> HiveType:
    return array_of(args[0].type) if args and args[0].type is not UNKNOWN else UNKNOWN


def _nullif(args: tuple[Rex, ...]) -> HiveType:
    return _same(args)


def _many(names: str, returns: Returns, kind: str = "scalar") -> dict[str, Function]:
    return {name: Function(returns, kind) for name in names.split()}


TIME_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
"""Units of floor_<unit>, as Hive names them."""

EXTRACT_UNITS = (*TIME_UNITS, "dayofweek", "dayofyear")

FUNCTIONS: dict[str, Function] = {
    **_many("concat upper lower trim ltrim rtrim reverse repeat lpad rpad substring replace translate initcap", STRING),
    **_many(
        "concat_ws regexp_extract regexp_replace substring_index space hex base64 md5 sha sha1 sha2 get_json_object",
        STRING,
    ),
    **_many("date_format from_unixtime elt chr soundex bin conv quote format_number parse_url printf", STRING),
    **_many("current_user current_database mask dayname monthname", STRING),
    **_many("unhex unbase64 encode", BINARY),
    **_many(
        "length char_length character_length octet_length instr locate ascii levenshtein find_in_set size crc32 hash",
        INT,
    ),
    **_many(
        "sqrt exp ln log log10 log2 power sin cos tan asin acos atan cbrt degrees radians e pi rand months_between",
        DOUBLE,
    ),
    **_many("unix_timestamp factorial shiftleft murmur_hash", BIGINT),
    **_many("to_date date_add date_sub current_date", DATE),
    **_many("to_utc_timestamp from_utc_timestamp current_timestamp", TIMESTAMP),
    **_many("add_months last_day next_day trunc", STRING),
    **_many("datediff", INT),
    **_many(
        "is_null is_not_null not and or = <> < <= > >= <=> in like rlike between isnull isnotnull array_contains",
        BOOLEAN,
    ),
    **_many("like_any like_all is_true is_false is_not_true is_not_false", BOOLEAN),
    **_many("abs", _abs),
    **_many("floor ceil", _floor),
    **_many("round bround", _round),
    **_many("sign", DOUBLE),
    **_many("pmod", lambda args: arithmetic_type("%", args[0].type, args[1].type) if len(args) == 2 else UNKNOWN),
    **_many("coalesce nvl greatest least", _common_of),
    **_many("if", _if),
    **_many("nullif", _nullif),
    **_many("array", _array),
    **_many("split", array_of(STRING)),
    **_many("map named_struct struct map_keys map_values sort_array", UNKNOWN),
    **{f"floor_{unit}": Function(_same) for unit in TIME_UNITS},
    **{f"extract_{unit}": Function(INT) for unit in EXTRACT_UNITS},
    **_many("count", BIGINT, "aggregate"),
    **_many("sum", _sum, "aggregate"),
    **_many("avg", _avg, "aggregate"),
    **_many("min max first_value last_value", _same, "aggregate"),
    **_many("stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp", DOUBLE, "aggregate"),
    **_many("percentile", DOUBLE, "aggregate"),
    **_many("bit_and bit_or bit_xor", _same, "aggregate"),
    **_many("percentile_approx histogram_numeric regr_slope", UNKNOWN, "aggregate"),
    **_many("approx_distinct", BIGINT, "aggregate"),
    **_many("collect_set collect_list", _collect, "aggregate"),
    **_many("row_number rank dense_rank ntile", INT, "window"),
    **_many("percent_rank cume_dist", DOUBLE, "window"),
    **_many("lag lead", _same, "window"),
    **_many("explode posexplode inline json_tuple stack", UNKNOWN, "generator"),
}

ALIASES: dict[str, str] = {
    "ucase": "upper",
    "lcase": "lower",
    "substr": "substring",
    "mid": "substring",
    "pow": "power",
    "ceiling": "ceil",
    "character_length": "length",
    "char_length": "length",
    "day": "extract_day",
    "dayofmonth": "extract_day",
    "weekofyear": "extract_week",
    "dayofweek": "extract_dayofweek",
    "dayofyear": "extract_dayofyear",
    "year": "extract_year",
    "quarter": "extract_quarter",
    "month": "extract_month",
    "hour": "extract_hour",
    "minute": "extract_minute",
    "second": "extract_second",
    "isnull": "is_null",
    "isnotnull": "is_not_null",
    "std": "stddev_pop",
    "stddev": "stddev_pop",
    "variance": "var_pop",
    "regexp": "rlike",
    "sha": "sha1",
    "signum": "sign",
    "approx_count_distinct": "approx_distinct",
}
"""Other spellings of a function, and the time parts by their function names."""

AGGREGATES = frozenset(name for name, function in FUNCTIONS.items() if function.kind == "aggregate")
WINDOW_FUNCTIONS = frozenset(name for name, function in FUNCTIONS.items() if function.kind == "window")
GENERATORS = frozenset(name for name, function in FUNCTIONS.items() if function.kind == "generator") | {
    "parse_url_tuple",  # Hive's, which Spark has not
    *("explode_outer", "posexplode_outer", "inline_outer"),  # Spark's, which Hive has not
}


def function_type(name: str, args: tuple[Rex, ...]) -> HiveType:
    """The type a function returns, UNKNOWN if it is not in the table."""
    function = FUNCTIONS.get(name)
    return function.type(args) if function else UNKNOWN


def _counts(names: str, least: int, most: int | None = None) -> dict[str, tuple[int, int]]:
    return dict.fromkeys(names.split(), (least, least if most is None else most))


ANY_NUMBER = 1 << 30

ARGUMENTS: dict[str, tuple[int, int]] = {
    **_counts("pi e current_date current_timestamp current_user current_database", 0),
    **_counts("unix_timestamp", 0, 2),
    **_counts(
        "upper lower reverse length initcap ascii space hex md5 sha1 crc32 base64 unbase64 unhex octet_length", 1
    ),
    **_counts(
        "abs sqrt exp ln log10 log2 sin cos tan asin acos atan cbrt degrees radians sign floor ceil factorial", 1
    ),
    **_counts(
        "to_date last_day is_null is_not_null size map_keys map_values sum avg min max collect_set collect_list", 1
    ),
    **_counts("stddev_pop stddev_samp var_pop var_samp explode posexplode", 1),
    **{f"floor_{unit}": (1, 1) for unit in TIME_UNITS},
    **{f"extract_{unit}": (1, 1) for unit in EXTRACT_UNITS},
    **_counts("trim ltrim rtrim log round bround from_unixtime", 1, 2),
    **_counts("repeat instr power date_format date_add date_sub datediff next_day nullif nvl mod pmod trunc", 2),
    **_counts(
        "split to_utc_timestamp from_utc_timestamp array_contains levenshtein find_in_set corr covar_pop covar_samp", 2
    ),
    **_counts("substring lpad rpad locate regexp_extract add_months months_between if", 2, 3),
    **_counts("replace regexp_replace translate substring_index", 3),
    **_counts("coalesce concat concat_ws count", 1, ANY_NUMBER),
    **_counts("greatest least", 2, ANY_NUMBER),
}
"""How many arguments a function takes, least and most; one that is not here is Spark's to check."""


_OPERATORS = frozenset(
    {"is_true", "is_false", "is_not_true", "is_not_false", "like_any", "like_all", "is_null", "is_not_null"}
)


def function_names() -> list[str]:
    """The functions as a user writes them, sorted: for SHOW FUNCTIONS and completion."""
    internal = {name for name in FUNCTIONS if name.startswith("extract_")} | _OPERATORS
    return sorted(({*FUNCTIONS, *ALIASES}) - internal)
