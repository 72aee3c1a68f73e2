"""The table of all SET keys with their types, defaults and descriptions; and the values of a session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hivedruid.errors import HiveDruidError, SemanticError, Span, did_you_mean
from hivedruid.secrets import masked
from hivedruid.setting_types import CHECKS, EMBEDDED, Setting, resolve_zone

# Hive's own writer supports these seven (HiveConf.DRUID_INDEXER_SEGMENT_GRANULARITY); Druid's other names
# are only supported by the table property druid.segment.granularity.
_SEGMENT_GRANULARITIES = ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")

JARS, TRANSFORM_FILES = "hivedruid.jars", "hivedruid.transform.files"
"""What ADD JAR and ADD FILE set."""

SETTINGS: dict[str, Setting] = {
    setting.key: setting
    for setting in (
        Setting("hive.local.time.zone", "zone", "LOCAL",
            "Time zone of `timestamp with local time zone`; LOCAL: the time zone of this machine."),
        Setting("hive.druid.rollup", "bool", "true",
            "Whether Druid tables without the property druid.rollup use rollup."),
        Setting(
            "hive.druid.indexer.segments.granularity", "enum", "DAY",
            "Segment granularity of Druid tables without the property druid.segment.granularity.",
            _SEGMENT_GRANULARITIES,
        ),
        Setting("hive.druid.indexer.partition.size.max", "int", "5000000",
            "Maximum number of rows in a written segment."),
        Setting("hive.druid.indexer.memory.rownum.max", "int", "75000",
            "Maximum number of rows that a writing task keeps in memory."),
        Setting("hive.druid.bitmap.type", "enum", "roaring",
            "Bitmap index type of written segments.", ("ROARING", "CONCISE")),
        Setting("hive.druid.broker.address.default", "text", "",
            "Hive's name of druid.url, as host:port; SET sets both."),
        Setting("hive.druid.coordinator.address.default", "text", "",
            "Hive's name of druid.coordinator.url, as host:port; SET sets both."),
        Setting("hive.druid.overlord.address.default", "text", "",
            "Hive's name of druid.overlord.url, as host:port; SET sets both."),
        Setting("hive.druid.basePersistDirectory", "text", "",
            "Accepted for compatibility; Druid tasks write segments."),
        Setting("hive.druid.storage.storageDirectory", "text", "",
            "Accepted for compatibility; deep storage is configured in Druid."),
        Setting("hive.druid.working.directory", "text", "", "Accepted for compatibility; use hivedruid.staging.root."),
        Setting("hive.druid.metadata.db.type", "text", "",
            "Accepted for compatibility; the metadata database is not accessed."),
        Setting("hive.druid.metadata.uri", "text", "",
            "Accepted for compatibility; the metadata database is not accessed."),
        Setting("hive.druid.metadata.username", "text", "",
            "Accepted for compatibility; the metadata database is not accessed."),
        Setting("hive.druid.metadata.password", "text", "",
            "Accepted for compatibility; the metadata database is not accessed."),
        Setting("hive.druid.metadata.base", "text", "",
            "Accepted for compatibility; the metadata database is not accessed."),
        Setting("hive.druid.maxTries", "int", "5", "Maximum attempts of an HTTP request to Druid that can be retried."),
        Setting("hive.druid.passiveWaitTimeMs", "int", "30000", "Accepted for compatibility; task status is polled."),
        Setting("hive.druid.sleep.time", "text", "PT10S", "Accepted for compatibility; Hive no longer uses it."),
        Setting("hive.druid.http.numConnection", "int", "20", "Accepted for compatibility; one connection is used."),
        Setting("hive.druid.http.read.timeout", "period", "PT1M",
            "Read timeout of an HTTP request to Druid (ISO 8601 period)."),
        Setting("hive.druid.select.threshold", "int", "10000",
            "Number of rows from which a scan on Spark is divided into queries of single segments; 0: never."),
        Setting("hive.druid.kerberos.enable", "bool", "true", "Accepted for compatibility; Kerberos is not supported."),
        Setting("hive.metastore.uris", "metastore", "",
            "Hive metastore whose databases and tables appear beside those of the home: thrift://host:port, …; empty: "
            "none."),
        Setting("hivedruid.catalog", "enum", "home",
            "Where CREATE creates external tables, views and databases: in the home, or in the Hive metastore, where "
            "DROP is then allowed, too (metastore).", ("HOME", "METASTORE")),
        Setting("hivedruid.catalog.url", "postgres", "",
            "PostgreSQL database with the catalog, for several machines: postgresql://[user@]host[:port]/database"
            "[?schema=NAME&sslmode=…]; empty: in the home folder. It cannot be changed in a session."),
        Setting("hivedruid.catalog.password", "reference", "",
            "Password for the database of hivedruid.catalog.url: env:NAME or file:PATH; empty: PGPASSWORD, or "
            "~/.pgpass."),
        Setting("hive.metastore.client.connection.timeout", "span", "5s",
            "How long to wait for a connection to the Hive metastore (5s, 1min)."),
        Setting("hive.metastore.client.socket.timeout", "span", "60s",
            "How long to wait for a response of the Hive metastore (60s, 5min)."),
        Setting("hive.exec.drop.ignorenonexistent", "bool", "true",
            "Whether DROP TABLE without IF EXISTS ignores a table that does not exist."),
        Setting("hive.exec.dynamic.partition", "bool", "true",
            "Whether INSERT may determine partitions by the rows of its query; false: PARTITION needs constants."),
        Setting("hive.exec.max.dynamic.partitions", "int", "0",
            "Maximum number of partitions of an external table that INSERT may determine by the rows of its query; 0: "
            "no limit."),
        Setting("hive.exec.dynamic.partition.mode", "enum", "nonstrict",
            "Whether INSERT … PARTITION without a constant value is refused (strict).",
            ("STRICT", "NONSTRICT")),
        Setting("hive.exec.compress.output", "bool", "false",
            "Whether INSERT compresses text files and SequenceFiles; ORC, Parquet and Avro files always are."),
        Setting("mapreduce.output.fileoutputformat.compress.codec", "text", "",
            "Class that compresses text files and SequenceFiles; empty: that of mapred.output.compression.codec, "
            "otherwise DefaultCodec (Deflate)."),
        Setting("mapred.output.compression.codec", "text", "",
            "Old name of mapreduce.output.fileoutputformat.compress.codec."),
        Setting("mapreduce.output.fileoutputformat.compress.type", "text", "",
            "Whether values of SequenceFiles are compressed one by one (RECORD), together (BLOCK) or not at all "
            "(NONE); empty: as mapred.output.compression.type, otherwise RECORD."),
        Setting("mapred.output.compression.type", "text", "",
            "Old name of mapreduce.output.fileoutputformat.compress.type."),
        Setting("hive.msck.path.validation", "enum", "throw",
            "What MSCK does with folders that are not those of partitions: fail (throw), or leave them out (skip, "
            "ignore).",
            ("THROW", "SKIP", "IGNORE")),
        Setting("hivedruid.discover.partitions", "bool", "false",
            "Whether queries find the partitions of external tables at their LOCATION, without MSCK; for tables "
            "without the property discover.partitions."),
        Setting("hive.external.table.purge.default", "bool", "false",
            "Default of external.table.purge for new external tables."),
        Setting("hive.groupby.position.alias", "bool", "false",
            "Whether a number in GROUP BY is a position in the SELECT list."),
        Setting("hive.orderby.position.alias", "bool", "true",
            "Whether a number in ORDER BY is a position in the SELECT list."),
        Setting("hive.default.nulls.last", "bool", "true",
            "Whether ORDER BY puts nulls last in ascending and first in descending order."),
        Setting("hivedruid.statements.without.effect", "enum", "note",
            "What GRANT, REVOKE, roles, LOCK and RELOAD FUNCTIONS do: nothing, with a note, or fail (refuse).",
            ("NOTE", "REFUSE")),
        Setting(JARS, "text", "",
            "Jars in which CREATE FUNCTION finds Java classes, one path in each line: those of ADD JAR."),
        Setting("hivedruid.transform.enabled", "bool", "false",
            "Whether SELECT TRANSFORM … USING may run its command, with your rights, on the machines that run Spark."),
        Setting(TRANSFORM_FILES, "text", "",
            "Files in the folder where the commands of TRANSFORM run, one path in each line: those of ADD FILE."),
        Setting("hive.support.quoted.identifiers", "enum", "column",
            "Whether a name in backquotes is a name (column, standard), or in SELECT a regular expression (none).",
            ("NONE", "COLUMN", "STANDARD")),
        Setting("hive.materializedview.rewriting", "bool", "true",
            "Whether queries can be rewritten to use materialized views."),
        Setting("hive.materializedview.rewriting.time.window", "span", "0min",
            "How long after its last rebuild a materialized view may be used although its source tables have changed "
            "(10min, 2h, 1d; negative: always), for views without the property rewriting.time.window."),
        Setting("hive.cli.print.header", "bool", "true",
            "Whether table, csv, tsv, markdown and html output starts with the column names."),
        Setting("hive.variable.substitute", "bool", "true", "Whether `${…}` in statements is substituted."),
        Setting("hive.variable.substitute.depth", "int", "40",
            "Maximum rounds of substitution of `${…}` in values of `${…}`."),
        Setting("hive.explain.user", "bool", "true", "Whether EXPLAIN prints the user-level plan."),
        Setting("druid.url", "druid", EMBEDDED,
            "Druid to use: embedded: (in the home folder), local (started by `hivedruid local up`), or the http(s) URL "
            "of a router or broker."),
        Setting("druid.coordinator.url", "url", "", "URL of the coordinator, if druid.url is a broker."),
        Setting("druid.overlord.url", "url", "", "URL of the overlord, if it does not run in the coordinator."),
        Setting("druid.auth.username", "text", "", "User name for basic authentication with Druid."),
        Setting("druid.auth.password", "reference", "",
            "Password for basic authentication with Druid: env:NAME or file:PATH."),
        Setting("druid.auth.token", "reference", "", "Bearer token for Druid: env:NAME or file:PATH."),
        Setting("druid.tls.ca.file", "text", "",
            "CA certificates (PEM) for https connections to Druid, instead of the system's."),
        Setting("druid.tls.certificate.file", "text", "", "Client certificate (PEM) for connections to Druid."),
        Setting("druid.tls.key.file", "text", "",
            "Private key (PEM) of the client certificate, if it is in a separate file."),
        Setting("druid.query.timeout", "period", "PT5M", "Timeout of a native query (ISO 8601 period)."),
        Setting("druid.query.priority", "int", "0", "Priority of native queries, higher first; 0: Druid's default."),
        Setting("druid.query.tags", "tags", "",
            "Value of `tags` in the context of native queries (key=value, …), for Druid's request log and metrics."),
        Setting("druid.query.id.prefix", "prefix", "hivedruid", "Prefix of the ids of native queries."),
        Setting("druid.query.context", "context", "",
            "Query context for every native query, as JSON: priority, lane, limits and caches."),
        Setting("spark.master", "text", "local[*]",
            "Spark master: local[*] (the home's shared Spark server) or a cluster (spark://…, yarn, k8s://…)."),
        Setting("spark.remote", "text", "", "Spark Connect server to use instead (sc://host:port)."),
        Setting("spark.remote.token", "reference", "", "Token for the Spark Connect server: env:NAME or file:PATH."),
        Setting("spark.authenticate.secret", "reference", "",
            "Secret of the Spark cluster of spark.master, its spark.authenticate.secret: env:NAME or file:PATH."),
        Setting("hivedruid.spark.idle.timeout", "period", "PT20M",
            "Idle time after which the shared Spark server stops (ISO 8601 period)."),
        Setting("hivedruid.iceberg.catalog.type", "enum", "jdbc",
            "Iceberg catalog of managed tables; jdbc without a uri: the catalog of the home folder, or one in the "
            "database of hivedruid.catalog.url.",
            ("JDBC", "REST", "HIVE", "GLUE", "NESSIE", "HADOOP")),
        Setting("hivedruid.iceberg.catalog.uri", "property", "",
            "Address of another Iceberg catalog: the URL of a REST catalog, thrift://… of a Hive metastore, jdbc:… of a"
            " database."),
        Setting("hivedruid.iceberg.catalog.warehouse", "property", "",
            "Warehouse of another Iceberg catalog: a location, or the name that the catalog gives it."),
        Setting("hivedruid.ingestion.timeout", "period", "PT5M",
            "How long START, STOP and other ingestion statements wait for Druid (ISO 8601 period)."),
        Setting("hivedruid.now", "clock", "",
            "Fixed value of CURRENT_TIMESTAMP, `yyyy-MM-dd HH:mm:ss[.fff]` in UTC; empty: the current time."),
        Setting("hivedruid.pushdown", "enum", "all",
            "What is pushed down to Druid: everything that Druid computes exactly (all), or only scans.",
            ("ALL", "SCANS")),
        Setting("hivedruid.approximate", "enum", "never",
            "Whether Druid may estimate count(DISTINCT …): never, with an HLL sketch (sketches), or with its own "
            "HyperLogLog, which needs no extension (druid). EXPLAIN shows the error.", ("NEVER", "SKETCHES", "DRUID")),
        Setting("hivedruid.tiered.read", "enum", "exact",
            "Which rows of tiered tables are read: all of them (exact), or only those of one part, which may be "
            "incomplete while an archive job runs (hot, cold).", ("EXACT", "HOT", "COLD")),
        Setting("hivedruid.tiered.write", "enum", "auto",
            "Where INSERT INTO a tiered table adds rows of archived times: to the cold part (auto), or to Druid, where "
            "the next ARCHIVE TABLE finds them (hot).", ("AUTO", "HOT")),
        Setting("hivedruid.druid.read", "enum", "auto",
            "How stored rows of a Druid cluster are read for Spark and for results: from segment files in deep storage "
            "(segments), by queries of the servers (query), or by whichever is faster (auto).",
            ("AUTO", "SEGMENTS", "QUERY")),
        Setting("hivedruid.join.max.rows", "int", "50000",
            "Maximum estimated rows of the smaller side of a join that is pushed down to Druid; 0: joins run on Spark. "
            "Druid rejects more than its maxSubqueryRows (100000)."),
        Setting("hivedruid.semijoin.max.keys", "int", "10000",
            "Maximum keys of the smaller side of a join that are turned into a filter on the other side; 0: none."),
        Setting("hivedruid.local.evaluation.max.rows", "int", "10000",
            "Maximum rows of each native query, and of each table of Parquet files that is joined with it, for which "
            "hivedruid computes the rest of a query itself instead of on Spark; 0: always on Spark."),
        Setting("hivedruid.write.local.rows", "int", "50000",
            "Maximum rows of an INSERT or CREATE TABLE AS into Druid or a managed table, and of each input, for "
            "which hivedruid computes and writes the rows itself instead of on Spark; 0: always on Spark."),
        Setting("hivedruid.kafka.bootstrap.servers", "text", "",
            "Kafka brokers of SHOW TOPICS as host:port, …; empty: those that tables name."),
        Setting("hivedruid.kafka.check", "enum", "warn",
            "What CREATE TABLE of a Kafka ingestion table does if its ingestion could not start, for tables without "
            "druid.kafka.ingestion.check; off: no check, and none of the topics of Kafka tables.",
            ("WARN", "REFUSE", "OFF")),
        Setting("hivedruid.clear.text.secrets", "bool", "false",
            "Whether secrets of Kafka consumers may be given in plain text; they are only kept in the session's memory "
            "and sent to Druid."),
        Setting("hivedruid.secrets.over.http", "bool", "false",
            "Whether passwords and tokens may be sent to another machine over plain http."),
        Setting("hivedruid.log.statements", "bool", "true",
            "Whether logs/queries.jsonl contains the texts of statements and messages."),
        Setting("hivedruid.staging.root", "text", "",
            "Staging folder or URI, which must be readable by Druid tasks; empty: `staging` in the home folder."),
        Setting("hivedruid.staging.shared", "bool", "false",
            "Whether every user of this machine may read the staging folders of jobs, for Druid tasks or Spark "
            "executors of another user."),
        Setting("hivedruid.staging.keep", "bool", "false",
            "Whether staged files are kept after the job has finished, for debugging."),
        Setting("hivedruid.druid.write", "enum", "auto",
            "What builds the segments of a write to a Druid cluster: Spark (segments), a Druid task (native), or the "
            "one that suits the table and the number of rows (auto).", ("AUTO", "SEGMENTS", "NATIVE")),
        Setting("hivedruid.druid.deep.storage", "text", "",
            "Folder or URI of Druid's deep storage, for segments built by Spark; empty: as Druid is configured."),
        Setting("hivedruid.s3.endpoint", "url", "",
            "URL of the S3 server with deep storage and staged files, if it is not AWS's."),
        Setting("hivedruid.s3.region", "text", "", "Region of the bucket; empty: AWS_REGION, or as AWS reports it."),
        Setting("hivedruid.s3.access.key", "reference", "",
            "Access key for S3: env:NAME or file:PATH; empty: the credentials that AWS's library finds."),
        Setting("hivedruid.s3.secret.key", "reference", "", "Secret key for S3: env:NAME or file:PATH."),
        Setting("hivedruid.s3.session.token", "reference", "",
            "Session token of temporary credentials for S3: env:NAME or file:PATH."),
        Setting("hivedruid.azure.account", "text", "",
            "Storage account of deep storage in Azure; its credentials are those that Azure's library finds."),
        Setting("hivedruid.overwrite.mode", "enum", "static",
            "What INSERT OVERWRITE of a Druid table replaces: all rows (static), or only the segment intervals of the "
            "new rows (dynamic).", ("STATIC", "DYNAMIC")),
        Setting("hivedruid.null.time", "enum", "fail",
            "How writes to Druid handle rows without a __time: fail, or skip them with a note.", ("FAIL", "SKIP")),
        Setting("hivedruid.task.subtasks", "int", "1",
            "Maximum number of concurrent subtasks of a Druid ingestion task (maxNumConcurrentSubTasks)."),
        Setting("hivedruid.task.slot.timeout", "period", "PT10M",
            "How long a submitted task may wait for a free task slot (ISO 8601 period)."),
        Setting("hivedruid.segment.load.timeout", "period", "PT5M",
            "How long to wait until new segments are loaded (ISO 8601 period)."),
        Setting("hivedruid.job.repeat.within", "period", "PT1H",
            "How long after its interruption a job is resumed by rerunning its statement; later, the statement starts a"
            " new job (ISO 8601 period)."),
        Setting("hivedruid.malformed.rows", "enum", "fail",
            "How malformed rows in files and records in topics are handled, for tables without this property.",
            ("FAIL", "NULL", "SKIP")),
    )
}  # fmt: skip
"""All supported keys. Other keys are stored and shown as in Hive, except those with `OWN_PREFIXES`, which must be
listed here."""

_METADATA = "Druid's metadata database is not accessed directly"
ELSEWHERE: dict[str, str] = {
    "hive.druid.storage.storageDirectory": "deep storage is configured in Druid",
    "hive.druid.working.directory": "use hivedruid.staging.root",
    "hive.druid.metadata.uri": _METADATA,
    "hive.druid.metadata.base": _METADATA,
    "hive.metastore.warehouse.dir": "managed tables are in the home folder (--home)",
    "javax.jdo.option.ConnectionURL": "the catalog is in the home folder (--home), or where hivedruid.catalog.url says",
    "hive.exec.max.dynamic.partitions.pernode": "use hive.exec.max.dynamic.partitions: Spark's tasks are not limited",
    "hive.exec.default.partition.name": "the partition of NULL is __HIVE_DEFAULT_PARTITION__, which Spark recognizes",
    "fs.defaultFS": "use a full URI as LOCATION",
    "fs.default.name": "use a full URI as LOCATION",
}
"""Hive settings that have no effect, and their replacement or the reason: SET of one prints a note."""

WITHOUT_EFFECT = "Accepted for compatibility; "
"""The start of the description of a setting or table property that has no effect."""

CATALOG_URL, CATALOG_PASSWORD = "hivedruid.catalog.url", "hivedruid.catalog.password"
AT_START = (CATALOG_URL, CATALOG_PASSWORD)
"""Settings that a session has from its start: SET cannot change them."""

ICEBERG_CATALOG = "hivedruid.iceberg.catalog."

FAMILIES: dict[str, Setting] = {
    ICEBERG_CATALOG: Setting(f"{ICEBERG_CATALOG}<property>", "property", "",
        "Any other property of the Iceberg catalog, by Iceberg's name; a secret (credential, token, jdbc.password …) as"
        " env:NAME or file:PATH."),
}  # fmt: skip
"""Groups of settings by their prefix; the rest of a key is any name. The key of the setting is the pattern to display.
"""

OWN_PREFIXES = ("druid.", "hivedruid.")


class Settings(Mapping[str, str]):
    """The settings of a session: every key of SETTINGS with its default, and what was SET.

    As a mapping, it contains the values in effect. Keys are case-sensitive, as in Hive.
    """

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values: dict[str, str] = {}
        for key, value in (values or {}).items():
            self.set(key, value)

    def set(self, key: str, value: str, span: Span | None = None) -> None:
        """Set a key. Raises SemanticError for an unknown key with one of OWN_PREFIXES, and for an invalid value."""
        self._values[key] = check(key, value, span)

    def reset(self, key: str | None = None) -> None:
        """Reset one key, or all keys, to the defaults."""
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
        """The settings that were SET, by key."""
        return dict(sorted(self._values.items()))

    def copy(self) -> Settings:
        """An independent copy."""
        twin = Settings()
        twin._values = dict(self._values)
        return twin

    @property
    def time_zone(self) -> str:
        """The IANA name of the session's zone, LOCAL resolved."""
        return resolve_zone(self["hive.local.time.zone"])


def check(key: str, value: str, span: Span | None = None) -> str:
    """The value to store. Raises SemanticError like `Settings.set`."""
    setting = find(key)
    if setting is None:
        if key.startswith(OWN_PREFIXES):
            hint = did_you_mean(key, SETTINGS) or "run SET -v to list all settings"
            raise SemanticError(f"unknown setting '{key}'", span=span, hint=hint)
        return value
    try:
        return CHECKS[setting.type](setting, value.strip())
    except HiveDruidError as error:
        raise error.at(span) from None


def find(key: str) -> Setting | None:
    """The setting of a key, also of one of FAMILIES; None if there is none."""
    return SETTINGS.get(key) or _of_family(key)


def _of_family(key: str) -> Setting | None:
    """The setting of FAMILIES for a key that starts with one of the prefixes, under that key."""
    prefix = next((prefix for prefix in FAMILIES if key.startswith(prefix)), None)
    if prefix is None or not re.fullmatch(r"[A-Za-z0-9_.-]+", key.removeprefix(prefix)):
        return None
    return replace(FAMILIES[prefix], key=key)


def listing(settings: Mapping[str, str], *, verbose: bool = False) -> list[tuple[str, str]]:
    """`SET` (what differs from the defaults) or `SET -v` (everything), sorted by key, secrets masked.

    `SET -v` also contains the pattern of each of FAMILIES, without a value.
    """
    values = [
        (key, shown(key, value))
        for key, value in settings.items()
        if verbose or key not in SETTINGS or value != SETTINGS[key].default
    ]
    patterns = [(family.key, "") for family in FAMILIES.values()] if verbose else []
    return sorted(values + patterns)


def shown(key: str, value: str) -> str:
    """The displayable value of a setting: true and false are never secrets."""
    setting = SETTINGS.get(key)
    return value if setting is not None and setting.type == "bool" else masked(key, value)
