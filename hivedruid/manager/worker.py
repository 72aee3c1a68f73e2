"""Runs one stream: a batch after the other, in a thread and a session of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from hivedruid.catalog.streams import Stream, Streams
from hivedruid.errors import CommitConflictError, HiveDruidError
from hivedruid.manager.turns import Turns
from hivedruid.script import SourceStatement
from hivedruid.secret_text import redact
from hivedruid.session import Session
from hivedruid.setting_types import other_machines
from hivedruid.streams import properties
from hivedruid.streams.overview import moment

FIRST_BACKOFF, MOST_BACKOFF = 1.0, 60.0
"""Seconds to wait after an error, doubled with each one that follows."""
CHECKED = 10.0
"""Seconds between two records of a stream that it looks for records, and finds none."""

Report = Callable[[str], None]


class Worker:
    """The thread of one stream. It ends when `stop` is called, after the running batch.

    Nothing is lost if it ends in the middle of one, or if another process runs the same stream: every batch begins with
    the offsets in the table, and only one writer can commit after them.
    """

    def __init__(self, home: Path, stream: Stream, report: Report, turns: Turns) -> None:
        self.stream = stream
        self._turns = turns
        self._home = home
        self._report = report
        self._stopped = Event()
        self._changed = Event()
        self._thread = Thread(target=self._run, name=f"stream {stream.full_name}", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ask the thread to end after its batch."""
        self._stopped.set()
        self._changed.set()

    def follow(self, stream: Stream) -> None:
        """Ask the thread not to wait longer, for a trigger or after an error, if the definition has changed."""
        if stream.version != self.stream.version:
            self._changed.set()

    def join(self, seconds: float) -> bool:
        """Wait for the end of the thread; whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        errors = 0
        while not self._stopped.is_set():
            begun = monotonic()
            try:
                with self._session() as session:
                    self._run_batches(session)
            except Exception as error:  # noqa: BLE001 - a stream is restarted after every error
                errors = errors + 1 if monotonic() - begun < MOST_BACKOFF else 1
                self._record_error(error)
                self._wait(min(MOST_BACKOFF, FIRST_BACKOFF * 2 ** (errors - 1)))

    def _wait(self, seconds: float) -> None:
        """Wait, but no longer if the stream is stopped or altered."""
        self._changed.wait(seconds)
        self._changed.clear()

    def _session(self) -> Session:
        settings = dict(self.stream.settings)
        return Session(self._home, hiveconf=settings, note=self._note, background=f"stream {self.stream.id}")

    def _run_batches(self, session: Session) -> None:
        """Run batches until the thread is stopped, or an error is raised."""
        streams, last = Streams(session.catalog), monotonic()
        self._record_check(streams, 0.0)
        while not self._stopped.is_set():
            due = monotonic()
            with self._turn() as has_turn:
                if not has_turn:
                    break
                self._follow(streams)
                trigger = properties.trigger(self.stream.properties)
                begun = monotonic()
                limit = properties.limit(self.stream.properties, max(begun - last, trigger))
                is_full = self._run_batch(session, streams, limit)
            self._record_check(streams, CHECKED)
            last = begun
            rated = "max.records.per.second" in self.stream.properties
            if not is_full or rated:
                self._wait(max(0.0, trigger - (monotonic() - due)))

    def _turn(self) -> AbstractContextManager[bool]:
        """The turn for a batch; Spark on other machines has processors of its own."""
        if other_machines(self.stream.settings):
            return nullcontext(enter_result=True)
        return self._turns.turn(self._stopped.is_set)

    def _follow(self, streams: Streams) -> None:
        """Take the definition as it is now. It may change before the next batch reads it: that one is newer, too."""
        record = streams.current(self.stream)
        self.stream = record.stream
        if record.followed != self.stream.version:
            streams.follow(self.stream)

    def _run_batch(self, session: Session, streams: Streams, limit: int) -> bool:
        """Whether the batch had as many records as allowed, so that more are waiting."""
        before = streams.current(self.stream).status.records
        try:
            session.execute(SourceStatement(f"RUN STREAM {self.stream.full_name} LIMIT {limit}"))
        except CommitConflictError as error:
            self._note(f"{error.message}; the batch is read again")
            return True
        return streams.current(self.stream).status.records - before >= limit

    def _record_check(self, streams: Streams, after: float) -> None:
        """Record that the stream looks for records, if that was recorded more than `after` seconds ago."""
        status, now = streams.current(self.stream).status, datetime.now(UTC)
        known = moment(status.checked_at)
        if known is None or abs((now - known).total_seconds()) >= after:
            streams.report(self.stream, replace(status, checked_at=now.isoformat(timespec="milliseconds")))

    def _note(self, text: str) -> None:
        self._report(f"{self.stream.full_name}: {text}")

    def _record_error(self, error: Exception) -> None:
        text = redact(described(error))
        self._note(text)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            with Session(self._home, background="errors") as session:
                streams = Streams(session.catalog)
                status = streams.current(self.stream).status
                hint = (error.hint or "") if isinstance(error, HiveDruidError) else ""
                failed = replace(
                    status, error=text, error_at=now, hint=redact(hint), restarts=status.restarts + 1, checked_at=now
                )
                streams.report(self.stream, failed)
        except HiveDruidError as unrecorded:
            self._note(f"the error was not recorded: {unrecorded.message}")


def described(error: Exception) -> str:
    """An error as SHOW STREAMS shows it: with the statement that mends it."""
    if not isinstance(error, HiveDruidError):
        return f"{type(error).__name__}: {error}"
    return f"{error.message}; {error.hint}" if error.hint else error.message
