"""The third path: local evaluation of the rest of a pushed-down plan, and of whole queries over plain scans."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.local import LocalPlan, evaluated, local_plan
from hivedruid.plan.decode import decode_rows
from hivedruid.plan.physical import DruidRead
from hivedruid.plan.split import QueryPlan
from tests.equivalence.comparison import Rows

Stored = Callable[[DruidRead], Rows]
"""The rows of a native query."""


def answered(plan: QueryPlan, stored: Stored) -> Rows | None:
    """The result of local evaluation, instants in UTC; None if it leaves the query to Spark."""
    try:
        local = local_plan(plan)
        return in_utc(evaluated(local, _fetched(local, stored)))
    except (NotLocal, Unsure):
        return None


def sure_rows(plan: QueryPlan, stored: Stored) -> Rows:
    """For a query over one scan: the result for all rows, or, if it is unsure of one, for each row of which it is
    sure, so that only single values are left to Spark.
    """
    try:
        local = local_plan(plan)
    except NotLocal:
        return []
    ((view, rows),) = _fetched(local, stored).items()
    found: Rows = []
    try:
        return in_utc(evaluated(local, {view: rows}))
    except Unsure:
        for row in rows:
            with suppress(Unsure):
                found += in_utc(evaluated(local, {view: [row]}))
    return found


def _fetched(local: LocalPlan, stored: Stored) -> dict[str, Rows]:
    return {i.view: list(decode_rows(stored(i.read), i.read.fields, "UTC")) for i in local.inputs}


def in_utc(rows: Rows) -> Rows:
    """In Python, a time in a repeated hour never equals a time of another zone: instants are compared in UTC."""
    return [tuple([_instant(v) for v in row]) for row in rows]


def _instant(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value
