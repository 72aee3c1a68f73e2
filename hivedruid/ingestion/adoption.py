"""The table whose ingestion has the spec of a supervisor that another program posted. Pure.

Columns and properties with a name of their own come first. What the spec of that table says otherwise than the
supervisor's, as compared before a START, becomes `druid.spec.…` properties: so no key is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hivedruid.catalog.properties import (
    COLUMN_MAPPING,
    CONSUMER_PREFIX,
    DIMENSIONS,
    GRANULARITIES,
    INGESTION_PREFIX,
    PROPERTIES,
    SPEC_PREFIX,
    SUPERVISOR_ID,
    TOPIC_PATTERN,
)
from hivedruid.catalog.spec_paths import spec_path
from hivedruid.catalog.table import Table
from hivedruid.druid.ingestion import CONCURRENT_LOCKS
from hivedruid.druid.supervisor import ALWAYS_GIVEN, DYNAMIC_PROVIDER, input_format, supervisor_spec, typed
from hivedruid.errors import HiveDruidError, UnsupportedError
from hivedruid.ingestion.adopted_columns import AdoptedColumns, adopted_columns
from hivedruid.ingestion.compare import DERIVED, comparable, is_same
from hivedruid.ingestion.foreign_secrets import Place, References
from hivedruid.ingestion.normal_specs import consumer_value, derived_exclusions, discovers, normal_format
from hivedruid.ingestion.supervisor import OWNER_KEYS, spec_part
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements.ddl import Property
from hivedruid.secrets import ENVIRONMENT_PREFIX, is_kept, is_secret, masked, referenced
from hivedruid.tables.druid_tables import check_columns
from hivedruid.tables.kafka_feed import check_druid_properties, fields_of_columns
from hivedruid.tables.property_checks import validate

Json = dict[str, Any]
_EXCLUSIONS = SPEC_PREFIX + "dataSchema.dimensionsSpec.dimensionExclusions"


@dataclass(frozen=True)
class Adoption:
    """The `table`, without its name, and the environment variables that stand for plain-text secrets of the spec, by
    their places in it."""

    table: Table
    variables: Mapping[str, str]


def adoption(
    supervisor: str, running: Mapping[str, Any], settings: Mapping[str, str], discovered: Mapping[str, str]
) -> Adoption:
    """The table of a supervisor's spec, as Druid returns it or as it was posted.

    `discovered` are the fields of its data source and their Druid types, empty if it does not exist yet. Raises
    UnsupportedError for a supervisor that does not read Kafka.
    """
    kind = running.get("type")
    if kind != "kafka":
        raise UnsupportedError(
            f"supervisor '{supervisor}' is of type {kind}, not kafka", hint="SHOW INGESTIONS lists the supervisors"
        )
    references = References()
    spec = _without_secrets(running, references)
    schema = _with_parsed(spec["dataSchema"])
    columns = adopted_columns(schema, discovered)
    properties = _Properties(Table("", "", "druid", columns.columns, external=True), settings)
    properties.add(_identity(supervisor, spec), _columns(columns), _time(schema))
    properties.add_valid({"druid.columns.aggregators": columns.aggregators} if columns.aggregators else {})
    for key, value in _json_parts(columns, spec["dataSchema"]).items():
        properties.add_valid({key: json.dumps(value, ensure_ascii=False)} if value else {})
    _add_format(properties, normal_format(spec["ioConfig"].get("inputFormat")))
    for part in ("ioConfig", "tuningConfig"):
        for key, text in _named(part, spec[part]):
            properties.add_valid({key: text})
    for key, text in _consumer(spec["ioConfig"].get("consumerProperties") or {}):
        properties.add_valid({key: text})
    properties.add(_mapping(properties, columns), _exclusions(spec["dataSchema"]))
    for keys, value in (*_rest(properties.spec(), {"spec": spec}), *_context(running.get("context") or {}, references)):
        properties.add(_by_path(keys, value, references))
    return Adoption(properties.table, references.variables)


class _Properties:
    """The properties so far, of a table with all columns."""

    def __init__(self, table: Table, settings: Mapping[str, str]) -> None:
        self.table = table
        self.settings = settings

    def add(self, *given: Mapping[str, str]) -> None:
        for item in given:
            self.table = self._with(item)

    def add_valid(self, given: Mapping[str, str]) -> bool:
        """Add properties if CREATE TABLE accepts them; others become a part of the spec by their path."""
        if not given:
            return True
        table = self._with(given)
        try:
            validate([Property(key, value) for key, value in given.items()], "druid")
            check_columns(table.columns, table.properties)
            check_druid_properties(table.properties, table.columns, None)
            supervisor_spec(table, self.settings)
        except HiveDruidError:
            return False
        self.table = table
        return True

    def spec(self) -> Json:
        return supervisor_spec(self.table, self.settings)

    def _with(self, given: Mapping[str, str]) -> Table:
        return replace(self.table, properties={**self.table.properties, **given})


# --- parts of the spec -------------------------------------------------------------------------------------------


def _without_secrets(running: Mapping[str, Any], references: References) -> Json:
    """dataSchema, ioConfig and tuningConfig, and other parts below `spec`, with references for secrets."""
    inner = running.get("spec")
    parts: Json = dict(inner) if isinstance(inner, Mapping) else {}
    parts |= {name: dict(spec_part(running, name)) for name in ("dataSchema", "ioConfig", "tuningConfig")}
    consumer = parts["ioConfig"].pop("consumerProperties", None)
    result: Json = references.without_secrets(parts)
    if consumer is not None:
        result["ioConfig"]["consumerProperties"] = references.of_consumer(consumer)
    return result


def _with_parsed(schema: Mapping[str, Any]) -> Json:
    """A dataSchema with the time and the dimensions of its `parser`, which Hive's handler and old clients post."""
    parsed = (schema.get("parser") or {}).get("parseSpec") or {}
    named = {key: schema.get(key) or parsed.get(key) for key in ("timestampSpec", "dimensionsSpec")}
    return {**schema, **named}


def _identity(supervisor: str, spec: Json) -> dict[str, str]:
    io = spec["ioConfig"]
    data_source = str(spec["dataSchema"].get("dataSource") or supervisor)
    topic, pattern = io.get("topic") or io.get("stream"), io.get("topicPattern")
    if not topic and not pattern:
        raise UnsupportedError(f"the spec of supervisor '{supervisor}' has no topic")
    servers = (io.get("consumerProperties") or {}).get("bootstrap.servers")
    if not servers or not isinstance(servers, str):
        raise UnsupportedError(
            f"the spec of supervisor '{supervisor}' has no bootstrap.servers that can be read",
            hint="create the table with columns and properties: CREATE EXTERNAL TABLE … STORED BY 'druid'",
        )
    return {
        "druid.datasource": data_source,
        **({SUPERVISOR_ID: supervisor} if supervisor != data_source else {}),
        **({TOPIC_PATTERN: str(pattern)} if pattern else {"kafka.topic": str(topic)}),
        "kafka.bootstrap.servers": servers,
    }


def _columns(columns: AdoptedColumns) -> dict[str, str]:
    several = ", ".join(f"{name}:{handling}" for name, handling in columns.several.items())
    return {
        key: text
        for key, text in (
            ("druid.columns.dimensions", ", ".join(columns.dimensions)),
            ("druid.columns.multivalue", several),
        )
        if text
    }


def _time(schema: Mapping[str, Any]) -> dict[str, str]:
    """The time field, granularities and rollup; explicit, because their defaults are settings, or differ in Druid."""
    stamp, granularity = schema.get("timestampSpec") or {}, schema.get("granularitySpec") or {}
    rollup = granularity.get("rollup")
    found = {
        "druid.timestamp.column": str(stamp.get("column") or "timestamp"),
        "druid.timestamp.format": str(stamp.get("format") or "auto"),
        "druid.rollup": "true" if rollup is None or rollup else "false",
        "druid.segment.granularity": "DAY",
    }
    names = ("druid.segment.granularity", "segmentGranularity"), ("druid.query.granularity", "queryGranularity")
    for key, name in names:
        value = granularity.get(name)
        text = value["type"] if isinstance(value, Mapping) and value.keys() == {"type"} else value
        if isinstance(text, str) and text.upper() in GRANULARITIES:
            found[key] = text.upper()
    return found


def _json_parts(columns: AdoptedColumns, schema: Mapping[str, Any]) -> Json:
    return {
        "druid.metricsSpec": columns.metrics_spec,
        DIMENSIONS: columns.dimensions_spec,
        "druid.transformSpec": {key: item for key, item in _present(schema.get("transformSpec") or {}).items() if item},
        "druid.projections": schema.get("projections"),
    }


def _add_format(properties: _Properties, given: Any) -> None:
    """The format of records by the properties that name it, or else in JSON."""
    if not isinstance(given, Mapping):
        return
    for named in (*_parse_specs(given), {INGESTION_PREFIX + "inputFormat": json.dumps(_present(given))}):
        whole = {**properties.table.properties, **named}
        made = json.loads(named.get(INGESTION_PREFIX + "inputFormat", "null")) or _format_of(whole)
        if is_same("ioConfig.inputFormat", made, given) and properties.add_valid(named):
            return


def _format_of(properties: Mapping[str, str]) -> Json | None:
    try:
        return input_format(properties)
    except ValueError:
        return None


def _parse_specs(given: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    prefix = "druid.parseSpec."
    flatten = given.get("flattenSpec") or {}
    flattening = {prefix + "flattenSpec": json.dumps(_present(flatten), ensure_ascii=False)} if flatten else {}
    kind = given.get("type")
    if kind == "json":
        yield {}
        yield flattening
    elif kind == "avro_stream":
        schema = (given.get("avroBytesDecoder") or {}).get("schema")
        yield {prefix + "format": "avro", "avro.schema.literal": json.dumps(schema), **flattening}
    elif kind in ("csv", "tsv"):
        columns, skipped = given.get("columns") or (), int(given.get("skipHeaderRows") or 0)
        yield {
            prefix + "format": kind,
            **({prefix + "columns": ",".join(map(str, columns))} if columns else {}),
            **({prefix + "hasHeaderRows": "true"} if given.get("findColumnsFromHeader") else {}),
            **({prefix + "skipHeaderRows": str(skipped)} if skipped else {}),
            **{prefix + name: str(given[name]) for name in ("delimiter", "listDelimiter") if given.get(name)},
        }


def _named(part: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The values of a part that have a property, unless they are Druid's defaults."""
    for item in PROPERTIES.values():
        name = item.key.removeprefix(INGESTION_PREFIX)
        if item.section != part or item.key == TOPIC_PATTERN or name == "inputFormat":
            continue
        value = given.get(name)
        if name in ALWAYS_GIVEN:
            value = value if value is not None else (False if item.type == "bool" else 0)
        elif value is None or is_same(f"{part}.{name}", None, value) or (name == "taskCount" and _scales(given)):
            continue
        text = value if isinstance(value, str) and item.type not in ("object", "array") else json.dumps(_present(value))
        try:
            if is_same(f"{part}.{name}", typed(item.key, text), value):
                yield item.key, text
        except ValueError:
            continue


def _scales(io: Mapping[str, Any]) -> bool:
    return bool(io.get("autoScalerConfig"))


def _consumer(consumer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    provider = consumer.get(DYNAMIC_PROVIDER) or {}
    for key, value in consumer.items():
        text = consumer_value(value)
        is_plain = (
            isinstance(text, str)
            and referenced(text) is None
            and masked(key, text) == text
            and (is_secret(key) or not is_kept(text))
        )
        if is_plain and key not in ("bootstrap.servers", DYNAMIC_PROVIDER):
            yield CONSUMER_PREFIX + key, text
    if isinstance(provider, Mapping) and provider.get("type") == "environment":
        for key, variable in (provider.get("variables") or {}).items():
            yield CONSUMER_PREFIX + key, f"{ENVIRONMENT_PREFIX}{variable}"


def _mapping(properties: _Properties, columns: AdoptedColumns) -> dict[str, str]:
    """The columns whose field would otherwise have another name."""
    fields = fields_of_columns(properties.table.properties, properties.table.columns)
    pairs = [f"{field}:{name}" for name, field in columns.fields.items() if fields[name] != field]
    return {COLUMN_MAPPING: ", ".join(pairs)} if pairs else {}


def _exclusions(schema: Mapping[str, Any]) -> dict[str, str]:
    """The fields that Druid does not discover because the spec says so, not because an aggregator reads them."""
    dimensions = schema.get("dimensionsSpec") or {}
    given = dimensions.get("dimensionExclusions") or []
    if not discovers(dimensions) or not {*given} - derived_exclusions({"dataSchema": schema}):
        return {}
    return {_EXCLUSIONS: json.dumps(given, ensure_ascii=False)}


def _rest(wanted: Json, running: Json) -> Iterator[tuple[Place, Any]]:
    """The places of what differs, with their values; None for what the supervisor's spec does not have."""
    ours, theirs = comparable(wanted, running)
    for name in ("dataSchema", "ioConfig", "tuningConfig"):
        yield from _different((name,), ours.get(name), theirs.get(name)) or ()


def _different(keys: Place, ours: Any, theirs: Any) -> list[tuple[Place, Any]] | None:
    """The places at or below `keys` where the values differ; None if one of them has no path."""
    if ".".join(keys) in DERIVED or is_same(".".join(keys), ours, theirs):
        return []
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        names = [*ours, *(name for name in theirs if name not in ours)]
        inner = [_different((*keys, name), ours.get(name), theirs.get(name)) for name in names]
        if None not in inner or spec_path(keys) is None:
            return [item for items in inner for item in items or ()]
    return None if spec_path(keys) is None else [(keys, _present(theirs))]


def _context(context: Mapping[str, Any], references: References) -> Iterator[tuple[Place, Any]]:
    """The context of the tasks. Without concurrent locks they stay as they are."""
    given = {key: value for key, value in context.items() if key not in OWNER_KEYS}
    given = {CONCURRENT_LOCKS: False, **references.without_secrets(given, ("context",))}
    if given[CONCURRENT_LOCKS] is True:
        del given[CONCURRENT_LOCKS]
    yield from ((("context", key), value) for key, value in given.items() if value is not None)


def _by_path(keys: Place, value: Any, references: References) -> dict[str, str]:
    """The property of a place in the spec, of which the name may be that of a secret only as a whole."""
    path = spec_path(keys)
    if path is None:
        return {}
    name = SPEC_PREFIX + path
    return {name: json.dumps(references.of_property(name, value, keys), ensure_ascii=False)}


def _present(value: Any) -> Any:
    """A JSON value without the keys whose value is null."""
    if isinstance(value, Mapping):
        return {key: _present(item) for key, item in value.items() if item is not None}
    return [_present(item) for item in value] if isinstance(value, list) else value
