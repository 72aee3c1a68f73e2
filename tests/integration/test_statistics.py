"""The statistics of a data source from a cluster, compared with those from the embedded store for the same rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.database import open_database
from hivedruid.catalog.statistics import ColumnStatistics
from hivedruid.embedded.store import EmbeddedStore
from tests.support.loads import ingest
from tests.support.staged import COLUMNS, DAY, NEW_YEAR, ROWS, stage, task

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

TYPES = {"s": "STRING", "l": "LONG", "d": "DOUBLE"}


def test_a_cluster_and_the_embedded_store_tell_the_same(
    druid: DruidCluster, new_data_source: Callable[[str], str], tmp_path: Path
) -> None:
    name = new_data_source("statistics")
    spec = task(name, stage(tmp_path / "rows", ROWS))
    ingest(druid, spec)
    druid.schema(name)
    free = druid.statistics(name)
    assert free is not None
    assert (free.rows, free.bytes, free.start, free.end) == (
        5, None, NEW_YEAR - 40 * DAY, NEW_YEAR + 4 * DAY,
    )  # fmt: skip
    assert free.columns["m"].has_multiple_values
    assert free.columns["l"].distinct is None
    assert (free.columns["s"].distinct or 0) >= 2

    found = druid.analysed(name, TYPES)
    store = EmbeddedStore(tmp_path / "home", open_database(tmp_path / "home"))
    ingest(store, spec)
    embedded = store.analysed(name, TYPES)
    store.close()
    assert (found.rows, found.start, found.end) == (embedded.rows, embedded.start, embedded.end)
    assert (found.bytes or 0) > 0
    assert found.columns["l"] == embedded.columns["l"] == ColumnStatistics(5, True, False, "-7", "9007199254740993")
    assert set(COLUMNS) <= set(found.columns)
    druid.drop(name)
    druid.schema(name)
    assert druid.statistics(name) is None
    assert druid.analysed(name, TYPES).rows == 0
