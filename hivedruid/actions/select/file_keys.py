"""The keys of semi-join reductions from small Parquet files, without a Spark job, which would take longer than most of
the queries that the keys restrict.

Conditions are evaluated exactly or not at all. Comparisons of a column with a constant are Arrow's, others those of
local evaluation: once for each distinct value, if they read one column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from hivedruid.actions.partitioning.pruning import no_subquery
from hivedruid.actions.statistics.files import files_in
from hivedruid.catalog.types import DATE, STRING, HiveType
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.expressions import Scope, compiled
from hivedruid.evaluation.functions import Given
from hivedruid.filesystems import local_path
from hivedruid.plan.physical import FileKeys
from hivedruid.plan.rex import Call, Literal, Ref, Rex, refs, substitute, walk
from hivedruid.spark.paths import is_visible_here

if TYPE_CHECKING:
    import pyarrow as pa

    from hivedruid.catalog.footers import StoredFile
    from hivedruid.catalog.table import Column, Table

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
    for each in _files(keys.table):
        with parquet.ParquetFile(each.path) as file:
            count += file.metadata.num_rows
            if count > MOST_ROWS:
                raise NotLocal("the files have too many rows")
            names = _stored_names(file.schema_arrow, columns)
            parts.append(file.read(names).select(names).rename_columns([column.name for column in columns]))
    if not parts or len(columns) < len(needed):
        raise NotLocal("the table has no files")
    rows = pa.concat_tables(parts)
    for column in columns:
        if column.type == DATE and (compute.min(rows[column.name]).as_py() or GREGORIAN) < GREGORIAN:
            raise Unsure("a date before the Gregorian calendar")
    return rows


def _files(table: Table) -> list[StoredFile]:
    """The files that Spark reads. It also reads folders behind links, and names such as `_a=1`, which Hive hides."""
    folder = local_path(table.location or "")
    if folder is None:
        raise NotLocal("the table is elsewhere")
    files = files_in(folder)
    if len(files) > MOST_FILES:
        raise NotLocal("the table has too many files")
    for each in folder.rglob("*"):
        if (each.is_symlink() and each.is_dir()) or (each.name.startswith("_") and "=" in each.name):
            raise NotLocal(f"{each} may contain rows")
    return files


def _stored_names(schema: pa.Schema, columns: Sequence[Column]) -> list[str]:
    """The names of these columns in a file, which contains values of their types."""
    names = {name.lower(): name for name in schema.names}
    if len(names) < len(schema.names):
        raise NotLocal("names of columns differ only in case")
    stored = [names.get(column.field_name.lower(), "") for column in columns]
    for name, column in zip(stored, columns, strict=True):
        if not name or schema.field(name).type != _arrow_type(column.type):
            raise NotLocal(f"the files have no {column.name} of type {column.type}")
    return stored


def _arrow_type(hive: HiveType) -> pa.DataType:
    import pyarrow as pa

    if hive.name == "decimal":
        return pa.decimal128(*hive.params)
    plain = {
        "tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64(), "date": pa.date32(),
        "boolean": pa.bool_(), "string": pa.string(), "varchar": pa.string(), "char": pa.string(),
    }  # fmt: skip
    if hive.name not in plain:
        raise NotLocal(f"values of type {hive}")
    return plain[hive.name]


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
