"""The columns of Parquet and ORC files, for CREATE TABLE without columns and CREATE TABLE … LIKE FILE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.file_writers import parquet_footer
from hivedruid.filesystems import Access, Location, open_location
from hivedruid.parser.statements.ddl import ColumnDef, LikeFile
from hivedruid.spark.parquet_schemas import parquet_schema
from hivedruid.tables.hive_tables import normalized_location

if TYPE_CHECKING:
    import pyarrow as pa


def file_columns(like: LikeFile, settings: Mapping[str, str]) -> tuple[ColumnDef, ...]:
    """The columns of a file, or of the first file in a folder. Hidden files (`_…`, `.…`) do not count.

    Raises SemanticError if there is none, or if it cannot be read; UnsupportedError for a type that Hive does not have.
    """
    try:
        file = _first(open_location(normalized_location(like.path), Access.of(settings)))
        schema = _schema(file, like.format) if file is not None else None
    except OSError as error:
        raise SemanticError(
            f"the columns of {like.path} cannot be read: {error.strerror or error}",
            span=like.span,
            hint=f"check the path, and that its files are {like.format.upper()} files, or specify the columns",
        ) from error
    if schema is None:
        raise SemanticError(f"there are no files in {like.path}", span=like.span, hint="specify the columns")
    return tuple(_columns(schema, like.span))


def _first(place: Location) -> Location | None:
    if not place.is_folder():
        return place if place.exists() else None
    for name in place.names():
        if not name.startswith(("_", ".")) and (found := _first(place / name)) is not None:
            return found
    return None


def _schema(file: Location, format_: str) -> pa.Schema:
    import pyarrow as pa

    try:
        with file.system.open_input_file(file.path) as source:
            if format_ == "parquet":
                return parquet_schema(parquet_footer(source)).columns
            from pyarrow.orc import ORCFile

            return ORCFile(source).schema
    except (pa.ArrowException, ValueError) as error:
        raise OSError(str(error).splitlines()[0]) from None


def _columns(schema: pa.Schema, span: Span | None) -> Iterable[ColumnDef]:
    seen: set[str] = set()
    for field in schema:
        name = field.name.lower()
        if name in seen:
            raise SemanticError(f"the file has two columns with the name {name}", span=span, hint="specify the columns")
        seen.add(name)
        yield ColumnDef(name, _type(field.type, field.name, span), span=span)


_SIMPLE: Mapping[str, HiveType] = {
    "bool": t.BOOLEAN, "int8": t.TINYINT, "int16": t.SMALLINT, "int32": t.INT, "int64": t.BIGINT,
    "uint8": t.SMALLINT, "uint16": t.INT, "uint32": t.BIGINT, "uint64": t.decimal(20),
    "halffloat": t.FLOAT, "float": t.FLOAT, "double": t.DOUBLE, "string": t.STRING, "large_string": t.STRING,
    "binary": t.BINARY, "large_binary": t.BINARY, "date32[day]": t.DATE, "null": t.STRING,
    "time32[ms]": t.INT, "time64[us]": t.BIGINT, "time64[ns]": t.BIGINT,
}  # fmt: skip
"""Hive's types by Arrow's names; unsigned integers have the next wider type, times of day are the numbers of their
units."""


def _type(arrow: pa.DataType, name: str, span: Span | None) -> HiveType:
    import pyarrow as pa

    def nested(type_: pa.DataType) -> HiveType:
        return _type(type_, name, span)

    forms: tuple[tuple[Callable[[pa.DataType], bool], Callable[[], HiveType]], ...] = (
        (pa.types.is_timestamp, lambda: t.TIMESTAMP),
        (pa.types.is_decimal, lambda: t.decimal(arrow.precision, arrow.scale)),
        (pa.types.is_fixed_size_binary, lambda: t.BINARY),
        (pa.types.is_dictionary, lambda: nested(arrow.value_type)),
        (pa.types.is_map, lambda: HiveType("map", children=(nested(arrow.key_type), nested(arrow.item_type)))),
        (pa.types.is_struct, lambda: _struct(arrow, nested)),
        (pa.types.is_list, lambda: t.array_of(nested(arrow.value_type))),
        (pa.types.is_large_list, lambda: t.array_of(nested(arrow.value_type))),
    )  # fmt: skip
    if (simple := _SIMPLE.get(str(arrow))) is not None:
        return simple
    for is_form, make in forms:
        if is_form(arrow):
            return make()
    raise UnsupportedError(
        f"the type {arrow} of the column {name} of the file is not supported",
        span=span,
        hint="specify the columns that you need",
    )


def _struct(arrow: pa.DataType, nested: Callable[[pa.DataType], HiveType]) -> HiveType:
    fields = [arrow.field(position) for position in range(arrow.num_fields)]
    names = tuple(field.name.lower() for field in fields)
    return HiveType("struct", children=tuple(nested(field.type) for field in fields), fields=names)
