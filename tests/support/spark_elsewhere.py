"""Scripts on a Spark elsewhere: a standalone cluster of two workers, and a Connect server on it.

    python -m tests.support.spark_elsewhere [--mode connect|standalone] [--druid URL] [PATHS...]

Runs `hivedruid test` with `spark.remote` or `spark.master` of that cluster, by default for all scripts: they have the
same answers as on the Spark of this machine. With `--druid` the Druid tables are on that cluster of Druid, and the
scripts are those that use such tables.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from hivedruid.iceberg.home_catalog import SPARK_EXTENSIONS
from hivedruid.local import artifacts
from hivedruid.setting_types import EMBEDDED
from hivedruid.spark.launch import EXTENSIONS, SECRET
from tests.support.cluster_scripts import of_clusters
from tests.support.spark_processes import TOKEN, Processes

MODES = ("connect", "standalone")
SCRIPTS = Path(__file__).parent.parent
OTHERWISE = ("malformed.q", "settings.q", "transform.q")
"""Scripts with another output: Spark, not the client, misses a folder; the settings are those of the cluster; ADD FILE
does not copy programs to other machines."""
LIBRARIES = ("spark",)
NOTHING: Mapping[str, str] = {}
OWN = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "1g",
    "spark.cores.max": "2",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}


MAIN = "org.apache.spark.deploy"
PLACES = ("--host", "127.0.0.1", "--webui-port", "0")


def start_master(processes: Processes, *options: str) -> tuple[str, str]:
    """The URL of a master, and the port of its web interface."""
    log = processes.start("master", f"{MAIN}.master.Master", *PLACES, "--port", "0", *options)
    url = log(r"Starting Spark master at (spark://\S+)")[1]
    return url, log(r"Bound MasterWebUI to \S+, and started at http://\S+:(\d+)")[1]


def start_worker(processes: Processes, master: str, number: int, *options: str, hidden: Path | None = None) -> None:
    """A worker of one core; it does not share the folder `hidden`."""
    limits = ("--cores", "1", "--memory", "1g", "--work-dir", str(processes.folder / f"work{number}"))
    name = f"worker{number}"
    log = processes.start(name, f"{MAIN}.worker.Worker", *PLACES, *limits, *options, master, hidden=hidden)
    log("Successfully registered with master")


def start_connect(
    processes: Processes, master: str, port: str = "0", *, more: Mapping[str, str] = NOTHING, jars: Sequence[Path] = ()
) -> str:
    """The URL of a Connect server on the cluster, with Iceberg, the Kafka connector and `jars`; by default on a free
    port."""
    own = [path for group in LIBRARIES for path in artifacts.resolve(artifacts.locked_group(group))]
    classes = [str(path) for path in (*own, *jars)]
    log = processes.folder / "log4j2.properties"
    log.write_text(
        "rootLogger.level = info\nrootLogger.appenderRef.a.ref = a\nappender.a.type = Console\nappender.a.name = a\n"
        "appender.a.layout.type = PatternLayout\n"
    )
    properties = {
        **OWN,
        "spark.master": master,
        EXTENSIONS: SPARK_EXTENSIONS,
        "spark.jars": ",".join(classes),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "log4j2.configurationFile": log.as_uri(),
        **more,
    }
    options = [f"-D{key}={value}" for key, value in properties.items()]
    main = "org.apache.spark.sql.connect.service.SparkConnectServer"
    server = processes.start("connect", *options, main, jar=os.pathsep.join(classes))
    return f"sc://localhost:{server(r'Spark Connect server started at: [^ ]*?:([0-9]+)')[1]}"


def settings_of(mode: str, processes: Processes) -> Mapping[str, str]:
    """The settings for a new cluster. A standalone one requires the secret of its applications, without which a note
    would be in the output of every script."""
    is_standalone = mode == "standalone"
    secured = processes.folder / "spark.properties"
    secured.write_text(f"spark.authenticate=true\n{SECRET}={TOKEN}\nspark.network.crypto.enabled=true\n")
    options = ("--properties-file", str(secured)) if is_standalone else ()
    master, _ = start_master(processes, *options)
    for number in (1, 2):
        start_worker(processes, master, number, *options)
    if is_standalone:
        return {**OWN, "spark.master": master, SECRET: "env:SPARK_TOKEN"}
    return {"spark.remote": start_connect(processes, master), "spark.remote.token": "env:SPARK_TOKEN"}


def scripts(druid: str) -> list[str]:
    found = [path for folder in ("q", "scripts") for path in sorted((SCRIPTS / folder).rglob("*.q"))]
    fitting = found if druid == EMBEDDED else of_clusters(found)
    return [str(path) for path in fitting if path.name not in OTHERWISE]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=MODES, default=MODES[0])
    parser.add_argument("--druid", default=EMBEDDED)
    parser.add_argument("--home", default="", help="the home of the cluster with --druid local")
    parser.add_argument("paths", nargs="*")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hivedruid-elsewhere-") as folder, Processes(Path(folder)) as processes:
        options = [f"--hiveconf={key}={value}" for key, value in settings_of(given.mode, processes).items()]
        home = ["--home", given.home] if given.home else []
        command = [sys.executable, "-m", "hivedruid", "test", "--jobs", "1", "--druid", given.druid, *home]
        done = subprocess.run(
            [*command, *options, *(given.paths or scripts(given.druid))],
            env={**os.environ, "SPARK_TOKEN": TOKEN},
            check=False,
        )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
