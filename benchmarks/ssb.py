"""The 13 queries of the Star Schema Benchmark on the flat table, compared with the same queries in Druid's own SQL.

lineorder joined with customer, supplier, part and date is one data source, generated with the benchmark's domains and
selectivities and ingested into a Druid cluster: that of `--home`, or one that is started and stopped. Every query must
be one native query and return the rows that Druid's SQL returns.

hivedruid's time is that of planning and the native query, Druid's that of the SQL over the same HTTP client
(/druid/v2/sql: exact, including planning), without caches. Both run alternately, 30 pairs, in changing order. The bound
is the upper end of the 95 % interval of the ratio (t, of the logarithms): at most 1.05 for each query.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb

from hivedruid import defaults
from hivedruid.actions.gather import gather
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, INT, STRING, TIMESTAMP
from hivedruid.clients.address import address
from hivedruid.clients.cluster import DruidCluster
from hivedruid.druid.ingestion import index_parallel_spec
from hivedruid.jobs.load import Load, NoJournal
from hivedruid.jobs.staged import StagedRows
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.state import LocalServices
from hivedruid.parser import parse
from hivedruid.parser.statements import Query
from hivedruid.plan.physical import DruidRead
from hivedruid.plan.split import druid_read, plan_query
from hivedruid.script import SourceStatement
from hivedruid.session import Session

TARGET = 1.05
T_95 = {29: 2.045, 9: 2.262}
"""The t quantile of a two-sided 95 % interval, by degrees of freedom."""
WARM_UP = 5
NO_CACHES = {"useCache": False, "populateCache": False, "useResultLevelCache": False, "populateResultLevelCache": False}
EXACT = {"useApproximateCountDistinct": False, "useApproximateTopN": False}

PROFIT = "sum(lo_revenue - lo_supplycost)"
WHERE = {
    "1.1": "d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25",
    "1.2": "d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35",
    "1.3": "d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35",
    "2.1": "p_category = 'MFGR#12' AND s_region = 'AMERICA'",
    "2.2": "p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'",
    "2.3": "p_brand1 = 'MFGR#2221' AND s_region = 'EUROPE'",
    "3.1": "c_region = 'ASIA' AND s_region = 'ASIA' AND d_year >= 1992 AND d_year <= 1997",
    "3.2": "c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND d_year >= 1992 AND d_year <= 1997",
    "3.3": (
        "(c_city = 'UNITED KI1' OR c_city = 'UNITED KI5') AND (s_city = 'UNITED KI1' OR s_city = 'UNITED KI5')"
        " AND d_year >= 1992 AND d_year <= 1997"
    ),
    "3.4": (
        "(c_city = 'UNITED KI1' OR c_city = 'UNITED KI5') AND (s_city = 'UNITED KI1' OR s_city = 'UNITED KI5')"
        " AND d_yearmonth = 'Dec1997'"
    ),
    "4.1": "c_region = 'AMERICA' AND s_region = 'AMERICA' AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')",
    "4.2": (
        "c_region = 'AMERICA' AND s_region = 'AMERICA' AND (d_year = 1997 OR d_year = 1998)"
        " AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')"
    ),
    "4.3": (
        "c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND (d_year = 1997 OR d_year = 1998) AND p_category ="
        " 'MFGR#14'"
    ),
}
REVENUE = "sum(lo_revenue) AS revenue"
SELECT = {
    "1": ("sum(lo_extendedprice * lo_discount) AS revenue", "", ""),
    "2": (f"{REVENUE}, d_year, p_brand1", "d_year, p_brand1", "d_year, p_brand1"),
    "3.1": (f"c_nation, s_nation, d_year, {REVENUE}", "c_nation, s_nation, d_year", "d_year, revenue DESC"),
    "3": (f"c_city, s_city, d_year, {REVENUE}", "c_city, s_city, d_year", "d_year, revenue DESC"),
    "4.1": (f"d_year, c_nation, {PROFIT} AS profit", "d_year, c_nation", "d_year, c_nation"),
    "4.2": (f"d_year, s_nation, p_category, {PROFIT} AS profit", *(["d_year, s_nation, p_category"] * 2)),
    "4.3": (f"d_year, s_city, p_brand1, {PROFIT} AS profit", *(["d_year, s_city, p_brand1"] * 2)),
}


def query(number: str, source: str) -> str:
    """A query's text, the same in Hive's dialect and in Druid's."""
    columns, keys, order = SELECT.get(number) or SELECT[number[0]]
    grouped = f" GROUP BY {keys} ORDER BY {order}" if keys else ""
    return f"SELECT {columns} FROM {source} WHERE {WHERE[number]}{grouped}"


# --- the rows ------------------------------------------------------------------------------------------------------

NATIONS = {
    "AFRICA": ("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    "AMERICA": ("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"),
    "ASIA": ("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"),
    "EUROPE": ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
    "MIDDLE EAST": ("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"),
}
LINEORDER = ("lo_orderkey", "lo_quantity", "lo_extendedprice", "lo_discount", "lo_revenue", "lo_supplycost", "lo_tax")
DATE = ("d_year", "d_yearmonthnum", "d_weeknuminyear")
TEXTS = (
    "d_yearmonth", "lo_orderpriority", "lo_shipmode", "c_city", "c_nation", "c_region", "c_mktsegment", "s_city",
    "s_nation", "s_region",
    "p_mfgr", "p_category", "p_brand1", "p_color", "p_container",
)  # fmt: skip
COLUMNS = (
    Column("__time", TIMESTAMP),
    *(Column(name, BIGINT) for name in LINEORDER),
    *(Column(name, INT) for name in DATE),
    *(Column(name, STRING) for name in TEXTS),
)


def flat(name: str) -> Table:
    properties = {"druid.datasource": name, "druid.rollup": "false", "druid.segment.granularity": "YEAR"}
    return Table("default", "flat", "druid", COLUMNS, properties=properties)


ROWS = """
CREATE MACRO pick(i, salt, n) AS (hash(i::BIGINT * 1000003 + salt) % n)::INTEGER;
CREATE MACRO city(nation, digit) AS rpad(nation[:9], 9, ' ') || digit;
CREATE TABLE nation AS SELECT row_number() OVER () - 1 AS k, * FROM (VALUES {nations}) v(region, nation);
COPY (
  WITH drawn AS (
    SELECT i, DATE '1992-01-01' + pick(i // 4, 1, 2406) AS day,
      pick(i // 4, 2, {customers}) AS c, pick(i, 3, {suppliers}) AS s, pick(i, 4, {parts}) AS p,
      1 + pick(i, 5, 50) AS quantity, pick(i, 6, 11) AS discount, pick(i, 7, 9) AS tax
    FROM range({rows}) t(i)
  ), priced AS (
    SELECT *, 90000 + (p // 10) % 20001 + 100 * (p % 1000) AS price, 1 + pick(p, 10, 5) AS m, 1 + pick(p, 11, 5) AS cat,
      1 + pick(p, 12, 40) AS brand FROM drawn
  )
  SELECT epoch_ms(day) AS __time, i // 4 AS lo_orderkey, quantity AS lo_quantity, quantity * price AS lo_extendedprice,
    discount AS lo_discount, quantity * price * (100 - discount) // 100 AS lo_revenue,
    6 * price // 10 AS lo_supplycost, tax AS lo_tax,
    year(day) AS d_year, year(day) * 100 + month(day) AS d_yearmonthnum,
    1 + (dayofyear(day) - 1) // 7 AS d_weeknuminyear,
    strftime(day, '%b%Y') AS d_yearmonth,
    ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECI', '5-LOW'][1 + pick(i // 4, 20, 5)] AS lo_orderpriority,
    ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'][1 + pick(i, 21, 7)] AS lo_shipmode,
    city(cn.nation, pick(c, 22, 10)) AS c_city, cn.nation AS c_nation, cn.region AS c_region,
    ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD'][1 + pick(c, 23, 5)] AS c_mktsegment,
    city(sn.nation, pick(s, 24, 10)) AS s_city, sn.nation AS s_nation, sn.region AS s_region,
    'MFGR#' || m AS p_mfgr, 'MFGR#' || m || cat AS p_category, 'MFGR#' || m || cat || brand AS p_brand1,
    'color ' || pick(p, 25, 92) AS p_color, 'container ' || pick(p, 26, 40) AS p_container
  FROM priced JOIN nation cn ON cn.k = pick(c, 27, 25) JOIN nation sn ON sn.k = pick(s, 28, 25)
  ORDER BY i
) TO '{file}' (FORMAT json, COMPRESSION gzip)
"""
"""A lineorder is line i % 4 of order i // 4, with one customer and one day of the years 1992 to 1998."""


def stage(folder: Path, rows: int) -> None:
    """The rows as newline-delimited JSON; the sizes of the dimensions scale with the number of rows, from 6,000,000."""
    scale = rows / 6_000_000
    nations = ", ".join(f"('{region}', '{nation}')" for region, names in NATIONS.items() for nation in names)
    sizes = {"customers": 30_000 * scale, "suppliers": 2_000 * scale, "parts": 200_000}
    counts = {name: max(500, int(size)) for name, size in sizes.items()}
    with duckdb.connect() as connection:
        connection.execute(ROWS.format(rows=rows, nations=nations, file=folder / "rows.json.gz", **counts))


# --- running the queries -------------------------------------------------------------------------------------------


class Bench:
    """A session and a client for the cluster, and the data source."""

    def __init__(self, folder: Path, services: LocalServices, name: str) -> None:
        self.folder = folder
        home = folder / "home"
        settings = {
            "druid.url": services.broker, "druid.coordinator.url": services.coordinator,
            "druid.overlord.url": services.overlord,
        }  # fmt: skip
        defaults.write(home, settings)
        self.session = Session(home)
        self.druid = DruidCluster(address(self.session.settings, services), progress=lambda _: None, note=print)
        self.table = flat(name)

    def ingest(self, rows: int) -> None:
        if self.table.data_source not in self.druid.data_sources():
            begin = time.perf_counter()
            staging = self.folder / "staging"
            staging.mkdir()
            stage(staging, rows)
            spec = index_parallel_spec(self.table, {}, "nothing")
            spec["spec"]["ioConfig"]["inputSource"]["baseDir"] = str(staging)
            self.druid.ingest(Load(f"ssb_{uuid4().hex}", spec, StagedRows(str(staging), rows)), NoJournal())
            print(f"{rows:,} rows ingested in {time.perf_counter() - begin:.0f} s")
        self.create()

    def create(self) -> None:
        columns = ", ".join(f"`{c.name}` {c.type}" for c in COLUMNS)
        create = (
            f"CREATE EXTERNAL TABLE flat ({columns}) STORED BY 'druid' TBLPROPERTIES ('druid.datasource' ="
            f" '{self.table.data_source}')"
        )
        for statement in self.session.statements(create):
            self.session.execute(statement)

    def read(self, text: str) -> DruidRead:
        """The native query of hivedruid."""
        statement = parse(SourceStatement(text))
        assert isinstance(statement, Query)
        read = druid_read(plan_query(statement.expression, statement.source, self.facts))
        assert read is not None, f"not one native query: {text}"
        return replace(read, query={**read.query, "context": {**read.query.get("context", {}), **NO_CACHES}})

    @property
    def facts(self) -> Any:
        if not hasattr(self, "_facts"):
            (statement,) = self.session.statements("SELECT * FROM flat")
            self._facts = gather(parse(statement), self.session.facts())
        return self._facts

    def ours(self, number: str) -> list[tuple[Any, ...]]:
        return list(self.druid.rows(self.read(query(number, "flat"))))

    def theirs(self, number: str) -> list[tuple[Any, ...]]:
        context = {**EXACT, **NO_CACHES, "sqlQueryId": str(uuid4())}
        body = {"query": query(number, f'"{self.table.data_source}"'), "context": context, "resultFormat": "array"}
        return [tuple(row) for row in self.druid.client.post("broker", "/druid/v2/sql", list[Any], body)]

    def plan_of_theirs(self, number: str) -> Any:
        """The native query of Druid's SQL."""
        text = f"EXPLAIN PLAN FOR {query(number, chr(34) + self.table.data_source + chr(34))}"
        body = {"query": text, "context": EXACT}
        (row,) = self.druid.client.post("broker", "/druid/v2/sql", list[Any], body)
        return json.loads(row["PLAN"])[0]["query"]

    def close(self) -> None:
        self.session.close()
        self.druid.close()


def timed(ask: Callable[[str], object], number: str) -> float:
    begin = time.perf_counter()
    ask(number)
    return time.perf_counter() - begin


def compared(bench: Bench, number: str, pairs: int) -> tuple[float, float, float, float]:
    """Medians of both in milliseconds, the ratio, and the upper end of its 95 % interval."""
    for _ in range(WARM_UP):
        bench.ours(number)
        bench.theirs(number)
    ours, theirs = [], []
    for pair in range(pairs):
        if pair % 2:
            theirs.append(timed(bench.theirs, number))
            ours.append(timed(bench.ours, number))
        else:
            ours.append(timed(bench.ours, number))
            theirs.append(timed(bench.theirs, number))
    logs = [math.log(a / b) for a, b in zip(ours, theirs, strict=True)]
    mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(pairs)
    bound = math.exp(mean + T_95.get(pairs - 1, 2.1) * error)
    return statistics.median(ours) * 1e3, statistics.median(theirs) * 1e3, math.exp(mean), bound


@contextmanager
def cluster(home: Path | None, folder: Path) -> Iterator[LocalServices]:
    """The cluster of a home, which keeps running, or else one below `folder` that is removed afterwards."""
    if home is not None:
        yield LocalCluster(home).up(kafka=False)
        return
    local = LocalCluster(folder)
    try:
        yield local.up(kafka=False)
    finally:
        local.down(clean=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", metavar="QUERY", help=", ".join(WHERE))
    parser.add_argument("--home", type=Path, help="whose local cluster; it keeps running, and so do the rows")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--explain", action="store_true", help="show both native queries instead")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, cluster(given.home, Path(folder) / "cluster") as services:
        bench = Bench(Path(folder), services, f"bench_ssb_{given.rows}")
        try:
            bench.ingest(given.rows)
            (explain if given.explain else measure)(bench, given.queries or list(WHERE), given.pairs)
        finally:
            bench.close()


def explain(bench: Bench, numbers: list[str], _pairs: int) -> None:
    for number in numbers:
        print(f"{number}\n  ours   {json.dumps(bench.read(query(number, 'flat')).query)}")
        print(f"  theirs {json.dumps(bench.plan_of_theirs(number))}")


def measure(bench: Bench, numbers: list[str], pairs: int) -> None:
    for number in numbers:
        ours, theirs = bench.ours(number), bench.theirs(number)
        assert ours == theirs, f"{number}: {ours[:3]} is not {theirs[:3]}"
    print(f"{'query':5} {'rows':>5} {'type':10} {'ours ms':>8} {'SQL ms':>8} {'ratio':>6} {'bound':>6}")
    worst = 0.0
    for number in numbers:
        kind = bench.read(query(number, "flat")).query["queryType"]
        rows = len(bench.ours(number))
        mine, other, ratio, bound = compared(bench, number, pairs)
        worst = max(worst, bound)
        print(f"{number:5} {rows:5} {kind:10} {mine:8.2f} {other:8.2f} {ratio:6.3f} {bound:6.3f}", flush=True)
    print(f"highest bound {worst:.3f}, target {TARGET}: {'met' if worst <= TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
