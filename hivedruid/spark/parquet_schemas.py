"""The types of Parquet files by their own schema, without the Arrow schema that some writers add to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

from hivedruid.lazy_dataclass import dataclass
from hivedruid.spark.stored_values import ELEMENT, HALF, KEY, VALUE, Path

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType

_ARROW, _OTHER = b"ARROW:schema", b"ARROW-schema"
_SPLIT = re.compile(rb"\x15[\0-\x0e]\x19[\x15-\x85][\0-\x12]{0,7}\x12[\0-\x12]{0,7}\x19")
"""What the metadata of a column with BYTE_STREAM_SPLIT contains, in Thrift's compact protocol: its type, the list of
its encodings with the ninth among them, and the beginning of another list. Parsing all of it takes much longer."""


@dataclass(frozen=True)
class ParquetSchema:
    """The columns of a file, and Parquet's types of their leaves."""

    columns: pa.Schema
    leaves: tuple[str, ...]


def _metadata(footer: bytes) -> Any:
    from pyarrow import ArrowException
    from pyarrow.parquet import read_metadata

    own = footer.replace(_ARROW, _OTHER)
    try:
        return read_metadata(BytesIO(b"PAR1" + own + len(own).to_bytes(4, "little") + b"PAR1"))
    except (ArrowException, OSError) as error:
        raise ValueError(str(error)) from error


def parquet_schema(footer: bytes) -> ParquetSchema:
    """The schema by a file's metadata. Raises ValueError."""
    from pyarrow import ArrowException

    schema = _metadata(footer).schema
    try:
        columns = schema.to_arrow_schema()
    except (ArrowException, NotImplementedError) as error:
        raise ValueError(str(error)) from error
    return ParquetSchema(columns, tuple([schema.column(n).physical_type for n in range(len(schema))]))


def splits_bytes(footer: bytes) -> bool:
    """Whether a file has columns in the encoding BYTE_STREAM_SPLIT. Raises ValueError."""
    if _SPLIT.search(footer) is None:
        return False
    metadata = _metadata(footer)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return any("BYTE_STREAM_SPLIT" in group.column(n).encodings for group in groups for n in range(group.num_columns))


def spark_schema(schemas: Iterable[ParquetSchema]) -> StructType | None:
    """The columns of files as Spark can read them, also of types of which it derives no schema; None if the types of a
    column differ."""
    from pyspark.sql.types import StructField, StructType

    fields: dict[str, StructField] = {}
    for schema in schemas:
        leaves = iter(schema.leaves)
        for field in schema.columns:
            kind = _spark(field.type, leaves)
            first = fields.setdefault(field.name.lower(), StructField(field.name, kind))
            if first.dataType != kind:
                return None
    return StructType(list(fields.values()))


def _spark(kind: Any, leaves: Iterator[str]) -> DataType:
    import pyarrow as pa
    from pyspark.sql import types
    from pyspark.sql.pandas.types import from_arrow_type

    if pa.types.is_struct(kind):
        return types.StructType([types.StructField(field.name, _spark(field.type, leaves)) for field in kind])
    if pa.types.is_list(kind):
        return types.ArrayType(_spark(kind.value_type, leaves))
    if pa.types.is_map(kind):
        return types.MapType(_spark(kind.key_type, leaves), _spark(kind.item_type, leaves))
    if next(leaves) == "INT96":
        return types.TimestampType()
    if pa.types.is_timestamp(kind):
        if kind.unit == "ns":
            return types.LongType()
        return types.TimestampType() if kind.tz else types.TimestampNTZType()
    others: dict[str, DataType] = {
        "time32": types.IntegerType(), "time64": types.LongType(), "halffloat": types.BinaryType(),
        "fixed_size_binary": types.BinaryType(), "uint8": types.ShortType(), "uint16": types.IntegerType(),
        "uint32": types.LongType(), "uint64": types.DecimalType(20, 0),
    }  # fmt: skip
    return others.get(str(kind).partition("[")[0]) or from_arrow_type(kind)


class Units:
    """What the leaves of columns of some files count, by their path; the files are read when it is needed."""

    def __init__(self, schemas: Callable[[], Iterable[ParquetSchema] | None]) -> None:
        self._schemas = schemas
        self._known: dict[Path, str | None] | None = None

    def __call__(self, path: Path) -> str | None:
        """`ms`, `us` or `ns` of timestamps, `HALF`; None for others, and if it differs."""
        if self._known is None:
            schemas = self._schemas()
            if schemas is None:  # the files are on other machines: a BIGINT that is declared so counts nanoseconds
                return "ns"
            self._known = dict[Path, str | None]()
            for schema in schemas:
                for field in schema.columns:
                    self._add((field.name.lower(),), field.type)
        return self._known.get(path)

    def _add(self, path: Path, kind: Any) -> None:
        import pyarrow as pa

        assert self._known is not None
        if pa.types.is_struct(kind):
            for field in kind:
                self._add((*path, field.name.lower()), field.type)
        elif pa.types.is_map(kind):
            self._add((*path, KEY), kind.key_type)
            self._add((*path, VALUE), kind.item_type)
        elif pa.types.is_list(kind):
            self._add((*path, ELEMENT), kind.value_type)
        else:
            unit = kind.unit if pa.types.is_timestamp(kind) else HALF if pa.types.is_float16(kind) else None
            self._known[path] = unit if self._known.get(path, unit) == unit else None
