"""Iceberg's own REST catalog server, as in its tests, from jars that `iceberg_rest.json` pins."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from time import monotonic, sleep
from urllib.request import urlopen

from hivedruid.local import artifacts
from hivedruid.local.artifacts import Artifact
from hivedruid.local.java import java_command
from hivedruid.local.processes import choose_port

PATIENCE = 300.0


@contextmanager
def rest_catalog(folder: Path) -> Iterator[str]:
    """The URL of a REST catalog with its files below `folder`, which listens on localhost only."""
    port = choose_port(None, ())
    environment = {
        **os.environ,
        "CATALOG_REST_PORT": str(port),
        "CATALOG_WAREHOUSE": str(folder / "warehouse"),
        "CATALOG_URI": f"jdbc:sqlite:{folder / 'rest.sqlite'}",
        "CATALOG_JDBC_SCHEMA__VERSION": "V1",
    }
    classes = [*map(str, jars()), str(artifacts.pyspark_folder() / "jars" / "*")]
    command = [str(java_command()), "-XX:+UseSerialGC", "-Xmx256m", "-cp", os.pathsep.join(classes)]
    with (folder / "rest.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "org.apache.iceberg.rest.RESTCatalogServer"], env=environment, stdout=log, stderr=log
        )
        try:
            wait(f"http://127.0.0.1:{port}/v1/config", process, folder / "rest.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def jars() -> list[Path]:
    """The server's class path. A module and its classifier need two runs of Ivy."""
    listed = [Artifact(**entry) for entry in json.loads(Path(__file__).with_suffix(".json").read_text())]
    listed.sort(key=lambda artifact: artifact.classifier)
    found = [artifacts.resolve(list(group)) for _, group in groupby(listed, lambda artifact: artifact.classifier)]
    (driver,) = [artifact for artifact in artifacts.locked_group("spark") if artifact.name == "sqlite-jdbc"]
    return [*(path for group in found for path in group), *artifacts.resolve([driver])]


def wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + PATIENCE
    while True:
        with suppress(OSError), urlopen(url, timeout=5):  # noqa: S310 - of this machine
            return
        assert process.poll() is None, log.read_text()
        assert monotonic() < deadline, log.read_text()
        sleep(0.05)


def tables_of(url: str) -> list[str]:
    """The names of all tables in the catalog's namespace of managed tables."""
    with urlopen(f"{url}/v1/namespaces/tables/tables", timeout=30) as answer:  # noqa: S310 - of this machine
        return sorted(item["name"] for item in json.load(answer)["identifiers"])
