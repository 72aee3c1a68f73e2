"""The queries of the tests of Hive's own planner: each has a plan, and at least as many are pushed down as before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hivedruid.errors import HiveDruidError
from tests.conformance.cases import folder, read_json
from tests.unit.plan.test_pushed import pushed

if TYPE_CHECKING:
    import pytest

FULLY_PUSHED = 349
"""Of the 385 queries among the cases; Hive itself pushes 293 of them down fully."""


def hive_queries() -> list[dict[str, Any]]:
    """The SELECTs among the cases."""
    cases = read_json(folder() / "hive" / "oracle_hive401.json")
    return [case for case in cases if case["sql"].split(None, 1)[0].upper() in ("SELECT", "WITH", "FROM")]


def test_every_query_has_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    cases = hive_queries()
    counts: Counter[str] = Counter()
    refused = []
    for case in cases:
        try:
            counts[pushed(case["sql"], case["settings"]["hive.local.time.zone"])] += 1
        except HiveDruidError as error:
            refused.append(f"{case['sql']}: {error}")
    hive = Counter(case["pushdown"] for case in cases)
    with capsys.disabled():
        print(f"\nHive's {len(cases)} queries: {dict(counts)}; Hive: {dict(hive)}")
    assert refused == []
    assert counts["full"] >= FULLY_PUSHED
