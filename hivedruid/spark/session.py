"""Opens all Spark sessions, as clients of Spark Connect.

The settings select the service: the home's shared server (`server`), a private one that runs its jobs on a cluster
(`spark.master`), or an external one (`spark.remote`). Every home folder has its own session in this process, so
temporary views, settings and Iceberg catalogs are isolated. Threads that work on the same home have a session each,
with a name.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from importlib import import_module, metadata
from itertools import count
from pathlib import Path
from threading import RLock, Thread
from time import sleep, time
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.iceberg_place import IcebergPlace
from hivedruid.errors import ConnectError, SparkError
from hivedruid.iceberg import catalog, home_catalog
from hivedruid.lazy_dataclass import dataclass
from hivedruid.local import archives, artifacts
from hivedruid.local.java import java_command
from hivedruid.locks import Lock
from hivedruid.private import private_folder
from hivedruid.scratch import working_folder
from hivedruid.setting_types import other_machines, seconds
from hivedruid.spark import failures, launch, remote, remote_sessions, server
from hivedruid.spark.remote_sessions import RemoteMark, RemoteSession
from hivedruid.spark.server import Server, Wanted
from hivedruid.versions import VERSION

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.client import Session

LIBRARIES = "spark"
"""The group of jars that Spark needs for Iceberg tables and Kafka tables."""
CATALOG = f"spark.sql.catalog.{home_catalog.CATALOG}"
"""Spark's setting that defines the Iceberg catalog; its properties have this prefix."""
_CATALOG_CLASS = "org.apache.iceberg.spark.SparkCatalog"

FORGOTTEN = 1800.0
"""Seconds without a job after which a session is reopened: the service expires it after an hour."""

DYING = 30.0
"""Maximum seconds for which a server may still look alive after its connections have ended."""
_PAUSE = 0.05

Progress = Callable[[str], None]


@dataclass
class _Client:
    """An open session: `service` identifies the service, `applied` are the settings in effect."""

    spark: Session
    service: str
    used: float
    mark: server.ClientMark | RemoteMark
    owner: str
    isolated: bool
    applied: dict[str, str] = field(default_factory=dict, repr=False)
    catalogs: dict[str, IcebergPlace] = field(default_factory=dict)
    """The Iceberg catalogs of databases that were configured, by their names in Spark."""
    functions: set[str] = field(default_factory=set, repr=False)
    """The functions of users that were registered, by their names in Spark."""


@dataclass(frozen=True)
class Job:
    """The context of a running job. `log` is that of the service; `shares_files`: whether the service can read files
    written by this process."""

    spark: SparkSession
    server: Server | None
    home: Path
    log: Path
    shares_files: bool
    functions: set[str]
    """The functions of users that the session has."""
    catalogs: dict[str, IcebergPlace]
    """The Iceberg catalogs of databases that the session has."""

    def use_catalogs(self, places: Iterable[IcebergPlace], settings: Mapping[str, str]) -> None:
        """Configure the catalogs of databases. A session keeps the first catalog of a name."""
        for place in places:
            known = self.catalogs.get(place.catalog)
            if known is not None and (known.type, known.properties) != (place.type, place.properties):
                raise SparkError(
                    f"{place} has the name {place.catalog}, which is that of another catalog in this session",
                    hint="use another name, or another session",
                )
            if known is None:
                prefix = f"spark.sql.catalog.{place.catalog}"
                given = {"cache-enabled": "false", **catalog.properties_of(place, settings)}
                self.spark.conf._set_all(
                    {prefix: _CATALOG_CLASS, **{f"{prefix}.{name}": value for name, value in given.items()}},
                    silent=False,
                )
                self.catalogs[place.catalog] = place

    def register(self, functions: Mapping[str, UserFunction]) -> None:
        """Add functions, by their names in Spark, to the session."""
        if missing := {name: each for name, each in functions.items() if name not in self.functions}:
            from hivedruid.spark.user_functions import register

            register(self.spark, missing.values())
            self.functions.update(missing)

    def lost(self, error: BaseException) -> bool:
        """Whether the server has exited since the job started; `error` may be the first sign of it."""
        if self.server is None:
            return False
        broken = remote.is_unreachable(error) or "RPC that terminated" in str(error)  # gRPC's message
        deadline = time() + DYING
        while server.serves(self.home, self.server):
            if not broken or time() > deadline:
                return False
            sleep(_PAUSE)  # its connections close before the process exits
        return True


_clients: dict[tuple[Path, str], _Client] = {}
_private: Path | None = None
_log: tuple[Path, Lock] | None = None
"""The log of the private server, which is locked as long as this process runs."""
_changing = RLock()
"""Held while the dictionary of sessions or of servers in use changes."""


@contextmanager
def job(
    settings: Mapping[str, str],
    home: Path,
    *,
    libraries: bool = False,
    hive: bool = False,
    isolated: bool = False,
    progress: Progress = lambda _: None,
    owner: str = "",
    name: str = "",
) -> Iterator[Job]:
    """The session of a home folder for one job; `libraries` when the job touches an Iceberg or a Kafka table, `hive`
    when it calls functions in Java, `isolated` when it calls any function of users: a later session must not find the
    classes and modules that were loaded for this one. `name` is that of the session, if the home has several.

    The server is started if necessary and runs at least until the end of the block. Ctrl-C cancels running jobs.
    With `owner`, the session belongs to that owner (`server.owner`), and outlives this process.
    Raises ConnectError if Java is missing or too old or `spark.remote` cannot be reached, SparkError if Spark fails to
    start.
    """
    with _service(settings, home, libraries=libraries, hive=hive, progress=progress) as (where, own):
        with _changing:
            isolated = isolated or own is None or not launch.is_local(settings)
            client = _client(where, own, settings, (home, name), owner, isolated=isolated)
        progress("")
        tag = f"hivedruid-{uuid4().hex}"
        client.spark.addTag(tag)
        try:
            shares_files = own is not None and launch.is_local(settings)
            yield Job(client.spark, own, where, _log_of(where, home), shares_files, client.functions, client.catalogs)
        except (KeyboardInterrupt, GeneratorExit):
            with suppress(Exception):  # a stopped server runs no jobs
                client.spark.interruptTag(tag)
            raise
        finally:
            client.spark.removeTag(tag)
            client.used = time()


def exit_error(running: Job) -> SparkError:
    """The error for a server that exited during a job."""
    own = running.log
    with suppress(OSError), own.open("rb") as file:
        file.seek(max(0, own.stat().st_size - 20_000))
        if b"java.lang.OutOfMemoryError" in file.read():
            return failures.out_of_memory(own)
    return SparkError(
        "the Spark process ended unexpectedly (stopped, killed, or out of memory)", hint=f"see Spark's log: {own}"
    )


def session(settings: Mapping[str, str], home: Path) -> SparkSession:
    """The session of a home folder, for work outside of jobs."""
    with job(settings, home) as running:
        return running.spark


def start(settings: Mapping[str, str], home: Path, progress: Progress) -> Server:
    """The home's shared server, started if necessary."""
    where = server.shared_home(home)
    with _own(settings, where, log_file(where), libraries=False, hive=False, progress=progress) as known:
        return known


def release(home: Path, name: str = "") -> None:
    """Close the session of a home folder, if there is one; a session with an owner stays open on the server."""
    with _changing:
        client = _clients.pop((home, name), None)
    if client is not None and client.owner and isinstance(client.mark, server.ClientMark):
        client.spark.stop()
        client.mark.leave()
    elif client is not None:
        client.spark.close()
        client.mark.remove()


def interrupt(home: Path, name: str = "") -> None:
    """Cancel the running jobs of a session of a home folder, if there is one."""
    with _changing:
        client = _clients.get((home, name))
    if client is not None:
        with suppress(Exception):  # a stopped server runs no jobs
            client.spark.interruptAll()


def release_all() -> None:
    for home, name in list(_clients):
        release(home, name)


def log_file(home: Path) -> Path:
    """The log file of Spark for a home's jobs."""
    return working_folder(home) / server.LOG_FILE


@contextmanager
def _service(
    settings: Mapping[str, str], home: Path, *, libraries: bool, hive: bool, progress: Progress
) -> Iterator[tuple[Path, Server | None]]:
    """The service for one job: the folder of hivedruid's own server with the session, or None for an external
    server."""
    if settings.get("spark.remote"):
        yield working_folder(home), None
        return
    where = server.shared_home(home) if launch.is_local(settings) else _private_folder()
    try:
        with _own(settings, where, _log_of(where, home), libraries=libraries, hive=hive, progress=progress) as known:
            with _changing:
                server.held[where] = server.held.get(where, 0) + 1
            try:
                yield where, known
            finally:
                with _changing:
                    server.held[where] -= 1
    finally:
        progress("")


@contextmanager
def _own(
    settings: Mapping[str, str], where: Path, log: Path, *, libraries: bool, hive: bool, progress: Progress
) -> Iterator[Server]:
    def wanted() -> Wanted:
        group = _libraries(settings)
        jars = artifacts.resolve(group, progress) if libraries else [artifacts.cached(artifact) for artifact in group]
        library = os.pathsep.join(map(str, jars)) if all(jars) else ""
        return Wanted(version(), launch.start_settings(settings, hive=hive), library, needs_libraries=libraries)

    def begin(required: Wanted, text: str) -> Server:
        if required.libraries:
            artifacts.check(_libraries(settings))
        idle = seconds(settings.get("hivedruid.spark.idle.timeout") or "PT20M")
        java, classes = java_command(), launch.class_path(required, artifacts.pyspark_folder())
        archive = archives.archive_path(java, classes) if launch.is_local(settings) else None
        configuration = launch.configuration(required, java, classes, idle=idle, log=log, archive=archive)
        progress(text)
        Thread(target=_import_client).start()  # it takes half a second, in which the JVM starts
        return server.start(where, configuration, secrets.token_urlsafe(32))

    with server.running_server(where, wanted, begin, progress=progress) as known:
        yield known


def _libraries(settings: Mapping[str, str]) -> Sequence[artifacts.Artifact]:
    """The jars that Spark needs for Iceberg tables and Kafka tables."""
    return [*artifacts.locked_group(LIBRARIES), *map(artifacts.locked, catalog.jdbc_driver(settings))]


def version() -> str:
    """The versions that a server must have to be used by this process. Importing pyspark would take 0.2 s."""
    return f"hivedruid {VERSION}, pyspark {metadata.version('pyspark')}"


def _private_folder() -> Path:
    """The folder of this process's private server for a cluster; the server stops with the process."""
    global _private  # noqa: PLW0603
    if _private is None:
        _private = Path(tempfile.mkdtemp(prefix="hivedruid-cluster-"))
        atexit.register(stop_private)
    return _private


def _log_of(where: Path, home: Path) -> Path:
    """The log of the server in a folder. That of this process's server for a cluster is in the home of its first job;
    another process with the same home has another."""
    global _log  # noqa: PLW0603
    if where != _private:
        return log_file(where)
    with _changing:
        if _log is None:
            folder = log_file(home).parent
            private_folder(folder.parent)
            private_folder(folder)
            locks = ((path, Lock(path)) for path in map(folder.joinpath, _log_names()))
            _log = next((path, lock) for path, lock in locks if lock.take())
        return _log[0]


def _log_names() -> Iterator[str]:
    yield "spark-cluster.log"
    yield from (f"spark-cluster-{number}.log" for number in count(2))


def stop_private() -> None:
    """Stop this process's private server for a cluster, if there is one."""
    global _private, _log  # noqa: PLW0603
    if _private is not None:
        atexit.unregister(stop_private)
        folder, _private = _private, None
        server.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
    if _log is not None:
        _log[1].close()
        _log = None


def _client(
    where: Path,
    own: Server | None,
    settings: Mapping[str, str],
    key: tuple[Path, str],
    owner: str,
    *,
    isolated: bool = False,
    is_last_try: bool = False,
) -> _Client:
    """The home's session of a name on the service, with the current settings.

    On a busy machine hivedruid's own server may not answer a new connection in time, which is then tried once more.
    """
    home, name = key
    needed = _session_settings(settings, home, remote=own is None)
    client = _clients.get(key)
    if client is not None and not (
        (client.service, client.owner) == (_service_of(own, settings), owner)
        and (client.isolated or not isolated)
        and not client.spark.client.is_closed  # a server that was restarted does not have it
        and time() - client.used < FORGOTTEN
        and client.applied.keys() <= needed.keys()  # unsetting a setting requires a new session
        and _of_catalog(client.applied) == _of_catalog(needed)  # a Spark session keeps its first catalog
    ):
        release(home, name)
        client = None
    try:
        client = client or _opened(where, own, settings, key, owner, isolated=isolated)
        _apply(client, needed)
    except Exception as error:
        if (failed := _clients.pop(key, None)) is not None:
            failed.spark.stop()
            failed.mark.remove()
        if not remote.is_unreachable(error):
            raise
        if own is None:
            raise remote.unreachable(settings, error) from error
        if is_last_try or not server.serves(where, own):
            raise
        return _client(where, own, settings, key, owner, isolated=isolated, is_last_try=True)
    return client


def _opened(
    where: Path, own: Server | None, settings: Mapping[str, str], key: tuple[Path, str], owner: str, *, isolated: bool
) -> _Client:
    """A new session, which is kept for the home's later jobs."""
    _silence()
    remote_sessions.end_lost(working_folder(key[0]), settings)
    spark, mark = _open(own, where, settings, owner, isolated=isolated)
    spark.ships = bool(other_machines(settings))
    if not _clients:
        atexit.unregister(release_all)
        atexit.register(release_all)  # before the private server stops: exit handlers run in reverse order
    service = _service_of(own, settings)
    client = _clients[key] = _Client(spark, service, time(), mark, owner, isolated)
    return client


def _service_of(own: Server | None, settings: Mapping[str, str]) -> str:
    return own.token if own is not None else settings["spark.remote"]


def _of_catalog(settings: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in settings.items() if key.startswith(CATALOG)}


def _open(
    own: Server | None, where: Path, settings: Mapping[str, str], owner: str, *, isolated: bool
) -> tuple[Session, server.ClientMark | RemoteMark]:
    """A new session, with the lock by which the keeper, or the next command of the home, detects the end of this
    process."""
    if own is None:
        spark = remote.open_session(settings)
        url, token = settings["spark.remote"], settings.get("spark.remote.token", "")
        session, user = spark.client._session_id, spark.client._user_id or ""
        return spark, RemoteMark(where, RemoteSession(url, token, session, user))
    from hivedruid.spark.client import open_session

    spark = open_session(own.port, own.token, isolated=isolated)
    session, user = spark.client._session_id, spark.client._user_id or ""
    return spark, server.ClientMark(server.Files(where), session, user, owner)


def _import_client() -> None:
    with suppress(ImportError):  # the session reports it
        _silence()
        import_module("hivedruid.spark.client")


def _silence() -> None:
    """Silence gRPC and pyspark, which write every error with stack traces to stderr."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from pyspark.logger import PySparkLogger
    from pyspark.sql.connect.logging import logger

    logger.disabled = True
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")


def _session_settings(settings: Mapping[str, str], home: Path, *, remote: bool) -> dict[str, str]:
    """The settings of a session; hivedruid's own servers have MEANING from the start."""
    given = {
        key: value
        for key, value in launch.spark_settings(settings).items()
        if key.startswith("spark.sql.") and key not in launch.MEANING
    }
    properties = {
        "cache-enabled": "false",
        **catalog.properties(settings, home),
    }  # other processes write the same tables
    return {
        CATALOG: _CATALOG_CLASS,
        **{f"{CATALOG}.{name}": value for name, value in properties.items()},
        **given,
        **(launch.MEANING if remote else {}),
    }


def _apply(client: _Client, settings: Mapping[str, str]) -> None:
    """Update the session's settings: one call if none is rejected, no call if nothing has changed."""
    from pyspark.errors import AnalysisException

    conf = client.spark.conf
    changed = {key: value for key, value in settings.items() if client.applied.get(key) != value}
    if changed:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Spark's warnings about settings go to its log
            try:
                conf._set_all(changed, silent=False)
            except AnalysisException:
                for key, value in changed.items():
                    with suppress(AnalysisException):  # a static setting, which takes effect at the next server start
                        conf.set(key, value)
    client.applied = dict(settings)


def check_reachable(error: Exception, settings: Mapping[str, str]) -> ConnectError | None:
    """The ConnectError for an error that means that `spark.remote` cannot be reached, otherwise None."""
    is_unreachable = bool(settings.get("spark.remote")) and remote.is_unreachable(error)
    return remote.unreachable(settings, error) if is_unreachable else None
