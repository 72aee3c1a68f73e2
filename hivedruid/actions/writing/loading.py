"""The actions of LOAD DATA: files are moved into an external table, or their rows are inserted. Pure.

As in Hive, the rows are inserted if the files do not have the table's layout
(LoadSemanticAnalyzer.reparseAndSuperAnalyze).
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from hivedruid.actions.lookup import find_table, refuse_if_materialized
from hivedruid.actions.partitioning.insert import assigned
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.writing.input_files import InputFiles
from hivedruid.actions.writing.insert import insert
from hivedruid.actions.writing.model import LoadFiles
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, Span, did_you_mean
from hivedruid.filesystems import local_path
from hivedruid.parser.statements.writing import Insert, InsertTarget, LoadData
from hivedruid.tables.hive_tables import FORMAT_SERDES, SERDE_FORMATS, as_serde_reads

_LIBRARY = "serialization.lib"


def load_data(statement: LoadData, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    """Raises SemanticError, with the position, for a path without files, or files of another format."""
    table = find_table(statement.table, snapshot)
    table.check("load", statement.table.span)
    refuse_if_materialized(table, "load", statement.table.span)
    found = snapshot.input_files or InputFiles()
    _check_path(statement, found)
    format_, serde = _format(statement, table, found)
    _check_files(found, format_, statement.span)
    target = InsertTarget(statement.table, exp.Select(), statement.overwrite, partition=statement.partition)
    given = assigned(target, table, snapshot.settings, snapshot.zone)
    partition = given.whole(table)
    is_placed = partition is not None or not table.has_partitions
    if table.kind == "files" and is_placed and _has_layout(table, format_, serde, found):
        files = tuple(file.path for file in found.files)
        return StatementPlan((LoadFiles(table, files, statement.local, statement.overwrite, partition),))
    if note is not None and table.has_snapshots and format_ == "textfile" and not (table.serde or statement.serde):
        note(
            f"{table.full_name} declares no format: the files are read as text with Ctrl-A between fields",
            statement.span,
        )
    if not statement.local and note is not None:
        note(f"the rows are inserted into {table.full_name}; the files stay where they are", statement.span)
    columns = tuple(replace(c, field=None) for c in table.columns if c.name not in given.constants)
    source = Table(
        table.database, "", "files", as_serde_reads(columns, serde), external=True, serde=serde, format=format_,
        properties={key: value for key, value in table.properties.items() if key.startswith("skip.")},
    )  # fmt: skip
    inputs = {
        (table.database, f"{table.name}__load_data_{number}"): replace(source, location=match)
        for number, match in enumerate(found.matches, 1)
    }
    inputs = {key: replace(each, name=key[1]) for key, each in inputs.items()}
    query = _rows(tuple(inputs.values()))
    rows = Insert(statement.source, (replace(target, query=query),))
    return insert(rows, replace(snapshot, tables={**snapshot.tables, **inputs}), note)


def _check_path(statement: LoadData, found: InputFiles) -> None:
    is_local = local_path(statement.location) is not None
    if statement.local and not is_local:
        raise SemanticError(
            'Source file system should be "file" if "local" is specified', span=statement.span, hint="remove LOCAL"
        )
    if not found.files and not (found.is_elsewhere and found.matches):
        raise SemanticError(
            f"Invalid path '{statement.location}': No files matching path", span=statement.span,
            hint="check the path: a relative one counts from the script's folder, or the current one",
        )  # fmt: skip


def _format(statement: LoadData, table: Table, found: InputFiles) -> tuple[str, dict[str, str]]:
    """The format of the files, and its SerDe with its properties: what the statement specifies, or the table.

    The rows of a managed table are ORC files of Iceberg: what it declares is the format of files that are loaded. If it
    declares nothing, the files have ORC's or Parquet's mark, or are text as those of Hive's default format.
    """
    if statement.serde is not None:
        format_ = SERDE_FORMATS.get(statement.serde.value)
        if format_ is None:
            raise SemanticError(
                f"SerDe '{statement.serde.value}' is not supported", span=statement.serde.value_span,
                hint=did_you_mean(statement.serde.value, SERDE_FORMATS) or f"supported: {', '.join(SERDE_FORMATS)}",
            )  # fmt: skip
        return format_, {**table.serde, _LIBRARY: statement.serde.value}
    if not table.has_snapshots:
        return table.format or "textfile", dict(table.serde)
    if library := table.serde.get(_LIBRARY):
        return SERDE_FORMATS[library], dict(table.serde)
    marks = {file.format for file in found.files} & {"orc", "parquet"}
    guessed = next(iter(marks)) if len(marks) == 1 else "textfile"
    return guessed, {_LIBRARY: FORMAT_SERDES[guessed]}


def _check_files(found: InputFiles, format_: str, span: Span | None) -> None:
    """Hive checks ORC files and text (HiveFileFormatUtils.checkInputFormat); Parquet files are checked here, too."""
    wanted = {"orc": ("orc",), "parquet": ("parquet",), "sequencefile": ("binary",)}.get(format_, ("other",))
    for file in found.files:
        if file.format not in (*wanted, "empty"):
            shown = file.format.upper() if file.format in ("orc", "parquet") else f"not {format_.upper()}"
            raise SemanticError(
                f"Wrong file format. Please check the file's format: {file.path} is {shown}, but the files are read as"
                f" {format_.upper()}",
                span=span,
                hint="name the format: LOAD DATA … INPUTFORMAT '…' SERDE '…', or STORED AS in CREATE TABLE",
            )


def _has_layout(table: Table, format_: str, serde: dict[str, str], found: InputFiles) -> bool:
    """Whether the files can be moved into the table as they are."""
    is_here = not found.is_elsewhere and local_path(table.location or "") is not None
    is_same = format_ == table.format and serde.get(_LIBRARY) == table.serde.get(_LIBRARY)
    is_whole = format_ in ("textfile", "jsonfile") or all(file.format != "empty" for file in found.files)
    return is_here and is_same and is_whole and not found.is_nested


def _rows(tables: tuple[Table, ...]) -> exp.Expression:
    """All rows of the tables."""
    queries = [exp.select("*").from_(exp.table_(table.name, db=table.database, quoted=True)) for table in tables]
    query: exp.Query = queries[0]
    for each in queries[1:]:
        query = query.union(each, distinct=False, copy=False)
    assert isinstance(query, exp.Expression)
    return query
