"""Cases in which the rows that a peer's test expects are not Hive's result: the reasons, by features of the query."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from tests.conformance.cases import Case

Rule = Callable[[Case], bool]


def _says(pattern: str) -> Rule:
    return lambda case: re.search(pattern, case.sql, re.IGNORECASE | re.DOTALL) is not None


def _estimates(case: Case) -> bool:
    return re.search(r'"(hyperUnique|cardinality|thetaSketch|HLLSketch\w*)"', json.dumps(case.peer.queries)) is not None


def _in_another_zone(case: Case) -> bool:
    return case.zone != "UTC" and re.search(r"AS TIMESTAMP\)|TIMESTAMP '", case.sql) is not None


def _sums_nothing(case: Case) -> bool:
    """The test expects zero for a SUM without groups, the first column, as Druid returns it over no rows."""
    rows = case.expected.rows or ()
    is_zero = len(rows) == 1 and rows[0][0] in ("0", "0.0")
    return is_zero and re.match(r"\s*SELECT\s+SUM\(", case.sql, re.IGNORECASE) is not None


OTHER: dict[str, tuple[tuple[Rule, str], ...]] = {
    "calcite": (
        (_says(r"/ 0\b|DIV 0\b"), "a division by zero is NULL in Hive, NaN or infinite in Calcite"),
        (_estimates, "Calcite asks for an estimate of COUNT(DISTINCT), hivedruid counts"),
        (_says(r"DAYOFWEEK|EXTRACT\(DOW\b"), "Hive counts the days of a week from Sunday, Druid from Monday"),
        (_in_another_zone, "a literal is a wall clock of the session in Hive, one of UTC in Calcite"),
    ),
    "hive": (
        (
            _says(r"\bLN\("),
            "the Druid of Hive's tests held NaN, its logarithm of a negative number, for more than any number",
        ),
        (_sums_nothing, "the sum of no rows is NULL in Hive, 0 in the Druid of its tests"),
        (_says(r"\|\||!= '"), "the Druid of Hive's tests read a null text as an empty one"),
        (_says(r"GROUP BY \w*boolean"), "the Druid of Hive's tests read a null boolean as false"),
        (_says(r"JOIN .* = \S*boolean"), "Hive read every boolean of its Druid table as the same one in a join"),
        (
            _says(r"GROUP BY CAST\(`__time` AS TIMESTAMP\) ORDER|JOIN .*\.ctimestamp1 = "),
            "378 of the rows that come with Hive's cases are a minute earlier than in its ORC file",
        ),
    ),
}
"""For each peer: conditions for cases, and Hive's semantics in them."""


def other_meaning(case: Case) -> str | None:
    """The reason why Hive's result of a case differs from the peer's; None if it should be the same."""
    return next((reason for rule, reason in OTHER[case.peer.name] if rule(case)), None)
