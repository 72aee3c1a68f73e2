"""Druid tables of the embedded store with rows that are written without Spark."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hivedruid.session import Session
from tests.support.loads import index_task, ingest

EDITS = "`__time` timestamp, page string, added bigint"
EDIT_ROWS: tuple[Mapping[str, Any], ...] = (
    {"__time": 0, "page": "a", "added": 1},
    {"__time": 3_600_000, "page": "b", "added": 2},
    {"__time": 7_200_000, "page": None, "added": None},
)


def create(
    home: Path, name: str = "edits", columns: str = EDITS, rows: Iterable[Mapping[str, Any]] = EDIT_ROWS
) -> Path:
    """A home folder with a table that has these rows."""
    with Session(home) as session, tempfile.TemporaryDirectory() as folder:
        for statement in session.statements(
            f"CREATE EXTERNAL TABLE {name} ({columns}) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false')"
        ):
            session.execute(statement)
        Path(folder, "rows.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        table = session.catalog.resolve("default", name)
        assert table is not None
        ingest(session.store, index_task(table, Path(folder)))
    return home
