"""Rules for tables on the Hive side: managed tables (Iceberg, ORC), external tables of files, Kafka topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.catalog.kinds import KAFKA_STORAGE_HANDLER, OPEN_CSV, TableKind
from hivedruid.catalog.properties import PROPERTIES
from hivedruid.catalog.table import Column
from hivedruid.catalog.types import BIGINT, BINARY, INT, STRING, HiveType
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.secret_text import redact

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table
    from hivedruid.parser.statements.ddl import CreateTable

_PACKAGE = "org.apache.hadoop.hive."
OPEN_X = "org.openx.data.jsonserde.JsonSerDe"
_OPEN_X_REFUSED = {"dots.in.keys": "true", "case.insensitive": "false"}
SERDE_FORMATS: dict[str, str] = {
    "org.apache.hive.hcatalog.data.JsonSerDe": "jsonfile",
    _PACKAGE + "serde2.JsonSerDe": "jsonfile",
    OPEN_X: "jsonfile",
    OPEN_CSV: "textfile",
    _PACKAGE + "serde2.RegexSerDe": "textfile",
    _PACKAGE + "contrib.serde2.RegexSerDe": "textfile",
    _PACKAGE + "serde2.MultiDelimitSerDe": "textfile",
    _PACKAGE + "contrib.serde2.MultiDelimitSerDe": "textfile",
    _PACKAGE + "serde2.lazy.LazySimpleSerDe": "textfile",
    _PACKAGE + "ql.io.orc.OrcSerde": "orc",
    _PACKAGE + "ql.io.parquet.serde.ParquetHiveSerDe": "parquet",
    _PACKAGE + "serde2.avro.AvroSerDe": "avro",
}
"""The supported SerDes and their file formats."""

OTHER_SERDES = frozenset(
    f"{_PACKAGE}serde2.{name}"
    for name in (
        "avro.AvroSerDe",
        "columnar.ColumnarSerDe",
        "columnar.LazyBinaryColumnarSerDe",
        "lazybinary.LazyBinarySerDe",
    )
)
"""SerDes of formats that managed tables may declare without effect; only files of Avro can be read."""

FORMAT_SERDES: dict[str, str] = {
    "textfile": _PACKAGE + "serde2.lazy.LazySimpleSerDe",
    "jsonfile": _PACKAGE + "serde2.JsonSerDe",
    "orc": _PACKAGE + "ql.io.orc.OrcSerde",
    "parquet": _PACKAGE + "ql.io.parquet.serde.ParquetHiveSerDe",
    "avro": _PACKAGE + "serde2.avro.AvroSerDe",
    "sequencefile": _PACKAGE + "serde2.lazy.LazySimpleSerDe",
}
"""The SerDe that STORED AS means."""
TEXTS = frozenset({"textfile", "sequencefile"})
"""The formats of files with a text for each row."""


KAFKA_COLUMNS = (
    Column("__key", BINARY),
    Column("__partition", INT),
    Column("__offset", BIGINT),
    Column("__timestamp", BIGINT),
)
"""The columns that Hive's Kafka handler adds after the declared ones (MetadataColumn); times are in milliseconds."""


def check_layout(statement: CreateTable) -> None:
    """Reject the clauses on the layout of files that only managed tables have."""
    has_folders = statement.external or statement.temporary
    if has_folders and statement.partitioned_by and not statement.partitioned_by.at_end:
        raise UnsupportedError(
            "PARTITIONED BY SPEC is not supported for file tables: their partitions are folders",
            span=statement.partitioned_by.span,
            hint="use PARTITIONED BY (column type, …), or remove"
            f" {'EXTERNAL' if statement.external else 'TEMPORARY'} to create a managed table",
        )
    if statement.ordered_by and (statement.external or statement.temporary):
        raise UnsupportedError(
            "WRITE LOCALLY ORDERED BY is not supported for file tables", span=statement.ordered_by.span,
            hint=f"remove {'EXTERNAL' if statement.external else 'TEMPORARY'} to create a managed table",
        )  # fmt: skip
    if statement.iceberg_span is not None and (statement.external or statement.temporary):
        raise UnsupportedError(
            "STORED BY ICEBERG is only supported for managed tables", span=statement.iceberg_span,
            hint=f"remove {'EXTERNAL' if statement.external else 'TEMPORARY'}",
        )  # fmt: skip


def without_effect(statement: CreateTable, kind: TableKind) -> Iterator[tuple[str, Span | None]]:
    """Notes on clauses of a table with files that are accepted, and have no effect or another one than in Hive."""
    if kind in ("druid", "kafka"):
        return
    clauses = [clause for clause in (statement.clustered_by, statement.skewed_by) if clause is not None]
    if clauses:
        names = " and ".join(clause.text for clause in clauses)
        verb = "have" if len(clauses) > 1 else "has"
        yield f"{names} {verb} no effect: rows are not divided into files by values", clauses[0].span
    if (other := statement.other_format) is not None:
        yield f"{other.text} has no effect: hivedruid stores the rows in ORC files", other.span
    if kind != "iceberg":
        return
    serde = {item.key: item.value for item in statement.serde}
    if (format_ := file_format(statement, serde)) != "orc":
        span = statement.serde[0].key_span if statement.serde else statement.name.span
        read = f"{format_.upper()} is the format of files that LOAD DATA reads"
        yield f"the rows are stored in ORC files of Iceberg; {read}", span


def declared_serde(format_: str, serde: Mapping[str, str]) -> dict[str, str]:
    """The SerDe of a managed table, which is that of files that are loaded; empty for ORC, that of its own files."""
    return {} if format_ == "orc" else {"serialization.lib": FORMAT_SERDES[format_], **serde}


def declared_format(table: Table) -> str | None:
    """The format of STORED AS: that of the files, or of files that are loaded into a managed table."""
    if not table.serde or table.format == "sequencefile":
        return table.format
    return SERDE_FORMATS.get(table.serde.get("serialization.lib", ""))


def own_format(format_: str | None) -> str:
    """The format of a table of hivedruid's own files that is made like one of `format_`: only external tables have
    SequenceFiles."""
    return "orc" if format_ in (None, "sequencefile") else format_


def read_serde(statement: CreateTable, serde: dict[str, str]) -> dict[str, str]:
    """The SerDe without one that only a table with files of hivedruid's own may declare."""
    return {} if serde.get("serialization.lib") in OTHER_SERDES and not statement.external else serde


def file_format(statement: CreateTable, serde: Mapping[str, str]) -> str:
    """textfile, sequencefile, jsonfile, avro, orc or parquet: determined by STORED AS and ROW FORMAT SERDE."""
    library = serde.get("serialization.lib")
    if statement.other_format is not None or (library in OTHER_SERDES and not statement.external):
        return "orc"
    if library is None:
        return statement.stored_as or ("orc" if not statement.external and not serde else "textfile")
    span = next((item.value_span for item in statement.serde if item.key == "serialization.lib"), None)
    format_ = SERDE_FORMATS.get(library)
    if format_ is None:
        raise UnsupportedError(
            f"SerDe '{library}' is not supported",
            span=span,
            hint=_full_name(library)
            or did_you_mean(library, SERDE_FORMATS)
            or f"supported: {', '.join(SERDE_FORMATS)}",
        )
    stored_as = statement.stored_as or format_
    if format_ in TEXTS and stored_as in TEXTS:
        return stored_as
    if stored_as == "sequencefile":
        raise UnsupportedError(
            f"SerDe '{library}' is not supported for SequenceFiles", span=span,
            hint="copy the rows in Hive into a table STORED AS TEXTFILE with that SerDe",
        )  # fmt: skip
    if stored_as not in (format_, "textfile" if format_ == "jsonfile" else format_):
        raise SemanticError(
            f"ROW FORMAT SERDE '{library}' and STORED AS {stored_as.upper()} contradict each other",
            span=span,
            hint=f"use STORED AS {format_.upper()}, or remove one of them",
        )
    return format_


def _full_name(library: str) -> str | None:
    """A hint with the class of this name, without its package or in another case."""
    name = library.rpartition(".")[2].lower()
    known = next((each for each in SERDE_FORMATS if each.rpartition(".")[2].lower() == name), None)
    return f"use ROW FORMAT SERDE '{known}'" if known else None


def check_managed(statement: CreateTable) -> None:
    """Managed tables are Iceberg tables with ORC files in the home folder."""
    if statement.location is not None:
        raise UnsupportedError(
            "LOCATION is only supported for external tables: managed tables are stored in the home folder",
            span=statement.location_span,
            hint="use CREATE EXTERNAL TABLE, or remove LOCATION",
        )


def check_temporary(statement: CreateTable) -> None:
    """The rows of a temporary table are files in the home folder, which are deleted with the session."""
    if statement.location is not None:
        raise UnsupportedError(
            "LOCATION is not supported for temporary tables: their files are deleted when the session ends",
            span=statement.location_span, hint="remove it, or use CREATE EXTERNAL TABLE",
        )  # fmt: skip


def check_external(statement: CreateTable, columns: tuple[Column, ...] | None) -> str:
    """The normalized location of an external table."""
    if statement.location is None:
        raise SemanticError(
            "an external file table requires a LOCATION",
            span=statement.name.span,
            hint="add LOCATION '…', or remove EXTERNAL to create a managed table",
        )
    if not columns:
        raise SemanticError(
            "Either list of columns or a query should be specified",
            span=statement.name.span,
            hint="specify the columns",
        )
    return checked_location(statement.location, statement.location_span)


def checked_location(given: str, span: Span | None) -> str:
    """The normalized form of a LOCATION. Raises SemanticError if it is empty or contains a password."""
    location = normalized_location(given)
    if not location:
        raise SemanticError("the LOCATION is empty", span=span, hint="specify a folder or a file")
    if redact(location) != location:
        raise SemanticError(
            "the LOCATION contains a password, which would be stored in plain text in the catalog",
            span=span,
            hint="remove it and configure Spark's credentials in its environment or configuration files",
        )
    return location


def normalized_location(location: str) -> str:
    """A path without `file:`; other URIs and relative paths stay as they are."""
    if not location.lower().startswith("file:"):
        return location.strip()
    from urllib.parse import unquote

    rest = location.strip()[len("file:") :]
    if rest.startswith("//"):
        rest = "/" + rest[2:].partition("/")[2]
    return unquote(rest)


def as_serde_reads(columns: tuple[Column, ...], serde: Mapping[str, str]) -> tuple[Column, ...]:
    """OpenCSVSerde returns every column as a string, regardless of the declared type; Avro has no short integers."""
    if serde.get("serialization.lib") == FORMAT_SERDES["avro"]:
        return tuple(replace(column, type=_of_avro(column.type)) for column in columns)
    if serde.get("serialization.lib") != OPEN_CSV:
        return columns
    return tuple(replace(column, type=STRING) for column in columns)


def _of_avro(type_: HiveType) -> HiveType:
    children = tuple(_of_avro(child) for child in type_.children)
    return INT if type_.name in ("tinyint", "smallint") else replace(type_, children=children)


def is_regex(serde: Mapping[str, str]) -> bool:
    """Whether rows are the groups of a regular expression."""
    return serde.get("serialization.lib", "").endswith(".RegexSerDe")


def check_serde(columns: tuple[Column, ...], serde: Mapping[str, str], span: Span | None) -> None:
    """The rules of RegexSerDe: it requires an expression, and has no nested types. Keys that OpenX's JsonSerDe would
    rename, or distinguish by case, are refused."""
    if serde.get("serialization.lib") == OPEN_X:
        for key, value in _OPEN_X_REFUSED.items():
            if serde.get(key, "").lower() == value:
                raise UnsupportedError(
                    f"SerDe property {key}={value} is not supported: fields match columns regardless of case, and by "
                    "their whole names",
                    span=span,
                    hint="name the field of a column with WITH SERDEPROPERTIES ('mapping.COLUMN' = 'field')",
                )
    if not is_regex(serde):
        return
    if not serde.get("input.regex"):
        raise SemanticError(
            'This table does not have serde property "input.regex"!',
            span=span,
            hint="add WITH SERDEPROPERTIES ('input.regex' = '…') with a group for each column",
        )
    for column in columns:
        if column.type.children:
            raise SemanticError(
                f"RegexSerDe does not support the type {column.type} of column {column.name}",
                span=span,
                hint="declare it as STRING",
            )


def check_written(name: str, serde: Mapping[str, str], span: Span | None) -> None:
    """Raises UnsupportedError for files that are only read."""
    encoding = serde.get("serialization.encoding", "UTF-8")
    if is_regex(serde):
        raise UnsupportedError(
            f"{name} cannot be written: RegexSerDe only reads files",
            span=span,
            hint="INSERT INTO a table with another SerDe",
        )
    if encoding.upper().replace("-", "") != "UTF8":
        raise UnsupportedError(
            f"{name} cannot be written: files are written in UTF-8, and its serialization.encoding is {encoding}",
            span=span,
            hint="INSERT INTO a table without serialization.encoding",
        )


def check_kafka_clauses(statement: CreateTable) -> None:
    """Reject clauses that do not apply to a Kafka topic."""
    for clause in (statement.partitioned_by, statement.clustered_by, statement.skewed_by, statement.ordered_by):
        if clause:
            raise SemanticError(f"{clause.text} may not be specified for Kafka", span=clause.span, hint="remove it")
    if statement.location is not None:
        raise SemanticError("LOCATION may not be specified for Kafka", span=statement.location_span, hint="remove it")
    if statement.stored_as is not None:
        span = statement.storage_handler_span
        raise SemanticError(
            "STORED AS may not be specified for Kafka", span=span, hint="use kafka.serde.class to set the format"
        )


def kafka_properties(statement: CreateTable, properties: Mapping[str, str]) -> dict[str, str]:
    """The properties, with the defaults that the handler stores (KafkaStorageHandler.preCreateTable)."""
    if not statement.external:
        raise SemanticError(
            f"{KAFKA_STORAGE_HANDLER} supports only EXTERNAL_TABLE",
            span=statement.name.span,
            hint="use CREATE EXTERNAL TABLE",
        )
    for key in ("kafka.topic", "kafka.bootstrap.servers"):
        if not properties.get(key):
            raise SemanticError(
                f"Set Table property {key}", span=statement.name.span, hint=f"add it: TBLPROPERTIES('{key}' = '…')"
            )
    stored = ("kafka.serde.class", "kafka.write.semantic", "hive.kafka.poll.timeout.ms", "hive.kafka.max.retries",
              "hive.kafka.metadata.poll.timeout.ms", "hive.kafka.optimistic.commit")  # fmt: skip
    defaults = {key: PROPERTIES[key].default or "" for key in stored}
    return {**properties, **{key: value for key, value in defaults.items() if key not in properties}}


def kafka_columns(columns: tuple[Column, ...], spans: Mapping[str, Span]) -> tuple[Column, ...]:
    names = {column.name for column in KAFKA_COLUMNS}
    for column in columns:
        if column.name in names:
            raise SemanticError(
                f"column '{column.name}' is reserved: every Kafka table has it",
                span=spans.get(column.name),
                hint="remove it: it is added automatically",
            )
    return columns + KAFKA_COLUMNS
