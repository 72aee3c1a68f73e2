"""Comparisons of FLOAT, as Hive makes them: with integers and decimals as FLOAT, with doubles as DOUBLE. Pure.

A FLOAT and the FLOAT nearest to a constant compare as doubles as they do as FLOAT, so the constant becomes that DOUBLE:
`f = 0.1` is `f = 0.10000000149011612D`, which every engine computes.
"""

from __future__ import annotations

import struct
from decimal import Decimal

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.plan import fold
from hivedruid.plan.number_text import parse_decimal, parse_double
from hivedruid.plan.rex import Agg, Literal, Over, Ref, Rex


def as_float(rex: Rex, zone: str) -> Rex:
    """An integer or a decimal that is compared with a FLOAT."""
    if isinstance(rex, Literal):
        return _rounded(rex, rex.value)
    return rex if rex.type in (t.TINYINT, t.SMALLINT, t.VOID) else fold.cast(rex, t.FLOAT, zone)


def beside(rex: Rex, e: exp.Expr, other: Rex) -> Rex:
    """One side of a comparison; a DOUBLE or string that is written beside a FLOAT column is a FLOAT
    (TypeCheckProcFactory), but not a constant expression, such as CAST(0.1 AS DOUBLE)."""
    if other.type != t.FLOAT or not isinstance(other, Ref | Agg | Over) or not isinstance(rex, Literal):
        return rex
    if not _is_written(e):
        return rex
    if rex.type == t.DOUBLE:
        return _rounded(rex, rex.value)
    return _rounded(rex, _parse(rex.value)) if rex.type.is_string else rex


def _parse(text: str) -> float | Decimal | None:
    """The number with all its digits, if a DECIMAL can have them: a DOUBLE may be rounded to another FLOAT."""
    number = parse_decimal(text)
    return parse_double(text) if number is None else number


def _is_written(e: exp.Expr) -> bool:
    """Whether it is a literal; sqlglot makes a cast of `0.1D`."""
    e = e.unnest()
    if isinstance(e, exp.Neg):
        return _is_written(e.this)
    if isinstance(e, exp.Cast) and isinstance(e.this, exp.Literal) and not e.this.is_string and "start" in e.this.meta:
        return bool(e.this.meta["end"] - e.this.meta["start"] >= len(e.this.name))  # the position contains the D
    return isinstance(e, exp.Literal)


def _rounded(rex: Literal, number: float | Decimal | None) -> Literal:
    """The literal as the nearest FLOAT; the literal itself if it is a FLOAT, or if it is out of range."""
    if number is None:
        return rex
    try:
        single = nearest(number)
    except (OverflowError, ValueError):
        return rex
    return rex if rex.type.is_numeric and single == number else Literal(t.DOUBLE, single)


def nearest(number: float | Decimal) -> float:
    """The FLOAT nearest to a number; of two equally near the even one."""
    from fractions import Fraction

    double = float(number)
    (single,) = struct.unpack("f", struct.pack("f", double))
    error = Fraction(number) - Fraction(double)
    if not error or abs(double - single) == 0:
        return float(single)
    (bits,) = struct.unpack("i", struct.pack("f", single))  # the double lies between two FLOATs, perhaps in the middle
    towards = 1 if abs(double) > abs(single) else -1
    (other,) = struct.unpack("f", struct.pack("i", bits + towards))
    is_nearer = abs(Fraction(number) - Fraction(other)) < abs(Fraction(number) - Fraction(single))
    return float(other if is_nearer else single)
