"""Parses Hive's type names to a `HiveType`."""

from __future__ import annotations

from hivedruid.catalog import types as hive
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError, UnsupportedError, did_you_mean
from hivedruid.parser.tokens import Cursor

_SIMPLE: dict[str, HiveType] = {
    "BOOLEAN": hive.BOOLEAN,
    "TINYINT": hive.TINYINT,
    "SMALLINT": hive.SMALLINT,
    "INT": hive.INT,
    "INTEGER": hive.INT,
    "BIGINT": hive.BIGINT,
    "FLOAT": hive.FLOAT,
    "REAL": hive.DOUBLE,
    "DOUBLE": hive.DOUBLE,
    "DOUBLE PRECISION": hive.DOUBLE,
    "STRING": hive.STRING,
    "BINARY": hive.BINARY,
    "DATE": hive.DATE,
    "TIMESTAMPLOCALTZ": hive.TIMESTAMP_LTZ,
}
_DECIMALS = ("DECIMAL", "NUMERIC", "DEC")
_MAX_LENGTH = {"CHAR": 255, "VARCHAR": 65535}
_NAMES = (*_SIMPLE, *_DECIMALS, *_MAX_LENGTH, "TIMESTAMP", "ARRAY", "MAP", "STRUCT")


def parse_type(cursor: Cursor) -> HiveType:
    """The type at the cursor. `timestamp with local time zone` and its short form `timestamplocaltz` are one."""
    start = cursor.index
    if cursor.accept("TIMESTAMP"):
        return hive.TIMESTAMP_LTZ if cursor.accept("WITH", "LOCAL", "TIME", "ZONE") else hive.TIMESTAMP
    word = cursor.word()
    if word in _SIMPLE:
        cursor.index += 1
        if word == "DOUBLE":
            cursor.accept("PRECISION")
        return _SIMPLE[word]
    if cursor.accept_one(*_DECIMALS):
        return _decimal(cursor, start)
    if cursor.accept_one(*_MAX_LENGTH):
        return _text(cursor, word, start)
    if cursor.accept("ARRAY"):
        cursor.expect("<")
        element = parse_type(cursor)
        cursor.expect(">")
        return hive.array_of(element)
    if cursor.accept("MAP"):
        cursor.expect("<")
        key = parse_type(cursor)
        cursor.expect(",")
        value = parse_type(cursor)
        cursor.expect(">")
        return HiveType("map", children=(key, value))
    if cursor.accept("STRUCT"):
        return _struct(cursor)
    if word == "UNIONTYPE":
        raise UnsupportedError(
            "uniontype is not supported", span=cursor.span(), hint="use a struct with one field for each case"
        )
    if not word or not word[0].isalpha():
        cursor.fail("a type")
    raise SemanticError(f"unknown type '{word.lower()}'", span=cursor.span(), hint=did_you_mean(word, _NAMES))


def _decimal(cursor: Cursor, start: int) -> HiveType:
    precision, scale = 10, 0
    if cursor.accept("("):
        precision = cursor.integer("the precision")
        if cursor.accept(","):
            scale = cursor.integer("the scale")
        cursor.expect(")")
    if not (1 <= precision <= 38 and scale <= precision):
        raise SemanticError(
            f"decimal({precision},{scale}) is not a valid type",
            span=cursor.span_from(start),
            hint="the precision must be 1 to 38, and the scale at most the precision",
        )
    return hive.decimal(precision, scale)


def _text(cursor: Cursor, word: str, start: int) -> HiveType:
    cursor.expect("(")
    length = cursor.integer("the length")
    cursor.expect(")")
    if not 1 <= length <= _MAX_LENGTH[word]:
        name = word.lower()
        raise SemanticError(
            f"{name}({length}) is not a valid type",
            span=cursor.span_from(start),
            hint=f"the length of {name} must be 1 to {_MAX_LENGTH[word]}",
        )
    return HiveType(word.lower(), (length,))


def _struct(cursor: Cursor) -> HiveType:
    cursor.expect("<")
    names, types = [], []
    while True:
        names.append(cursor.name("a field name")[0])
        cursor.expect(":")
        types.append(parse_type(cursor))
        if cursor.accept("COMMENT"):
            cursor.string("the comment")
        if not cursor.accept(","):
            break
    cursor.expect(">")
    return HiveType("struct", children=tuple(types), fields=tuple(names))
