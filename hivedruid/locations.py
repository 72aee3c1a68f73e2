"""Relative LOCATIONs of statements."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivedruid.parser.statements import Statement
    from hivedruid.parser.statements.writing import InsertTarget
    from hivedruid.script import SourceStatement


def anchored(statement: Statement) -> Statement:
    """Resolve relative LOCATIONs against the script's folder, or the current folder without a script."""
    inner = getattr(statement, "statement", None)
    if inner is not None:
        return replace(statement, statement=anchored(inner))  # type: ignore[call-arg]
    partitions = getattr(statement, "partitions", ())
    if any(each.location for each in partitions):
        moved = tuple(replace(each, location=_absolute(each.location, statement.source)) for each in partitions)
        return replace(statement, partitions=moved)  # type: ignore[call-arg]
    targets = getattr(statement, "targets", ())
    if any(each.directory is not None for each in targets):
        moved = tuple(_of_directory(each, statement.source) for each in targets)
        return replace(statement, targets=moved)  # type: ignore[call-arg]
    file = getattr(statement, "like_file", None)
    if file is not None:
        moved_file = replace(file, path=_absolute(file.path, statement.source))
        statement = replace(statement, like_file=moved_file)  # type: ignore[call-arg]
    location = getattr(statement, "location", None)
    absolute = _absolute(location, statement.source)
    return statement if absolute == location else replace(statement, location=absolute)  # type: ignore[call-arg]


def _of_directory(target: InsertTarget, source: SourceStatement) -> InsertTarget:
    """The target with the absolute path of its directory, if it has one."""
    if target.directory is None:
        return target
    location = _absolute(target.directory.location, source) or ""
    return replace(target, directory=replace(target.directory, location=location))


def _absolute(location: str | None, source: SourceStatement) -> str | None:
    return absolute(location, source) if location else location


def absolute(location: str, source: SourceStatement) -> str:
    """The location, if it is relative from the script's folder, or the current folder without a script."""
    if ":" in location.partition("/")[0] or location.startswith("/"):
        return location
    folder = os.path.dirname(source.file) if source.file else ""  # noqa: PTH120
    return str(Path(folder, location).absolute())
