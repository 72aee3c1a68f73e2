"""Hive's SerDes for text files, by a table's format and SERDEPROPERTIES."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType
from hivedruid.spark.cells import CellFormat, delimiter, literal, regex, value

DEFAULT_NULL = "\\N"
SEPARATORS = tuple(chr(code) for code in (*range(1, 9), 11, 12, *range(14, 27)))
"""LazySimpleSerDe's separators by level of nesting: control characters except line breaks and escape."""


def is_json(table: Table) -> bool:
    return table.format == "jsonfile" or "JsonSerDe" in table.serde.get("serialization.lib", "")


def is_csv(table: Table) -> bool:
    return "OpenCSVSerde" in table.serde.get("serialization.lib", "")


def is_regex(table: Table) -> bool:
    return table.serde.get("serialization.lib", "").endswith(".RegexSerDe")


def delimited_format(table: Table, form: CellFormat) -> CellFormat:
    """The separators, escape character and null of a text table (LazySerDeParameters)."""
    serde = table.serde
    separators = list(SEPARATORS)
    separators[0] = delimiter(serde, "field.delim", delimiter(serde, "serialization.format", separators[0]))
    if table.serde.get("serialization.lib", "").endswith(".MultiDelimitSerDe"):
        separators[0] = serde.get("field.delim") or separators[0]  # several characters
    # Hive misspelled the key before 3.0 (HIVE-16922)
    separators[1] = delimiter(serde, "collection.delim", delimiter(serde, "colelction.delim", separators[1]))
    separators[2] = delimiter(serde, "mapkey.delim", separators[2])
    escape = delimiter(serde, "escape.delim", "") or None
    null = serde.get("serialization.null.format", DEFAULT_NULL)
    return replace(form, separators=tuple(separators), escape=escape, null=null)


def csv_characters(serde: Mapping[str, str]) -> tuple[str, str, str]:
    """Separator, quote and escape character of OpenCSVSerde."""
    return (
        delimiter(serde, "separatorChar", ","),
        delimiter(serde, "quoteChar", '"'),
        delimiter(serde, "escapeChar", "\\"),
    )


def quoted_fields(text: str, serde: Mapping[str, str]) -> str:
    """The raw fields of a CSV line, including quotes."""
    separator, quote, escape = csv_characters(serde)
    s, q, e = map(regex, (separator, quote, escape))
    quoted = f"\\s*{q}(?:{e}.|{q}{q}|[^{q}{e}])*{q}\\s*(?={s}|$)"
    pattern = f"(?s){s}({quoted}|[^{s}]*)"
    return f"regexp_extract_all(concat({literal(separator)}, {text}), {literal(pattern)}, 1)"


def quoted_field(text: str, serde: Mapping[str, str]) -> str:
    """The value of one field: unquoted, with doubled or escaped quotes replaced by single ones."""
    _, quote, escape = csv_characters(serde)
    q, e = regex(quote), regex(escape)
    whole = f"(?s)^\\s*{q}(.*){q}\\s*$"
    inner = f"regexp_extract({text}, {literal(whole)}, 1)"
    doubled = f"{q}({q})" if quote == escape else f"(?s)[{q}{e}]([{q}{e}])"
    plain = f"regexp_replace({inner}, {literal(doubled)}, '$1')"
    return f"IF({text} RLIKE {literal(whole)}, {plain}, {text})"


def group_texts(text: str, count: int, serde: Mapping[str, str]) -> list[str]:
    """The texts of the first groups of RegexSerDe's `input.regex`, which matches the whole of a line; null for a group
    that does not exist, or that does not participate in the match.

    Spark's regexp_extract is empty for both. A group participates if a reference to it matches after the lookahead.
    """
    flags = "(?si)" if serde.get("input.regex.case.insensitive", "").lower() == "true" else "(?s)"
    pattern = serde["input.regex"]
    whole = literal(f"{flags}^(?:{pattern})\\z")
    texts = []
    for number in range(1, count + 1):
        participates = literal(f"{flags}^(?=(?:{pattern})\\z).*?\\{number}")
        group = f"IF({text} RLIKE {participates}, regexp_extract({text}, {whole}, {number}), NULL)"
        texts.append(group if number <= _groups(pattern) else "CAST(NULL AS STRING)")
    return texts


def group_value(text: str, hive: HiveType, form: CellFormat) -> str:
    """The value of a group, by Java's valueOf: no fractions of integers, every text but true is false."""
    if hive.name == "boolean":
        return f"coalesce(lower({text}) = 'true', FALSE)"
    if hive.is_integer:
        return f"IF({text} RLIKE '^[+-]?[0-9]+$', {value(text, hive, form)}, NULL)"
    return value(text, hive, form)


_GROUP = re.compile(
    r"\\Q.*?(?:\\E|$)|\\.|(?P<open>\[)\^?\]?|(?P<close>\])|(?P<group>\((?!\?)|\(\?<(?![=!]))", re.DOTALL
)


def _groups(pattern: str) -> int:
    """The number of capturing groups of one of Java's regular expressions."""
    count = depth = 0
    for match in _GROUP.finditer(pattern):
        depth += bool(match["open"]) - bool(match["close"] and depth)
        count += bool(match["group"] and not depth)
    return count
