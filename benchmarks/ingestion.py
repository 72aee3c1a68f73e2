"""Ingestion from Kafka on a Druid cluster: that of `--home`, or one that is started and stopped.

start    From START INGESTION to the first row that a query returns, compared with the same spec posted by curl: at most
1.1 x.
calls    The requests to Druid of START, SHOW INGESTIONS and SHOW PROBLEMS with 1, 100 and 1,000 suspended supervisors,
and with
         100 running ones, and the seconds compared with one GET of all supervisors. Always on its own cluster: it needs
         a large
         overlord.
million  A million records counted exactly, and the records per second compared with a consumer of kafka-python.

Arguments select parts by name; `--quick` makes all of them small.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient

from hivedruid import defaults
from hivedruid.catalog.opening import catalog_name
from hivedruid.clients.address import address
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.overlord import Overlord
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.ingestion.owners import owned
from hivedruid.ingestion.supervisor import SUPERVISOR, supervisor_path
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.services import HEAPS
from hivedruid.local.state import LocalServices
from hivedruid.session import Session

START_TARGET = 1.1
PATIENCE = 300.0
"""Timeout in seconds."""
POLL = 0.02
"""Seconds between two queries for the first row."""
THREADS = 8
OVERLORD = 1500
"""Heap of the overlord in MB for a thousand supervisors: each of them has two Kafka consumers."""
DAY = "2015-09-12"


class Bench:
    """A home with a cluster. Everything that it creates in Druid and Kafka has a unique name and is deleted at the
    end.
    """

    def __init__(self, folder: Path, services: LocalServices) -> None:
        self.services = services
        self.home = folder / "home"
        settings = {
            "druid.url": services.broker, "druid.coordinator.url": services.coordinator,
            "druid.overlord.url": services.overlord, "hivedruid.kafka.check": "off",
        }  # fmt: skip
        defaults.write(self.home, settings)
        self.session = Session(self.home, note=lambda text: print(f"  {text}"))
        self.address = address(self.session.settings, services)
        self.druid = DruidCluster(self.address, progress=lambda _: None, note=print)
        self.overlord = Overlord(self.druid.client)
        self.admin = KafkaAdminClient(bootstrap_servers=services.kafka)
        self.producer = KafkaProducer(bootstrap_servers=services.kafka, linger_ms=20)
        self.sources: set[str] = set()
        self.topics: list[str] = []

    def run(self, text: str, session: Session | None = None) -> list[tuple[Any, ...]]:
        session = session or self.session
        (statement,) = session.statements(text)
        return list(session.execute(statement).rows)

    def topic(self, records: int = 1, partitions: int = 1) -> str:
        name = f"bench_{uuid4().hex[:12]}"
        self.admin.create_topics({name: {"num_partitions": partitions}}, wait_for_metadata=True)
        self.topics.append(name)
        for number in range(records):
            self.producer.send(name, record(number), partition=number % partitions)
        self.producer.flush()
        return name

    def table(self, topic: str) -> str:
        """A table without rollup that ingests a topic from its beginning."""
        name = f"bench_{uuid4().hex[:12]}"
        self.sources.add(name)
        given = {
            "druid.datasource": name, "kafka.topic": topic, "kafka.bootstrap.servers": self.services.kafka,
            "druid.timestamp.column": "time", "druid.rollup": "false",
            "druid.kafka.ingestion.useEarliestOffset": "true",
        }  # fmt: skip
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        columns = "(`__time` timestamp, page string, id bigint)"
        self.run(f"CREATE EXTERNAL TABLE {name} {columns} STORED BY 'druid' TBLPROPERTIES ({pairs})")
        return name

    def spec(self, name: str, *, suspended: bool = False) -> dict[str, Any]:
        """The spec that START submits."""
        table = self.session.catalog.get("default", name)
        spec = supervisor_spec(table, self.session.settings)
        return owned(spec, table, catalog_name(self.home, self.session.catalog), suspended=suspended)

    def end(self, names: Iterable[str]) -> None:
        """Wait until these have no supervisor and no task; records that tasks have read and not published are
        dropped."""
        chosen = set(names)
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self._terminate, chosen))
        until(lambda: not self._kill(chosen))
        self.sources -= chosen

    def _terminate(self, name: str) -> None:
        client = DruidClient(self.address)
        client.post("overlord", supervisor_path(name, "terminate"), Any)
        client.close()

    def _kill(self, names: set[str]) -> int:
        """Stop the tasks of these; returns their number."""
        tasks = [task for task in self.overlord.tasks(most=0) if task.data_source in names and not task.is_complete]
        for task in tasks:
            self.overlord.kill(task.id)
        return len(tasks)

    def close(self) -> None:
        try:
            self.end(self.sources)
        finally:
            self.producer.close()
            self.admin.delete_topics(self.topics, raise_errors=False)
            self.admin.close()
            self.druid.close()
            self.session.close()


def record(number: int) -> bytes:
    return b'{"time":"%sT00:%02d:00Z","page":"P%d","id":%d}' % (DAY.encode(), number % 60, number % 97, number)


def until(look: Callable[[], object], pause: float = 0.2) -> None:
    end = time.monotonic() + PATIENCE
    while not look():
        if time.monotonic() > end:
            raise TimeoutError(f"not seen in {PATIENCE:g} s")
        time.sleep(pause)


class Rows:
    """The number of rows of a data source according to the broker, over one connection."""

    def __init__(self, broker: str, source: str) -> None:
        parts = urlsplit(broker)
        self._connection = http.client.HTTPConnection(str(parts.hostname), parts.port)
        self._query = json.dumps({
            "queryType": "timeseries", "dataSource": source, "intervals": [f"{DAY}/P1D"], "granularity": "all",
            "aggregations": [{"type": "count", "name": "n"}], "context": {"useCache": False},
        })  # fmt: skip

    def __call__(self) -> int:
        self._connection.request("POST", "/druid/v2", self._query, {"Content-Type": "application/json"})
        found = json.loads(self._connection.getresponse().read())
        return int(found[0]["result"]["n"]) if found else 0


# --- START compared with curl ------------------------------------------------------------------------------------


def by_start(bench: Bench, name: str) -> list[str]:
    return [sys.executable, "-m", "hivedruid", "sql", "--home", str(bench.home), "-q", "-e", f"START INGESTION {name}"]


def by_curl(bench: Bench, name: str) -> list[str]:
    file = bench.home / f"{name}.json"
    file.write_text(json.dumps(bench.spec(name)), encoding="utf-8")
    url = f"{bench.services.overlord}{SUPERVISOR}"
    return ["curl", "--fail", "-sS", "-H", "Content-Type: application/json", "-d", f"@{file}", url]


def first_row(bench: Bench, command_of: Callable[[Bench, str], list[str]]) -> float:
    """Seconds from the start of the process to the first row, for a new table over its own topic."""
    name = bench.table(bench.topic(records=1000))
    rows = Rows(bench.services.broker, name)
    command = command_of(bench, name)
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        until(lambda: rows() or process.poll(), POLL)
        seconds = time.perf_counter() - begin
    finally:
        if process.wait() != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
    bench.end([name])
    return seconds


def start(bench: Bench, *, quick: bool) -> None:
    ways = {"START INGESTION": by_start, "curl": by_curl}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for pair in range(3 if quick else 10):
        for name, command in list(ways.items())[:: -1 if pair % 2 else 1]:
            seconds[name].append(first_row(bench, command))
    print(f"{'to the first row, s':24} {'median':>8} {'min':>8} {'max':>8}   {len(seconds['curl'])} pairs")
    for name, values in seconds.items():
        print(f"{name:24} {statistics.median(values):8.2f} {min(values):8.2f} {max(values):8.2f}")
    ratios = [ours / theirs for ours, theirs in zip(seconds["START INGESTION"], seconds["curl"], strict=True)]
    median = statistics.median(ratios)
    met = "met" if median <= START_TARGET else "MISSED"
    print(f"START/curl: median {median:.2f} x, min {min(ratios):.2f} x, max {max(ratios):.2f} x, target {START_TARGET} "
          f"x: {met}")  # fmt: skip


# --- requests ----------------------------------------------------------------------------------------------------


@contextmanager
def requests() -> Iterator[list[str]]:
    """The requests to Druid inside the block."""
    sent: list[str] = []
    send = DruidClient._send

    def counted(client: DruidClient, method: str, service: Any, path: str, *rest: Any, **options: Any) -> Any:
        sent.append(f"{method} {path}")
        return send(client, method, service, path, *rest, **options)

    DruidClient._send = counted  # type: ignore[method-assign, assignment]
    try:
        yield sent
    finally:
        DruidClient._send = send  # type: ignore[method-assign]


def measured(work: Callable[..., object], *given: object) -> tuple[float, list[str]]:
    """The seconds and the requests of `work(*given)`."""
    with requests() as sent:
        begin = time.perf_counter()
        work(*given)
        return time.perf_counter() - begin, sent


def calls(bench: Bench, *, quick: bool) -> None:
    print(f"{'supervisors':>17} {'':16} {'requests':>8} {'looks':>6} {'seconds':>8} {'beside one GET':>15}")
    made = 0
    for count in (1, 30) if quick else (1, 100, 1000):
        supervise(bench, count - made, suspended=True)
        made = count
        until(lambda made=made: in_state(bench, "SUSPENDED") == made, pause=1)  # type: ignore[misc]
        watch(bench, f"{count:,} at rest")
        new = bench.table(bench.topic())
        with Session(bench.home) as fresh:
            seconds, sent = measured(bench.run, f"START INGESTION {new}", fresh)
        looks = sent.count(f"GET {supervisor_path(new, 'status')}")  # two requests each
        print(f"{f'{count:,} at rest':>17} {'START':16} {len(sent) - 2 * looks:8} {looks:6} {seconds:8.3f}")
        bench.end([new])
    bench.end(bench.sources)
    awake = 30 if quick else 100  # four of them get a task slot
    supervise(bench, awake, suspended=False)
    until(lambda: in_state(bench, "RUNNING") == awake, pause=1)
    watch(bench, f"{awake:,} running")


def watch(bench: Bench, label: str) -> None:
    texts = ("SHOW INGESTIONS", "SHOW PROBLEMS")
    rounds = [
        {"GET": measured(bench.overlord.supervisors), **{text: measured(bench.run, text) for text in texts}}
        for _ in range(5)
    ]
    median = {name: statistics.median(done[name][0] for done in rounds) for name in rounds[0]}
    for name, seconds in median.items():
        sent = rounds[-1][name][1]
        print(f"{label:>17} {name:16} {len(sent):8} {'':6} {seconds:8.3f} {seconds / median['GET']:13.1f} x")


def supervise(bench: Bench, count: int, *, suspended: bool) -> None:
    """Create more supervisors, each of a table, ten of them for each topic."""
    topics = [bench.topic() for _ in range(0, count, 10)]
    specs = [bench.spec(bench.table(topics[number // 10]), suspended=suspended) for number in range(count)]

    def post(spec: dict[str, Any]) -> None:
        client = DruidClient(bench.address)
        client.post("overlord", SUPERVISOR, Any, spec)
        client.close()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(post, specs))


def in_state(bench: Bench, state: str) -> int:
    return sum(one.id in bench.sources and one.state == state for one in bench.overlord.supervisors())


# --- a million records -------------------------------------------------------------------------------------------


def produce(bootstrap: str, topic: str, partition: int, numbers: range) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=50, batch_size=1 << 18, acks="all")
    for number in numbers:
        producer.send(topic, record(number), partition=partition)
    producer.flush()
    producer.close()


def consumed(bootstrap: str, topic: str, count: int) -> float:
    """Seconds in which a consumer of kafka-python reads all records, parses them and sums their ids."""
    consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
    begin = time.perf_counter()
    total = 0
    for got, message in enumerate(consumer, 1):
        total += json.loads(message.value)["id"]
        if got == count:
            break
    seconds = time.perf_counter() - begin
    consumer.close()
    assert total == sum(range(count)), "the consumer has other records than were written"
    return seconds


def million(bench: Bench, *, quick: bool) -> None:
    count = 50_000 if quick else 1_000_000
    partitions = 2
    topic = bench.topic(records=0, partitions=partitions)
    context = multiprocessing.get_context("spawn")
    begin = time.perf_counter()
    writers = [
        context.Process(target=produce, args=(bench.services.kafka, topic, p, range(p, count, partitions)))
        for p in range(partitions)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    print(f"{count:,} records written in {time.perf_counter() - begin:.1f} s")
    consumer = consumed(bench.services.kafka, topic, count)
    name = bench.table(topic)
    rows = Rows(bench.services.broker, name)
    begin = time.perf_counter()
    bench.run(f"START INGESTION {name}")
    until(rows, POLL)
    first = time.perf_counter()
    until(lambda: rows() >= count, POLL)
    last = time.perf_counter()
    bench.run(f"WAIT INGESTION {name}")
    waited = time.perf_counter()
    ((found, total),) = bench.run(f"SELECT count(*), sum(id) FROM {name}")
    assert (found, total) == (count, sum(range(count))), f"Druid counts {found:,} rows, and {total:,} as the sum of ids"
    print(f"count(*) {found:,}, sum(id) {total:,}: exact")
    print(f"{'kafka-python consumer':32} {consumer:7.1f} s  {count / consumer:9,.0f} records/s")
    print(f"{'Druid, first to last row':32} {last - first:7.1f} s  {count / (last - first):9,.0f} records/s")
    print(f"{'START to the last row':32} {last - begin:7.1f} s  {count / (last - begin):9,.0f} records/s")
    print(f"{'WAIT INGESTION returned after':32} {waited - last:7.1f} s more")
    print(f"records per second, Druid/kafka-python: {consumer / (last - first):.2f} x")
    bench.end([name])


# --- main ----------------------------------------------------------------------------------------------------------

PARTS = {"start": start, "calls": calls, "million": million}


@contextmanager
def cluster(home: Path | None, folder: Path) -> Iterator[LocalServices]:
    """The cluster of a home, which keeps running, or else one below `folder` that is removed afterwards."""
    if home is not None:
        yield LocalCluster(home).up()
        return
    local = LocalCluster(folder, heap=large_overlord())
    try:
        yield local.up()
    finally:
        local.down(clean=True)


def large_overlord() -> str:
    """The smallest heap configuration, except for the overlord's heap, which is also the coordinator's."""
    small = HEAPS["small"]
    sizes, resident = ({**of, "coordinator": OVERLORD} for of in (small.sizes, small.resident))
    HEAPS["bench"] = replace(small, name="bench", sizes=sizes, resident=resident)  # type: ignore[index]
    return "bench"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--home", type=Path, help="whose local cluster; it keeps running")
    parser.add_argument("--quick", action="store_true", help="3 pairs, 30 supervisors, 50,000 records")
    given = parser.parse_args()
    if unknown := set(given.parts) - PARTS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    for name in given.parts or PARTS:
        home = None if name == "calls" else given.home
        with tempfile.TemporaryDirectory() as folder, cluster(home, Path(folder) / "cluster") as services:
            bench = Bench(Path(folder) / "bench", services)
            try:
                PARTS[name](bench, quick=given.quick)
            finally:
                bench.close()


if __name__ == "__main__":
    main()
