"""The table of Hive's functions with their signatures and result types. Other names are rejected
(`plan.refused_functions` has the reasons), so every function that runs has Hive's semantics.
"""

from __future__ import annotations

from itertools import chain

from hivedruid.catalog.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    VOID,
    HiveType,
    array_of,
    decimal,
)
from hivedruid.plan.common_types import (
    arithmetic_type,
    common_type,
    precision_scale,
    widen,
)
from hivedruid.plan.rex import Literal, Rex
from hivedruid.plan.signatures import Function, Returns, functions


def _same(args: tuple[Rex, ...]) -> HiveType:
    return args[0].type if args else UNKNOWN


def _common_of(args: tuple[Rex, ...]) -> HiveType:
    return common_type([a.type for a in args])


def _if(args: tuple[Rex, ...]) -> HiveType:
    return common_type([a.type for a in args[1:]])


def _abs(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    if t.name in ("tinyint", "smallint", "float"):
        return DOUBLE if t.name == "float" else INT
    return t if t.is_numeric else DOUBLE if t.is_string or t is VOID else UNKNOWN


def _floor(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    if t.name == "decimal":
        precision, scale = precision_scale(t)
        return decimal(precision - scale + (1 if scale else 0), 0)
    return BIGINT if t.is_numeric or t.is_string or t is VOID else UNKNOWN


def _round(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    if t.is_string:
        return DOUBLE
    return _rounded(t, args[1:]) if t.name == "decimal" else t


def _rounded(t: HiveType, digits: tuple[Rex, ...]) -> HiveType:
    """A decimal rounded to a constant number of digits may have one more before the point (GenericUDFRound)."""
    value = digits[0].value if digits and isinstance(digits[0], Literal) else 0 if not digits else None
    if not isinstance(value, int):
        return UNKNOWN
    precision, scale = precision_scale(t)
    kept = min(max(value, 0), 38)
    if kept >= scale:
        return decimal(min(38, precision - scale + kept), kept)
    return decimal(min(38, precision - scale + 1 + kept), kept)


def _sign(args: tuple[Rex, ...]) -> HiveType:
    return INT if _same(args).name == "decimal" else DOUBLE


def _cased(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    return t if t.name in ("char", "varchar") else STRING


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
    """Strings, if no argument determines the type."""
    element = _common_of(args)
    return UNKNOWN if element is UNKNOWN else array_of(STRING if element is VOID else element)


def _map(args: tuple[Rex, ...]) -> HiveType:
    """Strings, if no argument determines the type."""
    key, value = (common_type([a.type for a in args[start::2]]) for start in (0, 1))
    children = tuple(STRING if t is VOID else t for t in (key, value))
    return UNKNOWN if UNKNOWN in children else HiveType("map", children=children)


def _named_struct(args: tuple[Rex, ...]) -> HiveType:
    names = tuple(str(a.value).lower() for a in args[::2] if isinstance(a, Literal) and isinstance(a.value, str))
    types = tuple(a.type for a in args[1::2])
    return _struct_of(names, types) if len(names) == len(types) else UNKNOWN


def _struct_of(names: tuple[str, ...], types: tuple[HiveType, ...]) -> HiveType:
    if UNKNOWN in types or VOID in types or len(set(names)) < len(names):
        return UNKNOWN
    return HiveType("struct", children=types, fields=names)


def _collect(args: tuple[Rex, ...]) -> HiveType:
    return array_of(args[0].type) if args and args[0].type is not UNKNOWN else UNKNOWN


def _nullif(args: tuple[Rex, ...]) -> HiveType:
    return _same(args)


_LONGEST = {"char": 255, "varchar": 65535}


def _concat(args: tuple[Rex, ...]) -> HiveType:
    """A varchar with the sum of the lengths if that is valid, otherwise a string (GenericUDFConcat)."""
    names = {"string" if isinstance(a, Literal) or not a.type.params else a.type.name for a in args}
    if not names <= set(_LONGEST):
        return STRING
    name = "char" if names == {"char"} else "varchar"
    length = sum(a.type.params[0] for a in args)
    return HiveType(name, (length,)) if length <= _LONGEST[name] else STRING


def _first_bytes(args: tuple[Rex, ...]) -> HiveType:
    return BINARY if args and args[0].type == BINARY else STRING


def _shift(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    return t if t is UNKNOWN or t == BIGINT else INT


def _pmod(args: tuple[Rex, ...]) -> HiveType:
    """For decimals a type that contains both; for other numbers the type of the remainder."""
    a, b = args[0].type, args[1].type
    decimals = "decimal" in (a.name, b.name) and a.is_numeric and b.is_numeric
    return widen(a, b) if decimals else arithmetic_type("%", a, b)


def _trunc(args: tuple[Rex, ...]) -> HiveType:
    """A date as a string, or the truncated number."""
    t = _same(args)
    if len(args) > 1 and not args[1].type.is_numeric:
        return STRING
    if t.name != "decimal":
        return t if t.is_numeric else DOUBLE
    digits = args[1].value if len(args) > 1 and isinstance(args[1], Literal) else 0
    precision, scale = precision_scale(t)
    kept = min(max(digits, 0), 38) if isinstance(digits, int) else 0
    return decimal(min(38, max(1, precision - scale + kept)), kept)


def _element(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    return t.children[-1] if t.name in ("array", "map") else UNKNOWN


def _keys(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    return array_of(t.children[0]) if t.name == "map" else UNKNOWN


def _values(args: tuple[Rex, ...]) -> HiveType:
    t = _same(args)
    return array_of(t.children[1]) if t.name == "map" else UNKNOWN


def mask_type(args: tuple[Rex, ...]) -> HiveType:
    """The type of the value, with its maximum length (BaseMaskUDF drops lengths)."""
    longest = {"char": HiveType("char", (255,)), "varchar": HiveType("varchar", (65535,)), "decimal": decimal(38, 18)}
    return longest.get(args[0].type.name, args[0].type)


def _percentile(args: tuple[Rex, ...]) -> HiveType:
    return array_of(DOUBLE) if len(args) > 1 and args[1].type.name == "array" else DOUBLE


TIME_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
"""Units of floor_<unit>, as Hive names them."""

EXTRACT_UNITS = (*TIME_UNITS, "dayofweek", "dayofyear")

_SCALARS: tuple[tuple[Returns, str], ...] = (
    (_cased, "upper(text) lower(text)"),
    (
        STRING,
        "trim(text,text?) ltrim(text,text?) rtrim(text,text?) reverse(text) repeat(text,int)",
    ),
    (STRING, "lpad(text,int,text) rpad(text,int,text) replace(text,text,text) translate(text,text,text) initcap(text)"),
    (STRING, "concat_ws(string,list*) regexp_extract(text,text,int?) regexp_replace(text,text,text) space(int)"),
    (STRING, "substring_index(text,text,int) soundex(text) quote(text) elt(number,text,text*) chr(number) hex(any)"),
    (STRING, "base64(binary) md5(bytes) sha1(bytes) sha2(bytes,int) bin(int) conv(text,int,int) printf(string,any*)"),
    (STRING, "get_json_object(text,text) parse_url(text,text,text?) format_number(number,any) decode(binary,text)"),
    (STRING, "date_format(time,text) from_unixtime(int,text?) current_user() current_database() typeof(any) uuid()"),
    (mask_type, "mask(primitive,any*) mask_first_n(primitive,any*) mask_last_n(primitive,any*)"),
    (mask_type, "mask_show_first_n(primitive,any*) mask_show_last_n(primitive,any*) mask_hash(primitive)"),
    (STRING, "version() dayname(time) monthname(time)"),
    (STRING, "add_months(time,int,text?) last_day(time) next_day(time,text) array_join(array,text,text?)"),
    (STRING, "xpath_string(text,text)"),
    (BINARY, "unhex(text) unbase64(text) encode(text,text) aes_encrypt(bytes,bytes) aes_decrypt(binary,bytes)"),
    (_concat, "concat(primitive,primitive*)"),
    (_first_bytes, "substring(bytes,int,int?)"),
    (INT, "length(bytes) octet_length(bytes) instr(text,text,int?,int?) locate(text,text,int?) ascii(text)"),
    (
        INT,
        (
            "levenshtein(text,text) find_in_set(text,text) field(primitive,primitive,primitive*) size(nested)"
            " hash(any*) murmur_hash(any*)"
        ),
    ),
    (INT, "width_bucket(number,number,number,int) datediff(time,time) xpath_int(text,text)"),
    (
        BIGINT,
        "crc32(bytes) unix_timestamp(time?,text?) factorial(int) xpath_long(text,text)",
    ),
    (BIGINT, "to_epoch_milli(time)"),
    (SMALLINT, "xpath_short(text,text)"),
    (FLOAT, "xpath_float(text,text)"),
    (DOUBLE, "sqrt(double) exp(double) ln(double) log(double,double?) log10(double) log2(double) power(double,double)"),
    (DOUBLE, "sin(double) cos(double) tan(double) asin(double) acos(double) atan(double) sinh(double) cosh(double)"),
    (DOUBLE, "tanh(double) cbrt(double) degrees(double) radians(double) e() pi() rand(int?)"),
    (DOUBLE, "months_between(time,time,boolean?) xpath_double(text,text) xpath_number(text,text) cot(double)"),
    (DOUBLE, "atan2(double,double)"),
    (DATE, "to_date(time) date_add(time,int) date_sub(time,int) current_date()"),
    (TIMESTAMP, "to_utc_timestamp(instant,text) from_utc_timestamp(instant,text) current_timestamp(int?)"),
    (BOOLEAN, "array_contains(array,any) xpath_boolean(text,text) rlike(text,text)"),
    (VOID, "assert_true(boolean)"),
    (_abs, "abs(number)"),
    (_floor, "floor(number) ceil(number)"),
    (_round, "round(number,int?) bround(number,int?)"),
    (_shift, "shiftleft(int,int) shiftright(int,int) shiftrightunsigned(int,int)"),
    (_sign, "sign(double)"),
    (_pmod, "pmod(number,number) mod(number,number)"),
    (_trunc, "trunc(instant,any?)"),
    (_same, "negative(number) positive(number) nullif(any,any)"),
    (
        _common_of,
        (
            "coalesce(any,any*) nvl(any,any*) greatest(primitive,primitive,primitive*)"
            " least(primitive,primitive,primitive*)"
        ),
    ),
    (_if, "if(any,any,any?)"),
    (array_of(STRING), "split(text,text) xpath(text,text)"),
    (array_of(array_of(STRING)), "sentences(text,text?,text?)"),
    (HiveType("map", children=(STRING, STRING)), "str_to_map(text,text?,text?)"),
    (_array, "array(any*)"),
    (_same, "sort_array(sortable) array_distinct(array) array_remove(array,any) array_union(array,array)"),
    (
        _same,
        (
            "array_except(array,array) array_intersect(array,array) array_slice(array,int,int)"
            " sort_array_by(array,string,string*)"
        ),
    ),
    (_element, "array_max(array) array_min(array) index(nested,any)"),
    (_map, "map(any*)"),
    (_named_struct, "named_struct(any*) struct(any*)"),
    (_keys, "map_keys(map)"),
    (_values, "map_values(map)"),
    (BIGINT, "grouping(any*)"),
    (DOUBLE, "ds_hll_estimate(sketch) ds_theta_estimate(sketch) ds_quantile_doubles_quantile(sketch,double)"),
    (
        array_of(DOUBLE),
        (
            "ds_hll_estimate_bounds(sketch,int?) ds_quantile_doubles_quantiles(sketch,double*)"
            " ds_quantile_doubles_cdf(sketch,double*) ds_quantile_doubles_pmf(sketch,double*)"
        ),
    ),
    (
        BINARY,
        (
            "ds_hll_union_f(sketch,sketch,int?) ds_theta_union_f(sketch,sketch,int?)"
            " ds_theta_intersect_f(sketch,sketch) ds_theta_exclude(sketch,sketch)"
        ),
    ),
    (BIGINT, "ds_quantile_doubles_n(sketch)"),
    (INT, "ds_quantile_doubles_k(sketch)"),
    (_same, " ".join(f"floor_{unit}(time)" for unit in TIME_UNITS)),
    (INT, " ".join(f"extract_{unit}(moment)" for unit in EXTRACT_UNITS)),
)
_AGGREGATES: tuple[tuple[Returns, str], ...] = (
    (BIGINT, "count(any*) approx_distinct(any) regr_count(double,double)"),
    (_sum, "sum(number)"),
    (_avg, "avg(number)"),
    (_same, "min(ordered) max(ordered) first_value(any,boolean?) last_value(any,boolean?)"),
    (_same, "bit_and(int) bit_or(int) bit_xor(int)"),
    (DOUBLE, "stddev_pop(number) stddev_samp(number) var_pop(number) var_samp(number)"),
    (DOUBLE, "corr(double,double) covar_pop(double,double) covar_samp(double,double)"),
    (DOUBLE, "regr_avgx(double,double) regr_avgy(double,double) regr_intercept(double,double) regr_r2(double,double)"),
    (DOUBLE, "regr_slope(double,double) regr_sxx(double,double) regr_sxy(double,double) regr_syy(double,double)"),
    (_percentile, "percentile(number,any) percentile_approx(number,any,int?)"),
    (DOUBLE, "percentile_cont(number,double) percentile_disc(number,double)"),
    (UNKNOWN, "histogram_numeric(number,int)"),
    (_collect, "collect_set(ordered) collect_list(any)"),
    (BINARY, "ds_hll_sketch(hashed,int?) ds_theta_sketch(hashed,int?) ds_quantile_doubles_sketch(double,int?)"),
    (BINARY, "ds_hll_union(sketch,int?) ds_theta_union(sketch,int?) ds_quantile_doubles_union(sketch,int?)"),
    (BINARY, "ds_theta_intersect(sketch)"),
)
_WINDOW: tuple[tuple[Returns, str], ...] = (
    (INT, "row_number() rank() dense_rank() ntile(int)"),
    (DOUBLE, "percent_rank() cume_dist()"),
    (_same, "lag(any,int?,any?) lead(any,int?,any?)"),
)
_GENERATORS = (
    "explode(nested) posexplode(array) inline(array) stack(int,any,any*) json_tuple(text,text,text*)"
    " parse_url_tuple(text,text,text*) explode_outer(nested) posexplode_outer(nested) inline_outer(array)"
)

FUNCTIONS: dict[str, Function] = dict(
    chain(
        *(functions("scalar", returns, signatures) for returns, signatures in _SCALARS),
        *(functions("aggregate", returns, signatures) for returns, signatures in _AGGREGATES),
        *(functions("window", returns, signatures) for returns, signatures in _WINDOW),
        functions("generator", UNKNOWN, _GENERATORS),
    )
)
"""All functions, by their canonical names."""

_CONDITIONS = """
    is_null is_not_null not and or = <> < <= > >= <=> in like between like_any like_all
    is_true is_false is_not_true is_not_false
"""
TESTS = frozenset({"is_null", "is_not_null", "is_true", "is_false", "is_not_true", "is_not_false"})
"""Operators that may be called as functions of one argument: isnull(x), istrue(x) …"""

OPERATORS: dict[str, Returns] = dict.fromkeys(_CONDITIONS.split(), BOOLEAN)
"""Internal operators that users cannot call, with their types."""

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
    "ifnull": "nvl",
    "signum": "sign",
    "approx_count_distinct": "approx_distinct",
    "position": "locate",
    "to_unix_timestamp": "unix_timestamp",
    "current_schema": "current_database",
    "istrue": "is_true",
    "isfalse": "is_false",
    "isnottrue": "is_not_true",
    "isnotfalse": "is_not_false",
}
"""Aliases of functions and operators, and the function names of time parts."""

EXTENSIONS = frozenset(
    {"approx_count_distinct", "atan2", "bit_and", "bit_or", "bit_xor", "cot", "dayname", "dayofyear", "ifnull"}
    | {"monthname", "signum", "explode_outer", "inline_outer", "posexplode_outer"}
)
"""Functions that hivedruid adds to Hive's."""

AGGREGATES = frozenset(name for name, function in FUNCTIONS.items() if function.kind == "aggregate")
WINDOW_FUNCTIONS = frozenset(name for name, function in FUNCTIONS.items() if function.kind == "window")
GENERATORS = frozenset(name for name, function in FUNCTIONS.items() if function.kind == "generator")

XPATHS = frozenset(name for name in FUNCTIONS if name.startswith("xpath"))


def function_type(name: str, args: tuple[Rex, ...]) -> HiveType:
    """The result type of a function or operator, UNKNOWN if it is not in the tables."""
    function = FUNCTIONS.get(name)
    if function is not None:
        return function.type(args)
    returns = OPERATORS.get(name, UNKNOWN)
    return returns(args) if callable(returns) else returns


def function_names() -> list[str]:
    """The functions as a user writes them, sorted: for SHOW FUNCTIONS and completion."""
    internal = {name for name in FUNCTIONS if name.startswith("extract_")}
    return sorted({*FUNCTIONS, *ALIASES} - internal)
