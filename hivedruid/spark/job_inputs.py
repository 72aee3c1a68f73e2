"""The inputs of jobs, as DataFrames by the names of their views."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.properties import consumer_properties
from hivedruid.catalog.table import Table
from hivedruid.filesystems import Access
from hivedruid.kafka_secrets import in_files
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.physical import CteInput, DruidInput, ScriptInput, SparkJob, TableInput
from hivedruid.plan.segment_queries import QueryScan
from hivedruid.scratch import make_scratch
from hivedruid.spark import inputs, malformed, paths, remote, segment_scans, topics
from hivedruid.spark.cells import identifier
from hivedruid.spark.file_schemas import FileSchemas
from hivedruid.spark.iceberg import IcebergTables
from hivedruid.spark.rejects import Check, RejectsTables, reject_malformed
from hivedruid.spark.relations import Frames, kept, query, release, used, views
from hivedruid.spark.serde import is_json

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.types import StructType

    from hivedruid.spark.session import Job
    from hivedruid.spark.topic_formats import Schemas

_VECTORIZED = "spark.sql.parquet.enableVectorizedReader"


@dataclass(frozen=True)
class JobInputs:
    """Makes the inputs of a runner's jobs."""

    settings: Mapping[str, str]
    files: FileSchemas
    iceberg: IcebergTables
    schemas: Schemas | None
    rejects: RejectsTables | None
    note: Callable[[str], None]

    @contextmanager
    def frames(
        self, running: Job, job: SparkJob, druid_files: Mapping[str, Path], access: Access, scratch: Path
    ) -> Iterator[Frames]:
        """The inputs of a job. The rows of its CTEs are kept for the duration of the block."""
        found: dict[str, DataFrame] = {}
        self.files.needs_row_reader = False
        for item in job.inputs:
            if isinstance(item, TableInput) and item.table.kind == "kafka":
                found[item.view] = self._topic_frame(running.spark, item, scratch)
            else:
                found[item.view] = self._frame(running, item, druid_files, access)
        with ExitStack() as stack:
            if self.files.needs_row_reader:
                stack.enter_context(_row_reader(running.spark))
            for part in job.computed:
                rows = query(running.spark, part.sql, used(found, part.sql))
                if isinstance(part, CteInput):
                    found[part.view] = kept(running.spark, rows)
                    stack.callback(release, found[part.view])
                else:
                    # Spark analyses a view now; a query inside another one loses views that have the same names.
                    view = f"{part.view}_rows"
                    stack.enter_context(views(running.spark, {view: rows}))
                    found[part.view] = self._script_frame(running.spark, running.spark.table(view), part, scratch)
            yield found

    def _script_frame(self, spark: SparkSession, rows: DataFrame, script: ScriptInput, scratch: Path) -> DataFrame:
        from hivedruid.spark.scripts import script_folder, script_frame

        return script_frame(spark, rows, script, self.settings, script_folder(self.settings, scratch))

    def _frame(
        self, running: Job, item: DruidInput | TableInput, druid_files: Mapping[str, Path], access: Access
    ) -> DataFrame:
        spark = running.spark
        if isinstance(item, DruidInput):
            rows, schema = self._druid_rows(running, item, druid_files.get(item.view), access)
            return inputs.druid_frame(rows, schema or rows.schema, item)
        if item.table.has_snapshots and not self.iceberg.exists(spark, item.table):
            self.iceberg.check_read(spark, item.table)
            return inputs.empty_frame(spark, item.table, inputs.virtual_of(item)).select(*map(identifier, item.columns))
        metadata = self.iceberg.metadata(item.table) if item.table.has_snapshots else None
        frame = inputs.table_frame(spark, item, self.settings, self.files, metadata)
        self._note_skipped(spark, item.table)
        return frame.select(*map(identifier, item.columns))  # others may have the name of another input's column

    def _topic_frame(self, spark: SparkSession, item: TableInput, scratch: Path) -> DataFrame:
        """The records of a topic, with its malformed ones as its table says."""
        handling = inputs.malformed_rows(item.table, self.settings)
        rows = self.records(spark, item, scratch, keep_raw=handling == "reject")
        if handling in ("skip", "reject"):
            if not item.are_counted:
                self.reject(spark, rows, item.table)
            frame = topics.without_malformed(rows, item.table)
        else:
            frame = (topics.with_nulls if handling == "null" else topics.checked)(rows, item.table)
        return frame.select(*map(identifier, item.columns))

    def records(self, spark: SparkSession, item: TableInput, scratch: Path, *, keep_raw: bool) -> DataFrame:
        """Spark reads the consumer's secrets from files below `scratch`."""
        make_scratch(scratch.parent, scratch)
        consumer = in_files(consumer_properties(item.table.properties), scratch / item.view)
        return topics.topic_rows(spark, item, self.settings, consumer, self.schemas, keep_raw=keep_raw)

    def reject(self, spark: SparkSession, rows: DataFrame, table: Table, check: Check = lambda _: None) -> int:
        assert self.rejects is not None
        return reject_malformed(spark, rows, table, self.rejects, self.iceberg, self.note, check)

    def _druid_rows(
        self, running: Job, item: DruidInput, path: Path | None, access: Access
    ) -> tuple[DataFrame, StructType | None]:
        """The rows of a native query, and their schema if it is known; `path` is its file of `_read_druid`."""
        spark, elsewhere = running.spark, not running.shares_files
        if item.is_staged and path is not None and not elsewhere:
            return inputs.query_rows(spark, path)
        if isinstance(item.scan, QueryScan):
            return segment_scans.query_frame(spark, item.read, item.scan, None if elsewhere else path), None
        frames = []
        if item.scan is not None and not item.is_staged:
            frames.append(segment_scans.file_frame(spark, item.read, item.scan, access, is_elsewhere=elsewhere))
        if path is not None:
            frames.append(remote.uploaded_rows(spark, path) if elsewhere else spark.read.parquet(paths.readable(path)))
        return (frames[0] if len(frames) == 1 else frames[0].union(frames[1])), None

    def _note_skipped(self, spark: SparkSession, table: Table) -> None:
        """Report the rows skipped by `skip`; this requires a separate pass, since a job may read only part of the
        rows.
        """
        if table.kind == "files" and is_json(table) and inputs.malformed_rows(table, self.settings) == "skip":
            malformed = self.malformed(spark, table)
            if malformed.count:
                self.note(f"skipped {malformed}")

    def malformed(self, spark: SparkSession, table: Table) -> malformed.MalformedRows:
        path = paths.spark_path(table, is_visible=paths.is_visible_here(self.settings))
        lines = inputs.checked_lines(spark, table, path, self.settings)
        return malformed.find(table.full_name, lines)


@contextmanager
def _row_reader(spark: SparkSession) -> Iterator[None]:
    """Read Parquet without Spark's vectorized reader, which does not have the encoding BYTE_STREAM_SPLIT."""
    before = spark.conf.get(_VECTORIZED)
    spark.conf.set(_VECTORIZED, "false")
    try:
        yield
    finally:
        spark.conf.set(_VECTORIZED, before)
