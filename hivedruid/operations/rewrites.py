"""Operations that rewrite the files of a managed table."""

from __future__ import annotations

from typing import ClassVar, Literal

from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.operation import Operation, Transitions


@dataclass(frozen=True, kw_only=True)
class RewriteJob(Operation):
    """A COMPACT of a managed table, of the type minor or major. Each of its steps is one commit that changes no row, so
    it can be run again whenever it was interrupted.

    `files` data files with `bytes` were rewritten as `written` files.
    """

    kind: ClassVar[str] = "rewrite"
    transitions: ClassVar[Transitions] = {
        "begun": ("done", "failed", "cancelled"),
        "done": (),
        "failed": (),
        "cancelled": (),
    }

    state: Literal["begun", "done", "failed", "cancelled"] = "begun"
    type: str = "minor"
    files: int = 0
    bytes: int = 0
    written: int = 0
