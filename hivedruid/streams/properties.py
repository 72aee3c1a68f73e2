"""The properties of streams (WITH PROPERTIES): one row each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

from hivedruid.setting_types import PERIOD, seconds

_OFFSETS = re.compile(r"\s*\d{1,9}\s*:\s*\d{1,19}\s*(,\s*\d{1,9}\s*:\s*\d{1,19}\s*)*", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d{1,2}-\d{1,2}( \d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?", re.ASCII)
_SHARE = re.compile(r"\d+(\.\d+)?", re.ASCII)
_TABLE = re.compile(r"(\w+\.)?\w+", re.ASCII)

REJECTS, MAX_REJECTS, MAX_SHARE = "rejects", "max.rejects", "max.rejects.share"
LEAST_BATCH = 100
"""A batch with fewer records counts as one of so many for MAX_SHARE: one malformed record of three is no sign of a
wrong schema."""


class StreamProperty(NamedTuple):
    """`default` is the value of a stream without the property; `expects` describes valid values."""

    default: str
    expects: str
    is_valid: Callable[[str], bool]
    doc: str


def _is_period(text: str) -> bool:
    return PERIOD.fullmatch(text) is not None


def _is_count(text: str) -> bool:
    return _is_number(text) and int(text) > 0


def _is_number(text: str) -> bool:
    return re.fullmatch("[0-9]{1,18}", text) is not None


def _is_share(text: str) -> bool:
    return bool(_SHARE.fullmatch(text)) and float(text) <= 1


def _is_table(text: str) -> bool:
    return bool(_TABLE.fullmatch(text))


def _is_start(text: str) -> bool:
    return text.lower() in ("earliest", "latest") or bool(_OFFSETS.fullmatch(text) or _TIMESTAMP.fullmatch(text))


PROPERTIES: Mapping[str, StreamProperty] = {
    "trigger": StreamProperty(
        "PT10S", "an ISO 8601 period such as PT10S", _is_period, "The time between the beginnings of two batches."
    ),
    "max.records.per.batch": StreamProperty(
        "500000", "a positive integer", _is_count, "The maximum number of records of a batch."
    ),
    "max.records.per.second": StreamProperty(
        "", "a positive integer", _is_count, "The maximum rate at which records are read; unlimited if it is not set."
    ),
    "target.file.size": StreamProperty(
        "",
        "a positive integer",
        _is_count,
        "The size at which a batch begins another file, in bytes; by default 512 MiB.",
    ),
    "checkpoints.retained": StreamProperty(
        "10", "a positive integer", _is_count, "The number of checkpoints; CHECKPOINT STREAM removes older ones."
    ),
    REJECTS: StreamProperty(
        "",
        "the name of a table",
        _is_table,
        "The managed table to which malformed records are added; it is created when it is needed.",
    ),
    MAX_REJECTS: StreamProperty(
        "",
        "an integer that is not negative",
        _is_number,
        "The maximum number of malformed records of a batch; a batch with more fails.",
    ),
    MAX_SHARE: StreamProperty(
        "",
        "a number from 0 to 1",
        _is_share,
        "The maximum share of malformed records among those of a batch, as if it had at least 100.",
    ),
    "start": StreamProperty(
        "earliest",
        "earliest, latest, a timestamp 'yyyy-MM-dd HH:mm:ss', or offsets '0:12, 1:7'",
        _is_start,
        "Where the stream begins, decided when it is created: the first available records, those produced from then on,"
        " those from a time on (in hive.local.time.zone), or the offset of each partition.",
    ),
}


def value(properties: Mapping[str, str], key: str) -> str:
    return properties.get(key) or PROPERTIES[key].default


def known(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties of a stream that are set or have a default."""
    return {key: text for key in PROPERTIES if (text := value(properties, key))}


def trigger(properties: Mapping[str, str]) -> float:
    """Seconds."""
    return seconds(value(properties, "trigger"))


def limit(properties: Mapping[str, str], elapsed: float) -> int:
    """The maximum number of records of a batch, `elapsed` seconds after the beginning of the last one."""
    most = int(value(properties, "max.records.per.batch"))
    rate = value(properties, "max.records.per.second")
    return max(1, min(most, int(int(rate) * elapsed))) if rate else most


class RejectLimit(NamedTuple):
    """The maximum number of malformed records of a batch, and the property that sets it."""

    most: int
    key: str
    text: str


def reject_limit(properties: Mapping[str, str], records: int) -> RejectLimit | None:
    """The lower one of the limits for a batch of so many records; None if there is none."""
    limits = []
    if text := value(properties, MAX_REJECTS):
        limits.append(RejectLimit(int(text), MAX_REJECTS, text))
    if text := value(properties, MAX_SHARE):
        limits.append(RejectLimit(int(Decimal(text) * max(records, LEAST_BATCH)), MAX_SHARE, text))
    return min(limits, default=None)
