"""Calls that take as long as a job: made by a thread of their own, so that whoever waits for one can end it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

_PAUSE = 0.2
"""Seconds between two tries to end a call."""


class SparkCall:
    """Something that Spark does for us; `error` is what came of it, once it is over."""

    def __init__(self, spark: SparkSession, work: Callable[[], None]) -> None:
        self._spark = spark
        self._work = work
        self._tag = f"hivedruid-{uuid4().hex}"
        self._over = Event()  # a thread whose join() is interrupted says that it is not alive any more
        self.error: BaseException | None = None
        Thread(target=self._run, name="spark-call", daemon=True).start()

    def _run(self) -> None:
        try:
            self._spark.addTag(self._tag)  # tags belong to threads
            self._work()
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits
            self.error = error
        finally:
            self._over.set()

    def wait(self) -> None:
        """Return when it is over; raise what it failed with. Ctrl-C ends it first."""
        try:
            self._over.wait()
        finally:
            self.end()
        if self.error is not None:
            raise self.error

    def end(self) -> None:
        """Cancel it if it is not over, and return when it is: then nothing is written any more.

        Spark is told again and again: a call that is only on its way to the server is not there to be cancelled.
        """
        while not self._over.is_set():
            with suppress(Exception):  # a server that is gone runs nothing
                self._spark.interruptTag(self._tag)
            self._over.wait(_PAUSE)
