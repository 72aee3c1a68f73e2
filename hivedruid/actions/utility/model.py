"""The actions of SET, RESET, SHOW and DESCRIBE."""

from __future__ import annotations

from typing import Any

from hivedruid.actions.model import Action
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.macros import Macro
from hivedruid.results import ResultColumn


@dataclass(frozen=True)
class ChangeSetting(Action):
    """SET key=value. The value is checked; `hivevar:name` is a variable, every other key a setting."""

    key: str
    value: str

    @property
    def names_only(self) -> Action:
        return self


@dataclass(frozen=True)
class ResetSetting(Action):
    """Restore the default of one key, or (None) of all."""

    key: str | None = None

    @property
    def names_only(self) -> Action:
        return self


@dataclass(frozen=True)
class Show(Action):
    """Return rows from the catalog and the settings, without secrets. A `query` in them is returned as it is: its
    literals are data, and the statement of a view must create the same view again."""

    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_text: bool = False
    query: str = ""

    @property
    def names_only(self) -> Action:
        return self


@dataclass(frozen=True)
class ChangeMacro(Action):
    """CREATE or (without a macro) DROP TEMPORARY MACRO."""

    name: str
    macro: Macro | None = None

    @property
    def names_only(self) -> Action:
        return self


UtilityAction = ChangeSetting | ResetSetting | Show | ChangeMacro
