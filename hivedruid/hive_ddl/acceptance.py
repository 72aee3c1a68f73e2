"""Checks whether hivedruid accepts a statement: parses it and defines tables as CREATE TABLE does, without a catalog
or Druid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hivedruid.catalog.druid_columns import with_stored_types
from hivedruid.catalog.properties import KAFKA_INGESTION, has_ingestion
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.catalog.types import STRING, TIMESTAMP_LTZ
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.ddl import AddConstraint, ChangeColumn, CreateTable, SetTableProperties, UseDatabase
from hivedruid.setting_types import EMBEDDED
from hivedruid.tables.constraints import refuse_enabled
from hivedruid.tables.definition import define_table, table_kind
from hivedruid.tables.druid_tables import check_columns
from hivedruid.tables.kafka_feed import check_druid_properties
from hivedruid.tables.placement import placed
from hivedruid.tables.property_checks import validate

_SETTINGS = {"druid.url": EMBEDDED}


class _AnyDataSource(Mapping[str, Mapping[str, str]]):
    """Assumes that every data source exists and has a time column: its real columns are known only when the statement
    runs."""

    def __getitem__(self, name: str) -> Mapping[str, str]:
        return {TIME_COLUMN: "LONG"}

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Tables:
    """The tables created by the statements so far."""

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}
        self._database = "default"

    def find(self, name: TableName) -> Table | None:
        return self._tables.get(f"{name.database or self._database}.{name.name}")

    def take(self, statement: Statement) -> Table | None:
        """Check a statement; returns the table that it creates or changes. Raises HiveDruidError if it would be
        rejected."""
        if isinstance(statement, UseDatabase):
            self._database = statement.name
        elif isinstance(statement, CreateTable) and statement.like is None:
            table = self._define(statement)
            self._tables[table.full_name] = table
            return table
        elif isinstance(statement, SetTableProperties):
            return self._altered(statement)
        elif isinstance(statement, AddConstraint):
            refuse_enabled(statement.constraint, self.find(statement.name))
        elif isinstance(statement, ChangeColumn):
            for constraint in statement.new.constraints:
                refuse_enabled(constraint, self.find(statement.name))
        return None

    def _define(self, statement: CreateTable) -> Table:
        database = statement.name.database or self._database
        statement, _ = placed(statement, "/warehouse", database)
        given = any(item.key == "druid.datasource" for item in statement.properties)
        discovered = _AnyDataSource() if given and not statement.columns else {}
        return define_table(statement, database, _SETTINGS, discovered, _query_columns(statement))

    def _altered(self, statement: SetTableProperties) -> Table | None:
        table = self.find(statement.name)
        given = validate(statement.properties, table.kind if table else None)
        if table is None:
            return None
        properties = {**table.properties, **given}
        if table.has_data_source:
            columns = with_stored_types(table.columns, properties)
            check_druid_properties(properties, columns, statement.name.span)
            if has_ingestion(properties):
                check_columns(columns, properties, span=statement.name.span)
        properties.pop(KAFKA_INGESTION, None)
        self._tables[table.full_name] = replace(table, properties=properties)
        return table


def _query_columns(statement: CreateTable) -> tuple[Column, ...] | None:
    """The column names of AS SELECT, from its text. Types are known only when the statement runs."""
    if statement.query is None:
        return None
    names = [name.lower() for name in statement.query.named_selects if name]  # type: ignore[attr-defined]
    if "*" in names or (not names and table_kind(statement) == "druid"):
        names = [TIME_COLUMN, *(name for name in names if name not in ("*", TIME_COLUMN))]
    if not names:  # of a table-generating function
        names = ["_c0"]
    if statement.columns:
        names = [column.name for column in statement.columns]
    return tuple(Column(name, TIMESTAMP_LTZ if name == TIME_COLUMN else STRING) for name in names)
