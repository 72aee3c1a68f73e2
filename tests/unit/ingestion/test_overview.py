"""The state of ingestions as the rows of SHOW INGESTIONS, SHOW TASKS and SHOW TASK."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from hivedruid.catalog.properties import SUPERVISOR_ID
from hivedruid.catalog.store import DruidTable
from hivedruid.ingestion.model import ReadingTask, RowCounts, SupervisorError, UnparseableRecord
from hivedruid.ingestion.overview import (
    Ingestion,
    ingestion_row,
    match,
    moment,
    parse_error_groups,
    task_details,
    task_row,
    with_supervisor_status,
)
from tests.unit.ingestion.world import NOW, ago, running, supervisor, table, task, with_status


def test_a_running_ingestion() -> None:
    assert ingestion_row(running()) == (
        "default.wiki", "edits", "RUNNING", "RUNNING", "2/2", 0, 0, 10.0, 0, None, NOW - timedelta(minutes=5),
    )  # fmt: skip


def test_a_table_without_a_supervisor_is_stopped() -> None:
    row = ingestion_row(Ingestion(table()))
    assert row == ("default.wiki", "edits", "STOPPED", None, "0/0", *[None] * 6)


def test_a_supervisor_without_a_table_has_its_id() -> None:
    assert ingestion_row(Ingestion(None, supervisor("theirs")))[:2] == ("theirs", "edits")


def test_a_topic_pattern_stands_for_the_topic() -> None:
    of_table = table(kafka_topic="x")
    of_table = replace(of_table, properties={"druid.kafka.ingestion.topicPattern": "ed.*"})
    assert Ingestion(of_table).topic == "ed.*"
    assert Ingestion(None, supervisor("a", topic=None, topicPattern="ed.*")).topic == "ed.*"


@pytest.mark.parametrize(
    ("lag", "per_second", "seconds"),
    [(0, 0.0, 0), (100, 10.0, 10), (101, 10.0, 11), (100, 0.0, None), (100, 0.001, None), (None, 10.0, None)],
)
def test_lag_as_time_is_how_long_the_rest_takes(lag: int | None, per_second: float, seconds: int | None) -> None:
    one = replace(with_status(running(), total_lag=lag), counts=RowCounts(per_second=per_second))
    assert (one.lag, one.seconds_behind) == (lag, seconds)


def test_the_lag_is_not_known_before_the_supervisor_has_asked_kafka() -> None:
    assert with_status(running(), total_lag=0, latest_offsets={}).lag is None


def test_a_lag_that_is_too_old_is_forgotten() -> None:
    """A supervisor that cannot reach Kafka keeps reporting its last state."""
    one = with_status(running(), total_lag=7, offsets_updated=ago(seconds=80))
    assert with_supervisor_status(one, one.status, None, NOW).lag == 7
    assert with_supervisor_status(one, one.status, None, NOW + timedelta(seconds=20)).lag is None
    patient = supervisor(table())
    patient.spec["spec"]["tuningConfig"] = {"offsetFetchPeriod": "PT5M"}
    assert (
        with_supervisor_status(replace(one, supervisor=patient), one.status, None, NOW + timedelta(seconds=20)).lag == 7
    )


def test_tasks_that_publish_are_not_among_those_that_read() -> None:
    one = with_status(running(), publishing=(ReadingTask(task(1).id),))
    assert [t.id for t in one.running] == [task(2).id]


@pytest.mark.parametrize(
    ("io", "partitions", "wanted"),
    [({}, 2, 1), ({"taskCount": 2}, 2, 2), ({"taskCount": 5}, 2, 2), ({"taskCount": 5}, None, 5),
     ({"taskCount": 3, "replicas": 2}, 2, 4)],
)  # fmt: skip
def test_tasks_wanted(io: dict[str, Any], partitions: int | None, wanted: int) -> None:
    assert with_status(running(supervisor=supervisor(table(), **io)), partitions=partitions).wanted == wanted


@pytest.mark.parametrize("state", ["SUSPENDED", "IDLE", "STOPPING"])
def test_no_task_is_wanted_of_a_supervisor_that_rests(state: str) -> None:
    assert running(supervisor=supervisor(table(), state, taskCount=2)).wanted == 0


def test_the_last_error_is_the_newest_of_supervisor_and_tasks() -> None:
    one = running(tasks=(task(1), task(0, "FAILED", created=ago(minutes=9), error="task broke")))
    assert one.last_error == (ago(minutes=9), "task broke")
    one = with_status(one, errors=(SupervisorError(ago(minutes=8), "supervisor broke"),))
    assert one.last_error == (ago(minutes=8), "supervisor broke")
    assert ingestion_row(one)[9] == f"{ago(minutes=8)}: supervisor broke"


@pytest.mark.parametrize("reason", ["Shutdown request from user", "Killing task for graceful shutdown"])
def test_a_task_that_was_told_to_end_is_no_error(reason: str) -> None:
    assert running(tasks=(task(0, "FAILED", error=reason),)).last_error is None


def test_errors_are_shown_without_secrets() -> None:
    one = running(tasks=(task(0, "FAILED", error="login with password=canary failed"),))
    assert "canary" not in str(ingestion_row(one))
    assert "canary" not in str(task_row(one.tasks[0], "t", NOW))


# --- who belongs together ----------------------------------------------------------------------------------------


def test_tables_and_supervisors_meet_at_the_data_source() -> None:
    found = match(
        [table("b", druid_datasource="src"), table("a")],
        [supervisor("src"), supervisor("other")],
        [task(1, source="src"), task(2, source="other"), replace(task(3, source="src"), type="compact")],
    )
    assert [(one.name, one.state, [t.id for t in one.tasks]) for one in found] == [
        ("default.a", "STOPPED", []),
        ("default.b", "RUNNING", ["index_kafka_src_1"]),
        ("other", "RUNNING", ["index_kafka_other_2"]),
    ]


def test_of_two_tables_the_one_that_started_it_has_the_supervisor() -> None:
    first, second = table("a", druid_datasource="src"), table("b", druid_datasource="src")
    found = match([first, second], [supervisor(second)], [])
    assert [(one.name, one.state) for one in found] == [("default.a", "STOPPED"), ("default.b", "RUNNING")]


def test_a_table_that_is_not_fed_names_the_supervisor_of_its_data_source() -> None:
    unfed = replace(table("b"), properties={"druid.datasource": "src"})
    assert [one.name for one in match([unfed], [supervisor("src")], [])] == ["default.b"]
    assert match([unfed], [], []) == ()
    fed = table("c", druid_datasource="src")
    assert [(one.name, one.state) for one in match([unfed, fed], [supervisor("src")], [])] == [("default.c", "RUNNING")]


def test_a_table_whose_definition_is_not_read_names_the_supervisor_of_its_data_source() -> None:
    others = [DruidTable("default", name, f"id-{name}", "src") for name in ("b", "c")]
    (found,) = match([], [supervisor("src")], [], others)
    assert found.table is not None
    assert (found.name, found.table.table_id, found.data_source) == ("default.b", "id-b", "src")
    fed = table("d", druid_datasource="src")
    assert [one.name for one in match([fed], [supervisor("src")], [], others)] == ["default.d"]


def test_several_supervisors_of_one_data_source_are_told_apart_by_their_ids() -> None:
    first = table("first", druid_datasource="wiki")
    second = table("second", druid_datasource="wiki")
    second = replace(second, properties={**second.properties, SUPERVISOR_ID: "second"})
    tasks = [
        task(1, source="wiki", group="index_kafka_wiki"), task(2, source="wiki", group="index_kafka_second"),
        task(3, source="wiki", group="index_kafka_theirs"),
    ]  # fmt: skip
    theirs = replace(supervisor("wiki"), id="theirs")
    found = match([first, second], [supervisor(first), replace(supervisor(second), id="second"), theirs], tasks)
    assert [(one.name, one.supervisor and one.supervisor.id, [t.id[-1] for t in one.tasks]) for one in found] == [
        ("default.first", "wiki", ["1"]), ("default.second", "second", ["2"]), ("theirs", "theirs", ["3"]),
    ]  # fmt: skip


def test_supervisors_that_read_no_stream_are_left_out() -> None:
    compaction = replace(supervisor("src"), type="autocompact")
    assert match([], [compaction], []) == ()


# --- tasks -------------------------------------------------------------------------------------------------------


def test_a_task_that_runs_has_run_until_now() -> None:
    row = task_row(task(1, location="host:1", created=ago(seconds=90)), "default.wiki", NOW)
    assert row == (
        "index_kafka_default.wiki_1", "index_kafka", "default.wiki", "RUNNING", moment(ago(seconds=90)), 90.0, "host:1",
        None,
    )  # fmt: skip


def test_a_task_that_has_ended_took_its_time() -> None:
    assert task_row(task(1, "SUCCESS", duration=1500), "t", NOW)[5] == 1.5
    assert task_row(task(1, "PENDING"), "t", NOW)[5] is None


def test_a_task_in_detail() -> None:
    report = (
        RowCounts(10, 2, 1, 3),
        (UnparseableRecord("bad{", "Unable to parse row [bad{]"), UnparseableRecord("x", "no")),
    )
    found = task_details(task(1, location="host:1"), "default.wiki", NOW, report, "one\ntoken=canary\n")
    assert found == (
        ("id", "index_kafka_default.wiki_1"),
        ("type", "index_kafka"),
        ("table", "default.wiki"),
        ("state", "RUNNING"),
        ("created", ago(minutes=5)),
        ("duration", "300.0 s"),
        ("location", "host:1"),
        ("rows processed", "10"),
        ("parse errors", "3"),
        ("rows unparseable", "2"),
        ("rows with errors", "1"),
        ("rows thrown away", "3"),
        ("parse error", "Unable to parse row [bad{]"),
        ("parse error", "no: x"),
        ("log", "one"),
        ("log", "token=******"),
    )


def test_a_task_without_report_and_log_says_where_to_look() -> None:
    rows = task_details(task(1, "FAILED", location="host:1", error="broke"), "t", NOW, None, "")
    found = dict(rows)
    assert found["rows"] == "no report available"
    assert found["error"] == "broke"
    assert [value for name, value in rows if name == "log"] == [
        "not available: tasks of an indexer write to the log of the indexer at host:1",
        "that of a local cluster: hivedruid local logs indexer",
    ]


def test_parse_errors_by_message() -> None:
    """The values differ, the names of fields do not."""
    texts = [
        ("bad{", "Unable to parse row [bad{] into JSON"), ("", "Unable to parse value[many] for field[added]"),
        ("x[1]", "Unable to parse row [x[1]] into JSON"), ("", "Unable to parse value[few] for field[deleted]"),
        ("", "Unable to parse value[none] for field[added]"), ("y", "Unable to parse row [y] into JSON"),
    ]  # fmt: skip
    found = parse_error_groups(UnparseableRecord(given, details) for given, details in texts)
    assert [(example.details, count) for example, count in found] == [
        (texts[0][1], 3),
        (texts[1][1], 2),
        (texts[3][1], 1),
    ]


@pytest.mark.parametrize("text", [None, "", "soon", "2026-01-15T10:30:00"])
def test_what_is_no_moment(text: str | None) -> None:
    assert moment(text) is None
