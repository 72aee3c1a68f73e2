"""Read an `ingestion.overview.Overview`: a few requests, and two for each supervisor with running tasks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from hivedruid.clients.address import DruidAddress
from hivedruid.clients.druid import QUERY, DruidClient
from hivedruid.clients.failures import AnswerError
from hivedruid.clients.feed_offsets import offsets_of, topics_of
from hivedruid.clients.lifecycle import LAST_TASKS, left_off
from hivedruid.clients.overlord import BASE, Overlord, task_path, tasks_path
from hivedruid.clients.side_by_side import THREADS, SideBySide
from hivedruid.clients.task_offsets import TASK_OFFSETS, with_first_lag
from hivedruid.clients.unlikely_times import unlikely_times
from hivedruid.druid.paths import path_of
from hivedruid.errors import ConnectError, DruidError, ExecutionError, KafkaError, closest_name
from hivedruid.ingestion.feed import Feed, feed_of
from hivedruid.ingestion.model import EndedTask, Slots, Supervisor, Task, TopicOffsets
from hivedruid.ingestion.offsets import names_expired_offset
from hivedruid.ingestion.overview import (
    Ingestion,
    Known,
    Overview,
    Unreachable,
    match,
    moment,
    with_supervisor_status,
)
from hivedruid.ingestion.supervisor import SUPERVISOR, supervisor_path

LOAD_STATUS = "/druid/coordinator/v1/loadstatus?simple"
REQUESTS = {
    f"GET {SUPERVISOR}?full": "every supervisor with its spec",
    f"GET {tasks_path()}": "all tasks",
    f"GET {supervisor_path('ID', 'status')}": "for each supervisor that is not suspended, idle or stopping",
    f"GET {supervisor_path('ID', 'stats')}": "for each supervisor with running tasks",
    f"GET {path_of(TASK_OFFSETS, 'ID')}, and Kafka's": "for tasks whose supervisor has not fetched offsets yet",
}
"""The requests of SHOW INGESTIONS, and their purpose."""
REQUESTS_FOR_PROBLEMS = {
    f"GET {supervisor_path('ID', 'parseErrors')}": "for each supervisor whose tasks have unparseable records",
    f"GET {BASE}/workers": "task slots",
    f"GET {LOAD_STATUS}": "segments that are not loaded",
    f"POST {QUERY}": "rows with unlikely times, for each supervisor with running tasks",
    f"GET {task_path('ID', 'reports')}": "for the last tasks of a supervisor that have ended",
    f"GET {supervisor_path('ID', 'history')}": "if these had unparseable records",
}
REQUESTS_OF_KAFKA = {
    "Kafka: Metadata, ListOffsets": "the offsets of all topics, once for each Kafka cluster",
    "Kafka: Metadata of all topics": "similar names, for a topic that does not exist or is empty",
}

_Asked = TypeVar("_Asked")


class Observer:
    """Observes one Druid cluster repeatedly over the same connections. Close it, or use it as a context manager.

    Not thread-safe.
    """

    def __init__(self, address: DruidAddress) -> None:
        self._clients = SideBySide(lambda: DruidClient(address))
        self._reports: dict[str, EndedTask] = {}

    def __enter__(self) -> Observer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._clients.close()

    def ingestions(self, known: Known) -> Overview:
        """The overview for SHOW INGESTIONS. Raises DruidError and ConnectError if the overlord does not respond."""
        overlord = Overlord(self._clients.one)
        supervisors, tasks = overlord.supervisors(), overlord.tasks()
        found = self._with_status(match(known.tables, supervisors, tasks, known.druid_tables))
        return Overview(datetime.now(UTC), known.home, found, tasks)

    def everything(self, known: Known) -> Overview:
        """The overview for SHOW PROBLEMS. A service that does not respond is part of the result."""
        client = self._clients.one
        overlord = Overlord(client)
        unreachable: dict[str, Unreachable] = {}

        def tried(service: str, ask: Callable[[], _Asked]) -> _Asked | None:
            if service in unreachable:
                return None
            try:
                return ask()
            except ExecutionError as error:
                unreachable[service] = Unreachable(service, error.message, error.hint or "")
                return None

        supervisors = tried("Druid's overlord", overlord.supervisors)
        tasks = tried("Druid's overlord", overlord.tasks)
        slots = tried("Druid's overlord", lambda: Slots.of(overlord.workers()))
        unavailable = tried("Druid's coordinator", lambda: client.get("coordinator", LOAD_STATUS, dict[str, int]))
        matched = match(known.tables, supervisors or (), tasks or (), known.druid_tables)
        found = tuple(_remembered(one, known) for one in matched)
        found = tried("Druid's overlord", lambda: self._with_status(found)) or found
        found = tried("Druid's overlord", lambda: self._with_parse_errors(found)) or found
        found = tried("Druid's overlord", lambda: self._each(found, _has_ended, self._with_ended)) or found
        found = tried("Druid's overlord", lambda: self._each(found, _has_expired_offset, _with_left_off)) or found
        found = tried("Druid's broker", lambda: self._each(found, _has_rows, _with_unlikely_times)) or found
        found, kafkas = _with_offsets(found)
        return Overview(
            datetime.now(UTC), known.home, found, tasks or (), slots, unavailable or {},
            (*unreachable.values(), *kafkas), has_supervisors=supervisors is not None,
        )  # fmt: skip

    # --- supervisor by supervisor ------------------------------------------------------------------------------

    def _with_status(self, found: Sequence[Ingestion]) -> tuple[Ingestion, ...]:
        return self._each(found, _needs_status, _with_status)

    def _with_parse_errors(self, found: Sequence[Ingestion]) -> tuple[Ingestion, ...]:
        return self._each(found, _has_bad_rows, _with_parse_errors)

    def _with_ended(self, overlord: Overlord, one: Ingestion) -> Ingestion:
        """The newest tasks that have ended with the present spec, if they had parse errors."""
        assert one.supervisor is not None
        newest = [task for task in one.tasks if task.is_complete][:LAST_TASKS]
        ended = [each for task in newest if (each := self._ended(overlord, task)) is not None]
        if not any(each.counts.parse_errors for each in ended):
            return one
        submitted = moment(overlord.submitted(one.supervisor.id)) or datetime.min.replace(tzinfo=UTC)
        present = (each for each in ended if (begun := moment(each.task.created)) is not None and begun >= submitted)
        return replace(one, ended=tuple(present))

    def _ended(self, overlord: Overlord, task: Task) -> EndedTask | None:
        """A completed task, whose report does not change any more."""
        if task.id not in self._reports and (report := overlord.report(task.id)) is not None:
            self._reports[task.id] = EndedTask(task, *report)
        return self._reports.get(task.id)

    def _each(
        self,
        found: Sequence[Ingestion],
        chosen: Callable[[Ingestion], bool],
        ask: Callable[[Overlord, Ingestion], Ingestion],
    ) -> tuple[Ingestion, ...]:
        """The ingestions, with more details of the chosen ones; one whose request fails is left unchanged."""

        def tried(one: Ingestion) -> Callable[[DruidClient], Ingestion]:
            def run(client: DruidClient) -> Ingestion:
                try:
                    return ask(Overlord(client), one)
                except AnswerError:
                    raise
                except (DruidError, ConnectError):  # it has just ended, or its tasks cannot be reached
                    return one

            return run

        places = [place for place, one in enumerate(found) if chosen(one)]
        answers = dict(zip(places, self._clients.each([tried(found[place]) for place in places]), strict=True))
        return tuple(answers.get(place, one) for place, one in enumerate(found))


def _remembered(one: Ingestion, known: Known) -> Ingestion:
    record = known.records.get(one.table.table_id) if one.table is not None else None
    if one.table is None or record is None:
        return one
    found = replace(one, started=record.started, last=record.last)
    change = known.unfinished.get(one.table.table_id)
    if change is None:
        return found
    is_changing = change.table_id in known.changing
    return replace(found, pending=change.verb, is_changing=is_changing, rerun=change.change.rerun)


def _needs_status(one: Ingestion) -> bool:
    """For all others the list of supervisors is sufficient."""
    return one.supervisor is not None and one.supervisor.state not in ("SUSPENDED", "IDLE", "STOPPING")


def _with_status(overlord: Overlord, one: Ingestion) -> Ingestion:
    assert one.supervisor is not None
    status = overlord.status(one.supervisor.id)
    counts = overlord.counts(one.supervisor.id) if any(task.state == "RUNNING" for task in one.tasks) else None
    if status is not None:
        status = with_first_lag(status, one.running, one.supervisor.spec)
    return with_supervisor_status(one, status, counts, datetime.now(UTC))


def _has_bad_rows(one: Ingestion) -> bool:
    return one.counts is not None and one.counts.parse_errors > 0


def _with_parse_errors(overlord: Overlord, one: Ingestion) -> Ingestion:
    assert one.supervisor is not None
    return replace(one, parse_errors=overlord.parse_errors(one.supervisor.id))


def _has_ended(one: Ingestion) -> bool:
    return one.supervisor is not None and any(task.is_complete for task in one.tasks)


def _has_expired_offset(one: Ingestion) -> bool:
    errors = one.status.errors if one.status is not None and not one.running else ()
    return any(names_expired_offset(error.message) for error in errors)


def _with_left_off(overlord: Overlord, one: Ingestion) -> Ingestion:
    """The supervisor's error names one partition alone."""
    return replace(one, left_off=left_off(overlord, one.tasks))


def _has_rows(one: Ingestion) -> bool:
    return one.counts is not None and one.counts.kept > 0


def _with_unlikely_times(overlord: Overlord, one: Ingestion) -> Ingestion:
    now = datetime.now(UTC)
    return replace(one, unlikely=unlikely_times(overlord.client, one.data_source, now))


def _feed(supervisor: Supervisor | None) -> Feed | None:
    """None without a supervisor, or if only Druid can connect to its Kafka."""
    if supervisor is None or supervisor.type != "kafka":
        return None
    try:
        return feed_of(supervisor.spec)
    except KafkaError:
        return None


def _with_offsets(found: Sequence[Ingestion]) -> tuple[tuple[Ingestion, ...], tuple[Unreachable, ...]]:
    """Add Kafka's offsets of the supervisors' topics; each Kafka cluster is queried once for all of its topics."""
    feeds = {place: feed for place, one in enumerate(found) if (feed := _feed(one.supervisor)) is not None}
    if not feeds:
        return tuple(found), ()
    kafkas: dict[Any, list[Feed]] = {}
    for feed in feeds.values():
        kafkas.setdefault(feed.kafka, []).append(feed)
    with ThreadPoolExecutor(min(THREADS, len(kafkas))) as pool:
        answers = dict(zip(kafkas, pool.map(ask_kafka, kafkas.values()), strict=True))
    result = list(found)
    readers: dict[Any, list[str]] = {}
    for place, feed in feeds.items():
        answer = answers[feed.kafka]
        readers.setdefault(feed.kafka, []).append(found[place].name)
        known = None if isinstance(answer, Unreachable) else answer.get(feed)
        if isinstance(known, KafkaError):
            result[place] = replace(found[place], topic_problem=known.message, similar=similar_topic(feed))
        elif known is not None:
            offsets = offsets_of(feed, known)
            similar = similar_topic(feed) if offsets.is_unwritten else ""
            result[place] = replace(found[place], offsets=offsets, similar=similar)
    away = (
        replace(answer, evidence=f"read by {', '.join(readers[kafka])}")
        for kafka, answer in answers.items()
        if isinstance(answer, Unreachable)
    )
    return tuple(result), tuple(away)


def similar_topic(feed: Feed) -> str:
    """The topic whose name is most similar to that of a feed, if it has records; empty if there is none. Names that
    differ in digits alone are on purpose."""
    from hivedruid.clients.kafka import Kafka

    def without_digits(name: str) -> str:
        return re.sub(r"\d+", "", name)

    if feed.is_pattern:
        return ""
    bootstrap, properties = feed.kafka
    own = without_digits(feed.topic)
    try:
        with Kafka(bootstrap, dict(properties)) as kafka:
            close = closest_name(feed.topic, (name for name in kafka.topics() if without_digits(name) != own))
            found = kafka.offsets([close]).get(close) if close else None
    except (ConnectError, KafkaError):
        return ""
    return close if isinstance(found, TopicOffsets) and found.records else ""


def ask_kafka(asked: Sequence[Feed]) -> Mapping[Feed, tuple[TopicOffsets, ...] | KafkaError] | Unreachable:
    """The offsets of the topics of feeds with the same Kafka, in the same requests for all of them."""
    from hivedruid.clients.kafka import Kafka, OnlyDruidError

    bootstrap, properties = asked[0].kafka
    try:
        with Kafka(bootstrap, dict(properties)) as kafka:
            return topics_of(kafka, asked)
    except OnlyDruidError:
        return {}
    except (ConnectError, KafkaError) as error:
        return Unreachable(f"Kafka at {bootstrap}", error.message, error.hint or "")
