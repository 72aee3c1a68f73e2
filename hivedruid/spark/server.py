"""Finds, starts, shares and stops the shared Spark server of a home folder.

A server is two processes: a keeper (`hivedruid.spark.keeper`) and, as its child, the JVM with Spark's Connect service.
Their state is in the folder `spark` of the home, which only its owner can read:

    server.json   the server's address, its token, and the settings of its start; exists while it serves
    starting.lock held while a server is started, replaced or stopped: one process at a time
    alive.lock    held by the keeper as long as it runs; a crash releases it
    clients/      a file for each session, locked by its process: if it is unlocked, the process has died
    owners/       a file for each owner of sessions, locked by its process as long as it runs
    jobs.lock     held, shared, by every command while it runs a job; its time is that of the last job

The operating system releases the locks of a process that dies (see `hivedruid.locks`), so the files of a killed process
are never mistaken for those of a running one.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, field, fields
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

from hivedruid import notices
from hivedruid.errors import SparkError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.locks import Lock, is_held
from hivedruid.private import private_file, private_folder
from hivedruid.scratch import working_folder

SPARK_HOME = "HIVEDRUID_SPARK_HOME"
"""Environment variable: the folder whose server is used instead of the home's own (for tests with many homes)."""

CATALOG_IMPLEMENTATION = "spark.sql.catalogImplementation"
"""The setting of Hive support, which functions in Java need."""

LOG_FILE = Path("logs", "spark.log")
LOG_LIMIT = 10_000_000
"""Bytes after which the log is rotated to spark.log.1."""

SLOW = 60.0
"""Seconds after which the start of a driver for a cluster is reported."""
GIVE_UP = 120.0
"""Seconds after which a server that neither becomes ready nor exits is killed."""
POLL = 0.05

MOST_SESSIONS = 1000
"""Sessions after which a server is replaced. Iceberg's JdbcCatalog never closes the connections of a session's catalog,
each of which has two files open."""
_WORN = f" after {MOST_SESSIONS:,} sessions"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """Requirements for a server: matching versions, and the settings that only take effect at start."""

    version: str
    settings: Mapping[str, str]
    libraries: str = ""
    """The class path of the libraries for Iceberg and Kafka, if loaded; other jobs can use a server without them."""
    needs_libraries: bool = False


@dataclass(frozen=True)
class Server:
    """A running server. `started` is in seconds since the epoch, `idle` (the timeout) in seconds."""

    version: str
    settings: Mapping[str, str]
    libraries: str
    keeper: int
    jvm: int
    port: int
    token: str = field(repr=False)
    started: float
    idle: float

    def misfit(self, wanted: Wanted) -> str:
        """Why the server cannot be used, as the end of `starting again`; empty if it can."""
        if self.version != wanted.version:
            return f" with {wanted.version}"
        given, required = dict(self.settings), dict(wanted.settings)
        if CATALOG_IMPLEMENTATION not in required:  # other jobs can use a server with Hive support, too
            given.pop(CATALOG_IMPLEMENTATION, None)
        elif CATALOG_IMPLEMENTATION not in given:
            return " with Hive support, for functions in Java"
        if given != required:
            changed = sorted(key for key in {*given, *required} if given.get(key) != required.get(key))
            return f", since {', '.join(changed)} changed"
        if wanted.needs_libraries and self.libraries != wanted.libraries:
            return " with the libraries for managed tables and Kafka"
        return ""


@dataclass(frozen=True)
class Files:
    """The files of a home's server, or of one for a cluster, whose `own_log` is elsewhere."""

    home: Path
    own_log: Path | None = None

    @property
    def folder(self) -> Path:
        return self.home / "spark"

    @property
    def discovery(self) -> Path:
        return self.folder / "server.json"

    @property
    def starting(self) -> Path:
        return self.folder / "starting.lock"

    @property
    def alive(self) -> Path:
        return self.folder / "alive.lock"

    @property
    def jobs(self) -> Path:
        return self.folder / "jobs.lock"

    @property
    def clients(self) -> Path:
        return self.folder / "clients"

    @property
    def opened(self) -> Path:
        """As many bytes as sessions were opened since the server started."""
        return self.folder / "opened"

    @property
    def owners(self) -> Path:
        return self.folder / "owners"

    @property
    def log(self) -> Path:
        return self.own_log or self.home / LOG_FILE


class ClientMark:
    """Marks a session's process as alive with a file lock. Spark does not detect the death of a process that waits for
    a write, and would continue the write. A session with an owner outlives its process, see `owner`."""

    def __init__(self, files: Files, session: str, user: str, owner: str = "") -> None:
        files.clients.mkdir(mode=0o700, exist_ok=True)
        fresh = files.clients / f".{session}"
        self._lock = Lock(fresh)
        self._lock.take()
        fresh.write_text(f"{user}\n{owner}", encoding="utf-8")
        self._path = fresh.rename(files.clients / session)
        private_file(files.opened)
        with files.opened.open("ab") as opened:
            opened.write(b".")

    def leave(self) -> None:
        """Leave the session to its owner."""
        self._lock.close()

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)
        self._lock.close()


@contextmanager
def owner(home: Path, name: str) -> Iterator[None]:
    """Marks this process as the owner `name` of sessions, which other processes may have opened for it.

    Inside the block, and while the process is alive, the home's server is not idle, and the owner's sessions are not
    lost. Raises SparkError if the owner is alive already, or the folder is not writable.
    """
    files = Files(shared_home(home))
    _make_folder(files)
    files.owners.mkdir(mode=0o700, exist_ok=True)
    with Lock(files.owners / name) as lock:
        if not lock.wait(patience=1.0):  # other processes briefly check whether it is held
            raise SparkError(f"the owner '{name}' of Spark sessions is already running")
        yield


def has_owner(files: Files, name: str | None = None) -> bool:
    """Whether the owner with this name is alive, or any owner."""
    if not files.owners.is_dir():
        return False
    return any(_is_held(path) for path in files.owners.iterdir() if name in (None, path.name))


def _is_held(path: Path) -> bool:
    with Lock(path, create=False) as lock:
        return not lock.take(shared=True)


def lost_clients(files: Files) -> Iterator[tuple[str, str]]:
    """The session and user of each process that died without releasing its session and without an owner that is alive;
    returned once."""
    if not files.clients.is_dir():
        return
    for path in files.clients.iterdir():
        if path.name.startswith("."):
            continue
        with suppress(FileNotFoundError), Lock(path, create=False) as lock:
            if lock.take() and path.exists():
                user, _, name = path.read_text(encoding="utf-8").partition("\n")
                if name and has_owner(files, name):
                    continue
                path.unlink(missing_ok=True)
                yield path.name, user


def shared_home(home: Path) -> Path:
    """The folder whose server the home uses."""
    return Path(os.environ.get(SPARK_HOME) or working_folder(home)).absolute()


@contextmanager
def running_server(
    home: Path, wanted: Callable[[], Wanted], start: Callable[[Wanted, str], Server], *, progress: Progress
) -> Iterator[Server]:
    """A running server for one job: inside the block it is neither stopped nor replaced. `start` is called, with the
    text of its progress, if there is no server, or after the last job of an unsuitable server has ended. Raises
    SparkError if the folder is not writable.
    """
    files = Files(home)
    _make_folder(files)
    with Lock(files.jobs) as lease:
        with exclusive(files, progress):
            server, why = _serving(files, progress), ""
            required = wanted()
            if server is not None and (why := server.misfit(required) or (_WORN if _is_worn(files) else "")):
                server = _replaced(files, server, lease, progress)
            server = server or start(required, f"Spark: starting again{why}" if why else "Spark: starting")
            lease.wait(shared=True)  # a keeper may be checking whether it is idle
            os.utime(files.jobs)
        try:
            yield server
        finally:
            if files.jobs.exists():
                os.utime(files.jobs)


@contextmanager
def exclusive(files: Files, progress: Progress = lambda _: None) -> Iterator[None]:
    """Hold the lock for starting, replacing or stopping the home's server."""
    with Lock(files.starting) as lock:
        lock.wait(on_wait=lambda: progress("Spark: waiting for another command to start it"))
        yield


def find(home: Path) -> Server | None:
    """The home's running server, or None."""
    files = Files(home)
    return _read(files) if _is_alive(files) else None


def serves(home: Path, server: Server) -> bool:
    """Whether this server instance is still running."""
    current = find(home)
    return current is not None and current.token == server.token and _listens(server)


def _listens(server: Server) -> bool:
    """Whether the JVM accepts connections: a keeper notices its exit only after a moment."""
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=10).close()
    except OSError:
        return False
    return True


def is_busy(home: Path) -> bool:
    """Whether a command is running a job on the home's server."""
    files = Files(home)
    if not files.jobs.exists():
        return False
    with Lock(files.jobs) as lock:
        return not lock.take()


def idle_for(home: Path) -> float:
    """Seconds since the last start or end of a job."""
    return time() - Files(home).jobs.stat().st_mtime


def stop(home: Path, progress: Progress = lambda _: None) -> bool:
    """Stop the home's server and wait until it has exited; returns whether there was one."""
    files = Files(home)
    if not files.folder.is_dir():
        return False
    with exclusive(files, progress):
        alive = _is_alive(files)
        _end(files)
        return alive


def start(home: Path, configuration: Mapping[str, Any], token: str) -> Server:
    """Start a server with its own keeper. The caller holds the starting lock. `configuration` has the fields of
    `keeper.Configuration`. Raises SparkError with the reason if it fails to start.
    """
    files = Files(home, Path(configuration["log"]))
    private_folder(files.log.parent)
    keeper = subprocess.Popen(
        [sys.executable, "-m", "hivedruid.spark.keeper", str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=files.folder,
        env=_environment(token, configuration),
        start_new_session=True,  # not affected by Ctrl-C at the terminal
    )
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    try:
        keeper.stdin.write(json.dumps(dict(configuration)).encode() + b"\n")
        keeper.stdin.flush()
        if configuration["private"]:
            os.dup(keeper.stdin.fileno())  # stays open until this process ends, which ends the server
        keeper.stdin.close()
        if configuration["private"] and not select.select([keeper.stdout], [], [], SLOW)[0]:
            notices.note(f"Spark's driver has not started after {SLOW:.0f} s; see Spark's log: {files.log}")
        answer = keeper.stdout.readline()
    finally:
        keeper.stdout.close()
        keeper.returncode = 0  # it outlives this process on purpose; suppresses Popen's warning
    reason = json.loads(answer)["error"] if answer else "its keeper process was killed"
    server = _read(files) if reason is None else None
    if server is None:
        raise SparkError(f"Spark failed to start: {reason}", hint=f"see Spark's log: {files.log}")
    return server


def _environment(token: str, configuration: Mapping[str, Any]) -> dict[str, str]:
    """The environment without variables of other Spark installations; the token is not visible in a command line. With
    a local master, every port of Spark is on the loopback address. Otherwise `spark.pyspark.python` is the Python of
    the workers."""
    local = not configuration["private"]
    python = sys.executable if local else configuration["properties"].get("spark.pyspark.python", sys.executable)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "_PYSPARK"))}
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    loopback = {"SPARK_LOCAL_IP": "127.0.0.1"} if local else {}
    own = {"PYTHONPATH": path, "PYSPARK_PYTHON": python, "SPARK_CONNECT_AUTHENTICATE_TOKEN": token}
    return {**kept, **own, **loopback}


def _make_folder(files: Files) -> None:
    try:
        files.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in (files.starting, files.jobs):
            Lock(path).close()
    except OSError as error:
        raise SparkError(
            f"cannot write {files.folder}: {error.strerror}",
            hint="check its permissions, or set XDG_CACHE_HOME to a folder that you may write to",
        ) from error


def _is_alive(files: Files) -> bool:
    return is_held(files.alive)


def _is_worn(files: Files) -> bool:
    return files.opened.exists() and files.opened.stat().st_size >= MOST_SESSIONS


def _read(files: Files) -> Server | None:
    """The content of server.json; None if it is missing or incomplete."""
    try:
        content = json.loads(files.discovery.read_text(encoding="utf-8"))
        return Server(**{item.name: content[item.name] for item in fields(Server)})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _serving(files: Files, progress: Progress) -> Server | None:
    """Wait for a running server: a keeper without a server is starting or stopping."""
    begun = monotonic()
    while _is_alive(files):
        server = _read(files)
        if server is not None and _listens(server):
            return server
        progress("Spark: waiting for another server to start or stop")
        if monotonic() - begun > GIVE_UP:
            _end(files, kill=True)
        sleep(POLL)
    return None


def _replaced(files: Files, server: Server, lease: Lock, progress: Progress) -> Server | None:
    """Stop an unsuitable server after its last job; keep it if this process itself is running a job on it."""
    if held.get(files.home):
        return server
    taken = lease.wait(
        on_wait=lambda: progress("Spark: waiting for the last job of the server with other settings"),
        give_up=lambda: not _is_alive(files),
    )
    if not taken:
        return None
    _end(files)
    return None


held: dict[Path, int] = {}
"""The number of jobs that this process is running, by home."""


def _end(files: Files, *, kill: bool = False) -> None:
    """Terminate the keeper and wait; kill it after a timeout. The caller holds the starting lock."""
    begun, sent = monotonic(), False
    while _is_alive(files):
        late = kill or monotonic() - begun > GIVE_UP
        pid = keeper_process(files)
        if pid and (late or not sent):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
            sent = True
        sleep(POLL)


def keeper_process(files: Files) -> int | None:
    """The process id of the holder of alive.lock, as recorded in it."""
    try:
        return int(json.loads(files.alive.read_text(encoding="utf-8"))["keeper"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def written(server: Server) -> str:
    """The text of server.json."""
    return json.dumps(asdict(server), indent=1) + "\n"
