"""One statement in a process of its own, which may be killed at any of its effects: `python -m tests.support.killed`.

The arguments come as JSON: the home, its settings, the statement, and where to die: at the n-th moment, 0 for nowhere. A
moment is before an effect (a request to Druid that changes something, a write to the catalog) and after it; where nothing
is asked between two effects, the moment between them is one.

Every effect is printed as soon as it is over.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.store import Catalog
from hivedruid.clients.druid import DruidClient
from hivedruid.errors import HiveDruidError
from hivedruid.session import Session

SUPERVISOR = "/druid/indexer/v1/supervisor"
LIMIT = 240
"""Seconds that a statement may take."""


@dataclass(frozen=True)
class Outcome:
    """What became of a statement: whether it was killed, its effects up to then, and the error that it ended with."""

    killed: bool
    effects: tuple[str, ...]
    error: str = ""
    hint: str = ""

    @property
    def is_begun(self) -> bool:
        """Whether it left a beginning without an end."""
        left = [effect for effect in self.effects if effect in ("begin", "roll_back", "finish", "remove")]
        return bool(left) and left[-1] in ("begin", "roll_back")


def begin(
    home: Path, conf: Mapping[str, str], statement: str, moment: int = 0, *, hold: Path | None = None
) -> subprocess.Popen[str]:
    """Begin a statement; with `hold` it stops before its first request that changes Druid, until that file is there."""
    given = {"home": str(home), "conf": dict(conf), "statement": statement, "moment": moment}
    given["hold"] = str(hold) if hold is not None else ""
    command = [sys.executable, "-m", "tests.support.killed", json.dumps(given)]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root)


def outcome(process: subprocess.Popen[str]) -> Outcome:
    """What a statement that was begun came to. It does not outlive this."""
    try:
        told, errors = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
        process.wait()
    assert process.returncode in (0, 1, -signal.SIGKILL), errors
    lines = told.splitlines()
    assert lines or process.returncode != 1, errors
    if process.returncode == 1:
        *lines, error = lines
        message, hint = json.loads(error)
        return Outcome(False, tuple(lines), message, hint)
    return Outcome(process.returncode != 0, tuple(lines))


def run(home: Path, conf: Mapping[str, str], statement: str, moment: int = 0) -> Outcome:
    return outcome(begin(home, conf, statement, moment))


# --- in the process ----------------------------------------------------------------------------------------------


class Moments:
    """Counts them, and ends the process at the one that it was told."""

    def __init__(self, last: int, hold: str) -> None:
        self.left = last
        self.hold = hold
        self.is_new = True
        self.is_writing = False

    def asked(self) -> None:
        self.is_new = True

    def before(self) -> None:
        if self.is_new:
            self._pass()
        self.is_new = False

    def after(self, effect: str) -> None:
        print(effect, flush=True)
        self._pass()

    def wait(self) -> None:
        if not self.hold:
            return
        print("held", flush=True)
        end = monotonic() + LIMIT
        while not Path(self.hold).exists():
            if monotonic() > end:
                raise TimeoutError(self.hold)
            sleep(0.005)
        self.hold = ""

    def _pass(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def _watch(moments: Moments) -> None:
    send = DruidClient._send

    def watched(client: DruidClient, method: str, service: Any, path: str, *rest: Any, **options: Any) -> Any:
        if method == "GET" or path == "/druid/v2":
            moments.asked()
            return send(client, method, service, path, *rest, **options)
        moments.wait()
        moments.before()
        answer = send(client, method, service, path, *rest, **options)
        moments.after(f"{method} {path}")
        return answer

    DruidClient._send = watched  # type: ignore[assignment, method-assign]
    for owner, names in (
        (Ingestions, ("begin", "finish", "sending", "worked", "roll_back")),
        (Catalog, ("replace", "remove")),
    ):
        for name in names:
            setattr(owner, name, _write(getattr(owner, name), moments))


def _write(write: Callable[..., Any], moments: Moments) -> Callable[..., Any]:
    def watched(*given: Any, **options: Any) -> Any:
        if moments.is_writing:  # one inside another is part of it
            return write(*given, **options)
        moments.before()
        moments.is_writing = True
        try:
            found = write(*given, **options)
        finally:
            moments.is_writing = False
        moments.after(write.__name__)
        return found

    return watched


def main() -> int:
    given = json.loads(sys.argv[1])
    _watch(Moments(given["moment"], given["hold"]))
    with Session(Path(given["home"]), hiveconf=given["conf"], confirm=lambda _: True) as session:
        (statement,) = session.statements(given["statement"])
        try:
            session.execute(statement)
        except HiveDruidError as error:
            print(json.dumps([error.message, error.hint or ""]), flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
