"""The splitter, positions and substitution."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.errors import HiveDruidError, ParseError, SemanticError
from hivedruid.script import SourceStatement, is_complete, split, substitute


def texts(script: str) -> list[str]:
    return [statement.text for statement in split(script)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        (" \n;;\t; -- nothing\n /* ; */ ;", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' ; SELECT \";\"; SELECT `;`", ["SELECT ';'", 'SELECT ";"', "SELECT `;`"]),
        (r"SELECT 'it\'s;' ; SELECT 2", [r"SELECT 'it\'s;'", "SELECT 2"]),
        (r"SELECT '\\'; SELECT 2", [r"SELECT '\\'", "SELECT 2"]),
        ("SELECT 'a''b;c'; SELECT 2", ["SELECT 'a''b;c'", "SELECT 2"]),
        ("SELECT `a``;b`; SELECT 2", ["SELECT `a``;b`", "SELECT 2"]),
        ("-- it's; a comment\nSELECT 1; -- another; one\nSELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1 -- a; b\n+ 2; SELECT 3", ["SELECT 1 -- a; b\n+ 2", "SELECT 3"]),
        ("SELECT /*+ MAPJOIN(t) ; */ 1;", ["SELECT /*+ MAPJOIN(t) ; */ 1"]),
        ("/* it's */ SELECT 1", ["SELECT 1"]),
        (r"SET x=a\;b; SELECT 1", ["SET x=a;b", "SELECT 1"]),
        ("SELECT 1\r\n;\r\nSELECT\r\n 2;\r\n", ["SELECT 1", "SELECT\r\n 2"]),
        ("-- a; comment\rSELECT 1;\r-- another\rSELECT 2 -- c\r+ 3;\r", ["SELECT 1", "SELECT 2 -- c\r+ 3"]),
        ("\ufeffSELECT 'ÄÖ;日本' ; SELECT '😀'", ["SELECT 'ÄÖ;日本'", "SELECT '😀'"]),
        ("SELECT 'two\nlines;'", ["SELECT 'two\nlines;'"]),
    ],
)
def test_split(script: str, expected: list[str]) -> None:
    assert texts(script) == expected


def test_split_gives_the_place_of_each_statement() -> None:
    statements = list(split("SELECT 1;\n\n  -- x\n  SELECT 2; SELECT 3;\r\nSELECT 4", "a.q"))
    assert [(s.line, s.column, s.file) for s in statements] == [
        (1, 1, "a.q"),
        (4, 3, "a.q"),
        (4, 13, "a.q"),
        (5, 1, "a.q"),
    ]


@pytest.mark.parametrize(
    ("script", "name", "place"),
    [
        ("SELECT 1;\nSELECT 'abc; SELECT 2;\n", "string", (2, 8)),
        ('SELECT "abc', "string", (1, 8)),
        ("SELECT\n `abc", "quoted identifier", (2, 2)),
        ("SELECT 1 /* abc ;\n", "comment", (1, 10)),
        (r"SELECT 'abc\'", "string", (1, 8)),
    ],
)
def test_what_is_opened_must_be_closed(script: str, name: str, place: tuple[int, int]) -> None:
    with pytest.raises(ParseError) as error:
        list(split(script))
    assert name in error.value.message
    assert error.value.span is not None
    assert (error.value.span.line, error.value.span.column) == place


def test_statements_before_an_open_string_are_still_given() -> None:
    statements = split("SELECT 1; SELECT 'abc")
    assert next(statements).text == "SELECT 1"
    with pytest.raises(ParseError):
        next(statements)


def test_the_line_of_an_open_string_does_not_show_a_secret() -> None:
    with pytest.raises(ParseError) as error:
        list(split("CREATE TABLE t (a int) TBLPROPERTIES ('my.password' = 'hunter2"))
    assert error.value.span is not None
    assert "hunter2" not in error.value.span.source_line


def test_span() -> None:
    statement = list(split("SELECT 1;  SELECT a,\n  bcd FROM t", "f.q"))[1]
    first, second = statement.span(7, 8), statement.span(12, 15)
    assert (first.line, first.column, first.length) == (1, 19, 1)
    assert first.source_line[first.column - 1 :] == "a,"
    assert (second.line, second.column, second.length) == (2, 3, 3)
    assert second.source_line == "  bcd FROM t"
    assert second.file == "f.q"


def test_span_at_the_end() -> None:
    span = SourceStatement("SELECT").span(6)
    assert (span.line, span.column, span.length) == (1, 7, 1)


def test_span_does_not_show_secrets_and_keeps_places() -> None:
    text = "ALTER TABLE t SET TBLPROPERTIES ('a.password' = 'hunter2', 'x'='y')"
    span = SourceStatement(text).span(text.index("'x'"))
    assert "hunter2" not in span.source_line
    assert span.source_line[span.column - 1 :] == "'x'='y')"


def test_escaped_semicolons_keep_places() -> None:
    (statement,) = split("SELECT a \\; b, nope")
    assert statement.text == "SELECT a ; b, nope"
    span = statement.span(statement.text.index("nope"))
    assert span.source_line[span.column - 1 :] == "nope"


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("  -- just a comment", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1; SELECT", False),
        ("SELECT ';", False),
        ("SELECT ';'", False),
        ("SELECT ';' ;", True),
        ("SELECT 1 /* ;", False),
        ("SELECT 1 -- ;", False),
        ("SET a=b\\;", False),
        ("'a'", False),
    ],
)
def test_is_complete(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


VARIABLES = {"x": "1", "day": "2015-09-12", "name": "day", "loop": "${loop}", "a": "${b}", "b": "${x}"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SELECT ${hivevar:x}", "SELECT 1"),
        ("SELECT ${x}, '${day}'", "SELECT 1, '2015-09-12'"),
        ("SELECT ${hiveconf:x}", "SELECT conf"),
        ("SELECT ${nope}, ${hivevar:nope}, ${hiveconf:nope}", "SELECT ${nope}, ${hivevar:nope}, ${hiveconf:nope}"),
        ("SELECT ${a}", "SELECT 1"),
        ("SELECT '${${name}}'", "SELECT '2015-09-12'"),
        ("SELECT ${env:HOME}, ${env:NOPE}", "SELECT /home/me, ${env:NOPE}"),
        ("'a.password' = '${env:HOME}', 'a' = '${env:HOME}'", "'a.password' = '${env:HOME}', 'a' = '/home/me'"),
        ("'a.password' = '${env:HOME}', 'a' = '${day}'", "'a.password' = '${env:HOME}', 'a' = '2015-09-12'"),
        ("'a.password' = '${x}'", "'a.password' = '1'"),
        ("SELECT ${system:user.name}", "SELECT me"),
        ("SELECT ${ x}, $x, ${}", "SELECT ${ x}, $x, ${}"),
    ],
)
def test_substitute(text: str, expected: str) -> None:
    statement = substitute(SourceStatement(text), VARIABLES, {"x": "conf"}, {"HOME": "/home/me"}, {"user.name": "me"})
    assert statement.text == expected


def test_substitute_stops_at_a_loop() -> None:
    with pytest.raises(SemanticError) as error:
        substitute(SourceStatement("SELECT 1, ${loop}"), VARIABLES, {})
    assert "40" in error.value.message
    assert error.value.span is not None
    assert error.value.span.column == 11


def test_substitute_takes_as_many_rounds_as_the_depth() -> None:
    chain = {f"v{i}": f"${{v{i + 1}}}" for i in range(10)} | {"v10": "end"}
    assert substitute(SourceStatement("${v0}"), chain, {}, depth=11).text == "end"
    with pytest.raises(SemanticError):
        substitute(SourceStatement("${v0}"), chain, {}, depth=5)


def test_places_after_a_substitution_are_those_of_the_script() -> None:
    (source,) = split("\n SELECT ${long}, nope FROM t")
    statement = substitute(source, {"long": "'a text over\n two lines'"}, {})
    span = statement.span(statement.text.index("nope"), statement.text.index("nope") + 4)
    assert (span.line, span.column, span.length) == (2, 18, 4)
    assert span.source_line[span.column - 1 :] == "nope FROM t"
    inside = statement.span(statement.text.index("over"))
    assert inside.source_line[inside.column - 1 : inside.column - 1 + inside.length] == "${long}"


def test_the_value_of_a_variable_is_not_shown_in_positions() -> None:
    statement = substitute(SourceStatement("SELECT '${pw}', nope"), {"pw": "hunter2"}, {})
    assert "hunter2" not in statement.span(statement.text.index("nope")).source_line


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_places_with_every_end_of_line(end: str) -> None:
    lines = ["-- c", "SELECT 1;", "  SELECT a,", "   wrong", "FROM t;", "SELECT 'x"]
    statements: list[SourceStatement] = []
    with pytest.raises(ParseError) as raised:
        statements += split(end.join(lines))
    first, second = list(split(end.join(lines[:5])))
    assert [(one.line, one.column) for one in (first, second)] == [(2, 1), (3, 3)]
    start = second.text.index("wrong")
    span = second.span(start, start + 5)
    assert (span.line, span.column, span.length, span.source_line) == (4, 4, 5, "   wrong")
    unterminated = raised.value.span
    assert unterminated is not None
    assert (unterminated.line, unterminated.column, unterminated.source_line) == (6, 8, "SELECT 'x")


@given(st.text(alphabet="ab;'\"`\\-/*\n\r ${}:é", max_size=60))
def test_any_text_is_split_or_refused(text: str) -> None:
    refusal: HiveDruidError | None = None
    statements: list[SourceStatement] = []
    try:
        statements = list(split(text))
    except HiveDruidError as error:
        refusal = error
    if refusal is not None:
        assert refusal.span is not None
        assert not is_complete(text)
        return
    assert all(statement.text and statement.text == statement.text.rstrip() for statement in statements)
    again = "\n;".join(s.original or s.text for s in statements)
    assert [s.text for s in split(again)] == [s.text for s in statements]


@given(
    st.lists(
        st.sampled_from(["SELECT ';'", "SELECT `a;`", "SELECT 1 -- x;\n", "SELECT /*;*/ 2", "SET a=b"]), max_size=6
    )
)
def test_joined_statements_are_split_apart(statements: list[str]) -> None:
    script = ";\n".join(statements)
    assert texts(script) == [statement.rstrip() for statement in statements]
    lines = script.split("\n")
    for source in split(script):
        assert lines[source.line - 1][source.column - 1 :].startswith(source.text.split("\n")[0][:6])


@given(
    st.dictionaries(st.sampled_from("abc"), st.sampled_from(["1", "${b}", "${c}", "x${a}y"])),
    st.text("${}abc ", max_size=20),
)
def test_substitution_ends(variables: dict[str, str], text: str) -> None:
    try:
        result = substitute(SourceStatement(text), variables, {})
    except SemanticError:
        return
    assert not any(f"${{{name}}}" in result.text for name in variables)
    for offset in range(len(result.text)):
        assert result.span(offset).line == 1
