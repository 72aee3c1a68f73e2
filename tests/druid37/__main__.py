"""python -m tests.druid37 TOOL [--update] [--random N [--seed N]] [--sweep]: the native queries of the corpus on Druid 37's own engine.

TOOL is a folder with a program `druid37`, which is not part of the project. It runs classes of Druid 37 in one process,
reads one JSON document a line and answers one a line: `{"build": NAME, "spec": …, "file": …, "out": …, "format": 9}`
writes and loads segments, and `{"query": …}` answers a native query. Each query is also answered by the embedded store,
which the equivalence tests compare with a running Druid 33. `differences.txt` lists the queries whose rows differ.

With --random, it is the N random queries of the equivalence tests instead, with Druid 37 in the place of the cluster: the
answers of both, and of Spark, must be equal. With --sweep, it is every operator as a key of groups and as a condition.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from hivedruid.actions.select.model import EvaluateLocally, RunDruidQuery, RunSparkJob
from hivedruid.errors import DruidError, ResourceError
from hivedruid.jobs.load import Load, LoadReport
from hivedruid.plan.physical import DruidInput, DruidRead
from hivedruid.responses import answers
from hivedruid.session import Session
from hivedruid.spark import session as spark_session
from tests.corpus.answers import Asked, asked, scripts
from tests.corpus.sample import ROWS, fill
from tests.druid37.sweep import sweep
from tests.equivalence.coverage import Coverage
from tests.equivalence.engine import Engine as Equivalence
from tests.equivalence.real import RealDruid
from tests.equivalence.sample import sample
from tests.support.loads import index_task
from tests.support.reference import Confirmed

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

DIFFERENCES = Path(__file__).parent / "differences.txt"
FORMATS = (9, 10)
"""The versions of segments that Druid 37 writes."""


@dataclass
class Engine:
    """The running program."""

    process: subprocess.Popen[str]

    def ask(self, document: dict[str, Any]) -> Any:
        """Raises ValueError for an error of Druid."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(document) + "\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        if "error" in found:
            raise ValueError(found["error"])
        return found["result"]

    def rows(self, read: DruidRead) -> list[tuple[Any, ...]]:
        """The rows of a native query, read as those of a broker."""
        result = self.ask({"query": answers.sent(read.query)})
        return list(answers.rows(read, [json.dumps(result).encode()]))


@contextmanager
def running(tool: Path) -> Iterator[Engine]:
    command = ["bash", str(tool / "druid37")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        print(f"Druid {json.loads(process.stdout.readline())['druid']}")
        yield Engine(process)
        assert process.stdin is not None
        process.stdin.close()


def build(engine: Engine, home: Path, format_: int) -> None:
    """The segments of the corpus's tables, written and loaded by Druid 37."""
    with Session(home) as session:
        for name in ROWS:
            table = session.catalog.find("default", name)
            file = home / "files" / name / "rows.json"
            if table is not None and table.kind == "druid" and file.stat().st_size:
                schema = index_task(table, file.parent)["spec"]["dataSchema"]
                out = str(home / f"version {format_}" / name)
                document = {"build": table.data_source, "spec": schema, "file": str(file), "out": out}
                engine.ask({"drop": table.data_source})
                engine.ask({**document, "format": format_})


def reads(query: Asked) -> Iterator[DruidRead]:
    """The native queries of a statement, without those that follow from their rows."""
    for action in query.built.actions:
        match action:
            case RunDruidQuery():
                yield action.read
            case EvaluateLocally():
                yield from (item.read for item in action.plan.inputs)
            case RunSparkJob():
                yield from (item.read for item in action.job.inputs if isinstance(item, DruidInput))


def differences(engine: Engine, home: Path, format_: int) -> Iterator[str]:
    """A line for each query of the corpus; empty if the rows are equal."""
    for script in scripts():
        for query in asked(script, home):
            for read in reads(query) if isinstance(query, Asked) else ():
                assert isinstance(query, Asked)
                alone = replace(read, over_nothing=None)
                expected = list(query.session.store.rows(alone))
                try:
                    found = engine.rows(alone)
                except ValueError as error:
                    yield f"version {format_}: {query.sql}: {str(error).splitlines()[0]}"
                    continue
                is_equal = sorted(map(repr, found)) == sorted(map(repr, expected))
                yield "" if is_equal else f"version {format_}: {query.sql}: {len(found)} and {len(expected)} rows"


class Served:
    """Druid 37's engine as the cluster of the equivalence tests: what they ask of a client."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder, self.lock = engine, folder, Lock()

    def data_sources(self) -> tuple[str, ...]:
        return ()

    def ingest(self, load: Load, _: object) -> LoadReport:
        """Build the segments of a task's rows, and load them."""
        spec = load.spec["spec"]
        name = spec["dataSchema"]["dataSource"]
        rows, out = self.folder / f"{name}.json", self.folder / name
        staged = Path(spec["ioConfig"]["inputSource"]["baseDir"]) / "rows.json.gz"
        rows.write_bytes(gzip.decompress(staged.read_bytes()))
        document = {"build": name, "spec": spec["dataSchema"], "file": str(rows), "out": str(out), "format": 9}
        with self.lock:
            self.engine.ask(document)
        return LoadReport(name, load.staged.rows, 1)

    def rows(self, read: DruidRead) -> list[tuple[Any, ...]]:
        """Raises DruidError for an error of Druid."""
        try:
            with self.lock:
                found = self.engine.rows(replace(read, over_nothing=None))
            return found or ([] if read.over_nothing is None else self.rows(read.over_nothing))
        except ValueError as error:
            message = str(error).splitlines()[0]
            if message.startswith("NoSuchElementException"):  # the program runs no query over a query without an order
                raise ResourceError(message) from None
            raise DruidError(message) from None

    def drop(self, name: str) -> None:
        with self.lock:
            self.engine.ask({"drop": name})

    def close(self) -> None:
        """Others use the program, too."""


class Compared(RealDruid):
    """Differences do not end the run: they are collected by native query."""

    def __init__(self, served: Served) -> None:
        super().__init__(lambda: cast("DruidCluster", served))
        self.found: dict[str, str] = {}

    def _note(self, read: DruidRead, sql: str, lines: list[str]) -> None:
        native = json.dumps(read.query, ensure_ascii=False)
        self.found.setdefault(native, "\n".join([sql[:2000], f"  native: {native[:4000]}", *lines]))


def compare(engine: Engine, folder: Path, run: Callable[[Equivalence], str | None]) -> int:
    """Run queries of the equivalence tests; returns the exit code. `run` returns a failure that is not of Druid 37."""
    real = Compared(Served(engine, folder))
    equivalence = Equivalence(folder / "home", real, Confirmed())
    try:
        failure = run(equivalence)
    finally:
        equivalence.close()
        spark_session.release_all()
    print(
        f"{real.compared} native queries compared, {len(real.found)} differ,"
        f" {real.refused_for_resources} that the program does not run"
    )
    print("\n".join(real.found.values()), failure or "", sep="\n")
    return int(failure is not None or bool(real.found))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.druid37")
    parser.add_argument("tool", type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sweep", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="hivedruid-druid37-") as folder, running(given.tool) as engine:
        if given.random:
            return compare(engine, Path(folder), lambda run: sample(run, given.seed, given.random, Coverage()).failure)
        if given.sweep:
            return compare(engine, Path(folder), sweep)
        home = Path(folder) / "home"
        fill(home)
        lines: list[str] = []
        for format_ in FORMATS:
            build(engine, home, format_)
            lines += differences(engine, home, format_)
    different = [line for line in lines if line]
    print(f"{len(lines) - len(different)} of {len(lines)} native queries have equal rows")
    text = "".join(f"{line}\n" for line in different)
    if given.update:
        DIFFERENCES.write_text(text, encoding="utf-8")
        return 0
    if text == DIFFERENCES.read_text(encoding="utf-8"):
        return 0
    sys.stdout.write(text)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
