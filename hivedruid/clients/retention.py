"""The retention rules of data sources at the coordinator, its deletion of unused segments, and their return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hivedruid.clients import wire
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.segments import Segments
from hivedruid.druid.retention import ALL_DATA_SOURCES, RULES_PATH, Rule, rule_of, rules_path
from hivedruid.errors import DruidError

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.engine.segments import Segment

KILL = "druid.coordinator.kill."
KILL_DEFAULTS = {"on": "false", "durationToRetain": "P90D", "ignoreDurationToRetain": "false", "bufferPeriod": "P30D"}
"""Those of KillUnusedSegmentsConfig in Druid 33."""


def own_rules(client: DruidClient) -> Mapping[str, tuple[Rule, ...]]:
    """See `Retention.own_retention_rules`."""
    found = client.get("coordinator", RULES_PATH, dict[str, list[dict[str, Any]]])
    return {name: tuple(map(rule_of, each)) for name, each in found.items()}


def retention_rules(client: DruidClient, data_sources: Sequence[str]) -> Mapping[str, tuple[Rule, ...]]:
    """See `Retention.retention_rules`."""
    rules = own_rules(client)
    default = rules.get(ALL_DATA_SOURCES, ())
    return {name: (*rules.get(name, ()), *default) for name in data_sources}


def set_rules(client: DruidClient, data_source: str, rules: Sequence[Rule], comment: str) -> None:
    """See `Retention.set_retention_rules`."""
    audit = {"X-Druid-Author": "hivedruid", "X-Druid-Comment": comment}
    body = [rule.json for rule in rules]
    client.post("coordinator", rules_path(data_source), wire.Acknowledgement, body, headers=audit)


def restore(cluster: DruidCluster, data_source: str, segments: Sequence[Segment]) -> None:
    """See `DeepStorage.restore`."""
    stored = Segments(cluster.client, data_source)
    stored.mark_used(segments)
    rows = [segment for segment in segments if not segment.is_tombstone]
    cluster.progress(f"Druid: waiting until {len(rows)} segments of {data_source} are loaded")
    try:
        is_loaded = stored.wait_for(rows, cluster.patience)
    finally:
        cluster.progress("")
    if not is_loaded:
        raise DruidError(
            f"the segments of {data_source} are marked as used, but timed out after {cluster.patience:g} s waiting for"
            " historicals to load them",
            hint=f"check the retention rules of {data_source}: run SHOW DATA SOURCES",
        )


def kill_duty(client: DruidClient) -> str:
    """See `DeepStorage.kill_duty`."""
    try:
        given = client.get("coordinator", "/status/properties", dict[str, str], missing={})
    except DruidError:
        return "whether Druid deletes unused segments is not known: its coordinator does not show its properties"
    duty = {name: given.get(KILL + name, default) for name, default in KILL_DEFAULTS.items()}
    if duty["on"].lower() != "true":
        return f"Druid does not delete them ({KILL}on is false)"
    older = (
        ""
        if duty["ignoreDurationToRetain"].lower() == "true"
        else f" if their rows are older than {duty['durationToRetain']}"
    )
    return f"Druid deletes them {duty['bufferPeriod']} after they were dropped{older} ({KILL}on is true)"
