"""Druid's query context as the settings give it: how native queries are run, never what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def query_context(settings: Mapping[str, str]) -> dict[str, Any]:
    """What every native query carries besides its id and its time limit; a key of its own setting wins."""
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
    """The same for EXPLAIN, with the time limit in milliseconds, and with an id that stays what it is."""
    from hivedruid.settings import seconds

    timeout = round(seconds(settings["druid.query.timeout"]) * 1000)
    return {**query_context(settings), "timeout": timeout, "queryId": f"{settings['druid.query.id.prefix']}-…"}
