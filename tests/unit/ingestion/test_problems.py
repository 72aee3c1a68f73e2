"""SHOW PROBLEMS: each rule, its condition, near misses, and the statement that repairs it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

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
)
from hivedruid.ingestion.overview import Ingestion, Unreachable
from hivedruid.ingestion.repairs import Problem
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID, OWNER_TABLE
from hivedruid.ingestion.times import UnlikelyTimes
from tests.unit.ingestion.world import HOME, NOW, ago, look, only, running, supervisor, table, task, with_status


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
        ("ALTER", "SUSPENDED", "START INGESTION default.wiki; SUSPEND INGESTION default.wiki"),
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
    wiki = replace(table(), properties={**table().properties, "druid.transformSpec": json.dumps(spec)})
    problem = only(running(table=wiki, supervisor=transformed(transforms=spec)))
    assert (problem.problem, problem.evidence) == ("invalid expression", "transformSpec.transforms[0].expression")
    assert problem.cause.startswith("cannot read in expression [x = 3] at position 3, near '= 3'; Druid drops what")
    assert problem.cause.endswith("(write ==)")
    again = "RESET INGESTION default.wiki TO EARLIEST"
    assert problem.repair == f"ALTER TABLE default.wiki UNSET TBLPROPERTIES ('druid.transformSpec'); {again}"
    good = {"type": "expression", "name": "w", "expression": "x == 3"}
    mixed = {"transforms": [*spec["transforms"], good], "filter": {"type": "expression", "expression": "x > 3"}}  # type: ignore[misc]
    wiki = replace(wiki, properties={**wiki.properties, "druid.transformSpec": json.dumps(mixed)})
    kept = json.dumps({"transforms": [good], "filter": mixed["filter"]})
    assert only(running(table=wiki, supervisor=transformed(transforms=mixed))).repair == (
        f"ALTER TABLE default.wiki SET TBLPROPERTIES ('druid.transformSpec' = '{kept}'); {again}"
    )
    posted = only(running(supervisor=transformed(transforms=spec)))  # the table has no such transform
    assert posted.repair == "START INGESTION default.wiki"


FAULTY, GOOD = ({"type": "expression", "name": "v", "expression": text} for text in ("x = 3", "x == 3"))


@pytest.mark.parametrize(
    ("key", "given", "change"),
    [
        (".filter", FAULTY, "UNSET TBLPROPERTIES (KEY)"),
        (".transforms", [FAULTY], "UNSET TBLPROPERTIES (KEY)"),
        (".transforms", [FAULTY, GOOD], f"SET TBLPROPERTIES (KEY = '{json.dumps([GOOD])}')"),
        ("", {"filter": FAULTY, "transforms": [GOOD]}, f"SET TBLPROPERTIES (KEY = '{json.dumps({'transforms': [GOOD]})}')"),
    ],
)  # fmt: skip
def test_a_misread_expression_of_an_adopted_spec(key: str, given: Any, change: str) -> None:
    """It has a path in the table; the supervisor is that of another program until START submits the table's spec."""
    name = f"druid.spec.dataSchema.transformSpec{key}"
    spec = {key[1:]: given} if key else given
    wiki = replace(table(), properties={**table().properties, name: json.dumps(given)})
    one = running(table=wiki, supervisor=transformed(transforms=spec), started=False)
    steps = (
        f"ALTER TABLE default.wiki {change.replace('KEY', repr(name))}",
        "START INGESTION default.wiki",
        "RESET INGESTION default.wiki TO EARLIEST",
    )
    assert [each.repair for each in look(one) if each.problem == "invalid expression"] == ["; ".join(steps)]


@pytest.mark.parametrize(
    ("spec", "cause", "repair"),
    [
        (
            {"transforms": {"filter": {"type": "expression", "expression": "v == 3"}}},
            "the filter of its transformSpec removes them: {",
            "START INGESTION default.wiki",
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
    rest = look(replace(one, counts=RowCounts(1, thrown_away=190, per_second=10.0)))
    assert [problem.problem for problem in rest] == ([] if "transforms" in spec else ["records thrown away"])


def test_records_whose_times_are_rejected() -> None:
    """Druid 36 counts them by reason; a filter removes records on purpose."""
    late = supervisor(table(), taskCount=2, lateMessageRejectionPeriod="PT1H", earlyMessageRejectionPeriod="PT1H")
    reasons = {"beforeMinimumMessageTime": 12, "afterMaximumMessageTime": 0, "filtered": 3}
    counts = RowCounts(100, thrown_away=15, per_second=10.0, thrown_by_reason=reasons)
    assert only(running(supervisor=late, counts=counts)) == Problem(
        "default.wiki", "records thrown away",
        "their times are outside of lateMessageRejectionPeriod and earlyMessageRejectionPeriod",
        "15 record(s) read by the running tasks, beside 100 that were kept; 12 before the minimum time, 3 by the filter",
        "ALTER TABLE default.wiki UNSET TBLPROPERTIES ('druid.kafka.ingestion.lateMessageRejectionPeriod',"
        " 'druid.kafka.ingestion.earlyMessageRejectionPeriod')",
    )  # fmt: skip
    filtered = replace(counts, thrown_by_reason={"filtered": 15, "beforeMinimumMessageTime": 0})
    assert look(running(supervisor=late, counts=filtered)) == ()


def test_times_that_are_read_in_another_unit() -> None:
    seconds = [1_760_000_000, 1_768_000_000]
    problem = only(running(unlikely=UnlikelyTimes.of(seconds, NOW)))
    assert (problem.problem, problem.evidence) == (
        "unlikely times", "2 row(s): 2 in 1970, from 1970-01-21T08:53:20.000Z to 1970-01-21T11:06:40.000Z",
    )  # fmt: skip
    assert problem.cause.endswith("is read as 'auto', and has probably the format 'posix'")
    assert problem.repair == (
        "SUSPEND INGESTION default.wiki;"
        " ALTER TABLE default.wiki SET TBLPROPERTIES ('druid.timestamp.format' = 'posix');"
        " ALTER TABLE default.wiki DROP PARTITION (__time < '1971-01-01');"
        " RESET INGESTION default.wiki TO EARLIEST; RESUME INGESTION default.wiki"
    )
    ahead = only(running(unlikely=UnlikelyTimes.of([1_768_000_000_000_000], NOW)))
    assert "DROP PARTITION (__time >= '2028-01-01')" in ahead.repair
    unknown = only(running(unlikely=UnlikelyTimes.of([5], NOW)))
    assert unknown.repair == "SELECT * FROM default.wiki WHERE `__time` < '1971-01-01' LIMIT 10"


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
    assert problem.repair == "STOP INGESTION default.wiki"
    assert only(running(offsets=None, topic_problem="gone", similar="edit")) == Problem(
        "default.wiki", "topic not found", "gone: did you mean 'edit'?", "topic edits",
        "ALTER TABLE default.wiki SET TBLPROPERTIES ('kafka.topic' = 'edit')",
    )  # fmt: skip


def test_a_topic_to_which_nothing_was_written() -> None:
    """One whose records have expired does not end at 0."""
    unwritten = FeedOffsets("edits", {0: 0, 1: 0}, {0: 0, 1: 0})
    none_read = with_status(running(offsets=unwritten), active=())
    assert only(none_read) == Problem(
        "default.wiki", "empty topic", "nothing was ever written to topic edits", "2 partition(s), all end at offset 0",
        "STOP INGESTION default.wiki",
    )  # fmt: skip
    misspelt = only(replace(none_read, similar="edit"))
    assert misspelt.cause == "nothing was ever written to topic edits: did you mean 'edit'?"
    assert misspelt.repair == "ALTER TABLE default.wiki SET TBLPROPERTIES ('kafka.topic' = 'edit')"
    assert look(replace(none_read, supervisor=supervisor(table(), "SUSPENDED"))) == ()
    expired = FeedOffsets("edits", {0: 100, 1: 90}, {0: 100, 1: 90})
    assert look(running(offsets=expired)) == ()


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
