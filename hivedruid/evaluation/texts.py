"""String functions. Positions count characters; strings with characters outside the Basic Multilingual Plane are left
to Spark."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.numbers import EXACT
from hivedruid.plan.rex import Call, Literal

MAX_LENGTH = 1_000_000
_ODD_CASE = frozenset("ıİſΣςß")
"""Letters whose case mapping depends on context or language."""

Function = Callable[..., Any]


def strings(function: Function, *numbers: int) -> Callable[[Call], Function]:
    """A table entry: all arguments are strings, except integers at the positions `numbers`."""

    def build(call: Call) -> Function:
        for i, arg in enumerate(call.args):
            wanted = arg.type.is_integer if i in numbers else arg.type.is_string
            if not wanted and arg.type.name != "void":
                raise NotLocal(f"{call.op}() of {arg.type}")
        return function

    return build


def plain(text: str) -> str:
    """The string, if each of its characters is a single char in Java."""
    if not text.isascii() and max(text) > "\uffff":
        raise Unsure("a string with characters outside the Basic Multilingual Plane")
    return text


def _cased(change: Callable[[str], str]) -> Function:
    def apply(text: str) -> str:
        if text.isascii():
            return change(text)
        if any(c >= "\u0530" or c in _ODD_CASE or len(change(c)) != 1 for c in text if c > "\x7f"):
            raise Unsure("letters whose case mapping depends on the implementation")
        return "".join(map(change, text))

    return apply


upper = _cased(str.upper)
lower = _cased(str.lower)


def initcap(text: str) -> str:
    """Each word capitalized; words are separated by whitespace (WordUtils.capitalizeFully)."""
    return "".join(
        (upper(c) if i == 0 or text[i - 1] in _WHITE else lower(c)) if c not in _WHITE else c
        for i, c in enumerate(plain(text))
    )


_WHITE = frozenset(" \t\n\v\f\r\x1c\x1d\x1e\x1f")


def concat(*parts: str) -> str:
    return "".join(parts)


def concat_ws(separator: str | None, *parts: str | None) -> str | None:
    return None if separator is None else separator.join([p for p in parts if p is not None])


def substring(text: str, start: int, length: int | None = None) -> str:
    """substr() from `start`, counted from 1, or from the end if negative (UDFSubstr)."""
    size = len(plain(text))
    if abs(start) > size or (length is not None and length <= 0):
        return ""
    begin = start - 1 if start > 0 else size + start if start < 0 else 0
    return text[begin:] if length is None else text[begin : begin + length]


def pad(left: bool) -> Function:
    def padded(text: str, length: int, filling: str) -> str | None:
        if length < 0 or not filling:
            raise Unsure("padding with an empty string")
        if length > MAX_LENGTH:
            raise Unsure("a very long string")
        plain(filling)
        missing = length - len(plain(text))
        if missing <= 0:
            return text[:length]
        more = (filling * (missing // len(filling) + 1))[:missing]
        return more + text if left else text + more

    return padded


def repeat(text: str, times: int) -> str:
    if len(text) * max(0, times) > MAX_LENGTH:
        raise Unsure("a very long string")
    return text * max(0, times)


def trim(side: str) -> Function:
    """Trims spaces only, or the characters of a second argument."""
    change = {"trim": str.strip, "ltrim": str.lstrip, "rtrim": str.rstrip}[side]
    return lambda text: change(text, " ")


def replace(text: str, search: str, by: str) -> str:
    return text.replace(search, by)


def instr(text: str, part: str) -> int:
    return plain(text).find(_part(part)) + 1


def locate(part: str, text: str, start: int) -> int:
    if start < 1:
        raise Unsure("locate() with a start below 1")
    return plain(text).find(_part(part), start - 1) + 1


def _part(part: str) -> str:
    if not part:
        raise Unsure("the position of an empty string")
    return plain(part)


def space(count: int) -> str:
    return repeat(" ", count)


def format_number(call: Call) -> Function:
    """Formats with thousands separators and a constant number of decimals, rounded half even
    (java.text.DecimalFormat)."""
    digits = call.args[1]
    if not isinstance(digits, Literal) or not isinstance(digits.value, int) or not 0 <= digits.value <= 20:
        raise NotLocal("format_number() with a non-constant number of decimals")
    if not call.args[0].type.is_numeric or call.args[0].type.name == "float":
        raise NotLocal(f"format_number() of {call.args[0].type}")
    unit = Decimal(1).scaleb(-digits.value)
    return lambda value, _digits: f"{Decimal(value).quantize(unit, ROUND_HALF_EVEN, EXACT):,f}"


# --- patterns ----------------------------------------------------------------------------------------------------


def like(call: Call) -> Function:
    """LIKE with a constant pattern: `%`, `_`, and a backslash before either."""
    if len(call.args) > 2 or not all(a.type.is_string for a in call.args):
        raise NotLocal("LIKE with an escape character, or of non-strings")
    matcher = re.compile(like_pattern(_constant(call)), re.DOTALL)
    return lambda text, _pattern: matcher.fullmatch(plain(text)) is not None


def like_pattern(pattern: str) -> str:
    """The regular expression of a pattern of LIKE. Raises NotLocal."""
    parts: list[str] = []
    letters = iter(plain(pattern))
    for letter in letters:
        if letter == "\\":
            escaped = next(letters, None)
            if escaped not in ("%", "_"):
                raise NotLocal("LIKE with a backslash before other characters")
            parts.append(re.escape(escaped))
        else:
            parts.append({"%": ".*", "_": "."}.get(letter) or re.escape(letter))
    return "".join(parts)


def rlike(call: Call) -> Function:
    if not all(a.type.name in ("string", "varchar") for a in call.args):
        raise NotLocal("RLIKE of non-strings")
    pattern = _constant(call)
    if not pattern:
        raise NotLocal("RLIKE of an empty pattern")
    matcher = java_pattern(pattern)
    return lambda text, _pattern: matcher.search(one_line(text)) is not None


def regexp_replace(call: Call) -> Function:
    by = call.args[2]
    if not isinstance(by, Literal) or not isinstance(by.value, str) or re.search(r"[\\$]", by.value):
        raise NotLocal("regexp_replace() with a replacement that refers to groups")
    matcher, text_by = java_pattern(_constant(call)), by.value
    return lambda text, _pattern, _by: matcher.sub(text_by, one_line(text))


def _constant(call: Call) -> str:
    pattern = call.args[1]
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise NotLocal(f"{call.op} with a non-constant pattern")
    return pattern.value


def one_line(text: str) -> str:
    if any(mark in text for mark in "\n\r\x85\u2028\u2029"):
        raise Unsure("a pattern on a multi-line string")
    return plain(text)


_SAME_AS_JAVA = re.compile(
    r"(?:[\w \-,:;/@#%&=~!<>'\"]|\\[.\\|()\[\]{}*+?^$/-]"
    r"|\[\^?(?:\w-\w|[\w ,:;/@#%=~!<>'\".]|\\[.\\/-])+\]|[.^$|()]|(?<![*+?(|^}])[*+?])+",
    re.ASCII,
)


def java_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern for Python, if it has the same meaning as in Java."""
    if not _SAME_AS_JAVA.fullmatch(pattern):
        raise NotLocal("a regular expression that Java and Python may interpret differently")
    try:
        return re.compile(pattern)
    except re.error:
        raise NotLocal("an invalid regular expression") from None
