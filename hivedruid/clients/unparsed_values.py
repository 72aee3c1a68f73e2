"""The numeric dimensions of which running tasks hold values that they could not parse.

As long as such a value is in the memory of its task, Druid 33 takes it for 0 in conditions, groups and aggregates, or
for a null once another record has no value: the index of the dimension in memory (LongDimensionIndexer and the like)
notes nulls only where the field is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from time import monotonic
from typing import Any

from hivedruid.clients.druid import DruidClient
from hivedruid.clients.failures import AnswerError
from hivedruid.clients.lifecycle import TASK_TYPE
from hivedruid.clients.overlord import Overlord
from hivedruid.errors import ConnectError, DruidError
from hivedruid.ingestion.model import Task, UnparseableRecord, UnparsedValues
from hivedruid.ingestion.supervisor import spec_part
from hivedruid.setting_types import PERIOD, seconds

_OF_DIMENSION = re.compile(r"Could not convert value \[.*?\] to (?:long|double|float) for dimension \[([^\]]*)\]", re.S)
"""The message of DimensionHandlerUtils; that of an aggregator is another, and its value is a null everywhere."""
REQUESTED_EVERY = 30.0
"""Seconds for which an answer is kept."""
_NUMERIC = ("long", "double", "float")


def unparsed_values(client: DruidClient, data_source: str) -> UnparsedValues | None:
    """Of all tasks that feed a data source from Kafka; None if there are none.

    One request if no task feeds it, one more for each task, and one for each supervisor of tasks with such values: a
    supervisor itself knows the counts of its tasks some time after they start. Raises DruidError, ConnectError.
    """
    overlord = Overlord(client)
    running = [task for task in overlord.tasks(data_source, "running", most=0) if task.type == TASK_TYPE]
    found = [_of_task(overlord, task) for task in running]
    known = [one for one in found if one is not None and one.fields]
    if not known:
        return None
    persisted = [one.persisted_from for one in known if one.persisted_from is not None]
    return UnparsedValues(frozenset[str]().union(*(one.fields for one in known)), max(persisted, default=None))


def _of_task(overlord: Overlord, task: Task) -> UnparsedValues | None:
    report = overlord.report(task.id)
    if report is None or not report[0].processed_with_error:
        return None
    spec = overlord.spec(task.supervisor)
    saved = [record for record in report[1] if record.is_kept]
    if not saved:
        return UnparsedValues(_numeric_dimensions(spec))
    return UnparsedValues(_fields(saved), max(record.millis for record in saved) + _persist_millis(spec))


def _fields(saved: Sequence[UnparseableRecord]) -> frozenset[str]:
    return frozenset(name for record in saved for name in _OF_DIMENSION.findall(record.details))


def _numeric_dimensions(spec: Mapping[str, Any] | None) -> frozenset[str]:
    listed = (spec_part(spec, "dataSchema").get("dimensionsSpec") or {}).get("dimensions") or ()
    return frozenset(str(d.get("name")) for d in listed if isinstance(d, Mapping) and d.get("type") in _NUMERIC)


def _persist_millis(spec: Mapping[str, Any] | None) -> int:
    period = str(spec_part(spec, "tuningConfig").get("intermediatePersistPeriod") or "PT10M")
    return int(1000 * (seconds(period) if PERIOD.fullmatch(period) else 600))


class RecentUnparsedValues:
    """The unparsed values of data sources, which are requested again after a while."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[float, UnparsedValues | None]] = {}
        """The answer about each data source, and when it was requested."""

    def of(self, data_source: str, client: DruidClient, note: Callable[[str], None]) -> UnparsedValues | None:
        """None if there are none, or if the overlord does not respond: queries do without it, and wait for no retry."""
        requested, found = self._answers.get(data_source, (-REQUESTED_EVERY, None))
        if monotonic() - requested < REQUESTED_EVERY:
            return found
        self._answers[data_source] = (monotonic(), None)  # no request again soon if the overlord does not respond
        with suppress(DruidError, ConnectError), closing(DruidClient(replace(client.address, tries=1))) as once:
            try:
                found = unparsed_values(once, data_source)
            except AnswerError as error:
                note(f"unknown whether tasks of {data_source} could not parse values: {error.message}")
                raise
            self._answers[data_source] = (monotonic(), found)
        return found
