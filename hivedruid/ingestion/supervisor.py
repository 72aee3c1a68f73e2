"""A supervisor of the overlord: its paths, and the parts of its spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.catalog.properties import SUPERVISOR_ID
from hivedruid.catalog.table import Table
from hivedruid.druid.paths import path_of

SUPERVISOR = "/druid/indexer/v1/supervisor"
OWNER_TABLE, OWNER_ID, OWNER_HOME = "hivedruid.table", "hivedruid.table.id", "hivedruid.home"
"""Keys of a supervisor's context that identify its owner: the table's name and table_id, and the home of the catalog.
"""
OWNER_KEYS = (OWNER_TABLE, OWNER_ID, OWNER_HOME)


def supervisor_id(table: Table) -> str:
    """The id of a table's supervisor. Before Druid 34 it is always the name of the data source."""
    return table.properties.get(SUPERVISOR_ID) or table.data_source


def supervisor_path(supervisor: str, part: str = "") -> str:
    """The path of a supervisor by its id, or of a part of it: status, suspend, resetOffsets, …"""
    return path_of(f"{SUPERVISOR}/{{}}/{part}" if part else f"{SUPERVISOR}/{{}}", supervisor)


def spec_part(spec: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    """dataSchema, ioConfig or tuningConfig; older clients, Hive among them, put it at the top level."""
    inner = (spec or {}).get("spec")
    part = (inner if isinstance(inner, Mapping) else spec or {}).get(name)
    return part if isinstance(part, Mapping) else {}


def owner_of(spec: Mapping[str, Any] | None) -> str | None:
    """The table_id of the table that submitted it; None if it has no owner, or if there is no supervisor."""
    owner: str | None = ((spec or {}).get("context") or {}).get(OWNER_ID)
    return owner


def task_groups(io_config: Mapping[str, Any], partitions: int | None) -> int:
    """The smaller of taskCount and the number of partitions, if known; each group has `replicas` tasks."""
    count = int(io_config.get("taskCount") or 1)
    return min(count, partitions) if partitions else count


def replicas(io_config: Mapping[str, Any]) -> int:
    return int(io_config.get("replicas") or 1)
