"""A home on a read-only disk: what reads works with Spark, which has its files elsewhere, and what writes is refused
with one error, before anything has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivedruid.defaults import cache_folder
from hivedruid.session import Session
from hivedruid.spark import server
from tests.support.read_only import on_read_only_disk

pytestmark = pytest.mark.spark

TABLES = """
CREATE EXTERNAL TABLE texts (a INT, s STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '{files}/texts';
INSERT INTO texts VALUES (1, 'x'), (2, NULL);
CREATE EXTERNAL TABLE parts (a INT) PARTITIONED BY (p STRING) STORED AS PARQUET LOCATION '{files}/parts';
INSERT INTO parts PARTITION (p = 'k') VALUES (1), (2);
CREATE EXTERNAL TABLE inside (a INT) STORED AS ORC;
INSERT INTO inside VALUES (7);
CREATE TABLE managed (a INT, s STRING);
INSERT INTO managed VALUES (1, 'x'), (2, 'y');
CREATE EXTERNAL TABLE events (__time TIMESTAMP, s STRING, n BIGINT)
    STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler';
INSERT INTO events VALUES ('2024-01-01 00:00:00', 'a', 1), ('2024-01-02 00:00:00', 'b', 2);
CREATE MATERIALIZED VIEW counts AS SELECT s, count(*) AS c FROM managed GROUP BY s;
"""
SCRIPT = """
import json, sys
from pathlib import Path
from hivedruid.errors import HiveDruidError
from hivedruid.session import Session
from hivedruid.spark import server

home = Path(sys.argv[1])
for text in {texts!r}:
    with Session(home) as session:
        try:
            rows = [row for each in session.statements(text) for row in session.execute(each).rows]
            print(json.dumps(rows, default=str))
        except HiveDruidError as error:
            print(json.dumps([error.message, error.hint]))
server.stop(server.shared_home(home))
"""

Run = Callable[..., list[Any]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with tables of each kind, whose external tables are in the folder `files` beside it."""
    folder = tmp_path_factory.mktemp("read_only") / "home"
    with Session(folder) as session:
        for statement in session.statements(TABLES.format(files=folder.with_name("files"))):
            list(session.execute(statement).rows)
    return folder


@pytest.fixture
def run(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs statements in a process for which the home is on a read-only disk, each in a session of its own."""
    cache = tmp_path / "cache"
    (cache / "hivedruid").mkdir(parents=True)
    for name in ("jars", "archives"):
        (cache / "hivedruid" / name).symlink_to(cache_folder() / name)
    monkeypatch.delenv(server.SPARK_HOME, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    def run_all(*texts: str) -> list[Any]:
        lines = on_read_only_disk(home, SCRIPT.format(texts=list(texts))).splitlines()
        assert len(lines) == len(texts)
        return [json.loads(line) for line in lines]

    return run_all


def test_what_reads_works(run: Run, tmp_path: Path) -> None:
    rows = run(
        "SELECT a, s FROM texts ORDER BY a",
        "SELECT p, percentile(a, 0.5) FROM parts GROUP BY p",
        "SELECT a FROM inside",
        "SELECT a, s FROM managed ORDER BY a",
        "SELECT s, c FROM counts ORDER BY s",
        "SELECT e.s, m.s FROM events e JOIN managed m ON e.n = m.a ORDER BY e.s",
        "CREATE TEMPORARY TABLE t AS SELECT a FROM managed; INSERT INTO t VALUES (5); SELECT sum(a) FROM t",
        f"INSERT OVERWRITE LOCAL DIRECTORY '{tmp_path}/out' SELECT a FROM managed WHERE a = 2",
        "INSERT INTO texts VALUES (3, 'z'); SELECT count(*) FROM texts",
    )
    assert rows == [
        [[1, "x"], [2, None]],
        [["k", 1.5]],
        [[7]],
        [[1, "x"], [2, "y"]],
        [["x", 1], ["y", 1]],
        [["a", "x"], ["b", "y"]],
        [[8]],
        [],
        [[3]],
    ]
    assert [path.read_text() for path in (tmp_path / "out").iterdir() if path.name[0] not in "._"] == ["2\n"]


def test_what_writes_is_refused(run: Run, home: Path) -> None:
    refused = run(
        "INSERT INTO managed VALUES (9, 'w')",
        "UPDATE managed SET a = 1",
        "DELETE FROM managed WHERE a = 1",
        "MERGE INTO managed m USING texts t ON m.a = t.a WHEN MATCHED THEN DELETE",
        "TRUNCATE TABLE managed",
        "CREATE TABLE more AS SELECT * FROM managed",
        "INSERT INTO parts PARTITION (p = 'j') VALUES (9)",
        "ALTER TABLE parts ADD PARTITION (p = 'j')",
        "LOAD DATA LOCAL INPATH '/etc/hostname' INTO TABLE parts PARTITION (p = 'j')",
        "INSERT INTO events VALUES ('2024-01-03 00:00:00', 'c', 3)",
        "DROP TABLE events",
        "TRUNCATE TABLE events",
        "ALTER TABLE managed COMPACT 'major'",
        "ALTER MATERIALIZED VIEW counts REBUILD",
        "ANALYZE TABLE managed COMPUTE STATISTICS",
        "CREATE STREAM st FROM texts INTO managed AS SELECT a, s FROM texts",
        "CREATE DATABASE d",
    )
    why = [
        f"the home folder {home} is read-only",
        "choose a folder that you may write to with --home; this one can only be read",
    ]
    assert [each for each in refused if each != why] == []
    assert [path.name for path in home.with_name("files").joinpath("parts").iterdir() if "=" in path.name] == ["p=k"]
