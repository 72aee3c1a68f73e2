"""Drill's tests of window functions, as Druid has them: a file `.q` with a query, a file `.e` with its rows.

Druid has no dates and times but milliseconds: columns of these types are BIGINT, and the rows' dates and times are read
as their milliseconds. A window without NULLS FIRST or LAST has the lowest value for NULL, which is what the session of
the runner has, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from zipfile import ZipFile

from tests.suites.cases import Case, Table
from tests.suites.comparison import TextRows, milliseconds
from tests.suites.jars import open_jar

TABLES = "drill/window/datasources/"
QUERIES = "drill/window/queries/"
OTHER_TABLES = re.compile(r'\bfrom\s+"?(wikipedia\w*|foo\w*|numfoo|v1)\b', re.IGNORECASE)
NOT_COMPARABLE = {
    "nestedAggs/basic_3.q": "col2 is a FLOAT in its file, whose sums have its digits",
    "nestedAggs/woutPrtnBy_6.q": "NULL is the last value of its order",
    "nestedAggs/woutPrtnBy_7.q": "NULL is the last value of its order",
}
"""Queries by their places, and why other rows are right here."""


def cases() -> Iterator[Case]:
    with open_jar("druid-sql-tests") as jar:
        names = jar.namelist()
        tables = tuple(_table(jar, name) for name in names if name.startswith(TABLES) and name.endswith(".json"))
        for name in sorted(name for name in names if name.startswith(QUERIES) and name.endswith(".q")):
            query = jar.read(name).decode()
            rows = f"{name.removesuffix('.q')}.e"
            yield case(name.removeprefix(QUERIES), query, jar.read(rows).decode() if rows in names else None, tables)


def case(place: str, query: str, rows: str | None, tables: tuple[Table, ...]) -> Case:
    reason = "no rows are listed" if rows is None else NOT_COMPARABLE.get(place, "")
    if (other := OTHER_TABLES.search(query)) is not None:
        reason = f"the rows of {other[1].lower()} are not in the jar"
    lines = () if rows is None else tuple(tuple(line.split("\t")) for line in rows.splitlines())
    return Case(place, query, hive_sql(query), TextRows(lines, "null"), tables, reason=reason)


def table_of(name: str, objects: Sequence[Mapping[str, Any]]) -> Table:
    """A table of rows that are JSON objects: its types are those of the values."""
    names = list(dict.fromkeys(key for row in objects for key in row))
    columns = tuple((key.lower(), _type([row.get(key) for row in objects])) for key in names)
    return Table(name, columns, tuple(tuple(row.get(key) for key in names) for row in objects))


def _table(jar: ZipFile, name: str) -> Table:
    lines = jar.read(name).decode().splitlines()
    return table_of(PurePosixPath(name).name.split(".")[0].lower(), [json.loads(line) for line in lines if line])


def _type(values: list[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "boolean"
    if kinds <= {int}:
        return "bigint"
    return "double" if kinds <= {int, float} else "string"


_TIME = re.compile(
    r"TIMESTAMP_TO_MILLIS\s*\(\s*TIME_PARSE\s*\(\s*'([^']*)'\s*(?:,\s*'[^']*'\s*)?\)\s*\)", re.IGNORECASE
)


def hive_sql(sql: str) -> str:
    """A query in Hive's dialect: names unquoted, a time as its milliseconds, casts to STRING."""
    text = _TIME.sub(lambda found: str(milliseconds(found[1].replace("T", " ").rstrip("Z"))), sql.strip().rstrip(";"))
    text = re.sub(r'"(\w+)\.parquet"', r"\1", text)
    text = re.sub(r'"(\w+)"', r"`\1`", text)
    text = re.sub(r"(?i)\bAS\s+(VAR)?CHAR\s*\)", "AS STRING)", text)
    return re.sub(r"(?i)\bOFFSET\s+(\d+)\s+ROWS\s+FETCH\s+(?:FIRST|NEXT)\s+(\d+)\s+ROWS?\s+ONLY", r"LIMIT \1, \2", text)
