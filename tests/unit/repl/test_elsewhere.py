"""Completion of names in other catalogs. Those of a Hive metastore are in tests/unit/spark/test_metastore.py."""

from __future__ import annotations

import socket
from pathlib import Path
from time import monotonic

from pyiceberg.catalog import load_catalog
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StringType

from hivedruid.repl.completion import Names, complete
from hivedruid.repl.elsewhere import NamesElsewhere
from hivedruid.session import Session


def run(session: Session, text: str) -> None:
    for statement in session.statements(text):
        session.execute(statement)


def candidates(session: Session, elsewhere: NamesElsewhere, text: str) -> list[str]:
    return [each.text for each in complete(text, len(text), Names(session, elsewhere))[1]]


def test_tables_of_an_iceberg_catalog(tmp_path: Path) -> None:
    database, warehouse = tmp_path / "catalog.db", tmp_path / "warehouse"
    made = load_catalog("lake", type="sql", uri=f"sqlite:///{database}", warehouse=f"file:{warehouse}")
    made.create_namespace("events")
    for name in ("clicks", "Closed"):
        made.create_table(("events", name), Schema(NestedField(1, "page", StringType())))
    made.close()
    given = {"type": "jdbc", "name": "lake", "uri": f"jdbc:sqlite:{database}", "warehouse": f"file:{warehouse}",
             "namespace": "events"}  # fmt: skip
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    with Session(tmp_path / "home") as session:
        run(session, f"CREATE DATABASE lake USING ICEBERG CATALOG WITH DBPROPERTIES ({properties})")
        elsewhere = NamesElsewhere(session.settings)
        deadline = monotonic() + 60
        while not (found := candidates(session, elsewhere, "SELECT * FROM lake.cl")):
            assert monotonic() < deadline
        assert found == ["clicks", "closed"]
        run(session, "USE lake")
        assert "clicks" in candidates(session, elsewhere, "SELECT * FROM cl")
        assert candidates(session, NamesElsewhere(session.settings), "DROP TABLE default.cl") == []


def test_no_key_waits_for_a_metastore_that_does_not_respond(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, Session(tmp_path) as session:
        port = silent.getsockname()[1]
        run(session, f"CREATE TABLE edits (a INT); SET hive.metastore.uris=thrift://127.0.0.1:{port}")
        run(session, "SET hive.metastore.client.socket.timeout=3600s")
        elsewhere = NamesElsewhere(session.settings)
        begun = monotonic()
        for _ in range(20):
            assert candidates(session, elsewhere, "SELECT * FROM e") == ["edits"]
        assert monotonic() - begun < 600  # a key that waited would wait for an hour
        assert silent.accept()[0] is not None  # the thread is waiting for its response
