"""EXPLAIN of ANALYZE TABLE."""

from __future__ import annotations

from hivedruid.actions.model import Action
from hivedruid.actions.operators import Fields, operator_explainer
from hivedruid.actions.statistics.model import ComputeStatistics


def _describe(action: Action) -> tuple[str, Fields]:
    assert isinstance(action, ComputeStatistics)
    table = action.table
    return "Statistics Operator", [
        ("name", table.full_name),
        ("data source", table.data_source if table.has_data_source else None),
        ("columns", [column.name for column in action.columns]),
        ("sql", action.job.sql if action.job else None),
    ]


EXPLAINER = operator_explainer(_describe)
