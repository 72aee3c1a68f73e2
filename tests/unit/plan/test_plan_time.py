"""The cost of planning, in rules tried and native queries written; benchmarks/planning.py measures the time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP
from hivedruid.druid import query
from hivedruid.druid.inputs import Inputs
from hivedruid.plan.nodes import DruidQuery, Node, TableScan
from hivedruid.plan.rules import RULES, Rule, RuleContext
from hivedruid.script import SourceStatement
from tests.support.planning import plan

WIDE = Table(
    "default", "wide", "druid",
    (Column("__time", TIMESTAMP), *(Column(f"c{i}", STRING if i % 2 else BIGINT) for i in range(100))), True,
)  # fmt: skip


def counted(asked: Counter[int]) -> Rule:
    """A rule that never applies, and counts how often it is tried on each node."""
    kept: list[Node] = []

    def rule(node: Node, _context: RuleContext) -> Node | None:
        asked[id(node)] += 1
        kept.append(node)  # so that no other node gets its id
        return None

    return rule


@pytest.mark.parametrize(
    "sql",
    [
        " UNION ALL ".join(f"SELECT rank() OVER (ORDER BY clicks) FROM ev WHERE imps > {i}" for i in range(10)),
        "SELECT * FROM (" * 8
        + "SELECT initcap(city) c FROM ev"
        + "".join(f") x{i} WHERE length(c) > {i}" for i in range(8)),
        "SELECT city FROM ev WHERE "
        + " AND ".join(f"revenue NOT IN (SELECT revenue FROM ev WHERE imps > {i})" for i in range(6)),
    ],
)
def test_a_rule_is_asked_once_in_a_pass_about_a_node_that_it_left_alone(sql: str) -> None:
    """The last pass changes nothing; without a cache the rule would be tried on a node again with every step
    above it."""
    asked: Counter[int] = Counter()
    plan(sql, rules=(*RULES, counted(asked)))
    assert max(asked.values()) <= 2


def test_rules_see_the_columns_that_are_read_alone() -> None:
    seen: set[int] = set()

    def widths(node: Node, _context: RuleContext) -> Node | None:
        for one in node.walk():
            source = one.source if isinstance(one, DruidQuery) else one
            if isinstance(source, TableScan):
                seen.add(len(source.columns))
        return None

    plan("SELECT c1 FROM wide WHERE c3 IN (SELECT c5 FROM wide WHERE c7 > 'x')", rules=(widths, *RULES), tables=(WIDE,))
    assert seen == {2}


def test_native_queries_of_a_projection_do_not_grow_with_its_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each describes all columns of the table."""
    made: list[int] = []

    class Noted(Inputs):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            made.append(1)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(query, "Inputs", Noted)
    counts = []
    for width in (5, 45):
        made.clear()
        columns = ", ".join(f"factorial(c{2 * n}), upper(c{2 * n + 1})" for n in range(width))
        plan(f"SELECT {columns} FROM wide", tables=(WIDE,))
        counts.append(len(made))
    assert counts[0] == counts[1]


def test_the_text_of_a_statement_is_searched_for_secrets_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name in a query has a span, and with the span the line that an error would show."""
    from hivedruid import script

    searched: list[str] = []
    from hivedruid.secret_text import mask_text as whole

    def noted(text: str) -> str:
        searched.append(text)
        return whole(text)

    monkeypatch.setattr(script, "mask_text", noted)
    source = SourceStatement("CREATE TABLE t (a int) TBLPROPERTIES ('password' = 'x1')")
    lines = {source.span(start).source_line for start in range(len(source.text))}
    assert lines == {"CREATE TABLE t (a int) TBLPROPERTIES ('password' = '**')"}
    assert len(searched) == 1
