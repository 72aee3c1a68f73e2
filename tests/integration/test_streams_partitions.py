"""A stream into a table that is partitioned by the day of a time: queries of a day read few of its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.errors import CommitConflictError
from hivedruid.iceberg import home_catalog
from hivedruid.plan.physical import SparkJob
from hivedruid.spark.streams import append_batch
from tests.support.scans import explained, scanned
from tests.support.streams import stream_home

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

DAY = "SELECT id FROM t WHERE at >= '2024-01-03' AND at < '2024-01-04'"
DAYS = 10
BATCHES = 3


def test_a_day_is_read_from_its_files(tmp_path: Path, topics: Topics) -> None:
    with stream_home(tmp_path / "home", topics) as home:
        home.run("CREATE TABLE t (id BIGINT, at TIMESTAMP) PARTITIONED BY SPEC (day(at))")
        home.run(
            "CREATE STREAM s FROM r INTO t AS"
            " SELECT id, CAST(date_add(DATE '2024-01-01', n) AS TIMESTAMP) + INTERVAL '1' HOUR AS at FROM r"
        )
        for _ in range(BATCHES):
            home.send(2 * DAYS)
            home.run("RUN STREAM s")
        ids = sorted(range(2, home.sent, DAYS))
        table = home.session.catalog.get("default", "t")
        files = home_catalog.files(home.path, table.table_id)
        assert explained(home.session, DAY) == (BATCHES, BATCHES * DAYS) == (BATCHES, len(files.data))
        assert scanned(home.session, DAY) == BATCHES
        assert sorted(row["id"] for row in home.run(DAY)) == ids
        history = home_catalog.history(home.path, table.table_id)
        assert history is not None
        last = next(history.ancestors())
        assert last.operation == "append"

        assert last.parent is not None  # another writer has added rows since: the last batch
        rows = SparkJob("SELECT CAST(1 AS BIGINT) AS id, TIMESTAMP_NTZ'2024-01-03 00:00:00' AS at", (), ())
        runner = home.session._get_spark()
        with pytest.raises(CommitConflictError):
            append_batch(runner, rows, table, last.parent, {}, may_be_empty=False)

        home.run("ALTER TABLE t COMPACT 'minor'")
        assert explained(home.session, DAY) == (1, DAYS)
        assert scanned(home.session, DAY) == 1
        assert sorted(row["id"] for row in home.run(DAY)) == ids
        home.send(DAYS)
        home.run("RUN STREAM s")
        assert explained(home.session, DAY) == (2, 2 * DAYS)
        assert home.run("SELECT count(*) AS a, count(DISTINCT id) AS b FROM t") == [{"a": home.sent, "b": home.sent}]
