"""INSERT OVERWRITE of a table of Parquet files with the same rows, which Spark reads in four ways.

query     one native scan, whose response is written to Parquet by this process
divided   queries of single segments, which Spark's tasks send to the data servers
segments  the segment files in deep storage
parquet   a table of Parquet files

    python -m benchmarks.segment_scans [--rows 1000000] [--heap default] [--shape edits] [--runs 3]

Wall time, the least of several runs, with a warm Spark server. Goals: segments at least 10 times as fast as one query,
and at least 0.4 times as fast as Parquet. A Druid cluster is started in a temporary folder, and
removed.
"""

from __future__ import annotations

import sys
import time
from contextlib import closing

from benchmarks.segments import FIRST, SHAPES, rows_of, started, write_all
from hivedruid.session import Session
from tests.support.cluster import Cluster
from tests.support.publish import publish

DAY = 86_400_000
SQL = {"int64": "bigint", "double": "double", "string": "string"}
WAYS = {"segments": ("segments", 0), "divided": ("query", 10_000), "query": ("query", 0)}
"""`hivedruid.druid.read` and `hive.druid.select.threshold`."""
GOALS = (("divided", "query", 1.5), ("segments", "query", 10.0), ("segments", "parquet", 0.4))
"""How many times as fast the first must be as the second."""


def run(session: Session, text: str) -> float:
    """Seconds."""
    begun = time.monotonic()
    (statement,) = session.statements(text)
    for _ in session.execute(statement).rows:
        pass
    return time.monotonic() - begun


def copied(session: Session, source: str, runs: int) -> float:
    """Seconds of the quickest of several copies of a table."""
    return min(run(session, f"INSERT OVERWRITE TABLE copy SELECT * FROM {source}") for _ in range(runs))


def compare(session: Session, cluster: Cluster, shape: str, rows: int, runs: int) -> None:
    table = rows_of(shape, rows)
    with closing(cluster.druid()) as druid:
        publish(druid, shape, (FIRST, FIRST + DAY), lambda place: write_all(table, place))
    columns = ", ".join(f"`{f.name}` {SQL[str(f.type)]}" for f in table.schema if f.name != "__time")
    run(
        session,
        f"CREATE EXTERNAL TABLE {shape} (`__time` timestamp, {columns}) STORED BY 'druid'"
        f" TBLPROPERTIES ('druid.datasource'='{shape}')",
    )
    run(session, "SET hivedruid.druid.read=segments")
    for name in ("files", "copy"):
        place = session.home / "parquet" / shape / name
        run(
            session,
            f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, {columns}) STORED AS PARQUET LOCATION '{place}'",
        )
    run(session, f"INSERT OVERWRITE TABLE files SELECT * FROM {shape}")
    seconds = {"parquet": copied(session, "files", runs)}
    for way, (read, threshold) in WAYS.items():
        run(session, f"SET hivedruid.druid.read={read}")
        run(session, f"SET hive.druid.select.threshold={threshold}")
        seconds[way] = copied(session, shape, runs)
    run(session, "DROP TABLE files")
    run(session, "DROP TABLE copy")
    print(f"{shape}: {rows:,} rows of {len(table.schema)} columns")
    for way, taken in seconds.items():
        print(f"  {way:<9} {taken:6.1f} s  {rows / taken:>11,.0f} rows/s")
    for way, other, goal in GOALS:
        ratio = seconds[other] / seconds[way]
        missed = "" if ratio >= goal else ", missed"
        print(f"  {way} against {other} {ratio:.2f} x, goal: at least {goal} x{missed}", flush=True)


def main() -> int:
    with started(__doc__) as (cluster, options):
        conf = {"druid.url": cluster.services.broker, "druid.coordinator.url": cluster.services.coordinator}
        with Session(cluster.home, hiveconf=conf) as session:
            for shape in options.shape or SHAPES:
                compare(session, cluster, shape, options.rows, options.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
