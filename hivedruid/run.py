"""Runs statements in a session and writes results to stdout, for the command line and the prompt."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from hivedruid.diagnostics import OK, Diagnostics
from hivedruid.errors import ExecutionError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.results import Result, begun, size, through

if TYPE_CHECKING:
    from hivedruid import render
    from hivedruid.output_file import OutputFile
    from hivedruid.script import SourceStatement
    from hivedruid.session import Session

BATCH_LINES = 500
BATCH_CHARACTERS = 100_000
"""A text of so many characters, of a line or of many, is written at once."""
BATCH_SECONDS = 0.1
"""Maximum seconds that a line is buffered."""
PROGRESS_SECONDS = 0.5
"""Seconds between two states of the progress line while a file is written."""
NEW_OBJECTS = 10_000
"""Python collects garbage after this many new objects. After 700, its default, a third of the time of an INSERT of
20,000 rows is spent on collections, which all examine the objects of the statement."""


@dataclass(frozen=True)
class Output:
    """Output options: a layout of `render`, or `arrow`, with or without column names and `Time taken`; `echo` prints
    statements before their results. Rows go to `file`, in its layout, in place of stdout. `zone` is that of
    `timestamp with local time zone`."""

    layout: str = "table"
    header: bool = True
    time: bool = False
    echo: bool = False
    file: OutputFile | None = None
    zone: str = "UTC"


@dataclass(frozen=True)
class Written:
    """The number of rows of a written result, None without a result, and the time (`monotonic`) of its last row."""

    rows: int | None
    end: float


Writer = Callable[[Result, Output, Diagnostics], Written]


def run_text(
    session: Session,
    text: str,
    output: Output,
    diagnostics: Diagnostics,
    *,
    file: str | None = None,
    fail_at_end: bool = False,
    write: Writer | None = None,
) -> int:
    """Run every statement of `text`; returns the exit code of the first that failed, else OK. `write` writes the
    results, by default `write_result`.

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
        failed = run_statement(session, statement, output, diagnostics, write or write_result)
        code = code or failed
        if failed and not fail_at_end:
            return code


def run_statement(
    session: Session, statement: SourceStatement, output: Output, diagnostics: Diagnostics, write: Writer
) -> int:
    """Execute one statement, write its result, and report its error; returns the exit code."""
    start = monotonic()
    if output.echo:
        from hivedruid.secret_text import mask_text

        diagnostics.statement(mask_text(statement.text if statement.original is None else statement.original))
    try:
        result = session.execute(statement)
        if not gc.isenabled():
            gc.freeze()
            gc.set_threshold(NEW_OBJECTS)
            gc.enable()
        header = output.header and session.settings.get_bool("hive.cli.print.header")
        if output.file is not None and result.columns:
            output.file.take(statement.span(0))
        written = write(result, replace(output, header=header, zone=session.settings.time_zone), diagnostics)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - reported as one line, a bug as such
        return diagnostics.report(error)
    diagnostics.progress("")
    if output.time:
        diagnostics.timing(written.end - start, written.rows)
    elif (
        written.rows is not None
        and output.file is None
        and output.layout in ("table", "vertical")
        and not result.is_text
    ):
        diagnostics.info(f"{written.rows} row{'' if written.rows == 1 else 's'}")
    return OK


def write_result(result: Result, output: Output, diagnostics: Diagnostics, stream: TextIO | None = None) -> Written:
    """Write a result to stdout, to another stream, or to the file of `output`, while rows arrive."""
    if not result.columns:
        return Written(None, monotonic())
    result, counter = counted(result)
    if output.file is not None:
        counter.progress = diagnostics.progress
        output.file.write(result, output.zone, header=output.header)
        output.file.rows = counter.rows
    elif output.layout == "arrow":
        from hivedruid.arrow_files import write_arrow_stream

        diagnostics.progress("")
        with _stream_errors():
            write_arrow_stream(sys.stdout.buffer, result, output.zone)
    else:
        _write_text(result, output, diagnostics, stream)
    return Written(counter.rows, monotonic())


def _write_text(result: Result, output: Output, diagnostics: Diagnostics, stream: TextIO | None) -> None:
    """Write the lines of a result to a stream, by default stdout."""
    from hivedruid import render

    to = stream or sys.stdout

    def write(text: render.Text) -> None:
        diagnostics.progress("")
        with _stream_errors(stream):
            if isinstance(text, str) or not _takes_utf8(to):
                to.write(render.characters(text))
                to.flush()
            else:
                _write_bytes(to.buffer, text)

    _write_batches(render.texts(result, output.layout, header=output.header, terminal=to.isatty()), write)


def _takes_utf8(stream: TextIO) -> bool:
    """Whether a stream writes text as it is in UTF-8."""
    encoding = getattr(stream, "encoding", None) or ""
    return hasattr(stream, "buffer") and encoding.lower().replace("_", "-") in ("utf-8", "utf8") and os.linesep == "\n"


def _write_bytes(file: BinaryIO, text: memoryview) -> None:
    """Write all of the text; a file without a buffer (PYTHONUNBUFFERED) may take a part of it at a time."""
    while text:
        text = text[file.write(text) :]
    file.flush()


@contextmanager
def _stream_errors(stream: TextIO | None = None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if stream is None:
            if isinstance(error, BrokenPipeError):
                raise
            discard_stdout()
        name = "standard output" if stream is None else stream.name
        raise ExecutionError(f"cannot write to {name}: {error.strerror or error}") from None


def counted(result: Result) -> tuple[Result, Counter]:
    """The same result with its first row computed, and the counter of its rows: a failure before the first row must not
    leave a header on stdout."""
    counter = Counter()
    return replace(result, rows=through(begun(result.rows), counter.passing)), counter


def discard_stdout() -> None:
    """Discard stdout's buffer: it cannot be written, and the exit would try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_batches(lines: Iterator[render.Text], write: Callable[[render.Text], None]) -> None:
    """Batch lines, but not the text of many in UTF-8; lines before an error are written, too."""
    batch: list[str] = []

    def flush() -> None:
        text = "".join(batch)
        batch.clear()
        if text:
            write(text)

    due = monotonic() + BATCH_SECONDS
    try:
        for line in lines:
            if not isinstance(line, str):
                flush()
                write(line)
                continue
            batch.append(line)
            if len(batch) >= BATCH_LINES or len(line) >= BATCH_CHARACTERS or monotonic() >= due:
                flush()
                due = monotonic() + BATCH_SECONDS
    finally:
        flush()


class Counter:
    """Counts the rows that pass through, and shows their number as progress."""

    def __init__(self) -> None:
        self.rows = 0
        self.progress: Callable[[str], None] | None = None

    def passing(self, items: Iterator[Any]) -> Iterator[Any]:
        due = monotonic() + PROGRESS_SECONDS
        for item in items:
            self.rows += size(item)
            yield item
            if self.progress is not None and monotonic() >= due:
                self.progress(f"{self.rows:,} rows")
                due = monotonic() + PROGRESS_SECONDS
