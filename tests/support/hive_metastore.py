"""A real standalone Hive metastore 4.0.1 in one JVM, on Derby in memory, from jars that `hive_metastore.json` pins."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from hivedruid.local import artifacts
from hivedruid.local.artifacts import Artifact
from hivedruid.local.java import java_command
from hivedruid.local.processes import choose_port

PATIENCE = 300.0


@contextmanager
def hive_metastore(folder: Path) -> Iterator[str]:
    """The URI of a metastore with its warehouse below `folder`, which listens on localhost only."""
    port = choose_port(None, ())
    properties = {
        "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.thrift.bind.host": "127.0.0.1",
        "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
        "metastore.warehouse.dir": str(folder / "managed"),
        "metastore.warehouse.external.dir": str(folder / "external"),
        "metastore.task.threads.always": "",
        "metastore.task.threads.remote": "",
        "metastore.event.db.notification.api.auth": "false",
    }
    options = [part for item in properties.items() for part in ("--hiveconf", "=".join(item))]
    classes = os.pathsep.join(map(str, jars()))
    command = [
        str(java_command()), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m",
        f"-Dderby.stream.error.file={folder / 'derby.log'}", "-cp", classes,
        "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port), *options,
    ]  # fmt: skip
    with (folder / "metastore.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            wait(port, process, folder / "metastore.log")
            yield f"thrift://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def jars() -> list[Path]:
    listed = json.loads(Path(__file__).with_suffix(".json").read_text())
    return artifacts.resolve([Artifact(**entry) for entry in listed])


def wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
        except OSError:
            assert process.poll() is None, log.read_text()
            assert monotonic() < deadline, log.read_text()
            sleep(0.05)
        else:
            return


class Client:
    """The metastore's own interface, for what only Hive would do."""
