"""The warm server of a home: shared by all its commands, replaced, repaired, and never left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.types import INT
from hivedruid.errors import SparkError
from hivedruid.spark import server, session
from hivedruid.spark.server import Files, Server
from tests.support import spark_stranger
from tests.unit.spark.conftest import Home, columns, eventually, iceberg_table, run, start
from tests.unit.spark.test_session import slow_job

pytestmark = pytest.mark.spark


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with its own server, and a folder for temporary files; no processes are left in either."""
    monkeypatch.delenv(server.SPARK_HOME, raising=False)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")  # for servers that live for seconds
    home = tmp_path / "home"
    home.mkdir()
    yield home
    session.release_all()
    server.stop(home)


def serving(home: Path) -> Server:
    found = server.find(home)
    assert found is not None
    return found


def is_there(process: int) -> bool:
    """Whether a process is running; a zombie is not."""
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return listed.stdout.strip()[:1] not in ("", "Z")


def hivedruid(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "hivedruid", *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_one_server_for_all_commands(place: Path) -> None:
    """Two concurrent starts and a later one: one server, its files private to their owner, and only results printed."""
    assert hivedruid("spark", "status", "--home", str(place)) == f"no Spark server is running for {place}\n"
    assert hivedruid("spark", "stop", "--home", str(place)) == f"no Spark server is running for {place}\n"
    both = [start(place), start(place)]
    for process in both:
        out, error = process.communicate(timeout=300)
        assert (out, error) == ("[(1,)]\n", "")
    known = serving(place)
    done = run(place)
    assert (done.stdout, done.stderr) == ("[(1,)]\n", "")
    assert hivedruid("spark", "start", "--home", str(place)).startswith("state    idle for ")
    assert serving(place) == known
    files = Files(place)
    assert files.folder.stat().st_mode & 0o777 == 0o700
    assert files.discovery.stat().st_mode & 0o777 == 0o600
    everything = subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, text=True, check=True).stdout
    assert str(place) in everything
    assert known.token not in everything
    status = hivedruid("spark", "status", "--home", str(place))
    assert f"process  {known.jvm}, supervised by {known.keeper}\n" in status
    assert known.token not in status
    assert known.token not in repr(known)
    assert hivedruid("spark", "stop", "--home", str(place)) == "stopped\n"
    assert not is_there(known.jvm)
    assert server.find(place) is None
    assert sorted(path.name for path in files.folder.iterdir()) == [
        "alive.lock",
        "clients",
        "jobs.lock",
        "owners",
        "starting.lock",
    ]
    assert list(files.clients.iterdir()) == []
    assert files.log.stat().st_size > 0
    assert known.token not in files.log.read_text()
    assert sorted(path.name for path in place.iterdir()) == ["logs", "spark"]
    assert list((place.parent / "tmp").iterdir()) == []


def test_strangers_are_refused(place: Path) -> None:
    session.start({}, place, lambda _: None)
    known = serving(place)
    for token in ("", "guessed"):
        script = (
            "import grpc, sys\n"
            "from pyspark.sql.connect.proto import AnalyzePlanRequest, SparkConnectServiceStub\n"
            "local = grpc.local_channel_credentials()\n"
            "if sys.argv[2]: local = grpc.composite_channel_credentials(local, grpc.access_token_call_credentials(sys.argv[2]))\n"
            "request = AnalyzePlanRequest(session_id='0190c5b2-77aa-7000-8000-000000000000')\n"
            "request.spark_version.SetInParent()\n"
            "try:\n"
            "    SparkConnectServiceStub(grpc.secure_channel(sys.argv[1], local)).AnalyzePlan(request)\n"
            "except grpc.RpcError as error:\n"
            "    print(error.code().name)\n"
        )
        address = f"127.0.0.1:{known.port}"
        done = subprocess.run(
            [sys.executable, "-c", script, address, token], capture_output=True, text=True, check=True, timeout=120
        )
        assert done.stdout == "UNAUTHENTICATED\n"


def test_strangers_are_refused_by_the_driver(place: Path) -> None:
    """Spark's RPC and its block manager process nothing without the secret of the start; all ports are local, whatever
    the settings say."""
    home = Home(place, {"spark.driver.bindAddress": "::", "spark.authenticate": "false"})
    assert home.query("SELECT 1") == [(1,)]
    known = serving(place)
    ports = spark_stranger.listening(known.jvm)
    assert {address[-8:] for address in ports.values()} == {"0100007F"}
    others = sorted(ports.keys() - {known.port})
    assert len(others) == 2
    for secret in ("", "guessed"):
        results = spark_stranger.calls(secret, others)
        assert len(results) == 6
        assert [line for line in results if spark_stranger.HANDLED.search(line)] == []


def test_killed_server(place: Path) -> None:
    """The running job fails; the next one starts a new server. The JVM of a killed keeper is killed, too."""
    home = Home(place, {})
    rows = home.runner.rows(slow_job())
    next(rows)
    first = serving(place)
    os.kill(first.jvm, signal.SIGKILL)
    with pytest.raises(SparkError, match="ended unexpectedly"):
        for _ in rows:
            pass
    assert home.query("SELECT 1") == [(1,)]
    second = serving(place)
    assert second.jvm != first.jvm
    os.kill(second.keeper, signal.SIGKILL)
    eventually(lambda: not is_there(second.keeper))
    Files(place).discovery.write_text('{"version": "0.1.0", "po')
    assert home.query("SELECT 2") == [(2,)]
    assert not is_there(second.jvm)
    assert len(list((place.parent / "tmp").glob("hivedruid-spark-*"))) == 1


def test_killed_in_the_middle_of_a_start(place: Path) -> None:
    starter = start(place)
    try:
        files = Files(place)
        eventually(lambda: files.alive.exists() and '"jvm"' in files.alive.read_text())
    finally:
        starter.kill()
        starter.communicate()
    processes = json.loads(files.alive.read_text())
    os.kill(processes["keeper"], signal.SIGKILL)
    assert run(place).stdout == "[(1,)]\n"
    assert not is_there(processes["jvm"])
    assert serving(place).jvm != processes["jvm"]


def test_server_outlives_a_starter_that_was_killed(place: Path) -> None:
    starter = start(place)
    try:
        files = Files(place)
        eventually(lambda: files.alive.exists() and '"jvm"' in files.alive.read_text())
    finally:
        starter.kill()
        starter.communicate()
    jvm = json.loads(files.alive.read_text())["jvm"]
    assert run(place).stdout == "[(1,)]\n"
    assert serving(place).jvm == jvm


def test_idle_server_ends(place: Path) -> None:
    assert run(place, "hivedruid.spark.idle.timeout=PT0.5S").stdout == "[(1,)]\n"
    alive = json.loads(Files(place).alive.read_text())
    eventually(lambda: not is_there(alive["keeper"]) and not is_there(alive["jvm"]))
    assert server.find(place) is None


def test_server_ends_with_its_home(place: Path) -> None:
    session.start({}, place, lambda _: None)
    known = serving(place)
    while place.exists():  # the keeper deletes its own files at the same time
        shutil.rmtree(place, ignore_errors=True)
    eventually(lambda: not is_there(known.keeper) and not is_there(known.jvm))
    place.mkdir()


def test_server_that_does_not_suit_is_replaced(place: Path) -> None:
    """Of another version, without Iceberg where a job needs it, started with other settings: the next job starts its
    own.
    """
    home = Home(place, {})
    home.query("SELECT 1")
    table = iceberg_table(columns(a=INT))
    assert home.statuses[0] == "Spark: starting"
    former_settings: tuple[tuple[dict[str, Any], str], ...] = (
        ({"version": "hivedruid 0.0.1, pyspark 4.0.0"}, f" with {session.version()}"),
        ({"libraries": ""}, " with the libraries for managed tables and Kafka"),
        ({"settings": {}}, ", since spark.master changed"),
    )
    for was, why in former_settings:
        home.statuses.clear()
        former = serving(place)
        discovery = Files(place).discovery
        with discovery.open("r+") as file:  # the same file: one with another inode is not the keeper's own
            text = json.dumps({**json.loads(file.read()), **was})
            file.seek(0)
            file.truncate()
            file.write(text)
        rows = home.write("SELECT 1", table)
        assert rows == 1
        assert f"Spark: starting again{why}" in home.statuses
        assert not is_there(former.jvm)
    assert home.query("SELECT * FROM t", table) == [(1,), (1,), (1,)]
    settings = {"spark.driver.memory": "1g"}
    kept = home.runner.rows(slow_job())
    next(kept)
    former = serving(place)
    assert Home(place, settings).query("SELECT 1") == [(1,)]  # our own job runs there: its server must not be stopped
    assert serving(place) == former
    next(kept)
    kept.close()


def test_log_begins_anew(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Files(place).log
    log.parent.mkdir()
    with log.open("wb") as file:
        file.truncate(server.LOG_LIMIT + 1)
    session.start({}, place, lambda _: None)
    assert 0 < log.stat().st_size < 100_000
    assert log.with_name("spark.log.1").stat().st_size == server.LOG_LIMIT + 1


def test_server_is_replaced_after_many_sessions(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_SESSIONS", 2)
    home = Home(place, {})
    servers = []
    for _ in range(4):
        assert home.query("SELECT 1") == [(1,)]
        servers.append(serving(place).jvm)
        session.release_all()
    assert servers[0] == servers[1] != servers[2] == servers[3]
