"""SHOW INGESTIONS, TASKS, TASK and PROBLEMS, KILL TASK: refusals, EXPLAIN, and an unreachable Druid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hivedruid.errors import ConnectError, SemanticError, UnsupportedError
from hivedruid.session import Session

STATEMENTS = ("SHOW INGESTIONS", "SHOW TASKS", "SHOW TASK 'x'", "KILL TASK 'x'")
FED = (
    "CREATE EXTERNAL TABLE fed (`__time` timestamp, page string) STORED BY 'druid' TBLPROPERTIES "
    "('kafka.topic' = 'edits', 'kafka.bootstrap.servers' = '127.0.0.1:9')"
)
OUT_OF_REACH = {"druid.url": "http://127.0.0.1:1", "hive.druid.maxTries": "1"}


def run(session: Session, text: str) -> list[Mapping[str, Any]]:
    (statement,) = session.statements(text)
    result = session.execute(statement)
    names = [column.name for column in result.columns]
    return [dict(zip(names, row, strict=True)) for row in result.rows]


def explained(session: Session, text: str) -> list[str]:
    return [row["Explain"].strip() for row in run(session, f"EXPLAIN {text}")]


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path) as session:
        run(session, FED)
        yield session


@pytest.fixture
def session(embedded: Session, tmp_path: Path) -> Iterator[Session]:
    """A session of a home with the table `fed`, with an unreachable Druid."""
    run(embedded, "CREATE EXTERNAL TABLE files (a int) STORED AS ORC LOCATION '/tmp/files'")
    with Session(tmp_path, hiveconf=OUT_OF_REACH) as session:
        yield session


@pytest.mark.parametrize("text", STATEMENTS)
def test_the_embedded_store_has_none_of_it(embedded: Session, text: str) -> None:
    for prefix in ("", "EXPLAIN "):
        with pytest.raises(UnsupportedError) as raised:
            run(embedded, prefix + text)
        assert raised.value.message.startswith(f"{' '.join(text.split()[:2])} is not supported: the embedded store ")
        assert "set druid.url to a router" in (raised.value.hint or "")


def test_the_embedded_store_has_nothing_to_describe(embedded: Session) -> None:
    assert not [row for row in run(embedded, "DESCRIBE EXTENDED fed") if row["col_name"] == "StorageHandlerInfo"]


@pytest.mark.parametrize("text", ["SHOW INGESTIONS", "SHOW TASKS", "SHOW TASK 'x'", "KILL TASK 'x'"])
def test_a_druid_out_of_reach(session: Session, text: str) -> None:
    with pytest.raises(ConnectError, match="cannot reach Druid"):
        run(session, text)


def test_a_druid_out_of_reach_is_a_problem_and_not_an_error(session: Session) -> None:
    found = run(session, "SHOW PROBLEMS")
    assert [(row["subject"], row["problem"], row["evidence"]) for row in found] == [
        ("Druid's overlord", "unreachable", "the same for Druid's coordinator"),
    ]  # fmt: skip
    assert all("connection refused" in row["cause"] and row["repair"].startswith("-- ") for row in found)


def test_a_table_is_described_without_druid(session: Session) -> None:
    rows = [row["col_name"] for row in run(session, "DESCRIBE EXTENDED fed")]
    assert rows[-2:] == ["StorageHandlerInfo", "Druid Overlord is Unreachable, Runtime Status : unknown"]
    assert run(session, "DESCRIBE fed")[-1]["col_name"] == "page"
    assert "StorageHandlerInfo" not in [row["col_name"] for row in run(session, "DESCRIBE EXTENDED files")]


@pytest.mark.parametrize(
    ("text", "message"), [
        ("SHOW TASKS FOR fedd", "Table not found fedd"),
        ("SHOW TASKS FOR files", "default.files is not a Druid table: it has no tasks"),
    ],
)  # fmt: skip
def test_tasks_of_what_has_none(session: Session, text: str, message: str) -> None:
    with pytest.raises(SemanticError, match=message) as raised:
        run(session, text)
    assert raised.value.span is not None


@pytest.mark.parametrize("text", ["KILL TASK 'x'", "SHOW INGESTIONS"])
def test_a_dry_run_asks_and_ends_nothing(tmp_path: Path, text: str) -> None:
    with Session(tmp_path, hiveconf=OUT_OF_REACH, dry_run=True) as session:
        assert any("requests:" in row["Plan"] for row in run(session, text))


# --- EXPLAIN -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"), [
        ("SHOW INGESTIONS LIKE 'f*'", "like: f*"),
        ("SHOW INGESTIONS", "GET /druid/indexer/v1/supervisor?full every supervisor with its spec"),
        ("SHOW INGESTIONS", "GET /druid/indexer/v1/supervisor/ID/stats for each supervisor with running tasks"),
        ("SHOW PROBLEMS", "GET /druid/coordinator/v1/loadstatus?simple segments that are not loaded"),
        ("SHOW PROBLEMS", "Kafka: Metadata, ListOffsets the offsets of all topics, once for each Kafka cluster"),
        ("SHOW TASKS", "GET /druid/indexer/v1/tasks?max=1000 all tasks"),
        ("SHOW TASKS FOR fed WHERE STATE = 'failed'",
         "GET /druid/indexer/v1/tasks?datasource=default.fed&state=complete&max=1000 all tasks"),
        ("SHOW TASK 'a/b'", "GET /druid/indexer/v1/task/a%2Fb/reports rows and parse errors"),
        ("KILL TASK 'x'", "POST /druid/indexer/v1/task/x/shutdown once"),
        ("KILL TASK 'x'", "effect: a running supervisor starts another task, which reads again from the last published offsets"),
    ],
)  # fmt: skip
def test_explain_lists_the_requests(session: Session, text: str, line: str) -> None:
    assert line in explained(session, text)


def test_explain_formatted(session: Session) -> None:
    (action,) = json.loads("\n".join(explained(session, "FORMATTED KILL TASK 'x'")))["actions"]
    assert (action["action"], action["operator"], action["task"]) == ("ShutDownTask", "Kill Task Operator", "x")
    assert "POST /druid/indexer/v1/task/x/shutdown" in action["requests"]
