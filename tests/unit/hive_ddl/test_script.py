"""Statements of old scripts, and of the output of Hive's shells."""

from __future__ import annotations

import pytest

from hivedruid.errors import ParseError
from hivedruid.hive_ddl.script import statements, without_frames


def found(text: str) -> list[tuple[str, str, int, int]]:
    """Comments, text, line and column of each statement."""
    return [(comments, s.text, s.line, s.column) for comments, s in statements(text)]


def test_comments_go_with_the_statement_behind_them() -> None:
    text = "-- one\nSET a=b; -- two\n\n/* three */\n  USE d /* in it */;\n-- four"
    assert found(text) == [
        ("-- one", "SET a=b", 2, 1),
        ("-- two\n\n/* three */", "USE d /* in it */", 5, 3),
    ]


def test_create_at_the_beginning_of_a_line_ends_a_statement() -> None:
    text = "CREATE TABLE a (\n  b int)\nTBLPROPERTIES ('x'='\nCREATE TABLE y')\nCREATE VIEW v AS SELECT 1\n\n  create external table c (d int)"
    assert [(t.split("(")[0].strip(), line, column) for _, t, line, column in found(text)] == [
        ("CREATE TABLE a", 1, 1),
        ("CREATE VIEW v AS SELECT 1", 5, 1),
        ("create external table c", 7, 3),
    ]


@pytest.mark.parametrize(
    "text",
    ["EXPLAIN\nCREATE TABLE t (a int)", "SHOW\nCREATE TABLE t", "SELECT (1 +\nCREATE TABLE)", "SELECT a FROM t\n"],
)
def test_other_statements_are_not_cut(text: str) -> None:
    assert [t for _, t, _, _ in found(text)] == [text.rstrip()]


BEELINE = """\
+-------------------------------+
|        createtab_stmt         |
+-------------------------------+
| CREATE EXTERNAL TABLE `d.t`(  |
|   `a` string COMMENT 'x|y')   |
| LOCATION 'hdfs://nn/|'        |
+-------------------------------+
3 rows selected (0.12 seconds)
"""


def test_what_beeline_prints_around_a_statement_is_blanked() -> None:
    ((comments, text, line, column),) = found(BEELINE)
    assert (comments, line, column) == ("", 4, 3)
    assert " ".join(text.split()) == "CREATE EXTERNAL TABLE `d.t`( `a` string COMMENT 'x|y') LOCATION 'hdfs://nn/|'"
    assert len(without_frames(BEELINE)) == len(BEELINE)


def test_what_the_command_line_prints_around_a_statement_is_blanked() -> None:
    text = "OK\ncreatetab_stmt\nCREATE TABLE `t`(\n  `a` int)\nTime taken: 0.1 seconds, Fetched: 12 row(s)\n"
    assert found(text) == [("", "CREATE TABLE `t`(\n  `a` int)", 3, 1)]


@pytest.mark.parametrize("text", ["SELECT a\n| b\nFROM t", "SELECT '\nOK\n3 rows selected'"])
def test_what_looks_like_a_shell_stays_in_a_script(text: str) -> None:
    assert without_frames(text) == text


def test_an_open_string_is_an_error() -> None:
    with pytest.raises(ParseError, match="unterminated string"):
        found("SET a=b; SELECT 'x")


def test_an_escaped_semicolon_keeps_its_place() -> None:
    ((_, source),) = statements("SELECT split(a, '\\;'), b\\;")
    assert source.text.endswith("b;")
    assert source.original is not None
