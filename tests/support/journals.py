"""A journal of one ingestion whose process can end at any state, and a progress line that triggers an action."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hivedruid.jobs.load import Load, LoadReport, LoadState, NoJournal


class Killed(BaseException):
    """The process ends here."""


class Notebook(NoJournal):
    """A journal that is stored as JSON, as in the catalog. The process can end before it writes a state, or after."""

    def __init__(self, dies_after: str = "", dies_before: str = "") -> None:
        self.state = ""
        self.notes = "{}"
        self.reason = ""
        self.report: LoadReport | None = None
        self._dies_after, self._dies_before = dies_after, dies_before

    def submitted(self, notes: Mapping[str, Any]) -> None:
        self._moved("submitted", notes)

    def published(self, notes: Mapping[str, Any]) -> None:
        self._moved("published", notes)

    def verified(self, report: LoadReport) -> None:
        self.report = report
        self._moved("verified", {})

    def rolled_back(self, reason: str) -> None:
        self.reason = reason
        self._moved("staged", {})

    def _moved(self, state: str, notes: Mapping[str, Any]) -> None:
        if state == self._dies_before:
            raise Killed
        self.state, self.notes = state, json.dumps(notes)
        if state == self._dies_after:
            raise Killed

    def resumed(self, given: Load) -> Load:
        """The state and notes that another process reads."""
        state: LoadState = self.state if self.state in ("submitted", "published") else "staged"  # type: ignore[assignment]
        return replace(given, state=state, notes=json.loads(self.notes))


def dies_at(words: str) -> Callable[[str], None]:
    return does_at(words, lambda: raise_error(Killed()))


def raise_error(error: BaseException) -> None:
    raise error


def does_at(words: str, do: Callable[[], object]) -> Callable[[str], None]:
    """A progress callback that runs an action once, when a line matches."""
    done: list[str] = []

    def read(text: str) -> None:
        if words in text and not done:
            done.append(text)
            do()

    return read
