"""The files that a query over a managed table reads: as EXPLAIN counts them, and by the metric of Iceberg's scan."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hivedruid.plan.physical import SparkJob, TableInput

if TYPE_CHECKING:
    from hivedruid.session import Session


def explained(session: Session, query: str) -> tuple[int, int]:
    """The files that EXPLAIN says are read at most, and all."""
    text = _text(session, f"EXPLAIN {query}")
    found = re.search(r"iceberg\.files: at most (\d+) of (\d+)$", text, re.MULTILINE)
    assert found, text
    return int(found[1]), int(found[2])


def scanned(session: Session, query: str, table: str = "t") -> int:
    """The data files of Iceberg's scan; 0 if Spark finds out that there is nothing to read."""
    (action,) = json.loads(_text(session, f"EXPLAIN FORMATTED {query}"))["actions"]
    read = session.catalog.get("default", table)
    inputs = tuple(TableInput(each["view"], read, tuple(each["columns"])) for each in action["inputs"])
    with session._get_spark().running(SparkJob(action["sql"], inputs, ())) as spark:
        frame = spark.sql(action["sql"])
        frame.collect()
        info = frame.executionInfo
        collected = info.metrics if info is not None else None
        assert collected is not None
        metrics = [metric for plan in collected._metrics for metric in plan.metrics]
    return sum(int(metric.value) for metric in metrics if metric.name == "resultDataFiles")


def _text(session: Session, statement: str) -> str:
    rows = (row for each in session.statements(statement) for row in session.execute(each).rows)
    return "\n".join(str(row[0]) for row in rows)
