"""Segment files compared with the paths through Druid, over the same rows: a stream of edits and a table of flights.

read      Rows/s of processor time of this process: segment files to Arrow, and the HTTP scan to Arrow.
write     Rows/s: an Arrow table to segment files and published, and a native index_parallel task over gzipped JSON,
          from the submission until all rows can be queried (wall time, the task with one slot per core).
size      Bytes of our segments compared with Druid's.
queries   Wall time of native queries on our segments compared with those on Druid's: least of several, in turn.
memory    The highest resident memory of a process that reads or writes one segment, compared with the segment.

    python -m benchmarks.segments [--rows 1000000] [--heap default] [--shape edits]

A Druid cluster is started in a temporary folder, and removed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.overlord import Overlord
from hivedruid.local.cluster import LocalCluster
from hivedruid.plan.physical import scan_of
from hivedruid.segments.segment import open_segment
from hivedruid.segments.writing.segment import Dimension, Metric, SegmentSpec, write_segment
from tests.support.cluster import Cluster
from tests.support.publish import answer, publish
from tests.support.segments import stored

DAY = 86_400_000
FIRST = 1_704_067_200_000
PER_SEGMENT = 1_000_000
SHAPES = {
    "edits": """SELECT {first} + (id * {span} // {rows}) AS __time, 'page-' || (hash(id) % 200000) AS page,
        'user-' || (hash(id + 1) % 20000) AS editor, '#' || chr(97 + (hash(id + 2) % 26)::int) || '.wiki' AS channel,
        CASE WHEN id % 7 = 0 THEN 'country-' || (hash(id) % 100) END AS country, (id % 3 = 0)::varchar AS robot,
        'comment ' || (hash(id + 3) % 500000) AS comment, (hash(id + 4) % 3000)::bigint AS added,
        (hash(id + 5) % 300)::bigint AS deleted, (hash(id + 6) % 10007) / 8.0 AS delta FROM range({rows}) r(id)""",
    "flights": """SELECT {first} + (id * {span} // {rows}) // 60000 * 60000 AS __time,
        ['AA','BA','DL','LH','UA'][1 + (hash(id) % 5)::int] AS carrier, 'N' || (hash(id + 1) % 5000) AS tail,
        'A' || (hash(id + 2) % 300) AS origin, 'A' || (hash(id + 3) % 300) AS destination,
        (hash(id + 4) % 600)::bigint AS distance,
        CASE WHEN id % 50 <> 0 THEN (hash(id + 5) % 200)::bigint - 30 END AS delay,
        (hash(id + 6) % 200)::bigint AS taxi, (hash(id + 7) % 4000) / 4.0 AS fuel FROM range({rows}) r(id)""",
}  # fmt: skip
METRICS = {"added", "deleted", "delta", "delay", "taxi", "fuel"}
DRUID = {pa.int64(): "LONG", pa.float64(): "DOUBLE", pa.string(): "STRING"}


def rows_of(shape: str, rows: int) -> pa.Table:
    sql = SHAPES[shape].format(first=FIRST, span=DAY - 1, rows=rows)
    found = duckdb.sql(sql).to_arrow_table()
    return found.cast(pa.schema([(f.name, pa.int64() if f.type == pa.uint64() else f.type) for f in found.schema]))


def spec_of(table: pa.Table) -> SegmentSpec:
    types = {field.name: DRUID[field.type] for field in table.schema if field.name != "__time"}
    dimensions = tuple(Dimension(name, type_) for name, type_ in types.items() if name not in METRICS)
    metrics = tuple(
        Metric(name, type_, {"type": f"{type_.lower()}Sum", "name": name})
        for name, type_ in types.items()
        if name in METRICS
    )
    return SegmentSpec((FIRST, FIRST + DAY), dimensions, metrics)


def write_all(table: pa.Table, place: Path) -> list[Any]:
    """Write segments of at most PER_SEGMENT rows, one process for each core, as Spark's executors would."""
    parts = range(0, table.num_rows, PER_SEGMENT)
    with closing(_pool()) as pool:
        jobs = [(table.slice(at, PER_SEGMENT), place / str(number)) for number, at in enumerate(parts)]
        return pool.starmap(_write, jobs)


def _pool() -> Any:
    from multiprocessing import get_context

    return get_context("spawn").Pool(os.cpu_count())


def _write(table: pa.Table, folder: Path) -> Any:
    return write_segment(table, spec_of(table), folder)


def ingest(druid: DruidCluster, name: str, table: pa.Table, folder: Path) -> float:
    """Seconds from the submission of a native task until all rows can be queried."""
    folder.mkdir(parents=True)
    parts = (os.cpu_count() or 1) * 2
    size = -(-table.num_rows // parts)
    for number in range(parts):
        piece = table.slice(number * size, size)
        duckdb.sql(f"COPY (SELECT * FROM piece) TO '{folder}/{number}.json.gz' (FORMAT json, COMPRESSION gzip)")
        del piece
    spec = spec_of(table)
    task = {
        "type": "index_parallel", "id": f"{name}_task",
        "spec": {
            "dataSchema": {
                "dataSource": name, "timestampSpec": {"column": "__time", "format": "millis"},
                "dimensionsSpec": {"dimensions": [{"type": d.type.lower(), "name": d.name} for d in spec.dimensions]},
                "metricsSpec": [{**m.aggregator, "fieldName": m.name} for m in spec.metrics],
                "granularitySpec": {"type": "uniform", "segmentGranularity": "DAY", "rollup": False},
            },
            "ioConfig": {
                "type": "index_parallel", "inputFormat": {"type": "json"},
                "inputSource": {"type": "local", "baseDir": str(folder), "filter": "*.json.gz"},
            },
            "tuningConfig": {
                "type": "index_parallel", "maxNumConcurrentSubTasks": os.cpu_count(),
                "splitHintSpec": {"type": "maxSize", "maxNumFiles": 2},
                "partitionsSpec": {"type": "dynamic", "maxRowsPerSegment": PER_SEGMENT},
            },
        },
    }  # fmt: skip
    begun = time.monotonic()
    overlord = Overlord(druid.client)
    overlord.submit(task)
    while (found := overlord.task(f"{name}_task")) is None or found.state not in ("SUCCESS", "FAILED"):
        time.sleep(0.2)
    assert found.state == "SUCCESS", found
    while _count(druid, name) < table.num_rows:
        time.sleep(0.2)
    return time.monotonic() - begun


def _count(druid: DruidCluster, name: str) -> int:
    query = {"queryType": "timeseries", "granularity": "all", "aggregations": [{"type": "count", "name": "rows"}]}
    found = answer(druid, {**query, "dataSource": name, "intervals": ["2024-01-01/2024-01-02"]})
    return found[0]["result"]["rows"] if found else 0


def scan(druid: DruidCluster, name: str, table: pa.Table) -> int:
    """Read all rows with a scan into Arrow, as Parquet files for Spark are made."""
    whole = scan_of(name, ((FIRST, FIRST + DAY),), {field.name: DRUID[field.type] for field in table.schema})
    with tempfile.NamedTemporaryFile() as file:
        druid.write_parquet(whole, table.column_names, Path(file.name))
    return table.num_rows


def read(folders: list[Path], columns: list[str]) -> int:
    rows = 0
    for folder in folders:
        with open_segment(folder) as segment:
            rows += sum(batch.num_rows for batch in segment.read(columns))
    return rows


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Wall and processor seconds."""
    wall, cpu = time.monotonic(), time.process_time()
    work()
    return time.monotonic() - wall, time.process_time() - cpu


def queries(table: pa.Table) -> dict[str, dict[str, Any]]:
    spec = spec_of(table)
    high, low = spec.dimensions[1].name, spec.dimensions[0].name
    value = table.column(low)[0].as_py()
    sums = [{"type": "count", "name": "rows"}, *({**m.aggregator, "fieldName": m.name} for m in spec.metrics)]
    base = {"intervals": ["2024-01-01/2024-01-02"], "granularity": "all", "aggregations": sums}
    where = {"type": "equals", "column": low, "matchValueType": "STRING", "matchValue": value}
    first = spec.metrics[0].name
    return {
        "timeseries": {**base, "queryType": "timeseries", "granularity": "hour"},
        "timeseries, filter": {**base, "queryType": "timeseries", "granularity": "hour", "filter": where},
        "topN": {**base, "queryType": "topN", "dimension": high, "metric": first, "threshold": 100},
        "groupBy": {**base, "queryType": "groupBy", "dimensions": [low, high], "limitSpec": {
            "type": "default", "limit": 100, "columns": [{"dimension": first, "direction": "descending"}]}},
    }  # fmt: skip


def _ratio(druid: DruidCluster, query: dict[str, Any], one: str, other: str) -> tuple[float, float]:
    """The least wall time over `one` compared with that over `other`, and the former in seconds."""
    taken: dict[str, list[float]] = {one: [], other: []}
    for _ in range(15):
        for source, times in taken.items():
            full = {**query, "dataSource": source}
            times.append(timed(partial(answer, druid, full))[0])
    return min(taken[one]) / min(taken[other]), min(taken[one])


def memory(folder: Path, columns: list[str], what: str) -> int:
    """The highest resident memory of a fresh process, in bytes, without that of its imports."""
    code = {
        "read": "from benchmarks.segments import read; read([path], columns)",
        "write": "from benchmarks.segments import _write; import pyarrow.parquet as pq\n"
        "_write(pq.read_table(path), path.parent / 'out')",
    }[what]  # fmt: skip
    script = (
        "import benchmarks.segments, pathlib, sys, json\n"
        "def peak():\n"
        "    lines = pathlib.Path('/proc/self/status').read_text().splitlines()\n"
        "    return next(int(line.split()[1]) for line in lines if line.startswith('VmHWM'))\n"
        "path, columns = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])\n"
        "pathlib.Path('/proc/self/clear_refs').write_text('5')  # the peak begins anew\n"
        "before = peak()\n"
        f"{code}\n"
        "print(peak() - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), json.dumps(columns)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    return int(done.stdout) * 1024


def compare(druid: DruidCluster, shape: str, rows: int, folder: Path) -> None:
    table = rows_of(shape, rows)
    theirs, ours = f"theirs_{shape}", f"ours_{shape}"
    native = ingest(druid, theirs, table, folder / "json" / shape)
    begun = time.monotonic()
    publish(druid, ours, (FIRST, FIRST + DAY), lambda place: write_all(table, place))
    segments = time.monotonic() - begun
    one = table.slice(0, PER_SEGMENT)
    _, write_cpu = timed(lambda: _write(one, folder / f"one_{shape}"))
    print(f"{shape}: {rows:,} rows")
    print(
        f"  write   native {rows / native:,.0f} rows/s,"
        f" segments {rows / segments:,.0f} rows/s: {native / segments:.1f} x"
    )
    print(f"          {one.num_rows / write_cpu:,.0f} rows/s of one core")
    sizes = [sum(f.stat().st_size for d in stored(druid, name) for f in d.iterdir()) for name in (theirs, ours)]
    print(f"  size    {sizes[1] / sizes[0]:.3f} x Druid's ({sizes[1] / rows:.1f} bytes a row)")
    wall, cpu = timed(lambda: scan(druid, ours, table))
    places, columns = stored(druid, theirs), table.column_names
    read(places, columns)
    read_wall, read_cpu = min(timed(lambda: read(places, columns)) for _ in range(5))
    print(f"  read    scan {rows / wall:,.0f} rows/s, segments {rows / read_wall:,.0f} rows/s: {wall / read_wall:.0f} x"
          f" (processor time {cpu / read_cpu:.0f} x)")  # fmt: skip
    for name, query in queries(table).items():
        ratio, seconds = _ratio(druid, query, ours, theirs)
        print(f"  query   {name}: {ratio:.2f} x ({seconds * 1000:.0f} ms)")
    size = sum(f.stat().st_size for f in places[0].iterdir())
    used = memory(places[0], columns, "read")
    import pyarrow.parquet as pq

    pq.write_table(one, folder / f"{shape}.parquet")
    written = memory(folder / f"{shape}.parquet", columns, "write")
    print(f"  memory  reading {used / size:.1f} x, writing {written / size:.1f} x the size of a segment")


@contextmanager
def started(description: str | None) -> Iterator[tuple[Cluster, argparse.Namespace]]:
    """A new cluster for the command line's options, without Kafka, and these options; deleted afterwards."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--heap", default="default")
    parser.add_argument("--shape", choices=[*SHAPES], action="append", help="only these rows")
    parser.add_argument("--runs", type=int, default=3, help="of each way; the quickest one counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hivedruid-benchmark-") as folder:
        local = LocalCluster(Path(folder) / "home", heap=options.heap)
        try:
            yield Cluster(local.home, local.up(kafka=False), local.up, is_adopted=False), options
        finally:
            local.down(clean=True)


def main() -> int:
    with started(__doc__) as (cluster, options), closing(cluster.druid()) as druid:
        for shape in options.shape or SHAPES:
            compare(druid, shape, options.rows, cluster.home.parent)
    print(f"highest memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
