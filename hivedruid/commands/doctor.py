"""`hivedruid doctor`: checks the requirements of each feature and suggests a next step where one is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hivedruid.commands.options import CLUSTER, HOME
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.engine.kinds import kind_of, session_kind
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.ingestion.feed import Feed
    from hivedruid.settings import Settings

OK, MISSING, LATER = "ok", "missing", "later"
"""`later`: not available yet, but no action is required until it is needed."""

MEMORY_FOR_CLUSTER = 3.5e9
"""Bytes of memory that `hivedruid local up --heap small` requires, including Kafka."""
DISK_FOR_CLUSTER = 2e9
KAFKA_EXTENSION = "druid-kafka-indexing-service"


@dataclass(frozen=True)
class Check:
    """One row of the report; `next` is the suggested action if something is missing."""

    feature: str
    state: str
    detail: str
    next: str = ""


@click.command()
@HOME
@CLUSTER
@click.option("--druid", metavar="URL", help="Druid to check. [the home's druid.url]")
@click.option("--format", "layout", type=click.Choice(("table", "json", "tsv")), default="table", show_default=True)
def doctor(*, home: Path | None, cluster: str | None, druid: str | None, layout: str) -> int:
    """Check that this machine and Druid have what each feature needs, and suggest a fix for what is missing.

    Exit codes: 0 nothing is missing, 1 something is missing.
    """
    from hivedruid.cli import default_home, guarded
    from hivedruid.diagnostics import FAILED, Diagnostics
    from hivedruid.diagnostics import OK as SUCCESS

    def run() -> int:
        from hivedruid import configuration, render
        from hivedruid.catalog.types import STRING
        from hivedruid.results import Result, ResultColumn
        from hivedruid.secret_text import redact
        from hivedruid.settings import Settings

        folder = (home or default_home()).absolute()
        configured = configuration.values(folder, cluster, druid)
        settings = Settings({**configured, **({"druid.url": druid} if druid else {})})
        checks = list(examine(folder, settings))
        columns = tuple(ResultColumn(name, STRING) for name in ("feature", "state", "detail", "next"))
        rows = [(redact(c.feature), c.state, redact(c.detail), redact(c.next)) for c in checks]
        sys.stdout.writelines(render.lines(Result(columns, rows), layout))
        return FAILED if any(check.state == MISSING for check in checks) else SUCCESS

    return guarded(run, Diagnostics())


def examine(home: Path, settings: Settings) -> Iterator[Check]:
    """Run all checks in the order of CHECKS; an error in one check is reported and does not stop the others."""
    from hivedruid.errors import HiveDruidError

    for feature, check in CHECKS.items():
        try:
            yield from check(feature, home, settings)
        except HiveDruidError as error:
            yield Check(feature, MISSING, error.message, error.hint or "")
        except OSError as error:
            yield Check(feature, MISSING, f"{error.strerror or error}")


def _home(feature: str, home: Path, settings: Settings) -> Iterator[Check]:
    import os
    import shutil

    from hivedruid.catalog.database import FILE_NAME
    from hivedruid.catalog.opening import catalog_url, read_catalog
    from hivedruid.private import is_read_only

    there = next(folder for folder in (home, *home.parents) if folder.exists())
    can_be_read = is_read_only(home) and (home / FILE_NAME).exists()
    if not there.is_dir() or not (can_be_read or os.access(there, os.W_OK | os.X_OK)):
        yield Check(feature, MISSING, f"{there} is not writable", "specify another folder with --home")
        return
    free, url = f"{shutil.disk_usage(there).free / 1e9:.1f} GB free", catalog_url(settings)
    if url is not None:
        yield Check(feature, OK, f"{home}: {free}")
        yield from _shared_catalog(feature, settings)
        return
    read_catalog(home, settings).close()
    if can_be_read:
        yield Check(feature, LATER, f"{home} is read-only: tables can be read", "to change tables, use another --home")
        return
    known = "catalog is readable" if (home / FILE_NAME).exists() else "no catalog yet"
    yield Check(feature, OK, f"{home}: {known}, {free}")


def _shared_catalog(feature: str, settings: Settings) -> Iterator[Check]:
    """Check the catalog on PostgreSQL, and that the settings fit to it."""
    from hivedruid.catalog.opening import described
    from hivedruid.iceberg.catalog import is_on_postgres
    from hivedruid.settings import ICEBERG_CATALOG

    yield Check(f"{feature}: catalog", OK, described(settings))
    if session_kind(settings).is_in_home:
        advice = "set druid.url to the router of a Druid cluster"
        yield Check(f"{feature}: Druid tables", LATER, "the embedded store is not supported with this catalog", advice)
    if is_on_postgres(settings) and not settings.get(f"{ICEBERG_CATALOG}warehouse"):
        advice = f"set {ICEBERG_CATALOG}warehouse to a folder that all machines share, or to a URI"
        yield Check(f"{feature}: managed tables", LATER, "no warehouse", advice)


def _java(feature: str, _home: Path, _: Settings) -> Iterator[Check]:
    from hivedruid.local.java import java_command, java_version

    java = java_command()
    yield Check(feature, OK, f"Java {java_version(java)} at {java}")


def _spark(feature: str, home: Path, settings: Settings) -> Iterator[Check]:
    from importlib.metadata import PackageNotFoundError, version

    from hivedruid.spark import server

    try:
        packages = f"pyspark {version('pyspark')}, grpcio {version('grpcio')}, pyarrow {version('pyarrow')}"
    except PackageNotFoundError as error:
        yield Check(feature, MISSING, f"the package {error.name} is not installed", "reinstall hivedruid with pip")
        return
    yield Check(feature, OK, packages)
    if settings["spark.remote"]:
        yield Check("Spark server", OK, f"external: {settings['spark.remote']}")
        return
    where = server.shared_home(home)
    running = server.find(where)
    detail = f"running on port {running.port}, process {running.jvm}" if running else "starts with the first Spark job"
    yield Check("Spark server", OK if running else LATER, detail)


def _artifacts(feature: str, _home: Path, _: Settings) -> Iterator[Check]:
    from hivedruid.defaults import cache_folder
    from hivedruid.local.artifacts import cached, locked_group

    groups = {
        "Iceberg and Kafka tables": locked_group("spark"),
        "Druid": locked_group("druid"),
        "Kafka": locked_group("kafka"),
    }
    for name, group in groups.items():
        missing = [artifact for artifact in group if cached(artifact) is None]
        size = sum(artifact.size for artifact in missing) / 1e6
        detail = (
            f"{len(missing)} of {len(group)} files to download, {size:.0f} MB" if missing else f"in {cache_folder()}"
        )
        yield Check(f"{feature}: {name}", LATER if missing else OK, detail)


def _local_cluster(feature: str, home: Path, _: Settings) -> Iterator[Check]:
    import shutil

    from hivedruid.local.cluster import LocalCluster

    states = {status.name: status.state for status in LocalCluster(home).status()}
    started = {name: state for name, state in states.items() if state != "stopped"}
    bad = sorted(name for name, state in started.items() if state != "up")
    if bad:
        yield Check(feature, MISSING, f"not up: {', '.join(bad)}", "run hivedruid local up to restart them")
    elif started:
        yield Check(feature, OK, f"up: {', '.join(started)}")
    else:
        yield Check(feature, LATER, "not running", "run hivedruid local up")
        available = _available_memory()
        enough = available >= MEMORY_FOR_CLUSTER
        yield Check(
            f"{feature}: memory", OK if enough else MISSING, f"{available / 1e9:.1f} GB available, 3.5 GB required",
            "" if enough else "close other programs",
        )  # fmt: skip
        there = next(folder for folder in (home, *home.parents) if folder.exists())
        free = shutil.disk_usage(there).free
        roomy = free >= DISK_FOR_CLUSTER
        yield Check(
            f"{feature}: disk", OK if roomy else MISSING, f"{free / 1e9:.1f} GB free, 2 GB required",
            "" if roomy else "free up disk space",
        )  # fmt: skip


def _available_memory() -> float:
    """The available memory in bytes, from /proc/meminfo; infinite if that file does not exist."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return float("inf")
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), float("inf"))


def _druid(feature: str, home: Path, settings: Settings) -> Iterator[Check]:
    from hivedruid.secrets import masked

    url = settings["druid.url"]
    if kind_of(url).is_in_home:
        yield Check(feature, OK, "embedded store in the home folder")
        return
    from hivedruid.clients.address import address
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.druid.versions import NEWEST, OLDEST, major_of, oldest
    from hivedruid.local.state import running

    cluster = DruidCluster(address(settings, running(home)), progress=lambda _: None, note=lambda _: None)
    try:
        services = cluster.status()
    finally:
        cluster.close()
    for service in services:
        name = f"{feature}: {service.service}"
        where = masked("druid.url", service.url)
        if service.problem:
            yield Check(
                name, MISSING, service.problem, f"start it, or change druid.url, currently {masked('druid.url', url)}"
            )
            continue
        old = (major_of(service.version) or OLDEST) < OLDEST
        extensions = ", ".join(e for e in service.extensions if e.startswith("druid-") and e not in _NOT_EXTENSIONS)
        yield Check(
            name, MISSING if old else OK, f"{service.version} at {where}; extensions: {extensions or 'none'}",
            f"hivedruid needs Druid {OLDEST} or later" if old else "",
        )  # fmt: skip
        if service.service == "overlord" and KAFKA_EXTENSION not in service.extensions:
            yield Check(
                f"{feature}: Kafka ingestion", LATER, f"extension {KAFKA_EXTENSION} is not loaded on the overlord",
                "add it to druid.extensions.loadList to ingest from Kafka",
            )  # fmt: skip
    versions = sorted({service.version for service in services if service.version})
    version = oldest(versions)
    if version.text:
        several = f", the oldest of {' and '.join(versions)}" if len(versions) > 1 else ""
        newer = f", which is newer than hivedruid and counts as {NEWEST}" if version.is_newer else ""
        yield Check(f"{feature}: version", OK, f"{version.text}{several}{newer}; see docs/druid-versions.md")
    elif before := _last_version(home, url, settings):
        yield Check(f"{feature}: version", LATER, f"{before} when it was last used; see docs/druid-versions.md")


def _last_version(home: Path, url: str, settings: Settings) -> str:
    """The version of a cluster that does not respond, as the catalog has it."""
    from hivedruid.catalog.opening import read_catalog
    from hivedruid.catalog.places import Places
    from hivedruid.catalog.store import Catalog
    from hivedruid.local.state import place_of

    connection = read_catalog(home, settings)
    try:
        return Places(Catalog(connection)).version(place_of(url, home))
    finally:
        connection.close()


def _kafka(feature: str, home: Path, settings: Settings) -> Iterator[Check]:
    """Check the requirements of Kafka ingestion: topics as seen from this machine, and environment variables on
    Druid's hosts."""
    from hivedruid.catalog.opening import read_catalog
    from hivedruid.catalog.properties import has_ingestion
    from hivedruid.catalog.store import Catalog
    from hivedruid.druid.supervisor import supervisor_spec
    from hivedruid.ingestion.feed import feed_of
    from hivedruid.secrets import masked

    connection = read_catalog(home, settings)
    try:
        catalog = Catalog(connection)
        tables = [table for database in catalog.databases() for table in catalog.tables(database)]
    finally:
        connection.close()
    fed = [table for table in tables if table.has_data_source and has_ingestion(table.properties)]
    if not fed:
        yield Check(feature, OK, "no table ingests from Kafka")
        return
    names = ", ".join(table.full_name for table in fed)
    kind = session_kind(settings)
    if not kind.has(KafkaIngestion):
        yield Check(
            feature,
            LATER,
            f"source of {names}; {kind.name} {kind.lacks[KafkaIngestion]}",
            "set druid.url to a Druid cluster",
        )
        return
    yield Check(feature, OK, f"source of {names}")
    feeds = [feed_of(supervisor_spec(table, settings)) for table in fed]
    for bootstrap, properties in dict.fromkeys(feed.kafka for feed in feeds):
        same = [feed for feed in feeds if feed.kafka == (bootstrap, properties)]
        yield from _topics(f"{feature}: {masked('kafka.bootstrap.servers', bootstrap)}", same)
    variables = {name for feed in feeds for name in feed.variables}
    if variables:
        yield from _variables(f"{feature}: Druid environment", home, settings, variables)


def _jobs(feature: str, home: Path, settings: Settings) -> Iterator[Check]:
    """Report jobs that were interrupted or have failed and are not finished."""
    from hivedruid.actions.writing.gather import gather_jobs
    from hivedruid.actions.writing.show import problems
    from hivedruid.catalog.opening import read_catalog
    from hivedruid.catalog.store import Catalog

    connection = read_catalog(home, settings)
    try:
        job_problems = problems(gather_jobs(Catalog(connection), home, settings, every=False))
    finally:
        connection.close()
    for one in job_problems:
        yield Check(f"{feature}: {one.subject}", MISSING, f"{one.problem}: {one.cause}", one.repair)
    if not job_problems:
        yield Check(feature, OK, "no interrupted jobs")


def _topics(feature: str, feeds: list[Feed]) -> Iterator[Check]:
    """Check the topics of one Kafka cluster over one connection, with the credentials of the tables."""
    from hivedruid.clients.kafka import Kafka, OnlyDruidError
    from hivedruid.errors import ConnectError, KafkaError

    try:
        with Kafka(feeds[0].bootstrap, dict(feeds[0].properties)) as kafka:
            patterns = {feed.topic for feed in feeds if feed.is_pattern}
            matched = {pattern: kafka.topics(pattern) for pattern in sorted(patterns)}
            wanted = {feed.topic for feed in feeds if not feed.is_pattern}.union(*matched.values())
            offsets = kafka.offsets(wanted)
    except OnlyDruidError as error:
        yield Check(feature, LATER, f"not checked: {error.message}", error.hint or "")
        return
    except (KafkaError, ConnectError) as error:
        yield Check(feature, MISSING, error.message, error.hint or "")
        return
    good = sorted(name for name, item in offsets.items() if not isinstance(item, KafkaError))
    if good:
        yield Check(feature, OK, f"readable topics: {', '.join(good)}")
    for name, item in sorted(offsets.items()):
        if isinstance(item, KafkaError):
            yield Check(f"{feature}: {name}", MISSING, item.message, item.hint or "")
    for pattern, names in matched.items():
        if not names:
            yield Check(
                f"{feature}: {pattern}", MISSING, "no matching topic", "create a matching topic or change the pattern"
            )


def _variables(feature: str, home: Path, settings: Settings, variables: set[str]) -> Iterator[Check]:
    from hivedruid.clients.address import address
    from hivedruid.clients.druid import DruidClient
    from hivedruid.clients.sampler import unset_variables
    from hivedruid.local.state import running

    client = DruidClient(address(settings, running(home)))
    try:
        unset = unset_variables(client, variables)
    finally:
        client.close()
    given = sorted(variables - set(unset))
    if given:
        yield Check(feature, OK, f"set on the overlord: {', '.join(given)}")
    for name in unset:
        yield Check(
            f"{feature}: {name}", MISSING, f"{name} is not set on the overlord",
            "set it on all Druid hosts and restart the Druid services",
        )  # fmt: skip


_NOT_EXTENSIONS = frozenset({"druid-processing", "druid-server", "druid-services", "druid-indexing-service"})
"""Built-in Druid modules, present in every service."""

CHECKS: dict[str, Callable[[str, Path, Settings], Iterator[Check]]] = {
    "home": _home,
    "Java": _java,
    "Spark": _spark,
    "downloads": _artifacts,
    "local cluster": _local_cluster,
    "Druid": _druid,
    "Kafka": _kafka,
    "jobs": _jobs,
}
"""The checks by their displayed name."""
