"""Writes Hive-side tables: Iceberg tables, and files at a LOCATION."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.errors import PlanError, SparkError, UnsupportedError
from hivedruid.filesystems import Access, local_path
from hivedruid.iceberg.partitions import ALL_ROWS
from hivedruid.scratch import make_room
from hivedruid.spark import avro_files, inputs, paths, sequence_writing
from hivedruid.spark.arrivals import HINT, Arrivals
from hivedruid.spark.calls import SparkCall, remove_output
from hivedruid.spark.cells import fit, identifier
from hivedruid.spark.folders import swap
from hivedruid.spark.iceberg import IcebergTables
from hivedruid.spark.orc_times import storable
from hivedruid.spark.row_text import line
from hivedruid.spark.serde import is_json
from hivedruid.tables.text_output import PLAIN, TextOutput

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.types import DataType


def shape(frame: DataFrame, table: Table) -> DataFrame:
    """The rows with the names and types of the table's columns (in Iceberg for a managed table), by position; a number
    out of the type's range becomes null, and a time that the files cannot store is an error."""
    fields = frame.schema.fields
    if len(fields) != len(table.columns):
        raise PlanError(f"{len(fields)} columns for the {len(table.columns)} of {table.full_name}")
    frame = frame.toDF(*(f"_{number}" for number in range(len(table.columns))))
    return frame.selectExpr(
        *(
            f"{storable(_enforced(f'_{number}', field.dataType, column.type), column.type, table)} AS"
            f" {identifier(column.field_name if table.has_snapshots else column.name)}"
            for number, (field, column) in enumerate(zip(fields, table.columns, strict=True))
        )
    )


def write_iceberg(
    spark: SparkSession,
    frame: DataFrame,
    table: Table,
    tables: IcebergTables,
    *,
    overwrite: bool,
    replaced: str | None = ALL_ROWS,
    keeps_partitions: bool = False,
) -> int:
    """Append to the Iceberg table or replace rows of it, in one commit; the table is created if it does not exist.

    `replaced` is the condition of the replaced rows, None for those in the partitions of the new ones.
    `keeps_partitions`: each partition of the frame writes files of its own, without a shuffle that brings the rows of a
    partition of the table together; the files are sorted nevertheless. Raises ExecutionError if other partition specs
    divided the rows otherwise.
    """
    if table.iceberg is not None and not overwrite and not spark.catalog.tableExists(inputs.iceberg_name(table)):
        return _create_with_rows(spark, frame, table, tables)
    is_divided = overwrite and replaced != ALL_ROWS and tables.exists(spark, table)
    present = tables.layout(spark, table) if is_divided else None
    if table.iceberg is None:
        tables.make(spark, table)
    if present is not None:
        tables.check_spec(spark, table, present)
    options = {"distribution-mode": "none"} if keeps_partitions else {}
    rows = append_or_replace(spark, frame, table, overwrite=overwrite, replaced=replaced, options=options)
    if tables.is_own(table):
        folder = tables.folder(table)
        check_arrived(rows, (folder / "metadata").is_dir(), folder)
    return rows


def append_or_replace(
    spark: SparkSession,
    frame: DataFrame,
    table: Table,
    *,
    overwrite: bool,
    replaced: str | None,
    options: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Write to an Iceberg table as above, with Iceberg's write options; returns the number of rows."""
    from pyspark.sql.connect.functions import expr

    name, commit = inputs.iceberg_name(table), uuid4().hex

    def write(counted: DataFrame) -> None:
        writer = counted.writeTo(name).option("snapshot-property.hivedruid.commit", commit).options(**options)
        if not overwrite:
            writer.append()
        elif replaced is None:
            writer.overwritePartitions()
        else:
            writer.overwrite(expr(replaced))

    rows = counted(frame, write)
    if rows is None:
        added = "coalesce(max(CAST(summary['added-records'] AS BIGINT)), 0) AS added"
        commits = spark.table(f"{name}.snapshots").where(f"summary['hivedruid.commit'] = '{commit}'")
        rows = int(commits.selectExpr(added).collect()[0].added)
    return rows


def _create_with_rows(spark: SparkSession, frame: DataFrame, table: Table, tables: IcebergTables) -> int:
    rows = counted(frame, lambda counted: tables.make_with_rows(spark, table, counted))
    return spark.table(inputs.iceberg_name(table)).count() if rows is None else rows


def write_files(
    frame: DataFrame,
    table: Table,
    *,
    overwrite: bool,
    is_elsewhere: bool = False,
    output: TextOutput = PLAIN,
) -> int:
    """Add files to the table's LOCATION, or replace the folder after all files are written. `is_elsewhere`: Spark runs
    on other machines."""
    location = paths.location_of(table)
    path = local_path(location)
    if path is None:
        if overwrite:
            raise UnsupportedError(
                f"INSERT OVERWRITE of {table.full_name} at {location} is not supported: a failure could lose rows",
                hint="INSERT INTO a table at a new LOCATION",
            )
        rows = counted(frame, lambda counted: _write_folder(counted, table, location, output))
        return frame.count() if rows is None else rows
    return with_files(
        table, path, lambda written: _write(frame, table, written, path, is_elsewhere, output), overwrite=overwrite
    )


def with_files(table: Table, path: Path, write: Callable[[Path], int], *, overwrite: bool) -> int:
    """Add files to the folder of a table, or replace its files; returns the number of rows. `write` writes them into a
    new folder beside that of the table, and returns that number."""
    if path.is_file():
        raise UnsupportedError(
            f"the LOCATION of {table.full_name} is the single file {path}",
            hint="use a table whose LOCATION is a folder",
        )
    if table.is_temporary:
        make_room(path)
    return _with_folder(path, swap if overwrite else _add, write)


def write_directory(frame: DataFrame, table: Table, *, is_elsewhere: bool, output: TextOutput = PLAIN) -> int:
    """Replace the files of a directory of this machine. The files are named as Hive names them, `000000_0`, with the
    suffix of the compression of text; without rows there is one that is empty."""
    path = Path(paths.location_of(table))
    if path.is_file():
        raise SparkError(f"{path} is a file", hint="use a directory")

    def replaced(written: Path, target: Path) -> None:
        written.mkdir(parents=True, exist_ok=True)
        for number, file in enumerate(sorted(written.glob("part-*"))):
            packed = file.suffix if is_text(table) and output.codec else ""
            file.rename(written / f"{number:06}_0{packed}")
        if not any(written.iterdir()) and is_text(table):
            (written / "000000_0").touch()
        swap(written, target)

    return _with_folder(path, replaced, lambda written: _write(frame, table, written, path, is_elsewhere, output))


def _with_folder(path: Path, place: Callable[[Path, Path], None], write: Callable[[Path], int]) -> int:
    """Write files into a folder beside `path`, and `place` that folder."""
    written = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        rows = write(written)
        place(written, path)
    except BaseException:
        remove_output(str(written), Access())
        raise
    shutil.rmtree(written, ignore_errors=True)
    return rows


def _write(frame: DataFrame, table: Table, written: Path, path: Path, is_elsewhere: bool, output: TextOutput) -> int:
    """Write the rows into the folder `written`, and check that the files have arrived; returns their number."""
    arrivals = Arrivals() if is_elsewhere else None

    def write(counted: DataFrame) -> None:
        _write_folder(arrivals.followed(counted) if arrivals else counted, table, str(written), output)

    def rows_in_files() -> int:
        return rows_in(frame.sparkSession, written, table)

    rows = counted(frame, write)
    drop_markers(written)
    if rows is None:
        rows = rows_in_files()
    names = [file.name for file in written.glob("part-*")]
    check_arrived(rows, bool(names), path)
    if arrivals:
        arrivals.check(names, path, lambda: (frame.count(), rows_in_files()))
    return rows


def counted(frame: DataFrame, write: Callable[[DataFrame], None]) -> int | None:
    """Write the rows and count them in the same pass; None if the count arrives too late."""
    return observed(frame, write, {"rows": "count(1)"}).get("rows")


def observed(frame: DataFrame, write: Callable[[DataFrame], None], aggregates: Mapping[str, str]) -> dict[str, Any]:
    """Write the rows and aggregate them in the same pass; empty if the values arrive too late. Spark Connect waits
    only 0.1 s for them (Observation.getRowOrEmpty), which may be too short on a busy machine.
    """
    from pyspark.sql.connect.functions import expr
    from pyspark.sql.connect.observation import Observation

    observation = Observation()
    counted = frame.observe(observation, *(expr(text).alias(name) for name, text in aggregates.items()))
    SparkCall(frame.sparkSession, lambda: write(counted)).wait()
    values = dict(observation.get)
    return values if values.keys() == aggregates.keys() else {}


def check_arrived(rows: int, arrived: bool, folder: Path) -> None:
    """Check that the folder is shared: otherwise workers on other machines write to their own folder of that name."""
    if rows and not arrived:
        raise SparkError(f"Spark wrote {rows} rows, but not to {folder} on this machine", hint=HINT)


def rows_in(spark: SparkSession, folder: Path, table: Table) -> int:
    """The number of rows in the files that were written in or below a folder; in text files, lines."""
    if not any(folder.rglob("part-*")):
        return 0
    if table.format == "sequencefile":
        files = replace(table, columns=table.stored_columns, partition_spec=(), location=str(folder))
        texts: int = inputs.sequence_lines(spark, files, str(folder)).count()
        return texts
    data_format = "text" if is_text(table) else table.format or "orc"
    reader = spark.read.format(data_format).option("recursiveFileLookup", value=True)
    rows: int = reader.load(paths.readable(folder)).count()
    return rows


def _enforced(expression: str, stored: DataType, hive: HiveType) -> str:
    """The value cast to the column type, null if out of range. Spark's cast would wrap around."""
    if hive.is_integer and stored.typeName() in ("byte", "short", "integer", "long", "float", "double", "decimal"):
        return f"try_cast({expression} AS {spark_type(hive)})"
    return fit(f"CAST({expression} AS {spark_type(hive)})", hive)


def is_text(table: Table) -> bool:
    """Whether a row is a line of a text file."""
    return table.format == "textfile" or is_json(table)


def _write_folder(frame: DataFrame, table: Table, folder: str, output: TextOutput) -> None:
    """Write files of the table's format into a folder."""
    folder = paths.uri(folder)
    if table.format == "sequencefile":
        sequence_writing.write(frame.selectExpr(f"{line(table, output.zone)} AS value"), folder, output)
    elif is_text(table):
        lines = frame.selectExpr(f"{line(table, output.zone)} AS value").write.option("compression", output.compression)
        lines.mode("append").text(folder)
    elif table.format == avro_files.FORMAT:
        avro_files.write(frame, table, folder)
    elif table.format == "parquet":
        frame.write.mode("append").parquet(folder)
    else:
        as_hive_stores(frame, table).write.mode("append").orc(folder)


def as_hive_stores(frame: DataFrame, table: Table) -> DataFrame:
    """The rows for ORC files that Hive reads, too: Spark stores a TIMESTAMP_NTZ as a BIGINT. Its TIMESTAMP is Hive's,
    in the time zone of the JVM, which is UTC."""
    if not table.metastore:
        return frame
    names = {column.name: spark_type(column.type) for column in table.columns}
    return frame.selectExpr(*(_stored(name, names.get(name.lower(), "")) for name in frame.columns))


def _stored(name: str, type_: str) -> str:
    quoted = identifier(name)
    if "TIMESTAMP_NTZ" not in type_:
        return quoted
    return f"CAST({quoted} AS {type_.replace('TIMESTAMP_NTZ', 'TIMESTAMP')}) AS {quoted}"


def drop_markers(folder: Path) -> None:
    """Remove Spark's _SUCCESS and checksum files."""
    for path in (*folder.glob("_SUCCESS"), *folder.glob(".*.crc")):
        path.unlink(missing_ok=True)


def _add(written: Path, target: Path) -> None:
    """Move the files of one folder into another; their names are unique. A failure undoes earlier moves."""
    target.mkdir(parents=True, exist_ok=True)
    moved: list[Path] = []
    try:
        for path in sorted(written.iterdir()):
            moved.append(path.rename(target / path.name))
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        raise
