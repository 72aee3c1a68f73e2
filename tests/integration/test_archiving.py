"""Segments are held and removed in one transaction: on a cluster, and in the embedded store where it does the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.catalog.types import BIGINT
from hivedruid.clients import wire
from hivedruid.clients.address import address
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.lock_holder import LockHolder
from hivedruid.clients.overlord import ACTION, Overlord
from hivedruid.clients.segments import Segments, interval
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.engine.archiving import Holding, NotRemovedError, UnknownRemovalError
from hivedruid.engine.compaction import CompactionLimits
from hivedruid.engine.segments import parts_of
from hivedruid.jobs.load import NoJournal
from hivedruid.settings import Settings
from tests.support.ingestion import PATIENCE, until
from tests.support.loads import MakeLoad
from tests.support.proxy import proxy
from tests.support.staged import DAY, NEW_YEAR, NewDataSource, scan

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

Engine = DruidCluster | EmbeddedStore


def days(first: int, last: float) -> tuple[tuple[int, int], ...]:
    return ((NEW_YEAR + first * DAY, NEW_YEAR + int(last * DAY)),)


def task_id() -> str:
    return f"hivedruid_archive_{uuid4().hex}"


class Table:
    """A data source with a column x; `other` is the same engine in another process."""

    def __init__(self, engine: Engine, other: Engine, name: str, load_of: MakeLoad) -> None:
        self.engine, self.other, self.name = engine, other, name
        self._load_of = load_of

    def insert(self, rows: dict[Any, int], **how: Any) -> None:
        self.other.ingest(self._load_of(self.name, rows, **how), NoJournal())

    def values(self) -> list[int]:
        return sorted(x for (x,) in self.engine.rows(scan(self.name, ("x", BIGINT))))

    def remove(self, spans: tuple[tuple[int, int], ...]) -> Holding:
        with self.engine.hold(self.name, spans, task_id(), patience=PATIENCE) as held:
            held.remove()
        return held.holding


@pytest.fixture
def cluster_table(druid: DruidCluster, other: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad) -> Table:
    return Table(druid, other, new_data_source("archived"), load_of)


@pytest.fixture
def embedded_table(tmp_path: Path, load_of: MakeLoad) -> Iterator[Table]:
    home = tmp_path / "home"
    with (
        closing(open_database(home)) as one, closing(open_database(home)) as two,
        closing(EmbeddedStore(home, one)) as engine, closing(EmbeddedStore(home, two)) as other,
    ):  # fmt: skip
        yield Table(engine, other, "archived", load_of)


@pytest.fixture(params=["cluster", "embedded"])
def table(request: pytest.FixtureRequest) -> Table:
    found: Table = request.getfixturevalue(f"{request.param}_table")
    return found


def test_removal_and_later_rows(table: Table) -> None:
    """Whole segments are removed, and rows that come later are read, also if they are removed in turn."""
    table.insert({0: 1, 1: 2, 2: 3})
    table.insert({0: 4})
    table.insert({(40, 7): 5, (41, 7): 6}, segment="MONTH")
    with table.engine.hold(table.name, days(0, 40.5), task_id(), patience=PATIENCE) as held:
        first = Holding.of_notes(json.loads(json.dumps(held.holding.notes())))
        assert first.spans == days(0, 3)
        assert [(left.start, left.end) for left in held.holding.left_out] == [*days(31, 60)]
        assert [(s.start, s.rows) for s in first.segments] == [(NEW_YEAR + day * DAY, 1) for day in (0, 0, 1, 2)]
        assert len({s.path for s in first.segments}) == 4
        assert {*first.segments} <= {*table.engine.visible(table.name, first.spans)}
        assert table.values() == [1, 2, 3, 4, 5, 6], "nothing is removed yet"
        assert not table.other.is_removed(first)
        held.remove()
        assert table.other.is_removed(first)
    assert table.values() == [5, 6]
    parts = parts_of(table.other.visible(table.name, first.spans))
    assert not any(segment.has_part_in(parts) for segment in first.segments)
    assert table.other.was_removed(first)

    table.insert({1: 7, 3: 8})
    assert table.values() == [5, 6, 7, 8]
    if isinstance(table.engine, DruidCluster):
        files = table.engine.segment_files(table.name)
        assert not files.problem, "the broker lists the tombstone beside the new rows"
        assert len(files.files) == 3
    second = table.remove(days(0, 2))
    assert [(s.start, s.rows) for s in second.segments] == [(NEW_YEAR + DAY, 1)]
    assert not {*second.segments} & {*first.segments}
    assert table.values() == [5, 6, 8]
    table.engine.settle(first)
    assert table.other.was_removed(second)
    assert table.other.was_removed(first)
    assert table.values() == [5, 6, 8]
    with table.engine.hold(table.name, days(0, 2), task_id(), patience=PATIENCE) as held:
        assert not held.holding.segments
        held.remove()


def test_nothing_is_removed_of_what_has_changed(table: Table) -> None:
    """Segments were dropped by others, or another process has given the task up."""
    table.insert({0: 1, 1: 2})
    with table.engine.hold(table.name, days(0, 2), task_id(), patience=PATIENCE) as held:
        holding = held.holding
        assert not table.other.was_removed(holding)
        with pytest.raises(NotRemovedError):
            held.remove()
    assert table.values() == [1, 2]
    assert not table.other.was_removed(holding)
    with table.engine.hold(table.name, days(0, 1), task_id(), patience=PATIENCE) as held:
        table.other.drop(table.name)
        with pytest.raises(NotRemovedError):
            held.remove()
    assert not table.other.was_removed(held.holding)


def test_locks_of_others(cluster_table: Table, cluster: Cluster) -> None:
    """A lock that a task with a higher priority has is left out, and one that it takes away refuses the removal. Those
    of batch tasks are waited for. The removal is known if its response was lost."""
    table = cluster_table
    table.insert({0: 1, 1: 2})
    overlord = Overlord(table.engine.client)  # type: ignore[union-attr]
    stream = _task(overlord, table.name, 75, days(0, 1)[0])
    with table.engine.hold(table.name, days(0, 2), task_id(), patience=PATIENCE) as held:
        assert held.holding.spans == days(1, 2)
        (left,) = held.holding.left_out
        assert (left.start, left.end) == days(0, 1)[0]
        assert str(stream) in left.reason
        _task(overlord, table.name, 75, days(1, 2)[0])
        with pytest.raises(NotRemovedError, match="taken a lock away"):
            held.remove()
    assert table.values() == [1, 2]
    assert not table.other.was_removed(held.holding)
    _end_tasks(overlord, table.name)

    batch = LockHolder(table.other, task_id(), table.name, PATIENCE)  # type: ignore[arg-type]
    batch.submit()
    until(lambda: batch.lock(days(0, 1)[0]))
    with table.engine.hold(table.name, days(0, 2), task_id(), patience=0) as held:
        assert held.holding.spans == days(1, 2)
    batch.stop()
    batch = LockHolder(table.other, task_id(), table.name, 3)  # type: ignore[arg-type]
    batch.submit()
    until(lambda: batch.lock(days(0, 1)[0]))
    losing: list[bool] = []

    def ends(what: str, _: str, path: str) -> bool:
        return (what, path) == ("answer", ACTION) and bool(losing) and losing.pop()

    with proxy(cluster.services.overlord, ends) as url:
        services = replace(cluster.services, overlord=url)
        through = DruidCluster(address(Settings({"druid.url": "local"}), services), progress=_quiet, note=_quiet)
        with closing(through), through.hold(table.name, days(0, 2), task_id(), patience=PATIENCE) as held:
            assert held.holding.spans == days(0, 2), "it has waited for the batch task"
            losing.append(True)
            held.remove()
    assert not losing
    assert table.values() == []


def _quiet(_: str) -> None:
    pass


def _task(overlord: Overlord, name: str, priority: int, span: tuple[int, int]) -> str:
    """A task with a lock of an interval, as a Kafka task has one."""
    task = {
        "type": "noop", "id": f"other_{uuid4().hex}", "dataSource": name, "runTime": 600_000,
        "context": {"priority": priority},
    }  # fmt: skip
    overlord.submit(task)
    action = {"type": "lockTryAcquire", "lockType": "EXCLUSIVE", "interval": interval(span)}
    until(lambda: overlord.act(task, action, wire.LockResult).result)
    return str(task["id"])


def _end_tasks(overlord: Overlord, name: str) -> None:
    for task in overlord.tasks(name):
        if not task.is_complete:
            overlord.kill(task.id)
    until(lambda: not overlord.locks(name), "no locks")


DIES = """
import os, signal, sys
from pathlib import Path
from hivedruid.clients import archiving
from hivedruid.clients.lock_holder import LockHolder
from hivedruid.local.state import LocalServices
from tests.support.cluster import running_cluster

home, name, start, end, task, moment = sys.argv[1:]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

publish = LockHolder.publish
if moment == "before":
    LockHolder.publish = die
if moment == "after":
    LockHolder.publish = lambda *given: die(publish(*given))
with running_cluster(Path(home)) as cluster:
    with cluster.druid().hold(name, ((int(start), int(end)),), task, patience=300) as held:
        import json
        print(json.dumps(held.holding.notes()), flush=True)
        if moment == "held":
            die()
        held.remove()
"""


def test_a_killed_process(cluster_table: Table, cluster: Cluster) -> None:
    """At any moment another process knows whether the segments were removed, also after compactions, until Druid has
    deleted all records."""
    table = cluster_table
    druid = table.engine
    assert isinstance(druid, DruidCluster)
    table.insert({0: 1, 1: 2, 2: 3})
    segments = Segments(druid.client, table.name)

    def dies(moment: str) -> Holding:
        given = [str(cluster.home), table.name, *map(str, days(0, 2)[0]), task_id(), moment]
        env = {**os.environ, "HIVEDRUID_TEST_CLUSTER": str(cluster.home)}
        ended = subprocess.run(
            [sys.executable, "-c", DIES, *given], capture_output=True, text=True, env=env, check=False
        )
        assert ended.returncode == -9, ended.stderr
        return Holding.of_notes(json.loads(ended.stdout))

    for moment in ("held", "before"):
        never = dies(moment)
        assert Overlord(druid.client).locks(table.name), "they outlive the process"
        assert not druid.was_removed(never)
        assert table.values() == [1, 2, 3]
    removed = dies("after")
    assert druid.was_removed(removed)
    druid.settle(removed)
    assert table.values() == [3]
    assert not {s.id for s in removed.segments} & {s.id for s in segments.used()}

    table.insert({0: 4})
    task = {
        "type": "compact", "dataSource": table.name, "ioConfig": {"type": "compact", "inputSpec": {"type": "interval"}},
        "granularitySpec": {"segmentGranularity": "MONTH"},
    }  # fmt: skip
    druid.compact(task, CompactionLimits(PATIENCE, PATIENCE), lambda _: None)
    assert table.values() == [3, 4]
    (month,) = druid.segments(table.name)
    assert (month.start, month.end) == days(0, 31)[0]
    segments.mark_unused([segment for segment in segments.used() if segment.id != month.id])
    assert druid.was_removed(removed)
    assert not druid.was_removed(never)
    with druid.hold(table.name, days(0, 2), task_id(), patience=PATIENCE) as held:
        assert not held.holding.segments, "the month has later rows"
        assert held.holding.left_out
    druid.delete_unused(table.name)
    for holding in (never, removed):
        with pytest.raises(UnknownRemovalError, match="deleted"):
            druid.was_removed(holding)
    assert table.values() == [3, 4]


def test_retention(cluster_table: Table) -> None:
    """Removed rows do not return if a rule drops the tombstones."""
    table = cluster_table
    druid = table.engine
    assert isinstance(druid, DruidCluster)
    table.insert({0: 1, 1: 2})
    removed = table.remove(days(0, 1))
    drop = [{"type": "dropByInterval", "interval": interval(days(0, 1)[0])}, {"type": "loadForever"}]
    druid.client.post("coordinator", f"/druid/coordinator/v1/rules/{table.name}", wire.Acknowledgement, drop)
    used = Segments(druid.client, table.name)
    until(lambda: table.values() != [2] or not used.used(days(0, 1)), "the tombstone is dropped, or rows return")
    assert table.values() == [2]
    assert druid.was_removed(removed)
