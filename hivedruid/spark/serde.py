"""Hive's SerDes for text files, by a table's format and SERDEPROPERTIES."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid import open_csv
from hivedruid.catalog.table import Table
from hivedruid.spark.cells import CellFormat, delimiter, literal, regex

if TYPE_CHECKING:
    from pyspark.sql.connect.column import Column

DEFAULT_NULL = "\\N"
SEPARATORS = tuple(chr(code) for code in (*range(1, 9), 11, 12, *range(14, 27)))
"""LazySimpleSerDe's separators by level of nesting: control characters except line breaks and escape."""


def is_json(table: Table) -> bool:
    return table.format == "jsonfile" or "JsonSerDe" in table.serde.get("serialization.lib", "")


def is_csv(table: Table) -> bool:
    return "OpenCSVSerde" in table.serde.get("serialization.lib", "")


def delimited_format(table: Table, form: CellFormat) -> CellFormat:
    """The separators, escape character and null of a text table (LazySerDeParameters)."""
    serde = table.effective_serde
    separators = list(SEPARATORS)
    separators[0] = delimiter(serde, "field.delim", delimiter(serde, "serialization.format", separators[0]))
    if serde.get("serialization.lib", "").endswith(".MultiDelimitSerDe"):
        separators[0] = serde.get("field.delim") or separators[0]
    # Hive misspelled the key before 3.0 (HIVE-16922)
    separators[1] = delimiter(serde, "collection.delim", delimiter(serde, "colelction.delim", separators[1]))
    separators[2] = delimiter(serde, "mapkey.delim", separators[2])
    escape = delimiter(serde, "escape.delim", "") or None
    null = serde.get("serialization.null.format", DEFAULT_NULL)
    return replace(form, separators=tuple(separators), escape=escape, null=null)


def csv_characters(serde: Mapping[str, str]) -> tuple[str, str, str]:
    """Separator, quote and escape character of OpenCSVSerde, to which a quote as escape character means the default."""
    escape = delimiter(serde, "escapeChar", '"')
    return (
        delimiter(serde, "separatorChar", ","),
        delimiter(serde, "quoteChar", '"'),
        "\\" if escape == '"' else escape,
    )


def csv_fields(serde: Mapping[str, str]) -> Column:
    """The fields of the column `value`, a line of CSV. Lines with a quote or an escape character are parsed by Spark's
    Python workers, the others by Spark."""
    from pyspark import cloudpickle
    from pyspark.sql.connect.functions import expr, when
    from pyspark.sql.connect.udf import UserDefinedFunction
    from pyspark.sql.types import ArrayType, StringType
    from pyspark.util import PythonEvalType

    separator, quote, escape = csv_characters(serde)
    is_special = f"(contains(value, {literal(quote)}) OR contains(value, {literal(escape)}))"
    cloudpickle.register_pickle_by_value(open_csv)
    try:
        columns = open_csv.OpenCsv(separator, quote, escape).columns
        parse = UserDefinedFunction(columns, ArrayType(StringType()), "csv", PythonEvalType.SQL_SCALAR_ARROW_UDF)
        parsed = parse(expr(f"IF({is_special}, value, NULL)"))
    finally:
        cloudpickle.unregister_pickle_by_value(open_csv)
    plain = f"IF(value = '', NULL, split(value, {literal(regex(separator))}, -1))"
    return when(expr(is_special), parsed).otherwise(expr(plain))
