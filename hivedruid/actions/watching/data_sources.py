"""SHOW DATA SOURCES: what the session's Druid has, also without a table of the catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hivedruid.actions.services import Services
from hivedruid.actions.utility.show import matches
from hivedruid.actions.watching.model import ListDataSources
from hivedruid.catalog.archives import Batches
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.types import BIGINT, STRING
from hivedruid.druid.interval_sets import iso
from hivedruid.druid.retention import Rule, text
from hivedruid.engine.capabilities import Retention, SegmentLists
from hivedruid.engine.kinds import find
from hivedruid.engine.segments import Segment
from hivedruid.results import Result, ResultColumn

COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "data_source": STRING, "tables": STRING, "segments": BIGINT, "rows": BIGINT, "bytes": BIGINT, "start": STRING,
        "end": STRING, "retention": STRING, "archived": STRING,
    }.items()
)  # fmt: skip
Row = tuple[str | int | None, ...]


def list_data_sources(action: ListDataSources, services: Services) -> Result:
    like, engine = action.like, services.druid()
    names = [name for name in engine.data_sources() if like is None or matches(like, name)]
    segments = services.engine(SegmentLists).listed_segments(names)
    retention = find(engine, Retention)
    rules = retention.retention_rules(names) if retention is not None and names else {}
    tables, archived = _tables(services.catalog)
    rows = [
        row(name, tables.get(name, ()), listed, rules.get(name, ()), archived.get(name))
        for name, listed in zip(names, segments, strict=True)
    ]
    return Result(COLUMNS, iter(rows))


def row(name: str, tables: Sequence[str], segments: Sequence[Segment], rules: Sequence[Rule], edge: int | None) -> Row:
    """Of the segments that newer ones do not hide. Times are those of segments, as text: Druid's eternity is beyond any
    timestamp. `edge` is the end of the archived rows."""
    used = [segment for segment in segments if segment.state not in ("overshadowed", "unused", "tombstone")]
    counts = [segment.rows for segment in used if segment.rows is not None]
    return (
        name, ", ".join(tables) or None, len(used), sum(counts) if len(counts) == len(used) else None,
        sum(segment.size for segment in used), iso(min(s.start for s in used)) if used else None,
        iso(max(s.end for s in used)) if used else None, text(rules) or None,
        None if edge is None else f"up to {iso(edge)}",
    )  # fmt: skip


def _tables(catalog: Catalog) -> tuple[Mapping[str, Sequence[str]], Mapping[str, int]]:
    """The tables over each data source, and the end of the rows that were archived from it."""
    tables: dict[str, list[str]] = {}
    edges: dict[str, int] = {}
    batches = Batches(catalog)
    for table in catalog.druid_tables():
        name = table.data_source
        tables.setdefault(name, []).append(table.full_name)
        edge = batches.edge(table.table_id)
        if edge is not None:
            edges[name] = edge
    return tables, edges
