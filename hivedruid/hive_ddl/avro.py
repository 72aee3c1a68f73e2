"""Hive columns from an Avro record schema, as derived by Hive's AvroSerDe."""

from __future__ import annotations

import json
from typing import Any

_TYPES = {
    "boolean": "BOOLEAN", "int": "INT", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE", "string": "STRING",
    "bytes": "BINARY", "fixed": "BINARY", "enum": "STRING",
}  # fmt: skip


def avro_columns(schema: str) -> list[tuple[str, str]]:
    """Name and type of each field; empty if the text is not a record schema, or has a type that Hive does not
    support."""
    try:
        record = json.loads(schema)
        return [(field["name"].lower(), _type(field["type"])) for field in record["fields"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []


def _type(avro: Any) -> str:
    if isinstance(avro, list):  # null | type
        (avro,) = [item for item in avro if item != "null"]
    if isinstance(avro, str):
        return _TYPES[avro]
    match avro["type"]:
        case "record":
            fields = ", ".join(f"`{field['name'].lower()}`: {_type(field['type'])}" for field in avro["fields"])
            return f"STRUCT<{fields}>"
        case "array":
            return f"ARRAY<{_type(avro['items'])}>"
        case "map":
            return f"MAP<STRING, {_type(avro['values'])}>"
        case inner:
            return _type(inner)
