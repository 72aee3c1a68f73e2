"""Processor time of writing the rows of a query to stdout as csv and as jsonl, compared with DuckDB's COPY.

A million rows of eight columns (a time, three texts, two integers, two doubles) in the embedded store. Each command
runs in a process of its own, interleaved; the median, without the process's start, is compared with DuckDB's COPY of
the same columns from the same files to the same device. At most 3 x. Run: python benchmarks/rows.py [--rows N]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from hivedruid.jobs.load import Load, NoJournal
from hivedruid.jobs.staged import StagedRows
from hivedruid.session import Session

ROUNDS = 1
TARGET = 3.0
COLUMNS = ("__time", "page", "user", "comment", "added", "deleted", "delta", "share")
LAYOUTS = {"csv": "FORMAT csv", "jsonl": "FORMAT json"}


def fill(home: Path, rows: int) -> None:
    """A Druid table of the embedded store, loaded without Spark."""
    import duckdb

    home.mkdir()
    duckdb.sql(
        "COPY (SELECT i * 1000 + 1577836800000 AS __time, 'Page ' || (i % 9973) AS page,"
        " 'user' || (i % 97) AS \"user\", 'a comment, with a comma and ' || md5(i::VARCHAR) AS comment,"
        " i % 5000 AS added, -(i % 700) AS deleted,"
        f" i / 7 AS delta, (i % 1000) / 1000 AS share FROM range({rows}) r(i))"
        f" TO '{home / 'rows.json'}' (FORMAT json)"
    )
    schema = {
        "dataSource": "default.edits",
        "timestampSpec": {"column": "__time", "format": "millis"},
        "dimensionsSpec": {
            "dimensions": [
                *COLUMNS[1:4],
                *({"type": "long", "name": name} for name in COLUMNS[4:6]),
                *({"type": "double", "name": name} for name in COLUMNS[6:]),
            ]
        },
        "metricsSpec": [],
        "granularitySpec": {"segmentGranularity": "YEAR", "queryGranularity": "NONE", "rollup": False},
    }
    source = {"type": "local", "baseDir": str(home), "filter": "rows.json"}
    io = {"type": "index_parallel", "inputSource": source, "inputFormat": {"type": "json"}}
    create = (
        "CREATE EXTERNAL TABLE edits (`__time` timestamp, page string, `user` string, comment string, added bigint,"
        " deleted bigint, delta double, share double) STORED BY 'druid'"
        " TBLPROPERTIES ('druid.datasource' = 'default.edits')"
    )
    with Session(home) as session:
        spec = {"type": "index_parallel", "spec": {"dataSchema": schema, "ioConfig": io}}
        session.store.ingest(Load("rows", spec, StagedRows(str(home), rows)), NoJournal())
        for statement in session.statements(create):
            session.execute(statement)


def seconds(command: list[str]) -> float:
    """Processor time of a process, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(home: Path) -> dict[str, list[str]]:
    files = str(home / "segments" / "**" / "*.parquet")
    columns = ", ".join(f'"{name}"' for name in COLUMNS[1:])
    read = f"SELECT make_timestamp(__time * 1000) AS __time, {columns} FROM read_parquet('{files}')"
    hive = [sys.executable, "-m", "hivedruid", "sql", "--home", str(home)]
    select = f"SELECT {', '.join(f'`{name}`' for name in COLUMNS)} FROM edits"
    found = {
        "start of hivedruid": [*hive, "-e", f"{select} LIMIT 1"],
        "start of DuckDB": [sys.executable, "-c", "import duckdb; duckdb.connect().execute('SET threads = 1')"],
    }
    for layout, form in LAYOUTS.items():
        copy = f"COPY ({read}) TO '/dev/stdout' ({form})"
        found[f"hivedruid {layout}"] = [*hive, "--format", layout, "-e", select]
        found[f"DuckDB {layout}"] = [
            sys.executable,
            "-c",
            f"import duckdb; c = duckdb.connect(); c.execute('SET threads = 1'); c.execute({copy!r})",
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        fill(home, rows)
        asked = commands(home)
        taken: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(ROUNDS):
            for name, command in asked.items():
                taken[name].append(seconds(command))
    median = {name: statistics.median(times) for name, times in taken.items()}
    for layout in LAYOUTS:
        ours = (median[f"hivedruid {layout}"] - median["start of hivedruid"]) / rows
        theirs = (median[f"DuckDB {layout}"] - median["start of DuckDB"]) / rows
        ratio = ours / theirs
        verdict = "met" if ratio <= TARGET else "MISSED"
        print(
            f"{layout}: {ours * 1e6:.1f} us a row, DuckDB {theirs * 1e6:.1f} us a row: {ratio:.1f} x"
            f" (at most {TARGET:g} x): {verdict}"
        )


if __name__ == "__main__":
    main()
