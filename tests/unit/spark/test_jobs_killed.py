"""hivedruid is killed -9 at every moment of statements that write to Druid, and of those that write to managed tables
without Spark; what then is said decides, and nothing is half done.

On the embedded store, with Spark and without. tests/integration/test_jobs_killed.py does the same on a real Druid.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyarrow import orc

from hivedruid.actions.writing.local import SETTING
from hivedruid.errors import SemanticError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.metadata import local_path
from hivedruid.session import Session
from hivedruid.spark import server
from tests.support import killed
from tests.support.ingestion import until
from tests.support.job_homes import clone, leftovers, run, unfinished
from tests.support.lives import at_every_moment
from tests.support.spark_output import unfinished_files

AT_ONCE = 2
Values = list[int]
OLD: Mapping[str, Values] = {"a": [-1], "b": [-3, -2]}
"""Numbers that are in the tables before."""


ON_SPARK: Mapping[str, str] = {SETTING: "0"}


@dataclass(frozen=True)
class Statement:
    """A statement, the numbers that are in its targets afterwards, and the settings that it runs with."""

    text: str
    new: Mapping[str, Values]
    conf: Mapping[str, str] = field(default_factory=lambda: ON_SPARK)

    def old(self) -> dict[str, Values]:
        return {table: OLD.get(table, []) for table in self.new}


SELECT = "SELECT `__time`, n"
MULTI = Statement(
    f"FROM src INSERT INTO a {SELECT} WHERE n < 3 INSERT OVERWRITE TABLE b {SELECT} WHERE n >= 3",
    {"a": [-1, 0, 1, 2], "b": [3, 4]},
)
CREATE = Statement(
    f"CREATE EXTERNAL TABLE c STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') AS {SELECT} FROM src",
    {"c": [0, 1, 2, 3, 4]},
)


HERE = Statement(
    "INSERT OVERWRITE TABLE b SELECT `__time`, n FROM src WHERE n < 2 UNION ALL SELECT TIMESTAMP '2024-01-04 00:00:00', 8",
    {"b": [0, 1, 8]},
    conf={},
)
"""A statement whose rows are staged by its own process."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with rows to write, and with tables that have rows."""
    home = tmp_path_factory.mktemp("template") / "home"
    source = home.parent / "src.json"
    source.write_text("".join(json.dumps({"__time": f"2024-01-0{n + 1} 00:00:00", "n": n}) + "\n" for n in range(5)))
    with Session(home) as session:
        run(
            session,
            "CREATE EXTERNAL TABLE src (`__time` timestamp, n bigint) ROW FORMAT SERDE "
            f"'org.apache.hive.hcatalog.data.JsonSerDe' STORED AS TEXTFILE LOCATION '{source}'",
        )
        for name, numbers in OLD.items():
            run(
                session,
                f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, n bigint) STORED BY 'druid' "
                "TBLPROPERTIES ('druid.rollup' = 'false')",
            )
            values = ", ".join(f"('2024-01-02 00:00:00', {n})" for n in numbers)
            run(session, f"INSERT INTO {name} VALUES {values}")
    return home


class Life:
    def __init__(self, home: Path, statement: Statement) -> None:
        self.home = home
        self.statement = statement

    def rows(self, session: Session) -> dict[str, Values]:
        there = set(session.table_names())
        return {
            table: [row["n"] for row in run(session, f"SELECT n FROM {table} ORDER BY n")] if table in there else []
            for table in self.statement.new
        }

    def copy(self, name: str) -> Life:
        return Life(clone(self.home, self.home.with_name(f"{self.home.name}-{name}")), self.statement)

    def begin(self, moment: int) -> killed.Outcome:
        """The statement, killed; no table has anything but what it had or what it should have."""
        outcome = killed.run(self.home, self.statement.conf, self.statement.text, moment)
        assert not outcome.error, outcome
        with Session(self.home) as session:
            old = self.statement.old()
            assert all(numbers in (old[t], self.statement.new[t]) for t, numbers in self.rows(session).items()), outcome
        return outcome

    def say_again(self) -> None:
        again = killed.run(self.home, self.statement.conf, self.statement.text)
        assert (again.killed, again.error) == (False, "")
        self.check(self.statement.new)

    def resume(self) -> None:
        """Of what is staged nothing is computed again; what is not is as if it had not been said."""
        with Session(self.home) as session:
            expected = self.rows(session)
            for job in unfinished(session):
                if job["state"] == "planned":
                    with pytest.raises(SemanticError, match="not all of its rows were staged"):
                        run(session, f"RESUME JOB '{job['id']}'")
                    run(session, f"CANCEL JOB '{job['id']}'")
                else:
                    run(session, f"RESUME JOB '{job['id']}'")
                    table = job["table"].removeprefix("default.")
                    expected[table] = self.statement.new[table]
        self.check(expected)

    def cancel(self) -> None:
        with Session(self.home) as session:
            expected = self.rows(session)
            for job in unfinished(session):
                if job["state"] == "verified":
                    with pytest.raises(SemanticError, match="is verified: its rows are in"):
                        run(session, f"CANCEL JOB '{job['id']}'")
                    run(session, f"RESUME JOB '{job['id']}'")
                else:
                    run(session, f"CANCEL JOB '{job['id']}'")
        self.check(expected)

    def check(self, expected: Mapping[str, Values]) -> None:
        with Session(self.home) as session:
            assert self.rows(session) == expected
            assert unfinished(session) == []
        assert leftovers(self.home) == []


@pytest.mark.parametrize("statement", [MULTI, CREATE, HERE], ids=["multi-insert", "create table as", "without Spark"])
def test_at_every_moment(template: Path, tmp_path: Path, statement: Statement) -> None:
    def is_killed(moment: int) -> bool:
        life = Life(clone(template, tmp_path / str(moment)), statement)
        outcome = life.begin(moment)
        if outcome.effects.count("move cleaned") == len(statement.new):
            life.check(statement.new)  # who said it again would say another one
            return outcome.killed
        if moment % 2:  # each state has moments of both kinds
            life.copy("resumed").resume()
        else:
            life.copy("cancelled").cancel()
        life.say_again()
        return True

    assert at_every_moment(is_killed, at_once=AT_ONCE) > 6 * len(statement.new), "no statement has so few moments"


def managed_rows(home: Path) -> dict[str, Values]:
    """The numbers in the files of each managed table of the catalog, at its current commit."""
    with Session(home) as session:
        tables = [table for table in session.catalog.tables("default") if table.has_snapshots]
    files = {table.name: home_catalog.files(home, table.table_id).data for table in tables}
    return {
        name: sorted(n for file in found for n in orc.read_table(local_path(file.path))["n"].to_pylist())
        for name, found in files.items()
    }


@pytest.mark.parametrize(
    ("statement", "new"),
    [
        ("INSERT INTO m VALUES (3), (4)", {"m": [1, 2, 3, 4], "empty": []}),
        ("INSERT INTO empty SELECT 5", {"m": [1, 2], "empty": [5]}),
        ("CREATE TABLE c AS SELECT 6 AS n", {"m": [1, 2], "empty": [], "c": [6]}),
    ],
    ids=["insert", "first insert", "create table as"],
)
def test_managed_tables_at_every_moment(tmp_path: Path, statement: str, new: dict[str, Values]) -> None:
    """Without Spark. What a killed statement leaves has no effect on the same statement."""
    home, old = tmp_path / "home", {"m": [1, 2], "empty": []}
    found = []
    for moment in range(1, 20):
        with Session(home) as session:
            for table in ("m", "empty", "c"):
                run(session, f"DROP TABLE IF EXISTS {table}")
            run(session, "CREATE TABLE m (n INT)")
            run(session, "CREATE TABLE empty (n INT)")
            run(session, "INSERT INTO m VALUES (1), (2)")
        outcome = killed.run(home, {}, statement, moment)
        assert not outcome.error, outcome
        found.append(managed_rows(home))
        if found[-1] == old:
            again = killed.run(home, {}, statement)
            assert (again.killed, again.error) == (False, "")
            assert managed_rows(home) == new
        if not outcome.killed:
            break
    made = found.index(new)
    assert found == [old] * made + [new] * (len(found) - made)
    assert (made, len(found)) >= (5, 7), "the files and the commit are moments"
    assert not (home / "spark").exists()


MANY = 400_000
SLOW = (
    "INSERT OVERWRITE TABLE b SELECT x.`__time`, x.n + count(*) OVER () * 0 FROM src x "
    f"LATERAL VIEW explode(split(repeat(',', {MANY} - 1), ',')) e AS y"
)
"""A statement that stages for a while: rows of `src`, each MANY times."""


ANEW = Statement("INSERT OVERWRITE TABLE b SELECT `__time`, n FROM src", {"b": [0, 1, 2, 3, 4]})


def staging(home: Path) -> bool:
    """Whether files of a job are being written."""
    return bool(unfinished_files(home / "staging"))


def test_while_rows_are_staged(template: Path, tmp_path: Path) -> None:
    """Spark's server is another process, and writes on: what it writes does not get among other rows, and does not
    stay."""
    home = clone(template, tmp_path / "home")
    process = killed.begin(home, ON_SPARK, SLOW)
    until(lambda: staging(home), "staged files")
    process.kill()
    assert process.outcome().effects == ("begin",)
    life = Life(home, ANEW)
    with Session(home) as session:
        (job,) = unfinished(session)
        assert (job["state"], job["running"]) == ("planned", "interrupted")
        until(lambda: run(session, ANEW.text) == leftovers(home), "the end of Spark's job, and of its files")
        assert [row["id"] for row in run(session, "SHOW JOBS WHERE STATE = 'cancelled'")] == [job["id"]]
    life.check(ANEW.new)


def test_spark_dies_while_it_stages(template: Path, tmp_path: Path) -> None:
    home = clone(template, tmp_path / "home")
    process = killed.begin(home, ON_SPARK, SLOW)
    until(lambda: staging(home), "staged files")
    running = server.find(server.shared_home(home))
    assert running is not None
    os.kill(running.jvm, signal.SIGKILL)
    outcome = process.outcome()
    assert not outcome.killed
    assert outcome.error
    life = Life(home, ANEW)
    life.check(life.statement.old())
    life.say_again()
