"""SHOW PROBLEMS: each rule, its condition, near misses, and the statement that repairs it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivedruid import parser
from hivedruid.ingestion.compare import Difference
from hivedruid.ingestion.model import (
    FeedOffsets,
    ReadingTask,
    RowCounts,
    Slots,
    Supervisor,
    SupervisorError,
    Task,
    TopicOffsets,
    TopicPartition,
    UnparseableRecord,
)
from hivedruid.ingestion.overview import Ingestion, Overview, Unreachable
from hivedruid.ingestion.problems import Problem, problems
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID, OWNER_TABLE
from hivedruid.script import SourceStatement
from tests.unit.ingestion.world import HOME, NOW, ago, running, supervisor, table, task, with_status


def look(*ingestions: Ingestion, **given: Any) -> tuple[Problem, ...]:
    """The problems; every repair is a statement that can be parsed, or a comment."""
    tasks = tuple(task for one in ingestions for task in one.tasks)
    found = problems(Overview(NOW, HOME, ingestions, **{"tasks": tasks, **given}))
    for problem in found:
        assert problem.repair.startswith("-- ") or parser.parse(SourceStatement(problem.repair))
    return found


def only(*ingestions: Ingestion, **given: Any) -> Problem:
    (problem,) = look(*ingestions, **given)
    return problem


def test_nothing_where_all_is_well() -> None:
    suspended = Ingestion(table("s"), supervisor(table("s"), "SUSPENDED"), started=True)
    stopped = Ingestion(table("never_started"))
    assert look() == ()
    assert look(running(), suspended, stopped, slots=Slots(4, 2)) == ()


# --- services ----------------------------------------------------------------------------------------------------


def test_a_service_that_does_not_answer() -> None:
    away = Unreachable("Druid's coordinator", "cannot reach it: connection refused", "run hivedruid local up")
    assert only(running(), unreachable=(away,)) == Problem(
        "Druid's coordinator",
        "unreachable",
        "cannot reach it: connection refused",
        "",
        "-- run hivedruid local up",
    )


def test_without_the_overlord_nothing_is_said_of_supervisors() -> None:
    away = Unreachable("Druid's overlord", "cannot reach it")
    found = look(Ingestion(table(), started=True), unreachable=(away,), has_supervisors=False)
    assert [problem.problem for problem in found] == ["unreachable"]


def test_no_workers() -> None:
    one = running(tasks=(task(1, "PENDING"),))
    assert only(one, slots=Slots(0, 0)).problem == "no workers"
    assert look(slots=Slots(0, 0)) == ()  # none is needed


def test_segments_that_are_not_loaded() -> None:
    problem = only(running(), unavailable={"default.wiki": 3, "fine": 0})
    assert (problem.subject, problem.problem) == ("default.wiki", "segments unavailable")
    assert problem.evidence == "3 segment(s) of default.wiki cannot be queried"
    assert only(unavailable={"other": 1}).subject == "other"


def test_segments_that_were_just_handed_off_are_on_their_way() -> None:
    done = task(0, "SUCCESS", created=ago(minutes=61), duration=3_600_000)
    assert look(running(tasks=(task(1), done)), unavailable={"default.wiki": 1}) == ()
    long_done = replace(done, created=ago(minutes=65))
    assert only(running(tasks=(task(1), long_done)), unavailable={"default.wiki": 1}).problem == "segments unavailable"
    publishing = with_status(running(), publishing=(ReadingTask("x"),))
    assert look(publishing, unavailable={"default.wiki": 1}) == ()


# --- who runs ----------------------------------------------------------------------------------------------------


def test_a_table_that_was_started_and_does_not_run() -> None:
    problem = only(Ingestion(table(), started=True))
    assert (problem.subject, problem.problem) == ("default.wiki", "not running")
    assert problem.repair == "START INGESTION default.wiki"


@pytest.mark.parametrize(
    ("verb", "state", "repair"),
    [
        ("SUSPEND", "RUNNING", "SUSPEND INGESTION default.wiki"),
        ("ALTER", "RUNNING", "START INGESTION default.wiki"),
        ("ALTER", "SUSPENDED", "-- rerun ALTER TABLE"),
        ("DROP", "RUNNING", "DROP TABLE default.wiki"),
    ],
)
def test_a_verb_that_was_interrupted(verb: str, state: str, repair: str) -> None:
    problem = only(running(pending=verb, supervisor=supervisor(table(), state)))
    assert (problem.problem, problem.repair) == ("interrupted", repair)


def test_a_verb_that_a_process_runs_now_is_no_problem() -> None:
    assert look(running(pending="SUSPEND", is_changing=True)) == ()
    assert look(Ingestion(table(), pending="START", is_changing=True, started=True)) == ()


def test_a_start_that_was_interrupted_is_not_told_twice() -> None:
    assert only(Ingestion(table(), pending="START", started=True)).problem == "interrupted"


def test_names_that_need_quotes_get_them() -> None:
    assert only(Ingestion(table("1st_day"), started=True)).repair == "START INGESTION default.`1st_day`"


def test_a_supervisor_that_nobody_started_is_adopted_by_a_table() -> None:
    problem = only(running(table=None, supervisor=supervisor("Their's"), started=False))
    assert (problem.subject, problem.problem) == ("Their's", "no table")
    assert problem.repair == r"CREATE EXTERNAL TABLE `their_s` FROM SUPERVISOR 'Their\'s'"


def test_a_supervisor_of_another_stream_is_not_adopted() -> None:
    kinesis = replace(supervisor("theirs"), type="kinesis")
    assert only(running(table=None, supervisor=kinesis, started=False)).repair.startswith("-- ")


def test_offsets_of_several_topics_are_compared_by_topic() -> None:
    a, b = TopicPartition("a", 0), TopicPartition("b", 0)
    topics = TopicOffsets("a", {0: 0}, {0: 100}), TopicOffsets("b", {0: 150}, {0: 200})
    one = with_status(running(), active=(ReadingTask(task(1).id, {a: 0, b: 0}, {a: 100, b: 120}),))
    problem = only(replace(one, tasks=(task(1),), offsets=FeedOffsets.of_pattern("[ab]", topics)))
    assert (problem.problem, problem.evidence) == ("offsets expired", "partition b:0: 30 record(s) from offset 120")


def transformed(**spec: Any) -> Supervisor:
    """The supervisor of `wiki` with a transformSpec, or with other keys of the ioConfig."""
    found = supervisor(table(), **{key: item for key, item in spec.items() if key != "transforms"})
    inner = {
        **found.spec["spec"],
        "dataSchema": {"dataSource": "default.wiki", "transformSpec": spec.get("transforms")},
    }
    return replace(found, spec={**found.spec, "spec": inner})


def test_expressions_of_others_that_druid_misreads() -> None:
    spec = {"transforms": [{"type": "expression", "name": "v", "expression": "x = 3"}], "filter": None}
    problem = only(running(supervisor=transformed(transforms=spec)))
    assert (problem.problem, problem.evidence) == ("invalid expression", "transformSpec.transforms[0].expression")
    assert problem.cause.startswith("cannot read in expression [x = 3] at position 3, near '= 3'; Druid drops what")
    assert problem.cause.endswith("(write ==)")
    assert problem.repair.startswith(
        "-- ALTER TABLE default.wiki SET TBLPROPERTIES ('druid.transformSpec' = …), then R"
    )


@pytest.mark.parametrize(
    ("spec", "cause", "repair"),
    [
        (
            {"transforms": {"filter": {"type": "expression", "expression": "v == 3"}}},
            "the filter of its transformSpec removes them: {",
            "-- ALTER TABLE default.wiki SET TBLPROPERTIES ('druid.transformSpec' = …), then RESET INGESTION",
        ),
        (
            {"lateMessageRejectionPeriod": "PT1H"},
            "their times are outside of lateMessageRejectionPeriod",
            "ALTER TABLE default.wiki UNSET TBLPROPERTIES ('druid.kafka.ingestion.lateMessageRejectionPeriod')",
        ),
    ],
)
def test_all_records_are_thrown_away(spec: dict[str, Any], cause: str, repair: str) -> None:
    one = running(supervisor=transformed(**spec), counts=RowCounts(0, thrown_away=190, per_second=10.0))
    problem = only(one)
    assert (problem.problem, problem.evidence) == (
        "all records thrown away", "190 record(s) read by the running tasks, none of them kept"
    )  # fmt: skip
    assert problem.cause.startswith(cause)
    assert problem.repair.startswith(repair)
    assert not list(
        problems(Overview(NOW, HOME, (replace(one, counts=RowCounts(1, thrown_away=190, per_second=10.0)),)))
    )


def test_a_supervisor_whose_table_was_dropped() -> None:
    assert only(running(table=None)).cause == "its table default.wiki was dropped, or no longer ingests from Kafka"
    unfed = replace(table(), properties={})
    assert (
        only(running(table=unfed, started=False)).cause
        == "its table default.wiki was dropped, or no longer ingests from Kafka"
    )


def test_what_other_homes_run_is_theirs() -> None:
    foreign = {OWNER_TABLE: "default.t", OWNER_ID: "elsewhere", OWNER_HOME: "you@there:/home"}
    theirs = supervisor("t")
    theirs = replace(theirs, spec={**theirs.spec, "context": foreign})
    assert look(Ingestion(None, theirs)) == ()
    assert look(Ingestion(replace(table(), properties={"druid.datasource": "t"}), theirs)) == ()


def test_two_tables_want_one_supervisor() -> None:
    problem = only(running(supervisor=supervisor(table("other"))))
    assert (problem.problem, problem.cause) == (
        "owned by another table",
        f"it was started by table default.other of {HOME}",
    )


def test_another_spec_runs_and_secrets_stay_secret() -> None:
    found = (
        Difference("ioConfig.taskCount", 2, 1),
        Difference("ioConfig.consumerProperties.ssl.key.password", "canary1", "canary2"),
    )
    problem = only(running(differences=found))
    assert problem.problem == "spec differs"
    assert problem.evidence.startswith("ioConfig.taskCount: the supervisor has 1, the table 2, ")
    assert "canary" not in str(problem)
    assert problem.repair == "START INGESTION default.wiki"
    unsigned = replace(supervisor(table()), spec={**supervisor(table()).spec, "context": {}})
    problem = only(running(differences=(Difference("ioConfig.useEarliestOffset", None, True),), supervisor=unsigned))
    assert problem.evidence == "ioConfig.useEarliestOffset: the supervisor has true, the table nothing"
    assert problem.repair == "EXPLAIN START INGESTION default.wiki"


# --- tasks -------------------------------------------------------------------------------------------------------


def failed(number: int, minutes: float, error: str = "it broke") -> Task:
    return task(number, "FAILED", created=ago(minutes=minutes), error=error)


def test_tasks_that_fail() -> None:
    problem = only(running(tasks=(task(3, created=ago(minutes=0.5)), failed(2, 1), task(1, "SUCCESS"))))
    assert (problem.problem, problem.cause) == ("tasks failing", "it broke")
    assert problem.evidence.startswith("1 of 3 task(s) of the last 10 minutes failed")
    assert problem.repair == f"SHOW TASK '{failed(2, 1).id}'"


def test_tasks_that_fail_again_and_again() -> None:
    problem = only(running(tasks=(failed(2, 1), failed(1, 2))))
    assert problem.problem == "tasks failing and restarting"


@pytest.mark.parametrize("better", [task(9, created=ago(minutes=2)), task(9, "SUCCESS", created=ago(minutes=0.1))])
def test_failures_are_over_when_a_later_task_does_well(better: Task) -> None:
    assert look(running(tasks=(better, failed(1, 3)))) == ()


def test_failures_of_long_ago_and_tasks_that_were_killed_are_no_problem() -> None:
    killed = failed(2, 1, "Shutdown request from user")
    assert look(running(tasks=(task(3, created=ago(minutes=0.5)), killed, failed(1, 11)))) == ()


def test_a_suspended_supervisor_starts_nothing_again() -> None:
    suspended = Ingestion(table(), supervisor(table(), "SUSPENDED"), (failed(1, 1),), started=True)
    assert look(suspended) == ()


def test_tasks_without_a_slot() -> None:
    one = running(tasks=(task(2, "PENDING", created=ago(seconds=5)), task(1)))
    problem = only(one, slots=Slots(4, 4))
    assert (problem.problem, problem.repair) == ("no free slots", "SHOW TASKS WHERE STATE = 'RUNNING'")
    assert problem.cause == "all 4 task slots of Druid are in use"
    assert look(one, slots=Slots(4, 3)) == ()  # it will begin soon


def test_tasks_that_wait_though_slots_are_free() -> None:
    waiting = (task(2, "PENDING", created=ago(minutes=1)), task(1))
    problem = only(running(tasks=waiting, supervisor=supervisor(table(), replicas=2, taskCount=2)), slots=Slots(4, 3))
    assert problem.cause == "replicas do not share a worker: 2 replicas need 2 workers"
    assert problem.repair == "ALTER TABLE default.wiki SET TBLPROPERTIES ('druid.kafka.ingestion.replicas' = '1')"
    assert only(running(tasks=waiting), slots=Slots(4, 3)).repair == "SHOW TASKS FOR default.wiki"


# --- Kafka -------------------------------------------------------------------------------------------------------


def test_the_topic_is_gone() -> None:
    problem = only(running(offsets=None, topic_problem="topic 'edits' does not exist in Kafka at kafka:9092"))
    assert (problem.problem, problem.cause) == (
        "topic not found",
        "topic 'edits' does not exist in Kafka at kafka:9092",
    )


def test_offsets_that_retention_has_deleted() -> None:
    problem = only(running(offsets=FeedOffsets("edits", {0: 120, 1: 0}, {0: 200, 1: 90})))
    assert (problem.problem, problem.evidence) == ("offsets expired", "partition 0: 20 record(s) from offset 100")
    assert problem.repair == "RESET INGESTION default.wiki TO EARLIEST"


def test_offsets_that_a_supervisor_cannot_begin_at() -> None:
    """The supervisor's own error, as long as it has no tasks."""
    message = (
        "Previous sequenceNumber [100] is no longer available for partition [KafkaTopicPartition{partition=1, "
        "topic='null', multiTopicPartition=false}]. You can clear the previous sequenceNumber and start reading …"
    )
    idle = with_status(running(tasks=()), active=(), errors=(SupervisorError(ago(minutes=1), message),))
    problem = only(replace(idle, offsets=FeedOffsets("edits", {0: 0, 1: 150}, {0: 100, 1: 200})))
    assert (problem.problem, problem.evidence) == ("offsets expired", "partition 1: 50 record(s) from offset 100")
    again = replace(idle, tasks=(task(1),), offsets=FeedOffsets("edits", {0: 0, 1: 150}, {0: 100, 1: 200}))
    assert look(again) == ()  # it was reported before these tasks ran


def test_a_partition_that_was_added() -> None:
    """Until the following tasks read it; one without records is not a problem."""
    offsets = FeedOffsets("edits", {0: 0, 1: 0, 2: 5, 3: 9}, {0: 100, 1: 200, 2: 8, 3: 9})
    problem = only(running(offsets=offsets))
    assert (problem.problem, problem.evidence) == ("partitions not read yet", "partition 2: 3 record(s)")
    assert problem.repair == "HANDOFF INGESTION default.wiki"
    few = with_status(running(tasks=(task(1),)), active=())
    assert look(replace(few, offsets=offsets)) == ()


def test_a_topic_that_was_made_anew() -> None:
    problem = only(running(offsets=FeedOffsets("edits", {0: 0, 1: 0}, {0: 7, 1: 90})))
    assert (problem.problem, problem.evidence) == (
        "offsets beyond the end",
        "partition 0: next offset 100, end offset 7",
    )
    problem = only(running(offsets=FeedOffsets("edits", {0: 0}, {0: 100})))
    assert (problem.problem, problem.evidence) == ("partition not found", "partition(s) 1 were read, the topic has 0")


# --- reading -----------------------------------------------------------------------------------------------------


def lagging(lag: int, per_second: float, written: int = 0, **changes: Any) -> Ingestion:
    """`written` records have arrived since the supervisor's poll 20 s ago."""
    one = with_status(running(**changes), total_lag=lag)
    offsets = FeedOffsets("edits", {0: 0, 1: 0}, {0: 100 + written, 1: 90})
    return replace(one, counts=RowCounts(190, per_second=per_second), offsets=offsets)


def test_a_lag_that_takes_long() -> None:
    problem = only(lagging(5000, 10.0))
    assert (problem.problem, problem.cause) == ("lag", "the tasks read 10.0 rows/s, 0.0 are written")
    assert problem.evidence == "5000 unread record(s), 500 s of work"


def test_a_lag_that_grows() -> None:
    problem = only(lagging(5000, 10.0, written=1000))
    assert (problem.problem, problem.cause) == ("growing lag", "the tasks read 10.0 rows/s, 50.0 are written")


def test_more_tasks_help_as_long_as_there_are_partitions() -> None:
    one = lagging(5000, 10.0, supervisor=supervisor(table(), taskCount=1))
    assert only(one).repair == "ALTER TABLE default.wiki SET TBLPROPERTIES ('druid.kafka.ingestion.taskCount' = '2')"
    assert only(lagging(5000, 10.0)).repair.startswith("-- every partition of edits already has its own task")


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


def test_a_supervisor_that_counts_as_healthy_and_makes_no_task() -> None:
    stuck = with_status(running(tasks=()), errors=(SupervisorError(ago(seconds=10), "it broke"),))
    assert only(stuck).problem == "unhealthy"
    lost = running(supervisor=replace(supervisor(table()), detailed_state="LOST_CONTACT_WITH_STREAM"))
    assert only(lost).cause == "the supervisor gives no reason"


def test_services_come_first_then_ingestions_in_order() -> None:
    away = Unreachable("Kafka at kafka:9092", "connection refused")
    found = look(Ingestion(table("b"), started=True), Ingestion(table("a"), started=True), unreachable=(away,))
    assert [problem.subject for problem in found] == ["Kafka at kafka:9092", "default.b", "default.a"]
