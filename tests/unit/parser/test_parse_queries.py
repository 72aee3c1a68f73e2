"""Queries: literals, positions, and errors."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from sqlglot import exp

from hivedruid.errors import ParseError
from hivedruid.parser import parse
from hivedruid.parser.statements import Explain, Query
from hivedruid.script import split
from tests.unit.parser.parsing import at, one, refused


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


LISTS = {
    "numbers": ("a", "{n}"),
    "texts": ("a", "'x{n}'"),
    "two types": ("a", "{n}, 'x{n}', 1.5E{n}"),
    "pairs": ("(a, b)", "({n}, 'x{n}')"),
    "triples": ("(a, b, a)", "({n}, 'x{n}', {n})"),
    "with an expression": ("a", "{n}, -{n}, {n}L, 'x' 'y'"),
    "rows of several lengths": ("(a, b)", "({n}, 1), ({n}, 1, 2)"),
}
"""What is before IN, and a part of its list."""


@pytest.mark.parametrize("name", LISTS)
def test_a_long_list_has_the_tree_of_short_ones(name: str) -> None:
    value, part = LISTS[name]
    numbers = range(101, 271)
    text = f"SELECT a FROM t WHERE {value} IN ({', '.join(part.format(n=n) for n in numbers)}) AND b IN (5)"
    condition = one(text).expression.args["where"].this
    short = [one(f"SELECT {value} IN ({part.format(n=n)}, 0)").expression.selects[0] for n in numbers]
    assert condition.expression == one("SELECT b IN (5)").expression.selects[0]
    assert condition.this.expressions == [item for each in short for item in each.expressions[:-1]]
    assert all(item.parent is condition.this for item in condition.this.expressions)
    for literal in condition.find_all(exp.Literal):
        written = text[literal.meta["start"] : literal.meta["end"] + 1] if "start" in literal.meta else literal.name
        assert literal.name in written.replace("'", "").replace(" ", "")


@pytest.mark.parametrize("end", ["", ",", ", 5", ", )", ", (1)", "))", " 6)"])
def test_the_error_after_a_long_list_is_that_after_a_short_one(end: str) -> None:
    messages = set()
    for number in (2, 200):
        text = f"SELECT a FROM t WHERE a IN ({', '.join(str(n) for n in range(1000, 1000 + number))}{end}"
        error = refused(text)
        assert error.span is not None
        messages.add((error.message, len(text) - error.span.column))
    assert len(messages) == 1


def test_a_long_list_that_is_no_operand_of_in() -> None:
    text = f"SELECT position('a' IN ({', '.join(str(n) for n in range(200))})), 1 IN (1)"
    position, condition = one(text).expression.selects
    assert len(list(position.find_all(exp.Literal))) == 201
    assert isinstance(condition, exp.In)


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


def test_did_you_mean_for_a_clause() -> None:
    """FORM is an alias to the parser, which reports the word after it."""
    assert refused("SELECT id, city FORM trips").hint == "did you mean 'FROM'?"
    assert refused("SELECT id FROM trips t WHRE id = 1").hint == "did you mean 'WHERE'?"
    assert refused("SELECT id x y FROM trips").hint is None


def test_did_you_mean_for_the_first_word() -> None:
    assert refused("SELEC a").hint == "did you mean 'SELECT'?"
    assert refused("CRETE TABLE t (a int)").hint == "did you mean 'CREATE'?"
    assert refused("CREATE TABEL t (a int)").hint == "did you mean 'TABLE'?"
    assert refused("SHOW TABELS").hint == "did you mean 'TABLES'?"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t JOIN map m USING (k)",
        "SELECT * FROM t JOIN reduce m USING (k)",
        "SELECT map.a, reduce.b FROM map JOIN reduce USING (k)",
        "SELECT map(1, 2), transform FROM t WHERE char < 3 AND b > 2",
        "SELECT a < b, char(65) > c FROM t",
        "SELECT CAST(a AS map<int, char(3)>), CAST(b AS struct<c: array<char(2)>, d: timestamplocaltz>) FROM t",
        "FROM (FROM t MAP a USING 'cat' AS k CLUSTER BY k) m INSERT OVERWRITE TABLE u REDUCE m.k USING 'cat' AS x",
        "SELECT TRANSFORM (a) USING 'cat' AS (k CHAR(3), v TIMESTAMPLOCALTZ) FROM t",
    ],
)
def test_words_of_scripts_and_types_are_names(text: str) -> None:
    one(text)


def test_files_of_scripts() -> None:
    added = one("ADD FILE a.py 'my dir/x.py' -- the scripts")
    assert [Path(path).relative_to(Path.cwd()) for path in added.files] == [Path("a.py"), Path("my dir/x.py")]
    assert one("ADD ARCHIVE z.zip").files == ()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT {}", "SELECT -{}L", "SELECT 1 LIMIT {}", "SELECT CAST(1 AS DECIMAL({}, 2))", "SELECT sum(1) OVER (ROWS {} PRECEDING)",
        "SELECT 1 ORDER BY {}", "SELECT x[{}] FROM t", "CREATE TABLE t (a INT) CLUSTERED BY (a) INTO {} BUCKETS", "SHOW JOBS LIMIT {}",
    ],
)  # fmt: skip
def test_a_number_of_thousands_of_digits_is_too_long(text: str) -> None:
    """Python converts at most 4,300 digits."""
    with pytest.raises(ParseError, match="a number of 5,000 characters is too long"):
        one(text.format("9" * 5000))


def test_snapshots_of_thousands_of_digits_are_a_time() -> None:
    """It is refused as one when the statement is planned."""
    assert one(f"ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS('{'9' * 5000}')").ids == ()


@pytest.mark.parametrize("text", ["SELECT 0x1F", "SELECT 1, 0Xff AS a", "SELECT a FROM t WHERE a = 0x1F"])
def test_a_hexadecimal_number_is_not_zero_with_an_alias(text: str) -> None:
    (source,) = split(text)
    with pytest.raises(ParseError, match=r"hexadecimal number '0[xX]"):
        parse(source)


def test_other_words_that_begin_with_x_are_names() -> None:
    names = one("SELECT 0 x1F, _UTF-8 0x41, '0x1F', x0x1F FROM t").expression.named_selects
    assert names[0] == "x1F"


def test_a_comment_ends_at_a_carriage_return() -> None:
    assert isinstance(one("-- a\rSELECT 1 -- b\r+ 2").expression.selects[0], exp.Add)
