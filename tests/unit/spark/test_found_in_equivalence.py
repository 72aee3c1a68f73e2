"""Errors that random queries of the equivalence tests found in Spark jobs."""

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


def test_an_unknown_condition_of_a_managed_table(tmp_path: Path) -> None:
    """Spark's optimizer fails if it pushes AND or OR with a NULL down. It also makes them: `i <> 1e15` is true or
    NULL, whatever the number."""
    with Session(tmp_path) as session:

        def run(text: str) -> list[tuple[object, ...]]:
            (statement,) = session.statements(text)
            return list(session.execute(statement).rows)

        run("CREATE TABLE t (w STRING, b BOOLEAN, i INT) STORED AS ORC")
        run("INSERT INTO t VALUES ('x', NULL, NULL), ('y', true, 3)")
        assert run("SELECT w FROM t WHERE NOT (CASE WHEN b THEN (i <> 1e15) END)") == []
        assert run("SELECT w FROM t WHERE (b OR NULL) IS NULL") == [("x",)]
        run("CREATE TABLE u STORED AS ORC AS SELECT w FROM t WHERE coalesce(i <> 1e15, false) = b")
        assert run("SELECT w FROM u") == [("y",)]
