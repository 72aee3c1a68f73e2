"""Statements on Spark, interleaved in one run: on a warm server compared with a cold one, and with Spark's Python
workers compared with none.

Whole processes, from their start to the last row: at most 0.3 x, and at most 1.7 x on a warm server.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hivedruid.spark import server

ROUNDS = 5
TARGETS = {"warm/cold": 0.3, "Python workers/warm": 1.7}
CREATE = (
    "CREATE TABLE t (k string, n int); INSERT INTO t VALUES ('a', 1), ('b', 2), ('a', 3);"
    " CREATE EXTERNAL TABLE in_files (k string, n int) STORED AS SEQUENCEFILE LOCATION '{}';"
    " INSERT INTO in_files SELECT * FROM t"
)
QUERY = "SELECT k, sum(n) FROM t GROUP BY k ORDER BY k"
OF_FILES = "SELECT k, sum(n) FROM in_files GROUP BY k ORDER BY k"


def hivedruid(home: Path, sql: str) -> float:
    command = [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "--format", "csv", "-e", sql]
    environment = {key: value for key, value in os.environ.items() if key != server.SPARK_HOME}
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start


def main() -> None:
    seconds: dict[str, list[float]] = {"cold": [], "warm": [], "Python workers": []}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        try:
            hivedruid(home, CREATE.format(Path(folder) / "files"))
            for _ in range(ROUNDS):
                server.stop(home)
                seconds["cold"].append(hivedruid(home, QUERY))
                seconds["warm"].append(hivedruid(home, QUERY))
                hivedruid(home, OF_FILES)  # starts the workers
                seconds["Python workers"].append(hivedruid(home, OF_FILES))
        finally:
            server.stop(home)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    for name, value in median.items():
        print(f"{name:32} {value * 1e3:7.1f} ms")
    for name, target in TARGETS.items():
        above, below = name.split("/")
        ratio = median[above] / median[below]
        result = "met" if ratio <= target else "MISSED"
        print(f"Spark-backed statement, {name}: {ratio:.2f} x, target {target} x: {result}")


if __name__ == "__main__":
    main()
