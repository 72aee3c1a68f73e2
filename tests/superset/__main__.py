"""A real Superset over hivedruid: `python -m tests.superset`, with the Python of an environment that has both.

docs/superset.md says how to make it. The program starts Superset on a free port of this machine, with a metadata
database of its own; adds a home folder with a table; and does through the REST API what a user does in the browser. It
prints what it did and fails at the first difference. `--keep` leaves the server running until Enter is pressed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from hivedruid.local.processes import choose_port
from tests.support import embedded_tables

CONFIGURATION = """
SECRET_KEY = "only for this test, on this machine"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
"""
USER, PASSWORD = "admin", "admin"
ROWS = [{"__time": 3_600_000 * hour, "page": "ab"[hour % 2], "added": hour} for hour in range(72)]
START = 60.0
GRAINS = {"PT1S": 72, "PT1M": 72, "PT1H": 72, "P1D": 3, "P1W": 1, "P1M": 1, "P3M": 1, "P1Y": 1}
"""The rows of a chart with each grain: 1970-01-01 is a Thursday."""


class Superset:
    """The REST API, as the administrator."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._session = requests.Session()
        login = {"username": USER, "password": PASSWORD, "provider": "db"}
        token = self.call("POST", "security/login", login)["access_token"]
        self._session.headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        answered = self.answer(method, path, body)
        assert answered.status_code == status, f"{method} {path}: {answered.status_code}: {answered.text[:2000]}"
        return answered.json()

    def answer(self, method: str, path: str, body: Any = None) -> requests.Response:
        return self._session.request(method, f"{self._address}/api/v1/{path}", json=body, timeout=300)

    def sql(self, database: int, sql: str, status: int = 200, **more: Any) -> Any:
        body = {"database_id": database, "sql": sql, "runAsync": False, "schema": "default", **more}
        return self.call("POST", "sqllab/execute/", body, status)

    def chart(self, dataset: int, **query: Any) -> list[dict[str, Any]]:
        body = {
            "datasource": {"id": dataset, "type": "table"}, "force": True, "result_format": "json", "result_type": "full",
            "queries": [{"row_limit": 1000, **query}],
        }  # fmt: skip
        (result,) = self.call("POST", "chart/data", body)["result"]
        assert result["error"] is None, result["error"]
        rows: list[dict[str, Any]] = result["data"]
        return rows


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ, "SUPERSET_CONFIG_PATH": str(folder / "superset_config.py"), "FLASK_APP": "superset",
        "SUPERSET_HOME": str(folder),
    }  # fmt: skip


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The address of a Superset whose files are in the folder."""
    (folder / "superset_config.py").write_text(CONFIGURATION.format(folder=folder), encoding="utf-8")
    program = [str(Path(sys.executable).parent / "superset")]
    admin = ["--username", USER, "--password", PASSWORD, "--firstname", "A", "--lastname", "B", "--email", "a@b.test"]
    with (folder / "superset.log").open("w", encoding="utf-8") as log:
        for command in (["db", "upgrade"], ["fab", "create-admin", *admin], ["init"]):
            subprocess.run([*program, *command], check=True, env=environment(folder), stdout=log, stderr=log)
        port = choose_port(None, ())
        address = f"http://127.0.0.1:{port}"
        server = subprocess.Popen(
            [*program, "run", "--host", "127.0.0.1", "--port", str(port), "--with-threads"],
            env=environment(folder), stdout=log, stderr=log,
        )  # fmt: skip
        try:
            wait_for(f"{address}/health", server)
            yield address
        finally:
            server.terminate()
            server.wait(timeout=30)


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if requests.get(url, timeout=5).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.2)
    raise SystemExit("Superset did not start: see superset.log")


def did(what: str, seen: object) -> None:
    print(f"{what}: {seen}", flush=True)


def add_database(superset: Superset, url: str) -> int:
    body = {"database_name": "hivedruid", "sqlalchemy_uri": url}
    did("test of the connection", superset.call("POST", "database/test_connection/", body)["message"])
    allowed = {"expose_in_sqllab": True, "allow_dml": True, "allow_ctas": True, "allow_cvas": True}
    database: int = superset.call("POST", "database/", {**body, **allowed}, status=201)["id"]
    schemas = superset.call("GET", f"database/{database}/schemas/")["result"]
    assert set(schemas) == {"default", "other"}, schemas
    tables = superset.call("GET", f"database/{database}/tables/?q=(schema_name:default)")["result"]
    found = {(table["value"], table["type"]) for table in tables}
    assert found == {("edits", "table"), ("pages", "view")}, found
    did("schemas and tables", (sorted(schemas), sorted(found)))
    columns = superset.call("GET", f"database/{database}/table_metadata/?name=edits&schema=default")["columns"]
    did("columns", [(column["name"], column["type"]) for column in columns])
    functions = superset.call("GET", f"database/{database}/function_names/")["function_names"]
    assert "floor_day" in functions
    did("functions", len(functions))
    return database


def lab(superset: Superset, database: int) -> None:
    """SQL Lab: queries, statements that Superset's parser does not have, errors."""
    for sql, expected in {
        "SELECT page, sum(added) AS n FROM edits GROUP BY page ORDER BY page": [
            {"page": "a", "n": 1260},
            {"page": "b", "n": 1296},
        ],
        "SELECT count(*) AS n FROM `default`.`edits` WHERE `__time` < '1970-01-01 02:00:00' -- two hours": [{"n": 2}],
        "SELECT 1 AS one; SELECT 2 AS two;": [{"two": 2}],
        "SELECT 'it''s', \"it's\" AS q, 'a\\\\b' AS s": None,
        "SHOW TABLES": [{"tab_name": "edits"}, {"tab_name": "pages"}],
        "DESCRIBE edits": None,
        "EXPLAIN SELECT page FROM edits": None,
        "WITH w AS (SELECT * FROM edits) SELECT max(added) AS m FROM w": [{"m": 71}],
        "SELECT map('k', 1) AS m, array(1, 2) AS a, CAST(1.50 AS DECIMAL(5,2)) AS d": None,
    }.items():
        answer = superset.sql(database, sql)
        assert answer["status"] == "success", answer
        if expected is not None:
            assert answer["data"] == expected, (sql, answer["data"])
        did(sql, json.dumps(answer["data"])[:160])
    wrong = superset.sql(database, "SELECT pag FROM edits", status=500)
    did("an error", wrong["errors"][0]["message"])
    assert "line 1" in wrong["errors"][0]["message"]
    superset.sql(
        database, "SELECT page FROM edits", select_as_cta=True, ctas_method="VIEW", tmp_table_name="of_lab"
    )  # CREATE VIEW AS
    did("a view of SQL Lab", superset.sql(database, "SELECT count(*) AS n FROM of_lab")["data"])
    superset.sql(database, "DROP VIEW of_lab")


def charts(superset: Superset, database: int) -> int:
    body = {"database": database, "schema": "default", "table_name": "edits"}
    dataset: int = superset.call("POST", "dataset/", body, status=201)["id"]
    details = superset.call("GET", f"dataset/{dataset}")["result"]
    columns = {column["column_name"]: (column["type"], column["is_dttm"]) for column in details["columns"]}
    assert columns["__time"][1], columns
    grains = {duration for duration, _ in details["time_grain_sqla"]}
    assert grains >= set(GRAINS), grains
    did("dataset", columns)
    total = {"expressionType": "SIMPLE", "column": {"column_name": "added"}, "aggregate": "SUM", "label": "SUM(added)"}
    table = superset.chart(dataset, columns=["page"], metrics=[total], orderby=[[total, False]])
    assert table == [{"page": "b", "SUM(added)": 1296}, {"page": "a", "SUM(added)": 1260}], table
    did("table", table)
    raw = superset.chart(dataset, columns=["__time", "page", "added"], orderby=[["__time", True]], row_limit=2)
    did("raw rows", raw)
    for grain, rows in GRAINS.items():
        axis = {"columnType": "BASE_AXIS", "sqlExpression": "__time", "label": "__time", "expressionType": "SQL",
                "timeGrain": grain}  # fmt: skip
        within = {"col": "__time", "op": "TEMPORAL_RANGE", "val": "1970-01-01 : 1970-01-04"}
        series = superset.chart(
            dataset, columns=[axis], metrics=[total], filters=[within], extras={"time_grain_sqla": grain}
        )
        assert (len(series), sum(row["SUM(added)"] for row in series)) == (rows, 2556), (grain, series)
        did(f"time series {grain}", series[:2])
    day = {"col": "__time", "op": "TEMPORAL_RANGE", "val": "1970-01-02 : 1970-01-03"}
    assert superset.chart(dataset, columns=[], metrics=[total], filters=[day]) == [{"SUM(added)": sum(range(24, 48))}]
    did("time filter", sum(range(24, 48)))
    axis = {"columnType": "BASE_AXIS", "sqlExpression": "__time", "label": "__time", "expressionType": "SQL",
            "timeGrain": "P1D"}  # fmt: skip
    limited = superset.chart(
        dataset, columns=[axis, "page"], metrics=[total], filters=[day], series_columns=["page"], series_limit=1,
        series_limit_metric=total, order_desc=True,
    )  # fmt: skip
    assert [(row["page"], row["SUM(added)"]) for row in limited] == [("b", 432)], limited
    did("largest series", limited)
    return dataset


def cancelling(superset: Superset, database: int, address: str) -> None:
    """A query that runs for long is stopped by another request."""
    client = "cancelled1"
    outcome: list[Any] = []
    slow = (
        "SELECT count(*) AS n FROM "
        + ", ".join(f"edits e{n}" for n in range(6))
        + " WHERE e0.added + e1.added < e2.added + e3.added"
    )
    body = {"database_id": database, "sql": slow, "runAsync": False, "schema": "default", "client_id": client}
    thread = threading.Thread(target=lambda: outcome.append(superset.answer("POST", "sqllab/execute/", body)))
    other = Superset(address)
    begin = time.monotonic()
    thread.start()
    while True:
        found = [query for query in other.call("GET", "query/?q=(page_size:50)")["result"] if query["sql"] == slow]
        if found and found[0]["status"] == "running":
            break
        assert time.monotonic() < begin + 60
        time.sleep(0.1)
    stopping = time.monotonic()
    other.call("POST", "query/stop", {"client_id": client})
    thread.join(timeout=60)
    assert not thread.is_alive()
    (answered,) = outcome
    assert '"n"' not in answered.text, answered.text
    did("a query is stopped after", f"{time.monotonic() - stopping:.1f} s: {answered.text[:300]}")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="superset-") as name:
        folder = Path(name)
        home = embedded_tables.create(folder / "home", rows=ROWS)
        import hivedruid

        with hivedruid.connect(home, "embedded:") as connection:
            connection.sql("CREATE DATABASE other")
            connection.sql("CREATE VIEW pages AS SELECT page, added FROM edits")
        with running(folder) as address:
            superset = Superset(address)
            database = add_database(superset, f"hivedruid:///{home}?druid=embedded:&hive.local.time.zone=UTC")
            lab(superset, database)
            charts(superset, database)
            cancelling(superset, database, address)
            if "--keep" in sys.argv:
                input(f"{address} {USER} {PASSWORD} {folder}: Enter ends it\n")
    print("all as expected")


if __name__ == "__main__":
    main()
