"""The statistics of ANALYZE TABLE in the catalog."""

from __future__ import annotations

from hivedruid.catalog.statistics import (
    ColumnStatistics,
    StatisticsStore,
    TableStatistics,
    combined,
    from_json,
    to_json,
)
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING

FOUND = TableStatistics(
    10, 2_000, 0, 86_400_000,
    {"c": ColumnStatistics(3, True, False, "a", "z"), "m": ColumnStatistics(None, None, True)},
    "10 rows", "2024-01-01T00:00:00+00:00",
)  # fmt: skip


def test_statistics_are_kept_by_druid_and_data_source(catalog: Catalog) -> None:
    store = StatisticsStore(catalog)
    store.keep("embedded:", "default.t", FOUND)
    store.keep("http://b", "default.t", TableStatistics(11))
    assert store.find("embedded:", "default.t") == FOUND
    assert store.find("http://b", "default.t") == TableStatistics(11)
    store.forget("http://b", "default.t")
    assert store.find("http://b", "default.t") is None
    store.keep("embedded:", "default.t", TableStatistics(12))
    assert store.find("embedded:", "default.t") == TableStatistics(12)


def test_what_cannot_be_read_is_not_known(catalog: Catalog) -> None:
    store = StatisticsStore(catalog)
    for facts in ("{", "[]", '"x"', '{"columns": 7}'):
        with catalog.transaction() as connection:
            connection.execute("DELETE FROM statistics")
            connection.execute("INSERT INTO statistics VALUES ('d', 's', ?)", (facts,))
        assert store.find("d", "s") is None


def test_keys_of_a_newer_hivedruid_are_left_aside() -> None:
    text = to_json(FOUND).replace('"rows"', '"median":5,"rows"').replace('"distinct"', '"histogram":[],"distinct"')
    assert from_json(text) == FOUND


def test_they_go_with_the_table(catalog: Catalog) -> None:
    store = StatisticsStore(catalog)
    druid = catalog.add(Table("default", "t", "druid", (Column("c", STRING),)))
    files = catalog.add(Table("default", "f", "files", (Column("c", STRING),), location="/x"))
    store.keep("embedded:", druid.data_source, FOUND)
    store.keep("", files.table_id, FOUND)
    catalog.remove(druid)
    assert store.find("embedded:", druid.data_source) is None
    assert store.find("", files.table_id) == FOUND
    catalog.remove(files)
    assert store.find("", files.table_id) is None


def test_a_table_that_has_changed_since_says_so() -> None:
    same, other = TableStatistics(10, of="10 rows"), TableStatistics(20, of="20 rows")
    for now, stale in ((same, False), (other, True)):
        known = combined(now, FOUND)
        assert known is not None
        assert (known.rows, known.is_stale, known.columns["c"].distinct) == (now.rows, stale, 3)
    unknown = combined(TableStatistics(None, 7, of="3 files"), FOUND)
    assert unknown is not None
    assert (unknown.rows, unknown.bytes) == (10, 7)
    assert combined(None, FOUND) is FOUND
    assert combined(other, None) is other
    assert combined(None, None) is None
