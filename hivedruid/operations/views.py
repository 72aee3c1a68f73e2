"""Operations that build a materialized view in a managed table. Those that build one in Druid are loads."""

from __future__ import annotations

from typing import ClassVar, Literal

from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.operation import Operation, Transitions


@dataclass(frozen=True, kw_only=True)
class ManagedViewJob(Operation):
    """CREATE MATERIALIZED VIEW, or REBUILD. Until it is done, the view counts as not built."""

    kind: ClassVar[str] = "managed view"
    transitions: ClassVar[Transitions] = {"begun": ("done", "cancelled"), "done": (), "cancelled": ()}

    state: Literal["begun", "done", "cancelled"] = "begun"
    creates: bool = False
