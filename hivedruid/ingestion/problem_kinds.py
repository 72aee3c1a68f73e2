"""The problems of ingestions that SHOW PROBLEMS lists, in the order of the documentation, which has the same table."""

from __future__ import annotations

from collections.abc import Mapping

PROBLEMS: Mapping[str, str] = {
    "unreachable": ("the overlord, the coordinator or Kafka does not respond; everything else is still reported"),
    "no workers": ("no middle manager or indexer is running"),
    "segments unavailable": ("segments that no historical has loaded two minutes after their hand-off"),
    "interrupted": ("a statement did not finish (or is still running): rerun it"),
    "not running": ("the table was started and has no supervisor"),
    "no table": ("a supervisor that no table started, or whose table was dropped. Those of other homes are not listed"),
    "owned by another table": (
        "another table, possibly of another home, started the supervisor of this table's data source"
    ),
    "spec differs": ("the supervisor's spec is not the one that START would submit"),
    "topic not found": ("the topic does not exist in Kafka"),
    "empty topic": ("nothing was ever written to the topic: its name may be misspelt"),
    "partition not found, offsets beyond the end": ("the topic was recreated"),
    "partitions not read yet": (
        "the topic has more partitions than the supervisor reads: Druid adds new ones after some two minutes, "
        "HANDOFF at once"
    ),
    "offsets expired": (
        "retention has deleted records before they were read; of all partitions. RESUME and START name the repair, too"
    ),
    "tasks failing, tasks failing and restarting": (
        "within the last ten minutes; resolved when a later task succeeds or has run for two minutes. Tasks "
        "that were stopped on request do not count"
    ),
    "no free slots, tasks waiting": (
        "tasks without a slot; or tasks that have waited for half a minute although slots are free (replicas "
        "do not share a worker)"
    ),
    "lag, growing lag": ("more than five minutes of work at the present speed; growing: more is written than read"),
    "reading stalled": ("there is a lag, and the tasks are not reading"),
    "parse errors": (
        "the tasks that run, or the last that ended with the present spec, could not parse some records, or a number "
        "in records that they kept ([records](#records)); one row for each kind of message among the saved records, "
        "with an example"
    ),
    "invalid expression": (
        "an expression in the supervisor's transformSpec or metricsSpec that Druid reads differently than it "
        "is written, or a function that it does not have"
    ),
    "all records thrown away": (
        "the running tasks kept none of the records that they read: a filter removes them, or their times are rejected"
    ),
    "records thrown away": (
        "some of their times are outside of `lateMessageRejectionPeriod`, `lateMessageRejectionStartDateTime` "
        "or `earlyMessageRejectionPeriod`; with counts by reason from Druid 36 on"
    ),
    "unlikely times": (
        "rows of 1970, or more than a year ahead: the time field is read in another unit or format. The "
        "repair reads the topic again"
    ),
    "unhealthy": (
        "the supervisor reports this state, or errors and no tasks, and none of the other problems explains it. The "
        "repair is ROLLBACK INGESTION, if tasks ran with an earlier spec and none with this one"
    ),
}
"""The condition of each problem, as Markdown. A key with a comma has several problems with the same condition."""
LOOKS = frozenset({"tasks failing", "tasks failing and restarting", "no free slots", "reading stalled", "parse errors"})
"""Problems whose repair shows more: what ends them depends on what it shows."""
NAMES = frozenset(name for names in PROBLEMS for name in names.split(", "))
