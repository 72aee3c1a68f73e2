"""Writing to Druid from Spark, on a warm session and five million generated rows.

stage    Staged rows/s compared with Spark's own `df.write.json` with gzip of the same rows, interleaved: at least
400,000 rows/s
         on two cores. Also the CPU seconds of Spark's server, which do not depend on other processes of the machine,
         and the
         maximum memory of this process, Spark's driver in Python, for one and for five million rows.
insert   The whole INSERT compared with a hand-written index_parallel task over prepared JSON files of the same rows,
interleaved:
         at most 1.15 x. On a Druid cluster: that of `--home`, or one that is started and stopped.
segments An INSERT with segments that Spark builds compared with one by a task, from the statement until all rows can
         be queried, interleaved: at least 8 times as fast.

Arguments select parts by name; `--quick` makes all of them small.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TIMESTAMP
from hivedruid.clients.address import address
from hivedruid.clients.druid import DruidClient
from hivedruid.druid.ingestion import index_parallel_spec
from hivedruid.engine.engine import DruidEngine
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.state import LocalServices
from hivedruid.plan.physical import SparkJob
from hivedruid.session import Session
from hivedruid.settings import Settings
from hivedruid.spark import server, session
from hivedruid.spark.jobs import SparkRunner

ROWS = 5_000_000
STAGE_TARGET = 400_000
INSERT_TARGET = 1.15
SEGMENTS_TARGET = 8.0
TYPES = {
    "__time": TIMESTAMP, "page": STRING, "editor": STRING, "language": STRING, "robot": STRING, "added": BIGINT,
    "deleted": BIGINT, "delta": DOUBLE,
}  # fmt: skip


def generated(rows: int, *, millis: bool) -> str:
    """Thirty days of rows: strings of 2 to 100,000 values, numbers, and a fraction."""
    time_of = "1700000000000 + (id * 518) % 2592000000"
    return (
        f"SELECT {time_of if millis else f'timestamp_millis({time_of})'} AS `__time`,"
        " concat('page-', id % 100000) AS page, concat('user-', pmod(hash(id), 5000)) AS editor,"
        " elt(1 + id % 5, 'de', 'en', 'fr', 'ja', 'zh') AS language, IF(id % 3 = 0, 'true', 'false') AS robot,"
        " id % 1000 AS added, CAST(pmod(hash(id, 1), 100000) AS BIGINT) AS deleted, (id % 10007) / 8D AS delta"
        f" FROM range({rows})"
    )


def druid_table(name: str) -> Table:
    columns = tuple(Column(field, hive) for field, hive in TYPES.items())
    return Table("default", name, "druid", columns, properties={"druid.datasource": name, "druid.rollup": "false"})


# --- staging compared with Spark's own writer --------------------------------------------------------------------


def _no_druid() -> DruidEngine:
    raise AssertionError("the jobs have no native queries")


class Staging:
    def __init__(self, folder: Path) -> None:
        self.home, self.folder = folder / "home", folder / "staged"
        self.runner = SparkRunner(self.home, {}, _no_druid, lambda _: None, print)
        self.spark = session.session({}, self.home)

    def staged(self, rows: int, folder: str) -> None:
        table = druid_table("t")
        spec = index_parallel_spec(table, Settings(), "nothing")
        job = SparkJob(generated(rows, millis=True), (), ())
        found = self.runner.stage(job, table, spec, folder, skip_timeless=False)
        assert found.rows == rows, found

    def plain(self, rows: int, folder: str) -> None:
        self.spark.sql(generated(rows, millis=True)).write.option("compression", "gzip").json(folder)

    def timed(self, write: Callable[[int, str], None], rows: int) -> tuple[float, float]:
        """Elapsed seconds, and CPU seconds of Spark's server."""
        folder = self.folder / uuid4().hex
        with session.job({}, self.home) as running:
            assert running.server is not None
            jvm = running.server.jvm
        begin, used = time.perf_counter(), processor_seconds(jvm)
        write(rows, str(folder))
        found = time.perf_counter() - begin, processor_seconds(jvm) - used
        shutil.rmtree(folder)
        return found


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stage(folder: Path, *, quick: bool) -> None:
    rows = ROWS // 10 if quick else ROWS
    bench = Staging(folder)
    ways = {"staging": bench.staged, "plain JSON": bench.plain}
    for write in ways.values():
        bench.timed(write, rows // 5)  # warm
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for pair in range(3):
        for name, write in list(ways.items())[:: -1 if pair % 2 else 1]:
            found[name].append(bench.timed(write, rows))
    print(f"{f'{rows:,} rows':16} {'seconds':>8} {'rows/s':>10} {'processor, s':>13} {'rows/s of two cores':>20}")
    clock = {name: statistics.median(s for s, _ in values) for name, values in found.items()}
    used = {name: statistics.median(s for _, s in values) for name, values in found.items()}
    for name in ways:
        print(
            f"{name:16} {clock[name]:8.2f} {rows / clock[name]:10,.0f} {used[name]:13.2f}"
            f" {2 * rows / used[name]:20,.0f}"
        )
    speed = rows / clock["staging"]
    met = "met" if speed >= STAGE_TARGET else "MISSED"
    print(
        f"staging/plain: {clock['staging'] / clock['plain JSON']:.2f} x; {speed:,.0f} rows/s, target {STAGE_TARGET:,}:"
        f" {met}"
    )
    memory(folder, rows)


def memory(folder: Path, rows: int) -> None:
    """In separate processes: the maximum memory of a process never decreases."""
    found = []
    for count in (rows // 5, rows):
        command = [sys.executable, __file__, "--memory", str(count), "--folder", str(folder)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found.append(float(done.stdout.split()[-1]))
        print(f"most memory of the driver process, {count:,} rows: {found[-1]:.1f} MB")
    print(f"five times the rows: {found[1] / found[0]:.2f} x the memory")


def peak(folder: Path, rows: int) -> None:
    Staging(folder).staged(rows, str(folder / "staged" / uuid4().hex))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


# --- the whole INSERT compared with a hand-written task ----------------------------------------------------------


class Inserting:
    """A home with a cluster, a table from which the rows are generated, and a folder of prepared files."""

    def __init__(self, folder: Path, services: LocalServices, rows: int) -> None:
        self.rows = rows
        self.session = Session(folder / "home", note=lambda text: print(f"  {text}"))
        urls = {"url": services.broker, "coordinator.url": services.coordinator, "overlord.url": services.overlord}
        for key, url in urls.items():
            self.run(f"SET druid.{key}={url}")
        self.client = DruidClient(address(self.session.settings, services))
        self.sources: list[str] = []
        self.ready = folder / "ready"
        spark = session.session(self.session.settings, folder / "home")
        spark.sql(generated(rows, millis=True)).write.option("compression", "gzip").json(str(self.ready))
        source = folder / "source"
        spark.sql(generated(rows, millis=False)).write.parquet(str(source))
        columns = ", ".join(
            f"`{name}` {'timestamp' if name == '__time' else hive.name}" for name, hive in TYPES.items()
        )
        self.run(f"CREATE EXTERNAL TABLE source ({columns}) STORED AS PARQUET LOCATION '{source}'")
        self.columns = columns

    def run(self, text: str) -> list[tuple[Any, ...]]:
        (statement,) = self.session.statements(text)
        return list(self.session.execute(statement).rows)

    def insert(self, name: str, query: str = "SELECT * FROM source", way: str = "native") -> None:
        self.run(f"SET hivedruid.druid.write={way}")
        self.run(
            f"CREATE EXTERNAL TABLE {name} ({self.columns}) STORED BY 'druid'"
            f" TBLPROPERTIES ('druid.datasource' = '{name}', 'druid.rollup' = 'false')"
        )
        self.run(f"INSERT INTO {name} {query}")

    def segments(self, name: str) -> None:
        self.insert(name, way="segments")

    def warm(self) -> None:
        """Warm up Spark's server and Druid's tasks."""
        for way in ("native", "segments"):
            self.insert("warm", f"SELECT * FROM source LIMIT {self.rows // 10}", way)
            self.run("DROP TABLE warm")

    def by_hand(self, name: str) -> None:
        task: dict[str, Any] = {
            "type": "index_parallel",
            "spec": {
                "dataSchema": {
                    "dataSource": name,
                    "timestampSpec": {"column": "__time", "format": "millis"},
                    "dimensionsSpec": {"dimensions": [
                        "page", "editor", "language", "robot", {"type": "long", "name": "added"},
                        {"type": "long", "name": "deleted"}, {"type": "double", "name": "delta"},
                    ]},
                    "granularitySpec": {"segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": False},
                },
                "ioConfig": {
                    "type": "index_parallel", "appendToExisting": True, "inputFormat": {"type": "json"},
                    "inputSource": {"type": "local", "baseDir": str(self.ready), "filter": "*.json.gz"},
                },
                "tuningConfig": {"type": "index_parallel", "partitionsSpec": {"type": "dynamic"}},
            },
        }  # fmt: skip
        found = self.client.post("overlord", "/druid/indexer/v1/task", dict[str, Any], task)
        path = f"/druid/indexer/v1/task/{found['task']}/status"
        self.until(lambda: self.client.get("overlord", path, dict[str, Any])["status"]["status"] != "RUNNING")
        status = self.client.get("overlord", path, dict[str, Any])["status"]
        assert status["status"] == "SUCCESS", status
        self.until(lambda: self.count(name) == self.rows)

    def count(self, name: str) -> int:
        query: Mapping[str, Any] = {
            "queryType": "timeseries", "dataSource": name, "intervals": ["2000/2100"], "granularity": "all",
            "aggregations": [{"type": "count", "name": "n"}], "context": {"useCache": False},
        }  # fmt: skip
        found = self.client.post("broker", "/druid/v2", list[Any], query)
        return int(found[0]["result"]["n"]) if found else 0

    @staticmethod
    def until(look: Callable[[], object]) -> None:
        end = time.monotonic() + 1800
        while not look():
            if time.monotonic() > end:
                raise TimeoutError("not seen in half an hour")
            time.sleep(0.2)

    def timed(self, way: Callable[[str], None]) -> float:
        name = f"bench_{uuid4().hex[:12]}"
        begin = time.perf_counter()
        way(name)
        seconds = time.perf_counter() - begin
        assert self.count(name) == self.rows
        self.client.delete("coordinator", f"/druid/coordinator/v1/datasources/{name}")
        return seconds


def compared(bench: Inserting, ways: Mapping[str, Callable[[str], None]], pairs: int) -> list[float]:
    """The ratios of the seconds of two ways, interleaved."""
    bench.warm()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for pair in range(pairs):
        for name, way in list(ways.items())[:: -1 if pair % 2 else 1]:
            seconds[name].append(bench.timed(way))
            print(f"  {name}: {seconds[name][-1]:.1f} s", flush=True)
    return [one / other for one, other in zip(*seconds.values(), strict=True)]


def segments(folder: Path, services: LocalServices, *, quick: bool, pairs: int) -> None:
    bench = Inserting(folder, services, ROWS // 10 if quick else ROWS)
    ratios = compared(bench, {"task": bench.insert, "segments": bench.segments}, pairs or (1 if quick else 3))
    median = statistics.median(ratios)
    met = "met" if median >= SEGMENTS_TARGET else "MISSED"
    print(f"INSERT of {bench.rows:,} rows by a task/as segments: median {median:.1f} x, min {min(ratios):.1f} x, max "
          f"{max(ratios):.1f} x, target {SEGMENTS_TARGET} x: {met}")  # fmt: skip
    bench.session.close()


def insert(folder: Path, services: LocalServices, *, quick: bool, pairs: int) -> None:
    bench = Inserting(folder, services, ROWS // 10 if quick else ROWS)
    ratios = compared(bench, {"INSERT": bench.insert, "by hand": bench.by_hand}, pairs or (2 if quick else 3))
    median = statistics.median(ratios)
    met = "met" if median <= INSERT_TARGET else "MISSED"
    print(f"INSERT/by hand of {bench.rows:,} rows: median {median:.2f} x, min {min(ratios):.2f} x, max "
          f"{max(ratios):.2f} x, target {INSERT_TARGET} x: {met}")  # fmt: skip
    bench.session.close()


@contextmanager
def cluster(home: Path | None, folder: Path) -> Iterator[LocalServices]:
    """The cluster of a home, which keeps running, or else one below `folder` that is removed afterwards."""
    if home is not None:
        yield LocalCluster(home).up()
        return
    local = LocalCluster(folder)
    try:
        yield local.up()
    finally:
        local.down(clean=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="stage|insert|segments")
    parser.add_argument("--home", type=Path, help="home folder of a local cluster that runs")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pairs", type=int, default=0, help="how often insert and segments compare")
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        peak(arguments.folder, arguments.memory)
        return
    parts = arguments.parts or ["stage", "insert", "segments"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            if "stage" in parts:
                stage(folder, quick=arguments.quick)
            for part, run in (("insert", insert), ("segments", segments)):
                if part in parts:
                    with cluster(arguments.home, folder / "cluster") as services:
                        run(folder / part, services, quick=arguments.quick, pairs=arguments.pairs)
        finally:
            session.release_all()
            for used in ("", "insert", "segments"):
                server.stop(folder / used / "home")


if __name__ == "__main__":
    main()
