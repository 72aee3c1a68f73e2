"""Rows of Kafka tables: records of a topic by Spark's Kafka connector, each a row with the columns of its value and the
metadata columns of Hive's handler."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from hivedruid.catalog.properties import MALFORMED_ROWS
from hivedruid.catalog.table import Table
from hivedruid.errors import MalformedRecordError, PlanError, SparkError
from hivedruid.kafka_secrets import RESOLVES
from hivedruid.lazy_dataclass import dataclass
from hivedruid.oauth import login_handler
from hivedruid.plan.physical import TableInput
from hivedruid.plan.topic_scans import TopicScan
from hivedruid.setting_types import other_machines
from hivedruid.spark.cells import identifier, literal
from hivedruid.spark.inputs import empty_frame
from hivedruid.spark.topic_formats import RAW_VALUE, Schemas, of_value, value_rows
from hivedruid.tables.hive_tables import KAFKA_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

POLL_PROPERTY, POLL_TIMEOUT = "hive.kafka.poll.timeout.ms", 120_000
"""Hive's property, and the least milliseconds: Hive's default of 5,000 is too short for a broker that is busy."""
TASK_RECORDS = 200_000
"""The maximum number of offsets that one task of Spark reads: a partition with more is read by several at once."""
PYTHON_FROM = 50_000
"""The number of offsets from which Python workers decode JSON: fewer do not pay for the start of the workers, and each
of many streams would have workers of its own."""
MARK = "hivedruid: malformed record: "
FAILED = "hivedruid: cannot write to topic "
"""The beginning of the message of a worker that cannot produce records."""
_RECORD = ("key AS __key", "partition AS __partition", "offset AS __offset", "unix_millis(timestamp) AS __timestamp")
_KEPT = tuple(column.name for column in KAFKA_COLUMNS)


def topic_rows(
    spark: SparkSession,
    item: TableInput,
    settings: Mapping[str, str],
    consumer: Mapping[str, str],
    schemas: Schemas | None = None,
    *,
    keep_raw: bool = False,
) -> DataFrame:
    """The records of the scan: the table's columns, and `_bad`: why a record is malformed, or null; with `keep_raw`
    also RAW_VALUE. A record without a value, such as a tombstone, has only nulls. `consumer` are the properties for a
    Java consumer."""
    table, scan = of_value(item.table), item.topic
    raw = [RAW_VALUE] if keep_raw else []
    if scan is None or scan.state is None:
        raise PlanError(f"the offsets of {table.full_name} are unknown")
    if not scan.ranges:
        empty = (f"CAST(NULL AS BINARY) AS {name}" for name in raw)
        return empty_frame(spark, item.table).selectExpr("*", *empty, "CAST(NULL AS STRING) AS _bad")
    records = spark.read.format("kafka").options(**options(table, scan, consumer)).load()
    in_python = item.columns if scan.records >= PYTHON_FROM and not other_machines(settings) else None
    records = records.selectExpr("value", *_RECORD)
    rows = value_rows(records, table, settings, schemas, keep_raw=keep_raw, in_python=in_python)
    return rows.select(*(identifier(column.name) for column in item.table.columns), *raw, "_bad")


def options(table: Table, scan: TopicScan, consumer: Mapping[str, str]) -> dict[str, str]:
    """The options of Spark's Kafka source. It skips offsets without a record, and fails if records are gone."""
    topic = table.properties["kafka.topic"]

    def offsets(of: Mapping[int, int]) -> str:
        return json.dumps({topic: {str(partition): offset for partition, offset in of.items()}})

    return {
        **{f"kafka.{key}": value for key, value in {**consumer, **login_handler(consumer), **RESOLVES}.items()},
        "kafka.bootstrap.servers": table.properties["kafka.bootstrap.servers"],
        "kafka.isolation.level": consumer.get("isolation.level", "read_committed"),
        "assign": json.dumps({topic: [each.partition for each in scan.ranges]}),
        "startingOffsets": offsets({each.partition: each.start for each in scan.ranges}),
        "endingOffsets": offsets({each.partition: each.end for each in scan.ranges}),
        "failOnDataLoss": "true",
        "maxRecordsPerPartition": str(TASK_RECORDS),
        "kafkaConsumer.pollTimeoutMs": str(max(POLL_TIMEOUT, int(table.properties[POLL_PROPERTY]))),
    }


# --- malformed records -------------------------------------------------------------------------------------------


def checked(rows: DataFrame, table: Table) -> DataFrame:
    """The rows; a malformed record fails the job, if its columns are read or not."""
    topic = literal(f"{MARK}topic {table.properties['kafka.topic']}, partition ")
    stop = f"raise_error(concat({topic}, __partition, ', offset ', __offset, ': ', _bad))"
    return rows.where(f"IF(_bad IS NOT NULL AND spark_partition_id() >= 0, {stop}, TRUE)")


def with_nulls(rows: DataFrame, table: Table) -> DataFrame:
    """The rows; of a malformed record only the metadata columns are not null."""
    names = {column.name: identifier(column.name) for column in table.columns}
    return rows.selectExpr(
        *(name if key in _KEPT else f"IF(_bad IS NULL, {name}, NULL) AS {name}" for key, name in names.items())
    )


def without_malformed(rows: DataFrame, table: Table) -> DataFrame:
    return rows.where("_bad IS NULL").select(*(identifier(column.name) for column in table.columns))


@dataclass(frozen=True)
class Malformed:
    """The malformed records of a scan: their number, where the first one is and why it is malformed, and the lowest
    and highest of their offsets by partition."""

    table: str
    topic: str
    count: int = 0
    first: str = ""
    offsets: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.count} malformed record{'s' * (self.count != 1)} of {self.table}, the first in {self.first}"


def malformed(rows: DataFrame, table: Table) -> Malformed:
    from pyspark.sql.connect.functions import expr

    by_partition = rows.where("_bad IS NOT NULL").groupBy("__partition").agg(
        expr("count(*)"), expr("min_by(_bad, __offset)"), expr("min(__offset)"), expr("max(__offset)")
    )  # fmt: skip
    found = sorted(tuple(row) for row in by_partition.collect())
    if not found:
        return Malformed(table.full_name, table.properties["kafka.topic"])
    partition, _, reason, lowest, _ = found[0]
    return Malformed(
        table.full_name,
        table.properties["kafka.topic"],
        sum(count for _, count, *_ in found),
        f"partition {partition}, offset {lowest}: {reason}",
        {partition: (low, high) for partition, _, _, low, high in found},
    )


def topic_error(text: str) -> SparkError | None:
    """The error of reading or writing a topic in a message of Spark; None if it is another error."""
    if match := re.search(rf"\[USER_RAISED_EXCEPTION\] {MARK}(.*?)(?: SQLSTATE|\n|$)", text):
        return MalformedRecordError(
            f"malformed record in {match[1].strip()}",
            hint=f"SET TBLPROPERTIES ('{MALFORMED_ROWS}'='skip') skips such records",
        )
    if match := re.search(rf"(?:RuntimeError: |^){FAILED}(.*)", text):
        return SparkError(f"cannot write to topic {match[1]}", hint="a part of the rows may have been written")
    if match := re.search(r"Cannot fetch record for offset (\d+) in (\d+) milliseconds", text):
        return SparkError(
            f"Kafka did not return the record at offset {match[1]} within {int(match[2]) // 1000} s",
            hint="check that the brokers are running, and rerun the statement",
        )
    if match := re.search(r"is out of range for partition (\S+)-(\d+)", text):
        return SparkError(
            f"records of topic {match[1]} are gone: Kafka deleted some of partition {match[2]} after the statement"
            " began",
            hint="rerun the statement to read those that are left",
        )
    return None
