"""Counts malformed rows and locates the first ones, in a second pass that only runs if there are any."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from hivedruid.filesystems import local_path
from hivedruid.lazy_dataclass import dataclass
from hivedruid.spark.rows import stream
from hivedruid.terminal import printable

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame

SHOWN = 10
EXCERPT = 40
"""Maximum characters of a malformed row in messages."""

_OPENERS: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class MalformedRow:
    """One malformed row: its file, line (1-based; None if the file is not readable on this machine), text, and the
    reason."""

    file: str
    line: int | None
    text: bytes
    reason: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        text = self.text.decode("utf-8", "replace").strip()
        excerpt = printable(text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…")
        return f"{place} {self.reason}: {excerpt}"


@dataclass(frozen=True)
class MalformedRows:
    """The number of malformed rows of a table, and the first ten."""

    table: str
    count: int
    first: tuple[MalformedRow, ...]

    def __str__(self) -> str:
        rows = "row" if self.count == 1 else "rows"
        shown = f", the first {len(self.first)}" if self.count > len(self.first) else ""
        return f"{self.count} malformed {rows} in table {self.table}{shown}: " + "; ".join(map(str, self.first))


def find(table: str, lines: DataFrame) -> MalformedRows:
    """The malformed rows among `lines` (see `inputs.checked_lines`), in the order of files and lines."""
    bad = lines.where("_bad IS NOT NULL").selectExpr(
        "_file", "_start", "monotonically_increasing_id() AS _id", "CAST(value AS BINARY) AS _text", "_bad"
    )
    rows = list(stream(bad.orderBy("_file", "_start", "_id").limit(SHOWN).select("_file", "_text", "_bad")))
    total = bad.count() if len(rows) == SHOWN else len(rows)
    return MalformedRows(table, total, tuple(_located(rows)))


def _located(rows: Sequence[tuple[Any, ...]]) -> Iterator[MalformedRow]:
    """The rows with their line numbers, found by searching each file for equal lines in order."""
    for uri, group in groupby(rows, key=lambda row: row[0]):
        path = _local(uri)
        numbers = _numbered(path) if path else iter(())
        for _, text, reason in group:
            line = next((number for number, candidate in numbers if candidate == text), None)
            yield MalformedRow(str(path or uri), line, text, reason)


def _local(uri: str) -> Path | None:
    path = local_path(uri)
    return Path(unquote(urlsplit(uri).path)) if path else None


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, ended by LF, CR LF or CR as for Hadoop's LineRecordReader."""
    opener = _OPENERS.get(path.suffix.lower())
    try:
        with opener(path) if opener else path.open("rb") as file:
            yield from _lines(file)
    except (OSError, EOFError):
        return


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    for chunk in file:
        if number == 0:
            chunk = chunk.removeprefix(_BOM)  # noqa: PLW2901
        # bytes.splitlines splits at LF, CR LF and CR only
        for line in chunk.splitlines():
            number += 1
            yield number, line
