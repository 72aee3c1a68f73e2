"""Tables over data sources that supervisors of other programs feed, which post their specs by HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.clients import wire
from hivedruid.errors import ExecutionError, SemanticError
from hivedruid.ingestion.compare import as_accepted
from hivedruid.ingestion.supervisor import SUPERVISOR, supervisor_path
from hivedruid.session import Session
from tests.support.ingestion import IngestionHome, Row, record, until

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.kafka


class Foreign:
    """A home on a cluster where another program posts supervisors."""

    def __init__(self, home: IngestionHome) -> None:
        self.home = home

    def post(
        self, dimensions: list[Any], transforms: Mapping[str, Any] | None = None, *, rollup: bool = False,
        name: str = "", schema: Mapping[str, Any] | None = None, context: Mapping[str, Any] | None = None, **io: Any,
    ) -> str:  # fmt: skip
        """Post a supervisor that reads from the beginning, and reacts without delay; returns its data source."""
        name = name or f"theirs_{uuid4().hex[:12]}"
        self.home.sources[name] = name
        data_schema = {
            "dataSource": name, "timestampSpec": {"column": "time", "format": "auto"},
            "dimensionsSpec": {"dimensions": dimensions}, "metricsSpec": [],
            "granularitySpec": {"segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": rollup},
            **({"transformSpec": transforms} if transforms else {}), **(schema or {}),
        }  # fmt: skip
        feed = {
            "consumerProperties": {"bootstrap.servers": self.home.services.kafka}, "inputFormat": {"type": "json"},
            "useEarliestOffset": True, "startDelay": "PT0S", "period": "PT1S", **io,
        }  # fmt: skip
        tuning = {"type": "kafka", "offsetFetchPeriod": "PT1S", "maxSavedParseExceptions": 10}
        spec: dict[str, Any] = {
            "type": "kafka",
            "spec": {"dataSchema": data_schema, "ioConfig": feed, "tuningConfig": tuning},
        }
        spec |= {"context": context} if context else {}
        self.home.druid.client.post("overlord", SUPERVISOR, wire.SupervisorId, spec)
        return name

    def problem(self, subject: str, problem: str) -> Row:
        """Wait for a problem of a supervisor, or of a table."""

        def look() -> Row | None:
            rows = self.home.run("SHOW PROBLEMS")
            return next((row for row in rows if row["subject"] == subject and row["problem"] == problem), None)

        return until(look, f"problem '{problem}' of {subject}")


@pytest.fixture
def foreign(cluster: Cluster, tmp_path: Path, task_slot: None) -> Iterator[Foreign]:
    home = IngestionHome(tmp_path, cluster.services)
    try:
        yield Foreign(home)
    finally:
        home.close()


def test_a_supervisor_of_several_topics(foreign: Foreign, topics: Topics) -> None:
    """`a:0` and `b:0` are two partitions: whatever shows, compares or moves offsets keeps them apart."""
    home = foreign.home
    prefix = f"p_{uuid4().hex[:8]}"
    a = topics.new([record(n) for n in range(5)], name=f"{prefix}a")
    b = topics.new([record(n) for n in range(5, 13)], name=f"{prefix}b")
    pattern = f"{prefix}[ab]_\\w+"
    theirs = foreign.post(["id"], topicPattern=pattern)
    repair = home.repaired(theirs, "no table")["repair"]
    assert repair == f"CREATE EXTERNAL TABLE `{theirs}` FROM SUPERVISOR '{theirs}';"
    created = home.session.catalog.get("default", theirs)
    assert created.properties["druid.kafka.ingestion.topicPattern"] == pattern
    assert "kafka.topic" not in created.properties

    home.run(f"WAIT INGESTION {theirs}")
    home.expect(theirs, {str(n): 1 for n in range(13)})
    ends = f"{{{a}:0=5, {b}:0=8}}"
    lines = until(lambda: _with_offsets(home, theirs), "offsets in DESCRIBE")
    assert lines["latestOffsets"] == ends
    assert lines["minimumLag"] == f"{{{a}:0=0, {b}:0=0}}"
    assert (lines["kafkaPartitions"], lines["aggregateLag"]) == ("2", "0")
    assert home.ingestion(theirs)["lag"] == 0

    with pytest.raises(SemanticError, match="the number of a partition does not name its topic"):
        home.run(f"RESET INGESTION {theirs} TO OFFSETS (0:0)")
    home.run(f"RESET INGESTION {theirs} TO EARLIEST")
    assert home.asked[-1].endswith("0 records are lost, 13 records are read again")
    assert f"continues reading at {a}:0:0, {b}:0:0" in home.notes[-1]
    home.run(f"WAIT INGESTION {theirs}")
    home.expect(theirs, {str(n): 2 for n in range(13)})


def _with_offsets(home: IngestionHome, name: str) -> dict[str, str] | None:
    """The last block of DESCRIBE, once the supervisor has fetched offsets."""
    found = (re.fullmatch(r"(\w+)=(.*)", row["col_name"]) for row in home.run(f"DESCRIBE EXTENDED {name}"))
    lines = {match[1]: match[2] for match in found if match is not None}
    return lines if "latestOffsets" in lines else None


def test_a_table_takes_over_a_supervisor(foreign: Foreign, topics: Topics) -> None:
    """The data source may not exist yet. START of the same spec submits nothing; another one is confirmed, and ROLLBACK
    restores the former; a supervisor without a table is stopped by its id."""
    home = foreign.home
    topic = topics.new([{"ts": "2015-09-12T00:00:00Z", "id": str(n), "n": n} for n in range(5)])
    stamp = {"timestampSpec": {"column": "ts", "format": "iso"}}
    no_bitmap = {"type": "string", "name": "id", "createBitmapIndex": False}
    theirs = foreign.post(
        [no_bitmap, {"type": "long", "name": "n"}, {"type": "json", "name": "Nested"}], topic=topic, taskDuration="PT20M",
        schema=stamp, context={"priority": 80},
    )  # fmt: skip
    posted = home.overlord.spec(theirs)
    (first,) = [line["Explain"] for line in home.run(f"EXPLAIN CREATE EXTERNAL TABLE t FROM SUPERVISOR '{theirs}'")
                if line["Explain"].strip().startswith("CREATE")]  # fmt: skip
    assert first.strip() == "CREATE EXTERNAL TABLE `default`.`t` ("
    home.run(f"CREATE EXTERNAL TABLE t FROM SUPERVISOR '{theirs}'")
    shown = "\n".join(line["createtab_stmt"] for line in home.run("SHOW CREATE TABLE t"))
    assert "'druid.spec.context.priority'='80'" in shown
    assert "'druid.kafka.ingestion.taskDuration'='PT1200S'" in shown

    def run(text: str) -> list[str]:
        """The questions of a statement."""
        home.asked.clear()
        home.run(text)
        return list(home.asked)

    assert run("START INGESTION t") == []
    assert home.overlord.spec(theirs) == posted
    home.run("WAIT INGESTION t")
    home.sources["t"] = theirs
    home.expect("t", {str(n): 1 for n in range(5)})
    assert home.session.catalog.get("default", "t").column("nested") is not None

    home.run("DROP TABLE t")  # stops what the table had started, and keeps the rows
    until(lambda: home.overlord.spec(theirs) is None, "the end of the supervisor")
    again = foreign.post([no_bitmap], topic=topic, name=theirs, schema=stamp)
    home.run(f"CREATE EXTERNAL TABLE t (`__time` timestamp, id string) STORED BY 'druid' TBLPROPERTIES ("
             f"'druid.datasource' = '{again}', 'kafka.topic' = '{topic}', 'druid.rollup' = 'false',"
             f" 'kafka.bootstrap.servers' = '{home.services.kafka}', 'druid.timestamp.column' = 'ts')")  # fmt: skip
    posted = home.overlord.spec(theirs)
    with (
        Session(home.folder, hiveconf=home.conf, note=home.notes.append, confirm=lambda _: False) as careful,
        pytest.raises(ExecutionError, match=r"useEarliestOffset.*nothing was submitted"),
    ):
        careful.execute(next(iter(careful.statements("START INGESTION t"))))
    assert home.overlord.spec(theirs) == posted
    (question,) = run("START INGESTION t")
    assert question.startswith(f"START of default.t: supervisor {theirs} was started by another program")
    changed = home.overlord.spec(theirs)
    assert changed is not None
    assert changed["context"]["hivedruid.table"] == "default.t"
    home.run("ALTER TABLE t ROLLBACK INGESTION")
    restored = home.overlord.spec(theirs)
    assert restored is not None
    assert posted is not None
    assert as_accepted(restored) == as_accepted(posted)
    home.run(f"SUSPEND INGESTION '{theirs}'")  # as by the name of the table
    assert home.ingestion("t")["state"] == "SUSPENDED"
    home.run("STOP INGESTION t")

    foreign.post(["id"], topic=topic, name=theirs, schema=stamp)
    home.run(f"CREATE EXTERNAL TABLE plain STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{theirs}')")
    with pytest.raises(SemanticError, match="only a table has the spec"):
        home.run(f"START INGESTION '{theirs}'")
    home.run("DROP TABLE t")


def test_a_supervisor_is_stopped_by_its_id(foreign: Foreign, topics: Topics) -> None:
    home = foreign.home
    theirs = foreign.post(["id"], topic=topics.new([record(n) for n in range(3)]))
    home.sources["x"] = theirs
    home.run(f"WAIT INGESTION '{theirs}'")
    home.expect("x", {str(n): 1 for n in range(3)})
    home.run(f"RESET INGESTION '{theirs}' TO EARLIEST")
    assert home.asked[-1].startswith(f"RESET of '{theirs}': 0 records are lost, 3 records are read again")
    home.run(f"WAIT INGESTION '{theirs}'")
    home.expect("x", {str(n): 2 for n in range(3)})
    home.run(f"SUSPEND INGESTION '{theirs}'")
    home.run(f"RESUME INGESTION '{theirs}'")
    home.run(f"STOP INGESTION '{theirs}'")
    assert home.overlord.spec(theirs) is None
    with pytest.raises(SemanticError, match=f"there is no supervisor '{theirs}'"):
        home.run(f"STOP INGESTION '{theirs}'")
    assert home.run("SHOW JOBS") == []


def test_expressions_that_druid_misreads(foreign: Foreign, topics: Topics) -> None:
    """Of `v = 3` Druid computes a null: the filter removes every record, and every task is well."""
    topic = topics.new([{**record(n), "v": n} for n in range(4)])
    filter_ = {"type": "expression", "expression": "v = 3"}
    theirs = foreign.post(["id", {"type": "long", "name": "v"}], {"filter": filter_}, topic=topic)
    misread = foreign.problem(theirs, "invalid expression")
    assert misread["evidence"] == "transformSpec.filter.expression"
    assert misread["cause"].endswith("(write ==)")
    lost = foreign.problem(theirs, "all records thrown away")
    assert lost["evidence"] == "4 record(s) read by the running tasks, none of them kept"
    assert lost["cause"].startswith("the filter of its transformSpec removes them")
    assert lost["repair"] == f"-- correct transformSpec in the spec of supervisor {theirs}, where it was posted"


def _read(home: IngestionHome, name: str) -> int:
    """The records that the running tasks have kept."""
    reports = (home.overlord.report(task) for task in home.tasks(name))
    return sum(report[0].kept for report in reports if report is not None)


def _has_task(home: IngestionHome, name: str) -> bool:
    status = home.overlord.status(name)
    return status is not None and bool(status.active)


def test_numbers_that_tasks_could_not_parse(foreign: Foreign, topics: Topics) -> None:
    """In the memory of a task such a value is 0 for everything but rows, and NULL afterwards; a time before 1970 is
    read."""
    home = foreign.home
    values = [1, "abc", 3]
    sent = [{**record(n), "v": value, "d": value, "f": value} for n, value in enumerate(values)]
    topic = topics.new([*sent, {**record(3), "time": "1960-01-01T00:00:00Z", "v": 4, "d": 4, "f": 4}])
    dimensions = [{"type": type_, "name": name} for type_, name in (("long", "v"), ("double", "d"), ("float", "f"))]
    theirs = foreign.post(["id", *dimensions], topic=topic)
    until(lambda: _read(home, theirs) == 4, "all records")
    home.run(f"CREATE EXTERNAL TABLE t STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{theirs}')")
    rows = "SELECT id, v, d, f FROM t"
    counted = "SELECT count(v) AS n FROM t"
    home.notes.clear()
    assert [row for row in home.run(rows) if row["id"] in "13"] in (
        [{"id": "1", "v": None, "d": None, "f": None}, {"id": "3", "v": 4, "d": 4.0, "f": 4.0}],
        [{"id": "3", "v": 4, "d": 4.0, "f": 4.0}, {"id": "1", "v": None, "d": None, "f": None}],
    )
    assert home.notes == []
    assert home.run(counted) == [{"n": 4}]
    (note,) = home.notes
    assert note.startswith(
        f"column v of {theirs}: Druid could not parse some values that its running tasks have read; until a record"
        " arrives after "
    )
    home.notes.clear()
    home.run("SELECT d, count(*) FROM t WHERE f IS NULL GROUP BY d")
    (note,) = home.notes
    assert note.startswith(f"columns d, f of {theirs}: ")

    until(lambda: _has_task(home, theirs), "the supervisor to discover its task, which it does not stop otherwise")
    home.druid.client.post("overlord", supervisor_path(theirs, "terminate"), wire.SupervisorId)
    until(lambda: home.run(counted) == [{"n": 3}], "the hand-off")
    until(lambda: not home.tasks(theirs), "the end of the task")
    home.notes.clear()
    with Session(home.folder, hiveconf=home.conf, note=home.notes.append) as later:
        (statement,) = later.statements(counted)
        assert list(later.execute(statement).rows) == [(3,)]
    assert home.notes == []
