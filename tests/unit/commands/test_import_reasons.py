"""`hivedruid import-hive`: why a statement is not checked or cannot run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hivedruid.cli import main

SHOP = Path(__file__).parents[2] / "hive" / "functions" / "shop.jar"
DRUID = "STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'"
SCRIPT = f"""\
SET hive.exec.parallel=true;
set mapreduce.job.queuename=etl;
SET hive.exec.paralel=true;
SET hive.exec.parallel=false;
ADD JAR /nowhere/serde.jar /nowhere/udf.jar;
ADD FILE words.py /nowhere/stop.txt;
CREATE TEMPORARY FUNCTION shout AS 'com.acme.Shout';
CREATE TEMPORARY FUNCTION cry AS 'com.acme.Cry' USING JAR '/nowhere/cry.jar';
CREATE TABLE lines (id INT, line STRING, day STRING) CLUSTERED BY (id) INTO 4 BUCKETS STORED AS ORC;
SELECT shout(line), cry(line) FROM lines;
SELECT line FROM lines WHERE day = '${{day}}';
SELECT nope FROM lines WHERE day = '${{day}}';
CREATE TABLE ${{db}}.more (a INT);
ALTER TABLE ${{db}}.more SET TBLPROPERTIES ('numRows' = '1');
SELECT * FROM lines LIMIT ${{hiveconf:most}};
CREATE EXTERNAL TABLE wiki {DRUID} TBLPROPERTIES ('druid.datasource' = 'wiki');
SELECT channel FROM wiki;
CREATE EXTERNAL TABLE edits (`__time` TIMESTAMP, page STRING) {DRUID}
TBLPROPERTIES ('kafka.topic' = 'edits', 'kafka.bootstrap.servers' = 'b:9092');
ALTER TABLE edits SET TBLPROPERTIES ('druid.kafka.ingestion' = 'START');
SHOW INGESTIONS;
CREATE TABLE wrong (a MONEY);
SELECT a FROM wrong;
CREATE TABLE later AS SELECT * FROM elsewhere;
INSERT INTO lines SELECT id, line, day FROM later;
SELECT TRANSFORM (line) USING 'python words.py' AS (word) FROM lines;
SELECT qqqq(line) FROM lines;
quit;
"""
UNSET = "use --hivevar NAME=VALUE, or --hiveconf for ${hiveconf:NAME}"
ON_CLUSTER = "run EXPLAIN with --druid URL"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "old.q"
    path.write_text(SCRIPT)
    (tmp_path / "words.py").write_text("")
    return path


def reported(script: Path, *options: str) -> dict[str, Any]:
    report = script.with_name("report.json")
    main(["import-hive", "-q", "--check", str(script), "--report", str(report), *options])
    parsed: dict[str, Any] = json.loads(report.read_text())
    return parsed


def judgments(script: Path, *options: str) -> dict[int, tuple[str, list[tuple[str, str | None]]]]:
    """By the line of a statement, if there is anything to say of it: its status, and the reasons with the next step."""
    found = reported(script, *options)["statements"]
    return {
        each["line"]: (each["status"], [(f["reason"], f["next"]) for f in each["findings"]])
        for each in found
        if each["findings"]
    }


def test_reasons_are_true_without_services_files_and_variables(script: Path) -> None:
    jars = "/nowhere/serde.jar, /nowhere/udf.jar cannot be read"
    assert judgments(script) == {
        5: ("runs", [(f"cannot read /nowhere/{name} on this machine", None) for name in ("serde.jar", "udf.jar")]),
        6: ("runs", [("cannot read /nowhere/stop.txt on this machine", None)]),
        7: (
            "not checked",
            [
                (
                    f"not checked: no Java class com.acme.Shout in the jars, and {jars}",
                    "ADD JAR takes the path of a jar on this machine",
                )
            ],
        ),
        8: (
            "not checked",
            [("not checked: no file /nowhere/cry.jar", "USING JAR takes the path of a jar on this machine")],
        ),
        10: ("not checked", [(f"not checked: shout is created by {script}:7, which is not checked", "see there")]),
        11: ("runs", [("no value for ${day}: the text stays as it is", UNSET)]),
        12: ("not checked", [("not checked: unknown column 'nope' (no value for ${day})", UNSET)]),
        13: ("not checked", [unset("db", "--hivevar db=value or SET hivevar:db=value")]),
        14: ("not checked", [unset("db", "--hivevar db=value or SET hivevar:db=value")]),
        15: ("not checked", [unset("hiveconf:most", "--hiveconf most=value or SET most=value")]),
        16: ("not checked", [("not checked: the columns of the data source are read from Druid", ON_CLUSTER)]),
        17: ("not checked", [(f"not checked: wiki is created by {script}:16, which is not checked", "see there")]),
        20: ("not checked", [("not checked: it needs a Druid cluster", ON_CLUSTER)]),
        21: ("not checked", [("not checked: it needs a Druid cluster", ON_CLUSTER)]),
        22: ("cannot run", [("unknown type 'money'", None)]),
        23: ("not checked", [(f"not checked: wrong is created by {script}:22, which cannot run", "see there")]),
        24: ("not checked", [("not checked: Table not found elsewhere", "add the script that creates it")]),
        25: ("not checked", [(f"not checked: later is created by {script}:24, which is not checked", "see there")]),
        26: (
            "cannot run",
            [
                (
                    "TRANSFORM … USING is disabled: it runs any command on the machines that run the query",
                    "SET hivedruid.transform.enabled=true if you trust the script, or use CREATE FUNCTION f AS"
                    " 'module.function'",
                )
            ],
        ),
        27: ("cannot run", [("unknown function 'qqqq'", "run SHOW FUNCTIONS to list the functions")]),
        28: ("left out", [("quit (a script ends after its last statement)", None)]),
    }


def unset(name: str, how: str) -> tuple[str, str]:
    return f"not checked: variable ${{{name}}} is not set", f"set it with {how}"


def test_variables_with_values_are_no_reason(script: Path) -> None:
    given = ("-d", "day=1", "-d", "db=default", "--hiveconf", "most=5")
    found = judgments(script, *given)
    assert 11 not in found
    assert found[12] == ("cannot run", [("unknown column 'nope'", "available columns: id, line, day")])
    assert 13 not in found
    assert 14 not in found
    assert 15 not in found


def test_settings_and_clauses_without_effect_are_listed_once_at_the_end(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = reported(script)["without effect"]
    assert [(each["name"], each["places"]) for each in report] == [
        ("hive.exec.parallel", [f"{script}:1", f"{script}:4"]),
        ("mapreduce.job.queuename", [f"{script}:2"]),
        ("hive.exec.paralel", [f"{script}:3"]),
        ("ADD FILE", [f"{script}:6"]),
        ("CLUSTERED BY", [f"{script}:9"]),
    ]
    listed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  without effect: ")]
    assert listed == [
        "  without effect: hive.exec.parallel, mapreduce.job.queuename: this setting of Hive or Hadoop is not used",
        "  without effect: hive.exec.paralel: unknown setting; did you mean 'hive.exec.parallel'?",
        "  without effect: ADD FILE: scripts of TRANSFORM are disabled; SET hivedruid.transform.enabled=true, or for a"
        " Python function use CREATE FUNCTION … USING FILE 'path'",
        "  without effect: CLUSTERED BY: rows are not divided into files by values",
    ]


def test_functions_of_jars_that_can_be_read_are_checked(tmp_path: Path) -> None:
    script = tmp_path / "old.q"
    script.write_text(
        f"ADD JAR /nowhere/serde.jar {SHOP};\n"
        "CREATE TEMPORARY FUNCTION mean AS 'shop.Mean';\n"
        "SELECT mean(1.0);\n"
        "CREATE TEMPORARY FUNCTION none AS 'shop.None';\n"
    )
    assert [each["status"] for each in reported(script)["statements"]] == ["runs", "runs", "runs", "not checked"]
    script.write_text(f"ADD JAR {SHOP};\nCREATE TEMPORARY FUNCTION none AS 'shop.None';\n")
    assert [each["status"] for each in reported(script)["statements"]] == ["runs", "cannot run"]


def test_a_script_of_transform_keeps_its_files(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text(f"SET hivedruid.transform.enabled=true;\n{SCRIPT}")
    main(["import-hive", "-q", str(script)])
    converted = capsys.readouterr().out
    assert "\nADD FILE words.py /nowhere/stop.txt;\n" in converted
    assert "\nSELECT TRANSFORM (line) USING 'python words.py' AS (word) FROM lines;\n" in converted
    assert "ADD FILE" not in [each["name"] for each in reported(script)["without effect"]]


def test_what_follows_quit_is_no_longer_there(tmp_path: Path) -> None:
    script = tmp_path / "old.q"
    script.write_text("SELECT 1;\nEXIT;\nSELECT 2;\n")
    statuses = [each["status"] for each in reported(script)["statements"]]
    assert statuses == ["runs", "cannot run", "runs"]
