"""Run actions: the only place with side effects. It makes no decisions: the actions determine what is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from hivedruid.actions.families import family_of, runner
from hivedruid.actions.model import Action
from hivedruid.actions.select.model import AskValues, RunDruidQuery
from hivedruid.actions.services import Services
from hivedruid.errors import ResourceError
from hivedruid.plan.physical import DruidRead
from hivedruid.results import Result

if TYPE_CHECKING:
    from hivedruid.actions.writing.jobs import Origin
    from hivedruid.operations.loads import LoadJob


Fallback = Callable[[ResourceError], Sequence[Action]]
"""Fallback actions of the same statement, in the same order, that need fewer resources of Druid."""
Replan = Callable[[Mapping[str, Sequence[Any]]], Sequence[Action]]
"""The actions of the same statement, planned again with the results of native queries."""


def execute(
    actions: Sequence[Action],
    services: Services,
    query_id: str,
    fallback: Fallback,
    origin: Origin | None = None,
    replan: Replan | None = None,
) -> Result:
    """Run the actions in order and return the result of the one that has a result.

    Native queries carry `query_id` and the session's query context. If Druid refuses an action for lack of resources,
    the actions of `fallback` run from there on: a refusal comes before the first row and before anything is written.
    `origin` is the statement that the jobs belong to. `replan` returns the actions that follow `AskValues`.
    """
    if replan is not None:
        actions = _with_values(actions, services, query_id, fallback, replan)
    if origin is None or not any(action.ingests for action in actions):
        return _execute_all(actions, services, query_id, fallback, [])
    from hivedruid.actions.writing.run import statement_jobs

    with statement_jobs(actions, services, origin, query_id) as jobs:
        return _execute_all(actions, services, query_id, fallback, jobs)


def _with_values(
    actions: Sequence[Action], services: Services, query_id: str, fallback: Fallback, replan: Replan
) -> Sequence[Action]:
    """The actions, planned with all values that they need; a value may depend on the results of earlier queries."""
    answers: dict[str, Sequence[Any]] = {}
    while actions and isinstance(actions[0], AskValues):
        from hivedruid.actions.select.run import values

        first = _with_context(actions[:1], f"{query_id}-first{len(answers)}", services.query_context())[0]
        assert isinstance(first, AskValues)
        try:
            answers |= values(first, services)
        except ResourceError as refused:
            return fallback(refused)
        actions = replan(answers)
    return actions


def _execute_all(
    actions: Sequence[Action], services: Services, query_id: str, fallback: Fallback, jobs: Sequence[LoadJob]
) -> Result:
    result = Result()
    actions = _with_context(_with_ids(actions, jobs), query_id, services.query_context())
    refusals = 0
    done = 0
    while done < len(actions):
        try:
            action = actions[done]
            if action.writes is action:
                _stage_all(actions[done:], services)
            answer = runner(family_of(action))(action, services)
        except ResourceError as refused:
            refusals += 1
            if refusals > refused.attempts:
                raise
            actions = _with_context(_with_ids(fallback(refused), jobs), f"{query_id}-scans", services.query_context())
            continue
        result = answer or result
        done += 1
    return result


def _stage_all(actions: Sequence[Action], services: Services) -> None:
    """Compute the rows of all targets before the first write changes a source of the others."""
    for action in actions:
        if (ingest := action.ingests) is action and ingest is not None:
            from hivedruid.actions.writing import run as run_jobs

            run_jobs.stage(ingest, services)


def _with_context(actions: Sequence[Action], query_id: str, given: Mapping[str, Any]) -> list[Action]:
    """Give every native query the id of its statement, with a number if there are several."""
    numbers = count(1)

    def named(read: DruidRead, name: str) -> DruidRead:
        context = {**given, **read.query.get("context", {}), "queryId": name}
        total = named(read.over_nothing, f"{name}-total") if read.over_nothing is not None else None
        return replace(read, query={**read.query, "context": context}, over_nothing=total)

    def single(read: DruidRead) -> DruidRead:
        return named(read, query_id)

    def numbered(read: DruidRead) -> DruidRead:
        return named(read, f"{query_id}-{next(numbers)}")

    return [action.with_reads(single if isinstance(action, RunDruidQuery) else numbered) for action in actions]


def _with_ids(actions: Sequence[Action], jobs: Sequence[LoadJob]) -> list[Action]:
    """Assign the jobs to the actions that write to Druid; the job adds the table of CREATE TABLE … AS itself.

    A Hive-side table is written before it is in the catalog: both actions get the same new `table_id`. The write into
    partitions adds the table itself.
    """
    if not any(action.writes is not None for action in actions):
        return list(actions)
    from uuid import uuid4

    from hivedruid.actions.ddl.model import AddTable
    from hivedruid.actions.writing.model import IngestDruid, WriteTable

    left = list(jobs)
    result: list[Action] = []
    for action in actions:
        before = result[-1] if result else None
        if action.ingests is not None:
            result.append(action.with_job(left.pop(0).id))
        elif isinstance(action, WriteTable) and not action.table.table_id:
            result.append(replace(action, table=replace(action.table, table_id=uuid4().hex)))
        elif isinstance(action, AddTable) and isinstance(before, WriteTable) and before.table.has_partitions:
            continue
        elif isinstance(action, AddTable) and isinstance(before, WriteTable):
            result.append(replace(action, table=replace(before.table, is_written=before.table.has_own_folder)))
        elif not (isinstance(action, AddTable) and isinstance(before, IngestDruid)):
            result.append(action)
    return result
