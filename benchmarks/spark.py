"""A Spark-backed statement on a warm server compared with a cold one, interleaved in one run.

Whole processes, from their start to the last row: at most 0.3 x.
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
TARGET = 0.3
CREATE = "CREATE TABLE t (k string, n int); INSERT INTO t VALUES ('a', 1), ('b', 2), ('a', 3)"
QUERY = "SELECT k, sum(n) FROM t GROUP BY k ORDER BY k"


def hivedruid(home: Path, sql: str) -> float:
    command = [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "--format", "csv", "-e", sql]
    environment = {key: value for key, value in os.environ.items() if key != server.SPARK_HOME}
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start


def main() -> None:
    seconds: dict[str, list[float]] = {"cold": [], "warm": []}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        try:
            hivedruid(home, CREATE)
            for _ in range(ROUNDS):
                server.stop(home)
                seconds["cold"].append(hivedruid(home, QUERY))
                seconds["warm"].append(hivedruid(home, QUERY))
        finally:
            server.stop(home)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    for name, value in median.items():
        print(f"{name:32} {value * 1e3:7.1f} ms")
    ratio = median["warm"] / median["cold"]
    print(
        f"Spark-backed statement, warm/cold: {ratio:.2f} x, target {TARGET} x: {'met' if ratio <= TARGET else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
