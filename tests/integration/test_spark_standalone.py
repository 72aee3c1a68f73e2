"""External Spark: a standalone cluster of two workers on this machine, and a Connect server started by hand."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest

from hivedruid.actions.streaming import manager as background
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import BIGINT, INT, STRING, TIMESTAMP
from hivedruid.errors import ConnectError, ExecutionError
from hivedruid.jobs.staged import Sum
from hivedruid.local import artifacts
from hivedruid.local.java import java_command
from hivedruid.plan.physical import DruidInput, DruidRead, Field
from hivedruid.spark import remote, server, session
from tests.support import spark_stranger
from tests.support.streams import stream_home
from tests.unit.spark.conftest import Home, columns, files_table, iceberg_table, job, run

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

TOKEN = "sesame"
SECRET = "open barley"
JAVA_OPTIONS = [
    "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m", "-Djava.net.preferIPv4Stack=true",
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.lang", "java.lang.invoke", "java.nio", "sun.nio.ch", "java.util")),
]  # fmt: skip


class Processes:
    """JVMs with Spark's classes, each with a log; all are stopped at the end of the block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.started:
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, name: str, *arguments: str, jar: str = "") -> Callable[[str], re.Match[str]]:
        """Start a main class, and wait for a line of its log."""
        log = self.folder / f"{name}.log"
        classes = os.pathsep.join(filter(None, [str(artifacts.pyspark_folder() / "jars" / "*"), jar]))
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        environment = {
            **kept, "SPARK_HOME": str(artifacts.pyspark_folder()), "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN, "PYSPARK_PYTHON": sys.executable,
            "SPARK_SCALA_VERSION": "2.13",  # pip's Spark lacks the file with this information
        }  # fmt: skip
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(java_command()), *JAVA_OPTIONS, "-cp", classes, *arguments],
                cwd=self.folder, env=environment, stdout=output, stderr=output,
            )  # fmt: skip
        self.started.append(process)

        def wait_for(pattern: str) -> re.Match[str]:
            deadline = monotonic() + 180
            while not (found := re.search(pattern, log.read_text(errors="replace"))):
                assert process.poll() is None, log.read_text(errors="replace")
                assert monotonic() < deadline, log.read_text(errors="replace")
                sleep(0.05)
            return found

        return wait_for


@pytest.fixture(scope="module")
def release() -> Callable[[], None]:
    """Closes the sessions of this module, not those of other tests of this process."""
    others = set(session._clients)

    def release_own() -> None:
        for home, name in set(session._clients) - others:
            session.release(home, name)

    return release_own


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory, release: Callable[[], None]) -> Iterator[str]:
    """The URL of a standalone master with two workers of one core and 1 GB each, which require SECRET."""
    folder = tmp_path_factory.mktemp("standalone")
    (folder / "spark.properties").write_text(
        f"spark.authenticate=true\nspark.authenticate.secret={SECRET}\nspark.network.crypto.enabled=true\n"
    )
    secured = ("--properties-file", str(folder / "spark.properties"))
    with Processes(folder) as processes:
        master = processes.start(
            "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *secured,
        )  # fmt: skip
        url = master(r"Starting Spark master at (spark://\S+)")[1]
        for number in (1, 2):
            processes.start(
                f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
                "--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work{number}"), *secured, url,
            )(r"Successfully registered with master")  # fmt: skip
        try:
            yield url
        finally:
            release()
            session.stop_private()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, release: Callable[[], None]) -> Iterator[str]:
    """The URL of a Connect server that was started by hand, with Iceberg, and requires a token."""
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
            "server", *options, "org.apache.spark.sql.connect.service.SparkConnectServer", jar=iceberg
        )
        port = server(r"Spark Connect server started at: \S*?:(\d+)")[1]
        yield f"sc://localhost:{port}"
        release()


def on_cluster(master: str) -> dict[str, str]:
    """The settings for jobs on a cluster, on one machine."""
    return {
        "spark.master": master, "spark.executor.memory": "512m", "spark.authenticate.secret": "env:TEST_SPARK_SECRET",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
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
    sql = "SELECT count(*), sum(id % 7), CAST('x' AS INT), current_timezone() FROM range(0, 100000, 1, 8)"
    assert elsewhere.query(sql) == [(100000, 299995, None, "UTC")]
    table = iceberg_table(columns(a=INT, b=STRING))
    assert elsewhere.write("SELECT id, CAST(id AS STRING) FROM range(0, 10, 1, 2)", table) == 10
    assert elsewhere.write("SELECT a + 1, b FROM t WHERE a > 5", table, table, overwrite=True) == 4
    assert sorted(elsewhere.query("SELECT a, b FROM t", table)) == [(7, "6"), (8, "7"), (9, "8"), (10, "9")]
    staged = tmp_path / "staged"
    table = Table("default", "d", "druid", columns(__time=TIMESTAMP, n=BIGINT))
    spec = {
        "spec": {"dataSchema": {"dataSource": "d", "dimensionsSpec": {"dimensions": [{"name": "n", "type": "long"}]}}}
    }
    found = elsewhere.runner.stage(job("SELECT 1L, id FROM range(9)"), table, spec, str(staged), skip_timeless=False)
    assert (found.rows, found.intervals, found.sums) == (9, ((0, 86_400_000),), {"n": Sum(36)})
    assert list(staged.glob("*.json.gz"))


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


def test_strangers_are_refused_by_the_driver(master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's RPC and block manager serve the executors, which have the secret, and nobody else."""
    monkeypatch.setenv("TEST_SPARK_SECRET", SECRET)
    home = Home(tmp_path / "home", on_cluster(master))
    assert home.query("SELECT count(*) FROM range(0, 1000, 1, 8)") == [(1000,)]
    assert home.notes == []
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


def test_cluster_driver_ends_with_its_process(master: str, tmp_path: Path, release: Callable[[], None]) -> None:
    release()
    session.stop_private()  # two drivers would wait for each other's cores
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    settings = [f"{key}={value}" for key, value in on_cluster(master).items()]
    done = run(tmp_path / "home", *settings, TMPDIR=str(temporary), TEST_SPARK_SECRET=SECRET)
    assert (done.stdout, done.stderr) == ("[(1,)]\n", "")
    assert list(temporary.iterdir()) == []


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
        assert home.counts() == home.expected
