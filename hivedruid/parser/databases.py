"""CREATE and ALTER DATABASE."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hivedruid.errors import ParseError
from hivedruid.parser.create import if_not_exists
from hivedruid.parser.statements.ddl import AlterDatabase, Clause, CreateDatabase
from hivedruid.parser.table_clauses import property_list

if TYPE_CHECKING:
    from hivedruid.catalog.databases import OwnerType
    from hivedruid.parser.tokens import Cursor
    from hivedruid.script import SourceStatement


_USING = "USING", "ICEBERG", "CATALOG"


def parse_create(source: SourceStatement, cursor: Cursor) -> CreateDatabase:
    """What follows CREATE DATABASE."""
    exists = if_not_exists(cursor)
    name, token = cursor.name("a database name")
    if not name.isidentifier() or not name.isascii():
        raise ParseError(
            f"'{name}' is not a valid database name",
            span=cursor.span(token),
            hint="use letters, digits and underscores",
        )
    comment = cursor.string("the comment")[0] if cursor.accept("COMMENT") else ""
    location, placed = _location(cursor, "LOCATION")
    managed, managed_placed = _location(cursor, "MANAGEDLOCATION")
    start = cursor.index
    iceberg = Clause("USING ICEBERG CATALOG", cursor.span_from(start)) if cursor.accept(*_USING) else None
    properties = property_list(cursor) if cursor.accept("WITH", "DBPROPERTIES") else ()
    cursor.end()
    ignored = tuple(clause for clause in (placed, managed_placed) if clause is not None)
    return CreateDatabase(
        source, name, exists, comment, location, managed, properties, ignored, iceberg, cursor.span(token)
    )


def _location(cursor: Cursor, word: str) -> tuple[str | None, Clause | None]:
    start = cursor.index
    if not cursor.accept(word):
        return None, None
    location = cursor.string("the location")[0]
    return location, Clause(word, cursor.span_from(start))


def parse_alter(source: SourceStatement, cursor: Cursor) -> AlterDatabase:
    """What follows ALTER DATABASE: name SET DBPROPERTIES (…) | OWNER … | LOCATION '…' | MANAGEDLOCATION '…'."""
    name, token = cursor.name("a database name")
    span = cursor.span(token)
    cursor.expect("SET")
    start = cursor.index
    if cursor.accept("DBPROPERTIES"):
        properties = property_list(cursor)
        cursor.end()
        return AlterDatabase(source, name, properties=properties, span=span)
    if cursor.accept("OWNER"):
        kind = cursor.accept_one("USER", "ROLE", "GROUP") or cursor.fail("USER, ROLE or GROUP")
        owner, _ = cursor.name("a name")
        clause = Clause("OWNER", cursor.span_from(start))
        cursor.end()
        return AlterDatabase(source, name, owner=owner, owner_type=cast("OwnerType", kind), ignored=clause, span=span)
    location, placed = _location(cursor, "LOCATION")
    if location is not None:
        cursor.end()
        return AlterDatabase(source, name, location=location, ignored=placed, span=span)
    managed, placed = _location(cursor, "MANAGEDLOCATION")
    if managed is None:
        cursor.fail("DBPROPERTIES, OWNER, LOCATION or MANAGEDLOCATION")
    cursor.end()
    return AlterDatabase(source, name, managed_location=managed, ignored=placed, span=span)
