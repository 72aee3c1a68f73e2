"""The actions of CREATE and ALTER DATABASE. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hivedruid.actions.ddl.in_metastore import place
from hivedruid.actions.ddl.model import AddDatabase, ChangeDatabase
from hivedruid.actions.lookup import require_database
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note
from hivedruid.catalog.databases import NO_DETAILS, DatabaseDetails
from hivedruid.errors import SemanticError
from hivedruid.parser.statements import ddl as s
from hivedruid.tables.hive_tables import checked_location
from hivedruid.tables.iceberg_databases import check_catalog
from hivedruid.tables.property_checks import check_secret


def build(statement: s.CreateDatabase | s.AlterDatabase, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    if isinstance(statement, s.CreateDatabase):
        return _create(statement, snapshot, note)
    return _alter(statement, snapshot, note)


def _create(statement: s.CreateDatabase, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    _note(statement.ignored, note)
    spans = {clause.text: clause.span for clause in statement.ignored}
    if statement.iceberg is not None:
        check_catalog(statement.properties, statement.iceberg.span)
    details = DatabaseDetails(
        checked_location(statement.location, spans["LOCATION"]) if statement.location is not None else "",
        checked_location(statement.managed_location, spans["MANAGEDLOCATION"])
        if statement.managed_location is not None
        else "",
        properties=_properties(statement.properties, statement.iceberg is not None),
        uses_iceberg=statement.iceberg is not None,
    )
    if statement.name not in snapshot.databases:
        there = place(snapshot.settings, statement.span) if statement.iceberg is None else ""
        return (AddDatabase(statement.name, statement.comment, details, there),)
    if statement.if_not_exists:
        return ()
    raise SemanticError(
        f"Database {statement.name} already exists",
        span=statement.span,
        hint="use IF NOT EXISTS to keep the existing database",
    )


def _alter(statement: s.AlterDatabase, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    require_database(statement.name, statement.span, snapshot)
    before = snapshot.database_details.get(statement.name, NO_DETAILS)
    clause = statement.ignored
    _note([clause] if clause is not None else (), note)
    span = clause.span if clause is not None else None
    changed = _properties(statement.properties, before.uses_iceberg)
    after = replace(before, properties={**before.properties, **changed})
    if before.uses_iceberg:
        given = {item.key: item for item in statement.properties}
        check_catalog([given.get(key, s.Property(key, value)) for key, value in after.properties.items()], span)
    if statement.owner is not None:
        after = replace(after, owner=statement.owner, owner_type=statement.owner_type)
    if statement.location is not None:
        after = replace(after, location=checked_location(statement.location, span))
    if statement.managed_location is not None:
        after = replace(after, managed_location=checked_location(statement.managed_location, span))
    return (ChangeDatabase(statement.name, after),)


def _properties(given: tuple[s.Property, ...], of_catalog: bool) -> dict[str, str]:
    for item in given if not of_catalog else ():
        check_secret(item)
    return {item.key: item.value for item in given}


def _note(clauses: Iterable[s.Clause], note: Note | None) -> None:
    clauses = tuple(clause for clause in clauses if clause.text != "LOCATION")
    if note is None or not clauses:
        return
    names = " and ".join(clause.text for clause in clauses)
    why = "hivedruid checks no permissions" if names == "OWNER" else "managed tables are in the home folder"
    note(f"{names} of the database has no effect: {why}", clauses[0].span)
