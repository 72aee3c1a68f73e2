"""`hivedruid import-hive` over folders: what runs, judged by statement without running it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hivedruid.cli import main

SCRIPTS = {
    "etl/10_load.hql": """\
USE shop;
SET hivevar:day=2024-01-05;
INSERT OVERWRITE TABLE orders PARTITION (day = '${day}') SELECT id, nope FROM staged;
INSERT OVERWRITE TABLE orders PARTITION (day = '${day}') SELECT id, price FROM staged WHERE day = '${day}';
SELECT java_method('java.lang.Math', 'abs', id) FROM orders;
SELECT * FROM elsewhere.rates;
""",
    "etl/ignored.txt": "no script",
    "sql/ddl.sql": """\
CREATE DATABASE shop;
CREATE TABLE shop.orders (id INT, price DOUBLE) PARTITIONED BY (day STRING) CLUSTERED BY (id) INTO 4 BUCKETS STORED AS ORC;
CREATE EXTERNAL TABLE shop.staged (id INT, price DOUBLE, day STRING);
LOAD DATA LOCAL INPATH '/nowhere/at/all' INTO TABLE shop.staged;
SELECT count(*) FROM ${source};
GRANT SELECT ON TABLE shop.orders TO USER me;
""",
}
STATUSES = [
    ("etl/10_load.hql", 1, "runs"),
    ("etl/10_load.hql", 2, "runs"),
    ("etl/10_load.hql", 3, "cannot run"),
    ("etl/10_load.hql", 4, "runs"),
    ("etl/10_load.hql", 5, "cannot run"),
    ("etl/10_load.hql", 6, "not checked"),
    ("sql/ddl.sql", 1, "runs"),
    ("sql/ddl.sql", 2, "runs"),
    ("sql/ddl.sql", 3, "runs"),
    ("sql/ddl.sql", 4, "not checked"),
    ("sql/ddl.sql", 5, "not checked"),
    ("sql/ddl.sql", 6, "left out"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in SCRIPTS.items():
        path = tmp_path / "scripts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "scripts"


def reported(folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    report = folder.parent / "report.json"
    code = main(["import-hive", "-q", "--check", str(folder), "--report", str(report), *options])
    return code, json.loads(report.read_text())


def test_every_statement_of_a_folder_is_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = reported(folder)
    assert code == 1
    found = [(str(Path(s["file"]).relative_to(folder)), s["line"], s["status"]) for s in report["statements"]]
    assert found == STATUSES
    assert report["summary"] == {"runs": 6, "changed": 0, "left out": 1, "not checked": 3, "cannot run": 2}
    assert report["statements"][2]["findings"] == [
        {"kind": "refused", "reason": "unknown column 'nope'", "next": "available columns: id, price, day"}
    ]
    lines = capsys.readouterr().out.splitlines()
    assert lines[-7] == "12 statements: 6 run as they are, 0 changed, 1 left out, 3 not checked, 2 cannot run"
    assert lines[-6] == f"  cannot run: {folder}/etl/10_load.hql:3: unknown column 'nope'"
    assert lines[-1] == "  without effect: CLUSTERED BY: rows are not divided into files by values"


def test_variables_have_values(folder: Path) -> None:
    _, report = reported(folder, "--hivevar", "source=shop.orders")
    assert report["statements"][10]["status"] == "runs"


def test_what_cannot_run_is_a_comment_and_the_rest_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "etl" / "10_load.hql").unlink()
    text = (folder / "sql" / "ddl.sql").read_text().replace("LOAD DATA", "SELECT nope(1);\nLOAD DATA")
    (folder / "sql" / "ddl.sql").write_text(text)
    report = folder.parent / "report.txt"
    assert main(["import-hive", str(folder), "--report", str(report)]) == 1
    shown = capsys.readouterr()
    assert "--   refused: unknown function 'nope'" in shown.out
    assert "--| SELECT nope(1)" in shown.out
    assert shown.err.splitlines() == report.read_text().splitlines()[-len(shown.err.splitlines()) :]


def test_a_folder_without_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-hive", str(tmp_path)]) == 2
    assert "contains no script" in capsys.readouterr().err
