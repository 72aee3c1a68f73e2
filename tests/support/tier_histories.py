"""Random histories of a tiered table: after each step answers are those of the same rows in DuckDB.

A step adds rows (late ones, too), archives, is killed -9 while it archives, resumes or cancels what was killed, compacts
one of the parts, changes rows of the cold part as another tool may do it, or queries while another process archives. On
a cluster there are more: see `tier_clusters.py`.

    python -m tests.support.tier_histories --histories 300 [--minutes N] [--seed N] [--guard NAME] [--cluster [HOME]]

`--guard` removes a guard of the protocol: the histories must then find a lost or double row. `--cluster` starts a
cluster, or uses one that runs, whose services are then killed, too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from time import monotonic
from types import MappingProxyType
from typing import Any, TypeVar
from uuid import uuid4

import duckdb

from hivedruid.actions.tiering import decisions, reading
from hivedruid.catalog.tiers import cold_part
from hivedruid.operations.loads import LoadJob
from hivedruid.operations.operation import Operation
from hivedruid.operations.store import Operations
from hivedruid.plan.tiers import TierFacts
from hivedruid.qtest.sharing import sharing_spark
from hivedruid.session import Session
from hivedruid.spark.compaction import compact_table
from hivedruid.spark.inputs import iceberg_name
from hivedruid.spark.jobs import NOTHING
from tests.support import killed
from tests.support.job_homes import run
from tests.support.spark_settings import FEW_ROWS

FIRST = datetime(2026, 1, 1)
DAYS = 6
MOST_MOMENTS = {True: 10, False: 16}
"""An archive job has about as many effects, in the embedded store and on a cluster."""
EMBEDDED = {"druid.url": "embedded:", **FEW_ROWS}
QUERIES = (
    "SELECT count(*) AS a, sum(n) AS b, min(n) AS c, max(`__time`) AS d FROM t",
    "SELECT k AS a, count(*) AS b, sum(n) AS c, avg(n) AS d FROM t GROUP BY k ORDER BY 1",
    "SELECT count(DISTINCT n) AS a, count(*) AS b FROM t WHERE `__time` < '2026-01-03'",
    "SELECT `__time` AS a, k AS b, n AS c FROM t WHERE `__time` >= '2026-01-02' ORDER BY 3 LIMIT 7",
    "SELECT k AS a, sum(n) AS b FROM t WHERE n % 3 = 1 GROUP BY k HAVING count(*) > 1 ORDER BY 1",
    "SELECT a.k AS a, count(*) AS b FROM t a JOIN t b ON a.n = b.n GROUP BY a.k ORDER BY 1",
)

Row = tuple[datetime, str | None, int]


def _values(rows: Sequence[Row]) -> str:
    return "VALUES " + ", ".join(f"('{at}', {'NULL' if k is None else repr(k)}, {n})" for at, k, n in rows)


def only_verb(job: Operation) -> str | None:
    """The verb for an interrupted job that cannot be both resumed and cancelled."""
    return {"planned": "CANCEL", "verified": "RESUME"}.get(job.state) if isinstance(job, LoadJob) else None


class WrongAnswerError(AssertionError):
    """A query of the tiered table has another answer than the model."""


@dataclass
class History:
    """A home with a tiered table `t`, and its rows in DuckDB. `steps` are those so far, for reports."""

    path: Path
    session: Session
    conf: Mapping[str, str]
    random: Random
    steps: list[str] = field(default_factory=list)
    numbers: int = 0
    data_source: str = field(default_factory=lambda: f"t_{uuid4().hex[:12]}")
    model: duckdb.DuckDBPyConnection = field(default_factory=duckdb.connect)

    def begin(self) -> None:
        self.create()
        self.model.execute('CREATE TABLE t ("__time" TIMESTAMP, k VARCHAR, n BIGINT)')
        self.insert()

    def create(self, properties: Mapping[str, str] = MappingProxyType({})) -> None:
        given = {"druid.rollup": "false", "druid.datasource": self.data_source, **properties}
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        self.run(f"CREATE TABLE t (`__time` TIMESTAMP, k STRING, n BIGINT) STORED AS TIERED TBLPROPERTIES ({listed})")

    def end(self) -> None:
        self.finish()
        self.run("DROP TABLE t")

    def run(self, sql: str) -> list[Any]:
        return run(self.session, sql)

    def steps_to_choose(self) -> list[tuple[int, Callable[[], None]]]:
        """The steps, with their weights."""
        return [
            (4, self.insert), (2, self.archive), (4, self.archive_killed), (2, self.finish), (1, self.compact_hot),
            (1, self.compact_cold), (2, self.change_cold), (2, self.archive_within_query), (1, self.query_meanwhile),
            (2, self.insert_killed), (1, self.unarchive), (2, self.unarchive_killed), (1, self.overwrite),
        ]  # fmt: skip

    def step(self) -> None:
        """One step, and a check of some queries."""
        steps = self.steps_to_choose()
        (chosen,) = self.random.choices([step for _, step in steps], [weight for weight, _ in steps])
        chosen()
        self.check()

    def check(self) -> None:
        for query in self.random.sample(QUERIES, 2):
            expected = self.model.execute(query.replace("`", '"')).fetchall()
            found = [tuple(row.values()) for row in self.run(query)]
            if found != expected:
                raise WrongAnswerError(f"{query}: {found} instead of {expected}, after {self.steps}")

    # --- steps ---------------------------------------------------------------------------------------------------

    def new_rows(self) -> list[Row]:
        rows: list[Row] = []
        for _ in range(self.random.randint(1, 6)):
            self.numbers += 1
            at = FIRST + timedelta(days=self.random.randrange(DAYS), minutes=self.random.randrange(1440))
            rows.append((at, self.random.choice(["a", "b", None]), self.numbers))
        return rows

    def insert(self, write: str = "") -> None:
        """`write` is the value of hivedruid.tiered.write, by default any."""
        rows = self.new_rows()
        self.steps.append(f"insert {len(rows)}")
        self.run(f"SET hivedruid.tiered.write={write or self.random.choice(['auto', 'hot'])}")
        self.run(f"INSERT INTO t {_values(rows)}")
        self.run("RESET hivedruid.tiered.write")
        self.add_to_model(rows)

    def insert_killed(self) -> None:
        """The statement is killed, and run again."""
        rows = self.new_rows()
        statement = f"INSERT INTO t {_values(rows)}"
        before = self._last_job()
        if self.run_killed(statement, f"insert {len(rows)}").killed and not self.has_completed(before):
            self.run(statement)
        self.add_to_model(rows)

    def has_completed(self, before: Operation | None) -> bool:
        """Whether a job after `before` has written its rows, so that the statement would write them again."""
        last = self._last_job()
        if last is None or (before is not None and last.id == before.id):
            return False
        return last.statement == "INSERT INTO" and last.state == "cleaned"

    def _last_job(self) -> Operation | None:
        return next(iter(Operations(self.session.catalog).all()), None)

    def overwrite(self) -> None:
        """The rows of the days of new rows are replaced."""
        self.finish()
        rows = self.new_rows()
        self.steps.append(f"overwrite {sorted({at.date().isoformat() for at, _, _ in rows})}")
        self.run("SET hivedruid.overwrite.mode=dynamic")
        self.run(f"INSERT OVERWRITE TABLE t {_values(rows)}")
        self.run("RESET hivedruid.overwrite.mode")
        for at, _, _ in rows:
            self.model.execute('DELETE FROM t WHERE "__time"::DATE = ?', [at.date()])
        self.add_to_model(rows)

    @property
    def unarchive_statement(self) -> str:
        return f"UNARCHIVE TABLE t FROM '{(FIRST + timedelta(days=self.random.randrange(DAYS))).date()}'"

    def unarchive(self) -> None:
        statement = self.unarchive_statement
        self.steps.append(statement)
        self.run(statement)

    def unarchive_killed(self) -> None:
        self.run_killed(self.unarchive_statement)

    def add_to_model(self, rows: Sequence[Row]) -> None:
        self.model.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)

    @property
    def archive_statement(self) -> str:
        return f"ARCHIVE TABLE t UP TO '{(FIRST + timedelta(days=self.random.randint(1, DAYS))).date()}'"

    def archive(self) -> None:
        statement = self.archive_statement
        self.steps.append(statement)
        self.run(statement)

    def archive_killed(self) -> None:
        self.run_killed(self.archive_statement)

    def run_killed(self, statement: str, name: str = "") -> killed.Outcome:
        """Run a statement in another process, which is killed at a random moment; `name` is that of the step."""
        moment = self.random.randint(1, MOST_MOMENTS[self.conf == EMBEDDED])
        outcome = killed.run(self.path, self.conf, statement, moment)
        assert not outcome.error, outcome
        self.steps.append(f"{name or statement} killed at {moment}: {outcome.effects[-1:]}")
        return outcome

    def finish(self) -> None:
        for job in self.unfinished():
            verb = only_verb(job) or self.random.choice(["RESUME", "CANCEL"])
            self.steps.append(f"{verb} {job.state}")
            self.run(f"{verb} JOB '{job.id}'")

    def unfinished(self) -> list[Operation]:
        return [*Operations(self.session.catalog).unfinished()]

    def compact_hot(self) -> None:
        self.steps.append("compact Druid")
        self.run("ALTER TABLE t COMPACT 'major' AND WAIT")

    def compact_cold(self) -> None:
        self.steps.append("compact the cold part")
        table = self.session.catalog.get("default", "t")
        compact_table(self.session._get_spark(), cold_part(table), "major", 1 << 20)

    def change_cold(self) -> None:
        """Another tool deletes a row of the cold part, updates one, and adds one."""
        self.finish()
        found = self.rows_of("cold")
        if not found:
            return
        deleted, updated = (self.random.choice(found) for _ in range(2))
        ((time, _, number),) = self.new_rows()[:1]
        self.numbers = number
        self.steps.append(f"another tool deletes {deleted}, updates {updated} and adds {number}")
        for change in (
            f"DELETE FROM {{}} WHERE n = {deleted}", f"UPDATE {{}} SET k = 'c' WHERE n = {updated}",
            f"INSERT INTO {{}} VALUES (TIMESTAMP_NTZ '{time}', 'd', {number}, NULL)",
        ):  # fmt: skip
            self.in_cold(change)
        self.model.execute(f"DELETE FROM t WHERE n = {deleted}")
        self.model.execute(f"UPDATE t SET k = 'c' WHERE n = {updated}")
        self.add_to_model([(time, "d", number)])

    def rows_of(self, part: str) -> list[int]:
        """The numbers of the rows of a part, `hot` or `cold`."""
        self.run(f"SET hivedruid.tiered.read={part}")
        found = [row["n"] for row in self.run("SELECT n FROM t ORDER BY n")]
        self.run("RESET hivedruid.tiered.read")
        return found

    def in_cold(self, statement: str) -> None:
        """A statement of Spark on the cold part {}."""
        table = cold_part(self.session.catalog.get("default", "t"))
        with self.session._get_spark().running(NOTHING, target=table) as spark:
            spark.sql(statement.format(iceberg_name(table))).collect()

    def archive_within_query(self) -> None:
        """A query is planned, then another process archives, and then the query runs."""
        statement = self.archive_statement
        self.steps.append(f"{statement} within a query")

        def archive(_: list[str]) -> None:
            self.session.on_plan = None
            outcome = killed.run(self.path, self.conf, statement)
            assert not outcome.error, outcome

        self.session.on_plan = archive
        self.check()

    def query_meanwhile(self) -> None:
        statement = self.archive_statement
        self.steps.append(f"{statement} during queries")
        running = killed.begin(self.path, self.conf, statement)
        while running.process.is_alive():
            self.check()
        outcome = running.outcome()
        assert not outcome.error, outcome


AnyHistory = TypeVar("AnyHistory", bound=History)


@contextmanager
def running(made: AnyHistory) -> Iterator[AnyHistory]:
    """The history, begun; its table is dropped at the end."""
    with made.session:
        made.begin()
        try:
            yield made
        except BaseException:
            with suppress(Exception):  # the first error tells more
                made.end()
            raise
        made.end()


def history(seed: int, path: Path, conf: Mapping[str, str] = EMBEDDED) -> AbstractContextManager[History]:
    return running(History(path, session_of(path, conf), conf, Random(seed)))


def session_of(path: Path, conf: Mapping[str, str]) -> Session:
    return Session(path, hiveconf={**FEW_ROWS, **conf}, confirm=lambda _: True)


def _no_batch_left_out(_facts: TierFacts) -> tuple[str, ...]:
    return ()


GUARDS: Mapping[str, Callable[[], None]] = {
    # rows of a batch do not count before they have left Druid
    "left out": lambda: setattr(TierFacts, "left_out", property(_no_batch_left_out)),
    # a staged batch counts as soon as Druid's transaction has taken place
    "removed": lambda: setattr(reading, "_removed", lambda *_: set()),
    # a query is repeated if rows were archived meanwhile
    "same": lambda: setattr(reading, "is_same", lambda *_: True),
    # queries of Druid must not read archived segments
    "read": lambda: setattr(decisions, "_is_read", lambda *_: False),
}
"""The guards of queries, each as what removes it in this process."""


Begin = Callable[[int, Path], AbstractContextManager[History]]


def run_all(begin: Begin, given: argparse.Namespace) -> int:
    """Run histories until they are done, the time is over, or one has found a wrong answer; returns the exit code.
    Without a guard, a wrong answer must be found."""
    if given.guard:
        GUARDS[given.guard]()
    started = monotonic()
    for number in range(given.seed, given.seed + given.histories):
        if monotonic() - started > 60 * given.minutes:
            break
        with tempfile.TemporaryDirectory(prefix="hivedruid-tiers-") as folder:
            try:
                with begin(number, Path(folder)) as made:
                    for _ in range(given.steps):
                        made.step()
            except WrongAnswerError as error:
                print(f"history {number}: {error}", flush=True)
                return 0 if given.guard else 1
        print(f"history {number}: {len(made.steps)} steps, {monotonic() - started:.0f} s", flush=True)
    return 1 if given.guard else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=10_000)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--guard", choices=list(GUARDS))
    parser.add_argument("--cluster", type=Path, nargs="?", const=Path(), help="the home of a running local cluster")
    given = parser.parse_args()
    with sharing_spark():
        if given.cluster is None:
            return run_all(history, given)
        from tests.support.tier_clusters import on_cluster

        with on_cluster(given.cluster if given.cluster != Path() else None) as cluster:
            return run_all(cluster.history, given)


if __name__ == "__main__":
    from tests.support import tier_histories  # whose classes `tier_clusters` has

    sys.exit(tier_histories.main())
