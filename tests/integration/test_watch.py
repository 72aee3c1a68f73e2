"""SHOW INGESTIONS, TASKS, TASK and PROBLEMS, KILL TASK and DESCRIBE with a real Druid and Kafka, with real faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.opening import catalog_name
from hivedruid.clients import wire
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.failures import MissingError
from hivedruid.clients.overlord import Overlord
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.errors import DruidError
from hivedruid.ingestion.owners import owned
from hivedruid.ingestion.supervisor import SUPERVISOR, supervisor_path
from hivedruid.session import Session
from tests.support.ingestion import until
from tests.support.kafka import kafka_python

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

BAD = b"bad{"

Row = Mapping[str, Any]


def good(number: int = 0) -> dict[str, Any]:
    return {"time": "2015-09-12T00:00:00Z", "page": f"P{number % 7}", "added": number}


class Home:
    """A home with tables that ingest from topics; its supervisors are terminated at the end, and their data is
    dropped.
    """

    def __init__(self, session: Session, cluster: Cluster, druid: DruidCluster) -> None:
        self.session = session
        self.cluster = cluster
        self.druid = druid
        self.overlord = Overlord(druid.client)
        self.sources: list[str] = []

    def run(self, text: str) -> list[Row]:
        (statement,) = self.session.statements(text)
        result = self.session.execute(statement)
        names = [column.name for column in result.columns]
        return [dict(zip(names, row, strict=True)) for row in result.rows]

    def create(self, topic: str, rollup: str = "true", **properties: str) -> str:
        """A table that ingests from a topic; names of ingestion properties are as in Druid's spec."""
        name = f"t_{uuid4().hex[:12]}"
        self.sources.append(name)
        given = {
            "druid.datasource": name, "kafka.topic": topic, "kafka.bootstrap.servers": self.cluster.services.kafka,
            "druid.timestamp.column": "time", "druid.kafka.ingestion.useEarliestOffset": "true", "druid.rollup": rollup,
            **{f"druid.kafka.ingestion.{key}": value for key, value in properties.items()},
        }  # fmt: skip
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        columns = "(`__time` timestamp, page string, added bigint)"
        self.run(f"CREATE EXTERNAL TABLE {name} {columns} STORED BY 'druid' TBLPROPERTIES ({pairs})")
        return name

    def spec(self, name: str, *, suspended: bool = False, **io: Any) -> dict[str, Any]:
        """The spec that START would submit."""
        table = self.session.catalog.get("default", name)
        spec = owned(
            supervisor_spec(table, self.session.settings),
            table,
            catalog_name(self.session.home, self.session.catalog),
            suspended=suspended,
        )
        spec["spec"]["ioConfig"].update(io)
        return spec

    def post(self, spec: Mapping[str, Any]) -> None:
        self.druid.client.post("overlord", SUPERVISOR, wire.SupervisorId, spec)

    def started(self, name: str) -> None:
        """Mark the table as started."""
        Ingestions(self.session.catalog).finish(self.session.catalog.get("default", name).table_id, started=True)

    def ingestion(self, name: str) -> Row:
        (row,) = self.run(f"SHOW INGESTIONS LIKE '{name}'")
        return row

    def added(self, name: str) -> int:
        """The sum of the records that were read: the n-th record adds n."""
        (row,) = self.run(f"SELECT sum(added) AS n FROM {name}")
        return int(row["n"] or 0)

    def problem(self, name: str, problem: str) -> Row | None:
        """The problem of that name of a table."""
        found = self.run("SHOW PROBLEMS")
        return next((row for row in found if row["subject"].endswith(name) and row["problem"] == problem), None)

    def shown(self, name: str, problem: str) -> list[Row]:
        """Wait for that problem of the table, and run its repair, which shows more."""
        return self.run(until(lambda: self.problem(name, problem))["repair"])

    def close(self) -> None:
        for name in self.sources:
            with suppress(MissingError):
                self.druid.client.post("overlord", supervisor_path(name, "terminate"), wire.SupervisorId)
        until(lambda: not sum(self._end(name) for name in self.sources))
        for name in set(self.sources) & set(self.druid.data_sources()):
            self.druid.drop(name)

    def _end(self, name: str) -> int:
        """Stop the tasks of a data source; returns their number."""
        running = [task for task in self.overlord.tasks(name) if not task.is_complete]
        for task in running:
            self.overlord.kill(task.id)
        return len(running)


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def home(cluster: Cluster, druid: DruidCluster, tmp_path: Path, notes: list[str]) -> Iterator[Home]:
    services = cluster.services
    conf = {
        "druid.url": services.broker, "druid.coordinator.url": services.coordinator,
        "druid.overlord.url": services.overlord, "hivedruid.kafka.check": "off",
    }  # fmt: skip
    with Session(tmp_path, hiveconf=conf, note=notes.append, confirm=lambda _: True) as session:
        made = Home(session, cluster, druid)
        try:
            yield made
        finally:
            made.close()


def test_an_ingestion_as_it_is_shown(home: Home, topics: Topics, notes: list[str]) -> None:
    """From stopped to running, with every 20th record malformed, then a task killed."""
    topic = topics.new((BAD if n % 20 == 0 else good(n) for n in range(400)), partitions=2)
    name = home.create(topic, taskCount="2")
    row = home.ingestion(name)
    assert (row["table"], row["topic"], row["state"], row["tasks"]) == (f"default.{name}", topic, "STOPPED", "0/0")

    home.run(f"START INGESTION {name}")
    row = until(lambda: found if (found := home.ingestion(name))["parse_errors"] == 20 else None)
    assert (row["state"], row["tasks"], row["last_error"]) == ("RUNNING", "2/2", None)
    assert row["since"] is not None

    def all_are_read() -> Row | None:
        found = home.problem(name, "parse errors")
        return found if found and found["evidence"] == "20 of 400 record(s) read by the running tasks" else None

    problem = until(all_are_read)
    assert "bad{" in problem["cause"]
    shown = [(row["name"], row["value"]) for row in home.shown(name, "parse errors")]
    assert ("rows unparseable", "20") in shown
    assert any(name == "parse error" and "bad{" in value for name, value in shown)

    def all_is_measured() -> bool:
        """Druid fetches the offsets every 30 seconds, and updates the rates of a task every 5 seconds."""
        row = home.ingestion(name)
        return (row["lag"], row["seconds_behind"]) == (0, 0) and row["rows_per_second"] > 0

    assert until(all_is_measured)
    running = {row["id"] for row in home.run(f"SHOW TASKS FOR {name} WHERE STATE = 'RUNNING'")}
    assert len(running) == 2
    described = [row["col_name"] for row in home.run(f"DESCRIBE EXTENDED {name}")]
    assert described[described.index("StorageHandlerInfo") + 1 :][:2] == [
        f"Druid Storage Handler Runtime Status for {name}", "kafkaPartitions=2",
    ]  # fmt: skip
    assert {"publishingTasks=[]", "latestOffsets={0=200, 1=200}", "aggregateLag=0", "state=RUNNING"} <= set(described)
    (active,) = (line for line in described if line.startswith("activeTasks="))
    assert {task for task in running if task in active} == running

    victim = sorted(running)[0]
    home.run(f"KILL TASK '{victim}'")
    assert notes[-1].startswith(f"{name}: a running supervisor starts another task")
    (killed,) = (row for row in home.run(f"SHOW TASKS FOR {name}") if row["id"] == victim)
    assert (killed["table"], killed["state"]) == (f"default.{name}", "FAILED")
    until(lambda: home.ingestion(name)["tasks"] == "2/2")
    until(lambda: home.problem(name, "tasks failing") is None, "no failing tasks")
    home.run(f"KILL TASK '{victim}'")
    assert notes[-1] == f"task {victim} has already ended: FAILED"


def test_numbers_that_druid_cannot_parse(home: Home, topics: Topics) -> None:
    """They are NULL. Without rollup, in the memory of a task, conditions, groups and aggregates see 0, as long as no
    other record has NULL in that column."""
    bad, right, none = ({**good(), "page": page} for page in ("bad", "right", "none"))
    bad["added"], right["added"] = "fast", 5
    del none["added"]

    def seen(name: str) -> tuple[Any, ...]:
        rows = home.run(f"SELECT page, added FROM {name}")
        groups = home.run(f"SELECT added, count(*) AS n FROM {name} GROUP BY added")
        (totals,) = home.run(f"SELECT count(added) AS n, sum(added) AS s, min(added) AS m FROM {name}")
        zero, null = (home.run(f"SELECT page FROM {name} WHERE added {is_}") for is_ in ("= 0", "IS NULL"))
        return (
            {row["page"]: row["added"] for row in rows}, {row["added"]: row["n"] for row in groups},
            tuple(totals.values()), {row["page"] for row in zero}, {row["page"] for row in null},
        )  # fmt: skip

    def await_rows(name: str, number: int) -> None:
        until(lambda: home.run(f"SELECT count(*) AS n FROM {name}")[0]["n"] == number)

    alone = home.create(topics.new([bad, right]), rollup="false")
    beside = home.create(topics.new([bad, right, none]), rollup="false")
    summed = home.create(topics.new([bad, right]), rollup="true")
    empty = set[str]()
    published = {"bad": None, "right": 5}, {None: 1, 5: 1}, (1, 5, 5), empty, {"bad"}
    with_none = {**published[0], "none": None}, {None: 2, 5: 1}, (1, 5, 5), empty, {"bad", "none"}
    expected = {
        alone: ({"bad": None, "right": 5}, {0: 1, 5: 1}, (2, 5, 0), {"bad"}, empty),
        beside: with_none,
        summed: published,
    }
    for name in expected:
        home.run(f"START INGESTION {name}")
    for name, answers in expected.items():
        await_rows(name, len(answers[0]))
        assert seen(name) == answers
    problem = until(lambda: home.problem(alone, "parse errors"))
    assert problem["evidence"].startswith("1 of 2 record(s) read by the running tasks; 1 of them kept: a number that")
    assert "fast" in problem["cause"]
    home.run(f"STOP INGESTION {alone}")
    until(lambda: not home.run(f"SHOW TASKS FOR {alone} WHERE STATE = 'RUNNING'"))
    await_rows(alone, 2)
    assert seen(alone) == published


def test_tasks_that_fail_again_and_again(home: Home, topics: Topics) -> None:
    name = home.create(topics.new([good(), BAD]), maxParseExceptions="0")
    home.post(home.spec(name))
    problem = until(lambda: home.problem(name, "tasks failing and restarting"))
    assert problem["cause"] == "Max parse exceptions[0] exceeded"
    until(lambda: "Max parse exceptions[0] exceeded" in (home.ingestion(name)["last_error"] or ""), "the error")
    shown = [(row["name"], row["value"]) for row in home.shown(name, "tasks failing and restarting")]
    assert ("error", "Max parse exceptions[0] exceeded") in shown
    assert ("state", "FAILED") in shown


def test_offsets_that_kafka_has_deleted(home: Home, topics: Topics) -> None:
    """The supervisor continues at offset 10, which no longer exists."""
    topic = topics.new(good(n) for n in range(100))
    name = home.create(topic)
    home.post(home.spec(name, suspended=True))
    moved = {"type": "kafka", "partitions": {"type": "end", "stream": topic, "partitionOffsetMap": {"0": 10}}}
    home.druid.client.post("overlord", supervisor_path(name, "resetOffsets"), wire.Acknowledgement, moved)
    topics.admin.delete_records({kafka_python().TopicPartition(topic, 0): 50})
    home.druid.client.post("overlord", supervisor_path(name, "resume"), wire.Acknowledgement)
    problem = until(lambda: home.problem(name, "offsets expired"))
    assert problem["evidence"] == "partition 0: 40 record(s) from offset 10"
    assert problem["repair"] == f"RESET INGESTION default.{name} TO EARLIEST;"
    until(lambda: "[10] is no longer available" in (home.ingestion(name)["last_error"] or ""), "the error")
    home.run(problem["repair"])
    assert until(lambda: home.added(name) == sum(range(50, 100)))
    until(lambda: home.problem(name, "offsets expired") is None)


def test_more_tasks_than_slots(home: Home, topics: Topics) -> None:
    slots = sum(worker.capacity for worker in home.overlord.workers())
    name = home.create(topics.new(partitions=slots + 1), taskCount=str(slots + 1))
    home.post(home.spec(name))
    problem = until(lambda: home.problem(name, "no free slots"))
    assert problem["cause"] == f"all {slots} task slots of Druid are in use"
    assert {row["table"] for row in home.shown(name, "no free slots")} >= {f"default.{name}"}

    def is_named() -> bool:
        """The supervisor may replace tasks between two reads."""
        waiting = home.run(f"SHOW TASKS FOR {name} WHERE STATE = 'PENDING'")
        problem = home.problem(name, "no free slots")
        return problem is not None and any(row["id"] in problem["evidence"] for row in waiting)

    until(is_named)


def test_tables_and_supervisors_that_do_not_fit(home: Home, topics: Topics) -> None:
    """None of them has a task: the supervisors are suspended."""
    topic = topics.new([good()])
    lost, changed, dropped, foreign, elsewhere, gone = (home.create(topic) for _ in range(6))
    home.started(lost)
    home.post(home.spec(changed, suspended=True, taskCount=2))
    home.post(home.spec(dropped, suspended=True))
    home.session.catalog.remove(home.session.catalog.get("default", dropped))
    home.post({**home.spec(foreign, suspended=True), "context": {}})
    home.session.catalog.remove(home.session.catalog.get("default", foreign))
    home.post(home.spec(elsewhere, suspended=True, consumerProperties={"bootstrap.servers": "127.0.0.1:9"}))
    home.post(home.spec(gone, suspended=True, topic="not/there"))

    found = {(row["subject"].removeprefix("default."), row["problem"]): row for row in home.run("SHOW PROBLEMS")}
    assert found[lost, "not running"]["repair"] == f"START INGESTION default.{lost};"
    assert found[changed, "spec differs"]["evidence"] == "ioConfig.taskCount: the supervisor has 2, the table nothing"
    assert found[dropped, "no table"]["cause"].startswith(f"its table default.{dropped} was dropped")
    assert found[foreign, "no table"]["cause"] == "it was not started by hivedruid"
    assert found["Kafka at 127.0.0.1:9", "unreachable"]["evidence"] == f"read by default.{elsewhere}"
    assert "topic 'not/there' does not exist" in found[gone, "topic not found"]["cause"]
    states = {row["table"]: row["state"] for row in home.run("SHOW INGESTIONS")}
    assert states[f"default.{lost}"] == "STOPPED"
    assert states[foreign] in ("PENDING", "SUSPENDED")


def test_requests_do_not_grow_with_supervisors_that_rest(
    home: Home, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    send = DruidClient._send

    def counted(client: DruidClient, method: str, service: Any, path: str, *rest: Any, **options: Any) -> Any:
        sent.append(path)
        return send(client, method, service, path, *rest, **options)

    def requests_of(text: str) -> int:
        sent.clear()
        home.run(text)
        return len(sent)

    monkeypatch.setattr(DruidClient, "_send", counted)
    topic = topics.new([good()])
    before = {text: requests_of(text) for text in ("SHOW INGESTIONS", "SHOW PROBLEMS")}
    for _ in range(12):
        home.post(home.spec(home.create(topic), suspended=True))
    until(lambda: all(home.ingestion(name)["state"] == "SUSPENDED" for name in home.sources))
    assert {text: requests_of(text) for text in before} == before
    assert len(home.run("SHOW INGESTIONS")) >= 12


def test_a_task_that_is_not_there(home: Home) -> None:
    for text in ("SHOW TASK 'nobody'", "KILL TASK 'nobody'"):
        with pytest.raises(DruidError, match="task 'nobody' does not exist") as raised:
            home.run(text)
        assert raised.value.span is not None
        assert raised.value.hint == "SHOW TASKS lists the ids"


def test_describe_says_when_nothing_runs(home: Home, topics: Topics) -> None:
    name = home.create(topics.new())
    for mode in ("EXTENDED", "FORMATTED"):
        described = [row[next(iter(row))] for row in home.run(f"DESCRIBE {mode} {name}")]
        assert described[-2:] == [
            "StorageHandlerInfo", f"Druid Storage Handler Runtime Status : not running; start it with START INGESTION {name}",
        ]  # fmt: skip
