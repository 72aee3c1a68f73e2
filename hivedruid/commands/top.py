"""`hivedruid top`: shows all ingestions, streams and their problems, and refreshes them periodically. The only importer
of rich's live display."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hivedruid.commands.options import CLUSTER, HOME
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import Console, RenderableType
    from rich.table import Table

    from hivedruid.clients.observe import Observer
    from hivedruid.diagnostics import Diagnostics
    from hivedruid.ingestion.overview import Known, Overview
    from hivedruid.ingestion.repairs import Problem
    from hivedruid.results import ResultColumn
    from hivedruid.session import Session
    from hivedruid.streams.overview import StreamOverview

PATIENCE = 10.0
"""Seconds without a response after which Druid, or Kafka, counts as unreachable and is polled again soon."""
TICK = 0.1
"""Seconds between checks of the keyboard and the terminal size."""
MOST_PROBLEMS = 6
"""Maximum number of problems shown; SHOW PROBLEMS lists all."""
WIDE = 110
"""Minimum terminal width for the columns in WIDE_ONLY."""
WIDE_ONLY = frozenset({"topic", "detailed_state", "last_error", "source", "target", "restarts", "rejects"})
LEFT_OUT = frozenset({"since", "desired", "last_batch"})
STYLED = frozenset({"table", "stream", "topic", "source", "target", "state"})
HEADINGS = {
    "detailed_state": "details",
    "seconds_behind": "behind (s)",
    "rows_per_second": "rows/s",
    "newest_row_age": "age (s)",
    "last_error": "last error",
}


@click.command()
@click.option("--once", is_flag=True, help="Print once and exit.")
@click.option("--interval", type=click.FloatRange(min=0.2), default=2.0, show_default=True, help="Seconds.")
@click.option("--format", "layout", type=click.Choice(("table", "json")), default="table", show_default=True)
@HOME
@CLUSTER
@click.option("--druid", metavar="URL", help="Druid to check. [the home's druid.url]")
def top(*, once: bool, interval: float, layout: str, home: Path | None, cluster: str | None, druid: str | None) -> int:
    """Monitor Kafka ingestion, streams and their problems live; press q to quit.

    Without a terminal, or with --format json, it prints repeatedly; json prints one document per line.

    Exit codes: 0 success, 1 failure, 3 with --once: Druid cannot be reached.
    """
    from hivedruid.cli import default_home, guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        from hivedruid import configuration
        from hivedruid.session import Session

        folder = (home or default_home()).absolute()
        configured = configuration.values(folder, cluster, druid)
        with Session(folder, configured=configured, hiveconf={"druid.url": druid} if druid else {}) as session:
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
    """One observation of Druid and of the streams, and their problems. `overview` is None on an engine that does not
    ingest."""

    overview: Overview | None
    streams: StreamOverview
    problems: tuple[Problem, ...]

    @property
    def is_blind(self) -> bool:
        """Whether the overlord did not respond."""
        return self.overview is not None and not self.overview.has_supervisors


class Watcher:
    """Observes the streams and the Druid cluster of a session, and follows changes of its address."""

    def __init__(self, session: Session) -> None:
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
        """Read the home and the settings now; the returned function queries Druid and Kafka and may run in another
        thread."""
        from hivedruid.actions.gather import gather
        from hivedruid.actions.streaming.watch import overview, watched
        from hivedruid.actions.watching.run import known
        from hivedruid.engine.capabilities import KafkaIngestion
        from hivedruid.engine.kinds import session_kind
        from hivedruid.parser import parse
        from hivedruid.script import SourceStatement

        snapshot = gather(parse(SourceStatement("SHOW PROBLEMS")), self.session.facts())
        home = self.session.home
        streams = overview(watched(snapshot), home, self.session.catalog)
        settings = dict(self.session.settings)
        if not session_kind(settings).has(KafkaIngestion):
            return lambda: _look(None, streams, home)
        facts = known(self.session.catalog, home)
        observer = self._observe()

        def look() -> Look:
            from hivedruid.actions.watching.run import with_differences

            return _look(with_differences(_everything(observer, facts), settings), streams, home)

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


def _look(seen: Overview | None, streams: StreamOverview, home: Path) -> Look:
    from hivedruid.actions.streaming.watch import with_topics
    from hivedruid.actions.watching.run import with_repairs_to_run, with_streams
    from hivedruid.ingestion.problems import problems
    from hivedruid.streams.problems import problems as stream_problems

    streams = with_topics(streams, PATIENCE)
    listed = with_streams(problems(seen) if seen is not None else (), stream_problems(streams))
    return Look(seen, streams, with_repairs_to_run(listed, home))


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
    if seen.overview is not None and seen.is_blind:
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
    from hivedruid.plan.literals import rows_in_zone
    from hivedruid.results import Result

    zone = watcher.session.settings.time_zone
    for part in _parts(seen):
        rows = rows_in_zone((line.row for line in part.lines), zone)
        sys.stdout.writelines(render.lines(Result(part.columns, rows), "table"))
    if seen.problems:
        sys.stdout.writelines(render.lines(Result(watch.PROBLEM_COLUMNS, watch.problem_rows(seen.problems)), "table"))


def document(seen: Look, url: str) -> dict[str, Any]:
    """One observation as JSON; timestamps are in UTC."""
    from hivedruid.actions.watching.run import PROBLEM_COLUMNS, problem_rows

    slots = seen.overview.slots if seen.overview is not None else None
    parts = {part.name: [dict(zip(part.names, line.row, strict=True)) for line in part.lines] for part in _parts(seen)}
    problem_names = [column.name for column in PROBLEM_COLUMNS]
    return {
        "time": _now(seen).isoformat(timespec="milliseconds"),
        "druid": url,
        "slots": None if slots is None else {"capacity": slots.capacity, "used": slots.used},
        "ingestions": [],
        "streams": [],
        **parts,
        "problems": [dict(zip(problem_names, row, strict=True)) for row in problem_rows(seen.problems)],
    }


def _now(seen: Look) -> datetime:
    return seen.overview.now if seen.overview is not None else seen.streams.now


# --- as rows -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A row of SHOW INGESTIONS or SHOW STREAMS."""

    name: str
    state: str
    row: tuple[Any, ...]


@dataclass(frozen=True)
class Part:
    """The ingestions, or the streams."""

    name: str
    columns: tuple[ResultColumn, ...]
    lines: tuple[Line, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def _parts(seen: Look) -> list[Part]:
    """The ingestions, unless the engine does not ingest, and the streams, if there are any or nothing else."""
    from hivedruid.actions.streaming.describe import STREAM_COLUMNS, stream_row
    from hivedruid.actions.watching.run import INGESTION_COLUMNS
    from hivedruid.ingestion.overview import ingestion_row
    from hivedruid.streams.overview import state

    parts: list[Part] = []
    if seen.overview is not None:
        lines = tuple(Line(one.name, one.state, ingestion_row(one)) for one in seen.overview.ingestions)
        parts.append(Part("ingestions", INGESTION_COLUMNS, lines))
    if seen.overview is None or seen.streams.streams:
        now = seen.streams.now
        lines = tuple(
            Line(one.name, state(one.record, now.timestamp()), stream_row(one.record, one.lag, now))
            for one in seen.streams.streams
        )
        parts.append(Part("streams", STREAM_COLUMNS, lines))
    return parts


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
    if not now.is_blind or before is None or before.overview is None or now.overview is None:
        return now
    return replace(now, overview=replace(now.overview, ingestions=before.overview.ingestions))


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
    listed = _parts(seen)
    wanted = [len(part.lines) for part in listed]
    room = console.height - 2 - len(listed)
    problems = _problem_lines(seen, room - sum(max(1, lines) for lines in wanted))
    rooms = _rooms(wanted, room - len(problems))
    ill = {problem.subject for problem in seen.problems}
    tables = [_table(part, console, lines, ill) for part, lines in zip(listed, rooms, strict=True)]
    parts: list[RenderableType] = [_heading(seen, url), *tables, *problems]
    return Group(*parts)


def _rooms(wanted: Sequence[int], room: int) -> list[int]:
    """The number of lines for each table, at least one: what it needs, or half of what there is."""
    if len(wanted) == 1 or sum(wanted) <= room:
        return [max(1, room)] if len(wanted) == 1 else [max(1, lines) for lines in wanted]
    first = max(min(wanted[0], room // 2), room - wanted[1], 1)
    return [first, max(1, room - first)]


def _heading(seen: Look, url: str) -> RenderableType:
    from rich.text import Text

    parts = [f"{_now(seen).astimezone():%H:%M:%S}", url]
    if (overview := seen.overview) is not None:
        running = sum(len(one.running) for one in overview.ingestions)
        parts += [f"{len(overview.ingestions)} ingestion(s)", f"{running} task(s)"]
        parts.append(f"{slots.used} of {slots.capacity} slots taken" if (slots := overview.slots) is not None else "")
    if seen.streams.streams:
        parts.append(f"{len(seen.streams.streams)} stream(s)")
    parts.append("q ends")
    return Text("  ".join(filter(None, parts)), style="bold", no_wrap=True, overflow="ellipsis")


def _table(part: Part, console: Console, room: int, ill: Container[str]) -> Table:
    """The lines that fit, those with problems first; narrow terminals show fewer columns."""
    from rich.table import Table
    from rich.text import Text

    shown = {
        place: column
        for place, column in enumerate(part.columns)
        if column.name not in LEFT_OUT and (console.width >= WIDE or column.name not in WIDE_ONLY)
    }
    table = Table(box=None, expand=True, pad_edge=False, header_style="reverse")
    for column in shown.values():
        is_number = column.type.is_numeric or column.name == "tasks"
        table.add_column(
            HEADINGS.get(column.name, column.name), justify="right" if is_number else "left", no_wrap=True,
            overflow="ellipsis", ratio=1 if column.name == "last_error" else None,
        )  # fmt: skip
    ordered = sorted(part.lines, key=lambda line: (line.name not in ill, line.name))
    left_out = len(ordered) - room
    for line in ordered if left_out <= 0 else ordered[: room - 1]:
        style = _style(line.state, is_ill=line.name in ill)
        table.add_row(*(_cell(line.row[place], column, style) for place, column in shown.items()))
    if left_out > 0:
        table.add_row(Text(f"… {left_out + 1} more", style="dim"))
    return table


def _cell(value: object, column: ResultColumn, style: str) -> RenderableType:
    from rich.text import Text

    from hivedruid.terminal import printable

    text = "" if value is None else f"{value:,}" if isinstance(value, int | float) else printable(str(value))
    return Text(text, style=style if column.name in STYLED else "")


def _style(state: str, *, is_ill: bool) -> str:
    if is_ill or state.startswith("UNHEALTHY"):
        return "red"
    colors = {"running": "green", "stopped": "dim", "suspended": "yellow", "paused": "yellow", "failing": "red"}
    return colors.get(state.lower(), "")


def _problem_lines(seen: Look, room: int) -> list[RenderableType]:
    """The first problems, each with its repair in a line below it if there is room for all of them."""
    from rich.text import Text

    from hivedruid.terminal import printable

    shown = seen.problems[:MOST_PROBLEMS]
    left_out = len(seen.problems) - len(shown)
    has_room = 2 * len(shown) + bool(left_out) <= room
    lines: list[RenderableType] = []
    for one in shown:
        text = printable(f"{one.subject}: {one.problem}: {one.cause}")
        lines.append(Text(text, style="red", no_wrap=True, overflow="ellipsis"))
        if has_room:
            lines.append(Text(printable(f"  {one.repair}"), no_wrap=True, overflow="ellipsis"))
    if left_out:
        lines.append(Text(f"… {left_out} more: SHOW PROBLEMS", style="red"))
    return lines or [Text("no problems", style="green")]
