"""DELETE and UPDATE: the query of the rows, and what is refused."""

from __future__ import annotations

import pytest
from sqlglot import exp

from hivedruid.errors import HiveDruidError, ParseError, SemanticError
from hivedruid.parser.statements.writing import ChangeRows
from tests.unit.parser.parsing import at, one, refused


def test_delete() -> None:
    s = one("delete from `db.t` where a = 1 and t.b is null")
    assert isinstance(s, ChangeRows)
    assert (s.table.database, s.table.name, s.columns) == ("db", "t", ())
    assert s.query.sql("hive") == "SELECT * FROM `db`.`t` WHERE a = 1 AND t.b IS NULL"
    assert one("DELETE FROM t -- all of them").query.sql("hive") == "SELECT * FROM `t`"


def test_update() -> None:
    s = one("UPDATE t SET A = a + 1, `b c` = IF(x, 'w,here', (1)) WHERE a IN (1, 2)")
    assert s.columns == ("a", "b c")
    assert [at(span) for span in s.column_spans] == ["A", "`b c`"]
    assert [at(span) for span in s.value_spans] == ["a + 1", "IF(x, 'w,here', (1))"]
    assert [value.sql("hive") for value in s.query.expressions] == ["a + 1", "$IF(x, 'w,here', (1))"]
    assert s.query.args["where"].sql("hive") == "WHERE a IN (1, 2)"


def test_positions_are_those_of_the_statement() -> None:
    where = one("UPDATE t SET a = 1\nWHERE  missing > 1").query.args["where"]
    (column,) = where.find_all(exp.Column)
    assert column.this.meta["start"] == len("UPDATE t SET a = 1\nWHERE  ")


@pytest.mark.parametrize(
    ("text", "kind", "message", "place"),
    [
        ("DELETE t", ParseError, "expected 'FROM', found 't'", "t"),
        ("DELETE FROM t x WHERE a = 1", ParseError, "expected WHERE or the end of the statement, found 'x'", "x"),
        ("DELETE FROM t WHERE a = 1 LIMIT 1", ParseError, "expected the end of the statement, found 'LIMIT'", "LIMIT"),
        ("DELETE FROM t WHERE", ParseError, "something is missing after 'WHERE'", "WHERE"),
        ("DELETE FROM t WHERE a = 1 b", ParseError, "unexpected 'b'", "b"),
        ("UPDATE t x SET a = 1", ParseError, "expected 'SET', found 'x'", "x"),
        ("UPDATE t SET a", ParseError, "expected '=', found the end of the statement", ""),
        ("UPDATE t SET a =", ParseError, "expected an expression, found the end of the statement", ""),
        ("UPDATE t SET a = 1,", ParseError, "expected a column name, found the end of the statement", ""),
        ("UPDATE t SET a = 1 x", ParseError, "expected ',', WHERE or the end of the statement, found 'x'", "x"),
        ("UPDATE t SET a = *", ParseError, "expected an expression, found '*'", "*"),
        ("UPDATE t SET a = DISTINCT b", ParseError, "expected an expression, found 'DISTINCT'", "DISTINCT"),
        ("UPDATE t SET a = 1 FROM u", ParseError, "expected WHERE or the end of the statement, found 'FROM'", "FROM"),
        ("UPDATE t SET t.a = 1", ParseError, "expected '=', found '.'", "."),
        ("UPDATE t SET a = 1, A = 2", SemanticError, "column 'a' is set twice", "A"),
    ],
)
def test_refused(text: str, kind: type[HiveDruidError], message: str, place: str) -> None:
    error = refused(text, kind)
    assert error.message == message
    assert at(error.span) == place
