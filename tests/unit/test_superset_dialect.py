"""What Superset does with the dialect in which it parses statements: `superset.sql.parse`, with sqlglot alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlglot import Dialect, errors, exp

from hivedruid.script import without_comments
from hivedruid.superset_dialect import HiveDruid

ANSWERS = Path(__file__).parents[1] / "hive" / "answers.jsonl"
CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.TruncateTable, exp.Alter)


def sent(tree: exp.Expr | None) -> str:
    assert tree is not None
    return Dialect.get_or_raise(HiveDruid).generate(tree, copy=True, comments=True, pretty=True)


def parsed(text: str) -> exp.Expr:
    (tree,) = Dialect.get_or_raise(HiveDruid).parse(text)
    assert tree is not None
    return tree


def changes(tree: exp.Expr) -> bool:
    """`SQLStatement.is_mutating` of Superset."""
    return tree.find(*CHANGES) is not None or (isinstance(tree, exp.Command) and tree.name == "ALTER")


def limited(text: str, rows: int) -> str:
    """`SQLStatement.set_limit_value` of Superset."""
    tree = parsed(text)
    tree.args["limit"] = exp.Limit(expression=exp.Literal(this=str(rows), is_string=False))
    return sent(tree)


def test_expressions_stay_as_they_were_written() -> None:
    """A part of the expressions whose results in Hive are known."""
    lines = ANSWERS.read_text(encoding="utf-8").splitlines()[::7]
    expressions = [json.loads(line)[0] for line in lines]
    assert [each for each in expressions if sent(parsed(f"SELECT {each}")) != f"SELECT {without_comments(each)}"] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a FROM t", "SELECT a FROM t\nLIMIT 11"),
        ("SELECT a FROM t -- all", "SELECT a FROM t\nLIMIT 11"),
        ("SELECT a FROM t ORDER BY a LIMIT 500", "SELECT a FROM t ORDER BY a LIMIT 11"),
        ("SELECT a FROM (SELECT a FROM t LIMIT 5) s", "SELECT a FROM (SELECT a FROM t LIMIT 5) s\nLIMIT 11"),
        ("SELECT a FROM t UNION ALL SELECT b FROM u", "SELECT a FROM t UNION ALL SELECT b FROM u\nLIMIT 11"),
        ("WITH w AS (SELECT 1) SELECT * FROM w", "WITH w AS (SELECT 1) SELECT * FROM w\nLIMIT 11"),
        ("SHOW TABLES", "SHOW TABLES"),
        ("DESCRIBE t", "DESCRIBE t"),
        ("DESC FORMATTED t", "DESC FORMATTED t"),
        ("USE other", "USE other"),
        ("SET hivedruid.transform.enabled = true", "SET hivedruid.transform.enabled = true"),
        ("EXPLAIN SELECT a FROM t", "EXPLAIN SELECT a FROM t"),
    ],
)
def test_a_limit_is_added(text: str, expected: str) -> None:
    assert limited(text, 11) == expected


def test_scripts_are_split_as_hivedruid_does() -> None:
    trees = Dialect.get_or_raise(HiveDruid).parse("SELECT ';' AS a; -- one\nSELECT 2;\n-- end")
    assert [sent(tree) for tree in trees] == ["SELECT ';' AS a", "SELECT 2"]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE EXTERNAL TABLE t (`__time` timestamp, a string) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false')",
        "INSERT INTO t SELECT * FROM u", "FROM t INSERT INTO u SELECT a", "ALTER TABLE t COMPACT 'major'", "TRUNCATE TABLE t",
        "LOAD DATA INPATH '/x' INTO TABLE t", "START STREAM s", "RESUME JOB 'x'", "SET hivedruid.transform.enabled = true",
        "SOURCE '/tmp/x.q'", "ADD FILE '/tmp/x.py'", "KILL TASK 'x'", "REBUILD x", "WAIT INGESTION t", "MSCK REPAIR TABLE t", "ANALYZE TABLE t COMPUTE STATISTICS",
        "WITH w AS (SELECT 1) INSERT INTO t SELECT * FROM w",
        "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE",
    ],
)  # fmt: skip
def test_changes_require_the_permission_for_changes(text: str) -> None:
    """Superset allows them if the database allows DDL and DML."""
    assert changes(parsed(text))
    assert sent(parsed(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1", "SHOW JOBS", "SHOW PROBLEMS", "DESCRIBE FORMATTED t", "DESC t", "EXPLAIN CBO SELECT 1", "USE other",
        "WITH w AS (SELECT 1) SELECT * FROM w", "SHOW TBLPROPERTIES t", "(SELECT 1) UNION ALL (SELECT 2)",
    ],
)  # fmt: skip
def test_statements_that_read(text: str) -> None:
    assert not changes(parsed(text))
    assert sent(parsed(text)) == text


@pytest.mark.parametrize("text", ["sum(added) / count(*)", "page IS NOT NULL", "page = 'a' AND added > 1", "`page`"])
def test_clauses_of_charts(text: str) -> None:
    assert not changes(parsed(text))
    assert sent(parsed(text)) == text


def test_the_tables_of_a_query() -> None:
    tree = parsed("SELECT * FROM a JOIN b.c ON a.x = c.x WHERE EXISTS (SELECT 1 FROM d)")
    assert {table.name for table in tree.find_all(exp.Table)} == {"a", "c", "d"}


@pytest.mark.parametrize("text", ["SELECT 'a", "SELECT FROM WHERE", "SELECT (1"])
def test_errors_are_those_of_sqlglot(text: str) -> None:
    with pytest.raises(errors.ParseError):
        parsed(text)


def test_a_changed_tree_is_generated() -> None:
    """Row level security adds conditions."""
    tree = parsed("SELECT a FROM t")
    assert isinstance(tree, exp.Select)
    assert sent(tree.where("a = 1")).split() == ["SELECT", "a", "FROM", "t", "WHERE", "a", "=", "1"]
