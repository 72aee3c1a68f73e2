"""A table, and jobs that write to it one after the other, each of which is killed at some moment."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING
from uuid import uuid4
from zlib import crc32

from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import clone, conf_of, create, leftovers, numbers, run, staged, unfinished, values

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

AT_ONCE = 4
"""Concurrent runs: each of them needs one of Druid's four task slots."""
Values = list[int]


@dataclass(frozen=True)
class Staged:
    """A home with a job whose rows are staged, the statement that it is of, and the numbers that it makes of others."""

    home: Path
    statement: str
    made_of: Callable[[Values], Values]


class Stage:
    """The homes, all with a table t_<token>, which every life calls otherwise."""

    def __init__(self, folder: Path, cluster: Cluster, *, way: str = "native") -> None:
        self.cluster, self.way = cluster, way
        self.conf = {**conf_of(cluster.services), "hivedruid.druid.write": way}
        self.deep_storage = cluster.home / "local" / "data" / "segments"
        self.tokens = [uuid4().hex[:12]]
        empty = create(folder / "empty", self.conf, f"t_{self.tokens[0]}")
        self.first = self._staged(empty, "INSERT INTO {t} " + values(0, 1, 2), lambda _: [0, 1, 2])
        self.more = self._staged(empty, "INSERT INTO {t} " + values(3, 4), lambda old: [*old, 3, 4])
        self.other = self._staged(empty, "INSERT OVERWRITE TABLE {t} " + values(5, 6), lambda _: [5, 6])
        created = (
            "CREATE EXTERNAL TABLE c_{t} STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') AS SELECT * FROM "
        )
        self.created = self._staged(empty, f"{created} ({values(0, 1, 2)}) AS v(`__time`, n)", lambda _: [0, 1, 2])

    def _staged(self, empty: Path, statement: str, made_of: Callable[[Values], Values]) -> Staged:
        text = statement.format(t=f"t_{self.tokens[0]}")
        home = clone(empty, empty.with_name(f"staged-{uuid4().hex[:6]}"))
        return Staged(staged(home, self.conf, text), text, made_of)

    def end(self) -> None:
        if self.cluster.is_adopted:
            druid = self.cluster.druid()
            for name in druid.data_sources():
                if any(token in name for token in self.tokens):
                    druid.drop(name)
            druid.close()


class Life:
    """A table of its own, and jobs that write to it one after the other."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage = stage
        self.folder = folder
        self.token = uuid4().hex[:12]
        stage.tokens.append(self.token)

    def home(self, of: Staged) -> Path:
        """A copy of the home of a staged job, with the job's segments in deep storage, for the table of this life."""
        home = self.folder / f"{self.token}-{uuid4().hex[:6]}"
        old = self.stage.tokens[0]
        with self.session(of.home) as session:
            (job,) = unfinished(session)
        for segments in self.stage.deep_storage.glob(f"*/hivedruid-{job['id']}"):
            copy = Path(str(segments).replace(old, self.token))
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(segments, copy)
        return clone(of.home, home, rename=(old, self.token))

    def folders(self, session: Session) -> list[str]:
        """What cancelled jobs have left in deep storage."""
        cancelled = [job["id"] for job in run(session, "SHOW JOBS") if job["state"] == "cancelled"]
        return [str(found) for job in cancelled for found in self.stage.deep_storage.glob(f"*/hivedruid-{job}")]

    def session(self, home: Path) -> Session:
        return Session(home, hiveconf=self.stage.conf)

    def rows(self, session: Session, table: str = "t") -> Values:
        return numbers(session, f"{table}_{self.token}")

    def killed(self, home: Path, moment: int | str) -> killed.Outcome:
        with self.session(home) as session:
            (job,) = unfinished(session)
        outcome = killed.run(home, self.stage.conf, f"RESUME JOB '{job['id']}'", moment)
        assert not outcome.error, outcome
        return outcome

    def write(self, of: Staged, moment: int | str, old: Values, *, cancel: bool = False) -> bool:
        """A job that is killed, and then resumed or cancelled; whether it was killed."""
        home = self.home(of)
        new = of.made_of(old)
        outcome = self.killed(home, moment)
        with self.session(home) as session:
            assert Counter(self.rows(session)) <= Counter(old) | Counter(new), outcome
            expected = new
            for job in unfinished(session):
                if cancel and job["state"] != "verified":
                    expected = old
                    self.cancel(home, str(job["id"]), moment)
                else:
                    run(session, f"RESUME JOB '{job['id']}'")
            self.check(session, home, expected)
        return outcome.killed

    def cancel(self, home: Path, job_id: str, moment: int | str) -> None:
        """Cancel a job, which is killed, too, and done again."""
        statement = f"CANCEL JOB '{job_id}'"
        if killed.run(home, self.stage.conf, statement, moment).killed:
            with self.session(home) as session:
                if unfinished(session):
                    run(session, statement)

    def check(self, session: Session, home: Path, expected: Values, table: str = "t") -> None:
        assert unfinished(session) == []
        assert leftovers(home) == []
        assert self.folders(session) == []
        assert self.rows(session, table) == expected


def moments() -> Iterator[int]:
    """The moments at which a test kills a statement: every n-th one, with n from HIVEDRUID_KILL_EVERY, which is 1 in
    `make soak`. Each test begins at another one of the first n. An odd n reaches odd and even moments, after which tests
    resume and cancel in turn.
    """
    every = int(os.environ.get("HIVEDRUID_KILL_EVERY", "3"))
    return count(1 + crc32(os.environ["PYTEST_CURRENT_TEST"].encode()) % every, every)


def at_every_moment(is_killed: Callable[[int], bool], *, at_once: int = AT_ONCE) -> int:
    """Run a life for each of the moments until one ends without being killed; returns the last moment of those before."""
    left = moments()
    killed_at: list[int] = []
    is_over = Event()

    def run_lives(_: int) -> None:
        while not is_over.is_set():
            moment = next(left)
            found = False
            try:
                found = is_killed(moment)
            finally:
                if not found:
                    is_over.set()
            if found:
                killed_at.append(moment)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(run_lives, range(at_once)))
    return max(killed_at)
