"""The steps of each statement, by the present state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivedruid.catalog.properties import HEADER_FILTER, SUPERVISOR_ID, TOPIC_PATTERN
from hivedruid.catalog.table import Table
from hivedruid.druid.ingestion import CONCURRENT_LOCKS
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.druid.versions import DruidVersion
from hivedruid.errors import DruidError, HiveDruidError, KafkaError, SemanticError, UnsupportedError
from hivedruid.ingestion import lifecycle, owners
from hivedruid.ingestion.lifecycle import Await, IngestionChange, IngestionFacts
from hivedruid.ingestion.model import FeedOffsets, ReadingTask, Supervisor, SupervisorStatus, Task, Worker
from hivedruid.ingestion.owners import owned
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID, OWNER_TABLE, SUPERVISOR
from hivedruid.operations.changes import IngestionJob
from tests.support.jobs import a_change

TABLE = Table("default", "t", "druid", (), properties={"druid.datasource": "d/x"}, table_id="ours")
SPEC: dict[str, Any] = {"type": "kafka", "spec": {"dataSchema": {"dataSource": "d/x"}, "ioConfig": {"topic": "k"}}}
BASE = f"{SUPERVISOR}/d%2Fx"
NOTHING = IngestionFacts(home="here")
TASK = Task("a", "index_kafka", "d/x", "RUNNING", "2024")
RUNNING = replace(NOTHING, running=owned(SPEC, TABLE, "here"), tasks=(TASK,))
SUSPENDED = replace(NOTHING, running=owned(SPEC, TABLE, "here", suspended=True))
TOPIC = FeedOffsets("k", {0: 0, 1: 2}, {0: 10, 1: 20})


def steps(change: IngestionChange | None) -> list[str]:
    assert change is not None
    return [step.text for step in change.steps]


def test_start() -> None:
    assert steps(lifecycle.start(TABLE, SPEC, NOTHING)) == [f"POST {SUPERVISOR}", "wait until running"]
    assert steps(lifecycle.start(TABLE, SPEC, RUNNING)) == ["wait until running"]
    assert steps(lifecycle.start(TABLE, SPEC, SUSPENDED)) == [f"POST {BASE}/resume", "wait until running"]
    other = {**SPEC, "spec": {**SPEC["spec"], "ioConfig": {"topic": "other"}}}
    change = lifecycle.start(TABLE, other, SUSPENDED)
    assert steps(change) == [f"POST {SUPERVISOR}", "wait until running"]
    assert [item.path for item in change.differences] == ["ioConfig.topic"]
    assert change.spec is not None
    assert "suspended" not in change.spec
    assert change.spec["context"] == {
        CONCURRENT_LOCKS: True, OWNER_TABLE: "default.t", OWNER_ID: "ours", OWNER_HOME: "here",
    }  # fmt: skip


def test_tasks_that_failed_before_do_not_count() -> None:
    failed = replace(TASK, id="old", state="FAILED")
    change = lifecycle.start(TABLE, SPEC, replace(NOTHING, tasks=(TASK, failed)))
    assert change.steps[-1] == Await("running", ("a", "old"))
    change = lifecycle.start(TABLE, SPEC, replace(RUNNING, tasks=(TASK, failed)))
    assert change.steps == (Await("running", ("old",)),)  # that of the supervisor is used


def test_stop_suspends_first() -> None:
    suspended = [f"POST {BASE}/suspend", "wait until suspended", f"POST {BASE}/terminate", "wait until stopped"]
    assert steps(lifecycle.stop(TABLE, SPEC, RUNNING)) == suspended
    assert steps(lifecycle.stop(TABLE, SPEC, SUSPENDED)) == suspended[1:]
    assert steps(lifecycle.stop(TABLE, SPEC, NOTHING)) == []
    alone = replace(NOTHING, tasks=(TASK,))
    assert steps(lifecycle.stop(TABLE, SPEC, alone)) == [f"POST {SUPERVISOR}", *suspended[1:]]
    assert not lifecycle.stop(TABLE, SPEC, RUNNING).started


def test_purge_has_the_offsets_forgotten() -> None:
    made = lifecycle.purge(TABLE, SPEC, NOTHING).steps[0]
    assert isinstance(made, lifecycle.Request)
    assert made.body is not None
    assert made.body["suspended"] is True
    assert steps(lifecycle.purge(TABLE, SPEC, SUSPENDED))[1:] == [
        f"POST {BASE}/reset", f"POST {BASE}/terminate", "wait until stopped",
    ]  # fmt: skip


def test_suspend_resume_handoff_wait() -> None:
    assert steps(lifecycle.suspend(TABLE, RUNNING)) == [f"POST {BASE}/suspend", "wait until suspended"]
    assert steps(lifecycle.suspend(TABLE, SUSPENDED)) == ["wait until suspended"]
    assert steps(lifecycle.resume(TABLE, SUSPENDED)) == [f"POST {BASE}/resume", "wait until running"]
    assert steps(lifecycle.resume(TABLE, RUNNING)) == ["wait until running"]
    assert steps(lifecycle.handoff(TABLE, RUNNING)) == [
        f'POST {BASE}/taskGroups/handoff {{"taskGroupIds": [0]}}', "wait until handed off", "wait until running",
    ]  # fmt: skip
    assert steps(lifecycle.wait(TABLE, replace(RUNNING, topic=TOPIC))) == ["wait until read up to 0:10, 1:20"]


@pytest.mark.parametrize(
    ("verb", "facts", "kind", "message"),
    [
        (
            lifecycle.suspend,
            NOTHING,
            SemanticError,
            "cannot SUSPEND the ingestion of default.t: it has not been started",
        ),
        (lifecycle.resume, NOTHING, SemanticError, "not been started"),
        (lifecycle.handoff, SUSPENDED, SemanticError, "everything read so far is already handed off"),
        (lifecycle.wait, SUSPENDED, SemanticError, "suspended"),
        (lifecycle.wait, RUNNING, KafkaError, "offsets of its topic are unknown"),
    ],
)
def test_what_cannot_be(verb: Any, facts: IngestionFacts, kind: type[HiveDruidError], message: str) -> None:
    with pytest.raises(kind, match=message):
        verb(TABLE, facts)


def test_a_topic_that_does_not_exist_has_no_end_to_wait_for() -> None:
    gone = KafkaError("topic 'k' does not exist in Kafka at kafka:9092", hint="did you mean 'kk'?")
    with pytest.raises(KafkaError, match=r"default\.t: the offsets of its topic are unknown: topic 'k' does") as raised:
        lifecycle.wait(TABLE, replace(RUNNING, no_offsets=gone, has_no_topic=True))
    assert raised.value.hint == "did you mean 'kk'?"
    patterned = replace(TABLE, properties={**TABLE.properties, TOPIC_PATTERN: "k.*"})
    with pytest.raises(KafkaError, match=r"the offsets of the topics of 'k\.\*' are unknown: topic 'k' does not exist"):
        lifecycle.wait(patterned, replace(RUNNING, no_offsets=gone))


def test_another_tables_supervisor_is_left_alone() -> None:
    theirs = replace(RUNNING, running=owned(SPEC, replace(TABLE, table_id="theirs"), "ann@there:/home"))
    for verb in (lifecycle.suspend, lifecycle.resume, lifecycle.handoff):
        with pytest.raises(DruidError, match=r"belongs to table default\.t of ann@there:/home"):
            verb(TABLE, theirs)
    for change in (lifecycle.start, lifecycle.stop, lifecycle.purge):
        with pytest.raises(DruidError, match="belongs to"):
            change(TABLE, SPEC, theirs)
    unsigned = replace(RUNNING, running={**SPEC, "context": {CONCURRENT_LOCKS: True}})
    assert steps(lifecycle.start(TABLE, SPEC, unsigned)) == ["wait until running"]


def test_alter() -> None:
    other = {**SPEC, "spec": {**SPEC["spec"], "ioConfig": {"topic": "k", "taskCount": 2}}}
    assert lifecycle.alter(TABLE, other, NOTHING) is None
    assert lifecycle.alter(TABLE, SPEC, RUNNING) is None
    resubmitted = [
        f"POST {BASE}/suspend", "wait until suspended", f"POST {SUPERVISOR}", "wait until running",
    ]  # fmt: skip
    assert steps(lifecycle.alter(TABLE, other, RUNNING)) == resubmitted
    assert steps(lifecycle.start(TABLE, other, RUNNING)) == resubmitted
    renamed = {**SPEC, "spec": {**SPEC["spec"], "ioConfig": {"topic": "other"}}}
    assert steps(lifecycle.alter(TABLE, renamed, RUNNING, has_other_topic=True)) == [
        *resubmitted[:2], f"POST {BASE}/reset", *resubmitted[2:],
    ]  # fmt: skip
    assert steps(lifecycle.alter(TABLE, renamed, SUSPENDED, has_other_topic=True)) == [
        f"POST {BASE}/reset", f"POST {SUPERVISOR}",
    ]  # fmt: skip
    begun = replace(SUSPENDED, begun=a_change("ALTER", runs=True))
    assert steps(lifecycle.alter(TABLE, other, begun)) == resubmitted[2:]
    assert steps(lifecycle.alter(TABLE, SPEC, begun)) == resubmitted[2:]
    change = lifecycle.alter(TABLE, other, SUSPENDED)
    assert steps(change) == [f"POST {SUPERVISOR}"]
    assert change is not None
    assert change.spec is not None
    assert change.spec["suspended"] is True


STATUS = SupervisorStatus("RUNNING", "RUNNING", suspended=False, healthy=True, partitions=2)
READING = replace(STATUS, active=(ReadingTask("a", {0: 0, 1: 2}, {0: 4}),))


def test_reset_moves_offsets_of_a_suspended_supervisor() -> None:
    facts = replace(RUNNING, status=READING, topic=TOPIC)
    change = lifecycle.reset(TABLE, SPEC, facts, {0: 1, 1: 7}, asked="", forward_only=False)
    assert steps(change) == [
        f"POST {BASE}/suspend", "wait until suspended", f'POST {BASE}/resetOffsets {{"0": 1, "1": 7}}', f"POST {BASE}/resume",
        "wait until running",
    ]  # fmt: skip
    assert [(move.before, move.lost, move.repeated) for move in change.moves] == [(4, 0, 3), (2, 5, 0)]
    assert change.needs_consent
    assert not lifecycle.reset(TABLE, SPEC, facts, {0: 4}, asked="", forward_only=False).needs_consent


def test_reset_leaves_things_as_they_are() -> None:
    still = lifecycle.reset(TABLE, SPEC, SUSPENDED, {0: 1}, asked="", forward_only=False)
    assert steps(still)[-1] == f'POST {BASE}/resetOffsets {{"0": 1}}'
    stopped = lifecycle.reset(TABLE, SPEC, NOTHING, {0: 1}, asked="", forward_only=False)
    assert steps(stopped)[-2:] == [f"POST {BASE}/terminate", "wait until stopped"]
    assert stopped.needs_consent
    assert not stopped.started
    known = lifecycle.reset(TABLE, SPEC, replace(NOTHING, left_off={0: 1}), {0: 1}, asked="", forward_only=False)
    assert not known.needs_consent


def test_an_interrupted_reset_is_finished_as_announced() -> None:
    begun = a_change("RESET", target="TO LATEST", was="RUNNING", offsets={"0": 7})

    def again(asked: str, begun: IngestionJob) -> list[str]:
        facts = replace(SUSPENDED, begun=begun)
        return steps(lifecycle.reset(TABLE, SPEC, facts, {0: 1}, asked=asked, forward_only=True))

    resumed = [f"POST {BASE}/resume", "wait until running"]
    assert again("TO LATEST", begun)[1:] == [f'POST {BASE}/resetOffsets {{"0": 7}}', *resumed]
    assert again("TO EARLIEST", begun)[1:] == [f'POST {BASE}/resetOffsets {{"0": 1}}', *resumed]
    assert again("TO LATEST", replace(begun, state="moved")) == resumed
    facts = replace(RUNNING, begun=replace(begun, state="moved"))
    change = lifecycle.reset(TABLE, SPEC, facts, {0: 1}, asked="TO LATEST", forward_only=True)
    assert steps(change) == ["wait until running"]


def test_a_reset_that_was_interrupted_ends_what_it_made() -> None:
    """The supervisor that was created to move offsets: there was none before."""
    facts = replace(SUSPENDED, begun=a_change("RESET", was="STOPPED"))
    change = lifecycle.reset(TABLE, SPEC, facts, {0: 1}, asked="", forward_only=False)
    assert steps(change)[-2:] == [f"POST {BASE}/terminate", "wait until stopped"]
    assert not change.started


def test_an_interrupted_alter_is_seen_to_its_end() -> None:
    assert lifecycle.alter(TABLE, SPEC, RUNNING) is None
    begun = replace(RUNNING, begun=a_change("ALTER"))
    change = lifecycle.alter(TABLE, SPEC, begun)
    assert change is not None
    assert steps(change) == ["wait until running"]


def test_explain_tells_everything() -> None:
    facts = replace(RUNNING, status=READING, topic=TOPIC, workers=(Worker("a", 4, 1),))
    other = {**SPEC, "spec": {**SPEC["spec"], "ioConfig": {"topic": "k", "taskCount": 2}}}
    change = lifecycle.explained(lifecycle.suspend(TABLE, facts), other, facts)
    assert steps(change) == [f"POST {BASE}/suspend", "wait until suspended"]
    assert change.spec == owned(other, TABLE, "here")
    assert [item.path for item in change.differences] == ["ioConfig.taskCount"]
    assert (change.read, change.slots) == ({0: 4, 1: 2}, None)
    started = lifecycle.explained(lifecycle.start(TABLE, SPEC, facts), SPEC, facts)
    assert started.slots is not None
    assert started.slots.free == 3


def test_slots() -> None:
    spec = {**SPEC, "spec": {**SPEC["spec"], "ioConfig": {"taskCount": 3, "replicas": 2}}}
    workers = (Worker("a", 4, 1), Worker("b", 2, 2))
    assert lifecycle.slots(spec, NOTHING) is None
    found = lifecycle.slots(spec, replace(NOTHING, workers=workers))
    assert found is not None
    assert (found.needed, found.free, found.capacity) == (6, 3, 6)
    found = lifecycle.slots(spec, replace(RUNNING, workers=workers, topic=TOPIC))
    assert found is not None
    assert found.needed == 3  # two partitions, twice, one of which is read already


# --- several supervisors of one data source --------------------------------------------------------------------


SECOND = replace(TABLE, properties={**TABLE.properties, SUPERVISOR_ID: "second one"})
OTHER = Supervisor(
    "first", "RUNNING", "RUNNING", True, False, "kafka", owned(SPEC, replace(TABLE, table_id="x"), "there")
)


def test_the_id_of_the_supervisor_is_in_its_paths_and_its_spec() -> None:
    assert steps(lifecycle.suspend(SECOND, replace(RUNNING, running=owned(SPEC, SECOND, "here")))) == [
        f"POST {SUPERVISOR}/second%20one/suspend", "wait until suspended",
    ]  # fmt: skip
    properties = {"kafka.topic": "k", "kafka.bootstrap.servers": "h:1", SUPERVISOR_ID: "second one"}
    spec = supervisor_spec(replace(TABLE, properties=properties), {})
    assert (spec["type"], spec["id"]) == ("kafka", "second one")


def test_start_beside_another_supervisor_names_it() -> None:
    with pytest.raises(SemanticError) as raised:
        owners.check_others(TABLE, (OTHER,))
    assert raised.value.message == (
        "cannot START the ingestion of default.t: its data source d/x is already fed by supervisor first (of table"
        " default.t of there)"
    )
    assert SUPERVISOR_ID in (raised.value.hint or "")
    owners.check_others(SECOND, (OTHER,))
    owners.check_others(TABLE, ())


def test_a_supervisor_id_needs_druid_34() -> None:
    for text in ("33.0.0", ""):
        with pytest.raises(UnsupportedError, match="a supervisor's id is the name of its data source"):
            lifecycle.check_version(SECOND, replace(NOTHING, version=DruidVersion(text)))
    lifecycle.check_version(SECOND, replace(NOTHING, version=DruidVersion("34.0.0")))
    lifecycle.check_version(SECOND, NOTHING)
    lifecycle.check_version(TABLE, replace(NOTHING, version=DruidVersion("33.0.0")))


@pytest.mark.parametrize(
    ("group", "supervisor"),
    [("index_kafka_second one", "second one"), ("index_kafka_d/x", "d/x"), ("", "d/x"), ("else", "d/x")],
)
def test_the_supervisor_of_a_task_is_in_its_group(group: str, supervisor: str) -> None:
    assert replace(TASK, group=group).supervisor == supervisor


def test_a_filter_of_headers_needs_druid_39() -> None:
    properties = {
        **TABLE.properties, "kafka.topic": "k", "kafka.bootstrap.servers": "h:1",
        HEADER_FILTER: '{"filter": {"type": "in", "values": ["eu"]}, "encoding": "UTF-8"}',
    }  # fmt: skip
    filtered = replace(TABLE, properties=properties)
    with pytest.raises(
        UnsupportedError, match=r"headerBasedFilterConfig needs Druid 39 or later\. Druid 37\.0\.0: every"
    ):
        lifecycle.check_version(filtered, replace(NOTHING, version=DruidVersion("37.0.0")))
    lifecycle.check_version(filtered, replace(NOTHING, version=DruidVersion("39.0.0")))
    io = supervisor_spec(filtered, {})["spec"]["ioConfig"]
    assert io["headerBasedFilterConfig"] == {"filter": {"type": "in", "values": ["eu"]}, "encoding": "UTF-8"}
