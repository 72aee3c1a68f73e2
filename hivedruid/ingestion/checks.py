"""The findings of CREATE about the feed of a table, before anything is started. Pure: the observations are given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

from hivedruid.druid.supervisor import extensions
from hivedruid.errors import HiveDruidError, did_you_mean
from hivedruid.ingestion.model import Slots, TopicOffsets, UnparseableRecord
from hivedruid.ingestion.times import UnlikelyTimes
from hivedruid.lazy_dataclass import dataclass
from hivedruid.tables.druid_expressions import expressions_in, fields_in

Mode = Literal["WARN", "REFUSE"]

EVIDENCE = 300
"""The maximum number of characters of a record that are shown."""


@dataclass(frozen=True)
class Sample:
    """The result of sampling: the number of records read, of rows created, and the records that could not be parsed.

    The remaining records are filtered by the table's transformSpec. `fields` are those of all records, None if they are
    not known. `times` are those of the rows, in milliseconds since 1970.
    """

    records: int
    rows: int
    errors: tuple[UnparseableRecord, ...] = ()
    fields: frozenset[str] | None = None
    times: tuple[int, ...] = ()


@dataclass(frozen=True)
class Seen:
    """The observations of Kafka and Druid; None or empty if something could not be checked, which gives no finding.

    `topics` are the topics to read, `kafka` is the error of reading them from this machine, `sample` is Druid's sample
    or its error. `modules` are the extensions that the overlord has loaded, `slots` the free and needed task slots.
    """

    topics: tuple[TopicOffsets, ...] = ()
    kafka: HiveDruidError | None = None
    sample: Sample | HiveDruidError | None = None
    modules: tuple[str, ...] | None = None
    slots: Slots | None = None
    now: datetime | None = None

    @property
    def records(self) -> int | None:
        """The number of records in the topics, if known; an upper bound for compacted topics."""
        if not self.topics:
            return None
        return sum(end - topic.earliest[number] for topic in self.topics for number, end in topic.latest.items())


@dataclass(frozen=True)
class Finding:
    """A problem, its evidence, and the next step. `is_fatal`: nothing would be ingested."""

    what: str
    evidence: str
    next: str
    is_fatal: bool = True

    def __str__(self) -> str:
        text = f"{self.what}: {self.evidence}" if self.evidence else self.what
        return f"{text} ({self.next})" if self.next else text


def findings(spec: Mapping[str, Any], seen: Seen) -> tuple[Finding, ...]:
    """The findings for a supervisor's spec; an empty topic is not a problem."""
    missing = tuple(name for name in extensions(spec) if seen.modules is not None and name not in seen.modules)
    return (
        *_unloaded(missing),
        *_reading(seen, is_understood=not missing),
        *_transforming(spec, seen),
        *_times(spec, seen),
        *_room(seen.slots),
    )


def skipped(spec: Mapping[str, Any], seen: Seen) -> str:
    """A note on the records that a first start does not read; empty if there are none, or it reads them."""
    if not seen.records or spec["spec"]["ioConfig"].get("useEarliestOffset"):
        return ""
    return (
        f"its first start begins at the end of the topic: {seen.records} record(s) that are in it now are not read"
        " (druid.kafka.ingestion.useEarliestOffset = 'true' reads them)"
    )


def _unloaded(missing: tuple[str, ...]) -> Iterator[Finding]:
    if missing:
        what = f"Druid's overlord has not loaded {', '.join(missing)}"
        yield Finding(what, "the supervisor needs it", "add it to druid.extensions.loadList of all services")


def _reading(seen: Seen, *, is_understood: bool) -> Iterator[Finding]:
    """Druid's view takes precedence: the ingestion works even if only this machine cannot reach Kafka."""
    sample, here = seen.sample, seen.kafka
    if isinstance(sample, Sample):
        yield from _unparseable(sample)
    elif sample is not None and is_understood:
        yield Finding(sample.message, here.message if here is not None else "", sample.hint or "")
    elif here is not None:
        yield Finding(here.message, "", here.hint or "")


def _unparseable(sample: Sample) -> Iterator[Finding]:
    """Single malformed records are normal; if no record can be parsed, the table's format is wrong."""
    if not sample.errors:
        return
    first = sample.errors[0]
    evidence = f"{first.details}{f', in {first.input}' if first.input and first.input not in first.details else ''}"
    yield Finding(
        f"{len(sample.errors)} of {sample.records} sampled records cannot be parsed",
        evidence if len(evidence) <= EVIDENCE else f"{evidence[: EVIDENCE - 1]}…",
        "see druid.timestamp.column, druid.timestamp.format and druid.parseSpec.*",
        is_fatal=len(sample.errors) == sample.records,
    )


def _transforming(spec: Mapping[str, Any], seen: Seen) -> Iterator[Finding]:
    """The sampled records that the filter removes, and fields in expressions that no sampled record has."""
    sample = seen.sample
    if not isinstance(sample, Sample):
        return
    schema = spec["spec"]["dataSchema"]
    given = schema.get("transformSpec") or {}
    parsed = sample.records - len(sample.errors)
    if given.get("filter") and parsed and not sample.rows:
        what = f"the filter of druid.transformSpec removes all of the {parsed} sampled records"
        yield Finding(what, json.dumps(given.get("filter")), "check it", is_fatal=False)
    if sample.fields is None:
        return
    transforms = {str(item.get("name")): item for item in given.get("transforms") or ()}
    parts = [(item, f"transform {name}", sample.fields | {name}) for name, item in transforms.items()]
    for part, place, known in (*parts, (given.get("filter"), "filter", sample.fields | transforms.keys())):
        for expression in expressions_in(part, place):
            for name in sorted(fields_in(expression) - known):
                yield Finding(
                    f"none of the sampled records has the field '{name}'", f"{expression.place}: {expression.text}",
                    did_you_mean(name, known) or "it is null in a record without it", is_fatal=False,
                )  # fmt: skip


def _times(spec: Mapping[str, Any], seen: Seen) -> Iterator[Finding]:
    """Times in 1970 or far ahead, which Druid stores without an error."""
    sample, now = seen.sample, seen.now
    unlikely = UnlikelyTimes.of(sample.times, now) if isinstance(sample, Sample) and now is not None else None
    if unlikely is None or now is None or not isinstance(sample, Sample):
        return
    given = spec["spec"]["dataSchema"].get("timestampSpec") or {}
    column, read_as = given.get("column"), str(given.get("format") or "auto")
    likely = unlikely.format(read_as, now)
    next_ = f"set druid.timestamp.format to '{likely}'" if likely else "see druid.timestamp.format"
    what = f"{unlikely.rows} of {len(sample.times)} sampled times are unlikely"
    yield Finding(what, f"{unlikely.evidence(now)}; {column} is read as '{read_as}'", next_, is_fatal=False)


def _room(slots: Slots | None) -> Iterator[Finding]:
    if slots is not None and slots.needed > slots.free:
        free = f"{slots.free} of {slots.capacity} {'is' if slots.free == 1 else 'are'} free"
        yield Finding(
            "not enough task slots", f"{slots.needed} needed, {free}",
            "stop another ingestion, lower druid.kafka.ingestion.taskCount or replicas, or add workers to Druid",
        )  # fmt: skip
