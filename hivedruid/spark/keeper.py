"""The supervisor process of a shared Spark server: it starts the JVM, publishes its address, and stops it when idle.

    python -m hivedruid.spark.keeper HOME        reads its Configuration from standard input, as one line of JSON

It prints one line of JSON, `{"error": …}` (null if the server is ready), and continues without a terminal. The server
ends when no command has run a job for the idle time, on SIGTERM, when its files are gone (a home folder that was
removed), when the JVM ends by itself, and, if private, when the pipe to the process that started it closes.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

from hivedruid.lazy_dataclass import dataclass
from hivedruid.local.archives import Archive
from hivedruid.locks import Lock
from hivedruid.private import private_folder
from hivedruid.spark import server
from hivedruid.spark.events import Events
from hivedruid.spark.server import Files, Server

LONGEST = 30.0
"""Seconds between two checks without an event: the log may have grown."""
END = 20.0
"""Seconds to wait for the JVM to exit before it is killed."""
WRITING = 100.0
"""The same for a JVM that writes its class-data archive: less than `server.GIVE_UP`."""

_SERVES = re.compile(rb"Spark Connect server started at: \S*?:(\d+)\s")
_REASON = re.compile(r"^(?:Improperly|Error|Exception in thread|Caused by|.*ERROR).*$", re.MULTILINE)
_PREFIX = re.compile(r'^(?:Exception in thread "[^"]*" |\S+ \S+ ERROR \w+: )')

LOGGING = """
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex
logger.serves.name = org.apache.spark.sql.connect.service.SparkConnectServer
logger.serves.level = info
"""


POOLS = """<?xml version="1.0"?>
<allocations><pool name="default"><schedulingMode>FAIR</schedulingMode></pool></allocations>
"""
"""Fair scheduling: otherwise a short job would wait for the last task of a long job of another command to start."""


@dataclass(frozen=True)
class Configuration:
    """The configuration of a keeper. `options` are those of the JVM without its working files, `archive` is the path of
    its class-data archive, or empty; `idle` is in seconds. A `private` server ends with the process that started it,
    also while it starts.
    """

    java: str
    options: list[str]
    class_path: str
    archive: str
    properties: Mapping[str, str]
    version: str
    settings: Mapping[str, str]
    libraries: str
    idle: float
    private: bool
    log: str


class Ended(Exception):  # noqa: N818 - a request, not a fault
    """SIGTERM, or the end of the process of a private server that is starting."""


def main(home: Path) -> None:
    configuration = Configuration(**json.loads(sys.stdin.buffer.readline()))
    files = Files(home, Path(configuration.log))
    signal.signal(signal.SIGTERM, _end)
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    with Lock(files.alive) as alive:
        alive.wait()  # another process may be checking the lock
        _clear(files)
        local = Path(tempfile.mkdtemp(prefix="hivedruid-spark-"))
        try:
            _keep(files, configuration, local)
        except Ended:
            pass
        except OSError as error:
            _answer(f"{error.filename or local}: {error.strerror}")
        finally:
            shutil.rmtree(local, ignore_errors=True)
            if configuration.private and _is_closed(sys.stdin.fileno()):  # otherwise its process removes the folder
                shutil.rmtree(home, ignore_errors=True)


def _end(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Ended


def _keep(files: Files, configuration: Configuration, local: Path) -> None:
    """Start the JVM, then wait for it to exit or stop it."""
    start = _prepare_log(files.log)
    archive = Archive(Path(configuration.archive)) if configuration.archive else None
    jvm = _launch(files, configuration, local, archive)
    pipe = sys.stdin.fileno() if configuration.private else None
    try:
        port = _port(jvm, files.log, start, pipe)
        if port is None and archive and archive.prevented_start(jvm.returncode, _text(files.log, start)):
            archive.finish(jvm.returncode)
            archive, start = None, _prepare_log(files.log)
            jvm = _launch(files, configuration, local, archive)
            port = _port(jvm, files.log, start, pipe)
        if port is None:
            return _answer(_reason(files.log, start))
        known = Server(
            configuration.version, configuration.settings, configuration.libraries,
            os.getpid(), jvm.pid, port, os.environ["SPARK_CONNECT_AUTHENTICATE_TOKEN"], time(), configuration.idle,
        )  # fmt: skip
        _publish(files, known)
        _answer(None)
        _watch(files, configuration, jvm, known, pipe)
    finally:
        files.discovery.unlink(missing_ok=True)
        _end_jvm(jvm, WRITING if archive and not archive.used else END)
        if archive:
            archive.finish(jvm.returncode, complete=files.opened.exists())  # otherwise no job has loaded its classes
        files.opened.unlink(missing_ok=True)


def _watch(
    files: Files, configuration: Configuration, jvm: subprocess.Popen[bytes], known: Server, pipe: int | None
) -> None:
    """Return when the server must stop."""
    mark = files.discovery.stat().st_ino
    for folder in (files.clients, files.owners):
        private_folder(folder)
    events = Events(jvm.pid, [files.folder, files.clients, files.owners], pipe)
    while jvm.poll() is None:
        if _is_closed(pipe):
            return
        try:
            left = files.jobs.stat().st_mtime + configuration.idle - time()
            if files.discovery.stat().st_ino != mark or _has_idled(files, configuration.idle):
                return
        except OSError:  # the home folder was removed
            return
        for session, user in server.lost_clients(files):
            _give_back(files, known, session, user)
        _trim(files.log)
        events.wait(left if 0 < left < LONGEST else LONGEST)


def _give_back(files: Files, known: Server, session: str, user: str) -> None:
    """Close the session of a dead process and cancel its jobs, in a short-lived subprocess, since it requires
    pyspark."""
    command = [sys.executable, "-m", "hivedruid.spark.client", str(known.port), session, user]
    with files.log.open("ab") as log:
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def _has_idled(files: Files, timeout: float) -> bool:
    """Whether no job has run for the timeout; if so, server.json has been removed on return, and no job can start."""
    if time() - files.jobs.stat().st_mtime < timeout:
        return False
    if server.has_owner(files):
        return False
    with Lock(files.starting, create=False) as starting, Lock(files.jobs, create=False) as jobs:
        if not starting.take() or not jobs.take() or time() - files.jobs.stat().st_mtime < timeout:
            return False
        files.discovery.unlink(missing_ok=True)
        return True


def _launch(
    files: Files, configuration: Configuration, local: Path, archive: Archive | None
) -> subprocess.Popen[bytes]:
    properties = {**configuration.properties}
    properties.setdefault("spark.local.dir", str(local))
    properties["spark.sql.warehouse.dir"] = str(local / "spark-warehouse")
    _private_file(local / "pools.xml", POOLS)
    properties.setdefault("spark.scheduler.mode", "FAIR")
    properties.setdefault("spark.scheduler.allocation.file", (local / "pools.xml").as_uri())
    _private_file(local / "spark.properties", "".join(f"{k}={_escaped(v)}\n" for k, v in properties.items()))
    _private_file(local / "log4j2.properties", LOGGING)
    working = [f"-Djava.io.tmpdir={local}", f"-Dlog4j2.configurationFile={(local / 'log4j2.properties').as_uri()}"]
    options = [*configuration.options, "-cp", configuration.class_path]
    submit = ["org.apache.spark.deploy.SparkSubmit", "--properties-file", str(local / "spark.properties")]
    service = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with files.log.open("ab") as log:
        jvm = subprocess.Popen(
            [configuration.java, *working, *(archive.options() if archive else ()), *options, *submit, *service],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=local, preexec_fn=_kill_with_parent,  # noqa: PLW1509 - there is one thread
        )  # fmt: skip
    _note(files, {"keeper": os.getpid(), "jvm": jvm.pid, "local": str(local)})
    return jvm


def _escaped(value: str) -> str:
    """A value of a Java properties file."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return "\\" + escaped if escaped[:1] in (" ", "\t") else escaped


def _kill_with_parent() -> None:
    """On Linux the JVM is killed with its keeper (prctl's PR_SET_PDEATHSIG); elsewhere the next keeper kills it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _is_closed(pipe: int | None) -> bool:
    """Whether the process that holds the other end of the pipe has ended."""
    return pipe is not None and bool(select.select([pipe], [], [], 0)[0])


def _port(jvm: subprocess.Popen[bytes], log: Path, start: int, pipe: int | None) -> int | None:
    """The port on which the JVM listens; None if it exits instead. Raises Ended if the pipe is closed."""
    while True:
        if _is_closed(pipe):
            raise Ended
        ended = jvm.poll() is not None
        with log.open("rb") as file:
            file.seek(start)
            match = _SERVES.search(file.read())
        if match and not ended:
            return int(match[1])
        if ended:
            return None
        sleep(server.POLL)


def _reason(log: Path, start: int) -> str:
    """The first line of the log after byte `start` that explains why the JVM exited."""
    from hivedruid.spark.failures import first_line

    text = _text(log, start)
    match = _REASON.search(text)
    return first_line(_PREFIX.sub("", match[0] if match else text))


def _text(log: Path, start: int) -> str:
    """The log after byte `start`."""
    with log.open("rb") as file:
        file.seek(start)
        return file.read().decode("utf-8", "replace")


def _publish(files: Files, known: Server) -> None:
    """Write server.json atomically, readable only by its owner."""
    fresh = files.folder / f"server.{os.getpid()}"
    _private_file(fresh, server.written(known))
    os.utime(files.jobs)
    files.opened.unlink(missing_ok=True)
    fresh.replace(files.discovery)


def _private_file(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


def _answer(error: str | None) -> None:
    """Report to the waiting command, if it still exists."""
    try:
        sys.stdout.write(json.dumps({"error": error}) + "\n")
        sys.stdout.flush()
    except OSError:
        pass
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _end_jvm(jvm: subprocess.Popen[bytes], patience: float) -> None:
    if jvm.poll() is None:
        jvm.terminate()
        try:
            jvm.wait(patience)
        except subprocess.TimeoutExpired:
            jvm.kill()
    jvm.wait()


def _note(files: Files, processes: Mapping[str, Any]) -> None:
    files.alive.write_text(json.dumps(processes), encoding="utf-8")


def _clear(files: Files) -> None:
    """Clean up after a killed keeper: its JVM, its working folder and server.json."""
    try:
        former = json.loads(files.alive.read_text(encoding="utf-8"))
        local, jvm = str(former["local"]), int(former["jvm"])
    except (OSError, ValueError, KeyError, TypeError):
        former = None
    files.discovery.unlink(missing_ok=True)
    shutil.rmtree(files.clients, ignore_errors=True)
    if former is None:
        return _note(files, {"keeper": os.getpid()})
    begun = monotonic()
    while local in _arguments(jvm) and monotonic() - begun < END:  # its arguments contain its working folder
        os.kill(jvm, signal.SIGKILL)
        sleep(server.POLL)
    if Path(local).name.startswith("hivedruid-spark-"):
        shutil.rmtree(local, ignore_errors=True)
    return _note(files, {"keeper": os.getpid()})


def _arguments(process: int) -> str:
    listed = subprocess.run(
        ["ps", "-o", "args=", "-p", str(process)],  # noqa: S607 - every Unix has it, not all at the same place
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return listed.stdout


def _prepare_log(log: Path) -> int:
    """Truncate the log if needed; returns its size."""
    private_folder(log.parent)
    log.touch(mode=0o600)
    _trim(log)
    return log.stat().st_size


def _trim(log: Path) -> None:
    """Truncate a log that has grown too large. The JVM appends, so its next line becomes the first."""
    try:
        if log.stat().st_size > server.LOG_LIMIT:
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)
    except OSError:  # a full disk or a removed log must not stop the server
        return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
