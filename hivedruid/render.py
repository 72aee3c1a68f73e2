"""Formats a result as text while rows arrive: table, csv, tsv, json, jsonl, vertical, markdown, html."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, TypeAlias

from hivedruid.catalog.types import HiveType
from hivedruid.results import PART, Batch, Batches, Result, ResultColumn, Row, unique_names
from hivedruid.terminal import display_width, json_printable, pad, printable, printable_lines

NULL = "NULL"
SAMPLE = 1000
"""Rows that determine the column widths of a table; wider cells in later rows overflow."""
LARGE = 1000
"""Rows of a batch from which on it is formatted by column."""

Cells = Callable[[Row], list[str]]
Text: TypeAlias = str | memoryview
"""Lines with their ends: as characters, or in UTF-8, which large batches are formatted in."""
ColumnLines = Callable[[Batch, Sequence[ResultColumn]], "memoryview | None"]
"""The lines of a batch, formatted by column; None if that is not possible."""


def lines(result: Result, layout: str, *, header: bool = True, terminal: bool = False) -> Iterator[str]:
    """What `texts` returns, as characters."""
    return map(characters, texts(result, layout, header=header, terminal=terminal))


def characters(text: Text) -> str:
    return text if isinstance(text, str) else str(text, "utf-8")


def texts(result: Result, layout: str, *, header: bool = True, terminal: bool = False) -> Iterator[Text]:
    """The lines of a result, one or many at a time; `layout` is a key of LAYOUTS.

    Control characters never reach a terminal: the human-readable layouts and JSON always escape them; csv and tsv,
    which are byte-exact, escape them if stdout is a `terminal`. Lines of text (EXPLAIN) are unchanged, except in the
    JSON layouts, where they are rows; a JSON document (EXPLAIN FORMATTED) is printed there as it is, by jsonl on one
    line. Statements without a result print nothing.
    """
    if not result.columns:
        return iter(())
    if result.is_json and layout in ("json", "jsonl"):
        return _document(result.rows, one_line=layout == "jsonl")
    if result.is_text and layout == "html":
        return _html_text(result.rows)
    if result.is_text and layout not in ("json", "jsonl"):
        return _text(result.rows)
    if terminal and layout in ("csv", "tsv"):
        by_row = replace(result, rows=chain(result.rows)) if isinstance(result.rows, Batches) else result
        return map(_spelled_out, map(characters, LAYOUTS[layout](by_row, header)))
    return LAYOUTS[layout](result, header)


def _text(rows: Iterable[Row]) -> Iterator[str]:
    for (line,) in rows:
        yield "\t".join(map(printable, str(line).split("\t"))) + "\n"


def _document(rows: Iterable[Row], *, one_line: bool) -> Iterator[str]:
    """The lines of a JSON document. Its strings contain no line ends, so that it can be put on one line."""
    for (line,) in rows:
        yield json_printable(str(line).strip() if one_line else str(line)) + ("" if one_line else "\n")
    if one_line:
        yield "\n"


def _spelled_out(line: str) -> str:
    return "\t".join(map(printable, line[:-1].split("\t"))) + "\n"


def _table(result: Result, header: bool) -> Iterator[str]:
    cells = _cells(result.columns, printable)
    names = [printable(column.name) for column in result.columns]
    right = [column.type.is_numeric for column in result.columns]
    rows = iter(result.rows)
    sample = [cells(row) for row in islice(rows, SAMPLE)]
    shown = [names, *sample] if header else sample
    if not shown:
        return
    widths = [max(map(display_width, column)) for column in zip(*shown, strict=True)]
    rule = f"+{'+'.join('-' * (width + 2) for width in widths)}+\n"

    def line(texts: list[str]) -> str:
        padded = (pad(text, width, right=r) for text, width, r in zip(texts, widths, right, strict=True))
        return f"| {' | '.join(padded)} |\n"

    yield rule
    if header:
        yield line(names)
        yield rule
    yield from map(line, sample)
    for row in rows:
        yield line(cells(row))
    if sample:
        yield rule


def _vertical(result: Result, header: bool) -> Iterator[str]:  # noqa: ARG001 - names are the layout here
    cells = _cells(result.columns, printable)
    names = [printable(column.name) for column in result.columns]
    width = max(map(display_width, names))
    labels = [pad(name, width) for name in names]
    for number, row in enumerate(result.rows, 1):
        yield f"-[ RECORD {number} ]-\n"
        for label, text in zip(labels, cells(row), strict=True):
            yield f"{label} | {text}\n"


def _markdown(result: Result, header: bool) -> Iterator[str]:
    cells = _cells(result.columns, _markdown_escape)
    if header:
        yield f"| {' | '.join(_markdown_escape(column.name) for column in result.columns)} |\n"
        yield f"|{'|'.join(' ---: ' if column.type.is_numeric else ' --- ' for column in result.columns)}|\n"
    for row in result.rows:
        yield f"| {' | '.join(cells(row))} |\n"


def _html(result: Result, header: bool) -> Iterator[str]:
    """A table element, in ASCII: it means the same in a page of any encoding. A browser keeps blanks and line ends."""
    cells = _cells(result.columns, _html_escape, null="")
    begins = ['<td style="text-align:right">' if column.type.is_numeric else "<td>" for column in result.columns]

    def cell(value: Any, text: str, begin: str) -> str:
        return '<td class="null">NULL</td>' if value is None else f"{begin}{text}</td>"

    yield '<table style="white-space:pre-wrap">\n'
    if header:
        names = "".join(f"<th>{_html_escape(column.name)}</th>" for column in result.columns)
        yield f"<thead>\n<tr>{names}</tr>\n</thead>\n"
    yield "<tbody>\n"
    for row in result.rows:
        yield f"<tr>{''.join(map(cell, row, cells(row), begins))}</tr>\n"
    yield "</tbody>\n</table>\n"


def _html_text(rows: Iterable[Row]) -> Iterator[str]:
    yield "<pre>\n"
    for (line,) in rows:
        yield _html_escape(str(line)) + "\n"
    yield "</pre>\n"


def _csv(result: Result, header: bool) -> Iterator[Text]:
    cells = _cells(result.columns, _csv_escape, null="")
    if header:
        yield ",".join(_csv_escape(column.name) for column in result.columns) + "\n"
    yield from _formatted(result, lambda row: ",".join(cells(row)) + "\n", _csv_columns)


def _tsv(result: Result, header: bool) -> Iterator[Text]:
    cells = _cells(result.columns, _tsv_escape)
    if header:
        yield "\t".join(_tsv_escape(column.name) for column in result.columns) + "\n"
    yield from _formatted(result, lambda row: "\t".join(cells(row)) + "\n", _tsv_columns)


def _json(result: Result, header: bool) -> Iterator[Text]:  # noqa: ARG001 - names are part of every row
    opening = "[\n"
    for text in _objects(result):
        yield opening
        if isinstance(text, str):
            yield text.removesuffix("\n")
        else:  # the strings of JSON contain no line ends
            yield memoryview(bytes(text[:-1]).replace(b"\n", b",\n"))
        opening = ",\n"
    yield "[]\n" if opening == "[\n" else "\n]\n"


def _jsonl(result: Result, header: bool) -> Iterator[Text]:  # noqa: ARG001 - names are part of every row
    yield from _objects(result)


LAYOUTS: dict[str, Callable[[Result, bool], Iterator[Text]]] = {
    "table": _table,
    "csv": _csv,
    "tsv": _tsv,
    "json": _json,
    "jsonl": _jsonl,
    "vertical": _vertical,
    "markdown": _markdown,
    "html": _html,
}


def _cells(columns: Sequence[ResultColumn], escape: Callable[[str], str], *, null: str = NULL) -> Cells:
    """A function from a row to its cells as Hive prints them, escaped if the type requires it."""
    formatters = [_cell(column.type, escape) for column in columns]

    def cells(row: Row) -> list[str]:
        return [null if value is None else text(value) for value, text in zip(row, formatters, strict=True)]

    return cells


def _cell(hive: HiveType, escape: Callable[[str], str]) -> Callable[[Any], str]:
    from hivedruid.cells import hive_text

    text = hive_text(hive)
    if hive.name in ("boolean", "float", "double", "decimal", "date", "tinyint", "smallint", "int", "bigint"):
        return text
    if hive.name == "string":
        return lambda value: escape(value if isinstance(value, str) else str(value))
    return lambda value: escape(text(value))


# --- large results, by column -----------------------------------------------------------------------------------------


def _formatted(result: Result, line: Callable[[Row], str], by_column: ColumnLines) -> Iterator[Text]:
    """The lines of the rows. Those of large batches are formatted by column, which takes the import of Arrow."""
    if not isinstance(result.rows, Batches):
        yield from map(line, result.rows)
        return
    parts = (part for batch in result.rows.batches for part in batch.parts(PART))
    for number, batch in enumerate(parts):
        is_large = batch.size >= LARGE and (number > 0 or batch.is_arrow)
        lines = by_column(batch, result.columns) if is_large else None
        if lines is None:
            yield from map(line, batch.rows())
        else:
            yield lines


def _csv_columns(batch: Batch, columns: Sequence[ResultColumn]) -> memoryview | None:
    from hivedruid.column_text import ColumnFormat, csv_strings, lines

    around = ["", *[","] * (len(columns) - 1), "\n"]
    layout = ColumnFormat("", csv_strings, lambda hive: _cell(hive, _csv_escape))
    return lines(batch, [column.type for column in columns], layout, around)


def _tsv_columns(batch: Batch, columns: Sequence[ResultColumn]) -> memoryview | None:
    from hivedruid.column_text import ColumnFormat, lines, tsv_strings

    around = ["", *["\t"] * (len(columns) - 1), "\n"]
    layout = ColumnFormat(NULL, tsv_strings(_tsv_escape), lambda hive: _cell(hive, _tsv_escape))
    return lines(batch, [column.type for column in columns], layout, around)


def _json_columns(batch: Batch, columns: Sequence[ResultColumn]) -> memoryview | None:
    from hivedruid.cells import json_text, quoted
    from hivedruid.column_text import ColumnFormat, json_strings, lines

    def cell(hive: HiveType) -> Callable[[Any], str]:
        text = json_text(hive)
        return lambda value: json_printable(text(value))

    first, *others = [json_printable(quoted(name)) + ":" for name in unique_names(columns)]
    around = ["{" + first, *("," + name for name in others), "}\n"]
    layout = ColumnFormat("null", json_strings(lambda text: json_printable(quoted(text)[1:-1])), cell, quote='"')
    return lines(batch, [column.type for column in columns], layout, around)


def _objects(result: Result) -> Iterator[Text]:
    """Each row as a JSON object on a line."""
    from hivedruid.cells import json_text, quoted

    members = [
        (quoted(name), json_text(column.type))
        for name, column in zip(unique_names(result.columns), result.columns, strict=True)
    ]

    def line(row: Row) -> str:
        members_of_row = ",".join(f"{name}:{text(value)}" for (name, text), value in zip(members, row, strict=True))
        return json_printable("{" + members_of_row + "}") + "\n"

    return _formatted(result, line, _json_columns)


_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"})


def _csv_escape(text: str) -> str:
    """Quoted if necessary; the empty string is always quoted to distinguish it from NULL."""
    if text and not ("," in text or '"' in text or "\n" in text or "\r" in text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _tsv_escape(text: str) -> str:
    if "\\" in text or "\t" in text or "\n" in text or "\r" in text or "\0" in text:
        return text.translate(_TSV_ESCAPES)
    return text  # `translate` takes several times as long as the conditions


def _markdown_escape(text: str) -> str:
    return printable(text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", "<br>"))


def _html_escape(text: str) -> str:
    from html import escape

    return escape(printable_lines(text), quote=False).encode("ascii", "xmlcharrefreplace").decode()
