"""The rows of small files of delimited text and CSV without a Spark job: only if each value that is read is plain, so
that Spark, by the rules of Hive's LazySimpleSerDe and OpenCSVSerde (`spark/inputs.delimited_rows`), reads the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.actions.select.json_rows import TIMES
from hivedruid.actions.select.small_files import lines_of, small_files
from hivedruid.evaluation.exactness import Unsure
from hivedruid.open_csv import OpenCsv
from hivedruid.spark.cells import INTEGER, CellFormat
from hivedruid.spark.serde import csv_characters, delimited_format, is_csv, is_json
from hivedruid.spark.text_files import ENCODING, FOOTER, HEADER
from hivedruid.tables.hive_tables import is_regex

if TYPE_CHECKING:
    import pyarrow as pa

    from hivedruid.catalog.table import Column, Table
    from hivedruid.catalog.types import HiveType

_ENDINGS = frozenset({"", ".csv", ".tsv", ".psv", ".txt", ".text", ".log", ".dat", ".data"})
_SERDES = frozenset({"LazySimpleSerDe", "OpenCSVSerde"})
_UNUSUAL = ("timestamp.formats", "serialization.last.column.takes.rest", ENCODING, FOOTER, "escape.delim")
"""Properties that are left to Spark."""

Parse = Callable[[str], Any]


def has_small_text(table: Table) -> bool:
    """Whether all rows of a table are in few small files of delimited text on this machine."""
    return bool(_paths(table))


def _paths(table: Table) -> list[Path]:
    return small_files(table, _ENDINGS) if _is_suitable(table) else []


def _is_suitable(table: Table) -> bool:
    if table.kind != "files" or table.format != "textfile" or table.has_partitions or table.metastore:
        return False
    serde = table.effective_serde
    library = serde.get("serialization.lib", "LazySimpleSerDe").rpartition(".")[2]
    if is_json(table) or is_regex(table.serde) or library not in _SERDES or any(key in serde for key in _UNUSUAL):
        return False
    header = serde.get(HEADER, "0")
    if not (header.isascii() and header.isdigit()):  # Spark's error
        return False
    return all(parser_of(column.type, is_quoted=is_csv(table)) is not None for column in table.columns)


def rows_of(table: Table, columns: list[Column]) -> pa.Table:
    """The columns of all rows. Raises Unsure if a value of them is not plain."""
    import pyarrow as pa

    from hivedruid.arrow import arrow_type

    paths = _paths(table)
    if not paths:
        raise Unsure(f"the files of {table.full_name} have changed")
    rows = _fields(table, paths)
    places = {column.name: place for place, column in enumerate(table.columns)}
    null = None if is_csv(table) else delimited_format(table, CellFormat()).null
    arrays = {}
    for column in columns:
        place, parse = places[column.name], parser_of(column.type, is_quoted=is_csv(table))
        texts = [row[place] if place < len(row) else None for row in rows]  # a field that is missing is null
        assert parse is not None
        cells = [None if text is None or text == null else parse(text) for text in texts]
        arrays[column.name] = pa.array(cells, arrow_type(column.type, "UTC"))
    return pa.table(arrays)


def _fields(table: Table, paths: list[Path]) -> list[list[str]]:
    """The fields of all lines but those of headers. Raises Unsure for a line that is not UTF-8."""
    split = _csv_split(table) if is_csv(table) else _split(table)
    header = int(table.effective_serde.get(HEADER, "0"))
    try:
        return [split(line.decode()) for path in paths for line in _lines(path, header)]
    except UnicodeDecodeError as error:
        raise Unsure(f"a line of {table.full_name} is not UTF-8") from error


def _lines(path: Path, header: int) -> list[bytes]:
    lines = lines_of(path)
    if lines and lines[0].startswith(b"\xef\xbb\xbf"):
        raise Unsure(f"{path} begins with a byte order mark")
    return lines[header:]


def _split(table: Table) -> Callable[[str], list[str]]:
    separator = delimited_format(table, CellFormat()).separators[0]
    return lambda line: line.split(separator)


def _csv_split(table: Table) -> Callable[[str], list[str]]:
    parse = OpenCsv(*csv_characters(table.effective_serde))
    return lambda line: parse(line) or []


# --- values ---------------------------------------------------------------------------------------------------------


def parser_of(type_: HiveType, *, is_quoted: bool) -> Parse | None:
    """What reads the text of a value; None for a type that is left to Spark. It raises Unsure."""
    if type_.is_string:
        return str
    if is_quoted:  # Hive's columns of OpenCSVSerde are strings
        return None
    if type_.name == "decimal":
        precision, scale = type_.params or (10, 0)
        return lambda text: _decimal(text, precision, scale)
    return _PARSERS.get(type_.name)


_INTEGER = re.compile(INTEGER)
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_FLOAT = re.compile(r"-?[0-9]{1,17}([.][0-9]{1,17})?([eE][+-]?[0-9]{1,3})?")
_FIXED = re.compile(r"-?[0-9]{1,38}([.][0-9]{1,38})?")


def _integer(bits: int) -> Parse:
    most = 1 << (bits - 1)

    def parse(text: str) -> int | None:
        if _INTEGER.fullmatch(text) is None:
            return None
        if _WHOLE.fullmatch(text) is None or not -most <= int(text) < most:
            raise Unsure("an integer in an unusual form")
        return int(text)

    return parse


def _double(text: str) -> float | None:
    if not text:
        return None
    if _FLOAT.fullmatch(text) is None or not isfinite(float(text)):
        raise Unsure("a number in an unusual form")
    return float(text)


def _decimal(text: str, precision: int, scale: int) -> Decimal | None:
    if not text:
        return None
    if _FIXED.fullmatch(text) is None:
        raise Unsure("a decimal in an unusual form")
    number = Decimal(text)
    if number.adjusted() + 1 >= precision - scale or len(text) > 38:
        raise Unsure("a decimal with many digits")
    return number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)


def _boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower()) if text.isascii() else None


def _time(name: str) -> Parse:
    read = TIMES[name]
    return lambda text: read(text) if text else None


_PARSERS: Mapping[str, Parse] = {
    "tinyint": _integer(8), "smallint": _integer(16), "int": _integer(32), "bigint": _integer(64),
    "double": _double, "boolean": _boolean, **{name: _time(name) for name in TIMES},
}  # fmt: skip
"""What reads the text of a type. An empty text is null."""
