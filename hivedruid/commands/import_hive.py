"""`hivedruid import-hive`: converts old Hive DDL to hivedruid, with the changes as comments."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from hivedruid import completion

if TYPE_CHECKING:
    from hivedruid.hive_ddl import Imported

_OUTCOMES = ("as it is", "rewritten", "left out", "cannot be mapped")


@click.command("import-hive")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completion.files)
@click.option("--check", is_flag=True, help="Print only the report, not the statements.")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors to standard error.")
def import_hive(files: tuple[str, ...], *, check: bool, quiet: bool) -> int:
    """Convert scripts for Hive's Druid and Kafka handlers to hivedruid.

    FILEs are scripts or the output of SHOW CREATE TABLE; - reads standard input. The output is a script: each
    converted statement is preceded by comments that list the changes. Statements that cannot be mapped are commented
    out.

    Exit codes: 0 all statements are mapped, 1 some are not.
    """
    from hivedruid.cli import guarded, read_script
    from hivedruid.diagnostics import FAILED, OK, Diagnostics

    diagnostics = Diagnostics(quiet=quiet)

    def run() -> int:
        from hivedruid.hive_ddl import import_script

        texts = [read_script(name) for name in files]
        imported = [item for text, file in texts for item in import_script(text, file)]
        sys.stdout.writelines(f"{line}\n" for line in (report(imported) if check else script(imported)))
        counts = Counter(outcome(item) for item in imported)
        diagnostics.info(f"{len(imported)} statements: " + ", ".join(f"{counts[name]} {name}" for name in _OUTCOMES))
        return FAILED if counts["cannot be mapped"] else OK

    return guarded(run, diagnostics)


def outcome(item: Imported) -> str:
    """The outcome for a statement: as it is, rewritten, left out, or cannot be mapped."""
    if item.text is None:
        return "cannot be mapped"
    if not item.text:
        return "left out"
    return "as it is" if item.text == item.source.text else "rewritten"


def report(imported: Iterable[Imported]) -> Iterator[str]:
    """The report: one line per statement and one per finding."""
    from hivedruid.diagnostics import one_line

    for item in imported:
        file = f"{item.source.file}:" if item.source.file else "line "
        what = f" ({item.summary})" if item.summary else ""
        yield f"{one_line(f'{file}{item.source.line}: {_begin(item.source.text)}{what}')}: {outcome(item)}"
        for finding in item.findings:
            yield f"  {one_line(f'{finding.kind}: {finding.text}')}"


def script(imported: Iterable[Imported]) -> Iterator[str]:
    """The converted script: each statement is preceded by its report."""
    from hivedruid.secret_text import mask_from_first, mask_text, redact

    for item in imported:
        if item.comments:
            yield redact(mask_text(item.comments))
        for line in report([item]):
            yield f"-- {line}"
        if item.text is None:
            yield from (f"--| {line}".rstrip() for line in redact(mask_from_first(item.source.text)).splitlines())
        elif item.text:
            text = item.text if item.text != item.source.text else item.source.original or item.text
            yield f"{text}\n;" if "--" in text.rpartition("\n")[2] else f"{text};"
        yield ""


def _begin(text: str) -> str:
    """The first words of a statement, up to the first punctuation: they identify it and contain no values."""
    import re

    match = re.match(r"(?:[\w`.]+\s*){1,8}", text)
    words = " ".join(match[0].split()) if match else ""
    return words if len(words) <= 60 else words[:59] + "…"
