"""How the cost of statements grows with their parts, their nesting, and the tables of the home: CPU seconds.

The exponent is fitted; 1 is linear. Some of the largest statements have a limit in seconds. growth.py runs it. Run
alone: python -m benchmarks.statement_growth [AXIS …]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf, log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.growth import measured
from hivedruid.catalog.store import to_json
from hivedruid.errors import HiveDruidError
from hivedruid.session import Session

TABLES = """
CREATE EXTERNAL TABLE wiki (`__time` timestamp, page string, added bigint) STORED BY 'druid';
CREATE EXTERNAL TABLE wide (`__time` timestamp, {columns}) STORED BY 'druid'
"""
NAMES = 10_000
MOST = 1.15
REPEATED = 3
"""Runs, of which the fastest counts."""
SMALL = 0.01
"""Seconds below which growth is noise."""
MOST_ADDED = 0.005
"""Seconds that 10,000 tables may add to a statement."""


def parts(part: str, number: int, between: str = ", ") -> str:
    return between.join(part.format(n=n) for n in range(number))


class Axis(NamedTuple):
    """A statement of each size, over a table `wide` with as many bigint columns n0, n1, … if `is_wide`; `seconds` are
    those that the largest may take."""

    sizes: Sequence[int]
    statement: Callable[[int], str]
    is_wide: bool = False
    seconds: float = inf


CHAINS = (500, 1500, 4500)
WIDTHS = (240, 480, 960, 1920)
DEPTHS = (60, 120, 240, 480)
BRANCHES = (128, 256, 512)
SUBQUERIES = (32, 64, 128, 256)
FILTERED = "SELECT page FROM wiki WHERE added = {n}"
AXES: dict[str, Axis] = {
    "AND": Axis(CHAINS, lambda n: f"SELECT page FROM wiki WHERE {parts('added <> {n}', n, ' AND ')}"),
    "OR": Axis(CHAINS, lambda n: "SELECT page FROM wiki WHERE " + parts("page LIKE '%{n}%'", n, " OR ")),
    "OR of ANDs": Axis(CHAINS, lambda n: "SELECT page FROM wiki WHERE "
        + parts("added = {n} AND page <> chr({n})", n, " OR ")),
    "IN of two types": Axis((5000, 15_000, 50_000), lambda n: "SELECT added FROM wiki WHERE page IN ("
        + parts("'p{n}', {n}", n // 2) + ")", seconds=3),
    "IN of fractions": Axis((5000, 15_000, 50_000), lambda n: "SELECT page FROM wiki WHERE added IN ("
        + parts("{n}, {n}.5", n // 2) + ")", seconds=3),
    "IN of pairs": Axis((2000, 6000, 20_000), lambda n: "SELECT added FROM wiki WHERE (page, added) IN ("
        + parts("('p{n}', {n})", n) + ")", seconds=3),
    "joins": Axis((200, 600, 2000), lambda n: "SELECT count(*) FROM wiki "
        + parts("JOIN wiki w{n} ON wiki.page = w{n}.page", n, " "), seconds=3),
    "statements": Axis((500, 1500, 5000), lambda n: parts("SELECT page FROM wiki WHERE added = {n}", n, ";\n")),
    "CREATE TABLE": Axis((500, 1500, 5000), lambda n: parts("CREATE TABLE t{n} (a int)", n, ";\n")),
    "rows of INSERT": Axis((1250, 5000, 20_000), lambda n: "INSERT INTO wiki VALUES "
        + parts("(NULL, chr({n}), {n})", n)),
    "aggregates": Axis(WIDTHS, lambda n: f"SELECT n0, {parts('sum(n{n})', n)} FROM wide GROUP BY n0", is_wide=True),
    "keys": Axis(WIDTHS, lambda n: f"SELECT {parts('n{n}', n)}, count(*) FROM wide"
        f" GROUP BY {parts('n{n}', n)}", is_wide=True),
    "columns of *": Axis(WIDTHS, lambda _: "SELECT * FROM (SELECT * FROM (SELECT * FROM wide) a) b", is_wide=True),
    "columns of a join": Axis(WIDTHS, lambda _: "SELECT * FROM wide a JOIN wide b ON a.n0 = b.n0", is_wide=True),
    "columns of a union": Axis(WIDTHS, lambda _: "SELECT * FROM wide UNION ALL SELECT * FROM wide", is_wide=True),
    "sum": Axis(DEPTHS, lambda n: f"SELECT {parts('added', n, ' + ')} FROM wiki"),
    "parentheses": Axis(DEPTHS, lambda n: f"SELECT {'(' * n}added{')' * n} FROM wiki"),
    "calls": Axis(DEPTHS, lambda n: f"SELECT {'abs(' * n}added{')' * n} FROM wiki"),
    "subqueries": Axis(DEPTHS, lambda n: f"SELECT page FROM {'(SELECT page FROM ' * n}wiki{') x' * n}"),
    "CTEs": Axis(DEPTHS, lambda n: "WITH c0 AS (SELECT page FROM wiki)"
        + "".join(f", c{i} AS (SELECT page FROM c{i - 1})" for i in range(1, n)) + f" SELECT page FROM c{n - 1}"),
    "UNION ALL of one table": Axis(BRANCHES, lambda n: parts(FILTERED, n, " UNION ALL ")),
    "UNION ALL of ranges": Axis(BRANCHES, lambda n: parts(
        "SELECT page FROM wiki WHERE added >= {n} * 10 AND added < {n} * 10 + 10", n, " UNION ALL ")),
    "UNION of one table": Axis(BRANCHES, lambda n: parts(FILTERED, n, " UNION ")),
    "UNION ALL of constants": Axis(BRANCHES, lambda n: parts("SELECT {n} AS a", n, " UNION ALL ")),
    "INSERTs of one FROM": Axis(BRANCHES, lambda n: "FROM wiki "
        + parts("INSERT INTO wiki SELECT NULL, page, added WHERE added = {n}", n, " ")),
    "count(DISTINCT)": Axis(BRANCHES, lambda n: f"SELECT {parts('count(DISTINCT added + {n})', n)} FROM wiki"),
    "EXISTS": Axis(SUBQUERIES, lambda n: "SELECT page FROM wiki w WHERE "
        + parts("EXISTS (SELECT 1 FROM wiki v WHERE v.page = w.page AND v.added = {n})", n, " AND ")),
    "scalar subqueries": Axis(SUBQUERIES, lambda n: "SELECT page FROM wiki WHERE "
        + parts("added > (SELECT max(added) FROM wiki WHERE page = 'p{n}')", n, " AND ")),
    "CTEs with two references": Axis(DEPTHS, lambda n: "WITH c0 AS (SELECT page, sum(added) AS s FROM wiki"
        " GROUP BY page)" + "".join(f", c{i} AS (SELECT a.page, b.s FROM c{i - 1} a JOIN c{i - 1} b"
        " ON a.page = b.page)" for i in range(1, n)) + f" SELECT page FROM c{n - 1}"),
}  # fmt: skip
IN_A_LARGE_HOME = (
    "SELECT page FROM wiki", "WITH c AS (SELECT page FROM wiki) SELECT page FROM c", "CREATE TABLE free{n} (a int)",
    "CREATE VIEW free_view{n} AS SELECT page FROM wiki", "CREATE TABLE free_copy{n} AS SELECT page FROM wiki",
    "DROP TABLE IF EXISTS nope", "DESCRIBE wiki", "SHOW CREATE TABLE wiki", "SHOW JOBS", "SET hivevar:v = {n}",
    "INSERT INTO wiki VALUES (NULL, 'p', 1)", "DROP DATABASE IF EXISTS nope", "SHOW MATERIALIZED VIEWS",
    "SELECT page FROM no_such_table", "SELECT page FROM t12345",
)  # fmt: skip
LISTINGS = ("SHOW TABLES", "SHOW TABLES LIKE 't1*'", "SHOW VIEWS")
"""Statements that list tables."""


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The slope of the line through the logarithms, by least squares."""
    xs = [log(size) for size in sizes]
    ys = [log(max(time, SMALL)) for time in times]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def in_new_home(axis: Axis, size: int) -> float:
    with TemporaryDirectory() as home, Session(Path(home), dry_run=True) as session:
        width = size if axis.is_wide else NAMES
        columns = ", ".join(f"n{n} bigint" for n in range(width))
        for statement in session.statements(TABLES.format(columns=columns)):
            with suppress(HiveDruidError):
                session.execute(statement)
        measured(session, "SELECT page, sum(added) FROM wiki WHERE added = 1 GROUP BY page")  # loads the modules
        return measured(session, axis.statement(size))


def in_homes(statement: str) -> tuple[float, float]:
    """CPU seconds of a statement in a home with two tables, and in one with 10,000: the best of five."""
    best = []
    for tables in (0, NAMES):
        with TemporaryDirectory() as home, Session(Path(home), dry_run=True) as session:
            for one in session.statements(TABLES.format(columns="n0 bigint")):
                session.execute(one)
            definition = to_json(session.catalog.get("default", "wiki"))
            with session.catalog.transaction() as connection:
                connection.executemany(
                    "INSERT INTO tables (table_id, database, name, definition) VALUES (?, 'default', ?, ?)",
                    [(f"id{n}", f"t{n}", definition) for n in range(tables)],
                )
            best.append(min(measured(session, statement.format(n=n)) for n in range(5)))
    return best[0], best[1]


def statements(names: Sequence[str] = ()) -> bool:
    """Print the exponent of each axis, and what 10,000 tables add. Returns whether all are within the limits."""
    met = True
    for name, axis in AXES.items():
        if names and name not in names:
            continue
        times = [min(in_new_home(axis, size) for _ in range(REPEATED)) for size in axis.sizes]
        fitted = exponent(axis.sizes, times)
        is_met = fitted <= MOST and times[-1] <= axis.seconds
        met &= is_met
        shown = " ".join(f"{size:>9,}: {time:6.2f} s" for size, time in zip(axis.sizes, times, strict=True))
        limit = f", {axis.seconds:g} s" if axis.seconds < inf else ""
        verdict = "met" if is_met else "missed"
        print(f"{name:26} {fitted:5.2f}  {shown}  (at most {MOST}{limit}): {verdict}", flush=True)
    for statement in (*IN_A_LARGE_HOME, *LISTINGS) if not names or "tables" in names else ():
        few, many = in_homes(statement)
        met &= many - few <= MOST_ADDED or statement in LISTINGS
        print(f"{NAMES:,} tables: {(many - few) * 1000:+7.2f} ms  {statement}", flush=True)
    return met


if __name__ == "__main__":
    sys.exit(0 if statements(sys.argv[1:]) else 1)
