"""How planning and error messages scale with the length of a statement: 60 kB to 1 MB, and up to 10,000 names. Then
the axes of statement_growth.py and store_growth.py, or with --store only the latter; with --all also those of the home,
of INSERTs, of rows and of a cluster.

An exponent of 1 is linear. Run: python benchmarks/growth.py [--store] [--all] [--check]; with --check it fails above
1.5, or if an axis of another script is above its limit.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from hivedruid.diagnostics import Diagnostics
from hivedruid.errors import HiveDruidError
from hivedruid.run import NEW_OBJECTS
from hivedruid.session import Session

SIZES = (62_500, 250_000, 1_000_000)
"""Characters."""
NAMES = 10_000
MOST = 1.5
SMALL = 0.05
"""Seconds below which growth is noise."""


def repeated(part: str, size: int, between: str = ", ") -> str:
    return between.join(part.format(n=n) for n in range(size // (len(part) + len(between) + 3)))


STATEMENTS: dict[str, Callable[[int], str]] = {
    "IN list": lambda size: f"SELECT page FROM wiki WHERE added IN ({repeated('{n}', size)})",
    "IN list of texts": lambda size: "SELECT added FROM wiki WHERE page IN "
                                     f"({repeated(chr(39) + 'p{n}' + chr(39), size)})",
    "conditions": lambda size: "SELECT page FROM wiki WHERE "
                               f"{repeated('(added = {n} AND page <> chr({n}))', size, ' OR ')}",
    "select list": lambda size: f"SELECT {repeated('added + {n} AS c{n}', size)} FROM wiki",
    "sums": lambda size: f"SELECT {repeated('sum(added + {n}) AS c{n}', size // 4)} FROM wiki",
    "VALUES": lambda size: f"SELECT col1 FROM (VALUES {repeated('({n}, 1.5)', size)}) t",
    "INSERT VALUES": lambda size: f"INSERT INTO wiki VALUES {repeated('(NULL, chr({n}), {n})', size)}",
    "UNION ALL": lambda size: repeated("SELECT page FROM wiki", size // 20, " UNION ALL "),
    "CASE": lambda size: f"SELECT CASE added {repeated('WHEN {n} THEN -{n}', size, ' ')} END FROM wiki",
    "text": lambda size: f"SELECT '{'x' * size}' FROM wiki",
    "comment": lambda size: f"SELECT page /* {'x ' * (size // 2)} */ FROM wiki",
    "columns of CREATE TABLE": lambda size: f"CREATE TABLE wide ({repeated('column_{n} string', size)}) STORED AS ORC",
    "error at the end": lambda size: f"SELECT {repeated('added', size)}, nope FROM wiki",
    "error of syntax": lambda size: f"SELECT {repeated('added', size)} FROM wiki WHERE (",
    "error on many lines": lambda size: f"SELECT {repeated('added', size, chr(44) + chr(10))},\nnope FROM wiki",
    "open string": lambda size: f"SELECT '{'x;' * (size // 2)}",
    "open brackets": lambda size: f"SELECT {'(' * (size // 20)}",
    "signs": lambda size: f"SELECT {'- ' * (size // 40)} 1",
    "many statements": lambda size: repeated("SET hivevar:v = {n}", size, ";\n"),
    "variables": lambda size: f"SELECT {repeated('${{hivevar:w}}', size)} FROM wiki",
    "names in one condition": lambda size: "SELECT n1 FROM wide WHERE "
                                           f"{repeated('n{n} = 1', min(size // 6, NAMES * 10), ' AND ')}",
    "an unknown name": lambda _: "SELECT no_such_name FROM wide",
}  # fmt: skip
TABLES = f"""
CREATE EXTERNAL TABLE wiki (`__time` timestamp, page string, added bigint) STORED BY 'druid';
CREATE EXTERNAL TABLE wide (`__time` timestamp, {repeated("n{n} bigint", 14 * NAMES)}) STORED BY 'druid';
SET hivevar:w = added
"""


def measured(session: Session, text: str) -> float:
    """CPU seconds until the plan, or the error with its position, is printed. Garbage is collected as for statements of
    a script: seldom, and without an examination of the modules."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    begin = process_time()
    try:
        for statement in session.statements(text):
            for _ in session.execute(statement).rows:
                pass
    except HiveDruidError as error:
        Diagnostics(Nowhere()).report(error)  # type: ignore[arg-type]
    finally:
        gc.unfreeze()
    return process_time() - begin


class Nowhere:
    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def exponents(sizes: Sequence[int], times: Sequence[float]) -> Iterator[float]:
    for (size, time), (larger, longer) in pairwise(zip(sizes, times, strict=True)):
        yield log(max(longer, SMALL) / max(time, SMALL)) / log(larger / size)


def statements() -> float:
    """The largest exponent of the statements."""
    worst = 0.0
    print(f"{'':28}{''.join(f'{size // 1000:>9} kB' for size in SIZES)}  exponents")
    for name, make in STATEMENTS.items():
        times = []
        for size in SIZES:
            with TemporaryDirectory() as home, Session(Path(home), dry_run=True) as session:
                for statement in session.statements(TABLES):
                    with suppress(HiveDruidError):
                        session.execute(statement)
                times.append(measured(session, make(size)))
        grown = list(exponents(SIZES, times))
        worst = max(worst, *grown)
        print(
            f"{name:28}{''.join(f'{time:>10.2f} s' for time in times)}  {' '.join(f'{e:.2f}' for e in grown)}",
            flush=True,
        )
    return worst


def store() -> float:
    """The largest exponent of the axes of store_growth.py."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from benchmarks.store_growth import GROUPS

    worst = 0.0
    for sizes, measure in GROUPS:
        print(f"\n{'':36}{''.join(f'{size:>12,}' for size in sizes)}  exponents")
        found = [measure(size) for size in sizes]
        for name in found[0]:
            times = [axes[name] for axes in found]
            grown = list(exponents(sizes, times))
            worst = max(worst, *grown)
            shown = "".join(f"{time:>10.2f} s" for time in times)
            print(f"{name:36}{shown}  {' '.join(f'{e:.2f}' for e in grown)}", flush=True)
    return worst


PARTS = (("home_growth",), ("insert_growth",), ("rows",), ("cluster_growth", "--start"))
"""The scripts of the other axes, and their arguments."""


def others() -> bool:
    """Run the scripts of the other axes, which print their exponents. Returns whether all are within their limits."""
    root = Path(__file__).parent.parent
    codes = [subprocess.call([sys.executable, "-m", f"benchmarks.{name}", *more], cwd=root) for name, *more in PARTS]
    return not any(codes)


if __name__ == "__main__":
    if "--store" in sys.argv:
        found, met = store(), True
    else:
        sys.path.insert(0, str(Path(__file__).parent.parent))
        from benchmarks import statement_growth

        found, met = max(statements(), store()), statement_growth.statements()
        met &= others() if "--all" in sys.argv else True
    sys.exit(1 if "--check" in sys.argv and (found > MOST or not met) else 0)
