"""The owner of a supervisor, in the context of its spec: which table of which home may change it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hivedruid.catalog.properties import SUPERVISOR_ID
from hivedruid.catalog.table import Table
from hivedruid.druid.ingestion import CONCURRENT_LOCKS
from hivedruid.errors import DruidError, SemanticError
from hivedruid.ingestion.model import Supervisor
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID, OWNER_KEYS, OWNER_TABLE, owner_of, supervisor_id

Json = dict[str, Any]


def owned(spec: Mapping[str, Any], table: Table, home: str, *, suspended: bool = False) -> Json:
    """The spec as it is submitted, with its owner and its kind of locks in the context."""
    context = {
        CONCURRENT_LOCKS: True,
        **spec.get("context", {}),
        OWNER_TABLE: table.full_name,
        OWNER_ID: table.table_id,
        OWNER_HOME: home,
    }
    return {**spec, "context": context, **({"suspended": True} if suspended else {})}


def unowned(spec: Mapping[str, Any]) -> Json:
    """A submitted spec without its owner and its state, as the catalog records it."""
    own = {key: value for key, value in (spec.get("context") or {}).items() if key not in OWNER_KEYS}
    context = {key: value for key, value in own.items() if (key, value) != (CONCURRENT_LOCKS, True)}
    bare = {key: value for key, value in spec.items() if key not in ("context", "suspended")}
    return {**bare, **({"context": context} if context else {})}


class OwnerError(DruidError):
    """A supervisor belongs to another table, or another home."""


def check_owner(table: Table, running: Mapping[str, Any] | None) -> None:
    """A supervisor may be changed by the table that started it; one without an owner may be taken over.

    Raises OwnerError if it belongs to another table, or another home.
    """
    if running is None or owner_of(running) in (None, table.table_id):
        return
    context = running["context"]
    raise OwnerError(
        f"the supervisor {supervisor_id(table)} belongs to table {context.get(OWNER_TABLE)} of"
        f" {context.get(OWNER_HOME)}",
        hint="change it there, or set a different druid.datasource for this table",
    )


def check_others(table: Table, others: Sequence[Supervisor]) -> None:
    """Raises SemanticError if other supervisors feed the data source of a table whose supervisor has no id of its
    own."""
    if not others or SUPERVISOR_ID in table.properties:
        return
    named = " and ".join(f"{other.id}{_owner(other)}" for other in others)
    raise SemanticError(
        f"cannot START the ingestion of {table.full_name}: its data source {table.data_source} is already fed by"
        f" {'supervisor' if len(others) == 1 else 'supervisors'} {named}",
        hint=f"set {SUPERVISOR_ID} to start another supervisor beside it, or a different druid.datasource",
    )


def _owner(supervisor: Supervisor) -> str:
    table = supervisor.context.get(OWNER_TABLE)
    return f" (of table {table} of {supervisor.context.get(OWNER_HOME)})" if table else ""
