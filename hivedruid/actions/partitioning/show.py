"""SHOW PARTITIONS, DESCRIBE … PARTITION and the report of MSCK, in Hive's layout."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hivedruid.actions.partitioning.managed import ManagedPartition
from hivedruid.actions.partitioning.values import matching, partition_column, typed
from hivedruid.actions.utility.model import Show
from hivedruid.actions.utility.show import partition_information
from hivedruid.catalog.partitions import NULL_VALUE, Partition
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING
from hivedruid.parser.statements.partitioning import DescribePartition, ShowPartitions
from hivedruid.results import ResultColumn

if TYPE_CHECKING:
    from hivedruid.plan.facts import PlannerFacts

Row = tuple[str, str, str]
BLANK: Row = ("", "", "")
_HEADER: Row = ("# col_name", "data_type", "comment")


def _show(names: Iterable[str], rows: Iterable[tuple[str, ...]], *, is_text: bool = False) -> Show:
    return Show(tuple(ResultColumn(name, STRING) for name in names), tuple(rows), is_text)


def partitions(statement: ShowPartitions, table: Table, known: tuple[Partition, ...], facts: PlannerFacts) -> Show:
    zone = facts.zone
    for spec in (statement.spec, statement.where):
        known = matching(spec, table, known, zone) if spec is not None else known
    if statement.condition is not None:
        from hivedruid.actions.partitioning.conditions import satisfying

        known = satisfying(statement.condition, statement.source, table, known, facts)
    columns = table.partition_columns
    chosen = sorted(known, key=lambda each: each.name(columns))
    for key, descends in reversed(statement.order):
        column = partition_column(key, table)
        place = columns.index(column)
        chosen.sort(key=lambda each: _sort_key(each.values[place], column, zone), reverse=descends)
    return _show(("partition",), [(each.name(columns),) for each in chosen[: statement.limit]])


def _sort_key(text: str, column: Column, zone: str) -> tuple[int, Any]:
    """Values that are known, in their order, then other texts, then NULL."""
    known, value = typed(text, column, zone)
    if text == NULL_VALUE or (known and value is None):
        return 2, ""
    return (0, value) if known else (1, text)


def _column(column: Column) -> Row:
    return column.name, str(column.type), column.comment


def described(statement: DescribePartition, table: Table, partition: Partition) -> Show:
    names = ("col_name", "data_type", "comment")
    if statement.mode == "formatted":
        stored = [column for column in table.columns if column not in table.partition_columns]
        rows = [_HEADER, *map(_column, stored), *partition_information(table), BLANK]
        return _show(names, [*rows, *_details(table, partition)])
    rows = [*map(_column, table.columns), *partition_information(table)]
    if statement.mode == "extended":
        values = ", ".join(partition.values)
        place = f", location:{partition.folder(table)}" if table.has_partitions else ""
        text = f"Partition(values:[{values}], dbName:{table.database}, tableName:{table.name}{place})"
        rows += [BLANK, ("Detailed Partition Information", text, "")]
    return _show(names, rows)


def _details(table: Table, partition: Partition) -> list[Row]:
    library = table.serde.get("serialization.lib", "")
    return [
        ("# Detailed Partition Information", "", ""),
        ("Partition Value:", f"[{', '.join(partition.values)}]", ""),
        ("Database:", table.database, ""),
        ("Table:", table.name, ""),
        *([("Location:", partition.folder(table), "")] if table.has_partitions else []),
        *_parameters(partition),
        BLANK,
        ("# Storage Information", "", ""),
        *([("SerDe Library:", library, "")] if library else []),
        ("Format:", (table.format or "").upper(), ""),
    ]


def _parameters(partition: Partition) -> list[Row]:
    """The size of a partition of a managed table, under Hive's names."""
    if not isinstance(partition, ManagedPartition):
        return []
    size = partition.size
    named = {"numFiles": size.files, "numRows": size.rows, "totalSize": size.size}
    return [("Partition Parameters:", "", ""), *(("", name, str(number)) for name, number in named.items())]


def repaired(table: Table, added: tuple[Partition, ...], removed: tuple[Partition, ...], *, shows: bool) -> Show:
    """What MSCK found, and changed unless it only `shows` it."""
    columns = table.partition_columns

    def listed(what: str, each: tuple[Partition, ...]) -> list[str]:
        names = "\t".join(f"{table.name}:{name}" for name in sorted(partition.name(columns) for partition in each))
        return [f"{what}:\t{names}"] if names else []

    lines = listed("Partitions not in metastore", added) + listed("Partitions missing from filesystem", removed)
    if not shows:
        lines += [f"Repair: Added partition to metastore {table.name}:{each.name(columns)}" for each in added]
        lines += [f"Repair: Dropped partition from metastore {table.name}:{each.name(columns)}" for each in removed]
    return _show(("result",), [(line,) for line in lines], is_text=True)
