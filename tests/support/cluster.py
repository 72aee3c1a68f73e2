"""A Druid and Kafka cluster for a whole test run: started once, and always stopped at its end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.local.cluster import LocalCluster
from hivedruid.local.state import LocalServices
from tests.druid37 import cluster as druid37

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

Run = Callable[[str], list[tuple[Any, ...]]]
VARIABLE = "HIVEDRUID_TEST_CLUSTER"
"""The home of a cluster to use instead: it is started if it is not running, and keeps running."""


@dataclass(frozen=True)
class Cluster:
    """A running local cluster.

    `start` starts again the services that have ended. `is_adopted`: the cluster outlives the tests, so they remove their
    data.
    """

    home: Path
    services: LocalServices
    start: Callable[[], LocalServices]
    is_adopted: bool

    @contextmanager
    def statements(self, home: Path) -> Iterator[Run]:
        """A function that runs statements in a home, and returns the rows of the last one."""
        from hivedruid.session import Session

        urls = {"druid.url": self.services.broker, "druid.coordinator.url": self.services.coordinator}
        with Session(home, hiveconf=urls) as session:

            def run(text: str) -> list[tuple[Any, ...]]:
                rows: list[tuple[Any, ...]] = []
                for statement in session.statements(text):
                    rows = list(session.execute(statement).rows)
                return rows

            yield run

    def druid(self) -> DruidCluster:
        """A separate client, for one thread; the caller closes it."""
        from hivedruid.clients.address import address
        from hivedruid.clients.cluster import DruidCluster
        from hivedruid.settings import Settings

        settings = Settings({"druid.url": "local"})
        return DruidCluster(address(settings, self.services), progress=lambda _: None, note=lambda _: None)


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """The cluster of HIVEDRUID_TEST_CLUSTER, or else one below `folder`, which is removed afterwards: of Druid 37, if
    HIVEDRUID_TEST_DRUID37 names its program."""
    adopted = os.environ.get(VARIABLE)
    if tool := os.environ.get(druid37.VARIABLE):
        with druid37.adopted_druid37(adopted) if adopted else druid37.running_druid37(tool, folder) as start:
            yield Cluster(Path(adopted or folder), start(), start, is_adopted=bool(adopted))
        return
    home = Path(adopted).expanduser().absolute() if adopted else folder
    home.mkdir(parents=True, exist_ok=True)
    local = LocalCluster(home, heap=None if adopted else "small")
    try:
        yield Cluster(home, local.up(), local.up, is_adopted=bool(adopted))
    finally:
        if not adopted:
            local.down(clean=True)
