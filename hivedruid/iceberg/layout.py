"""The partition spec and the sort order in an Iceberg table's metadata file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hivedruid.catalog.layout import PartitionField, SortField, Transform
from hivedruid.iceberg.metadata import document
from hivedruid.lazy_dataclass import dataclass

_TRANSFORM = re.compile(r"(\w+)(?:\[(\d+)\])?")


@dataclass(frozen=True)
class Layout:
    """The current spec and sort order. A field that hivedruid does not define is None."""

    spec: tuple[PartitionField | None, ...] = ()
    order: tuple[SortField | None, ...] = ()


def read_layout(metadata: Path) -> Layout:
    """The layout that a metadata file describes. Raises OSError and ValueError if it cannot be read."""
    table = document(metadata)
    try:
        names = column_names(table)
        specs = {spec["spec-id"]: spec["fields"] for spec in table.get("partition-specs") or ()}
        orders = {order["order-id"]: order["fields"] for order in table.get("sort-orders") or ()}
        spec = [partition_field(field, names) for field in specs.get(table.get("default-spec-id", 0), ())]
        order = [_sort_field(field, names) for field in orders.get(table.get("default-sort-order-id", 0), ())]
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{metadata.name} is not the metadata of an Iceberg table: {error!r}") from error
    return Layout(tuple(spec), tuple(order))


def column_names(table: Mapping[str, Any]) -> dict[int, str]:
    """The columns of the current schema of a metadata file, by id."""
    return {field["id"]: field["name"].lower() for field in schema_fields(table)}


def column_types(table: Mapping[str, Any]) -> dict[str, str]:
    """The types of the columns of the current schema that are not nested, by name."""
    return {field["name"].lower(): field["type"] for field in schema_fields(table) if isinstance(field["type"], str)}


def schema_fields(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The columns of the current schema of a metadata file."""
    return list(current_schema(table)["fields"])


def current_schema(table: Mapping[str, Any]) -> dict[str, Any]:
    """The current schema of a metadata file."""
    schemas: list[dict[str, Any]] = table.get("schemas") or [table["schema"]]
    current = table.get("current-schema-id", schemas[-1].get("schema-id"))
    return next((schema for schema in schemas if schema.get("schema-id") == current), schemas[-1])


def partition_field(field: Mapping[str, Any], names: Mapping[int, str]) -> PartitionField | None:
    """A field of a partition spec; None if its column or transform is not known."""
    match = _TRANSFORM.fullmatch(field["transform"])
    name = names.get(field["source-id"])
    if match is None or name is None or match[1] == "void":
        return None
    return PartitionField(name, cast("Transform", match[1]), int(match[2]) if match[2] else None)


def _sort_field(field: Mapping[str, Any], names: Mapping[int, str]) -> SortField | None:
    name = names.get(field["source-id"])
    if name is None or field["transform"] != "identity":
        return None
    return SortField(name, field["direction"] == "desc", field["null-order"] == "nulls-first")
