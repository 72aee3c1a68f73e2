"""Files that appear when they are complete: that of `sql --output`, in the format of its suffix, and scripts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from hivedruid.errors import ExecutionError, Span, UsageError, did_you_mean
from hivedruid.results import Result

SUFFIXES = {
    ".arrow": "arrow file",
    ".arrows": "arrow",
    ".csv": "csv",
    ".html": "html",
    ".json": "json",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".parquet": "parquet",
    ".tsv": "tsv",
}
"""The format of each suffix: a key of render.LAYOUTS or of arrow_files.BINARY. `.arrow` and `.arrows` are the suffixes
that Arrow registers for its file format and its stream format."""


class OutputFile:
    """A file that appears when all of it is written: rows go to a file beside it, which `keep` renames.

    It takes the rows of one statement. Use `opened`, which removes what was not kept.
    """

    def __init__(self, path: Path) -> None:
        """Raises UsageError for an unknown suffix, and if the file cannot be created."""
        self.path = path
        self.layout = _layout(path)
        self.rows = 0
        """The number of rows that were written."""
        self._is_taken = False
        self._target = Path(os.path.realpath(path))  # a link stays, and its target is replaced
        self._unfinished = _unfinished(self._target)
        if self._target.is_dir():
            raise UsageError(f"cannot write {path}: Is a directory")
        try:
            self._file: IO[bytes] = self._unfinished.open("wb")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None

    def take(self, span: Span) -> None:
        """Reserve the file for the rows of the statement at `span`. Raises UsageError if another one has it."""
        if self._is_taken:
            raise UsageError(
                f"{self.path} has the rows of a statement before this one",
                span=span,
                hint="run one statement that returns rows with --output",
            )
        self._is_taken = True

    def write(self, result: Result, zone: str, *, header: bool) -> None:
        """Write the rows while they arrive; `zone` is that of `timestamp with local time zone`."""
        from hivedruid import render

        try:
            if self.layout in render.LAYOUTS:
                for text in render.texts(result, self.layout, header=header):
                    self._file.write(text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text)
            else:
                from hivedruid.arrow_files import BINARY

                BINARY[self.layout](self._file, result, zone)
        except OSError as error:
            raise ExecutionError(f"cannot write {self.path}: {error.strerror or error}") from error

    def keep(self) -> None:
        """Give the written file its name, and the permissions of the file that it replaces."""
        if not self._is_taken:
            raise UsageError(f"no statement returned rows; {self.path} is not written")
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            _put(self._unfinished, self._target)
        except OSError as error:
            raise ExecutionError(f"cannot write {self.path}: {error.strerror or error}") from error

    def discard(self) -> None:
        """Close the file, and remove it if it was not kept."""
        with suppress(OSError):  # its buffer cannot be written
            self._file.close()
        self._unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Replace a file by a text, with its permissions; a link stays. Raises UsageError if it cannot be written."""
    target = Path(os.path.realpath(path))
    unfinished = _unfinished(target)
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        _put(unfinished, target)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _unfinished(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.unfinished")


def _put(unfinished: Path, target: Path) -> None:
    """Give a written file its name, and the permissions of the file that it replaces."""
    if target.exists():
        shutil.copymode(target, unfinished)
    unfinished.replace(target)


@contextmanager
def opened(path: Path | None) -> Iterator[OutputFile | None]:
    """The file at `path`, removed at the end unless it was kept; None without a path."""
    if path is None:
        yield None
        return
    file = OutputFile(path)
    try:
        yield file
    finally:
        file.discard()


def _layout(path: Path) -> str:
    layout = SUFFIXES.get(path.suffix.lower())
    if layout is not None:
        return layout
    what = f"'{path.suffix}' is not the suffix of a format" if path.suffix else f"'{path}' has no suffix"
    near = did_you_mean(path.suffix, SUFFIXES)
    raise UsageError(f"--output: {what}", hint=near or f"valid suffixes: {', '.join(SUFFIXES)}")
