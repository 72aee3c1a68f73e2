"""What only a running Druid 37 shows: `make druid37-cluster TOOL=folder` runs these tests with those of any cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from hivedruid.clients import wire
from hivedruid.errors import DruidError
from hivedruid.local.services import data
from tests.druid37.cluster import FORMAT
from tests.support.ingestion import until

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster, Run

BROKERS = "/druid/coordinator/v1/broker/config"


@pytest.fixture(scope="module")
def druid(cluster: Cluster) -> Iterator[DruidCluster]:
    with closing(cluster.druid()) as made:
        yield made


@pytest.fixture(scope="module")
def run(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs statements on a table of three rows; returns the rows of the last one."""
    with cluster.statements(tmp_path_factory.mktemp("home")) as run:
        run(
            "CREATE TABLE running (`__time` timestamp, c string, n bigint) STORED BY 'druid';"
            "INSERT INTO running VALUES ('2026-01-01 00:00:00', 'a', 1), ('2026-01-02 00:00:00', 'b', NULL),"
            " ('2026-01-03 00:00:00', NULL, 3)"
        )
        yield run
        run("DROP TABLE running")


def test_the_version(druid: DruidCluster) -> None:
    assert druid.client.version.text == "37.0.0"


def test_the_format_of_segments_that_tasks_write(cluster: Cluster, run: Run) -> None:
    run("SELECT count(*) FROM running")
    names = {file.name for file in (data(cluster.home, "segments") / "default.running").rglob("*") if file.is_file()}
    expected = (
        {"druid.segment"}
        if os.environ.get(FORMAT) == "10"
        else {"version.bin", "meta.smoosh", "00000.smoosh", "factory.json"}
    )
    assert names == expected


def test_a_blocked_query_names_the_rule(druid: DruidCluster, run: Run) -> None:
    query = "SELECT sum(n) FROM running"
    rule = {"ruleName": "no sums", "dataSources": ["default.running"]}
    druid.client.post("coordinator", BROKERS, wire.Acknowledgement, {"queryBlocklist": [rule]})
    try:
        until(lambda: _is_refused(run, query), "the rule in the broker")
        with pytest.raises(
            DruidError, match=r"refused the query: blocked by rule\[no sums\] of the broker's configuration"
        ):
            run(query)
    finally:
        druid.client.post("coordinator", BROKERS, wire.Acknowledgement, {"queryBlocklist": []})
    until(lambda: not _is_refused(run, query), "the end of the rule in the broker")
    assert run(query) == [(4,)]


def _is_refused(run: Run, query: str) -> bool:
    try:
        run(query)
    except DruidError:
        return True
    return False
