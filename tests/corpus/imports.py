"""The conversion of the statements of old Hive scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hivedruid.hive_ddl import Imported, import_script

FOLDER = Path(__file__).parent / "imports"


def scripts() -> list[Path]:
    return sorted(FOLDER.glob("*.sql"))


def imported(script: Path) -> list[str]:
    """A block of the expectation for each statement: the original, the findings, and the statement to run instead."""
    return [_block(statement) for statement in import_script(script.read_text(encoding="utf-8"))]


def _block(statement: Imported) -> str:
    return "".join(f"{line}\n" for line in (*f"{statement.source.text.strip()};".splitlines(), *_facts(statement)))


def _facts(statement: Imported) -> Iterator[str]:
    if statement.summary:
        yield f"-- makes {statement.summary}"
    for finding in statement.findings:
        yield f"-- {finding.kind}: {finding}"
    if statement.text == statement.source.text:
        yield "-- the same"
    elif statement.text:
        yield from (f"--   {line}".rstrip() for line in statement.text.splitlines())
