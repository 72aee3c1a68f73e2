"""`hivedruid top`: shows all ingestions and their problems, and refreshes them periodically. The only importer of
rich's live display."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from hivedruid.clients.observe import Observer
    from hivedruid.diagnostics import Diagnostics
    from hivedruid.ingestion.overview import Ingestion, Known, Overview
    from hivedruid.ingestion.problems import Problem
    from hivedruid.session import Session

PATIENCE = 10.0
"""Seconds without a response after which Druid counts as unreachable and is polled again soon."""
TICK = 0.1
"""Seconds between checks of the keyboard and the terminal size."""
MOST_PROBLEMS = 6
"""Maximum number of problems shown; SHOW PROBLEMS lists all."""
WIDE = 110
"""Minimum terminal width for the columns in WIDE_ONLY."""
WIDE_ONLY = frozenset({"topic", "detailed_state", "last_error"})
HEADINGS = {
    "detailed_state": "details",
    "seconds_behind": "behind (s)",
    "rows_per_second": "rows/s",
    "last_error": "last error",
}


@click.command()
@click.option("--once", is_flag=True, help="Print once and exit.")
@click.option("--interval", type=click.FloatRange(min=0.2), default=2.0, show_default=True, help="Seconds.")
@click.option("--format", "layout", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    envvar="HIVEDRUID_HOME",
    help="Home folder (catalog and data). [~/.hivedruid]",
)
@click.option("--druid", metavar="URL", help="Druid to check. [the home's druid.url]")
def top(*, once: bool, interval: float, layout: str, home: Path | None, druid: str | None) -> int:
    """Monitor Kafka ingestion and its problems live; press q to quit.

    Without a terminal, or with --format json, it prints repeatedly; json prints one document per line.

    Exit codes: 0 success, 1 failure, 3 with --once: Druid cannot be reached.
    """
    from hivedruid.cli import default_home, guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        from hivedruid.session import Session

        with Session(home or default_home(), hiveconf={"druid.url": druid} if druid else {}) as session:
            watcher = Watcher(session)
            try:
                if once:
                    return _print_once(watcher, layout, diagnostics)
                if layout == "table" and sys.stdout.isatty():
                    return _show_live(watcher, interval)
                return _print_on(watcher, layout, interval)
            except KeyboardInterrupt:
                return 0  # the usual way to quit
            finally:
                watcher.close()

    return guarded(run, diagnostics)


@dataclass(frozen=True)
class Look:
    """One observation of Druid, and its problems."""

    overview: Overview
    problems: tuple[Problem, ...]

    @property
    def is_blind(self) -> bool:
        """Whether the overlord did not respond."""
        return not self.overview.has_supervisors


class Watcher:
    """Observes the Druid cluster of a session, and follows changes of its address."""

    def __init__(self, session: Session) -> None:
        from hivedruid.engine.capabilities import KafkaIngestion, Tasks
        from hivedruid.engine.kinds import session_kind

        session_kind(session.settings).check("hivedruid top is not supported", Tasks, KafkaIngestion)
        self.session = session
        self._observer: Observer | None = None
        self._address: Any = None

    @property
    def url(self) -> str:
        from hivedruid.secrets import masked

        return masked("druid.url", self.session.settings["druid.url"])

    def close(self) -> None:
        if self._observer is not None:
            self._observer.close()

    def prepared(self) -> Callable[[], Look]:
        """Read the home and the settings now; the returned function queries Druid and may run in another thread."""
        from hivedruid.actions.watching.run import known

        facts = known(self.session.catalog, self.session.home)
        observer = self._observe()
        settings = dict(self.session.settings)

        def look() -> Look:
            from hivedruid.actions.watching.run import with_differences
            from hivedruid.ingestion.problems import problems

            seen = with_differences(_everything(observer, facts), settings)
            return Look(seen, problems(seen))

        return look

    def _observe(self) -> Observer | Exception:
        """The observer for Druid's current address: a restarted local cluster has different ports."""
        from hivedruid.clients.address import address
        from hivedruid.clients.observe import Observer
        from hivedruid.errors import ConnectError
        from hivedruid.local.state import running

        try:
            url = address(self.session.settings, running(self.session.home))
        except ConnectError as error:
            return error
        if self._observer is None or url != self._address:
            self.close()
            self._observer = Observer(url.within(PATIENCE))
            self._address = url
        return self._observer


def _everything(observer: Observer | Exception, facts: Known) -> Overview:
    from datetime import UTC, datetime

    from hivedruid.clients.observe import Observer
    from hivedruid.errors import HiveDruidError
    from hivedruid.ingestion.overview import Overview, Unreachable

    if isinstance(observer, Observer):
        return observer.everything(facts)
    hint = observer.hint if isinstance(observer, HiveDruidError) else None
    away = Unreachable("Druid", str(observer), hint or "")
    return Overview(datetime.now(UTC), unreachable=(away,), has_supervisors=False)


# --- as text -----------------------------------------------------------------------------------------------------


def _print_once(watcher: Watcher, layout: str, diagnostics: Diagnostics) -> int:
    from hivedruid.errors import ConnectError

    seen = watcher.prepared()()
    if seen.is_blind:
        away = seen.overview.unreachable[0]
        return diagnostics.report(ConnectError(away.message, hint=away.hint or None))
    _print(seen, watcher, layout)
    return 0


def _print_on(watcher: Watcher, layout: str, interval: float) -> int:
    while True:
        _print(watcher.prepared()(), watcher, layout)
        sys.stdout.flush()
        time.sleep(interval)


def _print(seen: Look, watcher: Watcher, layout: str) -> None:
    if layout == "json":
        from datetime import datetime

        sys.stdout.write(json.dumps(document(seen, watcher.url), ensure_ascii=False, default=datetime.isoformat) + "\n")
        return
    from hivedruid import render
    from hivedruid.actions.watching import run as watch
    from hivedruid.results import Result

    zone = watcher.session.settings.time_zone
    sys.stdout.writelines(render.lines(watch.ingestion_result(seen.overview.ingestions, zone), "table"))
    if seen.problems:
        sys.stdout.writelines(render.lines(Result(watch.PROBLEM_COLUMNS, watch.problem_rows(seen.problems)), "table"))


def document(seen: Look, url: str) -> dict[str, Any]:
    """One observation as JSON; timestamps are in UTC."""
    from hivedruid.actions.watching.run import INGESTION_COLUMNS, PROBLEM_COLUMNS, problem_rows
    from hivedruid.ingestion.overview import ingestion_row

    names, problem_names = ([c.name for c in columns] for columns in (INGESTION_COLUMNS, PROBLEM_COLUMNS))
    slots = seen.overview.slots
    return {
        "time": seen.overview.now.isoformat(timespec="milliseconds"),
        "druid": url,
        "slots": None if slots is None else {"capacity": slots.capacity, "used": slots.used},
        "ingestions": [dict(zip(names, ingestion_row(one), strict=True)) for one in seen.overview.ingestions],
        "problems": [dict(zip(problem_names, row, strict=True)) for row in problem_rows(seen.problems)],
    }


# --- on a terminal -----------------------------------------------------------------------------------------------


def _show_live(watcher: Watcher, interval: float) -> int:
    """Draws in this thread and queries Druid in another, so that slow responses do not delay the keyboard."""
    from threading import Thread

    from rich.console import Console
    from rich.live import Live

    console = Console()
    shown: Look | None = None
    answers: list[Look | BaseException] = []
    asking: Thread | None = None
    next_look, drawn = 0.0, None
    with _keys() as read_key, Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            if asking is None and time.monotonic() >= next_look:
                asking = Thread(target=_answer, args=(watcher.prepared(), answers), daemon=True)
                asking.start()
            if asking is not None and not asking.is_alive():
                asking, next_look = None, time.monotonic() + interval
                answer = answers.pop()
                if isinstance(answer, BaseException):
                    raise answer
                # while Druid is unreachable, the last observation stays on the screen
                shown = _kept(shown, answer)
                drawn = None
            if drawn != console.size:
                live.update(_screen(shown, watcher.url, console), refresh=True)
                drawn = console.size
            if read_key(TICK) in ("q", "Q"):
                return 0


def _answer(look: Callable[[], Look], answers: list[Look | BaseException]) -> None:
    try:
        answers.append(look())
    except BaseException as error:  # noqa: BLE001 - raised again by the thread that draws
        answers.append(error)


def _kept(before: Look | None, now: Look) -> Look:
    if not now.is_blind or before is None:
        return now
    return Look(replace(now.overview, ingestions=before.overview.ingestions), now.problems)


@contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """A function that waits for a key for at most the given seconds; without a terminal it only waits."""
    if not sys.stdin.isatty():
        yield _no_keys
        return
    import os
    import select
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def read_key(seconds: float) -> str:
        ready, _, _ = select.select([descriptor], [], [], seconds)
        return os.read(descriptor, 1).decode("ascii", "replace") if ready else ""

    try:
        tty.setcbreak(descriptor)
        yield read_key
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _no_keys(seconds: float) -> str:
    time.sleep(seconds)
    return ""


def _screen(seen: Look | None, url: str, console: Console) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    if seen is None:
        return Text(f"querying {url} …", style="dim")
    problems = _problem_lines(seen)
    room = max(1, console.height - 3 - len(problems))
    parts: list[RenderableType] = [_heading(seen, url), _table(seen, console, room), *problems]
    return Group(*parts)


def _heading(seen: Look, url: str) -> RenderableType:
    from rich.text import Text

    overview = seen.overview
    slots = overview.slots
    running = sum(len(one.running) for one in overview.ingestions)
    parts = [
        f"{overview.now.astimezone():%H:%M:%S}", url, f"{len(overview.ingestions)} ingestion(s)", f"{running} task(s)",
        f"{slots.used} of {slots.capacity} slots taken" if slots is not None else "", "q ends",
    ]  # fmt: skip
    return Text("  ".join(filter(None, parts)), style="bold", no_wrap=True, overflow="ellipsis")


def _table(seen: Look, console: Console, room: int) -> Table:
    """The ingestions that fit on the screen, those with problems first; narrow terminals show fewer columns."""
    from rich.table import Table
    from rich.text import Text

    from hivedruid.actions.watching.run import INGESTION_COLUMNS

    shown = {
        place: column
        for place, column in enumerate(INGESTION_COLUMNS)
        if column.name != "since" and (console.width >= WIDE or column.name not in WIDE_ONLY)
    }
    table = Table(box=None, expand=True, pad_edge=False, header_style="reverse")
    for column in shown.values():
        is_number = column.type.is_numeric or column.name == "tasks"
        table.add_column(
            HEADINGS.get(column.name, column.name), justify="right" if is_number else "left", no_wrap=True,
            overflow="ellipsis", ratio=1 if column.name == "last_error" else None,
        )  # fmt: skip
    ill = {problem.subject for problem in seen.problems}
    ordered = sorted(seen.overview.ingestions, key=lambda one: (one.name not in ill, one.name))
    left_out = len(ordered) - room
    for one in ordered if left_out <= 0 else ordered[: room - 1]:
        table.add_row(*_cells(one, shown, is_ill=one.name in ill))
    if left_out > 0:
        table.add_row(Text(f"… {left_out + 1} more", style="dim"))
    return table


def _cells(one: Ingestion, places: Iterable[int], *, is_ill: bool) -> Iterator[RenderableType]:
    from rich.text import Text

    from hivedruid.ingestion.overview import ingestion_row
    from hivedruid.terminal import printable

    row = ingestion_row(one)
    for place in places:
        value = row[place]
        text = "" if value is None else f"{value:,}" if isinstance(value, int | float) else printable(str(value))
        yield Text(text, style=_style(one.state, is_ill=is_ill) if place < 3 else "")


def _style(state: str, *, is_ill: bool) -> str:
    if is_ill or state.startswith("UNHEALTHY"):
        return "red"
    return {"RUNNING": "green", "STOPPED": "dim", "SUSPENDED": "yellow"}.get(state, "")


def _problem_lines(seen: Look) -> list[RenderableType]:
    from rich.text import Text

    from hivedruid.terminal import printable

    shown = seen.problems[:MOST_PROBLEMS]
    lines: list[RenderableType] = [
        Text(printable(f"{one.subject}: {one.problem}: {one.cause}"), style="red", no_wrap=True, overflow="ellipsis")
        for one in shown
    ]
    if len(seen.problems) > len(shown):
        lines.append(Text(f"… {len(seen.problems) - len(shown)} more: SHOW PROBLEMS", style="red"))
    return lines or [Text("no problems", style="green")]
