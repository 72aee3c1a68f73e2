"""The error of a segment file that cannot be read."""

from __future__ import annotations

from pathlib import Path

from hivedruid.errors import DruidError


def damaged(data_source: str, path: Path) -> DruidError:
    return DruidError(
        f"a segment file of data source {data_source} is damaged: {path}",
        hint=("restore the file from a backup of the home folder, or replace the table's rows with INSERT OVERWRITE"),
    )
