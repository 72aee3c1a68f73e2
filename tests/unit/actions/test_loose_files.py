"""Files without a table in a session: their folders, changes, copies and errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import hivedruid
from hivedruid.errors import HiveDruidError
from hivedruid.session import Session
from tests.support import avro


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def session(tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    with Session(tmp_path / "home", note=notes.append) as session:
        yield session


def rows(session: Session, sql: str, file: str | None = None) -> list[Any]:
    return [row for statement in session.statements(sql, file) for row in session.execute(statement).rows]


def refusal(session: Session, sql: str) -> HiveDruidError:
    with pytest.raises(HiveDruidError) as caught:
        rows(session, sql)
    return caught.value


def copies(session: Session) -> list[Path]:
    return list((session.home / "scratch").glob("*/rows/rows.parquet"))


def test_a_file_is_copied_once_and_noted_once(session: Session, notes: list[str]) -> None:
    Path("a.csv").write_text("id,name\n1,x\n")
    for _ in range(3):
        assert rows(session, "SELECT a.id, name FROM 'a.csv'") == [(1, "x")]
    assert notes == ["'a.csv' is read as (id bigint, name string); DESCRIBE 'a.csv' prints its CREATE TABLE"]
    assert len(copies(session)) == 1


def test_a_changed_file_is_read_again(session: Session) -> None:
    Path("a.csv").write_text("id,name\n1,x\n")
    assert rows(session, "SELECT * FROM 'a.csv'") == [(1, "x")]
    Path("a.csv").write_text("id,name\n1,x\nb,y\n")
    assert rows(session, "SELECT * FROM 'a.csv'") == [("1", "x"), ("b", "y")]


def test_copies_end_with_the_session_and_files_in_place_do_not(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    for name in ("b", "c"):
        parquet.write_table(pa.table({"id": [1]}), tmp_path / f"{name}.parquet")
    with Session(tmp_path / "home") as session:
        for name in ("a.csv", "b.parquet", "*.parquet"):
            assert rows(session, f"SELECT max(id) FROM '{tmp_path}/{name}'") == [(1,)]
        assert copies(session)
    assert not list((tmp_path / "home" / "scratch").iterdir())
    assert {each.name for each in tmp_path.iterdir()} >= {"a.csv", "b.parquet", "c.parquet"}


def test_a_relative_path_starts_from_the_folder_of_the_script(session: Session, tmp_path: Path) -> None:
    Path("a.csv").write_text("id\n1\n")
    (tmp_path / "a.csv").write_text("id\n2\n")
    assert rows(session, "SELECT id FROM 'a.csv'") == [(1,)]
    assert rows(session, "SELECT id FROM 'a.csv'", str(tmp_path / "script.q")) == [(2,)]
    statement = rows(session, "DESCRIBE 'a.csv'", str(tmp_path / "script.q"))
    assert any(f"'{tmp_path}/a.csv'" in line for (line,) in statement)


def test_two_files_whose_names_differ_in_case(session: Session) -> None:
    Path("a.csv").write_text("id\n1\n")
    Path("A.csv").write_text("id\n2\n")
    assert rows(session, "SELECT x.id, y.id FROM 'a.csv' x, 'A.csv' y") == [(1, 2)]


def test_the_printed_statement_creates_a_table_that_can_be_described(session: Session) -> None:
    Path("a.csv").write_text("id;when\n1;2024-05-01 10:00:00\n")
    statement = "\n".join(line for (line,) in rows(session, "DESCRIBE 'a.csv'"))
    rows(session, statement)
    assert [row[:2] for row in rows(session, "DESCRIBE a")] == [("id", "bigint"), ("when", "timestamp")]


def of_fields(*records: bytes, **fields: Any) -> bytes:
    """An Avro file with records that have fields of these types."""
    named = [{"name": name, "type": type_} for name, type_ in fields.items()]
    return avro.container({"type": "record", "name": "n", "fields": named}, *records)


AVRO = {
    "Id": ("long", "bigint"), "name": (["null", "string"], "string"), "kind": ({"type": "enum", "name": "k", "symbols": ["a"]}, "string"),
    "at": ({"type": "long", "logicalType": "timestamp-millis"}, "timestamp"),
    "micros": ({"type": "long", "logicalType": "timestamp-micros"}, "bigint"),
    "price": ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "decimal(9,2)"),
    "who": ({"type": "record", "name": "p", "fields": [{"name": "City", "type": "string"}]}, "struct<city:string>"),
}  # fmt: skip


def test_an_avro_file_has_the_columns_of_its_schema(session: Session, notes: list[str]) -> None:
    """The printed statement, too, which has the schema."""
    Path("orders.avro").write_bytes(of_fields(**{name: schema for name, (schema, _) in AVRO.items()}))
    columns = [(name.lower(), type_) for name, (_, type_) in AVRO.items()]
    rows(session, "EXPLAIN SELECT * FROM 'orders.avro'")
    listed = ", ".join(map(" ".join, columns))
    assert notes == [f"'orders.avro' is read as ({listed}); DESCRIBE 'orders.avro' prints its CREATE TABLE"]
    rows(session, "\n".join(line for (line,) in rows(session, "DESCRIBE 'orders.avro'")))
    assert [row[:2] for row in rows(session, "DESCRIBE orders")] == columns


@pytest.mark.parametrize(
    ("type_", "message"), [("long", "has other columns than a.avro"), ({"type": "int"}, "has another schema")]
)
def test_avro_files_of_a_pattern_have_one_schema(session: Session, type_: Any, message: str) -> None:
    Path("a.avro").write_bytes(of_fields(id="int"))
    Path("b.avro").write_bytes(of_fields(id=type_))
    assert message in refusal(session, "SELECT * FROM '*.avro'").message


def test_the_python_api(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1, "at": "2024-05-01T10:00:00Z"}\n')
    with hivedruid.connect(str(tmp_path / "home")) as connection:
        result = connection.sql(f"SELECT id, year(at) FROM '{tmp_path}/a.jsonl' WHERE id = ?", [1])
        assert result.fetchall() == [(1, 2024)]


def _unreadable(path: Path) -> None:
    path.write_text("id\n1\n")
    path.chmod(0)


@pytest.mark.parametrize(
    ("path", "make", "message", "hint"),
    [
        ("orders.csv", lambda path: path.with_name("oders.csv").write_text("x"), "no such file", "mean 'oders.csv'"),
        ("none/a.csv", lambda path: None, "no such file", "none does not exist"),
        ("a", Path.mkdir, "it is a folder", "'folder/*.csv'"),
        ("a.txt", lambda path: path.write_text("x"), "its ending '.txt'", "the endings are .csv"),
        ("a.parquet.gz", lambda path: path.write_text("x"), "its ending '.gz'", "the endings are .csv"),
        ("a.csv", Path.touch, "it is empty", "check the file"),
        ("a.csv.gz", lambda path: path.write_text("x"), "Not a gzipped file", "check the file"),
        ("a.orc", lambda path: path.write_text("x"), "", "check that it is ORC"),
        ("a.avro", lambda path: path.write_text("x"), "not an Avro file", "check that it is AVRO"),
        (
            "a.avro",
            lambda path: path.write_bytes(avro.container("int")),
            "it is not a record",
            "STORED AS AVRO LOCATION",
        ),
        (
            "a.avro",
            lambda path: path.write_bytes(of_fields(next=["null", "n"])),
            "contains it",
            "STORED AS AVRO LOCATION",
        ),
        (
            "a.avro",
            lambda path: path.write_bytes(of_fields(a="int", A="int")),
            "two columns with the name a",
            "STORED AS",
        ),
        ("a.avro.gz", lambda path: path.write_text("x"), "its ending '.gz'", "the endings are .csv"),
        ("t", lambda path: None, "no such file", "remove the quotes to read the table: FROM t"),
        ("default.t", lambda path: None, "no such file", "remove the quotes"),
    ],
)
def test_an_error_is_at_the_string(
    session: Session, path: str, make: Callable[[Path], object], message: str, hint: str
) -> None:
    rows(session, "CREATE TABLE t (id INT)")
    make(Path(path))
    error = refusal(session, f"SELECT *\nFROM '{path}'")
    assert error.message.startswith(f"cannot read '{path}': ")
    assert message in error.message
    assert hint in (error.hint or "")
    assert error.span is not None
    assert (error.span.line, error.span.column) == (2, 6)


def test_a_backquoted_name_is_that_of_a_table(session: Session) -> None:
    Path("a.csv").write_text("id\n1\n")
    assert "Table not found" in refusal(session, "SELECT * FROM `a.csv`").message


def test_files_of_another_machine(session: Session) -> None:
    Path("a.csv").write_text("id\n1\n")
    rows(session, "SET spark.remote=sc://elsewhere:15002")
    assert "does not read the files of this machine" in refusal(session, "SELECT * FROM 'a.csv'").message


def test_many_rows_are_left_to_spark(session: Session) -> None:
    Path("a.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(20)))
    rows(session, "SET hivedruid.local.evaluation.max.rows=0")
    plan = "\n".join(line for (line,) in rows(session, "EXPLAIN SELECT sum(id) FROM 'a.csv'"))
    assert "Spark Operator" in plan
    assert os.fspath(session.home) not in plan
