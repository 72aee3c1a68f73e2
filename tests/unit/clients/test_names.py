"""CREATE TABLE with a data source name that a strict server refuses in paths (its response is that of the server of
Druid 37, druid37/README.md)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hivedruid.errors import UnsupportedError
from hivedruid.session import Session
from tests.unit.clients.conftest import Answer, Asked, Serve

REFUSED = (Path(__file__).parent / "druid37" / "ambiguous_path.html").read_bytes()
CREATE = (
    "CREATE TABLE t (`__time` TIMESTAMP, k STRING) STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'"
    " TBLPROPERTIES ('druid.datasource' = '{}')"
)


def druid(version: str, *, strict: bool) -> Callable[[Asked], Answer]:
    def respond(asked: Asked) -> Answer:
        if asked.path == "/status":
            return Answer(json.dumps({"version": version, "modules": []}).encode())
        if strict and ("%25" in asked.path or "%5C" in asked.path):
            return Answer(REFUSED, 400)
        return Answer(b"[]")

    return respond


def created(home: Path, url: str, name: str, *then: str) -> None:
    with Session(home, hiveconf={"druid.url": url}) as session:
        for statement in session.statements(";\n".join([CREATE.format(name), *then])):
            session.execute(statement)


@pytest.mark.parametrize("name", ["a%b", r"a\\b"])
def test_a_name_that_the_server_refuses_is_refused(tmp_path: Path, serve: Serve, name: str) -> None:
    served = serve(druid("37.0.0", strict=True))
    with pytest.raises(UnsupportedError, match=r"cannot be used: .*refused the path.*Ambiguous URI") as raised:
        created(tmp_path, served.url, name)
    assert "druid.server.http.uriCompliance=LEGACY" in (raised.value.hint or "")
    assert raised.value.span is not None
    (sent,) = (path for path in served.paths() if path.startswith("GET /druid/coordinator"))
    assert sent in (
        "GET /druid/coordinator/v1/metadata/datasources/a%25b/segments",
        "GET /druid/coordinator/v1/metadata/datasources/a%5Cb/segments",
    )


@pytest.mark.parametrize(
    ("version", "strict", "name", "requests"),
    [("37.0.0", False, "a%b", 1), ("34.0.0", False, "a%b", 0), ("37.0.0", True, "a b;c é", 0)],
)
def test_other_names_are_not(
    tmp_path: Path, serve: Serve, version: str, name: str, requests: int, *, strict: bool
) -> None:
    served = serve(druid(version, strict=strict))
    created(tmp_path, served.url, name)
    assert sum(path.startswith("GET /druid/coordinator") for path in served.paths()) == requests


def test_a_name_that_alter_table_sets_is_checked_too(tmp_path: Path, serve: Serve) -> None:
    served = serve(druid("37.0.0", strict=True))
    alter = "ALTER TABLE t SET TBLPROPERTIES ('druid.datasource' = 'a%b')"
    with pytest.raises(UnsupportedError, match=r"'a%b' cannot be used: .*Ambiguous URI") as raised:
        created(tmp_path, served.url, "plain", alter)
    assert raised.value.span is not None
    line, column = raised.value.span.source_line, raised.value.span.column
    assert line[column - 1 :].startswith("'a%b'")
    with Session(tmp_path, hiveconf={"druid.url": served.url}) as session:
        (statement,) = session.statements(alter.replace("a%b", "a b"))
        session.execute(statement)
