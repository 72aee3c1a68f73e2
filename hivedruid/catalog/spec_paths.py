"""The paths of `druid.spec.…` properties: which parts of a supervisor's spec a table may set by their place."""

from __future__ import annotations

import json
from typing import Any

from hivedruid.catalog.properties import INGESTION_PREFIX, PROPERTIES, SPEC_PREFIX, TOPIC_PATTERN
from hivedruid.errors import did_you_mean

PARTS = ("dataSchema", "ioConfig", "tuningConfig", "context")
"""Where a path begins: a part of the spec, or the context of the tasks beside it."""
_FREE = (("context",), ("ioConfig", "consumerProperties"))
"""Objects whose keys may contain dots: the rest of a path is one key, and their values are replaced as a whole."""
_NAMED = {
    "dataSchema.dataSource": "druid.datasource",
    "ioConfig.topic": "kafka.topic",
    "ioConfig.topicPattern": TOPIC_PATTERN,
    "ioConfig.consumerProperties.bootstrap.servers": "kafka.bootstrap.servers",
}
"""What identifies an ingestion has one place: a property of its own."""
_SHAPES: dict[str, tuple[type, str]] = {
    **{f"dataSchema.{name}": (dict, "a JSON object") for name in
       ("timestampSpec", "dimensionsSpec", "granularitySpec", "transformSpec")},
    "ioConfig.inputFormat": (dict, "a JSON object"),
    "dataSchema.metricsSpec": (list, "a JSON array"),
    "dataSchema.dimensionsSpec.dimensions": (list, "a JSON array"),
    **{f"{item.section}.{name}": (int, "an integer") for item in PROPERTIES.values()
       if item.type in ("int", "long") and (name := item.key.removeprefix(INGESTION_PREFIX)) and item.section},
}  # fmt: skip
"""The shapes of parts that are read here, too; null removes them."""


def spec_keys(path: str) -> tuple[str, ...]:
    """The keys of a path from the top of the spec: `dataSchema.timestampSpec.missingValue` has three."""
    keys = tuple(path.split("."))
    for free in _FREE:
        if keys[: len(free)] == free and len(keys) > len(free):
            return *free, ".".join(keys[len(free) :])
    return keys


def spec_path(keys: tuple[str, ...]) -> str | None:
    """The path of keys from the top of the spec; None if it would be read differently."""
    path = ".".join(keys)
    return path if all(keys) and spec_keys(path) == keys and problem_of_path(path) is None else None


def problem_of_path(path: str) -> tuple[str, str | None] | None:
    """Why no property may have this path, and a hint; None for a valid one."""
    key = SPEC_PREFIX + path
    keys = spec_keys(path)
    if keys[0] not in PARTS:
        return f"'{key}' is not a part of a supervisor's spec", (
            did_you_mean(keys[0], PARTS) or f"a path begins with {', '.join(PARTS)}"
        )
    if len(keys) == 1 or not all(keys) or keys == ("ioConfig", "consumerProperties"):
        return f"'{key}' names a whole part of the spec, not a value in it", f"append its key: {key}.…"
    if path in _NAMED:
        return f"'{key}' has a property of its own", f"use '{_NAMED[path]}'"
    if keys[0] == "context" and keys[1].startswith("hivedruid."):
        return f"'{key}' is set automatically", "remove it"
    return None


def problem_of_value(path: str, text: str) -> str | None:
    """What the value at a path must be; None for a valid one."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return "JSON: a text is in double quotes"
    shape, wanted = _SHAPES.get(path, (object, ""))
    return None if value is None or (isinstance(value, shape) and not isinstance(value, bool)) or not wanted else wanted
