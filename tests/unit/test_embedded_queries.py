"""QUALIFY, and booleans that are compared with numbers, over the embedded store; the rows are those of Hive 4.0.1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hivedruid.session import Session
from tests.support import embedded_tables
from tests.support.planning import residual

TRUTHS = {1: True, 2: False, 3: None, 4: None, 5: True, 6: False, 7: True, 8: False}
ROWS = [{"__time": 0, "k": k, "o": None if o is None else int(o)} for k, o in TRUTHS.items()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return embedded_tables.create(
        tmp_path_factory.mktemp("qualify"), "t", "`__time` timestamp, k bigint, o boolean", ROWS
    )


@pytest.mark.parametrize(
    ("select", "rows"),
    [
        ("k, o FROM t QUALIFY row_number() OVER (PARTITION BY o ORDER BY k) = 1", [(1, True), (2, False), (3, None)]),
        ("k, rank() OVER (ORDER BY k DESC) r FROM t QUALIFY r <= 2", [(7, 2), (8, 1)]),
        ("o, count(*) n FROM t GROUP BY o QUALIFY rank() OVER (ORDER BY count(*) DESC) = 1", [(False, 3), (True, 3)]),
        ("o, count(*) n FROM t GROUP BY o HAVING o QUALIFY count(*) OVER () = 1", [(True, 3)]),
        ("DISTINCT o FROM t QUALIFY count(*) OVER (PARTITION BY o) > 2", [(False,), (True,)]),
        ("k FROM t WHERE k > 2 QUALIFY max(k) OVER (PARTITION BY o) = k", [(4,), (7,), (8,)]),
        ("k FROM t QUALIFY k > 6", [(7,), (8,)]),
        ("k FROM t QUALIFY row_number() OVER (ORDER BY k DESC) <= 3 ORDER BY k LIMIT 2", [(6,), (7,)]),
        ("k FROM t QUALIFY row_number() OVER w = 1 WINDOW w AS (ORDER BY k)", [(1,)]),
    ],
)
def test_qualify_filters_the_rows_of_windows(home: Path, select: str, rows: list[tuple[Any, ...]]) -> None:
    with Session(home) as session:
        (statement,) = session.statements(f"SELECT {select}")
        assert sorted(map(tuple, session.execute(statement).rows), key=str) == sorted(rows, key=str)


def test_qualify_is_a_condition_above_the_windows_in_spark() -> None:
    qualified = "SELECT md5(city) m FROM ev QUALIFY rank() OVER (ORDER BY clicks) < 3"
    assert " OVER (" in residual(qualified).sql
    assert residual(qualified).sql.endswith("WHERE `_o0`")


@pytest.mark.parametrize(
    ("condition", "keys"),
    [
        ("o = 1", [1, 5, 7]),
        ("o <> 1", [2, 6, 8]),
        ("o > 0", [1, 5, 7]),
        ("o = 2", []),
        ("o = 1.0", [1, 5, 7]),
        ("o <=> 1", [1, 5, 7]),
        ("o BETWEEN 0 AND 1", [1, 2, 5, 6, 7, 8]),
        ("o = k", [1]),
        ("k = true", [1]),
    ],
)
def test_a_boolean_is_compared_with_numbers_as_0_or_1(home: Path, condition: str, keys: list[int]) -> None:
    with Session(home) as session:
        (statement,) = session.statements(f"SELECT k FROM t WHERE {condition}")
        assert sorted(k for (k,) in session.execute(statement).rows) == keys
