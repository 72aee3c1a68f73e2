"""LOCATIONs: whether they are on this machine, whether they exist, and their form as Spark paths."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hivedruid.catalog.table import Table
from hivedruid.errors import PlanError, SemanticError
from hivedruid.filesystems import local_path


def location_of(table: Table) -> str:
    """The LOCATION of a files table."""
    if not table.location:
        raise PlanError(f"table {table.full_name} has no LOCATION")
    return table.location


def spark_path(table: Table) -> str:
    """The location as a path for Spark's readers, with special characters escaped. Raises SemanticError if it does not
    exist.
    """
    location = location_of(table)
    path = local_path(location)
    if path is None:
        return location
    if not path.exists():
        raise SemanticError(
            f"table {table.full_name}: file or folder {path} does not exist", hint="check the table's LOCATION"
        )
    if not os.access(path, os.R_OK):
        raise SemanticError(f"table {table.full_name}: {path} cannot be read", hint="check the permissions")
    return escaped(path)


def escaped(path: Path) -> str:
    """The path for Spark's readers, which interpret some characters as patterns."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path))


def has_data(table: Table) -> bool:
    """Whether there is any file to read; hidden files (`_…`, `.…`) do not count, as in Hadoop. True where unknown."""
    path = local_path(location_of(table))
    if path is None or path.is_file():
        return True
    for _, folders, names in os.walk(path):
        folders[:] = [folder for folder in folders if not folder.startswith(("_", "."))]
        if any(not name.startswith(("_", ".")) for name in names):
            return True
    return False
