"""Columns of ORC and Parquet files as Hive 4.0.1 reads them with other declared types: `tests/hive/stored_types.jsonl` has
the types and values of columns, as pyarrow or Hive writes them, and for each declared type Hive's values, or null if
Hive fails. Decimals, times and approximate numbers are in the text that Hive's Thrift server sends."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import orc, parquet
from pyspark.sql.types import StringType, StructField

from hivedruid.catalog.table import Column
from hivedruid.catalog.types import HiveType
from hivedruid.cells import hive_text
from hivedruid.errors import SparkError, UnsupportedError
from hivedruid.session import Session
from hivedruid.spark import columnar
from hivedruid.spark.stored_values import Reading
from tests.unit.spark.conftest import Home, files_table

pytestmark = pytest.mark.spark

FILE = Path(__file__).parents[2] / "hive" / "stored_types.jsonl"
STORED = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
OTHER_VALUES: dict[tuple[str, str, str], dict[Any, Any]] = {
    # Hive reads integers as FLOAT first, except in vectorized jobs
    ("parquet", "int32", "double"): {2147483647: "2.147483647E9", 16777217: "1.6777217E7"},
    # in Hive the seconds overflow
    ("orc", "int64", "timestamp"): {-(2**63): None},
}
UNLIKE = {
    ("parquet", "int96", "bigint"): "the nanoseconds of the day",
    ("orc", "char(5)", "binary"): "with blanks",
}
"""What Hive reads where hivedruid does not follow it."""
UNSIGNED = ("uint32", "uint64")
"""Hive reads the greater half of their values as NULL, though the declared type has them."""


def hive_type(text: str) -> HiveType:
    name, *params = re.split(r"[(,)]", text.removesuffix(")"))
    return HiveType(name, tuple(map(int, params)))


def arrow_values(kind: str, values: list[Any]) -> pa.Array:
    parts = re.split(r"[\[\], ()]+", kind)
    types: dict[str, Any] = {
        "bool": pa.bool_(), "float32": pa.float32(), "float64": pa.float64(), "string": pa.string(),
        "binary": pa.binary(), "date32": pa.date32(), "int96": pa.timestamp("us"),
    }  # fmt: skip
    match parts[0]:
        case "decimal":
            return pa.array([v and Decimal(v) for v in values], pa.decimal128(int(parts[1]), int(parts[2])))
        case "timestamp" | "int96":
            zone = "UTC" if "UTC" in parts else None
            moments = [v and datetime.fromisoformat(v).replace(tzinfo=UTC if zone else None) for v in values]
            return pa.array(moments, pa.timestamp(parts[1] if parts[1:] else "us", zone))
        case "time32" | "time64":
            return pa.array(values, pa.type_for_alias(kind))
        case "binary" | "fixed":
            made = [None if v is None else bytes.fromhex(v) for v in values]
            return pa.array(made, pa.binary(int(parts[1])) if parts[0] == "fixed" else pa.binary())
        case "date32":
            return pa.array([v and date.fromisoformat(v) for v in values], pa.date32())
        case "float32" | "float64":
            return pa.array([None if v is None else float(v) for v in values], types[kind])
    return pa.array(values, types.get(kind) or pa.type_for_alias(kind))


INSTANT = datetime(2024, 1, 1, tzinfo=UTC)


def write(case: dict[str, Any], names: Iterable[str], path: Path, *, has_instant: bool = False) -> None:
    """The file of a case; one of pyarrow has its column under each of the names. With a column of instants, ORC files are
    not read by Spark's own reader."""
    path.parent.mkdir()
    if "file" in case:
        path.write_bytes(base64.b64decode(case["file"]))
        return
    values = arrow_values(case["type"], case["values"])
    made = pa.table({"id": pa.array(range(len(values)), pa.int32()), **dict.fromkeys(names, values)})
    if has_instant:
        made = made.append_column("instant", pa.repeat(pa.scalar(INSTANT, pa.timestamp("us", "UTC")), len(made)))
    if case["format"] == "orc":
        orc.write_table(made, path)
    else:
        parquet.write_table(made, path, use_deprecated_int96_timestamps=case["type"] == "int96")


def expected(case: dict[str, Any], declared: str) -> list[Any]:
    hive, kind = case["hive"][declared], hive_type(declared)
    if case["type"] in UNSIGNED:
        high = [v is not None and (v >> (31 if case["type"] == "uint32" else 63)) for v in case["values"]]
        hive = ["?" if beyond else value for value, beyond in zip(hive, high, strict=True)]
    changes = OTHER_VALUES.get((case["format"], case["type"], declared), {})
    if changes:
        hive = [changes.get(stored, value) for stored, value in zip(case["values"], hive, strict=True)]
    return [value if value == "?" else shown_by_hive(value, kind) for value in hive]


def shown_by_hive(value: Any, kind: HiveType) -> Any:
    """Hive's value in the form of `shown`. Years are those from 1 to 9999."""
    if value is None or (kind.is_time and value.startswith("+")):
        return None
    match kind.name:
        case "float" | "double":
            return hive_text(kind)(float(value))
        case "decimal":
            return Decimal(value)
        case "char":
            return value.rstrip(" ")
        case _:
            return value


def shown(value: Any, kind: HiveType) -> Any:
    if value is None:
        return None
    if kind.name == "binary":
        return "0x" + value.hex()
    return hive_text(kind)(value) if kind.is_approximate or kind.is_time else value


CASES = [(f"{n}-{case['format']}-{case['type']}", case, False) for n, case in enumerate(STORED)]
CASES += [(f"{name}-instant", case, True) for name, case, _ in CASES if case["format"] == "orc" and "file" not in case]


@pytest.mark.parametrize(("case", "has_instant"), [rest for _, *rest in CASES], ids=[name for name, *_ in CASES])
def test_hive_reads_the_same(home: Home, tmp_path: Path, case: dict[str, Any], has_instant: bool) -> None:
    readable = [
        declared
        for declared, values in case["hive"].items()
        if values is not None and (case["format"], case["type"], declared) not in UNLIKE
    ]
    path = tmp_path / "files" / "f"
    write(case, [f"c{number}" for number in range(len(readable))], path, has_instant=has_instant)
    differences = []
    if "file" in case:
        found = {name: column(home, path, (Column("v", hive_type(name)),))[0] for name in readable}
    else:
        shape = tuple(Column(f"c{number}", hive_type(name)) for number, name in enumerate(readable))
        found = dict(zip(readable, column(home, path, shape), strict=True))
    for name in readable:
        kind, wanted = hive_type(name), expected(case, name)
        got = [shown(value, kind) for value in found[name]]
        if any(a != b for a, b in zip(got, wanted, strict=True) if b != "?"):
            differences.append(f"{name}: {got}, in Hive {wanted}")
    assert not differences, "\n".join(differences)


def column(home: Home, path: Path, shape: tuple[Column, ...]) -> list[list[Any]]:
    """The values of each column."""
    table = files_table(path.parent, (Column("id", HiveType("int")), *shape), STORED_FORMAT[path.read_bytes()[:3]])
    rows = home.query(f"SELECT {', '.join(c.name for c in shape)} FROM t ORDER BY id", table)
    return [list(values) for values in zip(*rows, strict=True)]


STORED_FORMAT = {b"ORC": "orc", b"PAR": "parquet"}


@pytest.mark.parametrize(
    ("form", "stored", "declared", "message"),
    [
        (
            "parquet",
            pa.int64(),
            "timestamp",
            "is BIGINT in its Parquet files, which cannot be read as TIMESTAMP: nothing",
        ),
        ("parquet", pa.int32(), "timestamp", "is INT in its Parquet files, which cannot be read as TIMESTAMP: nothing"),
        (
            "parquet",
            pa.int64(),
            "array<timestamp>",
            "is BIGINT in its Parquet files, which cannot be read as ARRAY<TIME",
        ),
        ("orc", pa.int64(), "date", "is BIGINT in its ORC files, which cannot be read as DATE$"),
        ("orc", pa.date32(), "int", "is DATE in its ORC files, which cannot be read as INT$"),
    ],
)
def test_what_cannot_be_read(
    home: Home, tmp_path: Path, form: str, stored: pa.DataType, declared: str, message: str
) -> None:
    made = pa.table({"v": pa.array([1], pa.int32()).cast(stored)})
    (orc.write_table if form == "orc" else parquet.write_table)(made, tmp_path / "f")
    item, is_array = hive_type(declared.removeprefix("array<").removesuffix(">")), declared.startswith("array")
    hive = HiveType("array", children=(item,)) if is_array else item
    table = files_table(tmp_path, (Column("v", hive),), form)
    with pytest.raises(UnsupportedError, match=f"^the column v of default.t {message}"):
        home.query("SELECT v FROM t", table)


def test_units_in_nested_columns(home: Home, tmp_path: Path) -> None:
    """Nanoseconds beside plain integers; fields match in any case and order, and missing ones are NULL."""
    moment = datetime(2024, 1, 2, 3, 4, 5, 678)
    fields = [("N", pa.int64()), ("At", pa.timestamp("ns")), ("L", pa.list_(pa.struct([("at", pa.timestamp("ns"))])))]
    rows = pa.table({"s": pa.array([{"N": 5, "At": moment, "L": [{"at": moment}]}, None], pa.struct(fields))})
    parquet.write_table(rows, tmp_path / "f")
    timestamp, element = HiveType("timestamp"), HiveType("struct", children=(HiveType("timestamp"),), fields=("at",))
    kinds = (HiveType("array", children=(element,)), timestamp, HiveType("int"), HiveType("int"))
    struct = HiveType("struct", children=kinds, fields=("l", "at", "n", "other"))
    found = home.query("SELECT s FROM t", files_table(tmp_path, (Column("s", struct),), "parquet"))
    assert found == [({"l": [{"at": moment}], "at": moment, "n": 5, "other": None},), (None,)]


@pytest.mark.parametrize("has_instant", [False, True])
def test_both_readers_of_orc_have_the_same_rules(home: Home, tmp_path: Path, has_instant: bool) -> None:
    """Columns by position, fields by name in any case, days of the Julian calendar, files without a column."""
    days = [date(1, 1, 1), date(1000, 2, 28), date(1500, 3, 1), date(1582, 10, 4), date(1582, 10, 15), None]
    struct = pa.array([{"A": 1, "b": day} for day in days], pa.struct([("A", pa.int64()), ("b", pa.date32())]))
    made = pa.table({
        "_col0": pa.array(range(6), pa.int64()), "_col1": pa.array(days), "_col2": struct,
        "_col3": pa.array([[day] for day in days], pa.list_(pa.date32())),
    })  # fmt: skip
    if has_instant:
        made = made.append_column("_col4", pa.repeat(pa.scalar(INSTANT, pa.timestamp("us", "UTC")), len(made)))
    orc.write_table(made, tmp_path / "f", compression="zlib")
    orc.write_table(made.drop_columns(["_col3", *(["_col4"] if has_instant else [])]).slice(5), tmp_path / "g")
    fields = HiveType("struct", children=(HiveType("date"), HiveType("int")), fields=("b", "a"))
    shape = (
        Column("id", HiveType("int")), Column("d", HiveType("date")), Column("s", fields),
        Column("l", HiveType("array", children=(HiveType("date"),))),
        Column("t", HiveType("timestamp with local time zone")),
    )  # fmt: skip
    found = home.query("SELECT * FROM t ORDER BY id, l NULLS LAST", files_table(tmp_path, shape, "orc"))
    moment = INSTANT if has_instant else None
    days_of = [row[1] for row in found[:6]]
    assert [row[0] for row in found] == [0, 1, 2, 3, 4, 5, 5]
    assert days_of == JULIAN
    assert [row[2] for row in found] == [{"b": day, "a": 1} for day in [*days_of, None]]
    assert [row[3] for row in found] == [*([day] for day in days_of), None]
    assert [row[4] for row in found] == [*[moment] * 6, None]


JULIAN = [date(1, 1, 3), date(1000, 2, 23), date(1500, 2, 20), date(1582, 9, 24), date(1582, 10, 15), None]
"""The days that Hive and Spark read in ORC files that do not say that their calendar is the Gregorian one."""


def test_instants_in_partitions_with_the_names_of_files(home: Home, tmp_path: Path) -> None:
    for key in ("a", "b"):
        (tmp_path / "p" / f"k={key}").mkdir(parents=True)
        moment = pa.array([INSTANT], pa.timestamp("us", "UTC"))
        orc.write_table(pa.table({"t": moment, "c": pa.array(["12345"])}), tmp_path / "p" / f"k={key}" / "f")
    with Session(tmp_path / "home") as session:
        shape = "(t TIMESTAMP WITH LOCAL TIME ZONE, c CHAR(3)) PARTITIONED BY (k STRING)"
        run(session, f"CREATE EXTERNAL TABLE p {shape} STORED AS ORC LOCATION '{tmp_path}/p'")
        run(session, "MSCK REPAIR TABLE p")
        found = run(session, "SELECT k, t, c, INPUT__FILE__NAME LIKE '%/k=_/f' FROM p ORDER BY k")
        assert found == [("a", INSTANT, "123", True), ("b", INSTANT, "123", True)]


def run(session: Session, text: str) -> list[tuple[Any, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


def test_instants_of_all_years(home: Home, tmp_path: Path) -> None:
    """Those beyond 64 bits of nanoseconds, too."""
    far = [datetime(9999, 12, 31, 23, 59, 59, 5, UTC), datetime(1600, 1, 1, tzinfo=UTC), None]
    orc.write_table(pa.table({"t": pa.array(far, pa.timestamp("us", "UTC"))}), tmp_path / "f")
    table = files_table(tmp_path, (Column("t", HiveType("timestamp with local time zone")),), "orc")
    assert home.query("SELECT t FROM t ORDER BY t", table) == [(None,), (far[1],), (far[0],)]


def test_types_and_encodings_of_which_spark_has_no_schema(tmp_path: Path) -> None:
    """UUID, INTERVAL, times of day and FLOAT16 in Parquet; BYTE_STREAM_SPLIT; files of other types beside them."""
    with duckdb.connect() as connection:
        duck = "range::INT AS i, range / 4 AS d, '00000000-0000-0000-0000-000000000007'::UUID AS u"
        times = "TIME '01:02:03' AS t, INTERVAL 1 DAY AS v, TIMESTAMP '2024-01-02 03:04:05' AS at"
        where = f"'{tmp_path / 'duck' / 'f'}' (FORMAT parquet, PARQUET_VERSION V2)"
        (tmp_path / "duck").mkdir()
        connection.execute(f"COPY (SELECT {duck}, {times} FROM range(2000)) TO {where}")
    halves = [np.float16(v) for v in (1.5, -0.25, 65504, 6e-8, "inf", "-inf", "nan", 0)]
    (tmp_path / "half").mkdir()
    rows = {
        "h": pa.array([*halves, None], pa.float16()), "ms": pa.array([3723000] * 9, pa.time32("ms")),
        "l": pa.array([[halves[0]]] * 9, pa.list_(pa.float16())), "ns": pa.array([1_999] * 9, pa.timestamp("ns")),
    }  # fmt: skip
    parquet.write_table(pa.table(rows), tmp_path / "half" / "f")
    moved = pa.table({"ms": pa.array([1], pa.time32("ms")), "at": pa.array([datetime(2024, 1, 2)], pa.timestamp("ns"))})
    parquet.write_table(moved, tmp_path / "half" / "g", use_deprecated_int96_timestamps=True)
    with Session(tmp_path / "home") as session:
        run(session, f"CREATE EXTERNAL TABLE duck STORED AS PARQUET LOCATION '{tmp_path}/duck'")
        assert [row[1] for row in run(session, "DESCRIBE duck")] == [
            "int", "double", "binary", "bigint", "binary", "timestamp"
        ]  # fmt: skip
        found = run(
            session, "SELECT sum(i), sum(d), hex(min(u)), min(t), length(min(v)), max(at) FROM duck WHERE d >= 0"
        )
        moment = datetime(2024, 1, 2, 3, 4, 5)
        assert found == [(1_999_000, 499_750.0, "0" * 31 + "7", 3_723_000_000, 12, moment)]
        assert run(session, "SET spark.sql.parquet.enableVectorizedReader") != [("false",)]
        shape = "(h DOUBLE, ms INT, l ARRAY<FLOAT>, ns TIMESTAMP, at TIMESTAMP)"
        run(session, f"CREATE EXTERNAL TABLE half {shape} STORED AS PARQUET LOCATION '{tmp_path}/half'")
        found = run(session, "SELECT h, l, ns FROM half WHERE ms > 1")
        expected = [1.5, -0.25, 65504.0, 2.0**-24, float("inf"), float("-inf"), float("nan"), 0.0, None]
        assert [repr(row[0]) for row in found] == list(map(repr, expected))
        assert {repr(row[1:]) for row in found} == {repr(([1.5], datetime(1970, 1, 1, 0, 0, 0, 1)))}
        assert run(session, "SELECT ms, at FROM half WHERE at IS NOT NULL") == [(1, datetime(2024, 1, 2))]


def test_brotli(home: Home, tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": pa.array([1], pa.int32())}), tmp_path / "f", compression="brotli")
    with pytest.raises(
        SparkError, match=r"^Spark cannot read Parquet files that are compressed with Brotli$"
    ) as caught:
        home.query("SELECT a FROM t", files_table(tmp_path, (Column("a", HiveType("int")),), "parquet"))
    assert (caught.value.hint or "").startswith("write them again with another compression, such as ZSTD")


@pytest.mark.parametrize(("length", "is_cut"), [(5, False), (9, False), (4, True)])
def test_a_varchar_that_is_not_longer_is_read_as_it_is(length: int, is_cut: bool) -> None:
    """So that conditions reach the reader of ORC."""
    field = StructField("v", StringType(), metadata={"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"})
    column = Column("v", HiveType("varchar", (length,)))
    found = columnar._read(Reading("orc"), "v", field, column, files_table("/t", (column,), "orc"))
    assert (found != "v") == is_cut
