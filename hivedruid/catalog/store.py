"""The catalog: databases and tables in SQLite, or in PostgreSQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from hivedruid.catalog.connection import Connection
from hivedruid.catalog.constraints import constraints_json, constraints_of_json
from hivedruid.catalog.failures import catalog_error
from hivedruid.catalog.kinds import KINDS
from hivedruid.catalog.layout import order_json, order_of_json, spec_json, spec_of_json
from hivedruid.catalog.properties import TOPIC_PATTERN
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import HiveType
from hivedruid.errors import CatalogStateError, SemanticError, did_you_mean
from hivedruid.secret_text import redact

DEFAULT_DATABASE = "default"


class DruidTable(NamedTuple):
    """What lists of tasks and supervisors need to know about a Druid table."""

    database: str
    name: str
    table_id: str
    data_source: str

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    def without_columns(self) -> Table:
        """A table that ingests nothing, for a supervisor that feeds its data source."""
        properties = {"druid.datasource": self.data_source}
        return Table(self.database, self.name, "druid", (), True, properties=properties, table_id=self.table_id)


class Catalog:
    """Databases and tables over the connection of `opening.open_catalog`.

    Every change is one transaction; inside `transaction` several are one. Names are lower case. Temporary tables are
    in the memory of the session alone; only `resolve`, `table_names` and `temporary_tables` return them.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._temporary: dict[tuple[str, str], Table] = {}
        self.temporary_partitions: dict[str, dict[str, str | None]] = {}
        """The locations of the partitions of temporary tables, by the table's id and by their names."""

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """BEGIN … COMMIT as the only writer, or ROLLBACK on an error; a nested transaction is part of the outer one."""
        if self.connection.in_transaction:
            yield self.connection
            return
        try:
            self.connection.begin()
        except sqlite3.DatabaseError as error:
            raise catalog_error(error) from error
        try:
            yield self.connection
            self.connection.commit()
        except sqlite3.DatabaseError as error:
            self._roll_back()
            raise catalog_error(error) from error
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.rollback()

    def databases(self) -> tuple[str, ...]:
        return tuple(name for (name,) in self.connection.execute("SELECT name FROM databases ORDER BY name"))

    def database_comment(self, name: str) -> str | None:
        """The database's comment; None if the database does not exist."""
        row = self.connection.execute("SELECT comment FROM databases WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def has_materialized_views(self) -> bool:
        return self.connection.execute("SELECT 1 FROM materialized_views LIMIT 1").fetchone() is not None

    def add_database(self, name: str, comment: str = "") -> None:
        with self.transaction() as connection:
            if self.database_comment(name) is not None:
                raise SemanticError(
                    f"Database {name} already exists", hint="use CREATE DATABASE IF NOT EXISTS to keep it"
                )
            connection.execute("INSERT INTO databases (name, comment) VALUES (?, ?)", (name, redact(comment)))

    def remove_database(self, name: str) -> None:
        """Remove an empty database."""
        with self.transaction() as connection:
            self._require_database(name)
            if name == DEFAULT_DATABASE:
                raise SemanticError("Can not drop default database")
            if connection.execute("SELECT 1 FROM tables WHERE database = ? LIMIT 1", (name,)).fetchone():
                raise SemanticError(
                    f"Database {name} is not empty. One or more tables exist.",
                    hint="use DROP DATABASE … CASCADE to drop its tables, too",
                )
            connection.execute("DELETE FROM functions WHERE database = ?", (name,))
            connection.execute("DELETE FROM databases WHERE name = ?", (name,))

    def tables(self, database: str) -> tuple[Table, ...]:
        """All tables and views of a database, by name."""
        query = "SELECT table_id, database, name, definition FROM tables WHERE database = ? ORDER BY name"
        return tuple(from_json(*row) for row in self.connection.execute(query, (database,)))

    def druid_tables(self) -> list[DruidTable]:
        """The Druid tables of all databases, by name; their definitions are not read."""
        query = """
            SELECT database, name, table_id, json_extract(definition, '$.properties."druid.datasource"')
            FROM tables WHERE json_extract(definition, '$.kind') = 'druid' ORDER BY database, name"""
        rows = self.connection.execute(query)
        return [DruidTable(database, name, id_, at or f"{database}.{name}") for database, name, id_, at in rows]

    def ingesting_tables(self) -> tuple[Table, ...]:
        """The Druid tables of all databases that ingest from Kafka, or ever started to, by name."""
        query = """
            SELECT table_id, database, name, definition FROM tables
            WHERE instr(definition, '"kafka.topic"') > 0 OR instr(definition, ?) > 0
                OR table_id IN (SELECT table_id FROM ingestions) ORDER BY database, name"""
        tables = [from_json(*row) for row in self.connection.execute(query, (json.dumps(TOPIC_PATTERN),))]
        return tuple(table for table in tables if table.has_data_source)

    def topic_tables(self) -> tuple[Table, ...]:
        """The tables of all databases that read from Kafka, by name: Kafka tables and those that ingest."""
        query = """
            SELECT table_id, database, name, definition FROM tables
            WHERE json_extract(definition, '$.properties."kafka.bootstrap.servers"') <> '' ORDER BY database, name"""
        return tuple(from_json(*row) for row in self.connection.execute(query))

    def table_names(self, database: str, *, with_temporary: bool = True) -> tuple[str, ...]:
        query = "SELECT json_group_array(name) FROM tables WHERE database = ?"  # faster than a row for each
        names = json.loads(*self.connection.execute(query, (database,)).fetchone())
        temporary = [name for of, name in self._temporary if of == database and with_temporary]
        return tuple(sorted({*names, *temporary} if temporary else names))  # quick: the names are those of an index

    def temporary_tables(self) -> tuple[Table, ...]:
        """The temporary tables and views of the session."""
        return tuple(self._temporary.values())

    def view_names(self, database: str) -> tuple[str, ...]:
        kinds = [kind for kind, row in KINDS.items() if not row.stores]
        query = (
            "SELECT name FROM tables WHERE database = ?"
            f" AND json_extract(definition, '$.kind') IN ({', '.join('?' * len(kinds))}) ORDER BY name"
        )
        names = {name for (name,) in self.connection.execute(query, (database, *kinds))}
        names -= {name for of, name in self._temporary if of == database}
        return tuple(sorted(names | {t.name for t in self._temporary.values() if t.is_view and t.database == database}))

    def resolve(self, database: str, name: str) -> Table | None:
        """What the name means in this session: a temporary table hides another table of its name."""
        return self._temporary.get((database.lower(), name.lower())) or self.find(database, name)

    def find(self, database: str, name: str) -> Table | None:
        query = "SELECT table_id, database, name, definition FROM tables WHERE database = ? AND name = ?"
        row = self.connection.execute(query, (database.lower(), name.lower())).fetchone()
        return from_json(*row) if row else None

    def get(self, database: str, name: str) -> Table:
        """The table of that name. Raises SemanticError, with the closest name, if there is none."""
        table = self.find(database, name)
        if table is None:
            self._require_database(database)
            raise SemanticError(
                f"Table not found {database}.{name}", hint=did_you_mean(name, self.table_names(database))
            )
        return table

    def add(self, table: Table) -> Table:
        """Add a new table, and return it with its `table_id`."""
        if not table.table_id:
            table = replace(table, table_id=_new_id())
        if table.is_temporary:
            self._temporary[(table.database, table.name)] = table
            return table
        with self.transaction() as connection:
            self._require_database(table.database)
            if self.find(table.database, table.name) is not None:
                raise SemanticError(
                    f"Table {table.full_name} already exists", hint="use CREATE … IF NOT EXISTS to keep it"
                )
            connection.execute(
                "INSERT INTO tables (table_id, database, name, definition) VALUES (?, ?, ?, ?)",
                (table.table_id, table.database, table.name, to_json(table)),
            )
        return table

    def replace(self, table: Table) -> None:
        """Replace the definition of the table with that `table_id`, including its name.

        Raises SemanticError if it no longer exists, or if another table has the name.
        """
        if table.is_temporary:
            self._forget(table)
            self._temporary[(table.database, table.name)] = table
            return
        with self.transaction() as connection:
            self._require_database(table.database)
            other = self.find(table.database, table.name)
            if other is not None and other.table_id != table.table_id:
                raise SemanticError(
                    f"Table {table.full_name} already exists", hint="choose another name, or drop that table first"
                )
            changed = connection.execute(
                "UPDATE tables SET database = ?, name = ?, definition = ? WHERE table_id = ?",
                (table.database, table.name, to_json(table), table.table_id),
            )
            if changed.rowcount == 0:
                raise SemanticError(f"Table not found {table.full_name}", hint="it was dropped by another session")

    def rename(self, table: Table, database: str, name: str) -> Table:
        renamed = replace(table, database=database, name=name)
        self.replace(renamed)
        return renamed

    def mark_written(self, table: Table, *, written: bool) -> None:
        """Record whether a managed or temporary table has a folder; ignored for a table that is not in the catalog."""
        if table.is_temporary:
            self.replace(replace(table, is_written=written))
            return
        with self.transaction() as connection:
            query = "SELECT definition FROM tables WHERE table_id = ?"
            for (definition,) in connection.execute(query, (table.table_id,)).fetchall():
                marked = _json({**json.loads(definition), "is_written": written})
                connection.execute("UPDATE tables SET definition = ? WHERE table_id = ?", (marked, table.table_id))

    def _forget(self, table: Table) -> None:
        """Remove a temporary table."""
        self._temporary = {key: other for key, other in self._temporary.items() if other.table_id != table.table_id}

    def remove(self, table: Table) -> None:
        if table.is_temporary:
            self._forget(table)
            self.temporary_partitions.pop(table.table_id, None)
            if self.connection.execute("SELECT 1 FROM statistics WHERE data_source = ?", (table.table_id,)).fetchone():
                with self.transaction() as connection:
                    connection.execute("DELETE FROM statistics WHERE data_source = ?", (table.table_id,))
            return
        with self.transaction() as connection:
            removed = connection.execute("DELETE FROM tables WHERE table_id = ?", (table.table_id,))
            if removed.rowcount == 0:
                raise SemanticError(f"Table not found {table.full_name}", hint="it was dropped by another session")
            for of_it in (
                "ingestions", "ingestion_specs", "materialized_views", "archived_batches", "archived_intervals",
                "file_statistics", "partitions",
            ):  # fmt: skip
                connection.execute(f"DELETE FROM {of_it} WHERE table_id = ?", (table.table_id,))
            connection.execute(
                "DELETE FROM operations WHERE table_id = ? AND kind = 'ingestion' AND ended = 0", (table.table_id,)
            )
            connection.execute(
                "DELETE FROM statistics WHERE data_source IN (?, ?)", (table.table_id, table.data_source)
            )
            connection.execute("DELETE FROM footers WHERE place IN (?, ?)", (table.table_id, table.location))
            if table.has_data_source:
                connection.execute("DELETE FROM places WHERE data_source = ?", (table.data_source,))

    def _require_database(self, name: str) -> None:
        if self.database_comment(name) is None:
            raise CatalogStateError(f"Database does not exist: {name}", hint=did_you_mean(name, self.databases()))


def _new_id() -> str:
    import os

    return os.urandom(8).hex()


def to_json(table: Table) -> str:
    """The JSON of a table in the catalog; names and id are separate columns."""
    definition: dict[str, Any] = {
        "kind": table.kind,
        "external": table.external,
        "columns": [_column_json(column) for column in table.columns],
        "properties": dict(table.properties),
    }
    optional = {
        "comment": redact(table.comment),
        "serde": dict(table.serde),
        "format": table.format,
        "location": table.location,
        "view_text": table.view_text,
        "owns_data_source": table.owns_data_source,
        "rewrite_enabled": table.rewrite_enabled,
        "is_written": table.is_written,
        "partition_spec": spec_json(table.partition_spec),
        "sort_order": order_json(table.sort_order),
        "constraints": constraints_json(table.constraints),
    }
    definition.update((key, value) for key, value in optional.items() if value)
    return _json(definition)


def _json(definition: Mapping[str, Any]) -> str:
    return json.dumps(definition, ensure_ascii=False, separators=(",", ":"))


def _column_json(column: Column) -> dict[str, Any]:
    result: dict[str, Any] = {"name": column.name, "type": type_json(column.type)}
    if column.comment:
        result["comment"] = redact(column.comment)
    if column.field is not None:
        result["field"] = column.field
    return result


def type_json(hive: HiveType) -> Any:
    if not (hive.params or hive.children or hive.fields):
        return hive.name
    result: dict[str, Any] = {"name": hive.name}
    if hive.params:
        result["params"] = list(hive.params)
    if hive.children:
        result["children"] = [type_json(child) for child in hive.children]
    if hive.fields:
        result["fields"] = list(hive.fields)
    return result


def from_json(table_id: str, database: str, name: str, definition: str) -> Table:
    """The inverse of `to_json`."""
    value = json.loads(definition)
    return Table(
        database=database,
        name=name,
        kind=value["kind"],
        columns=tuple(
            Column(column["name"], type_of_json(column["type"]), column.get("comment", ""), column.get("field"))
            for column in value["columns"]
        ),
        external=value["external"],
        comment=value.get("comment", ""),
        properties=value["properties"],
        serde=value.get("serde", {}),
        format=value.get("format"),
        location=value.get("location"),
        view_text=value.get("view_text"),
        table_id=table_id,
        owns_data_source=value.get("owns_data_source", False),
        rewrite_enabled=value.get("rewrite_enabled", False),
        is_written=value.get("is_written", False),
        partition_spec=spec_of_json(value.get("partition_spec", [])),
        sort_order=order_of_json(value.get("sort_order", [])),
        constraints=constraints_of_json(value.get("constraints", [])),
    )


def type_of_json(value: Any) -> HiveType:
    if isinstance(value, str):
        return HiveType(value)
    return HiveType(
        value["name"],
        tuple(value.get("params", ())),
        tuple(type_of_json(child) for child in value.get("children", ())),
        tuple(value.get("fields", ())),
    )
