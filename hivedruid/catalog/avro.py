"""Avro schemas: the columns that Hive's AvroSerDe derives from them, and the fields that columns are read from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hivedruid.catalog.table import Column
from hivedruid.catalog.types import BIGINT, BINARY, BOOLEAN, DATE, DOUBLE, FLOAT, INT, STRING, TIMESTAMP, VOID, HiveType
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.lazy_dataclass import dataclass

LITERAL = "avro.schema.literal"
URL = "avro.schema.url"
PRIMITIVES = {
    "null": VOID, "boolean": BOOLEAN, "int": INT, "long": BIGINT, "float": FLOAT, "double": DOUBLE, "bytes": BINARY,
    "string": STRING, "enum": STRING, "fixed": BINARY,
}  # fmt: skip
_WIDER = {
    "int": ("bigint", "double"), "float": ("double",), "date": ("int", "bigint"), "timestamp": ("bigint",),
    "string": ("varchar", "char"), "varchar": ("string",), "char": ("string",),
}  # fmt: skip
"""The column types, besides its own, that hold every value of a type."""
TIMESTAMPS = ("timestamp-millis", "timestamp-micros", "local-timestamp-millis", "local-timestamp-micros")


def schema_property(properties: Mapping[str, str], name: str) -> str:
    """The value of LITERAL or URL; empty without one, which is `none` in Hive (SCHEMA_NONE of AvroSerdeUtils)."""
    given = properties.get(name, "")
    return "" if given == "none" else given


@dataclass(frozen=True)
class Node:
    """A type in a schema: `kind` is its name in Avro, `logical` its logical type with `params` (precision and scale, or
    length); a union with null is not distinguished.

    `children` are the items of an array, the values of a map, the fields of a record (named by `names`), the types of a
    union other than null (named as in the struct that Hive's extract_union returns: tag_0, tag_1, …).
    """

    kind: str
    logical: str = ""
    params: tuple[int, ...] = ()
    children: tuple[Node, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class AvroSchema:
    """The schema of a record."""

    text: str
    record: Node
    docs: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of AvroSerDe, with the documentation of the fields as comments."""
        fields = zip(self.record.names, self.record.children, self.docs, strict=True)
        return tuple(Column(name.lower(), hive_type(node), doc) for name, node, doc in fields)

    def field(self, name: str) -> tuple[str, Node] | None:
        """The field of this name, regardless of case."""
        return member(self.record, name)


def parse_schema(text: str) -> AvroSchema:
    """Raises SemanticError if the text is not the schema of a record, UnsupportedError if a type contains itself, which
    Hive does not read either."""
    try:
        value = json.loads(text)
        node = _node(value, {}, "", "")
    except RecursionError:
        raise SemanticError("invalid Avro schema: it is nested too deeply") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SemanticError(
            f"invalid Avro schema: {error}" if isinstance(error, ValueError) else "invalid Avro schema"
        ) from None
    if node.kind != "record":
        raise SemanticError("invalid Avro schema: it is not a record", hint="specify the schema of a record")
    return AvroSchema(text, node, tuple(str(field.get("doc", "")) for field in value["fields"]))


def member(record: Node, name: str) -> tuple[str, Node] | None:
    found = zip(record.names, record.children, strict=True)
    return next(((field, node) for field, node in found if field.lower() == name.lower()), None)


def hive_type(node: Node) -> HiveType:
    """The type that AvroSerDe reads: its logical types are date, timestamp-millis, decimal, char and varchar."""
    match node.kind, node.logical:
        case "array", _:
            return HiveType("array", children=(hive_type(node.children[0]),))
        case "map", _:
            return HiveType("map", children=(STRING, hive_type(node.children[0])))
        case "record" | "union", _:
            names = tuple(name.lower() for name in node.names)
            return HiveType("struct", children=tuple(map(hive_type, node.children)), fields=names)
        case "int", "date":
            return DATE
        case "long", "timestamp-millis":
            return TIMESTAMP
        case ("bytes" | "fixed", "decimal") | ("string", "char" | "varchar"):
            return HiveType(node.logical, node.params)
    return PRIMITIVES[node.kind]


def natural_type(node: Node) -> HiveType:
    """The type, also for logical types that AvroSerDe ignores."""
    return TIMESTAMP if node.kind == "long" and node.logical in TIMESTAMPS else hive_type(node)


def holds(column: HiveType, node: Node) -> bool:
    """Whether a column of this type holds every value of the field."""
    if column.name in ("array", "map") and node.kind == column.name:
        return (column.name == "array" or column.children[0] == STRING) and holds(column.children[-1], node.children[0])
    if column.name == "struct" and node.kind in ("record", "union"):
        pairs = ((child, member(node, name)) for name, child in zip(column.fields, column.children, strict=True))
        return all(found is None or holds(child, found[1]) for child, found in pairs)
    natural = natural_type(node)
    if column.name == natural.name == "decimal":
        (precision, scale), (p, s) = column.params, natural.params
        return scale >= s and precision - scale >= p - s
    if column.name == "timestamp with local time zone":
        return natural == TIMESTAMP and not node.logical.startswith("local")
    return node.kind == "null" or column.name in (natural.name, *_WIDER.get(natural.name, ()))


def _node(value: Any, named: dict[str, Node | None], space: str, path: str) -> Node:
    """The type of the field at a path, such as `address.city`."""
    if isinstance(value, list):
        return _union([_node(item, named, space, path) for item in value if item != "null"])
    if isinstance(value, str):
        return Node(value) if value in PRIMITIVES else _named(value, named, space, path)
    kind = value["type"]
    if not isinstance(kind, str) or (kind not in PRIMITIVES and kind not in ("array", "map", "record")):
        return _node(kind, named, space, path)
    full, space = full_name(value, space)
    named[full] = None
    children = tuple(_node(item, named, space, f"{path}.{name}".strip(".")) for name, item in _nested(value))
    names = tuple(field["name"] for field in value["fields"]) if kind == "record" else ()
    logical = str(value.get("logicalType", ""))
    made = Node(kind, logical, _params(logical, value), children, names)
    named[full] = made
    return made


def _union(others: list[Node]) -> Node:
    """Spark reads a union of two sizes of numbers as the larger one, and other unions as structs."""
    if len(others) < 2:
        return others[0] if others else Node("null")
    for sizes in ({Node("int"), Node("long")}, {Node("float"), Node("double")}):
        if len(others) == 2 and set(others) == sizes:
            return Node("long" if Node("long") in sizes else "double")
    return Node("union", children=tuple(others), names=tuple(f"tag_{number}" for number in range(len(others))))


def _named(name: str, named: Mapping[str, Node | None], space: str, path: str) -> Node:
    for full in (name, f"{space}.{name}"):
        if full in named:
            if (found := named[full]) is not None:
                return found
            raise UnsupportedError(
                f"field '{path}' of the Avro schema has the type '{name}', which contains it: recursive types are not"
                " supported",
                hint="a table with the kafka.serde.class 'binary' returns the bytes of the records",
            )
    raise SemanticError(f"invalid Avro schema: the type '{name}' of field '{path}' is not defined")


def _params(logical: str, value: Mapping[str, Any]) -> tuple[int, ...]:
    match logical:
        case "decimal":
            return int(value["precision"]), int(value.get("scale", 0))
        case "char" | "varchar":
            return (int(value["maxLength"]),)
    return ()


def full_name(value: Mapping[str, Any], space: str) -> tuple[str, str]:
    name = str(value.get("name", ""))
    space = name.rpartition(".")[0] if "." in name else str(value.get("namespace", space))
    name = name.rpartition(".")[2]
    return (f"{space}.{name}" if space else name), space


def _nested(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The types in a type, with the names of fields."""
    match value["type"]:
        case "array":
            yield "", value["items"]
        case "map":
            yield "", value["values"]
        case "record":
            yield from ((field["name"], field["type"]) for field in value["fields"])
