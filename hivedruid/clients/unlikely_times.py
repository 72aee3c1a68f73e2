"""The rows of a data source with unlikely times, counted by a native query."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.clients import wire
from hivedruid.clients.druid import QUERY, DruidClient
from hivedruid.ingestion.times import UnlikelyTimes, unlikely_intervals


def unlikely_times(client: DruidClient, data_source: str, now: datetime) -> UnlikelyTimes | None:
    """Those of stored rows, and of rows in the memory of tasks; None if there are none. Druid reads no segment of other
    times. Raises DruidError, ConnectError."""
    intervals = unlikely_intervals(now)
    counted = {"type": "count", "name": "rows"}
    of_1970 = {"type": "interval", "dimension": TIME_COLUMN, "intervals": intervals[:1]}
    query = {
        "queryType": "timeseries", "dataSource": data_source, "intervals": intervals, "granularity": "all",
        "aggregations": [
            counted, {"type": "filtered", "filter": of_1970, "aggregator": {**counted, "name": "in_1970"}},
            {"type": "longMin", "name": "first", "fieldName": TIME_COLUMN},
            {"type": "longMax", "name": "last", "fieldName": TIME_COLUMN},
        ],
        "context": {"queryId": f"hivedruid-{uuid4()}", "skipEmptyBuckets": True},
    }  # fmt: skip
    found: list[dict[str, Any]] = client.post("broker", QUERY, list[wire.JsonObject], query)
    counts = found[0]["result"] if found else {}
    rows, in_1970 = int(counts.get("rows") or 0), int(counts.get("in_1970") or 0)
    return UnlikelyTimes(in_1970, rows - in_1970, counts["first"], counts["last"]) if rows else None
