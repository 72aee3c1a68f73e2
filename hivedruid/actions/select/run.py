"""Answer queries: by Druid, in this process, or by Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.select.model import (
    AnswerRows,
    AskValues,
    EvaluateLocally,
    RunDruidQuery,
    RunSparkJob,
    SelectAction,
)
from hivedruid.actions.select.reduce import Queried, reduced, reduced_read
from hivedruid.actions.select.unparsed import note_unparsed
from hivedruid.actions.services import Services
from hivedruid.cells import padded
from hivedruid.errors import PlanError
from hivedruid.plan.physical import DruidRead
from hivedruid.results import Result, ResultColumn, begun

if TYPE_CHECKING:
    from hivedruid.engine.engine import DruidEngine
    from hivedruid.evaluation.local import LocalPlan
    from hivedruid.evaluation.relations import Rows


def run(action: Action, services: Services) -> Result:
    """The result; its rows may be computed while they are read, but for those of tiered tables."""
    assert isinstance(action, SelectAction)
    note_unparsed(action.reads, services)
    result = _run(action, services)
    if isinstance(action, AskValues) or not action.tiers:
        return result
    from hivedruid.actions.tiering.reading import checked

    return checked(result, action.tiers, services)


def _run(action: SelectAction, services: Services) -> Result:
    match action:
        case RunDruidQuery():
            return _run_druid_query(action, services)
        case RunSparkJob():
            return _run_spark_job(action, services)
        case EvaluateLocally():
            return _evaluate_locally(action, services)
        case AnswerRows():
            return _result(action.columns, iter(action.rows))
        case AskValues():
            raise PlanError("the values that the statement is planned with were not queried first")
        case _:
            assert_never(action)


def values(action: AskValues, services: Services) -> dict[str, Sequence[Any]]:
    """The row of each query, by its key."""
    rows = services.druid().each([partial(one_row, ask.read, action.zone) for ask in action.asks])
    return {ask.key: row for ask, row in zip(action.asks, rows, strict=True)}


def one_row(read: DruidRead, zone: str, druid: DruidEngine) -> Sequence[Any]:
    from hivedruid.plan.decode import decode_rows

    row, *_ = decode_rows(druid.rows(read), read.fields, zone)
    return row


def _run_druid_query(action: RunDruidQuery, services: Services) -> Result:
    from hivedruid.plan.decode import decode_rows

    if action.scan is None:
        rows = services.druid().rows(action.read)
    else:
        from hivedruid.actions.select.segment_rows import rows_of_files

        rows = rows_of_files(action.read, action.scan, services)
    return _result(action.columns, decode_rows(begun(rows), action.read.fields, action.zone))


def _run_spark_job(action: RunSparkJob, services: Services) -> Result:
    from hivedruid.plan.literals import rows_in_zone

    rows = begun(services.spark().rows(reduced(action.job, services)))
    return _result(action.job.columns, rows_in_zone(rows, services.zone()))


def _result(columns: tuple[ResultColumn, ...], rows: Iterator[tuple[Any, ...]]) -> Result:
    return Result(columns, padded([c.type for c in columns], rows))


def _evaluate_locally(action: EvaluateLocally, services: Services) -> Result:
    """Compute the whole result before any of it is returned, so that Spark can still take over."""
    rows = local_rows(action.plan, services)
    if rows is None:
        return _run_spark_job(RunSparkJob(action.job), services)
    return _result(action.plan.columns, iter(rows))


def local_rows(plan: LocalPlan, services: Services) -> Rows | None:
    """All rows of a plan for local evaluation; None if only Spark can compute them."""
    from hivedruid.evaluation.exactness import Unsure
    from hivedruid.evaluation.local import evaluated

    try:
        return evaluated(plan, _of_files(plan, services) | _of_druid(plan, services))
    except Unsure:
        return None


def _of_files(plan: LocalPlan, services: Services) -> dict[str, Rows]:
    if not plan.files:
        return {}
    from hivedruid.actions.select.file_rows import rows_in_files

    return {item.view: rows_in_files(item.rows, plan.most, services.settings) for item in plan.files}


def _of_druid(plan: LocalPlan, services: Services) -> dict[str, Rows]:
    queried: Queried = []
    reads = [reduced_read(item.read, item.reducers, queried, services) for item in plan.inputs]
    rows = services.druid().each([partial(_fetched, read, plan.most) for read in reads])
    return {item.view: each for item, each in zip(plan.inputs, rows, strict=True)}


def _fetched(read: DruidRead, most: int, druid: DruidEngine) -> Rows:
    from hivedruid.evaluation.exactness import Unsure
    from hivedruid.plan.decode import UnreadableValueError, decode_rows

    try:
        rows = list(islice(decode_rows(druid.rows(read), read.fields, "UTC"), most + 1))
    except UnreadableValueError as error:
        raise Unsure(error.message) from error
    if len(rows) > most:
        raise Unsure(f"a native query returned more than {most} rows")
    return rows
