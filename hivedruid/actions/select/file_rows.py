"""The rows of small Parquet, JSON and text files without a Spark job, which would take longer than most of the queries
that are joined with them: for local evaluation, and as the keys of semi-join reductions.

Conditions are evaluated exactly or not at all. Comparisons of a column with a constant are Arrow's, others those of
local evaluation: once for each distinct value, if they read one column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING

from hivedruid.actions.parquet_files import check_type, files_of, names_in
from hivedruid.actions.partitioning.pruning import no_subquery
from hivedruid.actions.select import delimited_rows, json_rows
from hivedruid.actions.select.small_files import MOST_FILES, small_files
from hivedruid.catalog.types import DATE, DOUBLE, FLOAT, TIMESTAMP, HiveType
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.expressions import Scope, compiled
from hivedruid.evaluation.functions import Given
from hivedruid.plan.physical import MOST_FILE_ROWS, FileRows
from hivedruid.plan.rex import Call, Literal, Ref, Rex, refs, walk
from hivedruid.spark.paths import is_visible_here
from hivedruid.spark.serde import is_json

if TYPE_CHECKING:
    import pyarrow as pa

    from hivedruid.catalog.table import Column, Table
    from hivedruid.evaluation.relations import Rows


MOST_EVALUATED = 10_000
"""The maximum number of values, or of rows, for which a condition is evaluated other than by Arrow."""
GREGORIAN = date(1582, 10, 15)
"""Spark may read earlier dates in another calendar, depending on the writer of the file."""
FIRST_TIME = datetime(1583, 1, 1)


def rows_in_files(wanted: FileRows, most: int, settings: Mapping[str, str]) -> Rows:
    """At most this number of rows. Raises Unsure if there are more, or if the files or a condition are not suitable."""
    return _values(_satisfying(wanted, settings), wanted, most)


def keys_in_files(wanted: FileRows, settings: Mapping[str, str]) -> Rows | None:
    """The distinct rows; None if the files or a condition are not suitable."""
    try:
        distinct = _satisfying(wanted, settings).group_by(list(wanted.columns)).aggregate([])
        return _values(distinct, wanted, MOST_FILE_ROWS)
    except Unsure:
        return None


def _values(rows: pa.Table, wanted: FileRows, most: int) -> Rows:
    if rows.num_rows > most:
        raise Unsure(f"more than {most} rows of {wanted.table.full_name}")
    try:
        return list(zip(*[rows[name].to_pylist() for name in wanted.columns], strict=True))
    except ValueError as error:  # text that is not UTF-8
        raise Unsure(str(error)) from error


def _satisfying(wanted: FileRows, settings: Mapping[str, str]) -> pa.Table:
    """The rows that satisfy the conditions, with the columns of both. Raises Unsure."""
    from pyarrow import ArrowException

    if not is_visible_here(settings):
        raise Unsure("Spark reads the files of another machine")
    try:
        rows = _rows(wanted)
        for condition in sorted(wanted.conditions, key=lambda each: len(refs(each))):
            rows = rows.filter(_mask(condition, rows, wanted.zone))
    except (NotLocal, ArrowException, ArithmeticError, ValueError, OSError) as error:
        raise Unsure(str(error)) from error
    return rows


def _rows(wanted: FileRows) -> pa.Table:
    """The columns of the table that are wanted or that the conditions read, under their names."""
    from pyarrow import compute

    needed = frozenset(wanted.columns).union(*map(refs, wanted.conditions))
    columns = [column for column in wanted.table.columns if column.name in needed]
    if len(columns) < len(needed):
        raise NotLocal("a column is not in the files")
    rows = _reader_of(wanted.table)(wanted.table, columns)
    for place, column in enumerate(columns):
        if column.type.params and column.type.is_string:
            rows = rows.set_column(place, column.name, _fitting(rows[column.name], column.type))
    for column in columns:
        values = rows[column.name]
        if column.type == TIMESTAMP and (compute.min(values).as_py() or FIRST_TIME) < FIRST_TIME:
            raise Unsure("a time before the Gregorian calendar")
        if column.type == DATE and (compute.min(values).as_py() or GREGORIAN) < GREGORIAN:
            raise Unsure("a date before the Gregorian calendar")
        if column.type == DOUBLE and compute.all(compute.is_finite(values)).as_py() is False:
            raise Unsure("a number that is not finite")
    return rows


def has_small_files(table: Table) -> bool:
    """Whether all rows of a table are in few small files on this machine, which may be read without Spark."""
    if table.has_parquet_files:
        return bool(small_files(table))
    return json_rows.has_small_json(table) or delimited_rows.has_small_text(table)


def _reader_of(table: Table) -> Callable[[Table, list[Column]], pa.Table]:
    if table.has_parquet_files:
        return _in_parquet
    return json_rows.rows_of if is_json(table) else delimited_rows.rows_of


def _in_parquet(table: Table, columns: list[Column]) -> pa.Table:
    """The columns of the rows in Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    parts, count = [], 0
    for each in files_of(table, MOST_FILES):
        with parquet.ParquetFile(each.path) as file:
            count += file.metadata.num_rows
            if count > MOST_FILE_ROWS:
                raise NotLocal("the files have too many rows")
            names = names_in(file.schema_arrow, columns)
            for name, column in zip(names, columns, strict=True):
                if column.type == FLOAT:
                    raise NotLocal("values of type float")
                if not (table.is_copy and column.type == TIMESTAMP):
                    check_type(file.schema_arrow, name, column.type)
            parts.append(file.read(names).select(names).rename_columns([column.name for column in columns]))
    if not parts:
        raise NotLocal("the table has no files")
    return pa.concat_tables(parts)


def _fitting(values: pa.ChunkedArray, hive: HiveType) -> pa.ChunkedArray:
    """Strings cut to the length of the type, as `spark.cells.fit` does."""
    from pyarrow import compute

    cut = compute.utf8_slice_codeunits(values, 0, hive.params[0])
    return compute.utf8_rtrim(cut, " ") if hive.name == "char" else cut


def _mask(condition: Rex, rows: pa.Table, zone: str) -> pa.ChunkedArray | pa.Array:
    """Whether each of the rows satisfies the condition."""
    compared = _compared(condition, rows)
    return _evaluated(condition, rows, zone) if compared is None else compared


_COMPARISONS = {
    "=": "equal", "<>": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
}  # fmt: skip


def _compared(condition: Rex, rows: pa.Table) -> pa.ChunkedArray | None:
    """A comparison of a column with a constant of its type; None for any other condition."""
    import pyarrow as pa
    from pyarrow import compute

    if not isinstance(condition, Call) or condition.op not in _COMPARISONS:
        return None
    column, constant = condition.args
    if not isinstance(column, Ref) or not isinstance(constant, Literal) or constant.value is None:
        return None
    if column.type.is_integer and constant.type.is_integer:
        type_ = pa.int64()
    elif column.type == constant.type == DATE:
        type_ = pa.date32()
    elif column.type.is_string and constant.type.is_string:
        type_ = pa.string()
    else:
        return None
    values = rows[column.id].cast(type_)
    return compute.call_function(_COMPARISONS[condition.op], [values, pa.scalar(constant.value, type_)])


def _evaluated(condition: Rex, rows: pa.Table, zone: str) -> pa.Array:
    import pyarrow as pa

    names = sorted(refs(condition))
    test = compiled(condition, Scope({name: place for place, name in enumerate(names)}, Given(zone), no_subquery))
    has_doubles = any(isinstance(part, Ref) and part.type == DOUBLE for part in walk(condition))
    if len(names) == 1 and not has_doubles:  # of which -0.0 and 0.0 are one value of a dictionary
        encoded = rows[names[0]].combine_chunks().dictionary_encode()
        values = [*encoded.dictionary.to_pylist(), None]
        _check_number(len(values))
        results = pa.array([test((value,)) is True for value in values])
        return results.take(encoded.indices.fill_null(len(values) - 1))
    _check_number(rows.num_rows)
    columns = [rows[name].to_pylist() for name in names] or [[None] * rows.num_rows]
    return pa.array([test(row) is True for row in zip(*columns, strict=True)], pa.bool_())


def _check_number(count: int) -> None:
    if count > MOST_EVALUATED:
        raise Unsure("a condition has too many values to evaluate")
