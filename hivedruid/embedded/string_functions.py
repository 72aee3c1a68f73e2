"""Druid's string functions as SQL."""

from __future__ import annotations

import re
from collections.abc import Callable

from hivedruid.embedded.sql import (
    NULL,
    Sql,
    as_double,
    as_long,
    as_string,
    combine,
    string_literal,
)
from hivedruid.errors import DruidError

Function = tuple[int, int, Callable[[list[Sql]], Sql]]


def _strings(template: str, type_: str = "STRING") -> Callable[[list[Sql]], Sql]:
    """A function of strings whose SQL template returns null for null."""

    def build(arguments: list[Sql]) -> Sql:
        values = [as_string(argument) for argument in arguments]
        return combine(template.format(*(value.text for value in values)), type_, *values)

    return build


def literal_text(argument: Sql, function: str, what: str) -> str | None:
    """The value of an argument that must be a constant in Druid."""
    if not argument.is_literal:
        raise DruidError(f"Function[{function}] {what} argument must be a literal")
    return None if argument.literal is None else str(argument.literal)


def _substring(arguments: list[Sql]) -> Sql:
    text, start, length = as_string(arguments[0]), as_long(arguments[1]), as_long(arguments[2])
    positive = start.is_literal and start.literal >= 0
    sql = f"druid_substring({text.text}, {start.text}, {length.text})"
    return Sql(sql, "STRING", fails=not positive or text.fails or length.fails)


def _sided(name: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        text, count = as_string(arguments[0]), as_long(arguments[1])
        positive = count.is_literal and count.literal is not None and count.literal >= 0
        return Sql(f"druid_{name}({text.text}, {count.text})", "STRING", fails=not positive or text.fails)

    return build


def _padded(name: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        text, count, pad = as_string(arguments[0]), as_long(arguments[1]), as_string(arguments[2])
        return combine(f"druid_{name}({text.text}, {count.text}, {pad.text})", "STRING", text, count, pad)

    return build


def _trim(name: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        text = as_string(arguments[0])
        characters = as_string(arguments[1]).text if len(arguments) > 1 else "' '"
        return combine(f"{name}({text.text}, {characters})", "STRING", *arguments)

    return build


def _concat(arguments: list[Sql]) -> Sql:
    if not arguments:
        return NULL
    values = [as_string(argument) for argument in arguments]
    return combine("(" + " || ".join(value.text for value in values) + ")", "STRING", *values)


def _strpos(arguments: list[Sql]) -> Sql:
    text, sought = as_string(arguments[0]), as_string(arguments[1])
    if len(arguments) == 2:
        return combine(f"druid_strpos({text.text}, {sought.text})", "LONG", text, sought)
    start = as_long(arguments[2])
    return combine(f"druid_strpos_from({text.text}, {sought.text}, {start.text})", "LONG", text, sought, start)


def _repeat(arguments: list[Sql]) -> Sql:
    text, count = as_string(arguments[0]), as_long(arguments[1])
    return combine(f"(CASE WHEN {count.text} > 0 THEN repeat({text.text}, {count.text}) END)", "STRING", text, count)


def _reverse(arguments: list[Sql]) -> Sql:
    if arguments[0].type not in ("STRING", "NULL"):
        raise DruidError(f"Function[reverse] needs a STRING argument but got {arguments[0].type} instead")
    return _strings("druid_reverse({0})")(arguments)


def _parse_long(arguments: list[Sql]) -> Sql:
    text = as_string(arguments[0])
    radix = literal_text(arguments[1], "parse_long", "radix") if len(arguments) > 1 else "10"
    if radix == "10":
        sql = f"(CASE WHEN regexp_full_match({text.text}, '[+-]?[0-9]+') THEN TRY_CAST({text.text} AS BIGINT) END)"
    elif radix == "16":
        digits = f"regexp_replace({text.text}, '^0[xX]', '')"
        sql = f"(CASE WHEN regexp_full_match({digits}, '[0-9a-fA-F]+') THEN TRY_CAST('0x' || {digits} AS BIGINT) END)"
    else:
        raise DruidError(f"Function[parse_long] with radix {radix} is not supported by the embedded store")
    return combine(sql, "LONG", text)


def like(text: Sql, pattern: str, escape: str | None) -> Sql:
    """SQL LIKE; without an escape character there is no escaping."""
    plain = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        escaped = character == escape and position + 1 < len(pattern)
        if escaped:
            position += 1
            character = pattern[position]
        plain.append(f"\\{character}" if character == "\\" or (escaped and character in "%_") else character)
        position += 1
    quoted = string_literal("".join(plain))
    value = as_string(text)
    return combine(f"({value.text} LIKE {quoted} ESCAPE '\\')", "BOOLEAN", value)


def _like(arguments: list[Sql]) -> Sql:
    pattern = literal_text(arguments[1], "like", "pattern")
    escape = literal_text(arguments[2], "like", "escape") if len(arguments) > 2 else None
    if pattern is None or (escape is not None and len(escape) != 1):
        raise DruidError("Function[like] needs a pattern, and an escape of one character")
    return like(arguments[0], pattern, escape)


def _contains(arguments: list[Sql]) -> Sql:
    return _strings("contains({0}, {1})", "BOOLEAN")(arguments)


def _regexp(arguments: list[Sql], function: str) -> tuple[Sql, str]:
    pattern = literal_text(arguments[1], function, "pattern")
    if pattern is None:
        raise DruidError(f"Function[{function}] needs a pattern")
    return as_string(arguments[0]), java_regex(pattern)


def java_regex(pattern: str) -> str:
    """A Java regular expression as a quoted RE2 one; features that RE2 lacks are refused."""
    if re.search(r"\(\?(?:[=!>]|<[=!])|\\[1-9]|[*+?}]\+", pattern):
        raise DruidError(
            f"regular expression '{pattern}': look-around, back references and possessive quantifiers"
            " are not supported by the embedded store"
        )
    return string_literal(pattern)


def _group_count(pattern: str) -> int:
    return len(re.findall(r"\((?!\?)|\(\?<[a-zA-Z]", re.sub(r"\\.|\[[^\]]*\]", "x", pattern)))


def _regexp_like(arguments: list[Sql]) -> Sql:
    text, pattern = _regexp(arguments, "regexp_like")
    return combine(f"regexp_matches({text.text}, {pattern})", "BOOLEAN", text)


def _regexp_extract(arguments: list[Sql]) -> Sql:
    text, pattern = _regexp(arguments, "regexp_extract")
    index = literal_text(arguments[2], "regexp_extract", "index") if len(arguments) > 2 else "0"
    if int(index or 0) > _group_count(str(arguments[1].literal)):
        raise DruidError(f"No group {index}")
    extracted = f"regexp_extract({text.text}, {pattern}, {index})"
    if index != "0" and re.search(r"\)[?*{]|\|", pattern):
        extracted = f"nullif({extracted}, '')"  # a group that did not participate is null; DuckDB returns ''
    return combine(f"(CASE WHEN regexp_matches({text.text}, {pattern}) THEN {extracted} END)", "STRING", text)


def _regexp_replace(arguments: list[Sql]) -> Sql:
    text, pattern = _regexp(arguments, "regexp_replace")
    replacement = literal_text(arguments[2], "regexp_replace", "replacement")
    if replacement is None:
        return NULL

    def convert(match: re.Match[str]) -> str:
        if match[1]:
            return f"\\{match[1]}"
        return "\\\\" if match[2] == "\\" else match[2] or "\\\\"

    converted = re.sub(r"\$(\d)|\\(.)|\\", convert, replacement)
    return combine(f"regexp_replace({text.text}, {pattern}, {string_literal(converted)}, 'g')", "STRING", text)


_FORMAT_PART = r"%(?:%|([-0]?\d*(?:\.\d+)?)([sdxf]))"


def _format(arguments: list[Sql]) -> Sql:
    """`format(pattern, …)`: Java's %s %d %x %f with width, zeros and precision."""
    pattern = literal_text(arguments[0], "format", "pattern")
    if pattern is None:
        return NULL
    values = iter(arguments[1:])
    parts: list[str] = []
    position = 0
    for match in re.finditer(_FORMAT_PART, pattern):
        parts.append(string_literal(pattern[position : match.start()]))
        position = match.end()
        value = next(values, None) if match[2] else None
        if match[2] and value is None:
            raise DruidError(f"Function[format] has too few arguments for '{pattern}'")
        parts.append("'%'" if value is None else _format_value(match[1], match[2], value))
    if "%" in pattern[position:] or "%" in "".join(p for p in parts if p != "'%'" and p.startswith("'")):
        raise DruidError(f"Function[format] supports only %s %d %x %f and %%: '{pattern}'")
    parts.append(string_literal(pattern[position:]))
    return combine("(" + " || ".join(parts) + ")", "STRING", *arguments)


def _format_value(flags: str, kind: str, value: Sql) -> str:
    typed = as_string(value) if kind == "s" else as_double(value) if kind == "f" else as_long(value)
    shown = f"printf('%{flags}{kind}', {typed.text})"
    return f"coalesce({shown}, {string_literal('null'.rjust(int(re.sub('[^0-9].*', '', flags) or 0)))})"


def _human_readable(function: str, base: int, units: str, space: str) -> Callable[[list[Sql]], Sql]:
    """`human_readable_…_format(x[, precision])`: the number in the largest unit that it reaches."""

    def build(arguments: list[Sql]) -> Sql:
        precision = literal_text(arguments[1], function, "precision") if len(arguments) > 1 else "2"
        if arguments[0].type == "STRING":
            return Sql("CAST(NULL AS VARCHAR)", "STRING")
        x = as_long(arguments[0])
        branches = [
            f"WHEN abs(CAST({x.text} AS HUGEINT)) >= {base**power}"
            f" THEN printf('%.{precision}f', {x.text} / CAST('{base**power}' AS DOUBLE)) || ' {unit}'"
            for power, unit in reversed(list(enumerate(units.split(), start=1)))
        ]
        plain = f"CAST({x.text} AS VARCHAR) || '{space}'"
        return combine(f"(CASE {' '.join(branches)} ELSE {plain} END)", "STRING", x)

    return build


STRING_FUNCTIONS: dict[str, Function] = {
    "concat": (0, 99_999, _concat),
    "strlen": (1, 1, _strings("druid_strlen({0})", "LONG")),
    "upper": (1, 1, _strings("druid_upper({0})")),
    "lower": (1, 1, _strings("druid_lower({0})")),
    "replace": (3, 3, _strings("druid_replace({0}, {1}, {2})")),
    "substring": (3, 3, _substring),
    "left": (2, 2, _sided("left")),
    "right": (2, 2, _sided("right")),
    "lpad": (3, 3, _padded("lpad")),
    "rpad": (3, 3, _padded("rpad")),
    "trim": (1, 2, _trim("trim")),
    "ltrim": (1, 2, _trim("ltrim")),
    "rtrim": (1, 2, _trim("rtrim")),
    "strpos": (2, 3, _strpos),
    "repeat": (2, 2, _repeat),
    "reverse": (1, 1, _reverse),
    "parse_long": (1, 2, _parse_long),
    "like": (2, 3, _like),
    "contains_string": (2, 2, _contains),
    "icontains_string": (2, 2, _strings("contains(druid_lower({0}), druid_lower({1}))", "BOOLEAN")),
    "regexp_like": (2, 2, _regexp_like),
    "regexp_extract": (2, 3, _regexp_extract),
    "regexp_replace": (3, 3, _regexp_replace),
    "format": (1, 99_999, _format),
    "human_readable_binary_byte_format": (
        1,
        2,
        _human_readable("human_readable_binary_byte_format", 1024, "KiB MiB GiB TiB PiB EiB", " B"),
    ),
    "human_readable_decimal_byte_format": (
        1,
        2,
        _human_readable("human_readable_decimal_byte_format", 1000, "KB MB GB TB PB EB", " B"),
    ),
    "human_readable_decimal_format": (1, 2, _human_readable("human_readable_decimal_format", 1000, "K M G T P E", "")),
}
"""Function by lower-case name: minimum and maximum number of arguments, and its translation."""
