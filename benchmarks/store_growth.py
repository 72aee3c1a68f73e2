"""How the embedded store, and the comparison of a cluster's segments, scale with segments and rows: CPU seconds.

growth.py runs it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from hivedruid.catalog.database import open_database
from hivedruid.catalog.types import BIGINT
from hivedruid.clients import wire
from hivedruid.clients.fitting import fitted
from hivedruid.clients.published import overwritten
from hivedruid.clients.segment_list import combined
from hivedruid.clients.segments import not_hidden
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.engine.segments import Segment, parts_of
from hivedruid.jobs.load import Load, NoJournal
from hivedruid.jobs.staged import StagedRows
from hivedruid.plan.physical import DruidRead, Field

DAY = 86_400_000
SEGMENTS = (250, 1000, 4000)
ROWS = (10_000, 100_000, 1_000_000)
COUNT = {
    "queryType": "timeseries", "granularity": "all", "dataSource": "t", "intervals": ["1960-01-01/2060-01-01"],
    "aggregations": [{"type": "count", "name": "n"}],
}  # fmt: skip


def seconds(work: Callable[[], object]) -> float:
    begin = process_time()
    work()
    return process_time() - begin


def load(folder: Path, rows: Iterable[Mapping[str, Any]]) -> Load:
    """A task that replaces everything by these rows, in segments of a day."""
    folder.mkdir()
    with (folder / "rows.json").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    spec = {
        "dataSchema": {
            "dataSource": "t", "timestampSpec": {"column": "__time", "format": "millis"},
            "dimensionsSpec": {"dimensions": ["k", "tags", {"type": "long", "name": "n"}]},
            "granularitySpec": {"segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": False},
        },
        "ioConfig": {
            "inputSource": {"type": "local", "baseDir": str(folder), "filter": "*"}, "inputFormat": {"type": "json"},
        },
    }  # fmt: skip
    staged = StagedRows(str(folder), 0, 0, (), {})
    return Load("benchmark", {"type": "index_parallel", "spec": spec}, staged, "all")


def small_segments(size: int) -> dict[str, float]:
    """Segments of two rows. A third of them has a column with several values in a row."""
    with TemporaryDirectory() as folder, closing(open_database(Path(folder, "home"))) as connection:
        store = EmbeddedStore(Path(folder, "home"), connection)
        rows = ({"__time": day * DAY + hour, "k": f"k{day}", "n": day} for day in range(size) for hour in (1, 2))
        task = load(Path(folder, "rows"), rows)
        count = DruidRead(COUNT, (Field("n", BIGINT),))
        found = {
            "segments to write": seconds(lambda: store.ingest(task, NoJournal())),
            "segments to count": seconds(lambda: list(store.rows(count))),
            "segments to replace": seconds(lambda: store.ingest(task, NoJournal())),
        }
        mixed = (
            {"__time": day * DAY + hour, "k": "k", "n": day, "tags": ["x", "y"] if day % 3 == 0 else "x"}
            for day in range(size)
            for hour in (1, 2)
        )
        store.ingest(load(Path(folder, "mixed"), mixed), NoJournal())
        found["segments of two schemas to count"] = seconds(lambda: list(store.rows(count)))
        found["segments to drop"] = seconds(lambda: store.drop("t"))
        store.close()
        return found


def many_rows(size: int) -> dict[str, float]:
    """Rows in a hundred segments."""
    with TemporaryDirectory() as folder, closing(open_database(Path(folder, "home"))) as connection:
        store = EmbeddedStore(Path(folder, "home"), connection)
        rows = ({"__time": n % 100 * DAY + n, "k": f"k{n % 1000}", "n": n} for n in range(size))
        task = load(Path(folder, "rows"), rows)
        found = {"rows to write": seconds(lambda: store.ingest(task, NoJournal()))}
        store.close()
        return found


def compared_segments(size: int) -> dict[str, float]:
    """Segments of one ingestion into a cluster, and of one that replaces it."""

    def written(version: str) -> list[Segment]:
        return [Segment("t", 2 * n * DAY, (2 * n + 1) * DAY, version, 0, replicas=1) for n in range(size)]

    old, new = written("v1"), written("v2")
    answers = [
        {
            "dataSource": "t", "interval": segment.interval, "version": "v1", "identifier": segment.id,
            "shardSpec": {"type": "numbered", "partitionNum": 0},
        }
        for segment in old
    ]  # fmt: skip
    stored = [fitted(answer, wire.DataSegment) for answer in answers]
    parts = parts_of(old)
    return {
        "segments to list": seconds(lambda: combined("t", stored, old, {})),
        "segments to wait for": seconds(lambda: [s for s in old if not s.has_part_in(parts)]),
        "segments to restore": seconds(lambda: (not_hidden(old, new), overwritten(old, new))),
    }


GROUPS: tuple[tuple[tuple[int, ...], Callable[[int], dict[str, float]]], ...] = (
    (SEGMENTS, small_segments),
    (ROWS, many_rows),
    (SEGMENTS, compared_segments),
)
"""Sizes, and the seconds by axis for one size."""
