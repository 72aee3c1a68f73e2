"""CREATE TABLE … AS on fresh local clusters, repeatedly: each table must be queryable soon after its rows were
ingested.

    python benchmarks/fresh_clusters.py [--clusters 5] [--tables 10] [--limit 60]

Each cluster is started with --heap small in its own folder, and removed. A table that takes longer than `--limit`
seconds is a stall: its time is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = [sys.executable, "-m", "hivedruid"]
STATEMENT = """CREATE TABLE stall_{0} STORED BY 'druid' AS
SELECT CAST('2020-01-01 00:00:00' AS TIMESTAMP) AS `__time`, 'a{0}' AS a, {0} AS n; SELECT count(*) FROM stall_{0};"""


def run(*arguments: str) -> str:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}:\n{done.stderr}")
    return done.stdout


def seconds_of_tables(home: Path, tables: int) -> list[float]:
    """The time of each table, from statement to rows, on a cluster that is started for them."""
    taken = []
    run("local", "up", "--druid", "--heap", "small", "--home", str(home))
    try:
        run("spark", "start", "--home", str(home))
        for number in range(tables):
            begun = time.monotonic()
            found = run("sql", "--home", str(home), "--format", "csv", "-e", STATEMENT.format(number))
            assert "1" in found.split(), found
            taken.append(time.monotonic() - begun)
            print(f"  table {number}: {taken[-1]:.1f} s", flush=True)
    finally:
        run("spark", "stop", "--home", str(home))
        run("local", "down", "--clean", "--home", str(home))
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=int, default=5)
    parser.add_argument("--tables", type=int, default=10, help="on each cluster")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds")
    options = parser.parse_args()
    taken: list[float] = []
    for number in range(options.clusters):
        print(f"cluster {number}", flush=True)
        with tempfile.TemporaryDirectory(prefix="hivedruid-fresh-") as folder:
            taken += seconds_of_tables(Path(folder), options.tables)
    stalls = [seconds for seconds in taken if seconds > options.limit]
    print(
        f"{len(taken)} tables, median {sorted(taken)[len(taken) // 2]:.1f} s, longest {max(taken):.1f} s, {len(stalls)}"
        " stalls"
    )
    return 1 if stalls else 0


if __name__ == "__main__":
    sys.exit(main())
