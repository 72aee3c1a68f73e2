"""Runs long Spark calls in their own thread, so that a waiting caller can cancel them, and removes their output."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.filesystems import Access, open_location

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

_PAUSE = 0.2
"""Seconds between two attempts to cancel a call."""

NOTICED = 0.5
"""Seconds after which a waiting thread looks for a Ctrl-C. The main thread runs the handler of a signal, but a signal
that the system delivered to another thread does not wake it.
"""

_SETTLED = 1.0
"""Seconds without new files after which no task of a failed job writes any longer."""

_MOST_SETTLING = 30.0
"""Seconds after which `remove_output` returns even if tasks keep writing."""


class SparkCall:
    """A running Spark call; `error` is set when it has failed."""

    def __init__(self, spark: SparkSession, work: Callable[[], None]) -> None:
        self._spark = spark
        self._work = work
        self._tag = f"hivedruid-{uuid4().hex}"
        self._over = Event()  # after an interrupted join(), is_alive() returns False
        self.error: BaseException | None = None
        Thread(target=self._run, name="spark-call", daemon=True).start()

    def _run(self) -> None:
        try:
            self._spark.addTag(self._tag)  # tags are per thread
            self._work()
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits
            self.error = error
        finally:
            self._over.set()

    def wait(self) -> None:
        """Wait for the call and raise its error. Ctrl-C cancels it first."""
        try:
            while not self._over.wait(NOTICED):
                pass
        finally:
            self.end()
        if self.error is not None:
            raise self.error

    def end(self) -> None:
        """Cancel the call if it is running and wait until it has ended; nothing is written after that. The
        cancellation is repeated, because a call that has not reached the server yet cannot be cancelled.
        """
        while not self._over.is_set():
            with suppress(Exception):  # a stopped server runs no jobs
                self._spark.interruptTag(self._tag)
            self._over.wait(_PAUSE)


def remove_output(folder: str, access: Access) -> None:
    """Delete the output folder of a failed or cancelled Spark job. Spark reports the failure of a job before all of its
    tasks have been killed, and a task that opens its file after the deletion creates the folder again: the deletion is
    repeated until the folder is still absent a second later.
    """
    with suppress(OSError):
        place = open_location(folder, access)
        start = absent_since = time.monotonic()
        while (now := time.monotonic()) - start < _MOST_SETTLING:
            if place.exists():
                with suppress(OSError):
                    place.remove()
                absent_since = time.monotonic()
            elif now - absent_since >= _SETTLED:
                return
            time.sleep(_PAUSE / 4)
