"""`hivedruid lint`: a line for each finding of import-hive, and an exit code for hooks."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.cli import main

if TYPE_CHECKING:
    import pytest

SCRIPT = """\
SELECT 1;

CREATE EXTERNAL TABLE edits (`__time` TIMESTAMP) STORED BY 'druid'
TBLPROPERTIES ('kafka.topic' = 'edits', 'kafka.bootstrap.servers' = 'localhost:9092', 'druid.rollup' = 'true',
  'druid.kafka.ingestion.skipOffsetGaps' = 'true');
SET ROLE admin;
CREATE INDEX i ON TABLE t (a) AS 'COMPACT';
"""


def test_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.hql").write_text(SCRIPT)
    assert main(["lint", "."]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "old.hql:3: note: 'druid.rollup' = 'true' takes effect; Hive read every value of the property as false: use 'false' to"
        " keep that",
        "old.hql:3: dropped: 'druid.kafka.ingestion.skipOffsetGaps' (Druid skips gaps by itself)",
        "old.hql:6: dropped: SET ROLE has no effect: hivedruid has no users or roles",
        "old.hql:7: refused: CREATE INDEX is not supported; Druid indexes all string columns",
    ]
    assert err == "scripts: 1; to change: 3; notes: 1\n"
    assert Path("old.hql").read_text() == SCRIPT


def test_notes_alone_do_not_fail(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"CREATE TABLE t (`__time` TIMESTAMP) STORED BY 'druid'; SHOW JOBS"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["lint", "-q", "-"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("line 1: note: without EXTERNAL, DROP TABLE deletes the data source")
    assert (len(out.splitlines()), err) == (1, "")


def test_a_script_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "open.q"
    script.write_text("SELECT 'a")
    assert main(["lint", str(script)]) == 2
    assert "open.q:1:8" in capsys.readouterr().err


def test_the_examples_have_no_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(Path(__file__).parents[3] / "examples")]) == 0
    assert capsys.readouterr().out == ""
