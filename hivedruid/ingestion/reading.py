"""The problems of what ingestions read: topics, lag, and records. Pure; a part of `ingestion.problems`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from hivedruid.catalog.properties import INGESTION_PREFIX, SPEC_PREFIX, has_ingestion
from hivedruid.ingestion.model import RowCounts
from hivedruid.ingestion.overview import SLOWEST, Ingestion, Overview, moment, parse_error_groups, parse_error_text
from hivedruid.ingestion.repairs import Problem, adopting, name_of, reset, show_tasks, statement
from hivedruid.ingestion.supervisor import spec_part
from hivedruid.ingestion.times import condition
from hivedruid.parser.parameters import literal
from hivedruid.tables.druid_expressions import expressions_in, fault_of

RECOVERED = timedelta(minutes=2)
"""A task that has run this long shows that the cause of earlier failures is over; reading has started by then, too."""
BEHIND = 300
"""The maximum number of seconds to read the rest before the lag counts as a problem."""


def topic_not_found(one: Ingestion, _: Overview) -> Iterator[Problem]:
    if one.topic_problem:
        yield Problem(
            one.name, "topic not found", _with_similar(one, one.topic_problem), f"topic {one.topic}", _other_topic(one)
        )


def _empty_topic(one: Ingestion, _: Overview) -> Iterator[Problem]:
    """An ingestion whose topic is misspelt waits for records that nobody writes: brokers create topics by default."""
    if one.offsets is None or not one.offsets.is_unwritten or one.supervisor is None or one.supervisor.suspended:
        return
    cause = _with_similar(one, f"nothing was ever written to topic {one.topic}")
    evidence = f"{len(one.offsets.latest)} partition(s), all end at offset 0"
    yield Problem(one.name, "empty topic", cause, evidence, _other_topic(one))


def _with_similar(one: Ingestion, cause: str) -> str:
    return f"{cause}: did you mean '{one.similar}'?" if one.similar else cause


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
    if speed > SLOWEST and not _has_room(one):
        cause += f"; every partition of {one.topic} already has its own task"
    evidence = f"{one.lag} unread record(s)" + (f", {behind} s of work" if behind is not None else "")
    yield Problem(one.name, name, cause, evidence, _faster(one) if speed > SLOWEST else show_tasks(one))


def _written_per_second(one: Ingestion, now: datetime) -> float | None:
    if one.offsets is None or one.status is None or (seen := moment(one.status.offsets_updated)) is None:
        return None
    seconds = (now - seen).total_seconds()
    before, after = one.status.latest_offsets, one.offsets.latest
    return sum(after[p] - before[p] for p in before.keys() & after.keys()) / seconds if seconds >= 1 else None


def _parse_errors(one: Ingestion, _: Overview) -> Iterator[Problem]:
    """One problem for each kind of message, among the errors that Druid saves. Tasks that have ended count, too:
    otherwise the errors of a task would be gone with it."""
    counts = one.counts or RowCounts()
    ended = sum(each.counts.parse_errors for each in one.ended)
    if counts.parse_errors == 0 and ended == 0:
        return
    evidence = f"{counts.parse_errors} of {counts.read} record(s) read by the running tasks"
    if counts.processed_with_error:
        evidence += (
            f"; {counts.processed_with_error} of them kept: a number that Druid cannot parse is NULL; without rollup,"
            " conditions, groups and aggregates may read 0 until its task writes it to disk"
        )
    if ended:
        read = sum(each.counts.read for each in one.ended)
        evidence += f"; {ended} of {read} by the last {len(one.ended)} task(s) that ended"
    worst = max(one.ended, key=lambda each: each.counts.parse_errors, default=None)
    repair = f"SHOW TASK '{counts.worst or (worst.task.id if worst else '')}'"
    saved = (*one.parse_errors, *(error for each in one.ended for error in each.errors))
    groups = parse_error_groups(saved)
    if not groups:
        cause = "Druid saves none of them (maxSavedParseExceptions)"
        yield Problem(one.name, "parse errors", cause, evidence, repair)
    for example, count in groups:
        share = f"{count} of the {len(saved)} saved records have this error; " if len(groups) > 1 else ""
        yield Problem(one.name, "parse errors", parse_error_text(example), share + evidence, repair)


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
    """A filter throws records away on purpose, unless it is all of them; times outside of bounds are easily missed."""
    counts = one.counts
    if one.supervisor is None or counts is None or not counts.thrown_away:
        return
    filter_ = (spec_part(one.supervisor.spec, "dataSchema").get("transformSpec") or {}).get("filter")
    bounds = [key for key in _TIME_BOUNDS if one.supervisor.io_config.get(key) is not None]
    reasons = {reason: count for reason, count in counts.thrown_by_reason.items() if count}
    is_by_time = bool(bounds) and (not reasons or any(reason in _BY_TIME for reason in reasons))
    if counts.kept and not is_by_time:
        return
    evidence = f"{counts.thrown_away} record(s) read by the running tasks, " + (
        f"beside {counts.kept} that were kept" if counts.kept else "none of them kept"
    )
    if reasons:
        evidence += "; " + ", ".join(f"{count} {_REASONS.get(reason, reason)}" for reason, count in reasons.items())
    if is_by_time:
        cause = f"their times are outside of {' and '.join(bounds)}"
        if filter_ and not reasons:
            cause += ", or the filter of its transformSpec removes them: Druid before 36 does not count them by reason"
        repair = _without_properties(one, [INGESTION_PREFIX + key for key in bounds])
    elif filter_:
        cause = f"the filter of its transformSpec removes them: {json.dumps(filter_)}"
        repair = _corrected(one, "transformSpec")
    else:
        cause, repair = "Druid gives no reason", show_tasks(one)
    name = "records thrown away" if counts.kept else "all records thrown away"
    yield Problem(one.name, name, cause, evidence, repair)


_BY_TIME = ("beforeMinimumMessageTime", "afterMaximumMessageTime")
_REASONS = {
    "beforeMinimumMessageTime": "before the minimum time", "afterMaximumMessageTime": "after the maximum time",
    "filtered": "by the filter", "null": "empty", "unknown": "for an unknown reason",
}  # fmt: skip
"""Druid's names of the reasons (InputRowFilterResult)."""
_TIME_BOUNDS = ("lateMessageRejectionPeriod", "lateMessageRejectionStartDateTime", "earlyMessageRejectionPeriod")
"""Keys of the ioConfig with which tasks drop records by their time."""


def _unlikely_times(one: Ingestion, overview: Overview) -> Iterator[Problem]:
    """A time field that is read in another unit is no error for Druid."""
    times, now = one.unlikely, overview.now
    if times is None or one.supervisor is None:
        return
    given = spec_part(one.supervisor.spec, "dataSchema").get("timestampSpec") or {}
    read_as = str(given.get("format") or "auto")
    likely = times.format(read_as, now)
    cause = f"the field {given.get('column')} is read as '{read_as}'"
    cause += f", and has probably the format '{likely}'" if likely else ", which may not be its format"
    rows = condition(times, now)
    repair = f"SELECT * FROM {name_of(one)} WHERE {rows.replace('__time', '`__time`')} LIMIT 10"
    if likely and one.table is not None and has_ingestion(one.table.properties):
        repair = "; ".join((
            statement("SUSPEND", one),
            f"ALTER TABLE {name_of(one)} SET TBLPROPERTIES ('druid.timestamp.format' = {literal(likely)})",
            f"ALTER TABLE {name_of(one)} DROP PARTITION ({rows})",
            reset(one),
            statement("RESUME", one),
        ))  # fmt: skip
    yield Problem(one.name, "unlikely times", cause, f"{times.rows} row(s): {times.evidence(now)}", repair)


def _without_properties(one: Ingestion, keys: Sequence[str]) -> str:
    """The repair that removes properties of a table; the spec of another program is changed there."""
    if one.table is None or not has_ingestion(one.table.properties):
        return _elsewhere(one, " and ".join(key.removeprefix(INGESTION_PREFIX) for key in keys))
    return f"ALTER TABLE {name_of(one)} UNSET TBLPROPERTIES ({', '.join(map(literal, keys))})"


def _corrected(one: Ingestion, part: str) -> str:
    """The statements that remove a filter, or what the place of an invalid expression names, from the table's
    transformSpec, and read the topic again. A table with the spec of another program submits its own first."""
    if one.table is None or not has_ingestion(one.table.properties):
        return _elsewhere(one, part)
    if part != "transformSpec":
        return f"DESCRIBE FORMATTED {name_of(one)}"
    given = {key: json.loads(one.table.properties[key]) for key in _TRANSFORM_SPECS if key in one.table.properties}
    if not given:
        return statement("START", one)
    key = [*given, *(key for key, item in given.items() if _is_faulty(item))][-1]
    change = _without_faults(key, given[key])
    begin = () if one.started else (statement("START", one),)
    return "; ".join((f"ALTER TABLE {name_of(one)} {change}", *begin, reset(one)))


_PATH = f"{SPEC_PREFIX}dataSchema.transformSpec"
_TRANSFORM_SPECS = ("druid.transformSpec", _PATH, f"{_PATH}.transforms", f"{_PATH}.filter")
"""The properties with a transformSpec or a part of it; a later one replaces what an earlier one says."""


def _without_faults(key: str, given: Any) -> str:
    """The change of a property that has a transformSpec, or a part of one."""
    rest: Any = None
    if isinstance(given, list):
        rest = [item for item in given if not _is_faulty(item)]
    elif isinstance(given, dict) and not key.endswith(".filter"):
        transforms = [item for item in given.get("transforms") or () if not _is_faulty(item)]
        rest = {"transforms": transforms} if transforms else {}
        if (filter_ := given.get("filter")) and _is_faulty(given) and not _is_faulty(filter_):
            rest["filter"] = filter_
    if rest:
        return f"SET TBLPROPERTIES ({literal(key)} = {literal(json.dumps(rest))})"
    return f"UNSET TBLPROPERTIES ({literal(key)})"


def _elsewhere(one: Ingestion, part: str) -> str:
    supervisor = one.supervisor.id if one.supervisor is not None else one.name
    return f"-- correct {part} in the spec of supervisor {supervisor}, where it was posted"


def _is_faulty(part: Any) -> bool:
    """Whether an expression in a part of a spec is not what Druid reads."""
    return any(fault_of(expression.text) is not None for expression in expressions_in(part, ""))


RULES_OF_READING: tuple[Callable[[Ingestion, Overview], Iterator[Problem]], ...] = (
    _empty_topic, _lag, _parse_errors, _misread_expressions, _thrown_away, _unlikely_times,
)  # fmt: skip


# --- repairs -----------------------------------------------------------------------------------------------------


def _other_topic(one: Ingestion) -> str:
    """The repair if a topic has no records: another one with a similar name, or to stop waiting for it."""
    if one.table is None or not has_ingestion(one.table.properties):
        return adopting(one)
    if not one.similar:
        return statement("STOP", one)
    return f"ALTER TABLE {name_of(one)} SET TBLPROPERTIES ('kafka.topic' = {literal(one.similar)})"


def _faster(one: Ingestion) -> str:
    """One more task, if there is a partition for it."""
    if one.table is None or not _has_room(one):
        return show_tasks(one)
    property_ = f"'druid.kafka.ingestion.taskCount' = '{_task_count(one) + 1}'"
    return f"ALTER TABLE {name_of(one)} SET TBLPROPERTIES ({property_})"


def _has_room(one: Ingestion) -> bool:
    """Whether there are partitions for one more task."""
    partitions = one.status.partitions if one.status is not None else None
    return partitions is None or _task_count(one) < partitions


def _task_count(one: Ingestion) -> int:
    io = one.supervisor.io_config if one.supervisor is not None else {}
    return int(io.get("taskCount") or 1)
