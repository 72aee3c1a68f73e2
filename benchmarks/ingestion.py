"""Ingestion from Kafka on a real Druid: `--home` names the local cluster to use, else one is started and stopped again.

start    START INGESTION to the first row that a query sees, beside the same spec posted by curl: at most 1.1 x.
calls    Requests to Druid of START, SHOW INGESTIONS and SHOW PROBLEMS while 1, 100 and 1,000 supervisors rest, and the
         seconds of each beside one GET of all supervisors.
million  A million records counted exactly, and the records per second beside a consumer of kafka-python.

Names of parts choose them; `--quick` makes all of them small.
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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient

from hivedruid import defaults
from hivedruid.actions.gather_ingestion import home_name
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.overlord import SUPERVISOR, Overlord, supervisor_path
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.ingestion.lifecycle import owned
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.state import LocalServices
from hivedruid.session import Session

START_TARGET = 1.1
PATIENCE = 300.0
"""Seconds until what does not come is an error."""
POLL = 0.02
"""Seconds between two looks for the first row."""
THREADS = 8
DAY = "2015-09-12"


class Bench:
    """A home over a cluster. Everything that is made in Druid and Kafka has a name of ours, and goes at the end."""

    def __init__(self, folder: Path, services: LocalServices) -> None:
        self.services = services
        self.home = folder / "home"
        addresses = {name: getattr(services, name) for name in ("coordinator", "overlord")}
        defaults.write(
            self.home,
            {
                "druid.url": services.broker,
                "hivedruid.kafka.check": "off",
                **{f"druid.{name}.url": url for name, url in addresses.items()},
            },
        )
        self.session = Session(self.home, note=lambda text: print(f"  {text}"))
        self.overlord = Overlord(self.session.druid().client)
        self.admin = KafkaAdminClient(bootstrap_servers=services.kafka)
        self.producer = KafkaProducer(bootstrap_servers=services.kafka, linger_ms=20)
        self.sources: set[str] = set()
        self.topics: list[str] = []

    def run(self, text: str) -> list[tuple[Any, ...]]:
        (statement,) = self.session.statements(text)
        return list(self.session.execute(statement).rows)

    def topic(self, records: int = 1, partitions: int = 1) -> str:
        name = f"bench_{uuid4().hex[:12]}"
        self.admin.create_topics({name: {"num_partitions": partitions}}, wait_for_metadata=True)
        self.topics.append(name)
        for number in range(records):
            self.producer.send(name, record(number), partition=number % partitions)
        self.producer.flush()
        return name

    def table(self, topic: str, **ingestion: str) -> str:
        """A table without rollup over a topic, from its begin on; `ingestion` are properties as Druid's spec names them."""
        name = f"bench_{uuid4().hex[:12]}"
        self.sources.add(name)
        given = {
            "druid.datasource": name, "kafka.topic": topic, "kafka.bootstrap.servers": self.services.kafka,
            "druid.timestamp.column": "time", "druid.rollup": "false", "druid.kafka.ingestion.useEarliestOffset": "true",
            **{f"druid.kafka.ingestion.{key}": value for key, value in ingestion.items()},
        }  # fmt: skip
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        columns = "(`__time` timestamp, page string, id bigint)"
        self.run(f"CREATE EXTERNAL TABLE {name} {columns} STORED BY 'druid' TBLPROPERTIES ({pairs})")
        return name

    def spec(self, name: str, *, suspended: bool = False) -> dict[str, Any]:
        """What START sends."""
        table = self.session.catalog.get("default", name)
        spec = supervisor_spec(table, self.session.settings)
        return owned(spec, table, home_name(self.home), suspended=suspended)

    def end(self, names: Iterable[str]) -> None:
        """No supervisor and no task is left of these; what the tasks have read and not published is gone."""
        chosen = set(names)
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self._terminate, chosen))
        until(lambda: not [task for task in self._tasks(chosen) if not self.overlord.kill(task)])

    def _terminate(self, name: str) -> None:
        client = DruidClient(self.session.druid().address)
        client.post("overlord", supervisor_path(name, "terminate"), missing={})
        client.close()

    def _tasks(self, names: set[str]) -> list[str]:
        return [task.id for task in self.overlord.tasks(most=0) if task.data_source in names and not task.is_complete]

    def close(self) -> None:
        druid = self.session.druid()
        try:
            self.end(self.sources)
            for name in self.sources & set(druid.data_sources()):
                druid.drop(name, purge=True)
        finally:
            self.producer.close()
            self.admin.delete_topics(self.topics, raise_errors=False)
            self.admin.close()
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
    """How many rows the broker counts in a data source, asked over one connection."""

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


# --- START beside curl -------------------------------------------------------------------------------------------


def by_start(bench: Bench, name: str) -> list[str]:
    return [sys.executable, "-m", "hivedruid", "sql", "--home", str(bench.home), "-q", "-e", f"START INGESTION {name}"]


def by_curl(bench: Bench, name: str) -> list[str]:
    file = bench.home / f"{name}.json"
    file.write_text(json.dumps(bench.spec(name)), encoding="utf-8")
    url = f"{bench.services.overlord}{SUPERVISOR}"
    return ["curl", "--fail", "-sS", "-H", "Content-Type: application/json", "-d", f"@{file}", url]


def first_row(bench: Bench, command_of: Callable[[Bench, str], list[str]]) -> float:
    """Seconds from the start of the process to the first row, by a fresh table over a topic of its own."""
    name = bench.table(bench.topic(records=1000))
    rows = Rows(bench.services.broker, name)
    command = command_of(bench, name)
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        until(rows, POLL)
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
    print(f"START/curl: median {median:.2f} x, min {min(ratios):.2f} x, max {max(ratios):.2f} x, target {START_TARGET} x: {met}")  # fmt: skip


# --- requests ----------------------------------------------------------------------------------------------------


@contextmanager
def requests() -> Iterator[list[str]]:
    """The requests to Druid while this is open."""
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


def measured(work: Callable[[], object]) -> tuple[float, list[str]]:
    with requests() as sent:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin, sent


def calls(bench: Bench, *, quick: bool) -> None:
    """Every supervisor is of a table of ours, ten of them share a topic. START is of one table more."""
    made: list[str] = []
    topics: list[str] = []
    title = f"{'supervisors':>11} {'statement':16} {'requests':>9} {'of them polls':>14} {'s':>8} {'one GET, s':>11} {'ratio':>8}"
    print(title)
    for count in (1, 30) if quick else (1, 100, 1000):
        while len(made) < count:
            if len(made) % 10 == 0:
                topics.append(bench.topic())
            made.append(bench.table(topics[-1]))
        post_all(bench, [name for name in made if name not in {one.id for one in bench.overlord.supervisors()}])
        until(lambda: resting(bench, made), pause=1)
        seconds: dict[str, list[float]] = {}
        sent: dict[str, list[str]] = {}
        for _ in range(5):
            for text in ("SHOW INGESTIONS", "SHOW PROBLEMS"):
                seconds.setdefault(text, []).append(0.0)
                seconds[text][-1], sent[text] = measured(lambda text=text: bench.run(text))  # type: ignore[misc]
            seconds.setdefault("GET", []).append(measured(bench.overlord.supervisors)[0])
        new = bench.table(topics[0])
        (took, sent["START"]) = measured(lambda new=new: bench.run(f"START INGESTION {new}"))  # type: ignore[misc]
        seconds["START"] = [took]
        bench.end([new])
        peer = statistics.median(seconds["GET"])
        for text, requested in sent.items():
            median = statistics.median(seconds[text])
            polls = sum(n - 1 for n in Counter(requested).values() if n > 1)
            print(f"{count:11,} {text:16} {len(requested):9} {polls:14} {median:8.3f} {peer:11.3f} {median / peer:7.1f} x")
    bench.end(made)


def post_all(bench: Bench, names: list[str]) -> None:
    def post(name: str) -> None:
        client = DruidClient(bench.session.druid().address)
        client.post("overlord", SUPERVISOR, specs[name])
        client.close()

    specs = {name: bench.spec(name, suspended=True) for name in names}
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(post, names))


def resting(bench: Bench, names: list[str]) -> bool:
    found = {one.id: one.state for one in bench.overlord.supervisors()}
    return all(found.get(name) == "SUSPENDED" for name in names)


# --- a million records -------------------------------------------------------------------------------------------


def produce(bootstrap: str, topic: str, partition: int, numbers: range) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=50, batch_size=1 << 18, acks="all")
    for number in numbers:
        producer.send(topic, record(number), partition=partition)
    producer.flush()
    producer.close()


def consumed(bootstrap: str, topic: str, count: int) -> float:
    """Seconds in which a consumer of kafka-python gets all records, parses them and sums their ids."""
    consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
    begin = time.perf_counter()
    got = total = 0
    for message in consumer:
        total += json.loads(message.value)["id"]
        got += 1
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
    exact = "exact" if (found, total) == (count, sum(range(count))) else "WRONG"
    print(f"count(*) {found:,}, sum(id) {total:,}: {exact}")
    print(f"{'kafka-python consumer':32} {consumer:7.1f} s  {count / consumer:9,.0f} records/s")
    print(f"{'Druid, first to last row':32} {last - first:7.1f} s  {count / (last - first):9,.0f} records/s")
    print(f"{'START to the last row':32} {last - begin:7.1f} s  {count / (last - begin):9,.0f} records/s")
    print(f"{'WAIT INGESTION returned after':32} {waited - last:7.1f} s more")
    print(f"records per second, Druid/kafka-python: {consumer / (last - first):.2f} x")
    bench.end([name])


# --- the whole ---------------------------------------------------------------------------------------------------

PARTS = {"start": start, "calls": calls, "million": million}


@contextmanager
def cluster(home: Path | None, folder: Path) -> Iterator[LocalServices]:
    """The cluster of a home, which keeps running, else one that is gone afterwards."""
    if home is not None:
        yield LocalCluster(home).up()
        return
    local = LocalCluster(folder, heap="small")
    try:
        yield local.up()
    finally:
        local.down(clean=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--home", type=Path, help="whose local cluster; it keeps running")
    parser.add_argument("--quick", action="store_true", help="3 pairs, 30 supervisors, 50,000 records")
    given = parser.parse_args()
    if unknown := set(given.parts) - PARTS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder, cluster(given.home, Path(folder) / "cluster") as services:
        for name in given.parts or PARTS:
            bench = Bench(Path(folder) / name, services)
            try:
                PARTS[name](bench, quick=given.quick)
            finally:
                bench.close()


if __name__ == "__main__":
    main()
