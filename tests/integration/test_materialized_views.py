"""Materialized views on a cluster and on the embedded store: stale after a write, rebuilt in part, never wrong after a
crash.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.session import Session

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark

QUERY = "SELECT country, sum(clicks), count(*) FROM ev GROUP BY country ORDER BY country"
VIEW = (
    "SELECT floor_day(`__time`) AS `__time`, country, count(*) AS n, sum(clicks) AS s FROM ev "
    "GROUP BY floor_day(`__time`), country"
)


class Story:
    """A table `ev` and a view `daily` of it, in a separate home, on one engine."""

    def __init__(self, home: Path, conf: dict[str, str], table: str, view: str) -> None:
        self.home = home
        self.view = view
        self.conf = {"hive.local.time.zone": "UTC", **conf}
        self.notes: list[str] = []
        self.session = Session(home, hiveconf=self.conf, note=self.notes.append)
        self.run(
            "CREATE TABLE ev (`__time` timestamp, country string, clicks bigint) STORED BY 'druid' TBLPROPERTIES "
            f"('druid.datasource' = '{table}', 'druid.rollup' = 'false', 'druid.segment.granularity' = 'DAY')"
        )
        self.run("INSERT INTO ev VALUES ('2020-01-01 10:00:00', 'NO', 1), ('2020-01-02 10:00:00', 'US', 2)")
        self.run(
            f"CREATE MATERIALIZED VIEW daily STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{view}') AS {VIEW}"
        )

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        (statement,) = self.session.statements(sql)
        return list(self.session.execute(statement).rows)

    def plan(self, query: str = QUERY) -> str:
        return "\n".join(row[0] for row in self.run(f"EXPLAIN EXTENDED {query}"))

    def staleness(self) -> str:
        return str(self.run("SHOW MATERIALIZED VIEWS")[0][4])

    def killed_rebuild(self) -> None:
        """REBUILD in another process, which dies after writing the rows and before recording the state of the
        sources."""
        code = (
            "import json, os, signal, sys\nfrom pathlib import Path\nfrom hivedruid.actions.materialized import run as run_materialized\n"
            "from hivedruid.session import Session\nhome, conf = json.loads(sys.argv[1])\n"
            "run_materialized.save = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
            "with Session(Path(home), hiveconf=conf) as session:\n"
            "    for statement in session.statements('ALTER MATERIALIZED VIEW daily REBUILD'):\n"
            "        session.execute(statement)\n"
        )
        given = json.dumps([str(self.home), self.conf])
        done = subprocess.run(
            [sys.executable, "-c", code, given], capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.fixture(params=["embedded", "cluster"])
def story(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Story]:
    if request.param == "embedded":
        made = Story(tmp_path, {}, "default.ev", "default.daily")
    else:
        cluster: Cluster = request.getfixturevalue("cluster")
        new: Callable[[str], str] = request.getfixturevalue("new_data_source")
        conf = {"druid.url": cluster.services.broker, "druid.coordinator.url": cluster.services.coordinator}
        made = Story(tmp_path, conf, new("f_ev"), new("f_daily"))
    yield made
    made.session.close()


def test_a_view_from_its_first_build_to_a_crash(story: Story) -> None:
    assert "default.daily is used instead of default.ev" in story.plan()
    assert story.run(QUERY) == [("NO", 1, 1), ("US", 2, 1)]

    story.run("INSERT INTO ev VALUES ('2020-01-02 12:00:00', 'US', 40), ('2020-01-05 12:00:00', 'NO', 7)")
    assert story.staleness() == "Yes: default.ev has changed"
    assert "default.daily is not used: it is stale, default.ev has changed" in story.plan()
    assert story.run(QUERY) == [("NO", 8, 2), ("US", 42, 2)]

    rebuild = "\n".join(row[0] for row in story.run("EXPLAIN ALTER MATERIALIZED VIEW daily REBUILD"))
    changed = "2020-01-02T00:00:00.000Z/2020-01-03T00:00:00.000Z, 2020-01-05T00:00:00.000Z/2020-01-06T00:00:00.000Z"
    assert f"rows: incremental, the intervals that have changed: {changed}" in rebuild
    story.run("ALTER MATERIALIZED VIEW daily REBUILD")
    assert story.staleness() == "No"
    assert "default.daily is used instead of default.ev" in story.plan()
    assert story.run(QUERY) == [("NO", 8, 2), ("US", 42, 2)]

    story.run("ALTER MATERIALIZED VIEW daily REBUILD")
    assert story.notes[-1] == "default.daily is up to date; nothing to do"

    story.run("INSERT INTO ev VALUES ('2020-01-05 13:00:00', 'NO', 100)")
    story.killed_rebuild()
    assert story.staleness().startswith("Yes: ")
    assert "is used instead of" not in story.plan()
    assert story.run(QUERY) == [("NO", 108, 3), ("US", 42, 2)]
    story.run("ALTER MATERIALIZED VIEW daily REBUILD")
    assert "default.daily is used instead of default.ev" in story.plan()
    assert story.run(QUERY) == [("NO", 108, 3), ("US", 42, 2)]

    _rebuild_without_new_rows(story)
    story.run("DROP MATERIALIZED VIEW daily")
    assert story.run("SHOW MATERIALIZED VIEWS") == []
    story.run("DROP TABLE ev")


def _rebuild_without_new_rows(story: Story) -> None:
    """The view has no rows of the changed day, and keeps those of the other days."""
    story.run(
        f"CREATE MATERIALIZED VIEW big DISABLE REWRITE STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{story.view}_big')"
        " AS SELECT `__time`, clicks FROM ev WHERE clicks > 50"
    )
    story.run("INSERT INTO ev VALUES ('2020-01-09 10:00:00', 'NO', 1)")
    assert "incremental" in "\n".join(row[0] for row in story.run("EXPLAIN ALTER MATERIALIZED VIEW big REBUILD"))
    story.run("ALTER MATERIALIZED VIEW big REBUILD")
    assert story.run("SELECT clicks FROM big") == [(100,)]
    story.run("DROP MATERIALIZED VIEW big")


def test_what_others_write_into_a_view_makes_it_stale(tmp_path: Path) -> None:
    story = Story(tmp_path, {}, "default.ev", "default.daily")
    with story.session:
        story.run("CREATE EXTERNAL TABLE raw STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'default.daily')")
        story.run("INSERT INTO raw (`__time`, country, n, s) VALUES ('2020-01-01 00:00:00', 'XX', 9, 9)")
        assert story.staleness() == "Yes: its rows were changed outside REBUILD"
        assert story.run(QUERY) == [("NO", 1, 1), ("US", 2, 1)]
        story.run("ALTER MATERIALIZED VIEW daily REBUILD")
        assert story.staleness() == "No"
        assert story.run("SELECT country, n, s FROM daily ORDER BY country") == [("NO", 1, 1), ("US", 1, 2)]


def test_the_clock_of_another_zone_does_not_count(tmp_path: Path) -> None:
    """Days of zoned times are those of the session that built the view."""
    story = Story(tmp_path, {}, "default.ev", "default.daily")
    with story.session:
        story.run("CREATE EXTERNAL TABLE zoned STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'default.ev')")
        story.run(
            "CREATE MATERIALIZED VIEW days STORED BY 'druid' AS SELECT floor_day(`__time`) AS `__time`, count(*) AS n "
            "FROM zoned GROUP BY floor_day(`__time`)"
        )
        query = "SELECT count(*) FROM zoned"
        assert "default.days is used instead of default.zoned" in story.plan(query)
        story.run("SET hive.local.time.zone=US/Pacific")
        assert "default.days is not used: it was built in the time zone UTC" in story.plan(query)
        assert "default.daily is used instead of default.ev" in story.plan()  # its time has no zone
