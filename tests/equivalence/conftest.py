"""One engine, one sweep and one sample for the whole run; a report of them at its end."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.catalog.types import TIMESTAMP, TIMESTAMP_LTZ
from hivedruid.spark import session
from tests.equivalence.coverage import PAGE, Coverage, page
from tests.equivalence.engine import Engine
from tests.equivalence.real import RealDruid
from tests.equivalence.sample import TIERED_EVERY, Sample, sample
from tests.equivalence.sweep import Sweep, sweep
from tests.equivalence.tables import ZONES, full_world
from tests.support.reference import Confirmed
from tests.support.spark_settings import spark_of_few_rows  # noqa: F401 - for all tests of this folder

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

QUERIES = 300
"""Random queries in `make test`; HIVEDRUID_EQUIVALENCE sets another number, with a new seed."""

_report: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-coverage", action="store_true", help="write docs/equivalence.md")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _report:
        terminalreporter.section("equivalence")
        for line in _report:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def real(cluster: Cluster) -> Iterator[RealDruid]:
    made = RealDruid(cluster.druid)
    yield made
    if cluster.is_adopted:
        made.drop(made.made)
    made.close()
    limited = f", {made.refused_for_resources} refused for lack of resources" if made.refused_for_resources else ""
    _report.append(f"real Druid: {made.compared} native queries compared, {len(set(made.differences))} differ{limited}")


@pytest.fixture(scope="session")
def engine(
    real: RealDruid, confirmed_in: Callable[[Path], Confirmed], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    home: Path = tmp_path_factory.mktemp("equivalence")
    made = Engine(home, real, confirmed_in(Path(__file__).parent))
    yield made
    _report.append(
        f"references: {len(made.reference.confirmed.now)} answers, {made.reference.computed} computed by Spark"
    )
    made.close()
    session.release_all()


@pytest.fixture(scope="session")
def coverage() -> Coverage:
    return Coverage()


@pytest.fixture(scope="session")
def swept(engine: Engine, coverage: Coverage) -> Sweep:
    """The sweep in every zone, and in one for the plain timestamp, which has none; other types run once."""
    total = Sweep()
    combinations = [*((zone, TIMESTAMP_LTZ) for zone in ZONES), (ZONES[1], TIMESTAMP)]
    engine.prepare(full_world(zone, time) for zone, time in combinations)
    for number, (zone, time) in enumerate(combinations):
        part = sweep(engine, full_world(zone, time), coverage, all_types=number == 0)
        total.differences += [f"[{zone}, {time}] {text}" for text in part.differences]
        total.compared += part.compared
        total.left_to_spark += part.left_to_spark
        total.evaluated += part.evaluated
    _report.append(
        f"sweep: {total.compared} expressions compared, {total.left_to_spark} left to Spark, {len(total.differences)} differ"
    )
    _report.append(f"local evaluation: {total.evaluated} values of expressions compared")
    return total


@pytest.fixture(scope="session")
def sampled(engine: Engine, coverage: Coverage) -> Sample:
    asked = os.environ.get("HIVEDRUID_EQUIVALENCE")
    chosen = os.environ.get("HIVEDRUID_EQUIVALENCE_SEED")
    seed = int(chosen) if chosen else random.SystemRandom().randrange(1_000_000) if asked else 0
    result = sample(engine, seed, int(asked or QUERIES), coverage, tiered_every=1 if asked else TIERED_EVERY)
    _report.append(
        f"random: {result.runs} queries ({len(result.texts)} different), {result.share:.1%} fully pushed, seed {seed}"
        + (f": HIVEDRUID_EQUIVALENCE={asked} HIVEDRUID_EQUIVALENCE_SEED={seed} runs the same" if asked else "")
    )
    _report.append(f"  evaluated locally: {engine.evaluated} plans, left to Spark: {engine.not_evaluated}")
    _report.append(f"  over tiered tables: {engine.tiered.compared} queries")
    for shape, whole in sorted(result.shapes.items()):
        _report.append(f"  {shape}: {sum(whole)} of {len(whole)} fully pushed")
    return result


@pytest.fixture
def coverage_page(swept: Sweep, sampled: Sample, coverage: Coverage, request: pytest.FixtureRequest) -> str:
    """The page with the current coverage; written if the option is given."""
    text = page(coverage)
    if request.config.getoption("--update-coverage", default=False):
        PAGE.write_text(text, encoding="utf-8")
    return text
