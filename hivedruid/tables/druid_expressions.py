"""The expressions in specs of Druid: in transforms, filters, aggregators and virtual columns.

Druid 33 drops characters that are not in its grammar, and everything after the first complete expression, without an
error: of `x = 3` it computes a null for every record. Such text is an error here. Names of fields that no record has
are nulls, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.errors import did_you_mean
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.druid_expression import ExpressionSyntaxError, Node, parse
from hivedruid.parser.druid_functions import FUNCTIONS, LAMBDA_FUNCTIONS

_PARTS = {
    "expression": frozenset[str](),
    "fold": frozenset({"__acc"}),
    "combine": frozenset({"__acc"}),
    "compare": frozenset({"o1", "o2"}),
    "finalize": frozenset({"o"}),
    "initialValue": frozenset[str](),
    "initialCombineValue": frozenset[str](),
}
"""Keys with expressions, and the names that Druid defines in each; all but the first are those of an aggregator of type
`expression` (ExpressionLambdaAggregatorFactory)."""

_SPELLINGS = (
    (r"<>", "!="),
    (r"=", "=="),
    (r"and\b|&", "&&"),
    (r"or\b|\|", "||"),
    (r"not\b|~", "!x"),
    (r"is\b", "isnull(x) or notnull(x)"),
    (r"like\b", "like(x, 'a%')"),
    (r"in\b", "x == 1 || x == 2, or scalar_in_array(x, array(1, 2))"),
    (r"between\b", "x >= 1 && x <= 3"),
    (r"case\b", "case_searched(x == 1, 'a', 'b')"),
    (r"as\b", "CAST(x, 'DOUBLE')"),
    (r"\?", "if(x == 1, 'a', 'b')"),
    (r"`", 'double quotes for names: "a b"'),
    (r"'", "\\' for a quote in a string"),
)
"""The start of text that is SQL, not Druid's expression language, and how Druid spells it."""

_CONSTANTS = {"true": "1", "false": "0", "null": "null, in lower case"}
"""Words that Druid reads as names of fields, in lower case, and the constants to write instead."""


@dataclass(frozen=True)
class Expression:
    """An expression at a place in a spec, such as `transforms[0].expression`; `bound` are the names that Druid defines
    in it."""

    place: str
    text: str
    bound: frozenset[str] = frozenset()


Fault = tuple[str, str | None]
"""What is wrong with an expression, and what to write instead."""


def expressions_in(spec: Any, place: str = "") -> Iterator[Expression]:
    """All expressions in a part of a spec, in its order."""
    if isinstance(spec, list):
        for number, item in enumerate(spec):
            yield from expressions_in(item, f"{place}[{number}]")
    if not isinstance(spec, dict):
        return
    is_fold = spec.get("type") == "expression" and "fold" in spec
    name = spec.get("name")
    for key, item in spec.items():
        inner = f"{place}.{key}" if place else key
        if isinstance(item, str) and key in _PARTS and (is_fold or key == "expression"):
            accumulator = {spec.get("accumulatorIdentifier", "__acc"), name} if is_fold else set()
            yield Expression(inner, item, _PARTS[key] | {each for each in accumulator if isinstance(each, str)})
        else:
            yield from expressions_in(item, inner)


def fault_of(text: str) -> Fault | None:
    """What Druid would misread in an expression, or would refuse only in a task: its syntax and its functions."""
    try:
        tree = parse(text)
    except ExpressionSyntaxError as problem:
        what = f"{problem.message}; Druid drops what it does not recognize, without an error"
        return what, _spelling(text, problem.position)
    for node in _nodes(tree):
        if node.kind == "call" and (problem_of_call := _call_fault(node, text)) is not None:
            return problem_of_call
    return None


def _spelling(text: str, position: int) -> str | None:
    """The hint for SQL at that place, at the character before, or in the word before."""
    before = re.search(r"(\w+)\s*$", text[:position])
    for start in (text[max(0, position - 1) :], text[position:].lstrip(), before[1] if before else ""):
        for pattern, spelling in _SPELLINGS:
            if start and re.match(pattern, start, re.IGNORECASE):
                return f"write {spelling}"
    return None


def _call_fault(node: Node, text: str) -> Fault | None:
    name = str(node.value).lower()
    takes_lambda = bool(node.children) and node.children[0].kind == "lambda"
    if name in (LAMBDA_FUNCTIONS if takes_lambda else FUNCTIONS):
        return None
    if name in LAMBDA_FUNCTIONS:
        return f"the first argument of {name}() must be a lambda in expression [{text}]", f"such as {name}((x) -> x, y)"
    if takes_lambda and name in FUNCTIONS:
        return f"{name}() does not take a lambda in expression [{text}]", None
    return f"Druid has no function {node.value}() in expression [{text}]", did_you_mean(
        name, [*FUNCTIONS, *LAMBDA_FUNCTIONS]
    )


def fields_in(expression: Expression) -> frozenset[str]:
    """The fields or columns that an expression without faults reads."""
    return frozenset(_free(parse(expression.text))) - expression.bound - {TIME_COLUMN}


def constant_fault(expression: Expression, known: Collection[str]) -> Fault | None:
    """Constants of SQL that Druid reads as names of fields."""
    for name in sorted(fields_in(expression)):
        if name.lower() in _CONSTANTS and name not in known:
            constant = _CONSTANTS[name.lower()]
            return f"Druid reads '{name}' as the name of a field in expression [{expression.text}]", f"write {constant}"
    return None


def _free(node: Node) -> Iterator[str]:
    """The identifiers that no lambda around them binds."""
    if node.kind == "identifier":
        yield str(node.value)
    for child in node.children:
        names = _free(child)
        yield from (name for name in names if node.kind != "lambda" or name not in node.value)


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)
