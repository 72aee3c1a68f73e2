"""`hivedruid import-hive`: a script that runs, its report, and its exit code."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from hivedruid.cli import main

OLD = """\
-- nightly
SET hive.druid.metadata.password=hunter2;
CREATE EXTERNAL TABLE edits (`__time` timestamp, page string -- a comment; with 'quotes
)
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES (
  "kafka.topic" = "edits", "kafka.bootstrap.servers" = "b1:9092",
  "druid.kafka.ingestion.taskDuration" = "PT30S",
  "druid.kafka.ingestion.consumer.sasl.jaas.config" = 'x required password="hunter2";'
);
ADD JAR /opt/x.jar;
SELECT 1 -- the end
;
"""

NEW = """\
-- nightly
-- {file}:2: SET hive.druid.metadata.password: left out
--   dropped: hive.druid.metadata.password (the metadata database is not accessed)

-- {file}:3: CREATE EXTERNAL TABLE edits (a Druid table with Kafka ingestion): changed
--   changed: 'druid.kafka.ingestion.taskDuration' = 'PT30S' is now 'PT1M': Druid tasks fail with less than a minute
--   changed: 'druid.kafka.ingestion.consumer.sasl.jaas.config' is now 'env:KAFKA_SASL_JAAS_CONFIG'; store the secret in the environment \
variable KAFKA_SASL_JAAS_CONFIG on the hosts of Druid's tasks and overlord; sasl.jaas.config names the login module x, which is not allowed
CREATE EXTERNAL TABLE edits (`__time` timestamp, page string -- a comment; with 'quotes
)
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES (
  "kafka.topic" = "edits",
  "kafka.bootstrap.servers" = "b1:9092",
  'druid.kafka.ingestion.taskDuration' = 'PT1M',
  'druid.kafka.ingestion.consumer.sasl.jaas.config' = 'env:KAFKA_SASL_JAAS_CONFIG');

-- {file}:11: ADD JAR: runs
--   note: cannot read /opt/x.jar on this machine
ADD JAR /opt/x.jar;

-- {file}:12: SELECT 1: runs
SELECT 1 -- the end
;

"""

BAD = """\
CREATE EXTERNAL TABLE t (`__time` timestamp)
PARTITIONED BY (d string) STORED BY 'druid' TBLPROPERTIES ('a.password' = 'hunter2');
USE default;
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.q"
    path.write_text(OLD)
    return path


def test_the_script_that_comes_out_runs(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-hive", str(old)]) == 0
    shown = capsys.readouterr()
    assert shown.out == NEW.format(file=old)
    assert shown.err == "4 statements: 2 run as they are, 1 changed, 1 left out, 0 not checked, 0 cannot run\n"
    new = tmp_path / "new.q"
    new.write_text(shown.out)
    assert main(["sql", "--home", str(tmp_path / "home"), "-f", str(new), "--format", "tsv", "--no-header"]) == 0
    assert capsys.readouterr().out == "1\n"
    assert main(["import-hive", "--quiet", str(new)]) == 0
    again = capsys.readouterr()
    outcomes = [line.rpartition(": ")[2] for line in again.out.splitlines() if line.startswith(f"-- {new}:")]
    assert outcomes == ["runs", "runs", "runs"]
    assert again.err == ""


def test_what_cannot_be_mapped_is_a_comment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.q"
    path.write_text(BAD)
    assert main(["import-hive", str(path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"-- {path}:1: CREATE EXTERNAL TABLE t: cannot run",
        "--   changed: 'a.password' is now 'env:A_PASSWORD'; store the secret in the environment variable A_PASSWORD",
        "--   refused: PARTITIONED BY may not be specified for Druid; Druid partitions by time: see druid.segment.granularity",
        "--| CREATE EXTERNAL TABLE t (`__time` timestamp)",
        "--| PARTITIONED BY (d string) STORED BY 'druid' TBLPROPERTIES ('a.password' = '******",
        "",
        f"-- {path}:3: USE default: runs",
        "USE default;",
        "",
    ]


def test_check_reports_and_prints_no_statement(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.q"
    bad.write_text(BAD)
    assert main(["import-hive", "--check", str(old)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{old}:2: SET hive.druid.metadata.password: left out"
    assert lines[1] == "  dropped: hive.druid.metadata.password (the metadata database is not accessed)"
    assert not any("STORED BY" in line for line in lines)
    assert main(["import-hive", "--check", str(old), str(bad)]) == 1
    assert f"{bad}:1: CREATE EXTERNAL TABLE t: cannot run" in capsys.readouterr().out


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n\nCREATE TABLE t (a int)\nTBLPROPERTIES ('numRows'='0')"))
    )
    assert main(["import-hive", "-q", "-"]) == 0
    assert capsys.readouterr().out == (
        "-- line 3: CREATE TABLE t (a managed table): changed\n"
        "--   dropped: numRows (Hive's own bookkeeping)\n"
        "CREATE TABLE t (a int);\n\n"
    )


@pytest.mark.parametrize(
    ("text", "error"), [("SELECT 'x", "unterminated string"), ("\xff", "is not UTF-8 text"), (None, "cannot read")]
)
def test_a_file_that_cannot_be_read(
    text: str | None, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.q"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    assert main(["import-hive", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert error in shown.err


def test_no_secret_is_shown(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old.write_text(OLD.replace("nightly", "'x.password' = 'hunter2'") + BAD)
    main(["import-hive", str(old)])
    main(["import-hive", "--check", str(old)])
    shown = capsys.readouterr()
    assert "hunter2" not in shown.out + shown.err


def test_without_files_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-hive"]) == 2
    assert "run hivedruid import-hive --help" in capsys.readouterr().err
