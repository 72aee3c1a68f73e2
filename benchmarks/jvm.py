"""Compilers and collectors of Spark's JVM, in turn: time to the first result, CREATE TABLE … AS into ORC, TPC-H twice.

Each configuration gets a server of its own and does the same work. CPU seconds are those of the JVM: they depend less
on other processes of the machine than the time until the result. Memory is the resident set of the JVM. All JVMs use
the class-data archive, which the server that creates the tables writes if there is none.

TPC-H needs DuckDB's generator, which is not a dependency: `--tpch PYTHON` is the Python of an environment with
`pip install duckdb==1.5.5 duckdb-extension-tpch==1.5.5`. Without it, its queries are left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from os import sysconf
from pathlib import Path

import duckdb

from hivedruid.spark import server
from hivedruid.spark.launch import STATIC

KEY = "spark.driver.extraJavaOptions"
OPTIONS = {
    "late C2, parallel": STATIC[KEY],
    "C1, serial": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC",
    "C2, serial": "-XX:+UseSerialGC",
    "C2, parallel": "-XX:+UseParallelGC",
    "C2, G1": "-XX:+UseG1GC",
}
FIRST = "SELECT k, sum(n) FROM small GROUP BY k ORDER BY k"

GENERATOR = """
import duckdb, duckdb_extension_tpch, json, pathlib, sys
folder, scale = pathlib.Path(sys.argv[1]), float(sys.argv[2])
(extension,) = pathlib.Path(duckdb_extension_tpch.__file__).parent.rglob("tpch.duckdb_extension")
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.execute("SET enable_progress_bar = false")
connection.execute(f"LOAD '{extension}'")
connection.execute(f"CALL dbgen(sf={scale})")
tables = {}
for (table,) in connection.execute("SHOW TABLES").fetchall():
    tables[table] = [column[:2] for column in connection.execute(f"DESCRIBE {table}").fetchall()]
    (folder / table).mkdir(parents=True)
    connection.execute(f"COPY {table} TO '{folder / table / 'part.parquet'}' (FORMAT parquet)")
queries = [query for _, query in connection.execute("FROM tpch_queries()").fetchall()]
print(json.dumps({"tables": tables, "queries": queries}))
"""


@dataclass(frozen=True)
class Cost:
    """What one piece of work took, in seconds, and the memory of the JVM after it, in MB."""

    wall: float
    cpu: float
    resident: int


def hivedruid(home: Path, options: str, script: str) -> None:
    command = [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "--format", "csv"]
    subprocess.run([*command, "--hiveconf", f"{KEY}={options}", "-e", script], check=True, stdout=subprocess.DEVNULL)


def usage(home: Path) -> tuple[float, int]:
    """CPU seconds and resident MB of the JVM of the home's server."""
    known = server.find(home)
    assert known is not None
    process = Path("/proc", str(known.jvm))
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    pages = int((process / "statm").read_text().split()[1])
    return (int(fields[11]) + int(fields[12])) / sysconf("SC_CLK_TCK"), pages * sysconf("SC_PAGE_SIZE") >> 20


def measured(home: Path, options: str, scripts: dict[str, str]) -> Iterator[tuple[str, Cost]]:
    """Run the scripts in order on a fresh server."""
    server.stop(home)
    before = 0.0
    for name, script in scripts.items():
        start = time.perf_counter()
        hivedruid(home, options, script)
        wall = time.perf_counter() - start
        cpu, resident = usage(home)
        yield name, Cost(wall, cpu - before, resident)
        before = cpu


def generated(folder: Path, rows: int) -> str:
    """The statement that creates table `rows`, whose file is written by DuckDB."""
    (folder / "rows").mkdir()
    duckdb.execute(
        f"COPY (SELECT i AS id, 'page-' || i % 100000 AS page, 'user-' || hash(i) % 5000 AS editor, i % 1000 AS added,"
        f" hash(i + 1) % 100000 / 8 AS price FROM range({rows}) t(i)) TO '{folder}/rows/part.parquet' (FORMAT parquet)"
    )
    columns = "id bigint, page string, editor string, added bigint, price double"
    return f"CREATE EXTERNAL TABLE `rows` ({columns}) STORED AS PARQUET LOCATION '{folder}/rows';"


def tpch(folder: Path, python: str, scale: float) -> tuple[str, str]:
    """The statements that create TPC-H's tables, and its queries."""
    done = subprocess.run(
        [python, "-c", GENERATOR, str(folder / "tpch"), str(scale)], check=True, capture_output=True, text=True
    )
    made = json.loads(done.stdout)
    types = {"VARCHAR": "STRING", "INTEGER": "INT"}
    create = "".join(
        f"CREATE EXTERNAL TABLE {table} ({', '.join(f'{name} {types.get(kind, kind)}' for name, kind in columns)})"
        f" STORED AS PARQUET LOCATION '{folder / 'tpch' / table}';"
        for table, columns in made["tables"].items()
    )
    script = "".join(f"{query.strip().rstrip(';')};\n" for query in made["queries"])
    return create, script.replace("(c_phone FROM 1 FOR 2)", "(c_phone, 1, 2)")  # Hive lacks this form


def report(costs: dict[str, dict[str, Cost]]) -> None:
    (_, reference), *_ = costs.items()
    for name, parts in costs.items():
        for part, cost in parts.items():
            base = reference[part]
            print(
                f"{name:14} {part:14} {cost.wall:7.1f} s ({cost.wall / base.wall:.2f} x)   CPU {cost.cpu:7.1f} s"
                f" ({cost.cpu / base.cpu:.2f} x)   {cost.resident} MB"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of {', '.join(OPTIONS)}; default: all")
    parser.add_argument("--rows", type=int, default=500_000, help="rows of CREATE TABLE … AS")
    parser.add_argument("--scale", type=float, default=0.05, help="TPC-H's scale factor")
    parser.add_argument("--tpch", metavar="PYTHON", help="the Python with DuckDB's TPC-H generator")
    parser.add_argument("--options", default="", help="further options of every JVM")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "home"
        create = generated(folder, arguments.rows)
        create += "CREATE TABLE small (k string, n int); INSERT INTO small VALUES ('a', 1), ('b', 2), ('a', 3);"
        scripts = {
            "first result": FIRST,
            "CREATE TABLE": "DROP TABLE IF EXISTS copy; CREATE TABLE copy STORED AS ORC AS SELECT * FROM `rows`",
        }
        if arguments.tpch:
            tables, scripts["TPC-H"] = tpch(folder, arguments.tpch, arguments.scale)
            scripts["TPC-H again"] = scripts["TPC-H"]
            create += tables
        else:
            print("TPC-H is left out: it needs --tpch, see --help")
        costs: dict[str, dict[str, Cost]] = {}
        try:
            hivedruid(home, OPTIONS["C1, serial"], create)
            for configuration in arguments.names or OPTIONS:
                costs[configuration] = {}
                options = f"-Duser.timezone=UTC {OPTIONS[configuration]} {arguments.options}"
                for part, cost in measured(home, options, scripts):
                    costs[configuration][part] = cost
                    print(f"{configuration}, {part}: {cost}", flush=True)
        finally:
            server.stop(home)
        report(costs)


if __name__ == "__main__":
    main()
