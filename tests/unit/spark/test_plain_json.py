"""Plain JSON records have the same values if Python decodes them as if SQL does."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid.catalog.table import Column, Table
from hivedruid.parser.tokens import Cursor, tokenize
from hivedruid.parser.types import parse_type
from hivedruid.plain_json import PlainJson
from hivedruid.plan.physical import TableInput
from hivedruid.script import SourceStatement
from hivedruid.spark import inputs, session
from hivedruid.spark.file_schemas import FileSchemas
from hivedruid.spark.topic_formats import has_plain_values, of_value, value_rows
from hivedruid.tables.hive_tables import KAFKA_COLUMNS

if TYPE_CHECKING:
    from tests.unit.spark.conftest import Home

COLUMNS = {
    "i": "bigint", "n": "int", "t": "tinyint", "m": "smallint", "d": "double", "b": "boolean", "s": "string",
    "v": "varchar(3)", "c": "char(3)", "day": "date", "at": "timestamp", "z": "timestamp with local time zone",
    "raw": "binary", "value": "string", "k": "int", "\u019b": "int",
}  # fmt: skip
CAPITAL = "\ua7dc"
"""The capital letter of the last column since Unicode 16, which Spark knows (ICU), and Python does not before 3.14."""
NAMES = [*COLUMNS, *map(str.upper, COLUMNS), "x", "X", "\\u0069", "\\u0049", "é", "ı", "\u212a", CAPITAL, ""]
CELLS = [
    "1", "0", "-0", "-1", "127", "128", "-32769", "2147483648", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "99999999999999999999", "1.0", "1.5", "-0.0", "0.1", "1e2", "1E400", "1e-400", "-1e-400",
    "5e-324", "0.30000000000000004", "123456789012345678901e-3", "12345678901234567890.5", "NaN", "-Infinity", "01",
    "+1", ".5", "1.", "0x10", "true", "false", "null", "True", '""', '"8"', '" 8 "', '"x"', '"true"', '"NaN"', '"null"',
    '"été"', '"\\u0041\\n\\/"', '"\\u0000"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\x"', '"a\tb"', '"ab  cd"', "'x'",
    '"2024-02-29"', '"2023-02-29"', '"2024-01-01T10:20:30.123456Z"', '"2024-01-01 10:20:30 Europe/Berlin"', '"now"',
    '"2024-01-01 10:20:30"', '"2024-01-01T10:20:30.5"', '"2024-12-31 23:59:59.999999Z"', '"2024-01-01 24:00:00"',
    '"2024-02-30 10:20:30"', '"2024-01-01 10:20:60"', '"2024-01-01 10:20:30.1234567"', '"0999-01-01 10:20:30"',
    '"1582-10-10 10:20:30"', '"1582-10-10"', '"9999-12-31"', '"10000-01-01"', '"2024-01-01 10:20:30ZZ"', '"2024-1-1"',
    '"2024-01-01 10:20:30 Z"', '"2024-01-01 10:20:30+02:00"', '"2024-01-01\\n"', '"2024-01-01 1:2:3"', '" 2024-01-01"',
    '"QUI="', '"Q"', '"\x7f"', "[]", "[1]", "{}", '{"i": 1}', '{"i": [{"s": null}]}', "[1,]", "/*c*/1",
]  # fmt: skip
WHOLE = [
    b"", b" ", b"null", b" null\n", b"{}", b" { } ", b"[]", b'[{"i": 1}]', b"1", b'"x"', b"x", b'{"i": 1', b'{"i": 1}}',
    b'{"i": 1} x', b'{"i": 1}{"i": 2}', b'{"i": 1}\x00', b'{"i": 1}\x0c', b'\xef\xbb\xbf{"i": 1}', b"{'i': 1}",
    b"{i: 1}", b'{"i": 1,}', b'{"i" 1}', b'{"i": 1 "n": 2}', b'{"i": 1, "i": 2}', b'{"I": 1, "i": 2}',
    b'{"i": "x", "i": 2}', b'{"i": 1, "I": 2, "i": 3}', b'\n\t\r{"i"\n:\t1\r}\n', b'{"s": "\xff"}', b'{"\xff": 1}',
    b'{"s": "\xed\xa0\x80"}', b'{"s": "\xc0\x80"}', b'{"s": "\xf4\x90\x80\x80"}', b'{"x": "\xff"}', b'{"x": NaN}',
    b'{"x": ' + b"[" * 999 + b"]" * 999 + b"}", b'{"x": ' + b"[" * 1200 + b"]" * 1200 + b"}",
    b'{"x": ' + b"9" * 999 + b"}", b'{"x": ' + b"9" * 1200 + b"}", b'{"d": 0.' + b"1" * 1200 + b"}",
    b'{"s": "' + b"y" * 2000 + b'"}', b'{"' + b"y" * 50_100 + b'": 1}', b'{"s": "' + b"y" * 50_100 + b'"}',
]  # fmt: skip
"""Records as a whole: what is around the object, names, encodings, and the limits of Spark's parser."""
RECORDS = 4_000


BREAKS = (b"\n", b"\r\n", b"\r", b"\n \t\n\n")


def generated() -> Iterator[bytes | None]:
    """The records above, each cell in each column alone, and random objects, of which some are damaged."""
    draw = random.Random(7)
    yield None
    yield from WHOLE
    yield from (f'{{"{name}": 1}}'.encode() for name in NAMES)
    yield from (f'{{"{name}": {cell}}}'.encode() for name in COLUMNS for cell in CELLS)
    for _ in range(RECORDS):
        cells = [f'"{draw.choice(NAMES)}":{draw.choice(CELLS)}' for _ in range(draw.randrange(4))]
        record = f"{{{', '.join(cells)}}}".encode()
        if draw.random() < 0.1:
            place = draw.randrange(len(record))
            record = record[:place] + draw.choice((b"", b"\x00", b"\xff", b'"', b"}", b",")) + record[place + 1 :]
        yield record[: draw.randrange(len(record)) + 1] if draw.random() < 0.05 else record


def table_of(columns: dict[str, str]) -> Table:
    texts = {name: SourceStatement(kind) for name, kind in columns.items()}
    described = [Column(name, parse_type(Cursor(text, tokenize(text)))) for name, text in texts.items()]
    properties = {"kafka.serde.class": "org.apache.hive.hcatalog.data.JsonSerDe"}
    return of_value(Table("default", "k", kind="kafka", columns=(*described, *KAFKA_COLUMNS), properties=properties))


def split(records: list[bytes | None], **fields: str) -> pa.RecordBatch:
    decoder = PlainJson(tuple(fields.items()), tuple(range(len(fields))))
    (batch,) = decoder([pa.RecordBatch.from_pydict({"value": pa.array(records, pa.binary())})])
    return batch


@pytest.mark.spark
def test_python_and_sql_agree(home: Home, tmp_path: Path) -> None:
    records = list(generated())
    rows = {
        "value": pa.array(records, pa.binary()),
        "__key": pa.nulls(len(records), pa.binary()),
        "__partition": pa.array([0] * len(records), pa.int32()),
        "__offset": pa.array(range(len(records)), pa.int64()),
        "__timestamp": pa.array([0] * len(records), pa.int64()),
    }
    parquet.write_table(pa.table(rows), tmp_path / "records.parquet")
    table, settings = table_of(COLUMNS), {"hive.local.time.zone": "Europe/Berlin"}
    assert has_plain_values(table)
    with session.job(settings, home.path) as running:
        read = running.spark.read.parquet(str(tmp_path / "records.parquet"))
        shown = ["__offset", "_bad", "_raw", *(f"hex(CAST(`{name}` AS STRING)) AS `{name}`" for name in COLUMNS)]

        def rows_of(in_python: Collection[str] | None, batch: int = 10_000) -> dict[int, tuple[Any, ...]]:
            running.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(batch))
            found = value_rows(read, table, settings, keep_raw=True, in_python=in_python)
            return {row[0]: tuple(row[1:]) for row in found.selectExpr(*shown).collect()}

        by_sql = rows_of(None)
        by_python = [rows_of(COLUMNS, batch) for batch in (1, 3, 10_000)]
        without_values = rows_of(())
    assert len(by_sql) == len(records)
    for by_batch in by_python:
        different = [(records[n], by_sql[n], by_batch.get(n)) for n in sorted(by_sql) if by_sql[n] != by_batch.get(n)]
        assert not different, f"{len(different)} records differ, such as {str(different[:10])[:2000]}"
    changed = [records[n] for n in sorted(by_sql) if by_sql[n][:2] != without_values[n][:2]]
    assert not changed, "which records are malformed does not depend on the columns that are needed"
    values = {records[n]: values[2:] for n, values in by_sql.items()}
    assert values[f'{{"{CAPITAL}": 1}}'.encode()] == (*[None] * (len(COLUMNS) - 1), b"1".hex()), "Spark's lower case"
    kinds = {bad for bad, *_ in by_sql.values()}
    assert {None, "not a JSON object", "not valid UTF-8", "i is not a valid bigint"} <= kinds


@pytest.mark.spark
def test_files_have_the_same_rows(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever columns a statement needs, each of them is checked."""
    draw = random.Random(8)
    lines = [b"\xef\xbb\xbf", *(record + draw.choice(BREAKS) for record in generated() if record is not None)]
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "rows.json").write_bytes(b"".join(lines))
    columns = tuple(column for column in table_of(COLUMNS).columns if column.name in COLUMNS)
    table = Table("default", "f", kind="files", columns=columns, format="jsonfile", location=str(tmp_path / "files"))
    settings = {"hive.local.time.zone": "Europe/Berlin", "hivedruid.malformed.rows": "skip"}
    counts = set()
    with session.job(settings, home.path) as running:
        for needed in (tuple(COLUMNS), ("at", "n"), ()):
            item, found = TableInput("f", table, needed), []
            for least in (0, 1 << 40):
                monkeypatch.setattr(inputs, "PYTHON_FROM", least)
                assert inputs.is_decoded_by_python(table, str(tmp_path / "files"), settings) == (least == 0)
                rows = inputs.table_frame(running.spark, item, settings, FileSchemas(settings))
                shown = [f"hex(CAST(`{name}` AS STRING)) AS `{name}`" for name in needed]
                found.append([tuple(row) for row in rows.selectExpr("'' AS always", *shown).collect()])
            different = [pair for pair in zip(*found, strict=True) if pair[0] != pair[1]]
            assert not different, str(different[:10])[:2000]
            counts.add(len(found[0]))
    assert len(counts) == 1, "which rows are malformed does not depend on the columns that are needed"
    assert 1_500 < counts.pop() < len(lines)


def test_records_that_are_plain() -> None:
    batch = split([b'{"A":1,"b":"x","c":[1]}', b'{"a":2}', b"{}", b'{"b":"\\u0041"}'], a="INT", b="STRING")
    assert batch.to_pydict() == {
        "value": [None] * 4, "_plain0": [1, 2, None, None], "_plain1": ["x", None, None, "A"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "record",
    [b'{"a":"1"}', b'{"a":1.0}', b'{"a":2147483648}', b'{"a":true}', b'{"a":1,"A":1}', b'{"a":1} x', b"null", b"",
     b'{"\xc3\xa9":1}', b'{"x":' + b"1" * 1000 + b"}", b'{"x":' + b"[" * 1000 + b"]" * 1000 + b"}"],
)  # fmt: skip
def test_a_record_that_is_not_plain_is_left_to_sql(record: bytes) -> None:
    batch = split([b'{"a":5}', record, None, b'{"a":6}'], a="INT")
    assert batch.to_pydict() == {"value": [None, record, None, None], "_plain0": [5, None, None, 6]}


def test_names_that_are_data() -> None:
    """The memory of names is limited."""
    records: list[bytes | None] = [json.dumps({f"k{number}": 1, "a": number}).encode() for number in range(2500)]
    assert split(records, a="INT")["_plain0"].to_pylist() == [*range(2500)]


@pytest.mark.parametrize("kind", ["float", "decimal(10,2)", "array<int>", "map<string,int>", "struct<a:int>"])
def test_tables_that_only_sql_reads(kind: Any) -> None:
    assert not has_plain_values(table_of({"a": "int", "b": kind}))
