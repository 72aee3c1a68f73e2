"""The rows of SELECT TRANSFORM: Spark pipes lines of text through the program, and both directions have Hive's text."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import HiveType
from hivedruid.errors import UnsupportedError, UsageError
from hivedruid.plan.physical import ScriptInput
from hivedruid.scratch import make_scratch
from hivedruid.setting_types import other_machines
from hivedruid.settings import TRANSFORM_FILES
from hivedruid.spark.cells import identifier, literal
from hivedruid.spark.inputs import cell_format, delimited_rows
from hivedruid.spark.relations import query
from hivedruid.spark.row_text import line

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

_TAB = {"field.delim": "\t"}
_NEVER = "(?!)"
"""A regular expression that matches nothing, at which Spark divides the lines of the program."""
_NO_NULL = "\x00hivedruid\x00"


def script_frame(
    spark: SparkSession, rows: DataFrame, item: ScriptInput, settings: Mapping[str, str], folder: str | None
) -> DataFrame:
    """The rows that the program writes for those of its input; `folder` is where it runs, if it has files."""
    script = item.script
    rows = rows.toDF(*(f"_{i}" for i in range(len(item.types))))
    order = [
        f"`_{i}` {'DESC' if down else 'ASC'} NULLS {'FIRST' if first else 'LAST'}" for i, down, first in script.sort
    ]
    ordered = f"DISTRIBUTE BY {', '.join(f'`_{i}`' for i in script.distribute)}" if script.distribute else ""
    ordered += f" SORT BY {', '.join(order)}" if order else ""
    command = script.command if folder is None else f"cd {shlex.quote(folder)} && {script.command}"
    text = _text(item)
    lines = query(
        spark,
        f"SELECT TRANSFORM(line) USING {literal(command)} AS (value STRING)"
        f" ROW FORMAT DELIMITED FIELDS TERMINATED BY {literal(_NEVER)} NULL DEFINED AS {literal(_NO_NULL)}"
        f" FROM (SELECT {text} AS line FROM (SELECT * FROM given {ordered}))",
        {"given": rows},
    )
    table = Table("", "", "files", item.columns, format="textfile", serde=_read(item))
    return delimited_rows(lines, table, cell_format(table, settings))


def script_folder(settings: Mapping[str, str], scratch: Path) -> str | None:
    """A folder with executable copies of the files of ADD FILE; None if there are none. Raises UsageError for a file
    that does not exist."""
    files = settings.get(TRANSFORM_FILES, "").splitlines()
    if not files:
        return None
    if elsewhere := other_machines(settings):
        raise UnsupportedError(
            f"the files of ADD FILE are on this machine, and scripts run on others ({elsewhere})",
            hint="install the script there, name it by its path, and SET hivedruid.transform.files=",
        )
    folder = scratch / "files"
    make_scratch(scratch.parent, scratch, folder)
    for path in map(Path, files):
        try:
            if path.is_dir():
                shutil.copytree(path, folder / path.name, dirs_exist_ok=True)
            else:
                (folder / path.name).write_bytes(path.read_bytes())
                (folder / path.name).chmod(0o700)
        except OSError as error:
            raise UsageError(f"cannot read {path}, a file of ADD FILE: {error.strerror}") from error
    return str(folder)


def _text(item: ScriptInput) -> str:
    """A row as the line that the program reads."""
    script, types = item.script, item.types[: item.script.width]
    names = [f"_{i}" for i in range(script.width)]
    if script.written is not None:
        serde = {**_TAB, **dict(script.written)}
        columns = tuple(Column(name, type_) for name, type_ in zip(names, types, strict=True))
        return line(Table("", "", "files", columns, format="textfile", serde=serde))
    cells = [f"coalesce({_cell(name, type_)}, '\\\\N')" for name, type_ in zip(names, types, strict=True)]
    return f"concat_ws('\\t', {', '.join(cells)})"


def _cell(name: str, type_: HiveType) -> str:
    """Nested values are JSON, as DelimitedJSONSerDe writes them."""
    if type_.name in ("array", "map", "struct"):
        return f"to_json({identifier(name)}, map('ignoreNullFields', 'false'))"
    return f"CAST({identifier(name)} AS STRING)"


def _read(item: ScriptInput) -> dict[str, str]:
    rest = {"serialization.last.column.takes.rest": "true"} if item.script.takes_rest else {}
    return {**_TAB, **dict(item.script.read or ()), **rest}
