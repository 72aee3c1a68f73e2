"""Every SET key that means something here: its type, default and meaning, in one table; and the values of a session."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from hivedruid.errors import HiveDruidError, SemanticError, Span, did_you_mean
from hivedruid.secrets import masked

SettingType = Literal[
    "bool",
    "int",
    "text",
    "enum",
    "zone",
    "clock",
    "context",
    "tags",
    "prefix",
    "druid",
    "url",
    "reference",
    "period",
    "span",
]

EMBEDDED = "embedded:"
"""The druid.url of the store below the home folder."""

PERIOD = re.compile(r"P(?=[\dT])(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d{1,3})?S)?)?", re.ASCII)
"""An ISO 8601 period as Joda reads it."""


@dataclass(frozen=True)
class Setting:
    """One key; `values` are those of an enum, in upper case. A type's check is in `_CHECKS`."""

    key: str
    type: SettingType
    default: str
    doc: str
    values: tuple[str, ...] = ()


# Hive's own writer takes these seven (HiveConf.DRUID_INDEXER_SEGMENT_GRANULARITY); Druid's other names
# are only for the table property druid.segment.granularity.
_SEGMENT_GRANULARITIES = ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")

SETTINGS: dict[str, Setting] = {
    setting.key: setting
    for setting in (
        Setting("hive.local.time.zone", "zone", "LOCAL", "Time zone of `timestamp with local time zone`; LOCAL is this machine's."),
        Setting("hive.druid.rollup", "bool", "true", "Whether Druid tables without the property druid.rollup roll up."),
        Setting(
            "hive.druid.indexer.segments.granularity", "enum", "DAY",
            "Segment granularity of Druid tables without the property druid.segment.granularity.", _SEGMENT_GRANULARITIES,
        ),
        Setting("hive.druid.indexer.partition.size.max", "int", "5000000", "Most rows in one segment when writing."),
        Setting("hive.druid.indexer.memory.rownum.max", "int", "75000", "Most rows held in memory by a task that writes segments."),
        Setting("hive.druid.bitmap.type", "enum", "roaring", "Bitmap index of written segments.", ("ROARING", "CONCISE")),
        Setting("hive.druid.broker.address.default", "text", "", "Accepted for old scripts; druid.url says where Druid is."),
        Setting("hive.druid.coordinator.address.default", "text", "", "Accepted for old scripts; druid.url says where Druid is."),
        Setting("hive.druid.overlord.address.default", "text", "", "Accepted for old scripts; druid.url says where Druid is."),
        Setting("hive.druid.basePersistDirectory", "text", "", "Accepted for old scripts; Druid's own tasks write segments."),
        Setting("hive.druid.storage.storageDirectory", "text", "", "Accepted for old scripts; Druid knows its deep storage."),
        Setting("hive.druid.working.directory", "text", "", "Accepted for old scripts; staging is below the home folder."),
        Setting("hive.druid.metadata.db.type", "text", "", "Accepted for old scripts; the metadata database is never used."),
        Setting("hive.druid.metadata.uri", "text", "", "Accepted for old scripts; the metadata database is never used."),
        Setting("hive.druid.metadata.username", "text", "", "Accepted for old scripts; the metadata database is never used."),
        Setting("hive.druid.metadata.password", "text", "", "Accepted for old scripts; the metadata database is never used."),
        Setting("hive.druid.metadata.base", "text", "", "Accepted for old scripts; the metadata database is never used."),
        Setting("hive.druid.maxTries", "int", "5", "Tries of an HTTP call to Druid that may be repeated."),
        Setting("hive.druid.passiveWaitTimeMs", "int", "30000", "Accepted for old scripts; waiting is by polling the task."),
        Setting("hive.druid.sleep.time", "text", "PT10S", "Accepted for old scripts; Hive does not use it any more."),
        Setting("hive.druid.http.numConnection", "int", "20", "Accepted for old scripts; one connection is enough."),
        Setting("hive.druid.http.read.timeout", "period", "PT1M", "How long an HTTP call to Druid may be silent (ISO 8601 period)."),
        Setting("hive.druid.select.threshold", "int", "10000", "Accepted for old scripts; `select` queries are gone from Druid."),
        Setting("hive.druid.kerberos.enable", "bool", "true", "Accepted for old scripts; Kerberos is not supported."),
        Setting("hive.exec.drop.ignorenonexistent", "bool", "true", "Whether DROP TABLE of a table that is not there is no error, even without IF EXISTS."),
        Setting("hive.external.table.purge.default", "bool", "false", "Value of external.table.purge for new external tables that do not give it."),
        Setting("hive.groupby.position.alias", "bool", "false", "Whether a number in GROUP BY is a position in the SELECT list."),
        Setting("hive.orderby.position.alias", "bool", "true", "Whether a number in ORDER BY is a position in the SELECT list."),
        Setting("hive.default.nulls.last", "bool", "true", "Where ORDER BY puts nulls: last ascending, first descending."),
        Setting("hive.materializedview.rewriting", "bool", "true", "Whether queries may be answered from materialized views instead of the tables they name."),
        Setting("hive.materializedview.rewriting.time.window", "span", "0min", "How long after its last build a materialized view may be used although its tables have changed (10min, 2h, 1d; below 0: always), for views without the property rewriting.time.window."),
        Setting("hive.cli.print.header", "bool", "true", "Whether table, csv, tsv and markdown output begins with the column names."),
        Setting("hive.variable.substitute", "bool", "true", "Whether `${…}` in statements is replaced."),
        Setting("hive.variable.substitute.depth", "int", "40", "How often a value put in for `${…}` is looked into again."),
        Setting("hive.explain.user", "bool", "true", "Whether EXPLAIN prints the user-level plan."),
        Setting("druid.url", "druid", EMBEDDED, "Where Druid is: embedded: (below the home folder), local (of `hivedruid local up`), or the http(s) URL of a router or broker."),
        Setting("druid.coordinator.url", "url", "", "Where the coordinator is, if druid.url is a broker's."),
        Setting("druid.overlord.url", "url", "", "Where the overlord is, if it is not with the coordinator."),
        Setting("druid.auth.username", "text", "", "User for basic authentication at Druid."),
        Setting("druid.auth.password", "reference", "", "Password of that user: env:NAME or file:PATH."),
        Setting("druid.auth.token", "reference", "", "Bearer token for Druid: env:NAME or file:PATH."),
        Setting("druid.tls.ca.file", "text", "", "Certificates (PEM) to trust at https addresses of Druid, instead of the system's."),
        Setting("druid.tls.certificate.file", "text", "", "Client certificate (PEM) to show to Druid."),
        Setting("druid.tls.key.file", "text", "", "Private key (PEM) of the client certificate, where it is not in the same file."),
        Setting("druid.query.timeout", "period", "PT5M", "How long one native query may take (ISO 8601 period)."),
        Setting("druid.query.priority", "int", "0", "Priority of native queries, higher first; 0: Druid's own default."),
        Setting("druid.query.tags", "tags", "", "What native queries carry in their context as `tags` (key=value, …), for Druid's request log and metrics."),
        Setting("druid.query.id.prefix", "prefix", "hivedruid", "What the ids of native queries begin with."),
        Setting("druid.query.context", "context", "", "Druid's query context for every native query, as JSON: priority, lane, limits and caches."),
        Setting("spark.master", "text", "local[*]", "Where Spark runs: local[*] is this home's own warm server, else a cluster (spark://…, yarn, k8s://…)."),
        Setting("spark.remote", "text", "", "A Spark Connect server to use instead (sc://host:port)."),
        Setting("spark.remote.token", "reference", "", "Token for that server: env:NAME or file:PATH."),
        Setting("hivedruid.spark.idle.timeout", "period", "PT20M", "How long the warm Spark server waits for the next job before it ends (ISO 8601 period)."),
        Setting("hivedruid.ingestion.timeout", "period", "PT5M", "How long START, STOP and their kind wait until Druid has done it (ISO 8601 period)."),
        Setting("hivedruid.now", "clock", "", "Pins the clock: CURRENT_TIMESTAMP as `yyyy-MM-dd HH:mm:ss[.fff]` in UTC; empty: the real time."),
        Setting("hivedruid.pushdown", "enum", "all", "What Druid computes: all that it computes exactly, or scans, with Spark for everything above them.", ("ALL", "SCANS")),
        Setting("hivedruid.join.max.rows", "int", "50000", "Most rows, by estimate, of the side of a join that travels into a native query; 0: joins run on Spark. Druid refuses more than its maxSubqueryRows (100000)."),
        Setting("hivedruid.semijoin.max.keys", "int", "10000", "Most keys of the small side of a join that become a filter of the other side; 0: none do."),
        Setting("hivedruid.local.evaluation.max.rows", "int", "10000", "Most rows of each native query that hivedruid itself, without Spark, computes the rest of a query from; 0: Spark always does."),
        Setting("hivedruid.kafka.check", "enum", "warn", "What CREATE of a table fed from Kafka does where its ingestion could not start, for tables without druid.kafka.ingestion.check; off: it does not look.", ("WARN", "REFUSE", "OFF")),
        Setting("hivedruid.clear.text.secrets", "bool", "false", "Whether secrets of Kafka consumers may be given in clear: they are kept in the memory of the session alone, and sent to Druid."),
        Setting("hivedruid.log.statements", "bool", "true", "Whether logs/queries.jsonl keeps the texts of statements, and of messages, which may quote them."),
        Setting("hivedruid.staging.root", "text", "", "Folder, or URI of remote storage, that rows are staged below for Druid's tasks, which have to see it; empty: `staging` below the home folder."),
        Setting("hivedruid.staging.keep", "bool", "false", "Whether staged rows stay when the job is done, for a look."),
        Setting("hivedruid.overwrite.mode", "enum", "static", "What INSERT OVERWRITE of a Druid table replaces: all its rows, or (dynamic) those of the segment intervals that the new rows are in.", ("STATIC", "DYNAMIC")),
        Setting("hivedruid.null.time", "enum", "fail", "What a row without a __time does to a statement that writes to Druid; skip leaves it out, and says how many.", ("FAIL", "SKIP")),
        Setting("hivedruid.task.subtasks", "int", "1", "Most subtasks that an ingestion task of Druid's may run at a time (maxNumConcurrentSubTasks)."),
        Setting("hivedruid.task.slot.timeout", "period", "PT10M", "How long a submitted task may wait for a free slot of Druid's (ISO 8601 period)."),
        Setting("hivedruid.segment.load.timeout", "period", "PT5M", "How long to wait until new segments can be queried (ISO 8601 period)."),
        Setting("hivedruid.job.repeat.within", "period", "PT1H", "How long after its interruption a job goes on when its statement is said again; later the statement counts as a new one (ISO 8601 period)."),
        Setting("hivedruid.malformed.rows", "enum", "fail", "What a malformed row in a file does, for tables that do not say.", ("FAIL", "SKIP")),
    )
}  # fmt: skip
"""Every key with a meaning. Others are kept and answered as in Hive, but for `OWN_PREFIXES`, which must be here."""

_DRUID = "druid.url, druid.coordinator.url and druid.overlord.url say where Druid is"
_METADATA = "Druid's metadata database is reached through Druid"
ELSEWHERE: dict[str, str] = {
    "hive.druid.broker.address.default": _DRUID,
    "hive.druid.coordinator.address.default": _DRUID,
    "hive.druid.overlord.address.default": _DRUID,
    "hive.druid.storage.storageDirectory": "Druid knows its deep storage",
    "hive.druid.working.directory": "hivedruid.staging.root says where rows are staged",
    "hive.druid.metadata.uri": _METADATA,
    "hive.druid.metadata.base": _METADATA,
    "hive.metastore.uris": "the tables of this session are those of its home folder (--home)",
    "hive.metastore.warehouse.dir": "managed tables are in the home folder (--home)",
    "javax.jdo.option.ConnectionURL": "the catalog is in the home folder (--home)",
    "fs.defaultFS": "give LOCATION a whole URI",
    "fs.default.name": "give LOCATION a whole URI",
}
"""Keys by which scripts of Hive say where to read and write, and what says it here: SET of one is noted."""

OWN_PREFIXES = ("hive.druid.", "druid.", "hivedruid.")


class Settings(Mapping[str, str]):
    """The settings of a session: every key of SETTINGS with its default, and what was SET.

    As a mapping it answers the values in effect. Keys are case-sensitive, as in Hive.
    """

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values: dict[str, str] = {}
        for key, value in (values or {}).items():
            self.set(key, value)

    def set(self, key: str, value: str, span: Span | None = None) -> None:
        """Set a key. Raises SemanticError for an unknown key of ours, and for a value that is not of the key's type."""
        self._values[key] = check(key, value, span)

    def reset(self, key: str | None = None) -> None:
        """Back to the defaults, for one key or for all."""
        if key is None:
            self._values.clear()
        else:
            self._values.pop(key, None)

    def __getitem__(self, key: str) -> str:
        if key in self._values:
            return self._values[key]
        return SETTINGS[key].default

    def __iter__(self) -> Iterator[str]:
        yield from SETTINGS
        yield from (key for key in self._values if key not in SETTINGS)

    def __len__(self) -> int:
        return len(SETTINGS.keys() | self._values.keys())

    def get_bool(self, key: str) -> bool:
        return self[key].lower() == "true"

    def get_int(self, key: str) -> int:
        return int(self[key])

    def changed(self) -> dict[str, str]:
        """What was SET, by key."""
        return dict(sorted(self._values.items()))

    def copy(self) -> Settings:
        """The same settings, apart from now on."""
        twin = Settings()
        twin._values = dict(self._values)
        return twin

    @property
    def time_zone(self) -> str:
        """The IANA name of the session's zone, LOCAL resolved."""
        return resolve_zone(self["hive.local.time.zone"])


def check(key: str, value: str, span: Span | None = None) -> str:
    """The value as it is kept. Raises SemanticError as `Settings.set` does."""
    setting = SETTINGS.get(key)
    if setting is None:
        if key.startswith(OWN_PREFIXES):
            hint = did_you_mean(key, SETTINGS) or "SET -v lists every key"
            raise SemanticError(f"unknown setting '{key}'", span=span, hint=hint)
        return value
    try:
        return _CHECKS[setting.type](setting, value.strip())
    except HiveDruidError as error:
        raise error.at(span) from None


def seconds(period: str) -> float:
    """The length of an ISO 8601 period that `check` has let pass; a month counts as 30 days, a year as 365."""
    match = PERIOD.fullmatch(period)
    assert match is not None
    parts = [float((match[number] or "0_")[:-1].replace(",", ".")) for number in (1, 2, 3, 4, 6, 7, 8)]
    days = parts[0] * 365 + parts[1] * 30 + parts[2] * 7 + parts[3]
    return days * 86_400 + parts[4] * 3600 + parts[5] * 60 + parts[6]


_SPAN = re.compile(r"\s*(-?\d{1,18})\s*([a-z]*)\s*", re.ASCII)
_SPAN_UNITS = {
    **dict.fromkeys(("", "s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 0.001),
}


def is_span(text: str) -> bool:
    """Whether a text is a time of HiveConf: a whole number and a unit, such as 10min, 2h or -1s; seconds without one."""
    match = _SPAN.fullmatch(text.lower())
    return match is not None and match[2] in _SPAN_UNITS


def span_seconds(text: str) -> float:
    """The seconds of a text that `is_span`."""
    match = _SPAN.fullmatch(text.lower())
    assert match is not None
    return int(match[1]) * _SPAN_UNITS[match[2]]


def listing(settings: Mapping[str, str], *, verbose: bool = False) -> list[tuple[str, str]]:
    """`SET` (what differs from the defaults) or `SET -v` (everything), sorted by key, secrets masked."""
    return sorted(
        (key, shown(key, value))
        for key, value in settings.items()
        if verbose or key not in SETTINGS or value != SETTINGS[key].default
    )


def shown(key: str, value: str) -> str:
    """A setting's value as it may be shown: true or false is no secret, whatever the key is called."""
    setting = SETTINGS.get(key)
    return value if setting is not None and setting.type == "bool" else masked(key, value)


def resolve_zone(name: str) -> str:
    """The IANA name that a value of hive.local.time.zone means. LOCAL: from TZ or /etc, UTC where neither says."""
    if name.upper() != "LOCAL":
        return _SPELLINGS_OF_UTC.get(name, name)
    candidate = os.environ.get("TZ", "").removeprefix(":")
    if not candidate:
        target = os.path.realpath("/etc/localtime")
        _, found, candidate = target.partition("/zoneinfo/")
        candidate = candidate.removeprefix("posix/").removeprefix("right/") if found else ""
    candidate = _SPELLINGS_OF_UTC.get(candidate, candidate)
    return candidate if candidate and _is_zone(candidate) else "UTC"


_SPELLINGS_OF_UTC = dict.fromkeys(
    ("Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "UCT", "Universal", "Zulu"), "UTC"
)
"""Java prints the zone by its name, and nobody means these to be shown."""


_OFFSET = re.compile(r"[+-](0\d|1[0-7]):[0-5]\d|[+-]18:00")
"""A zone by its distance from UTC, as java.time.ZoneId takes it."""


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo

    if _OFFSET.fullmatch(name):
        return True
    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # not a name at all, a folder, or not in the database
        return False
    return True


def _bool(setting: Setting, value: str) -> str:
    if value.lower() not in ("true", "false"):
        raise SemanticError(f"'{setting.key}' takes true or false, not '{value}'")
    return value.lower()


def _int(setting: Setting, value: str) -> str:
    if not re.fullmatch(r"-?\d{1,18}", value, re.ASCII):
        raise SemanticError(f"'{setting.key}' takes a whole number, not '{value}'")
    return value


def _text(_: Setting, value: str) -> str:
    return value


def _period(setting: Setting, value: str) -> str:
    if not PERIOD.fullmatch(value):
        raise SemanticError(f"'{setting.key}' takes an ISO 8601 period such as PT10M, not '{value}'")
    return value


def _span(setting: Setting, value: str) -> str:
    if not is_span(value):
        raise SemanticError(f"'{setting.key}' takes a time such as 10min, 2h or 1d, not '{value}'")
    return value


def _enum(setting: Setting, value: str) -> str:
    if value.upper() not in setting.values:
        raise SemanticError(
            f"'{setting.key}' takes one of {', '.join(setting.values)}, not '{value}'",
            hint=did_you_mean(value.upper(), setting.values),
        )
    return value.lower() if setting.default.islower() else value.upper()


def _zone(setting: Setting, value: str) -> str:
    if value.upper() == "LOCAL":
        return "LOCAL"
    if not _is_zone(value):
        from zoneinfo import available_timezones

        hint = did_you_mean(value, available_timezones()) or "use an IANA name such as US/Pacific, or LOCAL"
        raise SemanticError(f"'{setting.key}' takes a time zone, not '{value}'", hint=hint)
    return value


def _clock(setting: Setting, value: str) -> str:
    from datetime import datetime

    if not value:
        return value
    try:
        moment = datetime.strptime(value, "%Y-%m-%d %H:%M:%S.%f" if "." in value else "%Y-%m-%d %H:%M:%S")
    except ValueError:
        raise SemanticError(
            f"'{setting.key}' takes a timestamp, not '{value}'",
            hint="write yyyy-MM-dd HH:mm:ss[.fff], or leave it empty",
        ) from None
    return moment.isoformat(" ")


_URL = r"https?://[^\s/]+\S*"


def _druid(setting: Setting, value: str) -> str:
    if value in (EMBEDDED, "local") or re.fullmatch(_URL, value):
        return value.rstrip("/")
    raise SemanticError(
        f"'{setting.key}' takes embedded:, local, or the http(s) URL of a Druid router or broker, not '{masked(setting.key, value)}'",
        hint="for example http://localhost:8888",
    )


def _url(setting: Setting, value: str) -> str:
    if not value or re.fullmatch(_URL, value):
        return value.rstrip("/")
    raise SemanticError(f"'{setting.key}' takes an http(s) URL, not '{masked(setting.key, value)}'")


def _reference(setting: Setting, value: str) -> str:
    """A secret is named, never given: what is SET is shown, logged and kept."""
    if not value or re.fullmatch(r"env:\w+|file:.+", value):
        return value
    raise SemanticError(
        f"'{setting.key}' takes env:NAME or file:PATH, not the secret itself",
        hint="put it into an environment variable or a file that only you can read",
    )


_CONTEXT_KEYS = frozenset(
    """
    brokerParallelMerge bufferGrouperInitialBuckets bufferGrouperMaxLoadFactor bufferGrouperMaxSize forceLimitPushDown
    lane maxMergingDictionarySize maxNumericInFilters maxOnDiskStorage maxQueuedBytes maxRowsQueuedForOrdering
    maxScatterGatherBytes maxSegmentPartitionsOrderedInMemory maxSelectorDictionarySize maxSubqueryBytes maxSubqueryRows
    numParallelCombineThreads parallelMergeParallelism populateCache populateResultLevelCache priority
    secondaryPartitionPruning setProcessingThreadNames useCache useResultLevelCache vectorSize
    vectorize vectorizeVirtualColumns
    """.split()  # noqa: SIM905
)
"""Keys of Druid's query context that change how a query is run, never what it answers."""


def _context(setting: Setting, value: str) -> str:
    import json

    if not value:
        return value
    try:
        keys = json.loads(value)
    except ValueError:
        keys = None
    if not isinstance(keys, dict):
        raise SemanticError(f"'{setting.key}' takes a JSON object, not '{value}'", hint='for example {"priority": 10}')
    for key in keys:
        if key not in _CONTEXT_KEYS:
            hint = (
                did_you_mean(key, _CONTEXT_KEYS) or "it takes what does not change answers; docs/druid.md has the list"
            )
            raise SemanticError(f"'{setting.key}' does not take '{key}'", hint=hint)
    return json.dumps(keys)


def _tags(setting: Setting, value: str) -> str:
    parts = [part.strip() for part in value.split(",")] if value else []
    for part in parts:
        if not re.fullmatch(r"[\w.-]+\s*=[^=]*", part):
            raise SemanticError(
                f"'{setting.key}' takes key=value, …, not '{value}'", hint="for example team=web,job=daily"
            )
    return ",".join("=".join(side.strip() for side in part.split("=")) for part in parts)


def _prefix(setting: Setting, value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", value):
        raise SemanticError(f"'{setting.key}' takes up to 64 letters, digits, '.', '_' and '-', not '{value}'")
    return value


_CHECKS: dict[SettingType, Callable[[Setting, str], str]] = {
    "bool": _bool,
    "int": _int,
    "text": _text,
    "enum": _enum,
    "zone": _zone,
    "clock": _clock,
    "context": _context,
    "tags": _tags,
    "prefix": _prefix,
    "druid": _druid,
    "url": _url,
    "reference": _reference,
    "period": _period,
    "span": _span,
}
