"""A session that writes to a real cluster, as segments built by Spark or with a task of Druid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.clients.segments import ETERNITY, interval
from hivedruid.session import Session
from tests.support.job_homes import conf_of

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

SEGMENTS, NATIVE = "SET hivedruid.druid.write=segments", "SET hivedruid.druid.write=native"
WAYS = {"segments": SEGMENTS, "native": NATIVE}


class Writer:
    """A session on the cluster, with tables whose data sources are dropped at the end."""

    def __init__(self, home: Path, cluster: Cluster, **settings: str) -> None:
        self.druid = cluster.druid()
        self.token = uuid4().hex[:8]
        self.notes: list[str] = []
        self.shown: list[str] = []
        self.session = Session(
            home, hiveconf={**conf_of(cluster.services), **settings}, note=self.notes.append, progress=self.shown.append
        )

    def run(self, text: str) -> list[tuple[Any, ...]]:
        """Run statements, in which {t} is a token for names; returns the rows of the last one."""
        rows: list[tuple[Any, ...]] = []
        for statement in self.session.statements(text.replace("{t}", self.token)):
            rows = [tuple(row) for row in self.session.execute(statement).rows]
        return rows

    def source(self, table: str) -> str:
        return f"default.{table}_{self.token}"

    def segments(self, table: str) -> list[dict[str, Any]]:
        """The used segments, from the metadata store and not from the coordinator's last poll."""
        path = f"/druid/coordinator/v1/metadata/datasources/{self.source(table)}/segments?full"
        return self.druid.client.post("coordinator", path, list[dict[str, Any]], [interval(ETERNITY)])

    def end(self) -> None:
        self.session.close()
        for name in self.druid.data_sources():
            if self.token in name:
                self.druid.drop(name)
        self.druid.close()


def is_built(segment: dict[str, Any]) -> bool:
    """Whether hivedruid built it."""
    return "/hivedruid-" in (segment["loadSpec"]["path"] or "")
