"""Regular expressions that are compiled at their first use and not when their module is imported.

One of some hundred characters takes 0.1 to 0.5 ms, and most commands use few of them.
"""

from __future__ import annotations

import re
from typing import Any, cast


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """An object with the attributes of `re.compile(text, flags)`, which raises re.error at the first use."""
    return cast("re.Pattern[str]", _Regex(text, flags))


class _Regex:
    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """Called for an attribute that this object does not have yet, so once for each."""
        if name.startswith("__"):  # copying and the like ask for attributes of a kind
            raise AttributeError(name)
        attribute = getattr(re.compile(self._text, self._flags), name)  # compiled once: `re` has a cache
        setattr(self, name, attribute)
        return attribute
