"""Avro schemas that use types of other schemas, as those of a schema registry, as one schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hivedruid.catalog.avro import PRIMITIVES, full_name
from hivedruid.errors import SemanticError

_NAMED = ("record", "enum", "fixed")
_PART = {"array": "items", "map": "values"}
"""The key with the type that a type contains."""


def self_contained(text: str, others: Iterable[str]) -> str:
    """A schema in which each type of the other schemas is defined where it is used first. Of several definitions of a
    type, the first counts. Raises SemanticError."""
    try:
        definitions: dict[str, Any] = {}
        for other in others:
            for name, definition in _definitions(json.loads(other), ""):
                definitions.setdefault(name, definition)
        return json.dumps(_expanded(json.loads(text), "", definitions, set()), ensure_ascii=False)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SemanticError(
            f"invalid Avro schema: {type(error).__name__} in it or a schema that it refers to"
        ) from None


def _definitions(value: Any, space: str) -> Iterator[tuple[str, Any]]:
    """The named types that a schema defines, by full name, each with its namespace."""
    if isinstance(value, list):
        for item in value:
            yield from _definitions(item, space)
    if not isinstance(value, dict):
        return
    kind = value["type"]
    if kind in _NAMED:
        name, space = full_name(value, space)
        yield name, {**value, "name": name.rpartition(".")[2], "namespace": space}
        for field in value.get("fields", ()):
            yield from _definitions(field["type"], space)
    else:
        yield from _definitions(value[_PART[kind]] if isinstance(kind, str) and kind in _PART else kind, space)


def _expanded(value: Any, space: str, definitions: Mapping[str, Any], defined: set[str]) -> Any:
    """The type, with the definitions of the names in it that are not yet `defined`."""
    if isinstance(value, list):
        return [_expanded(item, space, definitions, defined) for item in value]
    if isinstance(value, str):
        names = [name for name in (f"{space}.{value}", value) if name in defined or name in definitions]
        if value in PRIMITIVES or not names or names[0] in defined:
            return value if value in PRIMITIVES or not names else names[0]
        return _expanded(definitions[names[0]], "", definitions, defined)
    kind = value["type"]
    if kind in _NAMED:
        name, space = full_name(value, space)
        if name in defined:
            return name
        defined.add(name)
        made = {**value, "name": name.rpartition(".")[2], "namespace": space}
        if kind == "record":
            made["fields"] = [
                {**field, "type": _expanded(field["type"], space, definitions, defined)} for field in value["fields"]
            ]
        return made
    part = _PART.get(kind, "type") if isinstance(kind, str) else "type"
    return {**value, part: _expanded(value[part], space, definitions, defined)}
