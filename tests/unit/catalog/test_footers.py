"""What footers contain, in the catalog."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from struct import pack

from hivedruid.catalog.bounds import bounded, real_text
from hivedruid.catalog.database import FILE_NAME, open_database
from hivedruid.catalog.footers import ColumnFacts, FileFacts, FooterStore, StoredFile
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.catalog.statistics import ColumnStatistics, TableStatistics
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING

FILE = StoredFile("/x/a", 10, 1_700_000_000_123_456_789)
FACTS = FileFacts(3, {"é": ColumnFacts(1, "integer", "1", "2"), "s": ColumnFacts(0), "l": ColumnFacts()})
BEFORE = next(n for n, steps in enumerate(MIGRATIONS) if any("CREATE TABLE footers" in s for s in steps))


def test_facts_are_kept_by_place_and_file(catalog: Catalog) -> None:
    store = FooterStore(catalog)
    other = StoredFile("/x/b", 10, 1)
    store.keep("/x", {FILE: FACTS, other: None})
    assert store.known("/x") == {FILE, other}
    assert store.facts("/x") == {FILE: FACTS, other: None}
    assert store.facts("/x", with_columns=False) == {FILE: FileFacts(3), other: None}
    assert store.known("/y") == set()
    changed = FILE._replace(size=11)
    store.keep("/x", {changed: FACTS})
    assert store.known("/x") == {changed, other}
    store.forget("/x", [other])
    assert store.known("/x") == {changed}


def test_what_cannot_be_read_is_unknown(catalog: Catalog) -> None:
    store = FooterStore(catalog)
    for number, columns in enumerate(("{", "[]", "7", '{"a":7}')):
        with catalog.transaction() as connection:
            connection.execute("INSERT INTO footers VALUES ('p', ?, 1, 1, 5, ?)", (f"f{number}", columns))
    assert set(store.facts("p").values()) == {None}


def test_combined_statistics_are_those_of_a_state_of_a_table(catalog: Catalog) -> None:
    store = FooterStore(catalog)
    table = catalog.add(Table("default", "t", "files", (Column("c", STRING),), format="parquet", location="/x"))
    known = TableStatistics(3, columns={"c": ColumnStatistics(has_nulls=True, nulls=1, low="1", high="2")})
    store.keep_combined(table.table_id, "one", known)
    assert store.combined(table.table_id, "one") == known
    assert store.combined(table.table_id, "two") is None
    store.keep("/x", {FILE: FACTS})
    catalog.remove(table)
    assert store.combined(table.table_id, "one") is None
    assert store.known("/x") == set()
    store.keep_combined(table.table_id, "one", known)
    assert store.combined(table.table_id, "one") is None, "of a table that was dropped meanwhile"


def test_a_catalog_without_them_gets_them(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as old:
        for statement in (each for steps in MIGRATIONS[:BEFORE] for each in steps):
            if "INSERT INTO operations" not in statement:  # its functions belong to the migration; there are no jobs
                old.execute(statement)
        old.execute(f"PRAGMA user_version = {BEFORE}")
        old.execute("INSERT INTO statistics VALUES ('', 't', '{\"rows\":5}')")
    with closing(open_database(tmp_path)) as connection:
        FooterStore(Catalog(connection)).keep("/x", {FILE: FACTS})
        assert FooterStore(Catalog(connection)).known("/x") == {FILE}
        assert connection.execute("SELECT facts FROM statistics").fetchall() == [('{"rows":5}',)]


def test_a_damaged_bound_leaves_the_nulls() -> None:
    assert bounded(2, "double", real_text, pack("<f", 1.5), pack("<d", 2.5)) == ColumnFacts(2, "double", "1.5", "2.5")
    for damaged in (b"", b"\0\0\0", pack("<d", float("nan")), None):
        assert bounded(2, "double", real_text, damaged, pack("<d", 2.5)) == ColumnFacts(2)
