"""The prompt: its start, and a key in a long statement.

The start, up to the prompt on a pseudo-terminal: at most 2.2 x `python -c "import prompt_toolkit, sqlglot"`. The CPU
time of the completions of a key at the end of a statement of 200 lines: at most the 16 ms of a frame, and at most 2.2 x
that of one of 100 lines; with 10,000 tables in the catalog, which are read once for a prompt.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pexpect

from hivedruid.catalog.store import to_json
from hivedruid.repl import vocabulary
from hivedruid.repl.completion import Names, complete
from hivedruid.session import Session

ROUNDS = 9
START, FRAME, GROWTH = 2.2, 16.0, 2.2
TABLE = "CREATE EXTERNAL TABLE wiki (`__time` timestamp, page string, added bigint) STORED BY 'druid'"


def started(home: Path) -> float:
    """Seconds until the prompt is displayed."""
    begin = time.perf_counter()
    process = pexpect.spawn(
        sys.executable, ["-m", "hivedruid", "--home", str(home)], timeout=60,
        env={**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"},
    )  # fmt: skip
    process.expect_exact(b"@embedded")
    seconds = time.perf_counter() - begin
    process.close(force=True)
    return seconds


def imported() -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import prompt_toolkit, sqlglot"], check=True)
    return time.perf_counter() - begin


def with_tables(session: Session, tables: int) -> Names:
    for statement in session.statements(TABLE):
        session.execute(statement)
    definition = to_json(session.catalog.get("default", "wiki"))
    with session.catalog.transaction() as connection:
        connection.executemany(
            "INSERT INTO tables (table_id, database, name, definition) VALUES (?, 'default', ?, ?)",
            [(f"id{n}", f"t{n}", definition) for n in range(tables)],
        )
    return Names(session)


def key(names: Names, lines: int, end: str) -> float:
    """The CPU milliseconds of a key, the median of many."""
    text = (
        "SELECT page FROM wiki w WHERE\n"
        + "\n".join(f"w.added <> {n} AND upper(w.page) <> 'p{n}' AND" for n in range(lines))
        + end
    )
    found = []
    for _ in range(4 * ROUNDS):
        begin = time.process_time()
        complete(text, len(text), names)
        found.append((time.process_time() - begin) * 1e3)
    return statistics.median(found)


def verdict(name: str, value: float, limit: float, unit: str) -> None:
    print(f"{name}: {value:.2f} {unit}, target {limit} {unit}: {'met' if value <= limit else 'MISSED'}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(started(Path(folder)), imported()) for _ in range(ROUNDS)]
        verdict("start", statistics.median(a / b for a, b in pairs), START, "x")
    vocabulary.load()
    with tempfile.TemporaryDirectory() as folder, Session(Path(folder)) as session:
        names = with_tables(session, 10_000)
        for place, end in {"expression": " w.ad", "table": " page IN (SELECT page FROM t19"}.items():
            of_100, of_200 = key(names, 100, end), key(names, 200, end)
            verdict(f"a key in 200 lines, {place}", of_200, FRAME, "ms")
            verdict(f"200 lines compared with 100, {place}", of_200 / of_100, GROWTH, "x")


if __name__ == "__main__":
    main()
