"""What depends on the version of Druid. docs/druid-versions.md is generated from this table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from hivedruid.lazy_dataclass import dataclass

OLDEST, NEWEST = 32, 39
"""The major versions that hivedruid knows. Older ones are refused; a newer one counts as the newest."""

Feature = Literal[
    "null handling",
    "segment updates",
    "projections",
    "compaction requests",
    "supervisor ids",
    "paths",
    "Java",
    "segment format",
    "task reports",
    "column formats",
    "compaction state",
    "projections in part",
    "compaction",
    "minor compaction",
    "index specs",
    "parsers",
    "Hadoop",
    "types of nulls",
    "nulls in groups",
    "nulls in arrays",
    "inline segments",
    "query blocklist",
    "partial loads",
    "realtime segments",
    "header filters",
    "catalog DDL",
]
Source = Literal["a running Druid 33.0.0", "a running Druid 37.0.0", "the classes of 37.0.0", "release notes"]


@dataclass(frozen=True)
class VersionRow:
    """One thing that changed in Druid `since`: how it was `before` and is `after`, and what hivedruid does.

    `source` is the strongest proof of the newer behavior.
    """

    topic: str
    since: int
    before: str
    after: str
    hivedruid: str
    source: Source


VERSIONS: dict[Feature, VersionRow] = {
    "null handling": VersionRow(
        "queries", 32, "`druid.generic.useDefaultValueForNull` may make empty strings nulls", "SQL's nulls",
        "refuses older versions", "a running Druid 33.0.0",
    ),
    "segment updates": VersionRow(
        "endpoints", 33, "the coordinator marks segments as used", "the overlord does, and responds with status 500",
        "sends `markUsed` to the overlord, then to the coordinator if the segments are not used",
        "a running Druid 33.0.0",
    ),
    "projections": VersionRow(
        "segments", 33, "segments have only their rows",
        "segments may have projections: aggregated copies of their rows",
        "writes those of `druid.projections`; Druid chooses one for a query itself, and EXPLAIN EXTENDED shows it",
        "a running Druid 33.0.0",
    ),
    "compaction requests": VersionRow(
        "compaction", 33, "the coordinator stores the configurations of automatic compaction",
        "the overlord stores them, as compaction supervisors or for the coordinator",
        "sends them to the overlord; EXPLAIN shows these requests, EXTENDED also the version", "a running Druid 33.0.0",
    ),
    "supervisor ids": VersionRow(
        "ingestion", 34, "a supervisor's id is the name of its data source",
        "a supervisor has an id of its own, and several may feed one data source",
        "compares ids with ids everywhere; START refuses to add a supervisor to a data source that another one feeds,"
        " unless `druid.kafka.ingestion.supervisor.id` names its own id; before Druid 34 that property is refused",
        "the classes of 37.0.0",
    ),
    "paths": VersionRow(
        "endpoints", 35, "Jetty 9 decodes `%25` and `%5C` in paths",
        "Jetty 12 does so with `druid.server.http.uriCompliance=LEGACY`, the default",
        "encodes every name in a path in the same way; CREATE refuses a data source name with `%` or `\\` if the"
        " coordinator refuses paths with it, and the error names the property",
        "the classes of 37.0.0",
    ),
    "Java": VersionRow(
        "services", 35, "Java 11 and 17", "35 to 37: Java 17 and 21; 38: Java 21 and 25; 39: Java 25",
        "`hivedruid local up` starts Druid 33, and looks for a Java 17 to 23; for other Druids it does not matter",
        "release notes",
    ),
    "segment format": VersionRow(
        "segments", 36, "version 9: several files",
        "version 10 with `druid.indexer.task.buildV10=true`: one file, `druid.segment`",
        "reads both and writes version 9", "a running Druid 37.0.0",
    ),
    "task reports": VersionRow(
        "ingestion", 36, "a task's report counts its rows by outcome", "it also has `thrownAwayByReason`, an object",
        "ignores what is new in a response, and reads what a statement needs", "a running Druid 37.0.0",
    ),
    "column formats": VersionRow(
        "segments", 37, "columns of type JSON and `auto` have one format",
        "their descriptors have a `columnFormatSpec`, which may name other encodings",
        "reads all but JSON columns without their whole values (`objectStorageEncoding` other than `smile`), for which"
        " Druid is queried",
        "the classes of 37.0.0",
    ),
    "compaction state": VersionRow(
        "segments", 37, "a compacted segment has its `lastCompactionState`",
        "a segment of a compaction supervisor has an `indexingStateFingerprint` in its place",
        "takes either as the mark of a compacted segment", "the classes of 37.0.0",
    ),
    "projections in part": VersionRow(
        "queries", 37,
        "a projection without a time column answers queries of a part of a segment's time with all of its rows",
        "it only answers queries of whole segments",
        "sends `noProjections` with aggregations that have a condition on time", "a running Druid 37.0.0",
    ),
    "compaction": VersionRow(
        "compaction", 37, "the coordinator compacts unless `useSupervisors` is set; its tasks begin with"
        " `coordinator-issued_`",
        "compaction supervisors compact unless `useSupervisors` is false; tasks begin with `auto_`",
        "lets the overlord store the configuration in the form that is used; shows the tasks of both as automatic",
        "the classes of 37.0.0",
    ),
    "minor compaction": VersionRow(
        "compaction", 37, "a task merges all segments of an interval",
        "the policy `mostFragmentedFirst` may merge only the new ones, in tasks that begin with `auto-minor_`",
        "shows these tasks as automatic; refuses COMPACT 'minor', and names the policy", "the classes of 37.0.0",
    ),
    "index specs": VersionRow(
        "ingestion", 37, "a spec that Druid returns contains the defaults of its `indexSpec`",
        "the defaults are left out, or null",
        "treats a key without a value as its default when it compares specs", "the classes of 37.0.0",
    ),
    "parsers": VersionRow(
        "ingestion", 37, "a `dataSchema` may have a `parser`", "`parser` is removed",
        "writes `inputFormat`, `timestampSpec` and `dimensionsSpec` for all versions", "the classes of 37.0.0",
    ),
    "Hadoop": VersionRow(
        "ingestion", 37, "tasks of type `index_hadoop`", "removed",
        "never submits such tasks; import-hive refuses their specs and names the statements that load the same files",
        "the classes of 37.0.0",
    ),
    "types of nulls": VersionRow(
        "queries", 37, "a null of a numeric expression has the type STRING", "it has the type of the expression",
        "takes the types of results from its own plan, and gives the first value of an `expression` aggregator a type",
        "a running Druid 37.0.0",
    ),
    "nulls in groups": VersionRow(
        "queries", 37, "a groupBy by `if(…,null,…)` of a string column groups by its strings",
        "it fails with a ClassCastException: a bare null counts as a number",
        "gives the null of a string a type, for all versions", "a running Druid 37.0.0",
    ),
    "nulls in arrays": VersionRow(
        "queries", 37, "`unnest` makes a row of `ARRAY<STRING>[null]`",
        "it makes none in a segment in which the column beside it is null in all rows",
        "writes `array(null)`, of which all versions make a row", "a running Druid 37.0.0",
    ),
    "inline segments": VersionRow(
        "queries", 37, "rows of an inline data source have a segment id", "their segment id is null",
        "does not read the segment id of rows", "the classes of 37.0.0",
    ),
    "query blocklist": VersionRow(
        "queries", 37, "every query is accepted",
        "an operator can block queries by rules of the broker's configuration",
        "reports that the query is blocked, with the name of the rule", "a running Druid 37.0.0",
    ),
    "partial loads": VersionRow(
        "retention", 38, "load rules load whole segments", "rules such as `loadPartialForever` load parts of segments",
        "treats them as rules that load", "release notes",
    ),
    "realtime segments": VersionRow(
        "queries", 38, "`realtimeSegmentsOnly` of the query context", "deprecated for `realtimeSegmentsMode`",
        "sets neither: it names the segments that only tasks have", "release notes",
    ),
    "header filters": VersionRow(
        "ingestion", 39, "every record of a topic is ingested", "`headerBasedFilterConfig` filters records by a header",
        "writes it for `druid.kafka.ingestion.headerBasedFilterConfig`, which is refused before Druid 39",
        "release notes",
    ),
    "catalog DDL": VersionRow(
        "catalog", 39, "Druid's catalog is changed by requests",
        "CREATE and ALTER change it, with `druid.sql.planner.enableCatalogDdl`",
        "neither reads nor writes Druid's catalog: a table is declared in hivedruid's", "release notes",
    ),
}  # fmt: skip
"""In the order of the versions."""


@dataclass(frozen=True)
class DruidVersion:
    """The version of a cluster: `text` as its oldest service reports it, "" if it is not known."""

    text: str = ""

    @property
    def major(self) -> int:
        """A version that is not known counts as the oldest one."""
        return min(major_of(self.text) or OLDEST, NEWEST)

    @property
    def is_newer(self) -> bool:
        """Whether hivedruid does not know it."""
        return (major_of(self.text) or 0) > NEWEST

    def has(self, feature: Feature) -> bool:
        """Whether the newer behavior of a row applies."""
        return self.major >= VERSIONS[feature].since

    def reason(self, feature: Feature) -> str:
        """What this version does, for EXPLAIN EXTENDED."""
        row = VERSIONS[feature]
        name = f"Druid {self.text}" if self.text else f"Druid of an unknown version, taken for {OLDEST}"
        return f"{name}: {row.after if self.has(feature) else row.before}"


def major_of(text: str) -> int | None:
    """The first number of a version; None if it has none."""
    major = text.partition(".")[0]
    return int(major) if major.isdecimal() else None


def oldest(texts: Iterable[str]) -> DruidVersion:
    """The version of a cluster whose services report these."""
    known = [text for text in texts if major_of(text) is not None]
    return DruidVersion(min(known, key=lambda text: major_of(text) or 0, default=""))


_INTRODUCTION = f"""\
# Versions of Druid

hivedruid works with Druid {OLDEST} to {NEWEST}. It reads the versions of the broker, the coordinator and the overlord
from `/status`; a cluster with several versions counts as the oldest of them. A version after {NEWEST} counts as
{NEWEST}, which a note reports. `hivedruid doctor` shows the version, and EXPLAIN EXTENDED names it if it decided what a
statement does. The home keeps the version of the broker of each cluster: a note reports that it has changed since the
home last used the cluster, and both commands use it while the cluster does not respond.

This page lists what depends on the version. It is generated from `hivedruid/druid/versions.py`; a test compares the
two. The last column is the strongest proof of the newer behavior: a running Druid 33.0.0, which the tests start; a
running Druid 37.0.0 without Kafka and SQL, on which `make druid37-cluster` runs them; the classes of Druid 37.0.0, run
in one process or inspected; or the release notes, which no test has confirmed.
"""


def page() -> str:
    """The text of docs/druid-versions.md."""
    lines = [
        _INTRODUCTION,
        "| since | topic | before | from then on | hivedruid | proof |",
        "|---|---|---|---|---|---|",
    ]
    for row in VERSIONS.values():
        cells = (f"{row.since}", row.topic, row.before, row.after, row.hivedruid, row.source)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
