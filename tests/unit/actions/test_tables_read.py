"""Which definitions of tables a statement reads from the catalog: those that it names, however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.actions.watching.run import known, table_names
from hivedruid.catalog import store
from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.table import Table
from hivedruid.errors import HiveDruidError, TableNotFound
from hivedruid.session import Session

TABLES = "; ".join(f"CREATE EXTERNAL TABLE t{n} (a bigint) STORED AS ORC LOCATION '/t{n}'" for n in range(12))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path, dry_run=True) as session:
        run(session, f"{TABLES}; CREATE VIEW v AS SELECT a FROM t1")
        yield session


@pytest.fixture
def read(session: Session, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tables whose definitions are read."""
    names: list[str] = []
    parse = store.from_json

    def counted(table_id: str, database: str, name: str, definition: str) -> Table:
        names.append(name)
        return parse(table_id, database, name, definition)

    monkeypatch.setattr(store, "from_json", counted)
    return names


def run(session: Session, text: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for statement in session.statements(text):
        rows = list(session.execute(statement).rows)
    return rows


@pytest.mark.parametrize(
    ("text", "tables"), [
        ("SHOW TABLES", set()),
        ("SHOW TABLES LIKE 't*'", set()),
        ("SHOW VIEWS", set()),
        ("CREATE TABLE free (a int)", set()),
        ("CREATE TABLE IF NOT EXISTS free (a int)", set()),
        ("CREATE TABLE free AS SELECT a FROM t3", {"t3"}),
        ("CREATE TABLE free LIKE t4", {"t4"}),
        ("CREATE VIEW free AS SELECT a FROM t5", {"t5"}),
        ("ALTER TABLE t6 RENAME TO free", {"t6"}),
        ("DROP TABLE IF EXISTS nope", set()),
        ("DROP TABLE nope", set()),
        ("DROP VIEW IF EXISTS nope", set()),
        ("DROP DATABASE IF EXISTS nope", set()),
        ("DROP MATERIALIZED VIEW IF EXISTS nope", set()),
        ("SELECT 1", set()),
        ("SELECT a FROM v", {"v", "t1"}),
        ("WITH free AS (SELECT a FROM t2) SELECT a FROM free", {"t2"}),
        ("WITH t3 AS (SELECT a FROM t2) SELECT a FROM t3", {"t2"}),
        ("WITH t3 AS (SELECT a FROM t3) SELECT a FROM T3", {"t3"}),
        ("WITH t3 AS (SELECT a FROM t2) SELECT a FROM default.t3", {"t2", "t3"}),
        ("WITH t3 AS (SELECT a FROM t4), t4 AS (SELECT a FROM t3) SELECT a FROM t4", {"t4"}),
        ("SELECT a FROM (WITH t3 AS (SELECT a FROM t2) SELECT a FROM t3) x", {"t2"}),
        ("WITH t3 AS (SELECT a FROM t2) SELECT a FROM t4 WHERE a IN (SELECT a FROM t3)", {"t2", "t4"}),
        ("EXPLAIN SELECT a FROM t7", {"t7"}),
        ("DESCRIBE t8", {"t8"}),
    ],
)  # fmt: skip
def test_a_statement_reads_the_tables_that_it_names(
    session: Session, read: list[str], text: str, tables: set[str]
) -> None:
    run(session, text)
    assert set(read) == tables


@pytest.mark.parametrize(
    ("text", "hint"), [
        ("SELECT a FROM t77", "did you mean 't7'?"),
        ("DESCRIBE tt9", "did you mean 't9'?"),
        ("SELECT a FROM nowhere", "run SHOW TABLES to list the tables"),
    ],
)  # fmt: skip
def test_the_hint_of_an_unknown_table_reads_only_names(session: Session, read: list[str], text: str, hint: str) -> None:
    with pytest.raises(TableNotFound) as error:
        run(session, text)
    assert (error.value.hint, error.value.span is not None, read) == (hint, True, [])


def test_lists_of_tasks_and_supervisors_read_the_tables_that_ingest(session: Session, read: list[str]) -> None:
    run(session, """
        CREATE EXTERNAL TABLE plain (`__time` timestamp, note string) STORED BY 'druid';
        CREATE EXTERNAL TABLE other (`__time` timestamp) STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'src');
        CREATE EXTERNAL TABLE unfed (`__time` timestamp) STORED BY 'druid'
            TBLPROPERTIES ('druid.datasource' = 'default.fed');
        CREATE EXTERNAL TABLE fed (`__time` timestamp, a string) STORED BY 'druid'
            TBLPROPERTIES ('kafka.topic' = 'x', 'kafka.bootstrap.servers' = 'h:1');
        CREATE EXTERNAL TABLE all_fed (`__time` timestamp, a string) STORED BY 'druid'
            TBLPROPERTIES ('druid.kafka.ingestion.topicPattern' = 'x.*', 'kafka.bootstrap.servers' = 'h:1')
    """)  # fmt: skip
    read.clear()
    facts = known(session.catalog, session.home)
    assert [table.name for table in facts.tables] == ["all_fed", "fed"]
    assert table_names(session.catalog) == {
        "default.all_fed": "default.all_fed", "default.fed": "default.fed", "default.plain": "default.plain",
        "src": "default.other",
    }  # fmt: skip
    assert set(read) == {"fed", "all_fed"}


def test_a_table_that_once_ingested_is_read(session: Session) -> None:
    run(session, "CREATE EXTERNAL TABLE former (`__time` timestamp) STORED BY 'druid'")
    Ingestions(session.catalog).begin(session.catalog.get("default", "former").table_id)
    assert [table.name for table in known(session.catalog, session.home).tables] == ["former"]


def test_a_database_with_tables_is_refused_by_their_names(session: Session, read: list[str]) -> None:
    run(session, "CREATE DATABASE d; CREATE EXTERNAL TABLE d.one (a int) STORED AS ORC LOCATION '/d'")
    read.clear()
    with pytest.raises(HiveDruidError, match="Database d is not empty"):
        run(session, "DROP DATABASE d")
    assert read == []
    run(session, "DROP DATABASE d CASCADE")
    assert set(read) == {"one"}
