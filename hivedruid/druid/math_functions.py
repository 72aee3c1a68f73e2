"""Functions of numbers in Druid's expression language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog.types import DOUBLE
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.syntax import as_double, int_constant
from hivedruid.plan.rex import Call, Literal

if TYPE_CHECKING:
    from hivedruid.druid.expressions import DruidExpressions, Translate


def _math(name: str, domain: str = "") -> Translate:
    """A function of doubles; outside its `domain` Hive returns NULL, Java NaN."""

    def translate(d: DruidExpressions, rex: Call) -> str:
        if not all((a.type.is_numeric and a.type.name != "decimal") or isinstance(a, Literal) for a in rex.args):
            raise NotExact(f"{rex.op}() of {rex.args[0].type}")
        args = [d.double(a) if a.type.is_integer else d.text(as_double(a, rex)) for a in rex.args]
        text = f"{name}({','.join(args)})"
        return f"if({args[0]} {domain},{text},null)" if domain else text

    return translate


def _round(d: DruidExpressions, rex: Call) -> str:
    """HALF_UP as in Hive; above 2^52 there is no fraction, and Druid would return 0 for NaN."""
    digits = int_constant(rex.args[1], "the number of digits in round()") if len(rex.args) > 1 else 0
    value = rex.args[0]
    if value.type.name in ("decimal", "float"):
        raise NotExact(f"round() of {value.type} to {digits} digits")
    text = d.text(value)
    if value.type.is_integer:
        return text if digits >= 0 else _round_whole(d, rex, text, -digits)
    return f"if(abs({text}) < 4503599627370496,round({text}{f',{digits}' if digits else ''}),{text})"


def _round_whole(d: DruidExpressions, rex: Call, text: str, zeros: int) -> str:
    """Round an integer to a power of ten, halves away from zero; it wraps around, as in Hive."""
    if zeros > 18:
        raise NotExact(f"round() of {rex.type} to more digits than the type has")
    unit = 10**zeros
    rest = f"({text} % {unit})"
    nearest = f"({text} - {rest} + case_searched({rest} >= {unit // 2},{unit},{rest} <= {-unit // 2},{-unit},0))"
    return d.fit(rex.type, nearest)


def _whole(name: str) -> Translate:
    def translate(d: DruidExpressions, rex: Call) -> str:
        value = rex.args[0]
        if len(rex.args) > 1 or value.type.name == "decimal":
            raise NotExact(f"{rex.op}() of {value.type}")
        return d.text(value) if value.type.is_integer else f"CAST({name}({d.text(value)}),'LONG')"

    return translate


def _log(d: DruidExpressions, rex: Call) -> str:
    if len(rex.args) == 1:
        return _math("log", "> 0")(d, rex)
    base = rex.args[0]
    if not isinstance(base, Literal) or not isinstance(base.value, int | float) or base.value <= 1:
        raise NotExact("log() with a base that is not a constant greater than 1")
    value = _math("log", "> 0")(d, Call(rex.type, "ln", (rex.args[1],)))
    return f"({value} / log({float(base.value)!r}))"


def _arc(d: DruidExpressions, rex: Call) -> str:
    """NULL outside of -1 to 1, where Druid returns NaN."""
    return f"if(abs({d.double(rex.args[0])}) > 1,null,{_math(rex.op)(d, rex)})"


def _bround(d: DruidExpressions, rex: Call) -> str:
    """HALF_EVEN."""
    if len(rex.args) > 1 or rex.args[0].type.name != "double":
        raise NotExact(f"bround() of {rex.args[0].type} to a number of digits")
    return f"rint({d.text(rex.args[0])})"


def _pmod(d: DruidExpressions, rex: Call) -> str:
    """((a % b) + b) % b, including the rounding of the sum for doubles."""
    value, by = rex.args
    if not isinstance(by, Literal) or not isinstance(by.value, int | float) or not 0 < by.value < 1 << 31:
        raise NotExact("pmod() by an expression that is not a positive constant")
    if rex.type.name not in ("tinyint", "smallint", "int", "bigint", "double"):
        raise NotExact(f"pmod() of {rex.type}")
    if rex.type.is_integer:
        a, b = d.text(value), d.text(by)
        return d.fit(rex.type, f"((({a} % {b}) + {b}) % {b})")
    a, b = d.double(value) if value.type.is_integer else d.text(value), repr(float(by.value))
    return f"((({a} % {b}) + {b}) % {b})"


def _bitwise(name: str) -> Translate:
    def translate(d: DruidExpressions, rex: Call) -> str:
        if not all(a.type.is_integer for a in rex.args):
            raise NotExact(f"{rex.op} of non-integers")
        return f"{name}({','.join(d.text(a) for a in rex.args)})"

    return translate


def _negative(d: DruidExpressions, rex: Call) -> str:
    text = d.text(rex.args[0])
    if rex.type.is_integer:
        return d.fit(rex.type, f"(0 - {text})")
    return f"(0.0 - {text})" if rex.type.name == "decimal" else f"(-({text}))"


MATH: dict[str, Translate] = {
    "negative": _negative,
    "abs": lambda d, rex: d.fit(rex.type, f"abs({d.text(rex.args[0])})"),
    "sqrt": _math("sqrt", ">= -0.0"),
    "exp": _math("exp"),
    "ln": _math("log", "> 0"),
    "log": _log,
    "log2": lambda d, rex: _log(d, Call(rex.type, "log", (Literal(DOUBLE, 2.0), *rex.args))),
    "log10": _math("log10", "> 0"),
    "power": _math("pow"),
    "sin": _math("sin"),
    "cos": _math("cos"),
    "tan": _math("tan"),
    "asin": _arc,
    "acos": _arc,
    "atan": _math("atan"),
    "cbrt": _math("cbrt"),
    "degrees": _math("todegrees"),
    "radians": _math("toradians"),
    "pi": lambda _d, _rex: "pi()",
    "sign": _math("signum"),
    "floor": _whole("floor"),
    "ceil": _whole("ceil"),
    "round": _round,
    "bround": _bround,
    "pmod": _pmod,
    "&": _bitwise("bitwiseAnd"),
    "|": _bitwise("bitwiseOr"),
    "^": _bitwise("bitwiseXor"),
    "~": _bitwise("bitwiseComplement"),
}
