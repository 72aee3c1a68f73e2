"""The plan of a case, compared with that of Calcite or Hive."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from hivedruid import parser
from hivedruid.druid.limits import NO_LIMITS, DruidLimits
from hivedruid.errors import HiveDruidError
from hivedruid.parser.statements import Query
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.reasons import Left, left_outside
from hivedruid.plan.rules import RULES, Rule
from hivedruid.plan.split import QueryPlan, constant_rows, druid_read, plan_query, spark_job
from hivedruid.script import SourceStatement
from tests.conformance.cases import Case
from tests.support.planning import snapshot

Pushed = Literal["full", "partly", "not", "invalid", "crashed", "untranslatable"]
"""`full`: one native query with nothing above it, or a constant. `invalid`: an intended error, which the peer has, too;
any other error is `crashed`."""


@dataclass(frozen=True)
class Planned:
    """A case's plan and its measures; `seconds` is the time of planning without parsing."""

    case: Case
    pushed: Pushed
    plan: QueryPlan | None = None
    queries: tuple[Mapping[str, Any], ...] = ()
    left: tuple[Left, ...] = ()
    seconds: float = 0.0
    error: str | None = None

    @property
    def is_constant(self) -> bool:
        return self.pushed == "full" and not self.queries

    @property
    def same_type(self) -> bool | None:
        """Whether the native query is of the peer's type; None if there are not one and one to compare."""
        if len(self.queries) != 1 or len(self.case.peer.queries) != 1:
            return None
        return bool(self.queries[0]["queryType"] == self.case.peer.queries[0].get("queryType"))

    @property
    def same_intervals(self) -> bool | None:
        if len(self.queries) != 1 or len(self.case.peer.queries) != 1:
            return None
        return intervals_of(self.queries[0]) == intervals_of(self.case.peer.queries[0])


def planned(case: Case, *, rules: tuple[Rule, ...] = RULES, runs: int = 1) -> Planned:
    """Plan a case; the fastest of `runs` counts, since the first one also loads code."""
    if case.untranslatable is not None:
        return Planned(case, "untranslatable", error=case.untranslatable)
    try:
        plan, queries, seconds = min((_plan(case, rules) for _ in range(runs)), key=lambda made: made[2])
        left = left_outside(plan)
    except HiveDruidError as error:
        return Planned(case, "invalid" if case.refusal else "crashed", error=f"{type(error).__name__}: {error.message}")
    except Exception as error:  # noqa: BLE001 - any other one is what this is looking for
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Planned(case, "crashed", error=f"{type(error).__name__}: {error} ({where.name}:{where.lineno})")
    return Planned(case, _pushed(plan, queries), plan, queries, left, seconds)


def plan_of(
    case: Case, rules: tuple[Rule, ...] = RULES, limits: DruidLimits = NO_LIMITS, *, scans_only: bool = False
) -> QueryPlan:
    statement = parser.parse(SourceStatement(case.sql))
    assert isinstance(statement, Query)
    facts = replace(snapshot(case.zone, case.tables), limits=limits, scans_only=scans_only)
    return plan_query(statement.expression, statement.source, facts, rules=None if scans_only else rules)


def _plan(case: Case, rules: tuple[Rule, ...]) -> tuple[QueryPlan, tuple[Mapping[str, Any], ...], float]:
    statement = parser.parse(SourceStatement(case.sql))
    assert isinstance(statement, Query)
    facts = snapshot(case.zone, case.tables)
    begun = time.perf_counter()
    plan = plan_query(statement.expression, statement.source, facts, rules=rules)
    queries = tuple(_queries(plan))
    return plan, queries, time.perf_counter() - begun


def _queries(plan: QueryPlan) -> Iterator[Mapping[str, Any]]:
    read = druid_read(plan)
    if read is not None:
        yield read.query
    elif constant_rows(plan) is None:
        yield from (item.read.query for item in spark_job(plan).inputs if isinstance(item, DruidInput))


def _pushed(plan: QueryPlan, queries: tuple[Mapping[str, Any], ...]) -> Pushed:
    if druid_read(plan) is not None or constant_rows(plan) is not None:
        return "full"
    return "partly" if queries else "not"


# --- intervals -------------------------------------------------------------------------------------------------------

_EARLIEST, _LATEST = datetime(1901, 1, 1, tzinfo=UTC), datetime(2990, 1, 1, tzinfo=UTC)
"""The eternity of Calcite and Hive begins in 1900 and ends in 2992 or 3000; ours is Druid's whole range."""


def intervals_of(query: Mapping[str, Any]) -> list[tuple[datetime, datetime]]:
    """The intervals that a native query reads, merged if they are adjacent; those of the innermost query."""
    source = query.get("dataSource")
    while isinstance(source, Mapping):
        inner = source.get("query") or source.get("left") or source.get("base")
        if isinstance(inner, Mapping) and "intervals" in inner:
            query = inner
        source = inner.get("dataSource", inner) if isinstance(inner, Mapping) else None
    listed = query.get("intervals") or []
    texts = listed.get("intervals", []) if isinstance(listed, Mapping) else listed
    made: list[tuple[datetime, datetime]] = []
    for start, end in sorted((_moment(a), _moment(b)) for a, _, b in (text.partition("/") for text in texts)):
        if start >= end:
            continue
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        else:
            made.append((start, end))
    return made


def _moment(text: str) -> datetime:
    if text.startswith("-"):
        return _EARLIEST
    if len(text.split("-", maxsplit=1)[0]) > 4:
        return _LATEST
    made = datetime.fromisoformat(text)
    return min(max(made if made.tzinfo else made.replace(tzinfo=UTC), _EARLIEST), _LATEST)
