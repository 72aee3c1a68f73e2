"""Druid's retention rules: which segments a rule applies to, and which are dropped."""

from __future__ import annotations

import pytest

from hivedruid.druid.granularities import DAY
from hivedruid.druid.retention import Rule, dropping, parse_rules, rule_of, text

NOW = 100 * DAY
"""1970-04-11."""


@pytest.mark.parametrize(
    ("rule", "first", "last"),
    [
        (Rule("loadForever"), 0, 110),
        (Rule("dropForever"), 0, 110),
        (Rule("loadByPeriod", "P10D"), 90, 110),
        (Rule("loadByPeriod", "P10D", includes_future=False), 90, 99),
        (Rule("broadcastByPeriod", "P10D"), 90, 110),
        (Rule("dropByPeriod", "P10D"), 90, 110),
        (Rule("dropByPeriod", "P10D", includes_future=False), 90, 99),
        (Rule("dropBeforeByPeriod", "P10D"), 0, 89),
        (Rule("loadByInterval", "1970-01-11T12:00:00.000Z/1970-01-21T12:00:00.000Z"), 10, 20),
        # of Druid 38
        (Rule("loadPartialForever"), 0, 110),
        (Rule("loadPartialByPeriod", "P10D"), 90, 110),
        (Rule("loadPartialByInterval", "1970-01-11T12:00:00.000Z/1970-01-21T12:00:00.000Z"), 10, 20),
        (Rule("dropByInterval", "1970-01-11T12:00:00.000Z/1970-01-21T12:00:00.000Z"), 11, 19),
    ],
)
def test_the_days_of_a_rule(rule: Rule, first: int, last: int) -> None:
    days = [day for day in range(111) if rule.applies(day * DAY, (day + 1) * DAY, NOW)]
    assert days == [*range(first, last + 1)]


def test_the_first_rule_that_applies_decides() -> None:
    rules = [rule_of({"type": "loadByPeriod", "period": "P10D", "tieredReplicants": {}}), Rule("dropForever")]
    assert text(rules) == "load P10D nowhere, drop forever"
    assert dropping(rules, 95 * DAY, 96 * DAY, NOW) is None
    assert dropping(rules, 50 * DAY, 51 * DAY, NOW) == Rule("dropForever")
    assert dropping(rules[:1], 50 * DAY, 51 * DAY, NOW) is None


@pytest.mark.parametrize(
    ("given", "types"),
    [
        ("load forever", ["loadForever"]),
        (
            "load P7D hot:2 _default_tier:1, load P1Y past, drop forever",
            ["loadByPeriod", "loadByPeriod", "dropForever"],
        ),
        ("drop before P3M, drop PT1H, load forever nowhere", ["dropBeforeByPeriod", "dropByPeriod", "loadForever"]),
        ("broadcast 2026-01-01/2026-02-01T12:00:00.000Z", ["broadcastByInterval"]),
        ("drop 2026-01-01/2026-02-01, broadcast P1D", ["dropByInterval", "broadcastByPeriod"]),
    ],
)
def test_rules_are_read_as_they_are_shown(given: str, types: list[str]) -> None:
    rules = parse_rules(given)
    assert isinstance(rules, tuple)
    assert [rule.type for rule in rules] == types
    assert text(rules) == given
    assert tuple(rule_of(rule.json) for rule in rules) == rules


def test_rules_in_the_form_of_the_coordinator() -> None:
    rules = parse_rules("LOAD p30d hot:2, drop before P1Y, load 2026-01-01/2026-02-01")
    assert isinstance(rules, tuple)
    assert [rule.json for rule in rules] == [
        {
            "type": "loadByPeriod", "period": "P30D", "includeFuture": True, "tieredReplicants": {"hot": 2},
            "useDefaultTierForNull": False,
        },
        {"type": "dropBeforeByPeriod", "period": "P1Y"},
        {
            "type": "loadByInterval", "interval": "2026-01-01T00:00:00.000Z/2026-02-01T00:00:00.000Z",
            "tieredReplicants": {"_default_tier": 2}, "useDefaultTierForNull": False,
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("", "'' does not begin with load, drop or broadcast"),
        ("keep forever", "'keep forever' does not begin with load, drop or broadcast"),
        ("load", "'load' lacks forever, a period or an interval"),
        ("load 30", "'load 30' lacks forever, a period or an interval"),
        ("drop 2026-02-01/2026-01-01", "'drop 2026-02-01/2026-01-01' lacks forever, a period or an interval"),
        ("load before P1D", "'load before P1D': before only applies to drop"),
        ("drop before forever", "'drop before forever' lacks a period"),
        ("load forever past", "'load forever past': past only applies to a period"),
        ("drop P1D hot:1", "'drop P1D hot:1': 'hot:1' only applies to load"),
        ("load P1D hot", "'load P1D hot': 'hot' is not tier:copies, with each tier once"),
        ("load P1D hot:1 hot:2", "'load P1D hot:1 hot:2': 'hot:2' is not tier:copies, with each tier once"),
        ("drop forever, load P1D", "'load P1D' never applies: it follows 'drop forever'"),
    ],
)
def test_what_is_wrong_with_rules(given: str, problem: str) -> None:
    assert parse_rules(given) == problem


def test_rules_that_the_text_cannot_express_show_their_type() -> None:
    assert text([rule_of({"type": "loadPartialByPeriod", "period": "P1D"})]) == "loadPartialByPeriod P1D"
