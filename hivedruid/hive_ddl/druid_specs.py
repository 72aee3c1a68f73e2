"""Specs of Druid's tasks and supervisors, which are not statements. Pure."""

from __future__ import annotations

import json

from hivedruid.hive_ddl.findings import Finding

_LOAD = "declare its files with CREATE EXTERNAL TABLE, and load them with INSERT INTO a Druid table"
_INSTEAD = {
    "index_hadoop": f"{_LOAD}; hivedruid builds segments with Spark or with tasks of type index_parallel",
    "index_parallel": _LOAD,
    "index": _LOAD,
    "kafka": "declare its topic with CREATE EXTERNAL TABLE … TBLPROPERTIES ('kafka.topic' = …)",
    "compact": "use ALTER TABLE … COMPACT 'major'",
}
_REMOVED = {"index_hadoop": ", a type that Druid 37 removed"}


def refusal(text: str) -> Finding | None:
    """Why a text is refused that is a spec of Druid; None if it is not one."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        spec = json.loads(text)
    except ValueError:
        return None
    kind = spec.get("type")
    if not isinstance(kind, str):
        return None
    return Finding("refused", f"a spec of Druid with type '{kind}'{_REMOVED.get(kind, '')}", _INSTEAD.get(kind, ""))
