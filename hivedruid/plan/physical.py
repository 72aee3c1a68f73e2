"""Physical plans: native Druid queries, and Spark SQL over named inputs. Pure values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TYPES, HiveType, array_of
from hivedruid.druid.interval_sets import IntervalSet, from_json, to_json
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.file_counts import FileCount, PartitionChoice
from hivedruid.plan.nodes import Script
from hivedruid.plan.rex import Rex
from hivedruid.plan.segment_files import FileScan
from hivedruid.plan.segment_queries import QueryScan
from hivedruid.plan.topic_scans import TopicScan
from hivedruid.results import ResultColumn


@dataclass(frozen=True)
class Field:
    """One field of a native query's rows: its name there, and the Hive type of its values.

    Values are in Druid's representation (LONG for integers, booleans 0/1, times as milliseconds since the epoch in
    UTC); `plan.decode` and Spark's input views convert them to the Hive type.
    """

    name: str
    type: HiveType

    @property
    def druid_type(self) -> str:
        """The Druid type of its values if the data source does not have the field."""
        if self.type.name == "array":
            return {BIGINT: "ARRAY<LONG>", DOUBLE: "ARRAY<DOUBLE>"}.get(self.type.children[0], "ARRAY<STRING>")
        if self.type.is_time:
            return "LONG"
        return TYPES[self.type.name].druid or ("DOUBLE" if self.type.name == "decimal" else "STRING")


STORED_AS: Mapping[str, HiveType] = {
    "LONG": BIGINT, "DOUBLE": DOUBLE, "FLOAT": DOUBLE, "STRING": STRING, "ARRAY<STRING>": array_of(STRING),
    "ARRAY<LONG>": array_of(BIGINT), "ARRAY<DOUBLE>": array_of(DOUBLE),
}  # fmt: skip
"""The Hive type of the values of each Druid type that Spark can read. Other types, such as sketches, are not read."""


def type_read_as(stored: str, field: Field) -> str:
    """The Druid type of the values of a field of a stored type: nested data and sketches are text, and text in a
    number's column is a number."""
    if stored.startswith("COMPLEX"):
        return "STRING"
    return field.druid_type if stored == "STRING" and field.druid_type in ("LONG", "DOUBLE", "FLOAT") else stored


@dataclass(frozen=True)
class DruidRead:
    """A native query and the fields to take from its rows, in order.

    `over_nothing` runs if the query returns no rows at all: it returns the rows of grouping sets over no rows, which
    Druid omits.
    """

    query: Mapping[str, Any]
    fields: tuple[Field, ...]
    over_nothing: DruidRead | None = None

    @property
    def scanned(self) -> str | None:
        """The data source whose rows it returns, without an order and a limit; None for every other query."""
        source = self.query.get("dataSource")
        is_whole = self.query["queryType"] == "scan" and not self.query.keys() & {"order", "limit", "offset"}
        return source if is_whole and isinstance(source, str) else None

    def types(self, stored: Mapping[str, str]) -> tuple[str, ...]:
        """The Druid types of the fields; `stored` are those of the columns of the data source, if the rows are its."""
        virtual = {item["name"]: item.get("outputType") or "" for item in self.query.get("virtualColumns") or ()}
        known = {**stored, **virtual}
        types = [known.get(field.name) or field.druid_type for field in self.fields]
        return tuple(type_read_as(type_, field) for type_, field in zip(types, self.fields, strict=True))

    @property
    def spans(self) -> IntervalSet:
        """The intervals of the query."""
        return from_json(self.query["intervals"])


def scan_of(
    data_source: str, spans: IntervalSet, types: Mapping[str, str], where: Mapping[str, Any] | None = None
) -> DruidRead:
    """A scan of the columns of these Druid types as they are stored, in the order of each segment."""
    query: dict[str, Any] = {
        "queryType": "scan", "dataSource": data_source, "intervals": to_json(spans), "columns": list(types),
        "resultFormat": "compactedList",
    }  # fmt: skip
    query |= {"filter": where} if where else {}
    return DruidRead(query, tuple(Field(name, STORED_AS[type_]) for name, type_ in types.items()))


@dataclass(frozen=True)
class Ask:
    """A native query of one row that runs before planning can be completed; `key` is its text."""

    key: str
    read: DruidRead


@dataclass(frozen=True)
class KeyFilter:
    """A semi-join reduction: only rows whose `column` (its name and Druid type) is among the `keys` can satisfy the
    join.

    The keys are the first column of native queries, or of Spark jobs or files of Hive-side tables, which are read
    first: one for each place where a shared query is read. If there are more than `most`, they do not become a filter;
    the result is the same. `has_dates`: the second column is the day of `__time` of the rows with that key
    (TimeReference). `share` is the estimated share of the rows that is left, 1 if unknown.
    """

    column: str
    type: str
    keys: tuple[KeySource, ...]
    most: int
    has_dates: bool = False
    share: float = field(default=1.0, compare=False)

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> KeyFilter:
        """The same with its native queries changed."""
        return replace(self, keys=tuple([change(k) if isinstance(k, DruidRead) else k for k in self.keys]))


@dataclass(frozen=True)
class DruidInput:
    """A Druid query's rows as a Spark view; its columns are `columns`, in the order of `read.fields`.

    `reducers` add filters to the query when it runs. With `scan` the query is not sent: Spark reads these segments, or
    sends queries of single segments. `undivided` says why it does not, although there are many rows. `binaries` are the
    columns of base64 that the view has as bytes, and their names in the error of a text that is not base64.
    """

    view: str
    read: DruidRead
    columns: tuple[str, ...]
    reducers: tuple[KeyFilter, ...] = ()
    scan: FileScan | QueryScan | None = None
    undivided: str = ""
    binaries: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_staged(self) -> bool:
        """Whether this process reads all rows, of the query or of files, and hands them to Spark."""
        return self.scan is None or (isinstance(self.scan, FileScan) and self.scan.is_in_process)

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> DruidInput:
        """The same with each of its native queries changed; those that run first come first."""
        reducers = tuple(reducer.with_reads(change) for reducer in self.reducers)
        return replace(self, reducers=reducers, read=change(self.read))


@dataclass(frozen=True)
class TableInput:
    """A Hive-side table as a Spark view; `columns` are the table's columns that the SQL uses. `topic` are the records
    of a Kafka table; if they `are_counted`, the malformed ones were counted and rejected before, and are only left
    out. `files` are those of a managed table that can have rows of the job's conditions, if that is known;
    `is_whole`: Spark reads all of them before it applies the conditions. `partitions` are those of an external table.
    """

    view: str
    table: Table
    columns: tuple[str, ...]
    topic: TopicScan | None = None
    files: FileCount | None = None
    are_counted: bool = False
    is_whole: bool = False
    partitions: PartitionChoice | None = None


@dataclass(frozen=True)
class ScriptInput:
    """The rows of a script as a Spark view with these columns. `sql` computes those that it reads, of these types, from
    the other inputs of the job and those computed before it."""

    view: str
    sql: str
    types: tuple[HiveType, ...]
    script: Script
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class CteInput:
    """The rows of a CTE or view with several references, which are computed once. `sql` computes them from the other
    inputs of the job and those computed before it."""

    view: str
    name: str
    sql: str


@dataclass(frozen=True)
class SparkJob:
    """Spark SQL (session zone UTC, ANSI off) over its inputs, and the columns of its result. `computed` are inputs that
    Spark computes from the others first, in this order."""

    sql: str
    inputs: tuple[DruidInput | TableInput, ...]
    columns: tuple[ResultColumn, ...]
    computed: tuple[ScriptInput | CteInput, ...] = ()

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        """The native queries whose rows it reads."""
        return tuple(item.read for item in self.inputs if isinstance(item, DruidInput))

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> SparkJob:
        """The same with each of its native queries changed."""
        inputs = tuple(item.with_reads(change) if isinstance(item, DruidInput) else item for item in self.inputs)
        return replace(self, inputs=inputs)


MOST_FILE_ROWS = 1_000_000
"""The maximum number of rows of all files of a table that is read without Spark, also of rows that do not satisfy the
conditions."""


@dataclass(frozen=True)
class FileRows:
    """Columns of the rows of a table that satisfy the conditions, read from its Parquet files without Spark. The ids of
    the columns are their names.
    """

    table: Table
    conditions: tuple[Rex, ...]
    columns: tuple[str, ...]
    zone: str


@dataclass(frozen=True)
class FileKeys:
    """The distinct rows of Parquet files; `job` returns them if the files cannot be read without Spark."""

    rows: FileRows
    job: SparkJob


KeySource = DruidRead | SparkJob | FileKeys
"""Where the keys of a semi-join reduction come from."""
