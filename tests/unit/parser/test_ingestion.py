"""Statements about ingestion from Kafka."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.errors import HiveDruidError, ParseError, SemanticError, Span, UnsupportedError
from hivedruid.parser import parse
from hivedruid.parser.statements import SupervisorName, TableName
from hivedruid.parser.statements.ingesting import AlterIngestion, ResetTarget
from hivedruid.parser.statements.utility import ResetSettings
from hivedruid.parser.statements.watching import (
    KillTask,
    ShowIngestions,
    ShowOffsets,
    ShowProblems,
    ShowTask,
    ShowTasks,
    ShowTopics,
)
from hivedruid.script import SourceStatement


def one(text: str) -> Any:
    return parse(SourceStatement(text))


def at(span: Span | None) -> str:
    """The text of a span."""
    assert span is not None
    return span.source_line[span.column - 1 : span.column - 1 + span.length]


@pytest.mark.parametrize("verb", ["START", "STOP", "SUSPEND", "RESUME", "HANDOFF", "WAIT", "RESET"])
def test_a_verb(verb: str) -> None:
    statement = one(f"  -- now\n{verb.lower()} /* the */ ingestion db.T")
    assert isinstance(statement, AlterIngestion)
    assert isinstance(statement.name, TableName)
    assert (statement.verb, statement.name.database, statement.name.name) == (verb, "db", "t")
    assert statement.target is None
    assert at(statement.span) == f"{verb.lower()} /* the */ ingestion db.T"


@pytest.mark.parametrize("verb", ["STOP", "SUSPEND", "RESUME", "HANDOFF", "WAIT", "RESET"])
def test_a_supervisor_by_its_id(verb: str) -> None:
    statement = one(f"{verb} INGESTION 'Their feed-1'")
    assert isinstance(statement, AlterIngestion)
    assert isinstance(statement.name, SupervisorName)
    assert (statement.verb, statement.name.id, at(statement.name.span)) == (verb, "Their feed-1", "'Their feed-1'")


def test_start_requires_a_table() -> None:
    with pytest.raises(SemanticError, match="cannot be started by its id"):
        one("START INGESTION 'theirs'")


def test_rollback() -> None:
    statement = one("ALTER TABLE db.t ROLLBACK INGESTION")
    assert isinstance(statement, AlterIngestion)
    assert isinstance(statement.name, TableName)
    assert (statement.verb, statement.name.name, at(statement.span)) == ("ROLLBACK", "t", "ROLLBACK INGESTION")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("EARLIEST", ResetTarget("EARLIEST")),
        ("latest", ResetTarget("LATEST")),
        ("OFFSETS (0:10, 1 : 20,07:9223372036854775807)", ResetTarget("OFFSETS", ((0, 10), (1, 20), (7, 2**63 - 1)))),
        ("TIMESTAMP '2024-01-01 00:00:00'", ResetTarget("TIMESTAMP", (), "2024-01-01 00:00:00")),
        ("TIMESTAMP ' 2024-1-1 1:02:03.004 '", ResetTarget("TIMESTAMP", (), "2024-1-1 1:02:03.004")),
        ("TIMESTAMP '2024-02-29'", ResetTarget("TIMESTAMP", (), "2024-02-29")),
    ],
)
def test_where_a_reset_goes_to(text: str, target: ResetTarget) -> None:
    found = one(f"RESET INGESTION t TO {text}").target
    assert (found.to, found.offsets, found.timestamp) == (target.to, target.offsets, target.timestamp)
    assert at(found.span) == text


@pytest.mark.parametrize(
    ("text", "key"), [("RESET", None), ("RESET ingestion", "ingestion"), ("RESET ingestion.x -- y", "ingestion.x")]
)
def test_reset_of_a_setting_stays(text: str, key: str | None) -> None:
    statement = one(text)
    assert isinstance(statement, ResetSettings)
    assert statement.key == key


@pytest.mark.parametrize(
    ("text", "like"),
    [("", None), ("LIKE 'a*|b'", "a*|b"), ("'a'", "a"), ("edits", "edits")],
)
def test_show_ingestions(text: str, like: str | None) -> None:
    statement = one(f"SHOW INGESTIONS {text}")
    assert isinstance(statement, ShowIngestions)
    assert statement.like == like


def test_show_tasks() -> None:
    assert one("SHOW TASKS") == ShowTasks(SourceStatement("SHOW TASKS"))
    statement = one("show tasks for db.t where state = 'Running'")
    assert (statement.name.database, statement.name.name) == ("db", "t")
    assert (statement.state, at(statement.state_span)) == ("RUNNING", "'Running'")
    assert one("SHOW TASKS WHERE STATE = 'failed'").state == "FAILED"


@pytest.mark.parametrize("text", ["SHOW OFFSETS db.t", "show offsets for db.t"])
def test_show_offsets(text: str) -> None:
    statement = one(text)
    assert isinstance(statement, ShowOffsets)
    assert (statement.name.database, statement.name.name) == ("db", "t")


def test_show_topics() -> None:
    assert one("SHOW TOPICS") == ShowTopics(SourceStatement("SHOW TOPICS"))
    assert one("show topics like 'wiki*'").like == "wiki*"


def test_show_and_kill_a_task() -> None:
    shown, killed = one("SHOW TASK 'index_kafka_db.t_1'"), one("KILL TASK 'index_kafka_db.t_1'")
    assert isinstance(shown, ShowTask)
    assert isinstance(killed, KillTask)
    assert (
        (shown.task, at(shown.span)) == (killed.task, at(killed.span)) == ("index_kafka_db.t_1", "'index_kafka_db.t_1'")
    )


def test_show_problems() -> None:
    assert one("SHOW PROBLEMS") == ShowProblems(SourceStatement("SHOW PROBLEMS"))


@pytest.mark.parametrize(
    ("text", "message", "place", "hint"),
    [
        ("START t", "expected INGESTION or STREAM, found 't'", "t", "START INGESTION table"),
        ("STOP", "expected INGESTION or STREAM, found the end of the statement", "", "STOP INGESTION table"),
        ("START INGSTION t", "expected INGESTION or STREAM, found 'INGSTION'", "INGSTION", "'INGESTION'"),
        ("START INGESTION", "expected a table name, found the end of the statement", "", ""),
        ("START INGESTION t TO LATEST", "expected the end of the statement, found 'TO'", "TO", ""),
        ("PAUSE INGESTION t", "expected 'STREAM', found 'INGESTION'", "INGESTION", "SUSPEND INGESTION"),
        ("TERMINATE INGESTION t", "expected a statement, found 'TERMINATE'", "TERMINATE", "STOP INGESTION"),
        ("ALTER TABLE t ROLLBACK", "expected 'INGESTION', found the end of the statement", "", ""),
        ("RESET INGESTION t EARLIEST", "expected 'TO', found 'EARLIEST'", "EARLIEST", "TO EARLIEST"),
        ("RESET INGESTION t TO", "expected EARLIEST, LATEST, OFFSETS or TIMESTAMP, found the end", "", ""),
        ("RESET INGESTION t TO OFFSET (0:1)", "expected EARLIEST, LATEST", "OFFSET", "'OFFSETS'"),
        ("RESET INGESTION t TO OFFSETS 0:1", "expected '(', found '0'", "0", ""),
        ("RESET INGESTION t TO OFFSETS ()", "expected a partition number, found ')'", ")", ""),
        ("RESET INGESTION t TO OFFSETS (0:1, 00:2)", "partition 0 is specified twice", "00", ""),
        ("RESET INGESTION t TO OFFSETS (0:-1)", "an offset must be 0 or more", "-1", "EARLIEST"),
        ("RESET INGESTION t TO OFFSETS (-1:0)", "a partition number must be 0 or more", "-1", ""),
        ("RESET INGESTION t TO OFFSETS (0:1.5)", "expected an offset, found '1.5'", "1.5", ""),
        (
            "RESET INGESTION t TO OFFSETS (0:9223372036854775808)",
            "an offset must be at most",
            "9223372036854775808",
            "",
        ),
        ("RESET INGESTION t TO OFFSETS (2147483648:1)", "a partition number must be at most", "2147483648", ""),
        (
            "RESET INGESTION t TO TIMESTAMP '2024-02-30'",
            "'2024-02-30' is not a valid timestamp",
            "'2024-02-30'",
            "yyyy-MM-dd",
        ),
        ("RESET INGESTION t TO TIMESTAMP 'now'", "'now' is not a valid timestamp", "'now'", "hive.local.time.zone"),
        ("RESET INGESTION t TO TIMESTAMP 1704067200000", "expected a quoted timestamp", "1704067200000", ""),
        ("SHOW INGESTION", "expected TABLES", "INGESTION", "'INGESTIONS'"),
        ("SHOW INGESTIONS a b", "expected the end of the statement, found 'b'", "b", ""),
        ("SHOW TASKS t", "expected FOR or WHERE, found 't'", "t", ""),
        ("SHOW TASKS WHERE id = 'x'", "expected 'STATE', found 'id'", "id", "WHERE STATE = 'RUNNING'"),
        ("SHOW TASKS WHERE STATE = RUNNING", "expected a quoted state, found 'RUNNING'", "RUNNING", ""),
        ("SHOW TASK", "expected a task id as a quoted string, found the end of the statement", "", "SHOW TASKS"),
        (
            "SHOW TASK index_kafka",
            "expected a task id as a quoted string, found 'index_kafka'",
            "index_kafka",
            "SHOW TASKS",
        ),
        ("SHOW PROBLEM", "expected TABLES", "PROBLEM", "'PROBLEMS'"),
        ("SHOW PROBLEMS FOR t", "expected the end of the statement, found 'FOR'", "FOR", ""),
        ("KILL 'id'", "expected 'TASK', found a string", "'id'", "KILL TASK 'id'"),
        ("KILL TASK ' '", "expected a task id as a quoted string", "' '", "SHOW TASKS"),
        ("KILL TASK 'a', 'b'", "expected the end of the statement, found ','", ",", ""),
    ],
)
def test_errors_say_what_was_expected_and_where(text: str, message: str, place: str, hint: str) -> None:
    with pytest.raises(ParseError) as error:
        one(text)
    assert error.value.message.startswith(message)
    assert at(error.value.span) == place
    assert hint in (error.value.hint or "")


@pytest.mark.parametrize(("state", "hint"), [("faild", "'FAILED'"), ("x", "WAITING, PENDING, RUNNING")])
def test_a_state_that_no_task_has(state: str, hint: str) -> None:
    with pytest.raises(SemanticError, match=f"'{state}' is not a valid task state") as error:
        one(f"SHOW TASKS WHERE STATE = '{state}'")
    assert at(error.value.span) == f"'{state}'"
    assert hint in (error.value.hint or "")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("ALTER TABLE db.t START INGESTION", "use START INGESTION db.t"),
        ("ALTER TABLE t RESET INGESTION", "use RESET INGESTION t"),
        ("ALTER TABLE t ROLBACK INGESTION", "did you mean 'ROLLBACK'?"),
        ("ROLLBACK INGESTION t", "use ALTER TABLE table ROLLBACK INGESTION"),
    ],
)
def test_each_is_written_in_one_way(text: str, hint: str) -> None:
    with pytest.raises(UnsupportedError) as error:
        one(text)
    assert error.value.hint == hint


def test_an_error_inside_explain_has_its_place() -> None:
    with pytest.raises(HiveDruidError) as error:
        one("EXPLAIN\n  RESET INGESTION t TO NOW")
    assert error.value.span is not None
    assert (error.value.span.line, error.value.span.column) == (2, 24)
