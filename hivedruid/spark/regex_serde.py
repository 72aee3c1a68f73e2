"""RegexSerDe: the columns of a line are the groups of a Java regular expression that matches all of it."""

from __future__ import annotations

import re

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType
from hivedruid.errors import ExecutionError
from hivedruid.spark.cells import CellFormat, literal, value

PATTERN, IGNORES_CASE = "input.regex", "input.regex.case.insensitive"
_TOKEN = re.compile(r"\\Q.*?\\E|\\.|\[\^?\]?(?:\\.|\[[^\]]*\]|[^\]])*\]|\((?!\?)|\(\?<(?![=!])", re.DOTALL)
"""Escapes and classes of characters, which hide parentheses, and the beginnings of groups."""


def groups(pattern: str) -> int:
    """The number of groups that capture text."""
    return sum(token.startswith("(") for token in _TOKEN.findall(pattern))


def regex_cells(table: Table, form: CellFormat) -> list[str]:
    """The value of each column, from the column `value`. A column is NULL if the line does not match, or its group is
    not part of the match."""
    pattern = table.effective_serde.get(PATTERN, "")
    if (count := groups(pattern)) != len(table.columns):
        raise ExecutionError(
            f"{PATTERN} of {table.full_name} has {count} groups, but the table has {len(table.columns)} columns",
            hint=f"use ALTER TABLE {table.full_name} SET SERDEPROPERTIES ('{PATTERN}' = '…'): a group for each column",
        )
    flags = "(?si)" if table.effective_serde.get(IGNORES_CASE, "").lower() == "true" else "(?s)"
    whole = literal(f"{flags}^(?:{pattern})\\z")
    cells = []
    for number, column in enumerate(table.columns, 1):
        # a reference to a group that is not part of the match fails; the text of every other group is in the line
        has_group = literal(f"{flags}^(?=(?:{pattern})\\z).*?\\{number}")
        text = f"IF(value RLIKE {has_group}, regexp_extract(value, {whole}, {number}), NULL)"
        cells.append(_typed(text, column.type, form, f"value RLIKE {whole}"))
    return cells


def _typed(text: str, hive: HiveType, form: CellFormat, matches: str) -> str:
    """The value as the valueOf methods of Java and Hive read it; Boolean.valueOf(null) is false."""
    if hive.name == "boolean":
        return f"IF({matches}, coalesce(lower({text}) = 'true', FALSE), NULL)"
    if hive.is_integer:
        return f"IF({text} RLIKE '^[+-]?[0-9]+$', {value(text, hive, form)}, NULL)"
    return value(text, hive, form)
