"""The time buckets of a query with a granularity, and the bucket of each row.

Druid finds the first bucket of each segment by rounding down, and each following one by adding a period. If the clocks
of a zone skip the start of a day, that day and all following days start late.
"""

from __future__ import annotations

from typing import NamedTuple

from hivedruid.embedded import intervals as time
from hivedruid.embedded.granularity import Granularity
from hivedruid.embedded.relations import TIME, Relation
from hivedruid.embedded.sql import identifier
from hivedruid.plan import literals

Spans = tuple[tuple[int, int], ...]

_SEGMENT, _BUCKET = identifier("$segment"), identifier("$bucket")


class Buckets(NamedTuple):
    """The rows to read, SQL for the bucket of a row, and SQL that lists all buckets, if buckets are not found by
    rounding."""

    rows: Relation
    start: str
    listed: str | None


def bucketed(granularity: Granularity, rows: Relation, spans: Spans) -> Buckets:
    """What a query with a granularity other than `all` reads and groups by."""
    from hivedruid.druid.clocks import disturbance

    unit = granularity.unit
    zone = literals.zone_of(granularity.zone.name) if granularity.zone.name else None
    if unit is None or zone is None or not disturbance(zone, unit, spans):
        return Buckets(rows, granularity.floor(identifier(TIME)), None)
    whole = (f"SELECT CAST({start} AS BIGINT) AS lo, CAST({end - 1} AS BIGINT) AS hi" for start, end in spans)
    segments = rows.spans or " UNION ALL ".join(whole)
    parts = (
        f"SELECT greatest(lo, {start}) AS lo, max(least(hi, {end - 1})) AS hi FROM ({segments}) AS s"
        f" WHERE hi >= {start} AND lo < {end} GROUP BY 1"
        for start, end in spans or ((time.MIN_INSTANT, time.MAX_INSTANT),)
    )
    following = granularity.end("b.start")
    steps = (
        "WITH RECURSIVE b AS ("
        f"SELECT lo, hi, {granularity.floor('lo')} AS start FROM ({' UNION ALL '.join(parts)}) AS p"
        f" UNION ALL SELECT lo, hi, {following} FROM b WHERE {following} <= hi)"
        f" SELECT lo, start, {granularity.floor('start')} AS rounded FROM b"
    )
    # the parts of a bucket in two segments are one row, with the rounded time
    stamp = "CASE WHEN count(*) OVER (PARTITION BY rounded) > 1 THEN rounded ELSE start END"
    listed = f"SELECT lo, start, {stamp} AS stamp FROM ({steps}) AS s"
    instant = identifier(TIME)
    sql = (
        f"SELECT r.* EXCLUDE ({_SEGMENT}), k.stamp AS {_BUCKET} FROM ("
        f"SELECT t.*, g.lo AS {_SEGMENT} FROM ({rows.sql}) AS t"
        f" ASOF JOIN (SELECT DISTINCT lo FROM ({listed}) AS l) AS g ON t.{instant} >= g.lo) AS r"
        f" ASOF JOIN ({listed}) AS k ON r.{_SEGMENT} = k.lo AND r.{instant} >= k.start"
    )
    read = Relation(sql, rows.columns, rows.spans, is_in_time=rows.is_in_time)
    return Buckets(read, _BUCKET, f'SELECT DISTINCT stamp AS "timestamp" FROM ({listed}) AS l')
