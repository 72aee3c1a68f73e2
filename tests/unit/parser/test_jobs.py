"""Statements about jobs that write to Druid, compactions and segments."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.errors import ParseError, Span, UnsupportedError
from hivedruid.parser import parse
from hivedruid.parser.statements import Explain, TableName
from hivedruid.parser.statements.compacting import CompactTable, ShowCompactions, ShowSegments
from hivedruid.parser.statements.ingesting import AlterIngestion
from hivedruid.parser.statements.utility import DescribeTable, ShowColumns
from hivedruid.parser.statements.watching import ShowIngestions
from hivedruid.parser.statements.writing import CancelJob, DescribeJob, ResumeJob, ShowJobs
from hivedruid.script import SourceStatement


def one(text: str) -> Any:
    return parse(SourceStatement(text))


def at(span: Span | None) -> str:
    """The text of a span."""
    assert span is not None
    return span.source_line[span.column - 1 : span.column - 1 + span.length]


def test_show_jobs() -> None:
    assert one("SHOW JOBS") == ShowJobs(SourceStatement("SHOW JOBS"))
    statement = one("show jobs for db.T where state = 'Staged'")
    assert (statement.name.database, statement.name.name) == ("db", "t")
    assert (statement.state, at(statement.state_span)) == ("staged", "'Staged'")
    assert one("SHOW JOBS WHERE STATE = 'planned'").name is None


@pytest.mark.parametrize(
    ("verb", "kind"), [("DESCRIBE", DescribeJob), ("desc", DescribeJob), ("CANCEL", CancelJob), ("Resume", ResumeJob)]
)
def test_what_is_done_with_a_job(verb: str, kind: type[Any]) -> None:
    statement = one(f" -- now\n{verb} /* the */ job 'a1b2'")
    assert type(statement) is kind
    assert (statement.job, at(statement.span)) == ("a1b2", "'a1b2'")
    explained = one(f"EXPLAIN {verb} JOB 'a1b2'")
    assert isinstance(explained, Explain)
    assert type(explained.statement) is kind


def test_compact() -> None:
    statement = one("ALTER TABLE db.t COMPACT 'Major'")
    assert isinstance(statement, CompactTable)
    assert (statement.name.database, statement.name.name) == ("db", "t")
    assert (statement.kind, statement.wait, at(statement.span)) == ("major", False, "'Major'")
    assert one("alter table t compact 'minor' and wait").wait


@pytest.mark.parametrize(("word", "kind"), [("COMPACTIONS", ShowCompactions), ("SEGMENTS", ShowSegments)])
def test_what_a_table_is_made_of(word: str, kind: type[Any]) -> None:
    assert one(f"SHOW {word}") == kind(SourceStatement(f"SHOW {word}"))
    statement = one(f"show {word.lower()} for db.t")
    assert type(statement) is kind
    assert (statement.name.database, statement.name.name) == ("db", "t")


@pytest.mark.parametrize("name", ["job", "jobs", "segments", "compactions", "cancel", "compact"])
def test_tables_may_be_called_so(name: str) -> None:
    assert one(f"DESCRIBE {name}").name.name == name
    assert one(f"SELECT * FROM {name}")
    assert one(f"SHOW JOBS FOR {name}").name.name == name
    assert one(f"ALTER TABLE {name} COMPACT 'major'").name.name == name
    described = one(f"DESC {name} id")
    assert isinstance(described, DescribeTable)
    assert described.column == "id"
    shown = one(f"SHOW COLUMNS IN {name}")
    assert isinstance(shown, ShowColumns)
    assert shown.name.name == name
    resumed = one(f"RESUME INGESTION {name}")
    assert isinstance(resumed, AlterIngestion)
    assert isinstance(resumed.name, TableName)
    assert (resumed.verb, resumed.name.name) == ("RESUME", name)


def test_describe_of_a_table_job_in_a_database() -> None:
    assert (one("DESCRIBE job.job").name.database, one("DESCRIBE EXTENDED job").name.name) == ("job", "job")
    assert isinstance(one("SHOW INGESTIONS jobs"), ShowIngestions)


@pytest.mark.parametrize(
    ("text", "message", "place", "hint"),
    [
        ("SHOW JOB", "expected TABLES", "JOB", "'JOBS'"),
        ("SHOW JOB 'a'", "expected TABLES", "JOB", "DESCRIBE JOB 'id'"),
        ("SHOW SEGMENT FOR t", "expected TABLES", "SEGMENT", "'SEGMENTS'"),
        ("SHOW COMPACTION", "expected TABLES", "COMPACTION", "'COMPACTIONS'"),
        ("SHOW JOBS t", "expected FOR or WHERE, found 't'", "t", ""),
        ("SHOW JOBS FOR", "expected a table name, found the end of the statement", "", ""),
        ("SHOW JOBS FOR t u", "expected the end of the statement, found 'u'", "u", ""),
        ("SHOW JOBS WHERE id = 'x'", "expected 'STATE', found 'id'", "id", "WHERE STATE = 'staged'"),
        ("SHOW JOBS WHERE STATE = staged", "expected a quoted state, found 'staged'", "staged", ""),
        ("SHOW SEGMENTS t", "expected 'FOR', found 't'", "t", ""),
        ("SHOW SEGMENTS FOR t WHERE", "expected the end of the statement, found 'WHERE'", "WHERE", ""),
        ("DESCRIBE JOB 'a' 'b' c", "expected the end of the statement, found 'c'", "c", ""),
        ("DESCRIBE JOB ' '", "expected a job id as a quoted string", "' '", "run SHOW JOBS"),
        ("CANCEL JOB", "expected a job id as a quoted string, found the end of the statement", "", "run SHOW JOBS"),
        ("CANCEL JOB a1", "expected a job id as a quoted string, found 'a1'", "a1", "run SHOW JOBS"),
        ("CANCEL 'a1'", "expected 'JOB', found a string", "'a1'", "CANCEL JOB 'id'"),
        ("CANCEL JBO 'a1'", "expected 'JOB', found 'JBO'", "JBO", "'JOB'"),
        ("CANCEL TASK 'a1'", "expected 'JOB', found 'TASK'", "TASK", "KILL TASK 'id'"),
        ("KILL JOB 'a1'", "expected 'TASK', found 'JOB'", "JOB", "CANCEL JOB 'id'"),
        ("RESUME JOB", "expected a job id as a quoted string", "", "run SHOW JOBS"),
        ("RESUME JOB 'a', 'b'", "expected the end of the statement, found ','", ",", ""),
        (
            "RESUME 'a1'",
            "expected JOB, INGESTION or STREAM, found a string",
            "'a1'",
            "RESUME JOB 'id', RESUME INGESTION table or RESUME STREAM",
        ),
        ("RESUME INGSTION t", "expected JOB, INGESTION or STREAM, found 'INGSTION'", "INGSTION", "'INGESTION'"),
        ("CANCLE JOB 'a1'", "expected a statement, found 'CANCLE'", "CANCLE", "'CANCEL'"),
        ("ALTER TABLE t COMPACT", "expected a quoted compaction type, found the end", "", "COMPACT 'major'"),
        ("ALTER TABLE t COMPACT major", "expected a quoted compaction type, found", "major", "COMPACT 'major'"),
        ("ALTER TABLE t COMPACT 'major' WAIT", "expected 'AND WAIT', found 'WAIT'", "WAIT", "AND WAIT"),
        ("ALTER TABLE t COMPACT 'major' AND", "expected 'AND WAIT', found 'AND'", "AND", "AND WAIT"),
    ],
)
def test_errors_say_what_was_expected_and_where(text: str, message: str, place: str, hint: str) -> None:
    with pytest.raises(ParseError) as error:
        one(text)
    assert error.value.message.startswith(message)
    assert at(error.value.span) == place
    assert hint in (error.value.hint or "")


@pytest.mark.parametrize(
    "clause", ["POOL 'p'", "CLUSTERED INTO 4 BUCKETS", "ORDER BY a", "WITH OVERWRITE TBLPROPERTIES ('a'='b')"]
)
def test_what_hive_writes_behind_compact(clause: str) -> None:
    with pytest.raises(UnsupportedError, match=f"COMPACT … {clause.split(maxsplit=1)[0]} is not supported") as error:
        one(f"ALTER TABLE t COMPACT 'major' AND WAIT {clause}")
    assert error.value.hint
    assert at(error.value.span).startswith(clause.split(maxsplit=1)[0])
