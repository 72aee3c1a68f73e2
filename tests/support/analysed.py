"""Analyses the Spark jobs of statements with Spark's analyzer, without running them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from unittest.mock import patch

from hivedruid.actions import complete_plan
from hivedruid.actions.build import build
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.catalog.types import spark_type
from hivedruid.errors import HiveDruidError
from hivedruid.parser.statements import Statement
from hivedruid.plan.physical import DruidInput, SparkJob, TableInput
from hivedruid.plan.spark_text import quote_identifier
from hivedruid.script import split
from hivedruid.session import Session
from tests.support.fuzz import ROOT, TABLES, Found, corpus, statement
from tests.support.reference import Confirmed, digest

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession


def jobs(value: object) -> Iterator[SparkJob]:
    """The Spark jobs in actions, at any depth."""
    if isinstance(value, SparkJob):
        yield value
    if isinstance(value, tuple):
        for item in value:
            yield from jobs(item)
    elif is_dataclass(value) and type(value).__module__.startswith(("hivedruid.actions.", "hivedruid.plan.physical")):
        for part in fields(value):
            yield from jobs(getattr(value, part.name))


def whole(job: SparkJob) -> str:
    """The job's SQL over empty inputs with its columns, as one query."""
    inputs = ", ".join(f"{quote_identifier(item.view)} AS ({_no_rows(item)})" for item in job.inputs)
    return f"WITH {inputs} {job.sql}" if inputs else job.sql


def _no_rows(item: DruidInput | TableInput) -> str:
    if isinstance(item, DruidInput):
        types = [(name, field.type) for name, field in zip(item.columns, item.read.fields, strict=True)]
    else:
        types = [(column.name, column.type) for column in item.table.columns]
    columns = ", ".join(f"CAST(NULL AS {spark_type(hive)}) AS {quote_identifier(name)}" for name, hive in types)
    return f"SELECT {columns} WHERE FALSE"


@dataclass
class Analyzer:
    """Spark's analyzer. What it has accepted in a former run is not analysed again."""

    spark: SparkSession
    confirmed: Confirmed

    def refusal(self, job: SparkJob) -> Exception | None:
        """The error that Spark raises before a job begins, about names, types or syntax."""
        from pyspark.errors import AnalysisException, ParseException

        text = whole(job)
        key = digest(text)
        if not self.confirmed.recall(key):
            try:
                _ = self.spark.sql(text).schema
            except (AnalysisException, ParseException) as error:
                return error
            self.confirmed.add(key)
        return None


@dataclass
class Hunt:
    """Statements generated from a seed, planned as a session plans them and also with scans only, and analysed."""

    analyzer: Analyzer
    home: Path
    seed: int
    statements: int = 0
    analysed: int = 0

    def found(self) -> Iterator[Found | None]:
        """For each statement the error of Spark, None if there is none; endless."""
        random, known = Random(self.seed), corpus()
        with session_of_tables(self.home) as session:
            while True:
                made = statement(random, known)
                self.statements += 1
                yield self._refused(made, jobs_of(session, made))
                session.settings.reset("druid.url")

    def _refused(self, text: str, found: list[SparkJob]) -> Found | None:
        for job in found:
            self.analysed += 1
            error = self.analyzer.refusal(job)
            if error is not None:
                return Found(text, error)
        return None


@contextmanager
def session_of_tables(home: Path) -> Iterator[Session]:
    """A session that runs nothing, with the tables of generated statements."""
    with Session(home, dry_run=True, hivevar={"dir": str(ROOT / "tests" / "q")}) as session:
        for text in split(TABLES):
            session.execute(text)
        yield session


def jobs_of(session: Session, text: str) -> list[SparkJob]:
    """The Spark jobs of a dry run of a script; none if it is refused."""
    found: list[SparkJob] = []

    def noted(parsed: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
        built = build(parsed, snapshot, note)
        found.extend(jobs(built.actions))
        found.extend(jobs(build(parsed, replace(snapshot, scans_only=True)).actions))
        return built

    with patch.object(complete_plan, "build", noted):
        try:
            for one in session.statements(text):
                list(session.execute(one).rows)
        except HiveDruidError:
            return found
    return found
