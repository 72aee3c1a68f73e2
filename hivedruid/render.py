"""Formats a result as text, line by line, while rows arrive: table, csv, tsv, json, jsonl, vertical, markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from hivedruid.results import Result, ResultColumn
from hivedruid.terminal import display_width, json_printable, pad, printable

NULL = "NULL"
SAMPLE = 1000
"""Rows that determine the column widths of a table; wider cells in later rows overflow."""

Row = tuple[Any, ...]
Cells = Callable[[Row], list[str]]


def lines(result: Result, layout: str, *, header: bool = True, terminal: bool = False) -> Iterator[str]:
    """The lines of a result, with line ends; `layout` is a key of LAYOUTS.

    Control characters never reach a terminal: the human-readable layouts and JSON always escape them; csv and tsv,
    which are byte-exact, escape them if stdout is a `terminal`. Lines of text (EXPLAIN) are unchanged, except in the
    JSON layouts, where they are rows. Statements without a result print nothing.
    """
    if not result.columns:
        return iter(())
    if result.is_text and layout not in ("json", "jsonl"):
        return _text(result.rows)
    layout_lines = LAYOUTS[layout](result, header)
    return map(_spelled_out, layout_lines) if terminal and layout in ("csv", "tsv") else layout_lines


def _text(rows: Iterable[Row]) -> Iterator[str]:
    for (line,) in rows:
        yield "\t".join(map(printable, str(line).split("\t"))) + "\n"


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


def _csv(result: Result, header: bool) -> Iterator[str]:
    cells = _cells(result.columns, _csv_escape, null="")
    if header:
        yield ",".join(_csv_escape(column.name) for column in result.columns) + "\n"
    for row in result.rows:
        yield ",".join(cells(row)) + "\n"


def _tsv(result: Result, header: bool) -> Iterator[str]:
    cells = _cells(result.columns, _tsv_escape)
    if header:
        yield "\t".join(_tsv_escape(column.name) for column in result.columns) + "\n"
    for row in result.rows:
        yield "\t".join(cells(row)) + "\n"


def _json(result: Result, header: bool) -> Iterator[str]:  # noqa: ARG001 - names are part of every row
    opening = "[\n"
    for text in _objects(result):
        yield opening + text
        opening = ",\n"
    yield "[]\n" if opening == "[\n" else "\n]\n"


def _jsonl(result: Result, header: bool) -> Iterator[str]:  # noqa: ARG001 - names are part of every row
    for text in _objects(result):
        yield text + "\n"


LAYOUTS: dict[str, Callable[[Result, bool], Iterator[str]]] = {
    "table": _table,
    "csv": _csv,
    "tsv": _tsv,
    "json": _json,
    "jsonl": _jsonl,
    "vertical": _vertical,
    "markdown": _markdown,
}


def _cells(columns: Sequence[ResultColumn], escape: Callable[[str], str], *, null: str = NULL) -> Cells:
    """A function from a row to its cells as Hive prints them, escaped if the type requires it."""
    from hivedruid.cells import hive_text

    plain = ("boolean", "float", "double", "decimal", "date", "tinyint", "smallint", "int", "bigint")

    def formatter(column: ResultColumn) -> Callable[[Any], str]:
        text = hive_text(column.type)
        if column.type.name in plain:
            return text
        if column.type.name == "string":
            return lambda value: escape(value if isinstance(value, str) else str(value))
        return lambda value: escape(text(value))

    formatters = [formatter(column) for column in columns]

    def cells(row: Row) -> list[str]:
        return [null if value is None else text(value) for value, text in zip(row, formatters, strict=True)]

    return cells


def _objects(result: Result) -> Iterator[str]:
    """Each row as a JSON object; a repeated name gets a number (`a`, `a_1`), since object keys are unique."""
    from hivedruid.cells import json_text, quoted

    names: dict[str, None] = {}
    again: dict[str, int] = {}
    for column in result.columns:
        name = column.name
        while name in names:
            again[column.name] = again.get(column.name, 0) + 1
            name = f"{column.name}_{again[column.name]}"
        names[name] = None
    members = [(quoted(name), json_text(column.type)) for name, column in zip(names, result.columns, strict=True)]
    for row in result.rows:
        yield json_printable("{" + ",".join(f"{n}:{text(v)}" for (n, text), v in zip(members, row, strict=True)) + "}")


_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"})


def _csv_escape(text: str) -> str:
    """Quoted if necessary; the empty string is always quoted to distinguish it from NULL."""
    if text and not ("," in text or '"' in text or "\n" in text or "\r" in text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _tsv_escape(text: str) -> str:
    return text.translate(_TSV_ESCAPES)


def _markdown_escape(text: str) -> str:
    return printable(text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", "<br>"))
