"""Failing queries against a real Druid: limits, timeouts, broken connections, services that die."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from hivedruid.catalog.types import BIGINT
from hivedruid.clients import wire
from hivedruid.clients.cluster import DruidCluster
from hivedruid.druid.limits import DruidLimits
from hivedruid.druid.projections import answering
from hivedruid.errors import ConnectError, DruidError, ResourceError
from hivedruid.local.state import read_state
from hivedruid.plan.physical import DruidRead, Field
from tests.support.loads import ingest

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

ETERNITY = ["-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"]
ROWS = 20_000


@pytest.fixture(scope="module")
def numbers(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A data source with the numbers from 0 as x, in two segments of one day."""
    name, folder = f"numbers_{uuid4().hex[:12]}", tmp_path_factory.mktemp("numbers")
    with closing(cluster.druid()) as druid:
        for start in (0, ROWS // 2):
            with gzip.open(folder / "a.json.gz", "wt", compresslevel=1) as file:
                file.writelines(f'{{"__time":{n},"x":{n}}}\n' for n in range(start, start + ROWS // 2))
            ingest(druid, ingestion(name, folder))
        yield name
        druid.drop(name)


def ingestion(name: str, folder: Path) -> dict[str, Any]:
    schema = {
        "dataSource": name,
        "timestampSpec": {"column": "__time", "format": "millis"},
        "dimensionsSpec": {"dimensions": [{"type": "long", "name": "x"}]},
        "granularitySpec": {"segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": False},
    }
    source = {"type": "local", "baseDir": str(folder), "filter": "*.json.gz"}
    io = {"type": "index_parallel", "inputSource": source, "inputFormat": {"type": "json"}, "appendToExisting": True}
    return {"type": "index_parallel", "spec": {"dataSchema": schema, "ioConfig": io}}


def read(query: dict[str, Any], *fields: str) -> DruidRead:
    return DruidRead({"intervals": ETERNITY, "granularity": "all", **query}, tuple(Field(f, BIGINT) for f in fields))


def long_scan(name: str) -> DruidRead:
    """A response of 50 MB: more than all buffers together hold. Its batches are small, to limit memory."""
    text = {"type": "expression", "name": "t", "expression": 'repeat("x", 500)', "outputType": "STRING"}
    query = {"queryType": "scan", "dataSource": name, "columns": ["x", "t"], "virtualColumns": [text], "batchSize": 20}
    return read(query, "x")


COUNT = {"type": "count", "name": "n"}


def by_x(source: Any, **more: Any) -> dict[str, Any]:
    dimension = {"type": "default", "dimension": "x", "outputName": "x", "outputType": "LONG"}
    query = {"queryType": "groupBy", "dataSource": source, "granularity": "all", "intervals": ETERNITY}
    return {**query, "dimensions": [dimension], "aggregations": [COUNT], **more}


# --- limits and timeouts ---------------------------------------------------------------------------------------


def test_a_group_by_with_more_groups_than_merge_buffers_hold(druid: DruidCluster, numbers: str) -> None:
    many = [{"type": "doubleSum", "name": f"s{n}", "fieldName": "x"} for n in range(200)]
    with pytest.raises(ResourceError, match="Not enough merge buffer memory"):
        next(druid.rows(read(by_x(numbers, aggregations=many), "s0")))


def test_a_group_by_with_more_text_than_dictionaries_hold(druid: DruidCluster, numbers: str) -> None:
    text = {"type": "expression", "name": "t", "expression": 'repeat("x", 2000)', "outputType": "STRING"}
    with pytest.raises(ResourceError, match=r"Not enough (dictionary|merge buffer) memory"):
        next(druid.rows(read(by_x(numbers, virtualColumns=[text], dimensions=["t"]), "n")))


def test_a_subquery_with_too_many_rows(druid: DruidCluster, numbers: str) -> None:
    rows = {"type": "union", "dataSources": [numbers] * 6}
    scan = {"queryType": "scan", "dataSource": rows, "columns": ["x"], "intervals": ETERNITY}
    inner = {"type": "query", "query": scan}
    query = {"queryType": "timeseries", "dataSource": inner, "aggregations": [COUNT]}
    with pytest.raises(ResourceError, match="beyond maximum"):
        next(druid.rows(read(query, "n")))


def test_subtotals_that_need_more_merge_buffers(druid: DruidCluster, numbers: str) -> None:
    inner = {"type": "query", "query": by_x(numbers)}
    dimensions = [{"type": "default", "dimension": name, "outputName": name} for name in ("x", "n")]
    query = by_x(inner, dimensions=dimensions, subtotalsSpec=[["x"], ["n"], []], aggregations=[{**COUNT, "name": "c"}])
    with pytest.raises(ResourceError, match="merge buffers"):
        next(druid.rows(read(query, "c")))


def test_more_rows_than_may_be_queued_for_ordering(druid: DruidCluster, numbers: str) -> None:
    query = {"queryType": "scan", "dataSource": numbers, "columns": ["__time", "x"], "order": "ascending"}
    context = {"maxRowsQueuedForOrdering": 1, "maxSegmentPartitionsOrderedInMemory": 1}
    with pytest.raises(ResourceError, match="Time ordering is not supported"):
        next(druid.rows(read({**query, "context": context}, "x")))


def test_limits_are_read_from_the_broker(druid: DruidCluster) -> None:
    limits = druid.limits()
    assert limits.subquery_rows == 100_000
    assert limits.merge_buffers in (2, None)
    assert limits != DruidLimits()


def test_an_impossible_query_is_refused_in_one_line(druid: DruidCluster, numbers: str) -> None:
    with pytest.raises(DruidError) as raised:
        next(
            druid.rows(
                read({"queryType": "scan", "dataSource": numbers, "columns": ["x"], "filter": {"type": "z"}}, "x")
            )
        )
    assert type(raised.value) is DruidError
    assert "\n" not in raised.value.message


def test_a_query_that_takes_too_long(cluster: Cluster, numbers: str) -> None:
    with closing(cluster.druid()) as druid:
        hasty = DruidCluster(replace(druid.address, query_timeout=0.001), progress=druid.progress, note=druid.note)
        with closing(hasty), pytest.raises(DruidError, match="took longer than") as raised:
            list(hasty.rows(read(by_x(numbers), "n")))
        assert "druid.query.timeout" in (raised.value.hint or "")


def test_a_timeout_in_the_middle_of_an_answer_is_no_short_answer(cluster: Cluster, numbers: str) -> None:
    """Druid ends such a response normally, with status 200."""
    with closing(cluster.druid()) as druid:
        hasty = DruidCluster(replace(druid.address, query_timeout=2.0), progress=druid.progress, note=druid.note)
        rows = hasty.rows(long_scan(numbers))
        with closing(hasty), closing(rows), pytest.raises(DruidError, match=r"ended (its answer )?early|longer"):  # type: ignore[type-var]
            read_after_its_time(rows)


def read_after_its_time(rows: Iterator[Any]) -> None:
    next(rows)
    # unread data is not sent: the query waits in Druid until its timeout of two seconds
    threading.Event().wait(3)
    list(rows)


# --- connections -----------------------------------------------------------------------------------------------


class Proxy:
    """Forwards connections to Druid until it is told to close them."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._to = (parts.hostname, parts.port)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._socket.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self._to)
            except OSError:
                near.close()
                continue
            self._open.append(far)
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        finally:
            with suppress(OSError):
                target.shutdown(socket.SHUT_RDWR)
            target.close()


def test_a_connection_that_breaks_in_the_middle_of_an_answer(cluster: Cluster, numbers: str) -> None:
    with closing(cluster.druid()) as druid, closing(Proxy(druid.address.broker)) as proxy:
        address = replace(druid.address, broker=proxy.url)
        through = DruidCluster(address, progress=druid.progress, note=druid.note)
        with closing(through):
            rows = through.rows(long_scan(numbers))
            next(rows)
            proxy.cut()
            with pytest.raises(DruidError, match=r"ended (its answer )?early"):
                list(rows)
            assert list(
                through.rows(read({"queryType": "timeseries", "dataSource": numbers, "aggregations": [COUNT]}, "n"))
            ) == [(ROWS,)]


def test_who_stops_reading_stops_the_query(druid: DruidCluster, numbers: str) -> None:
    """One after the other, more than Druid could run at the same time."""
    for _ in range(12):
        with closing(druid.rows(long_scan(numbers))) as rows:  # type: ignore[type-var]
            next(rows)
    count = read({"queryType": "timeseries", "dataSource": numbers, "aggregations": [COUNT]}, "n")
    assert list(druid.rows(count)) == [(ROWS,)]


def test_a_query_keeps_its_id(druid: DruidCluster, numbers: str) -> None:
    query = {"queryType": "timeseries", "dataSource": numbers, "aggregations": [COUNT], "context": {"queryId": "mine"}}
    assert list(druid.rows(read(query, "n"))) == [(ROWS,)]
    assert druid._with_context(query)["context"]["queryId"] == "mine"


def test_a_long_answer_comes_whole(druid: DruidCluster, numbers: str) -> None:
    assert sum(x for (x,) in druid.rows(long_scan(numbers))) == ROWS * (ROWS - 1) // 2


# --- services that die -----------------------------------------------------------------------------------------


@pytest.fixture
def kill(cluster: Cluster) -> Iterator[Callable[[str], None]]:
    """kill -9 of a service; the cluster is complete again after the test."""

    def strike(service: str) -> None:
        os.kill(read_state(cluster.home).processes[service].pid, signal.SIGKILL)

    yield strike
    cluster.start()


def test_a_broker_that_dies_in_the_middle_of_an_answer(
    druid: DruidCluster, numbers: str, kill: Callable[[str], None]
) -> None:
    rows = druid.rows(long_scan(numbers))
    next(rows)
    kill("broker")
    with pytest.raises(DruidError, match=r"ended (its answer )?early"):
        list(rows)
    with pytest.raises(ConnectError, match="cannot reach Druid's broker"):
        next(druid.rows(long_scan(numbers)))


def test_an_indexer_that_dies_with_its_task(
    druid: DruidCluster,
    new_data_source: Callable[[str], str],
    kill: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hivedruid.clients.tasks.LOST_WORKER", 2.0)
    with gzip.open(tmp_path / "a.json.gz", "wt", compresslevel=1) as file:
        file.writelines(f'{{"__time":{n * 3_600_000},"x":{n}}}\n' for n in range(100_000))
    notes: list[str] = []
    struck: list[str] = []

    def strike(text: str) -> None:
        if "ingesting" in text and not struck:
            struck.append(text)
            kill("indexer")

    druid.progress, druid.note = strike, notes.append
    with pytest.raises(DruidError, match=r"no Druid worker is running|ingestion task failed"):
        ingest(druid, ingestion(new_data_source("t"), tmp_path))


# --- projections -----------------------------------------------------------------------------------------------


def test_a_projection_answers_what_it_can(
    druid: DruidCluster, new_data_source: Callable[[str], str], tmp_path: Path
) -> None:
    """It is in the segments, and Druid uses it. For a part of a day it would return the sums of the whole day before
    Druid 37."""
    name = new_data_source("projected")
    with gzip.open(tmp_path / "a.json.gz", "wt") as file:
        file.writelines(f'{{"__time":{n},"x":{n},"few":"{"ab"[n % 2]}"}}\n' for n in range(10))
    spec = ingestion(name, tmp_path)
    total = {"type": "longSum", "name": "total", "fieldName": "x"}
    projection = {
        "type": "aggregate", "name": "by few", "groupingColumns": [{"type": "string", "name": "few"}],
        "aggregators": [total],
    }  # fmt: skip
    schema = spec["spec"]["dataSchema"]
    schema["dimensionsSpec"]["dimensions"].append("few")
    ingest(druid, {**spec, "spec": {**spec["spec"], "dataSchema": {**schema, "projections": [projection]}}})
    query = {
        "queryType": "groupBy", "dataSource": name, "granularity": "all", "intervals": ETERNITY, "dimensions": ["few"],
        "aggregations": [total],
    }  # fmt: skip

    def sums(**change: Any) -> dict[str, int]:
        found = druid.answer({**query, **change}, wire.JsonObject)
        return {item["event"]["few"]: item["event"]["total"] for item in found}

    whole, first = {"a": 0 + 2 + 4 + 6 + 8, "b": 1 + 3 + 5 + 7 + 9}, {"a": 0 + 2, "b": 1 + 3}
    assert answering(query, [projection]) == "by few"
    assert sums() == sums(context={"forceProjections": True}) == whole
    part = ["1970-01-01T00:00:00.000Z/1970-01-01T00:00:00.004Z"]
    own_result = first if druid.client.version.has("projections in part") else whole
    assert sums(intervals=part, context={"noProjections": False}) == own_result
    assert sums(intervals=part) == first
