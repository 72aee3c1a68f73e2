"""Aggregates without a Druid aggregator, as folds in its expression language (`expression` aggregators). Each has a
`combine`, since segments are folded separately. A fold with a numeric start value keeps it if a segment has no rows;
so these also count rows, from which the post-aggregation derives NULL.
"""

from __future__ import annotations

from typing import Any

from hivedruid.druid.expressions import quote
from hivedruid.druid.syntax import NO_STRING

Json = dict[str, Any]

_SUPPLEMENTARY = "regexp_replace({text},'([\\\\x{{10000}}-\\\\x{{10FFFF}}])','\\uFFFF$1')"


def utf8_ordered(text: str) -> str:
    """A string that sorts by code points although Druid compares UTF-16 code units: characters above U+FFFF are
    prefixed by it."""
    return _SUPPLEMENTARY.format(text=text)


def utf8_restored(text: str) -> str:
    """The inverse of `utf8_ordered`."""
    return f"replace({text},'\\uFFFF','')"


def extreme(name: str, op: str, field: str) -> Json:
    """The minimum or maximum string of a column, null for no rows. Druid rejects more than 1024 bytes
    (ResourceError). The first value has a type: from Druid 37 on, a bare null would make the strings numbers."""
    sign = ">" if op == "max" else "<"

    def better(value: str) -> str:
        return f"case_searched(isnull({value}), __acc, isnull(__acc) || ({value} {sign} __acc), {value}, __acc)"

    native: Json = {"type": "expression", "name": name, "fields": [field], "initialValue": NO_STRING}
    return native | {"fold": better(quote(field)), "combine": better(quote(name))}


_BITS = {"bit_and": ("bitwiseAnd", "-1"), "bit_or": ("bitwiseOr", "0"), "bit_xor": ("bitwiseXor", "0")}


def bits(name: str, op: str, field: str) -> Json:
    """Bitwise aggregates of a LONG column; only for values that are not null."""
    function, neutral = _BITS[op]
    native: Json = {"type": "expression", "name": name, "fields": [field], "initialValue": neutral}
    native |= {"fold": f"{function}(__acc, {quote(field)})", "combine": f"{function}(__acc, {quote(name)})"}
    return native | {"isNullUnlessAggregated": False}


def moments(name: str, field: str) -> Json:
    """Count, mean and sum of squared differences from it, by Welford's method, as in Spark's CentralMomentAgg. Only
    for values that are not null. The plain sum of squares would lose precision for close values.
    """
    x, other = quote(field), quote(name)
    count, mean, squares = (f"array_offset(__acc,{i})" for i in range(3))
    count_b, mean_b, squares_b = (f"array_offset({other},{i})" for i in range(3))
    moved = f"({mean} + ({x} - {mean}) / ({count} + 1.0))"
    share = f"nvl(safe_divide({count_b}, {count} + {count_b}), 0.0)"
    apart = f"({mean_b} - {mean})"
    native: Json = {
        "type": "expression",
        "name": name,
        "fields": [field],
        "initialValue": "ARRAY<DOUBLE>[0.0, 0.0, 0.0]",
    }
    return native | {
        "fold": (
            f"array({count} + 1.0, {mean} + ({x} - {mean}) / ({count} + 1.0), "
            f"{squares} + ({x} - {mean}) * ({x} - {moved}))"
        ),
        "combine": (
            f"array({count} + {count_b}, {mean} + {apart} * {share}, "
            f"{squares} + {squares_b} + {apart} * {apart} * {count} * {share})"
        ),
        "isNullUnlessAggregated": False,
    }


def deviation(op: str, field: str) -> str:
    """A variance or standard deviation from the moments: NULL for no values, and for a sample of one value. NaN if the
    square of the mean overflows, as in Spark.
    """
    count, mean, squares = (f"array_offset({quote(field)},{i})" for i in range(3))
    squares = f"({squares} + {mean} * ({mean} / {count}) * 0.0)"
    taken = 1 if op.endswith("_samp") else 0
    value = f"{squares} / ({count} - {taken}.0)" if taken else f"{squares} / {count}"
    value = f"sqrt({value})" if op.startswith("stddev") else value
    return f"case_searched({count} > {taken},{value})"


DEVIATIONS = frozenset({"var_pop", "var_samp", "stddev_pop", "stddev_samp"})
BITS = frozenset(_BITS)
