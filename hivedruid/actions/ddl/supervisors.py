"""CREATE EXTERNAL TABLE … FROM SUPERVISOR: the statement with columns and properties that it stands for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hivedruid.actions.lookup import no_supervisor
from hivedruid.actions.snapshot import Snapshot
from hivedruid.errors import Span, UnsupportedError
from hivedruid.ingestion.adoption import Adoption, adoption
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_TABLE, owner_of, spec_part
from hivedruid.parser.statements.ddl import ColumnDef, CreateTable, Property


def from_supervisor(statement: CreateTable, snapshot: Snapshot) -> CreateTable:
    """The statement with the columns and properties of the supervisor's spec; properties that it gives come before
    those. Raises SemanticError if there is no such supervisor."""
    found = _adoption(statement, snapshot).table
    given = {item.key for item in statement.properties}
    derived = (Property(key, value) for key, value in found.properties.items() if key not in given)
    return replace(
        statement,
        columns=tuple(ColumnDef(column.name, column.type) for column in found.columns),
        properties=(*derived, *statement.properties),
    )


def _adoption(statement: CreateTable, snapshot: Snapshot) -> Adoption:
    assert statement.supervisor is not None
    supervisor = statement.supervisor
    if snapshot.supervisor is None:
        raise no_supervisor(supervisor)
    data_source = str(spec_part(snapshot.supervisor, "dataSchema").get("dataSource") or supervisor.id)
    discovered = snapshot.discovered.get(data_source) or {}
    return adopted(supervisor.id, snapshot.supervisor, snapshot, supervisor.span, discovered)


def adopted(
    supervisor: str,
    running: Mapping[str, Any],
    snapshot: Snapshot,
    span: Span | None,
    discovered: Mapping[str, str] = MappingProxyType({}),
) -> Adoption:
    """The table that has the spec of a running supervisor. Raises UnsupportedError if no table can have it."""
    try:
        return adoption(supervisor, running, snapshot.settings, discovered)
    except UnsupportedError as error:
        raise error.at(span) from None


def notes(statement: CreateTable, snapshot: Snapshot) -> Iterator[tuple[str, Span | None]]:
    """What the statement does not take over, or what is left to do."""
    if statement.supervisor is None or snapshot.supervisor is None:
        return
    id_, running = statement.supervisor.id, snapshot.supervisor
    given = {item.key for item in statement.properties}
    for place, variable in _adoption(statement, snapshot).variables.items():
        key = place.removeprefix("ioConfig.consumerProperties.")
        if f"druid.kafka.ingestion.consumer.{key}" not in given:
            yield (
                f"{key} in the spec of supervisor {id_} is a secret in plain text; the table refers to the environment"
                f" variable {variable} instead: set it on the hosts of Druid's tasks and overlord before START, which"
                " submits the reference",
                statement.supervisor.span,
            )
    if running.get("suspended"):
        yield f"supervisor {id_} is suspended, and reads again after RESUME INGESTION", None
    if owner_of(running) is not None:
        context = running["context"]
        yield (
            f"supervisor {id_} belongs to table {context.get(OWNER_TABLE)} of {context.get(OWNER_HOME)}: the new table"
            " cannot change it unless that table is dropped",
            None,
        )
