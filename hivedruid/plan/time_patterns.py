"""Patterns of java.time, which Hive's date_format(), from_unixtime() and unix_timestamp() accept, for Spark, which does
not support all letters.

Hive 4.0.1 formats with java.time.format.DateTimeFormatter in the locale en_US; the widths are those that Java 17
accepts.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import NamedTuple

from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.plan.spark_text import quote_string

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKEN = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z'{}#]+")
_NAMES = range(1, 6)
_NUMBERS = range(1, 3)
_ANY = range(1, 20)
_WIDTHS: dict[str, range | tuple[int, ...]] = {
    **dict.fromkeys("GMLQqEeXxZ", _NAMES),
    **dict.fromkeys("uyYAnN", _ANY),
    **dict.fromkeys("wdhHkKms", _NUMBERS),
    **dict.fromkeys("WFa", (1,)),
    "c": (1, 3, 4, 5),
    "D": range(1, 4),
    "S": range(1, 10),
    "z": range(1, 5),
    "V": (2,),
    "g": _ANY,
    "p": _ANY,
    **dict.fromkeys("Ov", (1, 4)),
    "B": (1, 4, 5),
}
"""The letters of java.time, and the maximum length of a run of each."""
_REFUSED = frozenset("AnNBvpg")
"""Letters that Spark does not support and that cannot be replaced here."""
_YEAR_WIDTH = 6
"""The longest run of `y` that Spark supports."""
ZONES = frozenset("zOXxZV")
"""The letters of a zone or an offset."""
_SATURDAY = "date_add(CAST({0} AS DATE), 7 - dayofweek({0}))"
_WEEK = {
    "Y": f"year({_SATURDAY})",
    "w": f"CAST(ceil(dayofyear({_SATURDAY}) / 7) AS INT)",
    "W": "CAST(ceil((dayofmonth({0}) + dayofweek(trunc({0}, 'MM')) - 1) / 7) AS INT)",
    "e": "dayofweek({0})",
    "c": "dayofweek({0})",
}
"""Weeks of the locale en_US: they begin on Sunday, and the first one contains the first day of the year or month."""
_SIMPLE_DATE_FORMAT = frozenset("uQqeckKAnNB")
"""Letters with another meaning, or none, in SimpleDateFormat, which add_months() uses."""
PATTERN_OF = {"date_format": 1, "from_unixtime": 1, "unix_timestamp": 1, "add_months": 2}
"""The position of the argument of a function that is a pattern."""


class Moment(NamedTuple):
    """A time in Spark SQL: the wall-clock time in `zone`, and the instant itself."""

    local: str
    instant: str
    zone: str


def tokens(pattern: str) -> list[str] | None:
    """A pattern's runs of a letter, its quoted texts, and the text between them; None if it is not a valid pattern."""
    parts = [match[0] for match in _TOKEN.finditer(pattern)]
    fields = [part for part in parts if is_field(part)]
    known = all(len(field) in _WIDTHS.get(field[0], ()) for field in fields)
    return parts if "".join(parts) == pattern and known and _has_open_brackets(parts) else None


def _has_open_brackets(parts: list[str]) -> bool:
    """Whether there is a `[` for each `]` after it."""
    marks = "".join(part for part in parts if part[0] != "'")
    depths = accumulate((mark == "[") - (mark == "]") for mark in marks)
    return all(depth >= 0 for depth in depths)


def is_field(part: str) -> bool:
    """Whether a part of a pattern is a run of a letter; letters beyond ASCII are text."""
    return part[:1].isascii() and part[:1].isalpha()


def check(function: str, pattern: str) -> None:
    """Raise an error for a constant pattern that Hive refuses, or whose letters Spark cannot format or parse."""
    parts = tokens(pattern)
    if parts is None:
        if function in ("date_format", "unix_timestamp"):
            return  # NULL in Hive
        raise SemanticError(
            f"{function}(): '{pattern}' is not a valid time pattern", hint="for example 'yyyy-MM-dd HH:mm:ss'"
        )
    refused = set(_REFUSED)
    if function == "unix_timestamp":
        refused |= set(_WEEK)
    elif function == "add_months":
        refused |= _SIMPLE_DATE_FORMAT
    if function == "unix_timestamp":
        _check_parsed(pattern, parts)
    for part in parts:
        if part[0] in refused or (part[0] in "uy" and len(part) > _YEAR_WIDTH):
            letters = "".join(letter for letter in _WIDTHS if letter not in refused)
            raise UnsupportedError(
                f"{part} in the pattern of {function}() is not supported",
                hint=f"supported letters: {' '.join(letters)}",
            )


def _check_parsed(pattern: str, parts: list[str]) -> None:
    """Raise an error for the letters with which Spark formats, but does not parse: `time_shapes` parses `E` beside the
    usual letters."""
    from hivedruid.plan.time_shapes import shapes

    names = [part for part in parts if part[0] in "EQqF" or (part[0] in "GMLa" and len(part) == 5)]
    if names and contains_full_date(parts) and shapes(pattern) is None:
        raise UnsupportedError(
            f"{names[0]} in the pattern '{pattern}' of unix_timestamp() is not supported beside its other letters",
            hint=f"remove this part of the text with regexp_replace(), and {names[0]} from the pattern",
        )


def contains_full_date(parts: list[str]) -> bool:
    """Whether a string parsed with the pattern is a date: without a year, a month and a day unix_timestamp() is
    NULL."""
    letters = {part[0] for part in parts if is_field(part)}
    return bool(letters & set("yu")) and ("D" in letters or ("d" in letters and bool(letters & set("ML"))))


def has_zone(parts: list[str]) -> bool:
    """Whether a string that is parsed contains its zone."""
    return any(part[0] in ZONES for part in parts)


def spark_pattern(parts: list[str]) -> str:
    """The pattern in Spark's letters, for parsing strings, where nothing can be computed."""
    return "".join("y" * len(part) if part[0] == "u" else part for part in parts)


def formatted(moment: Moment, parts: list[str]) -> str:
    """A time as a string, in Spark SQL: one date_format(), or several combined with parts that Spark cannot format."""
    pieces: list[str] = []
    plain = ""
    for part in parts:
        letters = _letters(part)
        if letters is not None:
            plain += letters
            continue
        pieces += [_plain(moment, plain)] if plain else []
        pieces.append(_computed(moment, part))
        plain = ""
    if plain or not pieces:
        pieces.append(_plain(moment, plain))
    return pieces[0] if len(pieces) == 1 else f"concat({', '.join(pieces)})"


def _plain(moment: Moment, pattern: str) -> str:
    return f"date_format({moment.local}, {quote_string(pattern)})"


def _letters(part: str) -> str | None:
    """The letters with which Spark formats this part, None if there are none."""
    letter, width = part[0], len(part)
    if not is_field(part):
        return part if letter == "'" else part.replace("[", "").replace("]", "")
    if letter in "ec" and width in (3, 4):  # the name of the day
        return "E" * width
    if letter in "Qq" and width == 5:
        return "Q"
    if letter in _WEEK or letter in ZONES or (letter in "GMLEec" and width == 5):
        return None
    return "y" * width if letter == "u" else part


def _computed(moment: Moment, part: str) -> str:
    letter, width = part[0], len(part)
    if letter in ZONES:  # to_json is the only function of Spark that formats a time in a given zone
        options = f"map('timestampFormat', {quote_string(part)}, 'timeZone', {quote_string(moment.zone)})"
        return f"get_json_object(to_json(named_struct('t', {moment.instant}), {options}), '$.t')"
    if width == 5 and letter in "GMLEec":  # the first letter of the name
        return f"substring({_plain(moment, ('E' if letter in 'ec' else letter) * 4)}, 1, 1)"
    number = f"CAST({_WEEK[letter].format(moment.local)} AS STRING)"
    if letter == "Y" and width == 2:
        return f"right({number}, 2)"
    return number if width == 1 else f"lpad({number}, {max(width, 4) if letter == 'Y' else width}, '0')"
