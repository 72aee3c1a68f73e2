"""The columns of a Kafka table that CREATE TABLE derives from Avro schemas outside the statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from hivedruid.catalog.avro import LITERAL, URL, Node, hive_type, holds, parse_schema, schema_property
from hivedruid.catalog.kinds import KAFKA_STORAGE_HANDLER
from hivedruid.catalog.properties import PROPERTIES, REGISTRY
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.statements.ddl import ColumnDef, CreateTable

_SERDE = "kafka.serde.class"


def is_avro(properties: Mapping[str, str]) -> bool:
    return properties.get(_SERDE, PROPERTIES[_SERDE].default or "").endswith(".AvroSerDe")


def needs_schemas(statement: CreateTable, properties: Mapping[str, str]) -> bool:
    """Whether the columns of the new table are those of a schema outside the statement."""
    if statement.storage_handler != KAFKA_STORAGE_HANDLER or statement.columns or statement.query is not None:
        return False
    if not is_avro(properties) or schema_property(properties, LITERAL):
        return False
    return bool(schema_property(properties, URL)) or REGISTRY in properties


def schema_of_files(statement: CreateTable) -> tuple[str, str] | None:
    """The literal and the URL of the schema with the columns of a new table of Avro files; None for other tables, and
    those with columns and no schema. As in Hive, columns beside a schema have no effect."""
    lib = next((item.value for item in statement.serde if item.key == "serialization.lib"), "")
    is_files = statement.stored_as == "avro" or (statement.external and lib.endswith(".AvroSerDe"))
    if not is_files or statement.query is not None or statement.storage_handler is not None:
        return None
    properties = {item.key: item.value for item in (*statement.serde, *statement.properties)}
    literal, url = schema_property(properties, LITERAL), schema_property(properties, URL)
    return None if statement.columns and not (literal or url) else (literal, url)


def avro_columns(schemas: Iterable[str], span: Span | None = None) -> tuple[ColumnDef, ...]:
    """The columns of AvroSerDe for records of several schemas, the newest first: those of its fields, then the fields
    that only older schemas have. Raises SemanticError, UnsupportedError."""
    nodes: defaultdict[str, list[Node]] = defaultdict(list)
    comments: dict[str, str] = {}
    for text in schemas:
        try:
            schema = parse_schema(text)
        except (SemanticError, UnsupportedError) as error:
            raise error.at(span) from None
        for column, node in zip(schema.columns, schema.record.children, strict=True):
            nodes[column.name].append(node)
            comments.setdefault(column.name, column.comment)
    return tuple(ColumnDef(name, _type(name, found, span), comments[name]) for name, found in nodes.items())


def _type(name: str, nodes: Sequence[Node], span: Span | None) -> HiveType:
    """The type of the first schema that holds every value of the field."""
    types = list(map(hive_type, nodes))
    for each in types:
        if all(holds(each, node) for node in nodes):
            return each
    different = ", ".join(dict.fromkeys(map(str, types)))
    raise SemanticError(
        f"the schemas of the records have different types for field '{name}': {different}",
        span=span,
        hint="specify the columns, without this field",
    )
