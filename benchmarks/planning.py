"""CPU time of planning without parsing, for every available query: median under 2 ms, worst under 20 ms.

The queries are the statements of the goldens in tests/q, the queries of tests/corpus, and the 13 Star Schema Benchmark
queries: flat (one Druid table with every column) and joined (the original five tables, the fact table in Druid). Large
queries are listed separately: their time grows with their length.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.ssb import WHERE, query
from hivedruid.actions import build
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, INT, STRING, TIMESTAMP
from hivedruid.errors import HiveDruidError
from hivedruid.parser import parse
from hivedruid.parser.statements import Statement
from hivedruid.qtest.runner import PINNED
from hivedruid.script import SourceStatement
from hivedruid.session import Session

ROOT = Path(__file__).parents[1]
ROUNDS = 9
MEDIAN_MS = 2.0
WORST_MS = 20.0

FACT = (
    "lo_orderkey lo_custkey lo_partkey lo_suppkey lo_orderdate lo_quantity lo_extendedprice lo_discount lo_revenue"
    " lo_supplycost"
)
DIMENSIONS = {
    "dates": ("d_datekey d_year d_yearmonthnum d_weeknuminyear", "d_yearmonth"),
    "customer": ("c_custkey", "c_city c_nation c_region"),
    "supplier": ("s_suppkey", "s_city s_nation s_region"),
    "part": ("p_partkey", "p_mfgr p_category p_brand1"),
}
JOINS = (
    "lineorder JOIN dates ON lo_orderdate = d_datekey JOIN customer ON lo_custkey = c_custkey"
    " JOIN supplier ON lo_suppkey = s_suppkey JOIN part ON lo_partkey = p_partkey"
)


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


class Asked(NamedTuple):
    """A statement, and the facts for planning it."""

    source: SourceStatement
    facts: Snapshot


def ssb() -> Iterator[Asked]:
    """The Star Schema Benchmark, flat and joined."""
    facts = Snapshot({"hive.local.time.zone": "UTC"}, datetime(2026, 1, 1, tzinfo=UTC), tables=tables())
    for source in ("flat", JOINS):
        for number in WHERE:
            yield Asked(SourceStatement(query(number, source)), facts)


def goldens() -> Iterator[Asked]:
    """The statements that the scripts in tests/q plan, each with the catalog and settings of the statements
    before it."""
    asked: list[Asked] = []
    whole = build.build

    def noted(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
        asked.append(Asked(statement.source, snapshot))
        return whole(statement, snapshot, note)

    for script in sorted((ROOT / "tests" / "q").glob("*.q")):
        text = script.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as home, Session(Path(home), hiveconf=PINNED, dry_run=True) as session:
            session.variables |= {"home": home, "dir": str(script.parent)}
            statements = session.statements(text, str(script))
            with patch.object(build, "build", noted):
                while (statement := _next(statements)) is not None:
                    _executed(session, statement)
    return iter(asked)


def _next(statements: Iterator[SourceStatement]) -> SourceStatement | None:
    try:
        return next(statements, None)
    except HiveDruidError:
        return None  # the script ends with this error: that is what it tests


def _executed(session: Session, statement: SourceStatement) -> None:
    with suppress(HiveDruidError):  # many are expected to be refused
        list(session.execute(statement).rows)


def corpus() -> Iterator[Asked]:
    """The queries of tests/corpus that have a plan."""
    from tests.corpus.answers import Asked as Planned
    from tests.corpus.answers import asked, scripts
    from tests.corpus.sample import fill

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        fill(home)
        for script in scripts():
            for item in asked(script, home):
                if isinstance(item, Planned):
                    yield Asked(item.statement, item.snapshot)


def large() -> Iterator[Asked]:
    """Wide tables, long lists and conditions, many branches, deep nesting."""
    columns = tuple(Column(f"c{i}", (STRING, BIGINT, DOUBLE)[i % 3]) for i in range(200))
    wide = Table("default", "wide", "druid", (Column("__time", TIMESTAMP), *columns), True)
    facts = Snapshot(
        {"hive.local.time.zone": "US/Pacific"}, datetime(2026, 1, 1, tzinfo=UTC), tables={("default", "wide"): wide}
    )
    numbers = range(100)
    sums = ", ".join(f"sum(c{i})" for i in range(1, 100, 3))
    branches = " UNION ALL ".join(f"SELECT c0, sum(c1) AS s FROM wide WHERE c4 > {i} GROUP BY c0" for i in range(20))
    cases = " ".join(f"WHEN c0 = '{i}' THEN {i}" for i in numbers)
    aliases = [f"a{i}" for i in range(8)]
    joined = " ".join(f"JOIN wide {b} ON {a}.c0 = {b}.c3 AND {b}.c1 > 5" for a, b in pairwise(aliases))
    texts = [
        "SELECT * FROM wide WHERE c1 > 3",
        f"SELECT c0, {sums} FROM wide GROUP BY c0",
        f"SELECT c0 FROM wide WHERE c3 IN ({', '.join(repr(str(i)) for i in range(1000))})",
        f"SELECT c0 FROM wide WHERE c1 NOT IN ({', '.join(str(i) for i in range(1000))})",
        f"SELECT c0 FROM wide WHERE {' OR '.join(f'(c3 = {str(i)!r} AND c1 > {i})' for i in numbers)}",
        f"SELECT c0 FROM wide WHERE {' AND '.join(f'initcap(c3) <> {str(i)!r}' for i in numbers)}",
        f"SELECT CASE {cases} END AS k, count(*) AS n FROM wide GROUP BY CASE {cases} END",
        branches,
        f"SELECT a0.c6 FROM wide a0 {joined} WHERE a0.c1 > 3",
        "SELECT * FROM (" * 10 + "SELECT c0, sum(c1) AS s FROM wide GROUP BY c0"
        + "".join(f") x{i} WHERE s > {i}" for i in range(10)),
        "SELECT c0, max(s) AS s FROM (" * 6 + "SELECT c0, sum(c1) AS s FROM wide GROUP BY c0"
        + "".join(f") x{i} GROUP BY c0" for i in range(6)),
        "SELECT c0 FROM wide WHERE " + " AND ".join(f"c3 IN (SELECT c6 FROM wide WHERE c1 > {i})" for i in range(8)),
    ]  # fmt: skip
    for text in texts:
        yield Asked(SourceStatement(text), facts)


def planned(asked: Asked) -> float | None:
    """The median planning time of several rounds in milliseconds; None if the statement is refused."""
    taken = []
    for _ in range(ROUNDS):
        try:
            statement = parse(asked.source)
            start = time.process_time()
            build.build(statement, asked.facts)
        except HiveDruidError:
            return None
        taken.append(time.process_time() - start)
    return statistics.median(taken) * 1e3


def main() -> None:
    sys.path.insert(0, str(ROOT))  # the test cases
    print(f"{'source':8} {'statements':>10} {'median ms':>9} {'95 % ms':>8} {'worst ms':>8}  worst")
    everything: list[float] = []
    for source in (ssb, goldens, corpus, large):
        times = sorted((t, asked.source.text) for asked in source() if (t := planned(asked)) is not None)
        if times:
            found = [t for t, _ in times]
            everything += found if source is not large else []
            worst = " ".join(times[-1][1].split())[:90]
            print(
                f"{source.__name__:8} {len(times):10} {statistics.median(found):9.2f} "
                f"{found[int(len(found) * 0.95)]:8.2f} {found[-1]:8.2f}  {worst}"
            )
    median, worst_of_all = statistics.median(everything), max(everything)
    met = median < MEDIAN_MS and worst_of_all < WORST_MS
    print(
        f"all: median {median:.2f} ms (under {MEDIAN_MS:g}), worst {worst_of_all:.2f} ms "
        f"(under {WORST_MS:g}): {'met' if met else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
