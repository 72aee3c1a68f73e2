"""Functions of users on Spark: code that travels by value, code that changes, Java classes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.session import Session
from hivedruid.spark import server

if TYPE_CHECKING:
    import pytest


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


def test_java_classes_run_with_hive_support(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(server.SPARK_HOME, raising=False)
    home = tmp_path / "home"
    package = "org.apache.hadoop.hive.ql.udf"
    with Session(home, hiveconf={"spark.sql.catalogImplementation": "hive"}) as session:
        rows(session, f"CREATE TEMPORARY FUNCTION to_hex AS '{package}.UDFHex'")
        rows(session, f"CREATE FUNCTION month_end AS '{package}.generic.GenericUDFLastDay'")
        found = rows(
            session, "SELECT to_hex(255), month_end(timestamp '2024-02-03 23:30:00') FROM (VALUES (1)) AS t (x)"
        )
        assert found == [("FF", "2024-02-29")]
    server.stop(home)
