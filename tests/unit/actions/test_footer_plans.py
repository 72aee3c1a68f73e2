"""Plans that footers change, without ANALYZE TABLE."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from hivedruid.catalog.footers import FooterStore
from hivedruid.session import Session
from tests.support import loads
from tests.unit.embedded.conftest import index_task

KEYS = "only rows whose c is among at most 10000 keys of:"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    rows = [{"__time": 1_704_067_200_000 + number, "c": number % 40, "n": number} for number in range(200)]
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "rows.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with Session(tmp_path / "home") as opened:
        loads.ingest(opened.store, index_task("d", tmp_path / "rows", {"c": "long", "n": "long"}))
        execute(opened, "CREATE EXTERNAL TABLE big STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'd')")
        for name in ("parquet", "orc", "textfile"):
            (tmp_path / name).mkdir()
            columns = "(k bigint, name string, day date)"
            execute(opened, f"CREATE EXTERNAL TABLE {name}_t {columns} STORED AS {name} LOCATION '{tmp_path / name}'")
        small = pa.table(
            {"k": [1, 2, 3], "name": ["x", "y", None], "day": pa.array([19_723, 19_724, 19_730], pa.date32())}
        )
        parquet.write_table(small, tmp_path / "parquet" / "a")
        orc.write_table(small, tmp_path / "orc" / "a")
        (tmp_path / "textfile" / "a").write_text("1\x01x\n", encoding="utf-8")
        yield opened


def execute(session: Session, text: str) -> str:
    return "\n".join(str(row[0]) for one in session.statements(text) for row in session.execute(one).rows)


def explained(session: Session, table: str, where: str = "") -> str:
    sql = f"EXPLAIN EXTENDED SELECT b.n, s.name FROM big b JOIN {table} s ON b.c = s.k {where}"
    return execute(session, sql)


@pytest.mark.parametrize(("table", "is_narrowed"), [("parquet_t", True), ("orc_t", True), ("textfile_t", False)])
def test_a_small_table_of_files_narrows_a_big_one(session: Session, table: str, is_narrowed: bool) -> None:
    assert (KEYS in explained(session, table)) == is_narrowed


def test_the_range_of_a_column_decides_too(session: Session, tmp_path: Path) -> None:
    """The keys of a hundred days are too many for 200 rows, those of ten days are not."""
    (tmp_path / "parquet" / "a").unlink()
    days = pa.array(range(19_723, 19_823), pa.date32())
    parquet.write_table(pa.table({"k": range(100), "name": ["x"] * 100, "day": days}), tmp_path / "parquet" / "b")
    assert KEYS not in explained(session, "parquet_t")
    assert KEYS not in explained(session, "parquet_t", "WHERE s.day < '2024-02-20'")
    assert KEYS in explained(session, "parquet_t", "WHERE s.day < '2024-01-11'")
    assert KEYS in explained(session, "parquet_t", "WHERE s.day > '2030-01-01'")


def figures(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[lines.index("Figures:") + 1 : lines.index("", lines.index("Figures:"))]


def test_figures_have_sources(session: Session, tmp_path: Path) -> None:
    text = execute(session, "EXPLAIN EXTENDED SELECT s.k, s.name, s.day FROM parquet_t s")
    assert figures(f"{text}\n") == [
        "  default.parquet_t: 3 rows (footers of 1 file)",
        "    k 1 to 3, name 1 null, day 2024-01-01 to 2024-01-08 (footers of 1 file)",
    ]
    assert figures(execute(session, "EXPLAIN EXTENDED SELECT k FROM orc_t") + "\n") == [
        "  default.orc_t: 3 rows (footers of 1 file)"
    ]
    (tmp_path / "parquet" / "b").write_bytes(b"damaged")
    assert figures(execute(session, "EXPLAIN EXTENDED SELECT k FROM parquet_t") + "\n") == [
        "  default.parquet_t: rows unknown"
    ]


def test_a_statement_over_one_table_reads_no_footers(session: Session) -> None:
    execute(session, "EXPLAIN SELECT k FROM parquet_t")
    place = session.catalog.get("default", "parquet_t").location
    assert place
    assert not FooterStore(session.catalog).known(place)
    explained(session, "parquet_t")
    assert len(FooterStore(session.catalog).known(place)) == 1
