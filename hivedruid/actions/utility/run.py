"""Change settings, and return rows of the snapshot."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.actions.utility.model import ChangeMacro, ChangeSetting, ResetSetting, Show, UtilityAction
from hivedruid.results import Result


def run(action: Action, services: Services) -> Result | None:
    assert isinstance(action, UtilityAction)
    match action:
        case ChangeSetting():
            services.change_setting(action.key, action.value)
        case ResetSetting():
            services.reset_setting(action.key)
        case ChangeMacro(name, None):
            services.macros.pop(name, None)
        case ChangeMacro(name, macro):
            assert macro is not None
            services.macros[name] = macro
        case Show():
            return Result(action.columns, iter(action.rows), action.is_text)
        case _:
            assert_never(action)
    return None
