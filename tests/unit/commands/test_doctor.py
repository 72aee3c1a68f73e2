"""`hivedruid doctor`: it names what is missing, with the next step; a failing check does not hide the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid import defaults
from hivedruid.catalog.database import open_database
from hivedruid.catalog.store import Catalog
from hivedruid.cli import main
from hivedruid.commands.doctor import CHECKS
from hivedruid.operations.store import Operations
from tests.support.jobs import a_job

if TYPE_CHECKING:
    import pytest


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    code = main(["doctor", "--format", "json", *arguments])
    return code, {row["feature"]: row for row in json.loads(capsys.readouterr().out)}


def test_a_home_that_is_not_there_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = checked(capsys, "--home", str(tmp_path / "home"))
    assert set(CHECKS) - {"downloads"} <= set(found)
    assert found["home"]["detail"].startswith(f"{tmp_path / 'home'}: no catalog yet")
    assert found["Druid"]["detail"].startswith("embedded store")
    assert found["Spark server"]["state"] in ("later", "ok")
    assert code == (1 if any(row["state"] == "missing" for row in found.values()) else 0)
    assert not (tmp_path / "home").exists()


def test_java_that_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hivedruid.local.java import java_command

    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    java_command.cache_clear()
    try:
        code, found = checked(capsys, "--home", str(tmp_path))
    finally:
        java_command.cache_clear()
    assert code == 1
    assert found["Java"]["state"] == "missing"
    assert "Java 17" in found["Java"]["next"]
    assert found["home"]["state"] == "ok"


def test_a_catalog_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "catalog.sqlite").write_text("this is not a database, it only has its name", encoding="utf-8")
    code, found = checked(capsys, "--home", str(tmp_path))
    assert code == 1
    assert "cannot read the catalog" in found["home"]["detail"]


def test_a_druid_out_of_reach(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = checked(capsys, "--home", str(tmp_path), "--druid", "http://127.0.0.1:1")
    assert code == 1
    assert {found[f"Druid: {name}"]["state"] for name in ("broker", "coordinator", "overlord")} == {"missing"}


def test_a_local_cluster_that_is_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    defaults.write(tmp_path, {"druid.url": "local"})
    code, found = checked(capsys, "--home", str(tmp_path))
    assert code == 1
    assert "hivedruid local up" in found["Druid"]["next"]
    assert found["local cluster"]["state"] == "later"


def declare(home: Path, name: str, **properties: str) -> None:
    """A table that ingests from Kafka in the home's catalog; no service is contacted."""
    from hivedruid.session import Session

    pairs = ", ".join(f"'{key.replace('_', '.')}' = '{value}'" for key, value in properties.items())
    create = f"CREATE EXTERNAL TABLE {name} (`__time` timestamp) STORED BY 'druid' TBLPROPERTIES ({pairs})"
    with Session(home, hiveconf={"druid.url": "embedded:"}) as session:
        for statement in session.statements(create):
            session.execute(statement)


def test_tables_fed_from_kafka(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(capsys, "--home", str(tmp_path))[1]["Kafka"]["detail"] == "no table ingests from Kafka"
    declare(tmp_path, "a", kafka_topic="x", kafka_bootstrap_servers="127.0.0.1:1")
    declare(tmp_path, "b", kafka_topic="y", kafka_bootstrap_servers="127.0.0.1:1")
    found = checked(capsys, "--home", str(tmp_path))[1]
    assert found["Kafka"]["state"] == "later"
    assert found["Kafka"]["detail"] == "source of default.a, default.b; the embedded store does not ingest from Kafka"
    code, found = checked(capsys, "--home", str(tmp_path), "--druid", "http://127.0.0.1:1")
    assert code == 1
    assert found["Kafka"]["detail"] == "source of default.a, default.b"
    assert found["Kafka: 127.0.0.1:1"]["detail"].endswith("from this machine: connection refused")


def test_a_job_that_nobody_goes_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(capsys, "--home", str(tmp_path))[1]["jobs"]["state"] == "ok"
    job = a_job("t_1")
    connection = open_database(tmp_path)
    try:
        Operations(Catalog(connection)).begin([job])
    finally:
        connection.close()
    code, found = checked(capsys, "--home", str(tmp_path))
    assert code == 1
    assert found["jobs: default.t"] == {
        "feature": "jobs: default.t",
        "state": "missing",
        "detail": "job interrupted: its process has ended; the job is planned",
        "next": "CANCEL JOB 't_1'",
    }
