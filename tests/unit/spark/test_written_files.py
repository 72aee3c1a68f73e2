"""Text files as Hive 4.0.1 writes them: `tests/hive/written_files.jsonl` has rows, the clauses of tables and directories,
and the records that Hive wrote (as Latin-1). SequenceFiles and compressed files, which are read again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hivedruid.errors import UnsupportedError
from hivedruid.sequence_files import texts
from hivedruid.session import Session

FILE = Path(__file__).parents[2] / "hive" / "written_files.jsonl"
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
SOURCES = {case["source"]: case for case in CASES if "rows" in case}
TABLES = [case for case in CASES if "table" in case]
DIRECTORIES = [case for case in CASES if "directory" in case]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Session(tmp_path_factory.mktemp("home"), hiveconf={"hive.local.time.zone": "UTC"}) as session:
        yield session


def run(session: Session, text: str) -> list[tuple[Any, ...]]:
    (statement,) = session.statements(text)
    return list(session.execute(statement).rows)


def content(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def check(found: bytes, records: list[str]) -> None:
    """The records in any order."""
    expected = [record.encode("latin-1") for record in records]
    assert all(record in found for record in expected), found
    assert len(found) == sum(map(len, expected))


@pytest.mark.parametrize("source", SOURCES)
def test_tables_have_the_bytes_of_hive(session: Session, tmp_path: Path, source: str) -> None:
    tables = [table for table in TABLES if table["source"] == source]
    rows = " UNION ALL ".join(SOURCES[source]["rows"])
    for table in tables:
        columns = SOURCES[source]["columns"]
        folder = tmp_path / table["table"]
        run(session, f"CREATE EXTERNAL TABLE {table['table']} ({columns}) {table['clauses']} LOCATION '{folder}'")
    run(session, f"FROM ({rows}) r " + " ".join(f"INSERT INTO {table['table']} SELECT *" for table in tables))
    for table in tables:
        check(content(tmp_path / table["table"]), table["records"])


@pytest.mark.parametrize("case", DIRECTORIES, ids=lambda case: case["directory"])
def test_directories_have_the_bytes_of_hive(session: Session, tmp_path: Path, case: dict[str, Any]) -> None:
    run(session, f"INSERT OVERWRITE LOCAL DIRECTORY '{tmp_path / 'd'}' {case['clauses']} {case['query']}")
    check(content(tmp_path / "d"), case["records"])


def test_the_second_of_two_equal_hours_is_in_utc(session: Session, tmp_path: Path) -> None:
    run(session, "SET hive.local.time.zone=America/New_York")
    try:
        columns = "t TIMESTAMP WITH LOCAL TIME ZONE"
        run(session, f"CREATE EXTERNAL TABLE hours ({columns}) LOCATION '{tmp_path}'")
        times = ("2024-11-03 05:30:00 UTC", "2024-11-03 06:30:00 UTC")
        values = ", ".join(f"(CAST('{time}' AS TIMESTAMP WITH LOCAL TIME ZONE))" for time in times)
        run(session, f"INSERT INTO hours VALUES {values}")
        check(content(tmp_path), ["2024-11-03 01:30:00.0 America/New_York\n", "2024-11-03 06:30:00.0 UTC\n"])
        seconds = run(session, "SELECT to_epoch_milli(t) FROM hours ORDER BY t")
    finally:
        run(session, "SET hive.local.time.zone=UTC")
    assert [milliseconds for (milliseconds,) in seconds] == [1730611800000, 1730615400000]


@pytest.mark.parametrize(("codec", "kind"), [("", ""), ("Gzip", "BLOCK")])
def test_sequence_files_are_written(session: Session, tmp_path: Path, codec: str, kind: str) -> None:
    name, package = f"packed_{codec or 'plain'}", "org.apache.hadoop.io.compress"
    run(session, f"SET hive.exec.compress.output={'true' if codec else 'false'}")
    run(session, f"SET mapreduce.output.fileoutputformat.compress.codec={package}.{codec}Codec")
    run(session, f"SET mapred.output.compression.type={kind}")
    try:
        run(
            session,
            f"CREATE EXTERNAL TABLE {name} (id INT, s STRING) PARTITIONED BY (k STRING) STORED AS SEQUENCEFILE"
            f" LOCATION '{tmp_path}'",
        )
        rows = f"VALUES (1, 'one', 'a:b'), (2, NULL, 'a:b'), (3, '{'ö' * 200}', NULL)"
        run(session, f"INSERT INTO {name} PARTITION (k) {rows}")
        run(session, f"INSERT OVERWRITE TABLE {name} PARTITION (k = 'x') SELECT 4, ''")
    finally:
        run(session, "SET hive.exec.compress.output=false")
    found = run(session, f"SELECT k, id, s FROM {name} ORDER BY id")
    null = "__HIVE_DEFAULT_PARTITION__"
    assert found == [("a:b", 1, "one"), ("a:b", 2, None), (null, 3, "ö" * 200), ("x", 4, "")]
    (file,) = (tmp_path / "k=x").iterdir()
    with file.open("rb") as opened:
        assert list(texts(opened)) == [b"4\x01"]


def test_text_is_compressed_by_the_settings_of_hadoop(session: Session, tmp_path: Path) -> None:
    run(session, f"CREATE EXTERNAL TABLE zipped (a INT) LOCATION '{tmp_path / 't'}'")
    run(session, "SET hive.exec.compress.output=true")
    try:
        run(session, "SET mapreduce.output.fileoutputformat.compress.codec=com.hadoop.compression.lzo.LzopCodec")
        with pytest.raises(UnsupportedError, match=r"the compression com\.hadoop\.compression\.lzo\.LzopCodec of map"):
            run(session, "INSERT INTO zipped VALUES (1)")
        run(session, "SET mapreduce.output.fileoutputformat.compress.codec=org.apache.hadoop.io.compress.GzipCodec")
        run(session, "INSERT INTO zipped VALUES (1)")
        run(session, f"INSERT OVERWRITE LOCAL DIRECTORY '{tmp_path / 'd'}' SELECT 2")
    finally:
        run(session, "SET hive.exec.compress.output=false")
    (file,) = (tmp_path / "t").iterdir()
    assert (file.suffix, gzip.decompress(file.read_bytes())) == (".gz", b"1\n")
    assert {f.name: gzip.decompress(f.read_bytes()) for f in (tmp_path / "d").iterdir()} == {"000000_0.gz": b"2\n"}
    assert run(session, "SELECT a FROM zipped") == [(1,)]
