"""The expression parser against `grammar/druid_expression.lark`, and by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivedruid.errors import DruidError
from hivedruid.parser.druid_expression import Node, parse

GRAMMAR = Path(__file__).parents[3] / "grammar" / "druid_expression.lark"
LALR = lark.Lark(GRAMMAR.read_text(), parser="lalr", maybe_placeholders=False)

OPERATORS = {
    "and": "&&",
    "or": "||",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "modulo": "%",
    "power": "^",
}


def shape(tree: Any) -> Any:
    """A lark tree as nested tuples of kinds, operators and strings."""
    if isinstance(tree, lark.Token):
        return str(tree)
    kind = str(tree.data)
    children = [shape(child) for child in tree.children]
    if kind in OPERATORS:
        return ("binary", OPERATORS[kind], *children)
    if kind in ("negate", "not"):
        return ("unary", "-" if kind == "negate" else "!", *children)
    if kind == "call":
        return ("call", children[0], *children[1:])
    if kind == "lambda":
        names = children[0].removesuffix("->").strip(" \t\r\n()").split(",")
        return ("lambda", tuple(parse(name).value for name in names if name.strip()), children[1])
    if kind == "array":
        return ("array", *(child for child in children if not isinstance(child, str)))
    return (kind,) if kind == "null" else (kind, parse(children[0]).value)


def node_shape(node: Node) -> Any:
    children = [node_shape(child) for child in node.children]
    if node.kind == "null":
        return ("null",)
    return (node.kind, *children) if node.kind == "array" else (node.kind, node.value, *children)


names = st.sampled_from(["a", "b", "_x1", "$y", '"two words"', '"q\\"uote"', "nullable", "NaNs"])
constants = st.one_of(
    st.sampled_from(["null", "0", "7", "3000000000", "1.5", "1.", "1e5", "2.5E-3", "NaN", "Infinity"]),
    st.sampled_from(["''", "'a'", "'it\\'s'", "'\\u0027\\n'", "'日本'", "'\"'"]),
)
space = st.sampled_from(["", " ", "\n", "\t "])


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operator = st.sampled_from(["+", "-", "*", "/", "%", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"])
    arguments = st.lists(inner, max_size=3).map(", ".join)
    return st.one_of(
        st.tuples(inner, space, operator, space, inner).map("".join),
        st.tuples(st.sampled_from(["-", "!"]), space, inner).map("".join),
        inner.map("({})".format),
        st.builds("{}({})".format, st.sampled_from(["f", "concat", "CAST"]), arguments),
        st.builds("map({}->{}, {})".format, st.sampled_from(["a ", "()", "(a)", '(a, "b")']), inner, inner),
    )


arrays = st.builds(
    "{}[{}]".format,
    st.sampled_from(["", "<LONG>", "ARRAY<STRING>"]),
    st.lists(st.sampled_from(["1", "2", "null"]), max_size=3).map(",".join),
)
expressions = st.recursive(st.one_of(names, constants, arrays), combined, max_leaves=12)


@settings(max_examples=300, deadline=None)
@given(expressions)
def test_texts_of_the_grammar_parse_to_the_same_tree(text: str) -> None:
    assert repr(node_shape(parse(text))) == repr(shape(LALR.parse(text)))  # repr, in which NaN equals itself


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab1.eE-+*/^%!&|<>=()[],'\"\\u $\tLONGARY", max_size=16))
def test_both_accept_and_refuse_the_same_texts(text: str) -> None:
    try:
        wanted = repr(shape(LALR.parse(text)))
    except lark.exceptions.LarkError:
        wanted = None
    try:
        got = repr(node_shape(parse(text)))
    except DruidError:
        got = None
    assert got == wanted


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("2 ^ 3 ^ 2", "2 ^ (3 ^ 2)"),
        ("-2 ^ 2", "(-2) ^ 2"),
        ("1 || 0 && 0", "(1 || 0) && 0"),
        ("1 + 2 * 3 ^ 4", "1 + (2 * (3 ^ 4))"),
        ("!a == b", "(!a) == b"),
        ("a < b == c", "(a < b) == c"),
        ("a && b < c + 1", "a && (b < (c + 1))"),
    ],
)
def test_precedence(text: str, grouped: str) -> None:
    assert parse(text) == parse(grouped)


def test_escapes() -> None:
    assert parse(r"'\u0027\\\n\t\"'").value == "'\\\n\t\""
    assert parse(r'"a\"b"') == Node("identifier", 'a"b')
    assert parse(r"'\ud83d\ude00'").value == "😀"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1E+10", "position 2"),
        ("1 +", "near the end"),
        ("f(1,", "near the end"),
        ("'open", "position 1"),
        ("a b", "position 3"),
        (".5", "position 1"),
        ("", "near the end"),
        ("(a", "near the end"),
        ("[a]", "position 2"),
        ("['a', 1]", "position 1"),
        ("x -> x", "position 3"),
        ("map(x -> x)", "position 11"),
        ("map(a, x -> x)", "position 10"),
        ("map((x,) -> x, a)", "position 7"),
    ],
)
def test_errors_say_where(text: str, place: str) -> None:
    with pytest.raises(DruidError) as error:
        parse(text)
    assert place in error.value.message
    assert text in error.value.message


def test_deep_nesting_is_an_error_not_a_crash() -> None:
    with pytest.raises(DruidError, match="nested too deeply"):
        parse("(" * 100_000)
