"""INSERT INTO Kafka tables exactly once: killed at every moment, its records are in the topic once, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from hivedruid.actions.writing import topics as topic_writes
from hivedruid.clients.transactions import Transaction, staged_records
from hivedruid.errors import ExecutionError, KafkaError, UnsupportedError
from hivedruid.operations.topics import TopicJob
from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import leftovers, run, unfinished
from tests.support.lives import at_every_moment

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

CONF = {"druid.url": "embedded:"}
NUMBERS = list(range(20))
MakeHome = Callable[[], "Home"]


class Home:
    """A home with a table of a topic of its own, written exactly once, and a statement that writes NUMBERS to it."""

    def __init__(self, path: Path, topics: Topics) -> None:
        self.path, self.topic = path, topics.new(partitions=3)
        rows = ", ".join(f"({n}, {n % 2})" for n in NUMBERS)
        self.insert = f"INSERT INTO t (n, `__partition`) VALUES {rows}"
        with self.session() as session:
            run(
                session,
                "CREATE EXTERNAL TABLE t (n bigint) STORED BY 'kafka' TBLPROPERTIES ('kafka.write.semantic' ="
                f" 'EXACTLY_ONCE', 'kafka.topic' = '{self.topic}', 'kafka.bootstrap.servers' = '{topics.bootstrap}')",
            )

    def session(self) -> Session:
        return Session(self.path, hiveconf=CONF)

    def killed(self, moment: int | str) -> killed.Outcome:
        outcome = killed.run(self.path, CONF, self.insert, moment)
        assert outcome.error == "", outcome
        return outcome

    def numbers(self, session: Session) -> list[int]:
        return [row["n"] for row in run(session, "SELECT n FROM t ORDER BY n")]


@pytest.fixture
def make_home(tmp_path: Path, topics: Topics) -> MakeHome:
    def make() -> Home:
        return Home(tmp_path / uuid4().hex, topics)

    return make


def test_rows_are_written_once(make_home: MakeHome) -> None:
    home = make_home()
    with home.session() as session:
        run(session, home.insert)
        assert home.numbers(session) == NUMBERS
        (job,) = run(session, "SHOW JOBS")
        assert (job["state"], job["table"]) == ("done", "default.t")
        assert leftovers(home.path) == []
        places = run(session, "SELECT `__partition` AS p, count(*) AS many FROM t GROUP BY `__partition` ORDER BY p")
        assert [(row["p"], row["many"]) for row in places] == [(0, 10), (1, 10)]
        run(session, home.insert)
        assert home.numbers(session) == sorted(NUMBERS * 2), (
            "a statement that succeeded is another one when it is rerun"
        )
        run(session, "INSERT INTO t (n) SELECT n FROM t WHERE n > 100")
        assert home.numbers(session) == sorted(NUMBERS * 2)
        explained = "\n".join(str(row["Explain"]) for row in run(session, f"EXPLAIN {home.insert}"))
        assert "transaction: one for all staged records" in explained


def test_killed_at_every_moment(make_home: MakeHome) -> None:
    def is_killed(moment: int) -> bool:
        home = make_home()
        outcome = home.killed(moment)
        with home.session() as session:
            assert home.numbers(session) in ([], NUMBERS), outcome
            for job in unfinished(session):
                verb = "CANCEL" if job["state"] == "planned" else "RESUME"
                run(session, f"{verb} JOB '{job['id']}'")
            has_begun = {"move staged"} & set(outcome.effects)
            assert home.numbers(session) == (NUMBERS if has_begun else []), outcome
            assert unfinished(session) == []
            assert leftovers(home.path) == []
        return outcome.killed

    assert at_every_moment(is_killed, at_once=2) >= 8


@pytest.mark.parametrize("moment", ["stage_records", "move staged", "write", "commit"])
def test_a_statement_that_is_rerun_continues(make_home: MakeHome, moment: str) -> None:
    home = make_home()
    assert home.killed(moment).killed
    with home.session() as session:
        run(session, home.insert)
        assert home.numbers(session) == NUMBERS
        assert unfinished(session) == []


def test_a_job_is_cancelled_unless_it_is_committed(make_home: MakeHome) -> None:
    for moment, numbers in (("move staged", []), ("write", []), ("commit", NUMBERS)):
        home = make_home()
        assert home.killed(moment).killed
        with home.session() as session:
            (job,) = unfinished(session)
            if numbers:
                with pytest.raises(ExecutionError, match="cannot be cancelled: its records are in topic"):
                    run(session, f"CANCEL JOB '{job['id']}'")
            else:
                run(session, f"CANCEL JOB '{job['id']}'")
            assert unfinished(session) == []
            assert leftovers(home.path) == []
            assert home.numbers(session) == numbers


def test_a_producer_that_was_replaced_cannot_commit(make_home: MakeHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was taken for dead, and continues after its job was resumed."""
    home = make_home()

    def late(job: TopicJob, transaction: Transaction) -> None:
        transaction.write(staged_records(job.folder, job.rows))
        with closing(Transaction(job.target, job.group)) as other:
            other.write(staged_records(job.folder, job.rows))
            other.commit()
        transaction.commit()

    with home.session() as session:
        with monkeypatch.context() as patch:
            patch.setattr(topic_writes, "_commit", late)
            with pytest.raises(KafkaError, match="cannot write to topic"):
                run(session, home.insert)
        (job,) = unfinished(session)
        run(session, f"RESUME JOB '{job['id']}'")
        assert home.numbers(session) == NUMBERS


def test_refusals(make_home: MakeHome, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_home()
    with home.session() as session:
        run(session, "CREATE TABLE m (n bigint)")
        with pytest.raises(UnsupportedError, match="exactly once: the statement has other targets"):
            run(session, "FROM m INSERT INTO t (n) SELECT n INSERT INTO m SELECT n")
        with pytest.raises(KafkaError, match=r"cannot write to topic .*partition"):
            run(session, "INSERT INTO t (n, `__partition`) VALUES (1, 0), (2, 7)")
        (job,) = unfinished(session)
        run(session, f"CANCEL JOB '{job['id']}'")
        assert home.numbers(session) == []
    assert home.killed("write").killed
    monkeypatch.setattr(topic_writes, "KNOWN_FOR", topic_writes.KNOWN_FOR * 0)
    with home.session() as session:
        (job,) = unfinished(session)
        with pytest.raises(ExecutionError, match="it is no longer known whether the records"):
            run(session, f"RESUME JOB '{job['id']}'")
        run(session, f"CANCEL JOB '{job['id']}'")
        assert home.numbers(session) == []
