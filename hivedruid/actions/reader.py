"""Read the tables that a statement names."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from hivedruid.actions.facts import Facts
from hivedruid.catalog.databases import DatabaseDetails, details_of
from hivedruid.catalog.functions import Functions, UserFunction, named
from hivedruid.catalog.metastore import creates_there
from hivedruid.catalog.names import with_field_names
from hivedruid.catalog.properties import has_ingestion
from hivedruid.catalog.table import LOOSE_FILES, Table
from hivedruid.druid.limits import NO_LIMITS
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.engine.kinds import require, session_kind
from hivedruid.errors import ConnectError
from hivedruid.ingestion.supervisor import spec_part, supervisor_id
from hivedruid.parser.loose_files import FOLDER
from hivedruid.parser.statements import Query, Statement, SupervisorName, TableName

if TYPE_CHECKING:
    from hivedruid.actions.loose_files import LooseFile
    from hivedruid.catalog.iceberg_place import IcebergPlace
    from hivedruid.parser.statements.ddl import CreateTable, SetTableProperties
    from hivedruid.parser.statements.utility import ShowNames, ShowTableExtended


class TableReader:
    """Reads the tables of a statement, directly or through views, and the Druid schema of those whose rows it uses."""

    def __init__(self, facts: Facts, tables: dict[tuple[str, str], Table], *, sees_temporary: bool = True) -> None:
        """`sees_temporary`: whether names may mean temporary tables."""
        self.facts = facts
        self.tables = tables
        self.find = facts.names.resolve if sees_temporary else facts.names.find
        self.hidden: dict[tuple[str, str], Table] = {}
        self.discovered: dict[str, Mapping[str, str]] = {}
        self.refused_names: dict[str, str] = {}
        self.dropped: tuple[Table, ...] = ()
        self.names: tuple[str, ...] = ()
        self.databases: tuple[str, ...] = ()
        self.comments: dict[str, str] = {}
        self.details: dict[str, DatabaseDetails] = {}
        self.named: set[tuple[str, str]] = set()
        self.resolved: set[tuple[str, str]] = set()
        self.queried: set[tuple[str, str]] = set()
        self.versioned: set[tuple[str, str]] = set()
        self.limits = NO_LIMITS
        self.absent: list[str] = []
        self.unreachable: str | None = None
        self.sample: tuple[bytes, ...] = ()
        self.avro_schemas: tuple[str, ...] = ()
        self.supervisor: Mapping[str, Any] | None = None
        self.functions: Functions = {}
        """Those of users."""
        self._called: dict[UserFunction, None] = {}
        self.new_place: IcebergPlace | None = None
        self.loose_files: dict[str, LooseFile] = {}
        self.mentions = 0
        """The number of table references in queries."""

    def query(self, e: exp.Expr, database: str) -> None:
        self.called(e, database)
        found = list(e.find_all(exp.Table, exp.With))
        withs = {id(node): _places(node) for node in found if isinstance(node, exp.With)}
        for node in found:
            if isinstance(node, exp.Table):
                self.mentions += 1
                if node.db == LOOSE_FILES:
                    self.loose_file(node.name, node.meta[FOLDER])
                    continue
                if not (withs and not node.db and _is_cte(node, withs)):
                    key = ((node.db or database).lower(), node.name.lower())
                    self.queried.add(key)
                    if node.args.get("version") is not None:
                        self.versioned.add(key)
                    self.table(*key, rows=True)

    def table(self, database: str, name: str, *, rows: bool) -> None:
        """Read one table, and for a view the tables that it reads.

        `rows`: the statement reads or writes its rows, so that its columns need the exact field names of the data
        source. DDL must not request that: it repairs tables whose field names are ambiguous.
        """
        key = (database, name)
        if key in self.named and (not rows or key in self.resolved):
            return
        table = self.find(database, name)
        self.named.add(key)
        if table is None:
            return
        if table.is_temporary and (hidden := self.facts.catalog.find(database, name)) is not None:
            self.hidden[key] = hidden
        if table.has_data_source and rows:
            table = with_field_names(table, self._fields(table.data_source))
            self.resolved.add(key)
        self.tables[key] = table
        if table.is_view and table.view_text:
            from hivedruid.parser import parse
            from hivedruid.script import SourceStatement

            view = parse(SourceStatement(table.view_text))
            if isinstance(view, Query):
                self.query(view.expression, table.database)

    def loose_file(self, path: str, folder: str) -> None:
        """Read a file without a table."""
        self.loose_files[path] = found = self._loose_file(path, folder)
        self.tables[LOOSE_FILES, path] = found.table

    def _loose_file(self, path: str, folder: str) -> LooseFile:
        names = self.facts.names

        def is_table(name: str) -> bool:
            database, _, table = name.rpartition(".")
            return names.resolve(database or self.facts.database, table.lower()) is not None

        return self.facts.loose_files().find(path, folder, self.facts.settings, is_table)

    def called(self, part: Statement | exp.Expr, database: str) -> tuple[UserFunction, ...]:
        """The functions of users that a statement or a query calls, and those of all queries that were read."""
        if self.functions:
            from hivedruid.parser.user_functions import called

            found = (named(self.functions, *call) for call in called(part, database))
            self._called.update(dict.fromkeys(filter(None, found)))
        return tuple(self._called)

    def _fields(self, data_source: str) -> Mapping[str, str]:
        """The fields of a data source that is read or written; also reads the limits of the engine."""
        schema = self._schema(data_source, needed=not self.facts.plan_only)
        if self.unreachable is None:
            self.limits = self.facts.druid().limits()
            if not schema:
                self.absent.append(data_source)
        return schema

    def _schema(self, data_source: str, *, needed: bool) -> Mapping[str, str]:
        """Empty if the data source does not exist, or if Druid cannot be reached and is not `needed`."""
        if self.unreachable is not None:
            return {}
        try:
            return self.facts.druid().schema(data_source)
        except ConnectError as error:
            if needed:
                raise
            self.unreachable = error.message
            return {}

    def statement(self, statement: Statement) -> None:
        """The tables of DDL, DML and utility statements, found by the types of their fields."""
        from hivedruid.parser.statements.ddl import CreateTable, DropDatabase, SetTableProperties
        from hivedruid.parser.statements.materialized import CreateMaterializedView
        from hivedruid.parser.statements.statistics import AnalyzeTable
        from hivedruid.parser.statements.tiering import ArchiveTable, UnarchiveTable
        from hivedruid.parser.statements.utility import ShowNames, ShowTableExtended
        from hivedruid.parser.statements.writing import Insert

        for item in fields(statement):
            self._part(getattr(statement, item.name))
        if isinstance(statement, Insert):
            for target in statement.targets:
                if (name := target.table).name:
                    self.table((name.database or self.facts.database).lower(), name.name.lower(), rows=True)
                self._part(target.query)
        if isinstance(statement, CreateMaterializedView):
            statement = statement.table
        if isinstance(statement, CreateTable):
            database = (statement.name.database or self.facts.database).lower()
            self.new_place = self.facts.names.iceberg_place(database)
            self._schema_of_files(statement)
        if isinstance(statement, CreateTable) and "DruidStorageHandler" in (statement.storage_handler or ""):
            self._discover(statement)
        if isinstance(statement, CreateTable) and "KafkaStorageHandler" in (statement.storage_handler or ""):
            self._derive_columns(statement)
        if isinstance(statement, SetTableProperties):
            self._check_names(statement)
        if isinstance(statement, AnalyzeTable | ArchiveTable | UnarchiveTable):
            name = statement.name
            self.table((name.database or self.facts.database).lower(), name.name.lower(), rows=True)
        if isinstance(statement, ShowNames | ShowTableExtended):
            self._names(statement)
        if "comments" in statement.needs:
            self._comments(getattr(statement, "name", ""))
        if isinstance(statement, DropDatabase):
            there = creates_there(self.facts.settings)
            names = self.facts.names.names_elsewhere if there else self.facts.names.names_in_home
            self.names = names(statement.name)
            if statement.cascade and not there:
                self.dropped = self.facts.catalog.tables(statement.name)

    def _names(self, statement: ShowNames | ShowTableExtended) -> None:
        from hivedruid.parser.statements.utility import ShowNames

        database = statement.database or self.facts.database
        if not isinstance(statement, ShowNames):
            self._matching(statement, database)
            return
        match statement.kind:
            case "tables":
                self.names = self.facts.names.table_names(database)
            case "views":
                self.names = self.facts.names.view_names(database)
            case "databases":
                self.databases = self.facts.names.databases()
            case "functions":
                pass

    def _matching(self, statement: ShowTableExtended, database: str) -> None:
        """The tables of SHOW TABLE EXTENDED."""
        from hivedruid.actions.utility.show import matches

        self.names = self.facts.names.table_names(database)
        for name in self.names:
            if name == statement.like.lower() or (statement.spec is None and matches(statement.like, name)):
                self.table(database, name, rows=False)

    def created_database(self, statement: Statement) -> str | None:
        """The name of CREATE DATABASE."""
        from hivedruid.parser.statements.ddl import CreateDatabase

        return statement.name if isinstance(statement, CreateDatabase) else None

    def named_databases(self, statement: Statement) -> set[str]:
        """The databases that a statement names, or whose tables it names."""
        from hivedruid.parser.statements.ddl import AlterDatabase, DropDatabase, UseDatabase
        from hivedruid.parser.statements.utility import DescribeDatabase, ShowCreateDatabase

        named = {database for database, _ in self.named}
        if isinstance(statement, AlterDatabase | DropDatabase | UseDatabase | DescribeDatabase | ShowCreateDatabase):
            named.add(statement.name)
        if isinstance(database := getattr(statement, "database", None), str):
            named.add(database)
        return named

    def _part(self, value: object) -> None:
        from hivedruid.parser.statements.utility import LoosePath

        if isinstance(value, LoosePath):
            self.loose_files[value.path] = self._loose_file(value.path, value.folder)
        if isinstance(value, SupervisorName) and (table := self._table_of(value)) is not None:
            self.table(table.database, table.name, rows=False)
        if isinstance(value, TableName):
            self.table((value.database or self.facts.database).lower(), value.name.lower(), rows=False)
        elif isinstance(value, exp.Expr):
            self.query(value, self.facts.database)

    def _discover(self, statement: CreateTable) -> None:
        """Read the schemas of the data sources that the new table may use: its default one, and a given one."""
        names = {f"{statement.name.database or self.facts.database}.{statement.name.name}"}
        properties = {item.key: item.value for item in statement.properties}
        names |= {properties["druid.datasource"]} if "druid.datasource" in properties else set()
        if statement.supervisor is not None:
            self.supervisor = self._spec_of(statement.supervisor)
            names.add(str(spec_part(self.supervisor, "dataSchema").get("dataSource")))
        checked = statement.query is not None or has_ingestion(properties) or not statement.columns
        for name in sorted(names):
            schema = self._schema(name, needed=checked and not self.facts.plan_only)
            if schema:
                self.discovered[name] = schema
            if self.unreachable is None:
                self._check_name(name)

    def _spec_of(self, supervisor: SupervisorName) -> Mapping[str, Any] | None:
        """The running spec of a supervisor. Raises ConnectError if Druid cannot be reached."""
        session_kind(self.facts.settings).check("cannot read supervisors", KafkaIngestion, span=supervisor.span)
        return require(self.facts.druid(), KafkaIngestion).running_spec(supervisor.id)

    def _table_of(self, supervisor: SupervisorName) -> Table | None:
        """The table of the home whose ingestion is that supervisor."""
        tables = self.facts.catalog.ingesting_tables()
        return next((t for t in tables if has_ingestion(t.properties) and supervisor_id(t) == supervisor.id), None)

    def _check_names(self, statement: SetTableProperties) -> None:
        with suppress(ConnectError):  # the next statement that uses the data source reports it
            for item in statement.properties:
                if item.key == "druid.datasource":
                    self._check_name(item.value)

    def _check_name(self, data_source: str) -> None:
        """Ask Druid whether it refuses requests about a data source of that name."""
        if reason := self.facts.druid().refusal_of_name(data_source):
            self.refused_names[data_source] = reason

    def _derive_columns(self, statement: CreateTable) -> None:
        """Read what the columns of a new Kafka table are derived from: records of the topic, or Avro schemas."""
        from hivedruid.tables.avro_columns import is_avro, needs_schemas
        from hivedruid.tables.topic_columns import topic_properties

        properties = topic_properties(statement, self.facts.settings)
        key = ((statement.name.database or self.facts.database).lower(), statement.name.name)
        existing = self.tables.get(key)
        if (existing is not None and not existing.is_temporary) or not {
            "kafka.topic",
            "kafka.bootstrap.servers",
        } <= properties.keys():
            return
        if needs_schemas(statement, properties):
            from hivedruid.actions.ddl.avro_schemas import find_schemas

            self.avro_schemas = find_schemas(statement, self.facts.settings)
        elif statement.topic_span is not None and not is_avro(properties):
            from hivedruid.clients.topic_sample import sample_of

            self.sample = sample_of(properties)

    def _schema_of_files(self, statement: CreateTable) -> None:
        """Read the Avro schema with the columns of a new table of files."""
        from hivedruid.tables.avro_columns import schema_of_files

        literal, url = schema_of_files(statement) or ("", "")
        if url and not literal:
            from hivedruid.clients.schema_urls import schema_at

            literal = schema_at(url, statement.name.name, self.facts.settings)
        self.avro_schemas = (literal,) if literal else ()

    def _comments(self, named: str) -> None:
        for name in self.facts.catalog.databases():
            self.comments[name] = self.facts.catalog.database_comment(name) or ""
            self.details[name] = details_of(self.facts.catalog, name)
        if named not in self.comments and (stored := self.facts.names.database(named)) is not None:
            self.comments[named], self.details[named] = stored.comment, stored.details


def _places(with_: exp.With) -> dict[str, int]:
    """The first place of each name in a WITH."""
    places: dict[str, int] = {}
    for place, cte in enumerate(with_.expressions):
        places.setdefault(cte.alias.lower(), place)
    return places


def _is_cte(table: exp.Table, withs: Mapping[int, Mapping[str, int]]) -> bool:
    """Whether a name is that of a CTE. The query of a CTE sees only those before it in its WITH."""
    name = table.name.lower()
    below: exp.Expr = table
    while (above := below.parent) is not None:
        if isinstance(above, exp.With):
            if withs[id(above)].get(name, len(above.expressions)) < (below.index or 0):
                return True
        elif (with_ := above.args.get("with_")) is not None and with_ is not below and name in withs[id(with_)]:
            return True
        below = above
    return False
