"""The types of expressions over two types: the common type of branches, of arithmetic and of comparisons.

Hive's rules: GenericUDFUtils and FunctionRegistry.getCommonClass, GenericUDFBaseNumeric for the precision of decimals.
"""

from __future__ import annotations

from hivedruid.catalog.types import (
    BIGINT,
    DOUBLE,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    VOID,
    HiveType,
    decimal,
)

_RANK = {"tinyint": 0, "smallint": 1, "int": 2, "bigint": 3, "float": 5, "double": 6}


def common_type(types: list[HiveType]) -> HiveType:
    """The common type of values (CASE, COALESCE, UNION …), UNKNOWN if Hive has none.

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
        return max(a, b, key=lambda text: text.params) if a.name == b.name else STRING  # the longer char or varchar
    if a.is_time and b.is_time:
        return next((t for t in (a, b) if t.name.endswith("zone")), TIMESTAMP)
    if (a.is_string or b.is_string) and not (a.children or b.children):
        return STRING
    return UNKNOWN


def widen(a: HiveType, b: HiveType) -> HiveType:
    """The common type of two numbers."""
    if a.name == "decimal" or b.name == "decimal":
        if a.is_approximate or b.is_approximate:
            return a if a.is_approximate else b
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
    """The comparison type of both sides (FunctionRegistry.getCommonClassForComparison)."""
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
        if (one.is_numeric or one.name == "boolean") and other.is_string:
            return DOUBLE
    return UNKNOWN
