"""python -m tests.druid37 TOOL [--update]: the native queries of the corpus on Druid 37's own engine.

TOOL is a folder with a program `druid37`, which is not part of the project. It runs classes of Druid 37 in one process,
reads one JSON document a line and answers one a line: `{"build": NAME, "spec": …, "file": …, "out": …, "format": 9}`
writes and loads segments, and `{"query": …}` answers a native query. Each query is also answered by the embedded store,
which the equivalence tests compare with a running Druid 33. `differences.txt` lists the queries whose rows differ.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hivedruid.actions.select.model import EvaluateLocally, RunDruidQuery, RunSparkJob
from hivedruid.plan.physical import DruidInput, DruidRead
from hivedruid.responses import answers
from hivedruid.session import Session
from tests.corpus.answers import Asked, asked, scripts
from tests.corpus.sample import ROWS, fill
from tests.support.loads import index_task

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


def main(tool: str, *options: str) -> int:
    with TemporaryDirectory(prefix="hivedruid-druid37-") as folder, running(Path(tool)) as engine:
        home = Path(folder) / "home"
        fill(home)
        lines: list[str] = []
        for format_ in FORMATS:
            build(engine, home, format_)
            lines += differences(engine, home, format_)
    different = [line for line in lines if line]
    print(f"{len(lines) - len(different)} of {len(lines)} native queries have equal rows")
    text = "".join(f"{line}\n" for line in different)
    if "--update" in options:
        DIFFERENCES.write_text(text, encoding="utf-8")
        return 0
    if text == DIFFERENCES.read_text(encoding="utf-8"):
        return 0
    sys.stdout.write(text)
    return 1


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
