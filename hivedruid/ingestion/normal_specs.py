"""The parts of a supervisor's spec in the form in which equal values have an equal meaning: what Druid writes for what
was posted to it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLAIN_NUMBERS = ("long", "float", "double")
"""Types of dimensions that have no bitmaps by default."""
_ABSENT = object()


def derived_exclusions(*specs: Mapping[str, Any]) -> frozenset[str]:
    """The names that Druid itself excludes from the dimensions that it discovers: the time, and the fields that
    aggregators read and write (DataSchema.computeDimensionExclusions). Any text in an aggregator counts as one."""
    found = {"__time", "timestamp"}
    for spec in specs:
        schema = spec.get("dataSchema") or {}
        found.add(str((schema.get("timestampSpec") or {}).get("column")))
        found.update(_texts(schema.get("metricsSpec")))
    return frozenset(found)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        yield from re.findall(r"\w+", value)
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _texts(item)


def without_exclusions(spec: dict[str, Any], derived: frozenset[str]) -> None:
    """Leave only the exclusions that were asked for; without discovery there are none to make."""
    schema = spec.get("dataSchema") or {}
    dimensions = schema.get("dimensionsSpec") or {}
    if "dimensionExclusions" in dimensions:
        left = sorted({*(dimensions["dimensionExclusions"] or ())} - derived) if discovers(dimensions) else []
        spec["dataSchema"] = {**schema, "dimensionsSpec": {**dimensions, "dimensionExclusions": left}}


def discovers(dimensions: Mapping[str, Any]) -> bool:
    """Whether a dimensionsSpec lets Druid find dimensions in the records."""
    return not (dimensions.get("dimensions") or dimensions.get("spatialDimensions")) or bool(
        dimensions.get("includeAllDimensions") or dimensions.get("useSchemaDiscovery")
    )


def normal(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec in which elements of lists, and values whose default follows another one, are as Druid writes them."""
    result = dict(spec)
    schema = dict(spec.get("dataSchema") or {})
    dimensions = schema.get("dimensionsSpec")
    if isinstance(dimensions, Mapping) and isinstance(dimensions.get("dimensions"), list):
        schema["dimensionsSpec"] = {**dimensions, "dimensions": [*map(normal_dimension, dimensions["dimensions"])]}
    if isinstance(schema.get("metricsSpec"), list):
        schema["metricsSpec"] = [*map(normal_metric, schema["metricsSpec"])]
    if isinstance(granularity := schema.get("granularitySpec"), Mapping):
        names = ("segmentGranularity", "queryGranularity")
        texts = {name: item.upper() for name in names if isinstance(item := granularity.get(name), str)}
        schema["granularitySpec"] = {**granularity, **texts}
    result["dataSchema"] = schema
    io = spec.get("ioConfig")
    consumer = io.get("consumerProperties") if isinstance(io, Mapping) else None
    if isinstance(io, Mapping) and isinstance(consumer, Mapping):
        io = {**io, "consumerProperties": {key: consumer_value(value) for key, value in consumer.items()}}
    if isinstance(io, Mapping) and "inputFormat" in io:
        io = {**io, "inputFormat": normal_format(io["inputFormat"])}
    return {**result, **({"ioConfig": io} if io is not None else {})}


def normal_format(given: Any) -> Any:
    """An inputFormat, with the formats in it. Druid 33 writes `tryParseNumbers` of csv and tsv under another name,
    which it does not read (DelimitedInputFormat.shouldTryParseNumbers)."""
    if not isinstance(given, Mapping):
        return given
    written = "shouldTryParseNumbers"
    renamed = {"tryParseNumbers" if key == written else key: value for key, value in given.items()}
    inner = {key: normal_format(value) for key in ("keyFormat", "valueFormat") if (value := given.get(key)) is not None}
    return {**renamed, **inner}


def consumer_value(value: Any) -> Any:
    """Druid gives the text of a number to the consumer (KafkaRecordSupplier.addConsumerPropertiesFromConfig)."""
    return json.dumps(value) if isinstance(value, int | float) else value


def normal_dimension(item: Any) -> Any:
    """A dimension as an object: it may be given by its name alone, and numbers have no bitmaps by default."""
    if isinstance(item, str):
        item = {"name": item}
    if not isinstance(item, Mapping):
        return item
    made = {"type": "string", **item}
    return {**made, "createBitmapIndex": _first(made.get("createBitmapIndex"), made["type"] not in _PLAIN_NUMBERS)}


def plain_dimension(item: Mapping[str, Any]) -> dict[str, Any]:
    """A dimension without the values that are Druid's defaults."""
    defaults = normal_dimension({"type": item.get("type", "string")}) | {"multiValueHandling": "SORTED_ARRAY"}
    return {
        key: value for key, value in item.items()
        if value is not None and (key == "type" or value != defaults.get(key, _ABSENT))
    }  # fmt: skip


def _first(given: Any, default: Any) -> Any:
    return default if given is None else given


def normal_metric(item: Any) -> Any:
    """A filtered aggregator has the name of the aggregator in it."""
    inner = item.get("aggregator") if isinstance(item, Mapping) else None
    return {**item, "name": inner.get("name")} if isinstance(inner, Mapping) and not item.get("name") else item
