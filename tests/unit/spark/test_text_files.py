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
from hivedruid.errors import ExecutionError
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
