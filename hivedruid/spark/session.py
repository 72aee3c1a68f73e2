"""The Spark driver and its sessions: the only place that starts Spark.

One driver (a JVM below this process) serves every home folder; each home has its own session, so temporary views,
settings and the Iceberg catalog of one are invisible to the others. Everything a job does with a session is
DataFrame API that Spark Connect has too.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.errors import SparkError
from hivedruid.local import artifacts
from hivedruid.local.java import java_command
from hivedruid.spark import failures

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ICEBERG = "iceberg"
CATALOG = "hivedruid"
LOG_FILE = Path("logs", "spark.log")
LOG_LIMIT = 10_000_000
"""Bytes after which the next driver begins the log anew."""

MEANING = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.parser.escapedStringLiterals": "false",
}
"""What the lowering to Spark SQL relies on; SET cannot change it."""

STATIC = {
    "spark.app.name": "hivedruid",
    "spark.ui.enabled": "false",
    "spark.log.level": "WARN",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "8",  # adaptive execution merges those that stay small
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    # The first answer after 5.6 s instead of 8.2 s on two cores; C1 code runs long jobs slower.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Duser.timezone=UTC",
}


@dataclass
class _Driver:
    """A running JVM, its SparkContext, and the session of each home folder."""

    context: Any
    gateway: Any
    log: Any
    iceberg: bool
    sessions: dict[Path, SparkSession] = field(default_factory=dict)


_driver: _Driver | None = None


def session(
    settings: Mapping[str, str], home: Path, *, iceberg: bool = False, progress: Callable[[str], None] | None = None
) -> SparkSession:
    """The session of a home folder, started if need be; `iceberg` when the job touches an Iceberg table.

    Iceberg's jar joins the class path when the driver starts, where it has been fetched before. A driver without it
    is started anew for the first job that needs it, once in the life of a cache. Raises ConnectError where Java is
    missing or too old, SparkError where Spark does not start.
    """
    global _driver  # noqa: PLW0603
    if _driver is not None and iceberg and not _driver.iceberg:
        stop()
    if _driver is None:
        _driver = _start(settings, home, iceberg=iceberg, progress=progress)
        atexit.register(stop)
    if home not in _driver.sessions:
        _driver.sessions[home] = _new_session(_driver, home)
    spark = _driver.sessions[home]
    for key, value in {**_spark_settings(settings), **MEANING}.items():
        if key.startswith("spark.sql.") and spark.conf.get(key, None) != value:
            _configure(spark, key, value)
    return spark


def stop() -> None:
    """Stop the driver, if one runs, and wait until its process is gone."""
    global _driver
    if _driver is None:
        return
    driver, _driver = _driver, None
    atexit.unregister(stop)
    if driver.gateway.proc.poll() is not None:
        driver.context._jsc = None  # there is nobody to tell any more
    try:
        driver.context.stop()
    finally:
        _end_gateway(driver.gateway)
        driver.log.close()


def _end_gateway(gateway: Any) -> None:
    """End the JVM: it goes when its stdin closes, and is killed where it does not."""
    from pyspark import SparkContext

    SparkContext._gateway = SparkContext._jvm = None
    try:
        gateway.shutdown()
    finally:
        gateway.proc.stdin.close()
        try:
            gateway.proc.wait(timeout=20)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait()


def running() -> bool:
    """Whether a driver has been started in this process."""
    return _driver is not None


def lost(error: Exception) -> bool:
    """Whether the driver's process has ended by itself, of which `error` may be the first sign."""
    if _driver is None:
        return False
    from py4j.protocol import Py4JNetworkError

    try:
        broken = isinstance(error, (Py4JNetworkError, ConnectionError, EOFError))
        _driver.gateway.proc.wait(timeout=5 if broken else 0)
    except subprocess.TimeoutExpired:
        return False
    return True


def cancel() -> None:
    """Cancel what is running."""
    if _driver is not None:
        _driver.context.cancelAllJobs()


def status() -> tuple[int, int, int, int] | None:
    """Of the job that runs: stages done, stages, tasks done and tasks of the running stages; None between jobs."""
    if _driver is None:
        return None
    tracker = _driver.context.statusTracker()
    jobs = tracker.getActiveJobsIds()
    if not jobs:
        return None
    job = tracker.getJobInfo(max(jobs))
    active = [info for info in map(tracker.getStageInfo, tracker.getActiveStageIds()) if info]
    if job is None or not active:
        return None
    before = sum(1 for stage in job.stageIds if stage < min(info.stageId for info in active))
    return (
        before,
        len(job.stageIds),
        sum(info.numCompletedTasks for info in active),
        sum(info.numTasks for info in active),
    )


def log_file(home: Path) -> Path:
    """Where Spark's own words about a home's jobs are kept."""
    return home / LOG_FILE


def _start(
    settings: Mapping[str, str], home: Path, *, iceberg: bool, progress: Callable[[str], None] | None
) -> _Driver:
    java_command()
    jar = _iceberg_jar(iceberg, progress)
    if progress:
        progress("Spark: starting")
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    _silence()
    os.environ["SPARK_HOME"] = str(artifacts.pyspark_folder())  # another Spark's jars do not go with this Python
    os.environ["PYSPARK_PYTHON"] = sys.executable
    (home / LOG_FILE.parent).mkdir(parents=True, exist_ok=True)
    conf = SparkConf(loadDefaults=False)
    for key, value in _start_configuration(settings, jar).items():
        conf.set(key, value)
    path = log_file(home)
    start = path.stat().st_size if path.exists() and path.stat().st_size < LOG_LIMIT else 0
    log = path.open("a" if start else "w", encoding="utf-8")
    gateway = None
    try:
        gateway = launch_gateway(conf, {"stdout": log, "stderr": log})
        with _own_interrupts():
            context = SparkContext(conf=conf, gateway=gateway)
    except Exception as error:
        log.close()
        if gateway is not None:
            _end_gateway(gateway)
        raise SparkError(
            f"Spark does not start: {_start_failure(path, start, error)}", hint=f"Spark's log is {path}"
        ) from error
    return _Driver(context, gateway, log, iceberg=jar is not None)


def _silence() -> None:
    """pyspark and py4j write every error to stderr, stack traces and all; ours say it in one line, the log has the rest."""
    import logging

    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    for name in ("py4j", "py4j.clientserver", "py4j.java_gateway"):
        logging.getLogger(name).disabled = True


def _iceberg_jar(needed: bool, progress: Callable[[str], None] | None) -> Path | None:
    artifact = artifacts.locked(ICEBERG)
    return artifacts.resolve([artifact], progress)[0] if needed else artifacts.cached(artifact)


def _start_configuration(settings: Mapping[str, str], jar: Path | None) -> dict[str, str]:
    """What the JVM starts with: ours, then what was SET, then what has to be."""
    given = _spark_settings(settings)
    configuration = {**STATIC, "spark.master": "local[*]", **given, **MEANING}
    local = given.get("spark.local.dir") or _local_folder()
    configuration["spark.local.dir"] = local
    configuration["spark.sql.warehouse.dir"] = os.path.join(local, "spark-warehouse")  # noqa: PTH118
    if not configuration["spark.master"].startswith("local"):
        for key in ("spark.driver.host", "spark.driver.bindAddress"):
            if key not in given:
                del configuration[key]
    if jar is not None and configuration["spark.master"].startswith("local"):
        configuration["spark.driver.extraClassPath"] = os.pathsep.join(
            filter(None, [given.get("spark.driver.extraClassPath"), str(jar)])
        )
    elif jar is not None:
        configuration["spark.jars"] = ",".join(filter(None, [given.get("spark.jars"), str(jar)]))
    return configuration


def _local_folder() -> str:
    """Spark's working folder. It is the driver's, which may outlive the home folder it was started for."""
    folder = tempfile.mkdtemp(prefix="hivedruid-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _spark_settings(settings: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in settings.items() if key.startswith("spark.") and value}


def _new_session(driver: _Driver, home: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    spark = SparkSession(driver.context).newSession()
    catalog = f"spark.sql.catalog.{CATALOG}"
    spark.conf.set(catalog, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"{catalog}.type", "hadoop")
    spark.conf.set(f"{catalog}.warehouse", str(home / "warehouse"))
    spark.conf.set(f"{catalog}.cache-enabled", "false")  # other processes write the same tables
    return spark


def _configure(spark: SparkSession, key: str, value: str) -> None:
    from pyspark.errors import AnalysisException

    try:
        spark.conf.set(key, value)
    except AnalysisException:  # a static setting: it counts when the next driver starts
        return


class _own_interrupts:  # noqa: N801
    """SparkContext takes over Ctrl-C when it is made; inside this block that is undone on leaving."""

    def __enter__(self) -> None:
        self._handler = signal.getsignal(signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._handler)


def _start_failure(log: Path, start: int, error: Exception) -> str:
    """The first line of the log, from byte `start` on, that says why the JVM gave up."""
    with log.open("rb") as file:
        file.seek(start)
        text = file.read().decode("utf-8", "replace")
    match = re.search(r"^(?:Improperly|Error|Exception in thread|Caused by|.*ERROR).*$", text, re.MULTILINE)
    line = match[0] if match else str(error)
    return failures.first_line(re.sub(r'^Exception in thread "\w+" ', "", line))
