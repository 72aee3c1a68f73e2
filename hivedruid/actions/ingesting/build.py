"""The actions of statements that start, stop and change ingestion from Kafka. Pure: the snapshot holds what runs
now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hivedruid.actions.ddl.model import ReplaceTable
from hivedruid.actions.ingesting.model import ChangeIngestion, ForgetSpecs
from hivedruid.actions.lookup import find_table, no_supervisor
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.catalog.properties import TOPIC_KEYS, has_ingestion
from hivedruid.catalog.table import Table
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.engine.kinds import session_kind
from hivedruid.errors import KafkaError, SemanticError, Span, UnsupportedError
from hivedruid.ingestion import lifecycle, owners
from hivedruid.ingestion.compare import differences
from hivedruid.ingestion.lifecycle import IngestionChange, IngestionFacts, Json
from hivedruid.ingestion.model import Offsets
from hivedruid.ingestion.supervisor import owner_of, supervisor_id
from hivedruid.parser.statements import Statement, SupervisorName
from hivedruid.parser.statements.ddl import Property
from hivedruid.parser.statements.ingesting import AlterIngestion, IngestingStatement, ResetTarget


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """START | STOP | SUSPEND | RESUME | HANDOFF | WAIT | RESET INGESTION, and ALTER TABLE … ROLLBACK INGESTION."""
    del note
    assert isinstance(statement, IngestingStatement)
    return StatementPlan(_altered(statement, snapshot))


def _altered(statement: AlterIngestion, snapshot: Snapshot) -> tuple[Action, ...]:
    if isinstance(statement.name, SupervisorName):
        table = _table_of(statement.name, snapshot)
    else:
        table = find_table(statement.name, snapshot)
    if not table.has_data_source or not has_ingestion(table.properties):
        raise SemanticError(
            f"cannot {statement.verb} the ingestion: {table.full_name} is not a Druid table with kafka.topic",
            span=statement.name.span,
            hint="set kafka.topic and kafka.bootstrap.servers",
        )
    facts = _facts(table, statement.verb, statement.span, snapshot)
    if statement.verb == "ROLLBACK":
        return _roll_back(table, facts, statement.span, snapshot)
    return (ChangeIngestion(_change(statement.verb, table, facts, snapshot, statement.target, statement.span)),)


def _table_of(supervisor: SupervisorName, snapshot: Snapshot) -> Table:
    """The table of a supervisor, or one that has its spec and is in no catalog: it has no database and no id."""
    for table in snapshot.tables.values():
        if supervisor_id(table) == supervisor.id:
            return table
    facts = snapshot.ingestions.get(("", supervisor.id))
    if facts is None:
        session_kind(snapshot.settings).check("cannot change the supervisor", KafkaIngestion, span=supervisor.span)
    if facts is None or facts.running is None:
        raise no_supervisor(supervisor)
    from hivedruid.actions.ddl.supervisors import adopted

    return replace(adopted(supervisor.id, facts.running, snapshot, supervisor.span).table, name=supervisor.id)


def with_verb(table: Table, verb: Property, snapshot: Snapshot, before: Table | None = None) -> tuple[Action, ...]:
    """The actions of druid.kafka.ingestion, for a table that was `before`.

    Empty for an EXPLAIN of START on an engine that does not ingest.
    """
    name = verb.value.upper()
    if snapshot.plan_only and name == "START" and not session_kind(snapshot.settings).has(KafkaIngestion):
        return ()
    facts = _facts(table, name, verb.value_span, snapshot)
    return (ChangeIngestion(_change(name, table, facts, snapshot, None, verb.value_span), before),)


def altered(before: Table, after: Table, span: Span | None, snapshot: Snapshot) -> tuple[Action, ...]:
    """Submit the new spec to a running supervisor if an ALTER changes it.

    Raises SemanticError if the table would no longer match the supervisor.
    """
    facts = snapshot.ingestions.get((before.database, before.name))
    if facts is None or not has_ingestion(before.properties):
        return ()
    if after.data_source != before.data_source and is_anothers(before, snapshot):
        return ()  # the supervisor of the former data source stays with its table
    has_other_topic = _check_topic(before, after, facts, span)
    if facts.running is None:
        if not has_other_topic:
            return ()
        spec = supervisor_spec(before, snapshot.settings)
        return (ChangeIngestion(lifecycle.forget_offsets(before, spec, facts), before),)
    what = ""
    if not has_ingestion(after.properties):
        what = "would no longer ingest from Kafka"
    elif after.data_source != before.data_source:
        what = "would use another data source"
    elif supervisor_id(after) != supervisor_id(before):
        what = "would have another supervisor"
    if what:
        raise SemanticError(
            f"cannot alter {before.full_name} while its ingestion is running: the table {what}",
            span=span,
            hint=f"STOP INGESTION {before.full_name} first",
        )
    try:
        lifecycle.check_version(after, facts)
    except UnsupportedError as error:
        raise error.at(span) from None
    spec = supervisor_spec(after, snapshot.settings)
    change = lifecycle.alter(after, spec, facts, has_other_topic=has_other_topic)
    return (ChangeIngestion(change, before),) if change else ()


def _check_topic(before: Table, after: Table, facts: IngestionFacts, span: Span | None) -> bool:
    """Whether the topic changes of an ingestion that was started.

    Druid stores the offsets of one topic per data source and publishes nothing of another (KafkaDataSourceMetadata).
    Those of a topic that does not exist, or to which nothing was written, can be deleted: no record is lost or read
    again. Raises SemanticError for the offsets of any other topic.
    """
    was_started = facts.running is not None or facts.record.last is not None
    if topic_of(before) == topic_of(after) or not has_ingestion(after.properties) or not was_started:
        return False
    if not facts.has_no_topic and (facts.topic is None or not facts.topic.is_unwritten):
        stores = "may store" if facts.topic is None else "stores"
        raise SemanticError(
            f"Druid {stores} offsets of another topic for {before.full_name}, and would not publish records of the new"
            " topic",
            span=span,
            hint="CREATE TABLE … LIKE this one and set kafka.topic there, or DROP TABLE … PURGE and create it again",
        )
    return True


def topic_of(table: Table) -> tuple[str | None, ...]:
    """The topic that a table ingests from, or the pattern of its topics."""
    return tuple(table.properties.get(key) for key in TOPIC_KEYS)


def check_quiet(table: Table, verb: str, span: Span | None, snapshot: Snapshot) -> None:
    """Raises SemanticError if tasks hold rows of the table that are not yet published as segments."""
    facts = snapshot.ingestions.get((table.database, table.name))
    if facts is None:
        return
    for other in facts.others:
        if not other.suspended:
            raise SemanticError(
                f"cannot {verb} {table.full_name} while supervisor {other.id} feeds its data source: rows that are not"
                " yet published would remain",
                span=span,
                hint="suspend that supervisor first: SHOW INGESTIONS lists it",
            )
    if facts.running is not None and not facts.is_suspended:
        raise SemanticError(
            f"cannot {verb} {table.full_name} while its ingestion is running: rows that are not yet published would"
            " remain",
            span=span,
            hint=f"SUSPEND INGESTION {table.full_name} first",
        )


def is_anothers(table: Table, snapshot: Snapshot) -> bool:
    """Whether another table, or another home, feeds the data source of a table."""
    facts = snapshot.ingestions.get((table.database, table.name))
    return facts is not None and owner_of(facts.running) not in (None, table.table_id)


def dropped(table: Table, snapshot: Snapshot, *, purge: bool) -> ChangeIngestion | None:
    """How the ingestion into a table that is dropped ends; a supervisor that belongs to another table is not
    touched."""
    facts = snapshot.ingestions.get((table.database, table.name))
    if facts is None or not has_ingestion(table.properties) or is_anothers(table, snapshot):
        return None
    if facts.running is not None and owner_of(facts.running) is None and facts.record.last is None:
        return None  # a supervisor of the same data source that this table never started
    spec = supervisor_spec(table, snapshot.settings)
    if purge:
        return ChangeIngestion(lifecycle.purge(table, spec, facts))
    change = lifecycle.stop(table, spec, facts, "DROP")
    return ChangeIngestion(change) if change.steps else None


def _facts(table: Table, verb: str, span: Span | None, snapshot: Snapshot) -> IngestionFacts:
    facts = snapshot.ingestions.get((table.database, table.name))
    if facts is None:
        session_kind(snapshot.settings).check(f"cannot {verb} the ingestion", KafkaIngestion, span=span)
        assert snapshot.plan_only
        return IngestionFacts()  # EXPLAIN without Druid: assume that nothing runs
    return facts


def _change(
    verb: str, table: Table, facts: IngestionFacts, snapshot: Snapshot, target: ResetTarget | None, span: Span | None
) -> IngestionChange:
    try:
        lifecycle.check_version(table, facts)
        if verb == "START":
            owners.check_others(table, facts.others)
    except (SemanticError, UnsupportedError) as error:
        raise error.at(span) from None
    change = _planned(verb, table, facts, snapshot, target, span)
    if not snapshot.plan_only:
        return change
    return lifecycle.explained(change, supervisor_spec(table, snapshot.settings), facts)


def _planned(
    verb: str, table: Table, facts: IngestionFacts, snapshot: Snapshot, target: ResetTarget | None, span: Span | None
) -> IngestionChange:
    spec = supervisor_spec(table, snapshot.settings)
    if verb == "START":
        return _started(table, spec, facts, snapshot, span)
    if verb == "RESET":
        return _reset(table, spec, facts, target, span)
    if verb == "STOP":
        return lifecycle.stop(table, spec, facts)
    build_change = {
        "SUSPEND": lifecycle.suspend,
        "RESUME": lifecycle.resume,
        "HANDOFF": lifecycle.handoff,
        "WAIT": lifecycle.wait,
    }[verb]
    try:
        return build_change(table, facts)
    except SemanticError as error:
        raise error.at(span) from None


def _started(table: Table, spec: Json, facts: IngestionFacts, snapshot: Snapshot, span: Span | None) -> IngestionChange:
    """START. If it would replace the spec of another program, that is confirmed, and recorded as the earlier one."""
    change = lifecycle.start(table, spec, facts)
    if not change.differences or facts.running is None or not lifecycle.is_foreign(facts):
        return change
    from hivedruid.actions.ddl.supervisors import adopted

    foreign = adopted(supervisor_id(table), facts.running, snapshot, span)
    named = replace(foreign.table, database=table.database, name=table.name, table_id=table.table_id)
    return replace(change, needs_consent=True, foreign=replace(foreign, table=named))


def _reset(
    table: Table, spec: Json, facts: IngestionFacts, target: ResetTarget | None, span: Span | None
) -> IngestionChange:
    io = spec["spec"]["ioConfig"]
    pattern = io.get("topicPattern")
    to = target.to if target else ("EARLIEST" if io.get("useEarliestOffset") else "LATEST")
    if target is not None and to == "OFFSETS":
        if pattern is not None:
            raise SemanticError(
                f"cannot RESET TO OFFSETS: {table.full_name} reads the topics of a pattern, '{pattern}', and the number"
                " of a partition does not name its topic",
                span=target.span or span,
                hint="use TO EARLIEST, TO LATEST or TO TIMESTAMP, which reset every partition of every topic",
            )
        offsets: Offsets = dict(target.offsets)
        _check_offsets(offsets, facts, target.span)
    elif facts.has_no_topic and facts.no_offsets is not None:
        raise KafkaError(f"cannot RESET TO {to}: {facts.no_offsets.message}", span=span, hint=facts.no_offsets.hint)
    elif facts.topic is None or (to == "TIMESTAMP" and facts.moment is None):
        topic = f"topic {io['topic']}" if pattern is None else f"the topics of '{pattern}'"
        raise KafkaError(
            f"cannot RESET TO {to}: the offsets of {topic} are unknown, because Kafka could not be queried from this"
            " machine",
            span=span,
            hint="specify them: RESET INGESTION … TO OFFSETS (partition:offset, …)" if pattern is None else None,
        )
    else:
        offsets = {"EARLIEST": facts.topic.earliest, "LATEST": facts.topic.latest}.get(to) or facts.moment or {}
    return lifecycle.reset(table, spec, facts, offsets, asked=_asked(target), forward_only=to == "LATEST")


def _asked(target: ResetTarget | None) -> str:
    """The target of RESET as SQL."""
    if target is None:
        return ""
    if target.to == "TIMESTAMP":
        return f"TO TIMESTAMP '{target.timestamp}'"
    if target.to == "OFFSETS":
        return f"TO OFFSETS ({', '.join(f'{partition}:{offset}' for partition, offset in target.offsets)})"
    return f"TO {target.to}"


def _check_offsets(offsets: Offsets, facts: IngestionFacts, span: Span | None) -> None:
    """Refuse offsets that are not in Kafka: every task would fail."""
    if facts.topic is None:
        return
    for partition, offset in offsets.items():
        if partition not in facts.topic.latest:
            raise SemanticError(
                f"topic {facts.topic.name} has no partition {partition}",
                span=span,
                hint=f"its partitions are {', '.join(map(str, sorted(facts.topic.latest)))}",
            )
        low, high = facts.topic.earliest[partition], facts.topic.latest[partition]
        if not low <= offset <= high:
            raise SemanticError(
                f"offset {offset} is out of range for partition {partition} of topic {facts.topic.name}: valid offsets"
                f" are {low} to {high}",
                span=span,
            )


def _differs(earlier: Mapping[str, Any], now: Json) -> bool:
    return bool(differences(earlier, now)) or (earlier.get("context") or {}) != now.get("context", {})


def _roll_back(table: Table, facts: IngestionFacts, span: Span | None, snapshot: Snapshot) -> tuple[Action, ...]:
    """Restore the newest spec whose tasks ran and that differs from the table's current one.

    An interrupted rollback has already discarded the later specs, and continues with the newest.
    """
    now = supervisor_spec(table, snapshot.settings)
    is_begun = facts.begun is not None and facts.begun.change.rolls_back
    for sent in facts.specs:
        if topic_of(sent.table) != topic_of(table):  # Druid has no offsets of it any more
            continue
        if is_begun or (sent.worked and _differs(sent.spec, now)):
            after = replace(
                table,
                columns=sent.table.columns,
                properties={**sent.table.properties, "druid.datasource": table.data_source},
            )
            change = None if facts.running is None else lifecycle.alter(after, dict(sent.spec), facts)
            forget = ForgetSpecs(after, sent.version, resubmits=change is not None)
            resubmitted = (
                (ChangeIngestion(replace(change, notes=replace(change.notes, rolls_back=True))),) if change else ()
            )
            return forget, ReplaceTable(table, after), *resubmitted
    raise SemanticError(
        f"no earlier working ingestion spec of {table.full_name} to roll back to", span=span,
        hint="only specs whose tasks have run can be restored",
    )  # fmt: skip
