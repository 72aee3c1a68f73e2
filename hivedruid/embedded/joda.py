"""Joda-Time patterns as SQL: `timestamp_format` and `timestamp_parse` of Druid's expressions."""

from __future__ import annotations

import re

from hivedruid.embedded.periods import Zone
from hivedruid.embedded.sql import string_literal
from hivedruid.errors import DruidError

_LETTERS = r"''|'((?:[^']|'')*)'|([a-zA-Z])\2*|[^a-zA-Z']+"

_NUMBERS = {
    "M": "month({ts})",
    "d": "day({ts})",
    "D": "dayofyear({ts})",
    "e": "isodow({ts})",
    "w": "week({ts})",
    "H": "hour({ts})",
    "k": "(CASE WHEN hour({ts}) = 0 THEN 24 ELSE hour({ts}) END)",
    "K": "(hour({ts}) % 12)",
    "h": "(CASE WHEN hour({ts}) % 12 = 0 THEN 12 ELSE hour({ts}) % 12 END)",
    "m": "minute({ts})",
    "s": "(millisecond({ts}) // 1000)",
    "C": "(abs(year({ts})) // 100)",
}
_YEARS = {
    "y": "year({ts})",
    "x": "isoyear({ts})",
    "Y": "(CASE WHEN year({ts}) > 0 THEN year({ts}) ELSE 1 - year({ts}) END)",
}
_MONTHS = "['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']"
_MONTH_NAME = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)


def _tokens(pattern: str) -> list[tuple[str, int] | str]:
    """The pattern as fields (letter, length) and literal texts."""
    result: list[tuple[str, int] | str] = []
    position = 0
    while position < len(pattern):
        match = re.compile(_LETTERS).match(pattern, position)
        if match is None:
            raise DruidError(f"Invalid pattern '{pattern}': a quote is not closed")
        if match[2]:
            result.append((match[2], len(match[0])))
        elif match[0] == "''":
            result.append("'")
        else:
            result.append(match[1].replace("''", "'") if match[1] is not None else match[0])
        position = match.end()
    if not result:
        raise DruidError("Invalid pattern specification")
    return result


def _padded(number: str, width: int) -> str:
    if width == 1:
        return f"CAST({number} AS VARCHAR)"
    return f"druid_pad({number}, {width})"


def format_sql(t: str, pattern: str | None, zone: Zone) -> str:
    """SQL for the text of instant `t`; without a pattern ISO-8601 with milliseconds and offset."""
    wall = zone.wall(t)
    ts = f"epoch_ms({wall})"
    offset = f"({wall} - {t})"
    if pattern is None:
        text = " || ".join(_format_field(field, ts, offset, zone) for field in _tokens("yyyy-MM-dd'T'HH:mm:ss.SSS"))
        end = "'Z'" if zone.is_utc else f"CASE WHEN {offset} = 0 THEN 'Z' ELSE {_offset_text(offset, ':')} END"
        return f"({text} || {end})"
    parts = [_format_field(field, ts, offset, zone) for field in _tokens(pattern)]
    guard = f"CASE WHEN {t} IS NOT NULL THEN '' END"
    return "(" + " || ".join([guard, *parts]) + ")"


def _offset_text(offset: str, colon: str) -> str:
    hours = f"druid_pad(abs({offset}) // 3600000, 2)"
    minutes = f"druid_pad(abs({offset}) % 3600000 // 60000, 2)"
    return f"(CASE WHEN {offset} < 0 THEN '-' ELSE '+' END || {hours} || '{colon}' || {minutes})"


def _format_field(field: tuple[str, int] | str, ts: str, offset: str, zone: Zone) -> str:
    if isinstance(field, str):
        return string_literal(field)
    letter, width = field
    if letter in _YEARS:
        year = _YEARS[letter].format(ts=ts)
        return _padded(f"(abs({year}) % 100)", 2) if width == 2 else _padded(year, width)
    if letter in ("M", "E") and (width >= 3 or letter == "E"):
        name = f"{'monthname' if letter == 'M' else 'dayname'}({ts})"
        return f"left({name}, 3)" if width < 4 else name
    if letter in _NUMBERS:
        return _padded(_NUMBERS[letter].format(ts=ts), width)
    if letter == "S":
        return f"left(rpad(druid_pad(millisecond({ts}) % 1000, 3), {max(width, 3)}, '0'), {width})"
    if letter == "a":
        return f"(CASE WHEN hour({ts}) < 12 THEN 'AM' ELSE 'PM' END)"
    if letter == "G":
        return f"(CASE WHEN year({ts}) > 0 THEN 'AD' ELSE 'BC' END)"
    if letter == "Z" and width <= 2:
        return _offset_text(offset, ":" if width == 2 else "")
    if letter == "Z":
        return zone.literal
    if letter == "z" and zone.is_utc:
        return "'UTC'" if width < 4 else "'Coordinated Universal Time'"
    raise DruidError(f"pattern letter '{letter}' is not supported by the embedded store")


_ISO = (
    r"(?P<y>[+-]?\d{1,9})(?:-(?P<mo>\d{1,2})(?:-(?P<d>\d{1,2}))?)?"
    r"(?:[T ](?:(?P<h>\d{1,2})(?::(?P<mi>\d{1,2})(?::(?P<s>\d{1,2})(?:[.,](?P<f>\d+))?)?)?)?"
    r"(?P<z>[Zz]|[+-]\d{2}(?::?\d{2})?)?)?"
)
_PARSE_FIELDS = {"y": "y", "Y": "y", "M": "mo", "d": "d", "H": "h", "h": "hh", "m": "mi", "s": "s", "S": "f", "a": "a"}


def parse_sql(text: str, pattern: str | None, zone: Zone) -> str:
    """SQL for the instant that a text means, null if it does not match; the zone is used if there is no offset."""
    regex = _ISO if pattern is None else _parse_regex(pattern)
    groups = re.findall(r"\?P<(\w+)>", regex)
    plain = re.sub(r"\?P<\w+>", "", regex)
    names = ", ".join(f"'{name}'" for name in groups)
    fields = f"regexp_extract({text}, {string_literal('^' + plain + '$')}, [{names}], 'i')"
    guard = f"regexp_full_match({text}, {string_literal(plain)}, 'i')"
    wall = _wall_sql(groups)
    with_zone = f"(CASE WHEN {zone.wall(zone.instant_of('w'))} = w THEN {zone.instant_of('w')} END)"
    result = with_zone if zone.name is not None else zone.instant_of("w")
    if "z" in groups:
        result = f"(CASE WHEN p.z = '' THEN {result} ELSE w - {_OFFSET_SQL} END)"
    # One-element lists implement LET: `p` the fields, `w` their wall clock time.
    inner = f"list_transform([{wall}], lambda w: {result})[1]"
    return f"(CASE WHEN {guard} THEN list_transform([{fields}], lambda p: {inner})[1] END)"


_OFFSET_SQL = (
    "(CASE WHEN lower(p.z) = 'z' THEN 0 ELSE (CASE WHEN left(p.z, 1) = '-' THEN -1 ELSE 1 END)"
    " * (CAST(substring(p.z, 2, 2) AS BIGINT) * 3600000"
    " + CAST(rpad(replace(substring(p.z, 4), ':', ''), 2, '0') AS BIGINT) * 60000) END)"
)


def _wall_sql(groups: list[str]) -> str:
    def field(name: str, default: int) -> str:
        return f"coalesce(TRY_CAST(p.{name} AS BIGINT), {default})" if name in groups else f"CAST({default} AS BIGINT)"

    year = field("y", 1970 if "y" in groups or not {"mo", "d", "mon"} & set(groups) else 2000)
    month = f"list_position({_MONTHS}, lower(left(p.mon, 3)))" if "mon" in groups else field("mo", 1)
    hour = field("h", 0)
    valid = f"{field('mi', 0)} < 60 AND {field('s', 0)} < 60 AND {hour} < 24"
    if "hh" in groups:
        half = "(CASE WHEN lower(p.a) = 'pm' THEN 12 ELSE 0 END)" if "a" in groups else "0"
        hour = f"({field('hh', 0)} % 12 + {half})"
        valid += f" AND {field('hh', 1)} BETWEEN 1 AND 12"
    date = f"TRY(make_date({year}, {month}, {field('d', 1)}))"
    fraction = "CAST(left(rpad(p.f, 3, '0'), 3) AS BIGINT)" if "f" in groups else "0"
    clock = f"{hour} * 3600000 + {field('mi', 0)} * 60000 + {field('s', 0)} * 1000 + {fraction}"
    return f"CASE WHEN {valid} THEN epoch_ms(CAST({date} AS TIMESTAMP)) + {clock} END"


def _parse_regex(pattern: str) -> str:
    tokens = _tokens(pattern)
    parts = []
    for position, token in enumerate(tokens):
        if isinstance(token, str):
            parts.append(re.sub(r"([^A-Za-z0-9\s])", r"\\\1", token))
            continue
        letter, width = token
        follower = tokens[position + 1] if position + 1 < len(tokens) else ""
        parts.append(_parse_field(letter, width, isinstance(follower, tuple) and follower[0] in "yMdHhmsS"))
    return "".join(parts)


def _parse_field(letter: str, width: int, number_follows: bool) -> str:
    if letter == "M" and width >= 3:
        return f"(?P<mon>{_MONTH_NAME})"
    if letter in ("Z", "z"):
        return r"(?P<z>Z|[+-]\d{2}:?\d{2})"
    if letter == "a":
        return "(?P<a>am|pm)"
    if letter in ("y", "Y") and width != 2:
        digits = rf"\d{{{width}}}" if number_follows else r"[+-]?\d{1,9}"
        return f"(?P<y>{digits})"
    name = _PARSE_FIELDS.get(letter)
    if name is None or name == "y":
        raise DruidError(f"pattern letters '{letter * width}' cannot be parsed by the embedded store")
    digits = rf"\d{{{width}}}" if number_follows else r"\d{1,9}" if letter == "S" else r"\d{1,2}"
    return f"(?P<{name}>{digits})"
