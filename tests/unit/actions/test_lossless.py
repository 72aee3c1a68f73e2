"""The table of a join view whose every row is in the view exactly once, determined by counting."""

from __future__ import annotations

import pytest

from hivedruid.actions.materialized.lossless import find_root, root_checks
from hivedruid.actions.materialized.model import RootChecks
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP
from hivedruid.plan.blocks import definition_of
from hivedruid.plan.build import Builder
from hivedruid.plan.physical import SparkJob
from tests.support.planning import parse, snapshot


def table(name: str, *columns: str) -> Table:
    types = {"t": TIMESTAMP, "name": STRING, "kind": STRING}
    return Table(
        "default", name, "iceberg", tuple(Column(c, types.get(c, BIGINT)) for c in columns), format="orc", table_id=name
    )


TABLES = (
    table("facts", "t", "a_id", "b_id", "x"),
    table("a", "id", "name", "c_id"),
    table("b", "id", "part", "kind"),
    table("c", "id", "name"),
)


def checks(sql: str) -> RootChecks | None:
    expression, source = parse(sql)
    builder = Builder(source, snapshot("UTC", TABLES))
    definition = definition_of(builder.query(expression, None))
    assert not isinstance(definition, str)
    return root_checks(definition, builder)


STAR = "SELECT facts.x FROM a, facts, b WHERE a_id = a.id AND b_id = b.id"
CHAIN = "SELECT x FROM facts JOIN a ON a_id = a.id JOIN c ON a.c_id = c.id"


def test_what_is_counted() -> None:
    found = checks(STAR)
    assert found is not None
    assert "count(*)" in found.counts.sql
    assert len(found.keys) == 3
    seen_from_facts = found.keys[1].sql
    assert seen_from_facts.count("count(DISTINCT") == 2
    assert "x" not in {c for item in found.keys[1].inputs for c in getattr(item, "columns", ())}
    chain = checks(CHAIN)
    assert chain is not None
    assert chain.keys[0].sql.count("count(DISTINCT") == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x FROM facts",
        "SELECT x FROM facts JOIN a ON a_id = a.id WHERE x > 3",
        "SELECT x FROM facts JOIN a ON a_id < a.id",
        "SELECT x FROM facts CROSS JOIN a",
        "SELECT x FROM facts JOIN a ON a_id = a.id JOIN b ON b_id = b.id AND b.part = a.c_id",
        "SELECT x FROM facts JOIN b ON CAST(b_id AS STRING) = kind",
    ],
)
def test_joins_that_are_no_tree_of_equal_columns(sql: str) -> None:
    assert checks(sql) is None


def answers(found: RootChecks, counts: tuple[int, ...], **uniqueness: tuple[int, ...]) -> object:
    """A source of first rows; `uniqueness` by the position of the table at which the join starts."""

    def first_row(job: SparkJob) -> tuple[int, ...]:
        if job is found.counts:
            return counts
        position = next(i for i, keys in enumerate(found.keys) if keys is job)
        return uniqueness[f"from_{position}"]

    return first_row


@pytest.mark.parametrize(
    ("counts", "uniqueness", "root"),
    [
        ((3, 100, 5), {"from_1": (3, 3, 5, 5)}, 1),
        ((3, 100, 5), {"from_1": (3, 2, 5, 5)}, None),  # a key of `a` twice
        ((3, 101, 5), {}, None),  # a row of `facts` without a match
        ((100, 100, 5), {"from_0": (100, 90, 5, 5), "from_1": (100, 100, 5, 5)}, 1),
    ],
)
def test_the_root(counts: tuple[int, ...], uniqueness: dict[str, tuple[int, ...]], root: int | None) -> None:
    found = checks(STAR)
    assert found is not None
    assert find_root(found, 100, answers(found, counts, **uniqueness)) == root  # type: ignore[arg-type]
