"""Records per second of queries of Kafka tables, compared with Spark's Kafka connector alone.

bare      the connector reads the same records, and nothing else is done with them
raw       SELECT sum(length(value)) of a table with the values as they are (kafka.serde.class binary)
count     SELECT count(*), which checks that every record is valid JSON
sum       SELECT page, sum(added), count(*) … GROUP BY page
delimited the same of records of delimited text
from_json the same by the connector and Spark's from_json, without hivedruid and its checks

    python -m benchmarks.kafka_tables [--records 1000000]

Records of some 200 bytes, in topics of one and of several partitions. Wall time, the least of several interleaved
runs, with a warm Spark server. A Kafka is started in a temporary folder, and removed. `raw` reads at least 75 % of the
records/s of `bare`, and `sum` of those of `from_json`. With one partition, which `bare` reads on one core, `count` and
`sum` reach 75 % of it, too; with several, decoding alone takes more than a quarter of two cores. Several partitions are
read at least 1.3 times as fast as one on two cores.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.local.cluster import LocalCluster
from hivedruid.session import Session
from hivedruid.spark.session import job
from tests.support.kafka import topics_of

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

ROUNDS = 3
SHARE, SCALE = 0.75, 1.3
PARTITIONS = 4
FIELDS = {
    "id": ("id", "bigint"),
    "page": ("concat('Page ', id % 1000)", "string"),
    "user": ("concat('user', id % 97)", "string"),
    "added": ("id % 5000", "bigint"),
    "share": ("(id % 1000) / 1000D", "double"),
    "comment": ("concat('a comment, with a comma and ', md5(CAST(id AS string)))", "string"),
}
LIMITS = {"raw": "bare", "sum": "from_json"}
QUERIES = {
    "raw": "SELECT sum(length(value)) FROM {}_raw",
    "count": "SELECT count(*) FROM {}",
    "sum": "SELECT page, sum(added), count(*) FROM {} GROUP BY page",
}


def fill(spark: SparkSession, servers: str, topic: str, records: int, partitions: int, form: str) -> None:
    values = ", ".join(f"{value} AS `{name}`" for name, (value, _) in FIELDS.items())
    text = "to_json(struct(*))" if form == "json" else "concat_ws('|', *)"
    rows = spark.sql(f"SELECT {values} FROM range({records})")
    written = rows.selectExpr(f"{text} AS value", f"CAST(id % {partitions} AS int) AS partition")
    options = {"kafka.bootstrap.servers": servers, "topic": topic}
    written.write.format("kafka").options(**options).save()


def read_bare(spark: SparkSession, servers: str, topic: str) -> None:
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    spark.read.format("kafka").options(**options).load().write.format("noop").mode("overwrite").save()


def read_json(spark: SparkSession, servers: str, topic: str) -> None:
    fields = ", ".join(f"`{name}` {kind}" for name, (_, kind) in FIELDS.items())
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    rows = spark.read.format("kafka").options(**options).load()
    rows = rows.selectExpr(f"from_json(CAST(value AS STRING), '{fields}') AS r").selectExpr("r.page", "r.added")
    rows.groupBy("page").agg({"added": "sum", "*": "count"}).collect()


def run(session: Session, text: str) -> None:
    (statement,) = session.statements(text)
    for _ in session.execute(statement).rows:
        pass


def create(session: Session, servers: str, topic: str, form: str) -> None:
    columns = ", ".join(f"`{name}` {kind}" for name, (_, kind) in FIELDS.items())
    serde = "" if form == "json" else ", 'kafka.serde.class' = 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe'"
    delimiter = "" if form == "json" else "WITH SERDEPROPERTIES ('field.delim' = '|')"
    run(
        session,
        f"CREATE EXTERNAL TABLE {topic} ({columns}) STORED BY 'kafka' {delimiter} TBLPROPERTIES"
        f" ('kafka.topic' = '{topic}', 'kafka.bootstrap.servers' = '{servers}'{serde})",
    )
    run(
        session,
        f"CREATE EXTERNAL TABLE {topic}_raw (value binary) STORED BY 'kafka' TBLPROPERTIES ('kafka.topic' = '{topic}',"
        f" 'kafka.bootstrap.servers' = '{servers}', 'kafka.serde.class' = 'binary')",
    )


def seconds(work: Callable[[], None]) -> float:
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def compare(session: Session, spark: SparkSession, servers: str, topic: str, delimited: str) -> dict[str, float]:
    """Seconds of each way."""
    ways: dict[str, Callable[[], None]] = {"bare": lambda: read_bare(spark, servers, topic)}
    for name, query in QUERIES.items():
        ways[name] = lambda query=query: run(session, query.format(topic))  # type: ignore[misc]
    ways["delimited"] = lambda: run(session, QUERIES["sum"].format(delimited))
    ways["from_json"] = lambda: read_json(spark, servers, topic)
    for work in ways.values():
        work()
    taken = {name: [seconds(work) for _ in range(1)] for name, work in ways.items()}
    for _ in range(ROUNDS - 1):
        for name, work in ways.items():
            taken[name].append(seconds(work))
    return {name: min(each) for name, each in taken.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory(prefix="hivedruid-bench-") as folder:
        local = LocalCluster(Path(folder) / "kafka", heap="small")
        try:
            servers = local.up(druid=False).kafka
            with (
                topics_of(servers) as topics,
                Session(Path(folder) / "home", hiveconf={"druid.url": "embedded:"}) as session,
            ):
                best = {}
                with job(session.settings, session.home, libraries=True) as running:
                    for partitions in (1, PARTITIONS):
                        made = {form: topics.new(partitions=partitions) for form in ("json", "text")}
                        for form, topic in made.items():
                            fill(running.spark, servers, topic, records, partitions, form)
                            create(session, servers, topic, form)
                        best[partitions] = compare(session, running.spark, servers, made["json"], made["text"])
        finally:
            local.down(clean=True)
    return report(best, records)


def report(best: dict[int, dict[str, float]], records: int) -> int:
    missed = 0
    for partitions, taken in best.items():
        print(f"{partitions} partition{'s' * (partitions > 1)}, {records:,} records")
        for way, each in taken.items():
            share = taken["bare"] / each
            missed += taken[LIMITS.get(way, way)] / each < SHARE
            print(f"  {way:<9} {each:6.2f} s  {records / each:>11,.0f} records/s  {share:5.0%} of bare")
    for way, each in best[1].items():
        scale = each / best[PARTITIONS][way]
        missed += scale < SCALE
        print(f"{PARTITIONS} partitions against 1: {way:<9} {scale:.2f} x")
    print("ok" if not missed else f"{missed} figures miss their goal")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
