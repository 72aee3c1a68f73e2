"""Limits beyond which a Druid cluster refuses queries."""

from __future__ import annotations

from hivedruid.lazy_dataclass import dataclass


@dataclass(frozen=True)
class DruidLimits:
    """Limits of a Druid cluster; None if there is no limit or it is unknown. `subquery_rows`: rows of a subquery
    (druid.server.http.maxSubqueryRows). `merge_buffers`: groupBys that one query may nest
    (druid.processing.numMergeBuffers). `sketches`: whether it has the extension druid-datasketches; `unions`: whether
    it returns unions of sketches, which the embedded store does not compute.
    """

    subquery_rows: int | None = None
    merge_buffers: int | None = None
    sketches: bool = True
    unions: bool = False


NO_LIMITS = DruidLimits()
