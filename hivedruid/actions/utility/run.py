"""Change settings, and return rows of the snapshot."""

from __future__ import annotations

from typing import Any, assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.actions.utility.model import ChangeMacro, ChangeSetting, ResetSetting, Show, UtilityAction
from hivedruid.results import Result
from hivedruid.secret_text import redact


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
            return Result(action.columns, iter(_redacted(action)), action.is_text)
        case _:
            assert_never(action)
    return None


def _redacted(show: Show) -> list[tuple[Any, ...]]:
    if show.is_text:  # a secret may have several lines
        text = "\n".join(line for (line,) in show.rows)
        return [(line,) for line in _redacted_text(text, show.query).split("\n")] if show.rows else []
    return [
        tuple(_redacted_text(cell, show.query) if isinstance(cell, str) else cell for cell in row) for row in show.rows
    ]


def _redacted_text(text: str, query: str) -> str:
    if text.replace("_", "").replace(".", "").isalnum():  # a name
        return text
    before, inner, after = text.partition(query) if query else (text, "", "")
    return redact(before) + inner + redact(after)
