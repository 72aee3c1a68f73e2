"""JOIN … USING: which of the equal columns `*` and an unqualified name mean. The rows of `*` are those of Hive 4.0.1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hivedruid.errors import SemanticError
from hivedruid.session import Session

VIEWS = """
CREATE VIEW l AS SELECT * FROM (VALUES ('a', 1), ('b', 2)) AS t(k, v);
CREATE VIEW r AS SELECT * FROM (VALUES ('a', 10), ('c', 30)) AS t(k, w);
CREATE VIEW z AS SELECT * FROM (VALUES ('c', 7), ('d', 8)) AS t(k, u)
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(tmp_path_factory.mktemp("home")) as made:
        for statement in made.statements(VIEWS):
            made.execute(statement)
        yield made


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT * FROM l JOIN r USING (k)", [("a", 1, 10)]),
        ("SELECT * FROM (SELECT v, k FROM l) l JOIN r USING (k)", [("a", 1, 10)]),
        (
            "SELECT * FROM (SELECT v, k FROM l) l RIGHT JOIN (SELECT w, k FROM r) r USING (k)",
            [("a", 1, 10), ("c", None, 30)],
        ),
        ("SELECT * FROM l LEFT JOIN r USING (k)", [("a", 1, 10), ("b", 2, None)]),
        ("SELECT * FROM l RIGHT JOIN r USING (k)", [("a", 1, 10), ("c", None, 30)]),
        ("SELECT * FROM l FULL JOIN r USING (k)", [("a", 1, 10), ("b", 2, None), (None, None, 30)]),
        ("SELECT * FROM l RIGHT JOIN r USING (k) JOIN z USING (k)", [("c", None, 30, 7)]),
        (
            "SELECT * FROM l RIGHT JOIN r USING (k) FULL JOIN z USING (k)",
            [("a", 1, 10, None), ("c", None, 30, 7), (None, None, None, 8)],
        ),
        ("SELECT * FROM l LEFT JOIN r USING (k) RIGHT JOIN z USING (k)", [("c", None, None, 7), ("d", None, None, 8)]),
        ("SELECT k, count(*) FROM l RIGHT JOIN r USING (k) WHERE k = 'c' GROUP BY k", [("c", 1)]),
        ("SELECT l.k, r.k FROM l RIGHT JOIN r USING (k)", [("a", "a"), (None, "c")]),
        ("SELECT * FROM l JOIN z ON v = 1 JOIN r USING (w)", SemanticError),
        ("SELECT k FROM l JOIN r USING (k) JOIN z ON true", SemanticError),
    ],
)
def test_the_columns_of_using(session: Session, sql: str, rows: list[tuple[Any, ...]] | type[Exception]) -> None:
    (query,) = session.statements(sql)
    if isinstance(rows, type):
        with pytest.raises(rows):
            session.execute(query)
    else:
        assert sorted(session.execute(query).rows, key=repr) == sorted(rows, key=repr)
