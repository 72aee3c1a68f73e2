"""The third path: local evaluation of what a pushed plan leaves, and of whole queries over plain scans."""

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
    """What local evaluation answers, instants in UTC; None where it leaves the query to Spark."""
    try:
        local = local_plan(plan)
        return in_utc(evaluated(local, _fetched(local, store)))
    except (NotLocal, Unsure):
        return None


def by_row(plan: QueryPlan, store: EmbeddedStore) -> Callable[[int], Rows | None] | None:
    """For a query over one scan: what is answered of one of its rows, so that a value that is left to Spark is one value."""
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
    """A time that a clock shows twice equals no time of another zone in Python: instants are compared in UTC."""
    return [tuple([_instant(v) for v in row]) for row in rows]


def _instant(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value
