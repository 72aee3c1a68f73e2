"""The SQLAlchemy dialect of hivedruid, over `hivedruid.dbapi`.

A URL is `hivedruid:///home?druid=…&database=…`; other parameters of the query are settings. `hivedruid://host:port` is
the Druid router at that address. docs/python.md describes it. It works with SQLAlchemy 2, and with 1.4, which Superset
requires.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import __version__ as sqlalchemy_version
from sqlalchemy import exc, types
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.sql import compiler, schema, sqltypes
from sqlalchemy.sql.type_api import NativeForEmulated

from hivedruid import dbapi
from hivedruid.errors import CatalogStateError, TableNotFound, UsageError
from hivedruid.parser.parameters import literal
from hivedruid.versions import VERSION

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection
    from sqlalchemy.engine.url import URL

    UserDefinedType = types.UserDefinedType[Any]
else:
    UserDefinedType = types.UserDefinedType

HAS_MATERIALIZED_VIEWS = not sqlalchemy_version.startswith("1.")
"""Whether inspectors have `get_materialized_view_names`."""

Method = TypeVar("Method", bound=Callable[..., Any])

_IDENTIFIER = re.compile(r"\w+", re.ASCII)
"""The names that tables and databases can have."""

_REQUIRED = re.compile(r"^  `([^`]+)` .*? CONSTRAINT `[^`]+` NOT NULL ENABLE", re.MULTILINE)
"""The columns that SHOW CREATE TABLE prints as not nullable."""

MAX_DECIMAL = (38, 18)
"""Precision and scale of a Numeric without them, as Hive's own wide decimals."""


class HiveNested(UserDefinedType):
    """An array, map, struct or interval, by the name that Hive gives its type."""

    cache_ok = True

    def __init__(self, name: str) -> None:
        self.name = name

    def get_col_spec(self, **_: Any) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"HiveNested({self.name!r})"


class HiveDate(types.Date):
    """A DATE, which also takes datetimes: a condition must not compare dates with timestamps."""

    def bind_processor(self, dialect: Any) -> Callable[[Any], date | None]:
        return lambda value: value.date() if isinstance(value, datetime) else value


class HiveInterval(NativeForEmulated, sqltypes._AbstractInterval):
    """A timedelta as an interval of Hive, in expressions only: columns cannot be intervals."""

    __visit_name__ = "INTERVAL"
    native = True

    @classmethod
    def adapt_emulated_to_native(cls, impl: Any, **_: Any) -> HiveInterval:
        return cls()


_TYPES: Mapping[str, Callable[[], types.TypeEngine[Any]]] = {
    "boolean": types.BOOLEAN,
    "tinyint": types.SMALLINT,
    "smallint": types.SMALLINT,
    "int": types.INTEGER,
    "bigint": types.BIGINT,
    "float": types.FLOAT,
    "double": getattr(types, "DOUBLE", types.FLOAT),
    "string": types.TEXT,
    "binary": types.BINARY,
    "date": types.DATE,
    "timestamp": types.TIMESTAMP,
    "timestamp with local time zone": lambda: types.TIMESTAMP(timezone=True),
}


def type_of(hive: str) -> types.TypeEngine[Any]:
    """The type of SQLAlchemy for a type as DESCRIBE prints it."""
    if hive in _TYPES:
        return _TYPES[hive]()
    if match := re.fullmatch(r"decimal\((\d+),(\d+)\)", hive):
        return types.DECIMAL(int(match[1]), int(match[2]))
    if match := re.fullmatch(r"(var)?char\((\d+)\)", hive):
        return types.VARCHAR(int(match[2])) if match[1] else types.CHAR(int(match[2]))
    return HiveNested(hive)


class HiveTypeCompiler(compiler.GenericTypeCompiler):
    """Names of types in DDL and CAST."""

    def visit_INTEGER(self, type_: Any, **_: Any) -> str:
        return "INT"

    def visit_FLOAT(self, type_: Any, **_: Any) -> str:
        return "FLOAT" if type_.precision is not None and type_.precision <= 24 else "DOUBLE"

    def visit_DOUBLE(self, type_: Any, **_: Any) -> str:
        return "DOUBLE"

    visit_REAL = visit_DOUBLE_PRECISION = visit_DOUBLE

    def visit_NUMERIC(self, type_: Any, **_: Any) -> str:
        precision, scale = MAX_DECIMAL if type_.precision is None else (type_.precision, type_.scale or 0)
        return f"DECIMAL({precision},{scale})"

    visit_DECIMAL = visit_NUMERIC

    def visit_VARCHAR(self, type_: Any, **_: Any) -> str:
        return f"VARCHAR({type_.length})" if type_.length else "STRING"

    visit_NVARCHAR = visit_VARCHAR

    def visit_CHAR(self, type_: Any, **_: Any) -> str:
        return f"CHAR({type_.length})" if type_.length else "STRING"

    visit_NCHAR = visit_CHAR

    def visit_TEXT(self, type_: Any, **_: Any) -> str:
        return "STRING"

    visit_CLOB = visit_UUID = visit_JSON = visit_TEXT

    def visit_BLOB(self, type_: Any, **_: Any) -> str:
        return "BINARY"

    visit_BINARY = visit_VARBINARY = visit_BLOB

    def visit_TIMESTAMP(self, type_: Any, **_: Any) -> str:
        return "TIMESTAMP WITH LOCAL TIME ZONE" if getattr(type_, "timezone", False) else "TIMESTAMP"

    visit_DATETIME = visit_TIMESTAMP

    def visit_INTERVAL(self, type_: Any, **_: Any) -> str:
        raise exc.CompileError("Hive has no columns of intervals; use a number of seconds")

    def visit_TIME(self, type_: Any, **_: Any) -> str:
        raise exc.CompileError("Hive has no type for the time of a day; use a string or a timestamp")


class HiveIdentifierPreparer(compiler.IdentifierPreparer):
    """Quotes all names: Hive has many reserved words, and names such as `__time`."""

    def __init__(self, dialect: Any, **_: Any) -> None:
        super().__init__(dialect, initial_quote="`")

    def _requires_quotes(self, value: str) -> bool:
        return True

    def _escape_identifier(self, value: str) -> str:
        if "`" in value:
            raise exc.CompileError(f"the name '{value}' contains a backquote, which Hive does not support")
        return value


class HiveCompiler(compiler.SQLCompiler):
    """Expressions and SELECT."""

    def render_literal_value(self, value: Any, type_: types.TypeEngine[Any]) -> str:
        """A literal of Hive, in which a backslash is an escape character."""
        process = type_.dialect_impl(self.dialect).bind_processor(self.dialect)
        try:
            return literal(process(value) if process is not None else value)
        except UsageError as error:
            raise exc.CompileError(error.message) from error

    def visit_is_distinct_from_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return f"NOT {self.visit_is_not_distinct_from_binary(binary, None, **options)}"

    def visit_is_not_distinct_from_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return f"({self.process(binary.left, **options)} <=> {self.process(binary.right, **options)})"

    def visit_regexp_match_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        _check_flags(binary)
        return f"{self.process(binary.left, **options)} RLIKE {self.process(binary.right, **options)}"

    def visit_not_regexp_match_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return f"NOT {self.visit_regexp_match_op_binary(binary, operator, **options)}"

    def visit_regexp_replace_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        _check_flags(binary)
        return f"regexp_replace({self.process(binary.left, **options)}, {self.process(binary.right, **options)})"

    def visit_bitwise_lshift_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return f"shiftleft({self.process(binary.left, **options)}, {self.process(binary.right, **options)})"

    def visit_bitwise_rshift_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return f"shiftright({self.process(binary.left, **options)}, {self.process(binary.right, **options)})"

    def visit_char_length_func(self, fn: Any, **options: Any) -> str:
        return f"length{self.function_argspec(fn, **options)}"

    def visit_empty_set_expr(self, element_types: Sequence[Any], **_: Any) -> str:
        return f"SELECT {', '.join(['NULL'] * max(len(element_types), 1))} WHERE FALSE"

    def limit_clause(self, select: Any, **options: Any) -> str:
        """LIMIT with OFFSET; OFFSET alone has the largest possible LIMIT."""
        limit, offset = select._limit_clause, select._offset_clause
        text = ""
        if limit is not None or offset is not None:
            rows = self.process(limit, **options) if limit is not None else str(2**31 - 1)
            text += f"\n LIMIT {rows}"
        if offset is not None:
            text += f" OFFSET {self.process(offset, **options)}"
        return text


def _check_flags(binary: Any) -> None:
    if binary.modifiers.get("flags"):
        raise exc.CompileError("flags of regular expressions are not supported; write them in the pattern: '(?i)…'")


def _is_managed(table: schema.Table) -> bool:
    """Whether the table is a managed one, for which NOT NULL is enforced."""
    prefixes = {str(prefix).upper() for prefix in table._prefixes}
    return not prefixes and table.dialect_options["hivedruid"]["stored_by"] is None


class HiveDDLCompiler(compiler.DDLCompiler):
    """CREATE TABLE with the options of Hive: `hivedruid_stored_by`, `hivedruid_stored_as` and
    `hivedruid_tblproperties`. NOT NULL of managed tables is its only constraint."""

    def create_table_constraints(self, table: Any, **_: Any) -> str:  # type: ignore[override]
        return ""

    def get_column_specification(self, column: Any, **_: Any) -> str:
        kind = self.dialect.type_compiler.process(column.type, type_expression=column)
        required = "" if column.nullable or not _is_managed(column.table) else " NOT NULL"
        comment = f" COMMENT {literal(column.comment)}" if column.comment else ""
        return f"{self.preparer.format_column(column)} {kind}{required}{comment}"

    def post_create_table(self, table: Any) -> str:
        options = table.dialect_options["hivedruid"]
        parts = [f"COMMENT {literal(table.comment)}"] if table.comment else []
        if stored_by := options["stored_by"]:
            parts.append(f"STORED BY {literal(stored_by)}")
        if stored_as := options["stored_as"]:
            parts.append(f"STORED AS {stored_as}")
        if properties := options["tblproperties"]:
            pairs = ", ".join(f"{literal(str(key))} = {literal(str(value))}" for key, value in properties.items())
            parts.append(f"TBLPROPERTIES ({pairs})")
        return "".join(f"\n{part}" for part in parts)

    def visit_create_index(self, create: Any, **_: Any) -> str:  # type: ignore[override]
        raise exc.CompileError("Hive has no indexes: Druid indexes every column")

    def visit_drop_table_comment(self, drop: Any, **_: Any) -> str:
        return f"ALTER TABLE {self.preparer.format_table(drop.element)} UNSET TBLPROPERTIES ('comment')"

    def visit_set_table_comment(self, create: Any, **_: Any) -> str:
        table, comment = self.preparer.format_table(create.element), literal(create.element.comment)
        return f"ALTER TABLE {table} SET TBLPROPERTIES ('comment' = {comment})"


def _cached(read: Method) -> Method:
    """`reflection.cache` of SQLAlchemy, whose version 1.4 fails at annotations that are text."""

    @wraps(read)
    def cached(self: Any, connection: Connection, *names: str | None, **options: Any) -> Any:
        cache = options.get("info_cache")
        if cache is None:
            return read(self, connection, *names, **options)
        given = tuple((key, value) for key, value in options.items() if key not in ("info_cache", "unreflectable"))
        key = (read.__name__, names, given)
        if key not in cache:
            cache[key] = read(self, connection, *names, **options)
        return cache[key]

    return cached  # type: ignore[return-value]


class HiveDialect(DefaultDialect):
    name = "hivedruid"
    driver = "hivedruid"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_alter = False
    supports_comments = True
    inline_comments = True
    supports_sane_rowcount = False
    supports_sane_multi_rowcount = False
    supports_native_boolean = True
    supports_native_decimal = True
    supports_multivalues_insert = True
    supports_default_values = False
    supports_empty_insert = False
    div_is_floordiv = False
    supports_default_metavalue = False
    supports_sequences = False
    supports_schemas = True
    supports_views = True
    supports_constraint_comments = False
    postfetch_lastrowid = False
    preexecute_autoincrement_sequences = False
    use_insertmanyvalues = False
    requires_name_normalize = False
    max_identifier_length = 128
    preparer = HiveIdentifierPreparer  # type: ignore[assignment]
    statement_compiler = HiveCompiler
    ddl_compiler = HiveDDLCompiler
    type_compiler = HiveTypeCompiler
    colspecs = {types.Date: HiveDate, types.Interval: HiveInterval}  # noqa: RUF012
    construct_arguments = [(schema.Table, {"stored_by": None, "stored_as": None, "tblproperties": None})]  # noqa: RUF012

    @classmethod
    def import_dbapi(cls) -> Any:
        return dbapi

    dbapi = import_dbapi  # type: ignore[assignment]  # its name in SQLAlchemy 1.4

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of `dbapi.connect`: `hivedruid:///home`, `hivedruid://router:8888/home`, and `?key=value`."""
        options = {key: value if isinstance(value, str) else value[-1] for key, value in url.query.items()}
        if url.username or url.password:
            raise UsageError(
                "a URL of hivedruid must not contain credentials",
                hint="refer to them with druid.auth.username and druid.auth.password; see docs/security.md",
            )
        druid = options.pop("druid", None) or (f"http://{url.host}:{url.port or 8888}" if url.host else None)
        arguments = {name: options.pop(name, None) for name in ("cluster", "database")}
        return [url.database or None, druid], {"settings": options, **arguments}

    def connect(self, *arguments: Any, **options: Any) -> Any:
        database = options.pop("database", None)
        connection = dbapi.connect(*arguments, **options)
        if database:
            connection.cursor().execute(f"USE {self.identifier_preparer.quote(database)}")
        return connection

    def is_disconnect(self, e: Exception, connection: Any, cursor: Any) -> bool:
        return isinstance(e, dbapi.InterfaceError) and "connection is closed" in str(e)

    def do_rollback(self, dbapi_connection: Any) -> None:
        """Nothing: statements have taken effect when they end."""

    def _get_server_version_info(self, connection: Connection) -> tuple[int, ...]:
        return tuple(int(part) for part in VERSION.split("."))

    def _get_default_schema_name(self, connection: Connection) -> str:
        return str(connection.exec_driver_sql("SELECT current_database()").scalar())

    # --- reflection ------------------------------------------------------------------------------------------------

    @_cached
    def get_schema_names(self, connection: Connection, **_: Any) -> list[str]:
        return self._names(connection, "SHOW DATABASES")

    @_cached
    def get_table_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """The tables without views and temporary tables."""
        others = {*self._listed(connection, "VIEWS", schema), *self._listed(connection, "MATERIALIZED VIEWS", schema)}
        others.update(self._temporary(connection, schema))
        return [name for name in self._listed(connection, "TABLES", schema) if name not in others]

    @_cached
    def get_temp_table_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        return self._temporary(connection, schema)

    def _temporary(self, connection: Connection, schema: str | None) -> list[str]:
        opened = connection.connection.dbapi_connection.api  # type: ignore[union-attr]
        database = (schema or opened.database).lower()
        return [name for of, name in opened.temporary_tables if of == database]

    @_cached
    def get_view_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """The views; with materialized ones if the inspector has no other method for them."""
        names = self._listed(connection, "VIEWS", schema)
        return names if HAS_MATERIALIZED_VIEWS else names + self._listed(connection, "MATERIALIZED VIEWS", schema)

    @_cached
    def get_materialized_view_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        return self._listed(connection, "MATERIALIZED VIEWS", schema)

    @_cached
    def get_view_definition(self, connection: Connection, view_name: str, schema: str | None = None, **_: Any) -> str:
        text = self._created(connection, view_name, schema)
        if not text.startswith(("CREATE VIEW", "CREATE MATERIALIZED VIEW")):
            raise exc.NoSuchTableError(view_name)
        return text

    def _created(self, connection: Connection, table: str, schema: str | None) -> str:
        """The statement that creates the table."""
        return "\n".join(line for (line,) in self._of_table(connection, "SHOW CREATE TABLE {}", table, schema))

    @_cached
    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> bool:
        try:
            self._of_table(connection, "DESCRIBE {}", table_name, schema)
        except exc.NoSuchTableError:
            return False
        return True

    @_cached
    def get_columns(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> list[Any]:
        columns = {}
        required = set(_REQUIRED.findall(self._created(connection, table_name, schema)))
        for name, kind, comment in self._of_table(connection, "DESCRIBE {}", table_name, schema):
            if name.startswith("#"):
                break  # the columns of partitions, which are listed before, too
            if name:
                columns[name] = {
                    "name": name, "type": type_of(kind), "nullable": name not in required, "default": None,
                    "comment": None if comment in ("", "from deserializer") else comment,
                }  # fmt: skip
        return list(columns.values())

    @_cached
    def get_table_comment(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> Any:
        for name, value, other in self._of_table(connection, "DESCRIBE FORMATTED {}", table_name, schema):
            if not name and value.strip() == "comment":
                return {"text": other.strip()}
        return {"text": None}

    def get_pk_constraint(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> Any:
        self._exists(connection, table_name, schema)
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[Any]:
        return self._exists(connection, table_name, schema)

    def get_indexes(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> list[Any]:
        return self._exists(connection, table_name, schema)

    def get_unique_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[Any]:
        return self._exists(connection, table_name, schema)

    def get_check_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[Any]:
        return self._exists(connection, table_name, schema)

    def _exists(self, connection: Connection, table: str, schema: str | None) -> list[Any]:
        """Nothing. Raises NoSuchTableError if there is no table of that name."""
        self._of_table(connection, "DESCRIBE {}", table, schema)
        return []

    def _names(self, connection: Connection, statement: str) -> list[str]:
        return [str(row[0]) for row in connection.exec_driver_sql(statement)]

    def _listed(self, connection: Connection, what: str, schema: str | None) -> list[str]:
        suffix = f" IN {self.identifier_preparer.quote_schema(schema)}" if schema else ""
        return self._names(connection, f"SHOW {what}{suffix}")

    def _of_table(
        self, connection: Connection, statement: str, table: str, schema: str | None
    ) -> Iterable[Sequence[Any]]:
        quote = self.identifier_preparer.quote
        names = [schema, table] if schema else [table]
        try:
            if not all(_IDENTIFIER.fullmatch(name) for name in names):
                raise exc.NoSuchTableError(".".join(names))
            return list(connection.exec_driver_sql(statement.format(".".join(map(quote, names)))))
        except exc.ProgrammingError as error:
            if isinstance(getattr(error.orig, "__cause__", None), TableNotFound | CatalogStateError):
                raise exc.NoSuchTableError(".".join(names)) from None
            raise
