"""Planning time of the 13 Star Schema Benchmark queries, after sqlglot's parse. Target: 3 ms each.

Flat: one Druid table with every column. Joined: the original five tables, the fact table in Druid.
"""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime

from hivedruid.actions.build import query_action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, INT, STRING, TIMESTAMP
from hivedruid.parser import parse
from hivedruid.parser.statements import Query
from hivedruid.plan.split import plan_query
from hivedruid.script import SourceStatement

ROUNDS = 30
TARGET_MS = 3.0

FACT = "lo_orderkey lo_custkey lo_partkey lo_suppkey lo_orderdate lo_quantity lo_extendedprice lo_discount lo_revenue lo_supplycost"
DIMENSIONS = {
    "dates": ("d_datekey d_year d_yearmonthnum d_weeknuminyear", "d_yearmonth"),
    "customer": ("c_custkey", "c_city c_nation c_region"),
    "supplier": ("s_suppkey", "s_city s_nation s_region"),
    "part": ("p_partkey", "p_mfgr p_category p_brand1"),
}
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
    "3.3": "c_city IN ('UNITED KI1', 'UNITED KI5') AND s_city IN ('UNITED KI1', 'UNITED KI5') AND d_year >= 1992 AND d_year <= 1997",
    "3.4": "c_city IN ('UNITED KI1', 'UNITED KI5') AND s_city IN ('UNITED KI1', 'UNITED KI5') AND d_yearmonth = 'Dec1997'",
    "4.1": "c_region = 'AMERICA' AND s_region = 'AMERICA' AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')",
    "4.2": "c_region = 'AMERICA' AND s_region = 'AMERICA' AND (d_year = 1997 OR d_year = 1998) AND p_mfgr IN ('MFGR#1', 'MFGR#2')",
    "4.3": "c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND (d_year = 1997 OR d_year = 1998) AND p_category = 'MFGR#14'",
}
SELECT = {
    "1": ("sum(lo_extendedprice * lo_discount) AS revenue", "", ""),
    "2": ("sum(lo_revenue), d_year, p_brand1", "d_year, p_brand1", "d_year, p_brand1"),
    "3.1": (
        "c_nation, s_nation, d_year, sum(lo_revenue) AS revenue",
        "c_nation, s_nation, d_year",
        "d_year, revenue DESC",
    ),
    "3": ("c_city, s_city, d_year, sum(lo_revenue) AS revenue", "c_city, s_city, d_year", "d_year, revenue DESC"),
    "4.1": (f"d_year, c_nation, {PROFIT} AS profit", "d_year, c_nation", "d_year, c_nation"),
    "4.2": (
        f"d_year, s_nation, p_category, {PROFIT} AS profit",
        "d_year, s_nation, p_category",
        "d_year, s_nation, p_category",
    ),
    "4.3": (f"d_year, s_city, p_brand1, {PROFIT} AS profit", "d_year, s_city, p_brand1", "d_year, s_city, p_brand1"),
}
JOINS = (
    "lineorder JOIN dates ON lo_orderdate = d_datekey JOIN customer ON lo_custkey = c_custkey"
    " JOIN supplier ON lo_suppkey = s_suppkey JOIN part ON lo_partkey = p_partkey"
)


def query(number: str, source: str) -> str:
    columns, keys, order = SELECT.get(number) or SELECT[number[0]]
    grouped = f" GROUP BY {keys} ORDER BY {order}" if keys else ""
    return f"SELECT {columns} FROM {source} WHERE {WHERE[number]}{grouped}"


def tables() -> dict[tuple[str, str], Table]:
    fact = [Column(n, BIGINT) for n in FACT.split()]
    sides = {
        name: [*(Column(n, INT) for n in numbers.split()), *(Column(n, STRING) for n in texts.split())]
        for name, (numbers, texts) in DIMENSIONS.items()
    }
    time_column = Column("__time", TIMESTAMP)
    flat = (time_column, *fact, *(c for columns in sides.values() for c in columns), Column("lo_tax", DOUBLE))
    made = [
        Table("default", "flat", "druid", flat, True),
        Table("default", "lineorder", "druid", (time_column, *fact), True),
    ]
    made += [
        Table("default", name, "files", tuple(columns), True, format="orc", location="/x")
        for name, columns in sides.items()
    ]
    return {(t.database, t.name): t for t in made}


def measure(sql: str, snapshot: Snapshot) -> tuple[float, float, str]:
    """Median milliseconds of parsing and of planning, and the action that came out."""
    parsing, planning, action = [], [], None
    for _ in range(ROUNDS):
        start = time.perf_counter()
        statement = parse(SourceStatement(sql))
        middle = time.perf_counter()
        assert isinstance(statement, Query)
        action = query_action(plan_query(statement.expression, statement.source, snapshot))
        planning.append(time.perf_counter() - middle)
        parsing.append(middle - start)
    return statistics.median(parsing) * 1e3, statistics.median(planning) * 1e3, type(action).__name__


def main() -> None:
    snapshot = Snapshot({"hive.local.time.zone": "UTC"}, datetime(2026, 1, 1, tzinfo=UTC), tables=tables())
    print(f"{'query':6} {'source':7} {'parse ms':>9} {'plan ms':>8} {'plan/parse':>10}  answered by")
    worst = 0.0
    for source, text in (("flat", "flat"), ("joined", JOINS)):
        for number in WHERE:
            parsing, planning, action = measure(query(number, text), snapshot)
            worst = max(worst, planning)
            print(f"{number:6} {source:7} {parsing:9.2f} {planning:8.2f} {planning / parsing:10.2f}  {action}")
    print(f"slowest plan: {worst:.2f} ms, target {TARGET_MS} ms: {'met' if worst <= TARGET_MS else 'MISSED'}")


if __name__ == "__main__":
    main()
