"""A catalog in memory for which DDL is built and to which it is applied, without running anything else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from hivedruid.actions.build import build
from hivedruid.actions.ddl import build as ddl
from hivedruid.actions.ddl import model as c
from hivedruid.actions.ingesting.model import CheckTopic
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING
from hivedruid.errors import HiveDruidError, SemanticError, Span
from hivedruid.parser import parse
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.ddl import DdlStatement, DropDatabase
from hivedruid.parser.statements.utility import ShowNames
from hivedruid.script import SourceStatement, split
from hivedruid.settings import Settings

DISCOVERED = {
    "wikiticker": {
        "__time": "LONG",
        "cityName": "STRING",
        "added": "LONG",
        "tags": "ARRAY<STRING>",
        "user_unique": "COMPLEX<hyperUnique>",
    },
    "twice": {"__time": "LONG", "a": "STRING", "A": "DOUBLE", "f": "FLOAT"},
    "default.taken": {"__time": "LONG"},
}


@dataclass
class World:
    tables: dict[tuple[str, str], Table] = field(default_factory=dict)
    databases: tuple[str, ...] = ("default", "other")
    database: str = "default"
    settings: Settings = field(default_factory=Settings)
    variables: dict[str, str] = field(default_factory=dict)

    def listed(self, statement: Statement | None) -> tuple[Table, ...]:
        """The tables that the statement lists or drops, without being named."""
        match statement:
            case DropDatabase(name=database) | ShowNames(kind="tables" | "views", database=str(database)):
                pass
            case _:
                database = self.database
        views_only = isinstance(statement, ShowNames) and statement.kind == "views"
        return tuple(t for t in self.tables.values() if t.database == database and (t.is_view or not views_only))

    def snapshot(self, statement: Statement | None = None) -> Snapshot:
        tables = self.listed(statement)
        return Snapshot(
            self.settings,
            datetime(2020, 1, 1, tzinfo=UTC),
            self.database,
            self.databases,
            self.tables,
            discovered=DISCOVERED,
            dropped=tables,
            names=tuple(table.name for table in tables),
            database_comments={"other": "the other one"},
            variables=self.variables,
        )

    def build(self, text: str) -> tuple[Action, ...]:
        statement = parse(SourceStatement(text))
        if not isinstance(statement, DdlStatement):
            return build(statement, self.snapshot(statement)).actions
        return ddl.build(
            statement, self.snapshot(statement), view_columns=lambda _: (Column("x", STRING, "c", "X"),)
        ).actions

    def run(self, script: str) -> tuple[Action, ...]:
        """Build and apply each statement; returns the actions of the last."""
        actions: tuple[Action, ...] = ()
        for source in split(script):
            actions = self.build(source.text)
            for action in actions:
                self.apply(action)
        return actions

    def apply(self, action: Action) -> None:
        if isinstance(action, c.AddTable):
            self.tables[(action.table.database, action.table.name)] = replace(action.table, table_id="id")
        elif isinstance(action, c.RemoveTable):
            del self.tables[(action.table.database, action.table.name)]
        elif isinstance(action, c.ReplaceTable):
            del self.tables[(action.before.database, action.before.name)]
            self.tables[(action.after.database, action.after.name)] = action.after

    def table(self, name: str, database: str = "default") -> Table:
        return self.tables[(database, name)]

    def refused(self, text: str, kind: type[HiveDruidError] = SemanticError) -> HiveDruidError:
        with pytest.raises(kind) as error:
            self.run(text)
        return error.value


def at(span: Span | None) -> str:
    """The text of a span."""
    assert span is not None
    return span.source_line[span.column - 1 : span.column - 1 + span.length]


KAFKA = "'kafka.topic'='t', 'kafka.bootstrap.servers'='h:9092'"
"""The properties of a table over a topic."""


def create(world: World, text: str) -> Table:
    (action,) = (action for action in world.run(text) if not isinstance(action, CheckTopic))
    assert isinstance(action, c.AddTable)
    return action.table
