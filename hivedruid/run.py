"""Runs statements in a session and writes results to stdout, for the command line and the prompt."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from hivedruid.diagnostics import OK, Diagnostics
from hivedruid.errors import ExecutionError
from hivedruid.results import Result, begun, size, through

if TYPE_CHECKING:
    from hivedruid.script import SourceStatement
    from hivedruid.session import Session

BATCH_LINES = 500
BATCH_CHARACTERS = 100_000
"""A text of so many characters, of a line or of many, is written at once."""
BATCH_SECONDS = 0.1
"""Maximum seconds that a line is buffered."""


@dataclass(frozen=True)
class Output:
    """Output options: a layout of `render`, with or without column names and `Time taken`; `echo` prints statements
    before their results."""

    layout: str = "table"
    header: bool = True
    time: bool = False
    echo: bool = False


def run_text(
    session: Session,
    text: str,
    output: Output,
    diagnostics: Diagnostics,
    *,
    file: str | None = None,
    fail_at_end: bool = False,
) -> int:
    """Run every statement of `text`; returns the exit code of the first that failed, else OK.

    Stops at the first error unless `fail_at_end`. KeyboardInterrupt and BrokenPipeError pass through.
    """
    code = OK
    statements = session.statements(text, file)
    while True:
        try:
            statement = next(statements, None)
        except Exception as error:  # noqa: BLE001 - a bug, too, must not end a prompt
            failed = diagnostics.report(error)
            return code or failed
        if statement is None:
            return code
        failed = run_statement(session, statement, output, diagnostics)
        code = code or failed
        if failed and not fail_at_end:
            return code


def run_statement(session: Session, statement: SourceStatement, output: Output, diagnostics: Diagnostics) -> int:
    """Execute one statement, write its result, and report its error; returns the exit code."""
    start = monotonic()
    if output.echo:
        from hivedruid.secret_text import mask_text

        diagnostics.statement(mask_text(statement.text if statement.original is None else statement.original))
    try:
        result = session.execute(statement)
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        header = output.header and session.settings.get_bool("hive.cli.print.header")
        rows = write_result(result, replace(output, header=header), diagnostics)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - reported as one line, a bug as such
        return diagnostics.report(error)
    diagnostics.progress("")
    if output.time:
        diagnostics.timing(monotonic() - start, rows)
    elif rows is not None and output.layout in ("table", "vertical") and not result.is_text:
        diagnostics.info(f"{rows} row{'' if rows == 1 else 's'}")
    return OK


def write_result(result: Result, output: Output, diagnostics: Diagnostics) -> int | None:
    """Write a result to stdout while rows arrive; returns the number of rows, None without a result."""
    from hivedruid import render

    if not result.columns:
        return None
    counter = _Counter()
    rows = through(
        begun(result.rows), counter.passing
    )  # a failure before the first row must not leave a header on stdout

    def write(text: str) -> None:
        diagnostics.progress("")
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            discard_stdout()
            raise ExecutionError(f"cannot write to standard output: {error.strerror}") from None

    _write_batches(
        render.lines(replace(result, rows=rows), output.layout, header=output.header, terminal=sys.stdout.isatty()),
        write,
    )
    return counter.rows


def discard_stdout() -> None:
    """Discard stdout's buffer: it cannot be written, and the exit would try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_batches(lines: Iterator[str], write: Callable[[str], None]) -> None:
    """Batch lines; lines before an error are written, too."""
    batch: list[str] = []

    def flush() -> None:
        text = "".join(batch)
        batch.clear()
        if text:
            write(text)

    due = monotonic() + BATCH_SECONDS
    try:
        for line in lines:
            batch.append(line)
            if len(batch) >= BATCH_LINES or len(line) >= BATCH_CHARACTERS or monotonic() >= due:
                flush()
                due = monotonic() + BATCH_SECONDS
    finally:
        flush()


class _Counter:
    """Counts the rows that pass through."""

    def __init__(self) -> None:
        self.rows = 0

    def passing(self, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self.rows += size(item)
            yield item
