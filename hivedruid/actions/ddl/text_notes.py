"""Notes on CREATE EXTERNAL TABLE over text files whose first lines do not fit its clauses. Hive reads such files
without an error, and with wrong values."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from hivedruid.catalog.kinds import OPEN_CSV
from hivedruid.catalog.types import STRING
from hivedruid.filesystems import local_path
from hivedruid.spark.paths import is_visible_here
from hivedruid.spark.serde import csv_characters, delimited_format, is_csv

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table
    from hivedruid.errors import Span
    from hivedruid.parser.statements.ddl import CreateTable

_LINES, _BYTES = 50, 1 << 16
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}
_HEADER = "skip.header.line.count"
_DIGITS = re.compile(r"\d")

Note = tuple[str, "Span | None"]


def first_lines(statement: CreateTable, settings: Mapping[str, str]) -> tuple[str, ...]:
    """The first lines of the first file at the LOCATION of a new external table; none if it is not text in UTF-8 on
    this machine. Never an error: the files may come later."""
    from hivedruid.actions.statistics.files import files_in

    is_text = statement.external and statement.stored_as in (None, "textfile") and statement.storage_handler is None
    if not is_text or not statement.location or not is_visible_here(settings):
        return ()
    path = local_path(statement.location)
    with suppress(OSError, UnicodeDecodeError):
        if path is None or not (files := files_in(path)):
            return ()
        with open(min(file.path for file in files), "rb") as file:  # noqa: PTH123
            text = file.read(_BYTES)
        whole = text if len(text) < _BYTES else text[: text.rfind(b"\n") + 1]
        return tuple(islice(whole.decode("utf-8-sig").splitlines(), _LINES))
    return ()


def text_notes(statement: CreateTable, table: Table, lines: tuple[str, ...]) -> Iterator[Note]:
    """What does not fit in a table of delimited text or CSV: the types of OpenCSVSerde, and the first lines."""
    if table.format != "textfile" or table.kind != "files":
        return
    span = statement.location_span
    library = table.serde.get("serialization.lib", "")
    if is_csv(table):
        if (changed := next((c for c in statement.columns if c.type != STRING), None)) is not None:
            yield (
                f"every column of {OPEN_CSV.rpartition('.')[2]} is a STRING, as in Hive;"
                f" convert them in queries: CAST({changed.name} AS {str(changed.type).upper()})",
                changed.span,
            )
    elif library and not library.endswith((".LazySimpleSerDe", ".MultiDelimitSerDe")):
        return
    skipped = table.effective_serde.get(_HEADER, "0")
    rows = lines[int(skipped) :] if skipped.isdecimal() else ()
    if rows:
        yield from ((text, span) for text in _of_lines(table, rows, is_headed=skipped != "0"))


def _of_lines(table: Table, lines: tuple[str, ...], *, is_headed: bool) -> Iterator[str]:
    if is_csv(table):
        separator, quote, _ = csv_characters(table.effective_serde)
        with suppress(csv.Error):
            rows = list(csv.reader(lines, delimiter=separator, quotechar=quote))
            yield from _of_rows(table, rows, separator, lines, is_headed=is_headed)
        return
    from hivedruid.spark.cells import CellFormat

    separator = delimited_format(table, CellFormat("UTC")).separators[0]
    rows = [line.split(separator) for line in lines]
    if any(field.startswith('"') for row in rows for field in row):
        yield (
            "fields of the file are quoted, which ROW FORMAT DELIMITED does not read: quotes are part of the values,"
            f" numbers in quotes are NULL, and a {_named(separator)} in quotes ends the field;"
            f" use ROW FORMAT SERDE '{OPEN_CSV}' and CAST, or SELECT … FROM 'file.csv'"
        )
        with suppress(csv.Error):
            yield from _header(table, list(csv.reader(lines, delimiter=separator)), is_headed=is_headed)
        return
    yield from _of_rows(table, rows, separator, lines, is_headed=is_headed)


def _of_rows(
    table: Table, rows: list[list[str]], separator: str, lines: tuple[str, ...], *, is_headed: bool
) -> Iterator[str]:
    count = len(table.stored_columns)
    if rows and count > 1 and all(len(row) == 1 for row in rows):
        other = next((each for each in _SEPARATORS if each != separator and all(each in line for line in lines)), None)
        found = f", but all have {_SEPARATORS[other]}: declare FIELDS TERMINATED BY '{_shown(other)}'" if other else ""
        yield f"no line of the file has the separator '{_shown(separator)}'{found}"
        return
    yield from _header(table, rows, is_headed=is_headed)
    odd = next(((n, row) for n, row in enumerate(rows, 1) if row and len(row) != count), None)
    if odd is not None:
        number, row = odd[0] + is_headed, odd[1]
        yield f"line {number} of the file has {len(row)} fields, and the table {count} columns"


def _header(table: Table, rows: list[list[str]], *, is_headed: bool) -> Iterator[str]:
    """Whether the first line has names, which are read as values."""
    if is_headed or not rows:
        return
    columns, first = table.stored_columns, rows[0]
    names = sum(field.strip().lower() == column.name for field, column in zip(first, columns, strict=False))
    is_word = any(
        field.strip() and not _DIGITS.search(field) and all(len(row) > n and _DIGITS.search(row[n]) for row in rows[1:])
        for n, (field, column) in enumerate(zip(first, columns, strict=False))
        if column.type.is_numeric or column.type.is_time
    )
    if names * 2 > len(columns) or (is_word and len(rows) > 1):
        yield (
            "the first line of the file has the names of columns, and is read as a row:"
            f" add TBLPROPERTIES ('{_HEADER}'='1')"
        )


def _named(separator: str) -> str:
    return _SEPARATORS.get(separator, f"'{_shown(separator)}'").removeprefix("a ")


def _shown(separator: str) -> str:
    return {"\t": "\\t"}.get(separator) or (separator if separator.isprintable() else f"\\u{ord(separator[0]):04x}")
