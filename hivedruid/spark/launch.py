"""Builds the command line and properties of a shared Spark server's JVM from the settings. Does not start it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from hivedruid.iceberg.home_catalog import SPARK_EXTENSIONS
from hivedruid.references import secret
from hivedruid.spark.keeper import Configuration
from hivedruid.spark.server import CATALOG_IMPLEMENTATION, Wanted

MEANING = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
}
"""Spark settings that the generated Spark SQL relies on; SET cannot change them."""

STATIC = {
    "spark.app.name": "hivedruid",
    "spark.ui.enabled": "false",
    "spark.log.level": "WARN",
    CATALOG_IMPLEMENTATION: "in-memory",
    "spark.driver.memory": "2g",
    "spark.driver.maxResultSize": "0",  # rows are streamed, see rows.py
    "spark.sql.shuffle.partitions": "8",  # adaptive execution merges small ones
    "spark.connect.progress.reportInterval": "500ms",
    # C2 compiles six times as late as by default: statements that run again and again are as fast as with C2, and the
    # first ones take half of what C2 adds to them (docs/spark.md, benchmarks/jvm.py).
    "spark.driver.extraJavaOptions": (
        "-XX:Tier4InvocationThreshold=30000 -XX:Tier4MinInvocationThreshold=5000 -XX:Tier4CompileThreshold=100000"
        " -XX:Tier4BackEdgeThreshold=2000000 -XX:+UseParallelGC -Duser.timezone=UTC"
    ),
}

HIVE_CATALOG = {
    "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:hivedruid;create=true",
    "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
    "spark.hadoop.hive.metastore.schema.verification": "false",
}
"""The metastore of a server with Hive support, which Java functions require: an empty one in memory, since Spark's own
catalog has no tables."""

SERVICE = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.connect.grpc.port.maxRetries": "0",
}

AUTHENTICATED = {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"}
"""Spark's RPC and block transfer run objects that a client sends, so they must not answer clients without the
secret."""
SECRET = "spark.authenticate.secret"  # noqa: S105 - the name of a setting
LOCAL = {
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "false",
}
"""Required values of a server whose master is local. Spark creates its secret, which never leaves the JVM.

Encryption adds nothing on the loopback address, and can block the first job for two minutes: a task that loads a class
over RPC holds the lock of its class loader, and commons-crypto in the RPC thread may use the same class loader.
"""
_OWN_SECRET = ("yarn", "k8s://")
"""Masters for which Spark creates a secret for each application (org.apache.spark.SecurityManager)."""

_OPENED = (
    "lang lang.invoke lang.reflect io net nio util util.concurrent util.concurrent.atomic".split()  # noqa: SIM905
)
_JAVA_OPTIONS = [
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-UsePerfData",
    # Spark parses and optimizes expressions recursively: the default of 1 MB overflows below 500 levels or terms.
    # Memory is only used for the frames that a thread has.
    "-Xss32m",
    *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED),
    *(
        f"--add-opens=java.base/{name}=ALL-UNNAMED"
        for name in ("jdk.internal.ref", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar")
    ),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
]
"""JVM options that Spark requires on Java 17 (org.apache.spark.launcher.JavaModuleOptions); it exits when out of
memory and is replaced."""

EXTENSIONS = "spark.sql.extensions"

_START_SQL = (EXTENSIONS, "spark.sql.cache.serializer", CATALOG_IMPLEMENTATION)
"""SQL settings that only take effect at start; all others are per session."""
_CLIENT = ("spark.remote", "spark.remote.token")


def spark_settings(settings: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in settings.items() if key.startswith("spark.") and value and key not in _CLIENT}


def start_settings(settings: Mapping[str, str], *, hive: bool = False) -> dict[str, str]:
    """The settings that only take effect at server start and were SET, with `hive` those of Hive support."""
    given = {
        "spark.master": "local[*]",
        **spark_settings(settings),
        **({CATALOG_IMPLEMENTATION: "hive"} if hive else {}),
    }
    return {key: given[key] for key in sorted(given) if not key.startswith("spark.sql.") or key in _START_SQL}


def is_local(settings: Mapping[str, str]) -> bool:
    """Whether Spark runs in one JVM on this machine, as the home's shared server."""
    return settings.get("spark.master", "local[*]").startswith("local")


OPEN_DRIVER = (
    "Spark's driver accepts connections without authentication, since {reason}: everyone who can reach its ports can"
    f" read its data and run code as this user. Set {SECRET}=env:NAME to the secret of the cluster"
)


def open_driver(settings: Mapping[str, str]) -> str | None:
    """Why the ports of the driver for a cluster answer clients without a secret; None if they do not."""
    master = settings.get("spark.master", "local[*]")
    if settings.get("spark.remote") or is_local(settings):
        return None
    if settings.get("spark.authenticate", "").lower() == "false":
        return "spark.authenticate is false"
    if settings.get(SECRET) or settings.get("spark.authenticate") or master.startswith(_OWN_SECRET):
        return None
    return f"{SECRET} is not set"


def class_path(wanted: Wanted, pyspark: Path) -> str:
    """The class path of the JVM. A cluster gets the libraries of LIBRARIES by `spark.jars`."""
    libraries = wanted.libraries if is_local(wanted.settings) else ""
    classes = [wanted.settings.get("spark.driver.extraClassPath"), str(pyspark / "jars" / "*"), libraries]
    return os.pathsep.join(filter(None, classes))


def configuration(
    wanted: Wanted, java: Path, classes: str, *, idle: float, log: Path, archive: Path | None = None
) -> dict[str, object]:
    """The keeper's configuration: defaults, then settings that were SET, then required values. `classes` is the class
    path, `archive` its class-data archive. Raises UsageError for a secret that cannot be read.
    """
    given = wanted.settings
    local = is_local(given)
    properties = {**STATIC, **(given if local else _authenticated(given)), **MEANING, **SERVICE}
    if given.get(CATALOG_IMPLEMENTATION) == "hive":
        properties = {**HIVE_CATALOG, **properties}
    if wanted.libraries:
        properties[EXTENSIONS] = ",".join(filter(None, [given.get(EXTENSIONS), SPARK_EXTENSIONS]))
    if local:
        properties.update(LOCAL)
        properties.pop(SECRET, None)
    elif wanted.libraries:
        jars = wanted.libraries.split(os.pathsep)
        properties["spark.jars"] = ",".join(filter(None, [given.get("spark.jars"), *jars]))
    options = [
        *_JAVA_OPTIONS,
        f"-Xmx{_memory(properties['spark.driver.memory'])}",
        *shlex.split(properties["spark.driver.extraJavaOptions"]),
    ]
    return asdict(
        Configuration(
            str(java), options, classes, str(archive or ""), properties, wanted.version, dict(given), wanted.libraries,
            idle=idle, private=not local, log=str(log),
        )
    )  # fmt: skip


def _authenticated(given: Mapping[str, str]) -> dict[str, str]:
    """The settings of a server for a cluster, with authentication if there is a secret, and the secret itself."""
    if open_driver(given):
        return dict(given)
    key = {SECRET: secret(SECRET, given[SECRET])} if given.get(SECRET) else {}
    return {**AUTHENTICATED, **given, **key}


def _memory(text: str) -> str:
    """A Spark memory size in Java syntax: a bare number is in MiB, units have one letter."""
    text = text.strip().lower()
    return f"{text}m" if text.isdigit() else text.removesuffix("b")
