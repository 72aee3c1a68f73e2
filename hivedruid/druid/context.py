"""Druid's query context from the settings: it affects how native queries run, not their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def query_context(settings: Mapping[str, str]) -> dict[str, Any]:
    """The context of every native query besides its id and timeout; keys with their own setting take precedence."""
    context: dict[str, Any] = {}
    if settings["druid.query.context"]:
        from json import loads

        context = loads(settings["druid.query.context"])
    if settings["druid.query.priority"] != "0":
        context["priority"] = int(settings["druid.query.priority"])
    tags = settings["druid.query.tags"]
    if tags:
        context["tags"] = dict(tag.split("=") for tag in tags.split(","))
    return context


def shown_context(settings: Mapping[str, str]) -> dict[str, Any]:
    """The same for EXPLAIN, with the time limit in milliseconds, and with a constant id."""
    from hivedruid.setting_types import seconds

    timeout = round(seconds(settings["druid.query.timeout"]) * 1000)
    return {**query_context(settings), "timeout": timeout, "queryId": f"{settings['druid.query.id.prefix']}-…"}
