"""The problems of ingestions: a table of rules over an `Overview`. Pure.

A repair is a statement to run; if no statement helps, it is a comment that describes the repair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hivedruid.catalog.properties import INGESTION_PREFIX, has_ingestion
from hivedruid.ingestion.compare import Difference
from hivedruid.ingestion.model import Partition, Task
from hivedruid.ingestion.offsets import next_offsets
from hivedruid.ingestion.overview import SLOWEST, Ingestion, Overview, moment, parse_error_text
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID, OWNER_TABLE, spec_part, supervisor_id
from hivedruid.operations.changes import rerun_statement
from hivedruid.parser.parameters import literal
from hivedruid.redaction import redact
from hivedruid.tables.druid_expressions import expressions_in, fault_of

RECENT = timedelta(minutes=10)
"""The period in which failed tasks count."""
RECOVERED = timedelta(minutes=2)
"""A task that has run this long shows that the cause of earlier failures is over; reading has started by then, too."""
STARTED = timedelta(seconds=30)
"""The time in which tasks with a slot start to run."""
BEHIND = 300
"""The maximum number of seconds to read the rest before the lag counts as a problem."""
HAND_OFF = timedelta(minutes=2)
"""The time in which newly published segments are loaded."""
LENGTH = 200
"""The maximum number of characters of a message or record that are shown."""


@dataclass(frozen=True)
class Problem:
    """A problem of `subject`: a table, the id of a supervisor without a table, or a service."""

    subject: str
    problem: str
    cause: str
    evidence: str
    repair: str


COLUMNS = ("subject", "problem", "cause", "evidence", "repair")


def problems(overview: Overview) -> tuple[Problem, ...]:
    """All problems, services first."""
    result = [problem for rule in RULES for problem in rule(overview)]
    for one in overview.ingestions:
        result += [problem for rule in RULES_OF_OWNERS for problem in rule(one, overview)]
        result += [problem for rule in RULES_OF_TASKS for problem in rule(one, overview)] or _unhealthy(one)
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
    for one in overview.unreachable:
        yield Problem(one.service, "unreachable", one.message, one.evidence, f"-- {one.hint or 'start the service'}")


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
        repair = rerun_statement(one.pending, _name(one), one.rerun)
        if not repair:
            is_suspended = one.supervisor is not None and one.supervisor.suspended
            repair = "-- rerun ALTER TABLE" if is_suspended else _statement("START", one)
        yield Problem(one.name, "interrupted", cause, f"its supervisor is {one.state}", repair)


def _not_running(one: Ingestion, overview: Overview) -> Iterator[Problem]:
    if one.started and one.supervisor is None and overview.has_supervisors and not one.pending:
        cause = "the ingestion was started, but its supervisor was stopped outside hivedruid"
        evidence = f"{supervisor_id(one.table) if one.table is not None else one.data_source} has no supervisor"
        yield Problem(one.name, "not running", cause, evidence, _statement("START", one))


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
    yield Problem(one.name, "no table", cause, evidence, _adopting(one))


def _not_ours(one: Ingestion, _: Overview) -> Iterator[Problem]:
    if one.supervisor is None or one.table is None or not has_ingestion(one.table.properties):
        return
    owner = one.supervisor.context.get(OWNER_ID)
    if owner is not None and owner != one.table.table_id:
        context = one.supervisor.context
        cause = f"it was started by table {context.get(OWNER_TABLE)} of {context.get(OWNER_HOME)}"
        repair = f"-- STOP INGESTION there, or set a druid.datasource other than {one.data_source} for this table"
        yield Problem(
            one.name, "owned by another table", cause, f"supervisor {one.supervisor.id} feeds this table", repair
        )


def _another_spec(one: Ingestion, _: Overview) -> Iterator[Problem]:
    if not one.differences or one.pending or one.supervisor is None:
        return
    shown = ", ".join(_difference(item) for item in one.differences[:3])
    more = f", and {len(one.differences) - 3} more" if len(one.differences) > 3 else ""
    if one.supervisor.context.get(OWNER_ID) is None:  # only the user knows which of the two is right
        cause, repair = "its supervisor was not started by this table", f"EXPLAIN {_statement('START', one)}"
    else:
        cause = "the table was changed while Druid was unreachable, or the supervisor was changed outside hivedruid"
        repair = _statement("START", one)
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
        repair = _show_tasks(one)
        if replicas > 1 and one.table is not None:
            repair = f"ALTER TABLE {_name(one)} SET TBLPROPERTIES ('druid.kafka.ingestion.replicas' = '{replicas - 1}')"
        yield Problem(one.name, "tasks waiting", cause, evidence, repair)


def _topic(one: Ingestion, _: Overview) -> Iterator[Problem]:
    if one.topic_problem:
        repair = f"-- create the topic {one.topic} again, or {_statement('STOP', one)}"
        yield Problem(one.name, "topic not found", one.topic_problem, f"topic {one.topic}", repair)


def _offsets(one: Ingestion, _: Overview) -> Iterator[Problem]:
    """The next offset of each partition must exist in Kafka, or be the next one to be written."""
    if one.offsets is None or one.status is None:
        return
    earliest, latest = one.offsets.earliest, one.offsets.latest
    if one.running and not one.status.active:
        return  # the supervisor has not discovered its tasks yet, and its errors are old
    following = next_offsets(one.status)
    if gone := sorted(following.keys() - latest.keys()):
        cause = "the topic was recreated with fewer partitions"
        evidence = f"partition(s) {_listed(gone)} were read, the topic has {_listed(sorted(latest))}"
        yield Problem(one.name, "partition not found", cause, evidence, _reset(one))
    expired = {p: earliest[p] - offset for p, offset in following.items() if p in earliest and offset < earliest[p]}
    if expired:
        cause = "Kafka's retention deleted records before they were read"
        evidence = "; ".join(
            f"partition {p}: {n} record(s) from offset {following[p]}" for p, n in sorted(expired.items())
        )
        yield Problem(one.name, "offsets expired", cause, evidence, _reset(one))
    beyond = {p: offset for p, offset in following.items() if p in latest and offset > latest[p]}
    if beyond:
        cause = "the topic was recreated or truncated: the next offset to read is beyond its end"
        evidence = "; ".join(
            f"partition {p}: next offset {n}, end offset {latest[p]}" for p, n in sorted(beyond.items())
        )
        yield Problem(one.name, "offsets beyond the end", cause, evidence, _reset(one))


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
        yield Problem(one.name, "partitions not read yet", cause, evidence, _statement("HANDOFF", one))


def _lag(one: Ingestion, overview: Overview) -> Iterator[Problem]:
    """The lag grows if more is written than read, by Kafka's end offsets now and when the supervisor last fetched
    them."""
    since = one.since
    if not one.lag or one.counts is None or since is None or overview.now - since < RECOVERED:
        return
    speed = one.counts.per_second
    behind = one.seconds_behind
    if behind is not None and behind <= BEHIND:
        return
    written = _written_per_second(one, overview.now)
    growing = written is not None and written > speed
    name = "reading stalled" if speed <= SLOWEST else "growing lag" if growing else "lag"
    cause = "the tasks are not reading" if speed <= SLOWEST else f"the tasks read {speed:,.1f} rows/s"
    cause += f", {written:,.1f} are written" if written is not None else ""
    evidence = f"{one.lag} unread record(s)" + (f", {behind} s of work" if behind is not None else "")
    yield Problem(one.name, name, cause, evidence, _faster(one) if speed > SLOWEST else _show_tasks(one))


def _written_per_second(one: Ingestion, now: datetime) -> float | None:
    if one.offsets is None or one.status is None or (seen := moment(one.status.offsets_updated)) is None:
        return None
    seconds = (now - seen).total_seconds()
    before, after = one.status.latest_offsets, one.offsets.latest
    return sum(after[p] - before[p] for p in before.keys() & after.keys()) / seconds if seconds >= 1 else None


def _parse_errors(one: Ingestion, _: Overview) -> Iterator[Problem]:
    counts = one.counts
    bad = counts.unparseable + counts.processed_with_error if counts is not None else 0
    if counts is None or bad == 0:
        return
    total = counts.processed + counts.processed_with_error + counts.unparseable + counts.thrown_away
    example = one.parse_errors[0] if one.parse_errors else None
    cause = parse_error_text(example) if example is not None else "Druid saves none of them (maxSavedParseExceptions)"
    evidence = f"{bad} of {total} record(s) read by the running tasks"
    if counts.processed_with_error:
        evidence += (
            f"; {counts.processed_with_error} of them kept: a number that Druid cannot parse is NULL; without rollup,"
            " conditions, groups and aggregates may read 0 until its task writes it to disk"
        )
    yield Problem(one.name, "parse errors", cause, evidence, f"SHOW TASK '{counts.worst}'")


def _misread_expressions(one: Ingestion, _: Overview) -> Iterator[Problem]:
    """Specs that others post are not checked by anything else: Druid accepts SQL and computes something else."""
    if one.supervisor is None:
        return
    schema = spec_part(one.supervisor.spec, "dataSchema")
    for part in ("transformSpec", "metricsSpec"):
        for expression in expressions_in(schema.get(part), part):
            if (fault := fault_of(expression.text)) is not None:
                cause = f"{fault[0]} ({fault[1]})" if fault[1] else fault[0]
                yield Problem(one.name, "invalid expression", cause, expression.place, _corrected(one, part))


def _thrown_away(one: Ingestion, _: Overview) -> Iterator[Problem]:
    """Single records are thrown away on purpose; if all are, nothing is ingested although every task is well."""
    counts = one.counts
    if one.supervisor is None or counts is None or not counts.thrown_away or counts.kept:
        return
    evidence = f"{counts.thrown_away} record(s) read by the running tasks, none of them kept"
    filter_ = (spec_part(one.supervisor.spec, "dataSchema").get("transformSpec") or {}).get("filter")
    bounds = [key for key in _TIME_BOUNDS if one.supervisor.io_config.get(key) is not None]
    if filter_:
        cause = f"the filter of its transformSpec removes them: {json.dumps(filter_)}"
        repair = _corrected(one, "transformSpec")
    elif bounds:
        cause = f"their times are outside of {' and '.join(bounds)}"
        keys = ", ".join(literal(INGESTION_PREFIX + key) for key in bounds)
        repair = (
            f"ALTER TABLE {_name(one)} UNSET TBLPROPERTIES ({keys})"
            if one.table is not None and has_ingestion(one.table.properties)
            else f"-- remove {' and '.join(bounds)} from the spec of supervisor {one.supervisor.id}"
        )
    else:
        cause, repair = "Druid gives no reason", _show_tasks(one)
    yield Problem(one.name, "all records thrown away", cause, evidence, repair)


_TIME_BOUNDS = ("lateMessageRejectionPeriod", "lateMessageRejectionStartDateTime", "earlyMessageRejectionPeriod")
"""Keys of the ioConfig with which tasks drop records by their time."""


def _corrected(one: Ingestion, part: str) -> str:
    """How to correct a part of a spec, and ingest again what was read with it."""
    if one.table is None or not has_ingestion(one.table.properties):
        supervisor = one.supervisor.id if one.supervisor is not None else one.name
        return f"-- correct {part} in the spec of supervisor {supervisor}, where it was posted"
    key = f"druid.{part}"
    return f"-- ALTER TABLE {_name(one)} SET TBLPROPERTIES ('{key}' = …), then {_statement('RESET', one)} TO EARLIEST"


def _unhealthy(one: Ingestion) -> list[Problem]:
    """The supervisor's own state, if no other rule explains the problem."""
    supervisor = one.supervisor
    if supervisor is None or supervisor.suspended:
        return []
    is_idle = one.status is not None and bool(one.status.errors) and not one.running and not one.waiting
    if supervisor.healthy and supervisor.detailed_state not in _BAD_STATES and not is_idle:
        return []
    error = one.last_error
    cause = error[1] if error is not None else "the supervisor gives no reason"
    evidence = f"{supervisor.state}, {supervisor.detailed_state}" + (f", last error {error[0]}" if error else "")
    return [Problem(one.name, "unhealthy", cause, evidence, _show_tasks(one))]


_BAD_STATES = frozenset({"UNABLE_TO_CONNECT_TO_STREAM", "LOST_CONTACT_WITH_STREAM"})
"""SeekableStreamSupervisorStateManager; the supervisor counts as healthy until several attempts have failed."""

RULES: tuple[Callable[[Overview], Iterator[Problem]], ...] = (_unreachable, _no_workers, _unavailable_segments)
Rule = Callable[[Ingestion, Overview], Iterator[Problem]]
RULES_OF_OWNERS: tuple[Rule, ...] = (_interrupted, _not_running, _no_table, _not_ours, _another_spec)
RULES_OF_TASKS: tuple[Rule, ...] = (_topic, _offsets, _unread_partitions, _failing_tasks, _waiting_tasks)
RULES_OF_READING: tuple[Rule, ...] = (_lag, _parse_errors, _misread_expressions, _thrown_away)


# --- repairs -----------------------------------------------------------------------------------------------------


def _name(one: Ingestion) -> str:
    """The table as SQL."""
    parts = (one.table.database, one.table.name) if one.table is not None else (one.name,)
    return sql_name(*parts)


def sql_name(*parts: str) -> str:
    """A qualified name as SQL."""
    return ".".join(part if re.fullmatch(r"[a-z_]\w*", part, re.ASCII) else f"`{part}`" for part in parts)


def _statement(verb: str, one: Ingestion) -> str:
    named = one.table is not None and has_ingestion(one.table.properties)
    return f"{verb} INGESTION {_name(one) if named or one.supervisor is None else literal(one.supervisor.id)}"


def _show_tasks(one: Ingestion) -> str:
    return f"SHOW TASKS FOR {_name(one)}" if one.table is not None else "SHOW TASKS"


def _reset(one: Ingestion) -> str:
    return f"{_statement('RESET', one)} TO EARLIEST"


def _faster(one: Ingestion) -> str:
    """One more task, if there is a partition for it."""
    io = one.supervisor.io_config if one.supervisor is not None else {}
    count = int(io.get("taskCount") or 1)
    partitions = one.status.partitions if one.status is not None else None
    if one.table is None or (partitions is not None and count >= partitions):
        return (
            f"-- every partition of {one.topic} already has its own task: add partitions, or workers with faster disks"
        )
    property_ = f"'druid.kafka.ingestion.taskCount' = '{count + 1}'"
    return f"ALTER TABLE {_name(one)} SET TBLPROPERTIES ({property_})"


def _adopting(one: Ingestion) -> str:
    """The statement that makes a table with the spec of the supervisor, which can then stop and start it."""
    if one.supervisor is None or one.table is not None:
        return _statement("STOP", one)
    if one.supervisor.type != "kafka":
        kind = one.supervisor.type
        return f"-- change supervisor {one.supervisor.id} where it was posted: tables do not ingest from {kind}"
    name = re.sub(r"\W", "_", one.supervisor.id.lower(), flags=re.ASCII)
    return f"CREATE EXTERNAL TABLE `{name}` FROM SUPERVISOR {literal(one.supervisor.id)}"


def _listed(partitions: Sequence[Partition]) -> str:
    return ", ".join(map(str, partitions))


def _ended(task: Task) -> datetime | None:
    made = moment(task.created)
    return made + timedelta(milliseconds=task.duration) if made is not None and task.duration >= 0 else None
