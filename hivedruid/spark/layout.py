"""The partition spec and the sort order of Iceberg tables in Spark SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from hivedruid.catalog.layout import OF_TIME, PartitionField, SortField, Transform
from hivedruid.catalog.table import Table
from hivedruid.iceberg.layout import Layout
from hivedruid.spark.cells import identifier
from hivedruid.spark.inputs import iceberg_name

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

_PART = re.compile(r"(?:(\w+)\((?:(\d+), )?)?`?([^`()]+)`?\)?")
_ORDER = re.compile(r"`?([^`]+?)`? (ASC|DESC) NULLS (FIRST|LAST)")


def transform(field: PartitionField) -> str:
    """A field of PARTITIONED BY and ADD PARTITION FIELD. Spark's words for times are plural."""
    text = field.sql(identifier(field.column))
    return text.replace(field.transform, f"{field.transform}s", 1) if field.transform in OF_TIME else text


def changes(present: Layout, table: Table) -> Iterator[str]:
    """The ALTER TABLE clauses that give a table its partition spec and sort order; none if it has them. Each is a
    commit, and writers between them write correct files of a spec in between."""
    wanted, given = table.partition_spec, present.spec
    same = next(
        (i for i, (a, b) in enumerate(zip(wanted, given, strict=False)) if a != b), min(len(wanted), len(given))
    )
    if wanted:
        yield from (f"DROP PARTITION FIELD {transform(field)}" for field in given[same:] if field is not None)
        yield from (f"ADD PARTITION FIELD {transform(field)}" for field in wanted[same:])
    if table.sort_order and (table.sort_order, wanted) != (present.order, given):
        keys = ", ".join(field.sql(identifier(field.column)) for field in table.sort_order)
        distributed = "DISTRIBUTED BY PARTITION " if wanted else ""
        yield f"WRITE {distributed}LOCALLY ORDERED BY {keys}"


def present(spark: SparkSession, table: Table) -> Layout:
    """The layout of a table in another catalog, as Spark describes it."""
    name = iceberg_name(table)
    rows = [(row[0], row[1]) for row in spark.sql(f"DESCRIBE TABLE {name}").collect()]
    spec = [_field(text) for key, text in rows if re.fullmatch(r"Part \d+", key)]
    if not spec and any(key == "# Partition Information" for key, _ in rows):  # columns without transforms
        after = rows[[key for key, _ in rows].index("# Partition Information") + 2 :]
        spec = [PartitionField(key.lower()) for key, _ in after if key]
    properties = {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()}
    matches = [_ORDER.fullmatch(text) for text in properties.get("sort-order", "").split(", ") if text]
    order = [SortField(m[1].lower(), m[2] == "DESC", m[3] == "FIRST") if m else None for m in matches]
    return Layout(tuple(spec), tuple(order))


def _field(text: str) -> PartitionField | None:
    match = _PART.fullmatch(text)
    if match is None:
        return None
    word = (match[1] or "identity").removesuffix("s") if match[1] != "identity" else "identity"
    return PartitionField(match[3].lower(), cast("Transform", word), int(match[2]) if match[2] else None)
