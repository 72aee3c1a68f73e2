"""EXPLAIN of SET, RESET, SHOW and DESCRIBE."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.operators import Fields, operator_explainer
from hivedruid.actions.utility.model import ChangeMacro, ChangeSetting, ResetSetting, Show, UtilityAction
from hivedruid.secrets import masked


def _describe(action: Action) -> tuple[str, Fields]:
    assert isinstance(action, UtilityAction)
    match action:
        case ChangeSetting():
            value = masked(action.key, action.value) or "(empty)"
            return "Set Setting Operator", [("key", action.key), ("value", value)]
        case ResetSetting():
            return "Reset Settings Operator", [("key", action.key or "(all)")]
        case ChangeMacro(name, macro):
            parameters = [parameter for parameter, _ in macro.parameters] if macro else []
            return ("Create Macro Operator" if macro else "Drop Macro Operator"), [
                ("name", name),
                *([("parameters", parameters)] if macro else []),
            ]
        case Show():
            columns = [column.name for column in action.columns]
            return "Fetch Operator", [("columns", columns), ("rows", str(len(action.rows)))]
        case _:
            assert_never(action)


EXPLAINER = operator_explainer(_describe)
