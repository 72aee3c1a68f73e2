"""The clauses of CREATE TABLE after the name and the columns; property lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import TokenType

from hivedruid.catalog.kinds import DRUID_STORAGE_HANDLER, HANDLERS, OPEN_CSV
from hivedruid.errors import ParseError, SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.parser.layout import ordered_by, partitioned_by
from hivedruid.parser.queries import parse_query
from hivedruid.parser.statements.ddl import Clause, Property
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

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

INPUT_FORMATS = {
    "OrcInputFormat": "ORC",
    "MapredParquetInputFormat": "PARQUET",
    "TextInputFormat": "TEXTFILE",
}
"""The formats of STORED AS INPUTFORMAT, by the class without its package."""
_OTHER_FORMATS = {
    "AVRO": "AvroContainerInputFormat",
    "SEQUENCEFILE": "SequenceFileInputFormat",
    "RCFILE": "RCFileInputFormat",
}
"""Formats that tables in the home folder may declare without effect, and their input formats."""
OF_HADOOP = {
    "AVRO": ("AvroContainerInputFormat", "avro"),
    "SEQUENCEFILE": ("SequenceFileInputFormat", "sequencefile"),
}
"""Those of them whose files can be read: the input format, and the name of the format."""
_ICEBERG = ("iceberg", "org.apache.iceberg.mr.hive.hiveicebergstoragehandler")


class TableClauses:
    """The clauses after the name and columns of CREATE TABLE, in any order, each at most once."""

    def __init__(
        self,
        source: SourceStatement,
        cursor: Cursor,
        refuse: Callable[[Cursor], None] = lambda _: None,
        *,
        has_own_files: bool = False,
    ) -> None:
        """`has_own_files`: hivedruid chooses the format of the files, so that every one may be declared."""
        self._has_own_files = has_own_files
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
            ("STORED AS", self.stored_as),
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

    def read_format(self) -> dict[str, Any]:
        """ROW FORMAT … and STORED AS … of INSERT OVERWRITE DIRECTORY, which the query follows."""
        if self.cursor.accept("ROW", "FORMAT"):
            self._row_format()
            if self.cursor.accept("WITH", "SERDEPROPERTIES"):
                self._serde_properties()
        if self.cursor.accept("STORED", "AS"):
            token = self.cursor.current
            self.stored_as()
            if self.tiered is not None:
                raise UnsupportedError(
                    "STORED AS TIERED is not supported for a directory", span=self.cursor.span(token),
                    hint="use ORC, PARQUET, TEXTFILE or JSONFILE",
                )  # fmt: skip
        return self.found

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
        self._clause("skewed_by", "SKEWED BY")
        self.cursor.skip_group()
        self.cursor.expect("ON")
        self.cursor.skip_group()
        self.cursor.accept("STORED", "AS", "DIRECTORIES")

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
        if name.lower() in _ICEBERG:
            self.found["iceberg_span"] = span
            return
        if handler is None:
            hint = did_you_mean(name, (*HANDLERS, *HANDLERS.values()))
            raise UnsupportedError(
                f"storage handler '{name}' is not supported; use {' or '.join(HANDLERS)}", span=span, hint=hint
            )
        self.found["storage_handler"] = handler
        self.found["storage_handler_span"] = span

    def stored_as(self) -> None:
        cursor = self.cursor
        token = cursor.current
        word = cursor.word()
        if word == "TIERED":
            cursor.index += 1
            self._tiered(cursor.span(token))
            return
        if word == "INPUTFORMAT":
            self._input_format()
            return
        if word in _OTHER_FORMATS and self._has_own_files:
            cursor.index += 1
            self.found["other_format"] = Clause(f"STORED AS {word}", cursor.span(token))
            return
        if word in OF_HADOOP:
            cursor.index += 1
            self.found["stored_as"] = OF_HADOOP[word][1]
            return
        if word not in _FILE_FORMATS:
            if not word.isidentifier():
                cursor.fail("a file format")
            if word == "CSV":
                raise UnsupportedError(
                    "STORED AS CSV is not Hive SQL: CSV is text with a SerDe", span=cursor.span(token),
                    hint=f"use ROW FORMAT SERDE '{OPEN_CSV}' STORED AS TEXTFILE; its columns are strings",
                )  # fmt: skip
            why = ": Spark has no reader of such files" if word in _OTHER_FORMATS else ""
            raise UnsupportedError(
                f"STORED AS {word} is not supported{why}",
                span=cursor.span(token),
                hint="copy the files in Hive into a table STORED AS ORC, PARQUET, AVRO, TEXTFILE or JSONFILE"
                if why
                else "use ORC, PARQUET, AVRO, TEXTFILE or JSONFILE",
            )
        cursor.index += 1
        self.found["stored_as"] = _FILE_FORMATS[word]

    def _input_format(self) -> None:
        """INPUTFORMAT 'class' OUTPUTFORMAT 'class', as SHOW CREATE TABLE of Hive prints STORED AS."""
        cursor = self.cursor
        cursor.expect("INPUTFORMAT")
        name, token = cursor.string("the class name of the input format")
        cursor.expect("OUTPUTFORMAT")
        cursor.string("the class name of the output format")
        class_name = name.rpartition(".")[2]
        format_ = INPUT_FORMATS.get(class_name)
        if class_name in _OTHER_FORMATS.values() and self._has_own_files:
            self.found["other_format"] = Clause(f"STORED AS INPUTFORMAT '{name}'", cursor.span(token))
            return
        if read := dict(OF_HADOOP.values()).get(class_name):
            self.found["stored_as"] = read
            return
        if format_ is None:
            raise UnsupportedError(
                f"STORED AS INPUTFORMAT '{name}' is not supported", span=cursor.span(token),
                hint="use STORED AS ORC, PARQUET, TEXTFILE or JSONFILE",
            )  # fmt: skip
        self.found["stored_as"] = _FILE_FORMATS[format_]

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


def file_format(cursor: Cursor) -> str:
    """The format of SET FILEFORMAT, as that of STORED AS."""
    clauses = TableClauses(cursor.source, cursor)
    token = cursor.current
    clauses.stored_as()
    if clauses.tiered is not None:
        raise UnsupportedError(
            "SET FILEFORMAT TIERED is not supported", span=cursor.span(token), hint="use ALTER TABLE … SET TIERED"
        )
    return str(clauses.found["stored_as"])
