"""Read the facts for statements about ingestion: the supervisors of the tables that they change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivedruid.actions.lookup import verb_of
from hivedruid.catalog.ingestions import IngestionRecord, Ingestions
from hivedruid.catalog.opening import catalog_name
from hivedruid.catalog.properties import SUPERVISOR_ID, TOPIC_KEYS, has_ingestion
from hivedruid.catalog.table import Table
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.engine.kinds import find
from hivedruid.errors import ConnectError, SemanticError
from hivedruid.ingestion.lifecycle import IngestionFacts
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID, owner_of, spec_part, supervisor_id
from hivedruid.operations.change_store import Changes
from hivedruid.operations.changes import IngestionJob
from hivedruid.parser.statements import Statement, SupervisorName
from hivedruid.parser.statements import ddl as s
from hivedruid.parser.statements.ingesting import AlterIngestion

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts

Key = tuple[str, str]


def gather_ingestions(
    statement: Statement, tables: Mapping[Key, Table], dropped: Iterable[Table], facts: Facts
) -> dict[Key, IngestionFacts]:
    """By (database, name). Raises ConnectError if Druid cannot be reached, unless the statement is only explained."""
    found: dict[Key, IngestionFacts] = {}
    try:
        unfinished = Changes(facts.catalog).unfinished()
        for key, table, record in _concerned(statement, tables, dropped, unfinished, facts):
            known = _facts(statement, key, table, facts)
            if known is not None:
                found[key] = replace(known, record=record, begun=unfinished.get(table.table_id) if table else None)
    except ConnectError:
        if not facts.plan_only:
            raise
    return found


def _concerned(
    statement: Statement,
    tables: Mapping[Key, Table],
    dropped: Iterable[Table],
    unfinished: Mapping[str, IngestionJob],
    facts: Facts,
) -> Iterator[tuple[Key, Table | None, IngestionRecord]]:
    """The relevant tables that ingest from Kafka, with the catalog's record of each; None for a table that is being
    created."""
    if isinstance(statement, s.CreateTable):
        if verb_of(statement.properties) is not None:
            yield (statement.name.database or facts.database, statement.name.name), None, IngestionRecord()
        return
    if isinstance(statement, AlterIngestion) and isinstance(statement.name, SupervisorName) and not tables:
        yield ("", statement.name.id), None, IngestionRecord()
        return
    candidates = dropped if isinstance(statement, s.DropDatabase) else tables.values()
    says_verb = verb_of(getattr(statement, "properties", ())) is not None
    has_verb = says_verb or isinstance(statement, AlterIngestion | s.DropTable | s.DropDatabase)
    for table in candidates:
        sets_verb = has_verb and isinstance(statement, s.SetTableProperties)  # possibly together with the topic
        if table.has_data_source and (has_ingestion(table.properties) or sets_verb):
            record = Ingestions(facts.catalog).find(table.table_id)
            if has_verb or record.started or record.last or table.table_id in unfinished:
                yield (table.database, table.name), table, record


def _facts(statement: Statement, key: Key, table: Table | None, facts: Facts) -> IngestionFacts | None:
    """The ingestion of one table, from Druid, Kafka and the catalog; None if the engine does not ingest from Kafka."""
    verb: str | None = None
    if isinstance(statement, AlterIngestion):
        verb = statement.verb
    elif given := verb_of(getattr(statement, "properties", ())):
        verb = given.value.upper()
    spec: Mapping[str, Any] | None = None
    moment = None
    if (
        table is not None
        and has_ingestion(table.properties)
        and (verb in ("RESET", "WAIT") or (facts.plan_only and verb == "START") or _sets_topic(statement))
    ):
        spec = supervisor_spec(table, facts.settings)
        moment = _moment(statement, facts)
    whole = facts.plan_only or verb in ("RESET", "HANDOFF")
    ingestion = find(facts.druid(), KafkaIngestion)
    if ingestion is None:
        return None
    if table is not None:
        data_source, supervisor = table.data_source, supervisor_id(table)
    elif named := _supervisor_of(statement):
        running = ingestion.running_spec(named.id) or {}
        data_source, supervisor = str(spec_part(running, "dataSchema").get("dataSource") or named.id), named.id
        if verb in ("RESET", "WAIT"):
            spec, moment = running or None, _moment(statement, facts)
    else:
        data_source = _given(statement, "druid.datasource", ".".join(key))
        supervisor = _given(statement, SUPERVISOR_ID, data_source)
    known = ingestion.ingestion_facts(
        data_source, supervisor, whole=whole, wait_for_offsets=verb == "RESET", feed=spec, moment=moment
    )
    known = replace(known, home=catalog_name(facts.home, facts.catalog))
    ingestions = Ingestions(facts.catalog)
    owner = owner_of(known.running)
    if owner is not None and known.running is not None and not ingestions.is_known(owner):
        known = replace(known, running=_unsigned(known.running, known.home))
    specs = ingestions.specs(table.table_id) if verb == "ROLLBACK" and table is not None else ()
    return replace(known, specs=specs)


def _supervisor_of(statement: Statement) -> SupervisorName | None:
    """The supervisor that a statement names by its id."""
    named = statement.name if isinstance(statement, AlterIngestion) else getattr(statement, "supervisor", None)
    return named if isinstance(named, SupervisorName) else None


def _sets_topic(statement: Statement) -> bool:
    """Whether it may change the topic of a table: whether the present one has records then matters."""
    return isinstance(statement, s.SetTableProperties | s.UnsetTableProperties) and any(
        item.key in TOPIC_KEYS for item in statement.properties
    )


def _unsigned(running: Mapping[str, Any], home: str) -> Mapping[str, Any]:
    """Remove the owner of a supervisor that a dropped table of this home left behind, so that it can be taken over."""
    context = running.get("context") or {}
    if context.get(OWNER_HOME) != home:
        return running
    return {**running, "context": {key: value for key, value in context.items() if key != OWNER_ID}}


def _given(statement: Statement, key: str, default: str) -> str:
    """The value of a property that a statement gives."""
    given = [item.value for item in getattr(statement, "properties", ()) if item.key == key]
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
        raise SemanticError(f"'{target.timestamp}' is not a valid timestamp", span=target.span)
    return int(from_local(local, zone_of(facts.settings["hive.local.time.zone"]) or UTC).timestamp() * 1000)
