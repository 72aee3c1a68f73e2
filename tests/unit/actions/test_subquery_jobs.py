"""The Spark jobs of an action are examined wherever it has them: topics in subqueries of UPDATE, DELETE and MERGE."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path, dry_run=True) as opened:
        run(
            opened,
            "CREATE TABLE t (a INT, b INT);"
            "CREATE EXTERNAL TABLE k (x INT) STORED BY 'org.apache.hadoop.hive.kafka.KafkaStorageHandler'"
            " TBLPROPERTIES ('kafka.topic' = 'k', 'kafka.bootstrap.servers' = '127.0.0.1:1')",
        )
        opened.catalog.mark_written(opened.catalog.get("default", "t"), written=True)
        yield opened


def run(session: Session, text: str) -> str:
    lines = []
    for statement in session.statements(text):
        lines = [str(row[0]) for row in session.execute(statement).rows]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM t WHERE a IN (SELECT x FROM k)",
        "UPDATE t SET b = 1 WHERE a IN (SELECT x FROM k)",
        "UPDATE t SET b = (SELECT max(x) FROM k)",
        "MERGE INTO t USING k ON t.a = k.x WHEN MATCHED THEN DELETE",
        "INSERT INTO t SELECT x, x FROM k",
    ],
)
def test_offsets_of_topics_are_requested(session: Session, text: str) -> None:
    explained = run(session, f"EXPLAIN {text}")
    assert "kafka.offsets: unknown: " in explained
    assert "Kafka was not asked" not in explained
