"""Partitions in the catalog: names of folders as Hive 4.0.1 escapes them, and what a migration leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivedruid.catalog.layout import PartitionField
from hivedruid.catalog.partitions import NULL_VALUE, Partition, Partitions, escape, parse_name, unescape
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import INT, STRING

DAY, SHOP = Column("day", INT), Column("shop", STRING)
TABLE = Table(
    "default", "t", "files", (Column("id", INT), DAY, SHOP), external=True, location="/data/t", format="parquet",
    partition_spec=(PartitionField("day"), PartitionField("shop")),
)  # fmt: skip


def test_names_are_escaped_as_in_hive() -> None:
    assert escape("x y/z:%=\"#{}[]^\\ä'*?") == "x y%2Fz%3A%25%3D%22%23%7B}%5B%5D%5E%5Cä%27%2A%3F"
    assert escape("a\tb\x7f") == "a%09b%7F"
    assert escape("") == NULL_VALUE
    for text in ("x y/z:%=\"#{}[]^\\ä'*?", "a\tb", "100%", "%41"):
        assert unescape(escape(text)) == text
    assert unescape("%41%zz%2") == "A%zz%2"


def test_the_columns_of_partitions_are_the_last_ones() -> None:
    assert (TABLE.stored_columns, TABLE.partition_columns) == ((Column("id", INT),), (DAY, SHOP))
    managed = Table("default", "m", "iceberg", (DAY, SHOP), partition_spec=(PartitionField("shop"),))
    assert (managed.stored_columns, managed.folder_columns, managed.has_partitions) == ((DAY, SHOP), (), False)
    assert (managed.partition_columns, managed.last_columns) == ((SHOP,), (SHOP,))
    mixed = replace(managed, partition_spec=(PartitionField("day"), PartitionField("shop", "bucket", 4)))
    assert (mixed.partition_columns, mixed.last_columns) == ((), ())


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("day=1/shop=a", ("1", "a")),
        ("DAY=01/Shop=%2Fa", ("01", "/a")),
        (f"day={NULL_VALUE}/shop={NULL_VALUE}", (NULL_VALUE, NULL_VALUE)),
        ("shop=a/day=1", None),
        ("day=1", None),
        ("day=/shop=a", None),
        ("1/a", None),
    ],
)
def test_folders_of_partitions(name: str, values: tuple[str, ...] | None) -> None:
    found = parse_name(name, TABLE.partition_columns)
    assert (found.values if found is not None else None) == values


def test_partitions_are_added_renamed_and_removed_with_their_table(catalog: Catalog) -> None:
    table, store = catalog.add(TABLE), Partitions(catalog)
    one, ten, odd = Partition(("1", "a")), Partition(("10", "b"), "/elsewhere"), Partition(("2", "x/y=%"))
    store.add(table, [ten, odd, one])
    store.add(table, [Partition(("1", "a"), "/another")])
    assert store.of(table) == (one, ten, odd)
    assert [each.folder(table) for each in store.of(table)] == [
        "/data/t/day=1/shop=a", "/elsewhere", "/data/t/day=2/shop=x%2Fy%3D%25",
    ]  # fmt: skip
    store.replace(table, [one], [Partition(("3", "a"), one.folder(table))])
    assert [each.values for each in store.of(table)] == [("10", "b"), ("2", "x/y=%"), ("3", "a")]
    catalog.remove(table)
    assert store.of(table) == ()
