"""Copies of many rows from each kind of table into each kind of table, compared with PySpark or with a Druid task.

    python -m benchmarks.bulk [--rows 100000] [--rounds 3] [--commands] [--cluster] [--heap small] [CELL …]

A cell is `SOURCE-TARGET`, such as `json-parquet`; a part of it such as `json` or `-managed` chooses several, and
`json-count` counts the rows of JSON. Sources: managed, parquet, json, csv (OpenCSVSerde), text (tabs), query and
segments (a Druid table, by one query and by its segment files). Targets: managed, parquet, and segments (a Druid table
whose segments Spark writes, compared with one that a task of Druid loads).

The rows are shaped like edits of Wikipedia: a time, five texts of several languages, a boolean, integers and a double,
some of them NULL. Of each copy: seconds, and seconds of the processor, in one process on a warm server, beside the same
copy by PySpark on the same server, from files to files; `--commands` also compares whole processes. `--cluster` adds
Druid tables, on a cluster that is started and removed. The two sides alternate; medians of the wall, and the least of
the processor, which depends less on what else runs on the machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bare_copies import bare_copy
from benchmarks.rows import edits, started
from hivedruid.session import Session
from hivedruid.spark import server
from hivedruid.spark import session as spark_sessions

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from tests.support.cluster import Cluster

COLUMNS = {
    "__time": "timestamp", "channel": "string", "page": "string", "editor": "string", "comment": "string",
    "namespace": "string", "robot": "boolean", "added": "bigint", "deleted": "int", "delta": "double",
}  # fmt: skip
IN_DRUID = {**COLUMNS, "robot": "string", "deleted": "bigint"}
FILES, DRUID = ("managed", "parquet", "json", "csv", "text"), ("query", "segments")
STORED = {
    "managed": "",
    "parquet": "STORED AS PARQUET",
    "json": "STORED AS JSONFILE",
    "csv": "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' STORED AS TEXTFILE",
    "text": "ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t' STORED AS TEXTFILE",
}
GOAL, TASK_GOAL = 1.5, 4.0
"""How many times as long as PySpark a copy may take, and how many times as fast as a task segments must be."""


@dataclass(frozen=True)
class Taken:
    """Seconds of a statement or a command: of the wall, and of the processor if that is known."""

    wall: float
    processor: float = 0.0


class Copies:
    """A home with the sources, and folders for what PySpark copies."""

    def __init__(self, folder: Path, rows: int, cluster: Cluster | None) -> None:
        self.folder, self.home, self.cluster = folder, folder / "home", cluster
        services = cluster.services if cluster else None
        urls = {"druid.url": services.broker, "druid.coordinator.url": services.coordinator} if services else {}
        self.session = Session(self.home, hiveconf={**urls, "hivedruid.write.local.rows": "0"})
        self.conf = [part for key, url in urls.items() for part in ("--hiveconf", f"{key}={url}")]
        write_files(folder, rows)
        for form in ("parquet", "json", "csv", "text"):
            self.create(f"from_{form}", STORED[form], COLUMNS, folder / form)
        for name, form in (("from_managed", "managed"), ("to_managed", "managed"), ("to_parquet", "parquet")):
            self.create(name, STORED[form], COLUMNS, folder / name if form != "managed" else None)
        self.run("INSERT INTO from_managed SELECT * FROM from_parquet")
        with self.spark() as spark:
            spark.read.parquet(str(folder / "parquet")).write.orc(str(folder / "orc"))
        if cluster:
            self.run("SET hivedruid.druid.write=segments")
            self.create_druid("edits")
            self.run(f"INSERT INTO edits SELECT {listed(IN_DRUID)} FROM from_parquet")

    def create(self, name: str, stored: str, columns: dict[str, str], place: Path | None) -> None:
        defined = ", ".join(f"`{column}` {kind}" for column, kind in columns.items())
        kind, location = ("EXTERNAL ", f" LOCATION '{place}'") if place is not None else ("", "")
        self.run(f"CREATE {kind}TABLE {name} ({defined}) {stored}{location}")

    def create_druid(self, name: str) -> None:
        defined = ", ".join(f"`{column}` {kind}" for column, kind in IN_DRUID.items())
        self.run(
            f"CREATE EXTERNAL TABLE {name} ({defined}) STORED BY 'druid'"
            f" TBLPROPERTIES ('druid.datasource' = '{name}', 'druid.rollup' = 'false')"
        )

    def run(self, text: str) -> None:
        (statement,) = self.session.statements(text)
        for _ in self.session.execute(statement).rows:
            pass

    @contextmanager
    def spark(self) -> Iterator[SparkSession]:
        with spark_sessions.job(self.session.settings, self.home) as running:
            yield running.spark

    # --- the two sides ----------------------------------------------------------------------------------------------

    def statement(self, source: str, target: str) -> tuple[dict[str, str], str]:
        """The settings and the statement of a copy."""
        settings = {"hivedruid.druid.read": source} if source in DRUID else {}
        name = "edits" if source in DRUID else f"from_{source}"
        if target == "count":
            return settings, f"SELECT count(*) FROM {name}"
        if target in ("segments", "task"):
            settings["hivedruid.druid.write"] = "segments" if target == "segments" else "native"
            return settings, f"INSERT OVERWRITE TABLE to_{target} SELECT {listed(IN_DRUID)} FROM {name}"
        chosen = listed(COLUMNS) if source in DRUID else "*"
        return settings, f"INSERT OVERWRITE TABLE to_{target} SELECT {chosen} FROM {name}"

    def ours(self, source: str, target: str) -> Callable[[], None]:
        settings, statement = self.statement(source, target)

        def copy() -> None:
            for key, value in settings.items():
                self.run(f"SET {key}={value}")
            self.run(statement)

        return copy

    def bare(self, source: str, target: str) -> Callable[[], None]:
        """The same by PySpark alone; a Druid table counts as ORC files."""

        def copy() -> None:
            with self.spark() as spark:
                bare_copy(spark, self.folder, source, target)

        return copy

    def our_command(self, source: str, target: str) -> list[str]:
        settings, statement = self.statement(source, target)
        conf = [part for key, value in settings.items() for part in ("--hiveconf", f"{key}={value}")]
        begin = [sys.executable, "-m", "hivedruid", "sql", "--home", str(self.home)]
        return [*begin, "--hiveconf", "hivedruid.write.local.rows=0", *self.conf, *conf, "-e", statement]

    def bare_command(self, source: str, target: str) -> list[str]:
        known = server.find(self.home)
        assert known is not None
        url = f"sc://127.0.0.1:{known.port}/;use_ssl=false;token={known.token}"
        program = (
            "import sys; from pathlib import Path; from pyspark.sql.connect.session import SparkSession;"
            " from benchmarks.bare_copies import bare_copy; spark = SparkSession.builder.remote(sys.argv[1]).create();"
            " bare_copy(spark, Path(sys.argv[2]), *sys.argv[3:])"
        )
        return [sys.executable, "-c", program, url, str(self.folder), source, target]


def listed(columns: dict[str, str]) -> str:
    """The columns of a Druid table, or a table of files as columns of these types."""
    return ", ".join(
        f"CAST(`{name}` AS {kind})" if kind != COLUMNS[name] else f"`{name}`" for name, kind in columns.items()
    )


def write_files(folder: Path, rows: int) -> None:
    """The rows as files of each format, by DuckDB."""
    import duckdb

    made = edits(rows)
    with duckdb.connect() as connection:
        connection.register("made", made)
        connection.execute(
            'CREATE TABLE edits AS SELECT make_timestamp(__time * 1000) AS __time, channel, page, "user" AS editor,'
            " replace(comment, chr(9), ' ') AS comment,"
            " CASE WHEN hash(page) % 3 > 0 THEN 'Talk' END AS namespace, hash(\"user\") % 2 = 0 AS robot, added,"
            " (hash(comment) % 97)::INT AS deleted, CASE WHEN added % 7 > 0 THEN added / 7.0 END AS delta FROM made"
        )
        for form in ("parquet", "json", "csv", "text"):
            (folder / form).mkdir(parents=True)
        connection.execute(f"COPY edits TO '{folder / 'parquet' / 'rows.parquet'}' (FORMAT parquet)")
        texts = "SELECT * REPLACE (strftime(__time, '%Y-%m-%d %H:%M:%S.%g') AS __time) FROM edits"
        connection.execute(f"COPY ({texts}) TO '{folder / 'json' / 'rows.json'}' (FORMAT json)")
        connection.execute(f"COPY ({texts}) TO '{folder / 'csv' / 'rows.csv'}' (FORMAT csv, HEADER false)")
        tabs = "FORMAT csv, HEADER false, DELIMITER '\t', QUOTE '', ESCAPE '', NULLSTR '\\N'"
        connection.execute(f"COPY ({texts}) TO '{folder / 'text' / 'rows.txt'}' ({tabs})")


def cells(is_cluster: bool) -> Iterator[tuple[str, str]]:
    for source in FILES + (DRUID if is_cluster else ()):
        yield from ((source, target) for target in ("managed", "parquet"))
    yield "json", "count"
    if is_cluster:
        yield from ((source, "segments") for source in FILES)


def processor_time(home: Path) -> float:
    """Seconds of this process, of Spark's server and of the processes that it started."""
    keeper, parents, used = server.keeper_process(server.Files(home)), {}, {}
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split() if entry.name.isdigit() else []
        except OSError:  # it has ended
            continue
        if fields:
            parents[int(entry.name)] = int(fields[1])
            used[int(entry.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def is_of_server(process: int) -> bool:
        while process > 1 and process != keeper:
            process = parents.get(process, 0)
        return process == keeper

    return time.process_time() + sum(seconds for process, seconds in used.items() if is_of_server(process))


def taken(copy: Callable[[], None], home: Path) -> Taken:
    begun, before = time.perf_counter(), processor_time(home)
    copy()
    return Taken(time.perf_counter() - begun, processor_time(home) - before)


def command(arguments: list[str]) -> Callable[[], None]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

    def run_it() -> None:
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=environment)

    return run_it


def compared(one: Callable[[], None], other: Callable[[], None], home: Path, rounds: int) -> tuple[Taken, Taken]:
    """Medians of the wall and the least of the processor, after one copy by each that is not measured."""
    sides: tuple[list[Taken], list[Taken]] = ([], [])
    for number in range(rounds + 1):
        for copy, found in zip((one, other), sides, strict=True):
            found.append(taken(copy, home))
            if number == 0:
                found.clear()
    first, second = (Taken(statistics.median(t.wall for t in each), min(t.processor for t in each)) for each in sides)
    return first, second


def measure(copies: Copies, source: str, target: str, rounds: int, with_commands: bool) -> None:
    is_druid = target == "segments"
    if is_druid:
        for name in ("to_segments", "to_task"):
            copies.run(f"DROP TABLE IF EXISTS {name}")
            copies.create_druid(name)
    other = copies.ours(source, "task") if is_druid else copies.bare(source, target)
    ours, theirs = compared(copies.ours(source, target), other, copies.home, rounds)
    report(f"{source}-{target}", ours, theirs, is_druid=is_druid)
    if with_commands and not is_druid:
        one, other = command(copies.our_command(source, target)), command(copies.bare_command(source, target))
        ours, theirs = compared(one, other, copies.home, rounds)
        report(f"{source}-{target}, command", Taken(ours.wall), Taken(theirs.wall), is_druid=False)


def report(name: str, ours: Taken, theirs: Taken, *, is_druid: bool) -> None:
    if is_druid:
        ratio, beside = theirs.wall / ours.wall, "a task"
        verdict = f"{ratio:.2f} times as fast (at least {TASK_GOAL}): {'met' if ratio >= TASK_GOAL else 'missed'}"
    else:
        ratio, beside = ours.wall / theirs.wall, "PySpark"
        verdict = f"{ratio:.2f} x (at most {GOAL}): {'met' if ratio <= GOAL else 'missed'}"
    line = f"{name:<26} {ours.wall:6.2f} s, {beside} {theirs.wall:6.2f} s: {verdict}"
    if ours.processor and not is_druid:
        line += (
            f"; processor {ours.processor:.2f} and {theirs.processor:.2f} s: {ours.processor / theirs.processor:.2f} x"
        )
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*", metavar="CELL", help="SOURCE-TARGET, or a part of it")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--commands", action="store_true", help="also whole processes")
    parser.add_argument("--cluster", action="store_true", help="also Druid tables")
    parser.add_argument("--heap", default="small", help="of the cluster's services")
    options = parser.parse_args()
    chosen = [
        cell for cell in cells(options.cluster)
        if not options.cells or any(part in "-".join(cell) for part in options.cells)
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="hivedruid-bulk-") as name:
        folder = Path(name)
        if options.cluster:
            with started(folder / "cluster", options.heap) as cluster:
                run(folder, chosen, options, cluster)
        else:
            run(folder, chosen, options, None)


def run(folder: Path, chosen: list[tuple[str, str]], options: argparse.Namespace, cluster: Cluster | None) -> None:
    try:
        copies = Copies(folder / "copies", options.rows, cluster)
        print(f"{options.rows:,} rows, {options.rounds} rounds", flush=True)
        for source, target in chosen:
            measure(copies, source, target, options.rounds, options.commands)
        copies.session.close()
    finally:
        spark_sessions.release_all()
        server.stop(folder / "copies" / "home")


if __name__ == "__main__":
    main()
