"""Run the steps of an `IngestionChange` in order, waiting for the effect of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import field, replace
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

from hivedruid.clients import wire
from hivedruid.clients.failures import MissingError, UnavailableError
from hivedruid.clients.feed_offsets import feed_offsets
from hivedruid.clients.kafka import NoTopicError
from hivedruid.clients.overlord import Overlord
from hivedruid.clients.segments import Patience
from hivedruid.clients.task_offsets import with_first_lag, with_task_offsets
from hivedruid.errors import ConnectError, DruidError, KafkaError
from hivedruid.ingestion.compare import as_accepted
from hivedruid.ingestion.lifecycle import (
    Await,
    IngestionChange,
    IngestionFacts,
    MoveOffsets,
    Request,
)
from hivedruid.ingestion.model import (
    STREAMS,
    Offsets,
    Partition,
    Slots,
    Supervisor,
    SupervisorStatus,
    Task,
    offset_list,
)
from hivedruid.ingestion.offsets import Move, moves, names_expired_offset, next_offsets
from hivedruid.ingestion.owners import check_owner
from hivedruid.ingestion.supervisor import SUPERVISOR, replicas, spec_part, supervisor_id, supervisor_path, task_groups
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

T = TypeVar("T")

RECONNECT = 90.0
"""Seconds to wait for an overlord that does not respond: it may be restarting."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0
FAILED_TASKS = 2
"""The number of failed tasks after which START gives up: Druid replaces a single failed task."""
BAD_RUNS = 20.0
"""Seconds to wait for a supervisor that reports errors."""
REPORTED = 10.0
"""Seconds to wait for the reports of running tasks; not every runner of tasks passes them on."""
TASK_TYPE = "index_kafka"
_DONE = ("is already suspended", "is already running")
"""The messages of SupervisorResource for a repeated request whose first response was lost."""
INFORMED = 45.0
"""Seconds to wait for a supervisor to fetch the offsets of its tasks: slightly more than offsetFetchPeriod."""
GONE = 20.0
"""Seconds without a supervisor after which it counts as stopped outside hivedruid."""
LAST_TASKS = 8
"""The number of completed tasks whose end offsets, or reports, are read."""
KNOWN_TASKS = 50
"""The number of completed tasks that are read before a change: their failures are unrelated to it."""


def read_facts(
    cluster: DruidCluster,
    data_source: str,
    supervisor: str,
    *,
    whole: bool,
    wait_for_offsets: bool,
    feed: Mapping[str, Any] | None,
    moment: int | None,
) -> IngestionFacts:
    """Read the facts with two requests, four with `whole`, and one more if several supervisors may feed a data source;
    and from Kafka, if it can be reached from this machine."""
    overlord, version = Overlord(cluster.client), cluster.client.version
    read = Readers(data_source, supervisor)
    tasks = read.tasks(overlord)
    others = read.others(overlord) if version.has("supervisor ids") else ()
    spec = overlord.spec(supervisor)
    facts = IngestionFacts(cluster.kept.hidden(spec), tasks=tasks, others=others, version=version)
    if whole:
        status = _status_with_offsets(cluster, overlord, read) if wait_for_offsets else overlord.status(supervisor)
        if status is not None and spec is not None and not wait_for_offsets:
            status = with_first_lag(status, tasks, spec)
        facts = replace(facts, status=status, workers=overlord.workers())
    if wait_for_offsets and not facts.reading:
        facts = replace(facts, left_off=left_off(overlord, facts.tasks))
    if feed is None:
        return facts
    try:
        topic, at = feed_offsets(cluster.kept.filled(feed), moment)
    except NoTopicError as error:
        return replace(facts, no_offsets=error, has_no_topic=True)
    except (KafkaError, ConnectError) as error:
        cluster.note(f"cannot read offsets from Kafka: {error.message}")
        return replace(facts, no_offsets=error)
    return replace(facts, topic=topic, moment=at)


def running_spec(cluster: DruidCluster, supervisor: str) -> Mapping[str, Any] | None:
    """The spec of a supervisor, with references for the session's secrets; see `KafkaIngestion.running_spec`."""
    found: Mapping[str, Any] | None = cluster.kept.hidden(Overlord(cluster.client).spec(supervisor))
    return found


@dataclass(frozen=True)
class Readers:
    """The tasks of one supervisor; other tasks, also those of other supervisors, may write to its data source."""

    data_source: str
    supervisor: str

    def tasks(self, overlord: Overlord, state: str | None = None, most: int = KNOWN_TASKS) -> tuple[Task, ...]:
        found = overlord.tasks(self.data_source, state, most)
        return tuple(task for task in found if task.type == TASK_TYPE and task.supervisor == self.supervisor)

    def others(self, overlord: Overlord) -> tuple[Supervisor, ...]:
        """The other supervisors that feed the data source from a stream."""
        return tuple(
            other
            for other in overlord.supervisors()
            if other.type in STREAMS and other.data_source == self.data_source and other.id != self.supervisor
        )


def _status_with_offsets(cluster: DruidCluster, overlord: Overlord, read: Readers) -> SupervisorStatus | None:
    """The status of a supervisor once it knows the offsets of its tasks, which it fetches after they ran for some
    seconds."""
    end = monotonic() + INFORMED
    try:
        while True:
            status = overlord.status(read.supervisor)
            if status is None or status.suspended:
                return status
            running = read.tasks(overlord, "running")
            status = with_task_offsets(status, running)
            known = {task.id for task in (*status.active, *status.publishing) if task.current_offsets}
            if {task.id for task in running} <= known or monotonic() >= end:
                return status
            cluster.progress(f"Druid: waiting for the offsets of the tasks of {read.supervisor}")
            sleep(LONGEST_PAUSE)
    finally:
        cluster.progress("")


def left_off(overlord: Overlord, tasks: tuple[Task, ...]) -> dict[Partition, int]:
    """The end offsets of the newest tasks by partition, as long as Druid lists them (a day by default)."""
    found: dict[Partition, int] = {}
    for task in tasks[:LAST_TASKS]:  # the newest is first
        if task.is_complete:
            found = {**overlord.left_off(task), **found}
    return found


@dataclass
class IngestionRunner:
    """Runs changes of one cluster. `patience` is the timeout for each state, in seconds.

    `on_offsets` is called with the offsets before they are sent, and may raise; `on_accepted` with the spec as Druid
    accepted it. Raises DruidError if Druid refuses a change or does not reach its state, and ConnectError if the
    overlord does not respond; every change can then be rerun.
    """

    cluster: DruidCluster
    patience: float
    on_offsets: Callable[[tuple[Move, ...]], None]
    on_accepted: Callable[[Mapping[str, Any]], None]
    moved: tuple[Move, ...] = ()
    seen: set[str] = field(default_factory=set)
    """Tasks that ran at the start, or later."""
    ended: tuple[Task, ...] = ()
    """Those of them that had ended when the supervisor was suspended."""
    published: dict[str, Offsets] = field(default_factory=dict)
    """The offsets of publishing tasks, as reported by the supervisor."""
    unread: Offsets = field(default_factory=dict)
    """The number of records that WAIT waits for, by partition."""
    unassigned: Set[Partition] = frozenset()
    """Those of them that no task reads."""

    def run(self, change: IngestionChange, on_step: Callable[[], None]) -> None:
        self.overlord = Overlord(self.cluster.client)
        self.change = change
        self._fails, self._resumed, self._gone = Patience(BAD_RUNS), Patience(GONE), Patience(GONE)
        self.supervisor = supervisor_id(change.table)
        self.read = Readers(change.table.data_source, self.supervisor)
        try:
            for step in change.steps:
                if isinstance(step, Request):
                    self.cluster.kept.filled(step.body)  # a missing secret is reported before anything is changed
            if change.ends_tasks:
                self._patiently(self._active)
            for number, step in enumerate(change.steps):
                self._more = any(not isinstance(later, Await) for later in change.steps[number + 1 :])
                if isinstance(step, Request):
                    self._call(step)
                elif isinstance(step, MoveOffsets):
                    self._move(step)
                else:
                    self._await(step)
                on_step()
            if change.is_submitted:
                self._check_owner()
        finally:
            self.cluster.progress("")

    # --- calls -------------------------------------------------------------------------------------------------

    def _call(self, call: Request) -> None:
        """Send a request. All requests may be repeated, because without a response it is unknown whether it was
        executed."""
        ends = call.path.endswith("/terminate")
        body = self.cluster.kept.filled(call.body)
        shape: type[Any] = wire.SupervisorId if call.path == SUPERVISOR else wire.Acknowledgement
        try:
            self._patiently(lambda: self.cluster.client.post("overlord", call.path, shape, body))
        except DruidError as error:
            is_gone = ends and isinstance(error, MissingError)
            if not is_gone and not error.message.endswith(_DONE):
                if call.path == SUPERVISOR and self.change.ends_tasks and self.change.started:
                    self._resume()
                raise
        if call.path == SUPERVISOR:
            self._check_owner()

    def _resume(self) -> None:
        """Resume the previous supervisor after Druid refused a spec."""
        with suppress(DruidError, ConnectError):
            path = supervisor_path(self.supervisor, "resume")
            self.cluster.client.post("overlord", path, wire.Acknowledgement)

    def _check_owner(self) -> None:
        """If two homes submit concurrently, the last one wins, and the other one raises OwnerError, now or at the
        end."""
        running = self._patiently(lambda: self.overlord.spec(self.supervisor))
        check_owner(self.change.table, running)
        if running is not None and self.change.spec is not None:
            self.on_accepted(as_accepted(running))

    def _move(self, step: MoveOffsets) -> None:
        planned = moves({**_before(step.moves), **self._left_off()}, step.offsets, step.kept)
        if step.forward_only:
            further = {move.partition: max(move.after, move.before or 0) for move in planned}
            planned = moves(_before(planned), further, step.kept)
        offsets = {move.partition: move.after for move in planned}
        self.on_offsets(planned)
        partitions = {
            "type": "end",
            "stream": step.topic,
            "partitionOffsetMap": {str(p): o for p, o in offsets.items()},
        }
        body: dict[str, Any] = {"type": "kafka", "partitions": partitions}
        self._call(Request(step.path, body))
        self.moved = planned

    def _left_off(self) -> dict[Partition, int]:
        """The end offset of each partition, from the tasks that have ended."""
        found: dict[Partition, int] = {}
        for task in self.ended:
            ends = self._patiently(lambda task=task: self.overlord.left_off(task))  # type: ignore[misc]
            seen = self.published.get(task.id, {}) if task.state == "SUCCESS" else {}
            for partition in {*ends, *seen}:
                found[partition] = max(ends.get(partition, 0), seen.get(partition, 0), found.get(partition, 0))
        return found

    def _tell_ended(self) -> None:
        """Note tasks that failed while publishing: their records are read again by the next tasks."""
        tasks = self.read.tasks(self.overlord)
        self.ended = tuple(task for task in tasks if task.id in self.seen and task.is_complete)
        for task in self.ended:
            if task.state == "FAILED" and self.change.verb != "DROP":
                self.cluster.note(
                    f"task {task.id} failed while publishing; its records are read again by the next "
                    f"task: {task.error or 'Druid gives no reason'}"
                )

    def _patiently(self, ask: Callable[[], T]) -> T:
        """The result of a request, retried while the overlord is unavailable."""
        end = monotonic() + RECONNECT
        while True:
            try:
                return ask()
            except (ConnectError, UnavailableError):
                if monotonic() >= end:
                    raise
                self.cluster.progress("Druid: waiting for the overlord to respond")
                sleep(LONGEST_PAUSE)

    # --- waiting -----------------------------------------------------------------------------------------------

    def _await(self, step: Await) -> None:
        reached = {
            "running": _Running(self, step.tasks).is_reached,
            "stopped": self._is_stopped,
            "suspended": self._is_suspended,
            "read": lambda: self._has_read(step.offsets),
            "handed off": lambda: not any(task.id in step.tasks for task in self._active()),
        }[step.state]
        end = monotonic() + self.patience
        pause = FIRST_PAUSE
        while not self._patiently(reached):
            if monotonic() >= end:
                raise DruidError(
                    f"timed out after {self.patience:g} s waiting for the ingestion of {self.change.table.full_name} to"
                    f" be {step.state}: {self._state()}",
                    hint=(
                        f"{'rerun the statement' if self._more else 'Druid keeps trying'}; SHOW PROBLEMS shows what is"
                        " wrong"
                    ),
                )
            sleep(pause)
            pause = min(pause * 1.3, LONGEST_PAUSE)
        if step.state == "suspended":
            self._patiently(self._tell_ended)
        if step.state == "handed off":
            self._patiently(lambda: self._check_handed_off(step.tasks))

    def _check_handed_off(self, tasks: tuple[str, ...]) -> None:
        for task in self.read.tasks(self.overlord):
            if task.id in tasks and task.state == "FAILED":
                raise DruidError(
                    f"task {task.id} failed while publishing: {task.error or 'Druid gives no reason'}",
                    hint="another task reads its records again; SHOW PROBLEMS shows what is wrong",
                )

    def _active(self) -> list[Task]:
        active = [task for task in self.read.tasks(self.overlord, most=0) if not task.is_complete]
        self.seen.update(task.id for task in active)
        return active

    def _is_stopped(self) -> bool:
        active = self._active()
        if active:
            self.cluster.progress(f"Druid: waiting until the tasks of {self.supervisor} have published: {len(active)}")
        return not active and self.overlord.spec(self.supervisor) is None

    def _is_suspended(self) -> bool:
        status = self.status()
        active = self._active()
        if status is None:
            return False
        self.cluster.progress(
            f"Druid: {self.supervisor} {status.detailed_state.lower()}, {len(active)} task(s) publishing"
        )
        if self._resumed.is_over(not status.suspended):
            raise DruidError(
                f"the supervisor {self.supervisor} was resumed outside hivedruid while it was being suspended",
                hint="rerun the statement",
            )
        for task in status.publishing:
            self.published[task.id] = {**task.starting_offsets, **task.current_offsets}
        if status.suspended and status.state != "SUSPENDED":
            return self._gives_up(status, active)
        return status.suspended and not active

    def _gives_up(self, status: SupervisorStatus, active: list[Task]) -> bool:
        """Whether a suspended supervisor that cannot reach Kafka, or cannot create its consumer, counts as suspended:
        it never stops its tasks, and while it is pending it starts none.

        For STOP and DROP its tasks are shut down here; the next START reads again what they did not publish.
        """
        if status.errors and status.state == "PENDING" and not active:
            return True
        if not self._fails.is_over(bool(status.errors)):
            return False
        if active and self.change.verb in ("STOP", "DROP"):
            for task in active:
                self.overlord.kill(task.id)
            why = "the supervisor does not start" if status.state == "PENDING" else "Kafka cannot be reached"
            self.cluster.note(
                f"{len(active)} task(s) of {self.supervisor} were shut down because {why}; records"
                " that they read but did not publish are read again after the next START"
            )
            return False
        return not active

    def status(self) -> SupervisorStatus | None:
        """The supervisor's status; None as long as it may reappear: it is being replaced, or the overlord has just
        started. Raises DruidError if it does not.
        """
        status = self.overlord.status(self.supervisor)
        if self._gone.is_over(status is None):
            raise DruidError(f"the supervisor {self.supervisor} was stopped outside hivedruid")
        return status

    def _has_read(self, offsets: Offsets) -> bool:
        """Whether all records up to these offsets are read; the supervisor fetches offsets every offsetFetchPeriod."""
        status = self.status()
        if status is None:
            return False
        if any(not task.current_offsets for task in status.active):
            status = with_task_offsets(status, self.read.tasks(self.overlord, "running"))
        read = next_offsets(status)
        self.unread = {p: count for p, offset in offsets.items() if (count := offset - read.get(p, 0)) > 0}
        self.unassigned = self.unread.keys() - read.keys()
        left = sum(self.unread.values())
        self.cluster.progress(f"Druid: {left} record(s) of {self.supervisor} left to read")
        if status.state == "IDLE":  # it has no tasks, and has read everything up to its last fetch from Kafka
            seen = status.latest_offsets
            return not sum(status.lag.values()) and all(seen.get(p, 0) >= offset for p, offset in offsets.items())
        return left == 0

    def _state(self) -> str:
        """A short description of the current state, for timeouts."""
        status = self.overlord.status(self.supervisor)
        active = self._active()
        waiting = sum(task.state in ("PENDING", "WAITING") for task in active)
        parts = [f"its supervisor is {status.detailed_state}" if status else "it has no supervisor"]
        parts.append(f"{len(active)} task(s)")
        if waiting:
            slots = Slots.of(self.overlord.workers())
            parts.append(f"{waiting} of them waiting for a slot ({slots.used} of {slots.capacity} in use)")
        if self.unread:
            parts.append(f"unread records by partition: {offset_list(self.unread)}")
        if self.unassigned:
            named = ", ".join(map(str, sorted(self.unassigned)))
            parts.append(
                f"no task reads partition {named}: Druid reads new partitions about two minutes after it discovers"
                " them, HANDOFF INGESTION makes it read them at once"
            )
        if status and status.errors:
            parts.append(status.errors[-1].message)
        return ", ".join(parts)


class _Running:
    """Checks whether as many tasks read as the spec requires, and why not."""

    def __init__(self, runner: IngestionRunner, known: tuple[str, ...]) -> None:
        self.runner = runner
        self.known = frozenset(known)
        self.fails = Patience(BAD_RUNS)
        self.starts = Patience(REPORTED)
        self.io: Mapping[str, Any] = {}

    def is_reached(self) -> bool:
        runner = self.runner
        status = runner.status()
        tasks = runner.read.tasks(runner.overlord)
        if status is None:
            return False
        self._check(status, [task for task in tasks if task.state == "FAILED" and task.id not in self.known])
        others = {task.id for task in status.publishing} | (self.known - {task.id for task in status.active})
        reading = [task for task in tasks if task.state == "RUNNING" and task.id not in others]
        wanted = self._wanted(status)
        runner.cluster.progress(
            f"Druid: {runner.supervisor} {status.detailed_state.lower()}, {len(reading)} task(s) of {wanted or '?'}"
        )
        if status.state == "IDLE":
            return True
        if status.detailed_state != "RUNNING" or not wanted or len(reading) < wanted:
            return False
        begun = {runner.overlord.has_begun(task.id) for task in reading}
        return False not in begun and (None not in begun or self.starts.is_over(is_so=True))

    def _wanted(self, status: SupervisorStatus) -> int:
        if not status.partitions:
            return 0
        if not self.io:
            spec = self.runner.change.spec or self.runner.overlord.spec(self.runner.supervisor)
            self.io = spec_part(spec, "ioConfig")
        groups = 1 if self.io.get("autoScalerConfig") else task_groups(self.io, status.partitions)
        return groups * replicas(self.io)

    def _check(self, status: SupervisorStatus, failed: list[Task]) -> None:
        table = self.runner.change.table.full_name
        if len(failed) >= FAILED_TASKS:
            raise DruidError(
                f"the tasks that ingest {table} are failing: {failed[0].error or failed[0].id}",
                hint=(
                    f"Druid keeps restarting them; SHOW TASK '{failed[0].id}' shows details, STOP INGESTION {table}"
                    " stops them"
                ),
            )
        fails = bool(status.errors) and status.detailed_state != "RUNNING"
        if self.fails.is_over(fails) or (fails and status.state.startswith("UNHEALTHY")):
            message = status.errors[-1].message
            brokers = self.runner.change.table.properties["kafka.bootstrap.servers"]
            hint = (
                f"check kafka.bootstrap.servers ({brokers}); the supervisor keeps trying, SHOW PROBLEMS shows what is"
                f" wrong, STOP INGESTION {table} stops it"
            )
            if names_expired_offset(message):
                hint = f"RESET INGESTION {table} TO EARLIEST continues at the first records that Kafka has"
            raise DruidError(f"Druid cannot ingest {table}: {message}", hint=hint)


def _before(planned: tuple[Move, ...]) -> Offsets:
    return {move.partition: move.before for move in planned if move.before is not None}
