"""Homes of earlier versions: tables in the layout of Iceberg's Hadoop catalog keep all their data."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hivedruid.catalog.types import INT, STRING
from hivedruid.errors import ExecutionError
from hivedruid.iceberg import home_catalog
from hivedruid.session import Session
from hivedruid.spark import server, session
from tests.unit.spark.conftest import Home, columns, eventually, iceberg_table

pytestmark = pytest.mark.spark


def run(opened: Session, text: str) -> list[tuple[object, ...]]:
    return [row for statement in opened.statements(text) for row in opened.execute(statement).rows]


def write_old_layout(home: Path, table_id: str, *statements: str) -> None:
    """The files of an earlier version: `statements` on the table {t}, through the Hadoop catalog."""
    with session.job({}, home.absolute(), libraries=True) as running:
        former = "spark.sql.catalog.former"
        running.spark.conf.set(former, "org.apache.iceberg.spark.SparkCatalog")
        running.spark.conf.set(f"{former}.type", "hadoop")
        running.spark.conf.set(f"{former}.warehouse", str(home / "warehouse"))
        for statement in statements:
            running.spark.sql(statement.format(t=f"former.tables.`{table_id}`"))


MADE = (
    "CREATE TABLE {t} (x int, s string) USING iceberg TBLPROPERTIES ('format-version' = '2', 'write.format.default' = 'orc')",
    "INSERT INTO {t} VALUES (1, 'a')",
    "INSERT INTO {t} VALUES (2, 'b'), (3, 'c')",
)


def old_home(folder: Path, *names: str, hint: str | None = None) -> dict[str, str]:
    """A home with tables of an earlier version; their ids by name."""
    with Session(folder) as opened:
        ids = {}
        for name in names:
            run(opened, f"CREATE TABLE {name} (x int, s string)")
            table = opened.catalog.get("default", name)
            write_old_layout(folder, table.table_id, *MADE)
            opened.catalog.mark_written(table, written=True)
            ids[name] = table.table_id
            metadata = home_catalog.folder(folder, table.table_id) / "metadata"
            if hint == "":
                (metadata / "version-hint.text").unlink()
            elif hint is not None:
                (metadata / "version-hint.text").write_text(hint, encoding="utf-8")
    session.release_all()
    assert home_catalog.registered(folder, next(iter(ids.values()))) is None
    return ids


ROWS = [(1, "a"), (2, "b"), (3, "c")]


@pytest.mark.parametrize("hint", [None, "1", ""], ids=["whole", "hint behind", "no hint"])
def test_read_then_written(tmp_path: Path, hint: str | None) -> None:
    """EXPLAIN and statistics read the former layout; the first job registers it in the catalog, with the same metadata
    file.
    """
    ids = old_home(tmp_path, "t", hint=hint)
    former = home_catalog.state(tmp_path, ids["t"])
    assert former is not None
    assert (former.metadata, former.rows) == ("v3.metadata.json", 3)
    with Session(tmp_path) as opened:
        run(opened, "EXPLAIN SELECT * FROM t")
        assert home_catalog.registered(tmp_path, ids["t"]) is None
        assert run(opened, "SELECT * FROM t ORDER BY x") == ROWS
        assert home_catalog.state(tmp_path, ids["t"]) == former
        run(opened, "INSERT INTO t VALUES (4, 'd')")
        assert run(opened, "SELECT * FROM t ORDER BY x") == [*ROWS, (4, "d")]
        history = f"SELECT count(*) FROM {home_catalog.CATALOG}.tables.`{ids['t']}`.history"
        assert session.session({}, tmp_path).sql(history).collect()[0][0] == 3
    later = home_catalog.state(tmp_path, ids["t"])
    assert later is not None
    assert (later.metadata == former.metadata, later.rows) == (False, 4)


def test_written_first(tmp_path: Path) -> None:
    old_home(tmp_path, "a", "b")
    with Session(tmp_path) as opened:
        run(opened, "INSERT INTO a VALUES (4, 'd'); INSERT OVERWRITE TABLE b SELECT * FROM a WHERE x > 2")
        assert run(opened, "SELECT * FROM a ORDER BY x") == [*ROWS, (4, "d")]
        assert run(opened, "SELECT * FROM b ORDER BY x") == [(3, "c"), (4, "d")]
        run(opened, "ALTER TABLE a ADD COLUMNS (y int); INSERT INTO a VALUES (5, 'e', 6)")
        assert run(opened, "SELECT count(y), count(*) FROM a") == [(1, 5)]


def test_dropped_before_it_was_used(tmp_path: Path) -> None:
    ids = old_home(tmp_path, "a", "b")
    with Session(tmp_path) as opened:
        run(opened, "TRUNCATE TABLE a; DROP TABLE b")
        assert run(opened, "SELECT * FROM a") == []
        assert [path.name for path in (tmp_path / "warehouse" / "tables").iterdir()] == []
        run(opened, "INSERT INTO a VALUES (9, 'z')")
        assert run(opened, "SELECT * FROM a") == [(9, "z")]
    assert home_catalog.registered(tmp_path, ids["b"]) is None


def test_truncate_that_is_interrupted_brings_no_old_rows_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is deleted before its catalog entry: in between it is an error, which TRUNCATE resolves."""
    ids = old_home(tmp_path, "t")
    with Session(tmp_path) as opened:
        run(opened, "INSERT INTO t VALUES (4, 'd')")
        with monkeypatch.context() as patched:
            patched.setattr(home_catalog, "remove", interrupted)
            with pytest.raises(KeyboardInterrupt):
                run(opened, "TRUNCATE TABLE t")
        assert home_catalog.registered(tmp_path, ids["t"]) is not None
        with pytest.raises(ExecutionError, match=r"the data of default\.t is missing"):
            run(opened, "SELECT * FROM t")
        run(opened, "TRUNCATE TABLE t")
        assert run(opened, "SELECT * FROM t") == []


def test_damaged(tmp_path: Path) -> None:
    ids = old_home(tmp_path, "a", "b")
    (home_catalog.folder(tmp_path, ids["a"]) / "metadata" / "v3.metadata.json").write_text("{", encoding="utf-8")
    shutil.rmtree(home_catalog.folder(tmp_path, ids["b"]))
    with Session(tmp_path) as opened:
        for text in ("SELECT * FROM a", "INSERT INTO a VALUES (3, 'c')"):
            with pytest.raises(ExecutionError, match=r"the metadata of default\.a cannot be read"):
                run(opened, text)
        with pytest.raises(ExecutionError, match=r"the data of default\.b is missing"):
            run(opened, "SELECT * FROM b")


def test_somebody_else_was_faster(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes see the former layout at once; the row of the first is kept, with what was written since."""
    table = iceberg_table(columns(x=INT, s=STRING))
    write_old_layout(home.path, table.table_id, *MADE)
    seen = home_catalog.to_register(home.path, table.table_id)
    assert seen is not None
    home.write("SELECT 4, 'd'", table)
    with monkeypatch.context() as patched:
        patched.setattr(home_catalog, "to_register", lambda *_: seen)
        assert home.query("SELECT x FROM t ORDER BY x", table) == [(1,), (2,), (3,), (4,)]


def test_killed_while_tables_are_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The JVM is killed each time another table of a job is registered: the same statement continues, and finishes."""
    monkeypatch.delenv(server.SPARK_HOME, raising=False)
    names = ("a", "b", "c", "d")
    old_home(tmp_path, *names)
    union = " UNION ALL ".join(f"SELECT '{name}' AS n, x, s FROM {name}" for name in names)
    text = f"SELECT n, count(*), sum(x), max(s) FROM ({union}) u GROUP BY n ORDER BY n"
    kills = 0
    take_over = home_catalog.to_register

    def killed(home: Path, table_id: str) -> Path | None:
        nonlocal kills
        found = take_over(home, table_id)
        running = server.find(tmp_path)
        if found is not None and entries(tmp_path) == kills + 1 and running is not None:
            kills += 1
            os.kill(running.jvm, signal.SIGKILL)
        return found

    monkeypatch.setattr(home_catalog, "to_register", killed)
    try:
        with Session(tmp_path) as opened:
            while True:
                try:
                    rows = run(opened, text)
                    break
                except ExecutionError:
                    eventually(lambda: server.find(tmp_path) is None)
    finally:
        session.release_all()
        server.stop(tmp_path)
    assert kills == 3
    assert rows == [(name, 3, 6, "c") for name in names]


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def entries(home: Path) -> int:
    with closing(sqlite3.connect(home / home_catalog.FILE_NAME)) as connection:
        return int(connection.execute("SELECT count(*) FROM iceberg_tables").fetchone()[0])
