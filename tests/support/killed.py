"""One statement in its own process, which can be killed at any of its effects.

A moment is before or after an effect (a request to Druid that changes something, a write to the catalog, the staging of
rows); without a request between two effects, the moment between them is the same. A statement is given the moment at
which it dies: the n-th, 0 for none, or after a named effect. Every effect is reported as soon as it is complete.

The processes are forked from one that has loaded all modules and done nothing else when the first of them begins: that
saves a second for each.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NoReturn

from hivedruid.actions.materialized import run as run_materialized
from hivedruid.actions.partitioning import moves
from hivedruid.actions.writing import local_staging, staging
from hivedruid.catalog.archives import Batches
from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.streams import Streams
from hivedruid.clients import lifecycle
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.metastore import HiveMetastore
from hivedruid.clients.transactions import Transaction
from hivedruid.embedded.manifest import Manifest
from hivedruid.errors import HiveDruidError
from hivedruid.iceberg import appends, home_catalog
from hivedruid.operations.change_store import Changes
from hivedruid.operations.kinds import STATES
from hivedruid.operations.store import Operations
from hivedruid.session import Session
from hivedruid.spark import partition_writing, row_changes, tiers, writing
from hivedruid.spark import streams as commits
from hivedruid.spark.jobs import SparkRunner
from tests.support.spark_settings import FEW_ROWS

SUPERVISOR = "/druid/indexer/v1/supervisor"
LIMIT = 600
"""Timeout of a statement in seconds."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a statement: whether it was killed, its effects up to then, and its error."""

    killed: bool
    effects: tuple[str, ...]
    error: str = ""
    hint: str = ""

    @property
    def is_begun(self) -> bool:
        """Whether it left unfinished work."""
        left = [effect for effect in self.effects if effect in ("begin", "roll_back", "finish", "remove")]
        return bool(left) and left[-1] in ("begin", "roll_back")


@dataclass(frozen=True)
class Crash:
    """The traceback of an internal error of a statement."""

    traceback: str


@dataclass(frozen=True)
class Completed:
    """The statement has ended without an error."""


LOST = 255
"""The exit code of a process whose real one multiprocessing could not read."""


class Running:
    """A running statement."""

    def __init__(self, process: ForkServerProcess, heard: Connection) -> None:
        self.process = process
        self._heard = heard
        self._effects: list[str] = []
        self._error: tuple[str, str] | None = None
        self._is_completed = False

    def wait_for(self, effect: str) -> bool:
        """Wait for that effect; False if the statement ended before."""
        while self._listen():
            if self._effects and self._effects[-1] == effect:
                return True
        return False

    def kill(self) -> None:
        self.process.kill()

    def outcome(self) -> Outcome:
        """The outcome. The process does not outlive this."""
        try:
            while self._listen():
                pass
            self.process.join(LIMIT)
        finally:
            self.process.kill()
            self.process.join()
            self._heard.close()
        if self._error is not None:
            return Outcome(False, tuple(self._effects), *self._error)
        code = self.process.exitcode
        assert code in (0 if self._is_completed else -signal.SIGKILL, LOST), f"exit code {code} after {self._effects}"
        return Outcome(not self._is_completed, tuple(self._effects))

    def _listen(self) -> bool:
        """Read one more report; False at the end."""
        try:
            assert self._heard.poll(LIMIT), f"not over after {LIMIT} s: {self._effects}"
            told = self._heard.recv()
        except EOFError:
            return False
        assert not isinstance(told, Crash), told.traceback
        if isinstance(told, str):
            self._effects.append(told)
        elif isinstance(told, Completed):
            self._is_completed = True
        else:
            self._error = told
        return True


def begin(
    home: Path, conf: Mapping[str, str], statement: str, moment: int | str = 0, *, hold: Path | None = None
) -> Running:
    """Begin a statement; with `hold` it stops before its first request that changes Druid, until that file exists."""
    context = _fork_server()
    heard, tell = context.Pipe(duplex=False)
    process = context.Process(target=_live, args=(tell, home, dict(conf), statement, moment, hold))
    process.start()
    tell.close()
    return Running(process, heard)


def run(home: Path, conf: Mapping[str, str], statement: str, moment: int | str = 0) -> Outcome:
    return begin(home, conf, statement, moment).outcome()


_PRELOADED = (
    "duckdb",
    "pyspark.sql.connect.session",
    "hivedruid.actions.writing.build",
    "hivedruid.clients.cluster",
    "hivedruid.embedded.ingest",
    "hivedruid.spark.staging",
)
"""Modules that statements load on demand."""


@cache
def _fork_server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *_PRELOADED])
    return context


# --- in the process ----------------------------------------------------------------------------------------------


class Moments:
    """Counts the effects, and ends the process at the given one."""

    def __init__(self, tell: Connection, last: int | str, hold: Path | None) -> None:
        self.tell = tell
        self.left = last if isinstance(last, int) else 0
        self.last = last
        self.hold = hold
        self.is_new = True
        self.is_writing = False

    def asked(self) -> None:
        self.is_new = True

    def before(self) -> None:
        if self.is_new:
            self._pass()
        self.is_new = False

    def after(self, effect: str, *, lasts: bool = True) -> None:
        """`lasts`: if the effect is part of a transaction, dying now is the same as before it; its end is the next
        moment.
        """
        self.tell.send(effect)
        if effect == self.last:
            self._die()
        if lasts:
            self._pass()
        self.is_new = not lasts

    def wait(self) -> None:
        if self.hold is None:
            return
        self.tell.send("held")
        end = monotonic() + LIMIT
        while not self.hold.exists():
            if monotonic() > end:
                raise TimeoutError(self.hold)
            sleep(0.005)
        self.hold = None

    def _pass(self) -> None:
        self.left -= 1
        if self.left == 0:
            self._die()

    def _die(self) -> NoReturn:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("a process outlives nothing")


def _watch(moments: Moments) -> None:
    send = DruidClient._send

    def watched(client: DruidClient, method: str, service: Any, path: str, *rest: Any, **options: Any) -> Any:
        if method == "GET" or path == "/druid/v2":
            moments.asked()
            return send(client, method, service, path, *rest, **options)
        moments.wait()
        moments.before()
        answer = send(client, method, service, path, *rest, **options)
        moments.after(f"{method} {path}")
        return answer

    DruidClient._send = watched  # type: ignore[assignment, method-assign]
    for owner, names in (
        (Ingestions, ("record_spec", "mark_working")),
        (Changes, ("begin", "resume", "note", "finish", "roll_back")),
        (Catalog, ("add", "replace", "remove")),
        (Operations, ("begin", "move")),
        (SparkRunner, ("stage", "write", "stage_records")),
        (local_staging, ("stage",)),
        (appends, ("write_orc", "write_file")),
        (home_catalog, ("replace_metadata",)),
        (Manifest, ("remove",)),
        (tiers, ("delete_batch", "delete_rows")),
        (row_changes, ("change_rows", "kept", "commit")),
        (partition_writing, ("stage",)),
        (writing, ("append_or_replace",)),
        (HiveMetastore, ("commit_iceberg",)),
        (moves, ("move_files", "move_folder", "delete_folders")),
        (Batches, ("keep",)),
        (Transaction, ("write", "commit")),
        (run_materialized, ("invalidate", "save")),
        (staging, ("remove",)),
        (
            Streams,
            ("add", "replace", "remove", "set_desired", "begin_batch", "end_batch", "skip", "keep_checkpoints"),
        ),
        (commits, ("reject_batch", "append_batch", "begin", "add_tag", "remove_tags", "roll_back")),
    ):
        for name in names:
            setattr(owner, name, _write(getattr(owner, name), moments))


def _write(write: Callable[..., Any], moments: Moments) -> Callable[..., Any]:
    def watched(*given: Any, **options: Any) -> Any:
        if moments.is_writing:  # a nested effect is part of the outer one
            return write(*given, **options)
        moments.before()
        moments.is_writing = True
        try:
            found = write(*given, **options)
        finally:
            moments.is_writing = False
        effect = " ".join((write.__name__, *(item for item in given if item in STATES)))
        moments.after(effect, lasts=not _is_part(given))
        return found

    return watched


def _is_part(given: tuple[Any, ...]) -> bool:
    """Whether a write to the catalog is part of a transaction that continues."""
    catalog = getattr(given[0], "_catalog", given[0])
    return isinstance(catalog, Catalog) and catalog.connection.in_transaction


def _live(
    tell: Connection, home: Path, conf: Mapping[str, str], statement: str, moment: int | str, hold: Path | None
) -> None:
    _watch(Moments(tell, moment, hold))
    lifecycle.RECONNECT = LIMIT  # a busy machine takes minutes to restart an overlord
    try:
        with Session(home, hiveconf={**FEW_ROWS, **conf}, confirm=lambda _: True) as session:
            (parsed,) = session.statements(statement)
            session.execute(parsed)
        tell.send(Completed())
    except HiveDruidError as error:
        tell.send((error.message, error.hint or ""))
    except Exception:  # noqa: BLE001 - the test raises it
        tell.send(Crash(traceback.format_exc()))
