"""The small files of a table, and the lines of those of text, as Hadoop reads them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.actions.parquet_files import files_of
from hivedruid.evaluation.exactness import Unsure

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table

MOST_FILES = 100
MOST_BYTES = 32 << 20
"""The most bytes of the files of a table. Arrow parses them in 0.5 s."""


def small_files(table: Table, endings: Collection[str] | None = None) -> list[Path]:
    """The files of a table, if they are few and small; none if they may not be all, or one has an ending that is not
    among these, which Hadoop may decompress."""
    try:
        files = files_of(table, MOST_FILES)
    except (ValueError, OSError):
        return []
    paths = [Path(each.path) for each in files]
    is_known = endings is None or all(path.suffix.lower() in endings for path in paths)
    return paths if is_known and 0 < sum(each.size for each in files) <= MOST_BYTES else []


def lines_of(path: Path) -> list[bytes]:
    """The lines of a file. Raises Unsure if some of them may end otherwise than with a line feed."""
    content = path.read_bytes()
    if b"\r" in content:
        raise Unsure(f"{path} has carriage returns")
    lines = content.split(b"\n")
    return lines if lines[-1] else lines[:-1]
