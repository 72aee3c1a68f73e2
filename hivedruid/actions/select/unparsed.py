"""Notes about values that Druid could not parse and treats differently as long as its tasks have them in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from hivedruid.actions.services import Services
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.engine.kinds import find
from hivedruid.ingestion.model import UnparsedValues
from hivedruid.plan.physical import DruidRead


def note_unparsed(reads: Iterable[DruidRead], services: Services) -> None:
    """Note the columns that native queries compute with, and of which growing segments have such values.

    Rows that are only returned have NULL for them, before and after. This never fails a query.
    """
    computed = [(read.query, text) for read in reads if (text := _computed(read.query))]
    engine = find(services.druid(), KafkaIngestion) if computed else None
    if engine is None:
        return
    sources = sorted({source for query, _ in computed for source in _sources(query.get("dataSource"))})
    for source in sources:
        values = engine.unparsed_values(source)
        if values is not None:
            texts = [text for query, text in computed if source in _sources(query.get("dataSource"))]
            for note in _notes(source, values, texts):
                services.note(note)


def _computed(query: Mapping[str, Any]) -> str:
    """The parts of a query that compute with columns, as text; "" for a scan that only returns rows."""
    returned = ("columns", "columnTypes") if query.get("queryType") == "scan" else ()
    parts = {key: item for key, item in query.items() if key not in (*returned, *_WITHOUT_COLUMNS)}
    if isinstance(parts.get("dataSource"), str):
        del parts["dataSource"]
    return json.dumps(parts, ensure_ascii=False) if parts else ""


_WITHOUT_COLUMNS = ("queryType", "intervals", "granularity", "context", "resultFormat", "limit", "offset")
"""Parts of a query that name no columns."""


def _sources(source: Any) -> Iterator[str]:
    """The data sources in the dataSource of a query, at any depth."""
    if isinstance(source, str):
        yield source
    elif isinstance(source, list):
        for item in source:
            yield from _sources(item)
    elif isinstance(source, dict):
        if source.get("type") == "table":
            yield str(source.get("name"))
        for key in ("dataSource", "dataSources", "left", "right", "base"):
            yield from _sources(source.get(key))
        yield from _sources((source.get("query") or {}).get("dataSource"))


def _notes(source: str, values: UnparsedValues, texts: Iterable[str]) -> Iterator[str]:
    whole = " ".join(texts)
    columns = sorted(field for field in values.fields if _is_in(field, whole))
    if not columns:
        return
    named = f"column {columns[0]}" if len(columns) == 1 else f"columns {', '.join(columns)}"
    until = "until a task writes them to disk, or ends"
    if values.persisted_from is not None:
        moment = datetime.fromtimestamp(values.persisted_from / 1000, UTC)
        until = f"until a record arrives after {moment:%Y-%m-%d %H:%M:%S} UTC, or the task ends"
    yield (
        f"{named} of {source}: Druid could not parse some values that its running tasks have read; {until},"
        " conditions, groups and aggregates may read them as 0 instead of NULL"
    )


def _is_in(field: str, query: str) -> bool:
    """Whether a query, as JSON, has a column of that name, not only a key; expressions have names in quotes."""
    name = json.dumps(field, ensure_ascii=False)[1:-1]
    return re.search(rf'"{re.escape(name)}\\?"(?!:)', query) is not None
