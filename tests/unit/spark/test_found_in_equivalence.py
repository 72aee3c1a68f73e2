"""Errors that random queries of the equivalence tests found in rows that Spark gets from Druid."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid.session import Session

pytestmark = pytest.mark.spark


def test_an_array_of_a_data_source_without_rows_is_an_array(tmp_path: Path) -> None:
    """A multi-value column is a plain string column if no row has several values, or there are no rows."""
    with Session(tmp_path) as session:
        for text in (
            "CREATE EXTERNAL TABLE t STORED BY 'druid' AS SELECT CAST('2020-01-01' AS timestamp) AS `__time`, 1 AS id, array('a', 'b') AS tags",
            "TRUNCATE TABLE t",
        ):
            (statement,) = session.statements(text)
            session.execute(statement)
        (query,) = session.statements("SELECT id, count(*) OVER (PARTITION BY md5(tags[0])) FROM t")
        assert list(session.execute(query).rows) == []
