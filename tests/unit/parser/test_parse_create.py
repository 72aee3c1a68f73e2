"""CREATE: the clauses of each kind of table, views, types, and errors."""

from __future__ import annotations

import pytest
from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.kinds import DRUID_STORAGE_HANDLER, KAFKA_STORAGE_HANDLER
from hivedruid.errors import HiveDruidError, ParseError, SemanticError, UnsupportedError
from hivedruid.parser.statements import ddl
from tests.unit.parser.parsing import at, one, refused


def test_create_druid_table() -> None:
    text = (
        "CREATE EXTERNAL TABLE IF NOT EXISTS Db.Wiki (`__time` TIMESTAMP, Page STRING COMMENT 'its page')\n"
        "COMMENT 'edits' STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'\n"
        "WITH SERDEPROPERTIES ('a' = 'b')\n"
        "TBLPROPERTIES (\"druid.datasource\" = 'wiki;x', 'druid.rollup'='true') AS SELECT 1"
    )
    s = one(text)
    assert isinstance(s, ddl.CreateTable)
    assert (s.name.database, s.name.name, at(s.name.span)) == ("db", "wiki", "Db.Wiki")
    assert s.external
    assert s.if_not_exists
    assert [(c.name, c.type, c.comment, at(c.span)) for c in s.columns] == [
        ("__time", t.TIMESTAMP, "", "`__time`"),
        ("page", t.STRING, "its page", "Page"),
    ]
    assert s.comment == "edits"
    assert s.storage_handler == DRUID_STORAGE_HANDLER
    assert at(s.storage_handler_span) == "'org.apache.hadoop.hive.druid.DruidStorageHandler'"
    assert [(p.key, p.value) for p in s.serde] == [("a", "b")]
    assert [(p.key, p.value, at(p.key_span), at(p.value_span)) for p in s.properties] == [
        ("druid.datasource", "wiki;x", '"druid.datasource"', "'wiki;x'"),
        ("druid.rollup", "true", "'druid.rollup'", "'true'"),
    ]
    assert isinstance(s.query, exp.Select)


@pytest.mark.parametrize(
    ("word", "handler"),
    [
        ("druid", DRUID_STORAGE_HANDLER),
        ("DRUID", DRUID_STORAGE_HANDLER),
        ("'Druid'", DRUID_STORAGE_HANDLER),
        ("`druid`", DRUID_STORAGE_HANDLER),
        ("kafka", KAFKA_STORAGE_HANDLER),
        (f"'{KAFKA_STORAGE_HANDLER}'", KAFKA_STORAGE_HANDLER),
    ],
)
def test_storage_handlers(word: str, handler: str) -> None:
    assert one(f"CREATE EXTERNAL TABLE t (a int) STORED BY {word}").storage_handler == handler


def test_other_storage_handlers_are_refused() -> None:
    error = refused(
        "CREATE TABLE t (a int) STORED BY 'org.apache.hadoop.hive.druid.QTestDruidStorageHandler'", UnsupportedError
    )
    assert DRUID_STORAGE_HANDLER in (error.hint or "")
    assert "druid or kafka" in refused("CREATE TABLE t (a int) STORED BY hbase", UnsupportedError).message


def test_row_format_delimited() -> None:
    s = one(
        r"CREATE EXTERNAL TABLE t (a int) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' ESCAPED BY '\\'"
        r" COLLECTION ITEMS TERMINATED BY '|' MAP KEYS TERMINATED BY ':' LINES TERMINATED BY '\n' NULL DEFINED AS 'NA'"
        r" STORED AS TEXTFILE LOCATION '/data'"
    )
    assert {p.key: p.value for p in s.serde} == {
        "field.delim": "\t",
        "escape.delim": "\\",
        "collection.delim": "|",
        "mapkey.delim": ":",
        "line.delim": "\n",
        "serialization.null.format": "NA",
    }
    assert (s.stored_as, s.location, at(s.location_span)) == ("textfile", "/data", "LOCATION '/data'")


def test_row_format_serde() -> None:
    s = one(
        "CREATE TABLE t (a int) ROW FORMAT SERDE 'x.Y' WITH SERDEPROPERTIES ('k'='v') STORED AS JSONFILE LOCATION '/d'"
    )
    assert [(p.key, p.value) for p in s.serde] == [("serialization.lib", "x.Y"), ("k", "v")]
    assert s.stored_as == "jsonfile"


@pytest.mark.parametrize(("word", "name"), [("ORC", "orc"), ("parquet", "parquet"), ("PARQUETFILE", "parquet")])
def test_stored_as(word: str, name: str) -> None:
    assert one(f"CREATE TABLE t (a int) STORED AS {word}").stored_as == name


def test_clauses_that_are_there_to_be_refused() -> None:
    s = one(
        "CREATE TABLE t PARTITIONED BY (dt string) CLUSTERED BY (robot) SORTED BY (a DESC) INTO 32 BUCKETS STORED BY druid"
    )
    assert (s.partitioned_by.text, at(s.partitioned_by.span)) == ("PARTITIONED BY", "PARTITIONED BY")
    assert (s.clustered_by.text, at(s.clustered_by.span)) == ("CLUSTERED BY", "CLUSTERED BY")


def test_create_table_like() -> None:
    s = one("CREATE EXTERNAL TABLE a LIKE db.b LOCATION '/x'")
    assert (s.like.database, s.like.name, s.location) == ("db", "b", "/x")


def test_create_view() -> None:
    s = one("CREATE OR REPLACE VIEW v (a COMMENT 'x', B) COMMENT 'y' TBLPROPERTIES ('k'='v') AS SELECT 1,\n 2 FROM t")
    assert (s.columns, s.column_comments, s.comment) == (("a", "b"), ("x", ""), "y")
    assert s.query_text == "SELECT 1,\n 2 FROM t"
    assert s.or_replace
    assert isinstance(s.query, exp.Select)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tinyint", t.TINYINT),
        ("INTEGER", t.INT),
        ("double precision", t.DOUBLE),
        ("decimal", t.decimal()),
        ("numeric(5)", t.decimal(5, 0)),
        ("decimal( 10 , 2 )", t.decimal(10, 2)),
        ("varchar(10)", t.HiveType("varchar", (10,))),
        ("timestamp with local time zone", t.TIMESTAMP_LTZ),
        ("timestamplocaltz", t.TIMESTAMP_LTZ),
        ("array<array<string>>", t.array_of(t.array_of(t.STRING))),
        ("map<string,int>", t.HiveType("map", children=(t.STRING, t.INT))),
        (
            "struct<a:int, `B`:map<int,date> COMMENT 'x'>",
            t.HiveType("struct", children=(t.INT, t.HiveType("map", children=(t.INT, t.DATE))), fields=("a", "b")),
        ),
    ],
)
def test_types(text: str, expected: t.HiveType) -> None:
    (column,) = one(f"CREATE TABLE t (c {text})").columns
    assert column.type == expected
    assert one(f"CREATE TABLE t (c {expected})").columns[0].type == expected


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("itn", SemanticError, "itn"),
        ("decimal(39)", SemanticError, "decimal(39)"),
        ("decimal(3,4)", SemanticError, "decimal(3,4)"),
        ("varchar(0)", SemanticError, "varchar(0)"),
        ("char(256)", SemanticError, "char(256)"),
        ("uniontype<int,string>", UnsupportedError, "uniontype"),
        ("varchar", ParseError, ")"),
        ("array<int", ParseError, ")"),
        ("'int'", ParseError, "'int'"),
    ],
)
def test_bad_types(text: str, kind: type[HiveDruidError], place: str) -> None:
    assert at(refused(f"CREATE TABLE t (c {text})", kind).span) == place


def test_constraints() -> None:
    s = one(
        "CREATE TABLE t (a int NOT NULL DISABLE NOVALIDATE COMMENT 'x', PRIMARY KEY (a) DISABLE NOVALIDATE RELY, `check` int)"
    )
    assert [(c.name, c.comment) for c in s.columns] == [("a", "x"), ("check", "")]
    assert [(c.kind, c.enabled, c.rely) for c in (*s.columns[0].constraints, *s.constraints)] == [
        ("NOT NULL", False, False),
        ("PRIMARY KEY", False, True),
    ]
    s = one("CREATE TABLE t (a int CONSTRAINT d DEFAULT cast('5' as int) ENABLE CHECK ( a > (1) ) NORELY COMMENT 'x')")
    assert [(c.name, c.kind, c.text, c.enabled, c.rely) for c in s.columns[0].constraints] == [
        ("d", "DEFAULT", "cast('5' as int)", True, True),
        ("", "CHECK", "a > (1)", True, False),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE t (a int", "expected a comma or a closing parenthesis, found the end of the statement"),
        ("CREATE TABLE t (a int b int)", "expected a comma or a closing parenthesis, found 'b'"),
        ("CREATE TABLE t (a int,)", "expected a column name, found ')'"),
        ("CREATE TABLE t ()", "expected a column name, found ')'"),
        ("CREATE TABLE (a int)", "expected a table name, found '('"),
        ("CREATE TABLE t (a int) STORED AS ORC STORED AS ORC", "STORED AS is specified twice"),
        ("CREATE TABLE t (a int) STORED", "expected a clause of CREATE TABLE, found 'STORED'"),
        ("CREATE TABLE t (a int) TBLPROPERTIES ('a')", "expected '=', found ')'"),
        ("CREATE TABLE t (a int) TBLPROPERTIES (a='b')", "expected a quoted property name, found 'a'"),
        ("CREATE TABLE t (a int) TBLPROPERTIES ('a'='b'", "expected ')', found the end of the statement"),
        ("CREATE TABLE `a b` (a int)", "'a b' is not a valid table name"),
        ("CREATE VIEW v SELECT 1", "expected 'AS', found 'SELECT'"),
        ("DROP TABLE", "expected a table name, found the end of the statement"),
        ("DROP TABLE a b", "expected the end of the statement, found 'b'"),
        ("ALTER TABLE t SET", "ALTER TABLE can only be used for"),
        ("INSERT t SELECT 1", "expected INTO or OVERWRITE, found 't'"),
        ("INSERT INTO t", "expected a query, found the end of the statement"),
        ("INSERT INTO t SELECT 1 INSERT INTO u SELECT 2", "expected the end of the statement, found 'INSERT'"),
        ("FROM t INSERT INTO u WHERE a", "expected 'SELECT', found 'WHERE'"),
        ("USE", "expected a database name, found the end of the statement"),
        ("SHOW INGESTION", "expected TABLES, VIEWS"),
        ("EXPLAIN", "expected a statement, found the end of the statement"),
        ("EXPLAIN EXPLAIN SELECT 1", "expected a statement to explain, found EXPLAIN"),
        ("SOURCE", "expected a script path"),
        ("SET a b", "expected a setting name"),
        ("SET = 1", "expected a setting name"),
    ],
)
def test_statement_errors(text: str, message: str) -> None:
    kind = UnsupportedError if message.startswith("ALTER TABLE can") else ParseError
    assert refused(text, kind).message.startswith(message)


def test_a_property_given_twice_is_refused() -> None:
    error = refused("CREATE TABLE t (a int) TBLPROPERTIES ('a'='1', 'a'='2')", SemanticError)
    assert error.span is not None
    assert error.span.column == 48


def test_an_error_does_not_show_a_secret() -> None:
    error = refused("CREATE TABLE t (a int) TBLPROPERTIES ('a.password'='hunter2' 'b'='c')")
    assert "hunter2" not in error.message
    assert error.span is not None
    assert "hunter2" not in error.span.source_line
