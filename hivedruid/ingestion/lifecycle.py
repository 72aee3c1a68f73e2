"""The steps of START, STOP, RESET and the other verbs, from the current state of an ingestion. Pure.

Every verb can be rerun after an interruption at any point: completed steps are not repeated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

from hivedruid.catalog.ingestions import IngestionRecord, SentSpec
from hivedruid.catalog.properties import HEADER_FILTER, SUPERVISOR_ID, TOPIC_PATTERN
from hivedruid.catalog.table import Table
from hivedruid.druid.versions import VERSIONS, DruidVersion, Feature
from hivedruid.errors import HiveDruidError, KafkaError, SemanticError, UnsupportedError
from hivedruid.ingestion.compare import Difference, changes
from hivedruid.ingestion.model import (
    FeedOffsets,
    Offsets,
    Partition,
    Slots,
    Supervisor,
    SupervisorStatus,
    Task,
    Worker,
    offset_list,
    partition_of,
)
from hivedruid.ingestion.offsets import Move, moves, next_offsets
from hivedruid.ingestion.owners import check_owner, owned
from hivedruid.ingestion.supervisor import (
    OWNER_HOME,
    SUPERVISOR,
    owner_of,
    replicas,
    spec_part,
    supervisor_id,
    supervisor_path,
    task_groups,
)
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.changes import ChangeNotes, IngestionJob

if TYPE_CHECKING:
    from hivedruid.ingestion.adoption import Adoption

Json = dict[str, Any]
Verb = Literal["START", "STOP", "RESET", "SUSPEND", "RESUME", "HANDOFF", "WAIT", "ALTER", "DROP"]
Awaited = Literal["running", "stopped", "suspended", "handed off", "read"]


@dataclass(frozen=True)
class IngestionFacts:
    """The state of a table's ingestion before a change. `running` is the supervisor's spec in Druid, with its defaults.

    `tasks` are those of its data source, including the newest completed ones. `topic` holds Kafka's offsets, if needed,
    or `no_offsets` the error of Kafka; `has_no_topic`: it does not exist.
    `moment` those at the time of RESET … TO TIMESTAMP; `left_off` the end offsets of the last tasks, if none runs.
    `begun` is the last change if it was interrupted. `home` names this home in messages of other homes. `others` are
    the other supervisors that feed the data source; `version` is Druid's, None if it is not known.
    """

    running: Mapping[str, Any] | None = None
    status: SupervisorStatus | None = None
    tasks: tuple[Task, ...] = ()
    workers: tuple[Worker, ...] = ()
    record: IngestionRecord = field(default_factory=IngestionRecord)
    begun: IngestionJob | None = None
    specs: tuple[SentSpec, ...] = ()
    topic: FeedOffsets | None = None
    no_offsets: HiveDruidError | None = field(default=None, compare=False)
    has_no_topic: bool = False
    moment: Offsets | None = None
    left_off: Offsets = field(default_factory=dict)
    home: str = ""
    others: tuple[Supervisor, ...] = ()
    version: DruidVersion | None = None

    @property
    def is_suspended(self) -> bool:
        return self.running is not None and bool(self.running.get("suspended"))

    @property
    def reading(self) -> tuple[Task, ...]:
        """The running tasks."""
        return tuple(task for task in self.tasks if task.state == "RUNNING")


@dataclass(frozen=True)
class Request:
    """An idempotent request to the overlord that changes something."""

    path: str
    body: Json | None = None

    @property
    def text(self) -> str:
        """The request as EXPLAIN shows it; a spec is shown separately."""
        body = f" {json.dumps(self.body)}" if self.body and "spec" not in self.body else ""
        return f"POST {self.path}{body}"


@dataclass(frozen=True)
class Await:
    """Wait for a state. `tasks` are those that must end for "handed off"; for "running", earlier tasks that only count
    once the supervisor reports them as its own. `offsets` must be reached for "read"."""

    state: Awaited
    tasks: tuple[str, ...] = ()
    offsets: Offsets = field(default_factory=dict)

    @property
    def text(self) -> str:
        places = offset_list(self.offsets)
        return f"wait until {self.state}{f' up to {places}' if places else ''}"


@dataclass(frozen=True)
class MoveOffsets:
    """Set the offsets at which the suspended supervisor resumes.

    With `forward_only` a partition whose offset is already further keeps it: TO LATEST repeats no records.
    """

    path: str
    topic: str
    moves: tuple[Move, ...]
    forward_only: bool = False
    kept: FeedOffsets | None = None
    """The offsets of the topic in Kafka, if known."""

    @property
    def offsets(self) -> dict[Partition, int]:
        return {move.partition: move.after for move in self.moves}

    @property
    def text(self) -> str:
        return f"POST {self.path} {json.dumps({str(p): offset for p, offset in self.offsets.items()})}"


Step = Request | Await | MoveOffsets


@dataclass(frozen=True)
class IngestionChange:
    """The change that a verb makes. `spec` is the submitted spec, None if none is submitted; `needs_consent`: records
    are lost or repeated. `has_moved`: an interrupted RESET has already changed the offsets.

    `started`: whether there should be a supervisor afterwards. For EXPLAIN, `read` holds the current offsets, and
    `version` is Druid's.
    """

    table: Table
    verb: Verb
    steps: tuple[Step, ...]
    started: bool
    spec: Json | None = None
    differences: tuple[Difference, ...] = ()
    slots: Slots | None = None
    moves: tuple[Move, ...] = ()
    read: Offsets = field(default_factory=dict)
    needs_consent: bool = False
    notes: ChangeNotes = field(default_factory=ChangeNotes)
    has_moved: bool = False
    version: DruidVersion | None = None
    foreign: Adoption | None = None
    """What another program started, and a START replaces: it is recorded for ROLLBACK INGESTION."""

    @property
    def is_submitted(self) -> bool:
        """Whether it submits a supervisor that keeps running."""
        return self.started and any(isinstance(step, Request) and step.path == SUPERVISOR for step in self.steps)

    @property
    def ends_tasks(self) -> bool:
        """Whether the running tasks must publish what they have read."""
        return any(isinstance(step, Await) and step.state == "suspended" for step in self.steps)


def path(table: Table, part: str) -> str:
    return supervisor_path(supervisor_id(table), part)


def is_foreign(facts: IngestionFacts) -> bool:
    """Whether another program started the supervisor that runs."""
    running = facts.running
    if running is None or owner_of(running) is not None:
        return False
    return (running.get("context") or {}).get(OWNER_HOME) != facts.home


_NEEDED: Mapping[str, Feature] = {SUPERVISOR_ID: "supervisor ids", HEADER_FILTER: "header filters"}
"""What properties need. An older Druid ignores them in a spec, without an error."""


def check_version(table: Table, facts: IngestionFacts) -> None:
    """Raises UnsupportedError if this Druid would ignore a property of the table."""
    for key, feature in _NEEDED.items():
        if key in table.properties and facts.version is not None and not facts.version.has(feature):
            since = VERSIONS[feature].since
            raise UnsupportedError(
                f"{key} needs Druid {since} or later. {facts.version.reason(feature)}",
                hint=f"ALTER TABLE {table.full_name} UNSET TBLPROPERTIES ('{key}')",
            )


def slots(spec: Mapping[str, Any], facts: IngestionFacts) -> Slots | None:
    """The task slots that a spec needs in addition to its running tasks; None if the workers are not known.

    If the number of partitions is not known, `taskCount` is used.
    """
    if not facts.workers:
        return None
    io = spec["spec"]["ioConfig"]
    partitions = len(facts.topic.latest) if facts.topic else (facts.status.partitions if facts.status else None)
    needed = task_groups(io, partitions) * replicas(io) - len(facts.reading)
    return Slots.of(facts.workers, max(0, needed))


def explained(change: IngestionChange, spec: Json, facts: IngestionFacts) -> IngestionChange:
    """The change with all details for EXPLAIN, including those that the verb does not change."""
    diff = changes(spec, facts.running, facts.record.last) if facts.running is not None else ()
    starts = any(isinstance(step, Await) and step.state == "running" for step in change.steps)
    return replace(
        change,
        spec=change.spec or owned(spec, change.table, facts.home),
        differences=change.differences or diff,
        slots=slots(spec, facts) if starts else None,
        read={**facts.left_off, **next_offsets(facts.status)},
        version=facts.version,
    )


# --- verbs -------------------------------------------------------------------------------------------------------


def start(table: Table, spec: Json, facts: IngestionFacts) -> IngestionChange:
    """Run a supervisor with exactly this spec; if it already does, its tasks are not touched."""
    check_owner(table, facts.running)
    diff = () if facts.running is None else changes(spec, facts.running, facts.record.last)
    sent = owned(spec, table, facts.home)
    steps: tuple[Step, ...] = ()
    if facts.running is None or diff:
        steps = _submitted(table, sent, facts)
    elif facts.is_suspended:
        steps = (Request(path(table, "resume")),)
    return IngestionChange(
        table,
        "START",
        (*steps, _runs(facts, replaced=bool(steps))),
        started=True,
        spec=sent,
        differences=diff,
        slots=slots(spec, facts),
    )


def stop(table: Table, spec: Json, facts: IngestionFacts, verb: Literal["STOP", "DROP"] = "STOP") -> IngestionChange:
    """Stop the supervisor and all tasks, after they have published what they read.

    Terminating a supervisor does not stop tasks that it has not discovered yet: they would read on for taskDuration
    (SeekableStreamSupervisor.gracefulShutdownInternal of Druid 33). So it is suspended first, which stops all of them;
    for tasks without a supervisor, a suspended one is created.
    """
    check_owner(table, facts.running)
    steps: tuple[Step, ...] = ()
    if facts.running is not None or any(not task.is_complete for task in facts.tasks):
        steps = (*_suspended(table, spec, facts), Request(path(table, "terminate")), Await("stopped"))
    return IngestionChange(table, verb, steps, started=False)


def purge(table: Table, spec: Json, facts: IngestionFacts) -> IngestionChange:
    """STOP, and delete the offsets in Druid. Only a supervisor can do that; if there is none, one is created."""
    check_owner(table, facts.running)
    return IngestionChange(
        table, "DROP", _without_offsets(table, spec, facts), started=False,
        notes=ChangeNotes(f"DROP TABLE {table.full_name} PURGE"),
    )  # fmt: skip


def suspend(table: Table, facts: IngestionFacts) -> IngestionChange:
    _require(table, facts, "SUSPEND")
    calls = () if facts.is_suspended else (Request(path(table, "suspend")),)
    return IngestionChange(table, "SUSPEND", (*calls, Await("suspended")), started=True)


def resume(table: Table, facts: IngestionFacts) -> IngestionChange:
    _require(table, facts, "RESUME")
    calls = (Request(path(table, "resume")),) if facts.is_suspended else ()
    return IngestionChange(table, "RESUME", (*calls, _runs(facts, replaced=bool(calls))), started=True)


def handoff(table: Table, facts: IngestionFacts) -> IngestionChange:
    """Publish what was read so far as segments; new tasks continue."""
    _require(table, facts, "HANDOFF")
    if facts.is_suspended:
        raise SemanticError(
            f"the ingestion of {table.full_name} is suspended: everything read so far is already handed off"
        )
    running = tuple(task.id for task in facts.reading)
    count = task_groups(spec_part(facts.running, "ioConfig"), facts.status.partitions if facts.status else None)
    call = Request(path(table, "taskGroups/handoff"), {"taskGroupIds": list(range(count))})
    return IngestionChange(
        table, "HANDOFF", (call, Await("handed off", running), _runs(facts, replaced=True)), started=True
    )


def wait(table: Table, facts: IngestionFacts) -> IngestionChange:
    """Wait until every record that is in Kafka now is read, and visible to queries."""
    _require(table, facts, "WAIT for")
    if facts.is_suspended:
        raise SemanticError(
            f"cannot WAIT for the ingestion of {table.full_name}: it is suspended",
            hint=f"RESUME INGESTION {table.name}",
        )
    if facts.topic is None:
        raise _unknown_end(table, facts)
    return IngestionChange(table, "WAIT", (Await("read", offsets=facts.topic.latest),), started=True)


def _unknown_end(table: Table, facts: IngestionFacts) -> KafkaError:
    """Why WAIT does not know the offsets up to which it waits."""
    pattern = table.properties.get(TOPIC_PATTERN)
    topics = f"the topics of '{pattern}'" if pattern else "its topic"
    known = facts.no_offsets
    reason = known.message if known is not None else "Kafka could not be queried from this machine"
    return KafkaError(
        f"cannot WAIT for the ingestion of {table.full_name}: the offsets of {topics} are unknown: {reason}",
        hint=known.hint if known is not None else None,
    )


def alter(table: Table, spec: Json, facts: IngestionFacts, *, has_other_topic: bool = False) -> IngestionChange | None:
    """Submit the new spec after the table was changed, if its meaning differs. None: nothing to do.

    If an interrupted ALTER had already submitted the spec, only the wait for it is completed. `has_other_topic`: Druid
    deletes its offsets, which are those of the topic before.
    """
    if facts.running is None:
        return None
    diff = changes(spec, facts.running, facts.record.last)
    begun = facts.begun if facts.begun is not None and facts.begun.verb == "ALTER" else None
    if not diff and begun is None:
        return None
    check_owner(table, facts.running)
    runs = not facts.is_suspended or (facts.begun is not None and facts.begun.change.runs)
    sent = owned(spec, table, facts.home, suspended=not runs)
    steps = _submitted(table, sent, facts) if diff or facts.is_suspended else ()
    if has_other_topic:
        steps = (*steps[:-1], Request(path(table, "reset")), *steps[-1:])
    if runs:
        steps += (_runs(facts, replaced=bool(steps)),)
    return IngestionChange(
        table, "ALTER", steps, started=True, spec=sent, differences=diff, slots=slots(spec, facts),
        notes=ChangeNotes(f"START INGESTION {table.full_name}" if runs else "", runs=runs),
    )  # fmt: skip


def forget_offsets(table: Table, spec: Json, facts: IngestionFacts) -> IngestionChange:
    """Delete the offsets of a stopped ingestion in Druid, with a suspended supervisor of the spec as it was."""
    return IngestionChange(
        table, "ALTER", _without_offsets(table, spec, facts), started=False,
        notes=ChangeNotes(f"STOP INGESTION {table.full_name}"),
    )  # fmt: skip


def reset(
    table: Table, spec: Json, facts: IngestionFacts, target: Offsets, *, asked: str, forward_only: bool
) -> IngestionChange:
    """Resume at other offsets. `asked` is the target as written in the statement.

    What was read so far is published first, so that the number of lost and repeated records is exact; then the offsets
    are changed, and the ingestion runs or stays suspended as before. Rerunning an interrupted RESET completes it as
    announced: offsets that were already changed are not changed again.
    """
    check_owner(table, facts.running)
    begun = facts.begun if facts.begun is not None and facts.begun.verb == "RESET" else None
    now = "STOPPED" if facts.running is None else "SUSPENDED" if facts.is_suspended else "RUNNING"
    was = (begun.change.was if begun is not None else "") or now
    same = begun if begun is not None and begun.change.target == asked else None
    announced = same.change.offsets if same is not None else None
    if announced is not None:
        named = ((partition_of(text), offset) for text, offset in announced.items())
        target, forward_only = {partition: offset for partition, offset in named if partition is not None}, False
    io = spec["spec"]["ioConfig"]
    topic = str(io.get("topicPattern") or io.get("topic"))
    planned = moves({**facts.left_off, **next_offsets(facts.status)}, target, facts.topic)
    steps: tuple[Step, ...] = ()
    has_moved = same is not None and same.state == "moved"
    is_moved = has_moved and (facts.running is not None or was == "STOPPED")
    if is_moved:
        planned = ()
    else:
        steps = (
            *_suspended(table, spec, facts),
            MoveOffsets(path(table, "resetOffsets"), topic, planned, forward_only, facts.topic),
        )
    if was == "RUNNING":
        resumes = not is_moved or facts.is_suspended
        steps += (*((Request(path(table, "resume")),) if resumes else ()), _runs(facts, replaced=resumes))
    elif was == "STOPPED":
        steps += (Request(path(table, "terminate")), Await("stopped"))
    return IngestionChange(
        table, "RESET", steps, started=was != "STOPPED", moves=planned,
        needs_consent=not all(move.is_harmless for move in planned),
        notes=ChangeNotes(
            f"RESET INGESTION {table.full_name} {asked}".rstrip(), was=was, target=asked, offsets=announced
        ),
        has_moved=has_moved,
    )  # fmt: skip


def _submitted(table: Table, sent: Json, facts: IngestionFacts) -> tuple[Step, ...]:
    """Submit another spec after the tasks have published what they read.

    Druid 33 passes running tasks on to the new supervisor, which may assign one to a group of partitions that it reads
    only in part: with fewer tasks than before, some partitions would not be read for taskDuration, until that task ends
    (SeekableStreamSupervisor.discoverTasks).
    """
    if facts.running is None or facts.is_suspended:
        return (Request(SUPERVISOR, sent),)
    return Request(path(table, "suspend")), Await("suspended"), Request(SUPERVISOR, sent)


def _suspended(table: Table, spec: Json, facts: IngestionFacts) -> tuple[Step, ...]:
    """The steps to a suspended supervisor without tasks, from any state."""
    if facts.running is None:
        io = {**spec["spec"]["ioConfig"], "startDelay": "PT0S"}
        sent = owned({**spec, "spec": {**spec["spec"], "ioConfig": io}}, table, facts.home, suspended=True)
        return Request(SUPERVISOR, sent), Await("suspended")
    return (Await("suspended"),) if facts.is_suspended else (Request(path(table, "suspend")), Await("suspended"))


def _without_offsets(table: Table, spec: Json, facts: IngestionFacts) -> tuple[Step, ...]:
    """The steps to no supervisor, and to no offsets in Druid: only a supervisor can delete them."""
    reset, terminate = (Request(path(table, part)) for part in ("reset", "terminate"))
    return *_suspended(table, spec, facts), reset, terminate, Await("stopped")


def _runs(facts: IngestionFacts, *, replaced: bool) -> Await:
    """`replaced`: the tasks that run now may be replaced, because the spec changes."""
    return Await("running", tuple(task.id for task in facts.tasks if replaced or task.is_complete))


def _require(table: Table, facts: IngestionFacts, verb: str) -> None:
    if facts.running is None:
        raise SemanticError(
            f"cannot {verb} the ingestion of {table.full_name}: it has not been started",
            hint=f"START INGESTION {table.name}",
        )
    check_owner(table, facts.running)
