"""logs/queries.jsonl: the statements, their outcomes and ids; no secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hivedruid.errors import HiveDruidError
from hivedruid.query_log import LOG_FILE, LOG_LIMIT, NOT_KEPT
from hivedruid.session import Session

CANARY = "canary-7f3a"


def entries(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / LOG_FILE).read_text(encoding="utf-8").splitlines()]


def run(session: Session, text: str) -> list[tuple[Any, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


def test_each_statement_has_an_entry(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        run(session, "CREATE EXTERNAL TABLE t (`__time` timestamp, a string) STORED BY 'druid'; SELECT count(*) FROM t")
        with pytest.raises(HiveDruidError):
            run(session, "SELECT missing FROM t")
    created, counted, failed = entries(tmp_path)
    assert created["outcome"] == "ok"
    assert (counted["statement"], counted["rows"], counted["outcome"]) == ("SELECT count(*) FROM t", 1, "ok")
    assert failed["outcome"].startswith("SemanticError: unknown column 'missing'")
    assert len({entry["id"] for entry in (created, counted, failed)}) == 3
    assert (tmp_path / LOG_FILE).stat().st_mode & 0o077 == 0


def test_an_answer_that_is_not_read_to_its_end(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        (statement,) = session.statements("SHOW FUNCTIONS")
        rows = iter(session.execute(statement).rows)
        next(rows)
        rows.close()  # type: ignore[attr-defined]
    assert entries(tmp_path)[0]["outcome"] == "not all rows were read"


def test_secrets_are_masked(tmp_path: Path) -> None:
    with Session(tmp_path, hiveconf={"druid.url": f"http://me:{CANARY}@localhost:1"}) as session:
        run(session, f"SET hive.druid.metadata.password={CANARY}")
        with pytest.raises(HiveDruidError):
            run(session, f"CREATE TABLE t (a int) TBLPROPERTIES ('x.password' = '{CANARY}')")
        for text in ("CREATE EXTERNAL TABLE t (`__time` timestamp) STORED BY 'druid'", "SELECT * FROM t"):
            with pytest.raises(HiveDruidError):
                run(session, text)
    assert len(entries(tmp_path)) == 4
    assert CANARY not in (tmp_path / LOG_FILE).read_text(encoding="utf-8")


def test_a_statement_that_cannot_be_read_and_names_a_secret_leaves_no_text(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        for text in (f"CREATE TABEL t my pasword is {CANARY}", "CREATE TABEL t"):
            with pytest.raises(HiveDruidError):
                run(session, text)
    assert [entry["statement"] for entry in entries(tmp_path)] == [NOT_KEPT, "CREATE TABEL t"]


def test_texts_of_statements_are_kept_by_a_setting(tmp_path: Path) -> None:
    with Session(tmp_path, hiveconf={"hivedruid.log.statements": "false"}) as session:
        run(session, "SELECT 1")
        with pytest.raises(HiveDruidError):
            run(session, f"SELECT {CANARY}")
    assert [(entry["statement"], entry["outcome"]) for entry in entries(tmp_path)] == [
        (None, "ok"), (None, "SemanticError"),
    ]  # fmt: skip


def test_a_full_log_is_put_aside(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        run(session, "SELECT 1")
        with (tmp_path / LOG_FILE).open("ab") as file:
            file.truncate(LOG_LIMIT + 1)
        run(session, "SELECT 2")
    assert [entry["statement"] for entry in entries(tmp_path)] == ["SELECT 2"]
    assert (tmp_path / "logs" / "queries.jsonl.1").stat().st_size == LOG_LIMIT + 1


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / LOG_FILE).mkdir(parents=True)
    notes: list[str] = []
    with Session(tmp_path, note=notes.append) as session:
        assert run(session, "SELECT 1; SELECT 2") == [(1,), (2,)]
    assert len(notes) == 1
