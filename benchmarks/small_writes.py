"""Small writes without Spark, compared with the same statements on Spark, each in a fresh home; and in a warm session.

The first INSERT of three rows into a Druid table or a managed one: at most 0.08 x the time on Spark. The statements of
`hivedruid demo`: at most 0.5 x. An INSERT of three rows in a session that has run one before: at most 600 ms.
Run: python -m benchmarks.small_writes [druid | managed]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from hivedruid.actions.writing.local import SETTING
from hivedruid.commands.demo import SCRIPT
from hivedruid.local.samples import fetch
from hivedruid.session import Session

ROUNDS = 3
WARM_ROUNDS = 20
FIRST, DEMO, WARM = 0.08, 0.5, 0.6
"""The targets: the first two in shares of the time on Spark, the last in seconds."""
CREATE = (
    "CREATE EXTERNAL TABLE t (`__time` TIMESTAMP, page STRING, added BIGINT) STORED BY 'druid'"
    " TBLPROPERTIES ('druid.segment.granularity' = 'DAY', 'druid.rollup' = 'false')"
)
MANAGED = "CREATE TABLE t (moment TIMESTAMP, page STRING, added BIGINT)"
TABLES = {"druid": CREATE, "managed": MANAGED}
INSERT = (
    "INSERT INTO t VALUES ('2024-01-01 10:00:00', 'Main', 3), ('2024-01-01 11:00:00', 'Help', 5),"
    " ('2024-01-02 09:00:00', 'Main', 1)"
)


def seconds(arguments: list[str], *, on_spark: bool) -> tuple[float, float]:
    """A process with a fresh home, which starts its own Spark if it needs one: its time, and its processor time without
    that of Spark's server."""
    with TemporaryDirectory() as folder:
        home = ["--home", str(Path(folder, "home"))]
        way = ["--hiveconf", f"{SETTING}=0"] if on_spark else []
        begun, before = time.perf_counter(), os.times()
        run("sql", *home, *way, *arguments)
        took, after = time.perf_counter() - begun, os.times()
        run("spark", "stop", *home)
        own = after.children_user - before.children_user + after.children_system - before.children_system
        return took, own


def run(*arguments: str) -> None:
    """A command of an installation, whose modules are compiled."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        [sys.executable, "-m", "hivedruid", *arguments],
        env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def ratio(name: str, arguments: list[str], target: float) -> None:
    here, spark = [], []
    for _ in range(ROUNDS):
        here.append(seconds(arguments, on_spark=False))
        spark.append(seconds(arguments, on_spark=True))
    own, other = (statistics.median(took for took, _ in times) for times in (here, spark))
    cpu, client = (statistics.median(used for _, used in times) for times in (here, spark))
    met = "met" if own / other <= target else "MISSED"
    print(f"{name}: {own:.2f} s, on Spark {other:.2f} s: {own / other:.3f} x, target {target} x: {met}", flush=True)
    print(f"  processor time {cpu:.2f} s; of the client of Spark alone {client:.2f} s", flush=True)


def warm(create: str) -> float:
    """The median time of an INSERT in a session."""
    times = []
    with TemporaryDirectory() as folder, Session(Path(folder, "home")) as session:
        for text in (create, INSERT, *[INSERT] * WARM_ROUNDS):
            (statement,) = session.statements(text)
            begun = time.perf_counter()
            session.execute(statement)
            times.append(time.perf_counter() - begun)
    return statistics.median(times[2:])


def main() -> None:
    kinds = [kind for kind in TABLES if kind in (sys.argv[1:] or TABLES)]
    for kind in kinds:
        ratio(f"first INSERT of three rows, {kind}", ["-e", f"{TABLES[kind]}; {INSERT}"], FIRST)
    if "druid" in kinds:
        edits = fetch("wikiticker")
        ratio("statements of hivedruid demo", ["--hivevar", f"wikiticker={edits}", "-f", str(SCRIPT)], DEMO)
    for kind in kinds:
        took = warm(TABLES[kind])
        met = "met" if took <= WARM else "MISSED"
        print(f"warm INSERT of three rows, {kind}: {took * 1e3:.0f} ms, target {WARM * 1e3:.0f} ms: {met}")


if __name__ == "__main__":
    main()
