"""CREATE TABLE … AS SELECT * of a data source with every kind of column, and of the same values as strings and numbers.

    python -m benchmarks.data_sources [--rows 60000] [--runs 3] [--distinct] [--home DIR]

Both have the same rows, copied in turn. Wall time, the least of several runs, with a warm Spark server, and the
processor time of this process and of that server; where the rows come from, as EXPLAIN says. The goal: at most 1.5
times as long. Beside it the copies of both copies, managed tables that Spark alone reads and writes. `--distinct`: no
nested value is repeated. A Druid cluster is started in a temporary folder, and removed;
`--home` uses that of a home folder.
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

from benchmarks.writing import processor_seconds
from hivedruid.spark import server
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


def numbered(value: Any, row: int) -> Any:
    """A nested value, or its text, with the number of the row in it; other values as they are."""
    if isinstance(value, dict):
        return {**value, "row": row}
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        return json.dumps({**json.loads(value), "row": row}, separators=(",", ":"))
    return value


def from_file(spec: dict[str, Any], path: Path, *, is_distinct: bool) -> dict[str, Any]:
    """The task, which reads its rows from a file: a small overlord cannot hold a spec of many rows."""
    settings = spec["spec"]["ioConfig"]
    text = settings["inputSource"]["data"]
    if is_distinct:
        records = enumerate(map(json.loads, text.splitlines()))
        text = "\n".join(json.dumps({k: numbered(v, row) for k, v in record.items()}) for row, record in records)
    path.write_text(text)
    source = {"type": "local", "files": [str(path)]}
    return {**spec, "spec": {**spec["spec"], "ioConfig": {**settings, "inputSource": source}}}


def sources(rows: int, folder: Path, *, is_distinct: bool = False) -> dict[str, list[dict[str, Any]]]:
    """The tasks of both data sources. The second has the same values as strings and numbers."""
    plain = tuple(replace(kind, parts=tuple(map(as_text, kind.parts))) for kind in KINDS)
    kinds: dict[str, Sequence[Kind]] = {"every_kind": KINDS, "plain": plain}
    repeats = -(-rows // (SEGMENTS * ROWS))
    return {
        name: [
            from_file(spec_of(name, day, of, repeats), folder / f"{name}_{day}.json", is_distinct=is_distinct)
            for day in range(SEGMENTS)
        ]
        for name, of in kinds.items()
    }


def copied(run: Run, home: Path, name: str) -> tuple[float, float]:
    """Seconds of a copy, and of processor time of this process and of Spark's server."""
    run("DROP TABLE copy PURGE")
    begun, used = time.monotonic(), processor_time(home)
    run(f"CREATE TABLE copy AS SELECT * FROM {name}")
    return time.monotonic() - begun, processor_time(home) - used


def processor_time(home: Path) -> float:
    known = server.find(server.shared_home(home))
    return time.process_time() + (processor_seconds(known.jvm) if known is not None else 0.0)


def path_of(run: Run, name: str) -> str:
    """Where the rows of a copy come from."""
    plan = [str(row[0]).strip() for row in run(f"EXPLAIN CREATE TABLE copy_of_{name} AS SELECT * FROM {name}")]
    return next((line for line in plan if line.startswith(("druid.segments:", "druid.queries:"))), "one query")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--distinct", action="store_true", help="no nested value is repeated")
    parser.add_argument("--home", help="a home folder with a local cluster, which keeps running")
    options = parser.parse_args()
    if options.home:
        os.environ[VARIABLE] = options.home
    with tempfile.TemporaryDirectory(prefix="hivedruid-benchmark-") as folder:
        place = Path(folder)
        with running_cluster(place / "cluster") as cluster, closing(cluster.druid()) as druid:
            tasks = sources(options.rows, place, is_distinct=options.distinct)
            ingest_all(druid, [task for of in tasks.values() for task in of])
            with cluster.statements(place / "home") as run:
                for name in tasks:
                    run(f"CREATE EXTERNAL TABLE {name} STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{name}')")
                for name in tasks:
                    print(f"{name:<10} {path_of(run, name)}", flush=True)
                    run(f"CREATE TABLE copy_of_{name} AS SELECT * FROM {name}")  # Spark's compilers see every type
                names = [*tasks, *(f"copy_of_{name}" for name in tasks)]
                runs = [{name: copied(run, place / "home", name) for name in names} for _ in range(options.runs)]
            for name in tasks:
                druid.drop(name)
    least = {name: [min(times) for times in zip(*(one[name] for one in runs), strict=True)] for name in names}
    for name, (taken, used) in least.items():
        print(f"{name:<18} {taken:6.2f} s  {options.rows / taken:>9,.0f} rows/s  {used:6.2f} s of processor time")
    for what, prefix in (("", ""), ("copies of the copies, which are Spark's alone: ", "copy_of_")):
        both = zip(least[f"{prefix}every_kind"], least[f"{prefix}plain"], strict=True)
        ratio, of_processors = (a / b for a, b in both)
        missed = "" if ratio <= GOAL else ", missed"
        print(f"{what}{ratio:.2f} x, goal: {GOAL} x{missed}; processor time {of_processors:.2f} x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
