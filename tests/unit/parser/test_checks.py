"""Syntax that sqlglot accepts and Hive does not."""

from __future__ import annotations

import pytest

from hivedruid.errors import ParseError
from hivedruid.parser import parse
from hivedruid.script import SourceStatement
from tests.unit.parser.parsing import at, refused


def test_the_pattern_of_a_cast_is_a_string() -> None:
    for text, message, place in (
        ("SELECT CAST(a AS DATE FORMAT b) FROM t", "expected a pattern in quotes, found 'b'", "b"),
        ("SELECT CAST(a AS DATE FORMAT) FROM t", "expected a pattern in quotes, found ')'", ")"),
        ("SELECT CAST(a AS CHAR(4) FORMAT 'YYYY', 1) FROM t", "expected ')', found ','", ","),
        ("SELECT CAST(a AS DATE FORMAT concat('YYYY', 'MM')) FROM t", "expected a pattern in quotes", "concat"),
    ):
        error = refused(text, ParseError)
        assert error.message.startswith(message)
        assert at(error.span) == place


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("SELECT a,, b FROM t", "expected an expression, found ','", ", b"),
        ("SELECT a, FROM t", "expected an expression, found 'FROM'", "FROM"),
        ("SELECT FROM t", "expected an expression, found 'FROM'", "FROM"),
        ("SELECT DISTINCT FROM t", "expected an expression, found 'FROM'", "FROM"),
        ("SELECT", "expected an expression, found the end", ""),
        ("INSERT INTO t SELECT", "expected an expression, found the end", ""),
        ("SELECT a,", "expected an expression, found the end", ""),
        ("SELECT f(,a) FROM t", "expected an expression, found ','", ",a"),
        ("SELECT f(a,) FROM t", "expected an expression, found ')'", ") FROM"),
        ("SELECT a FROM t WHERE a IN ()", "expected an expression, found ')'", ")"),
        ("VALUES ()", "expected an expression, found ')'", ")"),
        ("SELECT a FROM t GROUP BY", "expected an expression, found the end", ""),
        ("SELECT a FROM t GROUP BY HAVING 1 = 1", "expected an expression, found 'HAVING'", "HAVING"),
        ("SELECT a.b. FROM t", "expected a name, found 'FROM'", "FROM"),
        ("SELECT 0..5BD", "expected a name, found '5BD'", "5BD"),
        ("SELECT a.5L FROM t", "expected a name, found '5L'", "5L"),
        ("SELECT a FROM t LIMIT x", "expected an integer, found 'x'", "x"),
        ("SELECT a FROM t LIMIT -1", "expected an integer, found '-'", "-1"),
        ("SELECT a::int FROM t", "unexpected '::'", "::int"),
        ("SELECT a INTO b FROM t", "unexpected 'INTO'", "INTO"),
        ("SELECT a FROM t FOR UPDATE", "unexpected 'FOR'", "FOR"),
        ("SELECT a FROM t FETCH FIRST 3 ROWS ONLY", "unexpected 'FETCH'", "FETCH"),
        ("SELECT a FROM t PIVOT (sum(x) FOR y IN (1))", "unexpected 'PIVOT'", "PIVOT"),
        ("SELECT ? FROM t", "unexpected '?'", "?"),
        ("SELECT @x FROM t", "unexpected '@'", "@x"),
        ("SELECT ${x} FROM t", "variable ${x} is not set", "${x}"),
        ("SELECT a FROM t WHERE d = ${hivevar:day}", "variable ${hivevar:day} is not set", "${hivevar:day}"),
    ],
)
def test_refused(text: str, message: str, at: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(SourceStatement(text))
    assert error.value.message.startswith(message)
    span = error.value.span
    assert span is not None
    assert text[span.column - 1 :].startswith(at)
    assert span.column - 1 == (text.rindex(at) if at else len(text))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b FROM t",
        "SELECT count(*), count(DISTINCT a), f() FROM t",
        "SELECT 1L, 2S, 3Y, 1.5BD, 2.5D, 2F",
        "SELECT `offset`, `fetch`, `into`, `for`, `limit`, `pivot` FROM t",
        "SELECT a FROM t UNION ALL SELECT b FROM u UNION DISTINCT SELECT c FROM v",
        "SELECT '?', '@x', '${x}', \"::\" FROM t",
        "SELECT a FROM t GROUP BY a, b GROUPING SETS ((a, b), ())",
        "SELECT sum(a) OVER () FROM t",
        "SELECT current_timestamp(), unix_timestamp() FROM t",
        "INSERT INTO t SELECT a FROM u",
        "SELECT xs[0], m['k'] FROM t",
        "SELECT a FROM t LIMIT 3",
        "SELECT a FROM t LIMIT 3, 4",
        "SELECT max(limit_) FROM t",
    ],
)
def test_let_through(text: str) -> None:
    parse(SourceStatement(text))
