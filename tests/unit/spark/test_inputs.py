"""Files as tables: JSON, delimited text, CSV, ORC and Parquet, read as Hive's SerDes read them."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from hivedruid.catalog.table import Column
from hivedruid.catalog.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    HiveType,
    array_of,
    decimal,
)
from hivedruid.errors import SparkError
from tests.unit.spark.conftest import Home, columns, files_table

pytestmark = pytest.mark.spark

Lines = Callable[..., Path]

STRUCT = HiveType("struct", children=(INT, TIMESTAMP), fields=("a", "t"))
MAP = HiveType("map", children=(STRING, INT))
OPEN_CSV = {"serialization.lib": "org.apache.hadoop.hive.serde2.OpenCSVSerde"}


@pytest.mark.parametrize(
    ("hive", "text", "value"),
    [
        (STRING, '"é\\n\\u0001\\ud83d\\ude00"', "é\n\x01😀"),
        (STRING, '""', ""),
        (STRING, "12", "12"),
        (STRING, "true", "true"),
        (STRING, '{"a": [1, null]}', '{"a":[1,null]}'),
        (HiveType("varchar", (2,)), '"été"', "ét"),
        (HiveType("char", (4,)), '"ab  cd"', "ab"),
        (TINYINT, "-128", -128),
        (SMALLINT, '"12"', 12),
        (INT, "null", None),
        (BIGINT, "9223372036854775807", 2**63 - 1),
        (FLOAT, "0.5", 0.5),
        (DOUBLE, "1e5", 1e5),
        (DOUBLE, '"Infinity"', float("inf")),
        (decimal(38, 4), "12345678901234567890123.4500", Decimal("12345678901234567890123.4500")),
        (decimal(5, 2), '"1.5"', Decimal("1.50")),
        (BOOLEAN, "true", True),
        (BOOLEAN, '"FALSE"', False),
        (BINARY, '"AP8="', b"\x00\xff"),
        (DATE, '"2015-09-12"', date(2015, 9, 12)),
        (TIMESTAMP, '"2015-09-12 00:46:58"', datetime(2015, 9, 12, 0, 46, 58)),
        (TIMESTAMP, '"2015-09-12 00:46:58.123456789"', datetime(2015, 9, 12, 0, 46, 58, 123456)),
        (TIMESTAMP, '"2015-09-12T00:46:58.771Z"', datetime(2015, 9, 12, 0, 46, 58, 771000)),
        (TIMESTAMP, '"2015-09-12T02:46:58+02:00"', datetime(2015, 9, 12, 0, 46, 58)),
        (TIMESTAMP, '"2015-09-12"', datetime(2015, 9, 12)),
        (TIMESTAMP, '"2021-03-14 02:30:00"', datetime(2021, 3, 14, 2, 30)),
        (TIMESTAMP_LTZ, '"2015-09-12T00:46:58.771Z"', datetime(2015, 9, 12, 0, 46, 58, 771000, tzinfo=UTC)),
        (TIMESTAMP_LTZ, '"2015-09-12 00:46:58"', datetime(2015, 9, 12, 7, 46, 58, tzinfo=UTC)),
        (TIMESTAMP_LTZ, '"2015-12-12 00:46:58 America/New_York"', datetime(2015, 12, 12, 5, 46, 58, tzinfo=UTC)),
        (array_of(INT), '[1, null, "3"]', [1, None, 3]),
        (array_of(array_of(STRING)), '[["a"], []]', [["a"], []]),
        (MAP, '{"A": 1, "b": null}', {"A": 1, "b": None}),
        (STRUCT, '{"A": 1, "t": "2015-09-12 00:00:00.5"}', {"a": 1, "t": datetime(2015, 9, 12, 0, 0, 0, 500000)}),
        (array_of(STRUCT), '[{"a": 2}]', [{"a": 2, "t": None}]),
    ],
)
def test_json_value(home: Home, lines: Lines, hive: HiveType, text: str, value: object) -> None:
    table = files_table(lines(f'{{"V": {text}}}', "", "  ", "{}"), columns(v=hive))
    assert home.query("SELECT v FROM t", table) == [(value,), (None,)]


@pytest.mark.parametrize(
    ("hive", "text"),
    [
        (TINYINT, "128"),
        (INT, "1.5"),
        (INT, '"x"'),
        (INT, "true"),
        (INT, "[1]"),
        (BIGINT, "9223372036854775808"),
        (DOUBLE, '"one"'),
        (decimal(3, 1), "1000"),
        (BOOLEAN, "1"),
        (DATE, '"12.09.2015"'),
        (DATE, '"2015-02-30"'),
        (TIMESTAMP, '"now"'),
        (TIMESTAMP, '"12:00"'),
        (TIMESTAMP, '"2015"'),
        (TIMESTAMP, "1442018818771"),
        (TIMESTAMP, '"2015-09-12 25:00:00"'),
        (TIMESTAMP_LTZ, '"2015-13-12 00:00:00"'),
        (array_of(INT), '[1, "x"]'),
        (array_of(INT), "{}"),
        (MAP, '{"a": "x"}'),
        (STRUCT, '{"a": "x"}'),
        (STRUCT, "5"),
        (array_of(STRUCT), '[{"t": "x"}]'),
    ],
)
def test_json_value_that_does_not_fit(home: Home, lines: Lines, hive: HiveType, text: str) -> None:
    path = lines('{"v": null}', f'{{"v": {text}}}')
    with pytest.raises(SparkError) as caught:
        home.query("SELECT v FROM t", files_table(path, columns(v=hive)))
    assert caught.value.message == (
        f'1 malformed row in table default.t: {path}:2 v is not a valid {hive}: {{"v": {text}}}'
    )


@pytest.mark.parametrize(
    "text",
    ["not json", '{"a":', '{"a": 1', "[]", '[{"a": 1}]', "5", "nulls", '"x"', "{'a': 1}", '{"a": NaN}', '{"a": 1,}',
     '{"a": "\\x"}', '{"a": "tab\tinside"}'],
)  # fmt: skip
def test_line_that_is_no_object(home: Home, lines: Lines, text: str) -> None:
    table = files_table(lines('{"a": 1}', text), columns(a=STRING))
    with pytest.raises(SparkError, match=r"1 malformed row in table default.t: .*:2 not a JSON object"):
        home.query("SELECT a FROM t", table)


@pytest.mark.parametrize("text", ['{"a": 1} x', '{"a": 1}{"a": 2}', '{"a": 1}, {"a": 2}', '{"a": 1}]', '{"a": 1}]x'])
def test_text_after_an_object_is_ignored(home: Home, lines: Lines, text: str) -> None:
    assert home.query("SELECT a FROM t", files_table(lines(text, "null"), columns(a=STRING))) == [("1",), (None,)]


def test_map_with_invalid_keys(home: Home, lines: Lines) -> None:
    numbers = columns(v=HiveType("map", children=(INT, INT)))
    assert home.query("SELECT v FROM t", files_table(lines('{"v": {"1": 2}}'), numbers)) == [({1: 2},)]
    with pytest.raises(SparkError, match="v is not a valid map<int,int>"):
        home.query("SELECT v FROM t", files_table(lines('{"v": {"x": 2}}'), numbers))


def test_delimited_map_without_its_invalid_keys(home: Home, lines: Lines) -> None:
    table = files_table(lines("x\x032\x021\x033"), columns(v=HiveType("map", children=(INT, INT))), format="textfile")
    assert home.query("SELECT v FROM t", table) == [({1: 3},)]


def test_names_match_in_any_case(home: Home, lines: Lines) -> None:
    path = lines('{"CITYname": "Paris", "Other": 1}', '{"cityName": "Oslo"}', '{"cityname": null}')
    by_field = files_table(path, columns(cityName=STRING))
    by_name = files_table(path, (Column("cityname", STRING),))
    for table in (by_field, by_name):
        assert home.query("SELECT cityname FROM t", table) == [("Paris",), ("Oslo",), (None,)]


def test_field_given_by_a_property(home: Home, lines: Lines) -> None:
    table = files_table(lines('{"City Name\'s": "Paris"}'), (Column("city", STRING, field="City Name's"),))
    assert home.query("SELECT city FROM t", table) == [("Paris",)]


def test_timestamp_formats(home: Home, lines: Lines) -> None:
    path = lines('{"t": 1442018818771}', '{"t": "12/09/2015 00:46"}', '{"t": "2015-09-12 00:46:58"}')
    serde = {"timestamp.formats": "millis,dd/MM/yyyy HH:mm"}
    assert home.query("SELECT t FROM t", files_table(path, columns(t=TIMESTAMP), serde=serde)) == [
        (datetime(2015, 9, 12, 0, 46, 58, 771000),),
        (datetime(2015, 9, 12, 0, 46),),
        (datetime(2015, 9, 12, 0, 46, 58),),
    ]


BAD = ['{"a": 1}', "nonsense", '{"a": "x"}', '{"a": 2}', "", '{"a": 3']


def test_malformed_rows_fail_whatever_is_read(home: Home, lines: Lines) -> None:
    table = files_table(lines(*BAD).parent, columns(a=INT, b=STRING))
    for sql in (
        "SELECT * FROM t",
        "SELECT count(*) FROM t",
        "SELECT b FROM t WHERE a > 1",
        "SELECT 1 FROM t WHERE b IS NOT NULL",
    ):
        with pytest.raises(SparkError, match=r"3 malformed rows in table default.t: ") as caught:
            home.query(sql, table)
        assert f"{table.location}/part-0.txt:2 not a JSON object: nonsense;" in caught.value.message
        assert "part-0.txt:3 a is not a valid int" in caught.value.message
        assert "part-0.txt:6 not a JSON object" in caught.value.message
        assert "'hivedruid.malformed.rows'='skip'" in (caught.value.hint or "")


@pytest.mark.parametrize("by", ["property", "setting"])
def test_malformed_rows_skipped(home: Home, lines: Lines, by: str) -> None:
    properties = {"hivedruid.malformed.rows": "skip"} if by == "property" else {}
    if by == "setting":
        home.settings["hivedruid.malformed.rows"] = "SKIP"
    table = files_table(lines(*BAD).parent, columns(a=INT, b=STRING), properties=properties)
    assert home.query("SELECT * FROM t", table) == [(1, None), (2, None)]
    assert home.query("SELECT count(*) FROM t", table) == [(2,)]
    assert len(home.notes) == 2
    assert home.notes[0].startswith("skipped 3 malformed rows in table default.t: ")


def test_many_malformed_rows_in_many_files(home: Home, lines: Lines) -> None:
    for number in range(3):
        lines(*['{"a": 1}', "same", "same", f"other {number}", '{"a": 2}', "same"], name=f"data/{number}.txt")
    table = files_table(lines('{"a": 1}', name="data/9.txt").parent, columns(a=INT))
    with pytest.raises(SparkError) as caught:
        home.query("SELECT a FROM t", table)
    message = caught.value.message
    assert message.startswith("12 malformed rows in table default.t, the first 10: ")
    places = [part.split(" not a JSON object: ") for part in message.split(": ", 1)[1].split("; ")]
    assert [(place.rsplit("/", 1)[1], text) for place, text in places] == [
        (f"{number}.txt:{line}", text)
        for number in range(3)
        for line, text in ((2, "same"), (3, "same"), (4, f"other {number}"), (6, "same"))
    ][:10]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed_files(home: Home, tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"data.json{suffix}"
    path.write_bytes(pack(b'{"a": 1}\n\n{"a": 2}\r\nbad\xff\n'))
    table = files_table(path, columns(a=INT))
    with pytest.raises(SparkError, match=f"{path}:4 not a JSON object: bad\ufffd"):
        home.query("SELECT a FROM t", table)
    table = files_table(path, columns(a=INT), properties={"hivedruid.malformed.rows": "skip"})
    assert home.query("SELECT a FROM t", table) == [(1,), (2,)]


def test_line_ends_and_byte_order_mark(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\rbad\n{"a": 3}')
    with pytest.raises(SparkError, match=r"data.json:3 not a JSON object: bad$"):
        home.query("SELECT a FROM t", files_table(path, columns(a=INT)))


@pytest.mark.parametrize("name", ["we[i]r{d}, a*?b", "a%20b", "späte Tür", "back\\slash", "it's"])
def test_location_of_any_name(home: Home, lines: Lines, name: str) -> None:
    path = lines('{"a": 1}', "bad", name=f"{name}/x.json").parent
    properties = {"hivedruid.malformed.rows": "skip"}
    for location in (path, f"file:{path}", f"file://{path}"):
        assert home.query("SELECT a FROM t", files_table(location, columns(a=INT), properties=properties)) == [(1,)]
    assert f"{path}/x.json:2 not" in home.notes[0]


def test_relative_location(home: Home, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lines('{"a": 1}')
    monkeypatch.chdir(path.parent.parent)
    assert home.query("SELECT a FROM t", files_table("data/part-0.txt", columns(a=INT))) == [(1,)]


def test_hidden_files_and_subfolders(home: Home, lines: Lines) -> None:
    for name in ("data/_SUCCESS", "data/.x.crc", "data/_tmp/x", "data/.hidden/x"):
        lines("nonsense", name=name)
    lines('{"a": 2}', name="data/k=1/deep/y")
    table = files_table(lines('{"a": 1}').parent, columns(a=INT))
    assert sorted(home.query("SELECT * FROM t", table)) == [(1,), (2,)]


@pytest.mark.parametrize("format", ["jsonfile", "textfile", "orc", "parquet"])
def test_empty_folder(home: Home, tmp_path: Path, format: str) -> None:  # noqa: A002
    table = files_table(tmp_path, columns(a=INT, t=TIMESTAMP), format)
    assert home.query("SELECT count(*), max(t) FROM t", table) == [(0, None)]


def test_delimited_text(home: Home, lines: Lines) -> None:
    path = lines(
        "\x01".join(
            [
                "x",
                "1",
                "2.5",
                "true",
                "2015-09-12 00:46:58.771",
                "a\x02b\x02\\N",
                "k\x031\x02l\x03\\N",
                "7\x022015-09-12 00:00:00",
            ]
        ),
        "\x01".join(["", "x", "", "yes", "now", "", "", ""]),
        "\\N\x01\\N",
        "",
        "\x01300\x01NaN\x01TRUE\x011\x01\\N\x01\\N\x01\\N\x01more",
    )
    shape = columns(s=STRING, i=TINYINT, d=DOUBLE, b=BOOLEAN, t=TIMESTAMP, l=array_of(STRING), m=MAP, r=STRUCT)
    assert home.query("SELECT s, i, isnan(d), b, t, l, m, r FROM t", files_table(path, shape, "textfile")) == [
        ("x", 1, False, True, datetime(2015, 9, 12, 0, 46, 58, 771000), ["a", "b", None], {"k": 1, "l": None},
         {"a": 7, "t": datetime(2015, 9, 12)}),
        ("", None, False, None, None, [], {}, {"a": None, "t": None}),
        (None, None, False, None, None, None, None, None),
        ("", None, False, None, None, None, None, None),
        ("", None, True, True, None, None, None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("serde", "line", "row"),
    [
        ({"field.delim": ","}, "a,5,c", ("a", 5, "c")),
        ({"field.delim": "\t"}, "a\t5\t", ("a", 5, "")),
        ({"field.delim": "\\t"}, "a\t5\tc", ("a", 5, "c")),
        ({"field.delim": "9"}, "a\t5\tc", ("a", 5, "c")),
        ({"field.delim": "\\002"}, "a\x025\x02c", ("a", 5, "c")),
        ({"field.delim": "|"}, "a|5.9|c|d", ("a", 5, "c")),
        ({"serialization.format": ";"}, "a;5;c", ("a", 5, "c")),
        ({"field.delim": ",", "serialization.null.format": ""}, ",5,c", (None, 5, "c")),
        ({"field.delim": ",", "serialization.null.format": "NULL"}, "NULL,NULL,\\N", (None, None, "\\N")),
        ({"field.delim": ",", "escape.delim": "\\"}, r"a\,b,5,c\\d\ne\\n", ("a,b", 5, "c\\d\ne\\n")),
        ({"field.delim": ",", "escape.delim": "\\"}, ",\\N,\\", ("", None, "\\")),
    ],
)
def test_row_format_delimited(
    home: Home, lines: Lines, serde: dict[str, str], line: str, row: tuple[object, ...]
) -> None:
    table = files_table(lines(line), columns(a=STRING, b=INT, c=STRING), "textfile", serde=serde)
    assert home.query("SELECT a, b, c FROM t", table) == [row]


@pytest.mark.parametrize(
    ("serde", "line", "row"),
    [
        ({}, "a,5,c", ("a", 5, "c")),
        ({}, '"a,b","5","say ""hi"""', ("a,b", 5, 'say "hi"')),
        ({}, r'"a\"b",,"c\\d"', ('a"b', None, "c\\d")),
        ({}, '"","",', ("", None, "")),
        ({}, "a", ("a", None, None)),
        ({}, ' "a" , 5,c', (' a" ', None, "c")),
        ({"separatorChar": "\t", "quoteChar": "'"}, "'a\tb'\t5\t'it''s'", ("a\tb", 5, "it's")),
        ({"separatorChar": ";", "escapeChar": '"'}, '"a;""b";5;c', ('a;"b', 5, "c")),
    ],
)
def test_open_csv(home: Home, lines: Lines, serde: dict[str, str], line: str, row: tuple[object, ...]) -> None:
    table = files_table(lines(line), columns(a=STRING, b=INT, c=STRING), "textfile", serde={**OPEN_CSV, **serde})
    assert home.query("SELECT a, b, c FROM t", table) == [row]


def test_json_columns_with_the_names_of_metadata(home: Home, lines: Lines) -> None:
    path = lines('{"value": "x", "_file": 1, "_start": 2}')
    shape = tuple(Column(name, hive) for name, hive in (("value", STRING), ("_file", INT), ("_start", INT)))
    assert home.query("SELECT value, _file, _start FROM t", files_table(path, shape)) == [("x", 1, 2)]


def test_times_that_python_does_not_have(home: Home) -> None:
    day, second = "DATE '0001-01-01' - INTERVAL '1' DAY", "TIMESTAMP_NTZ '9999-12-31 23:59:59' + INTERVAL '1' SECOND"
    found = home.query(f"SELECT {day}, {second}, CAST({second} AS TIMESTAMP), DATE '9999-12-31'")
    assert found == [(None, None, None, date(9999, 12, 31))]


def test_header_lines(home: Home, lines: Lines) -> None:
    lines("h1", "h2", "1", "h1", "2", name="data/a.csv")
    lines("h1", "h2", name="data/b.csv")
    location = lines("h1", "h2", "3", name="data/c.csv").parent
    table = files_table(location, columns(a=STRING), "textfile", properties={"skip.header.line.count": "2"})
    assert sorted(home.query("SELECT a FROM t", table)) == [("1",), ("2",), ("3",), ("h1",)]
    properties = {"skip.header.line.count": "1", "skip.footer.line.count": "2"}
    table = files_table(location, columns(a=STRING), "textfile", properties=properties)
    assert sorted(home.query("SELECT a FROM t", table)) == [("1",), ("h2",)]


@pytest.mark.parametrize("format", ["orc", "parquet"])
def test_columnar_files(home: Home, tmp_path: Path, format: str) -> None:  # noqa: A002
    written = files_table(tmp_path / "data", columns(a=INT, cityName=STRING, t=TIMESTAMP, z=TIMESTAMP_LTZ), format)
    home.write(
        "SELECT 1, 'Paris', TIMESTAMP_NTZ '2021-03-14 02:30:00.000001', TIMESTAMP '2021-03-14 02:30:00'", written
    )
    table = files_table(
        tmp_path / "data", columns(CITYNAME=STRING, a=BIGINT, missing=DOUBLE, t=TIMESTAMP, z=TIMESTAMP_LTZ), format
    )
    assert home.query("SELECT * FROM t", table) == [
        ("Paris", 1, None, datetime(2021, 3, 14, 2, 30, 0, 1), datetime(2021, 3, 14, 2, 30, tzinfo=UTC))
    ]


def test_orc_columns_without_names(home: Home, tmp_path: Path) -> None:
    """Hive before 2.0 wrote ORC columns as _col0, _col1 …"""
    home.write("SELECT 1, 'x'", files_table(tmp_path / "data", columns(_col0=INT, _col1=STRING), "orc"))
    table = files_table(tmp_path / "data", columns(a=INT, b=STRING, c=STRING), "orc")
    assert home.query("SELECT * FROM t", table) == [(1, "x", None)]


def test_parquet_with_nanoseconds(home: Home, tmp_path: Path) -> None:
    moments = [1577836800123456789, -1, None]
    made = {"a": pa.array([1, 2, 3], pa.int32()), "t": pa.array(moments, pa.timestamp("ns"))}
    made |= {
        "z": pa.array(moments, pa.timestamp("ns", tz="UTC")),
        "l": pa.array([[m] for m in moments], pa.list_(made["t"].type)),
        "s": pa.array([{"m": m, "n": 1} for m in moments], pa.struct([("m", made["t"].type), ("n", pa.int32())])),
        "k": pa.array([{"x": m} for m in moments], pa.map_(pa.string(), made["t"].type)),
    }
    parquet.write_table(pa.table(made), tmp_path / "x.parquet", version="2.6")
    undeclared = files_table(tmp_path / "x.parquet", columns(a=INT), "parquet")
    assert home.query("SELECT * FROM t ORDER BY a", undeclared) == [(1,), (2,), (3,)]
    struct = HiveType("struct", children=(TIMESTAMP, INT), fields=("m", "n"))
    by_text = HiveType("map", children=(STRING, TIMESTAMP))
    table = files_table(
        tmp_path / "x.parquet",
        columns(a=INT, t=TIMESTAMP, z=TIMESTAMP_LTZ, l=array_of(TIMESTAMP), s=struct, k=by_text),
        "parquet",
    )
    late, early = datetime(2020, 1, 1, 0, 0, 0, 123456), datetime(1969, 12, 31, 23, 59, 59, 999999)
    assert home.query("SELECT * FROM t ORDER BY a", table) == [
        (1, late, late.replace(tzinfo=UTC), [late], {"m": late, "n": 1}, {"x": late}),
        (2, early, early.replace(tzinfo=UTC), [early], {"m": early, "n": 1}, {"x": early}),
        (3, None, None, [None], {"m": None, "n": 1}, {"x": None}),
    ]


def test_orc_with_zoned_timestamps(home: Home, tmp_path: Path) -> None:
    moment = datetime(2020, 1, 1, 0, 0, 0, 123456)
    made = {"a": pa.array([1, 2], pa.int64()), "z": pa.array([moment, None], pa.timestamp("us", tz="UTC"))}
    orc.write_table(pa.table(made | {"p": pa.array([moment, None], pa.timestamp("us"))}), tmp_path / "x.orc")
    undeclared = files_table(tmp_path / "x.orc", columns(a=BIGINT), "orc")
    assert home.query("SELECT * FROM t ORDER BY a", undeclared) == [(1,), (2,)]
    table = files_table(tmp_path / "x.orc", columns(z=TIMESTAMP_LTZ, p=TIMESTAMP, a=INT, q=STRING), "orc")
    assert home.query("SELECT * FROM t ORDER BY a", table) == [
        (moment.replace(tzinfo=UTC), moment, 1, None),
        (None, None, 2, None),
    ]


def test_parquet_of_another_program(home: Home, tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 1::TINYINT AS A, TIMESTAMP '2021-03-14 02:30:00' AS t, TIMESTAMPTZ '2021-03-14 02:30:00+00' AS z) "
            f"TO '{tmp_path / 'x.parquet'}' (FORMAT parquet)"
        )
    table = files_table(tmp_path / "x.parquet", columns(a=INT, t=TIMESTAMP, z=TIMESTAMP_LTZ), "parquet")
    assert home.query("SELECT * FROM t", table) == [
        (1, datetime(2021, 3, 14, 2, 30), datetime(2021, 3, 14, 2, 30, tzinfo=UTC))
    ]


def test_parquet_with_char_columns_of_spark(home: Home, tmp_path: Path) -> None:
    """Spark would pad the constant that it compares with a CHAR, by the metadata of the field."""
    char: dict[str, object] = {
        "type": "string",
        "nullable": True,
        "metadata": {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"},
    }
    inner = {"type": "struct", "fields": [{"name": "m", **char}]}
    fields = [{"name": "a", **char}, {"name": "s", "type": inner, "nullable": True, "metadata": {}}]
    metadata = {"org.apache.spark.sql.parquet.row.metadata": json.dumps({"type": "struct", "fields": fields})}
    schema = pa.schema([("a", pa.string()), ("s", pa.struct([("m", pa.string())]))], metadata)
    parquet.write_table(pa.table({"a": ["x", "y"], "s": [{"m": "z"}] * 2}, schema), tmp_path / "x.parquet")
    struct = HiveType("struct", children=(STRING,), fields=("m",))
    table = files_table(tmp_path / "x.parquet", columns(a=STRING, s=struct), "parquet")
    assert home.query("SELECT a FROM t WHERE a = 'x' AND s.m = 'z'", table) == [("x",)]


def test_file_of_another_format(home: Home, lines: Lines) -> None:
    with pytest.raises(SparkError, match=r"part-0.txt"):
        home.query("SELECT * FROM t", files_table(lines("nonsense"), columns(a=INT), "orc"))
