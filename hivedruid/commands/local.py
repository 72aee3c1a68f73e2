"""`hivedruid local`: a local Druid and Kafka cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from hivedruid.local.cluster import LocalCluster, ServiceStatus

NAMES = ("zookeeper", "coordinator", "historical", "indexer", "broker", "kafka")
"""The keys of services.SERVICES, written out so that `--help` loads nothing."""

HEAPS = ("small", "default")
"""The keys of services.HEAPS, written out for the same reason."""

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _home_option(command: _Command) -> _Command:
    return click.option(
        "--home",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="HIVEDRUID_HOME",
        help="Home folder of the cluster. [~/.hivedruid]",
    )(command)


@click.group()
def local() -> None:
    """Run a local Druid and Kafka cluster for one home folder.

    The services are downloaded once, listen on this machine only, and run until `down`.
    """


@local.command()
@click.option("--druid", is_flag=True, help="Only Druid. [both]")
@click.option("--kafka", is_flag=True, help="Only Kafka. [both]")
@click.option(
    "--heap",
    type=click.Choice(HEAPS),
    help="small: fits in 3.5 GB; default: larger heaps and full JIT, for benchmarks. [last used, else default]",
)
@_home_option
def up(*, druid: bool, kafka: bool, heap: str | None, home: Path | None) -> int:
    """Start the services that are not running, wait until they are ready, and print their addresses.

    Afterwards, statements in this home use this Druid (the setting druid.url).

    Exit codes: 0 success, 1 failure, 2 usage error, 3 Java or download unavailable, 130 interrupted.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        both = druid == kafka
        services = _cluster(home, heap, diagnostics.progress).up(druid=druid or both, kafka=kafka or both)
        for name in ("broker", "coordinator", "overlord", "kafka"):
            address = getattr(services, name)
            sys.stdout.write(f"{name:<12} {address}\n" if address else "")
        if druid or both:
            sys.stdout.flush()
            diagnostics.info(f"Statements in this home now use this Druid; run {_this('sql', home)} to open a prompt.")
        return 0

    return guarded(run, diagnostics)


@local.command()
@click.option("--clean", is_flag=True, help="Also delete the data.")
@_home_option
def down(*, clean: bool, home: Path | None) -> int:
    """Stop the services that `up` started. Data is kept for the next `up` unless --clean is given."""
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        stopped = _cluster(home, None, diagnostics.progress).down(clean=clean)
        diagnostics.info(f"stopped: {', '.join(stopped)}" if stopped else "no services were running")
        return 0

    return guarded(run, diagnostics)


@local.command()
@click.option("--format", "layout", type=click.Choice(("table", "json")), default="table", show_default=True)
@_home_option
def status(*, layout: str, home: Path | None) -> int:
    """Print one row per process.

    Exit codes: 0 all started services are up, 3 a service is down or none was started.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import UNREACHABLE, Diagnostics

    def run() -> int:
        rows = _cluster(home).status()
        sys.stdout.writelines(_json(rows) if layout == "json" else _table(rows))
        started = [row for row in rows if row.state != "stopped"]
        return 0 if started and all(row.state == "up" for row in started) else UNREACHABLE

    return guarded(run, Diagnostics())


@local.command()
@click.argument("name", type=click.Choice(NAMES))
@click.option("-f", "--follow", is_flag=True, help="Follow the log until Ctrl-C.")
@_home_option
def logs(*, name: str, follow: bool, home: Path | None) -> int:
    """Print the log of a process since its last start; the log of the previous run has the suffix .1."""
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    def run() -> int:
        from hivedruid.errors import UsageError
        from hivedruid.local.processes import log_file, tail
        from hivedruid.terminal import printable_lines

        log = log_file(_home(home), name)
        if not log.exists():
            raise UsageError(
                f"{name} has no log: it was never started for home {_home(home)}", hint=_this("local up", home)
            )
        shown = printable_lines if sys.stdout.isatty() else str
        for text in tail(log, follow=follow):  # control characters are escaped on a terminal and kept in a file
            sys.stdout.write(shown(text))
            sys.stdout.flush()
        return 0

    return guarded(run, Diagnostics())


def _home(home: Path | None) -> Path:
    from hivedruid.cli import default_home

    return home or default_home()


def _this(command: str, home: Path | None) -> str:
    """A command line with the --home option of this invocation."""
    import shlex

    return f"hivedruid {command}{f' --home {shlex.quote(str(home))}' if home else ''}"


def _cluster(home: Path | None, heap: str | None = None, progress: Callable[[str], None] | None = None) -> LocalCluster:
    from hivedruid.local.cluster import LocalCluster

    return LocalCluster(_home(home), heap, progress)


def _table(rows: list[ServiceStatus]) -> Iterator[str]:
    from datetime import datetime

    from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP
    from hivedruid.render import lines
    from hivedruid.results import Result, ResultColumn

    types = {"name": STRING, "state": STRING, "port": BIGINT, "pid": BIGINT}
    types |= {"memory": STRING, "since": TIMESTAMP, "log": STRING}

    def cells(row: ServiceStatus) -> tuple[Any, ...]:
        memory = f"{row.memory / 1e6:.0f} MB" if row.memory is not None else None
        since = datetime.fromtimestamp(int(row.since)) if row.since is not None else None
        return row.name, row.state, row.port, row.pid, memory, since, str(row.log)

    columns = tuple(ResultColumn(name, hive_type) for name, hive_type in types.items())
    return lines(Result(columns, map(cells, rows)), "table")


def _json(rows: list[ServiceStatus]) -> Iterator[str]:
    import json
    from dataclasses import asdict

    yield json.dumps([{**asdict(row), "log": str(row.log)} for row in rows], indent=2) + "\n"
