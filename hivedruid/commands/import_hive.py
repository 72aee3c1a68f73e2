"""`hivedruid import-hive`: converts old Hive scripts, and reports which statements run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hivedruid import completion
from hivedruid.commands.options import HIVECONF, HIVEVAR

if TYPE_CHECKING:
    from hivedruid.commands.rehearsal import Judged

SUFFIXES = (".q", ".sql", ".hql")
"""The names of scripts in folders."""


@click.command("import-hive")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completion.files)
@click.option("--check", is_flag=True, help="Print only the report, not the statements.")
@click.option(
    "--report", type=click.Path(path_type=Path), metavar="FILE", help="Write the report to a file; JSON if it is .json."
)
@HIVEVAR
@HIVECONF
@click.option("-q", "--quiet", is_flag=True, help="Print only errors to standard error.")
def import_hive(
    files: tuple[str, ...],
    *,
    check: bool,
    report: Path | None,
    hivevar: dict[str, str],
    hiveconf: dict[str, str],
    quiet: bool,
) -> int:
    """Convert scripts of Hive to hivedruid, and report what runs.

    FILEs are scripts, folders with scripts (*.q, *.sql, *.hql), or the output of SHOW CREATE TABLE; - reads standard
    input. The output is a script: each converted statement is preceded by comments that list the changes. Statements
    that cannot run are commented out. No statement is run.

    Exit codes: 0 no statement is lost, 1 some cannot run.
    """
    from hivedruid.cli import guarded, read_script
    from hivedruid.diagnostics import FAILED, OK, Diagnostics

    diagnostics = Diagnostics(quiet=quiet)

    def run() -> int:
        from hivedruid.commands import import_report
        from hivedruid.commands.rehearsal import rehearsing
        from hivedruid.hive_ddl import import_script
        from hivedruid.output_file import write_text

        names = list(scripts(files))
        imported = [list(import_script(*read_script(name))) for name in names]
        with rehearsing(hivevar, hiveconf) as rehearsal:
            judged = [each for script in rehearsal.judged(imported) for each in script]
        shown = [*import_report.lines(judged), "", *import_report.summary(judged)]
        sys.stdout.writelines(f"{line}\n" for line in (shown if check else converted(judged)))
        if report is not None:
            is_json = report.suffix.lower() == ".json"
            write_text(report, import_report.as_json(judged, names) if is_json else "\n".join([*shown, ""]))
        if not check:
            for line in import_report.summary(judged):
                diagnostics.info(line)
        return FAILED if any(each.status == "cannot run" for each in judged) else OK

    return guarded(run, diagnostics)


def scripts(files: Iterable[str]) -> Iterator[str]:
    """The scripts that the arguments name, those of folders in the order of their paths. Raises UsageError for a folder
    without scripts."""
    from hivedruid.errors import UsageError

    for name in files:
        if name == "-" or not Path(name).is_dir():
            yield name
            continue
        found = sorted(path for path in Path(name).rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
        if not found:
            raise UsageError(f"{name} contains no script", hint=f"scripts have names with {', '.join(SUFFIXES)}")
        yield from map(str, found)


def converted(judged: Iterable[Judged]) -> Iterator[str]:
    """The converted script: each statement is preceded by its report."""
    from hivedruid.commands import import_report
    from hivedruid.secret_text import mask_from_first, mask_text, redact

    for each in judged:
        item = each.imported
        if item.comments:
            yield redact(mask_text(item.comments))
        for line in import_report.lines([each]):
            yield f"-- {line}"
        if item.text is None:
            yield from (f"--| {line}".rstrip() for line in redact(mask_from_first(item.source.text)).splitlines())
        elif item.text:
            text = item.text if item.text != item.source.text else item.source.original or item.text
            yield f"{text}\n;" if "--" in text.rpartition("\n")[2] else f"{text};"
        yield ""
