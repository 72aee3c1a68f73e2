"""The kinds of tables: where the rows of each are stored, and which statements refuse it. A new kind is a row.

The rows of a table are in a Druid data source, a Kafka topic, files at a LOCATION, an Iceberg table of ORC files (every
managed Hive-side table), files that are deleted with the session (temporary tables), or computed by a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from hivedruid.errors import SemanticError, UnsupportedError

TableKind = Literal["druid", "kafka", "files", "iceberg", "temporary", "view"]
Store = Literal["data source", "topic", "folder", "snapshots"]
"""Where rows are stored: a `folder` of files; `snapshots` if Iceberg commits them."""
Use = Literal[
    "alter",
    "analyze",
    "change rows",
    "compact",
    "drop",
    "execute",
    "insert",
    "list offsets",
    "list segments",
    "list tasks",
    "load",
    "materialize",
    "overwrite",
    "time travel",
    "truncate",
]
"""How a statement uses a table; `drop` and `alter` are DROP TABLE and ALTER TABLE, `change rows` are UPDATE, DELETE and
MERGE, `materialize` is the query of a materialized view."""


class Refusal(NamedTuple):
    """Why a statement cannot use a kind of table; `{table}` is its full name, `{noun}` that of its kind."""

    error: type[SemanticError | UnsupportedError]
    message: str
    hint: str = ""


class Kind(NamedTuple):
    """`noun` is the kind in messages, `handler` is Hive's storage handler class (STORED BY accepts it and the kind's
    name); uses that are not in `refused` are supported. Only views have no `stores`.
    """

    noun: str
    stores: frozenset[Store]
    refused: Mapping[Use, Refusal]
    handler: str | None = None


DRUID_STORAGE_HANDLER = "org.apache.hadoop.hive.druid.DruidStorageHandler"
OPEN_CSV = "org.apache.hadoop.hive.serde2.OpenCSVSerde"
KAFKA_STORAGE_HANDLER = "org.apache.hadoop.hive.kafka.KafkaStorageHandler"
_NO_TASKS = Refusal(SemanticError, "{table} is not a Druid table: it has no tasks")
_NO_OFFSETS = Refusal(
    SemanticError, "{table} is {noun}: it has no offsets", "SHOW INGESTIONS shows how far the tables that ingest are"
)
_NO_LOAD = Refusal(
    SemanticError,
    "A non-native table cannot be used as target for LOAD: {table} is {noun}",
    "use CREATE EXTERNAL TABLE with the LOCATION of the files, and INSERT INTO {table} SELECT",
)
_NO_SNAPSHOTS = Refusal(
    UnsupportedError, "{table} is {noun}: it has no snapshots", "ALTER TABLE … EXECUTE is for managed tables"
)
_NO_TIME_TRAVEL = Refusal(
    UnsupportedError,
    "Time travel is not allowed for {table}: {noun} has no snapshots",
    "remove FOR SYSTEM_TIME or FOR SYSTEM_VERSION, which are for managed tables",
)
_RETAINED = "Kafka retains records according to the configuration of the topic"
_EXTERNAL = "hivedruid does not rewrite the files of an external table"
_BRIEF = "its files are deleted when the session ends"
_UNDERLYING = "name the underlying table"
_OVERWRITE = "use INSERT OVERWRITE TABLE … SELECT to replace its rows"


def _no_changes(hint: str) -> Refusal:
    return Refusal(UnsupportedError, "{table} is {noun}: UPDATE, DELETE and MERGE are for managed tables", hint)


def _no_segments(hint: str) -> Refusal:
    return Refusal(UnsupportedError, "{table} is {noun}: it has no segments", hint)


KINDS: Mapping[TableKind, Kind] = {
    "druid": Kind(
        "a Druid table",
        frozenset({"data source"}),
        {
            "change rows": _no_changes(_OVERWRITE),
            "execute": _NO_SNAPSHOTS,
            "list offsets": _NO_OFFSETS,
            "load": _NO_LOAD,
            "time travel": _NO_TIME_TRAVEL,
        },
        DRUID_STORAGE_HANDLER,
    ),
    "kafka": Kind(
        "a Kafka table",
        frozenset({"topic"}),
        {
            "analyze": Refusal(
                UnsupportedError,
                "{table} is a Kafka topic: it has no fixed set of rows",
                "ANALYZE the table that ingests it",
            ),
            "change rows": _no_changes("INSERT INTO a managed table, and change the rows there"),
            "compact": _no_segments(_RETAINED),
            "execute": _NO_SNAPSHOTS,
            "list segments": _no_segments(_RETAINED),
            "list tasks": _NO_TASKS,
            "load": _NO_LOAD,
            "materialize": Refusal(
                UnsupportedError,
                "a materialized view cannot read a Kafka table, {table}: whether its rows have changed is not tracked",
                "ingest the topic into a Druid table and create the view over that table",
            ),
            "overwrite": Refusal(
                UnsupportedError, "INSERT OVERWRITE of a Kafka table is not supported: {table}", "use INSERT INTO"
            ),
            "time travel": _NO_TIME_TRAVEL,
            "truncate": Refusal(UnsupportedError, "Cannot truncate the topic behind {table}", "use Kafka's tools"),
        },
        KAFKA_STORAGE_HANDLER,
    ),
    "files": Kind(
        "an external table of files",
        frozenset({"folder"}),
        {
            "change rows": _no_changes(_OVERWRITE),
            "compact": _no_segments(_EXTERNAL),
            "execute": _NO_SNAPSHOTS,
            "list offsets": _NO_OFFSETS,
            "list segments": _no_segments(_EXTERNAL),
            "list tasks": _NO_TASKS,
            "time travel": _NO_TIME_TRAVEL,
        },
    ),
    "iceberg": Kind(
        "a managed table",
        frozenset({"folder", "snapshots"}),
        {
            "list offsets": _NO_OFFSETS,
            "list segments": _no_segments("EXPLAIN ALTER TABLE {table} COMPACT 'minor' shows its files"),
            "list tasks": _NO_TASKS,
        },
    ),
    "temporary": Kind(
        "a temporary table",
        frozenset({"folder"}),
        {
            "change rows": _no_changes(_OVERWRITE),
            "compact": _no_segments(_BRIEF),
            "execute": _NO_SNAPSHOTS,
            "list offsets": _NO_OFFSETS,
            "list segments": _no_segments(_BRIEF),
            "list tasks": _NO_TASKS,
            "materialize": Refusal(
                SemanticError,
                "View definition references temporary table {table}",
                "create the table without TEMPORARY",
            ),
            "time travel": _NO_TIME_TRAVEL,
        },
    ),
    "view": Kind(
        "a view",
        frozenset(),
        {
            "alter": Refusal(SemanticError, "Cannot alter a view with ALTER TABLE", "use ALTER VIEW"),
            "analyze": Refusal(
                SemanticError, "{table} is a view and has no rows of its own", "ANALYZE the tables that it reads"
            ),
            "change rows": _no_changes(_UNDERLYING),
            "compact": _no_segments(_UNDERLYING),
            "drop": Refusal(SemanticError, "Cannot drop a view with DROP TABLE", "use DROP VIEW"),
            "execute": _NO_SNAPSHOTS,
            "insert": Refusal(
                UnsupportedError, "cannot insert into {noun}, {table}", "insert into the underlying table"
            ),
            "list offsets": _NO_OFFSETS,
            "list segments": _no_segments(_UNDERLYING),
            "list tasks": _NO_TASKS,
            "load": Refusal(
                SemanticError,
                "A view cannot be used as target table for LOAD or INSERT",
                "load into the underlying table",
            ),
            "time travel": _NO_TIME_TRAVEL,
            "truncate": Refusal(SemanticError, "Cannot truncate a view {table}", "truncate the underlying table"),
        },
    ),
}
HANDLERS: Mapping[TableKind, str] = {name: kind.handler for name, kind in KINDS.items() if kind.handler is not None}
