"""hivedruid is killed -9 at every moment of every statement that changes an ingestion, and the statement is rerun.

Afterwards the state is as without the interruption: the supervisor, the catalog, and the number of occurrences of each
record in Druid. In between, SHOW PROBLEMS lists the interruption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.catalog.ingestions import Ingestions
from hivedruid.operations.change_store import Changes
from tests.support import killed
from tests.support.ingestion import Feed, IngestionHome, until
from tests.support.lives import AT_ONCE, at_every_moment

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics


class Life:
    """A table, its topic and home, and statements that are killed while they run."""

    def __init__(self, home: IngestionHome, topics: Topics) -> None:
        self.home = home
        self.feed = Feed(topics)
        self.name = home.create(self.feed.topic)

    def say(self, statement: str) -> None:
        self.home.run(statement.format(t=self.name))

    def more(self) -> None:
        """Produce records, and wait until they are read."""
        self.feed.send(10)
        self.home.expect(self.name, self.feed.expected)

    def interrupted(self, statement: str, moment: int) -> bool:
        """Run a statement, killed at that moment, and rerun it; False if it finished before."""
        text = statement.format(t=self.name)
        outcome = killed.run(self.home.folder, self.home.conf, text, moment)
        assert not outcome.error, (outcome, statement, moment)
        problems = self.home.problems(self.name)
        assert ("interrupted" in problems) == (outcome.killed and outcome.is_begun), (outcome, problems)
        # a finished statement is not rerun: a RESET would move offsets again, a ROLLBACK go back further
        is_done = "finish" in outcome.effects and not statement.startswith("DROP")
        if outcome.killed and not is_done:
            before = self.jobs()
            again = killed.run(self.home.folder, self.home.conf, text)
            assert not again.error, (again, outcome)
            assert not outcome.is_begun or self.jobs() <= before, "a rerun continues the same job"
        return outcome.killed

    def jobs(self) -> set[str]:
        return {str(job["id"]) for job in self.home.run("SHOW JOBS")}

    def check(self, state: str) -> None:
        """The state after an uninterrupted statement. `state` is the supervisor's; STOPPED if there should be none."""
        table = self.home.session.catalog.get("default", self.name)
        record = Ingestions(self.home.session.catalog).find(table.table_id)
        assert record.started == (state != "STOPPED")
        assert Changes(self.home.session.catalog).unfinished() == {}
        assert {job["running"] for job in self.home.run(f"SHOW JOBS FOR {self.name}")} == {"no"}
        row = self.home.ingestion(self.name)
        assert row["state"] == state
        until(lambda: len(self.home.tasks(self.name)) == int(state == "RUNNING"))  # one with another spec may be ending
        # a task that was suspended when it began; published segments may be loaded a moment later
        self.home.settle(self.name, "tasks failing")

    def end(self) -> None:
        """Publish everything that was read: the counts are final."""
        self.home.stop(self.name, self.feed.expected)


@pytest.fixture
def lives(cluster: Cluster, topics: Topics, tmp_path: Path) -> Callable[[Callable[[Life, int], bool]], None]:
    """Runs a test for every moment, several concurrently, until one reports that the statement finished before."""

    @contextmanager
    def life(moment: int) -> Iterator[Life]:
        home = IngestionHome(tmp_path / str(moment), cluster.services)
        try:
            yield Life(home, topics)
        finally:
            home.close()

    def one(test: Callable[[Life, int], bool], moment: int) -> bool:
        with life(moment) as made:
            return test(made, moment)

    def run(test: Callable[[Life, int], bool]) -> None:
        assert at_every_moment(lambda moment: one(test, moment)) > AT_ONCE, "no statement has so few moments"

    return run


Lives = Callable[[Callable[[Life, int], bool]], None]


def test_start_and_stop(lives: Lives) -> None:
    def test(life: Life, moment: int) -> bool:
        life.feed.send(10)
        started = life.interrupted("START INGESTION {t}", moment)
        life.check("RUNNING")
        life.more()
        tasks = life.home.tasks(life.name)
        stopped = life.interrupted("STOP INGESTION {t}", moment)
        life.check("STOPPED")
        if life.home.has_failed(life.name, tasks):
            life.say("START INGESTION {t}")
            life.more()
        life.end()
        return started or stopped

    lives(test)


def test_suspend_and_resume(lives: Lives) -> None:
    def test(life: Life, moment: int) -> bool:
        life.say("START INGESTION {t}")
        life.more()
        suspended = life.interrupted("SUSPEND INGESTION {t}", moment)
        life.check("SUSPENDED")
        life.feed.send(10)
        resumed = life.interrupted("RESUME INGESTION {t}", moment)
        life.check("RUNNING")
        life.more()
        life.end()
        return suspended or resumed

    lives(test)


def test_alter_and_roll_back(lives: Lives) -> None:
    def test(life: Life, moment: int) -> bool:
        def rows() -> int:
            running = life.home.overlord.spec(life.name)
            assert running is not None
            return int(running["spec"]["tuningConfig"]["maxRowsInMemory"])

        set_ = "ALTER TABLE {{t}} SET TBLPROPERTIES ('druid.kafka.ingestion.maxRowsInMemory' = '{}')"
        life.say("START INGESTION {t}")
        life.more()
        life.say(set_.format(1001))
        altered = life.interrupted(set_.format(1002), moment)
        assert rows() == 1002
        life.check("RUNNING")
        life.more()
        rolled_back = life.interrupted("ALTER TABLE {t} ROLLBACK INGESTION", moment)
        assert rows() == 1001
        life.check("RUNNING")
        life.more()
        life.end()
        return altered or rolled_back

    lives(test)


@pytest.mark.parametrize("state", ["RUNNING", "STOPPED"])
def test_reset_to_earliest(lives: Lives, state: str) -> None:
    def test(life: Life, moment: int) -> bool:
        life.say("START INGESTION {t}")
        life.more()
        tasks = life.home.tasks(life.name)
        if state != "RUNNING":
            life.say("STOP INGESTION {t}")
        read = Counter(life.feed.expected)
        reset = life.interrupted("RESET INGESTION {t} TO EARLIEST", moment)
        life.check(state)
        if not life.home.has_failed(life.name, tasks):
            life.feed.expected += read  # as announced: one more time, and only once
        if state != "RUNNING":
            life.say("START INGESTION {t}")
        life.more()
        life.end()
        return reset

    lives(test)


def test_drop_and_purge(lives: Lives) -> None:
    """Nothing is left of it, in Druid or in the catalog; a dropped table cannot be dropped again."""

    def test(life: Life, moment: int) -> bool:
        life.say("START INGESTION {t}")
        life.more()
        life.say("ALTER TABLE {t} SET TBLPROPERTIES ('external.table.purge' = 'true')")
        dropped = life.interrupted("DROP TABLE IF EXISTS {t} PURGE", moment)
        assert life.home.overlord.spec(life.name) is None
        assert life.home.tasks(life.name) == []
        assert life.home.session.catalog.find("default", life.name) is None
        until(lambda: not life.home.counted(life.name))
        return dropped

    lives(test)
