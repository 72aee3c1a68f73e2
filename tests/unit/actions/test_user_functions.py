"""CREATE FUNCTION: signatures of Python functions, kinds of Java classes, and the checks of results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hivedruid.actions.ddl.java_functions import java_function
from hivedruid.actions.ddl.python_functions import python_function
from hivedruid.catalog import types as t
from hivedruid.catalog.functions import add_function, all_functions, remove_function
from hivedruid.catalog.types import HiveType, decimal
from hivedruid.errors import HiveDruidError, SemanticError, UnsupportedError
from hivedruid.plan.user_functions import fits
from hivedruid.session import Session
from hivedruid.spark.function_calls import Checked, FunctionError, layout, value_of

MODULE = """
from __future__ import annotations
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Optional

def plain(a: bool, b: int, c: float, d: str, e: bytes, f: Decimal, g: date, h: datetime) -> bool: ...
def nested(a: list[Optional[int]], b: dict[str, list[float]], *c: str | None) -> Annotated[dict, "struct<x:int>"]: ...
def varying(a: Annotated[int, "int"] = 1) -> int: ...
varying.deterministic = False
def keyword(*, a: int) -> int: ...
def padded(a: Annotated[str, "char(5)"]) -> str: ...
def mistyped(a: Annotated[str, "strin"]) -> str: ...
def tuples(a: tuple[int, int]) -> int: ...
def undefined(a: Nothing) -> int: ...
def text(a) -> str: ...
"""
STRUCT = HiveType("struct", children=(t.INT,), fields=("x",))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("modules") / "mine.py"
    path.write_text(MODULE)
    return str(path)


def test_types_of_annotations(file: str) -> None:
    found = python_function("db", "f", "mine.plain", file)
    assert found.parameters == (
        t.BOOLEAN, t.BIGINT, t.DOUBLE, t.STRING, t.BINARY, decimal(38, 18), t.DATE, t.TIMESTAMP,
    )  # fmt: skip
    assert (found.returns, found.least, found.is_variadic, found.is_deterministic) == (t.BOOLEAN, 8, False, True)
    nested = python_function("db", "f", "mine.nested", file)
    doubles = HiveType("map", children=(t.STRING, t.array_of(t.DOUBLE)))
    assert nested.parameters == (t.array_of(t.BIGINT), doubles, t.STRING)
    assert (nested.returns, nested.least, nested.is_variadic) == (STRUCT, 2, True)
    varying = python_function("db", "f", "mine.varying", file)
    assert (varying.parameters, varying.least, varying.is_deterministic) == ((t.INT,), 0, False)
    assert varying.spark_name.startswith("varying_udf_f_")
    assert varying.signature == "f([int])"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("keyword", "requires the keyword argument a"),
        ("padded", "'char(5)' is not a type of Python functions"),
        ("mistyped", "unknown type 'strin'"),
        ("tuples", "tuple[int, int]"),
        ("undefined", "'Nothing' is not defined"),
        ("text", "the parameter a of mine.text has no type annotation"),
    ],
)
def test_annotations_that_are_refused(file: str, function: str, message: str) -> None:
    with pytest.raises(SemanticError) as error:
        python_function("db", "f", f"mine.{function}", file)
    assert message in error.value.message
    assert error.value.hint


def test_the_catalog_keeps_functions(tmp_path: Path, file: str) -> None:
    function = python_function("default", "f", "mine.nested", file)
    with Session(tmp_path) as session:
        add_function(session.catalog, function)
    with Session(tmp_path) as session:
        assert all_functions(session.catalog) == {("default", "f"): function}
        assert all_functions(session.catalog)["default", "f"].spark_name == function.spark_name
        remove_function(session.catalog, "default", "f")
        assert all_functions(session.catalog) == {}


def test_a_failing_module_is_an_error_with_a_position(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    with Session(tmp_path / "home") as session:
        (statement,) = session.statements(f"CREATE FUNCTION f AS 'broken.f' USING FILE '{tmp_path}/broken.py'")
        with pytest.raises(HiveDruidError) as error:
            session.execute(statement)
    assert error.value.message == "the Python module 'broken' cannot be loaded: ZeroDivisionError: division by zero"
    assert error.value.span is not None


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        (t.INT, t.BIGINT, True),
        (t.BIGINT, t.INT, False),
        (t.BIGINT, decimal(38, 18), True),
        (decimal(10, 2), decimal(38, 18), True),
        (decimal(38, 2), decimal(38, 18), False),
        (decimal(10, 2), t.DOUBLE, True),
        (t.DOUBLE, decimal(38, 18), False),
        (t.STRING, t.DOUBLE, True),
        (t.STRING, t.BIGINT, False),
        (t.STRING, t.BOOLEAN, False),
        (t.DATE, t.STRING, True),
        (t.DATE, t.TIMESTAMP, True),
        (t.TIMESTAMP, t.DATE, False),
        (t.VOID, t.DATE, True),
        (t.array_of(t.INT), t.array_of(t.BIGINT), True),
        (t.array_of(t.INT), t.array_of(t.STRING), False),
        (t.array_of(t.INT), t.STRING, False),
        (t.TIMESTAMP_LTZ, t.TIMESTAMP, False),
    ],
)
def test_arguments_are_only_cast_without_loss(given: HiveType, wanted: HiveType, expected: bool) -> None:
    assert fits(given, wanted) is expected


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (t.DOUBLE, 1, 1.0),
        (decimal(5, 2), Decimal("1.005"), Decimal("1.01")),
        (decimal(5, 2), 999, Decimal("999.00")),
        (t.BINARY, bytearray(b"a"), b"a"),
        (t.array_of(t.DOUBLE), (1, None), [1.0, None]),
        (HiveType("map", children=(t.STRING, t.DOUBLE)), {"a": 1}, {"a": 1.0}),
        (STRUCT, {"x": 1}, (1,)),
        (STRUCT, (None,), (None,)),
        (t.INT, None, None),
    ],
)
def test_results(type_: HiveType, value: Any, expected: Any) -> None:
    assert value_of(layout(type_), value) == expected


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (t.INT, 1 << 31),
        (t.INT, True),
        (t.BIGINT, 1.0),
        (t.STRING, b"a"),
        (t.BOOLEAN, 1),
        (t.DATE, datetime(2024, 1, 1)),
        (t.TIMESTAMP, datetime(2024, 1, 1, tzinfo=UTC)),
        (t.TIMESTAMP, date(2024, 1, 1)),
        (decimal(3, 2), Decimal("9.999")),
        (decimal(3, 2), Decimal("NaN")),
        (decimal(3, 2), 1.5),
        (STRUCT, (1, 2)),
        (STRUCT, {"y": 1}),
        (t.array_of(t.INT), [math.nan]),
    ],
)
def test_results_of_another_type_are_errors(type_: HiveType, value: Any) -> None:
    with pytest.raises(FunctionError, match=r"^the Python function f\(\) failed: "):
        Checked("f", lambda: value, layout(type_))()


HIVE_UDF = "org.apache.hadoop.hive.ql.udf."


SHOP = str(Path(__file__).parents[2] / "hive" / "functions" / "shop.jar")


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("UDFHex", "java_udf_"),
        ("generic.GenericUDFInitCap", "java_udf_"),
        ("generic.GenericUDAFMax", "java_udaf_"),
        ("generic.GenericUDTFExplode", "java_udtf_"),
    ],
)
def test_java_functions(name: str, prefix: str) -> None:
    found = java_function("", "f", HIVE_UDF + name, (), {"hivedruid.jars": SHOP})
    assert (found.language, found.returns, found.resources) == ("java", t.UNKNOWN, ())
    assert found.spark_name.startswith(f"{prefix}f_")


def test_java_functions_of_added_jars() -> None:
    found = java_function("", "f", "shop.Mean", (), {"hivedruid.jars": f"/nowhere/serde.jar\n{SHOP}"})
    assert (found.kind, found.resources) == ("aggregate", (SHOP,))


@pytest.mark.parametrize(
    ("name", "jars", "settings", "message"),
    [
        (HIVE_UDF + "UDFHex", (), {"spark.sql.catalogImplementation": "in-memory"}, "requires Spark with Hive support"),
        (HIVE_UDF + "UDFHex", (), {"spark.remote": "sc://x"}, "requires a Spark Connect server with Hive support"),
        (HIVE_UDF + "generic.UDTFCollector", (), {}, "it is not a UDF, UDAF or UDTF of Hive"),
        (HIVE_UDF + "ptf.NoopWithMap$NoopWithMapResolver", (), {}, "Spark has no PTF"),
        ("com.example.Missing", (), {}, "no Java class com.example.Missing"),
        ("com.example.Missing", (), {"hivedruid.jars": "/nowhere/x.jar"}, "no Java class com.example.Missing"),
        ("com.example.Missing", ("/nowhere/my.jar",), {}, "no file /nowhere/my.jar"),
    ],
)
def test_java_classes_that_are_refused(name: str, jars: Sequence[str], settings: dict[str, str], message: str) -> None:
    with pytest.raises((SemanticError, UnsupportedError)) as error:
        java_function("", "f", name, tuple(jars), settings)
    assert message in error.value.message
    assert error.value.hint or "no file" in message
