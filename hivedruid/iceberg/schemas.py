"""The schema of an Iceberg table for columns of Hive types that are not nested, as Spark creates it, and the form of
their values in ORC files and in the bounds of manifests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isnan
from struct import pack
from typing import TYPE_CHECKING, Any

from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

    from hivedruid.catalog.table import Column
    from hivedruid.catalog.types import HiveType

_NAMES = {
    "boolean": "boolean", "tinyint": "int", "smallint": "int", "int": "int", "bigint": "long", "float": "float",
    "double": "double", "string": "string", "varchar": "string", "char": "string", "date": "date",
    "timestamp": "timestamp", "timestamp with local time zone": "timestamptz", "binary": "binary",
}  # fmt: skip
_ATTRIBUTES: Mapping[str, Mapping[str, str]] = {
    "long": {"iceberg.long-type": "LONG"},
    "timestamp": {"iceberg.timestamp-unit": "MICROS"},
    "timestamptz": {"iceberg.timestamp-unit": "MICROS"},
    "binary": {"iceberg.binary-type": "BINARY"},
}
"""The attributes of columns of ORC files, besides those that all have."""
_LONGEST_BOUND = 16
"""Characters of the bounds of strings."""
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Field:
    """A column of an Iceberg table; `type` is Iceberg's."""

    id: int
    name: str
    type: str


def iceberg_type(hive: HiveType) -> str | None:
    """Iceberg's name of a type; None for nested types."""
    if hive.name == "decimal":
        precision, scale = hive.params or (10, 0)
        return f"decimal({precision}, {scale})"
    return _NAMES.get(hive.name)


def fields_of(columns: Sequence[Column]) -> tuple[Field, ...] | None:
    """The fields of a new table; None if a column is nested."""
    types = [iceberg_type(column.type) for column in columns]
    return tuple(
        Field(number, column.field_name, type_)
        for number, (column, type_) in enumerate(zip(columns, types, strict=True), 1)
        if type_ is not None
    ) if None not in types else None  # fmt: skip


def schema_document(fields: Sequence[Field]) -> dict[str, Any]:
    """The schema of a new table in its metadata."""
    members = [{"id": field.id, "name": field.name, "required": False, "type": field.type} for field in fields]
    return {"type": "struct", "schema-id": 0, "fields": members}


def arrow_field(field: Field) -> pa.Field:
    """A column of an ORC file."""
    import pyarrow as pa

    attributes = {"iceberg.id": str(field.id), "iceberg.required": "false", **_ATTRIBUTES.get(field.type, {})}
    return pa.field(field.name, arrow_type(field.type), metadata=attributes)


def arrow_type(name: str) -> pa.DataType:
    """The Arrow type of values of an Iceberg type."""
    import pyarrow as pa

    if name.startswith("decimal"):
        precision, scale = name.removeprefix("decimal(").removesuffix(")").split(",")
        return pa.decimal128(int(precision), int(scale))
    return {
        "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
        "string": pa.string(), "date": pa.date32(), "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", "UTC"), "binary": pa.binary(),
    }[name]  # fmt: skip


# --- bounds --------------------------------------------------------------------------------------------------------


def bounds(field: Field, values: Sequence[Any]) -> tuple[bytes | None, bytes | None]:
    """The least and the greatest of some values, without nulls, in Iceberg's binary form; None if it is not stored."""
    if not values or not (field.type in _BOUNDS or field.type in _REALS or field.type.startswith("decimal")):
        return None, None
    if field.type == "string":
        least, greatest = min(values, key=str.encode), max(values, key=str.encode)
        return least[:_LONGEST_BOUND].encode(), greatest.encode() if len(greatest) <= _LONGEST_BOUND else None
    if field.type in _REALS:
        return _bounds_of_reals(values, _REALS[field.type])
    form = _BOUNDS.get(field.type, _unscaled)
    return form(min(values)), form(max(values))


def _bounds_of_reals(values: Sequence[float], form: str) -> tuple[bytes | None, bytes | None]:
    """None if there is a NaN, which for Spark is greater than other numbers and for Iceberg outside of all bounds. A
    bound of zero includes both zeros: readers take -0.0 as less than 0.0."""
    if any(map(isnan, values)):
        return None, None
    return pack(form, min(values) or -0.0), pack(form, max(values) or 0.0)


def _unscaled(value: Decimal) -> bytes:
    """The digits of a decimal, whose exponent is the scale of its type, as the shortest integer."""
    sign, digits, _ = value.as_tuple()
    whole = int("".join(map(str, digits))) * (-1 if sign else 1)
    return whole.to_bytes((whole if whole >= 0 else ~whole).bit_length() // 8 + 1, "big", signed=True)


def _micros(moment: datetime) -> bytes:
    start = datetime(1970, 1, 1, tzinfo=moment.tzinfo)
    return _integer(8)((moment - start) // timedelta(microseconds=1))


def _integer(size: int) -> Callable[[int], bytes]:
    return lambda value: value.to_bytes(size, "little", signed=True)


_REALS = {"float": "<f", "double": "<d"}
_BOUNDS: Mapping[str, Callable[[Any], bytes]] = {
    "boolean": lambda value: b"\x01" if value else b"\0",
    "int": _integer(4),
    "long": _integer(8),
    "date": lambda value: _integer(4)((value - _EPOCH).days),
    "timestamp": _micros,
    "timestamptz": _micros,
    "string": str.encode,
}
