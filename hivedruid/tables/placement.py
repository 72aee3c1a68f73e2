"""Where the files of CREATE TABLE are, as Hive's metastore decides it: with LOCATION a table is external to it, and an
external table without LOCATION has a folder of its own. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.errors import SemanticError, Span, UnsupportedError

if TYPE_CHECKING:
    from hivedruid.parser.statements.ddl import Clause, CreateTable

EXTERNAL = "external"
"""The folder in the home for external tables without LOCATION."""
PURGE = "external.table.purge"


def placed(
    statement: CreateTable, warehouse: str, database: str, location: str = ""
) -> tuple[CreateTable, tuple[str, Span | None] | None]:
    """The statement with the place of its files, and a note if it is another one than written.

    A managed table with LOCATION that is not transactional is an external table whose files DROP TABLE deletes, as
    Hive's metastore translates it. `location` is the folder of external tables without LOCATION: that of their
    database; without it they have folders in `warehouse`.
    """
    if statement.storage_handler is not None or statement.temporary or statement.iceberg_span is not None:
        return statement, None
    given = {item.key.lower(): item for item in statement.properties}
    transactional = "transactional" in given and given["transactional"].value.lower() == "true"
    if statement.external and transactional:  # TransactionalValidationListener
        name = statement.name
        raise SemanticError(
            f"{name.database or database}.{name.name} cannot be declared transactional because it's an external table",
            span=given["transactional"].key_span,
            hint="remove EXTERNAL and LOCATION to create a managed table, or remove the property",
        )
    if not statement.external:
        if statement.location is not None and (format_ := _readable(statement.other_format)):
            statement = replace(statement, stored_as=format_, other_format=None)
        if statement.location is not None and statement.other_format is not None:
            raise UnsupportedError(
                f"{statement.other_format.text} is not supported for files at a LOCATION",
                span=statement.other_format.span,
                hint="use ORC, PARQUET, AVRO, TEXTFILE or JSONFILE, or remove LOCATION",
            )  # fmt: skip
        layout = statement.partitioned_by is not None and not statement.partitioned_by.at_end
        if statement.location is None or transactional or layout or statement.ordered_by is not None:
            return statement, None
        from hivedruid.parser.statements.ddl import Property

        purge = () if PURGE in given else (Property(PURGE, "true"),)
        statement = replace(statement, external=True, properties=(*statement.properties, *purge))
        text = "the table is external because it has a LOCATION; DROP TABLE deletes its files, as in Hive"
        return statement, (text, statement.location_span)
    if statement.location is not None or statement.like_file is not None or not warehouse:
        return statement, None
    name = statement.name
    folder = warehouse if database == "default" else f"{warehouse}/{database}.db"
    place = f"{location.rstrip('/') or folder}/{name.name}"
    return replace(statement, location=place, location_span=name.span), None


def _readable(clause: Clause | None) -> str | None:
    """The format of STORED AS whose files can be read, though not as those of managed tables."""
    from hivedruid.parser.table_clauses import OF_HADOOP

    for word, (class_name, format_) in OF_HADOOP.items():
        if clause is not None and (clause.text == f"STORED AS {word}" or class_name in clause.text):
            return format_
    return None
