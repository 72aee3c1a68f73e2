"""The results of hivedruid on Spark equal Hive's: the translation cannot be its own reference.

`make equivalence HIVE=1` runs Hive again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.plan.split import spark_job
from hivedruid.spark import rows as spark_rows
from hivedruid.spark import session
from tests.hive.answers import CAST_FORMAT, differences, kept, plain, read, same
from tests.hive.parsed_strings import parsed_strings
from tests.hive.string_casts import different, literal, string_casts
from tests.support.planning import plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",  # computing one row is faster than compiling code for it
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    yield session.session(SETTINGS, tmp_path_factory.mktemp("spark"))
    session.release_all()


def test_every_expression_has_hives_answer(spark: SparkSession) -> None:
    found = differences(spark, kept())
    assert not found, f"{len(found)} differ:\n" + "\n".join(found[:40])


def _by_text(
    spark: SparkSession, strings: Iterable[Iterable[str]], values: Iterable[str]
) -> dict[str, tuple[Any, ...]]:
    """The values of these expressions over x for each of the strings, computed by Spark over rows."""
    items = ", ".join(literal(text) for text in dict.fromkeys(chain.from_iterable(strings)))
    columns = ", ".join(f"{value} AS c{i}" for i, value in enumerate(values))
    made = spark_job(plan(f"SELECT x, {columns} FROM (SELECT explode(array({items})) AS x) t"))
    return {row[0]: row[1:] for row in spark_rows.stream(spark.sql(made.sql))}


def test_casts_of_strings_in_rows(spark: SparkSession) -> None:
    """Constants are folded, so they say nothing of the Spark SQL of a cast."""
    casts = string_casts()
    rows = _by_text(spark, casts.values(), [f"CAST(x AS {type_})" for type_ in casts])
    found = [
        line
        for i, (type_, hive) in enumerate(casts.items())
        for line in different(type_, hive, {text: rows[text][i] for text in hive})
    ]
    assert not found, "\n".join(found[:40])


def test_cast_formats_of_rows(spark: SparkSession) -> None:
    """Constants are folded; here the strings and times are elements of an array."""
    casts = [(match, answer) for answer in kept() if (match := CAST_FORMAT.fullmatch(answer.expression))]
    values = ", ".join(match["value"] for match, _ in casts)
    columns = []
    for i, (match, _) in enumerate(casts):
        value = f"CAST(x[{i}] AS {match['kind']})" if match["kind"] else f"x[{i}]"
        columns.append(f"CAST({value} AS {match['to']} FORMAT {match['pattern']}) AS c{i}")
    made = spark_job(plan(f"SELECT {', '.join(columns)} FROM (SELECT explode(array(array({values}))) AS x) t"))
    assert not made.inputs
    assert "read_time(" not in made.sql
    row = next(iter(spark_rows.stream(spark.sql(made.sql))))
    found = [
        f"{answer.expression}: {plain(value)!r} instead of {answer.value!r}"
        for value, (_, answer) in zip(row, casts, strict=True)
        if not same(plain(value), read(answer.value, answer.type), answer.type)
    ]
    assert not found, f"{len(found)} of {len(casts)} differ:\n" + "\n".join(found[:40])


def test_strings_that_are_parsed_with_a_pattern_in_rows(spark: SparkSession) -> None:
    parsed = parsed_strings()
    rows = _by_text(spark, parsed.values(), [f"unix_timestamp(x, {literal(pattern)})" for pattern in parsed])
    found = [
        f"{text!r} as {pattern}: {rows[text][i]} instead of {hive}"
        for i, (pattern, strings) in enumerate(parsed.items())
        for text, hive in strings.items()
        if rows[text][i] != hive
    ]
    assert not found, "\n".join(found[:40])
