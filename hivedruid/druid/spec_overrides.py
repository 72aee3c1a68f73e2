"""Parts of a supervisor's spec that a table sets by their path, as properties below `druid.spec.`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hivedruid.catalog.properties import SPEC_PREFIX
from hivedruid.catalog.spec_paths import spec_keys

Json = dict[str, Any]


def overrides(properties: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys from the top of the spec, and the value at that place; None removes the last key. A part comes before
    the parts below it."""
    for key in sorted(key for key in properties if key.startswith(SPEC_PREFIX)):
        keys = spec_keys(key.removeprefix(SPEC_PREFIX))
        yield (keys if keys[0] == "context" else ("spec", *keys)), json.loads(properties[key])


def with_overrides(spec: Json, properties: Mapping[str, str]) -> Json:
    """The spec with all parts that `properties` set by their path."""
    for keys, value in overrides(properties):
        spec = _with_value(spec, keys, value)
    return spec


def _with_value(spec: Any, keys: Sequence[str], value: Any) -> Json:
    first, *rest = keys
    inner: Json = dict(spec) if isinstance(spec, Mapping) else {}
    if rest:
        return {**inner, first: _with_value(inner.get(first), rest, value)}
    if value is None:
        inner.pop(first, None)
        return inner
    return {**inner, first: value}
