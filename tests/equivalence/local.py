"""The third path: local evaluation of the rest of a pushed-down plan, and of whole queries over plain scans."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from hivedruid.embedded.store import EmbeddedStore
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.local import LocalPlan, evaluated, local_plan
from hivedruid.plan.decode import decode_rows
from hivedruid.plan.split import QueryPlan
from tests.equivalence.comparison import Rows


def answered(plan: QueryPlan, store: EmbeddedStore) -> Rows | None:
    """The result of local evaluation, instants in UTC; None if it leaves the query to Spark."""
    try:
        local = local_plan(plan)
        return in_utc(evaluated(local, _fetched(local, store)))
    except (NotLocal, Unsure):
        return None


def by_row(plan: QueryPlan, store: EmbeddedStore) -> Callable[[int], Rows | None] | None:
    """For a query over one scan: the result for one of its rows, so that only single values are left to Spark."""
    try:
        local = local_plan(plan)
    except NotLocal:
        return None
    ((view, rows),) = _fetched(local, store).items()

    def answer(number: int) -> Rows | None:
        try:
            return in_utc(evaluated(local, {view: rows[number : number + 1]}))
        except Unsure:
            return None

    return answer


def _fetched(local: LocalPlan, store: EmbeddedStore) -> dict[str, Rows]:
    return {i.view: list(decode_rows(store.rows(i.read), i.read.fields, "UTC")) for i in local.inputs}


def in_utc(rows: Rows) -> Rows:
    """In Python, a time in a repeated hour never equals a time of another zone: instants are compared in UTC."""
    return [tuple([_instant(v) for v in row]) for row in rows]


def _instant(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value
