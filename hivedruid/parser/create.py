"""CREATE TABLE, VIEW and DATABASE."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import TokenType

from hivedruid.catalog.kinds import DRUID_STORAGE_HANDLER, HANDLERS, KAFKA_STORAGE_HANDLER
from hivedruid.catalog.properties import TIER_COLD, TIER_HOT
from hivedruid.errors import ParseError, SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.parser.layout import ordered_by, partitioned_by
from hivedruid.parser.queries import parse_query
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.ddl import Clause, ColumnDef, CreateDatabase, CreateTable, CreateView, Property
from hivedruid.parser.tokens import Cursor
from hivedruid.parser.types import parse_type
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import Token

STORAGE_HANDLERS = {name: handler for kind, handler in HANDLERS.items() for name in (kind, handler.lower())}
"""Handlers by what STORED BY accepts, in lower case."""
_FILE_FORMATS = {
    "ORC": "orc",
    "ORCFILE": "orc",
    "PARQUET": "parquet",
    "PARQUETFILE": "parquet",
    "TEXTFILE": "textfile",
    "JSONFILE": "jsonfile",
}


def parse_create(source: SourceStatement, cursor: Cursor) -> Statement:
    if cursor.accept("OR", "REPLACE"):
        if cursor.accept("MATERIALIZED", "VIEW"):
            raise UnsupportedError(
                "CREATE OR REPLACE MATERIALIZED VIEW is not supported",
                span=cursor.span_from(0),
                hint=(
                    "use DROP MATERIALIZED VIEW and CREATE MATERIALIZED VIEW; use ALTER MATERIALIZED VIEW … REBUILD to"
                    " recompute its rows"
                ),
            )
        cursor.expect("VIEW")
        return _view(source, cursor, or_replace=True)
    if cursor.accept("VIEW"):
        return _view(source, cursor, or_replace=False)
    if cursor.accept("MATERIALIZED", "VIEW"):
        from hivedruid.parser.materialized import parse_create as parse_create_materialized

        return parse_create_materialized(source, cursor)
    if cursor.accept_one("DATABASE", "SCHEMA"):
        return _database(source, cursor)
    if cursor.accept("STREAM"):
        from hivedruid.parser.streaming import parse_create as parse_create_stream

        return parse_create_stream(source, cursor)
    managed = cursor.accept("MANAGED")
    external = not managed and cursor.accept("EXTERNAL")
    if not cursor.accept("TABLE"):
        cursor.fail("TABLE, VIEW, DATABASE or STREAM" if not external else "TABLE")
    return _table(source, cursor, external=external)


def if_not_exists(cursor: Cursor) -> bool:
    return cursor.accept("IF", "NOT", "EXISTS")


def _table(source: SourceStatement, cursor: Cursor, *, external: bool) -> CreateTable:
    exists = if_not_exists(cursor)
    name = cursor.table_name()
    clauses = TableClauses(source, cursor)
    topic: tuple[Property, ...] = ()
    if cursor.accept("LIKE"):
        if topic := _topic(cursor):
            clauses.found["topic_span"] = topic[0].value_span
        else:
            clauses.found["like"] = cursor.table_name()
    elif cursor.accept("("):
        clauses.found["columns"] = column_list(cursor)
    clauses.read()
    if clauses.tiered is not None:
        clauses.found["properties"] = tiered_properties(clauses.found.get("properties", ()), clauses.tiered)
    if topic:
        clauses.found.setdefault("storage_handler", KAFKA_STORAGE_HANDLER)
        properties = clauses.found.get("properties", ())
        if again := next((item for item in properties if item.key == "kafka.topic"), None):
            raise SemanticError("the topic is specified twice", span=again.key_span, hint="remove the property")
        clauses.found["properties"] = (*topic, *properties)
    return CreateTable(source, name, external=external, if_not_exists=exists, **clauses.found)


def tiered_properties(given: tuple[Property, ...], span: Span) -> tuple[Property, ...]:
    """The properties of a tiered table, with those that make it one."""
    keys = {item.key for item in given}
    made = ((TIER_HOT, "druid"), (TIER_COLD, "orc"))
    return (*(Property(key, value, span, span) for key, value in made if key not in keys), *given)


def _topic(cursor: Cursor) -> tuple[Property, ...]:
    """TOPIC 'name', as the property kafka.topic; () if the next token is the name of a table."""
    following = cursor.tokens[cursor.index + 1 : cursor.index + 2]
    if not any(token.token_type == TokenType.STRING for token in following) or not cursor.accept("TOPIC"):
        return ()
    name, token = cursor.string("the name of a topic")
    return (Property("kafka.topic", name, value_span=cursor.span(token)),)


class TableClauses:
    """The clauses after the name and columns of CREATE TABLE, in any order, each at most once."""

    def __init__(
        self, source: SourceStatement, cursor: Cursor, refuse: Callable[[Cursor], None] = lambda _: None
    ) -> None:
        self.source = source
        self.cursor = cursor
        self.refuse = refuse
        self.found: dict[str, Any] = {}
        self._seen: set[str] = set()
        self.tiered: Span | None = None
        """The position of STORED AS TIERED."""

    def read(self, statement: str = "CREATE TABLE") -> None:
        clauses = (
            ("COMMENT", self._comment),
            ("PARTITIONED BY", self._partitioned_by),
            ("CLUSTERED BY", self._clustered_by),
            ("WRITE LOCALLY ORDERED BY", self._ordered_by),
            ("SKEWED BY", self._skewed_by),
            ("ROW FORMAT", self._row_format),
            ("STORED BY", self._stored_by),
            ("STORED AS", self._stored_as),
            ("WITH SERDEPROPERTIES", self._serde_properties),
            ("LOCATION", self._location),
            ("TBLPROPERTIES", self._table_properties),
        )
        cursor = self.cursor
        while not cursor.at_end:
            start = cursor.index
            self.refuse(cursor)
            for words, reader in clauses:
                if cursor.accept(*words.split()):
                    self._once(words, start)
                    reader()
                    break
            else:
                if "like" not in self.found and (cursor.accept("AS") or cursor.word() in ("SELECT", "WITH")):
                    self.found["query"] = parse_query(self.source, cursor.rest())
                else:
                    cursor.fail(f"a clause of {statement}")

    def _once(self, words: str, start: int) -> None:
        if words in self._seen:
            raise ParseError(f"{words} is specified twice", span=self.cursor.span_from(start))
        self._seen.add(words)

    def _comment(self) -> None:
        self.found["comment"] = self.cursor.string("the comment")[0]

    def _clause(self, key: str, words: str) -> None:
        start = self.cursor.index - len(words.split())
        start = self.cursor.index - 1 if " " in self.cursor.tokens[self.cursor.index - 1].text else start
        self.found[key] = Clause(words, self.cursor.span_from(start))

    def _partitioned_by(self) -> None:
        self._clause("partitioned_by", "PARTITIONED BY")
        self.found["partitioned_by"] = partitioned_by(self.cursor, self.found["partitioned_by"].span)

    def _ordered_by(self) -> None:
        span = self.cursor.span_from(self.cursor.index - len(["WRITE", "LOCALLY", "ORDERED", "BY"]))
        self.found["ordered_by"] = ordered_by(self.cursor, span)

    def _clustered_by(self) -> None:
        self._clause("clustered_by", "CLUSTERED BY")
        self.cursor.skip_group()
        for words in ("SORTED", "BY"), ("SORT", "BY"):
            if self.cursor.accept(*words):
                self.cursor.skip_group()
        if self.cursor.accept("INTO"):
            self.cursor.integer("the number of buckets")
            self.cursor.expect("BUCKETS")

    def _skewed_by(self) -> None:
        raise UnsupportedError(
            "SKEWED BY is not supported", span=self.cursor.span_from(self.cursor.index - 2), hint="remove it"
        )

    def _row_format(self) -> None:
        cursor = self.cursor
        if cursor.accept("SERDE"):
            start = cursor.index - 1
            value, token = cursor.string("the class name of the SerDe")
            self._serde([Property("serialization.lib", value, cursor.span_from(start), cursor.span(token))])
        else:
            cursor.expect("DELIMITED")
            self._serde(_delimiters(cursor))

    def _serde(self, properties: list[Property]) -> None:
        self.found["serde"] = (*self.found.get("serde", ()), *properties)

    def _serde_properties(self) -> None:
        self._serde(list(property_list(self.cursor)))

    def _stored_by(self) -> None:
        cursor = self.cursor
        token = cursor.current
        is_string = token is not None and token.token_type == TokenType.STRING
        name = cursor.string()[0] if is_string else cursor.name("a storage handler")[0]
        handler = STORAGE_HANDLERS.get(name.lower())
        span = cursor.span(token)
        if handler is None:
            close = did_you_mean(name, (*HANDLERS, *HANDLERS.values()))
            hint = "remove STORED BY: managed tables are Iceberg tables" if name.lower() == "iceberg" else close
            raise UnsupportedError(
                f"storage handler '{name}' is not supported; use {' or '.join(HANDLERS)}", span=span, hint=hint
            )
        self.found["storage_handler"] = handler
        self.found["storage_handler_span"] = span

    def _stored_as(self) -> None:
        cursor = self.cursor
        token = cursor.current
        word = cursor.word()
        if word == "TIERED":
            cursor.index += 1
            self._tiered(cursor.span(token))
            return
        if word not in _FILE_FORMATS:
            if not word.isidentifier():
                cursor.fail("a file format")
            raise UnsupportedError(
                f"STORED AS {word} is not supported",
                span=cursor.span(token),
                hint="use ORC, PARQUET, TEXTFILE or JSONFILE",
            )
        cursor.index += 1
        self.found["stored_as"] = _FILE_FORMATS[word]

    def _tiered(self, span: Span) -> None:
        if "storage_handler" in self.found:
            raise SemanticError("STORED AS TIERED and STORED BY cannot be combined", span=span, hint="remove STORED BY")
        self.found["storage_handler"], self.found["storage_handler_span"] = DRUID_STORAGE_HANDLER, span
        self.tiered = span

    def _location(self) -> None:
        start = self.cursor.index - 1
        self.found["location"] = self.cursor.string("the location")[0]
        self.found["location_span"] = self.cursor.span_from(start)

    def _table_properties(self) -> None:
        self.found["properties"] = property_list(self.cursor)


def column_list(cursor: Cursor) -> tuple[ColumnDef, ...]:
    """The columns, including the closing parenthesis."""
    columns: list[ColumnDef] = []
    while True:
        if not _table_constraint(cursor):
            columns.append(_column(cursor))
        if cursor.accept(")"):
            break
        if not cursor.accept(","):
            cursor.fail("a comma or a closing parenthesis")
    if not columns:
        cursor.fail("a column")
    return tuple(columns)


def _column(cursor: Cursor) -> ColumnDef:
    name, token = cursor.name("a column name")
    hive_type = parse_type(cursor)
    comment = ""
    while not cursor.at_end and cursor.word() not in (",", ")"):
        if cursor.accept("COMMENT"):
            comment = cursor.string("the comment")[0]
        elif not _constraint(cursor):
            cursor.fail("a comma or a closing parenthesis")
    return ColumnDef(name, hive_type, comment, cursor.span(token))


_COLUMN_CONSTRAINTS = ("CONSTRAINT", "PRIMARY", "PRIMARY KEY", "UNIQUE", "NOT", "DEFAULT", "CHECK", "REFERENCES")


def _table_constraint(cursor: Cursor) -> bool:
    """Whether a constraint follows; a column named `check` or `unique` is followed by a type."""
    word, after = cursor.word(), cursor.word(1)
    if word in ("PRIMARY KEY", "FOREIGN KEY") or (word in ("PRIMARY", "FOREIGN") and after == "KEY"):
        return _constraint(cursor, table=True)
    if word in ("UNIQUE", "CHECK") and after == "(":
        return _constraint(cursor, table=True)
    if word == "CONSTRAINT" and cursor.word(2) in (
        "PRIMARY KEY",
        "FOREIGN KEY",
        "PRIMARY",
        "FOREIGN",
        "UNIQUE",
        "CHECK",
    ):
        return _constraint(cursor, table=True)
    return False


def _constraint(cursor: Cursor, *, table: bool = False) -> bool:
    """Skip a constraint that is not enforced (DISABLE), as Hive does; reject one that must be enforced."""
    if not table and cursor.word() not in _COLUMN_CONSTRAINTS:
        return False
    start = cursor.index
    disabled = False
    while not cursor.at_end and cursor.word() not in (",", ")", "COMMENT"):
        disabled = disabled or cursor.word() == "DISABLE"
        if cursor.word() == "(":
            cursor.skip_group()
        else:
            cursor.index += 1
    if not disabled:
        raise UnsupportedError(
            "constraints are not supported: neither Druid nor files enforce them",
            span=cursor.span_from(start),
            hint="remove it, or add DISABLE NOVALIDATE",
        )
    return True


def property_list(cursor: Cursor) -> tuple[Property, ...]:
    """`('key' = 'value', …)`. Duplicate keys are rejected."""
    cursor.expect("(")
    properties: list[Property] = []
    while True:
        key, key_token = cursor.string("a quoted property name")
        cursor.expect("=")
        value, value_token = cursor.string("a quoted property value")
        properties.append(Property(key, value, cursor.span(key_token), cursor.span(value_token)))
        if not cursor.accept(","):
            break
    cursor.expect(")")
    seen: set[str] = set()
    for item in properties:
        if item.key in seen:
            raise SemanticError(f"property '{item.key}' is specified twice", span=item.key_span)
        seen.add(item.key)
    return tuple(properties)


def key_list(cursor: Cursor) -> tuple[Property, ...]:
    """`('key', …)`, as Hive also with values, which are ignored; the values of the properties are empty."""
    cursor.expect("(")
    keys: list[Property] = []
    while True:
        key, token = cursor.string("a quoted property name")
        if cursor.accept("="):
            cursor.string("a quoted property value")
        keys.append(Property(key, "", cursor.span(token)))
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return tuple(keys)


def _delimiters(cursor: Cursor) -> list[Property]:
    """ROW FORMAT DELIMITED … as the equivalent SerDe properties in Hive."""
    properties: list[Property] = []

    def read(key: str, start: int) -> None:
        value, token = cursor.string("the delimiter")
        properties.append(Property(key, value, cursor.span_from(start), cursor.span(token)))

    while True:
        start = cursor.index
        if cursor.accept("FIELDS", "TERMINATED", "BY"):
            read("field.delim", start)
            if cursor.accept("ESCAPED", "BY"):
                read("escape.delim", start)
        elif cursor.accept("COLLECTION", "ITEMS", "TERMINATED", "BY"):
            read("collection.delim", start)
        elif cursor.accept("MAP", "KEYS", "TERMINATED", "BY"):
            read("mapkey.delim", start)
        elif cursor.accept("LINES", "TERMINATED", "BY"):
            read("line.delim", start)
            if properties[-1].value not in ("\n", "10"):
                raise UnsupportedError(
                    r"LINES TERMINATED BY only supports newline '\n'",
                    span=properties[-1].value_span,
                    hint="remove it",
                )
        elif cursor.accept("NULL", "DEFINED", "AS"):
            read("serialization.null.format", start)
        else:
            return properties


def _view(source: SourceStatement, cursor: Cursor, *, or_replace: bool) -> CreateView:
    exists = if_not_exists(cursor)
    name: TableName = cursor.table_name()
    columns: list[str] = []
    comments: list[str] = []
    comment = ""
    properties: tuple[Property, ...] = ()
    if cursor.accept("("):
        while True:
            column, token = cursor.name("a column name")
            if column in columns:
                raise SemanticError(f"Duplicate column name {column} in the view definition.", span=cursor.span(token))
            columns.append(column)
            comments.append(cursor.string("the comment")[0] if cursor.accept("COMMENT") else "")
            if not cursor.accept(","):
                break
        cursor.expect(")")
    if cursor.accept("COMMENT"):
        comment = cursor.string("the comment")[0]
    if cursor.accept("PARTITIONED"):
        raise UnsupportedError(
            "PARTITIONED ON is not supported: views have no partitions", span=name.span, hint="remove it"
        )
    if cursor.accept("TBLPROPERTIES"):
        properties = property_list(cursor)
    cursor.expect("AS")
    tokens: list[Token] = cursor.rest()
    query = parse_query(source, tokens)
    text = source.text[tokens[0].start : tokens[-1].end + 1]
    return CreateView(
        source, name, query, text, exists, or_replace, tuple(columns), tuple(comments), comment, properties
    )


def _database(source: SourceStatement, cursor: Cursor) -> CreateDatabase:
    exists = if_not_exists(cursor)
    name, token = cursor.name("a database name")
    if not name.isidentifier() or not name.isascii():
        raise ParseError(
            f"'{name}' is not a valid database name",
            span=cursor.span(token),
            hint="use letters, digits and underscores",
        )
    comment = cursor.string("the comment")[0] if cursor.accept("COMMENT") else ""
    start = cursor.current
    if cursor.accept_one("LOCATION", "MANAGEDLOCATION") or cursor.accept("WITH", "DBPROPERTIES"):
        raise UnsupportedError(
            "LOCATION and DBPROPERTIES of a database are not supported", span=cursor.span(start), hint="remove them"
        )
    cursor.end()
    return CreateDatabase(source, name, exists, comment, cursor.span(token))
