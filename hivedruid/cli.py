"""The command line: turns options into a session and its statements, and the outcome into an exit code.

Only click is imported at module level, so that `--help` and `--version` do not load a parser; each command imports
what it needs.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hivedruid import completion
from hivedruid.commands.options import CLUSTER, HIVECONF, HIVEVAR, HOME, assignments
from hivedruid.versions import TESTED, VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from hivedruid.diagnostics import Diagnostics
    from hivedruid.run import Output
    from hivedruid.session import Session

LAYOUTS = ("table", "csv", "tsv", "json", "jsonl", "vertical", "markdown", "html")
"""The keys of render.LAYOUTS, written out so that `--help` loads no renderer."""
FORMATS = (*LAYOUTS, "arrow")


_IMPLIED = "hivedruid.implied"
"""The mark of a context in which `sql` is not written."""


HELP = ("-h", "-H", "--help")
"""`-H` is that of Hive's command line."""


class _SqlCommand(click.Command):
    """A command that records the order of its options: -f and -e run in that order."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        ctx.meta["hivedruid.order"] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """The options, and the commands if `sql` is only implied: hivedruid --home DIR segments."""
        items = super().shell_complete(ctx, incomplete)
        if ctx.parent is None or _IMPLIED not in ctx.meta or incomplete.startswith("-"):
            return items
        return cli.shell_complete(ctx.parent, incomplete)


COMMANDS = {
    "config": "show every setting and where its value comes from",
    "demo": "load sample data, query it, and open a prompt",
    "explain": "show or draw the plan of a statement",
    "fmt": "format scripts",
    "doctor": "check that this machine and Druid have what each feature needs",
    "import-hive": "convert Hive scripts, and report what runs",
    "lint": "report what import-hive would change in scripts",
    "local": "run a local Druid and Kafka cluster",
    "sample": "download a sample data set",
    "segments": "inspect and verify segment files in deep storage",
    "spark": "manage the shared Spark server",
    "streams": "run the streams of a home folder",
    "top": "monitor Kafka ingestion and streams live",
}
"""Commands with their own module in `commands`, and their `--help` line."""


class _Group(click.Group):
    """Options of a command may also stand before it; without a command they imply `hivedruid sql`. The modules of
    COMMANDS are loaded on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *COMMANDS])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return super().get_command(ctx, name)
        from importlib import import_module

        module = name.replace("-", "_")
        command = getattr(import_module(f"hivedruid.commands.{module}"), module)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        short = {name: command.get_short_help_str(60) for name, command in self.commands.items()}
        with formatter.section("Commands"):
            formatter.write_dl(sorted([*short.items(), *COMMANDS.items()]))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        items = super().shell_complete(ctx, incomplete)
        if not incomplete.startswith("-"):
            return items
        names = {item.value for item in items}
        return [*items, *(item for item in sql.shell_complete(ctx, incomplete) if item.value not in names)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and args[0] not in (*HELP, "--version"):
            args = self._command_first(ctx, args)
        return super().parse_args(ctx, args)

    def _command_first(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move options that stand before the command behind it; without a command they are those of `sql`."""
        parser = sql.make_parser(ctx)
        parser.allow_interspersed_args = False
        parser.ignore_unknown_options = True
        try:
            _, rest, _ = parser.parse_args(list(args))
        except click.UsageError:
            rest = []
        command = self.get_command(ctx, rest[0]) if rest else None
        if command is None:
            ctx.meta[_IMPLIED] = True
            return ["sql", *args]
        words = 2 if isinstance(command, click.Group) else 1  # local up
        return [*rest[:words], *args[: len(args) - len(rest)], *rest[words:]]


def _tested() -> str:
    return "tested with " + ", ".join(f"{name} {version}" for name, version in TESTED.items())


@click.group(cls=_Group, invoke_without_command=True, context_settings={"help_option_names": [*HELP]})
@click.version_option(VERSION, prog_name="hivedruid", message=f"%(prog)s %(version)s\n{_tested()}")
@click.pass_context
def cli(ctx: click.Context) -> int | None:
    """Run Hive SQL on Apache Druid, Kafka and files, without Hive.

    Without a command, hivedruid opens a prompt, or runs the statements on standard input if that is not a terminal.
    The options of `hivedruid sql` are accepted here, too; those of a command also before it.
    """
    if ctx.invoked_subcommand is None:
        return int(sql.main([], "hivedruid", standalone_mode=False))
    return None


@cli.command(cls=_SqlCommand)
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    shell_complete=completion.files,
    help="Run a script file; - reads standard input.",
)
@click.option("-e", "--execute", "texts", multiple=True, metavar="SQL", help="Run these statements.")
@click.option(
    "-i",
    "--init",
    "inits",
    multiple=True,
    metavar="FILE",
    shell_complete=completion.files,
    help="Run a script file before all others.",
)
@click.option("--database", metavar="NAME", help="Use this database.")
@HIVEVAR
@HIVECONF
@click.option(
    "--format", "layout", type=click.Choice(FORMATS), help="How rows are printed; arrow is binary. [default: table]"
)
@click.option(
    "-o",
    "--output",
    "output_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the rows to a file, in the format of its suffix: .parquet, .arrow, .csv, .json, .jsonl …",
)
@click.option("--no-header", is_flag=True, help="Do not print column names.")
@HOME
@CLUSTER
@click.option("--druid", metavar="URL", help="Druid to use: embedded:, local, or a router URL.")
@click.option("--dry-run", is_flag=True, help="Show the plan of each statement without running it.")
@click.option("--fail-at-end", is_flag=True, help="Continue after an error; exit with the first error's code.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation before losing or rereading records.")
@click.option("-q", "-S", "--quiet", "--silent", "quiet", is_flag=True, help="Print only errors to standard error.")
@click.option("-v", "--verbose", is_flag=True, help="Print each statement and a short plan before its result.")
@click.option("--time", is_flag=True, help="Print the run time of each statement.")
@click.pass_context
def sql(
    ctx: click.Context,
    *,
    files: tuple[str, ...],
    texts: tuple[str, ...],
    inits: tuple[str, ...],
    database: str | None,
    hivevar: dict[str, str],
    hiveconf: dict[str, str],
    layout: str | None,
    output_path: Path | None,
    no_header: bool,
    home: Path | None,
    cluster: str | None,
    druid: str | None,
    dry_run: bool,
    fail_at_end: bool,
    yes: bool,
    quiet: bool,
    verbose: bool,
    time: bool,
) -> int:
    """Run statements from -f and -e in the order given, else from standard input.

    Query results go to standard output, everything else to standard error.

    Exit codes: 0 success, 1 a statement failed, 2 usage or parse error, 3 a service cannot be reached, 130 interrupted.
    """
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics(quiet=quiet)

    def run() -> int:
        gc.disable()  # startup objects are long-lived, and collecting them takes 15 ms; the first statement enables gc
        from hivedruid import configuration
        from hivedruid.output_file import opened
        from hivedruid.run import Output

        interactive = not (files or texts) and all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))
        _check_output(layout, output_path, interactive=interactive, dry_run=dry_run)
        output = Output(layout or "table", not no_header, time or (interactive and not quiet), verbose)
        inputs = [] if interactive else list(_inputs(ctx.meta["hivedruid.order"], files, texts))
        before = list(before_scripts(database, inits))
        folder = home or default_home()
        settings = hiveconf | ({"druid.url": druid} if druid else {})
        configured = configuration.values(folder.absolute(), cluster, settings.get("druid.url"))
        confirm = diagnostics.yes if yes else diagnostics.ask
        session = open_session(folder, configured, settings, hivevar, diagnostics, confirm, dry_run=dry_run)
        if verbose:
            session.on_plan = diagnostics.plan
        try:
            if interactive:
                from hivedruid.repl.prompt import run_repl

                code = _run_inputs(session, before, output, diagnostics, fail_at_end=fail_at_end)
                if code and not fail_at_end:
                    return code
                return run_repl(session, folder / "history", output, diagnostics)
            with opened(output_path) as file:
                to = replace(output, file=file)
                code = _run_inputs(session, [*before, *inputs], to, diagnostics, fail_at_end=fail_at_end)
                if file is not None and code == 0:
                    file.keep()
                    diagnostics.info(f"{file.path}: {file.rows:,} row{'' if file.rows == 1 else 's'}")
            return code
        finally:
            session.close()
            gc.enable()
            if "_duckdb" in sys.modules:  # DuckDB would report frozen objects as leaks
                gc.unfreeze()

    return guarded(run, diagnostics)


@cli.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--update", is_flag=True, help="Replace the expected output with the actual output.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Number of processes. [one per 8 scripts, at most 4]")
@click.option("--druid", metavar="URL", help="Druid to use, as in `sql --druid`. [embedded:]")
@click.option(
    "--hiveconf",
    multiple=True,
    metavar="KEY=VALUE",
    callback=assignments,
    shell_complete=completion.settings,
    help="Set a configuration setting for every script.",
)
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    envvar="HIVEDRUID_HOME",
    help="Home folder of the cluster for --druid local.",
)
def test(
    paths: tuple[Path, ...],
    *,
    update: bool,
    jobs: int | None,
    druid: str | None,
    hiveconf: dict[str, str],
    home: Path | None,
) -> int:
    """Run .q scripts and compare their output with the .q.out files.

    PATHS are scripts or folders of scripts. Each script runs in its own temporary home folder, with a fixed clock and
    time zone. On a cluster, scripts run sequentially, and their data sources are dropped.
    """
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        from hivedruid.qtest.runner import run_paths

        settings = {**hiveconf, **_druid_settings(druid, home or default_home())}
        return run_paths(paths, update=update, jobs=jobs, settings=settings, progress=diagnostics.progress)

    return guarded(run, diagnostics)


def main(argv: list[str] | None = None) -> int:
    """The entry point; returns the exit code."""
    from hivedruid.diagnostics import Diagnostics

    if completion.VARIABLE in os.environ:
        completion.register()
    try:
        code = cli.main(argv, "hivedruid", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.ClickException as error:
        from hivedruid.errors import UsageError

        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "hivedruid"
        message = error.format_message()
        return Diagnostics().report(UsageError(message, hint=_instead(message) or f"run {command} --help for usage"))
    except click.Abort as error:
        return Diagnostics().report(error.__cause__ or error)
    return code if isinstance(code, int) else 0


def _instead(message: str) -> str | None:
    """The hint for a statement or a script where a command or nothing is expected."""
    surplus = re.match(r"(?:No such command ['\"]|Got unexpected extra arguments? \()(.*)['\")]", message, re.DOTALL)
    if surplus and re.search(r"\.(q|hql|sql)$", surplus[1]):
        return f"use hivedruid sql -f {surplus[1]} to run a script"
    if surplus and re.match(r"(SELECT|SHOW|DESCRIBE|CREATE|INSERT|WITH|EXPLAIN)\b", surplus[1], re.IGNORECASE):
        return "use hivedruid sql -e 'statement' to run a statement"
    return None


def guarded(run: Callable[[], int], diagnostics: Diagnostics) -> int:
    """Run a command and translate every outcome to an exit code."""
    from hivedruid import notices
    from hivedruid.diagnostics import BROKEN_PIPE

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")  # lone surrogates and terminals without UTF-8 must not fail a statement
    try:
        with notices.received_by(diagnostics.note):
            code = run()
        sys.stdout.flush()
    except BrokenPipeError:
        from hivedruid.run import discard_stdout

        discard_stdout()
        return BROKEN_PIPE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - reported as one line
        return diagnostics.report(error)
    return code


def default_home() -> Path:
    """The home folder without --home."""
    from hivedruid import defaults

    return defaults.default_home()


def _druid_settings(druid: str | None, home: Path) -> dict[str, str]:
    """Settings that select a Druid for scripts in temporary homes: `local` is the cluster of `home`."""
    if druid != "local":
        return {"druid.url": druid} if druid else {}
    from hivedruid.errors import ConnectError
    from hivedruid.local.state import running

    services = running(home)
    if services is None:
        raise ConnectError("the local cluster is not running", hint="run hivedruid local up")
    return {
        "druid.url": services.broker,
        "druid.coordinator.url": services.coordinator,
        "druid.overlord.url": services.overlord,
    }


def open_session(
    home: Path,
    configured: Mapping[str, str],
    hiveconf: Mapping[str, str],
    hivevar: Mapping[str, str],
    diagnostics: Diagnostics,
    confirm: Callable[[str], bool],
    *,
    dry_run: bool,
) -> Session:
    """A session with the settings from the command line. Raises UsageError for an unknown setting or an invalid
    value."""
    from hivedruid.errors import SemanticError, UsageError
    from hivedruid.session import Session

    try:
        return Session(
            home, configured=configured, hiveconf=hiveconf, hivevar=hivevar, dry_run=dry_run,
            note=diagnostics.note, progress=diagnostics.progress, info=diagnostics.info, confirm=confirm,
        )  # fmt: skip
    except SemanticError as error:
        raise UsageError(error.message, hint=error.hint) from None


def _check_output(layout: str | None, path: Path | None, *, interactive: bool, dry_run: bool) -> None:
    """Refuse options that contradict each other, before any statement runs."""
    from hivedruid.errors import UsageError

    if layout == "arrow" and sys.stdout.isatty():
        raise UsageError("--format arrow is binary and is not written to a terminal", hint="use --output FILE.arrow")
    if path is None:
        return
    if layout is not None:
        raise UsageError(
            "--output and --format exclude each other",
            hint="remove --format: the suffix of the file determines the format",
        )
    if dry_run:
        raise UsageError("--output and --dry-run exclude each other", hint="remove one of them")
    if interactive:
        raise UsageError("--output requires statements", hint="specify them with -f or -e, or on standard input")


def _run_inputs(
    session: Session,
    inputs: Iterable[tuple[str, str | None]],
    output: Output,
    diagnostics: Diagnostics,
    *,
    fail_at_end: bool,
) -> int:
    """Run scripts; returns the exit code of the first that failed, else OK."""
    from hivedruid.run import run_text

    code = 0
    for text, file in inputs:
        failed = run_text(session, text, output, diagnostics, file=file, fail_at_end=fail_at_end)
        code = code or failed
        if failed and not fail_at_end:
            break
    return code


def before_scripts(database: str | None, inits: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """What runs before all scripts: USE, then the scripts of -i, as in Hive."""
    if database is not None:
        yield f"USE `{database.replace('`', '``')}`", None
    yield from map(read_script, inits)


def _inputs(
    order: Iterable[str | None], files: Iterable[str], texts: Iterable[str]
) -> Iterator[tuple[str, str | None]]:
    """The scripts to run with their file names, in the order of the options; all are read before the first runs."""
    remaining_files, remaining_texts = iter(files), iter(texts)
    given = [name for name in order if name in ("files", "texts")]
    for name in given:
        yield read_script(next(remaining_files)) if name == "files" else (next(remaining_texts), None)
    if not given:
        yield read_script("-")


def read_script(path: str) -> tuple[str, str | None]:
    """A script's text and its file name; UTF-8, with or without a byte order mark.

    Raises UsageError if it cannot be read.
    """
    from hivedruid.errors import Span, UsageError

    name = "standard input" if path == "-" else path
    if path == "-" and sys.stdin is None:
        raise UsageError("standard input is not available", hint="specify statements with -f or -e")
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from None
    file = None if path == "-" else path
    try:
        return content.decode("utf-8-sig"), file
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = content[before.rfind(b"\n") + 1 :].partition(b"\n")[0]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        span = Span(before.count(b"\n") + 1, column, 1, line.decode("utf-8", "replace"), file)
        raise UsageError(f"{name} is not UTF-8 text", span=span, hint="convert it with iconv -t UTF-8") from None
