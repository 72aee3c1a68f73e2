"""The columns of a table whose ingestion has the dimensions and metrics of a spec. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from hivedruid.catalog.druid_columns import MULTI_VALUES, SKETCHES, Aggregator, parse_aggregators
from hivedruid.catalog.names import free_name
from hivedruid.catalog.table import TIME_COLUMN, Column
from hivedruid.catalog.types import BIGINT, BINARY, DOUBLE, FLOAT, STRING, TIMESTAMP_LTZ, HiveType
from hivedruid.druid.sketch_columns import building
from hivedruid.ingestion.compare import is_same
from hivedruid.ingestion.normal_specs import discovers, normal_dimension, normal_metric, plain_dimension
from hivedruid.lazy_dataclass import dataclass
from hivedruid.sketches.kinds import AGGREGATORS as KINDS
from hivedruid.tables.druid_tables import discovered_type

Json = dict[str, Any]

_NUMBERS: dict[str, HiveType] = {"long": BIGINT, "float": FLOAT, "double": DOUBLE}
_DIMENSIONS: dict[str, HiveType] = {"string": STRING, **_NUMBERS}
_NUMERIC = re.compile(r"(?P<type>long|float|double)(?P<function>Sum|Min|Max)")
_UNUSABLE = re.compile(r"[,:()`\x00-\x1f]|^\s|\s$")
"""What the lists in properties could not say in the name of a column."""


@dataclass
class AdoptedColumns:
    """The columns, and what their properties say: `fields` are Druid's names of columns, `dimensions` numeric columns
    that are not summed, `several` the handling of multiple values, `aggregators` the text of druid.columns.aggregators,
    `dimensions_spec` and `metrics_spec` what only JSON can say."""

    fields: dict[str, str] = field(default_factory=dict)
    types: dict[str, HiveType] = field(default_factory=dict)
    dimensions: list[str] = field(default_factory=list)
    several: dict[str, str] = field(default_factory=dict)
    aggregated: list[str] = field(default_factory=list)
    dimensions_spec: list[Json] = field(default_factory=list)
    metrics_spec: list[Json] = field(default_factory=list)

    @property
    def columns(self) -> tuple[Column, ...]:
        return Column(TIME_COLUMN, TIMESTAMP_LTZ), *(Column(name, type_) for name, type_ in self.types.items())

    @property
    def aggregators(self) -> str:
        return ", ".join(self.aggregated)


def adopted_columns(schema: Mapping[str, Any], discovered: Mapping[str, str]) -> AdoptedColumns:
    """The columns of a dataSchema: its dimensions, then its metrics, in their order. If it discovers dimensions, those
    of `discovered`, the fields of the data source with their types, follow."""
    dimensions_spec = schema.get("dimensionsSpec") or {}
    rollup = (schema.get("granularitySpec") or {}).get("rollup") is not False
    dimensions = _named(map(normal_dimension, dimensions_spec.get("dimensions") or ()))
    metrics = _named(map(normal_metric, schema.get("metricsSpec") or ()))
    fields = [*dimensions, *metrics]
    if discovers(dimensions_spec):
        fields += [name for name in discovered if name not in fields and name != TIME_COLUMN]
    names = _column_names(fields)
    result = AdoptedColumns({name: field for field, name in names.items()})
    for field_name, name in names.items():
        if field_name in metrics:
            result.types[name] = _add_metric(result, name, metrics[field_name], discovered, rollup=rollup)
            continue
        given = dimensions.get(field_name)
        type_ = _type_of(given, discovered.get(field_name))
        result.types[name] = type_
        if given is not None:
            _add_dimension(result, name, given, type_)
        described = any(item["name"] == field_name for item in result.dimensions_spec)
        if rollup and type_ in _NUMBERS.values() and not described:
            result.dimensions.append(name)
    return result


def _named(items: Iterable[Any]) -> dict[str, Json]:
    """The elements by name, except those that cannot be columns."""
    named = ((item.get("name"), item) for item in items if isinstance(item, Mapping))
    return {
        name: dict(item) for name, item in named if isinstance(name, str) and name not in ("", TIME_COLUMN)
        and "," not in name and name == name.strip()
    }  # fmt: skip


def _column_names(fields: list[str]) -> dict[str, str]:
    """A column for each field: its name in lower case, with a number if another field has it."""
    taken = {name for name in fields if name == name.lower() and not _UNUSABLE.search(name)} | {TIME_COLUMN}
    result: dict[str, str] = {}
    for name in fields:
        if name in taken:
            result[name] = name
            continue
        result[name] = free_name(_UNUSABLE.sub("_", name.lower()), taken)
        taken.add(result[name])
    return result


def _type_of(dimension: Mapping[str, Any] | None, druid_type: str | None) -> HiveType:
    """The type of a dimension, or that of its data source if the spec does not determine it."""
    kind = str((dimension or {}).get("type"))
    if kind in _DIMENSIONS:
        return _DIMENSIONS[kind]
    return _simple((dimension or {}).get("castToType") or druid_type)


def _simple(druid_type: Any) -> HiveType:
    """A column of this Druid type; arrays of numbers are no columns that a spec can have."""
    type_ = discovered_type("", str(druid_type))
    return type_ if type_ in _NUMBERS.values() else STRING


def _add_dimension(result: AdoptedColumns, name: str, given: Json, type_: HiveType) -> None:
    made: Json = {"type": next(key for key, value in _DIMENSIONS.items() if value == type_), "name": given["name"]}
    handling = given.get("multiValueHandling")
    if handling in MULTI_VALUES[1:] and made["type"] == "string":
        made["multiValueHandling"] = handling
        if is_same(_PATH, normal_dimension(made), given):
            result.several[name] = handling
            return
    if not is_same(_PATH, normal_dimension(made), given):
        result.dimensions_spec.append(plain_dimension(given))


_PATH = "dataSchema.dimensionsSpec.dimensions[]"


def _add_metric(
    result: AdoptedColumns, name: str, metric: Json, discovered: Mapping[str, str], *, rollup: bool
) -> HiveType:
    """Say a metric by the shortest property; returns the type of its column."""
    kind = str(metric.get("type"))
    source = metric.get("fieldName")
    numeric = _NUMERIC.fullmatch(kind)
    keys = {key for key, value in metric.items() if value is not None}
    if kind == "count" and keys == {"type", "name"}:
        result.aggregated.append(f"{name}:count")
        return BIGINT
    if numeric and keys == {"type", "name", "fieldName"}:
        type_ = _NUMBERS[numeric["type"]]
        if kind.endswith("Sum") and rollup and source == metric["name"]:
            return type_
        if _aggregates(result, name, numeric["function"].lower(), metric):
            return type_
    if kind in SKETCHES and is_same("dataSchema.metricsSpec[]", {**building(KINDS[kind]), "name": metric["name"],
                                                                 "fieldName": source}, metric):  # fmt: skip
        if _aggregates(result, name, kind, metric):
            return BINARY
    if kind == "hyperUnique" and is_same(
        "dataSchema.metricsSpec[]", {"type": kind, "name": metric["name"], "fieldName": source}, metric
    ):
        if _aggregates(result, name, kind, metric):
            return STRING
    result.metrics_spec.append(metric)
    return _metric_type(metric, discovered.get(metric["name"]))


def _aggregates(result: AdoptedColumns, name: str, function: str, metric: Json) -> bool:
    """Whether druid.columns.aggregators can say a metric; adds it."""
    field_name = None if metric["fieldName"] == metric["name"] else str(metric["fieldName"])
    text = f"{name}:{function}" if field_name is None else f"{name}:{function}({field_name})"
    if parse_aggregators(text)[0] != {name.lower(): Aggregator(function, field_name)}:
        return False
    result.aggregated.append(text)
    return True


def _metric_type(metric: Mapping[str, Any], druid_type: str | None) -> HiveType:
    """The type of a column with the values of any aggregator."""
    if druid_type is not None:
        return _simple(druid_type)
    if isinstance(inner := metric.get("aggregator"), Mapping):
        return _metric_type(inner, None)
    kind = str(metric.get("type"))
    if kind == "expression":
        start = str(metric.get("initialValue", ""))
        return BIGINT if re.fullmatch(r"-?\d+", start) else DOUBLE if re.fullmatch(r"-?\d*\.\d+", start) else STRING
    if kind in ("count", "cardinality"):
        return BIGINT
    return next((type_ for name, type_ in _NUMBERS.items() if kind.startswith(name)), STRING)
