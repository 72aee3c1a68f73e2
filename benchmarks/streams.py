"""Streams from Kafka into managed tables, compared with Spark alone.

throughput  records per second into the table: compared with the bare connector, which reads the same records into
            nothing (at least 0.6 x), and with Structured Streaming into such a table (at least 1.0 x); and a limit that
            no stream can exceed: rows of the same columns without decoding, which are computed from the offsets
latency     seconds from producing a record until it is in the table, with a trigger of 1 s: median and 99th percentile,
            beside those of Structured Streaming
python      records per second, and per second of processor time, of a program without Spark that writes ORC files:
            kafka-python, pyarrow's JSON reader and ORC writer; it does not commit, and reads JSON less exactly
restart     seconds until the first commit of a manager whose predecessor was killed with kill -9, compared with one
            whose predecessor ended by SIGTERM (at most 1.2 x)
many        20 streams with triggers of 1 s: batches of each, seconds of a batch, memory of the manager and of Spark
aged        query time of a table that was fed with a trigger of 1 s and automatic compaction, compared with the same
            rows freshly compacted (at most 1.5 x)

    python -m benchmarks.streams [PART ...] [--records 2000000] [--seconds 60] [--minutes 30]

Records of some 200 bytes of JSON, in one topic of two partitions. A Kafka is started in a temporary folder, and
removed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from benchmarks.kafka_tables import FIELDS, create, fill, read_bare, run, seconds
from hivedruid.catalog.streams import StreamRecord, Streams
from hivedruid.iceberg import home_catalog
from hivedruid.local.cluster import LocalCluster
from hivedruid.session import Session
from hivedruid.spark import server
from hivedruid.spark.session import job
from tests.support.kafka import Topics, kafka_python, topics_of

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

ROUNDS = 3
BATCH = 500_000
OF_BARE, OF_STREAMING, RESTART, AGED = 0.6, 1.0, 1.2, 1.5
STREAMS = 20
NAMES = ", ".join(f"`{name}`" for name in FIELDS)
SCHEMA = ", ".join(f"`{name}` {kind}" for name, (_, kind) in FIELDS.items())
LIMIT = 900.0
"""Seconds to wait for a state."""


@dataclass
class Bench:
    """A home, the Spark session of its server, and a Kafka."""

    session: Session
    spark: SparkSession
    topics: Topics
    missed: int = 0

    def run(self, text: str) -> list[tuple[Any, ...]]:
        (statement,) = self.session.statements(text)
        return [tuple(row) for row in self.session.execute(statement).rows]

    def stream(self, topic: str, name: str, trigger: str = "PT1S") -> None:
        properties = f"WITH PROPERTIES ('trigger' = '{trigger}')"
        self.run(f"CREATE STREAM {name} FROM {topic} INTO t_{name} {properties} AS SELECT {NAMES} FROM {topic}")

    def table_id(self, name: str) -> str:
        return self.session.catalog.get("default", f"t_{name}").table_id

    def goal(self, text: str, value: float, limit: float, *, at_least: bool) -> None:
        is_met = value >= limit if at_least else value <= limit
        self.missed += not is_met
        goal = f"goal: {'at least' if at_least else 'at most'} {limit}"
        print(f"  {text:<52} {value:5.2f} x  {goal}{'' if is_met else ', missed'}", flush=True)


def until(is_so: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + LIMIT
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


# --- throughput --------------------------------------------------------------------------------------------------


def throughput(bench: Bench, records: int) -> None:
    """Each round reads the whole topic in each way; the least time counts."""
    topic = bench.topics.new(partitions=2)
    fill(bench.spark, bench.topics.bootstrap, topic, records, 2, "json")
    create(bench.session, bench.topics.bootstrap, topic, "json")
    ways: Mapping[str, Callable[[], None]] = {
        "the bare connector into nothing": lambda: read_bare(bench.spark, bench.topics.bootstrap, topic),
        "a stream": lambda: run_stream(bench, topic),
        "Structured Streaming": lambda: structured(bench, topic, {"availableNow": True}).awaitTermination(),
        "rows without decoding, in one batch": lambda: write_undecoded(bench, topic),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, work in ways.items():
            taken[name].append(seconds(work))
    best = {name: min(each) for name, each in taken.items()}
    print(f"throughput, {records:,} records in batches of {BATCH:,}")
    for name, each in best.items():
        print(f"  {name:<36} {each:7.2f} s  {records / each:>11,.0f} records/s")
    bare, own, other, undecoded = best.values()
    print(f"  {'the limit, without decoding, to the bare connector':<52} {bare / undecoded:5.2f} x")
    bench.goal("records/s of the stream to the bare connector", bare / own, OF_BARE, at_least=True)
    bench.goal("records/s of the stream to Structured Streaming", other / own, OF_STREAMING, at_least=True)


def run_stream(bench: Bench, topic: str) -> None:
    """A new stream reads the topic, a batch after the other, as its manager would."""
    name = f"s{uuid4().hex[:8]}"
    bench.stream(topic, name)
    streams = Streams(bench.session.catalog)
    before = -1
    while (read := find(streams, name).status.records) > before:
        before = read
        bench.run(f"RUN STREAM {name} LIMIT {BATCH}")


def find(streams: Streams, name: str) -> StreamRecord:
    record = streams.find("default", name)
    assert record is not None
    return record


def structured(bench: Bench, topic: str, trigger: Mapping[str, Any], start: str = "earliest") -> Any:
    """A query of Structured Streaming from the topic into a new table of the home's Iceberg catalog."""
    name, table = new_table(bench, SCHEMA)
    options = {
        "kafka.bootstrap.servers": bench.topics.bootstrap, "subscribe": topic, "startingOffsets": start,
        "maxOffsetsPerTrigger": str(BATCH),
    }  # fmt: skip
    read = bench.spark.readStream.format("kafka").options(**options).load()
    rows = read.selectExpr(f"from_json(CAST(value AS string), '{SCHEMA.replace('`', '')}') AS j").selectExpr("j.*")
    checkpoint = bench.session.home / "checkpoints" / name
    return (
        rows.writeStream.format("iceberg").trigger(**trigger).option("checkpointLocation", str(checkpoint))
        .queryName(name).toTable(table)
    )  # fmt: skip


def write_undecoded(bench: Bench, topic: str) -> None:
    """Append a row for each record to a table of the same columns: numbers are the offset, and a long string is the
    whole record."""
    _, table = new_table(bench, SCHEMA)
    cells = {"bigint": "offset", "double": "CAST(offset AS double)", "string": "CAST(offset % 1000 AS string)"}
    columns = [f"{cells[kind]} AS `{name}`" for name, (_, kind) in FIELDS.items() if name != "comment"]
    options = {"kafka.bootstrap.servers": bench.topics.bootstrap, "subscribe": topic, "startingOffsets": "earliest"}
    records = bench.spark.read.format("kafka").options(**options).load()
    records.selectExpr(*columns, "CAST(value AS string) AS comment").writeTo(table).append()


def new_table(bench: Bench, schema: str) -> tuple[str, str]:
    """A new table in the home's Iceberg catalog: its name there, and in Spark."""
    name = f"streamed_{uuid4().hex[:8]}"
    table = f"{home_catalog.CATALOG}.{home_catalog.NAMESPACE}.{name}"
    bench.spark.sql(
        f"CREATE TABLE {table} ({schema}) USING iceberg"
        " TBLPROPERTIES ('write.format.default' = 'orc', 'format-version' = '2')"
    )
    return name, table


# --- python ------------------------------------------------------------------------------------------------------


def python(bench: Bench, records: int) -> None:
    """A stream with Spark, and an upper limit of what one without it could reach."""
    topic = bench.topics.new(partitions=2)
    fill(bench.spark, bench.topics.bootstrap, topic, records, 2, "json")
    create(bench.session, bench.topics.bootstrap, topic, "json")
    print(f"without Spark, {records:,} records")
    rates = []
    for name, work in (
        ("a stream", lambda: run_stream(bench, topic)),
        ("kafka-python and pyarrow", lambda: write_orc(bench, topic, records)),
    ):
        best, processor = LIMIT, LIMIT
        for _ in range(ROUNDS):
            before, taken = processor_time(bench), seconds(work)
            best, processor = min(best, taken), min(processor, processor_time(bench) - before)
        rates.append(records / processor)
        print(f"  {name:<26} {records / best:>9,.0f} records/s, {rates[-1]:>9,.0f} per second of processor time")
    print(f"  records per second of processor time, without Spark to with it: {rates[1] / rates[0]:.2f} x", flush=True)


def processor_time(bench: Bench) -> float:
    """Seconds of this process and of Spark's server."""
    known = server.find(server.shared_home(bench.session.home))
    assert known is not None
    fields = Path(f"/proc/{known.jvm}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])  # utime and stime
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def write_orc(bench: Bench, topic: str, records: int) -> None:
    """Read all records in one process, and write a file for each batch."""
    import pyarrow as pa
    from pyarrow import json, orc

    kafka = kafka_python()
    kinds = {"bigint": pa.int64(), "string": pa.string(), "double": pa.float64()}
    schema = pa.schema([(name, kinds[kind]) for name, (_, kind) in FIELDS.items()])
    parsing = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    consumer = kafka.KafkaConsumer(bootstrap_servers=bench.topics.bootstrap, max_partition_fetch_bytes=16 << 20)
    places = [kafka.TopicPartition(topic, number) for number in range(2)]
    consumer.assign(places)
    consumer.seek_to_beginning(*places)
    values: list[bytes] = []
    written = 0
    while written < records:
        polled = consumer.poll(1000, max_records=20_000)
        values += [record.value for found in polled.values() for record in found]
        if len(values) >= min(BATCH, records - written):
            rows = json.read_json(pa.BufferReader(b"\n".join(values)), parse_options=parsing)
            written += rows.num_rows
            orc.write_table(rows, bench.session.home / f"{uuid4().hex}.orc", compression="zstd")
            values.clear()
    consumer.close()


# --- latency -----------------------------------------------------------------------------------------------------


def latency(bench: Bench, length: float) -> None:
    """Both read the same topic, one after the other, so that they do not share the processors."""
    print(f"latency with a trigger of 1 s, 50 records per second for {length:.0f} s")
    figures = {}
    for way in ("a stream", "Structured Streaming"):
        topic = bench.topics.new(partitions=2)
        create(bench.session, bench.topics.bootstrap, topic, "json")
        with (own_stream if way == "a stream" else structured_stream)(bench, topic) as table_id:
            produce(bench, topic, 100, 50.0)
            until(lambda table_id=table_id: rows_of(bench, table_id) >= 100, "the first records")  # type: ignore[misc]
            taken = sorted(watch(bench, topic, table_id, length))
        figures[way] = (median(taken), quantiles(taken, n=100)[98])
        print(f"  {way:<24} median {figures[way][0]:5.2f} s, 99th percentile {figures[way][1]:5.2f} s", flush=True)
    own, other = figures.values()
    print(f"  to Structured Streaming: median {own[0] / other[0]:.2f} x, 99th percentile {own[1] / other[1]:.2f} x")


@contextmanager
def own_stream(bench: Bench, topic: str) -> Iterator[str]:
    name = f"s{uuid4().hex[:8]}"
    bench.stream(topic, name, trigger="PT1S")
    bench.run(f"START STREAM {name}")
    try:
        yield bench.table_id(name)
    finally:
        bench.run(f"STOP STREAM {name}")


@contextmanager
def structured_stream(bench: Bench, topic: str) -> Iterator[str]:
    query = structured(bench, topic, {"processingTime": "1 second"})
    try:
        yield str(query.name)
    finally:
        query.stop()


def rows_of(bench: Bench, table_id: str) -> int:
    history = home_catalog.history(bench.session.home, table_id)
    current = history.snapshots.get(history.current or 0) if history is not None else None
    return int(current.summary.get("total-records", 0)) if current is not None else 0


def produce(bench: Bench, topic: str, many: int, rate: float) -> list[float]:
    """Send records at a rate; when each was sent."""
    sent, begun = [], time.monotonic()
    for number in range(many):
        time.sleep(max(0.0, begun + number / rate - time.monotonic()))
        record = {name: f"{name} {number}" if kind == "string" else number for name, (_, kind) in FIELDS.items()}
        bench.topics.send(topic, {**record, "comment": "c" * 100}, partition=number % 2)
        bench.topics.producer.flush()
        sent.append(time.monotonic())
    return sent


def watch(bench: Bench, topic: str, table_id: str, length: float) -> list[float]:
    """Seconds from sending until the table has as many rows as were sent."""
    before, many = rows_of(bench, table_id), int(50 * length)
    visible: list[float] = []
    done = Event()

    def look() -> None:
        while len(visible) < many and not done.is_set():
            now = rows_of(bench, table_id) - before
            visible.extend([time.monotonic()] * (now - len(visible)))
            time.sleep(0.02)

    watching = Thread(target=look)
    watching.start()
    sent = produce(bench, topic, many, 50.0)
    watching.join(LIMIT)
    done.set()
    assert len(visible) == many, "records are missing"
    return [seen - at for at, seen in zip(sent, visible, strict=True)]


# --- restart -----------------------------------------------------------------------------------------------------


def restart(bench: Bench) -> None:
    topic = bench.topics.new(partitions=2)
    create(bench.session, bench.topics.bootstrap, topic, "json")
    bench.stream(topic, "restarted", trigger="PT0.2S")
    manager = manage(bench)
    bench.run("START STREAM restarted")
    taken: dict[str, list[float]] = {"SIGTERM": [], "kill -9": []}
    for _ in range(ROUNDS):
        for how, sent in (("SIGTERM", signal.SIGTERM), ("kill -9", signal.SIGKILL)):
            manager.send_signal(sent)
            manager.wait()
            produce(bench, topic, 100, 1000.0)
            begun, before = time.monotonic(), rows_of(bench, bench.table_id("restarted"))
            manager = manage(bench)
            until(lambda before=before: rows_of(bench, bench.table_id("restarted")) > before, "a commit")  # type: ignore[misc]
            taken[how].append(time.monotonic() - begun)
    bench.run("STOP STREAM restarted")
    manager.terminate()
    manager.wait()
    print("restart of the manager, until its first commit")
    for how, each in taken.items():
        print(f"  after {how:<8} {min(each):5.2f} s (at most {max(each):.2f})")
    bench.goal("after kill -9 to after SIGTERM", min(taken["kill -9"]) / min(taken["SIGTERM"]), RESTART, at_least=False)


def manage(bench: Bench) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "hivedruid", "streams", "run", "--home", str(bench.session.home)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# --- many --------------------------------------------------------------------------------------------------------


def many(bench: Bench, length: float) -> None:
    names = [f"m{number}" for number in range(STREAMS)]
    topic = bench.topics.new(partitions=2)
    create(bench.session, bench.topics.bootstrap, topic, "json")
    for name in names:
        bench.stream(topic, name, trigger="PT1S")
    streams = Streams(bench.session.catalog)
    manager = manage(bench)
    for name in names:
        streams.set_desired(find(streams, name).stream, "running")
    produce(bench, topic, 100, 100.0)
    until(lambda: all(find(streams, name).status.rows >= 100 for name in names), "the first batches")
    before = {name: find(streams, name) for name in names}
    produce(bench, topic, int(50 * length), 50.0)
    after = {name: find(streams, name) for name in names}
    batches = [after[name].position.batch - before[name].position.batch for name in names]
    took = [after[name].status.seconds for name in names]
    lags = [int(50 * length) + 100 - after[name].status.rows for name in names]
    jvm = server.find(server.shared_home(bench.session.home))
    print(f"{STREAMS} streams with triggers of 1 s, 50 records per second for {length:.0f} s")
    print(f"  batches of a stream    least {min(batches)}, median {median(batches):.0f}, most {max(batches)}")
    print(f"  seconds of a batch     median {median(took):.2f}, most {max(took):.2f}")
    print(f"  records behind         median {median(lags):.0f}, most {max(lags)}, which is {max(lags) / 50:.1f} s")
    print(
        f"  memory                 manager {resident(manager.pid)} MB, Spark {resident(jvm.jvm) if jvm else 0} MB",
        flush=True,
    )
    for name in names:
        streams.set_desired(find(streams, name).stream, "stopped")
    manager.terminate()
    manager.wait()


def resident(process: int) -> int:
    """MB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS"))


# --- aged --------------------------------------------------------------------------------------------------------


def aged(bench: Bench, length: float) -> None:
    topic = bench.topics.new(partitions=2)
    create(bench.session, bench.topics.bootstrap, topic, "json")
    columns = ", ".join(f"`{name}` {kind}" for name, (_, kind) in FIELDS.items())
    bench.run(f"CREATE TABLE t_aged ({columns}) TBLPROPERTIES ('hivedruid.compaction.auto' = 'true')")
    bench.stream(topic, "aged", trigger="PT1S")
    bench.run("START STREAM aged")
    produce(bench, topic, int(length * 200), 200.0)
    bench.run("WAIT STREAM aged")
    bench.run("STOP STREAM aged")
    queries = (
        "SELECT count(*), sum(added) FROM t_aged",
        "SELECT page, sum(added), count(*) FROM t_aged GROUP BY page ORDER BY 2 DESC LIMIT 10",
    )
    as_fed = [time_of(bench, query) for query in queries]
    bench.run("ALTER TABLE t_aged COMPACT 'major' AND WAIT")
    compacted = [time_of(bench, query) for query in queries]
    print(f"a table that was fed for {length / 60:.1f} minutes with a trigger of 1 s")
    for query, old, new in zip(queries, as_fed, compacted, strict=True):
        print(f"  {old:5.2f} s, compacted {new:5.2f} s: {query}")
        bench.goal("query time to that of compacted files", old / new, AGED, at_least=False)


def time_of(bench: Bench, query: str) -> float:
    return min(seconds(lambda: run(bench.session, query)) for _ in range(2 * ROUNDS))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("throughput", "python", "latency", "restart", "many", "aged")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--minutes", type=float, default=30)
    given = parser.parse_args()
    work: Mapping[str, Callable[[Bench], None]] = {
        "throughput": lambda bench: throughput(bench, given.records),
        "python": lambda bench: python(bench, given.records),
        "latency": lambda bench: latency(bench, given.seconds),
        "restart": restart,
        "many": lambda bench: many(bench, given.seconds),
        "aged": lambda bench: aged(bench, 60 * given.minutes),
    }
    with tempfile.TemporaryDirectory(prefix="hivedruid-bench-") as folder:
        local = LocalCluster(Path(folder) / "kafka", heap="small")
        try:
            servers = local.up(druid=False).kafka
            conf = {"druid.url": "embedded:"}
            with (
                topics_of(servers) as topics,
                Session(Path(folder) / "home", hiveconf=conf) as session,
                job(session.settings, session.home, libraries=True) as running,
            ):
                bench = Bench(session, running.spark, topics)
                for part in given.parts or parts:
                    work[part](bench)
        finally:
            local.down(clean=True)
    print("ok" if not bench.missed else f"{bench.missed} figures miss their goal")
    return int(bench.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
