"""The plan of a statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hivedruid.actions.model import Action
from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.plan.split import QueryPlan


@dataclass(frozen=True)
class StatementPlan:
    """The actions of a statement; `plans` are the query plans behind them, for EXPLAIN."""

    actions: tuple[Action, ...]
    plans: tuple[QueryPlan, ...] = ()


Note = Callable[[str, Span | None], None]
