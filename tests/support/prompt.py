"""The prompt on a pseudo-terminal, read from a screen."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pexpect
import pyte
import pytest

WIDTH, HEIGHT = 100, 30
PROMPT = "hivedruid (default@embedded)>"
PATIENCE = 120.0
"""Timeout of a screen in seconds."""


def end_process(process: pexpect.spawn[str]) -> None:
    """Kill a process on a pseudo-terminal, if it runs, and wait for its end."""
    if process.isalive():
        process.kill(signal.SIGKILL)
        process.wait()
    process.close()


class Prompt:
    def __init__(
        self,
        home: Path,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        width: int = WIDTH,
        height: int = HEIGHT,
        python: str = sys.executable,
    ) -> None:
        self.screen = pyte.Screen(width, height)
        self._stream = pyte.Stream(self.screen)
        self.home = home
        self.process = pexpect.spawn(
            python,
            ["-m", "hivedruid", *arguments],
            dimensions=(height, width),
            encoding="utf-8",
            env={
                **os.environ,
                "TERM": "xterm-256color",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "HIVEDRUID_HOME": str(home),
                **(env or {}),
            },
        )

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display if line.strip()]

    def wait(self, condition: Callable[[list[str]], bool], patience: float = PATIENCE) -> list[str]:
        """Read until the screen satisfies the condition."""
        end = time.monotonic() + patience
        while not condition(self.lines):
            if time.monotonic() > end:
                pytest.fail("the screen stays:\n" + "\n".join(self.lines))
            try:
                self._stream.feed(self.process.read_nonblocking(65536, timeout=1))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                if not condition(self.lines):
                    pytest.fail("the process has ended:\n" + "\n".join(self.lines))
        return self.lines

    def ready(self) -> list[str]:
        """Wait for an empty prompt at the bottom."""
        return self.wait(lambda lines: bool(lines) and lines[-1] == PROMPT)

    def run(self, text: str) -> list[str]:
        """Type `text` and Enter, and wait for the next prompt; returns the output since."""
        self.ready()
        self.send(text)
        self.wait(lambda lines: lines[-1] != PROMPT)
        self.send("\r")
        self.wait(lambda lines: lines[-1] == PROMPT)
        last = max(i for i, line in enumerate(self.lines[:-1]) if line.startswith(PROMPT))
        return self.lines[last:-1]

    def resize(self, width: int, height: int) -> None:
        self.screen.resize(height, width)
        self.process.setwinsize(height, width)

    def wait_busy(self, seconds: float) -> None:
        """Wait until the process has used CPU time for a statement."""
        begin = self._cpu()
        self.wait(lambda _: self._cpu() - begin > seconds)

    def _cpu(self) -> float:
        times = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")

    def send(self, text: str) -> None:
        self.process.send(text)

    def end(self) -> None:
        """End the process, however long it takes: pexpect's `close` fails if a killed one is alive 0.1 s later."""
        end_process(self.process)

    def leave(self) -> int:
        self.send("\x04")
        self.process.expect(pexpect.EOF, timeout=PATIENCE)
        self.process.close()
        assert self.process.exitstatus is not None
        return self.process.exitstatus
