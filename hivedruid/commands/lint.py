"""`hivedruid lint`: reports what import-hive would change in scripts."""

from __future__ import annotations

import click

from hivedruid import completion


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completion.files)
@click.option("-q", "--quiet", is_flag=True, help="Print only errors to standard error.")
def lint(paths: tuple[str, ...], *, quiet: bool) -> int:
    """Report statements that import-hive would change, and properties that Druid 33 ignores.

    PATHs are scripts, or folders with scripts (*.q, *.sql, *.hql); - reads standard input. A line for each finding has
    the file, the line of the statement, and the reason. No statement is run and no script is changed.

    Exit codes: 0 nothing to change, 1 there are findings other than notes, 2 a script cannot be read.
    """
    from hivedruid.cli import guarded, read_script
    from hivedruid.diagnostics import FAILED, OK, Diagnostics

    diagnostics = Diagnostics(quiet=quiet)

    def run() -> int:
        from hivedruid.commands.import_hive import scripts
        from hivedruid.diagnostics import one_line
        from hivedruid.hive_ddl import import_script

        names = list(scripts(paths))
        found = [
            (item.place, finding)
            for name in names
            for item in import_script(*read_script(name))
            for finding in item.findings
        ]
        for where, finding in found:
            click.echo(one_line(f"{where}: {finding.kind}: {finding}"))
        notes = sum(finding.kind == "note" for _, finding in found)
        diagnostics.info(f"scripts: {len(names)}; to change: {len(found) - notes}; notes: {notes}")
        return FAILED if len(found) > notes else OK

    return guarded(run, diagnostics)
