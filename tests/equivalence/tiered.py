"""Tiered tables: the rows of a world at random times in Druid and in the cold part."""

from __future__ import annotations

import gzip
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

from hivedruid.catalog.properties import TIER_COLD, TIER_GRANULARITY, TIER_HOT
from hivedruid.catalog.table import Table
from hivedruid.druid.ingestion import index_parallel_spec
from hivedruid.errors import HiveDruidError
from hivedruid.session import Session
from tests.equivalence.comparison import Rows
from tests.equivalence.local import in_utc
from tests.equivalence.tables import RandomTable, World, documents
from tests.support import killed
from tests.support.job_homes import run
from tests.support.loads import ingest

EDGES = (
    "1970-01-01", "2019-12-31", "2020-01-01", "2020-03-08", "2020-04-01", "2020-07-01", "2020-11-01", "2021-01-01", "2021-02-01",
    "2051-01-01",
)  # fmt: skip
"""Ends of archived times."""
SEGMENTS = ("YEAR", "MONTH", "DAY")
UNITS = ("YEAR", "MONTH", "DAY", "HOUR")


class TieredTables:
    """A home with the tables of a world as tiered tables, on the embedded store.

    The rows of a table arrive in rounds, whatever their time, and after each but the last those before a random time
    are archived: later rows of these times are late. In some worlds a last job is interrupted, with its rows in both
    parts.
    """

    def __init__(self, home: Path, settings: dict[str, str]) -> None:
        self.home = home
        self.compared = 0
        self._settings = {**settings, "druid.url": "embedded:"}
        self._session: Session | None = None

    def close(self) -> None:
        """Drop the tables. One that is being archived cannot be dropped."""
        if self._session is None:
            return
        for job in run(self._session, "SHOW ARCHIVES"):
            if job["state"] == "interrupted":
                run(self._session, f"CANCEL JOB '{job['job']}'")
        for table in self._session.catalog.tables("default"):
            run(self._session, f"DROP TABLE {table.name}")
        self._session.close()
        self._session = None

    def load(self, world: World) -> None:
        assert world.split is not None
        self.close()
        conf = {**self._settings, "hive.local.time.zone": world.zone}
        self._session = Session(self.home, hiveconf=conf, confirm=lambda _: True)
        for random in world.tables:
            self._split(self._session, conf, random, Random(f"{world.split} {random.table.name}"))

    def _split(self, session: Session, conf: dict[str, str], random: RandomTable, choice: Random) -> None:
        properties = {
            **random.table.properties, TIER_HOT: "druid", TIER_COLD: "orc", TIER_GRANULARITY: choice.choice(UNITS),
            "druid.segment.granularity": choice.choice(SEGMENTS), "druid.datasource": f"tiered_{uuid4().hex[:12]}",
        }  # fmt: skip
        table = session.catalog.add(replace(random.table, properties=properties))
        rounds, seed = choice.randint(2, 3), choice.random()
        for number in range(rounds):
            rows = tuple(row for row in random.rows if Random(f"{seed} {row[1]}").randrange(rounds) == number)
            self._insert(session, table, rows)
            archive = f"ARCHIVE TABLE {table.name} UP TO '{choice.choice(EDGES)}'"
            if number < rounds - 1:
                run(session, archive)
            elif choice.random() < 0.5:
                outcome = killed.run(self.home, conf, archive, "move staged")
                assert not outcome.error, outcome

    def _insert(self, session: Session, table: Table, rows: tuple[tuple[Any, ...], ...]) -> None:
        if not rows:
            return
        staging = self.home / "rows" / uuid4().hex
        staging.mkdir(parents=True)
        (staging / "rows.json.gz").write_bytes(gzip.compress(documents(RandomTable(table, rows)).encode(), 1))
        task: dict[str, Any] = index_parallel_spec(table, {}, "nothing")
        task["spec"]["ioConfig"]["inputSource"]["baseDir"] = str(staging)
        ingest(session.store, task)

    def rows(self, sql: str) -> Rows:
        assert self._session is not None
        (statement,) = self._session.statements(sql)
        self.compared += 1
        return in_utc(list(self._session.execute(statement).rows))

    def plan(self, sql: str) -> str:
        """The plan of a query, for reports."""
        assert self._session is not None
        with suppress(HiveDruidError):
            return "\n".join(f"    {line}" for row in run(self._session, f"EXPLAIN {sql}") for line in row.values())
        return "    (none)"
