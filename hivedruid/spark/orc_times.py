"""Times that ORC files cannot store: orc-core reads those in the last second before 1970, with a fraction of a
millisecond or more, as a second later. Hive's own files have the same fault. Such rows are not written."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType
from hivedruid.spark.cells import identifier, literal

UNSTORABLE = "ORC files cannot store a time in the last second before 1970"
_FIRST, _END = "TIMESTAMP'1969-12-31 23:59:59.001 UTC'", "TIMESTAMP'1970-01-01 00:00:00 UTC'"


def storable(expression: str, type_: HiveType, table: Table) -> str:
    """The value of a column; the job fails if the files of the table would have it a second later."""
    tests = list(_tests(expression, type_, table, 0)) if is_orc(table) else []
    if not tests:
        return expression
    return f"IF({' OR '.join(tests)}, raise_error({literal(UNSTORABLE)}), {expression})"


def is_orc(table: Table) -> bool:
    """Whether Spark writes ORC files for the table."""
    if table.format == "iceberg":  # of a Hive metastore
        return table.properties.get("write.format.default", "parquet").lower() == "orc"
    if table.has_snapshots:
        return table.properties.get("write.format.default", table.format or "") != "parquet"
    return table.format == "orc"


def _tests(x: str, type_: HiveType, table: Table, depth: int) -> Iterator[str]:
    """The conditions that are true for a value with such a time."""
    item = f"_t{depth}"
    if type_.is_timestamp:
        if type_.name == "timestamp" and not (table.has_snapshots or table.metastore):
            return  # Spark stores it as a BIGINT
        yield f"(CAST({x} AS TIMESTAMP) >= {_FIRST} AND CAST({x} AS TIMESTAMP) < {_END})"
    elif type_.name == "array":
        if inner := list(_tests(item, type_.children[0], table, depth + 1)):
            yield f"coalesce(exists({x}, {item} -> {' OR '.join(inner)}), FALSE)"
    elif type_.name == "map":
        for name, child in zip(("map_keys", "map_values"), type_.children, strict=True):
            if inner := list(_tests(item, child, table, depth + 1)):
                yield f"coalesce(exists({name}({x}), {item} -> {' OR '.join(inner)}), FALSE)"
    elif type_.name == "struct":
        for name, child in zip(type_.fields, type_.children, strict=True):
            yield from _tests(f"{x}.{identifier(name)}", child, table, depth)
