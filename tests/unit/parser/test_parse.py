"""Text to statements: every kind, its parts, and their positions."""

from __future__ import annotations

import pytest
from sqlglot import exp

from hivedruid.errors import ParseError, SemanticError, Span, UnsupportedError
from hivedruid.parser import parse
from hivedruid.parser.statements import Query, TableName, ddl, ingesting, partitioning, utility, watching, writing
from hivedruid.script import SourceStatement
from tests.unit.parser.parsing import at, one, refused

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
    s = one("ALTER TABLE t CHANGE COLUMN A b VARCHAR(3) NOT NULL DISABLE COMMENT '' AFTER `C c` RESTRICT")
    assert (s.old.name, s.new.name, str(s.new.type), s.comment) == ("a", "b", "varchar(3)", "")
    assert (s.first, s.after.name) == (None, "c c")
    s = one("ALTER TABLE t CHANGE `column` `column` INT FIRST")
    assert (s.old.name, s.comment, s.after, s.first is not None) == ("column", None, None, True)
    assert [c.name for c in one("ALTER TABLE t REPLACE COLUMNS (a int, b int) CASCADE").columns] == ["a", "b"]
    s = one("ALTER TABLE t ADD CONSTRAINT k FOREIGN KEY (a, b) REFERENCES u (c, d) DISABLE RELY")
    given = s.constraint
    assert (given.name, given.kind, given.enabled, given.rely) == ("k", "FOREIGN KEY", False, True)
    assert [c.name for c in (*given.columns, *given.parent_columns)] == ["a", "b", "c", "d"]
    assert one("ALTER TABLE t DROP CONSTRAINT k").constraint == "k"


@pytest.mark.parametrize("rest", ["DROP COLUMN a", "ADD b INT"])
def test_other_alters_are_refused(rest: str) -> None:
    error = refused(f"ALTER TABLE t {rest}", UnsupportedError)
    assert error.message.startswith("ALTER TABLE can only be used for")
    assert error.hint
    assert at(error.span) == rest.split(maxsplit=1)[0]


def test_partitions() -> None:
    s = one(
        "ALTER TABLE t ADD IF NOT EXISTS PARTITION (A=01, b='x') LOCATION '/x' PARTITION (a=-2, b=DATE '2024-01-01')"
    )
    assert isinstance(s, partitioning.AddPartitions)
    found = [([(v.column, v.value) for v in new.spec.values], new.location) for new in s.partitions]
    assert found == [([("a", "1"), ("b", "x")], "/x"), ([("a", "-2"), ("b", "2024-01-01")], None)]
    s = one("ALTER TABLE t DROP IF EXISTS PARTITION (a >= 1, a != 5), PARTITION (b == TRUE) PURGE")
    assert [[(v.column, v.op, v.value) for v in spec.values] for spec in s.specs] == [
        [("a", ">=", "1"), ("a", "<>", "5")], [("b", "=", "true")],
    ]  # fmt: skip
    assert (s.if_exists, s.purge) == (True, True)
    s = one("MSCK REPAIR TABLE t SYNC PARTITIONS")
    assert (s.adds, s.drops, s.shows) == (True, True, False)
    (target,) = one("INSERT INTO t PARTITION (a=1, b) IF NOT EXISTS (c) SELECT 1, 2").targets
    assert [(v.column, v.value, v.is_dynamic) for v in target.partition.values] == [
        ("a", "1", False),
        ("b", None, True),
    ]
    assert (target.if_not_exists, target.columns) == (True, ("c",))
    assert "a comparison" in refused("ALTER TABLE t DROP PARTITION (a IS NULL)", ParseError).message
    assert "'='" in refused("SHOW PARTITIONS t PARTITION (a > 1)", ParseError).message


def test_databases() -> None:
    s = one("CREATE DATABASE IF NOT EXISTS D COMMENT 'x'")
    assert (s.name, s.if_not_exists, s.comment, at(s.span)) == ("d", True, "x", "D")
    assert (one("USE D").name, one("USE default").name) == ("d", "default")
    s = one("CREATE DATABASE d LOCATION '/x' WITH DBPROPERTIES ('a' = 'b')")
    assert [clause.text for clause in s.ignored] == ["LOCATION"]
    assert [at(clause.span) for clause in s.ignored] == ["LOCATION '/x'"]
    assert (s.location, [(item.key, item.value) for item in s.properties]) == ("/x", [("a", "b")])


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
    assert "DIRECTORY" in refused("INSERT INTO DIRECTORY '/x' SELECT 1", ParseError).message
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


def test_options_of_explain_without_effect_have_notes() -> None:
    s = one("EXPLAIN FORMATTED VECTORIZATION ONLY DETAIL DEPENDENCY CBO COST SELECT 1")
    assert s.mode == "dependency"
    assert [(text.partition(":")[0], at(span)) for text, span in s.notes] == [
        ("EXPLAIN VECTORIZATION has no effect", "VECTORIZATION"),
        ("EXPLAIN COST has no effect", "COST"),
    ]
    assert one("EXPLAIN LOCKS ANALYZE TABLE t COMPUTE STATISTICS").notes


# ---- refusals


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("!ls -l", "!"),
        ("dfs -ls /", "dfs"),
        ("\\d t", "\\"),
        ("exit", "exit"),
        ("quit", "quit"),
        ("EXPORT TABLE t TO '/x'", "EXPORT"),
        ("IMPORT FROM '/x'", "IMPORT"),
        ("START TRANSACTION READ ONLY", "START TRANSACTION"),
        ("ROLLBACK INGESTION t", "ROLLBACK INGESTION"),
        ("KILL QUERY 'hive_1'", "KILL QUERY"),
        ("CREATE MACRO m(x int) x + 1", "CREATE MACRO"),
        ("CREATE INDEX i ON TABLE t (a) AS 'x'", "CREATE INDEX"),
        ("CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT 1", "OR REPLACE MATERIALIZED VIEW"),
        ("CREATE MATERIALIZED VIEW v PARTITIONED ON (a) AS SELECT 1 AS a", "PARTITIONED ON"),
        ("CREATE MATERIALIZED VIEW v CLUSTERED ON (a) AS SELECT 1 AS a", "CLUSTERED ON"),
        ("CREATE MATERIALIZED VIEW v DISTRIBUTED ON (a) SORTED ON (a) AS SELECT 1 AS a", "DISTRIBUTED ON"),
        ("CREATE TABLE t (a int) STORED AS INPUTFORMAT 'x' OUTPUTFORMAT 'y'", "'x'"),
        ("CREATE EXTERNAL TABLE t (a int) STORED AS RCFILE", "RCFILE"),
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


def test_a_word_is_not_suggested_for_itself() -> None:
    assert refused("ALTER TABLE t PARTITION (k = 1) SAT LOCATION '/x'", ParseError).hint == "did you mean 'SET'?"
    error = refused("SHOW CREATE CREATE", ParseError)
    assert "CREATE" not in (error.hint or "")


def test_only_the_location_of_a_partition_changes() -> None:
    error = refused("ALTER TABLE t PARTITION (k = 1) SET FILEFORMAT ORC", UnsupportedError)
    assert error.message.startswith("SET FILEFORMAT of a partition is not supported")
    assert at(error.span) == "PARTITION (k = 1)"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("SELECT 1\nSELECT 2", "SELECT"),
        ("SHOW TABLES\n  select 2", "SELECT"),
        ("SELECT * FROM t\nSHOW TABLES", "SHOW"),
        ("CREATE TABLE t (a int)\n\nINSERT INTO t VALUES (1)", "INSERT"),
        ("SELECT * FROM t\nWHERE a =", ""),
        ("SELECT 1 SELECT 2", ""),
        ("SELECT *\nFROM WHERE a", ""),
        ("SELECT * FROM t WHERE\nSELECT a b c FROM t", ""),
    ],
)
def test_the_end_of_a_statement_that_is_missing(text: str, word: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(SourceStatement(text))
    hint = f"if a new statement begins with {word}, end the one before it with ;"
    assert (error.value.hint == hint) == bool(word)
