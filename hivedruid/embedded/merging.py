"""COMPACT of the embedded store: the segments of one interval are merged into one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from hivedruid.embedded.duck import Duck, failures
from hivedruid.embedded.manifest import Manifest
from hivedruid.embedded.sql import string_literal
from hivedruid.embedded.storage import Storage
from hivedruid.engine.segments import Segment

MOST_ROWS = 5_000_000
"""Rows of a merged segment: the `maxRowsPerSegment` that Druid and this store use by default."""


def merge(data_source: str, storage: Storage, manifest: Manifest) -> tuple[int, int]:
    """Merge segments; returns how many there were, and how many there are. One commit replaces all of them."""
    segments = manifest.segments(data_source)
    runs = [run for run in _runs(segments) if len(run) > 1]
    if not runs:
        return len(segments), len(segments)
    with failures(), storage.writing(data_source) as folder:
        added = _written(runs, folder, storage)
        storage.make_durable(folder)
        old = [segment for some in runs for segment in some]
        manifest.commit(data_source, added, None, cut=old)
    storage.clean()
    return len(segments), len(segments) - len(old) + len(added)


def _runs(segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    """The segments to merge: of the same interval and with the same types, so that no value is converted."""
    groups: dict[tuple[object, ...], list[Segment]] = {}
    for segment in segments:
        groups.setdefault((segment.start, segment.end, *segment.schema.items()), []).append(segment)
    for group in groups.values():
        run: list[Segment] = []
        rows = 0
        for segment in group:
            rows += segment.rows or 0
            if rows > MOST_ROWS:
                yield run
                run, rows = [], segment.rows or 0
            run.append(segment)
        yield run


def _written(runs: Iterable[list[Segment]], folder: Path, storage: Storage) -> list[Segment]:
    """The merged segments. Their rows stay in order: sums of doubles do not change."""
    duck = Duck(storage.temporary)
    added = []
    try:
        for number, some in enumerate(runs):
            path = folder / f"merged_{number}.parquet"
            files = ", ".join(string_literal(str(storage.home / segment.path)) for segment in some)
            rows = f"SELECT * FROM read_parquet([{files}], hive_partitioning = false)"
            duck.run(f"COPY ({rows}) TO {string_literal(str(path))} (FORMAT parquet)")
            last = some[-1]
            added.append(
                Segment(
                    last.data_source, last.start, last.end, last.version, 0, rows=sum(one.rows or 0 for one in some),
                    size=path.stat().st_size, path=path.relative_to(storage.home).as_posix(), schema=last.schema,
                )
            )  # fmt: skip
    finally:
        duck.close()
    return added
