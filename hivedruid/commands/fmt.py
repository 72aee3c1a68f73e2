"""`hivedruid fmt`: formats scripts."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hivedruid import completion


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completion.files)
@click.option("--check", is_flag=True, help="Change nothing; print the scripts that are not formatted.")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors to standard error.")
def fmt(paths: tuple[str, ...], *, check: bool, quiet: bool) -> int:
    """Format scripts: blanks, indentation, line breaks before clauses, and upper-case keywords.

    PATHs are scripts, or folders whose .q files are formatted; - reads standard input and prints the result. Comments,
    names, literals and the lines of lists stay as they are.

    Exit codes: 0 success, 1 with --check: a script is not formatted, 2 a script cannot be read.
    """
    from hivedruid.cli import guarded, read_script
    from hivedruid.diagnostics import FAILED, OK, Diagnostics

    diagnostics = Diagnostics(quiet=quiet)

    def run() -> int:
        from hivedruid.formatting import format_script
        from hivedruid.output_file import write_text

        scripts = [read_script(path) for path in _scripts(paths)]
        results = [(file, text, format_script(text, file)) for text, file in scripts]
        changed = 0
        for file, text, formatted in results:
            changed += text != formatted
            if check and text != formatted:
                click.echo(file or "standard input")
            elif not check and file is None:
                sys.stdout.write(formatted)
            elif not check and file is not None and text != formatted:
                write_text(Path(file), formatted)
        left = len(results) - changed
        diagnostics.info(f"{changed} {'not formatted' if check else 'formatted'}, {left} unchanged")
        return FAILED if check and changed else OK

    return guarded(run, diagnostics)


def _scripts(paths: tuple[str, ...]) -> list[str]:
    """The scripts, without repetition: those in a folder are its .q files."""
    found: dict[str, None] = {}
    for path in paths:
        folder = Path(path)
        names = [str(script) for script in sorted(folder.rglob("*.q"))] if folder.is_dir() else [path]
        found |= dict.fromkeys(names)
    return list(found)
