"""Functions of users on Spark: code that travels by value, code that changes, Java classes."""

from __future__ import annotations

import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.session import Session
from hivedruid.spark import server

JAR = Path(__file__).parents[2] / "hive" / "functions" / "shop.jar"


def rows(session: Session, text: str) -> list[tuple[Any, ...]]:
    """Run statements; the rows of the last one."""
    results = [list(session.execute(statement).rows) for statement in session.statements(text)]
    return results[-1]


def test_an_imported_package_travels_by_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark's workers cannot import it: the folder is in the path of this process only, and is gone."""
    package = tmp_path / "code" / "shop_functions"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "rates.py").write_text("RATE = 3\ndef rate(n): return n * RATE\n")
    (package / "main.py").write_text(
        "from shop_functions.rates import rate\ndef tripled(n: int) -> int:\n    return rate(n)\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    with Session(tmp_path / "home") as session:
        rows(session, "CREATE FUNCTION tripled AS 'shop_functions.main.tripled'")
        (package / "rates.py").unlink()
        assert rows(session, "SELECT tripled(14)") == [(42,)]
    for name in [name for name in sys.modules if name.startswith("shop_functions")]:
        del sys.modules[name]


def test_a_function_that_is_created_again_has_its_new_code(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    create = f"CREATE TEMPORARY FUNCTION f AS 'code.f' USING FILE '{file}'"
    with Session(tmp_path / "home") as session:
        file.write_text("def f(n: int) -> int: return n + 1")
        assert rows(session, f"{create}; SELECT f(1)") == [(2,)]
        file.write_text("def f(n: int) -> int: return n + 2")
        assert rows(session, f"DROP TEMPORARY FUNCTION f; {create}; SELECT f(1)") == [(3,)]


def test_the_next_command_imports_the_modules_of_a_function_anew(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(
        "import sys\n"
        "def f() -> int:\n"
        f"    sys.path.insert(0, {str(tmp_path)!r})\n"
        "    import constants_of_f\n"
        "    return constants_of_f.N\n"
    )
    values = []
    for number in (1, 22):
        (tmp_path / "constants_of_f.py").write_text(f"N = {number}")
        with Session(tmp_path / "home") as session:
            values += rows(session, f"CREATE TEMPORARY FUNCTION f AS 'code.f' USING FILE '{file}'; SELECT f()")
    assert values == [(1,), (22,)]


TEXTS = (
    "INSERT INTO texts VALUES (1, 'a', 'one two', 1.5), (2, 'a', NULL, NULL), (3, 'b', '', NULL),"
    " (4, 'b', 'three - x', 4), (5, 'c', NULL, NULL), (6, NULL, 'zz yy', 2)"
)
IN_HIVE: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("SELECT shout(body), shout(CAST(id AS BIGINT)), shout(1.5) FROM texts WHERE id < 3 ORDER BY id",
     [("ONE TWO!", 10, "1.5!"), (None, 20, "1.5!")]),
    ("SELECT k, mean(n), longest(body), count(*) FROM texts GROUP BY k ORDER BY k NULLS LAST",
     [("a", 1.5, "one two", 2), ("b", 4.0, "three - x", 2), ("c", None, "(none)", 1), (None, 2.0, "zz yy", 1)]),
    ("SELECT mean(n), longest(body) FROM texts WHERE id > 100", [(None, "(none)")]),
    ("SELECT k, mean(n) FROM texts WHERE id > 100 GROUP BY k", []),
    ("SELECT mean(DISTINCT n), shout(longest(body)) FROM texts", [(2.5, "THREE - X!")]),
    ("SELECT id, longest(body) OVER (PARTITION BY k ORDER BY id), mean(n) OVER (PARTITION BY k) FROM texts ORDER BY id",
     [(1, "one two", 1.5), (2, "one two", 1.5), (3, "", 4.0), (4, "three - x", 4.0), (5, "(none)", None),
      (6, "zz yy", 2.0)]),
    ("SELECT t.id, w.place, w.word FROM texts t LATERAL VIEW words(body) w ORDER BY id, place",
     [(1, 0, "one"), (1, 1, "two"), (4, 0, "three"), (4, 1, None), (4, 2, "x"), (6, 0, "zz"), (6, 1, "yy")]),
    ("SELECT t.id, p, x FROM texts t LATERAL VIEW OUTER words(body) w AS p, x WHERE t.k <> 'a' ORDER BY id, p",
     [(3, None, None), (4, 0, "three"), (4, 1, None), (4, 2, "x"), (5, None, None)]),
    ("SELECT words('a b - c')", [(0, "a"), (1, "b"), (2, None), (3, "c")]),
    ("SELECT longest(w.word), mean(w.place) FROM texts LATERAL VIEW words(shout(body)) w", [("THREE", 0.625)]),
]  # fmt: skip
"""Queries with the functions of tests/hive/functions, and the rows that Hive 4.0.1 returns."""


def test_java_functions_return_what_they_return_in_hive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(server.SPARK_HOME, raising=False)
    home = tmp_path / "home"
    with Session(home) as session:
        rows(session, "CREATE TABLE plain AS SELECT 1 AS a")  # starts a server without Hive support
        names = {"shout": "Shout", "same": "Same", "mean": "Mean", "longest": "Longest"}
        created = "; ".join(f"CREATE TEMPORARY FUNCTION {name} AS 'shop.{code}'" for name, code in names.items())
        rows(session, f"ADD JAR /nowhere/serde.jar '{JAR}'; {created}")
        rows(session, f"DELETE JARS; CREATE FUNCTION words AS 'shop.Words' USING JAR '{JAR}'")
        rows(session, "CREATE TEMPORARY TABLE texts (id INT, k STRING, body STRING, n DOUBLE) STORED AS TEXTFILE")
        rows(session, TEXTS)
        for query, expected in IN_HIVE:
            assert rows(session, query) == expected, query
        rows(session, "CREATE TABLE made AS SELECT same(at) AS at, w.*, mean(1) OVER () AS n FROM (SELECT timestamp"
                      " '2024-02-03 23:30:00.5' AS at) t LATERAL VIEW words('x y') w")  # fmt: skip
        assert [row[:2] for row in rows(session, "DESCRIBE made")] == [
            ("at", "timestamp"), ("place", "int"), ("word", "string"), ("n", "double"),
        ]  # fmt: skip
        moment = datetime(2024, 2, 3, 23, 30, 0, 500000)
        assert rows(session, "SELECT * FROM made, plain ORDER BY place") == [
            (moment, 0, "x", 1.0, 1), (moment, 1, "y", 1.0, 1),
        ]  # fmt: skip
        with pytest.raises(
            SemanticError, match=r"words\(int, int\) is not a valid call: words\(\) takes one argument$"
        ):
            rows(session, "SELECT words(1, 2)")
        with pytest.raises(SemanticError, match=r"words\(\) is a table-generating function") as caught:
            rows(session, "SELECT upper(words('a'))")
        assert caught.value.span is not None
        with pytest.raises(UnsupportedError, match=r"passes decimal\(30,0\) to the Java function same\(\)") as refused:
            rows(session, "SELECT same(array(CAST(1 AS DECIMAL(30,0))))")
        assert refused.value.span is not None
        numbers = "SELECT CAST(1.5 AS DECIMAL(4,2)) AS n, CAST(9e19 AS DECIMAL(20,0)) AS m"
        assert rows(session, f"SELECT CAST(same(n) AS DECIMAL(4,2)), shout(n), shout(m) FROM ({numbers}) t") == [
            (Decimal("1.5"), "1.5!", "90000000000000000000!"),
        ]  # fmt: skip
        package = "org.apache.hadoop.hive.ql.udf"
        rows(session, f"CREATE TEMPORARY FUNCTION lower_number AS '{package}.generic.GenericUDFFloor'")
        with pytest.raises(
            UnsupportedError, match=r"cannot run the Java function lower_number\(\): it needs the class"
        ):
            rows(session, "SELECT lower_number(1.5)")
        rows(session, f"CREATE TEMPORARY FUNCTION to_hex AS '{package}.UDFHex'")
        rows(session, f"CREATE FUNCTION month_end AS '{package}.generic.GenericUDFLastDay'")
        query = "SELECT to_hex(255), month_end(timestamp '2024-02-03 23:30:00') FROM (VALUES (1)) AS t (x)"
        assert rows(session, query) == [("FF", "2024-02-29")]
        with pytest.raises(SemanticError, match=r"no Java class shop\.Shout in the jars"):
            rows(session, "CREATE TEMPORARY FUNCTION again AS 'shop.Shout'")
    server.stop(home)
