"""Read from outside what statements about ingestion need to know: the supervisors of the tables that they change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.properties import KAFKA_INGESTION, is_fed
from hivedruid.catalog.table import Table
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.errors import ConnectError, SemanticError
from hivedruid.ingestion.lifecycle import OWNER_HOME, OWNER_ID, IngestionFacts
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements import ddl as s
from hivedruid.parser.statements.ingestion import AlterIngestion

if TYPE_CHECKING:
    from hivedruid.actions.gather import Facts

Key = tuple[str, str]


def gather_ingestions(
    statement: Statement, tables: Mapping[Key, Table], all_tables: Iterable[Table], facts: Facts
) -> dict[Key, IngestionFacts]:
    """By (database, name). Raises ConnectError where Druid cannot be asked, unless the statement is only explained."""
    found: dict[Key, IngestionFacts] = {}
    try:
        for key, table in _concerned(statement, tables, all_tables, facts):
            known = _facts(statement, key, table, facts)
            if known is not None:
                found[key] = known
    except ConnectError:
        if not facts.plan_only:
            raise
    return found


def _concerned(
    statement: Statement, tables: Mapping[Key, Table], all_tables: Iterable[Table], facts: Facts
) -> Iterator[tuple[Key, Table | None]]:
    """The tables fed from Kafka whose supervisor matters; None for one that is only being made."""
    if isinstance(statement, s.CreateTable):
        if any(item.key == KAFKA_INGESTION for item in statement.properties):
            yield (statement.name.database or facts.database, statement.name.name), None
        return
    if isinstance(statement, s.DropDatabase):
        candidates = [table for table in all_tables if table.database == statement.name]
    else:
        candidates = list(tables.values())
    has_verb = isinstance(statement, AlterIngestion | s.DropTable | s.DropDatabase) or any(
        item.key == KAFKA_INGESTION for item in getattr(statement, "properties", ())
    )
    for table in candidates:
        sets_verb = has_verb and isinstance(statement, s.SetTableProperties)  # and perhaps the topic with it
        if table.kind == "druid" and (is_fed(table.properties) or sets_verb):
            record = Ingestions(facts.catalog).find(table.table_id)
            if has_verb or record.started or record.pending or record.last:
                yield (table.database, table.name), table


def _facts(statement: Statement, key: Key, table: Table | None, facts: Facts) -> IngestionFacts | None:
    """What Druid, Kafka and the catalog know of one table's ingestion."""
    data_source = table.data_source if table else _named(statement, ".".join(key))
    verb = statement.verb if isinstance(statement, AlterIngestion) else _verb(statement)
    spec, moment = None, None
    if (
        table is not None
        and is_fed(table.properties)
        and (verb in ("RESET", "WAIT") or (facts.plan_only and verb == "START"))
    ):
        spec = supervisor_spec(table, facts.settings)
        moment = _moment(statement, facts)
    whole = facts.plan_only or verb in ("RESET", "HANDOFF")
    known = facts.druid().ingestion_facts(data_source, whole=whole, informed=verb == "RESET", feed=spec, moment=moment)
    if known is None:
        return None
    known = replace(known, home=home_name(facts.home))
    if table is None:
        return known
    ingestions = Ingestions(facts.catalog)
    owner = ((known.running or {}).get("context") or {}).get(OWNER_ID)
    if owner is not None and known.running is not None and not ingestions.is_known(owner):
        known = replace(known, running=_unsigned(known.running, known.home))
    specs = ingestions.specs(table.table_id) if verb == "ROLLBACK" else ()
    return replace(known, record=ingestions.find(table.table_id), specs=specs)


def _unsigned(running: Mapping[str, Any], home: str) -> Mapping[str, Any]:
    """A supervisor that a table of this home has left behind is nobody's, and can be taken over."""
    context = running.get("context") or {}
    if context.get(OWNER_HOME) != home:
        return running
    return {**running, "context": {key: value for key, value in context.items() if key != OWNER_ID}}


def _verb(statement: Statement) -> str | None:
    found = [item.value.upper() for item in getattr(statement, "properties", ()) if item.key == KAFKA_INGESTION]
    return found[-1] if found else None


def _named(statement: Statement, default: str) -> str:
    given = [item.value for item in getattr(statement, "properties", ()) if item.key == "druid.datasource"]
    return given[-1] if given else default


def _moment(statement: Statement, facts: Facts) -> int | None:
    """The moment of RESET … TO TIMESTAMP in milliseconds; its text is a wall clock in the session's zone."""
    target = statement.target if isinstance(statement, AlterIngestion) else None
    if target is None or target.timestamp is None:
        return None
    from datetime import UTC

    from hivedruid.plan.literals import from_local, parse_timestamp, zone_of

    local = parse_timestamp(target.timestamp)
    if local is None:
        raise SemanticError(f"'{target.timestamp}' is not a timestamp", span=target.span)
    return int(from_local(local, zone_of(facts.settings["hive.local.time.zone"]) or UTC).timestamp() * 1000)


def home_name(home: Path) -> str:
    """How this home is named to others: who, where, which folder."""
    import getpass
    import socket

    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container without a name for its user
        user = "?"
    return f"{user}@{socket.gethostname()}:{home}"
