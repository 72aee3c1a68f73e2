"""The SQL of the documentation runs, page by page, but for the blocks that need a cluster (`tests/unit/test_doc_blocks.py`
plans those)."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from hivedruid.errors import HiveDruidError
from hivedruid.session import Session
from tests.support.page_tables import GIVEN
from tests.support.pages import ROOT, Block, blocks

PAGES = {
    "README.md": "does not ingest from Kafka", "cost.md": "", "hive-ddl.md": "", "iceberg.md": "snapshot|lake", "load-data.md": "",
    "materialized-views.md": "", "partitions.md": "", "tables.md": "", "tiered.md": "", "user-functions.md": "shop|longest|words|sessions.py",
    "writing.md": "",
}  # fmt: skip
"""The pages, and the statements that do not run here, by their errors: those that need Kafka, an old snapshot, or a jar."""

FOLDERS = re.compile(r"'(/(?:data|incoming|out)/)")
"""The paths of the pages, which the test moves to a folder of its own."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "price": [1.5, 2.5]})
    for name in ("data/visits", "data/old", "data/sales", "incoming", "out"):
        (folder / name).mkdir(parents=True)
    pyarrow.parquet.write_table(rows, folder / "data" / "visits" / "part-0.parquet")
    pyarrow.orc.write_table(rows, folder / "data" / "old" / "000000_0")
    pyarrow.orc.write_table(rows, folder / "incoming" / "part-0.orc")
    (folder / "incoming" / "2024-01-05.csv").write_text("1,1.5\n2,2.5\n", encoding="utf-8")
    return folder


def runnable(page: str) -> list[Block]:
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    return [block for block in blocks(path) if block.kind in ("sql", "python") and not block.not_run]


@pytest.mark.parametrize("page", PAGES)
def test_the_statements_of_a_page(page: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed: list[str] = []
    ran = 0
    with Session(tmp_path / "home", hiveconf={"druid.url": "embedded:", "hivedruid.kafka.check": "off"}) as session:
        for statement in session.statements(GIVEN.get(page, "")):
            session.execute(statement)
        for block in runnable(page):
            if block.file:
                Path(block.file).write_text(block.text, encoding="utf-8")
            if block.kind == "python":
                continue
            for statement in session.statements(FOLDERS.sub(rf"'{files}\1", block.text), str(block)):
                try:
                    list(session.execute(statement).rows)
                    ran += 1
                except HiveDruidError as error:
                    failed.append(f"{block}: {statement.text}\n{error.message}")
    unexpected = [text for text in failed if not PAGES[page] or not re.search(PAGES[page], text)]
    assert unexpected == []
    assert ran
