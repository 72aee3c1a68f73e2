"""INSERT OVERWRITE DIRECTORY: the rows of a query as files. Pure."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note
from hivedruid.actions.writing.insert import refuse_unknown_types, write
from hivedruid.actions.writing.model import WriteTable
from hivedruid.catalog import types as t
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.filesystems import local_path
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.parser.statements.writing import Directory, InsertTarget
from hivedruid.plan.build import Builder
from hivedruid.plan.split import QueryPlan
from hivedruid.script import SourceStatement
from hivedruid.tables import hive_tables
from hivedruid.tables.property_checks import check_secret


def to_directory(
    target: InsertTarget, source: SourceStatement, snapshot: Snapshot, note: Note | None
) -> tuple[QueryPlan, WriteTable]:
    """Columns have Hive's internal names, which ORC, Parquet and JSON files contain: `_col0`, `_col1`, …."""
    directory = target.directory
    assert directory is not None
    location = _location(directory)
    builder = Builder(source, snapshot, note)
    node = builder.whole(target.query)
    refuse_unknown_types(node, builder.span(target.query))
    types = (t.STRING if column.type is t.VOID else column.type for column in node.columns)
    columns = tuple(Column(f"_col{number}", hive_type) for number, hive_type in enumerate(types))
    format_, serde = _format(target, directory, source)
    read = hive_tables.as_serde_reads(columns, serde)  # CSV is written with the blanks of CHAR
    columns = tuple(c if c.type.name == "char" else r for c, r in zip(columns, read, strict=True))
    table = Table(
        snapshot.database, "directory", "files", columns, external=True, serde=serde, format=format_, location=location
    )
    order = list(range(len(columns)))
    plan, action = write(table, node, order, builder, snapshot, "all", directory.span)
    assert isinstance(action, WriteTable)
    return plan, replace(action, is_directory=True)


def _location(directory: Directory) -> str:
    location = hive_tables.normalized_location(directory.location)
    if not location:
        raise SemanticError("the path of the directory is empty", span=directory.span, hint="specify a folder")
    if local_path(location) is None:
        if directory.local:
            raise SemanticError(
                f"a LOCAL DIRECTORY must be on this machine: {location}", span=directory.span, hint="remove LOCAL"
            )
        raise UnsupportedError(
            f"INSERT OVERWRITE DIRECTORY '{location}' is not supported: a failure could lose files",
            span=directory.span,
            hint="INSERT INTO an external table at a new LOCATION",
        )
    return location


def _format(target: InsertTarget, directory: Directory, source: SourceStatement) -> tuple[str, dict[str, str]]:
    """The format and SerDe, by the rules of CREATE EXTERNAL TABLE."""
    for item in directory.serde:
        check_secret(item)
    given = {item.key: item.value for item in directory.serde}
    create = CreateTable(source, target.table, external=True, stored_as=directory.stored_as, serde=directory.serde)
    format_ = hive_tables.file_format(create, given)
    span = directory.serde[0].value_span if directory.serde else None
    hive_tables.check_written("a directory", given, span)
    return format_, {"serialization.lib": hive_tables.FORMAT_SERDES[format_], **given}
