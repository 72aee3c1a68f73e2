"""Compares the rows of a segment file with those that Druid returns for the segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from hivedruid.engine.capabilities import SegmentStorage
from hivedruid.filesystems import Access, local_copy
from hivedruid.plan.physical import STORED_AS, scan_of
from hivedruid.plan.segment_files import SegmentFile, SegmentKey
from hivedruid.segments.errors import SegmentError
from hivedruid.segments.scan import Scan, scan_file


def differences(
    storage: SegmentStorage, data_source: str, file: SegmentFile, types: Mapping[str, str], access: Access
) -> tuple[int, list[str]]:
    """The number of rows of the file, and what differs. Raises DruidError, ConnectError."""
    read = {name: type_ for name, type_ in types.items() if type_ in STORED_AS}
    scan = Scan(tuple(read.items()), None, {})
    try:
        with local_copy(file.location, access) as place:
            batches = list(scan_file(scan, place, ((file.start, file.end),)))
    except (SegmentError, OSError) as error:
        return 0, [f"the file cannot be read: {error}"]
    stored = pa.Table.from_batches(batches, scan.schema)
    returned = _returned(storage, data_source, file, read)
    if stored.num_rows != returned.num_rows:
        return stored.num_rows, [f"the file has {stored.num_rows:,} rows, Druid returns {returned.num_rows:,}"]
    return stored.num_rows, [text for n, name in enumerate(read) for text in _column(name, stored[n], returned[n])]


def _returned(storage: SegmentStorage, data_source: str, file: SegmentFile, types: Mapping[str, str]) -> pa.Table:
    """The rows of the segment by a native scan, which returns them in the order of the segment."""
    read = scan_of(data_source, ((file.start, file.end),), types)
    segment = SegmentKey(file.start, file.end, file.version, file.number)
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        storage.write_rows_of(read, [segment], [f"_{n}" for n in range(len(types))], path)
        return parquet.read_table(path)


def _column(name: str, stored: pa.ChunkedArray, returned: pa.ChunkedArray) -> Iterator[str]:
    if stored.equals(returned):
        return
    if pa.types.is_list(stored.type):
        different = [a != b for a, b in zip(stored.to_pylist(), returned.to_pylist(), strict=True)]
    else:
        is_same = pc.or_kleene(pc.equal(stored, returned), pc.and_(stored.is_null(), returned.is_null()))
        if pa.types.is_floating(stored.type):
            is_same = pc.or_kleene(is_same, pc.and_(pc.is_nan(stored), pc.is_nan(returned)))
        different = pc.invert(is_same.fill_null(False)).to_pylist()
    if any(different):
        first = different.index(True)
        yield (
            f"column {name}: {sum(different):,} values differ, the first in row {first}:"
            f" {stored[first].as_py()!r} in the file, {returned[first].as_py()!r} from Druid"
        )
