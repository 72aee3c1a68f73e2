"""Druid's segment files (versions 9 and 10): read as Arrow record batches, and written from Arrow tables.

    with open_segment(path) as segment:
        for batch in segment.read(["__time", "page"], intervals=[(start, end)], where=In("page", ("a", "b"))):
            ...
    write_segment(table, SegmentSpec(interval, dimensions, metrics), folder)

This package depends on numpy and pyarrow alone, and on no other part of hivedruid but the table of sketches and the
text of numbers. All errors are SegmentError: UnsupportedSegmentError for formats that it does not know,
DamagedSegmentError for bytes that contradict each other.
"""
