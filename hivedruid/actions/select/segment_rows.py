"""The rows of a result from segment files, read in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hivedruid.engine.capabilities import SegmentStorage
from hivedruid.errors import DruidError
from hivedruid.filesystems import Access, local_copy
from hivedruid.plan.segment_files import READ, FileScan, SegmentFile, pieces
from hivedruid.results import Batch, Batches, Row

if TYPE_CHECKING:
    from hivedruid.actions.services import Services
    from hivedruid.plan.physical import DruidRead
    from hivedruid.segments.scan import Scan


ROWS = 1 << 14
"""Rows of a batch: its text fits into the processor's cache."""


def rows_of_files(read: DruidRead, scan: FileScan, services: Services) -> Iterator[Row]:
    """The rows that the query returns, as `DruidEngine.rows`. From the first file on that cannot be read (it was
    removed, or has values of other types), those of the other segments are requested by a query of these segments.

    Raises DruidError if a file becomes unreadable after some of its rows were returned.
    """
    return Batches(_batches(read, scan, services))


def _batches(read: DruidRead, scan: FileScan, services: Services) -> Iterator[Batch]:
    from pyarrow import ArrowException

    from hivedruid.segments.errors import SegmentError
    from hivedruid.segments.scan import Scan

    wanted = Scan(tuple(zip(scan.fields, scan.types, strict=True)), read.query.get("filter"), scan.stored)
    access = Access.of(services.settings)
    for number, file in enumerate(scan.files):
        rows = 0
        try:
            for batch in _of_file(read, wanted, file, access):
                yield batch
                rows += batch.size
        except (SegmentError, ArrowException, OSError) as error:
            if rows:
                raise _interrupted(file, error) from error
            yield from _queried(read, scan.files[number:], services)
            return


def _of_file(read: DruidRead, wanted: Scan, file: SegmentFile, access: Access) -> Iterator[Batch]:
    from hivedruid.segments.scan import scan_file

    with local_copy(file.location, access) as path:
        for piece in pieces(read.spans, (file,)):
            is_first = piece.number == 0
            found = scan_file(wanted, path, piece.intervals, piece.number, piece.of, rows=ROWS, checks_all=is_first)
            yield from (Batch(batch.num_rows, tuple(batch.columns)) for batch in found)


def _queried(read: DruidRead, files: tuple[SegmentFile, ...], services: Services) -> Iterator[Batch]:
    rows = services.engine(SegmentStorage).rows_of(read, [file.key for file in files])
    if isinstance(rows, Batches):
        yield from rows.batches
    else:
        yield from (Batch(1, tuple([cell] for cell in row)) for row in rows)


def _interrupted(file: SegmentFile, error: Exception) -> DruidError:
    return DruidError(
        f"segment {file.id} became unreadable after some of its rows were returned: {error}",
        hint=f"rerun the statement after SET {READ}=query",
    )
