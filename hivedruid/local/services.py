"""The processes of a local cluster: commands, memory, and configuration of each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from hivedruid.lazy_dataclass import dataclass
from hivedruid.local.state import HOST, arguments_file, folder


@dataclass(frozen=True)
class Service:
    """One process. `part` is the group of artifacts it runs from, `main` its class and arguments."""

    part: str
    main: str
    ports: tuple[str, ...]
    """The ports it listens on; the first one is for users."""


_DRUID = "org.apache.druid.cli.Main server"

SERVICES: Mapping[str, Service] = {
    "zookeeper": Service("druid", "org.apache.zookeeper.server.quorum.QuorumPeerMain", ("zookeeper",)),
    "coordinator": Service("druid", f"{_DRUID} coordinator", ("coordinator", "derby")),
    "historical": Service("druid", f"{_DRUID} historical", ("historical",)),
    "indexer": Service("druid", f"{_DRUID} indexer", ("indexer",)),
    "broker": Service("druid", f"{_DRUID} broker", ("broker",)),
    "kafka": Service("kafka", "kafka.Kafka", ("kafka", "controller")),
}
"""In start order."""


@dataclass(frozen=True)
class Heap:
    """The memory of the processes of a cluster. Sizes in MB; `resident` is the total."""

    name: str
    sizes: Mapping[str, int]
    resident: Mapping[str, int]
    direct: int
    buffer: int
    threads: int
    flags: tuple[str, ...]


HEAPS: Mapping[str, Heap] = {
    # C1 alone compiles fast and needs a third of the memory; ingestion then runs about 28,000 rows/s.
    "small": Heap(
        "small",
        sizes={"zookeeper": 64, "coordinator": 300, "historical": 300, "indexer": 600, "broker": 300, "kafka": 256},
        resident={"zookeeper": 100, "coordinator": 400, "historical": 350, "indexer": 500, "broker": 400, "kafka": 400},
        direct=300,
        buffer=25,
        threads=1,
        flags=("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    ),
    "default": Heap(
        "default",
        sizes={"zookeeper": 128, "coordinator": 512, "historical": 1024, "indexer": 2048, "broker": 1024, "kafka": 512},
        resident={
            "zookeeper": 150,
            "coordinator": 700,
            "historical": 900,
            "indexer": 1500,
            "broker": 900,
            "kafka": 700,
        },
        direct=1024,
        buffer=100,
        threads=max(1, min(4, (os.cpu_count() or 1) - 1)),
        flags=("-XX:+UseG1GC",),
    ),
}

_DRUID_FLAGS = (
    # The modules that Druid 33 needs access to on Java 17 (its own bin/run-java).
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in ("java.lang", "java.io", "java.nio", "jdk.internal.ref", "sun.nio.ch")
    ),
    "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
    "-Djava.util.logging.manager=org.apache.logging.log4j.jul.LogManager",
    "-Dzookeeper.jmx.log4j.disable=true",
)

_LOGGING = """\
<Configuration status="WARN">
  <Appenders>
    <Console name="console" target="SYSTEM_OUT"><PatternLayout pattern="%d{ISO8601} %p [%t] %c{1} - %m%n"/></Console>
  </Appenders>
  <Loggers>
    <Root level="info"><AppenderRef ref="console"/></Root>
    <Logger name="org.apache.zookeeper" level="warn"/>
    <Logger name="org.apache.druid.metadata.SqlSegmentsMetadataManager" level="warn"/>
  </Loggers>
</Configuration>
"""


def write_configuration(
    home: Path, heap: Heap, ports: Mapping[str, int], jars: Mapping[str, list[Path]],
    options: Callable[[Service, str], list[str]] = lambda _, __: [],
) -> None:  # fmt: skip
    """Write the configuration of every service whose artifacts are in `jars` (by part); `options` returns more options
    for the JVM of a service. Raises OSError."""
    for name, service in SERVICES.items():
        if service.part in jars:
            conf = arguments_file(home, name).parent
            conf.mkdir(parents=True, exist_ok=True)
            (conf / "log4j2.xml").write_text(_LOGGING, encoding="utf-8")
            (conf / _FILES.get(name, "runtime.properties")).write_text(
                properties(_settings(home, name, heap, ports)), encoding="ascii"
            )
            arguments = _arguments(home, name, heap, jars[service.part], options(service, name))
            arguments_file(home, name).write_text("\n".join(map(_quoted, arguments)) + "\n", encoding="utf-8")
    if "druid" in jars:
        common = folder(home) / "conf" / "common"
        common.mkdir(parents=True, exist_ok=True)
        (common / "common.runtime.properties").write_text(properties(_common(home, ports)), encoding="ascii")


_FILES = {"zookeeper": "zoo.cfg", "kafka": "server.properties"}


def properties(values: Mapping[str, object]) -> str:
    """A Java properties file; escaped so that every Java reads it the same way."""

    def escaped(text: str) -> str:
        units = text.replace("\\", "\\\\").encode("utf-16-be", "surrogatepass")
        pairs = (int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2))
        return "".join(chr(unit) if 32 <= unit < 127 else f"\\u{unit:04x}" for unit in pairs)

    return "".join(f"{key}={escaped(str(value))}\n" for key, value in values.items())


def kafka_format_settings(home: Path, ports: Mapping[str, int], logs: Path) -> dict[str, object]:
    """The settings to format `logs`, which is then renamed to Kafka's folder."""
    return {**_kafka(home, HEAPS["small"], ports), "log.dirs": logs}


def data(home: Path, name: str) -> Path:
    """The data folder of a service."""
    return folder(home) / "data" / name


def _arguments(home: Path, name: str, heap: Heap, jars: list[Path], options: list[str]) -> list[str]:
    """The arguments of `java` for a service.

    Druid reads its properties as resources of the class path. Their folders follow the jars, because a class-data
    archive requires that the class path begins with that of the archive, which consists of jars.
    """
    conf = arguments_file(home, name).parent
    folders = [conf.parent / "common", conf] if SERVICES[name].main.startswith(_DRUID) else []
    arguments = [
        f"-Xmx{heap.sizes[name]}m",
        f"-XX:MaxDirectMemorySize={heap.direct}m",
        *heap.flags,
        *options,
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={folder(home) / 'logs' / name}.crash",
        "-Duser.timezone=UTC",
        "-Dfile.encoding=UTF-8",
        f"-Djava.io.tmpdir={data(home, 'tmp')}",
        f"-Dderby.system.home={data(home, 'metadata')}",
        "-Djava.net.preferIPv4Stack=true",
        f"-Dlog4j2.configurationFile={(conf / 'log4j2.xml').as_uri()}",
        *(_DRUID_FLAGS if SERVICES[name].part == "druid" else ()),
        "-cp",
        os.pathsep.join(map(str, [*jars, *folders])),
        *SERVICES[name].main.split(),
    ]
    if name in _FILES:
        arguments.append(str(conf / _FILES[name]))
    return arguments


def _quoted(argument: str) -> str:
    """Quote an argument for `java @file`."""
    return '"' + argument.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _settings(home: Path, name: str, heap: Heap, ports: Mapping[str, int]) -> dict[str, object]:
    if name == "zookeeper":
        return {
            "tickTime": 1000,
            "dataDir": data(home, name),
            "clientPort": ports[name],
            "clientPortAddress": HOST,
            "admin.enableServer": "false",
        }
    if name == "kafka":
        return _kafka(home, heap, ports)
    own = {"coordinator": _coordinator, "broker": _broker, "historical": _historical, "indexer": _indexer}[name]
    return {"druid.service": f"druid/{name}", "druid.plaintextPort": ports[name], **own(home, heap)}


def _common(home: Path, ports: Mapping[str, int]) -> dict[str, object]:
    return {
        "druid.host": HOST,
        "druid.bindOnHost": "true",
        # The extensions are on the class path, without folders of their own, and are found by service loading.
        "druid.extensions.loadList": "[]",
        "druid.extensions.searchCurrentClassloader": "true",
        "druid.extensions.directory": data(home, "extensions"),
        "druid.zk.service.host": f"{HOST}:{ports['zookeeper']}",
        # The time after which another coordinator takes over from a dead one.
        "druid.zk.service.sessionTimeoutMs": 15_000,
        "druid.metadata.storage.type": "derby",
        "druid.metadata.storage.connector.connectURI": f"jdbc:derby://{HOST}:{ports['derby']}/druid;create=true",
        "druid.metadata.storage.connector.host": HOST,
        "druid.metadata.storage.connector.port": ports["derby"],
        "druid.storage.type": "local",
        "druid.storage.storageDirectory": data(home, "segments"),
        "druid.indexer.logs.type": "file",
        "druid.indexer.logs.directory": data(home, "task-logs"),
        "druid.serverview.type": "http",
        "druid.coordinator.loadqueuepeon.type": "http",
        "druid.indexer.runner.type": "httpRemote",
        "druid.lookup.enableLookupSyncOnStartup": "false",
        "druid.selectors.indexing.serviceName": "druid/overlord",
        "druid.selectors.coordinator.serviceName": "druid/coordinator",
        "druid.startup.logging.logProperties": "false",
        "druid.server.http.gracefulShutdownTimeout": "PT3S",
    }


def _coordinator(_: Path, __: Heap) -> dict[str, object]:
    return {
        "druid.coordinator.asOverlord.enabled": "true",
        "druid.coordinator.asOverlord.overlordService": "druid/overlord",
        "druid.coordinator.startDelay": "PT1S",
        "druid.coordinator.period": "PT0.5S",
        # The time after which a lost response of the historical is requested again; the default is five minutes.
        "druid.coordinator.loadqueuepeon.http.hostTimeout": "PT4S",
        "druid.coordinator.loadqueuepeon.http.repeatDelay": "PT2S",
        # A poll parses the metadata of all segments.
        "druid.manager.segments.pollDuration": "PT0.5S",
        "druid.indexer.queue.startDelay": "PT0S",
        "druid.indexer.storage.type": "metadata",
    }


def _broker(_: Path, heap: Heap) -> dict[str, object]:
    return {
        "druid.server.http.numThreads": 20,
        **_processing(heap),
    }


def _historical(home: Path, heap: Heap) -> dict[str, object]:
    cache = [{"path": str(data(home, "segment-cache")), "maxSize": "100g"}]
    return {
        "druid.server.http.numThreads": 20,
        "druid.segmentCache.locations": json.dumps(cache),
        **_processing(heap),
    }


def _indexer(home: Path, heap: Heap) -> dict[str, object]:
    return {
        "druid.server.http.numThreads": 20,
        "druid.worker.capacity": 4,
        "druid.worker.globalIngestionHeapLimitBytes": heap.sizes["indexer"] * 1_000_000 // 3,
        "druid.indexer.task.baseTaskDir": data(home, "tasks"),
        # Otherwise a stop waits five minutes for running tasks.
        "druid.indexer.task.gracefulShutdownTimeout": "PT3S",
        # A task that has published its segments ends when they are loaded; otherwise it checks once a minute.
        "druid.segment.handoff.pollDuration": "PT1S",
        **_processing(heap),
    }


def _processing(heap: Heap) -> dict[str, object]:
    return {
        "druid.processing.buffer.sizeBytes": f"{heap.buffer}MiB",
        "druid.processing.numMergeBuffers": 2,
        "druid.processing.numThreads": heap.threads,
    }


def _kafka(home: Path, _: Heap, ports: Mapping[str, int]) -> dict[str, object]:
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{HOST}:{ports['controller']}",
        "listeners": f"PLAINTEXT://{HOST}:{ports['kafka']},CONTROLLER://{HOST}:{ports['controller']}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{ports['kafka']}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": data(home, "kafka"),
        # A topic that a consumer or a producer misspells would be created, and be empty.
        "auto.create.topics.enable": "false",
        # Records of other years would be old enough to be deleted at once.
        "log.retention.ms": -1,
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 4,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
    }
