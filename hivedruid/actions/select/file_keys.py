"""The keys of semi-join reductions from small Parquet files, without a Spark job, which would take longer than most of
the queries that the keys restrict.

Conditions are evaluated exactly or not at all. Comparisons of a column with a constant are Arrow's, others those of
local evaluation: once for each distinct value, if they read one column.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from hivedruid.actions.parquet_files import check_type, files_of, names_in
from hivedruid.actions.partitioning.pruning import no_subquery
from hivedruid.catalog.types import DATE, DOUBLE, FLOAT, STRING
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.expressions import Scope, compiled
from hivedruid.evaluation.functions import Given
from hivedruid.plan.physical import FileKeys
from hivedruid.plan.rex import Call, Literal, Ref, Rex, refs, substitute, walk
from hivedruid.spark.paths import is_visible_here

if TYPE_CHECKING:
    import pyarrow as pa


MOST_FILES = 100
MOST_ROWS = 1_000_000
"""The maximum number of rows of all files."""
MOST_EVALUATED = 10_000
"""The maximum number of values, or of rows, for which a condition is evaluated other than by Arrow."""
GREGORIAN = date(1582, 10, 15)
"""Spark may read earlier dates in another calendar, depending on the writer of the file."""


def keys_in_files(keys: FileKeys, settings: Mapping[str, str]) -> list[tuple[Any, ...]] | None:
    """The distinct keys; None if the files or a condition are not suitable."""
    from pyarrow import ArrowException

    if not is_visible_here(settings):
        return None
    try:
        rows = _rows(keys)
        for condition in sorted(keys.conditions, key=lambda each: len(refs(each))):
            rows = rows.filter(_mask(condition, rows, keys.zone))
        found = rows.select(list(keys.columns)).group_by(list(keys.columns)).aggregate([])
        return list(zip(*[column.to_pylist() for column in found.itercolumns()], strict=True))
    except (NotLocal, Unsure, ArrowException, ArithmeticError, ValueError, OSError):
        return None


def _rows(keys: FileKeys) -> pa.Table:
    """The columns of the table that the keys and the conditions read, under their names."""
    import pyarrow as pa
    from pyarrow import compute, parquet

    needed = frozenset(keys.columns).union(*map(refs, keys.conditions))
    columns = [column for column in keys.table.columns if column.name in needed]
    parts, count = [], 0
    for each in files_of(keys.table, MOST_FILES):
        with parquet.ParquetFile(each.path) as file:
            count += file.metadata.num_rows
            if count > MOST_ROWS:
                raise NotLocal("the files have too many rows")
            names = names_in(file.schema_arrow, columns)
            for name, column in zip(names, columns, strict=True):
                if column.type in (FLOAT, DOUBLE):
                    raise NotLocal(f"values of type {column.type}")
                check_type(file.schema_arrow, name, column.type)
            parts.append(file.read(names).select(names).rename_columns([column.name for column in columns]))
    if not parts or len(columns) < len(needed):
        raise NotLocal("the table has no files")
    rows = pa.concat_tables(parts)
    for column in columns:
        if column.type == DATE and (compute.min(rows[column.name]).as_py() or GREGORIAN) < GREGORIAN:
            raise Unsure("a date before the Gregorian calendar")
    return rows


_PLAIN = frozenset({"=", "<>", "<", "<=", ">", ">=", "in", "is_null", "is_not_null"})
"""What Spark, too, computes for CHAR as for strings: the files have its values without trailing blanks."""


def _mask(condition: Rex, rows: pa.Table, zone: str) -> pa.ChunkedArray | pa.Array:
    """Whether each of the rows satisfies the condition."""
    chars = {part.id for part in walk(condition) if isinstance(part, Ref) and part.type.name == "char"}
    for part in walk(condition):
        if (
            isinstance(part, Call)
            and part.op not in _PLAIN
            and any(isinstance(a, Ref) and a.id in chars for a in part.args)
        ):
            raise NotLocal(f"{part.op}() of CHAR")
    condition = substitute(condition, {name: Ref(STRING, name) for name in chars})
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
    if len(names) == 1:
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
