"""External Spark: a standalone cluster of two workers on this machine, and a Connect server started by hand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from hivedruid.actions.streaming import manager as background
from hivedruid.catalog.layout import PartitionField
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import BIGINT, INT, STRING, TIMESTAMP
from hivedruid.druid.planned_segments import PlannedDimension, SegmentPlan
from hivedruid.errors import ConnectError, ExecutionError, SparkError
from hivedruid.jobs.staged import Sum
from hivedruid.local import artifacts
from hivedruid.plan.physical import DruidInput, DruidRead, Field
from hivedruid.qtest.runner import run_script
from hivedruid.session import Session
from hivedruid.spark import partition_writing, remote, server, session
from hivedruid.spark.failures import translate
from hivedruid.spark.missing_jars import hadoop_version
from tests.support import job_homes, spark_stranger
from tests.support.spark_elsewhere import start_master, start_worker
from tests.support.spark_output import unfinished_files
from tests.support.spark_processes import TOKEN, Processes, can_hide
from tests.support.streams import CONF, stream_home
from tests.unit.spark.conftest import Home, columns, eventually, files_table, iceberg_table, job, run, start
from tests.unit.spark.test_session import has_ended, slow_job

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

SECRET = "open barley"


@pytest.fixture(scope="module")
def release() -> Callable[[], None]:
    """Closes the sessions of this module, not those of other tests of this process."""
    others = set(session._clients)

    def release_own() -> None:
        for home, name in set(session._clients) - others:
            session.release(home, name)

    return release_own


ports: dict[str, str] = {}
"""The port of the web interface of each master."""
pythons: dict[str, Path] = {}
"""The Python of the workers of each master."""


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that one of the two workers does not share."""
    return tmp_path_factory.mktemp("apart")


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory, release: Callable[[], None], apart: Path) -> Iterator[str]:
    """The URL of a standalone master with two workers of one core and 1 GB each, which require SECRET."""
    folder = tmp_path_factory.mktemp("standalone")
    (folder / "spark.properties").write_text(
        f"spark.authenticate=true\nspark.authenticate.secret={SECRET}\nspark.network.crypto.enabled=true\n"
    )
    secured = ("--properties-file", str(folder / "spark.properties"))
    with Processes(folder) as processes:
        url, port = start_master(processes, *secured)
        ports[url], pythons[url] = port, folder / "python"
        _use(pythons[url], sys.executable)
        for number in (1, 2):
            start_worker(processes, url, number, *secured, hidden=apart if number == 2 else None)
        try:
            yield url
        finally:
            release()
            session.stop_private()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, release: Callable[[], None], apart: Path) -> Iterator[str]:
    """The URL of a Connect server that was started by hand, with Iceberg, and requires a token. It does not share the
    folder `apart`."""
    iceberg = os.pathsep.join(map(str, artifacts.resolve(artifacts.locked_group("spark"))))
    folder = tmp_path_factory.mktemp("connect")
    with Processes(folder) as processes:
        (folder / "log4j2.properties").write_text("rootLogger.level = info\nrootLogger.appenderRef.a.ref = a\n"
            "appender.a.type = Console\nappender.a.name = a\nappender.a.layout.type = PatternLayout\n")  # fmt: skip
        properties = {
            "spark.master": "local[2]", "spark.ui.enabled": "false", "spark.driver.host": "localhost",
            "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": "0",
            "log4j2.configurationFile": (folder / "log4j2.properties").as_uri(),
        }  # fmt: skip
        options = [f"-D{key}={value}" for key, value in properties.items()]
        server = processes.start(
            "server", *options, "org.apache.spark.sql.connect.service.SparkConnectServer", jar=iceberg, hidden=apart
        )
        port = server(r"Spark Connect server started at: \S*?:(\d+)")[1]
        yield f"sc://localhost:{port}"
        release()


def _use(python: Path, command: str) -> None:
    """Make `python` a script that runs a command: a link to a Python would not find the packages beside it."""
    python.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    python.chmod(0o755)


@pytest.fixture
def ui(master: str) -> str:
    """The port of the master's web interface."""
    return ports[master]


def on_cluster(master: str) -> dict[str, str]:
    """The settings for jobs on a cluster, on one machine. Tests with the same settings share a driver and its executors;
    each task starts the Python that `pythons` has then."""
    return {
        "spark.master": master, "spark.executor.memory": "512m", "spark.authenticate.secret": "env:TEST_SPARK_SECRET",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.task.maxFailures": "1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # they start faster
        "spark.pyspark.python": str(pythons[master]), "spark.python.use.daemon": "false",
        "spark.cores.max": "2", "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # the first job waits for both
    }  # fmt: skip


@pytest.fixture(params=["standalone", "connect"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home that uses an external Spark."""
    monkeypatch.setenv("TEST_SPARK_SECRET", SECRET)
    if request.param == "standalone":
        settings = on_cluster(request.getfixturevalue("master"))
    else:
        monkeypatch.setenv("TEST_SPARK_TOKEN", TOKEN)
        settings = {"spark.remote": request.getfixturevalue("address"), "spark.remote.token": "env:TEST_SPARK_TOKEN"}
    return Home(tmp_path / "home", {**settings, "hive.local.time.zone": "UTC"})


def test_everything_a_job_does(elsewhere: Home, tmp_path: Path) -> None:
    """Rows, a join with Druid's rows, files, Iceberg, staging for Druid, and Hive's semantics."""
    item = DruidInput(
        "d",
        DruidRead({"rows": [["'#en'", "5::BIGINT", "1442018818771::BIGINT"], ["'#fr'", "6::BIGINT", "NULL"]]},
                  (Field("f0", STRING), Field("f1", BIGINT), Field("f2", TIMESTAMP))),
        ("channel", "s", "t"),
    )  # fmt: skip
    lines = tmp_path / "names.json"
    lines.write_text('{"code": "#en", "name": "English"}\n')
    names = files_table(lines, columns(code=STRING, name=STRING))
    joined = elsewhere.query("SELECT name, s, CAST(t AS STRING) FROM d JOIN t ON channel = code", item, names)
    assert joined == [("English", 5, "2015-09-12 00:46:58.771")]
    nothing = replace(item, read=replace(item.read, query={**item.read.query, "any": False}))
    assert elsewhere.query("SELECT count(*), max(s), max(t) FROM d", nothing) == [(0, None, None)]
    sql = "SELECT count(*), sum(id % 7), CAST('x' AS INT), current_timezone() FROM range(0, 100000, 1, 8)"
    assert elsewhere.query(sql) == [(100000, 299995, None, "UTC")]
    table = iceberg_table(columns(a=INT, b=STRING))
    assert elsewhere.write("SELECT id, CAST(id AS STRING) FROM range(0, 10, 1, 2)", table) == 10
    assert elsewhere.write("SELECT a + 1, b FROM t WHERE a > 5", table, table, overwrite=True) == 4
    assert sorted(elsewhere.query("SELECT a, b FROM t", table)) == [(7, "6"), (8, "7"), (9, "8"), (10, "9")]
    staged = tmp_path / "staged"
    rows = job("SELECT 1L, id FROM range(9)")
    found = elsewhere.runner.stage(rows, DRUID_TABLE, SPEC, str(staged), skip_timeless=False)
    assert (found.rows, found.intervals, found.sums) == (9, ((0, 86_400_000),), {"n": Sum(36)})
    assert list(staged.glob("*.json.gz"))


def test_partitions_without_files(elsewhere: Home, tmp_path: Path) -> None:
    """Partitions that only Spark can list; one of the answers is that of an empty folder."""
    script = Path(__file__).parents[1] / "scripts" / "late_data.q"
    outcome = run_script(script, scratch=tmp_path, settings=elsewhere.settings)
    assert outcome.passed, outcome


@pytest.mark.parametrize("semantic", ["AT_LEAST_ONCE", "EXACTLY_ONCE"])
def test_records_for_a_topic(elsewhere: Home, topics: Topics, semantic: str) -> None:
    """This process writes them: workers need no client of Kafka. A job that fails in Spark is no error of Kafka."""
    topic = topics.new()
    with Session(elsewhere.path, hiveconf={"druid.url": "embedded:", **elsewhere.settings}) as home:
        job_homes.run(
            home,
            "CREATE EXTERNAL TABLE k (id bigint, name string) STORED BY 'kafka' TBLPROPERTIES ("
            f"'kafka.topic' = '{topic}', 'kafka.bootstrap.servers' = '{topics.bootstrap}',"
            f" 'kafka.write.semantic' = '{semantic}')",
        )
        job_homes.run(home, "INSERT INTO k (id, name) VALUES (1, 'é'), (2, NULL)")
        job_homes.run(home, "INSERT INTO k (id, name) SELECT id, 'x' FROM (SELECT 3 AS id) v WHERE id < 0")
        if semantic == "AT_LEAST_ONCE":
            with pytest.raises(SparkError, match=f"cannot write to topic {topic}: "):
                job_homes.run(home, "INSERT INTO k (id, `__partition`) VALUES (4, 9)")
        with pytest.raises(SparkError, match="a map key is NULL"):
            job_homes.run(home, "INSERT INTO k (id) SELECT map(IF(id > 0, NULL, 'a'), 1)['a'] FROM (SELECT 5 AS id) v")
        assert not job_homes.leftovers(home.home)
    assert topics.values(topic) == ['{"id":1,"name":"é"}'.encode(), b'{"id":2,"name":null}']


def test_too_many_rows_for_a_spark_elsewhere(elsewhere: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SHIPPED_LIMIT", 10)
    item = DruidInput("d", DruidRead({"rows": [["'a'"], ["'b'"]]}, (Field("f0", STRING),)), ("a",))
    with pytest.raises(ExecutionError, match="on a remote Spark") as caught:
        elsewhere.query("SELECT * FROM d", item)
    assert "SET spark.master=local[*]" in (caught.value.hint or "")


def test_wrong_token(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SPARK_TOKEN", "guessed")
    home = Home(tmp_path / "home", {"spark.remote": address, "spark.remote.token": "env:TEST_SPARK_TOKEN"})
    with pytest.raises(ConnectError, match="rejected the token"):
        home.query("SELECT 1")


DRUID_TABLE = Table("default", "d", "druid", columns(__time=TIMESTAMP, n=BIGINT))
SPEC = {"spec": {"dataSchema": {"dataSource": "d", "dimensionsSpec": {"dimensions": [{"name": "n", "type": "long"}]}}}}


LOST = "only .* of the Spark job are in .* on this machine|but not to .* on this machine|cannot find a file"
"""Spark's report of the tasks may arrive too late: then the rows are read, also by the worker without the files."""


def test_a_worker_without_the_storage(master: str, apart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the rows are not on this machine: the statement fails, and the table is as before."""
    assert can_hide(), "this test requires Linux with user namespaces (unshare)"
    monkeypatch.setenv("TEST_SPARK_SECRET", SECRET)
    home = Home(apart / "home", on_cluster(master))
    rows, one = "SELECT id FROM range(0, 400, 1, 4)", "SELECT 1L AS id"
    files = files_table(apart / "files", columns(a=BIGINT), "orc")
    for overwrite in (False, True):
        with pytest.raises(SparkError, match=LOST):
            home.write(rows, files, overwrite=overwrite)
        assert not list(apart.glob("*files*"))
    table = iceberg_table(columns(a=BIGINT))
    with pytest.raises(SparkError, match=r"committed \d files to default.t that are not on this machine"):
        home.write(rows, table)
    assert home.query("SELECT count(*) FROM t", table) == [(0,)]
    local = Home(home.path, {"hive.local.time.zone": "UTC"})
    assert local.write(one, table) == 1
    history = local.runner.iceberg_history(table)
    assert history is not None
    with pytest.raises(SparkError, match="not on this machine") as caught:
        home.write(rows, table, overwrite=True)
    assert "nothing was changed" in (caught.value.hint or "")
    assert local.query("SELECT a FROM t", table) == [(1,)]
    times = "SELECT id * 1000, id FROM range(0, 400, 1, 4)"
    with pytest.raises(SparkError, match=LOST):
        home.runner.stage(job(times), DRUID_TABLE, SPEC, str(apart / "staged"), skip_timeless=False)
    assert not (apart / "staged").exists()
    home.settings.update({"spark.sql.shuffle.partitions": "8", "spark.sql.adaptive.enabled": "false"})  # many tasks
    days, plan = (
        "SELECT id * 86400000, id FROM range(0, 16, 1, 2)",
        SegmentPlan("DAY", "NONE", (PlannedDimension("n", "LONG"),), (), False, 10),
    )
    unseen = rf"worker {gethostname()} does not see the job's folder in Druid's deep storage: {apart}/deep/job"
    with pytest.raises(SparkError, match=unseen) as caught:
        home.runner.stage(job(days), DRUID_TABLE, SPEC, str(apart / "deep" / "job"), skip_timeless=False, plan=plan)
    assert (caught.value.hint or "").startswith("mount the deep storage on all machines of Spark")
    assert not (apart / "deep" / "job").exists()
    parted = replace(files_table(apart / "p", columns(a=BIGINT, k=INT), "orc"), partition_spec=(PartitionField("k"),))
    (apart / "parts").mkdir()
    with pytest.raises(SparkError, match=LOST):
        partition_writing.stage(
            home.runner, job("SELECT id, id % 2 FROM range(0, 400, 1, 4)"), parted, apart / "parts", divides=False
        )


def test_a_killed_command_on_a_connect_server(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server continues its job until the next command of the home."""
    monkeypatch.setenv("TEST_SPARK_TOKEN", TOKEN)
    settings = {"spark.remote": address, "spark.remote.token": "env:TEST_SPARK_TOKEN"}
    script = (
        "import sys; from pathlib import Path; from hivedruid.spark import session\n"
        "home, sql, folder, *given = sys.argv[1:]; settings = dict(zip(given[::2], given[1::2]))\n"
        "session.session(settings, Path(home)).sql(sql).write.orc(folder)\n"
    )
    given = [text for pair in settings.items() for text in pair]
    place, output = tmp_path / "home", tmp_path / ".data.x"
    client = subprocess.Popen([sys.executable, "-c", script, str(place), slow_job().sql, str(output), *given])
    try:
        eventually(lambda: unfinished_files(tmp_path) or client.poll() is not None)
        assert client.poll() is None
    finally:
        client.kill()
        client.communicate()
    (lost,) = (place / "spark" / "remote").iterdir()
    assert TOKEN not in lost.read_text()
    home = Home(place, settings)
    assert home.query("SELECT 1") == [(1,)]
    assert not lost.exists()
    eventually(lambda: has_ended(tmp_path))
    assert not list(output.glob("part-*"))
    home.runner.close()
    assert list((place / "spark" / "remote").iterdir()) == []


def test_files_that_only_the_connect_server_has(address: str, apart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SPARK_TOKEN", TOKEN)
    assert can_hide(), "this test requires Linux with user namespaces (unshare)"
    home = Home(apart.parent / "elsewhere", {"spark.remote": address, "spark.remote.token": "env:TEST_SPARK_TOKEN"})
    frame = session.session(home.settings, home.path).sql("SELECT id AS a FROM range(0, 9, 1, 2)")
    for format_, writer in (("orc", frame.write.orc), ("jsonfile", frame.write.json)):
        folder = apart / f"of the server, {format_} [1]"
        writer(f"file://{folder}")
        assert not folder.exists()
        assert home.query("SELECT sum(a) FROM t", files_table(folder, columns(a=BIGINT), format_)) == [(36,)]
    with pytest.raises(
        SparkError, match="Spark cannot find a file on its machines: Path does not exist: file:/nowhere"
    ):
        home.query("SELECT * FROM t", files_table("/nowhere", columns(a=BIGINT)))
    with pytest.raises(SparkError, match=f"Spark wrote 9 rows, but not to {apart}/new on this machine|{LOST}"):
        home.write("SELECT id FROM range(0, 9, 1, 2)", files_table(apart / "new", columns(a=BIGINT), "orc"))


def test_missing_jars_of_s3(elsewhere: Home) -> None:
    """The error names them, also if Spark runs elsewhere."""
    with pytest.raises(SparkError, match=rf"it lacks hadoop-aws-{hadoop_version()}\.jar and bundle") as caught:
        elsewhere.query("SELECT * FROM t", files_table("s3a://bucket/rows", columns(a=BIGINT)))
    assert "on a cluster also SET spark.jars to them" in (caught.value.hint or "")


def test_strangers_are_refused_by_the_driver(master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's RPC and block manager serve the executors, which have the secret, and nobody else."""
    monkeypatch.setenv("TEST_SPARK_SECRET", SECRET)
    home = Home(tmp_path / "home", on_cluster(master))
    assert home.query("SELECT count(*) FROM range(0, 1000, 1, 8)") == [(1000,)]
    assert not any("authentication" in note for note in home.notes)
    folder = session._private_folder()
    known = server.find(folder)
    assert known is not None
    ports = sorted(spark_stranger.listening(known.jvm).keys() - {known.port})

    def handled(secret: str, **how: int) -> list[str]:
        return [line for line in spark_stranger.calls(secret, ports, **how) if spark_stranger.HANDLED.search(line)]

    assert (handled(""), handled("guessed")) == ([], [])
    answers: list[str] = []
    for patience in (3, 60):  # a busy driver takes longer
        if len(answers) < 2:
            lines = handled(SECRET, patience=patience)
            answers = [line for line in lines if line.startswith("answered NettyRpcEndpointRef")]
    assert len(answers) == 2
    arguments = subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, text=True, check=True).stdout
    assert SECRET not in arguments
    assert SECRET not in server.Files(folder).discovery.read_text()


def test_unsuitable_pythons(master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of the workers does not exist, lacks packages, or has another version. Nothing is written."""
    monkeypatch.setenv("TEST_SPARK_SECRET", SECRET)
    python = pythons[master]
    (tmp_path / "doubles.py").write_text("def double(a: int) -> int:\n    return 2 * a\n")
    create = f"CREATE FUNCTION twice AS 'doubles.double' USING FILE '{tmp_path / 'doubles.py'}'"
    insert = "INSERT INTO t SELECT twice(id) FROM (SELECT explode(array(1, 2)) AS id) v"
    try:
        with Session(tmp_path / "home", hiveconf={"druid.url": "embedded:", **on_cluster(master)}) as home:
            job_homes.run(home, "CREATE TABLE t (a INT)")
            job_homes.run(home, create)
            python.unlink()
            with pytest.raises(SparkError, match=rf"worker 127.0.0.1 cannot run {python}: No such file or directory"):
                job_homes.run(home, insert)
            _use(python, other_version(tmp_path))
            with pytest.raises(SparkError, match=r"a worker runs Python 3.9, and hivedruid runs 3.\d+"):
                job_homes.run(home, insert)
            venv.create(tmp_path / "bare", symlinks=True)
            _use(python, f"{tmp_path}/bare/bin/python")
            with session.job(home.settings, home.home) as running, pytest.raises(PySparkException) as refused:
                running.spark.range(2).mapInArrow(lambda batches: batches, "id BIGINT").collect()
            error = translate(refused.value, tmp_path / "log", is_elsewhere=True)
            assert error.message == "the Python of a worker lacks the package pyarrow"
            assert job_homes.run(home, "SELECT count(*) AS n FROM t") == [{"n": 0}]
    finally:
        _use(python, sys.executable)


OTHER_VERSION = """
import sys
class Version(tuple):
    major, minor, micro, releaselevel, serial = 3, 9, 2, "final", 0
sys.version_info = Version((3, 9, 2, "final", 0))
"""


def other_version(folder: Path) -> str:
    """The command of a Python that says it is Python 3.9."""
    (folder / "sitecustomize.py").write_text(OTHER_VERSION)
    return f'env PYTHONPATH="{folder}:$PYTHONPATH" {sys.executable}'


def test_streams_on_a_cluster(
    master: str, release: Callable[[], None], topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manager has a driver of its own; its executors read the topic and write the files."""
    monkeypatch.setenv("TEST_SPARK_SECRET", SECRET)
    with stream_home(tmp_path / "home", topics, {**on_cluster(master), "druid.url": "embedded:"}) as home:
        home.send(100)
        home.create(max_records_per_batch="40")
        home.run("RUN STREAM s LIMIT 40")
        release()
        session.stop_private()  # its executors have all cores of the cluster
        home.run("START STREAM s")
        home.run("WAIT STREAM s")
        home.run("STOP STREAM s")
        assert background.stop(home.path)
        with Session(home.path, hiveconf=CONF) as home.session:  # Spark on this machine starts sooner
            assert home.counts() == home.expected


def test_cluster_driver_ends_with_its_process(master: str, tmp_path: Path, release: Callable[[], None]) -> None:
    release()
    session.stop_private()  # two drivers would wait for each other's cores
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    settings = [f"{key}={value}" for key, value in on_cluster(master).items()]
    done = run(tmp_path / "home", *settings, TMPDIR=str(temporary), TEST_SPARK_SECRET=SECRET)
    assert (done.stdout.splitlines()[-1], done.stderr) == ("[(1,)]", "")  # on a busy machine executors start late
    assert list(temporary.iterdir()) == []


def test_a_process_that_ends_while_its_driver_starts(master: str, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    settings = [f"{key}={value}" for key, value in on_cluster(master).items()]
    process = start(tmp_path / "home", *settings, TMPDIR=str(temporary), TEST_SPARK_SECRET=SECRET)
    eventually(lambda: list(temporary.glob("hivedruid-spark-*/spark.properties")))
    process.terminate()
    process.communicate()
    eventually(lambda: not list(temporary.iterdir()))
    assert (tmp_path / "home" / "logs" / "spark-cluster.log").exists()


def test_a_cluster_without_free_cores(master: str, ui: str, tmp_path: Path) -> None:
    """No worker has that much memory. The note says what is asked for, and what is free."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    asked = {**on_cluster(master), "spark.executor.memory": "4g", "spark.master.ui.port": ui}
    asked["spark.scheduler.minRegisteredResourcesRatio"] = "0"
    settings = [f"{key}={value}" for key, value in asked.items()]
    process = start(tmp_path / "home", *settings, TMPDIR=str(temporary), TEST_SPARK_SECRET=SECRET, PYTHONUNBUFFERED="1")
    assert process.stdout is not None
    note = process.stdout.readline()
    assert note.startswith(
        f"no task of the job has run for 10 s: spark.master={master} has no free cores, or executors"
    )
    assert (
        ". It requests up to 2 cores (spark.cores.max), in executors with 4g of memory (spark.executor.memory); "
        in note
    )
    assert re.search(r"; [0-2] of 2 cores and \d+ MB of memory are free$", note.strip())
    process.terminate()
    process.communicate()
    eventually(lambda: not list(temporary.iterdir()))
