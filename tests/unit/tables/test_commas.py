"""Columns whose name contains a comma, whose segments Druid cannot load, reach no statement that writes to Druid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.errors import SemanticError
from hivedruid.session import Session

SOURCE = "CREATE TABLE source (at TIMESTAMP, `a,b` STRING, c STRING)"
OVER_OTHERS = (
    "CREATE EXTERNAL TABLE over_others (`__time` TIMESTAMP, `a,b` STRING) STORED BY 'druid'"
    " TBLPROPERTIES ('druid.datasource' = 'others')"
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path / "home") as made:
        for text in (SOURCE, OVER_OTHERS, "CREATE TABLE d (`__time` TIMESTAMP, c STRING) STORED BY 'druid'"):
            run(made, text)
        yield made


def run(session: Session, text: str) -> None:
    for statement in session.statements(text):
        list(session.execute(statement).rows)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE x STORED BY 'druid' AS SELECT at AS `__time`, `a,b` FROM source",
        "CREATE TABLE x STORED BY 'druid' AS SELECT at AS `__time`, c AS `a,b` FROM source",
        "CREATE EXTERNAL TABLE x STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'new') AS SELECT at AS `__time`,"
        " `a,b` FROM source",
        "INSERT INTO over_others SELECT at, c FROM source",
        "INSERT OVERWRITE TABLE over_others VALUES ('2026-01-01', 'x')",
        "CREATE MATERIALIZED VIEW x STORED BY 'druid' AS SELECT at AS `__time`, `a,b` FROM source",
        "ALTER TABLE d ADD COLUMNS (`a,b` STRING)",
    ],
)
def test_a_comma_is_refused(text: str, session: Session) -> None:
    with pytest.raises(SemanticError, match="column name 'a,b' contains a comma: Druid cannot load segments"):
        run(session, text)


def test_a_name_with_as_is_written(session: Session) -> None:
    run(session, "EXPLAIN CREATE TABLE x STORED BY 'druid' AS SELECT at AS `__time`, `a,b` AS a_b FROM source")
