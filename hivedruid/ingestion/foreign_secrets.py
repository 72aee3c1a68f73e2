"""Plain-text secrets in a supervisor's spec that another program posted: references take their places."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hivedruid.catalog.names import free_name
from hivedruid.druid.supervisor import DYNAMIC_PROVIDER
from hivedruid.lazy_dataclass import dataclass
from hivedruid.redaction import redact_spec
from hivedruid.secrets import hides

Json = dict[str, Any]
Place = tuple[str, ...]
"""The keys of a value from the top of a spec."""


@dataclass
class References:
    """The variables that stand for secrets, by the place of each secret."""

    variables: dict[str, str] = field(default_factory=dict)

    def new(self, place: Place) -> str:
        """A variable for the secret at a place: KAFKA_SASL_JAAS_CONFIG for the consumer's sasl.jaas.config."""
        key = next((key for key in reversed(place) if not key.isdecimal()), "")
        plain = "KAFKA_" + re.sub(r"\W+", "_", key, flags=re.ASCII).strip("_").upper()
        name = free_name(plain, self.variables.values())
        self.variables[".".join(place)] = name
        return name

    def without_secrets(self, value: Any, place: Place = ()) -> Any:
        """A value of a spec, with references to variables in Druid's form in place of its secrets."""
        return self._replaced(value, redact_spec(value), place)

    def of_consumer(self, consumer: Mapping[str, Any]) -> Json:
        """consumerProperties; the consumer itself reads variables through Druid's provider alone."""
        place = ("ioConfig", "consumerProperties")
        shown = redact_spec(consumer)
        kept: Json = {}
        variables: dict[str, str] = {}
        for key, value in consumer.items():
            if key == DYNAMIC_PROVIDER:
                continue
            if isinstance(value, str) and shown[key] != value:
                variables[key] = self.new((*place, key))
            else:
                kept[key] = self._replaced(value, shown[key], (*place, key))
        provider = consumer.get(DYNAMIC_PROVIDER)
        if isinstance(provider, Mapping) and provider.get("type") == "mapString":
            variables |= {key: self.new((*place, key)) for key in provider.get("config") or {}}
            provider = None
        if isinstance(provider, Mapping) and provider.get("type") not in (None, "environment"):
            provided = self._replaced(provider, shown[DYNAMIC_PROVIDER], (*place, DYNAMIC_PROVIDER))
            return {**kept, DYNAMIC_PROVIDER: provided}
        known = provider.get("variables") if isinstance(provider, Mapping) else None
        if known or variables:
            kept[DYNAMIC_PROVIDER] = {"type": "environment", "variables": {**(known or {}), **variables}}
        return kept

    def of_property(self, name: str, value: Any, place: Place) -> Any:
        """A value that a property with this name has in JSON, with references in place of what would be hidden."""
        if not hides(name, json.dumps(value)):
            return value
        if isinstance(value, Mapping) and not _is_password(value):
            return {key: self.of_property(name, item, (*place, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self.of_property(name, item, (*place, str(n))) for n, item in enumerate(value)]
        return {"type": "environment", "variable": self.new(place)}

    def _replaced(self, value: Any, shown: Any, place: Place) -> Any:
        if value == shown:
            return value
        if isinstance(value, Mapping) and not _is_password(value):
            return {key: self._replaced(item, shown[key], (*place, key)) for key, item in value.items()}
        if isinstance(value, list):
            pairs = enumerate(zip(value, shown, strict=True))
            return [self._replaced(item, other, (*place, str(n))) for n, (item, other) in pairs]
        return {"type": "environment", "variable": self.new(place)}


def _is_password(value: Mapping[str, Any]) -> bool:
    """Whether an object is a plain-text password in Druid's form, whose place a reference takes as a whole."""
    return "password" in value and value.get("type") == "default"
