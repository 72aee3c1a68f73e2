"""What a stream does with malformed records. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hivedruid.actions.lookup import require_database
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.properties import MALFORMED_ROWS, MALFORMED_TABLE, REJECT
from hivedruid.catalog.streams import Stream
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError
from hivedruid.parser.statements.ddl import Property
from hivedruid.streams import properties
from hivedruid.tables.rejects import check_takes_rejects, leaves_out, rejects_name


def with_handling(source: Table, stream: Stream) -> Table:
    """The Kafka table as the stream reads it: the stream's rejects table takes precedence over the table's property,
    and that over the setting with which the stream was created, whichever session runs the batch."""
    if stream.rejects:
        given = {MALFORMED_ROWS: REJECT, MALFORMED_TABLE: stream.rejects}
    else:
        given = {MALFORMED_ROWS: source.properties.get(MALFORMED_ROWS) or stream.settings.get(MALFORMED_ROWS) or "fail"}
    return replace(source, properties={**source.properties, **given})


def handling_text(source: Table, snapshot: Snapshot) -> str:
    """What becomes of the malformed records of a Kafka table as a stream reads it."""
    name = rejects_name(source)
    if name is None:
        return {"skip": "left out", "null": "rows of NULLs"}.get(_handling(source), "fail the batch")
    is_there = snapshot.table(*name) is not None
    return f"added to {'.'.join(name)}{'' if is_there else ', which is created with the first of them'}"


def check_handling(stream: Stream, source: Table, snapshot: Snapshot, given: Mapping[str, Property]) -> None:
    """Raise SemanticError if the stream's rejects table cannot be one, or if its limits have no effect. `given` are the
    properties of the statement by key."""
    handled = with_handling(source, stream)
    if stream.rejects:
        span = given[properties.REJECTS].value_span if properties.REJECTS in given else None
        database, _, name = stream.rejects.partition(".")
        require_database(database, span, snapshot)
        found = snapshot.table(database, name)
        if stream.rejects == stream.target:
            raise SemanticError(
                f"{stream.rejects} is the target of the stream",
                span=span,
                hint="name a table that does not exist: it is created",
            )
        if found is not None:
            check_takes_rejects(found, source.properties["kafka.topic"], span)
    for key in (properties.MAX_REJECTS, properties.MAX_SHARE):
        if properties.value(stream.properties, key) and not leaves_out(handled.properties):
            raise SemanticError(
                f"'{key}' has no effect: malformed records are not left out, but"
                f" {'fail the batch' if _handling(handled) == 'fail' else 'rows of NULLs'}",
                span=given[key].key_span if key in given else None,
                hint=f"add '{properties.REJECTS}' = '{stream.name}_rejects' to the properties of the stream",
            )


def _handling(source: Table) -> str:
    return source.properties[MALFORMED_ROWS].lower()
