"""The retention rules of data sources, from the coordinator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hivedruid.clients.druid import DruidClient
from hivedruid.druid.retention import Rule, rule_of

RULES = "/druid/coordinator/v1/rules"
"""The rules of all data sources that have some of their own, and those of all others."""
OF_ALL = "_default"


def retention_rules(client: DruidClient, data_sources: Sequence[str]) -> Mapping[str, tuple[Rule, ...]]:
    """See `Retention.retention_rules`."""
    found = client.get("coordinator", RULES, dict[str, list[dict[str, Any]]])
    rules = {name: tuple(map(rule_of, each)) for name, each in found.items()}
    default = rules.get(OF_ALL, ())
    return {name: (*rules.get(name, ()), *default) for name in data_sources}
