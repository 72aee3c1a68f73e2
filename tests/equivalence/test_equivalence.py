"""Pushed-down plans have the same results as Spark over the raw rows, on the embedded store and on a Druid cluster."""

from __future__ import annotations

import pytest

from hivedruid.catalog.types import BIGINT, DOUBLE, FLOAT, STRING
from tests.equivalence.comparison import same
from tests.equivalence.coverage import PAGE, Coverage
from tests.equivalence.engine import Engine
from tests.equivalence.real import RealDruid
from tests.equivalence.sample import Sample
from tests.equivalence.sweep import Sweep

pytestmark = pytest.mark.timeout(3000)
"""Thousands of queries are one fixture."""


def test_every_operator_answers_the_same_over_every_type(swept: Sweep) -> None:
    assert swept.compared > 5000
    assert not swept.differences, "\n".join(swept.differences[:50])


def test_random_queries_answer_the_same(sampled: Sample) -> None:
    assert sampled.failure is None, f"\n{sampled.failure}\n(seed {sampled.seed})"
    assert len(sampled.texts) >= 0.7 * sampled.runs


def test_tiered_tables_are_compared_too(sampled: Sample, engine: Engine) -> None:
    """Equal queries of a world run once."""
    assert sampled.runs > 0
    assert engine.tiered.compared > 40


def test_local_evaluation_is_compared_too(swept: Sweep, sampled: Sample, engine: Engine) -> None:
    """Over plain scans, and over the native rows of a plan that is not fully pushed down."""
    assert swept.evaluated > 20_000
    assert sampled.runs > 0
    assert engine.evaluated > engine.not_evaluated


def test_most_random_queries_are_pushed_whole(sampled: Sample) -> None:
    assert sampled.share >= 0.6


def test_the_embedded_store_answers_as_a_real_druid(swept: Sweep, sampled: Sample, real: RealDruid) -> None:
    """Every native query of the sweep and of the random queries, including those inside a plan that Spark runs."""
    assert (swept.compared, sampled.runs) > (0, 0)
    assert real.compared > 1000
    assert not real.differences, "\n\n".join(dict.fromkeys(real.differences[:20]))


def test_nothing_that_matters_is_left_out(swept: Sweep, sampled: Sample, coverage: Coverage) -> None:
    assert (swept.compared, sampled.runs) > (0, 0)
    assert coverage.missing() == []


def test_the_page_is_true(coverage_page: str) -> None:
    """`--update-coverage` writes it."""
    assert PAGE.read_text(encoding="utf-8") == coverage_page


# --- the comparison itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "expected", "ordered", "equal"),
    [
        ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")], False, True),
        ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")], True, False),
        ([(1, "a"), (1, "a")], [(1, "a")], False, False),
        ([(1, "a"), (1, "a"), (2, "b")], [(1, "a"), (2, "b"), (2, "b")], False, False),
        ([(None, "")], [(None, None)], False, False),
        ([(0, "a")], [(False, "a")], False, False),
        ([(1, "a")], [(1.0, "a")], False, False),
    ],
)  # fmt: skip
def test_rows_are_compared_as_lists_or_multisets(found: list, expected: list, ordered: bool, equal: bool) -> None:  # type: ignore[type-arg]
    assert same(found, expected, [BIGINT, STRING], ordered=ordered) is equal


def test_doubles_are_compared_to_nine_digits_and_floats_to_six() -> None:
    nan = float("nan")
    assert same([(0.1 + 0.2, 1.1)], [(0.3, 1.100000023841858)], [DOUBLE, FLOAT], ordered=True)
    assert same([(nan, 1.0)], [(nan, 1.0)], [DOUBLE, DOUBLE], ordered=True)
    assert not same([(1e-12,)], [(0.0,)], [DOUBLE], ordered=True)
    assert not same([(1.1,)], [(1.100000023841858,)], [DOUBLE], ordered=True)
    assert same([(1.0, 2.0), (1.0 + 1e-12, 1.0)], [(1.0, 1.0), (1.0 + 1e-12, 2.0)], [DOUBLE, DOUBLE], ordered=False)
