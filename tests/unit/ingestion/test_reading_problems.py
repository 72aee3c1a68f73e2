"""SHOW PROBLEMS: what ingestions read, the services of a local cluster, and the table of the documentation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hivedruid.catalog.ingestions import LastSpec
from hivedruid.ingestion.model import (
    EndedTask,
    FeedOffsets,
    RowCounts,
    Slots,
    SupervisorError,
    UnparseableRecord,
)
from hivedruid.ingestion.overview import Ingestion, Unreachable
from hivedruid.ingestion.problem_kinds import PROBLEMS
from hivedruid.ingestion.repairs import Problem, local_start, pasted, with_check
from tests.unit.ingestion.world import ago, look, only, running, supervisor, table, task, with_status


def lagging(lag: int, per_second: float, written: int = 0, **changes: Any) -> Ingestion:
    """`written` records have arrived since the supervisor's poll 20 s ago."""
    one = with_status(running(**changes), total_lag=lag)
    offsets = FeedOffsets("edits", {0: 0, 1: 0}, {0: 100 + written, 1: 90})
    return replace(one, counts=RowCounts(190, per_second=per_second), offsets=offsets)


def test_a_lag_that_takes_long() -> None:
    problem = only(lagging(5000, 10.0))
    assert (problem.problem, problem.cause) == (
        "lag",
        "the tasks read 10.0 rows/s, 0.0 are written; every partition of edits already has its own task",
    )
    assert problem.evidence == "5000 unread record(s), 500 s of work"


def test_a_lag_that_grows() -> None:
    problem = only(lagging(5000, 10.0, written=1000))
    assert (problem.problem, problem.cause) == (
        "growing lag",
        "the tasks read 10.0 rows/s, 50.0 are written; every partition of edits already has its own task",
    )


def test_more_tasks_help_as_long_as_there_are_partitions() -> None:
    one = lagging(5000, 10.0, supervisor=supervisor(table(), taskCount=1))
    assert only(one).repair == "ALTER TABLE default.wiki SET TBLPROPERTIES ('druid.kafka.ingestion.taskCount' = '2')"
    problem = only(lagging(5000, 10.0))
    assert problem.cause.endswith("; every partition of edits already has its own task")
    assert problem.repair == "SHOW TASKS FOR default.wiki"


def test_reading_that_stands_still() -> None:
    problem = only(lagging(5, 0.0))
    assert (problem.problem, problem.repair) == ("reading stalled", "SHOW TASKS FOR default.wiki")


def test_a_lag_that_is_soon_read_is_no_problem() -> None:
    assert look(lagging(2999, 10.0, written=1000)) == ()
    young = (task(2, created=ago(minutes=1)), task(1, created=ago(minutes=1)))
    assert look(lagging(5000, 0.0, tasks=young)) == ()  # it has just begun


def test_records_that_cannot_be_parsed() -> None:
    bad = running(
        counts=RowCounts(950, unparseable=40, processed_with_error=10, per_second=1.0, worst=task(1).id),
        parse_errors=(UnparseableRecord("bad{", "Unable to parse row [bad{] (Record: 1)"),),
    )
    problem = only(bad)
    assert (problem.problem, problem.cause) == ("parse errors", "Unable to parse row [bad{] (Record: 1)")
    assert problem.evidence == (
        "50 of 1000 record(s) read by the running tasks; 10 of them kept: a number that Druid cannot parse is NULL; without"
        " rollup, conditions, groups and aggregates may read 0 until its task writes it to disk"
    )
    dropped = replace(bad, counts=RowCounts(960, unparseable=40, per_second=1.0, worst=task(1).id))
    assert only(dropped).evidence == "40 of 1000 record(s) read by the running tasks"
    assert problem.repair == f"SHOW TASK '{task(1).id}'"
    assert only(replace(bad, parse_errors=())).cause == "Druid saves none of them (maxSavedParseExceptions)"


def test_records_that_tasks_could_not_parse_which_have_ended() -> None:
    """A task takes its numbers with it; the report that it leaves does not change."""

    def ended(number: int, counts: RowCounts, *inputs: str) -> EndedTask:
        errors = tuple(UnparseableRecord(text, f"Unable to parse row [{text}] (Record: 1)") for text in inputs)
        return EndedTask(task(number, state="SUCCESS"), counts, errors)

    past = (ended(7, RowCounts(8, unparseable=2), "bad{", "worse{"), ended(6, RowCounts(90, unparseable=10), "bad["))
    problem = only(running(counts=RowCounts(5, per_second=1.0), ended=past))
    assert problem.cause == "Unable to parse row [bad{] (Record: 1)"
    assert problem.evidence == "0 of 5 record(s) read by the running tasks; 12 of 110 by the last 2 task(s) that ended"
    assert problem.repair == f"SHOW TASK '{past[1].task.id}'"
    now = running(counts=RowCounts(4, unparseable=1, worst=task(1).id), ended=past)
    assert only(now).evidence.startswith("1 of 5 record(s) read by the running tasks; 12 of 110 by")
    assert only(now).repair == f"SHOW TASK '{task(1).id}'"


def test_long_messages_and_secrets_in_records() -> None:
    record = '{"password": "canary", "text": "' + "x" * 1000
    bad = running(
        counts=RowCounts(0, 1, worst=task(1).id), parse_errors=(UnparseableRecord(record, "Unable to parse"),)
    )
    cause = only(bad).cause
    assert "canary" not in cause
    assert len(cause) == 200


# --- health ------------------------------------------------------------------------------------------------------


def test_an_unhealthy_supervisor_says_why() -> None:
    ill = replace(
        supervisor(table(), "UNHEALTHY_SUPERVISOR"), healthy=False, detailed_state="UNABLE_TO_CONNECT_TO_STREAM"
    )
    one = with_status(
        running(supervisor=ill), errors=(SupervisorError(ago(minutes=1), "Failed to construct consumer"),)
    )
    problem = only(one)
    assert (problem.problem, problem.cause) == ("unhealthy", "Failed to construct consumer")
    assert problem.repair == "SHOW TASKS FOR default.wiki"
    assert only(replace(one, topic_problem="no topic")).problem == "topic not found"  # which is more specific
    both = look(replace(one, pending="START"))
    assert [problem.problem for problem in both] == ["interrupted", "unhealthy"]


def test_a_supervisor_that_never_begins() -> None:
    """Its spec has a variable that the overlord does not have; the one before worked."""
    wiki = table()
    provider = {"type": "environment", "variables": {"sasl.jaas.config": "KAFKA_JAAS"}}
    consumer = {"bootstrap.servers": "kafka:9092", "druid.dynamic.config.provider": provider}
    stuck = supervisor(wiki, "PENDING", consumerProperties=consumer)
    null = SupervisorError(ago(seconds=3), "java.lang.NullPointerException")
    one = with_status(running(supervisor=stuck, tasks=(), last=LastSpec({}, {}, is_worse=True)), errors=(null,))
    problem = only(one)
    assert (problem.problem, problem.repair) == ("unhealthy", "ALTER TABLE default.wiki ROLLBACK INGESTION")
    assert problem.cause.endswith("Druid's overlord may not have the environment variable(s) KAFKA_JAAS")
    worked = only(replace(one, last=LastSpec({})))
    assert worked.repair == "SHOW TASKS FOR default.wiki"
    without = replace(stuck, spec=supervisor(wiki).spec)
    assert only(replace(one, supervisor=without)).cause == "java.lang.NullPointerException"


def test_a_supervisor_without_its_kafka_is_one_problem() -> None:
    stuck = replace(supervisor(table()), detailed_state="CONNECTING_TO_STREAM")
    one = with_status(
        running(tasks=(), supervisor=stuck), errors=(SupervisorError(ago(seconds=10), "Timeout expired"),)
    )
    brokers = stuck.io_config["consumerProperties"]["bootstrap.servers"]
    away = Unreachable(f"Kafka at {brokers}", "cannot reach Kafka", "check that it is running")
    assert [each.problem for each in look(one, unreachable=(away,))] == ["unreachable"]
    elsewhere = replace(away, service="Kafka at elsewhere:9092")
    assert [each.problem for each in look(one, unreachable=(elsewhere,))] == ["unreachable", "unhealthy"]
    reading = replace(one, supervisor=replace(stuck, detailed_state="RUNNING"))  # Druid's hosts do reach it
    assert [each.problem for each in look(reading, unreachable=(away,))] == ["unreachable", "unhealthy"]


def test_repairs_end_as_the_prompt_requires() -> None:
    def repair(text: str) -> str:
        return pasted(Problem("t", "unhealthy", "", "", text)).repair

    assert repair("SHOW TASKS FOR t") == "SHOW TASKS FOR t;"
    assert repair("START INGESTION t; SUSPEND INGESTION t") == "START INGESTION t; SUSPEND INGESTION t;"
    assert repair("-- $ hivedruid local up") == "-- $ hivedruid local up"


def test_an_unreachable_kafka_elsewhere_is_checked_by_a_command() -> None:
    away = Problem("Kafka at k:9092", "unreachable", "refused", "read by default.t", "-- check that it is running")
    found = with_check(away, "hivedruid doctor")
    assert (found.cause, found.repair) == ("refused; check that it is running", "-- $ hivedruid doctor")
    local = replace(away, repair="-- $ hivedruid local up")
    druid = replace(away, subject="Druid's overlord")
    assert [with_check(each, "hivedruid doctor") for each in (local, druid)] == [local, druid]


def test_a_supervisor_that_counts_as_healthy_and_makes_no_task() -> None:
    stuck = with_status(running(tasks=()), errors=(SupervisorError(ago(seconds=10), "it broke"),))
    assert only(stuck).problem == "unhealthy"
    lost = running(supervisor=replace(supervisor(table()), detailed_state="LOST_CONTACT_WITH_STREAM"))
    assert only(lost).cause == "the supervisor gives no reason"


def test_services_come_first_then_ingestions_in_order() -> None:
    away = Unreachable("Kafka at kafka:9092", "connection refused")
    found = look(Ingestion(table("b"), started=True), Ingestion(table("a"), started=True), unreachable=(away,))
    assert [problem.subject for problem in found] == ["Kafka at kafka:9092", "default.b", "default.a"]


def test_the_documentation_has_every_problem() -> None:
    text = (Path(__file__).parents[3] / "docs" / "kafka.md").read_text(encoding="utf-8")
    table_ = text.split("| problem | condition |\n|---|---|\n")[1].split("\n\n")[0]
    assert table_.splitlines() == [f"| {names} | {condition} |" for names, condition in PROBLEMS.items()]


def test_services_of_the_local_cluster_are_started_by_a_command() -> None:
    """Those of others are not."""
    away = Unreachable("Kafka at 127.0.0.1:9", "cannot reach Kafka at 127.0.0.1:9 from this machine")
    listed = (*look(running(), unreachable=(away,)), *look(running(tasks=()), slots=Slots(0, 0)))
    command = "hivedruid local up --home /h"
    repairs = [local_start(each, {"kafka": "127.0.0.1:9"}, command).repair for each in listed]
    assert repairs[0] == "-- $ hivedruid local up --home /h"
    assert [local_start(each, {"kafka": "127.0.0.1:8"}, command) for each in listed] == list(listed)
    (workers,) = (each for each in listed if each.problem == "no workers")
    assert local_start(workers, {"indexer": "127.0.0.1:7"}, command).repair == repairs[0]
