"""The planner on the cases of Calcite's and Hive's own tests: nothing is pushed down less than before. Without Druid
and rows.
"""

from __future__ import annotations

import pytest

from tests.conformance.cases import Case, folder, read
from tests.conformance.expectations import load, worse
from tests.conformance.outcomes import Outcome, outcomes
from tests.conformance.report import percent, report

CALCITE, HIVE = 0.95, 0.98
"""The minimum shares that are one native query with nothing above it: of Calcite's cases that Druid can answer at all,
and of Hive's that Hive pushes down fully."""


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return read(folder())


@pytest.fixture(scope="module")
def made(cases: list[Case]) -> list[Outcome]:
    return list(outcomes(cases, None))


def test_every_case_has_a_plan(made: list[Outcome]) -> None:
    crashed = [f"{o.case.id}: {o.case.sql}: {o.planned.error}" for o in made if o.planned.pushed == "crashed"]
    assert crashed == []


def test_no_case_is_pushed_less_than_before(made: list[Outcome]) -> None:
    expected = load()
    assert any(o.case.key in expected for o in made)
    assert list(worse([o.planned for o in made], expected)) == []


def test_the_shares_hold(made: list[Outcome], capsys: pytest.CaptureFixture[str]) -> None:
    shares = {name: percent(made, name) for name in ("calcite", "hive")}
    with capsys.disabled():
        print(
            f"\nconformance: {len(made)} cases, one native query: "
            + ", ".join(f"{n} {s:.1%}" for n, s in shares.items())
        )
    assert shares["calcite"] >= CALCITE
    assert shares["hive"] >= HIVE


def test_the_report_has_every_query_that_is_not_pushed_whole(made: list[Outcome]) -> None:
    page = report(made)
    assert page.startswith("file")
    assert [
        o.case.id for o in made if o.planned.pushed in ("partly", "not") and " ".join(o.case.sql.split()) not in page
    ] == []


def test_the_cases_that_cannot_be_said_in_hives_dialect_are_few(cases: list[Case]) -> None:
    untranslatable = [case for case in cases if case.untranslatable is not None]
    assert all(case.untranslatable for case in untranslatable)
    assert len(untranslatable) <= len(cases) * 0.05, [case.untranslatable for case in untranslatable]
