"""Random aggregates over the embedded store, whose estimates are exact: a session that accepts estimates has the answers
of one that does not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hivedruid.session import Session
from tests.support import embedded_tables

DAY = 86_400_000
QUERIES = 40
VALUES = (
    "a", "n", "x", "upper(a)", "n + 1", "CAST(n AS string)", "substr(a, 1, 1)", "n % 2", "`__time`",
    "floor(`__time` TO DAY)", "CAST(`__time` AS date)", "if(n > 1, a, NULL)", "coalesce(a, 'z')", "n = 1",
)  # fmt: skip
OTHERS = ("sum(n)", "count(*)", "avg(x)", "max(a)", "count(DISTINCT a, n)", "sum(DISTINCT n)", "approx_distinct(a)")
KEYS = ("a", "n", "substr(a, 1, 1)", "n % 2", "floor(`__time` TO DAY)")
SOURCES = (
    "d", "d", "(SELECT * FROM d WHERE n > 0) d", "(SELECT * FROM d LIMIT 100) d",
    "(SELECT a, n, max(x) x, max(`__time`) `__time` FROM d GROUP BY a, n) d",
)  # fmt: skip
CONDITIONS = ("", "", " WHERE n < 3", " WHERE a IS NULL", " WHERE n > 99")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = random.Random(0)
    rows = [
        {
            "__time": draw.randrange(3) * DAY + draw.randrange(9),
            "a": draw.choice([None, "", "a", "b", "c", "ä"]),
            "n": draw.choice([None, 0, 1, 2, 3, -5]),
            "x": draw.choice([None, 0.0, 1.5, -2.0]),
        }
        for _ in range(60)
    ]
    columns = "`__time` timestamp, a string, n bigint, x double"
    return embedded_tables.create(tmp_path_factory.mktemp("estimates"), "d", columns, rows)


def query(draw: random.Random) -> str:
    keys = draw.sample(KEYS, draw.choice([0, 0, 1, 1, 2]))
    calls = [_call(draw) for _ in range(draw.choice([1, 1, 2, 3]))]
    groups = f" GROUP BY {', '.join(keys)}{draw.choice(['', '', ' WITH ROLLUP', ' WITH CUBE'])}" if keys else ""
    having = draw.choice(["", "", " HAVING count(DISTINCT a) > 0"]) if keys else ""
    order = draw.choice(["", " ORDER BY 1 DESC LIMIT 1000"])
    return f"SELECT {', '.join([*keys, *calls])} FROM {draw.choice(SOURCES)}{draw.choice(CONDITIONS)}{groups}{having}{order}"


def _call(draw: random.Random) -> str:
    value, kind = draw.choice(VALUES), draw.random()
    if kind < 0.2:
        return draw.choice(OTHERS)
    if kind < 0.35:
        return f"count(DISTINCT CASE WHEN n > {draw.randint(0, 3)} THEN {value} END)"
    return f"count(DISTINCT {value})" + (" + 1" if kind < 0.4 else "")


def answer(session: Session, text: str, approximate: str) -> list[tuple[str, ...]]:
    for statement in session.statements(f"SET hivedruid.approximate={approximate}; {text}"):
        rows = [tuple(map(repr, row)) for row in session.execute(statement).rows]
    return sorted(rows)


def explained(session: Session, text: str) -> str:
    (statement,) = session.statements(f"EXPLAIN {text}")
    return "\n".join(line for (line,) in session.execute(statement).rows)


def test_answers_with_estimates(home: Path) -> None:
    draw, estimated = random.Random(7), 0
    with Session(home) as session:
        for _ in range(QUERIES):
            text = query(draw)
            exact = answer(session, text, "never")
            assert answer(session, text, "sketches") == exact, text
            assert answer(session, text, "druid") == exact, text
            estimated += "Estimates:" in explained(session, text)
    assert estimated > QUERIES / 2


@pytest.mark.parametrize("approximate", ["never", "sketches", "druid"])
def test_without_rows_there_are_no_values(home: Path, approximate: str) -> None:
    """An estimate over no rows is 0 beside every other aggregate."""
    with Session(home) as session:
        for others in ("", ", count(DISTINCT a)", ", count(DISTINCT a), sum(n)", ", sum(DISTINCT n)"):
            ((first, *_),) = answer(session, f"SELECT approx_distinct(a){others} FROM d WHERE n > 99", approximate)
            assert first == "0", others
