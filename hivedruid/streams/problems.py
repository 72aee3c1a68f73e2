"""The problems of streams: a table of rules over a `StreamOverview`. Pure.

A repair is what to run, one or more statements; if no statement helps, it is a comment that describes the repair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from math import ceil

from hivedruid.ingestion.problems import shown
from hivedruid.ingestion.reading import BEHIND
from hivedruid.ingestion.repairs import Problem, sql_name
from hivedruid.streams import properties
from hivedruid.streams.overview import ManagerId, StreamOverview, WatchedStream, is_run, moment

STALLED = timedelta(minutes=2)
"""The time without a batch, beside unread records, after which a stream counts as stalled, in addition to three times
its trigger and the time of its last batch."""
REJECTED = 0.01
"""The share of rejected records that counts as a problem."""
LARGEST_BATCH = 10_000_000
"""The number of records of a batch beyond which a larger batch is not advised."""


def problems(overview: StreamOverview) -> tuple[Problem, ...]:
    """All problems, those of services and managers first."""
    result = [problem for rule in RULES for problem in rule(overview)]
    for one in overview.streams:
        result += [problem for rule in RULES_OF_MANAGERS for problem in rule(one, overview)]
        causes = [problem for rule in RULES_OF_CAUSES for problem in rule(one, overview)]
        result += causes or [problem for rule in RULES_OF_READING for problem in rule(one, overview)]
        result += _rejects(one)
    return tuple(map(shown, result))


# --- of all streams ----------------------------------------------------------------------------------------------


def _unreachable(overview: StreamOverview) -> Iterator[Problem]:
    for one in overview.unreachable:
        yield Problem(one.service, "unreachable", one.message, one.evidence, f"-- {one.hint or 'start the service'}")


def _two_managers(overview: StreamOverview) -> Iterator[Problem]:
    """A second manager may stand by, and managers with --max-streams share the streams. Otherwise, one of two that run
    streams was started by mistake; on two machines, they cannot share a catalog."""
    leases: dict[str, list[str]] = {}
    for one in overview.streams:
        if is_run(one.record, overview.now.timestamp()):
            leases.setdefault(one.record.manager, []).append(one.name)
    managers = [known for text in leases if (known := ManagerId.of(text)) is not None]
    evidence = "; ".join(f"{text.rpartition(':')[0]} runs {', '.join(names)}" for text, names in sorted(leases.items()))
    if len({each.host for each in managers}) > 1:
        cause = "the catalog is a SQLite file: all managers of a home must run on the same machine"
        yield Problem("streams", "managers on two machines", cause, evidence, "-- end the managers of other machines")
    elif len(managers) > 1 and not all(each.is_sharing for each in managers):
        cause = "two managers run streams, and at least one of them has no --max-streams"
        processes = " or ".join(str(each.process) for each in managers)
        repair = f"-- end one of them (kill {processes}), or start each with --max-streams"
        yield Problem("streams", "two managers", cause, evidence, repair)


# --- of one stream -----------------------------------------------------------------------------------------------


def _no_manager(one: WatchedStream, overview: StreamOverview) -> Iterator[Problem]:
    if one.record.desired != "running" or is_run(one.record, overview.now.timestamp()):
        return
    evidence = "the stream should be running" + ("" if one.lag is None else f", {_count(one.lag)} unread")
    if not overview.is_managed:
        cause = "no manager of streams is running"
        yield Problem(one.name, "no manager", cause, evidence, f"START STREAM {_name(one)}")
        return
    cause = "a manager is running, and does not run this stream: it hangs, or has reached --max-streams"
    repair = "-- start another manager (hivedruid streams run), or restart the one that hangs"
    yield Problem(one.name, "no manager", cause, evidence, repair)


def _topic(one: WatchedStream, _: StreamOverview) -> Iterator[Problem]:
    topic = f"topic {one.feed.topic}" if one.feed is not None else one.record.stream.source
    if one.feed is None:
        cause = f"table {one.record.stream.source} does not exist"
        yield Problem(one.name, "source not found", cause, topic, "-- create the Kafka table again, or DROP STREAM")
    elif one.has_no_topic:
        repair = f"-- create the topic {one.feed.topic} again, then {_reset(one, 'EARLIEST')}"
        yield Problem(one.name, "topic not found", one.topic_problem, topic, repair)
    elif one.topic_problem:
        yield Problem(one.name, "topic not readable", one.topic_problem, topic, "-- see the cause")


def _position(one: WatchedStream, _: StreamOverview) -> Iterator[Problem]:
    """What a batch would refuse: the offsets in the table are not known."""
    if not one.position_problem:
        return
    name = _name(one)
    evidence = f"last known batch {one.record.position.batch}"
    if one.rolled_back_to is not None:
        repair = _stopped(one, f"ROLLBACK STREAM {name} TO BATCH {one.rolled_back_to}")
    else:
        repair = f"-- RESET STREAM {name} TO OFFSETS (partition:offset, …) continues at given offsets"
    yield Problem(one.name, "offsets unknown", one.position_problem, evidence, repair)


def _offsets(one: WatchedStream, _: StreamOverview) -> Iterator[Problem]:
    """The next offset of each partition must exist in Kafka, or be the next one to be written."""
    if one.offsets is None or one.position_problem:
        return
    topic, earliest, latest, start = one.offsets.topic, one.offsets.earliest, one.offsets.latest, one.start
    if one.position.topic_id and one.offsets.topic_id and one.position.topic_id != one.offsets.topic_id:
        cause = f"topic {topic} was deleted and created again: the offsets are those of other records"
        evidence = f"{_count(one.offsets.records)} in the new topic"
        yield Problem(one.name, "topic created again", cause, evidence, _reset(one, "EARLIEST"))
        return
    if gone := sorted(start.keys() - latest.keys()):
        evidence = f"partition(s) {', '.join(map(str, gone))}"
        cause = f"topic {topic} has no such partition any more"
        yield Problem(one.name, "partition not found", cause, evidence, _reset(one, "EARLIEST"))
        return
    expired = {p: earliest[p] for p, offset in sorted(start.items()) if offset < earliest[p]}
    if expired:
        cause = "Kafka's retention deleted records before they were read"
        evidence = "; ".join(
            f"partition {p}: {_count(to - start[p])} from offset {start[p]}" for p, to in expired.items()
        )
        yield Problem(one.name, "offsets expired", cause, evidence, _reset(one, _pairs(expired)))
    beyond = {p: latest[p] for p, offset in sorted(start.items()) if offset > latest[p]}
    if beyond:
        cause = f"topic {topic} was truncated: the next offset to read is beyond its end"
        evidence = "; ".join(f"partition {p}: next offset {start[p]}, end offset {end}" for p, end in beyond.items())
        yield Problem(one.name, "offsets beyond the end", cause, evidence, _reset(one, _pairs(beyond)))


def _misfit(one: WatchedStream, _: StreamOverview) -> Iterator[Problem]:
    if one.misfit:
        target = _sql(one.record.stream.target)
        evidence = f"query: {one.record.stream.query}"
        repair = f"-- {one.advice}" if one.advice else f"-- ALTER STREAM {_name(one)} AS a query that fits {target}"
        if one.missing:
            repair = f"ALTER TABLE {target} ADD COLUMNS ({', '.join(one.missing)})"
        yield Problem(one.name, "target altered", one.misfit, evidence, repair)


def _failing(one: WatchedStream, overview: StreamOverview) -> Iterator[Problem]:
    """The error of the last batch, if no other rule explains it."""
    status = one.record.status
    if one.record.desired == "running" and status.error and is_run(one.record, overview.now.timestamp()):
        evidence = f"{status.restarts} error(s) since the stream was started, the last at {status.error_at}"
        repair = f"-- {status.hint}" if status.hint else f"DESCRIBE STREAM {_name(one)}"
        yield Problem(one.name, "failing", status.error, evidence, repair)


def _stalled(one: WatchedStream, overview: StreamOverview) -> Iterator[Problem]:
    """Unread records, no error, and no batch."""
    status, checked = one.record.status, moment(one.record.status.checked_at)
    if not _is_reading(one, overview) or not one.lag or checked is None:
        return
    patience = STALLED + timedelta(seconds=3 * properties.trigger(one.record.stream.properties) + status.seconds)
    waited = overview.now - checked
    if waited > patience:
        cause = f"its manager is alive, and has not completed a batch for {waited.total_seconds():.0f} s"
        name = _name(one)
        evidence = f"{_count(one.lag)} unread, manager {one.record.manager}"
        yield Problem(one.name, "stalled", cause, evidence, f"STOP STREAM {name}; START STREAM {name}")


def _behind(one: WatchedStream, overview: StreamOverview) -> Iterator[Problem]:
    """A stream whose last batch was full, and that needs long for the rest. It grows if more is written than read."""
    status, begun = one.record.status, moment(one.record.status.begun_at)
    speed = status.records_per_second
    if not _is_reading(one, overview) or not one.lag or not status.left or not speed or begun is None:
        return
    behind = ceil(one.lag / speed)
    if behind <= BEHIND:
        return
    written = max(0, one.lag - status.left) / max(1.0, (overview.now - begun).total_seconds())
    name = "growing lag" if written > speed else "lag"
    cause = f"the stream reads {speed:,.1f} records/s, {written:,.1f} are written"
    yield Problem(one.name, name, cause, f"{_count(one.lag)} unread, {behind} s of work", _faster(one))


def _is_reading(one: WatchedStream, overview: StreamOverview) -> bool:
    record = one.record
    return record.desired == "running" and is_run(record, overview.now.timestamp()) and not record.status.error


def _rejects(one: WatchedStream) -> Iterator[Problem]:
    status = one.record.status
    if status.rejects and status.rejects > REJECTED * status.records:
        share = status.rejects / max(status.rejects, status.records)
        cause = f"{share:.1%} of the records are malformed, and were not added to {one.record.stream.target}"
        evidence = f"{status.rejects:,} of {_count(status.records)}"
        table = _sql(one.rejects) if one.rejects else ""
        repair = (
            f"SELECT error, count(*) AS records FROM {table} GROUP BY error"
            if table
            else f"-- set hivedruid.malformed.rows of {one.record.stream.source} to 'reject' to see the records"
        )
        yield Problem(one.name, "rejects", cause, evidence, repair)


RULES: tuple[Callable[[StreamOverview], Iterator[Problem]], ...] = (_unreachable, _two_managers)
Rule = Callable[[WatchedStream, StreamOverview], Iterator[Problem]]
RULES_OF_MANAGERS: tuple[Rule, ...] = (_no_manager,)
RULES_OF_CAUSES: tuple[Rule, ...] = (_topic, _position, _offsets, _misfit)
RULES_OF_READING: tuple[Rule, ...] = (_failing, _stalled, _behind)


# --- repairs -----------------------------------------------------------------------------------------------------


def _count(records: int) -> str:
    return f"{records:,} record{'s' * (records != 1)}"


def _sql(full_name: str) -> str:
    return sql_name(*full_name.split(".", 1))


def _name(one: WatchedStream) -> str:
    return _sql(one.name)


def _pairs(offsets: Mapping[int, int]) -> str:
    return f"OFFSETS ({', '.join(f'{partition}:{offset}' for partition, offset in sorted(offsets.items()))})"


def _reset(one: WatchedStream, to: str) -> str:
    return _stopped(one, f"RESET STREAM {_name(one)} TO {to}")


def _stopped(one: WatchedStream, statement: str) -> str:
    """A statement for a stopped stream: one that should run is stopped, and started again."""
    name = _name(one)
    if one.record.desired != "running":
        return statement
    return f"STOP STREAM {name}; {statement}; START STREAM {name}"


def _faster(one: WatchedStream) -> str:
    """Without a limit of the rate, larger batches: each one has a constant cost."""
    given = one.record.stream.properties
    if properties.value(given, "max.records.per.second"):
        return f"ALTER STREAM {_name(one)} UNSET PROPERTIES ('max.records.per.second')"
    most = 2 * int(properties.value(given, "max.records.per.batch"))
    if most > LARGEST_BATCH:
        return "-- give Spark more cores (spark.master), or divide the topic among several streams"
    return f"ALTER STREAM {_name(one)} SET PROPERTIES ('max.records.per.batch' = '{most}')"
