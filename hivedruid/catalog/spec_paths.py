"""The paths of `druid.spec.…` properties: which parts of a supervisor's spec a table may set by their place."""

from __future__ import annotations

import json
import re
from typing import Any

from hivedruid.catalog.properties import INGESTION_PREFIX, PROPERTIES, SPEC_PREFIX, TOPIC_PATTERN
from hivedruid.errors import did_you_mean

PARTS = ("dataSchema", "ioConfig", "tuningConfig", "context")
"""Where a path begins: a part of the spec, or the context of the tasks beside it."""
_FREE = (("context",), ("ioConfig", "consumerProperties"))
"""Objects whose keys often contain dots: the rest of a path is one key, and their values are replaced as a whole."""
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


_KEY = re.compile(r'"(?:[^"\\]|\\.)*"(?=\.|\Z)|[^.]*', re.S)
"""A key in a path. In double quotes it is a text of JSON, as `tuningConfig."a.b"`."""


def spec_keys(path: str) -> tuple[str, ...]:
    """The keys of a path from the top of the spec: `dataSchema.timestampSpec.missingValue` has three."""
    keys: list[str] = []
    place = 0
    while place <= len(path):
        if tuple(keys) in _FREE:
            return (*keys, _key(path[place:]))
        written = _KEY.match(path, place)
        assert written is not None
        keys.append(_key(written[0]))
        place = written.end() + 1
    return tuple(keys)


def _key(written: str) -> str:
    """A key, of which quotes may be a part if they enclose no text of JSON."""
    try:
        return str(json.loads(written)) if written.startswith('"') else written
    except ValueError:
        return written


def _path(keys: tuple[str, ...]) -> str:
    """The one path of keys: with quotes only where they are needed."""
    *above, last = keys
    written = [_written(key, dots=False) for key in above]
    return ".".join((*written, _written(last, dots=tuple(above) in _FREE)))


def _written(key: str, *, dots: bool) -> str:
    """A key in a path; `dots` says whether it may contain them without quotes."""
    return json.dumps(key, ensure_ascii=False) if not key or key[0] == '"' or ("." in key and not dots) else key


def spec_path(keys: tuple[str, ...]) -> str | None:
    """The path of keys from the top of the spec; None if no property may have it."""
    path = _path(keys)
    return path if spec_keys(path) == keys and problem_of_path(path) is None else None


def problem_of_path(path: str) -> tuple[str, str | None] | None:
    """Why no property may have this path, and a hint; None for a valid one."""
    key = SPEC_PREFIX + path
    keys = spec_keys(path)
    if keys[0] not in PARTS:
        return f"'{key}' is not a part of a supervisor's spec", (
            did_you_mean(keys[0], PARTS) or f"a path begins with {', '.join(PARTS)}"
        )
    if len(keys) == 1 or path.removesuffix(".") in map(".".join, _FREE):
        return f"'{key}' names a whole part of the spec, not a value in it", f"append its key: {key.rstrip('.')}.…"
    if path != (plain := _path(keys)):
        return _problem_of_quotes(key, SPEC_PREFIX + plain)
    if path in _NAMED:
        return f"'{key}' has a property of its own", f"use '{_NAMED[path]}'"
    if keys[0] == "context" and keys[1].startswith("hivedruid."):
        return f"'{key}' is set automatically", "remove it"
    return None


def _problem_of_quotes(key: str, plain: str) -> tuple[str, str]:
    if ".." in key or key.endswith("."):
        return f"'{key}' has an empty key", f"remove the dot, or write {plain}"
    if plain.count('"') > key.count('"'):
        return f"'{key}' has a quote without an end", f"did you mean {plain}?"
    return f"'{key}' needs no quotes", f"use {plain}"


def problem_of_value(path: str, text: str) -> str | None:
    """What the value at a path must be; None for a valid one."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return "JSON: a text is in double quotes"
    shape, wanted = _SHAPES.get(path, (object, ""))
    return None if value is None or (isinstance(value, shape) and not isinstance(value, bool)) or not wanted else wanted
