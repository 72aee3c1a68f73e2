"""The metrics of streams and ingestions in Prometheus' text format 0.0.4. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from hivedruid.ingestion.overview import Ingestion
from hivedruid.lazy_dataclass import dataclass
from hivedruid.streams.overview import StreamOverview, WatchedStream, moment, state

Value = float | None
"""None: unknown, and no sample."""


@dataclass(frozen=True)
class Family:
    """A metric with its samples: labels and values."""

    name: str
    type: Literal["gauge", "counter"]
    help: str
    samples: Sequence[tuple[Mapping[str, str], Value]]


def families(seen: StreamOverview, ingestions: Sequence[Ingestion], up: Mapping[str, bool]) -> Iterator[Family]:
    """All metrics; `up` tells for each service whether it responded."""
    yield Family(
        "hivedruid_up", "gauge", "1 if the service responded to this scrape, otherwise 0.",
        [({"service": service}, float(is_up)) for service, is_up in sorted(up.items())],
    )  # fmt: skip
    for name, type_, help_, value in OF_STREAMS:
        yield Family(f"hivedruid_stream_{name}", type_, help_, [({"stream": s.name}, value(s)) for s in seen.streams])
    now = seen.now.timestamp()
    yield Family(
        "hivedruid_stream_state", "gauge", "1 for the state of the stream: that of SHOW STREAMS.",
        [({"stream": one.name, "state": state(one.record, now)}, 1.0) for one in seen.streams],
    )  # fmt: skip
    yield Family(
        "hivedruid_stream_desired_running", "gauge", "1 if the stream should be running, otherwise 0.",
        [({"stream": one.name}, float(one.record.desired == "running")) for one in seen.streams],
    )  # fmt: skip
    for name, help_, value_of in OF_INGESTIONS:
        samples = [({"table": one.name}, value_of(one)) for one in ingestions]
        yield Family(f"hivedruid_ingestion_{name}", "gauge", help_, samples)
    yield Family(
        "hivedruid_ingestion_state", "gauge", "1 for the state of the ingestion: that of SHOW INGESTIONS.",
        [({"table": one.name, "state": one.state}, 1.0) for one in ingestions],
    )  # fmt: skip


def _newest(one: WatchedStream) -> Value:
    newest = moment(one.record.status.newest)
    return None if newest is None else newest.timestamp()


OF_STREAMS: tuple[tuple[str, Literal["gauge", "counter"], str, Callable[[WatchedStream], Value]], ...] = (
    ("lag_records", "gauge", "Records of the topic that are not read yet.", lambda one: one.lag),
    ("records_total", "counter", "Records read since the stream was created.", lambda one: one.record.status.records),
    ("rows_total", "counter", "Rows added since the stream was created.", lambda one: one.record.status.rows),
    ("rejects_total", "counter", "Malformed records that were rejected or skipped.",
     lambda one: one.record.status.rejects),
    ("restarts_total", "counter", "Errors since the stream was started.", lambda one: one.record.status.restarts),
    ("conflicts_total", "counter", "Batches that were read again because another writer changed the table.",
     lambda one: one.record.status.conflicts),
    ("batch", "gauge", "Number of the last batch in the table.", lambda one: one.record.position.batch),
    ("last_batch_seconds", "gauge", "Duration of the last batch with rows.", lambda one: one.record.status.seconds),
    ("newest_row_timestamp_seconds", "gauge", "When the newest record that is read was written to Kafka.", _newest),
)  # fmt: skip

OF_INGESTIONS: tuple[tuple[str, str, Callable[[Ingestion], Value]], ...] = (
    ("lag_records", "Records of the topic that Druid has not read yet.", lambda one: one.lag),
    ("rows_per_second", "Rows per second in the last minute.",
     lambda one: None if one.counts is None else one.counts.per_second),
    ("unparseable_records", "Records that the running tasks could not parse, in whole or in part.",
     lambda one: None if one.counts is None else one.counts.parse_errors),
    ("tasks_running", "Tasks that read.", lambda one: len(one.running)),
    ("tasks_wanted", "Tasks that should read.", lambda one: one.wanted),
)  # fmt: skip


def rendered(listed: Iterable[Family]) -> str:
    """As text. A metric without samples is left out."""
    return "".join(f"{line}\n" for family in listed for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    known = [(labels, value) for labels, value in family.samples if value is not None]
    if not known:
        return
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {family.type}"
    for labels, value in known:
        pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{family.name}{{{pairs}}} {value:.3f}".removesuffix(".000")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
