"""Rows and columns from the footers of Parquet and ORC files on this machine.

`READERS` has a function for each format, which prepares to read and returns the function that reads a footer. That one
raises ValueError if a file is damaged, and OSError with its `errno` if it cannot be opened. Only ORC needs pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hivedruid.actions.statistics.thrift import CompactReader, Struct
from hivedruid.catalog.bounds import bounded, date_text, decimal_text, integer, integer_text, real_text, timestamp_text
from hivedruid.catalog.footers import ColumnFacts, FileFacts, merged
from hivedruid.file_writers import parquet_footer, parquet_writer

Read = Callable[[Path], FileFacts]

_GREGORIAN = "1582-10-15"
_MOST_BYTES = 1 << 19
"""Of a Parquet file with a larger footer only the number of rows is read: the whole would take longer than 0.2 s."""


def _orc_reader() -> Read:
    from pyarrow import ArrowException, orc

    def read(path: Path) -> FileFacts:
        try:
            return FileFacts(int(orc.ORCFile(str(path)).nrows))
        except ArrowException as error:
            raise ValueError(str(error)) from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise ValueError(str(error)) from error

    return read


READERS: Mapping[str, Callable[[], Read]] = {"orc": _orc_reader, "parquet": lambda: _parquet}


# --- Parquet: parquet.thrift has the ids of fields -------------------------------------------------------------

_SCHEMA, _NUM_ROWS, _ROW_GROUPS = 2, 3, 4  # FileMetaData
_GROUP_COLUMNS, _GROUP_ROWS = 1, 3  # RowGroup
_METADATA, _STATISTICS = 3, 12  # ColumnChunk, ColumnMetaData
_OLD_MAX, _OLD_MIN, _NULLS, _MAX, _MIN = 1, 2, 3, 5, 6  # Statistics
_TYPE, _REPETITION, _NAME, _CHILDREN, _CONVERTED, _SCALE, _LOGICAL = 1, 3, 4, 5, 6, 7, 10  # SchemaElement
_REPEATED = 2
_INT32, _INT64, _FLOAT, _DOUBLE, _BYTES, _FIXED = 1, 2, 4, 5, 6, 7  # Type


def _parquet(path: Path) -> FileFacts:
    with path.open("rb") as file:
        data = parquet_footer(file)
    reader = CompactReader(data)
    try:
        footer = reader.struct(last=_NUM_ROWS if len(data) > _MOST_BYTES else None)
        rows = int(footer[_NUM_ROWS])
        if rows < 0:
            raise ValueError("the number of rows is negative")
        columns = dict(_columns(footer[_SCHEMA]))
        groups = [_row_group(group, columns) for group in footer.get(_ROW_GROUPS, ())]
        facts = merged(groups).columns
        if parquet_writer(data).is_julian:
            facts = {name: _without_old_days(column) for name, column in facts.items()}
        return FileFacts(rows, facts)
    except (LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"the footer is damaged: {error!r}") from error


def _columns(schema: list[Struct]) -> Iterator[tuple[int, tuple[str, _Form | None]]]:
    """The number among all leaves, the name in lower case and the form of each column that is not part of a struct,
    array or map."""
    leaves, below = 0, 0  # the elements that are part of a column
    for element in schema[1:]:
        children = element.get(_CHILDREN, 0)
        if not children:
            if not below and element.get(_REPETITION) != _REPEATED:
                yield leaves, (element[_NAME].decode().lower(), _form(element))
            leaves += 1
        below += children - (below > 0)


def _row_group(group: Struct, columns: Mapping[int, tuple[str, _Form | None]]) -> FileFacts:
    chunks = group[_GROUP_COLUMNS]
    facts = {
        name: _chunk(chunks[n].get(_METADATA, {}).get(_STATISTICS, {}), form) for n, (name, form) in columns.items()
    }
    return FileFacts(group[_GROUP_ROWS], facts)


def _chunk(statistics: Struct, form: _Form | None) -> ColumnFacts:
    nulls = statistics.get(_NULLS)
    if form is None:
        return ColumnFacts(nulls)
    low, high = statistics.get(_MIN), statistics.get(_MAX)
    if low is None and high is None and form.has_old_bounds:
        low, high = statistics.get(_OLD_MIN), statistics.get(_OLD_MAX)
    return bounded(nulls, form.kind, form.text, low, high)


def _without_old_days(column: ColumnFacts) -> ColumnFacts:
    """A column of a file whose days before 1582-10-15 are those of the Julian calendar: without bounds that include
    some."""
    is_old = column.kind == "date" and (column.low or "") < _GREGORIAN
    return ColumnFacts(column.nulls) if is_old else column


class _Form(NamedTuple):
    """The kind of a column's values, and the text of a bound; `has_old_bounds`: also those of old writers are right,
    which compared all bytes as signed ones."""

    kind: str
    text: Callable[[bytes], str]
    has_old_bounds: bool = True


def _form(element: Struct) -> _Form | None:
    """How the bounds of a column are read; None for strings and other types without them."""
    logical: Struct = element.get(_LOGICAL, {})
    physical, converted = element.get(_TYPE), element.get(_CONVERTED, -1)
    if 5 in logical or converted == 5:
        return _decimal_form(element, logical, physical)
    if physical not in (_INT32, _INT64):
        return _Form("double", real_text) if physical in (_FLOAT, _DOUBLE) and not logical else None
    if 6 in logical or converted == 6:
        return _Form("date", date_text)
    if 8 in logical or converted in _CONVERTED_TIMES:
        unit = next(iter(logical[8][2]), 0) if 8 in logical else _CONVERTED_TIMES[converted]
        return _Form("timestamp", partial(_timestamp, unit=_NANOSECONDS[unit]))
    if 7 in logical or converted in _OTHER_INTEGERS:
        return None
    is_signed = logical[10].get(2, True) if 10 in logical else converted not in _UNSIGNED
    return _Form("integer", integer_text if is_signed else _unsigned, has_old_bounds=is_signed)


def _decimal_form(element: Struct, logical: Struct, physical: int | None) -> _Form | None:
    scale = logical[5].get(1, 0) if 5 in logical else element.get(_SCALE, 0)
    if physical in (_INT32, _INT64):
        return _Form("decimal", partial(_decimal, scale=scale, order="little"))
    if physical in (_BYTES, _FIXED):
        return _Form("decimal", partial(_decimal, scale=scale, order="big"), has_old_bounds=False)
    return None


_NANOSECONDS = {1: 1_000_000, 2: 1_000, 3: 1}
"""By the field of TimeUnit: milliseconds, microseconds, nanoseconds."""
_CONVERTED_TIMES = {9: 1, 10: 2}
_OTHER_INTEGERS = (7, 8)
"""Times of day."""
_UNSIGNED = (11, 12, 13, 14)


def _unsigned(bound: bytes) -> str:
    return str(int.from_bytes(bound, "little"))


def _decimal(bound: bytes, *, scale: int, order: Any) -> str:
    return decimal_text(int.from_bytes(bound, order, signed=True), scale)


def _timestamp(bound: bytes, *, unit: int) -> str:
    return timestamp_text(integer(bound) * unit // 1_000)
