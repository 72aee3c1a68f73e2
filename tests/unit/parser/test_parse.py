"""Text to statements: every kind, its parts, and their places."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.kinds import DRUID_STORAGE_HANDLER, KAFKA_STORAGE_HANDLER
from hivedruid.errors import HiveDruidError, ParseError, SemanticError, Span, UnsupportedError
from hivedruid.parser import parse
from hivedruid.parser.statements import Explain, Query, TableName, ddl, ingesting, utility, watching, writing
from hivedruid.script import SourceStatement, split


def one(text: str) -> Any:
    return parse(SourceStatement(text))


def at(span: Span | None) -> str:
    """The text a span points at."""
    assert span is not None
    return span.source_line[span.column - 1 : span.column - 1 + span.length]


def refused(text: str, kind: type[HiveDruidError] = ParseError) -> HiveDruidError:
    with pytest.raises(kind) as error:
        one(text)
    assert error.value.span is not None
    return error.value


# ---- queries


def test_query_positions_count_from_the_start_of_the_text() -> None:
    (source,) = split("\n  -- comment\n  EXPLAIN EXTENDED\n SELECT aa,\n  `bb` FROM t")
    statement = parse(source)
    assert isinstance(statement, Explain)
    assert isinstance(statement.statement, Query)
    columns = list(statement.statement.expression.find_all(exp.Column))
    places = {c.name: (c.this.meta["start"], c.this.meta["end"] + 1) for c in columns}
    assert {name: source.text[slice(*place)] for name, place in places.items()} == {"aa": "aa", "bb": "`bb`"}
    assert source.span(*places["bb"]).line == 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'O''Brien'", "OBrien"),
        ("'a' 'b' \"c\"", "abc"),
        (r"'it\'s'", "it's"),
        (r"'a\tb\nc\\d'", "a\tb\nc\\d"),
        (r"'\u0041\101'", "AA"),
        (r"'\%\_'", r"\%\_"),
        (r"'\d'", "d"),
        (r"'\Z\0'", "\x1a\x00"),
        ("'日本 😀'", "日本 😀"),
        ("''", ""),
    ],
)
def test_string_literals_mean_what_they_do_in_hive(text: str, value: str) -> None:
    (literal,) = one(f"SELECT {text}").expression.selects
    assert isinstance(literal, exp.Literal)
    assert literal.this == value


def test_zoned_timestamp_literal() -> None:
    text = "SELECT TIMESTAMPLOCALTZ '2010-01-01 00:00:00 US/Pacific', CAST(a AS TIMESTAMPLOCALTZ), b FROM t"
    first, second, last = one(text).expression.selects
    assert first.this.this == "2010-01-01 00:00:00 US/Pacific"
    assert first.to.this == second.to.this == exp.DataType.Type.TIMESTAMPLTZ
    assert text[last.this.meta["start"]] == "b"


@pytest.mark.parametrize(
    "text",
    [
        "FROM t SELECT a WHERE a > 1 ORDER BY a",
        "FROM t LATERAL VIEW explode(x) e AS y SELECT y",
        "FROM a JOIN b ON a.x = b.x SELECT a.y GROUP BY a.y",
        "WITH q AS (SELECT 1 AS a) FROM q SELECT a",
        "FROM (FROM t SELECT a) q SELECT a UNION ALL SELECT 1",
    ],
)
def test_from_first(text: str) -> None:
    expression = one(text).expression
    assert expression.find(exp.From) is not None
    assert expression.find(exp.Select).selects


def test_parsing_does_not_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for text in (
            "SHOW TABLES",
            "EXPLAIN SHOW TABLES",
            "EXPLAIN SELECT 1",
            "ALTER TABLE t UNSET TBLPROPERTIES ('a')",
        ):
            one(text)
    assert caplog.records == []


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("SELECT a FROM", "expected table name, found the end of the statement", ""),
        ("SELECT (1 + FROM t", "something is missing near 'FROM'", "FROM"),
        ("SELECT a b c FROM t", "unexpected 'c'", "c"),
        ("SELECT a FROM t GROUP a", "unexpected 'a'", "a"),
        ("SELECT a) FROM t", "unexpected ')'", ")"),
        ("INSERT INTO t VALUES (1, 2", "expected ')', found the end of the statement", ""),
        ("SELECT a FROM t WHERE", "something is missing after 'WHERE'", "WHERE"),
        ("SELEC a", "expected a statement, found 'SELEC'", "SELEC"),
        ("123", "expected a statement, found '1'", "1"),
        ("(SELECT 1) x y", "unexpected 'y'", "y"),
        ("FROM t", "expected 'SELECT' or 'INSERT' after FROM", "t"),
    ],
)
def test_query_errors(text: str, message: str, place: str) -> None:
    error = refused(text)
    assert error.message.startswith(message)
    assert at(error.span) == place
    assert "\x1b" not in error.message
    assert "Token" not in error.message


def test_errors_know_their_line() -> None:
    (source,) = split("\n\nSELECT a\nFROM t\nWHERE b b", "f.q")
    with pytest.raises(ParseError) as error:
        parse(source)
    assert error.value.span is not None
    assert (error.value.span.file, error.value.span.line, error.value.span.column) == ("f.q", 5, 9)


def test_deep_nesting_is_an_error_not_a_crash() -> None:
    assert "deep" in refused("SELECT " + "(" * 5000 + "1" + ")" * 5000).message


def test_a_long_condition_is_no_problem() -> None:
    assert one("SELECT a FROM t WHERE " + " OR ".join(f"a = {i}" for i in range(800))).expression


def test_did_you_mean_for_the_first_word() -> None:
    assert refused("SELEC a").hint == "did you mean 'SELECT'?"
    assert refused("CRETE TABLE t (a int)").hint == "did you mean 'CREATE'?"
    assert refused("CREATE TABEL t (a int)").hint == "did you mean 'TABLE'?"
    assert refused("SHOW TABELS").hint == "did you mean 'TABLES'?"


# ---- CREATE


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
    assert "Iceberg" in (refused("CREATE TABLE t (a int) STORED BY ICEBERG", UnsupportedError).hint or "")


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
    for text in ("a int NOT NULL", "a int DEFAULT 3", "a int, PRIMARY KEY (a)", "a int, CONSTRAINT c UNIQUE (a)"):
        assert "constraints" in refused(f"CREATE TABLE t ({text})", UnsupportedError).message


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


# ---- DROP, ALTER, USE


def test_drop() -> None:
    assert one("DROP TABLE IF EXISTS d.t PURGE") == ddl.DropTable(
        SourceStatement("DROP TABLE IF EXISTS d.t PURGE"),
        TableName("t", "d", Span(1, 22, 3, "DROP TABLE IF EXISTS d.t PURGE")),
        if_exists=True,
        purge=True,
    )
    assert isinstance(one("DROP VIEW v"), ddl.DropView)
    assert (one("DROP DATABASE d CASCADE").cascade, one("DROP SCHEMA d RESTRICT").cascade) == (True, False)


def test_alter() -> None:
    s = one("ALTER TABLE t SET TBLPROPERTIES ('a'='b')")
    assert isinstance(s, ddl.SetTableProperties)
    s = one("ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a', 'b')")
    assert (s.if_exists, [p.key for p in s.properties]) == (True, ["a", "b"])
    assert [c.name for c in one("ALTER TABLE t ADD COLUMNS (a int, b string)").columns] == ["a", "b"]
    assert one("ALTER TABLE t RENAME TO d.u").new_name.database == "d"


@pytest.mark.parametrize(
    "rest", ["REPLACE COLUMNS (a int)", "CHANGE a b int", "ADD PARTITION (a=1)", "SET LOCATION '/x'", "CONCATENATE"]
)
def test_other_alters_are_refused(rest: str) -> None:
    error = refused(f"ALTER TABLE t {rest}", UnsupportedError)
    assert error.message.startswith("ALTER TABLE can only be used for")
    assert error.hint
    assert at(error.span) == rest.split(maxsplit=1)[0]


def test_databases() -> None:
    s = one("CREATE DATABASE IF NOT EXISTS D COMMENT 'x'")
    assert (s.name, s.if_not_exists, s.comment, at(s.span)) == ("d", True, "x", "D")
    assert (one("USE D").name, one("USE default").name) == ("d", "default")
    assert "LOCATION" in refused("CREATE DATABASE d LOCATION '/x'", UnsupportedError).message


# ---- INSERT


def test_insert() -> None:
    s = one("INSERT OVERWRITE TABLE d.t (a, B) SELECT x, y FROM u")
    (target,) = s.targets
    assert isinstance(s, writing.Insert)
    assert (target.overwrite, target.columns, [at(c) for c in target.column_spans]) == (True, ("a", "b"), ["a", "B"])
    assert (target.table.database, target.table.name) == ("d", "t")
    (values,) = one("INSERT INTO t VALUES (1, 'a'), (2, NULL)").targets
    assert isinstance(values.query, exp.Values)
    (bracketed,) = one("INSERT INTO t (SELECT 1)").targets
    assert bracketed.columns == ()


def test_multi_insert_shares_from() -> None:
    text = "WITH q AS (SELECT 1 AS a) FROM q JOIN u ON q.a = u.a INSERT INTO v SELECT u.b WHERE u.b > 1 INSERT OVERWRITE TABLE w SELECT q.a"
    first, second = one(text).targets
    assert (first.table.name, first.overwrite, second.table.name, second.overwrite) == ("v", False, "w", True)
    for target in (first, second):
        assert {table.name for table in target.query.find_all(exp.Table)} == {"q", "u"}
        assert target.query.args["with_"] is not None
    assert first.query.args["where"] is not None
    assert second.query.args.get("where") is None
    column = next(c for c in second.query.selects if c.name == "a")
    assert text[column.this.meta["start"] :] == "a"


def test_inserts_that_are_refused() -> None:
    assert "PARTITION" in refused("INSERT INTO t PARTITION (a=1) SELECT 1", UnsupportedError).message
    assert "DIRECTORY" in refused("INSERT OVERWRITE LOCAL DIRECTORY '/x' SELECT 1", UnsupportedError).message
    assert "specified twice" in refused("INSERT INTO t (a, A) SELECT 1, 2", SemanticError).message


# ---- DESCRIBE, SHOW, SET, SOURCE


def test_describe() -> None:
    assert one("DESCRIBE t").mode == "plain"
    assert one("DESC EXTENDED d.t").name.database == "d"
    assert (one("DESCRIBE FORMATTED t a").mode, one("DESCRIBE t A").column, one("DESCRIBE d.t.a").column) == (
        "formatted",
        "a",
        "a",
    )
    assert one("DESCRIBE formatted").name.name == "formatted"
    assert one("DESCRIBE DATABASE EXTENDED d").extended
    assert isinstance(one("DESCRIBE database"), utility.DescribeTable)


def test_show() -> None:
    s = one("SHOW TABLES IN d LIKE 'a*|b'")
    assert (s.kind, s.database, s.like) == ("tables", "d", "a*|b")
    assert (one("SHOW SCHEMAS").kind, one("SHOW TABLES 'a*'").like, one("SHOW FUNCTIONS floor_day").like) == (
        "databases",
        "a*",
        "floor_day",
    )
    assert one("SHOW VIEWS").kind == "views"
    s = one("SHOW TBLPROPERTIES t ('k')")
    assert (s.name.name, s.key) == ("t", "k")
    assert one("SHOW COLUMNS FROM t IN d").name.database == "d"
    assert one("SHOW CREATE TABLE d.t").name.name == "t"


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("SET", None, None),
        ("set a.b", "a.b", None),
        ("SET a.b=c", "a.b", "c"),
        ("SET a.b = it's 'raw' \"text\" = x -- not this", "a.b", "it's 'raw' \"text\" = x"),
        ("SET a.b=", "a.b", ""),
        ("SET hivevar:x=a--b", "hivevar:x", "a--b"),
        ("SET a=b /* not this */", "a", "b"),
    ],
)
def test_set(text: str, key: str | None, value: str | None) -> None:
    s = one(text)
    assert (s.key, s.value, s.verbose) == (key, value, False)


def test_set_verbose_reset_and_source() -> None:
    assert one("SET -v").verbose
    assert (one("RESET").key, one("RESET a.b").key) == (None, "a.b")
    assert (one("SOURCE dir/a b.q").path, one("source 'a.q'").path) == ("dir/a b.q", "a.q")


# ---- EXPLAIN


@pytest.mark.parametrize(
    ("text", "mode"), [("", "user"), ("EXTENDED", "extended"), ("CBO", "cbo"), ("FORMATTED", "formatted")]
)
@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("SELECT 1", Query),
        ("(SELECT 1)", Query),
        ("WITH q AS (SELECT 1) SELECT * FROM q", Query),
        ("CREATE TABLE t (a int)", ddl.CreateTable),
        ("ALTER TABLE t RENAME TO u", ddl.RenameTable),
        ("FROM t INSERT INTO u SELECT a", writing.Insert),
        ("SHOW TABLES", utility.ShowNames),
        ("DESCRIBE t", utility.DescribeTable),
        ("SET a=b", utility.SetSetting),
        ("RESET a", utility.ResetSettings),
        ("RESET INGESTION t", ingesting.AlterIngestion),
        ("STOP INGESTION t", ingesting.AlterIngestion),
        ("KILL TASK 'a'", watching.KillTask),
        ("SHOW PROBLEMS", watching.ShowProblems),
    ],
)
def test_explain(text: str, mode: str, statement: str, kind: type) -> None:
    s = one(f"explain /* of */ {text} -- it\n {statement}")
    assert s.mode == mode
    assert isinstance(s.statement, kind)


def test_other_explains_are_refused() -> None:
    assert at(refused("EXPLAIN DEPENDENCY SELECT 1", UnsupportedError).span) == "DEPENDENCY"


# ---- refusals


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("UPDATE t SET a = 1", "UPDATE"),
        ("DELETE FROM t WHERE a = 1", "DELETE"),
        ("MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE", "MERGE"),
        ("LOAD DATA LOCAL INPATH '/x' INTO TABLE t", "LOAD DATA"),
        ("!ls -l", "!"),
        ("dfs -ls /", "dfs"),
        ("MSCK REPAIR TABLE t", "MSCK"),
        ("EXPORT TABLE t TO '/x'", "EXPORT"),
        ("IMPORT FROM '/x'", "IMPORT"),
        ("GRANT SELECT ON t TO u", "GRANT"),
        ("REVOKE ALL ON t FROM u", "REVOKE"),
        ("CREATE ROLE r", "CREATE ROLE"),
        ("SET ROLE admin", "ROLE"),
        ("SHOW ROLES", "SHOW ROLES"),
        ("LOCK TABLE t EXCLUSIVE", "LOCK"),
        ("START TRANSACTION READ ONLY", "START TRANSACTION"),
        ("ROLLBACK INGESTION t", "ROLLBACK INGESTION"),
        ("KILL QUERY 'hive_1'", "KILL QUERY"),
        ("CREATE FUNCTION f AS 'x.Y'", "CREATE FUNCTION"),
        ("CREATE TEMPORARY MACRO m(x int) x + 1", "CREATE TEMPORARY MACRO"),
        ("CREATE INDEX i ON TABLE t (a) AS 'x'", "CREATE INDEX"),
        ("CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT 1", "OR REPLACE MATERIALIZED VIEW"),
        ("CREATE MATERIALIZED VIEW v PARTITIONED ON (a) AS SELECT 1 AS a", "PARTITIONED ON"),
        ("CREATE MATERIALIZED VIEW v CLUSTERED ON (a) AS SELECT 1 AS a", "CLUSTERED ON"),
        ("CREATE MATERIALIZED VIEW v DISTRIBUTED ON (a) SORTED ON (a) AS SELECT 1 AS a", "DISTRIBUTED ON"),
        ("CREATE TEMPORARY TABLE t (a int)", "CREATE TEMPORARY TABLE"),
        ("ANALYZE TABLE t PARTITION (a=1) COMPUTE STATISTICS", "PARTITION"),
        ("ADD JAR /x.jar", "ADD"),
        ("SHOW PARTITIONS t", "SHOW PARTITIONS"),
        ("TRUNCATE TABLE t PARTITION (a=1)", "PARTITION"),
        ("CREATE TABLE t (a int) STORED AS INPUTFORMAT 'x' OUTPUTFORMAT 'y'", "INPUTFORMAT"),
        ("CREATE TABLE t (a int) STORED AS AVRO", "AVRO"),
        ("CREATE TABLE t (a int) SKEWED BY (a) ON (1)", "SKEWED BY"),
    ],
)
def test_what_is_not_done_is_refused_with_the_reason_and_what_to_do(text: str, place: str) -> None:
    for prefix in ("", "EXPLAIN "):
        error = refused(prefix + text, UnsupportedError)
        assert error.hint
        assert at(error.span) == place


def test_a_control_character_in_a_word_is_no_word() -> None:
    with pytest.raises(ParseError, match="expected 'INSERT'"):
        parse(SourceStatement("INSERT\x00 INTO t SELECT 1"))
