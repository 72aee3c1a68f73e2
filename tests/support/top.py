"""`hivedruid top` on a pseudo-terminal, read from a screen."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic

import pexpect
import pyte
import pytest

PATIENCE = 300
"""Timeout in seconds."""


class Terminal:
    """A run of `hivedruid top` on a pseudo-terminal."""

    def __init__(self, home: Path, *arguments: str, width: int = 100, height: int = 20) -> None:
        self.screen = pyte.Screen(width, height)
        self._stream = pyte.Stream(self.screen)
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.process = pexpect.spawn(
            sys.executable, ["-m", "hivedruid", "top", "--home", str(home), *arguments], dimensions=(height, width),
            encoding="utf-8", env={**inherited, "TERM": "xterm-256color"}, timeout=PATIENCE,
        )  # fmt: skip

    def wait(self, text: str) -> None:
        """Read until the screen shows the text."""
        end = monotonic() + PATIENCE
        while text not in "\n".join(self.screen.display):
            if monotonic() > end:
                pytest.fail("the screen stays:\n" + "\n".join(self.screen.display))
            try:
                self._stream.feed(self.process.read_nonblocking(65536, timeout=1))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                pytest.fail("it has ended:\n" + "\n".join(self.screen.display))

    def resize(self, width: int, height: int) -> None:
        self.screen.resize(height, width)
        self.process.setwinsize(height, width)

    def end(self) -> int:
        """The exit code."""
        self.process.expect(pexpect.EOF)
        self.process.close()
        assert self.process.exitstatus is not None
        return int(self.process.exitstatus)
