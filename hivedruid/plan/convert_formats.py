"""CAST … FORMAT to `Rex`. A time becomes a string by date_format(), with the letters of Java, and by functions of
strings for what it does not write; every engine computes the parts as it computes these functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.plan import fold
from hivedruid.plan.cast_patterns import NAMES, READ_TIME, Pattern, PatternError, Token, read_pattern
from hivedruid.plan.convert_types import data_type
from hivedruid.plan.rex import Call, Literal, Rex, is_random

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.plan.convert import Converter

_TEXT_AND_TIME = "FORMAT casts strings to DATE and TIMESTAMP, and these to STRING, VARCHAR and CHAR"


def cast_format(c: Converter, e: exp.Expr) -> Rex:
    """`$cast format`(CAST(value AS type), 'pattern')."""
    cast, written = e.expressions
    value, to = c.convert(cast.this), data_type(c, cast.to, cast)
    is_parsed = to in (t.DATE, t.TIMESTAMP)
    if not (is_parsed or to.is_string):
        raise SemanticError(f"CAST … FORMAT to {to} is not Hive SQL", span=c.span(e), hint=_TEXT_AND_TIME)
    try:
        pattern = read_pattern(str(written.this), is_parsed)
    except PatternError as error:
        span = _span(c, written, error)
        raise SemanticError(f"FORMAT: {error.message}", span=span, hint=error.hint) from None
    _check_value(value.type, to, is_parsed, c.span(cast.this))
    if value.type is t.VOID:
        return c.constant(to, None, value)
    if is_parsed:
        return _read(c, value, to, pattern)
    moment = c.cast(value, t.TIMESTAMP) if value.type is t.UNKNOWN else value
    return c.cast(_write(c, moment, pattern, c.span(e)), to)


def _check_value(type_: HiveType, to: HiveType, is_parsed: bool, span: Span | None) -> None:
    if type_ in (t.VOID, t.UNKNOWN) or (type_.is_string if is_parsed else type_ in (t.DATE, t.TIMESTAMP)):
        return
    hint = "CAST it to TIMESTAMP first" if type_.is_time and not is_parsed else _TEXT_AND_TIME
    raise SemanticError(f"CAST … AS {str(to).upper()} FORMAT does not take {type_}", span=span, hint=hint)


def _span(c: Converter, written: exp.Expr, error: PatternError) -> Span | None:
    """The position of an error in the pattern; that of the whole pattern if it is written with escapes."""
    start, end = written.meta.get("start"), written.meta.get("end")
    source = c.builder.source
    if start is None or end is None or source.text[start + 1 : end] != str(written.this):
        return c.span(written)
    return source.span(start + 1 + error.start, start + 1 + error.end)


def _read(c: Converter, value: Rex, to: HiveType, pattern: Pattern) -> Rex:
    now = fold.cast_value(fold.utc(c.builder.snapshot.now), t.TIMESTAMP_LTZ, t.DATE, c.zone)[1]
    is_iso = any(token.field == "iso_year" for token in pattern.fields)
    year = now.isocalendar().year if is_iso else now.year
    text = c.cast(value, t.STRING) if value.type.name == "char" else value
    return c.fold(Call(to, READ_TIME, (text, Literal(t.STRING, pattern.text), Literal(t.INT, year))))


# --- times to strings -------------------------------------------------------------------------------------------------

_JAVA = {
    "YYYY": ("yyyy", "y"),
    "RRRR": ("yyyy", "y"),
    "YY": ("yy", ""),
    "RR": ("yy", ""),
    "Q": ("Q", "Q"),
    "MM": ("MM", "M"),
    "DD": ("dd", "d"),
    "DDD": ("DDD", "D"),
    "D": ("e", "e"),
    "HH": ("hh", "h"),
    "HH12": ("hh", "h"),
    "HH24": ("HH", "H"),
    "MI": ("mm", "m"),
    "SS": ("ss", "s"),
    **{f"FF{width}": ("S" * width, "S" * width) for width in range(1, 10)},
}
"""The letters of date_format() that write an element, and those that write it after FM; none if there are none."""
_JAVA_NAMES = {"MON": "MMM", "MONTH": "MMMM", "DY": "EEE", "DAY": "EEEE"}
_PLAIN = re.compile(r"[-/:. ,]*")
"""Text that Java's patterns do not quote."""


def _write(c: Converter, value: Rex, pattern: Pattern, span: Span | None) -> Rex:
    pieces = _pieces(c, value, pattern)
    if not pattern.fields:
        text = "".join(token.text for token in pattern.tokens)
        return c.case([c.call("is_not_null", value)], [Literal(t.STRING, text)])
    if len(pieces) == 1:
        return pieces[0]
    if is_random(value):
        raise UnsupportedError(
            f"FORMAT '{pattern.text}' of a non-deterministic value is not supported",
            span=span,
            hint="compute the value in a subquery, and cast its column",
        )
    return c.call("concat", *pieces)


def _pieces(c: Converter, value: Rex, pattern: Pattern) -> list[Rex]:
    """The parts of the string: runs of elements in one date_format(), and others."""
    pieces: list[Rex] = []
    letters, text = "", ""

    def flush() -> None:
        nonlocal letters, text
        if letters:
            pieces.append(_java(c, value, letters + _quote(text)))
        elif text:
            pieces.append(Literal(t.STRING, text))
        letters, text = "", ""

    for token in pattern.tokens:
        if token.field in ("separator", "text"):
            text += token.text
            continue
        run = _JAVA.get(token.name, ("", ""))[not token.is_filled]
        if not run or (not text and letters[-1:] == run[0]):
            flush()
        if run:
            letters, text = letters + _quote(text) + run, ""
        else:
            pieces.append(_compute(c, value, token))
    flush()
    return pieces


def _quote(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def _java(c: Converter, value: Rex, pattern: str) -> Rex:
    return c.call("date_format", value, Literal(t.STRING, pattern))


def _number(c: Converter, value: Rex, letters: str) -> Rex:
    return c.cast(_java(c, value, letters), t.INT)


def _int(value: int) -> Literal:
    return Literal(t.INT, value)


def _compute(c: Converter, value: Rex, token: Token) -> Rex:
    """An element that has no letters in Java."""
    if token.name in NAMES:
        return _name(c, value, token)
    if token.field == "half_day":
        half = _java(c, value, "a")
        if len(token.text) > 2:
            half = c.call("concat", c.call("substring", half, _int(1), _int(1)), Literal(t.STRING, ".M."))
        return half if token.text[0].isupper() else c.call("lower", half)
    if token.field == "fraction":  # FF: without zeros at the end
        pattern, nothing = Literal(t.STRING, "(?<=.)0+$"), Literal(t.STRING, "")
        return c.call("regexp_replace", _java(c, value, "SSSSSSSSS"), pattern, nothing)
    number = c.cast(_NUMBERS[token.field](c, value), t.STRING)
    if token.field in ("year", "iso_year"):
        digits = c.call("lpad", number, _int(4), Literal(t.STRING, "0"))
        if token.width < 4:
            digits = c.call("substring", digits, _int(5 - token.width))
        return digits if token.is_filled else c.cast(c.cast(digits, t.INT), t.STRING)
    if token.is_filled and token.width > 1:
        return c.call("lpad", number, _int(token.width), Literal(t.STRING, "0"))
    return number


def _name(c: Converter, value: Rex, token: Token) -> Rex:
    """The first two letters of the element decide about the case of the name."""
    name = _java(c, value, _JAVA_NAMES[token.name])
    if token.is_filled and token.width > 3:
        padded = c.call("concat", name, Literal(t.STRING, " " * token.width))
        name = c.call("substring", padded, _int(1), _int(token.width))
    if token.text[0].islower():
        return c.call("lower", name)
    return c.call("upper", name) if token.text[1].isupper() else name


def _week(c: Converter, day: Rex) -> Rex:
    """The week that contains a day, if the first one begins with day 1."""
    return c.arithmetic("+", c.arithmetic("div", c.arithmetic("-", day, _int(1)), _int(7)), _int(1))


def _weekday(c: Converter, value: Rex) -> Rex:
    """1 for Monday."""
    sunday_first = c.call("extract_dayofweek", value)
    return c.arithmetic("+", c.call("pmod", c.arithmetic("-", sunday_first, _int(2)), _int(7)), _int(1))


def _iso_year(c: Converter, value: Rex) -> Rex:
    """The year of the Thursday of the week."""
    day = c.cast(value, t.DATE)
    thursday = c.call("date_add", day, c.arithmetic("-", _int(4), _weekday(c, value)))
    return c.call("extract_year", thursday)


def _second_of_day(c: Converter, value: Rex) -> Rex:
    hours, minutes = _number(c, value, "H"), _number(c, value, "m")
    whole = c.arithmetic("+", c.arithmetic("*", hours, _int(60)), minutes)
    return c.arithmetic("+", c.arithmetic("*", whole, _int(60)), _number(c, value, "s"))


_NUMBERS = {
    "year": lambda c, value: c.call("extract_year", value),
    "week_of_year": lambda c, value: _week(c, c.call("extract_dayofyear", value)),
    "week_of_month": lambda c, value: _week(c, c.call("extract_day", value)),
    "iso_year": _iso_year,
    "iso_week": lambda c, value: c.call("extract_week", value),
    "weekday": _weekday,
    "second_of_day": _second_of_day,
}
