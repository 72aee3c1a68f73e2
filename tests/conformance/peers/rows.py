"""The cases run on the embedded store and a Druid cluster: their rows are those the peer expects, or Spark's over the
raw rows.

One case for each text of a query; `make conformance` also runs it in the other zones and over the other type of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from hivedruid.spark import session
from tests.conformance.answers import Engines
from tests.conformance.cases import Case, folder, read
from tests.conformance.outcomes import Outcome, outcomes
from tests.conformance.report import described, is_right

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = [pytest.mark.spark, pytest.mark.cluster]


@pytest.fixture(scope="module")
def made(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Outcome]]:
    cases: list[Case] = list({case.sql: case for case in read(folder()) if case.untranslatable is None}.values())
    engines = Engines(tmp_path_factory.mktemp("conformance"), cases, cluster.druid)
    try:
        engines.ingest()
        yield list(outcomes(cases, engines))
    finally:
        if cluster.is_adopted:
            engines.drop()
        engines.close()
        session.release_all()


def test_the_rows_are_right(made: list[Outcome]) -> None:
    wrong = [described(o) for o in made if o.rows in ("other", "wrong", "incomparable") and not is_right(o)]
    assert not wrong, "\n".join(wrong)


def test_druid_refuses_nothing(made: list[Outcome]) -> None:
    assert [described(o) for o in made if o.rows == "refused"] == []


def test_every_case_has_an_answer(made: list[Outcome]) -> None:
    assert [
        described(o) for o in made if o.rows == "failed" or (o.rows is None and o.planned.pushed != "invalid")
    ] == []
