"""Paths and LOCATIONs as Spark gets them; whether LOCATIONs are on this machine, and whether they exist."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hivedruid.catalog.table import Table
from hivedruid.errors import PlanError, SemanticError
from hivedruid.filesystems import local_path
from hivedruid.lazy_dataclass import dataclass

PATTERN = re.compile(r"[\\{}\[\]*?]")
"""A character that Spark's readers interpret as part of a pattern."""


@dataclass(frozen=True)
class Folders:
    """The folders of partitions, or files in them, below the folder `base`; Spark derives the values of `columns` from
    their names. Files of a table without partitions have no columns."""

    locations: tuple[str, ...]
    base: str
    columns: tuple[str, ...]

    @property
    def paths(self) -> list[str]:
        """As Spark's readers get them."""
        return [readable(location) for location in self.locations]


def location_of(table: Table) -> str:
    """The LOCATION of a files table."""
    if not table.location:
        raise PlanError(f"table {table.full_name} has no LOCATION")
    return table.location


def uri(location: str | Path) -> str:
    """The location for Spark: every path has its scheme, since the default file system of a cluster (fs.defaultFS) may
    be another one than that of this machine. Nothing is escaped, as in Hadoop's URIs."""
    path = local_path(str(location))
    return str(location) if path is None else f"file://{path}"


def readable(location: str | Path) -> str:
    """The same for Spark's readers, which interpret some characters of paths as patterns."""
    path = local_path(str(location))
    return uri(location) if path is None else escape(uri(path))


def escape(text: str) -> str:
    """A path whose characters are no patterns for Spark's readers."""
    return PATTERN.sub(r"\\\g<0>", text)


def spark_path(table: Table, *, is_visible: bool) -> str:
    """The LOCATION for Spark's readers. Raises SemanticError if it does not exist on this machine. That is not checked
    unless it `is_visible` here: see `is_visible_here`.
    """
    location = location_of(table)
    path = local_path(location)
    if path is None or not is_visible:
        return readable(location)
    if not path.exists():
        raise SemanticError(
            f"table {table.full_name}: file or folder {path} does not exist", hint="check the table's LOCATION"
        )
    if not os.access(path, os.R_OK):
        raise SemanticError(f"table {table.full_name}: {path} cannot be read", hint="check the permissions")
    return readable(path)


def is_visible_here(settings: Mapping[str, str]) -> bool:
    """Whether this machine has the files that Spark reads: its driver runs here, unless there is a `spark.remote`."""
    return not settings.get("spark.remote")


def has_bytes(places: Iterable[str], least: int) -> bool:
    """Whether files on this machine, in folders or by themselves, have at least this size together."""
    found = 0
    for place in places:
        path = local_path(place)
        for file in (path, *path.rglob("*")) if path is not None else ():
            found += file.stat().st_size if file.is_file() else 0
            if found >= least:
                return True
    return False


def has_data(table: Table, *, is_visible: bool) -> bool:
    """Whether there is any file to read; hidden files (`_…`, `.…`) do not count, as in Hadoop. True where unknown."""
    path = local_path(location_of(table))
    if path is None or not is_visible or path.is_file():
        return True
    for _, folders, names in os.walk(path):
        folders[:] = [folder for folder in folders if not folder.startswith(("_", "."))]
        if any(not name.startswith(("_", ".")) for name in names):
            return True
    return False
