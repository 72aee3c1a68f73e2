"""Several comparisons of one expression: one range, or a condition that is never true."""

from __future__ import annotations

import pytest

from tests.rules.test_rules import expect, expect_not, rewritten


@pytest.mark.parametrize(
    ("condition", "merged"),
    [
        ("pop > 3 AND pop > 5", "(pop > 5)"),
        ("pop > 3 AND 5 < pop", "(pop > 5)"),
        ("pop >= 1 AND pop <= 9 AND pop BETWEEN 4 AND 20", "((pop <= 9) AND (pop >= 4))"),
        ("pop > 5 AND pop >= 6", "(pop > 5)"),
        ("pop IN (1, 2, 3, 9) AND pop > 2 AND pop <> 9", "(pop = 3)"),
        ("pop IN (1, 2, 3, 9) AND pop > 1 AND NOT pop >= 9", "in(pop, 2, 3)"),
        ("pop = 5 AND pop <> 7 AND (pop < 3 OR pop > 4)", "(pop = 5)"),
        ("region = 'b' AND region > 'a' AND region <> 'c'", "(region = 'b')"),
        ("upper(region) = 'B' AND upper(region) IN ('A', 'B')", "(upper(region) = 'B')"),
        ("pop > 3 AND pop + 1 > 5 AND pop > 2", "((pop > 3) AND ((pop + 1) > 5))"),
    ],
)
def test_comparisons_of_one_expression_become_one_range(condition: str, merged: str) -> None:
    expect(
        f"SELECT region, pop FROM dim WHERE {condition}",
        "project_remove filter_ranges_merge",
        f"""
        Filter(condition=[{merged}])
          TableScan(table=[default.dim], columns=[region, pop])
        """,
    )


@pytest.mark.parametrize(
    "condition",
    [
        "pop > 3 AND pop < 4",
        "pop = 3 AND pop IN (1, 2)",
        "pop BETWEEN 5 AND 4",
        "region = 'a' AND region = 'b'",
        "region < 'a' AND region > 'a'",
        "region IS NULL AND region LIKE 'x%'",
        "pop IS NULL AND pop IS NOT NULL",
        "region LIKE 'x%' AND NOT region LIKE 'x%'",
    ],
)
def test_conditions_that_exclude_each_other_are_false(condition: str) -> None:
    expect(
        f"SELECT region, pop FROM dim WHERE {condition}",
        "project_remove filter_ranges_merge",
        """
        Filter(condition=[False])
          TableScan(table=[default.dim], columns=[region, pop])
        """,
    )


@pytest.mark.parametrize(
    "condition",
    [
        "pop > 3 AND pop < 5",
        "pop <> 3 AND pop <> 5",
        "pop > 3 AND region > '5'",
        "rand() > 0.3D AND rand() > 0.5D",
        "rand() > 0.5D AND rand() < 0.3D",
        "pop > 3 AND pop IS NOT NULL",
        "region IS NULL AND pop = 1",
        # a row in which it is null satisfies neither
        "pop > 3 AND (region > 'a' OR region <= 'a')",
        # CHAR ignores blanks at the end
        "CAST(region AS char(3)) = 'a' AND CAST(region AS char(3)) = 'a '",
    ],
)
def test_conditions_that_stay(condition: str) -> None:
    expect_not(f"SELECT region, pop FROM dim WHERE {condition}", "filter_ranges_merge")


def test_a_key_that_can_have_no_value_empties_the_join() -> None:
    text, _ = rewritten(
        "SELECT d.pop FROM ev e JOIN dim d ON e.clicks = d.pop WHERE e.clicks = 3 AND d.pop > 4",
        *(
            [
                "filter_into_join",
                "filter_join_merge",
                "filter_merge",
                "filter_ranges_merge",
                "filter_false",
                "join_empty_side",
                "empty_input",
            ]
        ),
    )
    assert text == "Values()"
