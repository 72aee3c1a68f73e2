"""The local folder in which a job stages its rows for Druid, by whichever way they are computed."""

from __future__ import annotations

from pathlib import Path

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.errors import ExecutionError
from hivedruid.private import private_folder


def prepare(folder: Path, *, shared: bool) -> None:
    """Create the folder, which only its owner can access unless `shared`. It must be empty, so that files of another
    job are not ingested. Raises ExecutionError."""
    try:
        private_folder(folder.parent)
        private_folder(folder)
        if shared:
            folder.chmod(0o755)
        taken = any(folder.iterdir())
    except OSError as error:
        raise ExecutionError(
            f"cannot write to the staging folder {folder}: {error.strerror}",
            hint="SET hivedruid.staging.root to a folder that hivedruid, Spark and Druid can access",
        ) from error
    if taken:
        raise ExecutionError(
            f"the staging folder {folder} is not empty", hint="each job requires its own staging folder"
        )


def no_time(timeless: int, rows: int) -> ExecutionError:
    """The error for rows without a time, of all rows."""
    return ExecutionError(
        f"{timeless} of {rows} rows have no time: {TIME_COLUMN} is null",
        hint="exclude such rows with WHERE, or SET hivedruid.null.time=skip; nothing was changed",
    )
