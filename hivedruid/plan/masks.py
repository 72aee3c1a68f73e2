"""mask() and related functions: their constants, and their translation to Spark SQL (GenericUDFMask). Pure.

A string is masked by characters, an integer by digits, a date by its parts; the mask of any other type is NULL. In a
plan each call has all of its constants: the number of characters, except for mask(), then the replacements in the order
of `_DEFAULTS`; NULL means that a part is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.plan.functions import mask_type
from hivedruid.plan.rex import Call, Literal, Rex

if TYPE_CHECKING:
    from hivedruid.plan.spark_rex import SparkRex
    from hivedruid.plan.spark_strings import Lower

_CHARACTERS = ("X", "x", "n", None)
"""The replacements of upper-case letters, lower-case letters, digits and all other characters."""
_NUMBERS = ((1, range(10)), (1, range(1, 32)), (0, range(12)), (0, range(10_000)))
"""The replacements of the digits of a number, of a day, a month (from 0 on) and a year, and their valid ranges."""
_COUNT = 4
_KEEP = -1


def mask(name: str, args: list[Rex]) -> Rex:
    """The call with all of its constants; NULL if the type of the value cannot be masked."""
    value, *given = args
    type_ = mask_type((value,))
    if any(not isinstance(arg, Literal) for arg in given):
        raise UnsupportedError(f"the arguments of {name}() after the value must be constants", hint="use constants")
    constants = [arg.value for arg in given if isinstance(arg, Literal)]
    if name == "mask_hash" and type_.is_string:
        return Call(type_, name, (value,))
    if name == "mask_hash" or not (type_.is_string or type_.is_integer or type_ == t.DATE):
        return Literal(type_, None)
    count = [] if name == "mask" else [Literal(t.INT, max(0, _number(name, constants[:1], _COUNT)))]
    rest = constants[len(count) :]
    characters = [Literal(t.STRING, _character(rest[i : i + 1], default)) for i, default in enumerate(_CHARACTERS)]
    numbers = []
    for i, (default, allowed) in enumerate(_NUMBERS, len(_CHARACTERS)):
        number = _number(name, rest[i : i + 1], default)
        kept = number == _KEEP and i > len(_CHARACTERS)
        numbers.append(Literal(t.INT, None if kept else number if number in allowed else default))
    if type_ == t.DATE and numbers[-1].value == 0:
        return Literal(type_, None)  # the year 0 is not supported
    return Call(type_, name, (value, *count, *characters, *numbers))


def _character(given: list[object], default: str | None) -> str | None:
    """A character, or its code; -1 keeps the original."""
    value = given[0] if given else None
    if isinstance(value, int):
        return None if value == _KEEP else chr(value)
    return str(value)[0] if value not in (None, "") else default


def _number(name: str, given: list[object], default: int) -> int:
    value = given[0] if given else None
    if value in (None, ""):
        return default
    try:
        return int(str(value))
    except ValueError:
        raise SemanticError(f"{name}() takes an integer here, not '{value}'") from None


_PARTS = {
    "mask": ("{t}", None),
    "mask_first_n": ("substring({t}, 1, {n})", "substring({t}, {n} + 1)"),
    "mask_last_n": ("right({t}, {n})", "left({t}, greatest(length({t}) - {n}, 0))"),
    "mask_show_first_n": ("substring({t}, {n} + 1)", "substring({t}, 1, {n})"),
    "mask_show_last_n": ("left({t}, greatest(length({t}) - {n}, 0))", "right({t}, {n})"),
}
"""The masked part of a string, and the part that is kept."""
_KEPT_FIRST = frozenset({"mask_last_n", "mask_show_first_n"})


def _lower(s: SparkRex, rex: Call) -> str:
    value = s.render(rex.args[0])
    constants = [s.render(arg) for arg in rex.args[1:]]
    count = "0" if rex.op == "mask" else constants.pop(0)
    characters, (digit, *date) = constants[: len(_CHARACTERS)], constants[len(_CHARACTERS) :]
    if rex.type == t.DATE:
        day, month, year = date
        parts = f"coalesce({year}, year({value})), coalesce({month} + 1, month({value})), coalesce({day}, day({value}))"
        return f"IF({value} IS NULL, NULL, make_date({parts}))"
    if rex.type.is_string:
        return _masked(rex.op, _padded(value, rex.args[0].type), count, f"mask({{part}}, {', '.join(characters)})")
    digits = f"CAST(abs(CAST({value} AS DECIMAL(20, 0))) AS STRING)"
    masked = _masked(rex.op, digits, count, f"repeat('{digit}', length({{part}}))")
    number = f"CAST(CAST({masked} AS DECIMAL(20, 0)) AS BIGINT)"  # values out of range wrap, as in Java
    return f"CAST(IF({value} < 0, -1, 1) * {number} AS {spark_type(rex.type)})"


def _masked(name: str, text: str, count: str, mask_part: str) -> str:
    part, kept = _PARTS[name]
    masked = mask_part.format(part=part.format(t=text, n=count))
    if kept is None:
        return masked
    pair = (masked, kept.format(t=text, n=count))
    return f"concat({', '.join(pair[::-1] if name in _KEPT_FIRST else pair)})"


def _hash(s: SparkRex, rex: Call) -> str:
    return f"sha2({_padded(s.render(rex.args[0]), rex.args[0].type)}, 256)"


def _padded(text: str, type_: HiveType) -> str:
    """Trailing blanks of a char are included."""
    return f"rpad({text}, {type_.params[0]}, ' ')" if type_.name == "char" else text


MASKS: dict[str, Lower] = {**dict.fromkeys(_PARTS, _lower), "mask_hash": _hash}
