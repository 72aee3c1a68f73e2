"""How INSERT scales with its rows, and with the number of INSERTs before it: CPU seconds of this process and of Spark.

The exponents are fitted; 1 is linear, 0 constant. Run: python -m benchmarks.insert_growth [KIND …]
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from uuid import uuid4

from benchmarks.statement_growth import MOST, exponent
from benchmarks.writing import processor_seconds
from hivedruid.session import Session
from hivedruid.spark import server

COLUMNS = "(`__time` timestamp, page string, added bigint)"
KINDS = {
    "druid": f"CREATE EXTERNAL TABLE t {COLUMNS} STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false')",
    "orc": f"CREATE EXTERNAL TABLE t {COLUMNS} STORED AS ORC LOCATION '{{folder}}'",
    "managed": f"CREATE TABLE t {COLUMNS}",
}
ONE_ROW = "INSERT INTO t VALUES (TIMESTAMP '2020-01-01 00:00:00', 'page', 1)"
ROWS = (10_000, 100_000, 1_000_000)
EARLIER = (30, 90, 270)
SAMPLE = 10
"""INSERTs that are measured together."""
GROWTH = 0.15
"""The maximum exponent of an INSERT of one row in the number of INSERTs before it."""
THOUSAND = "SELECT pos FROM (SELECT posexplode(split(space(999), ' ')) AS (pos, x)) p"
SOURCE = "CREATE TABLE numbers STORED AS ORC AS SELECT a.n + 1000 * b.n AS n FROM thousand a JOIN thousand b"
SELECT = """
    SELECT CAST(from_unixtime(1577836800 + n % 86400) AS timestamp), concat('page', n % 1000), CAST(n AS bigint)
    FROM numbers WHERE n < {rows}
"""


class Home:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.session = Session(folder / "home")
        for text in ("CREATE TABLE thousand (n int)", f"INSERT INTO thousand {THOUSAND}", SOURCE):
            self.run(text)

    def run(self, text: str) -> None:
        for statement in self.session.statements(text):
            for _ in self.session.execute(statement).rows:
                pass

    def create(self, kind: str) -> None:
        self.run("DROP TABLE IF EXISTS t")
        self.run(KINDS[kind].format(folder=self.folder / uuid4().hex))
        self.run(ONE_ROW)

    def seconds(self, text: str, times: int = 1) -> float:
        found = server.find(self.session.home)
        assert found is not None
        gc.collect()
        begin = process_time() + processor_seconds(found.jvm)
        for _ in range(times):
            self.run(text)
        return process_time() + processor_seconds(found.jvm) - begin

    def close(self) -> None:
        self.session.close()
        server.stop(self.session.home)


def rows(home: Home, kind: str) -> list[float]:
    """Each size into an empty table, after a first one that compiles the code of the JVM."""
    found = []
    for size in (ROWS[1], *ROWS):
        home.create(kind)
        found.append(home.seconds(f"INSERT INTO t {SELECT.format(rows=size)}"))
    return found[1:]


def earlier(home: Home, kind: str) -> list[float]:
    """INSERTs of one row into a table that has had more and more of them."""
    home.create(kind)
    made, found = 1, []
    for size in EARLIER:
        home.seconds(ONE_ROW, size - made)
        found.append(home.seconds(ONE_ROW, SAMPLE))
        made = size + SAMPLE
    return found


AXES: tuple[tuple[str, Callable[[Home, str], list[float]], Sequence[int], float], ...] = (
    ("rows", rows, ROWS, MOST),
    (f"{SAMPLE} INSERTs after", earlier, EARLIER, GROWTH),
)


def main(kinds: Sequence[str]) -> bool:
    """Print the exponents. Returns whether all are within their limits."""
    met = True
    with TemporaryDirectory() as folder:
        home = Home(Path(folder))
        try:
            for kind in kinds or KINDS:
                for name, measure, sizes, most in AXES:
                    times = measure(home, kind)
                    fitted = exponent(sizes, times)
                    met &= fitted <= most
                    shown = " ".join(f"{size:>9,}: {time:6.2f} s" for size, time in zip(sizes, times, strict=True))
                    print(f"{kind:8} {name:20} {fitted:5.2f}  {shown}", flush=True)
        finally:
            home.close()
    return met


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
