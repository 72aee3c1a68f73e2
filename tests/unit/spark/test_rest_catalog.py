"""Managed tables in another Iceberg catalog, a real REST catalog: the same statements, the same results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.catalog.statistics import StatisticsStore
from hivedruid.errors import ExecutionError
from hivedruid.iceberg import home_catalog
from hivedruid.session import Session
from hivedruid.spark import session as spark_session
from tests.support.iceberg_rest import rest_catalog, tables_of

pytestmark = pytest.mark.spark

SECRET = "xyzzy-plugh-4711"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with rest_catalog(tmp_path_factory.mktemp("rest")) as url:
        yield url


@pytest.fixture
def opened(tmp_path: Path, catalog: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("TEST_CATALOG_TOKEN", SECRET)
    with Session(tmp_path / "home") as made:
        configure(made, catalog)
        yield made


def configure(opened: Session, url: str) -> None:
    run(
        opened,
        f"SET hivedruid.iceberg.catalog.type=rest; SET hivedruid.iceberg.catalog.uri={url};"
        " SET hivedruid.iceberg.catalog.token=env:TEST_CATALOG_TOKEN",
    )


def run(opened: Session, text: str) -> list[tuple[object, ...]]:
    return [row for statement in opened.statements(text) for row in opened.execute(statement).rows]


def test_the_life_of_a_table(opened: Session, catalog: str) -> None:
    run(opened, "CREATE TABLE t (x int, s string)")
    assert run(opened, "SELECT * FROM t") == []
    run(opened, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    run(opened, "CREATE TABLE u AS SELECT x * 10 AS y FROM t")
    t, u = (opened.catalog.get("default", name).table_id for name in "tu")
    assert {t, u} <= set(tables_of(catalog))
    run(opened, "INSERT INTO t VALUES (3, 'c'); ALTER TABLE t RENAME TO v; ALTER TABLE v ADD COLUMNS (n bigint)")
    run(opened, "INSERT INTO v VALUES (4, 'd', 40)")
    assert run(opened, "SELECT x, s, n FROM v ORDER BY x") == [
        (1, "a", None), (2, "b", None), (3, "c", None), (4, "d", 40),
    ]  # fmt: skip
    run(opened, "ALTER TABLE v CHANGE x id BIGINT; INSERT INTO v VALUES (5000000000, 'e', 50)")
    assert run(opened, "SELECT max(id), count(*) FROM v") == [(5_000_000_000, 5)]
    run(opened, "INSERT OVERWRITE TABLE u SELECT id FROM v WHERE id IN (3, 4)")
    assert run(opened, "SELECT y FROM u ORDER BY y") == [(3,), (4,)]
    run(opened, "TRUNCATE TABLE u; DROP TABLE v")
    assert run(opened, "SELECT * FROM u") == []
    assert not {t, u} & set(tables_of(catalog))
    assert not home_catalog.catalog_file(opened.home).exists()
    assert not (opened.home / "warehouse").exists()
    run(opened, "INSERT INTO u VALUES (5)")
    assert run(opened, "SELECT * FROM u") == [(5,)]


def test_what_is_known_of_its_rows(opened: Session) -> None:
    run(opened, "CREATE TABLE t AS SELECT 1 AS x; ANALYZE TABLE t COMPUTE STATISTICS")
    table = opened.catalog.get("default", "t")
    kept = StatisticsStore(opened.catalog).find("", table.table_id)
    assert kept is not None
    assert kept.rows == 1
    state = opened._get_spark().iceberg_state(table)
    assert state is not None
    assert (state.rows, state.files) == (1, 1)
    run(opened, "INSERT INTO t VALUES (2)")
    later = opened._get_spark().iceberg_state(table)
    assert later is not None
    assert later.rows == 2
    assert later.token != state.token


def test_materialized_view(opened: Session) -> None:
    """It is used until its source changes, which is checked through Spark. EXPLAIN does not start Spark for that."""
    run(opened, "CREATE TABLE t AS SELECT 'a' AS k, 1 AS x UNION ALL SELECT 'a', 2 UNION ALL SELECT 'b', 3")
    run(opened, "CREATE MATERIALIZED VIEW m AS SELECT k, sum(x) AS s FROM t GROUP BY k")
    listed = "SHOW MATERIALIZED VIEWS"
    assert run(opened, listed)[0][-1] == "No"
    query = "SELECT k, sum(x) FROM t GROUP BY k ORDER BY k"
    assert run(opened, query) == [("a", 3), ("b", 3)]
    text = "\n".join(str(row[0]) for row in run(opened, f"EXPLAIN EXTENDED {query}"))
    assert "default.t is in an Iceberg catalog that EXPLAIN cannot query without Spark" in text
    run(opened, "INSERT INTO t VALUES ('b', 4)")
    assert run(opened, listed)[0][-1] == "Yes: default.t has changed"
    assert run(opened, query) == [("a", 3), ("b", 7)]
    run(opened, "ALTER MATERIALIZED VIEW m REBUILD")
    assert run(opened, listed)[0][-1] == "No"


def test_explain_starts_no_spark(opened: Session) -> None:
    run(opened, "CREATE TABLE t AS SELECT 1 AS x")
    spark_session.release_all()
    run(opened, "EXPLAIN SELECT x FROM t; EXPLAIN EXTENDED SELECT count(*) FROM t; EXPLAIN INSERT INTO t VALUES (2)")
    assert spark_session._clients == {}


def test_tables_stay_where_they_were_written(tmp_path: Path, catalog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_CATALOG_TOKEN", SECRET)
    with Session(tmp_path) as opened:
        run(opened, "CREATE TABLE t AS SELECT 1 AS x")
        configure(opened, catalog)
        for text in ("SELECT * FROM t", "INSERT INTO t VALUES (2)"):
            with pytest.raises(
                ExecutionError, match=r"the data of default\.t is missing: the Iceberg catalog"
            ) as caught:
                run(opened, text)
            assert "hivedruid.iceberg.catalog.*" in (caught.value.hint or "")
        run(opened, "RESET")
        assert run(opened, "SELECT * FROM t") == [(1,)]


def test_the_secret_is_nowhere(opened: Session) -> None:
    run(opened, "CREATE TABLE t AS SELECT 1 AS x")
    assert SECRET not in str(run(opened, "SET -v"))
    written = [path for path in opened.home.rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []


def test_no_catalog_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_CATALOG_TOKEN", SECRET)
    with Session(tmp_path) as opened:
        configure(opened, "http://127.0.0.1:1")
        run(opened, "CREATE TABLE t (x int)")
        with pytest.raises(ExecutionError) as caught:
            run(opened, "INSERT INTO t VALUES (1)")
        assert SECRET not in caught.value.message + (caught.value.hint or "")


def test_a_database_of_its_tables(tmp_path: Path, catalog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_CATALOG_TOKEN", SECRET)
    with Session(tmp_path) as opened:
        run(
            opened,
            f"CREATE DATABASE lake USING ICEBERG CATALOG WITH DBPROPERTIES ('type' = 'rest', 'uri' = '{catalog}',"
            " 'namespace' = 'sales.eu', 'token' = 'env:TEST_CATALOG_TOKEN')",
        )
        run(opened, "CREATE TABLE lake.t (Id INT COMMENT 'a', d DATE) PARTITIONED BY SPEC (month(d))")
        run(opened, "INSERT INTO lake.t VALUES (1, '2024-01-05'), (2, '2024-02-05')")
        run(opened, "CREATE TABLE names AS SELECT 1 AS id, 'one' AS name UNION ALL SELECT 3, 'three'")
        joined = run(opened, "SELECT t.d, n.name FROM lake.t t JOIN names n ON t.id = n.id")
        assert [str(value) for value in joined[0]] == ["2024-01-05", "one"]
        run(opened, "INSERT OVERWRITE TABLE lake.t SELECT 4, DATE '2024-02-01'")
        assert run(opened, "SELECT id FROM lake.t ORDER BY id") == [(1,), (4,)]
        run(opened, "USE lake; CREATE TABLE u STORED AS PARQUET AS SELECT id, name FROM default.names")
        run(opened, "UPDATE u SET name = 'changed' WHERE id = 3; DELETE FROM u WHERE id = 1")
        merge = "WHEN MATCHED THEN UPDATE SET name = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name)"
        run(opened, f"MERGE INTO u USING default.names s ON u.id = s.id {merge}")
        assert run(opened, "SELECT * FROM u ORDER BY id") == [(1, "one"), (3, "merged")]
        assert run(opened, "SELECT count(*) FROM u FOR SYSTEM_TIME AS OF current_timestamp") == [(2,)]
        run(opened, "TRUNCATE TABLE u")
        assert run(opened, "SELECT count(*) FROM u; SHOW TABLES") == [(0,), ("t",), ("u",)]
        run(opened, "DROP TABLE u; DROP DATABASE lake")
        assert run(opened, "SHOW DATABASES; SHOW TABLES") == [("default",), ("names",)]
        run(
            opened,
            f"CREATE DATABASE again USING ICEBERG CATALOG WITH DBPROPERTIES ('type' = 'rest', 'uri' = '{catalog}',"
            " 'namespace' = 'sales.eu')",
        )
        assert run(opened, "SELECT id FROM again.t ORDER BY id") == [(1,), (4,)]
        written = [path for path in opened.home.rglob("*") if path.is_file()]
        assert [path for path in written if SECRET.encode() in path.read_bytes()] == []
