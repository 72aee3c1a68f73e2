"""The rejects table of a topic: a managed table with the records that cannot be parsed."""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.catalog.properties import COMPACTION_AUTO, MALFORMED_ROWS, MALFORMED_TABLE, REJECT, SKIP
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, BINARY, INT, STRING
from hivedruid.errors import SemanticError, Span

REJECT_COLUMNS = (
    Column("topic", STRING),
    Column("partition", INT),
    Column("offset", BIGINT),
    Column("timestamp", BIGINT),
    Column("error", STRING),
    Column("value", BINARY),
)
"""Where a record is, why it cannot be parsed, and its bytes; the time is in milliseconds, as `__timestamp`."""


def leaves_out(properties: Mapping[str, str]) -> bool:
    """Whether malformed records of a table with these properties are left out."""
    return properties.get(MALFORMED_ROWS, "").upper() in (SKIP, REJECT)


def rejects_name(table: Table) -> tuple[str, str] | None:
    """The database and the name of a Kafka table's rejects table; None if it has none."""
    if table.properties.get(MALFORMED_ROWS, "").upper() != REJECT:
        return None
    check_rejects(table.properties, None)
    database, _, name = table.properties[MALFORMED_TABLE].lower().rpartition(".")
    return database or table.database, name


def check_rejects(properties: Mapping[str, str], span: Span | None) -> None:
    """Raise SemanticError if malformed records are added to a table that is not named."""
    if properties.get(MALFORMED_ROWS, "").upper() == REJECT and not properties.get(MALFORMED_TABLE):
        raise SemanticError(
            f"'{MALFORMED_ROWS}' = 'reject' requires a table for malformed records",
            span=span,
            hint=f"add TBLPROPERTIES ('{MALFORMED_TABLE}' = 'database.name'); the table is created when it is needed",
        )


def new_rejects(database: str, name: str) -> Table:
    """Each batch with malformed records adds a file: the manager of streams compacts them."""
    return Table(database, name, "iceberg", REJECT_COLUMNS, format="orc", properties={COMPACTION_AUTO: "true"})


def check_takes_rejects(found: Table, topic: str, span: Span | None = None) -> None:
    """Raise SemanticError for a table that cannot be a rejects table."""
    columns = [(column.name, column.type) for column in found.columns]
    if found.kind == "iceberg" and not found.is_materialized:
        if columns == [(column.name, column.type) for column in REJECT_COLUMNS]:
            return
    needed = ", ".join(f"{column.name} {column.type}" for column in REJECT_COLUMNS)
    raise SemanticError(
        f"malformed records of topic '{topic}' cannot be added to {found.full_name}: it is not a managed table with the"
        f" columns {needed}",
        span=span,
        hint="name a table that does not exist: it is created",
    )
