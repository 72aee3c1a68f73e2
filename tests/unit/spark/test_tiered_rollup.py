"""A tiered table with rollup: rows that Druid has summed are archived as they are, and every answer stays the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivedruid.session import Session
from tests.support.job_homes import run

QUERIES = (
    "SELECT sum(n) AS n, sum(d) AS d, min(k) AS k FROM t",
    "SELECT k, sum(n) AS n, sum(d) AS d FROM t GROUP BY k ORDER BY k",
    "SELECT to_date(`__time`) AS day, k, sum(n) AS n FROM t GROUP BY to_date(`__time`), k ORDER BY day, k",
    "SELECT sum(n) AS n FROM t WHERE `__time` < '2026-01-02' AND k = 'a'",
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path / "home", hiveconf={"druid.url": "embedded:"}, confirm=lambda _: True) as made:
        run(
            made,
            "CREATE TABLE t (`__time` TIMESTAMP, k STRING, n BIGINT, d DOUBLE) STORED AS TIERED TBLPROPERTIES"
            " ('druid.rollup' = 'true', 'druid.query.granularity' = 'HOUR', 'druid.segment.granularity' = 'DAY')",
        )
        yield made


def answers(session: Session) -> list[list[dict[str, Any]]]:
    return [run(session, query) for query in QUERIES]  # type: ignore[misc]


def test_rollup(session: Session) -> None:
    """Late rows are not summed with archived ones of the same hour; the sums of queries include both."""
    values = "('2026-01-01 00:10:00', 'a', 1, 0.5), ('2026-01-01 00:20:00', 'a', 2, 0.5), ('2026-01-02 05:00:00', 'b', 4, 1.5)"
    run(session, f"INSERT INTO t VALUES {values}")
    (row,) = run(session, "SELECT count(*) AS c FROM t")
    assert row["c"] == 2, "Druid has summed two rows"
    before = answers(session)
    assert before[1] == [{"k": "a", "n": 3, "d": 1.0}, {"k": "b", "n": 4, "d": 1.5}]
    run(session, "ARCHIVE TABLE t UP TO '2026-01-02'")
    assert answers(session) == before

    run(session, "INSERT INTO t VALUES ('2026-01-01 00:30:00', 'a', 8, 0.25), ('2026-01-01 00:40:00', NULL, 16, 2.0)")
    late = answers(session)
    assert late[1] == [{"k": "a", "n": 11, "d": 1.25}, {"k": "b", "n": 4, "d": 1.5}, {"k": None, "n": 16, "d": 2.0}]
    assert late[3] == [{"n": 11}]
    for end in ("2026-01-02", "2026-01-03"):
        run(session, f"ARCHIVE TABLE t UP TO '{end}'")
        assert answers(session) == late
    assert [row["rows"] for row in run(session, "SHOW ARCHIVES")] == [1, 2, 1]
