"""The table of docs/pushdown.md is correct."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hivedruid.evaluation.local import fallback_reason
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.split import constant_rows, druid_read, spark_job
from tests.support.planning import plan

PAGE = Path(__file__).parents[3] / "docs" / "pushdown.md"
ROWS = re.findall(r"^\| `(SELECT .+)` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def chain(query: Mapping[str, Any]) -> str:
    """The types of a native query and of those below it."""
    source, kind = query["dataSource"], str(query["queryType"])
    if isinstance(source, str):
        return kind
    if source["type"] == "query":
        return f"{kind} over {chain(source['query'])}"
    if source["type"] == "unnest":
        return f"{kind} over unnest"
    return f"{kind} over join with {chain(source['right']['query'])}"


def pushed(sql: str) -> str:
    made = plan(sql.replace("__time", "`__time`"))
    read = druid_read(made)
    if read is not None:
        return chain(read.query)
    if constant_rows(made) is not None:
        return "nothing"
    queries = [chain(i.read.query) for i in spark_job(made).inputs if isinstance(i, DruidInput)]
    rest = "Spark" if fallback_reason(made) else "local evaluation"
    return f"{', '.join(queries)}, then {rest}"


def test_the_page_has_its_table() -> None:
    assert len(ROWS) > 20


@pytest.mark.parametrize(("sql", "expected"), ROWS)
def test_every_line_of_the_page_is_so(sql: str, expected: str) -> None:
    assert pushed(sql) == expected
