"""Results at the prompt: in a pager if they are longer than the screen, vertical if they are wider, or in a file."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from hivedruid import render
from hivedruid.results import Result
from hivedruid.run import Output, Written, counted, write_result
from hivedruid.terminal import display_width

if TYPE_CHECKING:
    from hivedruid.diagnostics import Diagnostics

PAGER = "less"
"""The pager if the variable PAGER is not set."""
LESS = "-SRX"
"""The options of less if the variable LESS is not set: long lines are cut, and can be scrolled; the screen is kept."""


class Display:
    """Writes the results of a prompt. `expanded` is the state of `\\x`; with `file`, results are written there; without
    `pages`, never to a pager."""

    def __init__(self) -> None:
        self.expanded = "auto"
        self.file: TextIO | None = None
        self.pages = True

    def write(self, result: Result, output: Output, diagnostics: Diagnostics) -> Written:
        """Write a result like `write_result`."""
        if not result.columns:
            return Written(None, monotonic())
        if self.file is not None:
            return write_result(result, output, diagnostics, self.file)
        columns, height = screen_size()
        result, layout = self._layout(result, output.layout, columns)
        output = replace(output, layout=layout)
        pager = _pager() if self.pages else []
        if not pager:
            return write_result(result, output, diagnostics)
        result, counter = counted(result)
        lines = render.lines(result, layout, header=output.header, terminal=True)
        screen, is_longer = _first(lines, height - 1)
        is_wider = layout == "table" and display_width("".join(screen[:1]).rstrip("\n")) > columns
        diagnostics.progress("")
        if is_longer or is_wider:
            with diagnostics.without_progress():
                end = _page(chain(screen, lines), pager)
        else:
            sys.stdout.write("".join(screen))
            sys.stdout.flush()
            end = monotonic()
        return Written(counter.rows, end)

    def chart(self, result: Result, _: Output, diagnostics: Diagnostics) -> Written:
        """Draw a result. Raises UsageError, UnsupportedError: see `draw`."""
        from hivedruid.repl.chart import draw

        columns, height = screen_size()  # the command above it and the next prompt with its menu are seen, too
        drawing = draw(result, columns, max(height - 12, 10), colored=self._is_colored())
        diagnostics.progress("")
        self.text(drawing.text)
        if drawing.note:
            diagnostics.info(drawing.note)
        return Written(drawing.rows, monotonic())

    def _is_colored(self) -> bool:
        return self.file is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def text(self, text: str) -> None:
        """Write text to the terminal, or to the file."""
        target = self.file or sys.stdout
        target.write(text)
        target.flush()

    def _layout(self, result: Result, layout: str, columns: int) -> tuple[Result, str]:
        """The layout of a table, `vertical` if it is wider than the screen. Its width is that of its first rows."""
        if layout != "table" or result.is_text or self.expanded == "off":
            return result, layout
        if self.expanded == "on":
            return result, "vertical"
        rows = iter(result.rows)
        sample = list(islice(rows, render.SAMPLE))
        rule = next(render.lines(replace(result, rows=sample), "table"), "").rstrip("\n")
        result = replace(result, rows=chain(sample, rows))
        return result, "vertical" if display_width(rule) > columns else "table"


def screen_size() -> tuple[int, int]:
    """The columns and lines of the terminal, not those of the variables COLUMNS and LINES, which a resize leaves."""
    with suppress(OSError):
        size = os.get_terminal_size(sys.stdout.fileno())
        if size.columns and size.lines:
            return size
    return 80, 24


def _first(lines: Iterator[str], most: int) -> tuple[list[str], bool]:
    """The lines up to a number, and whether there may be more. Those before an error are written."""
    taken: list[str] = []
    count = 0
    try:
        for text in lines:
            taken.append(text)
            count += text.count("\n")
            if count > most:
                return taken, True
    except BaseException:
        sys.stdout.write("".join(taken))
        sys.stdout.flush()
        raise
    return taken, False


def _pager() -> list[str]:
    """The command of the pager; empty if there is none, or the terminal cannot display it."""
    if os.environ.get("TERM", "dumb") == "dumb":
        return []
    try:
        command = shlex.split(os.environ.get("PAGER", PAGER))
    except ValueError:
        return []
    return command if command and command != ["cat"] and shutil.which(command[0]) else []


def _page(lines: Iterator[str], command: list[str]) -> float:
    """Write lines to a pager until it is left; returns the time at which the last line was written."""
    environment = {"LESS": LESS, **os.environ}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, env=environment, encoding="utf-8", errors="backslashreplace"
    )
    assert process.stdin is not None
    try:
        with suppress(BrokenPipeError):  # the pager was left before the last line
            for text in lines:
                process.stdin.write(text)
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        end = monotonic()
        _wait(process)
    return end


def _wait(process: subprocess.Popen[str]) -> None:
    """Wait for the pager. Ctrl-C is one of its keys."""
    while process.returncode is None:
        with suppress(KeyboardInterrupt):
            process.wait()
