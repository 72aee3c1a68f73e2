"""Hive's numeric functions in Spark SQL, where Spark's function of the same name differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog.types import spark_type
from hivedruid.plan.rex import Call
from hivedruid.plan.spark_strings import Lower, constant

if TYPE_CHECKING:
    from hivedruid.plan.spark_rex import SparkRex


def _abs(s: SparkRex, rex: Call) -> str:
    """An int also for the narrower integers: abs(-128) is 128 (GenericUDFAbs); Spark's result stays a tinyint and
    wraps.
    """
    value = s.render(rex.args[0])
    return f"abs({value if rex.type == rex.args[0].type else f'CAST({value} AS {spark_type(rex.type)})'})"


def _sqrt(s: SparkRex, rex: Call) -> str:
    value = s.render(rex.args[0])
    return f"(CASE WHEN {value} >= 0 THEN sqrt({value}) END)"


def _arc(s: SparkRex, rex: Call) -> str:
    """NULL outside of -1 to 1, where Spark returns NaN."""
    value = s.render(rex.args[0])
    return f"(CASE WHEN {value} BETWEEN -1 AND 1 OR isnan({value}) THEN {rex.op}({value}) END)"


def _log(s: SparkRex, rex: Call) -> str:
    """NULL for a base of at most 1 (UDFLog)."""
    args = [s.render(a) for a in rex.args]
    text = f"{rex.op}({', '.join(args)})"
    base = constant(rex.args[0])
    plain = len(args) == 1 or (isinstance(base, int | float) and base > 1)
    return text if plain else f"(CASE WHEN {args[0]} > 1 THEN {text} END)"


def _pmod(s: SparkRex, rex: Call) -> str:
    """((a % b) + b) % b, which is negative if b is, and rounds the sum; Spark's function does neither."""
    by = constant(rex.args[1])
    a, b = (s.render(x) for x in rex.args)
    if isinstance(by, int) and by > 0 and rex.type.is_integer:
        return f"pmod({a}, {b})"
    a, b = (f"CAST({x} AS {spark_type(rex.type)})" for x in (a, b))
    return f"CAST(((({a} % {b}) + {b}) % {b}) AS {spark_type(rex.type)})"


def typed(s: SparkRex, rex: Call) -> str:
    """Spark's function of the same name, cast to the result type in Hive."""
    text = f"{rex.op}({', '.join(s.render(a) for a in rex.args)})"
    return text if rex.type.name in ("unknown", "double", "void") else f"CAST({text} AS {spark_type(rex.type)})"


def _round(s: SparkRex, rex: Call) -> str:
    return typed(s, rex) if rex.type.name == "decimal" else f"{rex.op}({', '.join(s.render(a) for a in rex.args)})"


def cut(s: SparkRex, rex: Call) -> str:
    """trunc(number, digits): truncates toward zero after a number of digits."""
    number = s.render(rex.args[0])
    digits = s.render(rex.args[1]) if len(rex.args) > 1 else "0"
    known = constant(rex.args[1]) if len(rex.args) > 1 else 0
    if not isinstance(known, int):
        digits = f"coalesce({digits}, 0)"
    if rex.type.name == "decimal":
        whole = f"CASE WHEN {number} < 0 THEN ceil({number}, {digits}) ELSE floor({number}, {digits}) END"
        return f"CAST({whole} AS {spark_type(rex.type)})"
    if rex.type.is_integer:
        return f"CAST({_rounded_down(number, digits)} AS {spark_type(rex.type)})"
    size = f"CAST(abs({number}) AS DOUBLE)"
    whole = f"CAST({_rounded_down(f'CAST({size} AS BIGINT)', digits)} AS DOUBLE)"
    fraction = _with_fraction(size, digits)
    if isinstance(known, int):
        size_cut = fraction if known > 0 else whole
    else:
        size_cut = f"IF({digits} > 0, {fraction}, {whole})"
    # numbers beyond 2^63 have no digits to drop
    kept = f"IF({size} < 9.2E18D, {size_cut}, {size}) * IF({number} < 0, -1D, 1D) + 0D"
    return f"CAST({kept} AS {spark_type(rex.type)})"


def _rounded_down(number: str, digits: str) -> str:
    return f"({number} - {number} % CAST(pow(10, greatest(-({digits}), 0)) AS BIGINT))"


_FRACTION_BITS = (61, 70, 80)
"""The shift in bits that makes a fraction an integer below 2^61: the first for fractions above 2^-9, and so on."""


def _with_fraction(size: str, digits: str) -> str:
    """A positive double truncated after `digits` digits. A double is a fraction of a power of two, and its digits are
    those of this fraction: 0.29 is slightly less than 29 hundredths.
    """
    fraction = f"({size} % 1D)"
    steps = [f"CAST(CAST({fraction} * pow(2D, {bits}) AS BIGINT) AS DECIMAL(19, 0))" for bits in _FRACTION_BITS]
    ten = f"CAST(pow(10, least({digits}, 18)) AS DECIMAL(19, 0))"
    shares = [
        f"({step} * {ten}) DIV CAST('{1 << bits}' AS DECIMAL(38, 0))"
        for step, bits in zip(steps, _FRACTION_BITS, strict=True)
    ]
    share = (
        f"CASE WHEN {fraction} >= pow(2D, -9) THEN {shares[0]} WHEN {fraction} >= pow(2D, -18) THEN {shares[1]} ELSE"
        f" {shares[2]} END"
    )
    text = (
        f"concat(CAST(CAST({size} AS BIGINT) AS STRING), '.', lpad(CAST({share} AS STRING), least({digits}, 18), '0'))"
    )
    return f"IF({size} < 9007199254740992D AND {digits} < 19, CAST({text} AS DOUBLE), {size})"


NUMBERS: dict[str, Lower] = {
    "abs": _abs,
    "sqrt": _sqrt,
    "acos": _arc,
    "asin": _arc,
    "log": _log,
    "pmod": _pmod,
    "sign": typed,
    "round": _round,
    "bround": _round,
}
