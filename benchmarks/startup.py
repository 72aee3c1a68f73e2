"""Whole processes of one-shot commands compared with the imports that they need, interleaved in one run.

EXPLAIN: at most 1.6 x `python -c "import click, sqlglot"`. A fully pushed-down query on the embedded store: at most 1.6
x `python -c "import click, sqlglot, duckdb"` plus the query's own time in DuckDB, which is the additional time of a
process that runs the same SQL over the same file. The same applies to a query whose shares of the total, window
functions and order are evaluated locally, over a native query that groups the same rows.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hivedruid.jobs.load import Load, NoJournal
from hivedruid.jobs.staged import StagedRows
from hivedruid.session import Session

ROUNDS = 15
TARGET = 1.6
QUERY = "SELECT k, sum(n) AS s FROM t GROUP BY k ORDER BY s DESC, k LIMIT 10"


SHARES = (
    "SELECT k, s, round(s * 100.0 / sum(s) OVER (), 2) AS share, rank() OVER (ORDER BY s DESC) AS r "
    "FROM (SELECT k, sum(n) AS s FROM t GROUP BY k) x ORDER BY r, k LIMIT 10"
)


def wall(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def fill(home: Path) -> None:
    """A table of 40,000 rows in the embedded store, without Spark."""
    rows = home / "rows.json"
    home.mkdir()
    rows.write_text(
        "".join(f'{{"__time": {i * 1000}, "k": "k{i % 97}", "n": {i}}}\n' for i in range(40_000)), encoding="utf-8"
    )
    schema = {
        "dataSource": "default.t",
        "timestampSpec": {"column": "__time", "format": "millis"},
        "dimensionsSpec": {"dimensions": ["k", {"type": "long", "name": "n"}]},
        "metricsSpec": [],
        "granularitySpec": {"segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": False},
    }
    source = {"type": "local", "baseDir": str(home), "filter": rows.name}
    io = {"type": "index_parallel", "inputSource": source, "inputFormat": {"type": "json"}}
    with Session(home) as session:
        spec = {"type": "index_parallel", "spec": {"dataSchema": schema, "ioConfig": io}}
        session.store.ingest(Load("startup", spec, StagedRows(str(home), 40_000)), NoJournal())
        create = (
            "CREATE EXTERNAL TABLE t (`__time` timestamp, k string, n bigint) STORED BY 'druid' TBLPROPERTIES"
            " ('druid.datasource' = 'default.t')"
        )
        for statement in session.statements(create):
            session.execute(statement)


def in_duckdb(home: Path) -> list[str]:
    """The query in DuckDB alone, from connecting to the rows."""
    (file,) = home.glob("segments/**/*.parquet")
    sql = f"SELECT k, sum(n) AS s FROM read_parquet('{file}') GROUP BY k ORDER BY s DESC, k LIMIT 10"
    return [sys.executable, "-c", f"import click, sqlglot, duckdb; duckdb.connect().execute({sql!r}).fetchall()"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        fill(home)
        one_shot = [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "-e"]
        commands = {
            "import click, sqlglot": [sys.executable, "-c", "import click, sqlglot"],
            "EXPLAIN": [*one_shot, f"EXPLAIN {QUERY}"],
            "import click, sqlglot, duckdb": [sys.executable, "-c", "import click, sqlglot, duckdb"],
            "the query in DuckDB alone": in_duckdb(home),
            "fully pushed query": [*one_shot, QUERY],
            "query with local evaluation": [*one_shot, SHARES],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                seconds[name].append(wall(command))
        median = {name: statistics.median(values) for name, values in seconds.items()}
    for name, value in median.items():
        print(f"{name:32} {value * 1e3:7.1f} ms")
    explain = median["EXPLAIN"] / median["import click, sqlglot"]
    imports = median["import click, sqlglot, duckdb"]
    own = median["the query in DuckDB alone"] - imports
    pushed = (median["fully pushed query"] - own) / imports
    local = (median["query with local evaluation"] - own) / imports
    for name, ratio in (
        ("EXPLAIN", explain),
        ("fully pushed query, less its own time", pushed),
        ("query with local evaluation, less its own time", local),
    ):
        print(f"{name}: {ratio:.2f} x, target {TARGET} x: {'met' if ratio <= TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
