"""Managed tables of two homes, as of two machines, whose catalog is on PostgreSQL and whose warehouse is shared."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pytest

from hivedruid.actions.statistics.files import statistics_outside
from hivedruid.errors import UsageError
from hivedruid.iceberg.catalog import check_warehouse, current_metadata, is_own, properties
from hivedruid.iceberg.files import read_files
from hivedruid.manager import maintenance
from hivedruid.session import Session
from tests.support.job_homes import run_script as run
from tests.support.postgres import Postgres

WAREHOUSE = "hivedruid.iceberg.catalog.warehouse"


def look_after(home: Path, settings: dict[str, str], table: str) -> None:
    """What the manager of streams does for a table, until it has removed old snapshots."""
    lines = [f'{key} = "{value}"' for key, value in settings.items()]
    (home / "hivedruid.toml").write_text("\n".join(["[settings]", *lines]))
    said: list[str] = []
    done = Event()

    def report(text: str) -> None:
        said.append(text)
        done.set()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(maintenance, "PERIOD", 0.05)
        thread = maintenance.Maintenance(home, report)
        thread.watch([table])
        assert done.wait(60)
        thread.stop()
        thread.join(60)
    assert said[0].startswith(f"{table}: ALTER TABLE {table} EXECUTE EXPIRE_SNAPSHOTS("), said


@pytest.mark.usefixtures("own_spark")
def test_managed_tables_are_those_of_both_homes(
    tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = tmp_path / "warehouse"
    settings = postgres.settings()
    homes = tmp_path / "one", tmp_path / "two"
    with Session(homes[0], hiveconf=settings) as session:
        run(
            session,
            f"CREATE EXTERNAL TABLE f (a INT) STORED AS ORC LOCATION 'file://{tmp_path}/f'; CREATE TABLE m (a INT)",
        )
        run(session, "INSERT INTO f VALUES (1), (2)")
        with pytest.raises(UsageError, match="require a warehouse"):
            run(session, "INSERT INTO m SELECT a FROM f")
    settings[WAREHOUSE] = f"file://{warehouse}"
    first, second = (Session(home, hiveconf=settings) for home in homes)
    with first, second:
        run(first, "INSERT INTO m SELECT a FROM f")
        assert run(second, "SELECT sum(a) AS s FROM m") == [{"s": 3}]
        together = Barrier(2)

        def insert(home: Path) -> None:
            with Session(home, hiveconf=settings, spark_name="beside") as session:
                together.wait()
                run(session, "INSERT INTO m VALUES (10)")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(insert, homes))
        table = second.catalog.get("default", "m")
        metadata = current_metadata(second.settings, homes[1], second.catalog, table.table_id)
        assert metadata is not None
        assert metadata.is_relative_to(warehouse)
        assert sum(file.rows for file in read_files(metadata).data) == 4
        (known,) = [found for _, found in statistics_outside([table], second.facts())]
        assert known is not None
        assert (known.rows, known.columns["a"].low, known.columns["a"].high) == (4, "1", "10")
        run(second, "ALTER TABLE m SET TBLPROPERTIES ('hivedruid.compaction.auto' = 'true')")
        run(second, "ALTER TABLE m SET TBLPROPERTIES ('hivedruid.snapshots.retention' = 'PT0.001S')")
        monkeypatch.setattr(maintenance, "EXPIRED", 1)
        look_after(homes[1], settings, "default.m")
        run(second, "ALTER TABLE m ADD COLUMNS (b STRING); UPDATE m SET b = 'x' WHERE a = 1")
        rows = run(first, "SELECT a, b FROM m ORDER BY a")
        assert [(row["a"], row["b"]) for row in rows] == [(1, "x"), (2, None), (10, None), (10, None)]
        assert [*warehouse.rglob("*.orc")]
        run(first, "DROP TABLE m")
        assert [*warehouse.rglob("*.orc")] == []
    password = postgres.password_file.read_bytes()
    kept = [path for home in homes for path in home.rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if password in path.read_bytes()] == []
    assert not any((home / "warehouse").exists() for home in homes)


def test_a_warehouse_is_required(tmp_path: Path) -> None:
    settings = {"hivedruid.catalog.url": "postgresql://me@db.example.com/team?sslmode=verify-full&sslrootcert=/ca file"}
    assert not is_own(settings)
    with pytest.raises(UsageError, match="require a warehouse") as error:
        check_warehouse(settings)
    assert WAREHOUSE in (error.value.hint or "")
    found = properties({**settings, WAREHOUSE: "s3a://bucket/w"}, tmp_path)
    assert found["uri"] == (
        "jdbc:postgresql://db.example.com:5432/team?sslmode=verify-full&sslrootcert=%2Fca%20file&currentSchema=%22hivedruid%22"
    )
    assert (found["jdbc.user"], found["warehouse"]) == ("me", "s3a://bucket/w")
    rest = {"hivedruid.iceberg.catalog.type": "rest", "hivedruid.iceberg.catalog.uri": "http://c.example.com"}
    assert properties({**settings, **rest}, tmp_path) == {"type": "rest", "uri": "http://c.example.com"}
