"""Writing the rows of a query in bulk: whole commands, compared with the shortest way to the same rows.

    python benchmarks/rows.py [--rows 981100] [--rounds 3] [--threads N] [--cluster] [--heap default]

The rows are shaped like edits of Wikipedia: a time, four texts and an integer, with text of several languages,
quotation marks, commas and backslashes in every thousand rows.

embedded    The embedded store to csv and jsonl on stdout, to a Parquet file, as an Arrow stream, and as a DataFrame of
            pandas, compared with DuckDB over the same files, which uses all cores by default (`--threads 1` uses less
            processor time). Processor time, since the machine may be shared.
cluster     A Druid cluster, which is started and removed, to csv, jsonl, Parquet and Arrow, compared with curl of the
            same scan to nothing. Wall time: the servers compute while the client reads.

Medians of interleaved rounds; the start of each process counts, and is printed by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.jobs.load import Load, NoJournal
from hivedruid.jobs.staged import StagedRows
from hivedruid.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

    from tests.support.cluster import Cluster

FIRST = 1_442_016_000_000
DAY = 86_400_000
TEXTS = ("channel", "page", "user", "comment")
SELECT = "SELECT `__time`, channel, page, `user`, comment, added FROM edits"
CREATE = (
    "CREATE EXTERNAL TABLE edits (`__time` timestamp, channel string, page string, `user` string, comment string,"
    " added bigint) STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'edits')"
)
EMBEDDED = {"csv": 2.0, "jsonl": 2.5, "parquet": 1.4, "arrow": 1.2, "pandas": 0.66}
CLUSTER = {"csv": 1.5, "jsonl": 2.0, "parquet": 1.5, "arrow": 1.5}
"""The goal of each format: how many times as long as the reference the command may take."""
PAGES = (
    "Talk:Oswald Tilghman", "Ральф Доусон", "東京都の駅一覧", "Île-de-France", "User:Example/«brouillon»", "Rallicula",
    "Đặng Thái Sơn", "Peremptory norm", "Sport 2015 – résultats…", "مدينة نصر", "Apamea abruzzorum", "C:\\Windows",
)  # fmt: skip
COMMENTS = (
    "added project", 'Robot inserta {{Commonscat}} que enllaça amb "[[commons:category:Rallicula]]"', "",
    "/* Status of peremptory norms under international law */ fixed spelling of 'Wimbledon', see talk", "исправлено",
    "[[WP:AES|←]]Created page with '== Sobre ==\\n* …'", "リンク追加、修正", "typo",
    "Reverted edits by 192.0.2.1, 2 of 3",
)  # fmt: skip


@dataclass(frozen=True)
class Taken:
    """Seconds of a process: of the processor, and of the wall."""

    processor: float
    wall: float


def edits(rows: int) -> pa.Table:
    """Rows in the order of their times."""
    import duckdb

    def item(texts: Sequence[str], place: str) -> str:
        listed = ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
        return f"([{listed}])[1 + ({place})::INT]"

    return duckdb.sql(
        f"SELECT {FIRST} + i * {DAY - 1} // {rows} AS __time,"
        " '#' || ['en', 'de', 'ru', 'ja', 'vi'][1 + (hash(i) % 5)::INT] || '.wikipedia' AS channel,"
        f" {item(PAGES, f'hash(i // 25) % {len(PAGES)}')} || ' ' || (hash(i // 25) % 30000) AS page,"
        " 'user ' || (hash(i // 25 + 1) % 20000) AS \"user\","
        f" {item(COMMENTS, f'hash(i // 25 + 2) % {len(COMMENTS)}')} || (hash(i // 25) % 7) AS comment,"
        f" ((hash(i // 25) % 3000)::BIGINT) AS added FROM range({rows}) r(i)"
    ).to_arrow_table()


def fill(home: Path, rows: pa.Table) -> None:
    """The rows as a Druid table of the embedded store, loaded without Spark."""
    import duckdb

    home.mkdir()
    duckdb.sql(f"COPY (SELECT * FROM rows) TO '{home / 'rows.json'}' (FORMAT json)")
    schema = {
        "dataSource": "edits",
        "timestampSpec": {"column": "__time", "format": "millis"},
        "dimensionsSpec": {"dimensions": [*TEXTS, {"type": "long", "name": "added"}]},
        "metricsSpec": [],
        "granularitySpec": {"segmentGranularity": "YEAR", "queryGranularity": "NONE", "rollup": False},
    }
    source = {"type": "local", "baseDir": str(home), "filter": "rows.json"}
    io = {"type": "index_parallel", "inputSource": source, "inputFormat": {"type": "json"}}
    with Session(home) as session:
        spec = {"type": "index_parallel", "spec": {"dataSchema": schema, "ioConfig": io}}
        session.store.ingest(Load("rows", spec, StagedRows(str(home), rows.num_rows)), NoJournal())
        create(session)


def create(session: Session) -> None:
    for statement in session.statements(CREATE):
        session.execute(statement)


def seconds(command: list[str]) -> Taken:
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(processor, time.monotonic() - begun)


def hivedruid(home: Path, query: str = SELECT) -> dict[str, list[str]]:
    """The command that writes the rows in each format."""
    base = [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "-e", query]
    python = f"import hivedruid; hivedruid.connect({str(home)!r}).sql({query!r}).to_pandas()"
    return {
        **{layout: [*base, "--format", layout] for layout in ("csv", "jsonl", "arrow")},
        "parquet": [*base, "--output", str(home / "rows.parquet")],
        "pandas": [sys.executable, "-c", python],
    }


def duckdb_commands(home: Path, threads: int | None) -> dict[str, list[str]]:
    files = str(home / "segments" / "**" / "*.parquet")
    columns = ", ".join(f'"{name}"' for name in (*TEXTS, "added"))
    read = f"SELECT make_timestamp(__time * 1000) AS __time, {columns} FROM read_parquet('{files}')"
    begin = "import duckdb; c = duckdb.connect(); " + (f"c.execute('SET threads = {threads}'); " if threads else "")
    arrow = (
        f"import sys, pyarrow as pa; r = c.sql({read!r}).to_arrow_reader(16384)"
        "; w = pa.ipc.new_stream(sys.stdout.buffer, r.schema); [w.write_batch(b) for b in r]; w.close()"
    )

    def copy(place: str, form: str) -> str:
        return f"c.execute({f'COPY ({read}) TO {place!r} (FORMAT {form})'!r})"

    ways = {
        "start": "pass",
        "csv": copy("/dev/stdout", "csv"),
        "jsonl": copy("/dev/stdout", "json"),
        "parquet": copy(str(home / "duckdb.parquet"), "parquet"),
        "arrow": arrow,
        "pandas": f"c.sql({read!r}).df()",
    }
    return {name: [sys.executable, "-c", begin + way] for name, way in ways.items()}


def medians(commands: dict[str, list[str]], rounds: int) -> dict[str, Taken]:
    taken: dict[str, list[Taken]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            taken[name].append(seconds(command))
    return {
        name: Taken(statistics.median(t.processor for t in each), statistics.median(t.wall for t in each))
        for name, each in taken.items()
    }


def embedded(rows: pa.Table, folder: Path, rounds: int, threads: int | None) -> None:
    home = folder / "home"
    fill(home, rows)
    start = {"hivedruid start": hivedruid(home, f"{SELECT} LIMIT 1")["csv"]}
    ours = {f"hivedruid {name}": command for name, command in hivedruid(home).items()}
    theirs = {f"DuckDB {name}": command for name, command in duckdb_commands(home, threads).items()}
    found = {name: each.processor for name, each in medians({**start, **ours, **theirs}, rounds).items()}
    print(f"embedded: start of hivedruid {found['hivedruid start']:.2f} s, of DuckDB {found['DuckDB start']:.2f} s")
    for name, goal in EMBEDDED.items():
        report(f"embedded {name}", found[f"hivedruid {name}"], "DuckDB", found[f"DuckDB {name}"], goal)


def cluster(rows: pa.Table, folder: Path, rounds: int, heap: str) -> None:
    with started(folder / "cluster", heap) as running:
        publish_edits(running, rows)
        home = folder / "client"
        urls = {"druid.url": running.services.broker, "druid.coordinator.url": running.services.coordinator}
        with Session(home, hiveconf=urls) as session:
            create(session)
        addresses = [part for key, url in urls.items() for part in ("--hiveconf", f"{key}={url}")]
        ours = {name: [*command, *addresses] for name, command in hivedruid(home).items() if name in CLUSTER}
        query = {
            "queryType": "scan", "dataSource": "edits", "intervals": ["1000/3000"],
            "columns": ["__time", *TEXTS, "added"], "resultFormat": "compactedList", "context": {"timeout": 600_000},
        }  # fmt: skip
        url = f"{running.services.broker}/druid/v2"
        curl = ["curl", "-sf", "-o", os.devnull, "-H", "Content-Type: application/json", "-d", json.dumps(query), url]
        found = medians({"curl": curl, **ours}, rounds)
    for name, goal in CLUSTER.items():
        processor = f", {found[name].processor:.2f} s of the processor"
        report(f"cluster {name}", found[name].wall, "curl", found["curl"].wall, goal, processor)


@contextmanager
def started(home: Path, heap: str) -> Iterator[Cluster]:
    from hivedruid.local.cluster import LocalCluster
    from tests.support.cluster import Cluster

    local = LocalCluster(home, heap=heap)
    try:
        yield Cluster(home, local.up(kafka=False), local.up, is_adopted=False)
    finally:
        local.down(clean=True)


def publish_edits(running: Cluster, rows: pa.Table) -> None:
    from hivedruid.segments.writing.segment import Dimension, Metric, SegmentSpec, write_segment
    from tests.support.publish import publish

    dimensions = tuple(Dimension(name, "STRING") for name in TEXTS)
    added = Metric("added", "LONG", {"type": "longSum", "name": "added", "fieldName": "added"})
    spec = SegmentSpec((FIRST, FIRST + DAY), dimensions, (added,))
    with closing(running.druid()) as druid:
        publish(druid, "edits", (FIRST, FIRST + DAY), lambda place: [write_segment(rows, spec, place / "0")])


def report(what: str, ours: float, reference: str, theirs: float, goal: float, more: str = "") -> None:
    ratio = ours / theirs
    verdict = "met" if ratio <= goal else "MISSED"
    print(
        f"{what}: {ours:.2f} s{more}, {reference} {theirs:.2f} s: {ratio:.2f} x (at most {goal:g} x): {verdict}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=981_100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, help="of DuckDB; by default one for each core")
    parser.add_argument("--cluster", action="store_true", help="also rows of a Druid cluster")
    parser.add_argument("--heap", default="default", help="of the cluster's services")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = edits(options.rows)
        embedded(rows, Path(folder), options.rounds, options.threads)
        if options.cluster:
            cluster(rows, Path(folder), options.rounds, options.heap)


if __name__ == "__main__":
    main()
