"""A home folder that an earlier version of hivedruid created (tests/homes), with the results of that version."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from hivedruid.locks import Lock
from hivedruid.session import Session
from tests.homes.place import HOME

FOLDER = Path(__file__).parents[1] / "homes" / "schema_4"

REWORDED = {"Yes: it was not built to the end": "Yes: its last build did not complete"}

Rows = list[list[Any]]


@contextmanager
def unpacked() -> Iterator[Path]:
    """A new copy of the home. One process at a time can have it."""
    with Lock(HOME.with_suffix(".lock")) as lock:
        lock.wait()
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(mode=0o700)
        try:
            with tarfile.open(FOLDER / "home.tar.gz") as archive:
                archive.extractall(HOME, filter="data")
            yield HOME
        finally:
            shutil.rmtree(HOME)


@cache
def answers() -> dict[str, Rows]:
    """The results of the earlier version, by statement."""
    content: dict[str, Rows] = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
    return content


def expected_rows(text: str) -> Rows:
    """The expected results of the present version: the same with its own messages."""
    return [[REWORDED.get(cell, cell) if isinstance(cell, str) else cell for cell in row] for row in answers()[text]]


def run(session: Session, text: str) -> Rows:
    """The rows of the last of the statements, as `answers` has them."""
    rows: Rows = []
    for statement in session.statements(text):
        rows = [list(row) for row in session.execute(statement).rows]
    decoded: Rows = json.loads(json.dumps(rows, default=str))
    return decoded
