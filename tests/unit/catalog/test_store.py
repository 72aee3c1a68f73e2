"""The catalog on disk: databases, tables, transactions, migrations, and errors."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.catalog import database
from hivedruid.catalog import types as t
from hivedruid.catalog.database import FILE_NAME, copy_database, open_database
from hivedruid.catalog.failures import catalog_error
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.catalog.places import Places
from hivedruid.catalog.store import Catalog, from_json, to_json
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import ExecutionError, SemanticError
from hivedruid.sqlite_waits import CatalogConnection, in_memory

WIKI = Table(
    "default",
    "wiki",
    "druid",
    (
        Column("__time", t.TIMESTAMP_LTZ, "from deserializer"),
        Column("cityname", t.STRING, field="cityName"),
        Column("tags", t.array_of(t.STRING)),
        Column("price", t.decimal(10, 2)),
        Column(
            "nested",
            t.HiveType("struct", children=(t.INT, t.HiveType("map", children=(t.STRING, t.INT))), fields=("a", "b")),
        ),
    ),
    external=True,
    comment="Änderungen",
    properties={"druid.datasource": "wikiticker", "z": "1", "a": "2"},
)
FILES = Table(
    "default", "rows", "files", (Column("a", t.INT),), True, "", {}, {"field.delim": "\t"}, "textfile", "/data/ä b"
)
VIEW = Table("default", "v", "view", (Column("a", t.INT),), view_text="SELECT a FROM `default`.t")


@pytest.mark.parametrize("table", [WIKI, FILES, VIEW], ids=lambda table: table.name)
def test_a_table_comes_back_as_it_was(catalog: Catalog, table: Table) -> None:
    added = catalog.add(table)
    assert added.table_id
    assert added == replace(table, table_id=added.table_id)
    assert catalog.get("default", table.name) == added
    assert catalog.find("DEFAULT", table.name.upper()) == added
    assert catalog.tables("default") == (added,)
    assert list(catalog.get("default", table.name).properties) == list(table.properties)


TYPES = st.recursive(
    st.sampled_from([t.INT, t.STRING, t.TIMESTAMP_LTZ, t.decimal(10, 2), t.HiveType("varchar", (3,))]),
    lambda inner: st.one_of(
        inner.map(t.array_of),
        st.tuples(inner, inner).map(lambda pair: t.HiveType("map", children=pair)),
        inner.map(lambda one: t.HiveType("struct", children=(one,), fields=("x",))),
    ),
    max_leaves=4,
)


@given(
    st.builds(
        Table,
        database=st.just("d"),
        name=st.just("n"),
        kind=st.sampled_from(["druid", "kafka", "files", "iceberg", "view"]),
        columns=st.lists(st.builds(Column, st.text(), TYPES, st.text(), st.none() | st.text())).map(tuple),
        external=st.booleans(),
        comment=st.text(),
        properties=st.dictionaries(st.text(), st.text()),
        serde=st.dictionaries(st.text(), st.text()),
        format=st.none() | st.sampled_from(["orc", "textfile"]),
        location=st.none() | st.text(min_size=1),
        view_text=st.none() | st.text(min_size=1),
        table_id=st.just("x"),
    )
)
def test_json_round_trip(table: Table) -> None:
    assert from_json("x", "d", "n", to_json(table)) == table


def test_names_are_unique(catalog: Catalog) -> None:
    catalog.add(WIKI)
    with pytest.raises(SemanticError, match=r"default\.wiki already exists"):
        catalog.add(WIKI)


def test_missing_tables_and_databases(catalog: Catalog) -> None:
    catalog.add(WIKI)
    with pytest.raises(SemanticError, match="Table not found") as error:
        catalog.get("default", "wikki")
    assert error.value.hint == "did you mean 'wiki'?"
    with pytest.raises(SemanticError, match="Database does not exist: defalt") as error:
        catalog.get("defalt", "wiki")
    assert error.value.hint == "did you mean 'default'?"
    with pytest.raises(SemanticError, match="Database does not exist"):
        catalog.add(replace(WIKI, database="nope"))
    assert catalog.find("nope", "wiki") is None


def test_replace_keeps_the_id(catalog: Catalog) -> None:
    added = catalog.add(WIKI)
    catalog.replace(replace(added, properties={}))
    assert catalog.get("default", "wiki").properties == {}
    assert catalog.get("default", "wiki").table_id == added.table_id
    with pytest.raises(SemanticError, match="Table not found"):
        catalog.replace(replace(added, table_id="other", name="other"))


def test_rename(catalog: Catalog) -> None:
    added = catalog.add(WIKI)
    catalog.add(FILES)
    catalog.add_database("d2")
    moved = catalog.rename(added, "d2", "w")
    assert catalog.get("d2", "w") == moved
    assert moved.table_id == added.table_id
    assert catalog.find("default", "wiki") is None
    with pytest.raises(SemanticError, match=r"default\.rows already exists"):
        catalog.rename(moved, "default", "rows")


def test_remove(catalog: Catalog) -> None:
    added = catalog.add(WIKI)
    catalog.remove(added)
    assert catalog.tables("default") == ()
    with pytest.raises(SemanticError, match="Table not found"):
        catalog.remove(added)


def test_databases(catalog: Catalog) -> None:
    catalog.add_database("d2", "mine")
    assert catalog.databases() == ("d2", "default")
    assert (catalog.database_comment("d2"), catalog.database_comment("nope")) == ("mine", None)
    with pytest.raises(SemanticError, match="already exists"):
        catalog.add_database("d2")
    catalog.add(replace(WIKI, database="d2"))
    with pytest.raises(SemanticError, match="not empty"):
        catalog.remove_database("d2")
    catalog.remove(catalog.get("d2", "wiki"))
    catalog.remove_database("d2")
    assert catalog.databases() == ("default",)
    with pytest.raises(SemanticError, match="default"):
        catalog.remove_database("default")


def test_a_transaction_is_all_or_nothing(catalog: Catalog) -> None:
    def add_twice() -> None:
        with catalog.transaction():
            catalog.add(WIKI)
            catalog.add(FILES)
            catalog.add(FILES)

    with pytest.raises(SemanticError):
        add_twice()
    assert catalog.tables("default") == ()
    with catalog.transaction():
        catalog.add(WIKI)
        catalog.add(FILES)
    assert catalog.table_names("default") == ("rows", "wiki")


def _add_and_die(home: Path) -> None:
    catalog = Catalog(open_database(home))
    catalog.connection.execute("BEGIN IMMEDIATE")
    catalog.add(WIKI)
    os._exit(9)


def test_a_killed_writer_leaves_nothing_half_done(tmp_path: Path) -> None:
    open_database(tmp_path).close()
    process = multiprocessing.get_context("spawn").Process(target=_add_and_die, args=(tmp_path,))
    process.start()
    process.join(60)
    assert process.exitcode == 9
    connection = open_database(tmp_path)
    assert Catalog(connection).tables("default") == ()
    connection.close()


def test_a_second_writer_is_told_who_is_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY", 0.02)
    first, second = open_database(tmp_path), open_database(tmp_path)
    first.execute("BEGIN IMMEDIATE")
    with pytest.raises(ExecutionError, match="locked") as error:
        Catalog(second).add(WIKI)
    assert "another hivedruid" in (error.value.hint or "")
    assert Catalog(second).tables("default") == ()
    first.execute("ROLLBACK")
    Catalog(second).add(WIKI)
    assert Catalog(first).table_names("default") == ("wiki",)
    first.close()
    second.close()


def test_a_full_disk_is_a_clear_error(tmp_path: Path) -> None:
    """SQLite's own page limit raises SQLITE_FULL, as a full disk does."""
    connection = open_database(tmp_path)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ExecutionError, match="full") as error:
        Catalog(connection).add(replace(WIKI, comment="x" * 100_000))
    assert "free space on the disk" in (error.value.hint or "")
    assert Catalog(connection).tables("default") == ()
    connection.close()


def test_a_disk_that_is_full_before_the_catalog_exists() -> None:
    connection = in_memory(CatalogConnection)
    connection.execute("PRAGMA max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError, match="disk is full"):
        database.migrate(connection)
    connection.close()


def test_write_error_for_other_reasons() -> None:
    assert "local disk" in (catalog_error(sqlite3.OperationalError("disk I/O error")).hint or "")


# ---- opening


def test_a_version_1_file_is_brought_forward(tmp_path: Path) -> None:
    """A file created by the first release keeps its tables through every later schema."""
    old = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    for statement in MIGRATIONS[0]:
        old.execute(statement)
    old.execute("PRAGMA user_version = 1")
    definition = '{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"}],"properties":{"druid.datasource":"x"}}'
    old.execute("INSERT INTO tables VALUES ('1', 'default', 'old', ?)", (definition,))
    old.close()
    connection = open_database(tmp_path)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    table = Catalog(connection).get("default", "old")
    assert table == Table(
        "default", "old", "druid", (Column("__time", t.TIMESTAMP),), True, "", {"druid.datasource": "x"}, table_id="1"
    )
    connection.close()


@pytest.mark.parametrize("read", [open_database, copy_database])
def test_a_newer_file_is_refused_and_left_untouched(tmp_path: Path, read: Callable[[Path], object]) -> None:
    connection = open_database(tmp_path)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.execute("CREATE TABLE of_the_newer_version (a TEXT)")
    connection.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(ExecutionError, match="schema version") as error:
        read(tmp_path)
    assert "upgrade" in (error.value.hint or "")
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_a_home_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("x")
    with pytest.raises(ExecutionError, match="cannot open the catalog") as error:
        open_database(tmp_path / "home")
    assert error.value.hint == f"{tmp_path / 'home'} is not a folder: choose another one with --home"


def test_a_catalog_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(ExecutionError, match="cannot open the catalog"):
        open_database(tmp_path)


def test_a_file_that_is_no_catalog(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"not a database at all, but long enough to be looked at" * 20)
    with pytest.raises(ExecutionError, match="not a database"):
        open_database(tmp_path)


def test_the_version_of_a_cluster(catalog: Catalog) -> None:
    """The note compares it with that of the last use."""
    places = Places(catalog)
    assert [places.see_version("http://druid:8888", version) for version in ("33.0.0", "33.0.0")] == ["", ""]
    note = places.see_version("http://druid:8888", "37.0.0")
    assert note == "Druid at http://druid:8888 is version 37.0.0; it was 33.0.0 when it was last used"
    assert (places.version("http://druid:8888"), places.version("elsewhere")) == ("37.0.0", "")
