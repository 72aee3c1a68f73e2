"""`logs/queries.jsonl` in the home folder: every statement that ran, with the id its native queries carry in Druid."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from hivedruid import instants
from hivedruid.errors import HiveDruidError, ParseError, UnsupportedError
from hivedruid.private import private_folder
from hivedruid.results import size
from hivedruid.secret_text import hide_in, holds_key, mask_text, redact
from hivedruid.secrets import masked

if TYPE_CHECKING:
    from hivedruid.script import SourceStatement

LOG_FILE = Path("logs", "queries.jsonl")
NOT_KEPT = "(omitted: it could not be parsed and may contain a secret)"
LOG_LIMIT = 10_000_000
"""Bytes after which the log is rotated to `queries.jsonl.1`."""


def new_id(prefix: str) -> str:
    """The id of a statement: `queryId` of its native queries is this, with a number where there are several."""
    return f"{prefix}-{os.urandom(6).hex()}"


class QueryLog:
    """Appends one JSON object per statement; secrets are masked. A failure to write the log does not fail the
    statement."""

    def __init__(self, home: Path, note: Callable[[str], None]) -> None:
        self._path = home / LOG_FILE
        self._note = note
        self._broken = False

    def write(self, values: dict[str, Any]) -> None:
        if self._broken:
            return
        line = json.dumps(values, ensure_ascii=False) + "\n"
        try:
            private_folder(self._path.parent)
            if self._path.exists() and self._path.stat().st_size > LOG_LIMIT:
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(descriptor, "a", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123
                file.write(line)
        except OSError as error:
            self._broken = True
            self._note(f"cannot write the query log {self._path}: {error.strerror}")


class LogEntry:
    """The log entry of a running statement: `done` writes it, once; without a log it does nothing.

    `texts`: whether the log contains the texts of statements and messages.
    """

    def __init__(
        self, log: QueryLog | None, query_id: str, statement: SourceStatement, druid_url: str, *, texts: bool = True
    ) -> None:
        self._log = log
        self._texts = texts
        self._begun = monotonic()
        self._written = False
        self._written_as = statement.text if statement.original is None else statement.original
        place = f"{statement.file}:{statement.line}" if statement.file else None
        self.values: dict[str, Any] = {
            "id": query_id,
            "time": instants.now(),
            "statement": mask_text(self._written_as.strip()) if texts else None,
            **({"script": place} if place else {}),
            "druid": masked("druid.url", druid_url),
        }

    def counted(self, items: Iterator[Any]) -> Iterator[Any]:
        """The rows or batches of rows, unchanged; the statement is done when they are exhausted or closed."""
        count = 0
        try:
            for item in items:
                yield item
                count += size(item)
        except GeneratorExit:
            self.done(count, cut=True)
            raise
        except BaseException as error:
            self.done(count, error)
            raise
        self.done(count)

    def done(self, rows: int | None = None, error: BaseException | None = None, *, cut: bool = False) -> None:
        """Write the entry. The error that its caller raises loses its secrets even without a log."""
        if error is not None:
            hide_in(error)
        if self._written or self._log is None:
            return
        self._written = True
        self.values["seconds"] = round(monotonic() - self._begun, 3)
        if rows is not None:
            self.values["rows"] = rows
        if cut:
            self.values["outcome"] = "not all rows were read"
        elif error is None:
            self.values["outcome"] = "ok"
        else:
            message = error.message if isinstance(error, HiveDruidError) else str(error)
            if isinstance(error, ParseError | UnsupportedError) and holds_key(self._written_as):
                self.values["statement"] = NOT_KEPT
            kind = error.kind if isinstance(error, HiveDruidError) else type(error).__name__
            self.values["outcome"] = f"{kind}: {redact(message)}" if self._texts else kind
        self._log.write(self.values)
