"""Druid's retention rules: the first rule that applies to a segment decides whether it is loaded or dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hivedruid.druid.instants import millis
from hivedruid.setting_types import seconds

_LOADS = ("load", "broadcast")


@dataclass(frozen=True)
class Rule:
    """A rule of a data source. `argument` is its period, or its interval, as Druid has it; "" for all of time."""

    type: str
    argument: str = ""
    includes_future: bool = True

    def __str__(self) -> str:
        return f"{self.type} {self.argument}".rstrip()

    @property
    def drops(self) -> bool:
        return not self.type.startswith(_LOADS)

    def applies(self, start: int, end: int, now: int) -> bool:
        """Whether it applies to a segment of this interval; all are in milliseconds. See the classes of these names in
        org.apache.druid.server.coordinator.rules."""
        if self.type.endswith("Forever"):
            return True
        since, until = self._span(now)
        if self.type == "dropBeforeByPeriod":
            return end <= since
        if self.type.endswith("ByPeriod") and self.includes_future:
            return end > since if not self.drops else start >= since
        if self.drops:
            return since <= start and end <= until
        return start < until and since < end

    def bounds(self, now: int) -> tuple[int, ...]:
        """The times at which it begins or ceases to apply."""
        return () if self.type.endswith("Forever") else self._span(now)

    def _span(self, now: int) -> tuple[int, int]:
        if self.type.endswith("Interval"):
            start, _, end = self.argument.partition("/")
            return millis(start), millis(end)
        return now - round(seconds(self.argument) * 1000), now


def rule_of(json: Mapping[str, Any]) -> Rule:
    argument = json.get("period") or json.get("interval") or ""
    return Rule(json["type"], argument, json.get("includeFuture", True))


def dropping(rules: Sequence[Rule], start: int, end: int, now: int) -> Rule | None:
    """The rule by which a segment of this interval is dropped; None if it is loaded, or no rule applies."""
    first = next((rule for rule in rules if rule.applies(start, end, now)), None)
    return first if first is not None and first.drops else None


def text(rules: Sequence[Rule]) -> str:
    return ", ".join(map(str, rules))
