"""Where CREATE TABLE puts files: LOCATION of managed tables, external tables without LOCATION."""

from __future__ import annotations

import pytest

from hivedruid.errors import UnsupportedError
from hivedruid.parser import parse
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.script import SourceStatement
from hivedruid.tables.placement import placed


def statement(text: str) -> CreateTable:
    parsed = parse(SourceStatement(text, 1, 1, None))
    assert isinstance(parsed, CreateTable)
    return parsed


def test_a_managed_table_with_a_location_is_external_and_purged() -> None:
    table, note = placed(
        statement("CREATE TABLE t (a INT) LOCATION '/x' TBLPROPERTIES ('transactional'='false')"), "/w", "d"
    )
    assert table.external
    assert [(item.key, item.value) for item in table.properties][-1] == ("external.table.purge", "true")
    assert note is not None
    assert "DROP TABLE deletes its files" in note[0]
    kept, _ = placed(
        statement("CREATE TABLE t (a INT) LOCATION '/x' TBLPROPERTIES ('external.table.purge'='false')"), "/w", "d"
    )
    assert [(item.key, item.value) for item in kept.properties] == [("external.table.purge", "false")]


@pytest.mark.parametrize(("database", "folder"), [("default", "/w/t"), ("d", "/w/d.db/t")])
def test_an_external_table_without_a_location_has_a_folder_of_its_own(database: str, folder: str) -> None:
    table, note = placed(statement("CREATE EXTERNAL TABLE t (a INT)"), "/w", database)
    assert (table.location, note) == (folder, None)


def test_the_folder_of_an_external_table_is_at_the_location_of_its_database() -> None:
    table, _ = placed(statement("CREATE EXTERNAL TABLE d.t (a INT)"), "/w", "d", "s3://b/raw/")
    assert table.location == "s3://b/raw/t"
    own, _ = placed(statement("CREATE EXTERNAL TABLE d.t (a INT) LOCATION '/x'"), "/w", "d", "/raw")
    assert own.location == "/x"


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a INT)",
        "CREATE EXTERNAL TABLE t (a INT) LOCATION '/x'",
        "CREATE TABLE t (a INT) LOCATION '/x' TBLPROPERTIES ('transactional'='TRUE')",
        "CREATE TABLE t (a INT) STORED BY ICEBERG LOCATION '/x'",
        "CREATE TEMPORARY TABLE t (a INT) LOCATION '/x'",
        "CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) STORED BY 'druid'",
    ],
)
def test_other_tables_stay_where_they_are(text: str) -> None:
    assert placed(statement(text), "/w", "default") == (statement(text), None)


def test_files_of_old_formats_cannot_be_read() -> None:
    with pytest.raises(UnsupportedError, match="STORED AS RCFILE is not supported for files at a LOCATION"):
        placed(statement("CREATE TABLE t (a INT) STORED AS RCFILE LOCATION '/x'"), "/w", "default")
