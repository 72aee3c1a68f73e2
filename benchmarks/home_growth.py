"""How the prompt, the output formats and the jobs of a home scale: CPU seconds.

The exponent is fitted; 1 is linear. Run: python -m benchmarks.home_growth [AXIS …]
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from benchmarks.growth import measured
from benchmarks.statement_growth import MOST, exponent
from hivedruid import render
from hivedruid.catalog.store import to_json
from hivedruid.catalog.types import BIGINT, STRING
from hivedruid.operations.store import Operations
from hivedruid.repl.history import History, StatementLexer
from hivedruid.repl.prompt import SqlCompleter
from hivedruid.results import Result, ResultColumn, Row
from hivedruid.session import Session
from tests.support.jobs import a_job

TABLE = "CREATE EXTERNAL TABLE wiki (`__time` timestamp, page string, added bigint) STORED BY 'druid'"
TYPED = """SELECT page, sum(added) AS total{n}
FROM wiki
WHERE added > {n}
GROUP BY page;"""
COLUMNS = 500
SPEC = {"type": "index_parallel", "spec": {"dataSchema": {
    "dataSource": "default.wiki", "dimensionsSpec": {"dimensions": [f"column_{n}" for n in range(50)]},
}}}  # fmt: skip
CELLS = {"letters": "abcdefg ", "marks": 'a"b,c|\\d\n', "Chinese": "日本 ", "control characters": "\x1b\x00é\n"}


class Axis(NamedTuple):
    """`measure` returns the CPU seconds for a size."""

    sizes: Sequence[int]
    measure: Callable[[int], float]


def seconds(work: Callable[[], object]) -> float:
    """The CPU seconds of the fastest of three runs; of one if it takes longer than a second."""
    found: list[float] = []
    while len(found) < 3 and max(found, default=0.0) < 1.0:
        gc.collect()
        begin = process_time()
        work()
        found.append(process_time() - begin)
    return min(found)


# --- the prompt --------------------------------------------------------------------------------------------------


@contextmanager
def home() -> Iterator[Session]:
    with TemporaryDirectory() as folder, Session(Path(folder)) as session:
        for statement in session.statements(TABLE):
            session.execute(statement)
        yield session


def completions(text: str, tables: int) -> float:
    """Of ten times Tab."""
    with home() as session:
        definition = to_json(session.catalog.get("default", "wiki"))
        with session.catalog.transaction() as connection:
            connection.executemany(
                "INSERT INTO tables (table_id, database, name, definition) VALUES (?, 'default', ?, ?)",
                [(f"id{n}", f"t{n}", definition) for n in range(tables)],
            )
        completer = SqlCompleter(session)
        return seconds(lambda: [list(completer.get_completions(Document(text), CompleteEvent())) for _ in range(10)])


def suggestions(inputs: int) -> float:
    """Of ten keys that begin no earlier input."""
    with TemporaryDirectory() as folder:
        history = History(Path(folder, "history"))
        for n in range(inputs):
            history.append_string(TYPED.format(n=n))
        suggest, buffer = AutoSuggestFromHistory().get_suggestion, Buffer(history=history)
        return seconds(lambda: [suggest(buffer, Document("INSERT INTO t")) for _ in range(10)])


def colours(lines: int) -> float:
    """Of ten keys at the end of a statement."""
    document = Document("SELECT page FROM wiki WHERE\n" + "\n".join(f"added <> {n} AND" for n in range(lines)))
    lexer = StatementLexer()
    return seconds(lambda: [lexer.lex_document(document)(lines) for _ in range(10)])


def history(inputs: int) -> float:
    """Of reading the history file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "history")
        written = History(path)
        for n in range(inputs):
            written.store_string(TYPED.format(n=n))

        async def read() -> None:
            async for _ in History(path).load():
                pass

        return seconds(lambda: asyncio.run(read()))


# --- output formats ----------------------------------------------------------------------------------------------


def printed(columns: Sequence[ResultColumn], rows: Callable[[], Iterator[Row]], layout: str) -> float:
    def consume() -> None:
        for _ in render.lines(Result(tuple(columns), rows()), layout):
            pass

    return seconds(consume)


def cell(layout: str, part: str, characters: int) -> float:
    text = (part * (characters // len(part) + 1))[:characters]
    return printed([ResultColumn("a", STRING)], lambda: iter([(text,)]), layout)


def wide_rows(layout: str, rows: int) -> float:
    columns = [ResultColumn(f"c{n}", STRING if n % 2 else BIGINT) for n in range(COLUMNS)]
    row = tuple(f"value {n}" if n % 2 else n for n in range(COLUMNS))
    return printed(columns, lambda: repeat(row, rows), layout)


# --- jobs --------------------------------------------------------------------------------------------------------


def jobs(state: str, text: str, count: int) -> float:
    """Of a statement in a home with as many jobs; of its start, too, if there is no text."""
    with home() as session:
        operations = Operations(session.catalog)
        with session.catalog.transaction():
            for n in range(count):
                operations.begin([a_job(f"job{n}", spec=SPEC, state=state)])
        if text:
            return seconds(lambda: measured(session, text))

        def start() -> None:
            with Session(session.home) as another:
                measured(another, "SHOW TABLES")

        return seconds(start)


def jobs_begun(count: int) -> float:
    with home() as session:
        operations = Operations(session.catalog)

        def begin() -> None:
            with session.catalog.transaction() as connection:
                for n in range(count):
                    operations.begin([a_job(f"job{n}", spec=SPEC, state="cancelled")])
                connection.execute("DELETE FROM operations")

        return seconds(begin)


TABLES = (100, 1000, 10_000)
INPUTS = (100, 1000, 10_000)
LINES = (100, 1000, 10_000)
CHARACTERS = (100_000, 1_000_000, 10_000_000)
ROWS = (100, 1000, 10_000)
JOBS = (50, 500, 5000)
STATEMENTS = ("", "SHOW JOBS", "DESCRIBE wiki", "EXPLAIN INSERT INTO wiki SELECT * FROM wiki")
AXES: dict[str, Axis] = {
    "Tab after FROM": Axis(TABLES, partial(completions, "SELECT * FROM ")),
    "Tab in a name": Axis(TABLES, partial(completions, "SELECT * FROM t99")),
    "Tab after SELECT": Axis(TABLES, partial(completions, "SELECT ")),
    "a key at the prompt": Axis(INPUTS, suggestions),
    "a key in a long statement": Axis(LINES, colours),
    "the history at the start": Axis(INPUTS, history),
    **{f"cell of {what}, {layout}": Axis(CHARACTERS, partial(cell, layout, part))
       for layout in render.LAYOUTS for what, part in CELLS.items()},
    **{f"rows of {COLUMNS} columns, {layout}": Axis(ROWS, partial(wide_rows, layout)) for layout in render.LAYOUTS},
    "jobs to begin": Axis(JOBS, jobs_begun),
    **{f"{what} jobs, {text or 'start'}": Axis(JOBS, partial(jobs, state, text))
       for what, state in (("ended", "cancelled"), ("unfinished", "planned")) for text in STATEMENTS},
}  # fmt: skip


def main(names: Sequence[str]) -> bool:
    """Print the exponent of each axis whose name begins with one of the names. Returns whether all are within the
    limit."""
    met = True
    for name, axis in AXES.items():
        if names and not name.startswith(tuple(names)):
            continue
        times = [axis.measure(size) for size in axis.sizes]
        fitted = exponent(axis.sizes, times)
        met &= fitted <= MOST
        shown = " ".join(f"{size:>10,}: {time * 1000:8.2f} ms" for size, time in zip(axis.sizes, times, strict=True))
        print(f"{name:52} {fitted:5.2f}  {shown}", flush=True)
    return met


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
