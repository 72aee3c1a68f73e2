"""The errors of segments. The caller may read the same rows with a query instead."""

from __future__ import annotations


class SegmentError(Exception):
    """A segment that cannot be read; the message contains the reason."""


class UnsupportedSegmentError(SegmentError):
    """The segment has a version, an encoding or a column type that this library does not know."""


class DamagedSegmentError(SegmentError):
    """The bytes contradict each other: a file is truncated, or was changed."""
