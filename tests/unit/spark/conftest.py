"""Shared by the Spark tests: a runner per test on one driver per process, and tables over files that they write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import duckdb
import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import UNKNOWN, HiveType
from hivedruid.engine.engine import DruidEngine
from hivedruid.plan.physical import DruidInput, DruidRead, SparkJob, TableInput
from hivedruid.results import ResultColumn
from hivedruid.spark import server, session
from hivedruid.spark.jobs import SparkRunner


@pytest.fixture(autouse=True)
def _sessions_end_with_the_test() -> Iterator[None]:
    yield
    session.release_all()


SCRIPT = """
import sys
from pathlib import Path
from hivedruid.errors import HiveDruidError
from hivedruid.plan.physical import SparkJob
from hivedruid.spark.jobs import SparkRunner

home, sql, *settings = sys.argv[1:]
runner = SparkRunner(Path(home), dict(pair.split("=", 1) for pair in settings), None, lambda text: None, print)
assert "pyspark" not in sys.modules
try:
    print(list(runner.rows(SparkJob(sql, (), ()))))
except HiveDruidError as error:
    print(type(error).__name__, error.message, error.hint, sep=" | ")
"""


def start(home: Path, *settings: str, own: bool = False, **environment: str) -> subprocess.Popen[str]:
    """A process with one job; `own`: on the home's own server, not on the shared one of the tests."""
    inherited = {key: value for key, value in os.environ.items() if not (own and key == server.SPARK_HOME)}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(home), "SELECT 1", *settings],
        env={**inherited, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(home: Path, *settings: str, own: bool = False, **environment: str) -> subprocess.CompletedProcess[str]:
    process = start(home, *settings, own=own, **environment)
    try:
        out, error = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, error
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


def eventually(condition: Callable[[], object]) -> None:
    """Wait until the condition holds."""
    deadline = monotonic() + 300
    while not condition():
        assert monotonic() < deadline
        sleep(0.02)


class Literals(DruidEngine):
    """An engine that returns the rows in the query itself: each cell an SQL literal of DuckDB."""

    def write_parquet(self, read: DruidRead, columns: Sequence[str], path: Path) -> None:
        names = ", ".join(f'"{column}"' for column in columns)
        rows = ", ".join(f"({', '.join(row)})" for row in read.query["rows"])
        with duckdb.connect() as connection:
            where = "" if read.query.get("any", True) else "WHERE FALSE"
            connection.execute(f"COPY (SELECT * FROM (VALUES {rows}) t({names}) {where}) TO '{path}' (FORMAT parquet)")


@dataclass
class Home:
    """A home folder with its runner, and the runner's notes."""

    path: Path
    settings: dict[str, str]
    notes: list[str] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.runner = SparkRunner(self.path, self.settings, Literals, self.statuses.append, self.notes.append)

    def query(self, sql: str, *inputs: DruidInput | TableInput | Table) -> list[tuple[Any, ...]]:
        return list(self.runner.rows(job(sql, *inputs)))

    def unfinished(self) -> list[str]:
        """The jobs of the home's session that have not been cancelled."""
        return session._clients[self.path, ""].spark.interruptAll()

    def write(self, sql: str, table: Table, *inputs: DruidInput | TableInput | Table, overwrite: bool = False) -> int:
        return self.runner.write(job(sql, *inputs), table, overwrite)


def job(sql: str, *inputs: DruidInput | TableInput | Table) -> SparkJob:
    """A job; a table that is passed is the view with its name."""
    items = tuple(
        TableInput(item.name, item, tuple(column.name for column in item.columns)) if isinstance(item, Table) else item
        for item in inputs
    )
    return SparkJob(sql, items, (ResultColumn("unknown", UNKNOWN),))


def columns(**types: HiveType) -> tuple[Column, ...]:
    return tuple(Column(name.lower(), hive, field=None if name.islower() else name) for name, hive in types.items())


def files_table(
    location: Path | str,
    shape: tuple[Column, ...],
    format: str = "jsonfile",  # noqa: A002
    *,
    properties: Mapping[str, str] | None = None,
    serde: Mapping[str, str] | None = None,
) -> Table:
    return Table(
        "default", "t", "files", shape, external=True, format=format, location=str(location),
        properties=properties or {}, serde=serde or {},
    )  # fmt: skip


def iceberg_table(shape: tuple[Column, ...], table_id: str = "0190c5b2-77aa") -> Table:
    return Table("default", "t", "iceberg", shape, format="orc", table_id=table_id)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home", {"hive.local.time.zone": "US/Pacific"})


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """Writes lines of text into a file below the test's folder and returns its path."""

    def write(*text: str, name: str = "data/part-0.txt") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes("".join(f"{line}\n" for line in text).encode())
        return path

    return write
