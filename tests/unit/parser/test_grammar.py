"""The normative grammar against the parser: its examples, and scripts generated from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from lark import Lark
from lark.lexer import PatternStr

from hivedruid.errors import HiveDruidError
from hivedruid.parser import parse, statements
from hivedruid.parser.statements import (  # noqa: F401 - attributes of `statements`
    Statement,
    compacting,
    ddl,
    ingesting,
    materialized,
    partitioning,
    snapshots,
    statistics,
    streaming,
    tiering,
    utility,
    watching,
    writing,
)
from hivedruid.script import SourceStatement, split

GRAMMAR = Path(__file__).parents[3] / "grammar"
TEXT = (GRAMMAR / "hive_statements.lark").read_text(encoding="utf-8")
EXAMPLES = (GRAMMAR / "hive_statements.q").read_text(encoding="utf-8")
# Rules that only combine others.
CONTAINERS = {"script", "statement"}


@cache
def grammar() -> Lark:
    return Lark(TEXT, start=["script", "statement"], parser="earley", ambiguity="resolve", maybe_placeholders=False)


def examples() -> list[tuple[str, SourceStatement]]:
    lines = EXAMPLES.split("\n")
    result = []
    for source in split(EXAMPLES, "hive_statements.q"):
        marks = [line for line in lines[: source.line] if line.startswith("-- rule: ")]
        result.append((marks[-1].removeprefix("-- rule: "), source))
    return result


@pytest.mark.parametrize(
    ("rule", "source"), examples(), ids=lambda value: value if isinstance(value, str) else str(value.line)
)
def test_an_example_is_of_its_rule_and_is_parsed(rule: str, source: SourceStatement) -> None:
    tree = grammar().parse(source.text, start="statement")
    assert rule in {str(subtree.data) for subtree in tree.iter_subtrees()}
    assert parse(source).source is source


def test_every_rule_has_an_example() -> None:
    rules = set(re.findall(r"^([a-z_]+):", TEXT, re.MULTILINE)) - CONTAINERS
    assert {rule for rule, _ in examples()} == rules


WORDS = {
    "NAME": st.sampled_from(["a", "b", "t1", "wiki", "__time", "cityName"]),
    "QUOTED_NAME": st.sampled_from(["`a`", "`select`", "`b c`", "`x``y`", "`ö`"]),
    "STRING": st.sampled_from(["'a'", "''", '"b;c"', r"'it\'s'", "'2010-01-01 00:00:00'", "'ö -- /* '", "'${x}'"]),
    "INTEGER": st.integers(0, 99).map(str),
    "NUMBER": st.sampled_from(["0", "1.5", "2e10", "10"]),
    "TYPED_NUMBER": st.sampled_from(["1L", "2S", "3Y", "1.5BD", "2.5D"]),
    "SETTING_KEY": st.sampled_from(["hive.druid.rollup", "hivevar:x", "a.b"]),
    "ZONE_NAME": st.sampled_from(["UTC", "Asia/Kolkata", "'+05:30'"]),
    "SETTING_VALUE": st.sampled_from(["true", "a b", "x=y", "2015-09-12"]),
    "TASK_STATE": st.sampled_from(["'RUNNING'", "'failed'"]),
    "JOB_STATE": st.sampled_from(["'staged'", "'Cancelled'"]),
    "JOB_ID": st.sampled_from(["'0123456789ab'", "'a'"]),
    "COMPACTION": st.sampled_from(["'major'", "'MAJOR'"]),
    "TIME_STRING": st.sampled_from(["'2024-01-01'", "'2024-01-01 00:00:00'", "'2024-02-30'"]),
    "PATH": st.sampled_from(["a.q", "dir/b c.q"]),
    "DRUID_HANDLER": st.just("'org.apache.hadoop.hive.druid.DruidStorageHandler'"),
    "KAFKA_HANDLER": st.just("'org.apache.hadoop.hive.kafka.KafkaStorageHandler'"),
}


def generated(start: str) -> st.SearchStrategy[str]:
    """Text of a rule; terminals are separated by spaces."""
    words = dict(WORDS)
    for terminal in grammar().terminals:
        if isinstance(terminal.pattern, PatternStr):
            words[terminal.name] = st.just(terminal.pattern.value)
    spaced = {name: strategy.map(lambda text: f" {text} ") for name, strategy in words.items()}
    without_ignored = Lark(re.sub(r"^%ignore.*$", "", TEXT, flags=re.MULTILINE), start=start, parser="earley")
    names = {terminal.name for terminal in without_ignored.terminals}
    return from_lark(without_ignored, start=start, explicit={k: v for k, v in spaced.items() if k in names})


@cache
def expansions() -> dict[str, list[tuple[str, ...]]]:
    """Rule -> its alternatives; `"text"` before a word marks a terminal."""
    result: dict[str, list[tuple[str, ...]]] = {}
    for rule in grammar().rules:
        parts = tuple(("!" if symbol.is_term else "") + symbol.name for symbol in rule.expansion)
        result.setdefault(str(rule.origin.name), []).append(parts)
    return result


@cache
def heights() -> dict[str, int]:
    """The depth of the smallest text of each rule."""
    known: dict[str, int] = {}
    while True:
        before = dict(known)
        for rule, choices in expansions().items():
            depths = [height for choice in choices if (height := _height(choice, known)) is not None]
            if depths:
                known[rule] = min(depths) + 1
        if known == before:
            return known


def _height(choice: tuple[str, ...], known: dict[str, int]) -> int | None:
    parts = [0 if part.startswith("!") else known.get(part) for part in choice]
    return None if None in parts else max((part for part in parts if part is not None), default=0)


@cache
def fixed() -> dict[str, str]:
    """The terminals that have one text."""
    return {t.name: t.pattern.value for t in grammar().terminals if isinstance(t.pattern, PatternStr)}


@cache
def alternatives(rule: str, *, smallest: bool) -> st.SearchStrategy[tuple[str, ...]] | tuple[str, ...]:
    """What a rule is replaced by; a single alternative is not drawn, which costs as much as parsing a word."""
    choices = expansions()[rule]
    if rule == "name":
        choices = [("!NAME",)] * 12 + choices  # most unusual names are not valid for a table
    if smallest:
        depths = [_height(choice, heights()) or 0 for choice in choices]
        choices = [choice for choice, depth in zip(choices, depths, strict=True) if depth == min(depths)]
    return choices[0] if len(choices) == 1 else st.sampled_from(choices)


@st.composite
def sentences(draw: st.DrawFn, starts: tuple[str, ...], size: int = 60) -> str:
    """Text of one of the rules, with about `size` choices; after that every rule uses its smallest form."""
    left = size
    result: list[str] = []
    todo = [draw(st.sampled_from(starts))]
    while todo:
        part = todo.pop()
        if part.startswith("!"):
            word = part[1:]
            result.append(fixed()[word] if word in fixed() else draw(WORDS[word]))
            continue
        left -= 1
        found = alternatives(part, smallest=left <= 0)
        todo.extend(reversed(found if isinstance(found, tuple) else draw(found)))
    return " ".join(result)


QUERIES = ("query", "select", "insert", "multi_insert")
SETTINGS = ("set", "reset", "source", "explain")


@cache
def others() -> tuple[str, ...]:
    return tuple(sorted({part for choice in expansions()["explainable"] for part in choice} - {*QUERIES}))


def statement_texts(size: int) -> st.SearchStrategy[str]:
    """Text of any statement. The grammar is analysed when the first one is drawn, not when tests are collected."""
    return st.deferred(lambda: sentences((*QUERIES, *others(), *SETTINGS), size))


SLOW = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


def check(text: str) -> bool:
    """Whether the whole script is parsed; raises everything except a HiveDruidError with a position."""
    refusal: HiveDruidError | None = None
    try:
        for source in split(text):
            parse(source)
    except HiveDruidError as error:
        refusal = error
    if refusal is None:
        return True
    assert refusal.span is not None, refusal.message
    assert "\x1b" not in refusal.message
    return False


@SLOW
@given(st.deferred(lambda: generated("script")))
def test_generated_scripts_are_parsed_or_refused(text: str) -> None:
    check(text)


@SLOW
@given(st.lists(statement_texts(30), max_size=4).map(";\n".join))
def test_longer_scripts_are_parsed_or_refused(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("starts", "least"), [(lambda: QUERIES, 0.85), (others, 0.75), (lambda: SETTINGS, 0.8)],
    ids=["queries", "others", "settings"],
)  # fmt: skip
def test_most_of_what_the_grammar_makes_is_parsed(starts: Callable[[], tuple[str, ...]], least: float) -> None:
    """The rest is refused for reasons beyond the grammar: a duplicate name, decimal(50), a table called `a b`."""
    outcomes: list[bool] = []

    @settings(SLOW, max_examples=300, derandomize=True, database=None)
    @given(sentences(starts()))
    def collect(text: str) -> None:
        outcomes.append(check(text))

    collect()
    assert len(outcomes) >= 250
    assert sum(outcomes) / len(outcomes) >= least


def test_the_generator_reaches_every_statement() -> None:
    """Each rule is tried equally often: a new rule takes nothing from the others."""
    seen: set[str] = set()
    for start in (*QUERIES, *others(), *SETTINGS):

        @settings(SLOW, max_examples=20, derandomize=True, database=None)
        @given(sentences((start,), 20))
        def collect(text: str) -> None:
            try:
                seen.update(type(parse(source)).__name__ for source in split(text))
            except HiveDruidError:
                return

        collect()
    assert {kind.__name__ for kind in statement_kinds()} == seen


def statement_kinds() -> list[type[Statement]]:
    modules = (
        statements, statements.compacting, statements.ddl, statements.ingesting, statements.materialized,
        statements.partitioning, statements.snapshots, statements.statistics, statements.streaming, statements.tiering,
        statements.utility, statements.watching, statements.writing,
    )  # fmt: skip
    values = [value for module in modules for value in vars(module).values()]
    return [v for v in values if isinstance(v, type) and issubclass(v, Statement) and v is not Statement]


@settings(SLOW, max_examples=400)
@given(statement_texts(40), st.data())
def test_damaged_statements_are_refused_with_a_place(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    junk = data.draw(
        st.sampled_from(["", "(", ")", "'", "`", ";", "/*", "--", "\\", "SELECT", "?", "\x00", "{", "@", ":"])
    )
    check(text[:start] + junk + text[end:])
