"""Operator precedence as in Hive's grammar: random chains compared with an independent parser, and examples with Hive's
results.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from hivedruid.parser.queries import parse_query
from hivedruid.parser.tokens import tokenize
from hivedruid.script import split

LEVELS = (("=", "<>", "<=>"), ("<", ">="), ("|",), ("&",), ("||",), ("+", "-"), ("*", "/", "%", "DIV"), ("^",))
LEVEL = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}
COMPARISON = LEVEL["<"]

NAMES: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.NullSafeEQ: "<=>", exp.LT: "<", exp.GTE: ">=", exp.BitwiseOr: "|", exp.BitwiseAnd: "&",
    exp.DPipe: "||", exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "DIV",
    exp.BitwiseXor: "^",
}  # fmt: skip

Tree = str | tuple[str, ...] | tuple["Tree", ...]


def tree_of(e: exp.Expr) -> Tree:
    """sqlglot's tree as nested tuples, without parentheses."""
    if isinstance(e, exp.Paren):
        return tree_of(e.this)
    if type(e) in NAMES:
        return (NAMES[type(e)], tree_of(e.this), tree_of(e.expression))
    if isinstance(e, exp.Neg | exp.BitwiseNot):
        return ("-" if isinstance(e, exp.Neg) else "~", tree_of(e.this))
    if isinstance(e, exp.Is):
        return ("IS NULL", tree_of(e.this))
    if isinstance(e, exp.Anonymous):
        return ("f", tree_of(e.expressions[0]))
    return e.name


def read(words: list[str]) -> Tree:
    """The tree of a chain: split at the last operator of the loosest level, else at a leading sign."""
    if words[-1] == "IS NULL":
        return ("IS NULL", read(words[:-1]))
    found = [i for i, word in enumerate(words) if i and word in LEVEL and words[i - 1] not in SIGNS | set(LEVEL)]
    if found:
        loosest = min(LEVEL[words[i]] for i in found)
        last = max(i for i in found if LEVEL[words[i]] == loosest)
        return (words[last], read(words[:last]), read(words[last + 1 :]))
    if words[0] in SIGNS:
        return (words[0].strip(), read(words[1:]))
    assert len(words) == 1
    if words[0].startswith("f("):
        return ("f", read(words[0][2:-1].split()))
    return read(words[0][1:-1].split()) if words[0].startswith("(") else words[0]


SIGNS = {"- ", "~ "}
OPERANDS = st.sampled_from(["a", "b", "1", "2", "(a | b & c)", "f(1 + a ^ b)"])


@st.composite
def chains(draw: st.DrawFn) -> list[str]:
    """Operands with operators between and signs before them; at most one comparison, perhaps IS NULL at the end."""
    words: list[str] = []
    may_compare = True
    for i in range(draw(st.integers(1, 9))):
        if i:
            operator = draw(st.sampled_from([o for o in LEVEL if may_compare or LEVEL[o] > COMPARISON]))
            may_compare = may_compare and LEVEL[operator] > COMPARISON
            words.append(operator)
        words += draw(st.lists(st.sampled_from(sorted(SIGNS)), max_size=2))
        words.append(draw(OPERANDS))
    return words + ["IS NULL"] * draw(st.booleans())


def first_item(text: str) -> exp.Expr:
    source = next(iter(split(f"SELECT {text}")))
    return parse_query(source, tokenize(source)).expressions[0]


@given(chains())
def test_chains_are_grouped_by_level(words: list[str]) -> None:
    assert tree_of(first_item(" ".join(words))) == read(words)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2 * 3 ^ 1", "2 * (3 ^ 1)"),
        ("2 | 4 & 1", "2 | (4 & 1)"),
        ("1 + 4 ^ 1", "1 + (4 ^ 1)"),
        ("a & b || c", "a & (b || c)"),
        ("a || b + c", "a || (b + c)"),
        ("- a ^ b", "(- a) ^ b"),
        ("a | b BETWEEN c & d | e AND f ^ g * h", "(a | b) BETWEEN ((c & d) | e) AND ((f ^ g) * h)"),
        ("NOT a | b & c LIKE d || e", "NOT ((a | (b & c)) LIKE (d || e))"),
        ("a & b = c IS NULL", "((a & b) = c) IS NULL"),
        ("CASE WHEN a | b & c = d THEN 1 | 2 & 3 END", "CASE WHEN (a | (b & c)) = d THEN 1 | (2 & 3) END"),
        (
            "a IN (SELECT b | c & d FROM t WHERE e | f & g = h)",
            "a IN (SELECT b | (c & d) FROM t WHERE (e | (f & g)) = h)",
        ),
    ],
)
def test_brackets_that_change_nothing(text: str, same: str) -> None:
    def bare(e: exp.Expr) -> exp.Expr:
        for bracket in reversed(list(e.find_all(exp.Paren))):
            bracket.replace(bracket.this)
        return e

    assert bare(first_item(text)) == bare(first_item(same))


def test_a_long_chain_is_read_in_one_go() -> None:
    tree = first_item(" | ".join(["a & b"] * 3000))
    assert isinstance(tree, exp.BitwiseOr)
    assert isinstance(tree.expression, exp.BitwiseAnd)
