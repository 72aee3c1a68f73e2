"""Tables of a Hive metastore as tables of hivedruid. Pure.

A table whose rows hivedruid cannot read is a table, too: DESCRIBE shows it, and a query says why it cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hivedruid.catalog.kinds import DRUID_STORAGE_HANDLER, HANDLERS, KAFKA_STORAGE_HANDLER, TableKind
from hivedruid.catalog.layout import PartitionField
from hivedruid.catalog.metastore import Storage, StoredPartition, StoredTable, table_id
from hivedruid.catalog.partitions import Files, Partition
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import UNKNOWN, VOID, HiveType
from hivedruid.errors import HiveDruidError
from hivedruid.filesystems import local_path
from hivedruid.tables.hive_tables import (
    FORMAT_SERDES,
    KAFKA_COLUMNS,
    SERDE_FORMATS,
    TEXTS,
    as_serde_reads,
)

ICEBERG = "iceberg"
"""The format of the files of an Iceberg table that the metastore has."""
METADATA_LOCATION = "metadata_location"
INPUT_FORMATS = {
    "textfile": "org.apache.hadoop.mapred.TextInputFormat",
    "jsonfile": "org.apache.hadoop.mapred.TextInputFormat",
    "orc": "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    "parquet": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "avro": "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
    "sequencefile": "org.apache.hadoop.mapred.SequenceFileInputFormat",
}
OUTPUT_FORMATS = {
    "textfile": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
    "jsonfile": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
    "orc": "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
    "parquet": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
    "avro": "org.apache.hadoop.hive.ql.io.avro.AvroContainerOutputFormat",
    "sequencefile": "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat",
}
_OF_HIVE = frozenset(
    """
    COLUMN_STATS_ACCURATE EXTERNAL STATS_GENERATED_VIA_STATS_TASK bucketing_version comment last_modified_by
    last_modified_time numFiles numFilesErasureCoded numPartitions numRows rawDataSize storage_handler totalSize
    transient_lastDdlTime
    """.split()  # noqa: SIM905
)
"""Properties that Hive maintains itself: statistics, and what hivedruid derives from the table."""
_COPY = "copy its rows in Hive into an external table, which both can read"
Unreadable = tuple[str, str] | None
"""Why the rows of a table cannot be read, and what to do."""


def table_of(stored: StoredTable, uris: str) -> Table:
    """The table, with the metastore as its place."""
    handler = stored.properties.get("storage_handler", "")
    if stored.type == "VIRTUAL_VIEW":
        return _view(stored, uris)
    kind: TableKind = next((kind for kind, name in HANDLERS.items() if name == handler), "files")
    columns, unknown = _columns(stored.storage.columns)
    folders, unknown_folders = _columns(stored.partition_columns)
    properties = {key: value for key, value in stored.properties.items() if key not in _OF_HIVE}
    made = Table(
        stored.database, stored.name, kind, columns, stored.type == "EXTERNAL_TABLE",
        stored.properties.get("comment", ""), properties, table_id=table_id(stored), metastore=uris,
        unreadable=unknown or unknown_folders,
    )  # fmt: skip
    if handler == DRUID_STORAGE_HANDLER:
        use = f"create one in the home with TBLPROPERTIES ('druid.datasource' = '{made.data_source}')"
        return replace(made, unwritable=("it is a Druid table", use))
    if handler == KAFKA_STORAGE_HANDLER:
        names = {column.name for column in columns}
        columns += tuple(column for column in KAFKA_COLUMNS if column.name not in names)
        use = f"create one in the home: CREATE EXTERNAL TABLE … LIKE {made.full_name}"
        return replace(made, columns=columns, unwritable=("it is a Kafka table", use))
    made = replace(made, location=_place(stored.storage.location))
    if properties.get("table_type", "").upper() == "ICEBERG":
        return _iceberg(made)
    if handler:
        return replace(made, unreadable=(f"its storage handler {handler} is not supported", _COPY))
    return _with_files(made, stored, folders)


def _view(stored: StoredTable, uris: str) -> Table:
    columns, unknown = _columns(stored.storage.columns)
    properties = {key: value for key, value in stored.properties.items() if key not in _OF_HIVE}
    if "presto_view" in properties or stored.view_text.lstrip().startswith("/* Presto View"):
        unknown = "it is a view of Presto or Trino, whose text is not that of Hive", "create the view in Hive"
    return Table(
        stored.database, stored.name, "view", columns, comment=stored.properties.get("comment", ""),
        properties=properties, view_text=stored.view_text, table_id=table_id(stored), metastore=uris,
        unreadable=unknown,
    )  # fmt: skip


def is_iceberg_of_metastore(table: Table) -> bool:
    return bool(table.metastore) and table.format == ICEBERG


def _iceberg(table: Table) -> Table:
    if METADATA_LOCATION not in table.properties:
        return replace(table, unreadable=(f"it is an Iceberg table without the property {METADATA_LOCATION}", _COPY))
    return replace(table, format=ICEBERG)


def _with_files(table: Table, stored: StoredTable, folders: tuple[Column, ...]) -> Table:
    """A table of files, which are in folders of partitions if it is partitioned."""
    storage = stored.storage
    format_, problem = _format_of(storage)
    serde = _serde(storage, format_)
    spec = tuple(PartitionField(column.name) for column in folders)
    columns = as_serde_reads(table.columns, serde) + folders
    unreadable = _special(stored) or ((problem, _COPY) if problem else table.unreadable)
    return replace(
        table, columns=columns, format=format_, serde=serde, partition_spec=spec, unreadable=unreadable,
        unwritable=unreadable or _unwritable(stored),
    )  # fmt: skip


def _unwritable(stored: StoredTable) -> Unreadable:
    if stored.storage.buckets > 0 or stored.storage.skewed:
        return "its rows are divided into buckets or skewed values, which Hive relies on", "write to it in Hive"
    return None


def _special(stored: StoredTable) -> Unreadable:
    """Why tables whose folders do not simply contain their rows cannot be read."""
    properties = stored.properties
    if properties.get("transactional", "false").lower() == "true" and stored.type != "EXTERNAL_TABLE":
        return "it is an ACID table, whose folders contain the delta files of Hive's transactions", _COPY
    provider = properties.get("spark.sql.sources.provider", "").lower()
    if provider not in ("", "hive", "orc", "parquet"):
        return f"it is a Spark table of {provider} files, which are not those of a Hive table", _COPY
    return None


def _serde(storage: Storage, format_: str | None) -> dict[str, str]:
    """ROW FORMAT and SERDEPROPERTIES; empty for those that STORED AS means. `serialization.format` is 1 unless a
    delimiter is given, and then the same."""
    properties = {k: v for k, v in storage.serde_properties.items() if (k, v) != ("serialization.format", "1")}
    if properties.get("serialization.format") == properties.get("field.delim"):
        properties.pop("serialization.format", None)
    if not properties and format_ is not None and storage.serde == FORMAT_SERDES[format_]:
        return {}
    return {"serialization.lib": storage.serde, **properties}


def _place(location: str) -> str | None:
    """A path of this machine or a URI. Hadoop's paths are not encoded: `%2F` in the name of a folder is these three
    characters."""
    path = local_path(location) if location else None
    return str(path) if path is not None else location or None


def _columns(given: Sequence[Sequence[str]]) -> tuple[tuple[Column, ...], Unreadable]:
    columns: list[Column] = []
    problem: Unreadable = None
    for name, type_, comment in given:
        hive = parsed_type(type_)
        if hive is None:
            problem = problem or (f"column '{name}' has the type {type_}, which is not supported", _COPY)
        columns.append(Column(name.lower(), hive or replace(UNKNOWN, name=type_), comment or ""))
    return tuple(columns), problem


def parsed_type(text: str) -> HiveType | None:
    """The type that the metastore stores as this text; None if it is not supported."""
    from hivedruid.parser.tokens import Cursor, tokenize
    from hivedruid.parser.types import parse_type
    from hivedruid.script import SourceStatement

    if text == "void":
        return VOID
    source = SourceStatement(text)
    try:
        cursor = Cursor(source, tokenize(source))
        found = parse_type(cursor)
    except HiveDruidError:
        return None
    return found if cursor.at_end else None


def partition_of(stored: StoredPartition, table: Table) -> Partition:
    """A partition, whose files may have another format than those of the table."""
    storage = stored.storage
    made = Partition(tuple(stored.values), _place(storage.location))
    if made.folder(table) == replace(made, location=None).folder(table):
        made = replace(made, location=None)
    format_, problem = _format_of(storage)
    if format_ is None:
        return replace(made, unreadable=problem)
    serde = _serde(storage, format_)
    if (format_, serde) == (table.format, table.serde):
        return made
    return replace(made, files=Files(format_, tuple(sorted(serde.items()))))


def _format_of(storage: Storage) -> tuple[str | None, str]:
    """The format of files, or why they cannot be read."""
    format_ = SERDE_FORMATS.get(storage.serde)
    if format_ is None:
        return None, f"its SerDe {storage.serde or '(none)'} is not supported"
    if format_ in TEXTS and storage.input_format == INPUT_FORMATS["sequencefile"]:
        return "sequencefile", ""
    if storage.input_format != INPUT_FORMATS[format_]:
        return None, f"its input format {storage.input_format} is not supported"
    return format_, ""


def stored_of(table: Table) -> StoredTable:
    """What the metastore stores of a new table: the inverse of `table_of`."""
    own = {"EXTERNAL": "TRUE"} if table.external else {}
    own |= {"comment": table.comment} if table.comment else {}
    own |= {"storage_handler": HANDLERS[table.kind]} if table.kind in HANDLERS else {}
    columns = table.stored_columns[: -len(KAFKA_COLUMNS)] if table.has_topic else table.stored_columns
    serde = dict(table.serde)
    library = serde.pop("serialization.lib", "") or FORMAT_SERDES.get(table.format or "", "")
    storage = Storage(
        _fields(columns), table.location or "", INPUT_FORMATS.get(table.format or "", ""), library,
        {"serialization.format": serde.get("field.delim", "1"), **serde} if table.format else {},
        output_format=OUTPUT_FORMATS.get(table.format or "", ""),
    )  # fmt: skip
    return StoredTable(
        0, table.database, table.name, "VIRTUAL_VIEW" if table.is_view else "EXTERNAL_TABLE", storage,
        _fields(table.folder_columns), {**own, **table.properties}, table.view_text or "",
    )  # fmt: skip


def _fields(columns: Sequence[Column]) -> tuple[tuple[str, str, str], ...]:
    return tuple((column.name, str(column.type), column.comment) for column in columns)


def at_home(table: Table) -> Table:
    """The same table without what only a metastore has, for CREATE TABLE … LIKE."""
    if table.format != ICEBERG:
        return replace(table, metastore="", unreadable=None)
    own = {k: v for k, v in table.properties.items() if k not in (METADATA_LOCATION, "table_type", "uuid")}
    kept = {k: v for k, v in own.items() if not k.startswith(("current-", "previous_", "snapshot-", "default-"))}
    return replace(table, metastore="", unreadable=None, format="orc", properties=kept)
