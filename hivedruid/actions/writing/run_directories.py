"""Write the files of INSERT OVERWRITE DIRECTORY."""

from __future__ import annotations

from pathlib import Path

from hivedruid.actions.services import Services
from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError
from hivedruid.plan.physical import SparkJob


def write(table: Table, job: SparkJob, services: Services) -> None:
    """Replace the files of the directory after all new ones are written. Raises ExecutionError for a directory with
    other files than those of a query: that of a home folder, or of the user, or one above them."""
    path = Path(table.location or "").resolve()
    for kept in (services.home, Path.home(), Path.cwd()):
        if kept.resolve().is_relative_to(path):
            raise ExecutionError(
                f"INSERT OVERWRITE DIRECTORY would delete all files in {path}, which contains {kept}",
                hint="use a new directory",
            )
    services.spark().write(job, table, overwrite=True, is_directory=True)
