"""Patterns of CAST … FORMAT, which are those of SQL:2016, as Hive 4.0.1 reads them (HiveSqlDateTimeFormatter). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import cache, cached_property
from typing import NamedTuple

from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import time_patterns

READ_TIME = "read_time"
"""The operator that parses a string: the string, the pattern, and the year whose first digits short years get."""
MAX_LENGTH = 99


class Element(NamedTuple):
    """The part of a time that an element of a pattern is, and the number of its characters."""

    field: str
    width: int
    is_parsed: bool = True
    """Whether a pattern that parses strings may contain it."""


ELEMENTS: dict[str, Element] = {
    **{"Y" * width: Element("year", width) for width in (4, 3, 2, 1)},
    **{"R" * width: Element("year", width) for width in (4, 2)},
    "Q": Element("quarter", 1, is_parsed=False),
    "MM": Element("month", 2),
    "MON": Element("month", 3),
    "MONTH": Element("month", 9),
    "WW": Element("week_of_year", 2, is_parsed=False),
    "W": Element("week_of_month", 1, is_parsed=False),
    "DD": Element("day", 2),
    "DDD": Element("day_of_year", 3),
    "D": Element("day_of_week", 1, is_parsed=False),
    **{"IYYY"[:width]: Element("iso_year", width) for width in (4, 3, 2, 1)},
    "IW": Element("iso_week", 2),
    "ID": Element("weekday", 2),
    "DY": Element("weekday", 3),
    "DAY": Element("weekday", 9),
    "HH": Element("hour_of_half_day", 2),
    "HH12": Element("hour_of_half_day", 2),
    "HH24": Element("hour", 2),
    **dict.fromkeys(("AM", "PM", "A.M.", "P.M."), Element("half_day", 4)),
    "MI": Element("minute", 2),
    "SS": Element("second", 2),
    "SSSSS": Element("second_of_day", 5),
    "FF": Element("fraction", 9),
    **{f"FF{width}": Element("fraction", width) for width in range(1, 10)},
    "TZH": Element("zone_hour", 2),
    "TZM": Element("zone_minute", 2),
}
"""The elements of patterns; the width of ID is that of Hive."""
NAMES = frozenset({"MON", "MONTH", "DY", "DAY"})
"""Elements that are names: letters of the pattern decide about the case of those of the name."""
_LISTED = (*(name for name in ELEMENTS if not name[-1].isdigit() or name[0] == "H"), "FF1 to FF9")
_OTHERS = ("FM", "FX", "T", "Z", 'text in " "', "- . / , ' ; : and blanks")
_SEPARATORS = "-./,';: "
_LEXER = re.compile(
    "|".join(
        (r'"(?P<text>[\s\S]*?)(?<!\\)"', *sorted(ELEMENTS, key=len, reverse=True), "F[MX]", "[TZ]", f"[{_SEPARATORS}]+")
    ).replace("A.M.|P.M.", r"A\.M\.|P\.M\."),
    re.IGNORECASE | re.ASCII,
)
_GREGORIAN = frozenset({"year", "month", "day", "day_of_year"})
_ISO = frozenset({"iso_year", "iso_week", "weekday"})
_CONFLICTS = (
    (_GREGORIAN, _ISO),
    (frozenset({"day_of_year"}), frozenset({"month", "day"})),
    (frozenset({"hour"}), frozenset({"hour_of_half_day", "half_day"})),
    (frozenset({"second_of_day"}), frozenset({"hour", "hour_of_half_day", "half_day", "minute", "second"})),
)
"""Parts of a time that are not parsed together."""
_DATES = (frozenset({"year", "month", "day"}), frozenset({"year", "day_of_year"}), _ISO)
"""The parts that are a date."""


class PatternError(Exception):
    """A pattern that Hive refuses: what is wrong with `pattern[start:end]`."""

    def __init__(self, message: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.hint = message, start, end, hint


class Token(NamedTuple):
    """One element of a pattern, or a `separator` or `text`, which have no name."""

    field: str
    text: str
    start: int
    name: str = ""
    width: int = 0
    is_filled: bool = True
    """Without FM before it: numbers have leading zeros, and names trailing blanks."""


@dataclass(frozen=True)
class Pattern:
    text: str
    tokens: tuple[Token, ...]
    is_exact: bool
    """FX: strings must have the separators and the digits of the pattern."""

    @cached_property
    def fields(self) -> tuple[Token, ...]:
        """The elements that decide about the time, one for each group of `expression`."""
        return tuple(token for token in self.tokens if token.field not in ("separator", "text", *_ZONE))

    @cached_property
    def expression(self) -> str:
        """The regular expression of the strings that the pattern parses, for Java and Python."""
        following = (*self.tokens[1:], None)
        return "".join(_expression(a, b, self.is_exact) for a, b in zip(self.tokens, following, strict=True))


@cache
def read_pattern(text: str, is_parsed: bool) -> Pattern:
    """The pattern, for parsing strings or for writing times; PatternError if Hive refuses it."""
    if len(text) > MAX_LENGTH:
        raise PatternError(f"a pattern has at most {MAX_LENGTH} characters", MAX_LENGTH, len(text))
    tokens = tuple(_with_joined_separators(_tokens(text)))
    for token in tokens:
        if token.field in _ZONE and not is_parsed:
            raise _at(token, f"{token.name} is the offset of a time zone, which DATE and TIMESTAMP do not have")
    if is_parsed:
        _check_parsed(text, tokens)
    return Pattern(text, tokens, "FX" in _modifiers(text))


def _modifiers(text: str) -> set[str]:
    return {match[0].upper() for match in _LEXER.finditer(text)}


def _tokens(text: str) -> Iterator[Token]:
    place, is_filled = 0, True
    while place < len(text):
        match = _LEXER.match(text, place)
        if match is None:
            raise _unknown(text, place)
        start, name = place, match[0].upper()
        place = match.end()
        if not (is_filled or (name in ELEMENTS and ELEMENTS[name].field not in _ZONE)):
            raise PatternError("FM must be followed by an element that is a part of a time", start - 2, start)
        if name == "FM":
            is_filled = False
        elif name in ELEMENTS:
            yield Token(ELEMENTS[name].field, match[0], start, name, ELEMENTS[name].width, is_filled)
            is_filled = True
        elif match["text"] is not None:
            yield Token("text", match["text"].replace("\\", ""), start)
        elif name in ("T", "Z"):
            yield Token("text", name, start)
        elif name != "FX":
            yield Token("separator", match[0], start)


def _with_joined_separators(tokens: Iterator[Token]) -> Iterator[Token]:
    """Separators on both sides of FX are one."""
    last: Token | None = None
    for token in tokens:
        if last is not None and last.field == token.field == "separator":
            last = last._replace(text=last.text + token.text)
            continue
        if last is not None:
            yield last
        last = token
    if last is not None:
        yield last


def _unknown(text: str, place: int) -> PatternError:
    if text[place] == '"':
        return PatternError('the text has no closing "', place, len(text))
    match = re.compile(r"[A-Za-z]+|[\s\S]").match(text, place)
    word = match[0] if match else text[place]
    is_word = word.isascii() and word.isalpha()
    elements = f"elements: {', '.join((*_LISTED, *_OTHERS))}"
    hint = elements if is_word else 'put other text in double quotes, such as YYYY"_"MM'
    return PatternError(f"'{word}' is not an element of a pattern", place, place + len(word), hint)


def _at(token: Token, message: str, hint: str | None = None) -> PatternError:
    return PatternError(message, token.start, token.start + len(token.text), hint)


def _check_parsed(text: str, tokens: tuple[Token, ...]) -> None:
    seen: dict[str, Token] = {}
    for token in tokens:
        if token.field in ("separator", "text"):
            continue
        if not ELEMENTS[token.name].is_parsed:
            raise _at(token, f"{token.name} is not parsed", "use it to write a time; YYYY MM DD, or DDD, parse a date")
        if token.field in seen and token.field not in _ZONE:
            raise _at(token, f"{token.name} is the same part of a time as {seen[token.field].name}")
        for fields in _CONFLICTS:
            for one, others in (fields, fields[::-1]):
                before = [element for field, element in seen.items() if field in others]
                if token.field in one and before:
                    raise _at(token, f"{token.name} cannot be parsed together with {before[0].name}")
        seen[token.field] = token
    if "half_day" in seen and "hour_of_half_day" not in seen:
        raise _at(seen["half_day"], f"{seen['half_day'].name} requires HH12")
    if "zone_minute" in seen and "zone_hour" not in seen:
        raise _at(seen["zone_minute"], "TZM requires TZH")
    if not any(fields <= seen.keys() for fields in _DATES):
        hint = "a date consists of YYYY, MM and DD, or YYYY and DDD, or IYYY, IW and ID"
        raise PatternError("the pattern does not parse a date", 0, max(len(text), 1), hint)


# --- strings to times -------------------------------------------------------------------------------------------------

_ZONE = ("zone_hour", "zone_minute")
_SEPARATOR = f"[{re.escape(_SEPARATORS)}]"
_DIGITS = {
    "month": ("0[1-9]|1[0-2]", "[1-9]"),
    "day": ("0[1-9]|[12][0-9]|3[01]", "[1-9]"),
    "day_of_year": ("(?!000)[0-3][0-9]{2}", "(?!00)[0-9]{1,2}+"),
    "iso_week": ("0[1-9]|[1-4][0-9]|5[0-3]", "[1-9]"),
    "weekday": ("0[1-7]", "[1-7]"),
    "hour_of_half_day": ("0[1-9]|1[0-2]", "[1-9]"),
    "hour": ("[01][0-9]|2[0-3]", "[0-9]"),
    "minute": ("[0-5][0-9]", "[0-9]"),
    "second": ("[0-5][0-9]", "[0-9]"),
    "second_of_day": ("[0-7][0-9]{4}|8[0-5][0-9]{3}|86[0-3][0-9]{2}", "[0-9]{1,4}+"),
    "zone_hour": ("0[0-9]|1[0-5]", "[0-9]"),
    "zone_minute": ("[0-5][0-9]", "[0-9]"),
}
"""The numbers of a part of a time with all digits, and with fewer, which a character other than a digit ends."""


def _expression(token: Token, following: Token | None, is_exact: bool) -> str:
    """What a token matches; none of it is tried again with fewer characters."""
    field, width = token.field, token.width
    if field == "separator":
        return _separators(token.text if is_exact else "", following is not None and following.field == "zone_hour")
    if field == "text":
        return f"(?iu:{re.escape(token.text)})"
    if token.name in NAMES:
        return f"((?i:{'|'.join(name[:width].lower() for name in names_of(field))}))"
    if field == "half_day":  # Hive reads four characters, or two if the second one is an m; without an a it is PM
        rest = r"(?:[mM]|[^mM][\s\S]{0,2}+)"
        if is_exact:
            rest = r"[\s\S]" if len(token.text) == 2 else r"[^mM][\s\S]{2}"
        return f"(?:([aA])|[^aA]){rest}"
    all_digits = is_exact and token.is_filled
    if field == "fraction":
        return f"([0-9]{{0,{width}}}+)"
    if field in ("year", "iso_year"):
        count = f"{{{width}}}" if all_digits else f"{{0,{width}}}+"
        return f"((?!0000)[0-9]{count})" if width == 4 else f"([0-9]{count})"
    full, short = _DIGITS[field]
    if field in _ZONE:
        return f"{'[+-]?' if field == 'zone_hour' else ''}(?:{full}|{short}(?![0-9]))"
    return f"({full})" if all_digits else f"({full}|{short}(?![0-9]))"


def names_of(field: str) -> tuple[str, ...]:
    """Those of months or weekdays."""
    return time_patterns.MONTHS if field == "month" else time_patterns.WEEKDAYS


def _separators(exactly: str, is_before_zone: bool) -> str:
    """All separators, of any kind and number unless FX is in the pattern. Before TZH the last of several is the sign
    of the offset if it is a minus."""
    one = _SEPARATOR
    if exactly:
        end = f"(?!{one})"
        if is_before_zone:
            end = f"(?:{end}|(?=-(?!{one})))" if len(exactly) == 1 or exactly[-1] != "-" else f"(?=-(?!{one}))"
        return re.escape(exactly) + end
    if is_before_zone:
        return f"(?:{one}(?!{one})|{one}+(?=-(?!{one}))|{one}++(?<!-))"
    return f"{one}++"


@cache
def _compile(pattern: Pattern) -> re.Pattern[str]:
    return re.compile(pattern.expression.replace("(?iu:", "(?i:"), re.ASCII)


def parse(pattern: Pattern, text: str, now: int) -> tuple[bool, datetime | None]:
    """(True, the time in the string, None without one), or (False, None) if only Spark can compute it. The first
    digits of a short year are those of the year `now`."""
    if not (text.isascii() and pattern.text.isascii()):
        return False, None  # letters that are equal in another case
    match = _compile(pattern).fullmatch(text)
    if match is None:
        return True, None
    parts = {token.field: (token, part) for token, part in zip(pattern.fields, match.groups(default=""), strict=True)}
    numbers = {field: _number(token, part, now) for field, (token, part) in parts.items()}
    try:
        moment = datetime.combine(_day(numbers), datetime.min.time())
    except ValueError:
        return True, None
    hour = numbers.get("hour", numbers.get("hour_of_half_day", 0) % 12 + 12 * numbers.get("half_day", 0))
    seconds = numbers.get("second_of_day", hour * 3600 + numbers.get("minute", 0) * 60 + numbers.get("second", 0))
    return True, moment + timedelta(seconds=seconds, microseconds=numbers.get("fraction", 0))


def _day(numbers: dict[str, int]) -> date:
    if "iso_year" in numbers:
        return date.fromisocalendar(numbers["iso_year"], numbers["iso_week"], numbers["weekday"])
    if "day_of_year" not in numbers:
        return date(numbers["year"], numbers["month"], numbers["day"])
    day = date.fromordinal(date(numbers["year"], 1, 1).toordinal() + numbers["day_of_year"] - 1)
    if day.year != numbers["year"]:
        raise ValueError(day)
    return day


def _number(token: Token, text: str, now: int) -> int:
    if token.name in NAMES:
        return [name[:3] for name in names_of(token.field)].index(text[:3].capitalize()) + 1
    if token.field == "half_day":
        return 0 if text else 1
    if token.field == "fraction":
        return int(text[:6].ljust(6, "0"))
    if token.field in ("year", "iso_year"):
        return int(century(token, len(text), text, now) + text)
    return int(text)


def century(token: Token, digits: int, text: str, now: int) -> str:
    """The digits before those of a short year."""
    if token.name[0] != "R" or digits != 2:
        return str(now)[: 4 - digits]
    return str(now // 100 + (text < "50") - (now % 100 < 50))
