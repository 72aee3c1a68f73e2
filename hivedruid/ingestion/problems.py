"""The problems of ingestions: a table of rules over an `Overview`. Pure.

A repair is one or more statements to run. What is to be done outside is a comment; one that begins with `-- $ ` is a
command line, which starts the services of a local cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from hivedruid.catalog.properties import has_ingestion
from hivedruid.errors import KafkaError
from hivedruid.ingestion.compare import Difference
from hivedruid.ingestion.feed import feed_of
from hivedruid.ingestion.model import Partition, Supervisor, Task
from hivedruid.ingestion.offsets import next_offsets
from hivedruid.ingestion.overview import Ingestion, Overview, Unreachable, moment
from hivedruid.ingestion.reading import RECOVERED, RULES_OF_READING, topic_not_found
from hivedruid.ingestion.repairs import Problem, adopting, name_of, reset, show_tasks, statement
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID, OWNER_TABLE, supervisor_id
from hivedruid.operations.changes import rerun_statement
from hivedruid.parser.parameters import literal
from hivedruid.redaction import redact

RECENT = timedelta(minutes=10)
"""The period in which failed tasks count."""
STARTED = timedelta(seconds=30)
"""The time in which tasks with a slot start to run."""
HAND_OFF = timedelta(minutes=2)
"""The time in which newly published segments are loaded."""
LENGTH = 200
"""The maximum number of characters of a message or record that are shown."""


def problems(overview: Overview) -> tuple[Problem, ...]:
    """All problems, services first."""
    result = [problem for rule in RULES for problem in rule(overview)]
    for one in overview.ingestions:
        result += [problem for rule in RULES_OF_OWNERS for problem in rule(one, overview)]
        result += [problem for rule in RULES_OF_TASKS for problem in rule(one, overview)] or _unhealthy(one, overview)
        result += [problem for rule in RULES_OF_READING for problem in rule(one, overview)]
    return tuple(map(shown, result))


def shown(problem: Problem) -> Problem:
    """Redact and shorten messages of other systems, which may contain secrets."""
    cause, evidence = (_cut(" ".join(redact(text).split())) for text in (problem.cause, problem.evidence))
    return Problem(problem.subject, problem.problem, cause, evidence, problem.repair)


def _cut(text: str) -> str:
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 3]}..."


# --- of Druid and Kafka as a whole -------------------------------------------------------------------------------


def _unreachable(overview: Overview) -> Iterator[Problem]:
    """Roles of Druid with the same address have the same message: druid.url is wrong once."""
    same: dict[tuple[str, str], list[Unreachable]] = {}
    for one in overview.unreachable:
        same.setdefault((one.message, one.evidence), []).append(one)
    for one, *others in same.values():
        evidence = f"the same for {', '.join(other.service for other in others)}" if others else one.evidence
        yield Problem(one.service, "unreachable", one.message, evidence, f"-- {one.hint or 'start the service'}")


def _no_workers(overview: Overview) -> Iterator[Problem]:
    if (
        overview.slots is not None
        and overview.slots.capacity == 0
        and any(one.supervisor for one in overview.ingestions)
    ):
        cause = "no middle manager or indexer is registered with the overlord"
        waiting = sum(len(one.waiting) for one in overview.ingestions)
        yield Problem(
            "Druid", "no workers", cause, f"{waiting} task(s) waiting", "-- start a middle manager or an indexer"
        )


def _unavailable_segments(overview: Overview) -> Iterator[Problem]:
    """Segments that were just handed off are still being loaded, which is not a problem."""
    busy = {
        task.data_source
        for task in overview.tasks
        if task.state == "SUCCESS" and (ended := _ended(task)) is not None and overview.now - ended < HAND_OFF
    }
    publishing = {one.data_source for one in overview.ingestions if one.status is not None and one.status.publishing}
    names = {one.data_source: one.name for one in overview.ingestions}
    for data_source, count in sorted(overview.unavailable.items()):
        if count > 0 and data_source not in busy | publishing:
            cause = "no historical has loaded them: one is down, full, or still loading"
            evidence = f"{count} segment(s) of {data_source} cannot be queried"
            repair = "-- start Druid's historicals, or increase their capacity (druid.server.maxSize)"
            yield Problem(names.get(data_source, data_source), "segments unavailable", cause, evidence, repair)


# --- of one ingestion --------------------------------------------------------------------------------------------


def _interrupted(one: Ingestion, _: Overview) -> Iterator[Problem]:
    """Rerunning the statement completes it; a statement that runs now is not a problem."""
    if one.pending and not one.is_changing:
        cause = f"{one.pending} was interrupted before it was complete"
        repair = rerun_statement(one.pending, name_of(one), one.rerun)
        if not repair:
            is_suspended = one.supervisor is not None and one.supervisor.suspended
            repair = statement("START", one)
            if is_suspended:
                repair = f"{repair}; {statement('SUSPEND', one)}"
        yield Problem(one.name, "interrupted", cause, f"its supervisor is {one.state}", repair)


def _not_running(one: Ingestion, overview: Overview) -> Iterator[Problem]:
    if one.started and one.supervisor is None and overview.has_supervisors and not one.pending:
        cause = "the ingestion was started, but its supervisor was stopped outside hivedruid"
        evidence = f"{supervisor_id(one.table) if one.table is not None else one.data_source} has no supervisor"
        yield Problem(one.name, "not running", cause, evidence, statement("START", one))


def _no_table(one: Ingestion, overview: Overview) -> Iterator[Problem]:
    """If several homes share a Druid cluster, the supervisors of the other homes are not a problem of this one."""
    if one.supervisor is None or (one.table is not None and has_ingestion(one.table.properties)):
        return
    owner, home = one.supervisor.context.get(OWNER_ID), one.supervisor.context.get(OWNER_HOME)
    if owner is None and one.table is None:
        cause = "it was not started by hivedruid"
    elif owner is not None and (home == overview.home if one.table is None else owner == one.table.table_id):
        cause = f"its table {one.supervisor.context.get(OWNER_TABLE)} was dropped, or no longer ingests from Kafka"
    else:
        return
    evidence = f"supervisor {one.supervisor.id} reads topic {one.topic}"
    yield Problem(one.name, "no table", cause, evidence, adopting(one))


def _not_ours(one: Ingestion, _: Overview) -> Iterator[Problem]:
    if one.supervisor is None or one.table is None or not has_ingestion(one.table.properties):
        return
    owner = one.supervisor.context.get(OWNER_ID)
    if owner is not None and owner != one.table.table_id:
        context = one.supervisor.context
        cause = f"it was started by table {context.get(OWNER_TABLE)} of {context.get(OWNER_HOME)}"
        repair = f"ALTER TABLE {name_of(one)} SET TBLPROPERTIES ('druid.datasource' = {literal(_own_source(one))})"
        yield Problem(
            one.name, "owned by another table", cause, f"supervisor {one.supervisor.id} feeds this table", repair
        )


def _own_source(one: Ingestion) -> str:
    """A data source for a table whose own one another table feeds: the default name, or one with the table's id."""
    assert one.table is not None
    name = one.table.full_name
    return name if name != one.data_source else f"{name}_{one.table.table_id}"


def _another_spec(one: Ingestion, _: Overview) -> Iterator[Problem]:
    if not one.differences or one.pending or one.supervisor is None:
        return
    shown = ", ".join(_difference(item) for item in one.differences[:3])
    more = f", and {len(one.differences) - 3} more" if len(one.differences) > 3 else ""
    if one.supervisor.context.get(OWNER_ID) is None:  # only the user knows which of the two is right
        cause, repair = "its supervisor was not started by this table", f"EXPLAIN {statement('START', one)}"
    else:
        cause = "the table was changed while Druid was unreachable, or the supervisor was changed outside hivedruid"
        repair = statement("START", one)
    yield Problem(one.name, "spec differs", cause, shown + more, repair)


def _difference(item: Difference) -> str:
    return "{}: the supervisor has {}, the table {}".format(item.path, *item.texts)


def _failing_tasks(one: Ingestion, overview: Overview) -> Iterator[Problem]:
    """Until a later task has succeeded, or has run for some time."""
    if one.supervisor is None or one.supervisor.suspended:
        return
    recent = [task for task in one.tasks if (made := moment(task.created)) is not None and overview.now - made < RECENT]
    failed = [task for task in recent if task.has_failed]
    if not failed or any(_is_well(task, overview.now) and task.created > failed[0].created for task in recent):
        return
    minutes = int(RECENT.total_seconds() // 60)
    evidence = (
        f"{len(failed)} of {len(recent)} task(s) of the last {minutes} minutes failed, most recently {failed[0].id}"
    )
    cause = failed[0].error or "Druid gives no reason"
    name = "tasks failing" if len(failed) == 1 else "tasks failing and restarting"
    yield Problem(one.name, name, cause, evidence, f"SHOW TASK '{failed[0].id}'")


def _is_well(task: Task, now: datetime) -> bool:
    made = moment(task.created)
    return task.state == "SUCCESS" or (task.state == "RUNNING" and made is not None and now - made >= RECOVERED)


def _waiting_tasks(one: Ingestion, overview: Overview) -> Iterator[Problem]:
    """While slots are free, tasks wait only briefly."""
    slots = overview.slots
    oldest = one.waiting[-1] if one.waiting else None
    if oldest is None or slots is None or slots.capacity == 0:
        return
    evidence = f"{len(one.waiting)} task(s) waiting, {oldest.id} since {oldest.created}"
    if slots.free == 0:
        cause = f"all {slots.capacity} task slots of Druid are in use"
        yield Problem(one.name, "no free slots", cause, evidence, "SHOW TASKS WHERE STATE = 'RUNNING'")
    elif (made := moment(oldest.created)) is not None and overview.now - made > STARTED:
        io = one.supervisor.io_config if one.supervisor is not None else {}
        replicas = int(io.get("replicas") or 1)
        cause = (
            f"replicas do not share a worker: {replicas} replicas need {replicas} workers"
            if replicas > 1
            else "no worker accepts it"
        )
        evidence += f", {slots.free} of {slots.capacity} slots are free"
        repair = show_tasks(one)
        if replicas > 1 and one.table is not None:
            repair = (
                f"ALTER TABLE {name_of(one)} SET TBLPROPERTIES ('druid.kafka.ingestion.replicas' = '{replicas - 1}')"
            )
        yield Problem(one.name, "tasks waiting", cause, evidence, repair)


def _offsets(one: Ingestion, _: Overview) -> Iterator[Problem]:
    """The next offset of each partition must exist in Kafka, or be the next one to be written."""
    if one.offsets is None or one.status is None:
        return
    earliest, latest = one.offsets.earliest, one.offsets.latest
    if one.running and not one.status.active:
        return  # the supervisor has not discovered its tasks yet, and its errors are old
    following = {**one.left_off, **next_offsets(one.status)}
    if gone := sorted(following.keys() - latest.keys()):
        cause = "the topic was recreated with fewer partitions"
        evidence = f"partition(s) {_listed(gone)} were read, the topic has {_listed(sorted(latest))}"
        yield Problem(one.name, "partition not found", cause, evidence, reset(one))
    expired = {p: earliest[p] - offset for p, offset in following.items() if p in earliest and offset < earliest[p]}
    if expired:
        cause = "Kafka's retention deleted records before they were read"
        evidence = "; ".join(
            f"partition {p}: {n} record(s) from offset {following[p]}" for p, n in sorted(expired.items())
        )
        yield Problem(one.name, "offsets expired", cause, evidence, reset(one))
    beyond = {p: offset for p, offset in following.items() if p in latest and offset > latest[p]}
    if beyond:
        cause = "the topic was recreated or truncated: the next offset to read is beyond its end"
        evidence = "; ".join(
            f"partition {p}: next offset {n}, end offset {latest[p]}" for p, n in sorted(beyond.items())
        )
        yield Problem(one.name, "offsets beyond the end", cause, evidence, reset(one))


def _unread_partitions(one: Ingestion, _: Overview) -> Iterator[Problem]:
    """SeekableStreamSupervisor assigns a new partition to the successors of the running tasks, which read on for two
    minutes (repartitionTransitionDuration, which cannot be set for Kafka)."""
    if one.offsets is None or one.status is None or not one.status.active or len(one.status.active) < one.wanted:
        return
    earliest, latest = one.offsets.earliest, one.offsets.latest
    new = {
        p: latest[p] - earliest[p] for p in latest.keys() - next_offsets(one.status).keys() if latest[p] > earliest[p]
    }
    if new:
        cause = (
            "they were added to the topic: Druid reads them about two minutes after discovering them, or after a"
            " handoff"
        )
        evidence = "; ".join(f"partition {p}: {count} record(s)" for p, count in sorted(new.items()))
        yield Problem(one.name, "partitions not read yet", cause, evidence, statement("HANDOFF", one))


def _unhealthy(one: Ingestion, overview: Overview) -> list[Problem]:
    """The supervisor's own state, if no other rule explains the problem."""
    supervisor = one.supervisor
    if supervisor is None or supervisor.suspended or _has_no_kafka(supervisor, overview):
        return []
    is_idle = one.status is not None and bool(one.status.errors) and not one.running and not one.waiting
    if supervisor.healthy and supervisor.detailed_state not in _BAD_STATES and not is_idle:
        return []
    error = one.last_error
    cause = error[1] if error is not None else "the supervisor gives no reason"
    if _NULL in cause and (variables := _variables(supervisor)):
        cause += f": Druid's overlord may not have the environment variable(s) {', '.join(variables)}"
    evidence = f"{supervisor.state}, {supervisor.detailed_state}" + (f", last error {error[0]}" if error else "")
    is_worse = one.table is not None and one.last is not None and one.last.is_worse and not one.pending
    repair = f"ALTER TABLE {name_of(one)} ROLLBACK INGESTION" if is_worse else show_tasks(one)
    return [Problem(one.name, "unhealthy", cause, evidence, repair)]


def _variables(supervisor: Supervisor) -> tuple[str, ...]:
    """The environment variables of its consumer, as far as they are known."""
    try:
        return feed_of(supervisor.spec).variables
    except KafkaError:
        return ()


_NULL = "NullPointerException"
"""The error of a supervisor if an environment variable of its consumer is not set."""


def _has_no_kafka(supervisor: Supervisor, overview: Overview) -> bool:
    """Whether the supervisor does not reach a Kafka that this machine does not reach, either."""
    brokers = (supervisor.io_config.get("consumerProperties") or {}).get("bootstrap.servers")
    is_away = any(one.service == f"Kafka at {brokers}" for one in overview.unreachable)
    return is_away and supervisor.detailed_state in _BAD_STATES | {"CONNECTING_TO_STREAM"}


_BAD_STATES = frozenset({"UNABLE_TO_CONNECT_TO_STREAM", "LOST_CONTACT_WITH_STREAM"})
"""SeekableStreamSupervisorStateManager; the supervisor counts as healthy until several attempts have failed."""

RULES: tuple[Callable[[Overview], Iterator[Problem]], ...] = (_unreachable, _no_workers, _unavailable_segments)
Rule = Callable[[Ingestion, Overview], Iterator[Problem]]
RULES_OF_OWNERS: tuple[Rule, ...] = (_interrupted, _not_running, _no_table, _not_ours, _another_spec)
RULES_OF_TASKS: tuple[Rule, ...] = (topic_not_found, _offsets, _unread_partitions, _failing_tasks, _waiting_tasks)


def _listed(partitions: Sequence[Partition]) -> str:
    return ", ".join(map(str, partitions))


def _ended(task: Task) -> datetime | None:
    made = moment(task.created)
    return made + timedelta(milliseconds=task.duration) if made is not None and task.duration >= 0 else None
