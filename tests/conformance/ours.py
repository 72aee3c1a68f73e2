"""A few cases for the tests of the command itself: one for each feature."""

from __future__ import annotations

from collections.abc import Mapping

from tests.conformance.cases import Case, Expected, Peer
from tests.support.planning import events

_TIMESERIES = {"queryType": "timeseries", "dataSource": "events", "intervals": ["1900-01-01/3000-01-01"]}
_GROUP_BY = {"queryType": "groupBy", "dataSource": "events", "intervals": ["2020-01-01/3000-01-01"]}
_SCAN = {"queryType": "scan", "dataSource": "events", "intervals": ["1900-01-01/3000-01-01"]}


def _case(number: int, sql: str, native: Mapping[str, object] | None) -> Case:
    peer = Peer("hive", native is not None, (native,) if native else ())
    return Case(f"ours#{number}", "ours", sql, "US/Pacific", (events(),), peer, Expected())


OURS = tuple(
    _case(number, sql, native)
    for number, (sql, native) in enumerate(
        [
            ("SELECT count(*), sum(clicks), max(revenue) FROM ev", _TIMESERIES),
            ("SELECT floor_day(`__time`), sum(clicks) FROM ev GROUP BY floor_day(`__time`)", _TIMESERIES),
            ("SELECT country, sum(imps) s FROM ev WHERE `__time` >= '2020-01-01' GROUP BY country ORDER BY s DESC, country LIMIT 3", _GROUP_BY),
            ("SELECT city, clicks FROM ev WHERE is_mobile AND country IN ('US', 'DE')", _SCAN),
            ("SELECT city FROM ev ORDER BY clicks, city LIMIT 5", None),
            ("SELECT 1 + 1", None),
        ]
    )
)  # fmt: skip
