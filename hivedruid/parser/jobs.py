"""SHOW JOBS | COMPACTIONS | SEGMENTS, DESCRIBE | CANCEL | RESUME JOB, and ALTER TABLE … COMPACT."""

from __future__ import annotations

from sqlglot import TokenType

from hivedruid.errors import Span, UnsupportedError, did_you_mean
from hivedruid.parser.clauses import quoted_id, where_state
from hivedruid.parser.ingestion import parse_ingestion
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.compacting import CompactTable, ShowCompactions, ShowSegments
from hivedruid.parser.statements.writing import CancelJob, DescribeJob, ResumeJob, ShowJobs
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_show_jobs(source: SourceStatement, cursor: Cursor) -> Statement:
    """The statements after SHOW: JOBS, COMPACTIONS or SEGMENTS."""
    what = cursor.accept_one("JOBS", "COMPACTIONS", "SEGMENTS")
    name = cursor.table_name() if cursor.accept("FOR") else None
    if what == "JOBS":
        return _jobs(source, cursor, name)
    if not cursor.at_end:
        cursor.fail("FOR" if name is None else "the end of the statement")
    return ShowCompactions(source, name) if what == "COMPACTIONS" else ShowSegments(source, name)


def _jobs(source: SourceStatement, cursor: Cursor, name: TableName | None) -> ShowJobs:
    """The states are those of `hivedruid.jobs`, which checks them."""
    state, span = None, None
    if cursor.accept("WHERE"):
        text, span = where_state(cursor, "jobs", "staged")
        state = text.lower()
    if not cursor.at_end:
        cursor.fail("FOR or WHERE" if name is None and state is None else "the end of the statement")
    return ShowJobs(source, name, state, span)


def is_describe_job(cursor: Cursor) -> bool:
    """Whether what follows DESCRIBE is `JOB 'id'`; JOB alone is a table name."""
    after = cursor.tokens[cursor.index + 1 : cursor.index + 2]
    return cursor.word() == "JOB" and bool(after) and after[0].token_type == TokenType.STRING


def parse_describe_job(source: SourceStatement, cursor: Cursor) -> Statement:
    cursor.expect("JOB")
    return DescribeJob(source, *_job(cursor))


def parse_cancel(source: SourceStatement, cursor: Cursor) -> Statement:
    """CANCEL JOB 'id'."""
    if not cursor.accept("JOB"):
        hint = "use KILL TASK 'id' to stop a Druid task" if cursor.word() == "TASK" else None
        cursor.fail("JOB", hint=hint or did_you_mean(cursor.word(), ("JOB",)) or "use CANCEL JOB 'id'")
    return CancelJob(source, *_job(cursor))


def parse_resume(source: SourceStatement, cursor: Cursor) -> Statement:
    """RESUME JOB 'id' | RESUME INGESTION table | RESUME STREAM name, the verb included."""
    if cursor.word(1) == "INGESTION":
        return parse_ingestion(source, cursor)
    if cursor.word(1) == "STREAM":
        from hivedruid.parser.streaming import parse_change

        return parse_change(source, cursor)
    cursor.index += 1
    if not cursor.accept("JOB"):
        close = did_you_mean(cursor.word(), ("JOB", "INGESTION", "STREAM"))
        cursor.fail(
            "JOB, INGESTION or STREAM",
            hint=close or "use RESUME JOB 'id', RESUME INGESTION table or RESUME STREAM name",
        )
    return ResumeJob(source, *_job(cursor))


def _job(cursor: Cursor) -> tuple[str, Span]:
    return quoted_id(cursor, "a job id", "SHOW JOBS")


def parse_compact(source: SourceStatement, cursor: Cursor, name: TableName) -> CompactTable:
    """The rest of ALTER TABLE table COMPACT: 'kind' [AND WAIT]."""
    token = cursor.current
    if token is None or token.token_type != TokenType.STRING:
        cursor.fail("a quoted compaction type", hint=f"use ALTER TABLE {name.name} COMPACT 'major'")
    cursor.index += 1
    wait = cursor.accept("AND", "WAIT")
    clause = (cursor.word().split() or [""])[0]
    if clause in ("POOL", "CLUSTERED", "ORDER", "WITH"):
        raise UnsupportedError(
            f"COMPACT … {clause} is not supported",
            span=cursor.span(),
            hint="remove it: compaction uses the table properties",
        )
    if not wait and clause:
        cursor.fail("AND WAIT", hint="use AND WAIT, or end the statement")
    return CompactTable(source, name, token.text.lower(), wait, cursor.span(token))
