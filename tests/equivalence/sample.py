"""Random queries over random tables: run, compared, and shrunk if they differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from hivedruid.plan.split import spark_job
from tests.equivalence.comparison import same, shown
from tests.equivalence.coverage import Coverage
from tests.equivalence.engine import Answers, Engine, queries_of
from tests.equivalence.queries import Query, queries
from tests.equivalence.tables import TIME_TYPES, ZONES, RandomTable, World, worlds

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

PER_WORLD = 25
TIERED_EVERY = 5
"""In `make test`, one of as many worlds is also stored in tiered tables."""
AT_ONCE = 24
"""Worlds that the cluster holds at the same time; a longer run drops them before it continues."""


@dataclass
class Sample:
    """The number of compared queries, the number of fully pushed-down ones, and the first that differs."""

    seed: int
    texts: set[str] = field(default_factory=set)
    runs: int = 0
    fully_pushed: int = 0
    shapes: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    """For each query of a shape, whether it was fully pushed down."""
    failure: str | None = None

    @property
    def share(self) -> float:
        return self.fully_pushed / max(1, self.runs)


class DifferenceError(AssertionError):
    """A query whose results differ, or that fails. `is_real`: the cluster's result is the one that differs."""

    def __init__(self, query: Query, message: str, *, is_real: bool = False) -> None:
        super().__init__(message)
        self.query = query
        self.is_real = is_real


def random_worlds(seed: int, count: int) -> Iterator[World]:
    """Tables for every zone and type of time in turn. Hypothesis begins with the smallest example, tables without rows,
    of which one is sufficient.
    """
    combinations = [(zone, time) for time in TIME_TYPES for zone in ZONES]
    pools: list[list[World]] = []
    for number, (zone, time) in enumerate(combinations):
        pool: list[World] = []
        _generate(seed + number, -(-count // len(combinations)) + 1, worlds(zone, time), pool.append)
        pools.append(pool[1:] if number else pool)
    for number in range(count):
        pool = pools[number % len(pools)]
        yield pool[number // len(pools) % len(pool)]


def _generate(seed: int, count: int, strategy: SearchStrategy[World], take: Callable[[World], None]) -> None:
    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def run(world: World) -> None:
        take(world)

    run()


def sample(engine: Engine, seed: int, count: int, coverage: Coverage, *, tiered_every: int = TIERED_EVERY) -> Sample:
    """Run `count` queries; ends at the first that differs."""
    result = Sample(seed)
    drawn = [
        (number, replace(world, split=seed * 1000 + number) if (number - 1) % tiered_every == 0 else world)
        for number, world in enumerate(random_worlds(seed, -(-count // PER_WORLD)))
    ]
    for start in range(0, len(drawn), AT_ONCE):
        some = drawn[start : start + AT_ONCE]
        engine.prepare(world for _, world in some)
        for number, world in some:
            engine.load(world)
            try:
                _queries(engine, world, seed * 1000 + number, result, coverage)
            except DifferenceError as different:
                engine.real.is_asked = different.is_real
                result.failure = explain(engine, _fewer_rows(engine, world, different), different)
                engine.real.is_asked = True
                return result
        if start + AT_ONCE < len(drawn):
            engine.forget(world for _, world in some)
    return result


def _queries(engine: Engine, world: World, seed: int, result: Sample, coverage: Coverage) -> None:
    @hypothesis.seed(seed)
    @settings(
        max_examples=PER_WORLD, database=None, deadline=None, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck), report_multiple_bugs=False, print_blob=False, verbosity=hypothesis.Verbosity.quiet,
    )  # fmt: skip
    @given(queries(lambda sql: [column.type for column in engine.plan(sql, pushed=False).columns]))
    def run(query: Query) -> None:
        answers = compare(engine, query)
        result.runs += 1
        result.texts.add(query.sql)
        result.fully_pushed += answers.is_fully_pushed
        result.shapes[query.shape].append(answers.is_fully_pushed)
        coverage.record(answers.unpushed, world)

    run()


def compare(engine: Engine, query: Query) -> Answers:
    """All results. Raises DifferenceError if they are not equal."""
    before = len(engine.real.differences)
    try:
        answers = engine.answers(query.sql, ordered=query.ordered)
    except Exception as error:  # for any exception, the message shows the query
        raise DifferenceError(query, f"{type(error).__name__}: {error}") from error
    if not same(answers.pushed, answers.expected, answers.types, ordered=query.ordered):
        raise DifferenceError(query, "the answers differ")
    if not all(same(rows, answers.expected, answers.types, ordered=query.ordered) for rows in answers.local):
        raise DifferenceError(query, "the answer of local evaluation differs")
    if not all(same(rows, answers.expected, answers.types, ordered=query.ordered) for rows in answers.tiered):
        raise DifferenceError(query, "the answer over tiered tables differs")
    if len(engine.real.differences) > before:
        raise DifferenceError(query, engine.real.differences[-1], is_real=True)
    return answers


# --- shrinking a difference ------------------------------------------------------------------------------------------


def _fewer_rows(engine: Engine, world: World, different: DifferenceError) -> World:
    """The world with as few rows as possible that still show the difference (halves, quarters, … single rows)."""
    if different.is_real:
        return world  # each step would be two tasks
    for name in ("t", "u"):
        size = max(1, len(getattr(world, name).rows) // 2)
        while size:
            start = 0
            while start < len(getattr(world, name).rows):
                table: RandomTable = getattr(world, name)
                smaller = replace(world, **{name: table.without(start, start + size)})  # type: ignore[arg-type]
                if _differs(engine, smaller, different.query):
                    world = smaller
                else:
                    start += size
            size //= 2
    return world


def _differs(engine: Engine, world: World, query: Query) -> bool:
    engine.load(world)
    try:
        compare(engine, query)
    except DifferenceError:
        return True
    return False


def explain(engine: Engine, world: World, different: DifferenceError) -> str:
    """The details of a difference."""
    import json

    query = different.query
    engine.load(world)
    lines = [f"{query.sql}", f"  session zone {world.zone}, __time {world.time}"]
    for table in world.tables:
        lines.append(f"  {table.table.name}({', '.join(c.name for c in table.table.columns)}):")
        lines += [f"    {row!r}" for row in table.rows]
    try:
        plan = engine.plan(query.sql)
        lines.append(f"  rules: {', '.join(plan.fired)}")
        lines += [f"  native: {json.dumps(native, ensure_ascii=False)}" for native in queries_of(plan)]
        lines.append(f"  Spark, nothing pushed: {spark_job(engine.plan(query.sql, pushed=False)).sql}")
        answers = engine.answers(query.sql, ordered=query.ordered)
        lines += ["  pushed:", shown(answers.pushed), "  expected:", shown(answers.expected)]
        lines += [line for rows in answers.local for line in ("  evaluated locally:", shown(rows))]
        lines += [
            line
            for rows in answers.tiered
            for line in ("  over tiered tables:", shown(rows), engine.tiered.plan(query.sql))
        ]
        lines += ["  on a real Druid:", str(different)] if different.is_real else []
    except Exception as error:  # noqa: BLE001 - it is what the reader is to see
        lines.append(f"  {type(error).__name__}: {str(error)[:2000]}")
    return "\n".join(lines)
