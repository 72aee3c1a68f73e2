"""The Parquet files of a table as this process and Spark's Python workers read them with Arrow: only if every value is
the one that Spark would read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hivedruid.actions.statistics.files import files_in
from hivedruid.catalog.types import ALIKE_IN_PARQUET, HiveType
from hivedruid.file_writers import Writer, writer_by
from hivedruid.filesystems import local_path

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    from hivedruid.catalog.footers import StoredFile
    from hivedruid.catalog.table import Column, Table


def files_of(table: Table, most: int) -> list[StoredFile]:
    """The files that Spark reads, at most this number. It also reads folders behind links, and names such as `_a=1`,
    which Hive hides. Raises ValueError if these exist, or if the files are elsewhere."""
    folder = local_path(table.location or "")
    if folder is None:
        raise ValueError("the table is elsewhere")
    files = files_in(folder)
    if len(files) > most:
        raise ValueError("the table has too many files")
    for each in folder.rglob("*"):
        if (each.is_symlink() and each.is_dir()) or (each.name.startswith("_") and "=" in each.name):
            raise ValueError(f"{each} may contain rows")
    return files


def names_in(schema: pa.Schema, columns: Sequence[Column]) -> list[str]:
    """The names of these columns in a file. Raises ValueError if it does not have them all."""
    names = {name.lower(): name for name in schema.names}
    if len(names) < len(schema.names):
        raise ValueError("names of columns differ only in case")
    stored = [names.get(column.field_name.lower(), "") for column in columns]
    if not all(stored):
        raise ValueError("the file does not have all columns")
    return stored


def notes_of(file: ParquetFile) -> Writer:
    """How the writer of a file stored times."""
    notes = file.metadata.metadata or {}
    return writer_by({k.decode(errors="replace"): v.decode(errors="replace") for k, v in notes.items()}, "parquet")


def check_type(schema: pa.Schema, name: str, hive: HiveType) -> None:
    """Raise ValueError unless the values of a column in a file have exactly this type."""
    from hivedruid.arrow import arrow_type

    if hive.name not in ALIKE_IN_PARQUET or schema.field(name).type != arrow_type(hive, "UTC"):
        raise ValueError(f"the column {name} is not of type {hive}")
