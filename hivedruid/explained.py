"""EXPLAIN of a statement that is given without it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hivedruid.plan_steps import Step
    from hivedruid.script import SourceStatement
    from hivedruid.session import Session


def explained(statement: SourceStatement, mode: str) -> SourceStatement:
    """EXPLAIN of a statement, in a mode or ""; errors have the positions of the statement."""
    prefix = f"EXPLAIN {mode.upper()} " if mode else "EXPLAIN "
    text = statement.text
    places = list(statement.places) or [(i, i + 1) for i in range(len(text))]
    original = text if statement.original is None else statement.original
    return replace(statement, text=prefix + text, original=original, places=(*[(0, 1)] * len(prefix), *places))


def steps_of(session: Session, statement: SourceStatement) -> tuple[Step, ...]:
    """The steps of a statement, or of that of an EXPLAIN, by EXPLAIN FORMATTED. Raises UsageError if it has none."""
    from hivedruid.parser.explain import options
    from hivedruid.parser.tokens import next_word
    from hivedruid.plan_steps import from_document

    word, _, end = next_word(statement.text)
    asked = explained(_without(statement, options(statement, end)[2]) if word == "EXPLAIN" else statement, "formatted")
    document = json.loads("\n".join(line for (line,) in session.execute(asked).rows))
    steps = tuple(from_document(item) for item in document["operators"])
    if not steps:
        raise UsageError(
            "the statement has no plan: it neither reads nor writes rows",
            span=statement.span(0, len(statement.text)),
            hint="run EXPLAIN to show what it changes",
        )
    return steps


def draw(
    session: Session,
    statement: SourceStatement,
    file: Path | None,
    width: int,
    show: Callable[[str], object],
    report: Callable[[str], None],
) -> None:
    """Draw the plan of a statement: as text of this width that is shown, or as SVG in a file, which is reported."""
    from hivedruid import plan_picture
    from hivedruid.output_file import write_text
    from hivedruid.secret_text import mask_text

    steps = steps_of(session, statement)
    if file is None:
        show(plan_picture.text(steps, width) + "\n")
    else:
        write_text(file, plan_picture.svg(steps, mask_text(statement.text)))
        report(f"{file}: the plan of the statement")


def _without(statement: SourceStatement, length: int) -> SourceStatement:
    """The statement without its first characters."""
    text = statement.text
    places = list(statement.places) or [(i, i + 1) for i in range(len(text))]
    original = text if statement.original is None else statement.original
    return replace(statement, text=text[length:], original=original, places=tuple(places[length:]))
