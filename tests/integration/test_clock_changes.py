"""Days, weeks and hours of zones whose clocks change at midnight, or by half an hour."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from tests.support.both import Both, stored_in_both
from tests.support.native_json import COUNT, Json
from tests.support.planning import read

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

BEGIN = datetime(2022, 11, 1, tzinfo=UTC)
TIMES = [BEGIN + timedelta(minutes=90) * step for step in range(16 * 430)]
ZONES = (
    "Africa/Cairo", "Asia/Beirut", "America/Havana", "America/Santiago", "America/Asuncion", "Australia/Lord_Howe",
    "Atlantic/Azores", "US/Pacific",
)  # fmt: skip
PERIODS = ("PT1H", "P1D", "P1W", "P1M", "P3M", "P1Y")
AUTUMN = "2023-09-20T05:00:00Z/2023-12-01T00:00:00Z"
YEARS = "2022-01-01T00:00:00Z/2024-06-01T00:00:00Z"


@pytest.fixture(scope="module")
def both(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    rows: list[Json] = [{"__time": int(t.timestamp() * 1000), "v": 1} for t in TIMES]
    with stored_in_both(cluster, tmp_path_factory.mktemp("clocks"), rows, {"v": "long"}) as made:
        yield made


def of_granularity(kind: str, granularity: Json, intervals: str, **more: Any) -> Json:
    query: Json = {"queryType": kind, "dataSource": "edits", "granularity": granularity, "intervals": [intervals]}
    more_of_kind: dict[str, Json] = {
        "groupBy": {"dimensions": []},
        "topN": {"dimension": "v", "metric": "c", "threshold": 2},
    }
    query |= more_of_kind.get(kind, {})
    return query | {"aggregations": [COUNT, {"type": "longMin", "name": "m", "fieldName": "__time"}], **more}


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("zone", ZONES)
def test_the_embedded_store_cuts_time_as_druid_does(both: Both, zone: str, period: str) -> None:
    """Also where Hive truncates differently."""
    granularity = {"type": "period", "period": period, "timeZone": zone}
    skips = {"context": {"skipEmptyBuckets": True}}
    rounded = f"timestamp_floor(\"__time\",'{period}',null,'{zone}')"
    queries = [
        of_granularity("timeseries", granularity, AUTUMN),
        of_granularity("timeseries", granularity, YEARS, **skips),
        of_granularity("groupBy", granularity, YEARS),
        of_granularity("topN", granularity, AUTUMN),
        {
            **of_granularity("groupBy", {"type": "all"}, YEARS),
            "dimensions": [{"type": "default", "dimension": "k", "outputName": "timestamp", "outputType": "LONG"}],
            "virtualColumns": [{"type": "expression", "name": "k", "expression": rounded, "outputType": "LONG"}],
        },
    ]
    for query in queries:
        asked = both.read(query, "timestamp:l c:l m:l")
        found, expected = (sorted(engine.rows(asked), key=repr) for engine in (both.store, both.druid))
        assert found == expected, json.dumps(query)


UNITS = ("day", "week", "month", "quarter", "year")


def wall_floor(moment: datetime, unit: str) -> datetime:
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    month = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1}
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day if unit == "day" else day.replace(month=month[unit], day=1)


CONDITIONS: dict[str, Callable[[datetime], bool]] = {
    "": lambda moment: True,
    "WHERE `__time` >= '2023-03-12 06:00:00 UTC' AND `__time` < '2023-11-01 00:00:00 UTC'": lambda moment: (
        datetime(2023, 3, 12, 6, tzinfo=UTC) <= moment < datetime(2023, 11, 1, tzinfo=UTC)
    ),
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("zone", ZONES)
def test_days_and_longer_are_those_of_the_wall_clock(both: Both, zone: str, condition: str) -> None:
    """Hive 4.0.1 rounds the wall-clock time; of two instants the result is the earlier one."""
    place = ZoneInfo(zone)
    kept = [moment.astimezone(place) for moment in TIMES if CONDITIONS[condition](moment)]
    for unit in UNITS:
        walls = Counter(wall_floor(moment, unit) for moment in kept)
        instants = ((wall.replace(tzinfo=place).astimezone(UTC), count) for wall, count in walls.items())
        expected = sorted((int(instant.timestamp() * 1000), count) for instant, count in instants)
        sql = f"SELECT floor_{unit}(`__time`) AS b, count(*) AS c FROM ev {condition} GROUP BY floor_{unit}(`__time`)"
        planned = read(sql, zone)
        query = json.loads(json.dumps(planned.query).replace('"events"', '"edits"'))
        asked = both.read(query, " ".join(f"{field.name}:l" for field in planned.fields))
        for engine in (both.store, both.druid):
            assert sorted(engine.rows(asked)) == expected, (unit, query)
