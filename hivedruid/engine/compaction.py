"""Compaction as an engine reports it."""

from __future__ import annotations

from hivedruid.errors import DruidError
from hivedruid.lazy_dataclass import dataclass


@dataclass(frozen=True)
class CompactionAmount:
    segments: int
    intervals: int
    size: int


@dataclass(frozen=True)
class AutomaticCompaction:
    """The automatic compaction of a data source; the amounts are None until the coordinator has checked it,
    and if its answer lacks them."""

    data_source: str
    state: str
    awaiting: CompactionAmount | None = None
    compacted: CompactionAmount | None = None
    skipped: CompactionAmount | None = None
    problem: str = ""


@dataclass(frozen=True)
class CompactionLimits:
    """Seconds to wait for a free slot, and for new segments to be loaded."""

    slot: float
    load: float


class CompactionError(DruidError):
    """A compaction task has failed, or rows have changed."""
