"""Malformed records of streams: in the rejects table once, with the good ones in the target, and limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.catalog.streams import Streams
from hivedruid.errors import ExecutionError, SemanticError
from hivedruid.session import Session
from hivedruid.spark import appends, rejects
from hivedruid.spark.inputs import iceberg_name
from hivedruid.spark.jobs import NOTHING
from hivedruid.spark.topics import Malformed
from tests.support import killed
from tests.support.job_homes import run
from tests.support.streams import CONF, Home, commit_before, stream_home, until

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

BROKEN, ARRAY, NOT_A_NUMBER = b'{"id": 1', b"[]", b'{"id": "x"}'


@pytest.fixture
def home(tmp_path: Path, topics: Topics) -> Iterator[Home]:
    with stream_home(tmp_path / "home", topics) as made:
        yield made


def send(home: Home, *records: bytes) -> None:
    """Malformed records, to the partitions in turn."""
    for number, record in enumerate(records):
        home.topics.send(home.topic, record, partition=number % 2)
    home.topics.producer.flush()


def rejected(home: Home, table: str = "bad") -> list[tuple[Any, ...]]:
    query = f"SELECT `partition`, `offset`, error, value FROM {table} ORDER BY `partition`, `offset`"
    return [tuple(row.values()) for row in home.run(query)]


def status(home: Home) -> Any:
    return home.stream_record().status


def test_malformed_records_are_added_once(home: Home) -> None:
    """Also those of batches without other records, and those that are read again."""
    home.send(4)
    send(home, BROKEN, NOT_A_NUMBER)
    home.create(rejects="bad")
    home.run("RUN STREAM s")
    first = [(0, 2, "not a JSON object", BROKEN), (1, 2, "id is not a valid bigint", NOT_A_NUMBER)]
    assert (rejected(home), home.counts()[0], status(home).rejects) == (first, 4, 2)
    assert [row["topic"] for row in home.run("SELECT DISTINCT topic FROM bad")] == [home.topic]
    home.run("RUN STREAM s")
    send(home, ARRAY, ARRAY)
    home.run("RUN STREAM s")
    assert (len(rejected(home)), home.stream()["lag"], status(home).rejects) == (4, 0, 4)
    assert [row["batch"] for row in home.run("SHOW BATCHES s")] == [1, 0]
    send(home, BROKEN)
    home.send(2)
    home.run("RUN STREAM s")
    assert (len(rejected(home)), home.counts(), status(home).rejects) == (5, home.expected, 5)
    home.run("ROLLBACK STREAM s TO BATCH 1")
    assert status(home).rejects == 2
    home.run("RUN STREAM s")
    assert (len(rejected(home)), home.counts(), status(home).rejects) == (5, home.expected, 5)
    home.run("RESET STREAM s TO EARLIEST")
    home.run("RUN STREAM s")
    assert (len(rejected(home)), home.counts()[:2]) == (5, (2 * home.sent, home.sent))
    home.run("DROP TABLE bad")
    home.run("RESET STREAM s TO EARLIEST")
    home.run("RUN STREAM s")
    assert len(rejected(home)) == 5


def test_killed_at_every_moment(home: Home) -> None:
    """A batch of both kinds, and one of malformed records only; the rejects are counted once, too."""
    home.send(4)
    send(home, BROKEN, ARRAY)
    home.create(rejects="bad")
    for sent, bad in ((4, 2), (4, 4)):
        kills = 0
        while (outcome := killed.run(home.path, CONF, "RUN STREAM s", kills + 1)).killed:
            kills += 1
        assert not outcome.error, outcome
        assert kills >= 4
        assert (home.counts()[:2], len(rejected(home)), status(home).rejects) == ((sent, sent), bad, bad)
        assert home.stream()["lag"] == 0
        send(home, ARRAY, BROKEN)


def test_a_late_commit_of_another_process(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes look for the same records in the rejects table before either of them adds them: a job in Spark
    outlives its client, and the home's lock is free again."""
    home.send(2)
    send(home, BROKEN, ARRAY)
    home.create(rejects="bad")
    append = appends.append_after

    def late(spark: Any, frame: Any, table: Any, base: int, *rest: Any) -> None:
        monkeypatch.setattr(rejects, "append_after", append)
        append(spark, frame, table, base, *rest)  # the other one
        append(spark, frame, table, base, *rest)

    monkeypatch.setattr(rejects, "append_after", late)
    home.run("RUN STREAM s")
    assert (home.counts(), len(rejected(home))) == (home.expected, 2)


def test_a_batch_whose_commit_fails_adds_no_rejects_twice(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.send(2)
    send(home, BROKEN)
    home.create(rejects="bad")
    commit_before(home, monkeypatch)
    with pytest.raises(ExecutionError, match="another writer has changed"):
        home.run("RUN STREAM s")
    home.run("RUN STREAM s")
    assert (home.counts(), len(rejected(home)), status(home).rejects) == (home.expected, 1, 1)


def test_limits(home: Home) -> None:
    """A batch above a limit writes nothing, and says how the stream continues."""
    home.send(4)
    send(home, BROKEN, ARRAY)
    home.create(rejects="bad", max_rejects="1")
    with pytest.raises(ExecutionError, match=r"2 of 6 records of the batch are malformed, more than 'max.rejects' = '1'"
                       r" allows: the first is in partition 0, offset 2: not a JSON object") as error:  # fmt: skip
        home.run("RUN STREAM s")
    assert "ALTER STREAM default.s SET PROPERTIES ('max.rejects' = '…')" in (error.value.hint or "")
    assert (home.counts()[0], home.run("SHOW TABLES LIKE 'bad'"), status(home).rejects) == (0, [], 0)
    home.run("ALTER STREAM s SET PROPERTIES ('max.rejects' = '2', 'max.rejects.share' = '0.01')")
    with pytest.raises(ExecutionError, match=r"'max.rejects.share' = '0.01' of 100 records"):
        home.run("RUN STREAM s")
    home.manage()
    home.run("START STREAM s")
    until(lambda: "ALTER STREAM default.s SET" in (home.stream()["last_error"] or ""), "the error")
    assert (home.stream()["state"], home.stream()["desired"], home.counts()[0]) == ("failing", "running", 0)
    home.run("ALTER STREAM s SET PROPERTIES ('max.rejects.share' = '0.02')")
    home.run("WAIT STREAM s")
    assert (home.counts(), len(rejected(home)), home.stream()["state"]) == (home.expected, 2, "running")
    home.run("STOP STREAM s")


def test_properties_of_the_stream_and_of_the_kafka_table(home: Home) -> None:
    """The stream's table takes precedence; without it, the property of the Kafka table applies, or the setting with
    which the stream was created."""
    home.send(2)
    send(home, BROKEN)
    home.create()
    with pytest.raises(ExecutionError, match="malformed record in topic") as error:
        home.run("RUN STREAM s")
    assert "SET PROPERTIES ('rejects' = 'default.s_rejects')" in (error.value.hint or "")
    home.run("ALTER TABLE r SET TBLPROPERTIES ('hivedruid.malformed.rows' = 'skip')")
    home.run("RUN STREAM s")
    assert (home.counts(), status(home).rejects) == (home.expected, 1)
    home.run("ALTER TABLE r SET TBLPROPERTIES ('hivedruid.malformed.rows' = 'reject',"
             " 'hivedruid.malformed.table' = 'of_table')")  # fmt: skip
    send(home, ARRAY)
    home.run("RUN STREAM s")
    assert (len(rejected(home, "of_table")), home.stream()["lag"], status(home).rejects) == (1, 0, 2)
    home.run("ALTER STREAM s SET PROPERTIES ('rejects' = 'default.bad')")
    send(home, NOT_A_NUMBER)
    home.run("RUN STREAM s")
    assert (len(rejected(home)), len(rejected(home, "of_table")), status(home).rejects) == (1, 1, 3)
    home.run("DROP STREAM s WITH TABLE")
    home.run("ALTER TABLE r UNSET TBLPROPERTIES ('hivedruid.malformed.rows')")
    with Session(home.path, hiveconf={**CONF, "hivedruid.malformed.rows": "skip"}, background="skip") as session:
        run(session, "CREATE STREAM s FROM r INTO t AS SELECT id, n, `__partition` AS p, `__offset` AS o FROM r")
    home.run("RUN STREAM s")
    assert (home.counts(), status(home).rejects) == (home.expected, 3)


def test_the_rows_at_other_offsets_are_not_read(home: Home) -> None:
    """Iceberg skips the files of earlier batches, so that a batch costs the same however many there were."""
    home.create(rejects="bad")
    for _ in range(3):
        send(home, BROKEN, ARRAY)
        home.run("RUN STREAM s")
    with Session(home.path, hiveconf=CONF, background="tool") as session:
        table = session.catalog.find("default", "bad")
        assert table is not None
        found = Malformed("default.r", home.topic, 2, "", {0: (2, 2), 1: (2, 2)})
        with session._get_spark().running(NOTHING, target=table) as spark:
            name = iceberg_name(table)
            plan = spark.sql(f"EXPLAIN SELECT * FROM {name} WHERE {rejects._at(found)}").collect()[0][0]
            (pushed,) = {line.split("filters=")[1] for line in plan.splitlines() if "filters=" in line}
            assert "offset >= 2" in pushed
            assert "partition = 1" in pushed
            assert f"topic = '{home.topic}'" in pushed


def test_statements_that_do_not_fit(home: Home) -> None:
    home.run("CREATE TABLE other (n bigint)")
    for properties, message in (
        ("'rejects' = 'a b'", "not a valid rejects"),
        ("'rejects' = 'nowhere.bad'", "Database does not exist: nowhere"),
        ("'rejects' = 'other'", r"cannot be added to default\.other"),
        ("'rejects' = 't'", r"default\.t is the target"),
        ("'max.rejects' = '-1', 'rejects' = 'bad'", "not a valid max.rejects"),
        ("'max.rejects.share' = '5'", "not a valid max.rejects.share"),
        ("'max.rejects' = '5'", "'max.rejects' has no effect"),
    ):
        with pytest.raises(SemanticError, match=message) as error:
            home.run(f"CREATE STREAM s FROM r INTO t WITH PROPERTIES ({properties}) AS SELECT id FROM r")
        assert error.value.span is not None, properties
    home.create(rejects="bad", max_rejects="5")
    with pytest.raises(SemanticError, match=r"'max.rejects' has no effect"):
        home.run("ALTER STREAM s UNSET PROPERTIES ('rejects')")
    with pytest.raises(SemanticError, match=r"cannot be added to default\.other") as error:
        home.run("ALTER STREAM s SET PROPERTIES ('rejects' = 'other')")
    assert error.value.span is not None
    assert Streams(home.session.catalog).all()[0].stream.rejects == "default.bad"
