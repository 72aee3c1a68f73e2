"""Which partitions can have rows that satisfy a condition. Pure.

The parts of the condition that read only partition columns are evaluated for the values of each partition. A partition
stays if a part is true, or cannot be evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hivedruid.actions.partitioning.values import shown, typed
from hivedruid.catalog.partitions import NULL_VALUE, Partition
from hivedruid.catalog.table import Column, Table
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.expressions import Scope, compiled
from hivedruid.evaluation.functions import Given
from hivedruid.plan.rex import Rex, Subquery, conjuncts, is_deterministic, refs

Test = Callable[[tuple[Any, ...]], Any]


def remaining(
    table: Table, known: Iterable[Partition], ids: Mapping[str, str], condition: Rex, zone: str
) -> tuple[Partition, ...]:
    """The partitions with rows that can satisfy the condition, whose columns have these names by their ids."""
    places = {column.name: place for place, column in enumerate(table.partition_columns)}
    slots = {id_: places[name] for id_, name in ids.items() if name in places}
    tests = [test for part in conjuncts(condition) if (test := _test(part, slots, zone)) is not None]
    if not tests:
        return tuple(known)
    return tuple(each for each in known if _can_match(each, table.partition_columns, tests, zone))


def _test(part: Rex, slots: Mapping[str, int], zone: str) -> tuple[frozenset[int], Test] | None:
    """The places of the columns that a part of the condition reads, and the part as a function of them."""
    read = refs(part)
    if not read or not read <= slots.keys() or not is_deterministic(part):
        return None
    try:
        return frozenset(slots[id_] for id_ in read), compiled(part, Scope(slots, Given(zone), no_subquery))
    except NotLocal:
        return None


def no_subquery(_query: Subquery, _scope: Scope) -> Test:
    raise NotLocal("a subquery")


def _can_match(
    partition: Partition, columns: tuple[Column, ...], tests: list[tuple[frozenset[int], Test]], zone: str
) -> bool:
    values = [_value(text, column, zone) for text, column in zip(partition.values, columns, strict=True)]
    row = tuple(value for _, value in values)
    for places, test in tests:
        if all(values[place][0] for place in places):
            try:
                if test(row) is not True:
                    return False
            except (Unsure, ArithmeticError):
                continue
    return True


def _value(text: str, column: Column, zone: str) -> tuple[bool, Any]:
    """Whether the value of the rows is known, and the value. A folder that Hive would name otherwise is always read."""
    known, value = typed(text, column, zone)
    if not known or value is None:
        return known and text == NULL_VALUE, None
    return shown(value, column) == text, value
