"""Segments built by Spark are published beside other rows and other writers: locks, versions and tombstones."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pytest

from hivedruid.clients import wire
from hivedruid.clients.address import address
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.overlord import ACTION, Overlord
from hivedruid.clients.segments import interval, wait_until
from hivedruid.errors import DruidError, UnsupportedError
from hivedruid.jobs.load import Load, NoJournal
from hivedruid.jobs.staged import BuiltSegment, StagedRows, Sum
from hivedruid.segments.writing.segment import Dimension, SegmentSpec, write_segment
from hivedruid.settings import Settings
from tests.support.proxy import proxy
from tests.support.staged import DAY, NEW_YEAR, NewDataSource, task
from tests.support.staged import values as stored_values
from tests.support.writers import NATIVE, SEGMENTS, Writer, is_built

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark
PATIENCE = 600.0
FIRST_DAY = (NEW_YEAR, NEW_YEAR + DAY)
DAYS = ("2024-01-01", "2024-01-02", "2024-01-03")


@pytest.fixture
def writer(cluster: Cluster, tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path / "home", cluster)
    yield made
    made.end()


def create(writer: Writer, segment: str = "DAY", **properties: str) -> None:
    given = {"druid.rollup": "false", "druid.segment.granularity": segment, **properties}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    writer.run(
        f"CREATE EXTERNAL TABLE t_{{t}} (`__time` TIMESTAMP, n BIGINT) STORED BY 'druid' TBLPROPERTIES ({listed})"
    )


def values(first: int, *days: str) -> str:
    """A row for each day, with numbers from `first` on."""
    return "VALUES " + ", ".join(f"(TIMESTAMP '{day} 10:00:00', {first + n})" for n, day in enumerate(days))


def rows(writer: Writer) -> list[int]:
    return [row[0] for row in writer.run("SELECT n FROM t_{t} ORDER BY n")]


def test_append(writer: Writer) -> None:
    """Beside segments of both ways."""
    create(writer)
    writer.run(f"{SEGMENTS}; INSERT INTO t_{{t}} {values(0, *DAYS)}")
    writer.run(f"{NATIVE}; INSERT INTO t_{{t}} {values(10, DAYS[0])}")
    writer.run(f"{SEGMENTS}; INSERT INTO t_{{t}} {values(20, *DAYS[:2])}")
    assert rows(writer) == [0, 1, 2, 10, 20, 21]
    found = [(s["interval"][:10], s["shardSpec"]["partitionNum"], is_built(s)) for s in writer.segments("t")]
    assert sorted(found) == [
        (DAYS[0], 0, True), (DAYS[0], 1, False), (DAYS[0], 2, True), (DAYS[1], 0, True), (DAYS[1], 1, True),
        (DAYS[2], 0, True),
    ]  # fmt: skip


def test_append_to_wider_segments(writer: Writer) -> None:
    create(writer, "MONTH")
    writer.run(f"{NATIVE}; INSERT INTO t_{{t}} {values(0, *DAYS)}")
    writer.run("ALTER TABLE t_{t} SET TBLPROPERTIES ('druid.segment.granularity' = 'DAY')")
    writer.run(f"{SEGMENTS}; INSERT INTO t_{{t}} {values(10, *DAYS)}")
    assert rows(writer) == [0, 1, 2, 10, 11, 12]
    assert sum(map(is_built, writer.segments("t"))) == 3


def test_append_to_shorter_segments(writer: Writer) -> None:
    """Only a task divides the rows of a bucket among them."""
    create(writer, "HOUR")
    writer.run(f"{NATIVE}; INSERT INTO t_{{t}} {values(0, *DAYS)}")
    writer.run("ALTER TABLE t_{t} SET TBLPROPERTIES ('druid.segment.granularity' = 'DAY')")
    with pytest.raises(Exception, match="shorter than DAY"):
        writer.run(f"{SEGMENTS}; INSERT INTO t_{{t}} {values(10, DAYS[0])}")
    assert rows(writer) == [0, 1, 2]


def test_overwrite(writer: Writer) -> None:
    """All rows, also of days without new rows, or those of some days."""
    create(writer)
    writer.run(f"{NATIVE}; INSERT INTO t_{{t}} {values(0, *DAYS, '2024-03-01')}")
    writer.run(f"{SEGMENTS}; INSERT OVERWRITE TABLE t_{{t}} {values(10, *DAYS[:2])}")
    assert rows(writer) == [10, 11]
    with_rows = [s for s in writer.segments("t") if s["shardSpec"]["type"] != "tombstone"]
    assert [is_built(segment) for segment in with_rows] == [True, True]
    writer.run(f"SET hivedruid.overwrite.mode=dynamic; INSERT OVERWRITE TABLE t_{{t}} {values(20, *DAYS[1:])}")
    assert rows(writer) == [10, 20, 21]
    writer.run("SET hivedruid.overwrite.mode=static; INSERT OVERWRITE TABLE t_{t} SELECT * FROM t_{t} WHERE n = 20")
    assert rows(writer) == [20]
    writer.run("INSERT OVERWRITE TABLE t_{t} SELECT * FROM t_{t} WHERE n = 0")
    assert rows(writer) == []


def test_it_waits_for_the_locks_of_others(writer: Writer, cluster: Cluster) -> None:
    create(writer)
    with closing(cluster.druid()) as druid, ThreadPoolExecutor(1) as pool:
        overlord = Overlord(druid.client)
        other = {
            "type": "noop", "id": f"other_{uuid4().hex}", "dataSource": writer.source("t"), "runTime": 600_000,
            "context": {"priority": 75},
        }  # fmt: skip
        overlord.submit(other)
        span = interval((NEW_YEAR + DAY, NEW_YEAR + 2 * DAY))
        lock = {"type": "lockTryAcquire", "lockType": "EXCLUSIVE", "interval": span}
        assert wait_until(lambda: overlord.act(other, lock, wire.LockResult).result is not None, PATIENCE)
        with closing(Writer(writer.session.home.parent / "second", cluster).session) as session:
            shown: list[str] = []
            session._progress = shown.append
            create_again = "CREATE EXTERNAL TABLE u (`__time` TIMESTAMP, n BIGINT) STORED BY 'druid' TBLPROPERTIES"
            text = (
                f"{create_again} ('druid.datasource' = '{writer.source('t')}', 'druid.rollup' = 'false');"
                f" {SEGMENTS}; INSERT INTO u {values(0, *DAYS)}"
            )
            waiting = pool.submit(lambda: [list(session.execute(one).rows) for one in session.statements(text)])
            assert wait_until(lambda: any("waiting for other tasks' locks" in line for line in shown), PATIENCE)
            assert not [lock for lock in overlord.locks(writer.source("t")) if lock.group_id != other["id"]], (
                "holds none"
            )
            overlord.kill(str(other["id"]))
            waiting.result(PATIENCE)
        assert rows(writer) == [0, 1, 2]


def test_two_writers(writer: Writer, cluster: Cluster, tmp_path: Path) -> None:
    """Of two homes: the rows of one of them remain of two OVERWRITEs of the same days, and all rows of two INSERTs."""
    create(writer)
    writer.run(f"{SEGMENTS}; INSERT INTO t_{{t}} {values(0, *DAYS)}")
    others = [Writer(tmp_path / f"home{n}", cluster) for n in range(2)]
    for other in others:
        other.token = writer.token
        create(other, **{"druid.datasource": writer.source("t")})

    def write(number: int, verb: str) -> None:
        others[number].run(f"{SEGMENTS}; {verb} t_{{t}} {values(10 * (number + 1), *DAYS)}")

    def both(verb: str) -> list[int]:
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(write, number, verb) for number in range(2)]:
                done.result(PATIENCE)
        return rows(writer)

    remaining = both("INSERT OVERWRITE TABLE")
    assert remaining in ([10, 11, 12], [20, 21, 22])
    assert both("INSERT INTO") == sorted([*remaining, 10, 11, 12, 20, 21, 22])
    for other in others:
        other.session.close()


def test_beside_a_running_ingestion(writer: Writer, topics: Topics) -> None:
    """Neither waits for the other, and no record is lost, though both write to one day."""
    topic = topics.new({"__time": f"{DAYS[0]}T0{n}:00:00Z", "n": n} for n in range(3))
    create(writer, **{
        "kafka.topic": topic, "kafka.bootstrap.servers": topics.bootstrap, "druid.kafka.ingestion": "START",
        "druid.kafka.ingestion.useEarliestOffset": "true",
    })  # fmt: skip
    assert wait_until(lambda: rows(writer) == [0, 1, 2], PATIENCE)
    writer.run(f"{SEGMENTS}; INSERT INTO t_{{t}} {values(10, *DAYS)}")
    topics.send(topic, {"__time": f"{DAYS[0]}T05:00:00Z", "n": 3})
    topics.producer.flush()
    assert wait_until(lambda: rows(writer) == [0, 1, 2, 3, 10, 11, 12], PATIENCE)
    assert sum(map(is_built, writer.segments("t"))) == 3
    writer.run("STOP INGESTION t_{t}")
    assert rows(writer) == [0, 1, 2, 3, 10, 11, 12]


def test_materialized_view(writer: Writer) -> None:
    """Built, and rebuilt in the intervals that have changed."""
    create(writer)
    writer.run(f"{NATIVE}; INSERT INTO t_{{t}} {values(0, *DAYS)}")
    writer.run(
        f"{SEGMENTS}; CREATE MATERIALIZED VIEW v_{{t}} STORED BY 'druid' TBLPROPERTIES ('druid.segment.granularity' ="
        " 'DAY') AS SELECT floor_day(`__time`) AS `__time`, sum(n) AS s, count(*) AS c FROM t_{t} GROUP BY"
        " floor_day(`__time`)"
    )
    first = {segment["identifier"] for segment in writer.segments("v")}
    assert len(first) == 3
    assert all(map(is_built, writer.segments("v")))
    writer.run(f"INSERT INTO t_{{t}} {values(10, DAYS[1])}; ALTER MATERIALIZED VIEW v_{{t}} REBUILD")
    assert writer.run("SELECT s, c FROM v_{t} ORDER BY `__time`") == [(0, 1), (11, 2), (2, 1)]
    used = {segment["identifier"] for segment in writer.segments("v") if is_built(segment)}
    assert len(used - first) == 1, "only one day has changed"


def test_columns_of_parquet_files(writer: Writer, tmp_path: Path) -> None:
    """They are copied by Spark's Python workers; from a file with a time before 1900 Spark reads all rows instead."""
    folder = tmp_path / "rows"
    writer.run(f"CREATE EXTERNAL TABLE f_{{t}} (`__time` TIMESTAMP, n BIGINT) STORED AS PARQUET LOCATION '{folder}'")
    writer.run(f"INSERT INTO f_{{t}} {values(1, *DAYS)}")
    create(writer)
    insert = "INSERT INTO t_{t} SELECT * FROM f_{t}"
    copied = "    columns: copied by Spark's Python workers, if all values in the files have their types"
    assert (copied,) in writer.run(f"{SEGMENTS}; EXPLAIN {insert}")
    assert "copied by Spark" in str(writer.run(f"EXPLAIN FORMATTED {insert}"))
    assert (copied,) not in writer.run(f"EXPLAIN {insert} WHERE n > 1")
    writer.run(insert)
    writer.run(f"INSERT INTO f_{{t}} {values(4, '1899-12-31')}; {insert}")
    assert rows(writer) == [1, 1, 2, 2, 3, 3, 4]
    assert all(map(is_built, writer.segments("t")))
    assert writer.run("SELECT `__time` FROM t_{t} WHERE n = 4") == writer.run("SELECT `__time` FROM f_{t} WHERE n = 4")


def test_parquet_files_of_columns(writer: Writer, tmp_path: Path) -> None:
    """Columns of segments are copied by Spark's Python workers; rows that only a task has are not in files yet."""
    folder = tmp_path / "rows"
    create(writer)
    writer.run(f"{SEGMENTS}; INSERT INTO t_{{t}} {values(1, *DAYS)}; {NATIVE}; INSERT INTO t_{{t}} {values(4, *DAYS)}")
    writer.run(f"CREATE EXTERNAL TABLE f_{{t}} (at TIMESTAMP, n BIGINT) STORED AS PARQUET LOCATION '{folder}'")
    insert = "INSERT OVERWRITE TABLE f_{t} SELECT * FROM t_{t}"
    copied = "    columns: copied by Spark's Python workers, if all values in the files have their types"
    assert (copied,) in writer.run(f"SET hivedruid.druid.read=segments; EXPLAIN {insert}")
    assert "copied by Spark" in str(writer.run(f"EXPLAIN FORMATTED {insert}"))
    assert (copied,) not in writer.run(f"EXPLAIN {insert} WHERE n + 1 > 2")
    writer.run(f"{insert}; {insert}")
    expected = writer.run("SELECT * FROM t_{t} ORDER BY n")
    assert len(expected) == 6
    assert writer.run("SELECT * FROM f_{t} ORDER BY n") == expected
    writer.run("INSERT INTO f_{t} SELECT * FROM t_{t} WHERE `__time` < '2024-01-02'")
    assert writer.run("SELECT count(*) FROM f_{t}") == [(8,)]


def test_where_the_overlord_refuses_actions(cluster: Cluster, tmp_path: Path) -> None:
    """`auto` takes the task and says why; `segments` fails before anything is written."""
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "rows.csv").write_text("2024-01-01 00:00:00,1\n" * 400_000)
    with proxy(cluster.services.overlord, lambda _, __, path: path == ACTION) as url:
        made = Writer(tmp_path / "home", cluster)
        create(made)
        made.run(
            "CREATE EXTERNAL TABLE f_{t} (at TIMESTAMP, n BIGINT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','"
            f" LOCATION '{tmp_path / 'rows'}'"
        )
        insert = "INSERT INTO t_{t} SELECT * FROM f_{t}"
        explained = "\n".join(row[0] for row in made.run(f"EXPLAIN {insert}"))
        assert "segments: built by Spark in " in explained
        made.run(f"SET druid.overlord.url={url}")
        explained = "\n".join(row[0] for row in made.run(f"EXPLAIN {insert}"))
        assert "segments: built by the task (" in explained
        with pytest.raises((UnsupportedError, DruidError), match="cannot build the segments of"):
            made.run(f"{SEGMENTS}; {insert}")
        made.end()


def built_load(cluster: Cluster, name: str, folder: Path) -> Load:
    """A load of one segment with one row, x = 7, in deep storage."""
    place = cluster.home / "local" / "data" / "segments" / name / "hivedruid-built"
    place.mkdir(parents=True)
    table = pa.table({"__time": pa.array([NEW_YEAR], pa.int64()), "x": pa.array([7], pa.int64())})
    written = write_segment(table, SegmentSpec(FIRST_DAY, (Dimension("x", "LONG"),)), place / "one")
    built = BuiltSegment(*FIRST_DAY, "one", written.rows, written.size)
    staged = StagedRows(str(place), 1, written.size, (FIRST_DAY,), {"x": Sum(7)}, 0, (built,))
    return Load(f"hivedruid_{name}_1", task(name, folder, columns={"x": "long"}), staged)


def test_files_of_a_second_attempt_are_kept(cluster: Cluster, new_data_source: NewDataSource, tmp_path: Path) -> None:
    """Segments are published, rolled back, and published again from the same files. When Druid deletes the unused ones
    of the first attempt, those of the second remain."""
    name = new_data_source("again")
    first = built_load(cluster, name, tmp_path)
    with closing(cluster.druid()) as druid:
        druid.ingest(first, NoJournal())
        assert stored_values(druid, name) == [7]
        druid.roll_back(replace(first, state="published"), NoJournal())
        assert stored_values(druid, name) == []
        druid.ingest(replace(first, task=f"hivedruid_{name}_2"), NoJournal())
        druid.delete_unused(name)
        assert [path.name for path in Path(first.staged.folder).iterdir()] == ["one"]
        assert stored_values(druid, name) == [7]


def test_a_lock_that_is_taken_away(cluster: Cluster, new_data_source: NewDataSource, tmp_path: Path) -> None:
    """A task with a higher priority takes the lock just before the transaction: the segments are published once that
    task has ended."""
    name = new_data_source("taken")
    overlord = Overlord(cluster.druid().client)
    other = {
        "type": "noop", "id": f"other_{uuid4().hex}", "dataSource": name, "runTime": 600_000,
        "context": {"priority": 75},
    }  # fmt: skip
    lock = {"type": "lockTryAcquire", "lockType": "EXCLUSIVE", "interval": interval(FIRST_DAY)}
    actions = 0

    def interfere(when: str, _: str, path: str) -> bool:
        nonlocal actions
        actions += when == "request" and path == ACTION
        if when == "request" and path == ACTION and actions == 3:  # after the lock, and the number of the segment
            overlord.submit(other)
            assert wait_until(lambda: overlord.act(other, lock, wire.LockResult).result is not None, PATIENCE)
        if when == "request" and path == ACTION and actions == 5:  # the second attempt
            overlord.kill(str(other["id"]))
        return False

    with proxy(cluster.services.overlord, interfere) as url:
        services = replace(cluster.services, overlord=url)
        druid = DruidCluster(address(Settings({"druid.url": "local"}), services), progress=_quiet, note=_quiet)
        with closing(druid):
            druid.ingest(built_load(cluster, name, tmp_path), NoJournal())
            assert stored_values(druid, name) == [7]
    assert actions > 5


def _quiet(_: str) -> None:
    pass
