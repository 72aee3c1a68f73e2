"""EXPLAIN of queries, in the shape of Hive's user-level plans."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.operators import Explainer
from hivedruid.actions.plan_text import (
    files_document,
    files_line,
    indent,
    job_document,
    local_document,
    local_lines,
    read_document,
    spark_lines,
    table_scan,
)
from hivedruid.actions.select.model import (
    AnswerRows,
    AskValues,
    EvaluateLocally,
    RunDruidQuery,
    RunSparkJob,
    SelectAction,
)

_FETCH = ("Stage-0", "  Fetch Operator", "    limit:-1")


def _lines(action: Action, settings: Mapping[str, str]) -> list[str]:
    del settings
    assert isinstance(action, SelectAction)
    match action:
        case RunDruidQuery():
            return [*_FETCH, *indent(_select(action), 4)]
        case AskValues():
            return _ask(action)
        case RunSparkJob():
            return [*_FETCH, "    Stage-1", *indent(spark_lines(action.job), 6)]
        case EvaluateLocally():
            return [*_FETCH, *indent(local_lines(action.plan), 4)]
        case AnswerRows():
            values = [f"      {json.dumps(row, default=str, ensure_ascii=False)}" for row in action.rows]
            return [*_FETCH, "    Values Operator", *values]
        case _:
            assert_never(action)


def _ask(action: AskValues) -> list[str]:
    head = "  Fetch Operator (runs first; Stage-0 is shown with the statement's time in place of its results)"
    return ["Stage-1", head, *(line for ask in action.asks for line in indent(table_scan(ask.read, "TS_first"), 4))]


def _document(action: Action, settings: Mapping[str, str]) -> dict[str, Any]:
    del settings
    assert isinstance(action, SelectAction)
    match action:
        case RunDruidQuery():
            files = {} if action.scan is None else files_document(action.read, action.scan)
            return read_document(action.read) | files
        case AskValues():
            return {"queries": [ask.read.query for ask in action.asks]}
        case RunSparkJob():
            return job_document(action.job)
        case EvaluateLocally():
            return local_document(action.plan)
        case AnswerRows():
            return {"rows": [[_plain(v) for v in row] for row in action.rows]}
        case _:
            assert_never(action)


def _select(action: RunDruidQuery) -> list[str]:
    """The Select and TableScan operators that represent a native query, and the files that are read in its place."""
    output = ",".join(f'"_col{i}"' for i in range(len(action.columns)))
    files = [] if action.scan is None else [f"    {files_line(action.read, action.scan)}"]
    return ["Select Operator [SEL_1]", f"  Output:[{output}]", *indent(table_scan(action.read, "TS_0"), 2), *files]


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


EXPLAINER = Explainer(_lines, _document)
