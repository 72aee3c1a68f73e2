"""Makes `home.tar.gz` and `answers.json`. Only for the version of hivedruid that this home is of: see ../README.md."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import sys
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.catalog.materialized_views import invalidate
from hivedruid.session import Session
from tests.homes.place import HOME
from tests.support import killed
from tests.support.cluster import running_cluster
from tests.support.job_homes import conf_of
from tests.support.kafka import Topics, topics_of

if TYPE_CHECKING:
    from hivedruid.local.state import LocalServices

HERE = Path(__file__).parent

DEFAULTS = {"hive.local.time.zone": "Asia/Kolkata", "hivedruid.job.repeat.within": "PT2H"}
RUN = uuid4().hex[:8]

ROWS = "VALUES ('2024-01-02 00:00:00', {n}), ('2024-01-03 00:00:00', {n} + 1)"
KILLED_WRITES: Mapping[str, tuple[str, str]] = {
    "planned": ("INSERT INTO shop.planned " + ROWS.format(n=10), "begin"),
    "staged": ("INSERT INTO shop.staged " + ROWS.format(n=20), "move staged"),
    "given up": ("INSERT OVERWRITE TABLE shop.given_up " + ROWS.format(n=30), "move staged"),
    "multi-insert": (
        "FROM events INSERT INTO shop.first SELECT `__time`, n INSERT OVERWRITE TABLE shop.second SELECT `__time`, n + 100",
        "move staged",
    ),
    "create": (
        "CREATE EXTERNAL TABLE shop.made STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') "
        "AS SELECT `__time`, k, n FROM events",
        "move staged",
    ),
    "rebuild": ("ALTER MATERIALIZED VIEW shop.rebuilding REBUILD", "move staged"),
}
"""Statement and the effect after which its process is killed. On the embedded store no job is left in a later state."""
LAST_EFFECTS = {"submitted": "move submitted", "published": "move published", "verified": "remove"}
"""The last effect of a job that a cluster leaves in a state."""

FEEDS = ("running", "stopped", "suspended", "starting", "stopping", "resetting", "altered", "rolling_back", "never")
"""Tables that are fed from Kafka, by what becomes of them."""


def write_files() -> None:
    """The files of the external tables."""
    import pyarrow as pa
    from pyarrow import orc

    for name in ("people", "events", "points"):
        (HOME / "data" / name).mkdir(parents=True)
    (HOME / "data" / "people" / "a.csv").write_text(
        "1,ann,1990-01-31,1.5\n2,bob,1985-12-01,\n3,Zoë,\\N,1.75\n", encoding="utf-8"
    )
    events = (
        {"__time": f"2024-01-0{n} 0{n}:00:00", "k": "ab"[n % 2], "n": n, "tags": ["x"] * (n % 3)} for n in range(1, 6)
    )
    (HOME / "data" / "events" / "a.json").write_text("".join(json.dumps(event) + "\n" for event in events))
    from datetime import datetime
    from decimal import Decimal

    table = pa.table(
        {
            "x": pa.array([1, 2, None], pa.int32()),
            "y": pa.array([Decimal("1.25"), None, Decimal("-3.50")], pa.decimal128(10, 2)),
            "at": pa.array([datetime(2024, 1, 1, 12), None, datetime(1999, 12, 31, 23, 59)], pa.timestamp("us")),
        }
    )
    orc.write_table(table, HOME / "data" / "points" / "a.orc")
    for path in (HOME / "data").rglob("*.*"):
        os.utime(path, (1704067200, 1704067200))  # whole seconds, which an archive keeps


@contextmanager
def opened(conf: Mapping[str, str] | None = None) -> Iterator[Session]:
    with Session(HOME, hiveconf={**DEFAULTS, **(conf or {})}, confirm=lambda _: True) as session:
        yield session


def run(session: Session, text: str) -> list[dict[str, Any]]:
    (statement,) = session.statements(text)
    result = session.execute(statement)
    names = [column.name for column in result.columns]
    return [dict(zip(names, row, strict=True)) for row in result.rows]


def make_tables() -> None:
    text = (HERE / "tables.sql").read_text(encoding="utf-8").replace("${home}", str(HOME))
    with opened() as session:
        for statement in session.statements(text):
            session.execute(statement)


# --- ingestions ------------------------------------------------------------------------------------------------------


def make_ingestions(services: LocalServices, topics: Topics) -> None:
    conf = {**conf_of(services), "hivedruid.kafka.check": "off"}
    with opened(conf) as session:
        topic = topics.new([{"time": "2024-01-01T00:00:00Z", "id": str(n)} for n in range(10)])
        for name in FEEDS:
            run(session, feed(name, topic, services.kafka))
        alter = "ALTER TABLE {} SET TBLPROPERTIES ('druid.kafka.ingestion.taskDuration' = 'PT20M')"
        for name, statements in {
            "running": (),
            "stopped": ("STOP INGESTION {}",),
            "suspended": ("SUSPEND INGESTION {}",),
            "stopping": (),
            "resetting": ("SUSPEND INGESTION {}",),
            "altered": (alter, "SUSPEND INGESTION {}"),
            "rolling_back": (alter, "SUSPEND INGESTION {}"),
        }.items():  # two at most keep a task slot
            for statement in ("START INGESTION {}", *statements):
                run(session, statement.format(name))
        reset = f"POST /druid/indexer/v1/supervisor/{source('resetting')}/resetOffsets"
        for statement, effect in (
            ("START INGESTION starting", "begin"),
            ("STOP INGESTION stopping", "begin"),
            ("RESET INGESTION resetting TO EARLIEST", reset),
            ("ALTER TABLE rolling_back ROLLBACK INGESTION", "roll_back"),
        ):
            kill(statement, effect, {**DEFAULTS, **conf})


def source(name: str) -> str:
    """A data source that no other run has."""
    return f"{name}_{RUN}"


def feed(name: str, topic: str, kafka: str) -> str:
    properties = {
        "druid.datasource": source(name), "kafka.topic": topic, "kafka.bootstrap.servers": kafka, "druid.timestamp.column": "time", "druid.rollup": "false",
        "druid.kafka.ingestion.useEarliestOffset": "true", "druid.kafka.ingestion.startDelay": "PT0S",
        "druid.kafka.ingestion.period": "PT1S", "druid.kafka.ingestion.consumer.client.id": "previous",
    }  # fmt: skip
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    return f"CREATE EXTERNAL TABLE {name} (`__time` TIMESTAMP, id STRING) STORED BY 'druid' TBLPROPERTIES ({pairs})"


def kill(statement: str, effect: str, conf: Mapping[str, str]) -> None:
    outcome = killed.run(HOME, conf, statement, effect)
    print(statement, outcome)
    assert (outcome.killed, outcome.error) == (True, ""), outcome


def end(services: LocalServices, sources: tuple[str, ...]) -> None:
    """End what the cluster runs for these data sources; the home does not hear of it."""
    import urllib.request
    from contextlib import suppress
    from urllib.error import HTTPError

    for source in sources:
        url = f"{services.overlord}/druid/indexer/v1/supervisor/{source}/terminate"
        with suppress(HTTPError):
            urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=60).close()  # noqa: S310


def make_cluster_jobs(services: LocalServices) -> None:
    """Jobs that only a cluster leaves behind."""
    conf = conf_of(services)
    for state, effect in LAST_EFFECTS.items():
        with opened(conf) as session:
            run(
                session,
                f"CREATE EXTERNAL TABLE shop.{state} (`__time` TIMESTAMP, n BIGINT) STORED BY 'druid' "
                f"TBLPROPERTIES ('druid.datasource' = '{source(state)}', 'druid.rollup' = 'false')",
            )
        kill(f"INSERT INTO shop.{state} " + ROWS.format(n=80), effect, {**DEFAULTS, **conf})


# --- jobs, answers, archive ------------------------------------------------------------------------------------------


def make_jobs() -> None:
    with opened() as session:
        run(session, "INSERT INTO shop.planned VALUES ('2024-01-01', -1)")
    kill("INSERT INTO shop.planned " + ROWS.format(n=70), "move staged", DEFAULTS)
    with opened() as session:
        (job,) = (row for row in run(session, "SHOW JOBS FOR shop.planned") if row["running"] == "interrupted")
        run(session, f"CANCEL JOB '{job['id']}'")
    for statement, effect in KILLED_WRITES.values():
        kill(statement, effect, DEFAULTS)
    with opened() as session:
        run(session, "INSERT INTO shop.stock VALUES (3)")
        invalidate(session.catalog, session.catalog.get("shop", "unbuilt"))  # as a killed REBUILD of files leaves it


QUERIES = (
    "SHOW DATABASES",
    "SHOW TABLES",
    "SHOW TABLES IN shop",
    "SHOW TABLES IN nothing",
    "DESCRIBE DATABASE shop",
    "SELECT * FROM people ORDER BY id",
    "SELECT * FROM events ORDER BY `__time`",
    "SELECT * FROM points ORDER BY x",
    "SELECT * FROM days ORDER BY `__time`",
    "SELECT k, sum(n), count(*) FROM days GROUP BY k ORDER BY k",
    "SELECT * FROM mapped ORDER BY `__time`",
    "SELECT * FROM shop.sums ORDER BY `__time`, k",
    "SELECT * FROM shop.copied ORDER BY `__time`",
    "SELECT * FROM shop.renamed ORDER BY `__time`",
    "SELECT * FROM trips ORDER BY id",
    "SELECT * FROM shop.orders ORDER BY driver, fare",
    "SELECT * FROM shop.stock ORDER BY id",
    "SELECT * FROM shop.unwritten",
    "SELECT * FROM shop.emptied",
    "SELECT * FROM drivers ORDER BY driver",
    "SELECT * FROM per_day ORDER BY `__time`, k",
    "SELECT * FROM fares ORDER BY driver",
    "SELECT * FROM shop.old_sums ORDER BY `__time`",
    "SELECT * FROM names ORDER BY id",
    "SELECT * FROM shop.unbuilt ORDER BY id",
    "SELECT * FROM shop.rebuilding ORDER BY `__time`",
    "SELECT driver, sum(fare) FROM trips GROUP BY driver ORDER BY driver",
    "SELECT floor_day(`__time`), sum(n) FROM days GROUP BY floor_day(`__time`) ORDER BY 1",
    *(f"SELECT * FROM shop.{name} ORDER BY `__time`, n" for name in
      ("planned", "staged", "given_up", "first", "second")),
    "SHOW MATERIALIZED VIEWS",
    "SHOW MATERIALIZED VIEWS IN shop",
    "SHOW JOBS",
    "SHOW CREATE TABLE people",
    "SHOW CREATE TABLE events",
    "SHOW CREATE TABLE points",
    "SHOW CREATE TABLE shop.sums",
    "SHOW CREATE TABLE shop.renamed",
    "SHOW CREATE TABLE trips",
    "SHOW CREATE TABLE shop.unwritten",
    "SHOW CREATE TABLE drivers",
    "SHOW CREATE TABLE per_day",
    "SHOW CREATE TABLE fares",
    "SHOW CREATE TABLE running",
    "SET hive.local.time.zone",
)  # fmt: skip


def write_answers() -> None:
    """What this version returns for the home as it comes out of the archive."""
    shutil.rmtree(HOME)
    with tarfile.open(HERE / "home.tar.gz") as archive:
        archive.extractall(HOME, filter="data")
    with Session(HOME) as session:
        answers = {text: [list(row.values()) for row in run(session, text)] for text in QUERIES}
    text = json.dumps(answers, default=str, ensure_ascii=False, indent=1)
    (HERE / "answers.json").write_text(text + "\n", encoding="utf-8")


def write_archive() -> None:
    with closing(sqlite3.connect(HOME / "catalog.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in ("logs", "locks"):
        shutil.rmtree(HOME / name, ignore_errors=True)
    for name in ("catalog.sqlite-wal", "catalog.sqlite-shm"):
        (HOME / name).unlink(missing_ok=True)
    with tarfile.open(HERE / "home.tar.gz", "w:gz", compresslevel=9) as archive:
        for path in sorted(HOME.rglob("*")):
            item = archive.gettarinfo(path, str(path.relative_to(HOME)))
            item.uid = item.gid = 0
            item.uname = item.gname = ""
            archive.addfile(item, io.BytesIO(path.read_bytes()) if path.is_file() else None)


def main() -> None:
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir(mode=0o700)
    (HOME / "defaults.json").write_text(json.dumps(DEFAULTS), encoding="utf-8")
    write_files()
    make_tables()
    with running_cluster(Path(sys.argv[1])) as cluster, topics_of(cluster.services.kafka) as topics:
        try:
            make_ingestions(cluster.services, topics)
            make_cluster_jobs(cluster.services)
        finally:
            end(cluster.services, tuple(source(name) for name in FEEDS))
    make_jobs()
    write_archive()
    write_answers()
    shutil.rmtree(HOME)


if __name__ == "__main__":
    main()
