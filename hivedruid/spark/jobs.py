"""Spark jobs: rows for a result, rows staged for Druid, rows written to a Hive-side table."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.catalog.table import Table
from hivedruid.errors import HiveDruidError, PlanError, SparkError
from hivedruid.plan.physical import DruidInput, DruidRead, SparkJob, TableInput
from hivedruid.scratch import fresh_folder
from hivedruid.spark import failures, inputs, malformed, paths, session, writing
from hivedruid.spark.rows import stream
from hivedruid.spark.serde import is_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DruidReader = Callable[[DruidRead, Sequence[str], Path], None]
"""Writes a native query's rows to one Parquet file with the given column names: LONG as BIGINT, STRING as VARCHAR,
times as BIGINT milliseconds."""

PROGRESS_AFTER = 1.0
PROGRESS_EVERY = 0.5
"""Seconds until a job's first status line, and between two."""


class SparkRunner:
    """Runs the Spark jobs of one home folder. Making one is cheap; Spark starts with the first job.

    `progress` gets the status line and "" when it is over, `note` what a person should know about a job that
    succeeded. Every method that runs a job raises SparkError with a one-line message; Spark's own words are in the
    log that its hint names. Ctrl-C cancels the job and goes on as KeyboardInterrupt.
    """

    def __init__(
        self,
        home: Path,
        settings: Mapping[str, str],
        druid_reader: DruidReader,
        progress: Callable[[str], None],
        note: Callable[[str], None],
    ) -> None:
        self._home = home.absolute()
        self._settings = settings
        self._druid_reader = druid_reader
        self._progress = progress
        self._note = note

    def rows(self, job: SparkJob) -> Iterator[tuple[Any, ...]]:
        """The rows that the job answers with, as they come; the job ends when the last one is taken."""
        with self._running(job) as spark:
            yield from stream(spark.sql(job.sql))

    def stage(self, job: SparkJob, table: Table, directory: Path) -> int:
        """Write the job's rows into `directory` as `*.json.gz` for index_parallel into `table`; their number."""
        with self._running(job) as spark:
            return writing.stage(spark.sql(job.sql), table, directory)

    def write(self, job: SparkJob, table: Table, overwrite: bool) -> int:
        """Append the job's rows to a Hive-side table, or replace its rows by them; their number.

        Columns go by position and are cast to the table's types; a number that does not fit becomes null, as in
        Hive. A reader sees all of it or nothing, and a job that fails changes nothing.
        """
        if table.kind not in ("iceberg", "files"):
            raise PlanError(f"{table.full_name} is a {table.kind} table; Spark writes files and Iceberg tables")
        with self._running(job, target=table) as spark:
            frame = writing.shape(spark.sql(job.sql), table)
            if table.kind == "iceberg":
                return writing.write_iceberg(spark, frame, table, overwrite=overwrite)
            return writing.write_files(frame, table, overwrite=overwrite)

    def drop(self, table: Table) -> None:
        """Delete what a Hive-side table stores: an Iceberg table's folder, or the files at a LOCATION on this machine."""
        if table.kind == "iceberg":
            folder: Path | None = inputs.iceberg_folder(self._home, table)
        else:
            folder = paths.local_path(table.location) if table.location else None
        try:
            if folder is not None and folder.is_dir():
                doomed = folder.rename(folder.with_name(f".{folder.name}.{uuid4().hex}"))
                shutil.rmtree(doomed)
            elif folder is not None:
                folder.unlink(missing_ok=True)
        except OSError as error:
            raise SparkError(f"cannot delete the data of {table.full_name} at {folder}: {error.strerror}") from error

    def close(self) -> None:
        """Nothing is held between jobs; the driver ends with the process (see `session.stop`)."""

    @contextmanager
    def _running(self, job: SparkJob, target: Table | None = None) -> Iterator[SparkSession]:
        """The session with the job's inputs as views; what goes wrong inside comes out as an error of ours."""
        scratch = fresh_folder(self._home / "scratch")
        log = session.log_file(self._home)
        views: list[str] = []
        spark: SparkSession | None = None
        try:
            druid_files = self._read_druid(job, scratch)
            spark = self._session(job, target)
            with self._status():
                for item in job.inputs:
                    self._register(spark, item, druid_files)
                    views.append(item.view)
                yield spark
        except KeyboardInterrupt:
            session.cancel()
            raise
        except (HiveDruidError, GeneratorExit):
            raise
        except Exception as error:
            raise self._explained(error, job, spark, log) from error
        finally:
            if spark is not None and session.running():
                for view in views:
                    spark.catalog.dropTempView(view)
            shutil.rmtree(scratch, ignore_errors=True)

    def _read_druid(self, job: SparkJob, scratch: Path) -> dict[str, Path]:
        """The rows of the job's native queries as Parquet files, by view."""
        files = {item.view: scratch / f"{item.view}.parquet" for item in job.inputs if isinstance(item, DruidInput)}
        for item in job.inputs:
            if isinstance(item, DruidInput):
                scratch.mkdir(parents=True, exist_ok=True)
                self._druid_reader(item.read, item.columns, files[item.view])
        return files

    def _session(self, job: SparkJob, target: Table | None) -> SparkSession:
        """The home's session, with Iceberg where the job reads or writes an Iceberg table."""
        reads = any(isinstance(item, TableInput) and self._is_iceberg(item.table) for item in job.inputs)
        iceberg = reads or (target is not None and target.kind == "iceberg")
        try:
            return session.session(self._settings, self._home, iceberg=iceberg, progress=self._progress)
        finally:
            self._progress("")

    def _is_iceberg(self, table: Table) -> bool:
        return table.kind == "iceberg" and inputs.iceberg_exists(self._home, table)

    def _register(self, spark: SparkSession, item: DruidInput | TableInput, druid_files: Mapping[str, Path]) -> None:
        if isinstance(item, DruidInput):
            frame = inputs.druid_frame(spark, item, druid_files[item.view])
        elif item.table.kind == "iceberg" and not self._is_iceberg(item.table):
            frame = inputs.empty_frame(spark, item.table)
        else:
            frame = inputs.table_frame(spark, item.table, self._settings, item.view)
            self._note_skipped(spark, item.table)
        frame.createOrReplaceTempView(item.view)

    def _note_skipped(self, spark: SparkSession, table: Table) -> None:
        """Say what `skip` leaves out; that takes a pass of its own, since a job may read only a part of the rows."""
        if table.kind == "files" and is_json(table) and inputs.malformed_rows(table, self._settings) == "skip":
            found = self._malformed(spark, table)
            if found.count:
                self._note(f"left out {found}")

    def _malformed(self, spark: SparkSession, table: Table) -> malformed.MalformedRows:
        lines = inputs.json_lines(spark, table, paths.spark_path(table), self._settings)
        return malformed.find(table.full_name, lines)

    def _explained(self, error: Exception, job: SparkJob, spark: SparkSession | None, log: Path) -> HiveDruidError:
        """The error in one line. A malformed row becomes the list of all of them, found by a second pass."""
        if session.lost(error):
            session.stop()
            return SparkError(
                "Spark's process has ended unexpectedly (killed, or out of memory)", hint=f"Spark's log is {log}"
            )
        text = str(error)
        for item in job.inputs:
            # Spark's message, not merely the plan that it quotes
            mark = f"[USER_RAISED_EXCEPTION] {inputs.MALFORMED_MARK}{item.view} "
            if spark and isinstance(item, TableInput) and mark in text:
                return SparkError(
                    str(self._malformed(spark, item.table)),
                    hint=f"SET TBLPROPERTIES ('{inputs.MALFORMED_PROPERTY}'='skip') leaves them out",
                )
        return failures.translate(error, log)

    @contextmanager
    def _status(self) -> Iterator[None]:
        """Show how far the running job is, from a thread of its own."""
        done = Event()
        watcher = Thread(target=self._watch, args=(done,), name="spark-status", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()

    def _watch(self, done: Event) -> None:
        begun = monotonic()
        shown = done.wait(PROGRESS_AFTER)
        while not done.is_set():
            try:
                state = session.status()
            except Exception:  # noqa: BLE001 - the job itself will say what is wrong
                break
            if state:
                before, stages, tasks_done, tasks = state
                share = 100 * tasks_done // max(1, tasks)
                self._progress(f"Spark: stage {before + 1}/{stages}, {share} % ({monotonic() - begun:.0f} s)")
                shown = True
            done.wait(PROGRESS_EVERY)
        if shown:
            self._progress("")
