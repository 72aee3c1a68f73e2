"""Whole processes of one-shot commands beside the imports or the program that they need, interleaved in one run.

    python -m benchmarks.startup [--rounds 15] [--spark]

Wall times, medians. Each command runs once before, so that all modules are compiled and Spark is warm. `--spark` adds a
SELECT on the warm Spark server, which starts and ends in the temporary home.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from hivedruid.jobs.load import Load, NoJournal
from hivedruid.jobs.staged import StagedRows
from hivedruid.session import Session

IMPORTS, DUCKDB, CONNECT = "import click, sqlglot", "the query in duckdb", "import pyspark.sql.connect.session"
QUERY = "SELECT k, sum(n) AS s FROM t GROUP BY k ORDER BY s DESC, k LIMIT 10"


SHARES = (
    "SELECT k, s, round(s * 100.0 / sum(s) OVER (), 2) AS share, rank() OVER (ORDER BY s DESC) AS r "
    "FROM (SELECT k, sum(n) AS s FROM t GROUP BY k) x ORDER BY r, k LIMIT 10"
)


def wall(command: list[str], number: int = 0) -> float:
    """Seconds of a command, in which `{round}` stands for a number."""
    start = time.perf_counter()
    subprocess.run(
        [part.replace("{round}", str(number)) for part in command],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
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


@dataclass(frozen=True)
class Measure:
    """A command, the program beside it, and how many times as long it may take."""

    name: str
    command: list[str]
    beside: str
    goal: float


def program(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def programs(home: Path) -> dict[str, list[str]]:
    """What the commands are compared with, by name. The query in DuckDB goes from connecting to the rows."""
    (file,) = home.glob("segments/**/*.parquet")
    sql = f"SELECT k, sum(n) AS s FROM read_parquet('{file}') GROUP BY k ORDER BY s DESC, k LIMIT 10"
    return {
        IMPORTS: program("import click, sqlglot"),
        DUCKDB: program(f"import duckdb; duckdb.connect().execute({sql!r}).fetchall()"),
        CONNECT: program("import pyspark.sql.connect.session"),
    }


def measures(home: Path) -> list[Measure]:
    def one_shot(text: str) -> list[str]:
        return [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "-e", text]

    return [
        Measure("EXPLAIN", one_shot(f"EXPLAIN {QUERY}"), IMPORTS, 1.4),
        Measure("SHOW TABLES", one_shot("SHOW TABLES"), IMPORTS, 1.3),
        Measure("CREATE TABLE", one_shot("CREATE TABLE c{round} (a int) STORED AS ORC"), IMPORTS, 1.5),
        Measure("pushed query, embedded", one_shot(QUERY), DUCKDB, 1.5),
        Measure("locally evaluated query", one_shot(SHARES), DUCKDB, 1.6),
        Measure("SELECT on a warm Spark", one_shot("SELECT a, count(*) FROM m GROUP BY a"), CONNECT, 1.3),
        Measure("INSERT of three rows, managed", one_shot("INSERT INTO m VALUES (1), (2), (3)"), CONNECT, 1.3),
    ]


def run(home: Path, rounds: int, with_spark: bool) -> None:
    beside = programs(home)
    chosen = [each for each in measures(home) if with_spark or each.beside != CONNECT]
    commands = {name: beside[name] for name in {each.beside: None for each in chosen}}
    commands |= {each.name: each.command for each in chosen}
    if with_spark:
        wall([sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "-e", "CREATE TABLE m (a int)"])
    for command in reversed(commands.values()):
        wall(command, 0)
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(1, rounds + 1):
        for name, command in commands.items():
            seconds[name].append(wall(command, number))
    median = {name: statistics.median(values) for name, values in seconds.items()}
    for name in beside.keys() & median.keys():
        print(f"{name:40} {median[name] * 1e3:7.0f} ms")
    for each in chosen:
        ratio = median[each.name] / median[each.beside]
        verdict = "met" if ratio <= each.goal else "missed"
        took = f"{median[each.name] * 1e3:7.0f} ms  {ratio:5.2f} x {each.beside}"
        print(f"{each.name:40} {took}, goal {each.goal}: {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--spark", action="store_true")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        fill(home)
        try:
            run(home, options.rounds, options.spark)
        finally:
            if options.spark:
                wall([sys.executable, "-m", "hivedruid", "spark", "stop", "--home", str(home)])


if __name__ == "__main__":
    main()
