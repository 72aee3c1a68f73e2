"""A real cluster, started, broken, repaired and stopped. The tests run in order, on one shared cluster."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hivedruid import defaults
from hivedruid.errors import ExecutionError, UsageError
from hivedruid.local.archives import archive_path, is_usable
from hivedruid.local.cluster import START_SECONDS, LocalCluster
from hivedruid.local.java import java_command
from hivedruid.local.processes import log_file
from hivedruid.local.services import data
from hivedruid.local.state import arguments_file, folder, read_state, running, runs
from tests.support.ingestion import until
from tests.support.kafka import kafka_python

pytestmark = pytest.mark.local

DRUID = ["zookeeper", "coordinator", "historical", "indexer", "broker"]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Druid and Kafka in a home with an awkward name, not started yet."""
    made = LocalCluster(tmp_path_factory.mktemp("local") / "my 'home' ö", heap="small")
    yield made
    made.down(clean=True)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[LocalCluster]:
    """A second home, with Kafka only."""
    made = LocalCluster(tmp_path / "other", heap="small")
    yield made
    made.down(clean=True)


def pids(local: LocalCluster) -> dict[str, int | None]:
    return {row.name: row.pid for row in local.status()}


def states(local: LocalCluster) -> dict[str, str]:
    return {row.name: row.state for row in local.status()}


def await_all_up(local: LocalCluster) -> None:
    until(lambda: set(states(local).values()) == {"up"}, "all services are up")


def ask(url: str, body: Mapping[str, Any]) -> Any:
    request = urllib.request.Request(  # noqa: S310 - ours
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


def count(local: LocalCluster) -> int:
    """Rows of the data source `kept` according to the broker."""
    services = running(local.home)
    assert services is not None
    query = {"queryType": "timeseries", "dataSource": "kept", "intervals": ["0000/3000"], "granularity": "all"}
    rows = ask(f"{services.broker}/druid/v2", {**query, "aggregations": [{"type": "count", "name": "rows"}]})
    return rows[0]["result"]["rows"] if rows else 0


def ingest(local: LocalCluster) -> None:
    """Three rows from a local file into the data source `kept`."""
    file = local.home / "rows.json"
    file.write_text("".join(f'{{"t": "2020-01-01", "a": "{name}"}}\n' for name in "xyz"))
    schema = {
        "dataSource": "kept",
        "timestampSpec": {"column": "t"},
        "dimensionsSpec": {"dimensions": ["a"]},
        "granularitySpec": {"segmentGranularity": "DAY", "rollup": False},
    }
    source = {"type": "local", "files": [str(file)]}
    reading = {"type": "index_parallel", "inputSource": source, "inputFormat": {"type": "json"}}
    services = running(local.home)
    assert services is not None
    task = {"type": "index_parallel", "spec": {"dataSchema": schema, "ioConfig": reading}}
    ask(f"{services.overlord}/druid/indexer/v1/task", task)


def hivedruid(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hivedruid", "local", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=2 * START_SECONDS)


def test_up(local: LocalCluster) -> None:
    done = hivedruid("up", "--heap", "small", "--home", str(local.home))
    assert done.returncode == 0, done.stderr
    services = running(local.home)
    assert services is not None
    assert done.stdout.splitlines() == [
        f"broker       {services.broker}",
        f"coordinator  {services.coordinator}",
        f"overlord     {services.overlord}",
        f"kafka        {services.kafka}",
    ]
    await_all_up(local)
    assert defaults.read(local.home) == {"druid.url": "local"}
    for row in local.status():
        assert row.pid is not None
        assert row.memory is not None
        assert row.memory > 50_000_000
        assert os.getsid(row.pid) != os.getsid(0)  # Ctrl-C in this terminal does not reach them
    assert sum(row.memory or 0 for row in local.status()) < 3_500_000_000


def test_it_can_be_used_at_once(local: LocalCluster) -> None:
    ingest(local)
    until(lambda: count(local) == 3, "three rows")
    services = running(local.home)
    assert services is not None
    with closing(kafka_python().KafkaAdminClient(bootstrap_servers=services.kafka)) as admin:
        admin.create_topics({"kept": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    with kafka_python().KafkaProducer(bootstrap_servers=services.kafka) as producer:
        producer.send("kept", b"a record").get(60)


def test_second_up_does_nothing(local: LocalCluster) -> None:
    before = pids(local)
    assert local.up() == running(local.home)
    assert pids(local) == before


def test_another_heap_needs_a_down(local: LocalCluster) -> None:
    with pytest.raises(UsageError, match="is running with --heap small") as caught:
        LocalCluster(local.home, heap="default").up()
    assert caught.value.hint == "run hivedruid local down, then hivedruid local up --heap default"


def test_status_and_logs(local: LocalCluster) -> None:
    done = hivedruid("status", "--format", "json", "--home", str(local.home))
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert done.returncode == 0
    assert rows["broker"]["pid"] == pids(local)["broker"]
    assert Path(rows["broker"]["log"]) == log_file(local.home, "broker")
    done = hivedruid("status", "--home", str(local.home))
    assert [line.split()[1] for line in done.stdout.splitlines()[3:-1]] == [*DRUID, "kafka"]
    done = hivedruid("logs", "kafka", "--home", str(local.home))
    assert "Kafka Server started" in done.stdout


def test_dead_children_are_seen_and_repaired(local: LocalCluster) -> None:
    before = pids(local)
    for name in ("broker", "kafka"):
        os.kill(before[name] or 0, signal.SIGKILL)
    until(lambda: [name for name, state in states(local).items() if state == "dead"] == ["broker", "kafka"])
    assert hivedruid("status", "--home", str(local.home)).returncode == 3
    local.up()
    after = pids(local)
    await_all_up(local)
    assert {name for name in after if after[name] != before[name]} == {"broker", "kafka"}
    assert count(local) == 3


def test_down_and_up_again_with_a_port_taken_and_no_state(local: LocalCluster) -> None:
    """A truncated state file and unrecorded processes: the processes are stopped; their data stays."""
    ports = dict(read_state(local.home).ports)
    before = [pid for pid in pids(local).values() if pid is not None]
    file = folder(local.home) / "state.json"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert running(local.home) is None
    done = hivedruid("down", "--home", str(local.home))
    assert done.stderr == f"stopped: {', '.join(DRUID)}, kafka\n"
    assert not any(
        Path(f"/proc/{pid}/cmdline").exists() and b"java.args" in Path(f"/proc/{pid}/cmdline").read_bytes()
        for pid in before
    )
    assert defaults.read(local.home) == {"druid.url": "local"}
    file.write_bytes(whole)  # lists processes that no longer exist
    with socket.create_server(("127.0.0.1", ports["broker"])), socket.create_server(("127.0.0.1", ports["kafka"])):
        services = local.up()
    changed = {name for name, port in read_state(local.home).ports.items() if port != ports[name]}
    assert changed == {"broker", "kafka"}
    assert count(local) == 3
    consumer = kafka_python().KafkaConsumer("kept", bootstrap_servers=services.kafka, auto_offset_reset="earliest")
    try:
        assert next(consumer).value == b"a record"
    finally:
        consumer.close()


def test_down_stops_only_its_own(local: LocalCluster, other: LocalCluster) -> None:
    archive = kafka_archive(local)
    until(lambda: is_usable(archive), "the class-data archive that the first start of this cache writes")
    services = other.up(druid=False)
    assert f" {archive}\n" in Path(f"/proc/{pids(other)['kafka']}/maps").read_text()
    assert (services.broker, services.kafka != "") == ("", True)
    assert defaults.read(other.home) == {}
    until(lambda: states(other) == {**dict.fromkeys(DRUID, "stopped"), "kafka": "up"}, "Kafka alone is up")
    assert other.down() == ["kafka"]
    await_all_up(local)
    assert local.down(clean=True) == [*DRUID, "kafka"]
    assert not folder(local.home).exists()
    assert defaults.read(local.home) == {}


def kafka_archive(local: LocalCluster) -> Path:
    """The class-data archive for the class path of Kafka."""
    lines = arguments_file(local.home, "kafka").read_text(encoding="utf-8").splitlines()
    archive = archive_path(java_command(), lines[lines.index('"-cp"') + 1].strip('"'))
    assert archive is not None
    return archive


def test_killed_launcher(other: LocalCluster) -> None:
    """kill -9 during `up`: the next one uses the processes that it started."""
    command = [
        sys.executable,
        "-m",
        "hivedruid",
        "local",
        "up",
        "--kafka",
        "--heap",
        "small",
        "--home",
        str(other.home),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as launcher:
        until(lambda: bool(read_state(other.home).processes), "a started process")
        launcher.kill()
        launcher.communicate()
    (kafka,) = read_state(other.home).processes.values()
    assert runs(other.home, "kafka", kafka)
    other.up(druid=False)
    assert pids(other)["kafka"] == kafka.pid
    until(lambda: states(other)["kafka"] == "up", "Kafka is up")


def test_interrupted_launcher_leaves_nothing(other: LocalCluster) -> None:
    command = [
        sys.executable,
        "-m",
        "hivedruid",
        "local",
        "up",
        "--kafka",
        "--heap",
        "small",
        "--home",
        str(other.home),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as launcher:
        until(lambda: bool(read_state(other.home).processes), "a started process")
        (kafka,) = read_state(other.home).processes.values()
        launcher.send_signal(signal.SIGINT)
        _, told = launcher.communicate(timeout=START_SECONDS)
    assert (launcher.returncode, told) == (130, "interrupted\n")
    assert not runs(other.home, "kafka", kafka)
    assert running(other.home) is None


def test_child_that_dies_while_it_starts(other: LocalCluster) -> None:
    data(other.home, "kafka").mkdir(parents=True)
    (data(other.home, "kafka") / "meta.properties").write_text("version=7\n")
    with pytest.raises(ExecutionError, match=r"kafka exited during startup: .*(version|meta)") as caught:
        other.up(druid=False)
    assert caught.value.hint == "see `hivedruid local logs kafka`"
    assert states(other)["kafka"] == "stopped"


def test_stranger_with_the_number_of_a_process_is_left_alone(other: LocalCluster) -> None:
    """A stale state with the id of an unrelated program."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        folder(other.home).mkdir(parents=True)
        process = {"pid": stranger.pid, "ticks": 1, "since": 1.0}
        state = {"heap": "small", "ports": {"kafka": 20001}, "processes": {"kafka": process}}
        (folder(other.home) / "state.json").write_text(json.dumps(state))
        assert states(other)["kafka"] == "dead"
        assert other.down() == []
        assert stranger.poll() is None


def test_one_launcher_at_a_time(other: LocalCluster) -> None:
    command = [
        sys.executable,
        "-m",
        "hivedruid",
        "local",
        "up",
        "--kafka",
        "--heap",
        "small",
        "--home",
        str(other.home),
    ]
    launchers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [launcher.communicate(timeout=2 * START_SECONDS) for launcher in launchers]
    ours, theirs = (output for output, _ in answers)
    assert ours == theirs
    assert ours.startswith("kafka        127.0.0.1:")
    waiting = r"(note: waiting for the lock \S+/locks/cluster, held by process \d+ \(\w+\) of user \S+\n)?"
    assert re.fullmatch(waiting, "".join(errors for _, errors in answers)), answers
    marker = os.fsencode(f"@{arguments_file(other.home, 'kafka')}")
    found = [path for path in Path("/proc").glob("[0-9]*/cmdline") if marker in _read(path).split(b"\0")]
    assert len(found) == 1


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended meanwhile
        return b""
