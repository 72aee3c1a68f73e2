"""`hivedruid streams`: the process that runs the streams of a home folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hivedruid.commands.options import HOME

if TYPE_CHECKING:
    from hivedruid.diagnostics import Diagnostics


@click.group()
def streams() -> None:
    """Run the streams of this home folder.

    START STREAM starts a manager in the background if none is running. A service manager such as systemd runs
    `hivedruid streams run`.
    """


@streams.command()
@HOME
@click.option("--max-streams", type=click.IntRange(min=1), help="Run at most this number of streams. [all]")
@click.option(
    "--metrics",
    metavar="[HOST]:PORT",
    help="Serve metrics for Prometheus at http://HOST:PORT/metrics; without a host at 127.0.0.1, this machine only.",
)
@click.option("--until-idle", is_flag=True, help="Exit after a minute without a stream to run.")
def run(home: Path | None, max_streams: int | None, metrics: str | None, *, until_idle: bool) -> int:
    """Run streams until SIGTERM or Ctrl-C; a second manager takes over when the first one dies or hangs.

    Exit codes: 0 ended by a signal or idle, 1 failure.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    return guarded(lambda: _run(home, max_streams, metrics, diagnostics, until_idle=until_idle), diagnostics)


def _run(
    home: Path | None, most: int | None, metrics: str | None, diagnostics: Diagnostics, *, until_idle: bool
) -> int:
    import signal
    from datetime import UTC, datetime

    from hivedruid.cli import default_home
    from hivedruid.manager.manager import Manager

    def report(text: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        diagnostics.info(f"{now} {text}")

    folder = (home or default_home()).absolute()
    manager = Manager(folder, report, until_idle=until_idle, most=most)
    for sent in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sent, lambda *_: manager.stop())
    if metrics is None:
        manager.run()
        return 0
    from hivedruid.manager.metrics import listening, serving

    with serving(folder, *listening(metrics)) as url:
        report(f"metrics are at {url}")
        manager.run()
    return 0


@streams.command()
@HOME
def stop(home: Path | None) -> int:
    """Stop the manager after its running batches.

    The streams continue when a manager runs again; STOP STREAM stops a stream. Exit codes: 0 stopped, 3 none was
    running.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    return guarded(lambda: _stop(home), diagnostics)


def _stop(home: Path | None) -> int:
    from hivedruid.actions.streaming import manager
    from hivedruid.cli import default_home
    from hivedruid.diagnostics import UNREACHABLE

    folder = (home or default_home()).absolute()
    was_running = manager.stop(folder)
    click.echo("the manager has stopped" if was_running else f"no manager of streams is running for {folder}")
    return 0 if was_running else UNREACHABLE


@streams.command()
@HOME
def status(home: Path | None) -> int:
    """Show whether a manager is running, and the streams.

    Exit codes: 0 a manager is running, 3 none is.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    return guarded(lambda: _status(home), diagnostics)


def _status(home: Path | None) -> int:
    from hivedruid.actions.streaming import manager
    from hivedruid.catalog.streams import Streams
    from hivedruid.cli import default_home
    from hivedruid.diagnostics import UNREACHABLE
    from hivedruid.session import Session
    from hivedruid.streams.overview import state

    folder = (home or default_home()).absolute()
    with Session(folder) as session:
        is_running = manager.is_running(folder, session.catalog)
        click.echo("a manager is running" if is_running else f"no manager of streams is running for {folder}")
        for record in Streams(session.catalog).all():
            error = f": {record.status.error}" if record.status.error else ""
            click.echo(f"{record.stream.full_name:<30} {state(record):<8} {record.status.rows:>12,} rows{error}")
    return 0 if is_running else UNREACHABLE
