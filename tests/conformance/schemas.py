"""The tables of the cases, as in hivedruid's catalog."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hivedruid import parser
from hivedruid.catalog.kinds import TableKind
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, FLOAT, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, HiveType
from hivedruid.errors import HiveDruidError
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.parser.tokens import Cursor, tokenize
from hivedruid.parser.types import parse_type
from hivedruid.plan.split import plan_query
from hivedruid.script import SourceStatement
from tests.support.planning import snapshot

SQL_TYPES: dict[str, HiveType] = {
    "VARCHAR": STRING, "BIGINT": BIGINT, "INTEGER": INT, "DOUBLE": DOUBLE, "FLOAT": FLOAT,
    "TIMESTAMP": TIMESTAMP, "TIMESTAMP_WITH_LOCAL_TIME_ZONE": TIMESTAMP_LTZ,
}  # fmt: skip
"""Calcite's types by name."""

_SKETCH = re.compile(r"_(unique|ts|hll|sketch)$")


def dataset_table(models: list[Mapping[str, Any]], time_type: str) -> Table:
    """The table that models of `datasets.json` describe. Calcite's name of the time column is `__time` here.

    A column of sketches is replaced by the column that they were computed from, since results are exact here.
    """
    columns = {TIME_COLUMN: Column(TIME_COLUMN, SQL_TYPES[time_type])}
    for model in models:
        for column in model["columns"]:
            name = column["name"].lower()
            if column["druid"] == TIME_COLUMN or name in columns:
                continue
            is_sketch = column["druid_type"].startswith("COMPLEX")
            type_ = STRING if is_sketch else SQL_TYPES[column["sql_type"]]
            columns[name] = Column(
                name, type_, field=_SKETCH.sub("", column["druid"]) if is_sketch else column["druid"]
            )
    properties = {"druid.datasource": models[0]["datasource"]}
    return Table("default", models[0]["table"], "druid", tuple(columns.values()), external=True, properties=properties)


# --- Hive's DDL ------------------------------------------------------------------------------------------------------

_CREATED = re.compile(
    r"CREATE\s+(?:EXTERNAL\s+)?(?:TABLE|MATERIALIZED\s+VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?`?(?:\w+`?\.`?)?(?P<name>\w+)`?",
    re.I,
)
_DATASOURCE = re.compile(r"""["']druid\.datasource["']\s*=\s*["']([^"']+)["']""")


def declared_tables(
    statements: tuple[str, ...], schemas: Mapping[str, Sequence[tuple[str, str]]], before: tuple[str, ...] = ()
) -> tuple[Table, ...]:
    """The tables that statements create, without those of unknown columns. A table may be created by a query of one in
    `before`.
    """
    return _declared(statements, before, json.dumps(schemas, sort_keys=True))


@cache
def _declared(statements: tuple[str, ...], before: tuple[str, ...], schemas_text: str) -> tuple[Table, ...]:
    schemas = json.loads(schemas_text)
    made: dict[str, Table] = {}
    wanted = [_name(text) for text in statements]
    texts = {name: text for text in (*before, *statements) if (name := _name(text)) is not None}
    for _ in texts:  # a table may be created from one that is listed after it
        for name, text in texts.items():
            columns = () if name in made else _columns(text, name, schemas, tuple(made.values()))
            if columns:
                made[name] = _table(name, text, columns)
    return tuple(made[name] for name in wanted if name in made)


def _name(text: str) -> str | None:
    match = _CREATED.match(text.strip())
    return match["name"].lower() if match else None


def _table(name: str, text: str, columns: tuple[Column, ...]) -> Table:
    named = _DATASOURCE.search(text)
    kind = _kind(text)
    properties = {"druid.datasource": named[1]} if named and kind == "druid" else {}
    form = "orc" if kind == "iceberg" else None
    return Table("default", name, kind, columns, "EXTERNAL" in text[:30].upper(), properties=properties, format=form)


def _kind(text: str) -> TableKind:
    if "DruidStorageHandler" in text:
        return "druid"
    return "kafka" if "KafkaStorageHandler" in text else "iceberg"


def _columns(text: str, name: str, schemas: Mapping[str, Any], known: tuple[Table, ...]) -> tuple[Column, ...]:
    """From the case, or else from the statement: its list of columns, or those of its query."""
    listed = {table.lower(): columns for table, columns in schemas.items()}.get(name)
    if listed:
        return tuple(column for name, type_ in listed if (column := _column(name, type_)) is not None)
    rest = re.sub(r"QTestDruidStorageHandler\w*", "DruidStorageHandler", _CREATED.sub("", text.strip(), count=1))
    rest = re.sub(r"(?i)\bFROM\s+\w+\.(?=\w)", "FROM ", rest)  # all tables are in one database here
    try:
        statement = parser.parse(SourceStatement(f"CREATE EXTERNAL TABLE {name}{rest}"))
        assert isinstance(statement, CreateTable)
        if statement.columns:
            return tuple(Column(column.name.lower(), column.type) for column in statement.columns)
        if statement.query is not None:
            made = plan_query(statement.query, statement.source, snapshot(tables=known))
            return tuple(Column(column.name.lower(), column.type) for column in made.columns)
    except HiveDruidError:
        pass
    return ()


def _column(name: str, type_: str) -> Column | None:
    """None if a list of columns also contains a constraint."""
    source = SourceStatement(type_)
    try:
        return Column(name.lower(), parse_type(Cursor(source, tokenize(source, 0))))
    except HiveDruidError:
        return None
