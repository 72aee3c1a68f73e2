"""Every operator over every column of the right type: each expression alone, many to a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hivedruid.plan.split import druid_read
from tests.equivalence.comparison import Rows, same, same_value
from tests.equivalence.coverage import Coverage
from tests.equivalence.engine import Engine
from tests.equivalence.local import answered, sure_rows
from tests.equivalence.operators import AGGREGATES, CONDITIONS, VALUES, filled
from tests.equivalence.shapes import SHAPES, with_defaults
from tests.equivalence.tables import World

BATCH = 60
"""Expressions in one query."""

KEYS = (
    "",
    "w",
    "b",
    "d",
    "f",
    "big",
    "ti",
    "`__time`",
    "floor_month(`__time`)",
    "to_date(`__time`)",
    "upper(s)",
    "d > 0",
    "cast(l AS double)",
)
FEW_KEYS = ("", "w")
"""Keys for which DISTINCT is tested, a query for each, and aggregates over no rows."""
ORDERS = ("", " ASC", " DESC", " NULLS FIRST", " NULLS LAST", " DESC NULLS FIRST", " DESC NULLS LAST")
ORDER_KEYS = (
    *("s", "w", "n", "b", "ti", "sm", "i", "l", "big", "d", "f"),
    *("`__time`", "to_date(`__time`)", "floor_day(`__time`)"),
)
ZONED_AGGREGATES = [
    "count(DISTINCT `__time`)",
    "count(to_date(`__time`))",
    "count(DISTINCT to_date(`__time`))",
    "min(to_date(`__time`))",
    "max(to_date(`__time`))",
]
"""Aggregates that depend on the zone; in the first world all are tested."""


@dataclass
class Sweep:
    """The differences, and the number of compared expressions."""

    differences: list[str] = field(default_factory=list)
    compared: int = 0
    left_to_spark: int = 0
    evaluated: int = 0
    """The number of values that local evaluation has computed."""


def sweep(engine: Engine, world: World, coverage: Coverage, *, all_types: bool) -> Sweep:
    """Compare every expression over the world; without `all_types` only those that depend on the zone."""
    engine.load(world)
    result = Sweep()

    def chosen(texts: Iterator[str]) -> list[str]:
        return [text for text in texts if all_types or "__time" in text or "unixtime" in text or "timestamp" in text]

    _values(engine, chosen(filled(VALUES)), result, coverage)
    conditions = chosen(filled(CONDITIONS))
    _columns(engine, conditions)
    _filters(engine, conditions, result, coverage)
    _where(engine, [text for text in conditions if "__time" in text], result)
    keys = KEYS if all_types else [key for key in KEYS if "__time" in key]
    for key in keys:
        _aggregates(
            engine,
            key,
            [*filled(AGGREGATES), "count(f)"]
            if all_types
            else ["count(*)", "count(`__time`)", "min(`__time`)", "max(`__time`)", "sum(l)"],
            result,
            coverage,
        )
    if all_types:
        _orders(engine, ORDER_KEYS, ORDERS, result, coverage)
        _shapes(engine, result, coverage)
    else:
        _aggregates(engine, "", ZONED_AGGREGATES, result, coverage)
        _orders(engine, [key for key in ORDER_KEYS if "__time" in key], ("",), result, coverage)
    return result


def _pushable(engine: Engine, sql: str, result: Sweep) -> bool:
    pushed = druid_read(engine.plan(sql)) is not None
    result.left_to_spark += not pushed
    return pushed


def _parted(engine: Engine, form: str, texts: list[str], result: Sweep, coverage: Coverage) -> list[str]:
    """The expressions that can be pushed down. The operators of the others count as covered, too: they run on Spark."""
    pushable = [text for text in texts if _pushable(engine, form.format(text), result)]
    assert engine.world is not None
    for text in texts:
        if druid_read(engine.plan(form.format(text))) is None:
            coverage.record(engine.plan(form.format(text), pushed=False), engine.world)
    return pushable


def _chunks(items: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def _values(engine: Engine, texts: list[str], result: Sweep, coverage: Coverage) -> None:
    """As projections."""
    pushable = _parted(engine, "SELECT {} FROM t", texts, result, coverage)
    for chunk in _chunks(pushable):
        listed = ", ".join(f"{text} AS c{i}" for i, text in enumerate(chunk))
        _compare_columns(engine, f"SELECT id, {listed} FROM t", chunk, result, coverage)


def _columns(engine: Engine, texts: list[str]) -> None:
    """Conditions as projections, which Druid computes without vectorizing, on both engines; with Spark, as filters."""
    pushable = [text for text in texts if druid_read(engine.plan(f"SELECT {text} FROM t")) is not None]
    for chunk in _chunks(pushable):
        listed = ", ".join(f"{text} AS c{i}" for i, text in enumerate(chunk))
        assert engine.pushed(engine.plan(f"SELECT id, {listed} FROM t"))


def _filters(engine: Engine, texts: list[str], result: Sweep, coverage: Coverage) -> None:
    """As conditions of aggregates, plain and negated: the rows for which each is true, by the sum of their ids."""
    both = [form.format(text) for text in texts for form in ("{0}", "NOT ({0})")]
    pushable = _parted(engine, "SELECT count(*) FILTER (WHERE {}) FROM t", both, result, coverage)
    for chunk in _chunks(pushable):
        counted = ", ".join(f"sum(id * id + 1) FILTER (WHERE {text}) AS c{i}" for i, text in enumerate(chunk))
        _compare_columns(engine, f"SELECT count(*), {counted} FROM t", chunk, result, coverage)


def _where(engine: Engine, texts: list[str], result: Sweep) -> None:
    """As WHERE, which becomes intervals."""
    both = [form.format(text) for text in texts for form in ("{0}", "NOT ({0})")]
    pushable = [text for text in both if _pushable(engine, f"SELECT id FROM t WHERE {text}", result)]
    assert engine.world is not None
    ids = [row[1] for row in engine.world.t.rows]
    for chunk in _chunks(pushable):
        listed = ", ".join(f"({text}) IS TRUE AS c{i}" for i, text in enumerate(chunk))
        matches = [
            sorted(id_ for (id_,) in engine.pushed(engine.plan(f"SELECT id FROM t WHERE {text}"))) for text in chunk
        ]
        found = [(id_, *(id_ in matching for matching in matches)) for id_ in ids]
        truth = engine.expected(engine.plan(f"SELECT id, {listed} FROM t", pushed=False), found, ordered=False)
        for position, (text, matching) in enumerate(zip(chunk, matches, strict=True), start=1):
            expected = sorted(row[0] for row in truth if row[position])
            result.compared += 1
            if matching != expected:
                result.differences.append(f"WHERE {text}: ids {matching} instead of {expected}")


def _compare_columns(engine: Engine, sql: str, texts: list[str], result: Sweep, coverage: Coverage) -> None:
    plan = engine.plan(sql)
    read = druid_read(plan)
    assert read is not None, f"each is pushed alone, together they are not: {sql}"
    found = sorted(engine.read(read), key=lambda row: row[0])
    bare = engine.plan(sql, pushed=False)
    assert engine.world is not None
    coverage.record(bare, engine.world)
    expected = sorted(engine.expected(bare, found, ordered=False), key=lambda row: row[0])
    assert [row[0] for row in found] == [row[0] for row in expected]
    result.compared += len(texts)
    if plan.columns[0].name == "id":  # otherwise the single row has a count
        _local_columns(engine, texts, expected, result)
    for position, (text, column) in enumerate(zip(texts, plan.columns[1:], strict=True), start=1):
        tolerance = 1e-6 if column.type.name == "float" else 1e-9
        wrong = next(
            (
                (a, b)
                for a, b in zip(found, expected, strict=True)
                if not same_value(a[position], b[position], tolerance)
            ),
            None,
        )
        if wrong is not None:
            a, b = wrong
            result.differences.append(
                f"{text} ({column.type}): {a[position]!r} instead of {b[position]!r} in row {a[0]}"
            )


def _local_columns(engine: Engine, texts: list[str], expected: Rows, result: Sweep) -> None:
    """The same expressions by local evaluation, value by value: every value that it does not leave to Spark equals
    Spark's.
    """
    for position, text in enumerate(texts, start=1):
        plan = engine.scans(f"SELECT id, {text} AS c FROM t")
        truth = {row[0]: row[position] for row in expected}
        tolerance = 1e-6 if plan.columns[1].type.name == "float" else 1e-9
        for id_, found in sure_rows(plan, engine.stored):
            result.evaluated += 1
            if not same_value(found, truth[id_], tolerance):
                result.differences.append(
                    f"evaluated locally: {text}: {found!r} instead of {truth[id_]!r} in row {id_}"
                )


def _aggregates(engine: Engine, key: str, calls: list[str], result: Sweep, coverage: Coverage) -> None:
    """All aggregates for one key, over all rows and over none."""
    keys, group = (f"{key} AS k, ", f" GROUP BY {key}") if key else ("", "")
    pushable = _parted(engine, f"SELECT {keys}{{}} FROM t{group}", calls, result, coverage)
    plain = [call for call in pushable if "DISTINCT" not in call]
    alone = [[call, "count(*)", "sum(l)", "min(d)", "avg(i)"] for call in pushable if "DISTINCT" in call]
    for chunk in [*_chunks(plain), *(alone if key in FEW_KEYS else [])]:
        listed = ", ".join(f"{call} AS c{i}" for i, call in enumerate(chunk))
        for where in ("", " WHERE id < 0") if key in FEW_KEYS else ("",):
            sql = f"SELECT {keys}{listed} FROM t{where}{group}"
            plan = engine.plan(sql)
            bare = engine.plan(sql, pushed=False)
            assert engine.world is not None
            coverage.record(bare, engine.world)
            found = engine.pushed(plan)
            expected = engine.expected(bare, found, ordered=False)
            result.compared += len(chunk)
            types = [c.type for c in plan.columns]
            if not same(found, expected, types, ordered=False):
                result.differences.append(f"{sql}\n  {_first_difference(found, expected)}")
            local = answered(engine.scans(sql), engine.stored)
            if local is not None and not same(local, expected, types, ordered=False):
                result.differences.append(f"evaluated locally: {sql}\n  {_first_difference(local, expected)}")


def _first_difference(found: Rows, expected: Rows) -> str:
    extra = [row for row in found if row not in expected]
    return f"{extra[:2]!r} … instead of {[row for row in expected if row not in found][:2]!r} …"


def _orders(engine: Engine, keys: Iterable[str], orders: Iterable[str], result: Sweep, coverage: Coverage) -> None:
    """Every key in every order: the limit shows which rows come first."""
    for key in keys:
        for order in orders:
            for sql in (
                f"SELECT {key} AS k, count(*) AS c FROM t GROUP BY {key} ORDER BY k{order} LIMIT 3",
                f"SELECT {key} AS k, max(l) AS m FROM t GROUP BY {key} ORDER BY m{order}, k{order} LIMIT 4 OFFSET 1",
            ):
                answers = engine.answers(sql, ordered=True)
                assert engine.world is not None
                coverage.record(answers.unpushed, engine.world)
                result.compared += 1
                if not same(answers.pushed, answers.expected, answers.types, ordered=True):
                    result.differences.append(f"{sql}\n  {answers.pushed!r} instead of {answers.expected!r}")
                for rows in answers.local:
                    if not same(rows, answers.expected, answers.types, ordered=True):
                        result.differences.append(
                            f"evaluated locally: {sql}\n  {rows!r} instead of {answers.expected!r}"
                        )


def _shapes(engine: Engine, result: Sweep, coverage: Coverage) -> None:
    """Every shape of a query with its defaults."""
    for shape in SHAPES:
        sql = with_defaults(shape)
        answers = engine.answers(sql, ordered=shape.ordered)
        assert engine.world is not None
        coverage.record(answers.unpushed, engine.world)
        coverage.shapes[shape.name].append(answers.is_fully_pushed)
        result.compared += 1
        if not same(answers.pushed, answers.expected, answers.types, ordered=shape.ordered):
            result.differences.append(f"{sql}\n  {_first_difference(answers.pushed, answers.expected)}")
        for rows in answers.local:
            if not same(rows, answers.expected, answers.types, ordered=shape.ordered):
                result.differences.append(f"evaluated locally: {sql}\n  {_first_difference(rows, answers.expected)}")
