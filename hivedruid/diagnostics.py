"""Writes to stderr and determines exit codes.

stdout is for results; errors, notes, the progress line and timings go through `Diagnostics`.

Exit codes: 0 ok · 1 a statement failed · 2 the request or the text is wrong · 3 a service cannot be reached ·
130 interrupted (128 + SIGINT) · 141 the reader of stdout has gone (128 + SIGPIPE, as `cat | head` answers).
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread
from time import monotonic
from typing import TextIO

from hivedruid.errors import ConnectError, HiveDruidError, ParseError, Span, UsageError
from hivedruid.lazy_regex import regex
from hivedruid.terminal import display_width, printable

OK = 0
FAILED = 1
USAGE = 2
UNREACHABLE = 3
INTERRUPTED = 130
BROKEN_PIPE = 141

ISSUES = "please report it with the output of the same command under HIVEDRUID_DEBUG=1"
LONG_WAITS = regex(r"(Spark: starting|Druid: waiting until the tasks of|Downloading) [^:]*|Spark: starting")
"""The part of progress lines that is printed without a terminal, too, once."""
TICK = 1.0
"""Seconds after which an unchanged progress line shows how long it stays."""
MAX_SOURCE_WIDTH = 120
"""Maximum width of a displayed source line; a longer line is truncated around the caret."""

_RED, _YELLOW, _BLUE, _BOLD, _DIM, _RESET = "\033[31m", "\033[33m", "\033[34m", "\033[1m", "\033[2m", "\033[0m"
_ERASE_LINE = "\r\033[K"


def exit_code(error: BaseException) -> int:
    """The exit code for an error."""
    if isinstance(error, (UsageError, ParseError)):
        return USAGE
    if isinstance(error, ConnectError):
        return UNREACHABLE
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return FAILED


class Diagnostics:
    """Prints messages while statements run. `quiet` prints only errors; `stream` defaults to stderr."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr or io.StringIO()  # stderr may be closed
        self._quiet = quiet
        self._terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._colour = self._terminal and not os.environ.get("NO_COLOR")
        self._shows_progress = self._terminal and not quiet
        self._progress = ""
        self._begun: set[str] = set()
        """The waits that were printed without a terminal."""
        self._clock: _Clock | None = None

    def report(self, error: BaseException) -> int:
        """Print an error with its position and hint; returns its exit code."""
        if isinstance(error, HiveDruidError):
            self._write(*self._describe(error))
        elif isinstance(error, KeyboardInterrupt):
            self._put(_ERASE_LINE if self._terminal else "")  # the terminal's ^C
            self._write("interrupted")
        else:
            self._report_bug(error)
        return exit_code(error)

    def info(self, text: str) -> None:
        """Print an informational line, unless `quiet`."""
        if not self._quiet:
            self._write(*(printable(line) for line in text.split("\n")))

    def note(self, text: str) -> None:
        """Print a note: the statement continues, but the user should know (skipped rows, a fallback)."""
        if not self._quiet:
            self._write(f"{self._paint(_YELLOW, 'note:')} {one_line(text)}")

    def statement(self, text: str) -> None:
        """Print a statement that is about to run, as written in its script."""
        lines = [printable(line.replace("\t", "    ")) for line in text.splitlines()]
        if not self._quiet:
            self._write("", *(self._paint(_BOLD, line) for line in [*lines[:-1], f"{lines[-1] if lines else ''};"]))

    def plan(self, lines: list[str]) -> None:
        """Print the short plan of a statement."""
        if not self._quiet:
            self._write(*(f"{self._paint(_BLUE, '  ->')} {one_line(line)}" for line in lines))

    def progress(self, text: str) -> None:
        """Replace the progress line by `text`, and show how long it stays; "" erases it. Without a terminal, print the
        beginning of a long wait once."""
        if not self._shows_progress:
            wait = None if self._quiet or self._terminal else LONG_WAITS.match(text)
            if wait is not None and wait[0] not in self._begun:
                self._begun.add(wait[0])
                self._put(f"{one_line(wait[0])}\n")
            return
        if self._clock is None and text:
            self._clock = _Clock(self._show)
        if self._clock is not None:
            self._clock.begin(text)

    def _show(self, text: str) -> None:
        """Draw the progress line; "" erases it."""
        if text:
            width = _columns(self._stream)
            self._put(_ERASE_LINE + self._paint(_DIM, _cut(one_line(text), width - 1)))
        elif self._progress:
            self._put(_ERASE_LINE)
        self._progress = text

    @contextmanager
    def without_progress(self) -> Iterator[None]:
        """Print no progress inside the block: another program has the terminal."""
        self.progress("")
        shows, self._shows_progress = self._shows_progress, False
        try:
            yield
        finally:
            self._shows_progress = shows

    def ask(self, text: str) -> bool:
        """Ask for confirmation on the terminal; returns False without one."""
        if not (self._terminal and sys.stdin and sys.stdin.isatty()):
            return False
        self.progress("")
        self._put(f"{one_line(text)}. Continue? [y/N] ")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def yes(self, text: str) -> bool:
        """Print the question and return True, for --yes."""
        self.note(text)
        return True

    def timing(self, seconds: float, rows: int | None) -> None:
        """Print Hive's closing line; `rows` is None for a statement without a result."""
        fetched = "" if rows is None else f", Fetched: {rows} row(s)"
        self._write(f"Time taken: {seconds:.3f} seconds{fetched}")

    def _describe(self, error: HiveDruidError) -> list[str]:
        lines = [f"{self._paint(_BOLD + _RED, 'error:')} {one_line(error.message)}"]
        if error.span is not None:
            place = error.span
            at = f"{place.line}:{place.column}"
            at = f"{printable(place.file)}:{at}" if place.file else f"line {at}"
            text, caret = excerpt(place)
            lines += [f"{self._paint(_BLUE, '  -->')} {at}", f"    {text}", f"    {self._paint(_RED, caret)}"]
        if error.hint:
            lines.append(f"{self._paint(_BLUE, 'hint:')} {one_line(error.hint)}")
        return lines

    def _report_bug(self, error: BaseException) -> None:
        what = one_line(str(error))
        self._write(
            f"{self._paint(_BOLD + _RED, 'internal error:')} {type(error).__name__}{': ' if what else ''}{what}",
            f"{self._paint(_BLUE, 'hint:')} this is a bug in hivedruid; {ISSUES}",
        )
        if os.environ.get("HIVEDRUID_DEBUG") == "1":
            import traceback

            from hivedruid.redaction import redact

            self._write(redact("".join(traceback.format_exception(error)).rstrip()))

    def _paint(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_RESET}" if self._colour else text

    def _write(self, *lines: str) -> None:
        self.progress("")
        self._put("".join(f"{line}\n" for line in lines))

    def _put(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class _Clock:
    """Draws the progress line again each second, with the seconds since its text has changed."""

    def __init__(self, draw: Callable[[str], None]) -> None:
        self._draw = draw
        self._changed = Condition()
        self._text = ""
        self._begun = 0.0
        self._thread: Thread | None = None

    def begin(self, text: str) -> None:
        with self._changed:
            if text != self._text:
                self._text, self._begun = text, monotonic()
            self._draw(text)
            self._changed.notify()
            if text and self._thread is None:
                self._thread = Thread(target=self._run, name="progress", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        with self._changed:
            while True:
                if self._changed.wait(TICK if self._text else None) or not self._text:
                    continue
                if not self._text.endswith(" s)"):
                    self._draw(f"{self._text} ({monotonic() - self._begun:.0f} s)")


def one_line(text: str) -> str:
    """A message on one line, without secrets and control characters."""
    from hivedruid.redaction import redact

    return printable(" ".join(redact(text).split()))


def excerpt(span: Span) -> tuple[str, str]:
    """The source line of a span, prepared for printing (indentation, tabs, control characters, length), and its
    underline."""
    line = span.source_line.rstrip()
    start = min(span.column - 1, len(line))
    end = min(start + span.length, len(line))
    indent = len(line[:start]) - len(line[:start].lstrip())
    before, under, after = _shorten(*map(_shown, (line[indent:start], line[start:end], line[end:])))
    return before + under + after, " " * display_width(before) + "^" * max(1, display_width(under))


def _shown(text: str) -> str:
    return printable(text.replace("\t", "    "))


def _shorten(before: str, under: str, after: str) -> tuple[str, str, str]:
    """Truncate a long line so that the underlined part is visible."""
    if display_width(before + under + after) <= MAX_SOURCE_WIDTH:
        return before, under, after
    under = _cut(under, MAX_SOURCE_WIDTH // 2)
    room = MAX_SOURCE_WIDTH - display_width(under)
    after_width = min(display_width(after), room // 2)
    before = _cut(before, max(room // 2, room - after_width), keep_end=True)
    return before, under, _cut(after, room - display_width(before))


def _cut(text: str, width: int, *, keep_end: bool = False) -> str:
    """`text` truncated to `width` cells, with `...` for omitted parts."""
    if display_width(text) <= width:
        return text
    kept = text[-width:] if keep_end else text[:width]
    while kept and display_width(kept) > width - 3:
        kept = kept[1:] if keep_end else kept[:-1]
    return f"...{kept}" if keep_end else f"{kept}..."


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80
