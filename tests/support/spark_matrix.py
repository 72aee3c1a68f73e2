"""Every kind of work on a Spark elsewhere, and how its two executors share it.

    python -m tests.support.spark_matrix [--mode connect|standalone|local] [--druid local|embedded] [--s3 PROGRAM]
        [--only PART...]

The Spark is a standalone cluster of two workers, with a Connect server for `connect`, or that of this machine; Kafka is
real, and so is Druid with `--druid local`. After a part that fails the next one runs.

With `--s3 PATH/versitygw`, the warehouse of managed tables, staged rows and Druid's deep storage are in an S3 server that
checks the conditions of concurrent writes. It is a Go program: `go install github.com/versity/versitygw/cmd/versitygw@v1.8.0`.
The first run downloads Spark's jars for s3a:// (640 MB).

quickstart   The script of hivedruid demo.
tables       CREATE TABLE … AS, INSERT, OVERWRITE, UPDATE and MERGE of managed tables, and of files.
joins        What Druid does not compute, over its rows and those of a managed table.
segments     Segments that Spark writes, and reads.
kafka        Kafka tables, read and written.
stream       A stream, in this process and by a manager.
archive      A tiered table, whose rows move to a managed table.
conditions   Of eight concurrent writes with `If-None-Match: *`, the S3 server accepts one.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from hivedruid.actions.streaming import manager
from hivedruid.commands.demo import SCRIPT
from hivedruid.errors import HiveDruidError
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.samples import wikiticker
from hivedruid.local.state import LocalServices
from hivedruid.session import Session
from hivedruid.spark import session as spark_sessions
from tests.support.job_homes import conf_of, druid_table, explained, run
from tests.support.kafka import Topics, topics_of
from tests.support.kafka_tables import KafkaTables
from tests.support.s3 import BASE_KEY, BUCKET, KEY, SECRET, S3Server, druid_in_s3, spark_jars, versity_server
from tests.support.spark_elsewhere import MODES, OWN, start_connect, start_master, start_worker
from tests.support.spark_events import Events, logged
from tests.support.spark_processes import TOKEN, Processes
from tests.support.streams import stream_home, until

ROWS = 1_000_000
EDITS = 39_244
"""The rows of the quickstart."""


@dataclass
class Place:
    """Where the parts run. `executors`: how many must share the work; `services`: the real Druid."""

    folder: Path
    settings: Mapping[str, str]
    events: Events
    executors: int
    topics: Topics
    services: LocalServices | None = None
    server: S3Server | None = None

    def session(self, home: str = "home", **variables: str) -> Session:
        return Session(self.folder / home, hiveconf=self.settings, hivevar=variables, confirm=lambda _: True)

    def shared(
        self, what: str, session: Session, statement: str, executors: int | None = None, least_tasks: int = 1
    ) -> str:
        """Run a statement; how many tasks each executor ran in its longest stage. `executors`: fewer must share it, since
        adaptive execution writes few rows in one task. `least_tasks`: stages with fewer do not count."""
        self.events.forget()
        run(session, statement)
        least = self.executors if executors is None else executors
        until(lambda: len(self.events.longest(least_tasks)) >= least, f"{least} executors: {what}")
        return f"{what} in {' + '.join(map(str, self.events.longest(least_tasks).values()))} tasks"

    def has_numbers(self, session: Session) -> None:
        """The table `numbers` with ROWS rows, in several files."""
        if run(session, "SHOW TABLES LIKE 'numbers'"):
            return
        thousand = ", ".join(f"({number})" for number in range(1000))
        run(session, f"CREATE TABLE thousand AS SELECT col1 AS n FROM (VALUES {thousand}) v")
        run(
            session,
            "CREATE TABLE numbers AS SELECT DISTINCT a.n + 1000 * b.n AS n, concat('row ', a.n) AS t"
            f" FROM thousand a CROSS JOIN thousand b WHERE b.n < {ROWS // 1000}",
        )


def one(session: Session, query: str) -> tuple[Any, ...]:
    (row,) = run(session, query)
    return tuple(row.values())


def check(found: object, wanted: object) -> None:
    assert found == wanted, f"{found} instead of {wanted}"


DAYS = "CAST(from_unixtime(1704067200 + 86400 * (n % 8) + n % 80000) AS timestamp)"
"""A time in one of eight days of 2024, for a number n."""


# --- parts --------------------------------------------------------------------------------------------------------


def quickstart(place: Place) -> str:
    with closing(place.session("quickstart", wikiticker=str(wikiticker()))) as session:
        results = [session.execute(each) for each in session.statements(SCRIPT.read_text(encoding="utf-8"))]
        check(one(session, "SELECT count(*) FROM wiki"), (EDITS,))
        run(session, "DROP TABLE wiki")
    return f"{len(results)} statements, {EDITS:,} rows"


def tables(place: Place) -> str:
    with closing(place.session()) as session:
        place.has_numbers(session)
        seen = place.shared(
            "CREATE TABLE … AS", session, "CREATE TABLE half AS SELECT DISTINCT n, t FROM numbers WHERE n % 2 = 0"
        )
        check(one(session, "SELECT count(*), sum(n) FROM half"), (ROWS // 2, sum(range(0, ROWS, 2))))
        run(session, "INSERT INTO half SELECT n, t FROM numbers WHERE n % 2 = 1")
        check(one(session, "SELECT count(*), count(DISTINCT n) FROM half"), (ROWS, ROWS))
        run(session, "UPDATE half SET t = 'changed' WHERE n < 10")
        run(
            session,
            "MERGE INTO half h USING (SELECT n FROM numbers WHERE n < 4) s ON h.n = s.n WHEN MATCHED THEN DELETE",
        )
        check(one(session, "SELECT count(*), sum(IF(t = 'changed', 1, 0)) FROM half"), (ROWS - 4, 6))
        run(session, "INSERT OVERWRITE TABLE half SELECT n, t FROM numbers WHERE n < 100")
        check(one(session, "SELECT count(*), sum(n) FROM half"), (100, 4950))
        if not place.server:
            files(session, place.folder / "files")
    return seen


def files(session: Session, folder: Path) -> None:
    """A table of files with partitions."""
    run(
        session,
        "CREATE EXTERNAL TABLE parts (n bigint, t string) PARTITIONED BY (k int) STORED AS ORC"
        f" LOCATION '{folder}' TBLPROPERTIES ('external.table.purge' = 'true')",
    )
    run(session, "INSERT INTO parts PARTITION (k) SELECT n, t, CAST(n % 3 AS int) FROM numbers WHERE n < 3000")
    run(session, "INSERT OVERWRITE TABLE parts PARTITION (k = 1) SELECT n, t FROM numbers WHERE n < 5")
    rows = run(session, "SELECT k, count(*) AS c FROM parts GROUP BY k ORDER BY k")
    check([(row["k"], row["c"]) for row in rows], [(0, 1000), (1, 5), (2, 1000)])


def joins(place: Place) -> str:
    with closing(place.session()) as session:
        place.has_numbers(session)
        name = druid_table(session, "n bigint")
        run(session, "SET hivedruid.druid.write=native")
        insert = f"INSERT INTO {name} SELECT {DAYS}, n FROM numbers WHERE n < 400000"
        seen = place.shared("staged", session, insert, executors=1)
        found = one(
            session,
            "SELECT count(*), sum(length(md5(h.t))), count(DISTINCT h.t)"
            f" FROM {name} d JOIN numbers h ON d.n = h.n - 10000 WHERE d.n < 20000",
        )
        check(found, (20000, 640000, 1000))
        run(session, f"INSERT OVERWRITE TABLE {name} SELECT {DAYS}, n FROM numbers WHERE n < 100")
        check(one(session, f"SELECT count(*), sum(n) FROM {name}"), (100, 4950))
        run(session, f"DROP TABLE {name}")
    return f"400,000 rows {seen}, 20,000 joined; replaced by 100"


def segments(place: Place) -> str:
    if place.services is None:
        return "only with a real Druid"
    with closing(place.session()) as session:
        place.has_numbers(session)
        name = druid_table(session, "n bigint, t string")
        run(session, "SET hivedruid.druid.write=segments")
        insert = f"INSERT INTO {name} SELECT {DAYS}, n, t FROM numbers WHERE n < 400000"
        assert "segments: built by Spark in" in explained(session, insert), explained(session, insert)
        # Spark reads the few MB of `numbers` in one task; the segments are built by several.
        seen = [place.shared("written", session, insert, least_tasks=2)]
        check(one(session, f"SELECT count(*), sum(n) FROM {name}"), (400_000, sum(range(400_000))))
        query = f"SELECT count(*) AS a, sum(n) AS b, count(DISTINCT md5(t)) AS c FROM {name}"
        for way, line in (("segments", "druid.segments: read from"), ("query", "druid.queries: Spark sends")):
            run(session, f"SET hivedruid.druid.read={way}")
            assert line in explained(session, query), explained(session, query)
            check(one(session, query), (400_000, sum(range(400_000)), 1000))
            seen.append(place.shared(f"read by {way}", session, query))
        run(session, f"DROP TABLE {name}")
    return ", ".join(seen)


def kafka(place: Place) -> str:
    with closing(place.session()) as session:
        tables = KafkaTables(session, place.topics)
        records = [{"id": number, "n": number % 10} for number in range(2000)]
        name = tables.create(place.topics.new(records, partitions=2), "id bigint, n int")
        query = f"SELECT n, count(*) AS c, sum(id) AS s FROM {name} GROUP BY n"
        seen = place.shared("read", session, query, executors=1)
        check(one(session, f"SELECT count(*), sum(id) FROM {name}"), (2000, sum(range(2000))))
        run(session, f"INSERT INTO {name} (id, n) SELECT id + 2000, n FROM {name} WHERE id < 500")
        check(one(session, f"SELECT count(*), max(id) FROM {name}"), (2500, 2499))
    return f"{seen}; 500 records written"


def stream(place: Place) -> str:
    begun = monotonic()
    with stream_home(place.folder / "stream", place.topics, place.settings) as home:
        home.send(100)
        home.create(max_records_per_batch="40")
        home.run("RUN STREAM s LIMIT 40")
        spark_sessions.release_all()
        spark_sessions.stop_private()  # a manager's executors need the cores
        home.run("START STREAM s")
        home.run("WAIT STREAM s")
        home.run("STOP STREAM s")
        assert manager.stop(home.path)
        check(home.counts(), home.expected)
    return f"100 records in {monotonic() - begun:.0f} s"


def archive(place: Place) -> str:
    with closing(place.session()) as session:
        place.has_numbers(session)
        name = f"tiered_{uuid4().hex[:12]}"
        run(session, "SET hivedruid.now=2024-01-08 12:00:00")
        run(
            session,
            f"CREATE TABLE {name} (`__time` TIMESTAMP, n bigint, t string) STORED AS TIERED TBLPROPERTIES ("
            "'druid.rollup' = 'false', 'druid.segment.granularity' = 'DAY', 'tiered.hot.period' = 'P3D')",
        )
        run(session, f"INSERT INTO {name} SELECT {DAYS}, n, t FROM numbers WHERE n < 200000")
        seen = place.shared("archived", session, f"ARCHIVE TABLE {name} AND WAIT", executors=1)
        check(one(session, f"SELECT count(*), sum(n) FROM {name}"), (200_000, sum(range(200_000))))
        run(session, f"UNARCHIVE TABLE {name}")
        check(one(session, f"SELECT count(*), sum(n) FROM {name}"), (200_000, sum(range(200_000))))
        run(session, f"DROP TABLE {name}")
    return f"{seen}; moved back"


def conditions(place: Place) -> str:
    if place.server is None:
        return "only with --s3"
    server, other = place.server, "0123456789abcdef0123456789abcdef"
    with ThreadPoolExecutor(8) as pool:
        for round_ in range(10):
            found = Counter(pool.map(lambda n: server.put(f"new-{round_}", b"%d" % n, If_None_Match="*"), range(8)))  # noqa: B023
            check(found[200], 1)
            check(found[200] + found[409] + found[412], 8)
    check(server.put("new-0", b"x", If_Match=f'"{other}"'), 412)
    return "10 x 8 concurrent writes, of which 10 were accepted"


PARTS: Mapping[str, Callable[[Place], str]] = {
    part.__name__: part for part in (quickstart, tables, joins, segments, kafka, stream, archive, conditions)
}

# --- servers ------------------------------------------------------------------------------------------------------


def s3_settings(server: S3Server, folder: Path) -> dict[str, str]:
    """The warehouse, staged rows and deep storage in the server. Its keys are in the environment."""
    s3a = "spark.hadoop.fs.s3a"
    return {
        **server.settings,
        "hivedruid.iceberg.catalog.type": "jdbc",
        "hivedruid.iceberg.catalog.uri": f"jdbc:sqlite:{folder / 'iceberg.sqlite'}",
        "hivedruid.iceberg.catalog.warehouse": f"s3a://{BUCKET}/warehouse",
        "hivedruid.staging.root": f"s3a://{BUCKET}/staging",
        "hivedruid.druid.deep.storage": f"s3://{BUCKET}/{BASE_KEY}",
        f"{s3a}.endpoint": server.endpoint,
        f"{s3a}.endpoint.region": "us-east-1",
        f"{s3a}.path.style.access": "true",
        f"{s3a}.aws.credentials.provider": "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider",
    }


def spark_settings(mode: str, processes: Processes, more: Mapping[str, str], jars: list[Path]) -> dict[str, str]:
    """The settings of a session for a new Spark; `more` are those of Spark itself, `jars` its additional libraries."""
    classes = {"spark.driver.extraClassPath": os.pathsep.join(map(str, jars))} if jars else {}
    if mode == "local":
        return {**more, **classes}
    master, _ = start_master(processes)
    for number in (1, 2):
        start_worker(processes, master, number)
    if mode == "standalone":
        sent = {"spark.jars": ",".join(map(str, jars))} if jars else {}
        return {**OWN, **more, **classes, **sent, "spark.master": master}
    remote = start_connect(processes, master, more=more, jars=jars)
    return {"spark.remote": remote, "spark.remote.token": "env:SPARK_TOKEN"}


@contextmanager
def prepared(folder: Path, mode: str, druid: str, s3: str) -> Iterator[Place]:
    """The servers, until the end of the block."""
    (folder / "events").mkdir()
    more = logged(folder / "events")
    more["spark.scheduler.minRegisteredResourcesRatio"] = "1.0"  # the first job waits for both executors
    with ExitStack() as stack:
        given: dict[str, str] = {"hive.local.time.zone": "UTC"}
        jars: list[Path] = []
        server: S3Server | None = None
        services: LocalServices | None = None
        if s3:
            server = stack.enter_context(versity_server(folder / "s3", s3))
            os.environ.update({"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET})
            given |= s3_settings(server, folder)
            more |= {key: value for key, value in given.items() if key.startswith("spark.")}
            jars = spark_jars()
            if druid == "local":
                services = stack.enter_context(druid_in_s3(folder / "druid", server))
        cluster = LocalCluster(folder / "cluster", heap="small")
        stack.callback(cluster.down)
        started = cluster.up(druid=druid == "local" and services is None)
        services = services or (started if druid == "local" else None)
        given |= conf_of(services) if services is not None else {"druid.url": "embedded:"}
        processes = stack.enter_context(Processes(folder))
        given |= spark_settings(mode, processes, more, jars)
        topics = stack.enter_context(topics_of(started.kafka))
        stack.callback(spark_sessions.stop_private)
        stack.callback(spark_sessions.release_all)
        executors = 1 if mode == "local" else 2
        yield Place(folder, given, Events(folder / "events"), executors, topics, services, server)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=(*MODES, "local"), default=MODES[0])
    parser.add_argument("--druid", choices=("embedded", "local"), default="local")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--s3", default="", metavar="PROGRAM", help="the path of versitygw")
    given = parser.parse_args()
    where = f"{given.mode}, {given.druid}{', S3' if given.s3 else ''}"
    os.environ["SPARK_TOKEN"] = TOKEN
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the servers are stopped then, too
    with (
        tempfile.TemporaryDirectory(prefix="hivedruid-matrix-") as folder,
        prepared(Path(folder), given.mode, given.druid, given.s3) as place,
    ):
        failed = 0
        for name in given.only:
            begun = monotonic()
            try:
                seen = PARTS[name](place)
            except (HiveDruidError, AssertionError):
                failed += 1
                seen = f"FAILED\n{traceback.format_exc()}"
            print(f"{where}: {name}: {seen} ({monotonic() - begun:.0f} s)", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
