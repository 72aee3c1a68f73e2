"""Druid's retention rules: which segments a rule applies to, and which are dropped."""

from __future__ import annotations

import pytest

from hivedruid.druid.granularities import DAY
from hivedruid.druid.retention import Rule, dropping, rule_of, text

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
    assert text(rules) == "loadByPeriod P10D, dropForever"
    assert dropping(rules, 95 * DAY, 96 * DAY, NOW) is None
    assert dropping(rules, 50 * DAY, 51 * DAY, NOW) == Rule("dropForever")
    assert dropping(rules[:1], 50 * DAY, 51 * DAY, NOW) is None
