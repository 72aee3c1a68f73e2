"""Hive functions that hivedruid does not support, with reasons; other names are unknown functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from hivedruid.errors import FunctionNotFound, HiveDruidError, Span, UnsupportedError, did_you_mean
from hivedruid.plan.functions import function_names

_JAVA = "Java methods cannot be called"
_INTERNAL = "it is an internal function of Hive"
_TABLE_FUNCTION = "table functions over partitioned rows are not supported"
_GEOMETRY = "geometry functions are not supported"
_SKETCH = "the supported sketches are HLL, theta, and quantiles of doubles"

REFUSED: tuple[tuple[str, str, str], ...] = (
    ("reflect reflect2 java_method", _JAVA,
     "use a built-in function, such as parse_url() or uuid(), or CREATE FUNCTION with a Java or Python function"),
    ("in_file", "it reads a file of the Hive server", "create a table from the file and use IN (SELECT …)"),
    ("likeany likeall", "it is an operator", "use value LIKE ANY (pattern, …)"),
    ("st_*", _GEOMETRY, ""),
    ("ds_hll_stringify ds_quantile_doubles_stringify", "its text depends on the library", ""),
    ("ds_cpc_* ds_tuple_*", _SKETCH, "use ds_hll_sketch() or ds_theta_sketch()"),
    ("ds_kll_*", _SKETCH, "use ds_quantile_doubles_sketch()"),
    ("ds_quantile_strings_*", _SKETCH, "use ds_quantile_doubles_sketch() for numbers"),
    ("ds_freq_*", _SKETCH, "use GROUP BY, count(*), ORDER BY … DESC and LIMIT"),
    ("ngrams context_ngrams", "Hive's frequency estimates cannot be reproduced", "use explode() and count(*)"),
    ("matchpath noop noopstreaming noopwithmap noopwithmapstreaming windowingtablefunction",
     _TABLE_FUNCTION, "use window functions"),
    ("bloom_filter in_bloom_filter compute_bit_vector_* ndv_compute_bit_vector", _INTERNAL, ""),
    ("assert_true_oom bucket_number cardinality_violation cast_format datetime_legacy_hybrid_calendar", _INTERNAL, ""),
    ("deserialize enforce_constraint exception_in_vertex_* internal_interval replicate_rows $sum0", _INTERNAL, ""),
    ("restrict_information_schema split_map_privs sq_count_check validate_acid_sort_order", _INTERNAL, ""),
    ("logged_in_user", "users are not supported", "use current_user()"),
    ("get_llap_splits get_splits get_sql_schema current_authorizer current_groups", _INTERNAL, ""),
    ("toarray tomap tostruct surrogate_key", _INTERNAL, ""),
    ("create_union extract_union", "uniontype is not supported", "use a struct"),
    ("buildversion current_catalog", "it describes a Hive installation", ""),
    ("udftoboolean udftobyte udftodouble udftofloat udftointeger udftolong udftoshort", _INTERNAL, "use CAST"),
    ("json_read", "parsing JSON into nested types is not supported", "use get_json_object or json_tuple"),
    ("tumbling_window", "time windows are not supported", "use floor(time TO unit)"),
)  # fmt: skip
"""Names (`*` matches any suffix), the reason, and the hint."""

_METHODS = {
    "java.lang.Math": {
        "max": "use greatest(a, b)", "min": "use least(a, b)", "random": "use rand()", "log": "use ln(x)",
        **{name: f"use {name}(x)" for name in ("abs", "acos", "asin", "atan", "cbrt", "ceil", "cos", "exp", "floor")},
        **{name: f"use {name}(x)" for name in ("log10", "sin", "sqrt", "tan")},
        "pow": "use pow(x, y)", "round": "use round(x)", "signum": "use sign(x)", "toDegrees": "use degrees(x)",
        "toRadians": "use radians(x)",
    },
    "java.lang.String": {"valueOf": "use CAST(x AS STRING)", "format": "use printf(format, x)"},
    "java.util.UUID": {"randomUUID": "use uuid()"},
    "java.net.URLDecoder": {
        "decode": "use CREATE FUNCTION with a Python function that calls urllib.parse.unquote_plus()",
    },
    "java.net.URLEncoder": {
        "encode": "use CREATE FUNCTION with a Python function that calls urllib.parse.quote_plus()",
    },
}  # fmt: skip
"""What to use instead of methods that scripts call by reflect()."""


def no_such_function(
    name: str, span: Span | None, own: Iterable[str] = (), texts: Sequence[str] = ()
) -> HiveDruidError:
    """The error for a function name that is not in the table, nor among those that users created (`own`). The first
    arguments, if they are strings, may name a method of Java.
    """
    for names, reason, hint in REFUSED:
        if any(fnmatchcase(name, pattern) for pattern in names.split()):
            instead = _METHODS.get(texts[0], {}).get(texts[1]) if reason is _JAVA and len(texts) > 1 else None
            return UnsupportedError(f"{name}() is not supported: {reason}", span=span, hint=instead or hint or None)
    hint = did_you_mean(name, [*function_names(), *own]) or "run SHOW FUNCTIONS to list the functions"
    return FunctionNotFound(f"unknown function '{name}'", span=span, hint=hint)
