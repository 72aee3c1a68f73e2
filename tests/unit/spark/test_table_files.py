"""Files of managed tables: read without Spark, and rewritten by COMPACT, without a change of any row."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid.actions.statistics.files import iceberg_with_columns
from hivedruid.actions.statistics.footers import FooterReader
from hivedruid.catalog.footers import ColumnFacts, FileFacts, FooterStore
from hivedruid.errors import HiveDruidError, UnsupportedError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.files import TableFiles
from hivedruid.operations.store import Operations
from hivedruid.session import Session
from hivedruid.spark.procedures import ConflictError
from hivedruid.spark.session import job

pytestmark = pytest.mark.spark

Rows = list[tuple[Any, ...]]


def run(session: Session, text: str) -> Rows:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


class Opened(Session):
    """A session with its notes and informational lines."""

    def __init__(self, home: Path, hiveconf: Mapping[str, str] | None = None) -> None:
        self.lines: list[str] = []
        super().__init__(home, hiveconf=hiveconf, note=self.lines.append, info=self.lines.append)

    def __enter__(self) -> Opened:
        return self


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Opened]:
    with Opened(tmp_path) as opened:
        yield opened


def name_of(session: Session, table: str = "t") -> str:
    """The table in Iceberg's catalog, for what other programs do with it."""
    return f"hivedruid.tables.`{session.catalog.get('default', table).table_id}`"


def spark(session: Session, text: str) -> Rows:
    """A statement of Spark, as another program would run it; {t} is the table."""
    with job({}, session.home, libraries=True) as running:
        return [tuple(row) for row in running.spark.sql(text.format(t=name_of(session))).collect()]


def files(session: Session, table: str = "t") -> TableFiles:
    return home_catalog.files(session.home, session.catalog.get("default", table).table_id)


def three_files(session: Session) -> Rows:
    """Three files, with a deleted row; the rows that are left."""
    run(
        session,
        "CREATE TABLE t (a int, s string, at timestamp); INSERT INTO t VALUES (0, 'first', '2024-01-01 00:00:00')",
    )
    for n in (1, 2):
        rows = f"({n}, 's{n}', TIMESTAMP_NTZ '2024-01-0{n} 01:00:00'), ({n + 10}, NULL, NULL)"
        spark(session, f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")
    spark(session, "ALTER TABLE {t} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    spark(session, "DELETE FROM {t} WHERE a = 11")
    return sorted(run(session, "SELECT * FROM t"), key=repr)


def test_files_are_read_as_spark_reads_them(session: Opened) -> None:
    three_files(session)
    read = files(session)
    query = "SELECT file_path, record_count, file_size_in_bytes, lower_bounds, null_value_counts FROM {t}.%s"
    for kind, found in ("data_files", read.data), ("delete_files", read.deletes):
        expected = spark(session, query % kind)
        shown = [(f.path, f.rows, f.size, dict(f.lower), dict(f.nulls)) for f in found]
        assert sorted(shown) == sorted(
            (path, rows, size, {k: bytes(v) for k, v in (lower or {}).items()}, nulls or {})
            for path, rows, size, lower, nulls in expected
        )
    assert (len(read.data), len(read.deletes)) == (3, 1)


def figures(session: Session, query: str) -> list[str]:
    text = "\n".join(line for (line,) in run(session, f"EXPLAIN EXTENDED {query}"))
    return [line.strip() for line in text.partition("\nFigures:\n")[2].split("\n") if line]


def test_columns_have_the_bounds_of_the_manifests(session: Opened) -> None:
    three_files(session)
    assert figures(session, "SELECT * FROM t") == [
        "default.t: 5 rows (Iceberg snapshot)",  # the deleted one is in a file
        "a 0 to 12, s 2 nulls, at 2024-01-01 to 2024-01-02 01:00:00 and 2 nulls (Iceberg snapshot)",
    ]
    types = {
        "t": ("tinyint", "7", "-3"), "n": ("bigint", "9007199254740993", "-1"), "c": ("decimal(20,3)", "-12.345", "1.5"),
        "f": ("float", "0.5", "-1.5"), "d": ("double", "2.5", "1e300"), "day": ("date", "'1969-12-31'", "'2024-02-29'"),
        "z": ("timestamp with local time zone", "'2024-01-01 00:00:00'", "'2024-01-02 00:00:00'"),
        "b": ("boolean", "true", "false"), "st": ("struct<x:int>", "named_struct('x', 1)", "named_struct('x', 2)"),
    }  # fmt: skip
    run(session, f"CREATE TABLE types ({', '.join(f'{name} {type_}' for name, (type_, *_) in types.items())})")
    for row in (1, 2):
        values = ", ".join(
            f"CAST({each[row]} AS {each[0]})" if "<" not in each[0] else each[row] for each in types.values()
        )
        run(session, f"INSERT INTO types SELECT {values}")
    assert figures(session, "SELECT * FROM types") == [
        "default.types: 2 rows (Iceberg snapshot)",
        "t -3 to 7, n -1 to 9007199254740993, c -12.345 to 1.500, f -1.5 to 0.5, d 2.5 to 1e+300, day 1969-12-31 to 2024-02-29,"
        " z 2024-01-01 to 2024-01-02 (Iceberg snapshot)",
    ]
    run(session, "ALTER TABLE t COMPACT 'major'")
    assert figures(session, "SELECT a FROM t") == [
        "default.t: 4 rows (Iceberg snapshot)",
        "a 0 to 12 (Iceberg snapshot)",
    ]


def test_manifests_are_read_once(session: Opened) -> None:
    three_files(session)
    table = session.catalog.get("default", "t")
    store = FooterStore(session.catalog)

    def opened() -> tuple[int, int]:
        reader = FooterReader(store)
        found = iceberg_with_columns(table, session.home, reader)
        assert found is not None
        return reader.opened, len(found.columns)

    assert [opened(), opened()] == [(3, 3), (0, 3)]
    run(session, "INSERT INTO t VALUES (5, 's', NULL)")
    assert [opened(), opened()] == [(1, 3), (0, 3)]
    run(session, "DROP TABLE t")
    assert store.known(table.table_id) == set()


@pytest.mark.parametrize("rows", [0, 3, 1 << 40])
def test_results_do_not_depend_on_statistics(session: Opened, tmp_path: Path, rows: int) -> None:
    """With wrong numbers of rows and wrong bounds in the catalog."""
    (tmp_path / "p").mkdir()
    parquet.write_table(pa.table({"k": [1, 2, 3, None], "s": ["a", "b", "c", "d"]}), tmp_path / "p" / "a")
    run(session, f"CREATE EXTERNAL TABLE p (k bigint, s string) STORED AS PARQUET LOCATION '{tmp_path / 'p'}'")
    run(
        session,
        "CREATE EXTERNAL TABLE d (`__time` timestamp, c bigint) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false')",
    )
    run(
        session,
        "INSERT INTO d SELECT TIMESTAMP '2024-01-01 00:00:00', pos % 5 FROM (SELECT posexplode(split(space(199), ' ')) AS (pos, x)) t",
    )
    query = "SELECT p.s, count(*) FROM d JOIN p ON d.c = p.k WHERE p.k <= 2 GROUP BY p.s ORDER BY p.s"
    run(session, f"EXPLAIN {query}")
    table = session.catalog.get("default", "p")
    (file,) = FooterStore(session.catalog).known(table.location or "")
    wrong = FileFacts(rows, {"k": ColumnFacts(0, "integer", "100", "200")})
    FooterStore(session.catalog).keep(table.location or "", {file: wrong})
    session.catalog.connection.execute("DELETE FROM file_statistics")
    assert f"default.p: {rows:,} rows (footers of 1 file)" in figures(session, query)
    assert run(session, query) == [("a", 40), ("b", 40)]


def test_minor_merges_small_files(session: Opened) -> None:
    rows = three_files(session)
    statement = "ALTER TABLE t COMPACT 'minor' AND WAIT"
    explained = [line.strip() for (line,) in run(session, f"EXPLAIN {statement}")]
    total = sum(file.size for file in files(session).data)
    assert f"files: 3 ({total} bytes)" in explained
    assert f"files to rewrite: 3 ({total} bytes)" in explained
    assert run(session, statement) == []
    assert session.lines[-1].startswith(f"default.t: 3 files ({total} bytes) rewritten as 1 file")
    assert len(files(session).data) == 1
    assert sorted(run(session, "SELECT * FROM t"), key=repr) == rows
    assert run(session, statement) == []
    assert session.lines[-1] == "default.t: nothing to compact"
    shown = run(session, "SHOW COMPACTIONS FOR t")
    assert [(row[0], row[1], row[2], row[8]) for row in shown] == [
        ("default.t", "minor", "SUCCESS", "0 file(s), 0 bytes"),
        ("default.t", "minor", "SUCCESS", f"3 file(s), {total} bytes"),
    ]
    assert run(session, "SHOW COMPACTIONS") == shown


def test_major_applies_deletes(session: Opened) -> None:
    rows = three_files(session)
    run(session, "ALTER TABLE t COMPACT 'major'")
    read = files(session)
    assert (len(read.data), len(read.deletes)) == (1, 0)
    assert read.data[0].rows == len(rows) == 4
    assert sorted(run(session, "SELECT * FROM t"), key=repr) == rows


def test_a_table_without_rows(session: Opened) -> None:
    run(session, "CREATE TABLE t (a int); ALTER TABLE t COMPACT 'major'")
    assert session.lines == ["default.t: nothing to compact"]
    assert files(session) == TableFiles()


def test_what_is_refused(session: Opened) -> None:
    run(session, "CREATE TABLE t (a int)")
    with pytest.raises(UnsupportedError, match="the files of a managed table are in no buckets"):
        run(session, "ALTER TABLE t COMPACT 'rebalance'")
    with pytest.raises(HiveDruidError, match="'minr' is not a valid compaction type") as raised:
        run(session, "ALTER TABLE t COMPACT 'minr'")
    assert raised.value.hint == "did you mean 'minor'?"
    with pytest.raises(UnsupportedError, match=r"default\.t is a managed table: it has no segments"):
        run(session, "SHOW SEGMENTS FOR t")


KILLED = """
import sys
from pathlib import Path
from hivedruid.session import Session
from hivedruid.spark import compaction

def killed(*arguments):
    print("called", flush=True)
    return original(*arguments)

original, compaction.call = compaction.call, killed
with Session(Path(sys.argv[1])) as session:
    for statement in session.statements("ALTER TABLE t COMPACT 'major'"):
        session.execute(statement)
"""


def test_killed_at_any_step(session: Opened) -> None:
    """The process is killed before each of the three procedures, which may still run in the server. RESUME JOB runs the
    compaction again."""
    rows = three_files(session)
    for step in range(1, 4):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(session.home)], stdout=subprocess.PIPE, text=True, env=os.environ
        )
        assert process.stdout is not None
        for _ in range(step):
            assert process.stdout.readline() == "called\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert sorted(run(session, "SELECT * FROM t"), key=repr) == rows
        (interrupted,) = Operations(session.catalog).unfinished()
        assert run(session, "SHOW COMPACTIONS")[0][2] == "INTERRUPTED"
        run(session, f"RESUME JOB '{interrupted.id}'")
        assert not Operations(session.catalog).unfinished()
        assert sorted(run(session, "SELECT * FROM t"), key=repr) == rows
        assert not files(session).deletes


WRITER = """
import sys
from pathlib import Path
from hivedruid.session import Session
from tests.unit.spark.test_table_files import delete, run

with Session(Path(sys.argv[1])) as session:
    for n in range(100, 105):
        run(session, f"INSERT INTO t VALUES ({n}, 'late', NULL)")
        delete(session, f"a = {n - 1}")
"""


def delete(session: Session, condition: str) -> None:
    """A DELETE of another program, which begins again if the file of its rows was replaced before it committed.

    Iceberg refuses such a commit: the file is missing, or holds other rows, too.
    """
    while True:
        try:
            spark(session, f"DELETE FROM {{t}} WHERE {condition}")
        except Exception as error:
            if not any(reason in str(error) for reason in ("some, but not all, rows match", "missing data files")):
                raise
        else:
            return


def test_beside_other_writers(session: Opened) -> None:
    """INSERT and DELETE of another process while the files are rewritten: every row is there once."""
    three_files(session)
    with subprocess.Popen([sys.executable, "-c", WRITER, str(session.home)]) as writer:
        while writer.poll() is None:
            with suppress(ConflictError):  # on a busy machine the other process may be faster at every attempt
                run(session, "ALTER TABLE t COMPACT 'major'")
    assert writer.returncode == 0
    assert sorted(run(session, "SELECT a FROM t")) == [(0,), (1,), (2,), (12,), (104,)]
