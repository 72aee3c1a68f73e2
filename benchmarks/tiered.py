"""Tiered tables: archiving, queries over both parts, and planning, each compared within one run.

archive   Wall time of ARCHIVE TABLE over segment files, compared with Spark copying as many rows from a table of ORC
          files to another, both on a server that has done so before, and with ARCHIVE TABLE over one native query. The
          first one over segment files, which also starts Spark's Python workers, is printed as well.
queries   Wall time of a query over both parts, compared with that over the slower of its parts alone.
planning  Time of EXPLAIN for a table with 10,000 archived intervals, compared with that of a plain Druid table;
          for all times, for which Druid is asked, compared with that of the table before it had these intervals.

    python -m benchmarks.tiered [--rows 1000000] [--heap small]

A Druid cluster is started in a temporary folder, and removed. With the small heap its services compile less, and read
with one thread, as in tests; with the default heap they run as Druid usually does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from hivedruid.catalog.archives import Batch, Batches, Interval
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.services import HEAPS
from hivedruid.session import Session
from tests.support.job_homes import conf_of, run

DAYS = 13
ROUNDS = 5
INTERVALS = 10_000
HOUR = 3_600_000
GOALS = {"archive": 1 / 0.7, "one query": 1 / 8, "queries": 1.15, "planning": 2.0, "growth": 1.25}
"""The most that the first may take of the time of the second."""
QUERY = "SELECT page, sum(added), count(*) FROM t {} GROUP BY page ORDER BY 2 DESC, 1 LIMIT 10"


def seconds(session: Session, sql: str, rounds: int = 1) -> float:
    """The least of several."""
    found = []
    for _ in range(rounds):
        begun = time.perf_counter()
        run(session, sql)
        found.append(time.perf_counter() - begun)
    return min(found)


def fill(session: Session, rows: int) -> None:
    """The same rows as files, and in a tiered table."""
    columns = "`__time` TIMESTAMP, page STRING, editor STRING, added BIGINT, deleted BIGINT"
    run(session, f"CREATE TABLE source ({columns})")
    values = ", ".join(f"({number})" for number in range(1000))
    run(session, f"CREATE TABLE thousand AS SELECT CAST(col1 AS BIGINT) AS n FROM (VALUES {values}) v")
    number = "a.n + 1000 * b.n + 1000000 * c.n"
    run(
        session,
        f"INSERT INTO source SELECT from_unixtime(1767225600 + ({number}) * {DAYS * 86_400} DIV {rows}),"
        f" concat('page-', ({number}) % 1000), concat('user-', ({number}) % 5000), ({number}) % 1000, ({number}) % 300"
        f" FROM thousand a CROSS JOIN thousand b CROSS JOIN (SELECT n FROM thousand WHERE n * 1000000 < {rows}) c"
        f" WHERE {number} < {rows}",
    )
    run(session, f"CREATE TABLE t ({columns}) STORED AS TIERED TBLPROPERTIES ('druid.rollup' = 'false')")
    run(session, "INSERT INTO t SELECT * FROM source")


def compare(name: str, first: float, second: float, what: str) -> bool:
    ratio = first / second
    missed = ratio > GOALS[name]
    print(f"  {first:7.3f} s to {second:7.3f} s: {ratio:5.2f} x {what}, goal: at most {GOALS[name]:.2f}"
          + (", missed" if missed else ""), flush=True)  # fmt: skip
    return missed


def archive(session: Session, rows: int) -> bool:
    print(f"archive, {rows} rows in {DAYS} segments, three of them at a time")
    bare = "INSERT OVERWRITE TABLE bare SELECT * FROM source WHERE `__time` < '2026-01-04'"
    run(session, "CREATE TABLE bare LIKE source")
    seconds(session, bare)
    run(session, "SET hivedruid.druid.read=query")
    run(session, "SET hive.druid.select.threshold=0")
    by_query = seconds(session, "ARCHIVE TABLE t UP TO '2026-01-04'")
    run(session, "RESET hive.druid.select.threshold")
    run(session, "SET hivedruid.druid.read=segments")
    first = seconds(session, "ARCHIVE TABLE t UP TO '2026-01-07'")
    taken = seconds(session, "ARCHIVE TABLE t UP TO '2026-01-10'")
    print(f"  {first:7.3f} s the first time, {taken:.3f} s the second time")
    run(session, "RESET hivedruid.druid.read")
    missed = compare("archive", taken, seconds(session, bare, 3), "of writing bare ORC files from ORC files")
    return compare("one query", taken, by_query, "of reading the rows with one query") or missed


def queries(session: Session) -> bool:
    print("queries")
    hot = seconds(session, QUERY.format("WHERE `__time` >= '2026-01-10'"), ROUNDS)
    cold = seconds(session, QUERY.format("WHERE `__time` < '2026-01-10'"), ROUNDS)
    both = seconds(session, QUERY.format(""), ROUNDS)
    return compare("queries", both, max(hot, cold), f"of the slower part (Druid {hot:.3f} s, Iceberg {cold:.3f} s)")


def planning(session: Session) -> bool:
    print(f"planning, {INTERVALS} archived intervals")
    run(session, "CREATE TABLE plain (`__time` TIMESTAMP, page STRING, added BIGINT) STORED BY 'druid'")
    table = session.catalog.get("default", "t")
    query = "EXPLAIN SELECT page, sum(added) FROM {} {} GROUP BY page"
    few = seconds(session, query.format("t", ""), 2 * ROUNDS)
    for number in range(INTERVALS // 100):
        hours = range(number * 100, number * 100 + 100)
        intervals = tuple(Interval(hour * HOUR, (hour + 1) * HOUR, "2026-01-01T00:00:00.000Z") for hour in hours)
        Batches(session.catalog).keep(Batch(f"b{number}", table.table_id, "done", intervals, 1))
    late = "WHERE `__time` >= '2026-01-10'"
    tiered, plain = (seconds(session, query.format(name, late), 2 * ROUNDS) for name in ("t", "plain"))
    missed = compare("planning", tiered, plain, "of a plain Druid table")
    many = seconds(session, query.format("t", ""), 2 * ROUNDS)
    return compare("growth", many, few, "of the table without these intervals, for all times") or missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--heap", choices=sorted(HEAPS), default="default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hivedruid-bench-") as folder:
        local = LocalCluster(Path(folder) / "cluster", heap=given.heap)
        try:
            conf = conf_of(local.up())
            with closing(Session(Path(folder) / "home", hiveconf=conf)) as session:
                fill(session, given.rows)
                missed = [archive(session, given.rows), queries(session), planning(session)]
        finally:
            local.down(clean=True)
    return int(any(missed))


if __name__ == "__main__":
    sys.exit(main())
