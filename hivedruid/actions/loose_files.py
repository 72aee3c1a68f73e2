"""Files without a table: `SELECT * FROM 'orders.csv'`. Each is a table of Parquet, ORC or Avro files in one statement
only. Text is copied once in a session, and again when the file has changed."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.table import COPIED, LOOSE_FILES, Column, Table
from hivedruid.errors import (
    HiveDruidError,
    SemanticError,
    TableNotFound,
    UnreadableFileError,
    UnsupportedError,
    did_you_mean,
    listed_names,
)
from hivedruid.filesystems import local_path
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.loose_files import stem
from hivedruid.scratch import folder_of_rows, make_room, remove_rows, scratch_folder
from hivedruid.spark.paths import is_visible_here
from hivedruid.tables.hive_tables import FORMAT_SERDES

if TYPE_CHECKING:
    from hivedruid.embedded.loose_files import CopiedFile

_STATE = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class _Format:
    """How the files with an ending are read: in place with these columns, or copied."""

    name: str
    separator: str | None = None

    @property
    def is_text(self) -> bool:
        return self.name in ("csv", "json")


FORMATS: Mapping[str, _Format] = {
    ".csv": _Format("csv"), ".tsv": _Format("csv", "\t"),
    ".json": _Format("json"), ".jsonl": _Format("json"), ".ndjson": _Format("json"),
    ".parquet": _Format("parquet"), ".orc": _Format("orc"), ".avro": _Format("avro"),
}  # fmt: skip
"""The formats by the endings of files; those of text may be followed by `.gz`."""
_COMPRESSED = ".gz"
_SHOWN = 8
"""The columns in the note about a file."""
_ENDINGS = f"{', '.join(FORMATS)}, and those of text with {_COMPRESSED}"


@dataclass(frozen=True)
class LooseFile:
    """A file as a table; `remarks` are what was decided about it, `statement` creates a table that stays."""

    table: Table
    remarks: str = ""
    statement: str = ""

    @property
    def summary(self) -> str:
        """How the file is read, in a line; empty if it cannot be read."""
        if not self.table.columns:
            return ""
        columns = listed_names([f"{column.name} {column.type}" for column in self.table.columns], _SHOWN)
        remarks = f"; {self.remarks}" if self.remarks else ""
        name = self.table.full_name
        return f"{name} is read as ({columns}){remarks}; DESCRIBE {name} prints its CREATE TABLE"


@dataclass
class LooseFiles:
    """The files that a session has read."""

    home: Path
    _noted: set[tuple[str, _STATE]] = field(default_factory=set)
    _known: dict[tuple[str, str], tuple[_STATE, LooseFile]] = field(default_factory=dict)

    def find(self, name: str, folder: str, settings: Mapping[str, str], is_table: Callable[[str], bool]) -> LooseFile:
        """The file with this name, if it is relative below the folder. A file that cannot be read is a table without
        columns that is `unreadable`: reading it is an error at its place in the statement."""
        try:
            path = _path(name, folder, settings)
            paths = _paths(path, is_table, name)
            format_ = _format(paths[0])
            state = tuple(_state(each) for each in paths)
            before, known = self._known.get((name, path), ((), None))
            if known is not None and before == state:
                return known
            found = self._read(name, path, paths, format_)
            self._known[name, path] = state, found
        except UnreadableFileError as error:
            table = Table(LOOSE_FILES, name, "files", (), unreadable=(error.reason, error.hint))
            return LooseFile(table)
        return found

    def new_summaries(self, tables: Iterable[Table]) -> list[str]:
        """How the files among the tables of a statement are read, unless that was returned before."""
        read = {table.name for table in tables if table.is_loose}
        new = {(name, state): file for (name, _), (state, file) in self._known.items() if name in read}
        texts = [file.summary for key, file in new.items() if key not in self._noted and file.summary]
        self._noted |= new.keys()
        return texts

    def close(self) -> None:
        """Remove the copies."""
        for _, known in self._known.values():
            if known.table.location and Path(known.table.location).is_relative_to(scratch_folder(self.home)):
                remove_rows(known.table.location)
        self._known.clear()

    def _read(self, name: str, path: str, paths: list[str], format_: _Format) -> LooseFile:
        rows = folder_of_rows(self.home)
        make_room(rows)
        rows.mkdir()
        try:
            if format_.is_text:
                return self._copied(name, path, paths, format_, rows)
            return _in_place(name, path, paths, format_, rows)
        except UnreadableFileError:
            remove_rows(str(rows))
            raise
        except HiveDruidError as error:
            remove_rows(str(rows))
            reason = error.message.rpartition("cannot be read: ")[2]
            raise UnreadableFileError(reason, f"check that it is {format_.name.upper()}") from error

    def _copied(self, name: str, path: str, paths: list[str], format_: _Format, rows: Path) -> LooseFile:
        from hivedruid.embedded.loose_files import copy_delimited, copy_json

        target = rows / "rows.parquet"
        is_json = format_.name == "json"
        copied = copy_json(paths, target) if is_json else copy_delimited(paths, target, format_.separator)
        columns = tuple(Column(column, type_) for column, type_ in copied.columns)
        table = Table(
            LOOSE_FILES, name, "files", columns, external=True, format="parquet", location=str(rows),
            properties={COPIED: "true"},
        )  # fmt: skip
        declared = _declared(table, path, copied, is_single=len(paths) == 1)
        return LooseFile(table, "" if is_json else _remarks(copied), _statement(table, declared, path))


def _in_place(name: str, path: str, paths: list[str], format_: _Format, rows: Path) -> LooseFile:
    """Parquet, ORC and Avro files stay where they are; several are links in a folder."""
    found = [_columns_of(each, format_) for each in paths]
    columns, serde = found[0]
    for each, other in zip(paths, found, strict=True):
        if other != found[0]:
            what = "other columns" if other[0] != columns else "another schema"
            raise UnreadableFileError(
                f"{Path(each).name} has {what} than {Path(paths[0]).name}", "read the files one by one"
            )
    location = paths[0]
    if len(paths) > 1:
        for place, each in enumerate(paths):
            (rows / f"{place:06}-{Path(each).name}").symlink_to(each)
        location = str(rows)
    else:
        remove_rows(str(rows))
    table = Table(
        LOOSE_FILES, name, "files", columns, external=True, format=format_.name, location=location, serde=serde
    )
    declared = table if len(paths) == 1 else None
    return LooseFile(table, "", _statement(table, declared, path))


def _columns_of(path: str, format_: _Format) -> tuple[tuple[Column, ...], Mapping[str, str]]:
    """The columns of a file, and the properties of the SerDe that reads them."""
    if format_.name == "avro":
        return _avro_columns(path)
    from hivedruid.actions.ddl.file_columns import file_columns
    from hivedruid.parser.statements.ddl import LikeFile

    columns = file_columns(LikeFile(format_.name, path), {})
    return tuple(Column(column.name, column.type) for column in columns), {}


def _avro_columns(path: str) -> tuple[tuple[Column, ...], Mapping[str, str]]:
    """Those of Hive's AvroSerDe for the schema in the file, which is the schema of a table with the same values."""
    from hivedruid.catalog.avro import LITERAL, parse_schema
    from hivedruid.file_writers import avro_schema

    try:
        with Path(path).open("rb") as file:
            text = avro_schema(file)
    except ValueError as error:
        raise UnreadableFileError(str(error), "check that it is AVRO") from None
    try:
        columns = parse_schema(text).columns
    except (SemanticError, UnsupportedError) as error:
        raise UnreadableFileError(error.message, _OWN_COLUMNS) from None
    repeated = next((name for name, count in Counter(column.name for column in columns).items() if count > 1), None)
    if repeated is not None:
        raise UnreadableFileError(f"it has two columns with the name {repeated}", _OWN_COLUMNS)
    return columns, {"serialization.lib": FORMAT_SERDES["avro"], LITERAL: text}


_OWN_COLUMNS = "specify the columns: CREATE EXTERNAL TABLE … (…) STORED AS AVRO LOCATION …"


# --- paths --------------------------------------------------------------------------------------------------------


def _path(name: str, folder: str, settings: Mapping[str, str]) -> str:
    """The absolute path on this machine."""
    path = local_path(os.path.expanduser(name))  # noqa: PTH111 - Path has no error for ~unknown
    if path is None:
        raise UnreadableFileError(
            "only files on this machine can be read without a table", "CREATE EXTERNAL TABLE … LOCATION reads others"
        )
    if not is_visible_here(settings):
        raise UnreadableFileError(
            "Spark (spark.remote) does not read the files of this machine", "unset spark.remote, or LOAD DATA LOCAL"
        )
    is_relative = not name.startswith(("/", "~")) and ":" not in name
    return str(Path(folder, name).absolute() if is_relative else path)


def _paths(path: str, is_table: Callable[[str], bool], name: str) -> list[str]:
    """The files of a path, or of a pattern in the order of their names."""
    if Path(path).is_file():
        _check_file(path)
        return [path]
    if Path(path).is_dir():
        inside = next(_endings_in(Path(path)), None)
        hint = f"use '{name.rstrip('/')}/*{inside}'" if inside else "name a file, or a pattern such as 'folder/*.csv'"
        raise UnreadableFileError("it is a folder", hint)
    if glob.has_magic(path):
        found = [each for each in sorted(glob.glob(path, recursive=True)) if Path(each).is_file()]  # noqa: PTH207
        if not found:
            raise UnreadableFileError("no file matches the pattern", "check the pattern; relative paths are " + _WHERE)
        formats = {_format(each).name for each in found}
        if len(formats) > 1:
            raise UnreadableFileError("the pattern matches files of several formats", "add an ending to the pattern")
        for each in found:
            _check_file(each)
        return found
    if is_table(name):
        raise UnreadableFileError("there is no such file", f"remove the quotes to read the table: FROM {name}")
    raise UnreadableFileError("there is no such file", _closest(path) or "relative paths are " + _WHERE)


_WHERE = "those from the folder of the script, or from the current folder at the prompt"


def _endings_in(folder: Path) -> Iterator[str]:
    for each in sorted(folder.iterdir()):
        yield from (ending for ending in FORMATS if each.name.lower().endswith(ending))


def _closest(path: str) -> str | None:
    """A hint with a file beside the one that does not exist."""
    folder = Path(path).parent
    if not folder.is_dir():
        return f"the folder {folder} does not exist"
    names = [each.name for each in folder.iterdir() if ending_of(each.name) is not None]
    return did_you_mean(Path(path).name, names)


def _check_file(path: str) -> None:
    if not os.access(path, os.R_OK):
        raise UnreadableFileError("it cannot be read", "check its permissions")
    if not Path(path).stat().st_size:
        raise UnreadableFileError("it is empty" if ending_of(path) else _unknown(path), "check the file")
    _format(path)


def ending_of(path: str) -> str | None:
    """The ending that decides how a file is read, without that of a compression; None for other files."""
    name = path.lower()
    plain = name.removesuffix(_COMPRESSED)
    ending = next((each for each in FORMATS if plain.endswith(each)), None)
    return ending if ending is not None and (plain == name or FORMATS[ending].is_text) else None


def meant(error: TableNotFound, tables: Iterable[str]) -> str | None:
    """The hint with the closest of the tables, or with quotes for `FROM orders.csv`, which names the table csv of a
    database; None if it is neither."""
    is_file = f".{error.name}" in FORMATS
    in_quotes = f"a file is written in quotes: '{error.database}.{error.name}'" if is_file else None
    return did_you_mean(error.name, tables) or in_quotes


def _format(path: str) -> _Format:
    ending = ending_of(path)
    if ending is None:
        raise UnreadableFileError(
            _unknown(path), f"the endings are {_ENDINGS}; for others use CREATE EXTERNAL TABLE … LOCATION"
        )
    return FORMATS[ending]


def _unknown(path: str) -> str:
    return f"its ending '{Path(path).suffix}' is not that of a known format"


def _state(path: str) -> tuple[str, int, int]:
    status = Path(path).stat()
    return path, status.st_size, status.st_mtime_ns


# --- statements ---------------------------------------------------------------------------------------------------


def _remarks(copied: CopiedFile) -> str:
    """What was decided about delimited text, where it is not what its ending says."""
    parts = [] if copied.has_header else ["the file has no header line"]
    if copied.separator not in (",", "\t"):
        parts.append(f"the separator is '{copied.separator}'")
    return "; ".join(parts)


def _declared(table: Table, path: str, copied: CopiedFile, *, is_single: bool) -> Table | None:
    """A table of Hive over the text with the same rows; None if there is none."""
    if not copied.is_plain or not is_single or path.endswith(_COMPRESSED):
        return None
    library = FORMAT_SERDES["textfile"]
    serde = {"serialization.lib": library, "field.delim": copied.separator, "serialization.null.format": ""}
    properties = {"skip.header.line.count": "1"} if copied.has_header else {}
    return Table(
        "", table.name, "files", table.columns, external=True, format="textfile", location=path, serde=serde,
        properties=properties,
    )  # fmt: skip


def _statement(table: Table, declared: Table | None, path: str) -> str:
    """CREATE TABLE over the file, or one that copies its rows if no table has the same values."""
    from hivedruid.actions.utility.show import create_statement, quoted

    name = stem(table.name)
    if declared is None:
        columns = "".join(f"\n--   {column.name} {column.type}" for column in table.columns)
        return f"CREATE TABLE `{name}` AS SELECT * FROM {quoted(path)}\n-- its columns:{columns}"
    return create_statement(declared, f"`{name}`")
