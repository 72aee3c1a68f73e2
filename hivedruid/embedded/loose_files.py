"""Text files without a table: read once by DuckDB, and copied into a Parquet file with the types of all their values.

Types come from every value, not from a sample, so no later value can fail to fit. An empty field is NULL, a quoted one
an empty string. Hive has no rule for this, since its tables declare their columns; where a number would lose something
(leading zeros, a sign, digits beyond those of a DOUBLE), the column is a STRING.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import duckdb

from hivedruid.catalog import types as t
from hivedruid.catalog.names import free_name
from hivedruid.catalog.types import HiveType
from hivedruid.embedded.sql import plain_identifier, string_literal
from hivedruid.errors import UnreadableFileError
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SEPARATORS = (",", ";", "\t", "|")
"""In the order of preference."""
_HEAD = 1 << 18
"""The bytes at the start of a file that decide on its separator and header."""
_HEAD_ROWS = 200
_WRONG_IN_NAME = re.compile(r"[.:`\s]+")


@dataclass(frozen=True)
class CopiedFile:
    """The columns of text files that were copied into a Parquet file. `separator` and `has_header` are those of
    delimited text; `is_plain`: a delimited table of Hive with these columns, whose null is an empty field, has the same
    values."""

    columns: tuple[tuple[str, HiveType], ...]
    separator: str = ""
    has_header: bool = False
    is_plain: bool = False


@dataclass(frozen=True)
class _Head:
    """What the first lines of a delimited file show."""

    separator: str
    names: tuple[str, ...]
    has_header: bool


# A value has the first kind whose condition it satisfies.
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
_FIRST_DATE = "DATE '0001-01-01'"


def _fits(type_: str) -> str:
    return f"TRY_CAST(v AS {type_}) IS NOT NULL"


_KINDS: tuple[tuple[str, str, str], ...] = (
    ("integer", "-?[1-9][0-9]{0,14}|0", _fits("BIGINT")),
    ("long", "-?[1-9][0-9]{15,18}", _fits("BIGINT")),
    ("double", r"-?((0|[1-9][0-9]{0,14})\.[0-9]*|\.[0-9]+|(0|[1-9][0-9]{0,14})(\.[0-9]+)?[eE][+-]?[0-9]{1,3})",
     "isfinite(TRY_CAST(v AS DOUBLE))"),
    ("boolean", "(?i:true|false)", _fits("BOOLEAN")),
    ("date", _DATE, f"TRY_CAST(v AS DATE) >= {_FIRST_DATE}"),
    ("time", f"{_DATE}[ T]{_TIME}", f"TRY_CAST(v AS TIMESTAMP) >= {_FIRST_DATE}"),
    ("utc", f"{_DATE}[ T]{_TIME}Z", f"TRY_CAST(rtrim(v, 'Z') AS TIMESTAMP) >= {_FIRST_DATE}"),
)  # fmt: skip
"""Kinds of values: the pattern of the text, and the condition that it also has to satisfy. A long has more digits than
a DOUBLE, and a time may end with Z, which is how instants in UTC are written."""
_TYPES: tuple[tuple[frozenset[str], HiveType], ...] = (
    (frozenset({"integer", "long"}), t.BIGINT),
    (frozenset({"integer", "double"}), t.DOUBLE),
    (frozenset({"boolean"}), t.BOOLEAN),
    (frozenset({"date"}), t.DATE),
    (frozenset({"date", "time"}), t.TIMESTAMP),
    (frozenset({"utc"}), t.TIMESTAMP),
)
"""The type of a column whose values are of these kinds, the first that has them all; otherwise it is a STRING."""
_TEXT_KINDS = ("date", "time", "utc")
"""The kinds of strings of JSON that are not strings."""


def copy_delimited(paths: Sequence[str], target: Path, separator: str | None) -> CopiedFile:
    """Copy delimited text with a separator, or the one that the first lines show. Raises UnreadableFileError."""
    heads = [_head(path, separator) for path in paths]
    first = heads[0]
    for path, head in zip(paths, heads, strict=True):
        if head != first:
            raise UnreadableFileError(
                f"{Path(path).name} has other columns than {Path(paths[0]).name}", "read the files one by one"
            )
    fields = [f"c{n}" for n in range(len(first.names))]
    with duckdb.connect() as connection:
        _define(connection, paths, fields, first)
        kinds, is_odd = _kinds_of(connection, "rows", fields, [each[0] for each in _KINDS])
        types = [_type_of(each) for each in kinds]
        items = [
            f"{_converted(field, type_)} AS {plain_identifier(name)}"
            for field, type_, name in zip(fields, types, first.names, strict=True)
        ]
        _copy(connection, items, target)
    odd = any(flag and type_ != t.STRING for flag, type_ in zip(is_odd, types, strict=True))
    is_plain = not odd and not any(_has_quotes(path) for path in paths)
    return CopiedFile(tuple(zip(first.names, types, strict=True)), first.separator, first.has_header, is_plain)


def copy_json(paths: Sequence[str], target: Path) -> CopiedFile:
    """Copy the objects of JSON files, one in a line or all in an array. Raises UnreadableFileError."""
    options = (
        "sample_size=-1, maximum_depth=-1, map_inference_threshold=-1, field_appearance_threshold=0,"
        " dateformat='@@', timestampformat='@@'"  # that of no string: those that are times are found below
    )
    with duckdb.connect() as connection:
        listed = ", ".join(string_literal(path) for path in paths)
        _run(connection, f"CREATE VIEW rows AS SELECT * FROM read_json([{listed}], {options})")
        found = [(str(row[0]), str(row[1])) for row in _run(connection, "DESCRIBE rows").fetchall()]
        if [name for name, _ in found] == ["json"]:
            raise UnreadableFileError("its values are not JSON objects", "write an object for each row")
        found = _with_exact_numbers(connection, listed, found)
        found = [(name, _narrowed(connection, name, type_)) for name, type_ in found]
        names = _names([name for name, _ in found])
        texts = [name for name, type_ in found if type_ == "VARCHAR"]
        kinds, _ = _kinds_of(connection, "rows", [plain_identifier(name) for name in texts], _TEXT_KINDS)
        moments = dict(zip(texts, map(_type_of, kinds), strict=True))
        columns, items = [], []
        for name, (given, type_) in zip(names, found, strict=True):
            hive, field = moments.get(given) or _of_duckdb(type_), plain_identifier(given)
            value = _converted(field, hive) if given in moments else _of_json(field, type_, hive)
            columns.append((name, hive))
            items.append(f"{value} AS {plain_identifier(name)}")
        _copy(connection, items, target)
    return CopiedFile(tuple(columns))


def _with_exact_numbers(
    connection: DuckDBPyConnection, listed: str, columns: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The columns of the view `rows` with VARCHAR for those of DOUBLE that would lose digits of integers, or are out of
    its range; the view is then defined again."""
    doubles = [name for name, type_ in columns if type_ == "DOUBLE"]
    if not doubles:
        return columns
    items = (
        f"bool_or(regexp_full_match({field}, '-?[0-9]{{16,}}') OR NOT isfinite(TRY_CAST({field} AS DOUBLE)))"
        for field in map(plain_identifier, doubles)
    )
    row = _run(connection, f"SELECT {', '.join(items)} FROM {_json_as(listed, [(n, 'VARCHAR') for n in doubles])}")
    inexact = {name for name, is_lost in zip(doubles, row.fetchone() or (), strict=True) if is_lost}
    if not inexact:
        return columns
    columns = [(name, "VARCHAR" if name in inexact else type_) for name, type_ in columns]
    _run(connection, f"CREATE OR REPLACE VIEW rows AS SELECT * FROM {_json_as(listed, columns)}")
    return columns


def _json_as(listed: str, columns: Sequence[tuple[str, str]]) -> str:
    """JSON files with these columns of given types."""
    types = ", ".join(f"{string_literal(name)}: {string_literal(type_)}" for name, type_ in columns)
    return f"read_json([{listed}], columns={{{types}}})"


def _copy(connection: DuckDBPyConnection, items: Sequence[str], target: Path) -> None:
    """The items, in SQL, of the view `rows` as one Parquet file."""
    _run(connection, f"COPY (SELECT {', '.join(items)} FROM rows) TO {string_literal(str(target))} (FORMAT parquet)")


def _define(connection: DuckDBPyConnection, paths: Sequence[str], fields: Sequence[str], head: _Head) -> None:
    """The view `rows` with the fields as strings."""
    columns = ", ".join(f"'{field}': 'VARCHAR'" for field in fields)
    listed = ", ".join(string_literal(path) for path in paths)
    _run(
        connection,
        f"CREATE VIEW rows AS SELECT * FROM read_csv([{listed}], columns={{{columns}}}, auto_detect=false,"
        f" header={str(head.has_header).lower()}, delim={string_literal(head.separator)}, quote='\"', escape='\"',"
        " nullstr='', allow_quoted_nulls=false, strict_mode=true, max_line_size=16777216)",
    )


def _kinds_of(
    connection: DuckDBPyConnection, rows: str, fields: Sequence[str], kinds: Sequence[str]
) -> tuple[list[frozenset[str]], list[bool]]:
    """The kinds of the values of each field, and whether some are not written as Hive's delimited tables read them."""
    if not fields:
        return [], []
    items = []
    for field in fields:
        value = f"trim({field})"
        cases = " ".join(
            f"WHEN regexp_full_match({value}, {string_literal(pattern)})"
            f" AND {condition.replace('(v', f'({value}')} THEN '{kind}'"
            for kind, pattern, condition in _KINDS
            if kind in kinds
        )
        items.append(f"list(DISTINCT CASE WHEN {field} IS NULL THEN NULL {cases} ELSE 'string' END)")
        items.append(f"bool_or({field} <> {value} OR regexp_matches({value}, '[TZ]') OR length({value}) = 16)")
    row = _run(connection, f"SELECT {', '.join(items)} FROM {rows}").fetchone() or ()
    return [frozenset(each or ()) - {None} for each in row[::2]], [bool(each) for each in row[1::2]]


def _type_of(kinds: frozenset[str]) -> HiveType:
    return next((type_ for known, type_ in _TYPES if kinds and kinds <= known), t.STRING)


_DUCKDB_NAMES = {t.BIGINT: "BIGINT", t.DOUBLE: "DOUBLE", t.BOOLEAN: "BOOLEAN", t.DATE: "DATE", t.TIMESTAMP: "TIMESTAMP"}


def _converted(field: str, type_: HiveType) -> str:
    """A text as a value of its type."""
    if type_ == t.STRING:
        return field
    return f"CAST(rtrim(trim({field}), 'Z') AS {_DUCKDB_NAMES[type_]})"


_OF_DUCKDB = {"BIGINT": t.BIGINT, "DOUBLE": t.DOUBLE, "BOOLEAN": t.BOOLEAN, "UBIGINT": t.decimal(20),
              "HUGEINT": t.decimal(38)}  # fmt: skip


def _of_duckdb(name: str) -> HiveType:
    """The type of a column of JSON; objects and arrays, and what has no common type, are their text."""
    return _OF_DUCKDB.get(name, t.STRING)


def _narrowed(connection: DuckDBPyConnection, name: str, type_: str) -> str:
    """BIGINT for wider integers that fit: DuckDB derives them from the signs of few values."""
    if type_ not in ("UBIGINT", "HUGEINT"):
        return type_
    field = plain_identifier(name)
    test = f"SELECT bool_and(TRY_CAST({field} AS BIGINT) IS NOT NULL OR {field} IS NULL) FROM rows"
    (fits,) = _run(connection, test).fetchone() or (False,)
    return "BIGINT" if fits else type_


def _of_json(field: str, given: str, type_: HiveType) -> str:
    """A value of DuckDB's type `given`; values of several types have the type JSON."""
    if given == "JSON":
        return f"{field} ->> '$'"
    if type_ == t.STRING:
        return f"CAST(to_json({field}) AS VARCHAR)"
    if type_.name == "decimal":
        return f"CAST({field} AS DECIMAL({type_.params[0]}, 0))"
    return f"CAST({field} AS {_DUCKDB_NAMES[type_]})"


# --- the first lines ----------------------------------------------------------------------------------------------


def _head(path: str, separator: str | None) -> _Head:
    text, is_whole = _first_text(path)
    rows = {each: _first_rows(text, each, is_whole=is_whole) for each in ([separator] if separator else SEPARATORS)}
    chosen = max(rows, key=lambda each: _evidence(rows[each]))
    found = rows[chosen]
    if not found:
        raise UnreadableFileError("it has no rows", "write a line with the names of the columns")
    has_header = _is_header(found)
    names = found[0] if has_header else [""] * len(found[0])
    return _Head(chosen, tuple(_names(names)), has_header)


def _first_text(path: str) -> tuple[str, bool]:
    """The first lines of a file, and whether these are all."""
    with _opened(path) as file:
        head = file.read(_HEAD)
        is_whole = len(head) < _HEAD
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head:
        raise UnreadableFileError("it is not a text in UTF-8", "convert it, for example with iconv -t UTF-8")
    return _decoded(head if is_whole else head[: head.rfind(b"\n") + 1] or head), is_whole


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """The bytes of a file, or of one that is compressed. Raises UnreadableFileError."""
    try:
        with gzip.open(path) if path.lower().endswith(".gz") else Path(path).open("rb") as file:
            yield cast("BinaryIO", file)
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableFileError(reason.partition("(")[0].strip(), "check the file") from error


def _decoded(head: bytes) -> str:
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = head[: error.start].count(b"\n") + 1
        reason = f"it is not a text in UTF-8: line {line} has the byte 0x{head[error.start]:02x}"
        raise UnreadableFileError(reason, "convert it, for example with iconv -f WINDOWS-1252 -t UTF-8") from None


def _first_rows(text: str, separator: str, *, is_whole: bool) -> list[list[str]]:
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if row:
                rows.append(row)
            if len(rows) == _HEAD_ROWS:
                return rows
    except csv.Error:
        pass
    return rows if is_whole else rows[:-1] or rows  # the last one may be a part of a row


def _evidence(rows: list[list[str]]) -> tuple[bool, int]:
    """How likely a separator is: that all lines have the same number of fields, and how many."""
    widths = {len(row) for row in rows}
    return len(widths) == 1 and max(widths) > 1, len(rows[0]) if rows else 0


_NUMBER_OR_TIME = re.compile(rf"[+-]?[0-9.,]+([eE][+-]?[0-9]+)?%?|{_DATE}.*|true|false", re.IGNORECASE)


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row has names: none is a number, a date or a boolean, or a column has only such values below a
    name that is not one."""
    is_typed = [[bool(_NUMBER_OR_TIME.fullmatch(value.strip())) for value in row] for row in rows]
    if not any(is_typed[0]):
        return any(value.strip() for value in rows[0])
    width = min(map(len, rows))
    below = [
        {row[n] for row, given in zip(is_typed[1:], rows[1:], strict=True) if given[n].strip()} for n in range(width)
    ]
    return any(rows[0][n].strip() and not is_typed[0][n] and below[n] == {True} for n in range(width))


def _names(given: Iterable[str]) -> list[str]:
    """Names of columns that Hive accepts: in lower case, each once; `_c0` and so on for those without one."""
    names: list[str] = []
    for place, each in enumerate(given):
        names.append(free_name(_WRONG_IN_NAME.sub("_", each.strip().lower()) or f"_c{place}", names, first=1))
    return names


def _has_quotes(path: str) -> bool:
    with _opened(path) as file:
        return any(b'"' in part for part in iter(lambda: file.read(1 << 20), b""))


# --- DuckDB -------------------------------------------------------------------------------------------------------


_LINE = re.compile(r"(?:on Line: |in line )(\d+)")
_PLACE = re.compile(r' in file "[^"]*"|, at byte \d+ in line \d+')
_WIDTHS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")


def _run(connection: DuckDBPyConnection, sql: str) -> DuckDBPyConnection:
    try:
        return connection.execute(sql)
    except duckdb.Error as error:
        raise _reason(str(error)) from error


def _reason(text: str) -> UnreadableFileError:
    """DuckDB's message without the values of the file and its own options."""
    at = f"line {match[1]}: " if (match := _LINE.search(text)) else ""
    if widths := _WIDTHS.search(text):
        hint = "add the missing separators, or quote fields that contain one"
        fields = "1 field" if widths[2] == "1" else f"{widths[2]} fields"
        return UnreadableFileError(f"{at}{fields} instead of {widths[1]}", hint)
    if "unterminated quote" in text:
        return UnreadableFileError(f"{at}a quote has no end", 'close it, and write a quote inside quotes as ""')
    first = _PLACE.sub("", text.partition("\n")[0].partition(": ")[2])
    return UnreadableFileError(f"{at}{first.strip().rstrip('.')}", "correct the file")
