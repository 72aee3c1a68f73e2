"""The actions of statements that write rows, and of those that manage jobs. Pure."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.writing import show
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.writing import (
    CancelJob,
    ChangeRows,
    DescribeJob,
    Insert,
    LoadData,
    Merge,
    ResumeJob,
    ShowJobs,
    WritingStatement,
)


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """Raises SemanticError and UnsupportedError, with the position."""
    assert isinstance(statement, WritingStatement)
    match statement:
        case Insert():
            from hivedruid.actions.writing.insert import insert

            return insert(statement, snapshot, note)
        case LoadData():
            from hivedruid.actions.writing.loading import load_data

            return load_data(statement, snapshot, note)
        case ChangeRows():
            from hivedruid.actions.writing.row_changes import change_rows

            return change_rows(statement, snapshot, note)
        case Merge():
            from hivedruid.actions.writing.merge import merge

            return merge(statement, snapshot, note)
        case ShowJobs():
            return StatementPlan((show.show_jobs(statement, snapshot),))
        case DescribeJob():
            return StatementPlan((show.describe_job(statement, snapshot),))
        case CancelJob():
            return StatementPlan((show.cancel_job(statement, snapshot),))
        case ResumeJob():
            return StatementPlan((show.resume_job(statement, snapshot),))
        case _:
            assert_never(statement)
