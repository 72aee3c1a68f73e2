"""Answers that Spark has confirmed are not computed again, and no other answer is taken for Spark's."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, TIMESTAMP_LTZ
from hivedruid.plan.physical import SparkJob, TableInput
from hivedruid.results import ResultColumn
from hivedruid.spark import session
from tests.support.reference import Confirmed, Reference

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

TABLE = Table("default", "t", "files", (Column("id", BIGINT), Column("d", DOUBLE)))
ROWS = [(1, 0.5), (2, None), (3, 1.5)]
JOB = SparkJob(
    "SELECT id, d * 2 AS e FROM `t`",
    (TableInput("t", TABLE, ("id", "d")),),
    (ResultColumn("id", BIGINT), ResultColumn("e", DOUBLE)),
)
TYPES = [BIGINT, DOUBLE]
ANSWER = [(1, 1.0), (2, None), (3, 3.0)]


def _no_spark() -> SparkSession:
    raise AssertionError("Spark was asked")


@pytest.fixture
def confirmed(tmp_path: Path) -> Confirmed:
    """What a file contains after one answer."""
    reference = Reference(lambda: session.session({}, tmp_path / "home"), Confirmed())
    reference.load(TABLE, ROWS)
    assert reference.rows(JOB, ANSWER, TYPES, ordered=False) == ANSWER
    assert reference.computed == 1
    reference.confirmed.write(tmp_path / "confirmed.txt")
    return Confirmed.read(tmp_path / "confirmed.txt")


def test_a_confirmed_answer_is_not_computed_again(confirmed: Confirmed) -> None:
    reference = Reference(_no_spark, confirmed)
    reference.load(TABLE, ROWS)
    for found in (ANSWER, ANSWER[::-1], [(1, 1.0000000000001), *ANSWER[1:]]):
        assert reference.rows(JOB, found, TYPES, ordered=False) == found
    assert (reference.computed, len(confirmed.now)) == (0, 1)


@pytest.mark.parametrize(
    "found", [ANSWER[:2], [*ANSWER, ANSWER[0]], [(1, 1.0), (2, 0.0), (3, 3.0)], [(1, 1.0), (2, None), (3, 3)]]
)
def test_another_answer_is_computed(confirmed: Confirmed, found: list, tmp_path: Path) -> None:  # type: ignore[type-arg]
    reference = Reference(lambda: session.session({}, tmp_path / "home"), confirmed)
    reference.load(TABLE, ROWS)
    assert sorted(reference.rows(JOB, found, TYPES, ordered=False)) == ANSWER
    assert (reference.computed, confirmed.now) == (1, set())


def test_other_rows_queries_and_orders_are_computed(confirmed: Confirmed) -> None:
    reference = Reference(_no_spark, confirmed)
    reference.load(TABLE, ROWS)
    for job, ordered in ((replace(JOB, sql="SELECT id, d + d AS e FROM `t`"), False), (JOB, True)):
        with pytest.raises(AssertionError, match="Spark was asked"):
            reference.rows(job, ANSWER, TYPES, ordered=ordered)
    reference.load(TABLE, [*ROWS[:2], (3, 1.25)])
    with pytest.raises(AssertionError, match="Spark was asked"):
        reference.rows(JOB, ANSWER, TYPES, ordered=False)


def test_instants_are_equal_in_every_zone(tmp_path: Path) -> None:
    moment = datetime(2020, 11, 1, 9, 30, tzinfo=UTC)
    job = SparkJob("SELECT timestamp_millis(1604223000000) AS t", (), (ResultColumn("t", TIMESTAMP_LTZ),))
    reference = Reference(lambda: session.session({}, tmp_path / "home"), Confirmed())
    assert reference.rows(job, [(moment,)], [TIMESTAMP_LTZ], ordered=True) == [(moment,)]
    later = Reference(_no_spark, Confirmed(reference.confirmed.now))
    elsewhere = moment.astimezone(timezone(timedelta(hours=-8)))
    assert later.rows(job, [(elsewhere,)], [TIMESTAMP_LTZ], ordered=True) == [(moment,)]
