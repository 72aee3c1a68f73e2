"""Spark jobs: rows for a result, rows staged for Druid, rows written to a Hive-side table."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.properties import MALFORMED_ROWS, consumer_properties
from hivedruid.catalog.table import Table
from hivedruid.errors import (
    ConnectError,
    ExecutionError,
    HiveDruidError,
    PlanError,
    SegmentReadError,
    SparkError,
    UnsupportedError,
)
from hivedruid.filesystems import Access, local_path, open_location
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.catalog import is_own
from hivedruid.iceberg.history import TableHistory
from hivedruid.iceberg.metadata import TableState
from hivedruid.iceberg.partitions import ALL_ROWS, PartitionSize, Values, partition_sizes
from hivedruid.jobs.staged import StagedRows
from hivedruid.kafka_secrets import has_references
from hivedruid.plan.physical import DruidInput, SparkJob, TableInput
from hivedruid.plan.segment_files import FileScan
from hivedruid.plan.topic_scans import TopicState
from hivedruid.private import private_file
from hivedruid.results import Batch, Batches
from hivedruid.scratch import fresh_folder, make_scratch, private_scratch
from hivedruid.setting_types import other_machines
from hivedruid.spark import (
    commit_checks,
    failures,
    iceberg,
    inputs,
    launch,
    procedures,
    remote,
    segment_scans,
    session,
    staging,
    status,
    topic_writing,
    topics,
    writing,
)
from hivedruid.spark.avro_files import FORMAT as AVRO
from hivedruid.spark.file_schemas import FileSchemas
from hivedruid.spark.iceberg import IcebergTables
from hivedruid.spark.job_inputs import JobInputs
from hivedruid.spark.rejects import Check, RejectsTables
from hivedruid.spark.relations import Frames, query, views
from hivedruid.spark.rows import stream
from hivedruid.tables.metastore_tables import ICEBERG
from hivedruid.tables.rejects import rejects_name
from hivedruid.tables.text_output import text_output

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.druid.planned_segments import SegmentPlan
    from hivedruid.engine.capabilities import SegmentStorage
    from hivedruid.engine.engine import DruidEngine
    from hivedruid.plan.java_calls import Signature, UnknownSignature
    from hivedruid.spark.metastore_iceberg import Commit
    from hivedruid.spark.session import Job
    from hivedruid.spark.tiers import Division
    from hivedruid.spark.topic_formats import Schemas

T = TypeVar("T")

TopicCheck = Callable[[Table, TopicState], None]
"""Raises KafkaError if the topic of a Kafka table is not the one of that state any more."""

NOTHING = SparkJob("", (), ())
"""The job of a statement that only queries the Iceberg catalog."""


class SparkRunner:
    """Runs the Spark jobs of one home folder. Creating an instance is cheap; Spark starts with the first job. Runners
    that are used at the same time in one process need different names.

    `progress` receives the status line, and "" at the end; `note` receives remarks about a successful job. Every
    method that runs a job raises SparkError with a one-line message; Spark's full text is in the log named in the
    hint. Ctrl-C cancels the job and raises KeyboardInterrupt.
    """

    def __init__(
        self,
        home: Path,
        settings: Mapping[str, str],
        druid: Callable[[], DruidEngine],
        progress: Callable[[str], None],
        note: Callable[[str], None],
        storage: Callable[[], SegmentStorage] | None = None,
        schemas: Schemas | None = None,
        check_topic: TopicCheck | None = None,
        rejects: RejectsTables | None = None,
        name: str = "",
    ) -> None:
        self._home = home.absolute()
        self._settings = settings
        self._druid = druid
        self._storage = storage
        self._check_topic = check_topic
        self._rejects = rejects
        self._name = name
        self._progress = progress
        self.note = note
        self.iceberg = IcebergTables(self._home, settings)
        self._schemas = schemas
        self._job_inputs = JobInputs(settings, FileSchemas(settings, note), self.iceberg, schemas, rejects, note)
        self._warned = False
        self._functions: dict[str, UserFunction] = {}

    def use(self, functions: Iterable[UserFunction]) -> None:
        """Make functions of users available to the jobs of a statement."""
        self._functions = {function.spark_name: function for function in functions}

    def signature(self, question: UnknownSignature) -> Signature:
        """What a call of a function in Java returns. Raises SemanticError if it does not accept the arguments."""
        from hivedruid.spark.user_functions import signature

        self.use([question.function])
        with self.running(NOTHING) as spark:
            return signature(spark, question)

    def rows(self, job: SparkJob) -> Batches:
        """The result rows of the job, streamed; the job ends when the last row is consumed."""
        return Batches(self._batches(job))

    def _batches(self, job: SparkJob) -> Generator[Batch, None, None]:
        with self._inputs(job) as (spark, frames):
            yield from stream(query(spark, job.sql, frames), [column.type for column in job.columns]).batches

    def stage(
        self,
        job: SparkJob,
        table: Table,
        spec: Mapping[str, Any],
        folder: str,
        *,
        skip_timeless: bool,
        plan: SegmentPlan | None = None,
        division: Division | None = None,
    ) -> StagedRows:
        """Write the job's rows into `folder`, a path or URI, for the task of `spec` into `table`; see `staging.stage`.

        With `plan` as segments; see `building.build`. With `division` some of them go elsewhere.
        """

        def staged() -> str:
            return f", {staging.bytes_so_far(folder) / 1e6:.0f} MB staged"

        target = division.table if division is not None else None
        with private_scratch(self._home) as scratch, self.running(job, target, staged) as spark:
            frame, shared = spark.sql(job.sql), self._settings.get("hivedruid.staging.shared") == "true"
            if division is not None:
                frame = division.divide(spark, frame, table, scratch, self.iceberg)
            if plan is not None:
                from hivedruid.spark.building import build

                with self.handed_over([folder], ExecutionError) as access:
                    return build(
                        frame, table, spec, plan, folder, access,
                        skip_timeless=skip_timeless, is_elsewhere=bool(other_machines(self._settings)),
                    )  # fmt: skip
            return staging.stage(
                frame, table, spec, folder,
                skip_timeless=skip_timeless, shared=shared, is_elsewhere=bool(other_machines(self._settings)),
            )  # fmt: skip

    def write(
        self,
        job: SparkJob,
        table: Table,
        overwrite: bool,
        *,
        replaced: str | None = ALL_ROWS,
        is_directory: bool = False,
        keeps_partitions: bool = False,
    ) -> int:
        """Append the job's rows to a Hive-side table, or replace rows of it; returns their number. `replaced` is the
        condition of those that are replaced in a managed table, None for the partitions of the new rows.
        `is_directory`: the table only describes files, which are named as Hive names them. `keeps_partitions`: see
        `writing.write_iceberg`.

        Columns go by position and are cast to the table's types; a number that does not fit becomes null, as in Hive.
        The write is atomic: a failed job changes nothing.
        """
        if not table.has_folder:
            raise PlanError(f"{table.full_name} is a {table.kind} table; Spark writes files and Iceberg tables")
        if table.has_snapshots and not overwrite:
            self.iceberg.check_rows(None, table)
        with self.running(job, target=table) as spark:
            frame = writing.shape(spark.sql(job.sql), table)
            if table.has_snapshots:
                if not overwrite:
                    self.iceberg.check_rows(spark, table)
                return writing.write_iceberg(
                    spark, frame, table, self.iceberg,
                    overwrite=overwrite, replaced=replaced, keeps_partitions=keeps_partitions,
                )  # fmt: skip
            is_elsewhere, output = bool(other_machines(self._settings)), text_output(self._settings)
            if is_directory:
                return writing.write_directory(frame, table, is_elsewhere=is_elsewhere, output=output)
            return writing.write_files(frame, table, overwrite=overwrite, is_elsewhere=is_elsewhere, output=output)

    def write_in_metastore(self, job: SparkJob, table: Table, commit: Commit, *, overwrite: bool) -> int:
        """The same for an Iceberg table of a Hive metastore; see `metastore_iceberg`."""
        from hivedruid.spark.metastore_iceberg import insert

        return insert(self, self._home, job, table, commit, overwrite=overwrite)

    def changed_in_metastore(self, table: Table, commit: Commit) -> AbstractContextManager[Table]:
        """An Iceberg table of a Hive metastore as one whose rows can be changed; see `metastore_iceberg`."""
        from hivedruid.spark.metastore_iceberg import changed_rows

        return changed_rows(self, self._home, table, commit)

    def maintain(self, table: Table, work: Callable[[SparkSession], T], otherwise: T) -> T:
        """Run procedures on a managed table; returns `otherwise` if nothing was written to it."""
        if not self.iceberg.may_exist(table):
            return otherwise
        with self.running(NOTHING, target=table) as spark:
            return work(spark) if self.iceberg.exists(spark, table) else otherwise

    def produce(self, job: SparkJob, table: Table, produce: topic_writing.Produce) -> int:
        """Write the job's rows to the topic of a Kafka table; returns their number. A failed job may have written some
        of them."""
        with self.running(job) as spark:
            frame = writing.shape(spark.sql(job.sql), table)
            return topic_writing.write_topic(frame, table, produce, self._settings, self._schemas)

    def stage_records(self, job: SparkJob, table: Table, folder: Path) -> int:
        """Write the records of the job's rows for the topic of a Kafka table into a folder; returns their number."""
        with self.running(job) as spark:
            frame = writing.shape(spark.sql(job.sql), table)
            return topic_writing.stage_records(frame, table, folder, self._settings, self._schemas)

    def drop(self, table: Table) -> None:
        """Delete what a Hive-side table stores: an Iceberg table, or the files at its LOCATION."""
        if table.has_snapshots:
            self._drop_iceberg(table)
            return
        folder = local_path(table.location) if table.location else None
        try:
            if folder is not None and folder.is_dir():
                doomed = folder.rename(folder.with_name(f".{folder.name}.{uuid4().hex}"))
                shutil.rmtree(doomed)
            elif folder is not None:
                folder.unlink(missing_ok=True)
            elif table.location:
                open_location(table.location, Access.of(self._settings)).remove()
        except OSError as error:
            raise SparkError(
                f"cannot delete the data of {table.full_name} at {folder or table.location}: {error.strerror or error}",
                hint=None if folder is not None else "delete it with a tool of that storage",
            ) from error

    def create(self, table: Table) -> None:
        """Create a table in the Iceberg catalog of its database."""
        with self.running(NOTHING, target=table) as spark:
            self.iceberg.make(spark, table)

    def delete_rows(self, table: Table) -> None:
        """Delete all rows of a table in the Iceberg catalog of its database, in one commit."""
        from hivedruid.spark.row_changes import commit

        with self.running(NOTHING, target=table) as spark:
            commit(spark, table, f"DELETE FROM {inputs.iceberg_name(table)}", procedures.ATTEMPTS)

    def _drop_iceberg(self, table: Table) -> None:
        if self.iceberg.is_own(table):
            self.iceberg.drop_from_home(table)
            return
        with self.running(NOTHING, target=table) as spark:
            iceberg.drop(spark, table)

    def iceberg_state(self, table: Table) -> TableState | None:
        """A managed table at its current commit, None before the first; read without Spark from the home's own catalog.

        Raises OSError and ValueError if the home's own catalog contains it and its metadata cannot be read.
        """
        if self.iceberg.is_own(table):
            return home_catalog.state(self._home, table.table_id)
        with self.running(NOTHING, target=table) as spark:
            return iceberg.state(spark, table) if self.iceberg.exists(spark, table) else None

    def iceberg_history(self, table: Table) -> TableHistory | None:
        """The snapshots of a managed table, None before the first commit; read without Spark from the home's own
        catalog. Raises OSError and ValueError as `iceberg_state` does."""
        if self.iceberg.is_own(table):
            return home_catalog.history(self._home, table.table_id)
        with self.running(NOTHING, target=table) as spark:
            return self.iceberg.history(spark, table)

    def iceberg_partitions(self, table: Table) -> Mapping[Values, PartitionSize]:
        """The partitions of a managed table by the values of its partition columns; read without Spark from the home's
        own catalog. Raises ExecutionError if they are not known."""
        if self.iceberg.is_own(table):
            try:
                return partition_sizes(home_catalog.files(self._home, table.table_id), table)
            except (OSError, ValueError) as error:
                raise iceberg.unreadable(table, str(error)) from error
        with self.running(NOTHING, target=table) as spark:
            return iceberg.partitions(spark, table) if self.iceberg.exists(spark, table) else {}

    def close(self) -> None:
        """Close the home's session. The server keeps running for the next command."""
        session.release(self._home, self._name)

    @contextmanager
    def running(
        self, job: SparkJob, target: Table | None = None, details: Callable[[], str] = str, *, has_views: bool = True
    ) -> Iterator[SparkSession]:
        """The session with the job's inputs as views, unless it has none; errors inside are raised as HiveDruidError.
        `details` returns additional text for the status line.
        """
        with self._inputs(job, target, details, has_frames=has_views) as (spark, frames), views(spark, frames):
            yield spark

    @contextmanager
    def _inputs(
        self, job: SparkJob, target: Table | None = None, details: Callable[[], str] = str, *, has_frames: bool = True
    ) -> Iterator[tuple[SparkSession, Frames]]:
        """The session and the job's inputs, unless it needs none; errors inside are raised as HiveDruidError."""
        scratch = fresh_folder(self._home)
        running: Job | None = None
        try:
            druid_files = self._read_druid(job, scratch)
            with (
                self._job(job, target) as running,
                status.shown(running.spark, self._settings, details, self._progress, self.note),
                self.handed_over(_segment_locations(job), SegmentReadError) as access,
            ):
                needed = job if has_frames else NOTHING
                with self._job_inputs.frames(running, needed, druid_files, access, scratch) as frames:
                    yield running.spark, frames
            self._check_topics(job)
        except (HiveDruidError, GeneratorExit, KeyboardInterrupt):
            raise
        except Exception as error:
            with suppress(ConnectError):  # the first error tells more
                self._check_topics(job)
            raise self._explained(error, job, running, target) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _check_topics(self, job: SparkJob) -> None:
        """Raise KafkaError if a topic that the job read is not the one whose offsets were planned."""
        if (check := self._check_topic) is None:
            return
        for item in job.inputs:
            if isinstance(item, TableInput) and item.topic is not None and item.topic.state is not None:
                check(item.table, item.topic.state)

    def _read_druid(self, job: SparkJob, scratch: Path) -> dict[str, Path]:
        """A file for each of the job's native queries, by view: its rows as Parquet; for a scan of segment files, those
        of its growing segments; for one that Spark sends in pieces, the access to Druid."""
        found: dict[str, Path] = {}
        staged: list[Callable[[DruidEngine], None]] = []
        for item in job.inputs:
            if not isinstance(item, DruidInput):
                continue
            scan = item.scan
            if isinstance(scan, FileScan) and not (scan.growing or item.is_staged):
                continue
            make_scratch(scratch.parent, scratch)
            path = found[item.view] = scratch / f"{item.view}.parquet"
            if item.is_staged:
                staged.append(partial(segment_scans.stage, item, path))
            elif self._storage is not None and isinstance(scan, FileScan):
                self._storage().write_rows_of(item.read, scan.growing, item.columns, path)
            elif self._storage is not None:
                private_file(path)
                path.write_text(self._storage().access().to_json(), encoding="utf-8")
        if staged:
            self._druid().each(staged)
        return found

    @contextmanager
    def _job(self, job: SparkJob, target: Table | None) -> Iterator[Job]:
        """The home's session, with Iceberg if the job reads or writes an Iceberg table."""
        read = [item.table for item in job.inputs if isinstance(item, TableInput)]
        written = [target] if target is not None and target.has_snapshots else []
        of_topics = [table for table in read if table.kind == "kafka"]
        if self._rejects is not None:
            written += filter(None, map(self._rejects.find, of_topics))
        has_libraries = any(table.format in (AVRO, ICEBERG) for table in (*read, *filter(None, [target])))
        needed = [*written, *(table for table in read if table.has_snapshots and self.iceberg.may_exist(table))]
        self._check_secrets(of_topics)
        for table in needed:
            self.iceberg.check_metadata(table)
        own = any(map(self.iceberg.is_own, needed)) or (any(map(rejects_name, of_topics)) and is_own(self._settings))
        if own:
            home_catalog.prepare(self._home)
        self._note_open_driver()
        with session.job(
            self._settings,
            self._home,
            libraries=bool(needed or of_topics or has_libraries),
            hive=any(each.language == "java" for each in self._functions.values()),
            isolated=bool(self._functions),
            progress=self._progress,
            name=self._name,
        ) as running:
            running.use_catalogs([table.iceberg for table in needed if table.iceberg is not None], self._settings)
            self.iceberg.make_ready(running.spark, needed, target)
            running.register(self._functions)
            with commit_checks.checked(running.spark, self.iceberg, written):
                yield running

    def reject(self, job: SparkJob, item: TableInput, check: Check) -> int:
        """Count the malformed records of a Kafka table that the job leaves out, and add them to its rejects table."""
        with private_scratch(self._home) as scratch, self.running(job, has_views=False) as spark:
            rows = self._job_inputs.records(spark, item, scratch, keep_raw=True)
            return self._job_inputs.reject(spark, rows, item.table, check)

    def _check_secrets(self, tables: Iterable[Table]) -> None:
        """Raise UnsupportedError if the secret of a consumer would be needed on another machine."""
        elsewhere = other_machines(self._settings)
        for table in tables:
            if elsewhere and has_references(consumer_properties(table.properties)):
                raise UnsupportedError(
                    f"queries of {table.full_name} need its secrets on the machines of Spark ({elsewhere})",
                    hint="unset that setting: secrets are only given to Spark on this machine",
                )

    def _note_open_driver(self) -> None:
        """Warn once if Spark's driver would run code of anyone who reaches its ports."""
        reason = None if self._warned else launch.open_driver(self._settings)
        if reason is not None:
            self._warned = True
            self.note(launch.OPEN_DRIVER.format(reason=reason))

    @contextmanager
    def handed_over(self, locations: Iterable[str], failure: type[HiveDruidError]) -> Iterator[Access]:
        """How Spark's processes access these locations. Those on this machine may have another environment than this
        process: for the duration of the block, its secrets are in private files. Raises `failure` without a secret."""
        access = Access.of(self._settings)
        if other_machines(self._settings) or all(map(local_path, locations)):
            yield access
            return
        with private_scratch(self._home) as folder:
            try:
                access = access.in_files(folder)
            except OSError as error:
                raise failure(str(error)) from error
            yield access

    def _explained(
        self, error: Exception, job: SparkJob, running: Job | None, target: Table | None = None
    ) -> HiveDruidError:
        """The error in one line. A malformed row becomes the list of all of them, found by a second pass."""
        log = session.log_file(self._home)
        if running is not None and running.lost(error):
            return session.exit_error(running)
        if unreachable := session.check_reachable(error, self._settings):
            return unreachable
        text = failures.full_text(error)
        if self._settings.get("spark.remote") and remote.has_lost_session(text):
            with suppress(Exception):  # the server cannot close it
                session.release(self._home, self._name)
            return remote.lost_session(self._settings)
        if unread := segment_scans.read_error(text) or topics.topic_error(text):
            return unread
        if target is not None and (violation := failures.violation(text, target)):
            return violation
        for item in job.inputs:
            # Spark's message, not merely the plan that it quotes
            mark = f"[USER_RAISED_EXCEPTION] {inputs.MALFORMED_MARK}{item.view} "
            if running and isinstance(item, TableInput) and mark in text:
                return SparkError(
                    str(self._job_inputs.malformed(running.spark, item.table)),
                    hint=f"SET TBLPROPERTIES ('{MALFORMED_ROWS}'='skip') skips them",
                )
        translated = failures.translate(error, log, is_elsewhere=bool(other_machines(self._settings)))
        tables = [item.table for item in job.inputs if isinstance(item, TableInput)]
        for table in [*tables, *([target] if target is not None else [])]:
            if table.has_snapshots and f"/{table.table_id}/metadata/" in text:
                damaged = iceberg.unreadable(table, translated.message.removeprefix("Spark: "))
                return SparkError(damaged.message, hint=f"{damaged.hint}; see Spark's log: {log}")
        return translated


def _segment_locations(job: SparkJob) -> list[str]:
    scans = [item.scan for item in job.inputs if isinstance(item, DruidInput)]
    return [file.location for scan in scans if isinstance(scan, FileScan) for file in scan.files]
