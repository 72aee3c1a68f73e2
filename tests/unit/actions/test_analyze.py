"""ANALYZE TABLE, and its results in EXPLAIN EXTENDED, on the embedded store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.actions.statistics.files import home_iceberg, stored_files
from hivedruid.catalog.statistics import ColumnStatistics, StatisticsStore, TableStatistics
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.session import Session
from tests.support import loads
from tests.unit.embedded.conftest import index_task

DAY = 86_400_000
START = 1_704_067_200_000  # 2024-01-01
ROWS: list[dict[str, object]] = [
    {"__time": START, "c": "a", "n": 1, "m": ["x", "y"]},
    {"__time": START + DAY, "c": "b", "n": 2, "m": "x"},
    {"__time": START + DAY, "n": 2},
]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(
        tmp_path / "home", hiveconf={"hivedruid.now": "2024-05-06 07:08:09", "hive.local.time.zone": "UTC"}
    ) as made:
        ingest(made, tmp_path / "rows", ROWS)
        run(made, "CREATE EXTERNAL TABLE t STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'd')")
        yield made


def ingest(session: Session, folder: Path, rows: list[dict[str, object]], *, append: bool = False) -> None:
    folder.mkdir()
    (folder / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    loads.ingest(session.store, index_task("d", folder, {"c": "string", "n": "long", "m": "string"}, append=append))


def run(session: Session, text: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for statement in session.statements(text):
        rows = list(session.execute(statement).rows)
    return rows


def figures(session: Session, query: str) -> list[str]:
    lines = [str(line) for (line,) in run(session, f"EXPLAIN EXTENDED {query}")]
    text = "\n".join(lines).split("\n")
    return text[text.index("Figures:") + 1 : text.index("", text.index("Figures:"))]


def known(session: Session) -> TableStatistics | None:
    return StatisticsStore(session.catalog).find("embedded:", "d")


def test_rows_are_known_without_being_asked_for(session: Session) -> None:
    assert figures(session, "SELECT c FROM t") == [
        "  default.t: 3 rows, 2024-01-01 to 2024-01-03 (segments)",
        "  native query of default.t: about 3 rows",
    ]
    assert known(session) is None


def test_values_are_counted_when_asked_for(session: Session) -> None:
    run(session, "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS")
    found = known(session)
    assert found is not None
    assert (found.rows, found.start, found.end) == (3, START, START + 2 * DAY)
    assert found.columns["c"] == ColumnStatistics(3, True, False, "a", "b")
    assert found.columns["n"] == ColumnStatistics(2, False, False, "1", "2")
    assert found.columns["m"] == ColumnStatistics(3, True, True, "x", "y")
    assert figures(session, "SELECT c, count(*) FROM t GROUP BY c")[1:] == [
        "    c 3 values (analysed 2024-05-06T07:08:09+00:00)",
        "  native query of default.t: about 3 rows",
    ]


def test_columns_that_were_not_named_stay_known_while_the_table_is_the_same(session: Session, tmp_path: Path) -> None:
    run(session, "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS c; ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS n")
    assert set(known(session).columns) == {"c", "n"}  # type: ignore[union-attr]
    run(session, "ANALYZE TABLE t COMPUTE STATISTICS")
    assert set(known(session).columns) == {"c", "n"}  # type: ignore[union-attr]
    ingest(session, tmp_path / "more", [{"__time": START, "c": "z", "n": 9}], append=True)
    assert "changed since" in "".join(figures(session, "SELECT c FROM t"))
    run(session, "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS c")
    assert set(known(session).columns) == {"c"}  # type: ignore[union-attr]
    assert known(session).rows == 4  # type: ignore[union-attr]


def test_a_data_source_without_rows_has_none(session: Session) -> None:
    run(session, "CREATE TABLE e (`__time` timestamp, c string) STORED BY 'druid'")
    run(session, "ANALYZE TABLE e COMPUTE STATISTICS FOR COLUMNS")
    assert StatisticsStore(session.catalog).find("embedded:", "default.e") == TableStatistics(
        0, taken_at="2024-05-06T07:08:09+00:00"
    )


@pytest.mark.parametrize(
    ("statement", "error", "message"),
    [
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS cc", SemanticError, "column 'cc' not found"),
        ("ANALYZE TABLE nope COMPUTE STATISTICS", SemanticError, "Table not found nope"),
        ("CREATE VIEW v AS SELECT 1 a; ANALYZE TABLE v COMPUTE STATISTICS", SemanticError, "is a view"),
        (
            "CREATE EXTERNAL TABLE k (a int) STORED BY 'kafka' TBLPROPERTIES ('kafka.topic' = 'x', 'kafka.bootstrap.servers' = 'h:1');"
            "ANALYZE TABLE k COMPUTE STATISTICS",
            UnsupportedError,
            "a Kafka topic",
        ),
    ],
)
def test_what_has_no_statistics_is_refused(
    session: Session, statement: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(session, statement)


def test_explain_says_what_would_be_computed(session: Session) -> None:
    rows = run(session, "EXPLAIN ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS n")
    assert "columns: n" in "\n".join(str(line) for (line,) in rows)
    assert known(session) is None


def test_the_side_of_a_join_that_travels_is_told_with_its_rows(session: Session) -> None:
    rows = run(session, "EXPLAIN EXTENDED SELECT a.n FROM t a JOIN t b ON a.n = b.n")
    text = "\n".join(str(line) for (line,) in rows)
    assert "  join: the side of default.t is inlined into the native query, about 3 rows (at most 50,000)" in text
    run(session, "SET hivedruid.join.max.rows=2")
    rows = run(session, "EXPLAIN EXTENDED SELECT a.n FROM t a JOIN t b ON a.n = b.n")
    text = "\n".join(str(line) for (line,) in rows)
    assert "  Join: the smaller side has about 3 rows, more than the limit of 2 (hivedruid.join.max.rows)" in text


def test_files_are_weighed_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "_hidden").mkdir()
    (tmp_path / "a.csv").write_text("1\n2\n", encoding="utf-8")
    (tmp_path / ".crc").write_text("x", encoding="utf-8")
    (tmp_path / "_hidden" / "b.csv").write_text("x", encoding="utf-8")
    table = Table("default", "f", "files", (Column("a", STRING),), True, location=f"file://{tmp_path}")
    found = stored_files(table)
    assert found is not None
    assert (found.rows, found.bytes) == (None, 4)
    (tmp_path / "b.csv").write_text("3\n", encoding="utf-8")
    later = stored_files(table)
    assert later is not None
    assert later.of != found.of
    elsewhere = Table("default", "f", "files", (Column("a", STRING),), True, location="s3a://bucket/x")
    assert stored_files(elsewhere) is None


def test_the_rows_of_an_iceberg_table_are_in_its_metadata(tmp_path: Path) -> None:
    table = Table("default", "i", "iceberg", (Column("a", STRING),), table_id="abc")
    assert home_iceberg(table, tmp_path) == TableStatistics(0, 0, of="nothing")
    metadata = tmp_path / "warehouse" / "tables" / "abc" / "metadata"
    metadata.mkdir(parents=True)
    (metadata / "version-hint.text").write_text("2", encoding="utf-8")
    snapshots = [
        {"snapshot-id": 6, "summary": {"total-records": "5"}},
        {"snapshot-id": 7, "summary": {"total-records": "9"}},
    ]
    document = {"current-snapshot-id": 7, "snapshots": snapshots}
    (metadata / "v2.metadata.json").write_text(json.dumps(document), encoding="utf-8")
    found = home_iceberg(table, tmp_path)
    assert found is not None
    assert found.rows == 9
