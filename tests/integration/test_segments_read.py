"""Segments that Druid writes are read from deep storage: the same rows as a scan returns, in every index spec."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.segments.segment import open_segment
from tests.support.segments import COLUMNS, INDEX_SPECS, as_scanned, ingest_rows, scanned, stored

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster


@pytest.mark.parametrize("spec", INDEX_SPECS)
def test_every_column(
    spec: str, druid: DruidCluster, task_slot: None, new_data_source: Callable[[str], str], tmp_path: Path
) -> None:
    name = new_data_source("segments")
    ingest_rows(druid, name, tmp_path / "rows", INDEX_SPECS[spec])
    (path,) = stored(druid, name)
    expected = scanned(druid, name)
    with open_segment(path) as segment:
        for at, column in enumerate(COLUMNS):
            assert _values(segment.column(column).data.array(None), segment.column(column).type) == [
                row[at] for row in expected
            ], column


def _values(array: Any, type_: str) -> list[Any]:
    return as_scanned(array.to_pylist(), type_)
