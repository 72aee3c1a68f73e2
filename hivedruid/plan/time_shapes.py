"""Strings as unix_timestamp() parses them with a pattern, for constants and for Spark and Druid, whose own functions
are strict.

Hive 4.0.1 parses with java.time.format.DateTimeFormatter in the resolver style SMART: a day up to 31 that the month
does not have is the last day of the month, 24:00:00 is the next midnight, and 0 is accepted for 12 by `h` and for 24 by
`k`. A date without an hour is its midnight, also if there are minutes, or an `h` without `a`.
"""

from __future__ import annotations

import calendar
import re
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from hivedruid.plan import time_patterns

SHORT_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
"""The first three letters of the months, by which their names differ."""
_Values = dict[str, tuple[str, str]]
"""The numbers of a field without leading zeros, and with two digits."""
_VALUES: _Values = {
    "M": ("1[0-2]|[1-9]", "0[1-9]|1[0-2]"),
    "d": ("[12][0-9]|3[01]|[1-9]", "0[1-9]|[12][0-9]|3[01]"),
    **dict.fromkeys("Hk", ("1[0-9]|2[0-4]|[0-9]", "[01][0-9]|2[0-4]")),
    "h": ("1[0-2]|[0-9]", "0[0-9]|1[0-2]"),
    "K": ("1[01]|[0-9]", "0[0-9]|1[01]"),
    **dict.fromkeys("ms", ("[1-5]?[0-9]", "[0-5][0-9]")),
    "S": ("[0-9]", ""),
}
_IN_THE_DAY: _Values = {**_VALUES, "H": ("1[0-9]|2[0-3]|[0-9]", "[01][0-9]|2[0-3]")}
_UNCHECKED: _Values = {**_VALUES, **dict.fromkeys("Hms", ("[0-9]+", "[0-9]{2}"))}
_NEXT_MIDNIGHT: _Values = {**_VALUES, "H": ("24", "24"), **dict.fromkeys("msS", ("0", "00"))}
_YEARS = {
    "y": "0{0,15}[1-9][0-9]{0,3}",
    "u": "0{0,15}[0-9]{1,4}",
    "yyyy": "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])",
    "uuuu": "[0-9]{4}",
    **dict.fromkeys(("yy", "uu"), "[0-9]{2}"),
}
"""The years up to 9999; java.time accepts others with a sign."""
_FIELD_OF = {"u": "y", "L": "M", **dict.fromkeys(time_patterns.ZONES, "z")}
_HOURS = frozenset("HkhK")
_FIELDS = _HOURS | frozenset("yMdmsSaEz")
_MOST_VARIANTS = 16


class Place(NamedTuple):
    """Where a field is: its group in `Shape.groups`, and the position and width if they are the same in all strings."""

    group: int
    position: int | None
    width: int


class Shape(NamedTuple):
    """The strings of a pattern without optional parts. `whole` is the regular expression of a valid string, `groups`
    has a group for each field of such a string. A field is named by its letter: `y` also for `u`, `M` for `L`, `z` for
    each kind of zone."""

    whole: str
    groups: str
    places: dict[str, Place]
    has_short_year: bool
    has_month_name: bool
    zone: str
    """The letters of the zone in the pattern, '' without one."""
    hour: str | None
    """The letter of the hour; None if a time is the midnight of its day."""

    @property
    def is_plain(self) -> bool:
        """Whether the fields are numbers at fixed positions, with an hour of 0 to 24 or none."""
        fixed = all(place.position is not None for place in self.places.values())
        return fixed and not self.has_month_name and self.places.keys() <= set("yMdHmsS")

    def matches(self, text: str) -> bool:
        return re.fullmatch(self.whole, text, re.ASCII) is not None

    def wall_clock(self, text: str) -> datetime | None:
        """The time in a string that matches; None if its day of the week or AM and PM contradict the others. Raises
        OverflowError or ValueError for a time that Python does not represent."""
        match = re.fullmatch(self.groups, text, re.ASCII)
        assert match is not None
        field = {letter: match[place.group] for letter, place in self.places.items()}
        year = int(field["y"]) + (2000 if self.has_short_year else 0)
        name = field["M"]
        month = SHORT_MONTHS.index(name[:3].lower()) // 3 + 1 if self.has_month_name else int(name)
        day = datetime(year, month, min(int(field["d"]), calendar.monthrange(year, month)[1]))
        if "E" in field and not time_patterns.WEEKDAYS[day.weekday()].lower().startswith(field["E"].lower()):
            return None
        if self.hour is None:
            return day
        hour = int(field[self.hour])
        is_afternoon = field.get("a", "").lower() == "pm"
        if self.hour in ("h", "K"):
            hour = hour % 12 + (12 if is_afternoon else 0)
        elif self.hour == "k":
            hour %= 24
        if "a" in field and is_afternoon != (hour % 24 >= 12):
            return None
        return day + timedelta(hours=hour, minutes=int(field.get("m", 0)), seconds=int(field.get("s", 0)))


@cache
def shapes(pattern: str) -> tuple[Shape, ...] | None:
    """The shapes of the strings that match a pattern: the first that a string has determines its time. None for a
    pattern that is parsed otherwise: with letters of eras, quarters or days of the year, with one field twice, with
    numbers whose ends depend on each other, or with letters beyond ASCII, whose case would be ignored."""
    parts = time_patterns.tokens(pattern)
    has_cases = any(not c.isascii() and (c.lower() != c.upper() or c > "\uffff") for c in pattern)
    variants = _variants(parts) if parts is not None and not has_cases else None
    if variants is None:
        return None
    if len(variants) > 1:
        variants = [variant for variant in variants if _is_date(variant)]
    found = [shape for shape in map(_shape, variants) if shape is not None]
    return tuple(found) if len(found) == len(variants) > 0 else None


def _variants(parts: list[str]) -> list[list[str]] | None:
    """The pattern with and without each of its optional parts, in the order in which java.time tries them; '' is the
    border of such a part."""
    variants: list[list[str]] = [[]]
    outer: list[list[list[str]]] = []
    for part in parts:
        for piece in re.split(r"([\[\]])", part) if part[0] != "'" and "'" not in part else [part]:
            if piece == "[":
                outer.append(variants)
                variants = [[""]]
            elif piece == "]":
                variants = _join(outer.pop(), variants)
            else:
                variants = [[*variant, piece] for variant in variants]
        if len(variants) > _MOST_VARIANTS:
            return None
    while outer:
        variants = _join(outer.pop(), variants)
    return variants if len(variants) <= _MOST_VARIANTS else None


def _is_date(parts: list[str]) -> bool:
    """Whether a variant of a pattern contains each part of a date once; a string of another one is not a date."""
    fields = [_field(part) for part in parts if time_patterns.is_field(part)]
    return all(fields.count(field) == 1 for field in "yMd") or not set(fields) <= _FIELDS


def _join(before: list[list[str]], optional: list[list[str]]) -> list[list[str]]:
    return [[*first, *then] for first in before for then in [*optional, [""]]]


def _shape(parts: list[str]) -> Shape | None:
    fields = [_field(part) for part in parts if time_patterns.is_field(part)]
    if len(set(fields)) < len(fields) or not _has_date(set(fields)) or not _has_clear_ends(parts):
        return None
    hour = _hour(set(fields))
    values = [_IN_THE_DAY, _NEXT_MIDNIGHT] if hour == "H" else [_VALUES]
    if _skips_a_unit(set(fields)):
        hour, values = None, [_UNCHECKED]
    wholes = ["".join(_expression(part, value) or "" for part in parts) for value in values]
    groups, position = "", 0
    places: dict[str, Place] = {}
    is_fixed = True
    for part in parts:
        expression, width = _expression(part, _VALUES if hour else values[0]), _width(part)
        if expression is None:
            return None
        if time_patterns.is_field(part):
            places[_field(part)] = Place(len(places) + 1, position if is_fixed else None, width or 0)
            expression = f"({expression})"
        groups += expression
        is_fixed = is_fixed and width is not None
        position += width or 0
    width_of = {_field(part): len(part) for part in parts if time_patterns.is_field(part)}
    zone = next((part for part in parts if part and part[0] in time_patterns.ZONES), "")
    case = "(?i)" if any(_has_letters(part) for part in parts) else ""
    return Shape(
        f"{case}(?:{'|'.join(wholes)})", case + groups, places, width_of["y"] == 2, width_of["M"] > 2, zone, hour
    )


def _field(part: str) -> str:
    return _FIELD_OF.get(part[0], part[0])


def _has_date(fields: set[str]) -> bool:
    """Whether there are a year, a month and a day, and at most one hour. AM and PM alone are a time of day in some
    versions of Java."""
    hours = len(fields & _HOURS)
    return set("yMd") <= fields <= _FIELDS and (hours == 1 or (hours == 0 and "a" not in fields))


def _hour(fields: set[str]) -> str | None:
    """The letter of the hour, unless it is one of twelve without AM or PM."""
    return next(iter(fields & (_HOURS if "a" in fields else _HOURS - set("hK"))), None)


def _skips_a_unit(fields: set[str]) -> bool:
    """Whether there are an hour and seconds without minutes, or an hour and a fraction without seconds. Then java.time
    does not check their values, and the time is midnight."""
    return _hour(fields) is not None and ("s" in fields or "S" in fields) and not fields >= set("ms")


def _has_clear_ends(parts: list[str]) -> bool:
    """Whether each number ends before something that is not a digit, or both it and the next number have fixed widths.
    java.time reads further digits as part of the first number, also beyond the border of an optional part."""
    for place, part in enumerate(parts):
        following = next((then for then in parts[place + 1 :] if then), "")
        if not _is_number(part):
            continue
        if _literal(following)[:1].isdigit():
            return False
        if _is_number(following) and (parts[place + 1] == "" or _width(part) is None or _width(following) is None):
            return False
    return True


def _is_number(part: str) -> bool:
    return part[:1] in ("y", "u") or (time_patterns.is_field(part) and _field(part) in _VALUES and not _is_name(part))


def _is_name(part: str) -> bool:
    return part[:1] in ("a", "E") or (part[:1] in ("M", "L") and len(part) > 2)


def _has_letters(part: str) -> bool:
    return _is_name(part) or any(map(str.isalpha, _literal(part)))


def _literal(part: str) -> str:
    """The text that a part stands for, '' for a field."""
    if part == "''":
        return "'"
    return "" if time_patterns.is_field(part) else part[1:-1].replace("''", "'") if part[:1] == "'" else part


def _width(part: str) -> int | None:
    """The number of characters, None if it differs between strings."""
    letter, width = part[:1], len(part)
    if not time_patterns.is_field(part):
        return len(_literal(part))
    if _is_name(part):
        return {"a": 2, "E": {4: None, 5: 1}.get(width, 3)}.get(letter, 3 if width == 3 else None)
    if letter in time_patterns.ZONES or (width == 1 and letter != "S"):
        return None
    return width


def _expression(part: str, values: _Values) -> str | None:
    """The regular expression of a part; None for a width that is not supported."""
    letter, width = part[:1], len(part)
    if not time_patterns.is_field(part):
        return re.sub(r"([.^$*+?()\[\]{}|\\])", r"\\\1", _literal(part))
    if letter in time_patterns.ZONES:
        return ".+?"
    if letter in "yu":
        return _YEARS.get(part)
    if _is_name(part):
        names = _names(letter, width)
        return f"(?:{'|'.join(names)})" if names else None
    short, long = values["M" if letter == "L" else letter]
    if letter == "S":
        return f"{short}{{{width}}}"
    return f"(?:{long})" if width == 2 else f"0{{0,17}}(?:{short})"


def _names(letter: str, width: int) -> tuple[str, ...]:
    if letter == "a":
        return ("AM", "PM")
    if letter == "E":
        return tuple(dict.fromkeys(name[: {4: None, 5: 1}.get(width, 3)] for name in time_patterns.WEEKDAYS))
    return (
        time_patterns.MONTHS if width == 4 else tuple(name[:3] for name in time_patterns.MONTHS) if width == 3 else ()
    )
