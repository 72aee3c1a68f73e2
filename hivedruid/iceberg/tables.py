"""Tables of another Iceberg catalog as tables of hivedruid, from their metadata in JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hivedruid.catalog.iceberg_place import IcebergPlace
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import UNKNOWN, HiveType
from hivedruid.iceberg.layout import partition_field, schema_fields
from hivedruid.tables.metastore_tables import parsed_type

_TYPES = {
    "long": "bigint",
    "timestamp": "timestamp",
    "timestamptz": "timestamp with local time zone",
    "uuid": "string",
}
"""The types with other names in Hive."""
_COPY = "copy its rows with another program into a table without that column"


def table_of(metadata: Mapping[str, Any], place: IcebergPlace) -> Table:
    """A table with this metadata. One whose rows cannot be read is a table, too: DESCRIBE shows it."""
    columns: list[Column] = []
    unreadable = unwritable = None
    fields = schema_fields(metadata)
    for field in fields:
        name, type_ = field["name"], hive_type(field["type"])
        parsed = parsed_type(type_)
        if parsed is None:
            unreadable = unreadable or (f"column '{name}' has the type {type_}, which is not supported", _COPY)
        known: HiveType = parsed or replace(UNKNOWN, name=type_)
        other = name if name != name.lower() else None
        columns.append(Column(name.lower(), known, field.get("doc") or "", other))
    names = {field["id"]: field["name"].lower() for field in fields}
    specs = {spec["spec-id"]: spec["fields"] for spec in metadata.get("partition-specs") or ()}
    used = [item for item in specs.get(metadata.get("default-spec-id", 0), ()) if item["transform"] != "void"]
    spec = [partition_field(item, names) for item in used]
    if None in spec:
        unwritable = "its partition spec has a transform that is not supported", "write to it with another program"
    properties = {key: str(value) for key, value in (metadata.get("properties") or {}).items()}
    properties.pop("owner", None)  # Spark sets it, and refuses it in CREATE TABLE
    comment = properties.pop("comment", "")
    return Table(
        place.database, place.name.lower(), "iceberg", tuple(columns), comment=comment, properties=properties,
        format=properties.get("write.format.default", "parquet"), table_id=place.table_id, is_written=True,
        partition_spec=tuple(field for field in spec if field is not None), iceberg=place, unreadable=unreadable,
        unwritable=unreadable or unwritable,
    )  # fmt: skip


def hive_type(given: Any) -> str:
    """The text of a type in Hive; that of Iceberg if Hive has none."""
    if isinstance(given, str):
        return "binary" if given.startswith("fixed") else _TYPES.get(given, given.replace(" ", ""))
    match given["type"]:
        case "list":
            return f"array<{hive_type(given['element'])}>"
        case "map":
            return f"map<{hive_type(given['key'])},{hive_type(given['value'])}>"
        case "struct":
            members = (f"`{field['name']}`:{hive_type(field['type'])}" for field in given["fields"])
            return f"struct<{','.join(members)}>"
        case other:
            return str(other)
