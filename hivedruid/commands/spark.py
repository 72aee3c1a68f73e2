"""`hivedruid spark`: starts, shows and stops the shared Spark server of a home folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hivedruid.commands.options import HIVECONF, HOME

if TYPE_CHECKING:
    from hivedruid.diagnostics import Diagnostics
    from hivedruid.spark.server import Server


@click.group()
def spark() -> None:
    """Manage the shared Spark server of this home folder.

    The first Spark job starts it and later commands reuse it. It stops after being idle for
    hivedruid.spark.idle.timeout.
    """


@spark.command()
@HOME
@HIVECONF
def start(home: Path | None, hiveconf: dict[str, str]) -> int:
    """Start the server, unless one with these settings is running."""

    def run(diagnostics: Diagnostics) -> int:
        from hivedruid.errors import UsageError
        from hivedruid.spark import launch, server, session

        folder = _folder(home)
        settings = _settings(folder, hiveconf)
        if settings["spark.remote"] or not launch.is_local(settings):
            raise UsageError(
                "a local Spark server cannot be started when spark.remote or spark.master names another one"
            )
        try:
            known = session.start(settings, folder, diagnostics.progress)
        finally:
            diagnostics.progress("")
        _show(server.shared_home(folder), known)
        return 0

    return _guarded(run)


@spark.command()
@HOME
def status(home: Path | None) -> int:
    """Show the server's state, address, process and idle time."""

    def run(_: Diagnostics) -> int:
        from hivedruid.spark import server

        where = server.shared_home(_folder(home))
        known = server.find(where)
        if known is None:
            click.echo(f"no Spark server is running for {where}")
        else:
            _show(where, known)
        return 0

    return _guarded(run)


@spark.command()
@HOME
def stop(home: Path | None) -> int:
    """Stop the server and the jobs running on it."""

    def run(diagnostics: Diagnostics) -> int:
        from hivedruid.spark import server

        where = server.shared_home(_folder(home))
        try:
            stopped = server.stop(where, diagnostics.progress)
        finally:
            diagnostics.progress("")
        click.echo("stopped" if stopped else f"no Spark server is running for {where}")
        return 0

    return _guarded(run)


def _guarded(run: Callable[[Diagnostics], int]) -> int:
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    return guarded(lambda: run(diagnostics), diagnostics)


def _folder(home: Path | None) -> Path:
    from hivedruid.cli import default_home

    return (home or default_home()).absolute()


def _settings(home: Path, hiveconf: Mapping[str, str]) -> Mapping[str, str]:
    """The settings of the home and of the command line. Raises UsageError for an unknown setting or a wrong value."""
    from hivedruid import configuration
    from hivedruid.errors import SemanticError, UsageError
    from hivedruid.settings import Settings

    try:
        return Settings({**configuration.values(home), **hiveconf})
    except SemanticError as error:
        raise UsageError(error.message, hint=error.hint) from None


def _show(where: Path, known: Server) -> None:
    """Print one row per fact, without the token."""
    from datetime import UTC, datetime

    from hivedruid.spark import server

    files = server.Files(where)
    idle = server.idle_for(where)
    busy = server.is_busy(where)
    facts: dict[str, Any] = {
        "state": "running a job" if busy else f"idle for {idle:.0f} s, stops after {known.idle:.0f} s",
        "address": f"127.0.0.1:{known.port} (requires a token)",
        "process": f"{known.jvm}, supervised by {known.keeper}",
        "memory": _memory(known.jvm),
        "since": datetime.fromtimestamp(known.started, UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "version": known.version,
        "iceberg": "yes" if known.libraries else "loaded by the first job that needs it",
        "log": files.log,
    }
    click.echo("".join(f"{name:8} {value}\n" for name, value in facts.items()), nl=False)


def _memory(process: int) -> str:
    """The resident memory of a process, from ps."""
    import subprocess

    listed = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=False)  # noqa: S607
    text = listed.stdout.strip()
    return f"{int(text) / 1024:.0f} MB" if text.isdigit() else "unknown"
