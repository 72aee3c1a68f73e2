"""Text files as Hive 4.0.1 reads them: `tests/hive/text_files.jsonl` has tables, their files (as Latin-1) and Hive's rows.
Doubles, decimals and nested values are in the text that Hive's Thrift server sends."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.types import HiveType
from hivedruid.cells import hive_text
from hivedruid.errors import ExecutionError, SparkError
from hivedruid.session import Session

FILE = Path(__file__).parents[2] / "hive" / "text_files.jsonl"
TABLES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Session(tmp_path_factory.mktemp("home"), hiveconf={"hive.local.time.zone": "UTC"}) as session:
        yield session


def run(session: Session, text: str) -> tuple[list[HiveType], list[tuple[Any, ...]]]:
    (statement,) = session.statements(text)
    result = session.execute(statement)
    return [column.type for column in result.columns], list(result.rows)


@pytest.mark.parametrize("table", TABLES, ids=[table["name"] for table in TABLES])
def test_hive_reads_the_same(session: Session, tmp_path: Path, table: dict[str, Any]) -> None:
    (tmp_path / "data").write_bytes(table["data"].encode("latin-1"))
    run(session, table["ddl"].replace("${data}", str(tmp_path)))
    types, rows = run(session, f"SELECT * FROM {table['name']}")
    found = [[shown(value, kind) for value, kind in zip(row, types, strict=True)] for row in rows]
    assert found == [[expected(value, kind) for value, kind in zip(row, types, strict=True)] for row in table["rows"]]


def shown(value: Any, kind: HiveType) -> Any:
    is_text = value is not None and (kind.children or kind.is_approximate or kind.is_time)
    return hive_text(kind)(value) if is_text else value


def expected(value: Any, kind: HiveType) -> Any:
    if value is not None and kind.name in ("binary", "decimal"):
        return bytes.fromhex(value.removeprefix("0x")) if kind.name == "binary" else Decimal(value)
    return shown(float(value), kind) if value is not None and kind.is_approximate else value


def test_a_regular_expression_needs_a_group_for_each_column(session: Session, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("1\n")
    serde = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.RegexSerDe' WITH SERDEPROPERTIES ('input.regex' = '(.)')"
    run(session, f"CREATE EXTERNAL TABLE two (a STRING, b STRING) {serde} LOCATION '{tmp_path}'")
    with pytest.raises(ExecutionError, match="has 1 groups, but the table has 2 columns"):
        run(session, "SELECT * FROM two")


def test_sequence_files_of_each_compression(session: Session, tmp_path: Path) -> None:
    lines = (FILE.parent / "sequence_files.jsonl").read_text(encoding="utf-8").splitlines()
    files = {each["name"]: each["data"].encode("latin-1") for each in map(json.loads, lines)}
    for name, data in files.items():
        (tmp_path / f"k={name}").mkdir()
        (tmp_path / f"k={name}" / "000000_0").write_bytes(data)
    columns = "id INT, s STRING, d DOUBLE, m DECIMAL(10,2)"
    run(
        session,
        f"CREATE EXTERNAL TABLE packed ({columns}) PARTITIONED BY (k STRING) STORED AS SEQUENCEFILE LOCATION '{tmp_path}'",
    )
    run(session, "MSCK REPAIR TABLE packed")
    rows = [(1, "one", 1.5, Decimal("1.25")), (2, None, None, None), (4, "", 1e300, Decimal("0.00"))]
    _, found = run(session, "SELECT k, id, s, d, m FROM packed ORDER BY k, id")
    assert found == [(name, *row) for name in sorted(files) for row in rows]

    (tmp_path / "k=other").mkdir()
    (tmp_path / "k=other" / "part").write_bytes(files["snappy"].replace(b"SnappyCodec", b"SquashCodec"))
    run(session, "MSCK REPAIR TABLE packed")
    message = "cannot read the SequenceFile file:.*/k=other/part: the compression .*SquashCodec is not supported"
    with pytest.raises(SparkError, match=message):
        run(session, "SELECT count(s) FROM packed WHERE k = 'other'")
    assert run(session, "SELECT count(*) FROM packed WHERE k <> 'other'")[1] == [(24,)]
