"""Spark's analyzer accepts what the planner accepts: no statement fails with Spark's errors about names and types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from time import monotonic

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.parser import parse
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.plan.physical import SparkJob
from hivedruid.plan.split import spark_job
from hivedruid.script import SourceStatement
from hivedruid.spark import session
from tests.support.analysed import Analyzer, Hunt, jobs_of, session_of_tables
from tests.support.planning import plan
from tests.support.reference import Confirmed

SECONDS = 60
LEAST, MOST = 100, 1500
"""Numbers of statements: the minimum, and the maximum on a fast machine."""

COLUMNS = {
    "b": "boolean", "t": "tinyint", "i": "int", "n": "bigint", "f": "float", "d": "double", "c": "decimal(10,2)", "s": "string",
    "v": "varchar(5)", "ch": "char(3)", "dt": "date", "ts": "timestamp", "tz": "timestamp with local time zone", "bin": "binary",
    "ar": "array<int>", "texts": "array<string>", "mp": "map<string,int>", "st": "struct<x:int>", "sts": "array<struct<x:int>>",
}  # fmt: skip
VALUES = (*COLUMNS, "INTERVAL '1' YEAR", "INTERVAL '1' DAY", "NULL")
TYPES = (
    "boolean", "int", "bigint", "float", "decimal(10,2)", "string", "char(3)", "date", "timestamp", "timestamp with local time zone",
    "binary", "array<int>", "map<string,int>",
)  # fmt: skip
PAIRS = (
    "{0} = {1}", "{0} < {1}", "{0} <=> {1}", "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "{0} DIV {1}", "{0} % {1}",
    "{0} & {1}", "{0} || {1}", "if(b, {0}, {1})", "coalesce({0}, {1})", "array({0}, {1})", "map('a', {0}, 'b', {1})",
    "map({0}, 1, {1}, 2)", "greatest({0}, {1})", "nullif({0}, {1})", "field({0}, {1})", "{0} IN ({1}, {1})",
    "{0} BETWEEN {1} AND {1}", "{0} IN (SELECT {1} FROM x)", "{0} > ALL (SELECT {1} FROM x)", "{0} LIKE {1}", "{0} RLIKE {1}",
    "lag({0}, 1, {1}) OVER (ORDER BY i)", "array_contains(array({0}), {1})", "CASE {0} WHEN {1} THEN 1 END", "date_add({0}, {1})",
)  # fmt: skip
ALONE = (
    "NOT {0}", "- {0}", "~ {0}", "if({0}, 1, 2)", "CASE WHEN {0} THEN 1 END", "{0} IS TRUE", "{0} AND b", "{0}.x", "{0}[0]",
    "sum({0}) OVER (PARTITION BY i)", "min({0}) OVER ()", "collect_set({0}) OVER ()", "sort_array(array({0}))", "hex({0})",
    "printf('%s', {0})", "hash({0})", "xpath_int({0}, '/a')", "xpath_int('<a/>', {0})", "year({0})",
)  # fmt: skip

SUBQUERIES = (
    "{x} IN (SELECT {x} FROM {t})", "{x} NOT IN (SELECT 'a')", "{x} = ANY (SELECT {x} FROM {t})", "EXISTS (SELECT 1 FROM {t})",
    "1 NOT IN (SELECT 0)", "NOT EXISTS (SELECT 1 FROM {t} z WHERE z.{x} = {x})",
)  # fmt: skip
CLAUSES = (
    "SELECT {s} FROM {t}", "SELECT {x} FROM {t} ORDER BY {s} LIMIT 3", "SELECT DISTINCT {x}, {s} q FROM {t} ORDER BY q",
    "SELECT {x}, count(*) FROM {t} GROUP BY {x} HAVING count(*) > 1 ORDER BY {s} LIMIT 2",
    "SELECT {x}, count(*) FROM {t} GROUP BY {x} WITH ROLLUP ORDER BY {s}", "SELECT {s}, count(*) FROM {t} GROUP BY {s}",
    "SELECT sum(if({s}, 1, 0)) FROM {t}", "SELECT {x}, sum(1) OVER (PARTITION BY {s}) FROM {t}", "SELECT {x} FROM {t} SORT BY {s}",
    "SELECT a.{x} FROM {t} a JOIN {t} b ON a.{x} = b.{x} ORDER BY a.{s}",
    "SELECT {x} FROM {t} UNION ALL SELECT {x} FROM {t} ORDER BY {s} LIMIT 4",
    "SELECT {x}, y FROM {t} LATERAL VIEW explode(array({s})) v AS y ORDER BY CASE WHEN {s} THEN 1 ELSE 2 END",
)  # fmt: skip


@cache
def table() -> Table:
    statement = parse(SourceStatement(f"CREATE TABLE x ({', '.join(f'{n} {text}' for n, text in COLUMNS.items())})"))
    assert isinstance(statement, CreateTable)
    columns = tuple(Column(column.name, column.type) for column in statement.columns)
    return Table("default", "x", "files", columns, True, format="orc", location="/nowhere")


@pytest.fixture
def analyzer(tmp_path: Path, confirmed_in: Callable[[Path], Confirmed]) -> Iterator[Analyzer]:
    with session.job({"hive.local.time.zone": "UTC"}, tmp_path) as running:
        yield Analyzer(running.spark, confirmed_in(Path(__file__).parent))


def planned(expressions: list[str]) -> SparkJob | None:
    try:
        return spark_job(plan(f"SELECT {', '.join(expressions)} FROM x", tables=(table(),), scans_only=True))
    except (SemanticError, UnsupportedError):
        return None


def expressions_of(value: str) -> list[str]:
    """Of two types, every second combination with each operator: a type is on either side of each."""
    place = VALUES.index(value)
    pairs = product(enumerate(PAIRS), enumerate(VALUES))
    return [
        *(f"CAST({value} AS {type_})" for type_ in TYPES),
        *(form.format(value) for form in ALONE),
        *(form.format(value, other) for (n, form), (m, other) in pairs if (place + n + m) % 2),
    ]


@pytest.mark.spark
def test_every_operator_over_pairs_of_types_is_refused_by_us_or_analysed(analyzer: Analyzer) -> None:
    taken, refused = 0, []
    for value in VALUES:
        accepted = [e for e in expressions_of(value) if planned([e])]
        taken += len(accepted)
        job = planned(accepted)
        assert job is not None
        if analyzer.refusal(job) is not None:  # one of them; which
            alone = {e: analyzer.refusal(one) for e in accepted if (one := planned([e]))}
            refused += [f"{e}: {str(error)[:300]}" for e, error in alone.items() if error is not None]
    assert not refused, "\n".join(refused)
    assert taken > 1500


@pytest.mark.spark
def test_generated_statements_that_are_planned_are_analysed(analyzer: Analyzer, tmp_path: Path) -> None:
    hunt = Hunt(analyzer, tmp_path / "catalog", seed=20)
    until = monotonic() + SECONDS
    refused = []
    for found in hunt.found():
        if found is not None:
            refused.append(str(found))
        if hunt.statements >= MOST or (hunt.statements >= LEAST and monotonic() > until):
            break
    assert not refused, "\n".join(refused)
    assert hunt.analysed


@pytest.mark.spark
def test_subqueries_are_analysed_in_every_clause(analyzer: Analyzer, tmp_path: Path) -> None:
    """Spark accepts IN and EXISTS in SELECT and in conditions, but not in ORDER BY."""
    refused = []
    with session_of_tables(tmp_path / "catalog") as session:
        for (name, column), clause, subquery in product((("ev", "page"), ("m", "s")), CLAUSES, SUBQUERIES):
            text = clause.format(s=subquery.format(x=column, t=name), x=column, t=name)
            refused += [
                f"{text}: {str(error)[:300]}" for job in jobs_of(session, text) if (error := analyzer.refusal(job))
            ]
    assert not refused, "\n".join(refused)
