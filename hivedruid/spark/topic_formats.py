"""The values of Kafka records as columns and back, by the format of a table (kafka.serde.class)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from hivedruid.catalog.avro import LITERAL, URL, AvroSchema, parse_schema, schema_property
from hivedruid.catalog.properties import REGISTRY
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import spark_type
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.spark.avro import avro_rows, avro_value
from hivedruid.spark.cells import CellFormat, identifier
from hivedruid.spark.inputs import NOTHING_PLAIN, cell_format, delimited_rows, json_rows
from hivedruid.spark.plain_columns import PlainColumns, decode_plain, have_plain_values
from hivedruid.spark.row_text import line
from hivedruid.spark.serde import is_json
from hivedruid.tables.hive_tables import KAFKA_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame

_KEPT = tuple(column.name for column in KAFKA_COLUMNS)
RAW_VALUE = "_raw"
"""The bytes of a record beside the columns of its value, if they are kept."""
_ALWAYS_KEPT = ("__partition", "__offset")
"""The place of a record, for messages."""
_KEPT_TYPES = {RAW_VALUE: "BINARY", **{column.name: spark_type(column.type) for column in KAFKA_COLUMNS}}
_WITHOUT_MARK = "IF(startswith(value, '\ufeff'), substr(value, 2), value)"
"""JSON without a byte order mark."""
_WHOLE = {"binary": "binary", "text": "string"}
"""The formats whose value is a single column, and its type."""
_CONFLUENT = 5
"""Bytes before a record in Confluent's wire format: 0, and the id of the schema in 4 bytes."""


class Schemas(Protocol):
    """Reads the schemas outside of a table's definition: see `clients.avro_schemas`."""

    def of_ids(self, table: Table, ids: Sequence[int]) -> Mapping[int, str]: ...

    def of_url(self, table: Table) -> str: ...


def of_value(table: Table) -> Table:
    """The table of the records' values, as a table of files has them."""
    library = table.properties["kafka.serde.class"]
    if library in _WHOLE:
        _check_single_column(table, library)
    elif not library.endswith((".JsonSerDe", ".OpenCSVSerde", ".LazySimpleSerDe", ".AvroSerDe")):
        raise UnsupportedError(
            f"{table.full_name} cannot be read: kafka.serde.class {library} is not supported",
            hint="use JsonSerDe, AvroSerDe, OpenCSVSerde, LazySimpleSerDe, binary or text",
        )
    columns = tuple(column for column in table.columns if column.name not in _KEPT)
    return replace(table, columns=columns, serde={**table.serde, "serialization.lib": library})


def _check_single_column(table: Table, form: str) -> None:
    columns = [column for column in table.columns if column.name not in _KEPT]
    if [column.type.name for column in columns] != [_WHOLE[form]]:
        raise UnsupportedError(
            f"kafka.serde.class {form} of {table.full_name} requires a single column of type {_WHOLE[form]}",
            hint="declare one column, which is the whole value",
        )


def value_rows(
    records: DataFrame,
    table: Table,
    settings: Mapping[str, str],
    schemas: Schemas | None = None,
    *,
    keep_raw: bool = False,
    in_python: Collection[str] | None = None,
) -> DataFrame:
    """The columns of the records' values, the metadata columns, and `_bad`: why a record is malformed, or null; with
    `keep_raw` also RAW_VALUE.

    With `in_python`, the names of columns, Python workers decode what they can, see `plain_json`: other columns are
    checked as well, but have no values.

    `records` have `value` and the metadata columns. A value that is null has only nulls. Of a table with a schema
    registry, the ids of the schemas are read first.
    """
    kept = (*_KEPT, RAW_VALUE) if keep_raw else _KEPT
    if keep_raw:
        records = records.selectExpr("*", f"value AS {RAW_VALUE}")
    if _is_avro(table):
        return _avro_rows(records, table, schemas, kept)
    if (whole := table.serde["serialization.lib"]) in _WHOLE:
        bad = "IF(is_valid_utf8(CAST(value AS STRING)), NULL, 'not valid UTF-8')" if whole == "text" else "NULL"
        cell = f"CAST(value AS {_WHOLE[whole]}) AS {identifier(table.columns[0].name)}"
        checked = f"IF(value IS NOT NULL AND spark_partition_id() >= 0, {bad}, NULL)"
        return records.selectExpr(*kept, cell, f"CAST({checked} AS STRING) AS _bad")
    form = cell_format(table, settings)
    if is_json(table):
        if in_python is not None and has_plain_values(table):
            return _plain_rows(records, table, form, kept, in_python)
        return _json_rows(records, table, form, kept)
    texts = records.selectExpr("CAST(value AS STRING) AS value", *kept)
    return delimited_rows(texts, table, form, kept).selectExpr("*", "CAST(NULL AS STRING) AS _bad")


def has_plain_values(table: Table) -> bool:
    """Whether all columns of a table of JSON have types of which Python decodes plain values."""
    return is_json(table) and have_plain_values(table.columns)


def _json_rows(
    records: DataFrame, table: Table, form: CellFormat, kept: Sequence[str], plain: PlainColumns = NOTHING_PLAIN
) -> DataFrame:
    names = (*plain.texts.values(), *plain.values.values())
    texts = records.selectExpr("CAST(value AS STRING) AS value", *kept, *names)
    texts = texts.selectExpr(f"{_WITHOUT_MARK} AS value", *kept, *names)
    bad = "CASE WHEN NOT is_valid_utf8(_text) THEN 'not valid UTF-8' ELSE _bad END AS _bad"
    columns = [identifier(column.name) for column in table.columns]
    return json_rows(texts, table.columns, form, ("value AS _text", *kept), plain).selectExpr(*kept, *columns, bad)


def _plain_rows(
    records: DataFrame, table: Table, form: CellFormat, kept: Sequence[str], needed: Collection[str]
) -> DataFrame:
    """As `_json_rows`, with the values of plain records from Python workers. Only what is needed is sent to them."""
    used = [name for name in kept if name in needed or name in _ALWAYS_KEPT or RAW_VALUE in kept]
    rows, plain = decode_plain(records, table.columns, form, needed, {name: _KEPT_TYPES[name] for name in used})
    unused = (f"CAST(NULL AS {_KEPT_TYPES[name]}) AS {name}" for name in kept if name not in used)
    return _json_rows(rows.selectExpr("*", *unused), table, form, kept, plain)


def written_value(table: Table, schemas: Schemas | None) -> str:
    """The columns of a row as the value of a record, which is BINARY."""
    if table.serde["serialization.lib"] in _WHOLE:
        return f"CAST({identifier(table.columns[0].name)} AS BINARY)"
    if not _is_avro(table):
        return f"CAST({line(table)} AS BINARY)"
    if (framing := _framing(table)) != "none":
        raise UnsupportedError(
            f"cannot insert into {table.full_name}: avro.serde.type is {framing}, and the bytes before the records are"
            " not known",
            hint="insert into a table of the topic whose avro.serde.type is none",
        )
    return avro_value(table, _schema(table, schemas))


# --- Avro --------------------------------------------------------------------------------------------------------


def _is_avro(table: Table) -> bool:
    return table.serde["serialization.lib"].endswith(".AvroSerDe")


def _framing(table: Table) -> str:
    if REGISTRY in table.properties:
        return "confluent"
    return table.properties.get("avro.serde.type", "none").lower()


def _avro_rows(records: DataFrame, table: Table, schemas: Schemas | None, kept: Sequence[str]) -> DataFrame:
    framing = _framing(table)
    skipped = {"none": 0, "confluent": _CONFLUENT}.get(framing, int(table.properties.get("avro.serde.skip.bytes", "5")))
    value = f"substr(value, {skipped + 1})" if skipped else "value"
    if schemas is not None and REGISTRY in table.properties:
        return _registered_rows(records, table, schemas, kept)
    framed = records.selectExpr(*kept, f"{value} AS value", "0 AS _id", f"{_misframed(framing, skipped)} AS _misframed")
    return _with_framing(avro_rows(framed, table, {0: _schema(table, schemas)}))


def _registered_rows(records: DataFrame, table: Table, schemas: Schemas, kept: Sequence[str]) -> DataFrame:
    """Each record is decoded by the schema of its id. The table's own schema, if it has one, supplies defaults."""
    misframed = _misframed("confluent", _CONFLUENT)
    number = f"IF({misframed} IS NULL, CAST(conv(hex(substr(value, 2, 4)), 16, 10) AS BIGINT), NULL)"
    framed = records.selectExpr(
        *kept, f"substr(value, {_CONFLUENT + 1}) AS value", f"{number} AS _id", f"{misframed} AS _misframed"
    )
    ids = [row[0] for row in framed.where("_id IS NOT NULL").selectExpr("_id").distinct().collect()]
    found = {number: parse_schema(text) for number, text in sorted(schemas.of_ids(table, sorted(ids)).items())}
    known = f"_id IN ({', '.join(map(str, found))})" if found else "FALSE"
    missing = f"CASE WHEN NOT ({known}) THEN concat('schema ', _id, ' is not in the registry') END"
    checked = framed.selectExpr("* EXCEPT (_misframed)", f"coalesce(_misframed, {missing}) AS _misframed")
    has_own = any(schema_property(table.properties, name) for name in (LITERAL, URL))
    reader = _schema(table, schemas) if has_own else None
    return _with_framing(avro_rows(checked, table, found, reader))


def _with_framing(rows: DataFrame) -> DataFrame:
    return rows.selectExpr("* EXCEPT (_bad)", "IF(value IS NULL, NULL, coalesce(_misframed, _bad)) AS _bad")


def _misframed(framing: str, skipped: int) -> str:
    if framing == "confluent":
        framed = f"startswith(value, X'00') AND length(value) >= {skipped}"
        return f"CASE WHEN NOT ({framed}) THEN 'not in Confluent\\'s wire format' END"
    return f"CASE WHEN length(value) < {skipped} THEN 'shorter than avro.serde.skip.bytes' END"


def _schema(table: Table, schemas: Schemas | None) -> AvroSchema:
    """The schema of the table's records. Raises SemanticError, UnsupportedError, ConnectError, ExecutionError."""
    text = schema_property(table.properties, LITERAL)
    if not text and schema_property(table.properties, URL):
        assert schemas is not None
        return parse_schema(schemas.of_url(table))
    if not text:
        raise SemanticError(
            f"{table.full_name} has no Avro schema",
            hint=f"ALTER TABLE {table.full_name} SET TBLPROPERTIES ('{LITERAL}' = '…')",
        )
    try:
        return parse_schema(text)
    except (SemanticError, UnsupportedError) as error:
        raise type(error)(f"{error.message} ({table.full_name})", hint=error.hint) from None
