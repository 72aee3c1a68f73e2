"""ORC files that Spark cannot read, read by Arrow."""

from __future__ import annotations

from datetime import UTC, date, datetime
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc

from hivedruid import orc_files

FAR = [datetime(9999, 12, 31, 23, 59, 59, 999999, UTC), datetime(1600, 3, 1, 12, 0, 0, 0, UTC), None,
       datetime(2024, 1, 2, 3, 4, 5, 678901, UTC), datetime(1970, 1, 1, tzinfo=UTC), datetime(1582, 10, 15, tzinfo=UTC)]  # fmt: skip
US = pa.timestamp("us", "UTC")


def read(rows: pa.Table, schema: pa.Schema | None = None, **options: Any) -> list[dict[str, Any]]:
    file = BytesIO()
    orc.write_table(rows, file, **options)
    made = pa.RecordBatch.from_arrays([pa.array([file.getvalue()], pa.binary())], names=["content"])
    batches = list(orc_files.rows(schema or rows.schema)(iter([made])))
    return pa.Table.from_batches(batches, schema or rows.schema).to_pylist()


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
def test_times_beyond_nanoseconds(compression: str) -> None:
    """Also nested ones, and in several stripes."""
    times = FAR * 700
    plain = [moment and moment.replace(tzinfo=None) for moment in times]
    rows = pa.table({
        "n": pa.array(range(len(times)), pa.int64()), "z": pa.array(times, US), "t": pa.array(plain, pa.timestamp("us")),
        "s": pa.array([{"a": 1, "z": moment} for moment in times], pa.struct([("a", pa.int32()), ("z", US)])),
        "l": pa.array([[moment, None, moment] for moment in times], pa.list_(US)),
        "m": pa.array([[("k", moment)] for moment in times], pa.map_(pa.string(), US)),
        "d": pa.array([date(2024, 1, 2)] * len(times)), "x": ["text"] * len(times),
    })  # fmt: skip
    for stripe in (1 << 26, 1 << 12):
        found = read(rows, compression=compression, stripe_size=stripe, batch_size=256, compression_block_size=1 << 16)
        assert found == rows.to_pylist()


def test_days_and_times_of_the_julian_calendar() -> None:
    """No writer of Python notes that a file has the Gregorian calendar: the days are those that Spark reads."""
    moments = [datetime(1500, 3, 1, 12, tzinfo=UTC), datetime(1582, 10, 14, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)]
    rows = pa.table({"z": pa.array(moments, US), "d": pa.array([moment.date() for moment in moments])})
    days = [date(1500, 2, 20), date(1582, 10, 4), date(1, 1, 3)]
    found = read(rows)
    assert [row["d"] for row in found] == days
    assert [row["z"].date() for row in found] == days


def test_a_damaged_file() -> None:
    made = pa.RecordBatch.from_arrays([pa.array([b"ORC" + b"\xff" * 99], pa.binary())], names=["content"])
    with pytest.raises(orc_files.OrcFileError, match=r"^hivedruid: cannot read an ORC file: "):
        list(orc_files.rows(pa.schema([("a", pa.int32())]))(iter([made])))
    with pytest.raises(orc_files.OrcFileError, match=r"^hivedruid: cannot read an ORC file: "):
        list(orc_files.schemas(iter([made])))
