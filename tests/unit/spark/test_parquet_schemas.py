"""What is derived from the footers of Parquet files without Spark."""

from __future__ import annotations

from io import BytesIO

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid.file_writers import Writer, parquet_footer, parquet_writer
from hivedruid.spark.parquet_schemas import splits_bytes


def footer(rows: pa.Table, **options: object) -> bytes:
    file = BytesIO()
    parquet.write_table(rows, file, **options)
    return parquet_footer(file)


COLUMNS = pa.table({
    "i": pa.array(range(18), pa.int32()), "d": [n / 4 for n in range(18)], "s": ["\x12" * n for n in range(18)],
    "l": pa.array([[n] for n in range(18)]), "b": pa.array([True] * 18),
})  # fmt: skip


@pytest.mark.parametrize("rows", [1, 5, 100])
def test_the_encoding_that_splits_bytes(rows: int) -> None:
    plain = {"use_dictionary": False, "row_group_size": rows}
    assert splits_bytes(footer(COLUMNS, use_byte_stream_split=["d"], **plain))
    assert splits_bytes(footer(COLUMNS, use_byte_stream_split=["i"], compression="zstd", **plain))
    others = {"i": "DELTA_BINARY_PACKED", "s": "DELTA_LENGTH_BYTE_ARRAY", "l.list.element": "DELTA_BINARY_PACKED"}
    for options in ({}, plain, {**plain, "column_encoding": others}, {**plain, "data_page_version": "2.0"}):
        assert not splits_bytes(footer(COLUMNS, **options))


def test_notes_of_hive_in_the_metadata() -> None:
    notes = {
        "writer.time.zone": "Asia/Tokyo",
        "writer.zone.conversion.legacy": "true",
        "writer.date.proleptic": "false",
    }
    assert parquet_writer(footer(COLUMNS.replace_schema_metadata(notes))) == Writer("Asia/Tokyo", True, True)
    notes |= {"writer.time.zone": "X" * 200, "writer.date.proleptic": "true"}
    assert parquet_writer(footer(COLUMNS.replace_schema_metadata(notes))) == Writer("X" * 200, True, False)
    assert parquet_writer(footer(COLUMNS)) == Writer()
