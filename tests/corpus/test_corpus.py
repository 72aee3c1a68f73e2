"""The corpus: the plan and the rows of each query, compared with its expectation, with local evaluation over plain
scans, and with Spark over the raw rows.

`python -m tests.corpus` writes the expectations (`make update-goldens` does so, too); the diff is the review.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from hivedruid.cells import padded
from hivedruid.plan.physical import TableInput
from hivedruid.plan.rules import RULES
from hivedruid.plan.split import spark_job
from hivedruid.spark import session as spark_session
from tests.corpus import imports
from tests.corpus.answers import Answer, Asked, answer, asked, blocks, expectation, scripts
from tests.corpus.sample import ROWS, fill
from tests.equivalence.comparison import Rows, same, shown
from tests.equivalence.engine import SETTINGS
from tests.equivalence.local import answered, in_utc
from tests.support.reference import Confirmed, Reference

LEAST = 400
"""The minimum number of queries."""
LOCAL = 0.9
"""The minimum share of queries that run without Spark."""


@dataclass(frozen=True)
class Outcome:
    """A query that runs without Spark. `fired`: the rules of its plan. `scanned`: its rows by local evaluation over
    plain scans.
    """

    answer: Answer
    fired: tuple[str, ...] = ()
    scanned: Rows | None = None


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("corpus") / "home"
    fill(made)
    return made


@pytest.fixture(scope="module")
def reference(home: Path, confirmed_in: Callable[[Path], Confirmed]) -> Reference:
    return Reference(lambda: spark_session.session(SETTINGS, home), confirmed_in(Path(__file__).parent))


@pytest.fixture(scope="module")
def outcomes(home: Path) -> dict[Path, list[Outcome]]:
    return {script: [_outcome(item) for item in asked(script, home)] for script in scripts()}


def _answer(item: Asked | Answer, *, spark: bool = False) -> Answer:
    return item if isinstance(item, Answer) else answer(item, spark=spark)


def _outcome(item: Asked | Answer) -> Outcome:
    if isinstance(item, Answer):
        return Outcome(item)
    scans = item.planned(scans_only=True)
    rows = answered(scans, lambda read: list(item.session.store.rows(read)))
    displayed = None if rows is None else list(padded(item.types, iter(rows)))
    return Outcome(answer(item, spark=False), item.plan.fired, displayed)


@pytest.mark.parametrize("script", scripts(), ids=lambda script: script.stem)
def test_plans_and_rows_are_as_expected(script: Path, outcomes: dict[Path, list[Outcome]]) -> None:
    """Rows that only Spark can compute are compared in the tests that run Spark."""
    written = blocks(expectation(script).read_text(encoding="utf-8"))
    made = [outcome.answer for outcome in outcomes[script]]
    known = [
        block.partition("-- rows:")[0] if a.needs_spark else block for block, a in zip(written, made, strict=False)
    ]
    assert [a.text for a in made] == [*known, *written[len(known) :]]


def test_local_evaluation_over_plain_scans_has_the_same_rows(outcomes: dict[Path, list[Outcome]]) -> None:
    answers = [o for listed in outcomes.values() for o in listed if o.scanned is not None and o.answer.rows is not None]
    wrong = [_difference(o.answer, in_utc(o.answer.rows or []), o.scanned or []) for o in answers]
    assert not any(wrong), "\n\n".join(filter(None, wrong))


def _difference(answer: Answer, found: Rows, expected: Rows) -> str:
    if same(found, expected, list(answer.types), ordered=answer.is_ordered):
        return ""
    return f"{answer.sql}\n  found:\n{shown(found)}\n  expected:\n{shown(expected)}"


def test_there_are_queries_for_everything(outcomes: dict[Path, list[Outcome]]) -> None:
    every = [outcome for listed in outcomes.values() for outcome in listed]
    texts = {outcome.answer.sql for outcome in every}
    assert len(texts) >= LEAST
    assert sum(o.answer.rows is not None for o in every) >= LOCAL * sum(bool(o.answer.types) for o in every)
    fired = {name for outcome in every for name in outcome.fired}
    elsewhere = {
        "aggregate_estimate_distinct",  # tests/q/estimates.q
        "aggregate_sketch_union",  # only of a cluster: tests/rules/test_sketch_rules.py
    }
    rules = {rule.__name__ for rule in RULES}
    assert rules - elsewhere - fired == set(), "rules that no query of tests/corpus/queries needs"


@pytest.mark.parametrize("script", imports.scripts(), ids=lambda script: script.stem)
def test_old_scripts_become_what_is_expected(script: Path) -> None:
    assert imports.imported(script) == blocks(expectation(script).read_text(encoding="utf-8"))


@pytest.mark.spark
@pytest.mark.parametrize("script", scripts(), ids=lambda script: script.stem)
def test_rows_are_those_of_spark_over_the_raw_rows(script: Path, home: Path, reference: Reference) -> None:
    written = blocks(expectation(script).read_text(encoding="utf-8"))
    found = [
        (None if isinstance(a, Answer) else spark_job(a.bare()), _answer(a, spark=True)) for a in asked(script, home)
    ]
    assert [made.text for _, made in found] == written
    inputs = [item for job, _ in found if job is not None for item in job.inputs if isinstance(item, TableInput)]
    tables = {item.table.name: item.table for item in inputs}
    for table in tables.values():
        reference.load(table, ([row[c.name] for c in table.columns] for row in ROWS[table.name]()))
    wrong = []
    for job, made in found:
        if job is None:
            continue
        rows = in_utc(made.rows or [])
        wrong.append(_difference(made, rows, reference.rows(job, rows, list(made.types), ordered=made.is_ordered)))
    assert not any(wrong), "\n\n".join(filter(None, wrong))
