"""Every function of the table over edge values: the result is Hive 4.0.1's (`answers.json`), or it is left to Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import HiveType, decimal
from hivedruid.cells import hive_text
from hivedruid.evaluation.aggregates import AGGREGATES
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.functions import FUNCTIONS
from hivedruid.evaluation.relations import Evaluator, Rows
from hivedruid.plan.cast_patterns import READ_TIME
from hivedruid.plan.nodes import Node, Project, TableScan
from hivedruid.plan.rex import Agg, Call, walk
from hivedruid.plan.sketch_calls import SCALARS
from tests.support.planning import plan
from tests.unit.evaluation.cases import COLUMNS, EXPRESSIONS, QUERIES, ROWS

ANSWERS: dict[str, Any] = json.loads(Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))


def _type(text: str) -> HiveType:
    name, _, rest = text.partition("(")
    return decimal(*map(int, rest.rstrip(")").split(","))) if rest else HiveType(name)


TYPES = [_type(text) for text in COLUMNS.values()]
TABLE = Table(
    "default", "v", "files", tuple(Column(n, t) for n, t in zip(COLUMNS, TYPES, strict=True)), True, format="orc"
)


def _value(text: str | None, type_: HiveType) -> Any:
    if text is None:
        return None
    if type_.is_integer:
        return int(text)
    if type_.name == "boolean":
        return text == "true"
    made: dict[str, Callable[[str], Any]] = {
        "double": float,
        "decimal": Decimal,
        "date": date.fromisoformat,
        "timestamp": datetime.fromisoformat,
    }
    return made.get(type_.name, str)(text)


VALUES: Rows = [tuple(_value(v, t) for v, t in zip(row, TYPES, strict=True)) for row in ROWS]


def _rows(node: Node, rows: Rows = VALUES) -> Rows:
    """The node's rows over the edge values, or over some of them."""

    def leaf(found: Node) -> Any:
        if not isinstance(found, TableScan):
            return None
        positions = [list(COLUMNS).index(c.name) for c in found.columns]
        return lambda: [tuple(row[p] for p in positions) for row in rows]

    return Evaluator("UTC", leaf).relation(node)()


def _evaluated(expression: str) -> list[str | None] | None:
    """The expression's values as strings, `Unsure` for one that is left to Spark; None if all of it is."""
    made = plan(f"SELECT id, {expression} AS r FROM v", tables=(TABLE,), rules=())
    try:
        rows = [_row(made.node, number) for number in range(len(VALUES))]
    except NotLocal:
        return None
    return ["Unsure" if v is Unsure else _shown(v, made.columns[1].type) for v in rows]


def _row(node: Node, number: int) -> Any:
    try:
        return _rows(node, [VALUES[number]])[0][1]
    except Unsure:
        return Unsure


def _shown(value: Any, type_: HiveType) -> str | None:
    """As Hive's API prints it: decimals without trailing zeros."""
    if value is None:
        return None
    if type_.name == "decimal":
        text = hive_text(type_)(value)
        return text.rstrip("0").rstrip(".") if "." in text else text
    return hive_text(type_)(value)


def _theirs(value: Any) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _differences(expression: str) -> list[str]:
    found = _evaluated(expression)
    expected = ANSWERS[expression]
    if found is None:
        return []
    if "error" in expected:
        return [f"{expression}: Hive fails"]
    wrong = []
    for row, ours, theirs in zip(ROWS, found, expected["values"], strict=True):
        if ours not in ("Unsure", _theirs(theirs)):
            wrong.append(f"{expression} in row {row[0]}: {ours!r}, Hive {theirs!r}")
    return wrong


def test_the_functions_answer_as_hive_does() -> None:
    wrong = [text for expression in EXPRESSIONS for text in _differences(expression)]
    assert not wrong, "\n".join(wrong)


def test_most_of_the_values_are_answered() -> None:
    found = [values for e in EXPRESSIONS if (values := _evaluated(e)) is not None]
    assert len(found) > 0.85 * len(EXPRESSIONS)
    assert sum(v == "Unsure" for values in found for v in values) < 0.05 * sum(map(len, found))


def test_every_row_of_the_table_is_swept() -> None:
    swept: set[str] = set()
    for expression in EXPRESSIONS:
        node = plan(f"SELECT {expression} AS r FROM v", tables=(TABLE,), rules=()).node
        assert isinstance(node, Project)
        swept |= {part.op for rex in node.exprs for part in walk(rex) if isinstance(part, Call)}
    for query in QUERIES:
        for node in plan(query, tables=(TABLE,), rules=()).node.walk():
            swept |= {part.op for rex in node.expressions() for part in walk(rex) if isinstance(part, Call | Agg)}
    others = {"extract_dayofyear", READ_TIME}  # Hive 4.0.1 has none; tests/unit/plan/test_cast_formats.py
    others |= {"unbase64", *SCALARS}  # test_sketches.py
    others |= {"to_millis"}  # only in writes: tests/unit/spark/test_local_writes.py
    assert {*FUNCTIONS, *AGGREGATES} - swept <= others


@pytest.mark.parametrize("query", QUERIES)
def test_queries_answer_as_hive_does(query: str) -> None:
    """Windows, groups, joins and set operations."""
    made = plan(query, tables=(TABLE,), rules=())
    rows = [[_shown(v, c.type) for v, c in zip(row, made.columns, strict=True)] for row in _rows(made.node)]
    expected = [[_theirs(v) for v in row] for row in ANSWERS[query]["rows"]]
    if " ORDER BY " not in query.rpartition(")")[2]:
        rows, expected = sorted(rows, key=str), sorted(expected, key=str)
    assert rows == expected


def test_what_is_not_in_the_table_is_left_to_spark() -> None:
    for expression in ("md5(s)", "rand()", "hash(i)", "trim(both 'x' from s)", "cast(s as binary)", "s like x"):
        assert _evaluated(expression) is None


def test_texts_beyond_the_basic_plane_are_left_to_spark() -> None:
    scan = plan("SELECT length(s) FROM v", tables=(TABLE,), rules=()).node
    with pytest.raises(Unsure):
        _rows(scan, [tuple("a😀" if name == "s" else None for name in COLUMNS)])
