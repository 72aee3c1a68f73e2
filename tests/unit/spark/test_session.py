"""Jobs and their server: cancellation, resumption, and the errors if Spark does not start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import pyarrow as pa
import pytest

from hivedruid.catalog.types import BIGINT, STRING
from hivedruid.errors import ConnectError, SparkError, UsageError
from hivedruid.plan.physical import SparkJob
from hivedruid.spark import server, session
from tests.support.spark_output import unfinished_files
from tests.unit.spark.conftest import Home, columns, eventually, files_table, job, run

pytestmark = pytest.mark.spark


def slow_job() -> SparkJob:
    """Returns rows from the first moment on, and runs for half an hour."""
    return job("SELECT id, sha2(repeat(CAST(id AS STRING), 100), 512) FROM range(0, 1000000000, 1, 20000)")


def has_ended(folder: Path) -> bool:
    """Whether the slow job writes no longer: it writes some files a second. A task that is killed late may leave one."""
    before, end = unfinished_files(folder), monotonic() + 10
    while before and monotonic() < end:
        sleep(0.2)
        if unfinished_files(folder) != before:
            return False
    return True


def test_interrupt_cancels_the_job_and_no_other(home: Home, tmp_path: Path) -> None:
    handler = signal.getsignal(signal.SIGINT)
    other = Home(tmp_path / "other", {})
    others = other.runner.rows(
        job("SELECT id FROM range(0, 400000, 1, 400) WHERE length(sha2(repeat('x', 9), 512)) > id * 0")
    )
    assert next(others) == (0,)
    rows = home.runner.rows(slow_job())
    next(rows)
    assert signal.getsignal(signal.SIGINT) is handler
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))

    def read_on() -> None:
        timer.start()
        for _ in rows:
            pass

    with pytest.raises(KeyboardInterrupt):
        read_on()
    timer.join()
    assert home.unfinished() == []
    assert len(list(others)) == 399_999


@pytest.mark.parametrize("wakes", [True, False], ids=["main thread", "other thread"])
def test_interrupt_cancels_a_write(home: Home, tmp_path: Path, wakes: bool) -> None:
    """The system may deliver a signal to any thread of a process; only the main thread is woken by its own."""
    home.query("SELECT 1")
    table = files_table(tmp_path / "data", columns(a=BIGINT, b=STRING), "orc")

    def interrupt() -> None:
        eventually(lambda: unfinished_files(tmp_path))
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, () if wakes else {signal.SIGINT})
    try:
        with pytest.raises(KeyboardInterrupt):
            home.runner.write(slow_job(), table, overwrite=False)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)
    watcher.join()
    assert home.unfinished() == []
    assert [path.name for path in tmp_path.iterdir() if "data" in path.name] == []


def test_killed_client_ends_its_job(home: Home, tmp_path: Path) -> None:
    """The client process has died: the server detects the closed connection."""
    home.query("SELECT 1")
    folder = tmp_path / ".data.x"
    script = (
        "import sys; from pathlib import Path; from hivedruid.spark import session\n"
        "home, sql, folder = sys.argv[1:]; session.session({}, Path(home)).sql(sql).write.orc(folder)\n"
    )
    client = subprocess.Popen([sys.executable, "-c", script, str(home.path), slow_job().sql, str(folder)])
    try:
        eventually(lambda: unfinished_files(tmp_path) or client.poll() is not None)
        assert client.poll() is None
    finally:
        client.kill()
        client.communicate()
    eventually(lambda: has_ended(tmp_path))
    assert not list(folder.glob("part-*"))


def test_short_job_does_not_wait_for_a_long_one(home: Home, tmp_path: Path) -> None:
    rows = home.runner.rows(slow_job())
    next(rows)
    assert Home(tmp_path / "other", {}).query("SELECT count(*) FROM range(0, 100, 1, 10)") == [(100,)]
    assert home.unfinished() != []
    rows.close()


def test_closed_runner_gives_its_session_back(home: Home) -> None:
    home.query("SELECT 1")
    assert (home.path, "") in session._clients
    spark = session._clients[home.path, ""].spark
    home.runner.close()
    assert spark.is_stopped
    assert home.query("SELECT 2") == [(2,)]


def test_forgotten_session_is_opened_anew(home: Home) -> None:
    home.query("SELECT 1")
    client = session._clients[home.path, ""]
    client.spark.client.release_session()  # as the server does with an unused session
    client.used -= session.FORGOTTEN + 1
    assert home.query("SELECT 2") == [(2,)]


def test_another_sparks_home_is_ignored(tmp_path: Path) -> None:
    assert run(tmp_path, SPARK_HOME="/nowhere", SPARK_CONF_DIR="/nowhere").stdout == "[(1,)]\n"


def test_no_java(tmp_path: Path) -> None:
    done = run(tmp_path, JAVA_HOME="/nowhere", own=True)
    assert done.stdout.startswith("ConnectError | JAVA_HOME is /nowhere, but it contains no bin/java | install")


def test_java_that_does_not_start(tmp_path: Path) -> None:
    done = run(tmp_path, "spark.driver.extraJavaOptions=-XX:MaxMetaspaceSize=lots", own=True)
    log = tmp_path / "logs" / "spark.log"
    assert done.stdout == (
        "SparkError | Spark failed to start: Improperly specified VM option 'MaxMetaspaceSize=lots' | "
        f"see Spark's log: {log}\n"
    )
    assert done.stderr == ""


def test_master_that_is_none(tmp_path: Path) -> None:
    done = run(tmp_path, "spark.master=nonsense")
    note, error = done.stdout.splitlines()
    assert note.startswith("Spark's driver accepts connections without authentication, since spark.authenticate.secret")
    assert error.startswith("SparkError | Spark failed to start: Master must either be")
    assert done.stderr == ""


def test_home_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(server.SPARK_HOME, raising=False)
    (tmp_path / "spark").write_text("no folder")
    with pytest.raises(SparkError, match=r"cannot write .*spark: File exists"):
        Home(tmp_path, {}).query("SELECT 1")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"spark.remote": "sc://host:15002/;token=sesame"}, "spark.remote must not contain a token"),
        ({"spark.remote": "sc://host:15002/;use_ssl=true;TOKEN=sesame"}, "spark.remote must not contain a token"),
        ({"spark.remote": "host:15002"}, "spark.remote is not a valid address of a Spark Connect server: 'host:15002'"),
        ({"spark.remote": "sc://host:many"}, "spark.remote is not a valid address"),
        ({"spark.remote": "sc://host", "spark.remote.token": "env:NOT_SET_AT_ALL"}, "NOT_SET_AT_ALL, which is not set"),
        ({"spark.remote": "sc://host", "spark.remote.token": "file:/nowhere"}, "cannot read file:/nowhere"),
    ],
)
def test_remote_that_cannot_be(tmp_path: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Home(tmp_path, settings).query("SELECT 1")
    assert message in caught.value.message
    assert "sesame" not in caught.value.message


def test_a_remote_that_was_restarted_is_tried_soon() -> None:
    """gRPC's pauses between attempts grow to two minutes, the retries of a call take ten seconds."""
    from hivedruid.spark.remote import channel_builder

    options = dict(channel_builder("sc://127.0.0.1:9", "")._channel_options)
    assert options["grpc.max_reconnect_backoff_ms"] <= 5000


def test_remote_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(
        ConnectError, match=r"cannot reach the Spark Connect server sc://127.0.0.1:9: .*Connection refused"
    ):
        Home(tmp_path, {"spark.remote": "sc://127.0.0.1:9"}).query("SELECT 1")


def test_a_connection_that_is_not_answered_is_tried_once_more(home: Home) -> None:
    """A server behind a port that closes its first connection."""
    known = session.start(home.settings, home.path, home.statuses.append)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def forward() -> None:
            listener.accept()[0].close()
            while True:
                client, _ = listener.accept()
                target = socket.create_connection(("127.0.0.1", known.port))
                for ends in ((target, client), (client, target)):
                    threading.Thread(target=copy, args=ends, daemon=True).start()

        def copy(source: socket.socket, target: socket.socket) -> None:
            with suppress(OSError):
                while data := source.recv(65536):
                    target.sendall(data)

        threading.Thread(target=forward, daemon=True).start()
        moved = replace(known, port=listener.getsockname()[1])
        where = server.shared_home(home.path)
        client = session._client(where, moved, home.settings, (home.path, ""), "")
        assert client.spark.sql("SELECT 1").collect()[0][0] == 1


def python_daemon(home: Path, *, isolated: bool) -> int:
    """The process that starts the Python workers of a home's jobs."""

    def parents(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"id": [os.getppid()]})

    with session.job({}, home, isolated=isolated) as running:
        daemon: int = running.spark.range(1).mapInArrow(parents, "id BIGINT").collect()[0][0]
        return daemon


def test_sessions_share_python_daemons_unless_isolated(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    shared = python_daemon(one, isolated=False)
    assert python_daemon(other, isolated=False) == shared
    own = python_daemon(one, isolated=True)
    assert own != shared
    assert python_daemon(one, isolated=False) == own  # the session of the home is the same
    assert python_daemon(other, isolated=True) not in (own, shared)
