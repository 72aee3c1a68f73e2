"""The version of a cluster is kept in the home: a change is noted, and it is known while the cluster does not respond."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from hivedruid.commands.doctor import CHECKS
from hivedruid.session import Session
from hivedruid.settings import Settings
from tests.unit.clients.conftest import Answer, Asked, Serve

CREATE = (
    "CREATE TABLE t (`__time` TIMESTAMP, k STRING) STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'"
    " TBLPROPERTIES ('druid.datasource' = 'd')"
)
QUERY = "EXPLAIN EXTENDED SELECT k, count(*) FROM t WHERE `__time` > '2020-01-01' GROUP BY k"
COMPACT = "EXPLAIN EXTENDED ALTER TABLE t SET TBLPROPERTIES ('druid.compaction.auto' = 'true')"
BY_VERSION = "  Druid 33.0.0: a projection without a time column answers queries of a part of a segment's time"


def reports(versions: list[str]) -> Callable[[Asked], Answer]:
    """A service that reports the first of these versions, and has no data sources; without any it refuses requests."""

    def respond(asked: Asked) -> Answer:
        if not versions:
            return Answer(status=403)
        if asked.path == "/status":
            return Answer(json.dumps({"version": versions[0], "modules": []}).encode())
        return Answer(b"{}" if asked.path == "/status/properties" else b"[]")

    return respond


def run(home: Path, url: str, text: str) -> tuple[list[str], list[str]]:
    """The lines of the result, and the notes."""
    notes: list[str] = []
    with Session(home, hiveconf={"druid.url": url}, note=notes.append) as session:
        (statement,) = session.statements(text)
        return [str(line) for row in session.execute(statement).rows for line in row], notes


def test_a_change_is_noted_once(serve: Serve, tmp_path: Path) -> None:
    versions = ["33.0.0"]
    served = serve(reports(versions))
    assert run(tmp_path, served.url, CREATE)[1] == []
    assert run(tmp_path, served.url, QUERY)[1] == []
    versions[0] = "37.0.0"
    changed = f"Druid at {served.url} is version 37.0.0; it was 33.0.0 when it was last used"
    assert run(tmp_path, served.url, QUERY)[1] == [changed]
    assert run(tmp_path, served.url, QUERY)[1] == []


def test_explain_names_the_version_that_decides(serve: Serve, tmp_path: Path) -> None:
    versions = ["33.0.0"]
    served = serve(reports(versions))
    run(tmp_path, served.url, CREATE)

    def by_version() -> list[str]:
        return [line for line in run(tmp_path, served.url, QUERY)[0] if line.startswith("  Druid 3")]

    (line,) = by_version()
    assert line.startswith(BY_VERSION)
    assert line.endswith("the context has noProjections")
    versions[0] = "37.0.0"
    assert by_version() == []


def test_explain_names_the_version_that_stores_compactions(serve: Serve, tmp_path: Path) -> None:
    served = serve(reports(["37.0.0"]))
    run(tmp_path, served.url, CREATE)
    line = "  Druid 37.0.0: the overlord stores them, as compaction supervisors or for the coordinator"
    assert line in run(tmp_path, served.url, COMPACT)[0]


def test_doctor_shows_the_last_version_of_a_cluster_that_does_not_respond(serve: Serve, tmp_path: Path) -> None:
    versions = ["33.0.0"]
    served = serve(reports(versions))
    run(tmp_path, served.url, CREATE)

    def shown() -> str:
        found = {check.feature: check.detail for check in CHECKS["Druid"]("Druid", tmp_path, settings)}
        return found["Druid: version"]

    settings = Settings({"druid.url": served.url})
    assert shown() == "33.0.0; see docs/druid-versions.md"
    versions.clear()
    assert shown() == "33.0.0 when it was last used; see docs/druid-versions.md"
