"""CREATE TABLE … AS SELECT * of a data source with every kind of column, and of the same values as strings and numbers.

    python -m benchmarks.data_sources [--rows 60000] [--runs 3] [--home DIR]

Both have the same rows. Wall time, the least of several runs, with a warm Spark server. The goal:
at most 1.5 times as long. A Druid cluster is started in a temporary folder, and removed; `--home` uses that of a home
folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.cluster import VARIABLE, Run, running_cluster
from tests.support.data_sources import KINDS, ROWS, SEGMENTS, Kind, Part, spec_of
from tests.support.ingestion import ingest_all

GOAL = 1.5
NUMBERS = frozenset({"long", "double", "float"})


def as_text(part: Part) -> Part:
    """The part with its values as strings of the same length; numbers are kept."""
    if part.spec in NUMBERS or not part.spec:
        return part
    texts = [v if v is None or isinstance(v, str) else json.dumps(v, separators=(",", ":")) for v in part.values]
    return Part("string", texts, "STRING")


def from_file(spec: dict[str, Any], path: Path) -> dict[str, Any]:
    """The task, which reads its rows from a file: a small overlord cannot hold a spec of many rows."""
    settings = spec["spec"]["ioConfig"]
    path.write_text(settings["inputSource"]["data"])
    source = {"type": "local", "files": [str(path)]}
    return {**spec, "spec": {**spec["spec"], "ioConfig": {**settings, "inputSource": source}}}


def sources(rows: int, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The tasks of both data sources. The second has the same values as strings and numbers."""
    plain = tuple(replace(kind, parts=tuple(map(as_text, kind.parts))) for kind in KINDS)
    kinds: dict[str, Sequence[Kind]] = {"every_kind": KINDS, "plain": plain}
    repeats = -(-rows // (SEGMENTS * ROWS))
    return {
        name: [from_file(spec_of(name, day, of, repeats), folder / f"{name}_{day}.json") for day in range(SEGMENTS)]
        for name, of in kinds.items()
    }


def copied(run: Run, name: str, runs: int) -> float:
    """Seconds of the quickest of several copies."""
    seconds = []
    for _ in range(runs):
        run("DROP TABLE copy PURGE")
        begun = time.monotonic()
        run(f"CREATE TABLE copy AS SELECT * FROM {name}")
        seconds.append(time.monotonic() - begun)
    return min(seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--home", help="a home folder with a local cluster, which keeps running")
    options = parser.parse_args()
    if options.home:
        os.environ[VARIABLE] = options.home
    with tempfile.TemporaryDirectory(prefix="hivedruid-benchmark-") as folder:
        place = Path(folder)
        with running_cluster(place / "cluster") as cluster, closing(cluster.druid()) as druid:
            tasks = sources(options.rows, place)
            ingest_all(druid, [task for of in tasks.values() for task in of])
            with cluster.statements(place / "home") as run:
                for name in tasks:
                    run(f"CREATE EXTERNAL TABLE {name} STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{name}')")
                copied(run, "plain", 1)  # starts Spark
                seconds = {name: copied(run, name, options.runs) for name in tasks}
            for name in tasks:
                druid.drop(name)
    for name, taken in seconds.items():
        print(f"{name:<10} {taken:6.1f} s  {options.rows / taken:>9,.0f} rows/s")
    ratio = seconds["every_kind"] / seconds["plain"]
    missed = "" if ratio <= GOAL else ", missed"
    print(f"{len(KINDS)} columns, every kind against the same values as text: {ratio:.2f} x, goal: {GOAL} x{missed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
