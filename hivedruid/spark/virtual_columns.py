"""Hive's virtual columns, as Spark's metadata columns give them: the file of a row, and the offset of its line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hivedruid.plan.virtual_columns import FILE_NAME, OFFSET
from hivedruid.spark.cells import literal

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame

LINE_BREAK = "\n"
"""The `lineSep` of the lines that `with_offsets` gets: Spark would divide lines at CR, too, and not say at which."""
_COMPRESSIONS = r"\.(gz|bz2|deflate|snappy|lz4|zst)$"


def file_name(path: str) -> str:
    """The name of a file as Hive has it, from a URI in which characters are escaped: `file:/data/a b`."""
    return _as_hive(f"url_decode(replace({path}, '+', '%2B'))")


def iceberg_columns(names: Sequence[str]) -> list[str]:
    """The virtual columns of a managed table, whose paths are not escaped."""
    return [f"{_as_hive('_file')} AS {name}" for name in names]


def _as_hive(path: str) -> str:
    return f"regexp_replace({path}, '^file:/+', 'file:/')"


def with_file_names(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """The rows of a reader of files, with the virtual columns of these names, which are not offsets."""
    if not names:
        return rows
    return rows.selectExpr("*", *(f"{file_name('_metadata.file_path')} AS {name}" for name in names))


def with_offsets(lines: DataFrame, names: Sequence[str], kept: Sequence[str]) -> DataFrame:
    """Lines that were read up to LINE_BREAK, divided as Hadoop does, also at CR and CR LF, with the virtual columns and
    `_metadata`.

    The offset of a line is the length of all lines of its file before it, by the blocks of the file and their order
    within a block; three bytes more, those of a byte order mark, if all lines are shorter than the file. In a
    compressed file, as in Hive, it is that in the text.
    """
    located = lines.selectExpr(
        "value", "_metadata", f"{file_name('_metadata.file_path')} AS {FILE_NAME}",
        "monotonically_increasing_id() AS _id", *kept,
    )  # fmt: skip
    length, order = "CAST(octet_length(value) + 1 AS BIGINT)", "ORDER BY _metadata.file_block_start, _id"
    file = f"PARTITION BY {FILE_NAME}"
    before = f"sum({length}) OVER ({file} {order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    is_plain = f"{FILE_NAME} NOT RLIKE {literal(_COMPRESSIONS)}"
    mark = f"IF({is_plain} AND sum({length}) OVER ({file}) < _metadata.file_size, 3, 0)"
    located = located.selectExpr("*", f"coalesce({before} + {mark}, 0) AS _offset")
    pieces = "split(value, '\\r', -1)"
    whole = f"IF(endswith(value, '\\r'), slice({pieces}, 1, size({pieces}) - 1), {pieces})"
    divided = located.selectExpr(
        "*", f"posexplode(IF(contains(value, '\\r'), {whole}, array(value))) AS (_piece, _line)", f"{whole} AS _lines"
    )
    within = "aggregate(slice(_lines, 1, _piece), 0L, (n, line) -> n + octet_length(line) + 1)"
    made = {FILE_NAME: FILE_NAME, OFFSET: f"_offset + IF(_piece = 0, 0L, {within}) AS {OFFSET}"}
    return divided.selectExpr("_line AS value", "_metadata", *(made[name] for name in names), *kept)
