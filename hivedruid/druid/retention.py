"""Druid's retention rules: the first rule that applies to a segment decides whether it is loaded or dropped.

`druid.retention.rules` of a table has them as text: `load P7D hot:2 _default_tier:1, load P90D, drop forever`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hivedruid.druid.instants import millis
from hivedruid.druid.interval_sets import iso
from hivedruid.druid.paths import path_of
from hivedruid.errors import DruidError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.setting_types import PERIOD, seconds

RULES_PATH = "/druid/coordinator/v1/rules"
"""The rules of all data sources that have some of their own, and those of all others."""
ALL_DATA_SOURCES = "_default"
"""The name under which the coordinator has the rules of all data sources."""
DEFAULT_TIERS = (("_default_tier", 2),)
"""The tiers and copies of Druid's own load rule, for rules that name none (DruidServer.DEFAULT_TIER)."""
RULES_FORM = "load P30D hot:2 _default_tier:1, drop forever"
"""An example of the text, for messages."""

_LOADS = ("load", "broadcast")
_VERBS = ("load", "drop", "broadcast")
_TIER = re.compile(r"(\S+):(\d{1,9})")
_MIDNIGHT = "T00:00:00.000Z"


@dataclass(frozen=True)
class Rule:
    """A rule of a data source. `argument` is its period, or its interval, as Druid has it; "" for all of time. `tiers`
    are those of a rule that loads, with the number of copies."""

    type: str
    argument: str = ""
    includes_future: bool = True
    tiers: tuple[tuple[str, int], ...] = DEFAULT_TIERS

    def __str__(self) -> str:
        """As `parse_rules` reads it; a type that it cannot express under its own name."""
        verb = next((verb for verb in _VERBS if self.type.removeprefix(verb) in _KINDS), None)
        if verb is None:
            return f"{self.type} {self.argument}".rstrip()
        words = [verb, "before" if "Before" in self.type else "", _short(self.argument) or "forever"]
        words += ["past" if self._is_past else "", *self._shown_tiers]
        return " ".join(filter(None, words))

    @property
    def _is_past(self) -> bool:
        return not self.includes_future and self.type.endswith("ByPeriod") and "Before" not in self.type

    @property
    def _shown_tiers(self) -> list[str]:
        if not self.type.startswith("load") or self.tiers == DEFAULT_TIERS:
            return []
        return [f"{name}:{copies}" for name, copies in self.tiers] or ["nowhere"]

    @property
    def json(self) -> dict[str, Any]:
        """As the coordinator reads it."""
        found: dict[str, Any] = {"type": self.type}
        if self.argument:
            found["interval" if self.type.endswith("Interval") else "period"] = self.argument
        if self.type.endswith("ByPeriod") and "Before" not in self.type:
            found["includeFuture"] = self.includes_future
        if self.type.startswith("load"):
            found["tieredReplicants"] = dict(self.tiers)
            found["useDefaultTierForNull"] = False
        return found

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


_KINDS = ("Forever", "ByPeriod", "BeforeByPeriod", "ByInterval")
"""How the types of rules end that `parse_rules` writes."""


def _short(argument: str) -> str:
    """An interval without midnights."""
    return argument.replace(_MIDNIGHT, "")


def rule_of(json: Mapping[str, Any]) -> Rule:
    argument = json.get("period") or json.get("interval") or ""
    given = json.get("tieredReplicants")
    tiers = DEFAULT_TIERS if given is None else tuple(given.items())
    return Rule(json["type"], argument, json.get("includeFuture", True), tiers)


def parse_rules(given: str) -> tuple[Rule, ...] | str:
    """The rules of druid.retention.rules in their order, or what is wrong with the text.

    A rule is `load`, `drop` or `broadcast`, then `forever`, an ISO 8601 period up to now and after it (`past`: only up
    to now; `drop before`: all that is older), or an interval `start/end` in UTC, then for `load` the tiers with the
    number of copies (`nowhere`: queries see nothing, but nothing is dropped).
    """
    rules: list[Rule] = []
    for part in given.split(","):
        rule = _rule(part.split())
        if isinstance(rule, str):
            return rule
        if rules and rules[-1].type.endswith("Forever"):
            return f"'{part.strip()}' never applies: it follows '{rules[-1]}'"
        rules.append(rule)
    return tuple(rules)


def _rule(words: list[str]) -> Rule | str:
    shown = " ".join(words)
    verb, rest = (words[0].lower(), words[1:]) if words else ("", [])
    if verb not in _VERBS:
        return f"'{shown}' does not begin with load, drop or broadcast"
    before = bool(rest) and rest[0].lower() == "before"
    if before and verb != "drop":
        return f"'{shown}': before only applies to drop"
    rest = rest[before:]
    kind, argument = _time(rest[0]) if rest else ("", "")
    if not kind or (before and kind != "ByPeriod"):
        return f"'{shown}' lacks {'a period' if before else 'forever, a period or an interval'}"
    past = len(rest) > 1 and rest[1].lower() == "past"
    if past and (before or kind != "ByPeriod"):
        return f"'{shown}': past only applies to a period"
    tiers = _tiers(rest[1 + past :], verb)
    if isinstance(tiers, str):
        return f"'{shown}': {tiers}"
    return Rule(f"{verb}{'Before' if before else ''}{kind}", argument, not past, tiers)


def _time(word: str) -> tuple[str, str]:
    """The kind of rule, and its argument in Druid's form; "" for a word that is no time."""
    if word.lower() == "forever":
        return "Forever", ""
    if PERIOD.fullmatch(word.upper()):
        return "ByPeriod", word.upper()
    start, slash, end = word.partition("/")
    try:
        first, last = (millis(each if "T" in each else f"{each}{_MIDNIGHT}") for each in (start, end))
    except DruidError:
        return "", ""
    return ("ByInterval", f"{iso(first)}/{iso(last)}") if slash and first < last else ("", "")


def _tiers(words: Sequence[str], verb: str) -> tuple[tuple[str, int], ...] | str:
    if not words:
        return DEFAULT_TIERS
    if verb != "load":
        return f"'{' '.join(words)}' only applies to load"
    if [word.lower() for word in words] == ["nowhere"]:
        return ()
    found: dict[str, int] = {}
    for word in words:
        match = _TIER.fullmatch(word)
        if match is None or match[1] in found:
            return f"'{word}' is not tier:copies, with each tier once"
        found[match[1]] = int(match[2])
    return tuple(found.items())


def rules_path(data_source: str) -> str:
    """The path of the rules of a data source's own."""
    return path_of(f"{RULES_PATH}/{{}}", data_source)


def dropping(rules: Sequence[Rule], start: int, end: int, now: int) -> Rule | None:
    """The rule by which a segment of this interval is dropped; None if it is loaded, or no rule applies."""
    first = next((rule for rule in rules if rule.applies(start, end, now)), None)
    return first if first is not None and first.drops else None


def text(rules: Sequence[Rule]) -> str:
    return ", ".join(map(str, rules))
