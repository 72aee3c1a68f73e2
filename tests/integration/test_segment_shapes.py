"""Segments of all shapes, of data sources that hivedruid did not make, are read with the same rows by queries and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.ingestion import ingest_all, until
from tests.support.segment_shapes import COLUMNS, FIELDS, MAPPING, REPLACED, everywhere, parts

if TYPE_CHECKING:
    from tests.support.cluster import Cluster, Run

pytestmark = pytest.mark.spark

ALL = ", ".join(f"`{name}`" for name in COLUMNS)
FROM, TO = (datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000 for day in REPLACED.split("/"))
"""The interval that is replaced, in milliseconds."""
Rows = Counter[tuple[Any, ...]]


@pytest.fixture(scope="module")
def expected(cluster: Cluster) -> Iterator[dict[str, Rows]]:
    """The rows of the data sources `shapes` and `everywhere`."""
    tasks, changes, rows = parts("shapes")
    everything, of_everything = everywhere("everywhere")
    with closing(cluster.druid()) as druid:
        ingest_all(druid, [*tasks, everything])
        replaced = {each for each in druid.segments("shapes") if FROM <= each.start < TO}
        ingest_all(druid, changes)
        until(lambda: not replaced.intersection(druid.segments("shapes")), "the tombstones beside the new segment")
        yield {"shapes": _rows(rows), "everywhere": _rows(of_everything)}
        for name in ("shapes", "everywhere"):
            druid.drop(name)


def _rows(rows: list[tuple[str, tuple[Any, ...]]]) -> Rows:
    return Counter((datetime.fromisoformat(time), *values) for time, values in rows)


@pytest.fixture(scope="module")
def run(cluster: Cluster, expected: dict[str, Rows], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with cluster.statements(tmp_path_factory.mktemp("home")) as run:
        for name in expected:
            run(
                f"CREATE EXTERNAL TABLE {name} STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{name}',"
                f" 'druid.columns.mapping' = '{MAPPING}')"
            )
        yield run


@pytest.mark.parametrize("table", ["shapes", "everywhere"])
def test_queries_and_files_have_the_rows(table: str, run: Run, expected: dict[str, Rows]) -> None:
    statement = f"SELECT `__time`, {ALL} FROM {table}"
    assert Counter(run(statement)) == expected[table]
    run("SET hivedruid.druid.read = segments")
    try:
        by_files = f"{statement} WHERE md5(coalesce(small, '')) <> ''"
        assert "druid.segments: read from" in "\n".join(str(row[0]) for row in run(f"EXPLAIN {by_files}"))
        assert Counter(run(by_files)) == expected[table]
    finally:
        run("SET hivedruid.druid.read = auto")


@pytest.mark.parametrize("kind", ["string", "long", "double"])
def test_every_name_is_grouped_and_filtered(kind: str, run: Run, expected: dict[str, Rows]) -> None:
    rows = list(expected["shapes"].elements())
    names = [
        (at, name) for at, (name, type_) in enumerate(zip(COLUMNS, FIELDS.values(), strict=True), 1) if type_ == kind
    ]
    groups = run(
        " UNION ALL ".join(f"SELECT {at}, `{name}` AS x, count(*) FROM shapes GROUP BY `{name}`" for at, name in names)
    )
    assert {row[:2]: row[2] for row in groups} == Counter((at, row[at]) for at, _ in names for row in rows)
    samples = [(at, name, next(row[at] for row in rows if row[at])) for at, name in names]
    found = run(
        " UNION ALL ".join(
            f"SELECT {at}, count(*) FROM shapes WHERE `{name}` = {sample!r}" for at, name, sample in samples
        )
    )
    assert dict(found) == {at: sum(row[at] == sample for row in rows) for at, _, sample in samples}


def test_extremes(run: Run, expected: dict[str, Rows]) -> None:
    for table, rows in expected.items():
        items = ", ".join(f"min(`{name}`), max(`{name}`)" for name in ("__time", *COLUMNS))
        values = [[row[at] for row in rows if row[at] is not None] for at in range(len(COLUMNS) + 1)]
        assert run(f"SELECT {items} FROM {table}") == [tuple(end(of) for of in values for end in (min, max))]
