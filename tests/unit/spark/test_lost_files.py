"""Managed tables whose files are missing or damaged: an error that names the table, never an empty result."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hivedruid.errors import ExecutionError
from hivedruid.iceberg import home_catalog
from hivedruid.session import Session

pytestmark = pytest.mark.spark


def run(session: Session, text: str) -> list[tuple[object, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


def test_lost_and_damaged_managed_tables(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        run(
            session,
            "CREATE TABLE a (x int); CREATE TABLE b (x int); INSERT INTO a VALUES (1); INSERT INTO b VALUES (2)",
        )
        folders = {
            name: tmp_path / "warehouse" / "tables" / session.catalog.get("default", name).table_id for name in "ab"
        }
        metadata = home_catalog.current_metadata(tmp_path, folders["a"].name)
        assert metadata is not None
        metadata.write_text(metadata.read_text(encoding="utf-8")[:100], encoding="utf-8")
        for text in ("SELECT * FROM a", "INSERT INTO b SELECT * FROM a", "INSERT INTO a VALUES (3)"):
            with pytest.raises(ExecutionError, match=r"the metadata of default\.a cannot be read") as raised:
                run(session, text)
            assert "DROP TABLE default.a" in (raised.value.hint or "")
        assert run(session, "SELECT x FROM b") == [(2,)]

        shutil.rmtree(folders["b"])
        for text in ("SELECT * FROM b", "INSERT INTO b VALUES (3)", "SELECT count(*) FROM b"):
            with pytest.raises(ExecutionError, match=r"the data of default\.b is missing") as raised:
                run(session, text)
            assert str(folders["b"]) in raised.value.message
        run(session, "TRUNCATE TABLE b")
        assert run(session, "SELECT * FROM b") == []


def test_view_over_a_damaged_catalog_is_listed(tmp_path: Path) -> None:
    """SHOW MATERIALIZED VIEWS names the problem of the one view instead of failing."""
    with Session(tmp_path) as session:
        run(session, "CREATE TABLE a (x int); INSERT INTO a VALUES (1)")
        run(session, "CREATE MATERIALIZED VIEW m AS SELECT x FROM a")
        for file in tmp_path.glob("iceberg.sqlite*"):
            file.unlink()
        home_catalog.catalog_file(tmp_path).write_text("damaged " * 1000, encoding="utf-8")
        ((*_, state),) = run(session, "SHOW MATERIALIZED VIEWS")
        assert "cannot open the Iceberg catalog" in str(state)
