"""hivedruid is killed -9 at every moment of a build of a materialized view, in a managed table and in Druid.

On the embedded store, with Spark. Afterwards the job is listed; the statement that SHOW PROBLEMS names, or a rerun,
completes the view, and no answer was ever wrong.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from hivedruid.errors import SemanticError
from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import Row, clone, leftovers, run, unfinished
from tests.support.lives import at_every_moment

AT_ONCE = 2
QUERY = "SELECT k, sum(n) AS s FROM src GROUP BY k ORDER BY k"
Rows = list[dict[str, object]]
OLD: Rows = [{"k": "a", "s": 4}, {"k": "b", "s": 2}]
NEW: Rows = [{"k": "a", "s": 4}, {"k": "b", "s": 9}]


@dataclass(frozen=True)
class View:
    """A view over `src`: where its rows are stored, and its query."""

    stored: str
    query: str
    kind: str

    def create(self, name: str) -> str:
        return f"CREATE MATERIALIZED VIEW {name} {self.stored} AS {self.query}"


MANAGED = View("", "SELECT k, sum(n) AS s FROM src GROUP BY k", "managed")
IN_DRUID = View("STORED BY 'druid'", "SELECT `__time`, k, n FROM src", "druid")
VIEWS = pytest.mark.parametrize("view", [MANAGED, IN_DRUID], ids=lambda view: view.kind)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a Druid table."""
    home = tmp_path_factory.mktemp("template") / "home"
    source = home.parent / "src.json"
    rows = [("a", 1), ("b", 2), ("a", 3)]
    source.write_text("".join(json.dumps({"__time": "2024-01-01 00:00:00", "k": k, "n": n}) + "\n" for k, n in rows))
    with Session(home) as session:
        run(
            session,
            "CREATE EXTERNAL TABLE rows_of (`__time` timestamp, k string, n bigint) ROW FORMAT SERDE "
            f"'org.apache.hive.hcatalog.data.JsonSerDe' STORED AS TEXTFILE LOCATION '{source}'",
        )
        run(
            session,
            "CREATE EXTERNAL TABLE src STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') AS SELECT * FROM rows_of",
        )
    return home


class Life:
    def __init__(self, home: Path, view: View) -> None:
        self.home, self.view = home, view

    def kill(self, statement: str, moment: int, rows: Rows) -> killed.Outcome:
        outcome = killed.run(self.home, {}, statement, moment)
        assert not outcome.error, outcome
        with Session(self.home) as session:
            assert run(session, QUERY) == rows, outcome
        return outcome

    def check(self, rows: Rows) -> None:
        """The view is current, and nothing is left unfinished."""
        with Session(self.home) as session:
            assert [row["stale"] for row in run(session, "SHOW MATERIALIZED VIEWS")] == ["No"]
            assert unfinished(session) == []
            assert run(session, QUERY) == rows
            assert any("default.v is used" in line for line in explained(session)), explained(session)
        assert leftovers(self.home) == []


def end(session: Session, job: Row, *, cancel: bool) -> None:
    """A build whose rows are verified is complete; another one is cancelled, or left to the next statement."""
    if job["state"] == "verified":
        run(session, f"RESUME JOB '{job['id']}'")
        return
    with pytest.raises(SemanticError, match="cannot be resumed"):
        run(session, f"RESUME JOB '{job['id']}'")
    if cancel:
        run(session, f"CANCEL JOB '{job['id']}'")


def explained(session: Session) -> list[str]:
    return [str(row["Explain"]) for row in run(session, f"EXPLAIN EXTENDED {QUERY}")]


@VIEWS
def test_rebuild(template: Path, tmp_path: Path, view: View) -> None:
    def is_killed(moment: int) -> bool:
        life = Life(clone(template, tmp_path / str(moment)), view)
        with Session(life.home) as session:
            run(session, view.create("v"))
            run(session, "INSERT INTO src VALUES ('2024-01-02 00:00:00', 'b', 7)")
        outcome = life.kill("ALTER MATERIALIZED VIEW v REBUILD", moment, NEW)
        with Session(life.home) as session:
            for job in unfinished(session):
                assert (job["statement"], job["running"]) == ("MATERIALIZED VIEW", "interrupted")
                end(session, job, cancel=bool(moment % 2))
            run(session, "ALTER MATERIALIZED VIEW v REBUILD")
        life.check(NEW)
        return outcome.killed

    assert at_every_moment(is_killed, at_once=AT_ONCE) > 3, "no statement has so few moments"


@VIEWS
def test_create(template: Path, tmp_path: Path, view: View) -> None:
    def is_killed(moment: int) -> bool:
        life = Life(clone(template, tmp_path / str(moment)), view)
        outcome = life.kill(view.create("v"), moment, OLD)
        with Session(life.home) as session:
            exists = any(row["mv_name"] == "v" for row in run(session, "SHOW MATERIALIZED VIEWS"))
            for job in unfinished(session):
                end(session, job, cancel=bool(moment % 2))
            run(session, "ALTER MATERIALIZED VIEW v REBUILD" if exists else view.create("v"))
        life.check(OLD)
        return outcome.killed

    assert at_every_moment(is_killed, at_once=AT_ONCE) > 3, "no statement has so few moments"
