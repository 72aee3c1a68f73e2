"""Operations that move rows of a tiered table from Druid to its cold part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from hivedruid.catalog.archives import BatchState
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.operation import Operation, Transitions


@dataclass(frozen=True, kw_only=True)
class ArchiveJob(Operation):
    """One batch of ARCHIVE TABLE.

        planned ── rows with the batch's id are appended to the cold part ──► staged
        staged ── one transaction of Druid replaces the segments by tombstones ──► switched
        switched ── no query of Druid reads the segments any more ──► done

    `spans` are the times that it was told to move, in milliseconds. `holding` are the notes of the segments that it
    moves (engine.archiving.Holding), which have `rows` rows; `sums` are those of integer columns.
    """

    kind: ClassVar[str] = "archive"
    transitions: ClassVar[Transitions] = {
        "planned": ("staged", "done", "cancelled"),
        "staged": ("planned", "switched", "cancelled"),
        "switched": ("done",),
        "done": (),
        "cancelled": (),
    }

    state: BatchState = "planned"
    spans: tuple[tuple[int, int], ...] = ()
    holding: Mapping[str, Any] = field(default_factory=dict)
    rows: int = 0
    sums: Mapping[str, int | None] = field(default_factory=dict)
