"""COMPACT, automatic compaction, SHOW COMPACTIONS and SHOW SEGMENTS: plans, refusals, EXPLAIN, and the results on the
embedded store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hivedruid.actions.compacting.build import MERGED_HERE, NOT_HERE
from hivedruid.actions.compacting.model import ConfigureCompaction
from hivedruid.actions.compacting.run import compaction_rows, segment_row
from hivedruid.actions.ddl.model import AddTable, RemoveTable, ReplaceTable
from hivedruid.catalog.opening import of_home
from hivedruid.embedded.manifest import Manifest
from hivedruid.engine.compaction import AutomaticCompaction, CompactionAmount
from hivedruid.engine.segments import Segment
from hivedruid.errors import ConnectError, HiveDruidError, SemanticError, UnsupportedError
from hivedruid.ingestion.model import Task
from hivedruid.session import Session
from hivedruid.settings import Settings
from tests.unit.actions.ddl_world import World, at
from tests.unit.actions.test_watch import OUT_OF_REACH, explained, run

CREATE = "CREATE TABLE t (`__time` timestamp, page string) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false')"
COMPACT = "ALTER TABLE t COMPACT 'major' AND WAIT"
AUTO = "'druid.compaction.auto' = 'true'"


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def embedded(tmp_path: Path, notes: list[str]) -> Iterator[Session]:
    with Session(tmp_path, note=notes.append) as session:
        run(session, CREATE)
        yield session


@pytest.fixture
def session(embedded: Session, tmp_path: Path) -> Iterator[Session]:
    """A session of the same home, with an unreachable Druid."""
    with Session(tmp_path, hiveconf=OUT_OF_REACH) as session:
        yield session


@pytest.fixture
def world() -> World:
    return World(settings=Settings(OUT_OF_REACH))


# --- COMPACT -----------------------------------------------------------------------------------------------------


def test_compact_is_explained(session: Session) -> None:
    assert explained(session, COMPACT) == [
        "Stage-0", "Compact Table Operator:", "name: default.t", "data source: default.t", "wait: true", "requests:",
        "POST /druid/indexer/v1/task over the intervals of its segments, determined at run time",
        "POST /druid/v2 timeseries rows and sums of the segments, before and after",
        "task:", "type compact", "dataSource default.t", 'ioConfig {"type": "compact", "inputSpec": {"type": "interval"}}',
        'granularitySpec {"queryGranularity": "NONE", "rollup": false}',
        'tuningConfig {"type": "index_parallel", "partitionsSpec": {"type": "dynamic", "maxRowsPerSegment": 5000000}}',
        'context {"useConcurrentLocks": true, "storeCompactionState": true}',
    ]  # fmt: skip
    document = json.loads("\n".join(explained(session, f"FORMATTED {COMPACT}")))
    (action,) = document["actions"]
    assert action["operator"] == "Compact Table Operator"
    assert action["task"]["context"]["useConcurrentLocks"] is True


@pytest.mark.parametrize("text", [COMPACT, "SHOW COMPACTIONS", "SHOW SEGMENTS FOR t"])
def test_a_druid_out_of_reach(session: Session, text: str) -> None:
    with pytest.raises(ConnectError, match="cannot reach Druid"):
        run(session, text)


def test_the_embedded_store_merges_without_tasks(embedded: Session, notes: list[str]) -> None:
    assert run(embedded, COMPACT) == []
    assert notes == ["default.t had 0 segments: nothing to compact"]
    assert explained(embedded, COMPACT)[-1] == f"effect: {MERGED_HERE}"
    assert run(embedded, "SHOW COMPACTIONS FOR t") == []


@pytest.mark.parametrize(
    ("text", "kind", "message", "place"),
    [
        ("ALTER TABLE t COMPACT 'minor'", UnsupportedError, "from Druid 37 on the cluster's compaction policy mostFragmentedFirst merges only new ones", "'minor'"),
        ("ALTER TABLE t COMPACT 'rebalance'", UnsupportedError, "balances segments across historicals automatically", "'rebalance'"),
        ("ALTER TABLE t COMPACT 'mayor'", SemanticError, "'mayor' is not a valid compaction type", "'mayor'"),
        ("SHOW SEGMENTS FOR h", UnsupportedError, "default.h is a managed table: it has no segments", "h"),
        ("ALTER TABLE f COMPACT 'major'", UnsupportedError, "default.f is an external table of files", "f"),
        ("SHOW SEGMENTS FOR v", UnsupportedError, "default.v is a view: it has no segments", "v"),
        ("SHOW COMPACTIONS FOR nowhere", SemanticError, "Table not found nowhere", "nowhere"),
    ],
)  # fmt: skip
def test_what_cannot_be_compacted(
    embedded: Session, text: str, kind: type[HiveDruidError], message: str, place: str
) -> None:
    run(embedded, "CREATE TABLE h (a int)")
    run(embedded, "CREATE EXTERNAL TABLE f (a int) STORED AS ORC LOCATION '/tmp/files'")
    run(embedded, "CREATE VIEW v AS SELECT page FROM t")
    with pytest.raises(kind) as raised:
        run(embedded, text)
    assert message in raised.value.message
    assert at(raised.value.span) == place
    assert raised.value.hint


# --- automatic ---------------------------------------------------------------------------------------------------


def test_the_coordinator_is_told_before_the_catalog(world: World) -> None:
    auto = f"CREATE TABLE t (`__time` timestamp, page string) STORED BY 'druid' TBLPROPERTIES ({AUTO})"
    configured, added = world.run(auto)
    assert isinstance(configured, ConfigureCompaction)
    assert configured.config is not None
    assert configured.config["skipOffsetFromLatest"] == "P1D"
    assert isinstance(added, AddTable)
    configured, replaced = world.run(
        "ALTER TABLE t SET TBLPROPERTIES ('druid.compaction.skipOffsetFromLatest' = 'PT1H')"
    )
    assert isinstance(configured, ConfigureCompaction)
    assert configured.config is not None
    assert configured.config["skipOffsetFromLatest"] == "PT1H"
    assert isinstance(replaced, ReplaceTable)
    assert [type(action) for action in world.run("ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')")] == [ReplaceTable]
    configured, _ = world.run("ALTER TABLE t SET TBLPROPERTIES ('druid.segment.granularity' = 'MONTH')")
    assert isinstance(configured, ConfigureCompaction)
    assert configured.config is not None
    assert configured.config["granularitySpec"] == {"queryGranularity": "NONE", "segmentGranularity": "MONTH"}
    (removed,) = world.build("DROP TABLE t")
    assert isinstance(removed, RemoveTable)
    assert removed.compaction is not None
    assert removed.compaction.config is None
    configured, _ = world.run("ALTER TABLE t UNSET TBLPROPERTIES ('druid.compaction.auto')")
    assert isinstance(configured, ConfigureCompaction)
    assert configured.config is None


def test_a_table_moves_to_another_data_source(world: World) -> None:
    world.run(f"CREATE TABLE t (`__time` timestamp, page string) STORED BY 'druid' TBLPROPERTIES ({AUTO})")
    old, new, _ = world.run("ALTER TABLE t SET TBLPROPERTIES ('druid.datasource' = 'elsewhere')")
    assert isinstance(old, ConfigureCompaction)
    assert isinstance(new, ConfigureCompaction)
    assert (old.table.data_source, old.config) == ("default.t", None)
    assert new.config is not None
    assert new.config["dataSource"] == "elsewhere"


def test_automatic_compaction_is_explained(session: Session) -> None:
    lines = explained(session, f"ALTER TABLE t SET TBLPROPERTIES ({AUTO})")
    assert lines[:6] == [
        "Stage-0", "Automatic Compaction Operator:", "name: default.t", "data source: default.t",
        "request: POST /druid/indexer/v1/compaction/config/datasources/default.t", "config:",
    ]  # fmt: skip
    assert 'taskContext {"useConcurrentLocks": true}' in lines
    with pytest.raises(ConnectError):
        run(session, f"ALTER TABLE t SET TBLPROPERTIES ({AUTO})")
    assert AUTO not in str(run(session, "SHOW CREATE TABLE t"))  # nothing was changed


def test_the_embedded_store_compacts_nothing_by_itself(embedded: Session, notes: list[str]) -> None:
    run(embedded, f"ALTER TABLE t SET TBLPROPERTIES ({AUTO})")
    assert notes == [NOT_HERE]
    run(embedded, "ALTER TABLE t UNSET TBLPROPERTIES ('druid.compaction.auto')")
    run(embedded, "DROP TABLE t")
    assert notes == [NOT_HERE]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("'druid.compaction.auto' = 'yes'", "must be true or false"),
        ("'druid.compaction.skipOffsetFromLatest' = 'P1M'", "without years and months"),
        ("'druid.compaction.maxRowsPerSegment' = '5'", "unknown table property"),
    ],
)
def test_wrong_properties(world: World, given: str, message: str) -> None:
    error = world.refused(f"CREATE TABLE t (`__time` timestamp, page string) STORED BY 'druid' TBLPROPERTIES ({given})")
    assert message in error.message


def test_a_materialized_view_is_compacted_by_hand_alone(embedded: Session) -> None:
    text = f"CREATE MATERIALIZED VIEW m STORED BY 'druid' TBLPROPERTIES ({AUTO}) AS SELECT `__time`, page FROM t"
    with pytest.raises(SemanticError, match="cannot be compacted automatically: each REBUILD rewrites it"):
        run(embedded, text)


# --- answers -----------------------------------------------------------------------------------------------------


def test_compaction_rows() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    watched = [
        AutomaticCompaction("b", "PENDING"),
        AutomaticCompaction(
            "a", "RUNNING", CompactionAmount(3, 2, 99), CompactionAmount(1, 1, 9), CompactionAmount(0, 0, 0)
        ),
    ]
    tasks = [
        Task("coordinator-issued_compact_a_x", "compact", "a", "RUNNING", "2026-01-01T23:59:50Z"),
        Task("auto_compact_a_z", "compact", "a", "RUNNING", "2026-01-01T23:59:50Z"),
        Task("auto-minor_compact_a_z", "compact", "a", "RUNNING", "2026-01-01T23:59:50Z"),
        Task("hivedruid_compact_b_y", "compact", "b", "FAILED", "2026-01-01T00:00:00Z", 1500, "", "no lock"),
    ]
    created = [datetime.fromisoformat(task.created) for task in tasks]
    assert list(compaction_rows(watched, tasks, {"a": "default.t"}, now)) == [
        ("b", "automatic", "PENDING", None, None, None, None, None, None, None),
        (
            "default.t", "automatic", "RUNNING", None, None, None, None, "3 segment(s), 2 interval(s), 99 bytes",
            "1 segment(s), 1 interval(s), 9 bytes", "0 segment(s), 0 interval(s), 0 bytes",
        ),
        ("default.t", "automatic", "RUNNING", tasks[0].id, created[0], 10.0, None, None, None, None),
        ("default.t", "automatic", "RUNNING", tasks[1].id, created[1], 10.0, None, None, None, None),
        ("default.t", "automatic", "RUNNING", tasks[2].id, created[2], 10.0, None, None, None, None),
        ("b", "major", "FAILED", tasks[3].id, created[3], 1.5, "no lock", None, None, None),
    ]  # fmt: skip


def test_an_interval_may_be_all_of_time() -> None:
    segment = Segment("default.t", -(1 << 62), (1 << 62) - 1, "v", 0, size=9, state="loading")
    assert segment_row("default.t", segment) == (
        "default.t", "-146136543-09-08T08:23:32.096Z", "146140482-04-24T15:36:27.903Z", "v", 0, None, 9, "loading", 0,
    )  # fmt: skip


def test_segments_of_the_embedded_store(embedded: Session) -> None:
    """The segments of all Druid tables of the database, in order."""
    assert run(embedded, "SHOW SEGMENTS") == []
    manifest = Manifest(of_home(embedded.catalog.connection))
    for name in ("default.u", "default.t"):
        manifest.commit(name, [Segment(name, 0, 86_400_000, "v1", 0, rows=7, size=70, path=f"segments/{name}/0")], None)
    run(embedded, CREATE.replace("TABLE t", "TABLE u").replace("CREATE TABLE", "CREATE EXTERNAL TABLE"))
    rows = run(embedded, "SHOW SEGMENTS")
    assert [row["table"] for row in rows] == ["default.t", "default.u"]
    assert rows[0] == {
        "table": "default.t", "interval_start": "1970-01-01T00:00:00.000Z", "interval_end": "1970-01-02T00:00:00.000Z",
        "version": "v1", "partition": 0, "rows": 7, "bytes": 70, "state": "available", "replicas": 1,
    }  # fmt: skip
    assert [row["table"] for row in run(embedded, "SHOW SEGMENTS FOR u")] == ["default.u"]
    assert explained(embedded, "SHOW SEGMENTS") == ["Stage-0", "Show Segments Operator:", "database: default"]


def test_show_segments_is_explained(session: Session) -> None:
    assert "POST /druid/v2 segmentMetadata their rows" in "; ".join(explained(session, "SHOW SEGMENTS FOR t"))
