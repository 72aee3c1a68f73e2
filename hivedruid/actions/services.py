"""The services that actions use."""

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
    """The services that actions use. `druid` and `spark` are called only when needed; the callbacks change the session.

    `place` names the session's engine as recorded by `catalog/places.py`.
    `note` shows a note, `tell` reports what was done, and `confirm` asks the user for confirmation.
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
        """The session's cluster; building the action has already refused the embedded store."""
        from hivedruid.clients.cluster import DruidCluster

        druid = self.druid()
        assert isinstance(druid, DruidCluster)
        return druid
