"""Rows that are written to a cluster as segments built by Spark: the same tables as Druid's own task makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.session import Session
from tests.support.job_homes import conf_of

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark
SEGMENTS, NATIVE = ("SET hivedruid.druid.write=segments", "SET hivedruid.druid.write=native")
WAYS = (SEGMENTS, NATIVE)


class Writer:
    """A session on the cluster, with tables whose data sources are dropped at the end."""

    def __init__(self, home: Path, cluster: Cluster) -> None:
        self.cluster = cluster
        self.token = uuid4().hex[:8]
        self.notes: list[str] = []
        self.session = Session(home, hiveconf=conf_of(cluster.services), note=self.notes.append)

    def run(self, text: str) -> list[tuple[Any, ...]]:
        """Run statements, in which {t} is a token for names; returns the rows of the last one."""
        rows: list[tuple[Any, ...]] = []
        for statement in self.session.statements(text.replace("{t}", self.token)):
            rows = [tuple(row) for row in self.session.execute(statement).rows]
        return rows

    def end(self, druid: DruidCluster) -> None:
        self.session.close()
        for name in druid.data_sources():
            if self.token in name:
                druid.drop(name)


@pytest.fixture
def writer(cluster: Cluster, druid: DruidCluster, tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path / "home", cluster)
    yield made
    made.end(druid)


def built_by_spark(druid: DruidCluster, name: str) -> list[bool]:
    """For each used segment, whether hivedruid built it."""
    path = f"/druid/coordinator/v1/metadata/datasources/{name}/segments?full"
    found = druid.client.get("coordinator", path, list[dict[str, Any]])
    return ["/hivedruid-" in (item["loadSpec"]["path"] or "") for item in found]


def test_create_table_as(writer: Writer, druid: DruidCluster) -> None:
    rows = writer.run(
        f"{SEGMENTS}; CREATE EXTERNAL TABLE c_{{t}} STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') AS "
        "SELECT * FROM VALUES (TIMESTAMP '2024-01-01 00:00:00', 'a', 1), (TIMESTAMP '2024-01-02 00:00:00', '', 2), "
        "(TIMESTAMP '2024-01-02 00:00:00', NULL, 3) AS v(`__time`, s, n); SELECT s, n FROM c_{t} ORDER BY n"
    )
    assert rows == [("a", 1), ("", 2), (None, 3)]
    assert built_by_spark(druid, f"default.c_{writer.token}") == [True, True]
    assert writer.run("SHOW JOBS")[0][3] == "cleaned"
