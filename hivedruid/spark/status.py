"""The progress of a running job, and a note if the cluster does not run it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hivedruid.bounded_http import response_of
from hivedruid.setting_types import other_machines

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

PROGRESS_AFTER = 1.0
"""Seconds until a job's first status line."""
WAITING = 10.0
"""Seconds without a running task after which a note is printed."""
_PAUSE = 0.5
_PATIENCE = 2.0
"""Seconds to wait for the web interface of a master."""


class _Report:
    """What Spark reports of the job: twice a second, if it has changed."""

    def __init__(self, details: Callable[[], str], progress: Callable[[str], None]) -> None:
        self._details = details
        self._progress = progress
        self._begun = monotonic()
        self._line = Lock()
        self.shown = False
        self.waiting_since: float | None = None

    def wait_for_stages(self) -> None:
        """Show what happens before the first stage, which takes as long as the stages if Spark has just started."""
        with self._line:
            if not self.shown:
                self.shown = True
                self._progress("Spark: planning the job")

    def show(self, stages: Iterable[Any] | None, inflight_tasks: int = 0, *, done: bool, **_: object) -> None:
        every = list(stages or ())
        active = [stage for stage in every if not stage.done]
        if done or not active or inflight_tasks:
            self.waiting_since = None
        elif self.waiting_since is None:
            self.waiting_since = monotonic()
        if done or not active or monotonic() - self._begun < PROGRESS_AFTER:
            return
        share = 100 * sum(s.num_completed_tasks for s in active) // max(1, sum(s.num_tasks for s in active))
        number, seconds = len(every) - len(active) + 1, monotonic() - self._begun
        with self._line:
            self.shown = True
            self._progress(f"Spark: stage {number}/{len(every)}, {share} %{self._details()} ({seconds:.0f} s)")


@contextmanager
def shown(
    spark: SparkSession,
    settings: Mapping[str, str],
    details: Callable[[], str],
    progress: Callable[[str], None],
    note: Callable[[str], None],
) -> Iterator[None]:
    """Show the progress of the running job inside the block."""
    report, over = _Report(details, progress), Event()

    def watch() -> None:
        if not over.wait(PROGRESS_AFTER):
            report.wait_for_stages()
        while other_machines(settings) and not over.wait(_PAUSE):
            since = report.waiting_since
            if since is not None and monotonic() - since > WAITING:
                note(_without_cores(settings))
                return

    spark.registerProgressHandler(report.show)
    watching = Thread(target=watch, name="spark-waiting", daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
        spark.removeProgressHandler(report.show)
        if report.shown:
            progress("")


def _without_cores(settings: Mapping[str, str]) -> str:
    """Why no task runs, as far as it is known."""
    cluster = other_machines(settings)
    waiting = f"no task of the job has run for {WAITING:.0f} s: {cluster} has no free cores, or executors are starting"
    if settings.get("spark.remote"):
        return waiting
    cores = settings.get("spark.cores.max")
    asked = f"up to {cores} cores (spark.cores.max)" if cores else "all cores (spark.cores.max is not set)"
    memory = settings.get("spark.executor.memory") or "1g"
    return (
        f"{waiting}. It requests {asked}, in executors with {memory} of memory (spark.executor.memory){_free(settings)}"
    )


def _free(settings: Mapping[str, str]) -> str:
    """The free cores and memory of a standalone master, if its web interface shows them."""
    master = urlsplit(settings["spark.master"].partition(",")[0])
    if master.scheme != "spark" or not master.hostname:
        return ""
    port = int(settings.get("spark.master.ui.port") or 8080)
    with suppress(OSError, HTTPException, ValueError, KeyError, TypeError, RecursionError):
        connection = HTTPConnection(master.hostname, port, timeout=_PATIENCE)
        try:
            connection.request("GET", "/json/")
            state = json.loads(response_of(connection, _PATIENCE).document())
        finally:
            connection.close()
        free, memory = state["cores"] - state["coresused"], state["memory"] - state["memoryused"]
        return f"; {free} of {state['cores']} cores and {memory} MB of memory are free"
    return ""
