"""What actions act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.store import Catalog

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.engine.engine import DruidEngine
    from hivedruid.spark.jobs import SparkRunner


@dataclass
class Services:
    """What actions act on. `druid` and `spark` are only called where they are needed; the callbacks change the session.

    `place` names the Druid of the session as `catalog/places.py` remembers it.
    `note` is for what a person should know, `tell` for what was done; `confirm` asks whether what it is told may be done.
    """

    home: Path
    catalog: Catalog
    druid: Callable[[], DruidEngine]
    spark: Callable[[], SparkRunner]
    use_database: Callable[[str], None]
    change_setting: Callable[[str, str], None]
    reset_setting: Callable[[str | None], None]
    zone: Callable[[], str]
    place: Callable[[], str]
    query_context: Callable[[], Mapping[str, Any]]
    setting: Callable[[str], str]
    note: Callable[[str], None]
    tell: Callable[[str], None]
    confirm: Callable[[str], bool]

    def cluster(self) -> DruidCluster:
        """The session's Druid where it is a cluster, which building the action has made sure of."""
        from hivedruid.clients.cluster import DruidCluster

        druid = self.druid()
        assert isinstance(druid, DruidCluster)
        return druid
