"""`hivedruid explain`: the plan of a statement as a tree, or as a picture."""

from __future__ import annotations

import shutil
import sys
from itertools import islice
from pathlib import Path

import click

from hivedruid import completion
from hivedruid.commands.options import CLUSTER, HIVECONF, HOME


@click.command()
@click.option("-f", "--file", "script", metavar="FILE", shell_complete=completion.files, help="Read a script file.")
@click.option("-e", "--execute", "text", metavar="SQL", help="Explain this statement.")
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help="Write the plan to a file, as a picture.")
@click.option("--database", metavar="NAME", help="Use this database.")
@HIVECONF
@HOME
@CLUSTER
@click.option("--druid", metavar="URL", help="Druid to use: embedded:, local, or a router URL.")
def explain(
    script: str | None,
    text: str | None,
    *,
    svg: Path | None,
    database: str | None,
    hiveconf: dict[str, str],
    home: Path | None,
    cluster: str | None,
    druid: str | None,
) -> int:
    """Show which part of a statement Druid computes and which part Spark computes, with the estimated rows.

    The statement is that of -f, -e or standard input. Of a script it is the last one; those before it take effect
    for the plan alone, as with `hivedruid sql --dry-run`. No statement is executed.
    """
    from hivedruid.cli import before_scripts, default_home, guarded, open_session, read_script
    from hivedruid.diagnostics import OK, Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        from hivedruid import configuration
        from hivedruid.errors import UsageError
        from hivedruid.explained import draw

        if script is not None and text is not None:
            raise UsageError("-f and -e exclude each other", hint="remove one of them")
        folder = home or default_home()
        settings = hiveconf | ({"druid.url": druid} if druid else {})
        configured = configuration.values(folder.absolute(), cluster, settings.get("druid.url"))
        sources = [*before_scripts(database, ()), (text, None) if text is not None else read_script(script or "-")]
        with open_session(folder, configured, settings, {}, diagnostics, lambda _: False, dry_run=True) as session:
            number = sum(len(list(session.statements(*source))) for source in sources)
            if number == (database is not None):
                raise UsageError("there is no statement", hint="specify one with -f or -e, or on standard input")
            statements = (s for source in sources for s in session.statements(*source))
            for statement in islice(statements, number - 1):
                session.execute(statement)
            width = shutil.get_terminal_size().columns
            draw(session, next(statements), svg, width, sys.stdout.write, diagnostics.info)
        return OK

    return guarded(run, diagnostics)
