"""Which files of a managed table a compaction rewrites. Pure.

The limits are those of Iceberg's `rewrite_data_files`, which rewrites the files (`spark.compaction`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal

from hivedruid.iceberg.files import TableFile, TableFiles

CompactionType = Literal["minor", "major"]
"""`minor` merges small files; `major` rewrites all files and applies deletes."""

MINOR = ("rewrite_data_files",)
MAJOR = ("rewrite_data_files", "rewrite_position_delete_files", "rewrite_manifests")
"""Iceberg's procedures that compact a table, in order; each is one commit."""
SMALL, LARGE = 0.75, 1.8
"""Files below and above these shares of the target size are rewritten."""
MANY, TOO_MANY = 20, 200
"""The number of small files from which automatic compaction merges them: if that is cheap, and in any case."""
FEWEST = 2
"""The number of files of one partition that are merged at least."""


def to_rewrite(files: TableFiles, type_: CompactionType, target: int) -> tuple[TableFile, ...]:
    """The data files that COMPACT rewrites."""
    if type_ == "major":
        return files.data
    unfit = [file for file in files.data if not SMALL * target <= file.size <= LARGE * target]
    return tuple(file for group in by_group(unfit) if _is_rewritten(group, target) for file in group)


def is_worthwhile(files: TableFiles, target: int) -> bool:
    """Whether automatic compaction merges small files now: if there are many, and the largest of them is not most of
    what would be rewritten. So each row is rewritten a few times only until its file is large enough."""
    sizes = sorted(file.size for file in to_rewrite(files, "minor", target))
    return len(sizes) >= MANY and (sum(sizes[:-1]) >= sizes[-1] or len(sizes) >= TOO_MANY)


def by_group(files: Iterable[TableFile]) -> Iterator[tuple[TableFile, ...]]:
    """The files of each partition."""
    for _, group in groupby(sorted(files, key=lambda file: repr(file.group)), key=lambda file: file.group):
        yield tuple(group)


def _is_rewritten(group: tuple[TableFile, ...], target: int) -> bool:
    return len(group) >= FEWEST or sum(file.size for file in group) > LARGE * target
