"""Every SELECT of the goldens in tests/q, computed by Spark over plain scans: the same rows as pushed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.qtest.runner import transcribe
from tests.support.spark_settings import FEW_ROWS

OF_WRITES = {
    "alter_storage", "column_changes", "constraints", "external_partitions", "insert_directory", "load_data", "macros",
    "managed_partitions", "merge", "row_changes", "row_subqueries", "temporary_tables", "tiered_changes", "tiered_writes",
}  # fmt: skip
"""Scripts about writes, whose queries only show the rows."""
SCRIPTS = sorted(path for path in (Path(__file__).parents[1] / "q").glob("*.q") if path.stem not in OF_WRITES)


def answers(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Statement, columns and sorted rows of each query in a `.q.out`."""
    for block in text.split("-- !statement\n")[1:]:
        statement, found, output = block.partition("-- !schema ")
        query = statement.strip()
        if found and query.split()[0].upper() in ("SELECT", "WITH", "FROM", "VALUES", "("):
            schema, _, rows = output.partition("\n-- !output\n")
            yield query, schema, sorted(rows.rstrip("\n").split("\n"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_nothing_but_scans_pushed(script: Path, tmp_path: Path) -> None:
    expected = list(answers(script.with_name(f"{script.name}.out").read_text(encoding="utf-8")))
    transcript = transcribe(script, scratch=tmp_path, settings={"hivedruid.pushdown": "scans", **FEW_ROWS})
    assert transcript.bugs == ()
    assert list(answers(transcript.text)) == expected
