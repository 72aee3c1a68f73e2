"""Every operator over every column of the right type as the key of groups and as a condition, in native queries."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.catalog.types import TIMESTAMP, TIMESTAMP_LTZ
from hivedruid.errors import HiveDruidError
from hivedruid.plan.split import druid_read
from tests.equivalence.engine import Engine
from tests.equivalence.operators import CONDITIONS, VALUES, filled
from tests.equivalence.tables import RandomTable, World, full_world

_GROUPS = (
    "SELECT {0} AS k, count(*) AS c FROM t GROUP BY {0}",
    "SELECT w AS w, {0} AS k, count(*) AS c FROM t GROUP BY w, {0}",
    "SELECT {0} AS k, count(*) AS c FROM t GROUP BY {0} ORDER BY k LIMIT 1000",
)
_COUNTS = ("SELECT count(*) AS c FROM t WHERE {0}", "SELECT count(*) AS c FROM t WHERE NOT ({0})")


def sweep(engine: Engine) -> None:
    """Run all of them that are pushed down; `engine.real` compares them with the embedded store."""
    for world in (full_world("US/Pacific", TIMESTAMP_LTZ), full_world("UTC", TIMESTAMP), _of_nulls()):
        engine.load(world)
        for sql in _statements():
            try:
                plan = engine.plan(sql)
            except HiveDruidError:
                continue  # not all values can be keys
            if druid_read(plan) is not None:
                engine.pushed(plan)


def _statements() -> Iterator[str]:
    values, conditions = list(filled(VALUES)), list(filled(CONDITIONS))
    for forms, texts in ((_GROUPS, [*values, *conditions]), (_COUNTS, conditions)):
        yield from (form.format(text) for form in forms for text in texts)


def _of_nulls() -> World:
    """Three rows in which every column except the time and the id is null."""
    full = full_world("UTC", TIMESTAMP)
    rows = tuple((*row[:2], *(None for _ in row[2:])) for row in full.t.rows[:3])
    return World(full.zone, full.time, RandomTable(full.t.table, rows), RandomTable(full.u.table, ()))
