"""The start of Spark, as whole processes in turn in one run, and the memory of an idle server.

    python -m benchmarks.spark [--rounds 5] [--memory]

A query on a cold server, from the command to its last row, beside the same query in bare pyspark (at most 0.4 x), with
the time until the JVM is started, until Spark answers and until the last row; and on a warm server beside the cold one
(at most 0.3 x). `--memory`: the resident set of the JVM after a bulk load, and when it is idle (at most 800 MB).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import orc, parquet

from hivedruid.spark import server

COLD, WARM = 0.4, 0.3
MOST_IDLE = 800
"""MB."""
ROWS = 981_100
PATIENCE = 180
"""Seconds until a server has to be idle."""
QUERY = "SELECT k, sum(n) FROM t GROUP BY k ORDER BY k"
BARE = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").getOrCreate()
print(spark.sql("SELECT k, sum(n) FROM orc.`{folder}` GROUP BY k ORDER BY k").collect())
"""


class Cold(NamedTuple):
    """The seconds of a command that starts Spark: until the process of the JVM exists, from there until Spark answers,
    and from there until the command ends."""

    before: float
    starting: float
    query: float

    @property
    def whole(self) -> float:
        return sum(self)


def wall(command: list[str]) -> float:
    environment = {k: v for k, v in os.environ.items() if k not in (server.SPARK_HOME, "PYTHONDONTWRITEBYTECODE")}
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start


def one_shot(home: Path, sql: str) -> list[str]:
    return [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "--format", "csv", "-e", sql]


def cold(home: Path) -> Cold:
    server.stop(home)
    begun = time.time()
    took = wall(one_shot(home, QUERY))
    known = server.find(home)
    if known is None:
        raise SystemExit("the query did not start Spark")
    spawned = started(known.jvm)
    return Cold(spawned - begun, known.started - spawned, begun + took - known.started)


def started(process: int) -> float:
    """When a process was started, in seconds since the epoch, to a hundredth (Linux)."""
    ticks = int(Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19])
    uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    return time.time() - uptime + ticks / os.sysconf("SC_CLK_TCK")


def resident(process: int) -> int:
    """The resident set of a process in MB (Linux)."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000


def fill(home: Path, folder: Path) -> None:
    """An ORC table of three rows, which Spark reads."""
    folder.mkdir()
    orc.write_table(pa.table({"k": ["a", "b", "a"], "n": pa.array([1, 2, 3], pa.int32())}), folder / "part.orc")
    wall(one_shot(home, f"CREATE EXTERNAL TABLE t (k string, n int) STORED AS ORC LOCATION '{folder.as_uri()}'"))


def starts(home: Path, folder: Path, rounds: int) -> None:
    bare = [sys.executable, "-c", BARE.format(folder=folder)]
    others, colds, warms = [], [], []
    cold(home)
    server.stop(home)  # writes the class-data archive if there is none
    wall(bare)
    for _ in range(rounds):
        others.append(wall(bare))
        colds.append(cold(home))
        warms.append(wall(one_shot(home, QUERY)))
    whole = sorted(colds, key=lambda each: each.whole)[len(colds) // 2]
    phases = (
        f"{whole.before:.2f} s before the JVM, {whole.starting:.2f} s until Spark answers, {whole.query:.2f} s after"
    )
    report("a query on a cold Spark", whole.whole, "bare pyspark", statistics.median(others), COLD)
    print(f"{'':40} {phases}")
    report("a query on a warm Spark", statistics.median(warms), "on a cold Spark", whole.whole, WARM)


def report(what: str, ours: float, beside: str, theirs: float, goal: float) -> None:
    verdict = "met" if ours / theirs <= goal else "missed"
    print(
        f"{what:40} {ours:7.2f} s  {ours / theirs:5.2f} x {beside} ({theirs:.2f} s), goal {goal}: {verdict}", flush=True
    )


def memory(home: Path, folder: Path) -> None:
    """Bulk loads, then idleness."""
    folder.mkdir()
    numbers = range(ROWS)
    columns = {
        "k": pa.array(numbers), "page": [f"page {n * 7919 % 1_000_003} of some text" for n in numbers],
        "user": [f"user {n % 5000}" for n in numbers], "share": pa.array([n / 3 for n in numbers]),
    }  # fmt: skip
    parquet.write_table(pa.table(columns), folder / "part.parquet")
    schema = "k bigint, page string, user string, share double"
    wall(one_shot(home, f"CREATE EXTERNAL TABLE big ({schema}) STORED AS PARQUET LOCATION '{folder.as_uri()}'"))
    wall(one_shot(home, "CREATE TABLE copy AS SELECT * FROM big"))
    for _ in range(3):
        wall(one_shot(home, "INSERT INTO copy SELECT * FROM big"))
    known = server.find(home)
    if known is None:
        raise SystemExit("the load did not start Spark")
    loaded, begun = resident(known.jvm), time.monotonic()
    while (idle := resident(known.jvm)) > MOST_IDLE and time.monotonic() - begun < PATIENCE:
        time.sleep(1)
    took, verdict = time.monotonic() - begun, "met" if idle <= MOST_IDLE else "missed"
    shown = f"{idle} MB after {took:.0f} s, {loaded} MB after the load"
    print(f"{'memory of an idle Spark':40} {shown}, goal {MOST_IDLE} MB: {verdict}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help="also the memory after a bulk load")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        try:
            fill(home, Path(folder, "t"))
            starts(home, Path(folder, "t"), options.rounds)
            if options.memory:
                memory(home, Path(folder, "big"))
        finally:
            server.stop(home)


if __name__ == "__main__":
    main()
