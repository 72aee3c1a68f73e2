"""The lines of text files: their character set, and the headers and footers of the files."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hivedruid.errors import ExecutionError, UnsupportedError
from hivedruid.plan.virtual_columns import OFFSET

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame

    from hivedruid.catalog.table import Table

HEADER, FOOTER = "skip.header.line.count", "skip.footer.line.count"
ENCODING = "serialization.encoding"


def decoded(lines: DataFrame, table: Table, kept: Sequence[str] = ()) -> DataFrame:
    """The lines in UTF-8, from the character set of the SerDe, whose line breaks must be those of ASCII."""
    name = encoding(table)
    if name is None:
        return lines
    from pyspark.sql.connect.functions import expr
    from pyspark.sql.connect.udf import UserDefinedFunction
    from pyspark.sql.types import StringType
    from pyspark.util import PythonEvalType

    decode = UserDefinedFunction(_decoder(name), StringType(), "decode", PythonEvalType.SQL_SCALAR_ARROW_UDF)
    return lines.select(decode(expr("CAST(value AS BINARY)")).alias("value"), *kept)


def encoding(table: Table) -> str | None:
    """The character set of the files, as Python names it; None for UTF-8. Raises UnsupportedError."""
    given = table.effective_serde.get(ENCODING, "UTF-8")
    try:
        name = codecs.lookup(given).name
        is_ascii = b"\n" in "\n".encode(name) and len("\n".encode(name)) == 1
    except (LookupError, ValueError):
        is_ascii = False
        name = given
    if not is_ascii:
        raise UnsupportedError(
            f"{ENCODING} '{given}' of {table.full_name} is not supported",
            hint="convert the files to UTF-8, for example with iconv",
        )
    return None if name == "utf-8" else name


def _decoder(name: str) -> Callable[[Any], Any]:
    """The function that workers run; it is serialized completely, so that workers only require Arrow."""

    def decode(values: Any) -> Any:
        import pyarrow as pa

        return pa.array((v if v is None else v.decode(name, "replace") for v in values.to_pylist()), pa.string())

    return decode


def _count(table: Table, key: str) -> int:
    given = table.effective_serde.get(key, "0")
    if not given.isascii() or not given.isdigit():
        raise ExecutionError(
            f"{key} '{given}' of {table.full_name} is not a number of lines",
            hint=f"run ALTER TABLE {table.full_name} SET SERDEPROPERTIES ('{key}' = '1')",
        )
    return int(given)


def without_header(lines: DataFrame, table: Table, kept: Sequence[str] = ()) -> DataFrame:
    """The lines without the first `skip.header.line.count` and the last `skip.footer.line.count` of each file.

    Spark does not number lines; row ids increase within a partition, so they give the order within a block of a file. A
    header is in the first block; a footer needs the order of all lines of a file.
    """
    header, footer = (_count(table, key) for key in (HEADER, FOOTER))
    if not header and not footer:
        return lines
    numbered = lines.selectExpr(
        "value",
        "_metadata.file_path AS _file",
        "_metadata.file_block_start AS _start",
        f"{OFFSET if OFFSET in kept else 'monotonically_increasing_id()'} AS _id",
        *kept,
    )
    number = "row_number() OVER (PARTITION BY _file, _start ORDER BY _id) AS _number"
    last = "row_number() OVER (PARTITION BY _file ORDER BY _start DESC, _id DESC) AS _last"
    rows = numbered.selectExpr("value", "_start", number, *([last] if footer else []), *kept)
    rows = rows.where(f"_start > 0 OR _number > {header}") if header else rows
    rows = rows.where(f"_last > {footer}") if footer else rows
    return rows.selectExpr("value", *kept)
