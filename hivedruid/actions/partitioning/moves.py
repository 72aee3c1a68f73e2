"""Writes rows into partitions, and files into external tables: they are staged beside the table's folders, then moved.

The move is a durable operation that begins when all files are staged. Before that nothing has changed; afterwards the
moves are completed, by this statement, by the next one, or by RESUME JOB.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.actions.partitioning.folders import local_names
from hivedruid.actions.partitioning.gather import partitions_of
from hivedruid.actions.writing import staging
from hivedruid.catalog.metastore import URIS, is_in_metastore
from hivedruid.catalog.partitions import Partition, Partitions, parse_name
from hivedruid.errors import ConnectError, ExecutionError, UnsupportedError
from hivedruid.filesystems import Access, local_path, open_location
from hivedruid.operations.owner import is_running, owned
from hivedruid.operations.partitions import PartitionJob
from hivedruid.operations.store import Operations
from hivedruid.scratch import make_room

if TYPE_CHECKING:
    from hivedruid.actions.partitioning.model import ChangePartitions, ExchangePartitions
    from hivedruid.actions.services import Services
    from hivedruid.actions.writing.model import LoadFiles, WriteTable
    from hivedruid.catalog.table import Table
    from hivedruid.plan.physical import SparkJob


_STAGED = ".staged-"
MOST_PARTITIONS = "hive.exec.max.dynamic.partitions"


def write(action: WriteTable, job: SparkJob, services: Services) -> None:
    """Run the Spark job and write its rows into the partitions of the table."""
    from hivedruid.spark.partition_writing import stage

    table = action.table
    base = local_path(table.location or "")
    if base is None:
        raise UnsupportedError(
            f"INSERT into the partitions of {table.full_name} at {table.location} is not supported: its files cannot be"
            " moved",
            hint="write to an external table at a LOCATION of its own, and use ALTER TABLE … ADD PARTITION … LOCATION",
        )
    if table.is_temporary:
        make_room(base)
    _remove_abandoned(base, services)
    statement_id = uuid4().hex
    staged = base / f"{_STAGED}{statement_id}"
    statement = "INSERT OVERWRITE" if action.overwrite else "INSERT INTO"
    operation = _operation(action, statement, statement_id, staged, services)
    store = Operations(services.catalog)
    with owned(services.home, operation, store):
        try:
            stage(services.spark(), job, table, staged, divides=action.partition is None)
            moves = tuple(_moves(action, staged, services))
            _check_number(action, len(moves), services)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        _begin(replace(operation, moves=moves), table, store, services)
        complete(store.current(operation), services)


def _begin(operation: PartitionJob, table: Table, store: Operations, services: Services) -> None:
    """Record the moves, and with them the new table of CREATE TABLE … AS SELECT."""
    if table.metastore or _resolved(table.database, table.name, table.table_id, services=services) is not None:
        store.begin([operation])
        return
    with services.catalog.transaction():
        services.catalog.add(table)
        store.begin([operation])


def _operation(
    action: WriteTable | LoadFiles, statement: str, statement_id: str, staged: Path, services: Services
) -> PartitionJob:
    table = action.table
    return PartitionJob(
        id=f"{table.name}_{uuid4().hex[:12]}", statement_id=statement_id, statement=statement,
        database=table.database, table=table.name, table_id=table.table_id, druid=services.setting("druid.url"),
        text="", staged=str(staged), overwrites=action.overwrite,
    )  # fmt: skip


def load(action: LoadFiles, services: Services) -> None:
    """Copy or move files into the folder of a table or partition. They are staged as links if that is possible; files
    that are moved are deleted where they were when the table has them."""
    table = action.table
    base = _local_folder(table.location or "", table, table.name)
    folder, name = base, "files"
    values: tuple[str, ...] = ()
    if action.partition is not None:
        known = {each.values: each for each in partitions_of(table, services.catalog, services.settings)}
        values, name = action.partition.values, action.partition.name(table.partition_columns)
        folder = _local_folder(known.get(values, action.partition).folder(table), table, name)
    _check_loaded(action, folder)
    prefix = _STAGED if action.partition is not None else f".{base.name}{_STAGED}"
    parent = base if action.partition is not None else base.parent
    _remove_abandoned(parent, services, prefix)
    statement_id = uuid4().hex
    staged = parent / f"{prefix}{statement_id}"
    operation = _operation(action, "LOAD DATA", statement_id, staged, services)
    store = Operations(services.catalog)
    with owned(services.home, operation, store):
        try:
            _stage_files(action, staged / name)
        except OSError as error:
            shutil.rmtree(staged, ignore_errors=True)
            raise ExecutionError(f"cannot load the files into {table.full_name}: {error}") from error
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        sources = () if action.copies else action.files
        store.begin([replace(operation, moves=((values, name, str(folder)),), sources=sources)])
        complete(store.current(operation), services)


def exchange(action: ExchangePartitions, services: Services) -> None:
    """Move the folders of partitions to the table that gets them. A partition with a LOCATION of its own keeps it."""
    target, source = action.target, action.source
    if target.metastore:
        services.metastore.exchange_partitions(target, source, dict(action.given))
        return
    moves = []
    for partition in action.partitions:
        name = partition.name(target.partition_columns)
        before = partition.folder(source)
        is_below = before.startswith((source.location or "").rstrip("/") + "/")
        after = Partition(partition.values).folder(target) if is_below else before
        if is_below:
            paths = _local_folder(before, source, name), _local_folder(after, target, name)
            _check_exchanged(*paths, target)
            before, after = map(str, paths)
        moves.append((partition.values, before, after))
    operation = PartitionJob(
        id=f"{target.name}_{uuid4().hex[:12]}", statement_id=uuid4().hex, statement="EXCHANGE PARTITION",
        database=target.database, table=target.name, table_id=target.table_id, druid=services.setting("druid.url"),
        text="", moves=tuple(moves), giver=(source.database, source.name, source.table_id),
    )  # fmt: skip
    store = Operations(services.catalog)
    with owned(services.home, operation, store):
        store.begin([operation])
        complete(store.current(operation), services)


def drop(action: ChangePartitions, services: Services) -> None:
    """Remove partitions from the catalog, and then their files: MSCK would bring back those that remain."""
    table = action.table
    operation = PartitionJob(
        id=f"{table.name}_{uuid4().hex[:12]}", statement_id=uuid4().hex, statement="DROP PARTITION",
        database=table.database, table=table.name, table_id=table.table_id, druid=services.setting("druid.url"),
        text="", moves=tuple((each.values, "", each.folder(table)) for each in action.removed), drops=True,
    )  # fmt: skip
    store = Operations(services.catalog)
    with owned(services.home, operation, store):
        store.begin([operation])
        complete(store.current(operation), services)


def _check_exchanged(before: Path, after: Path, target: Table) -> None:
    """Raises ExecutionError if the folder cannot be moved in one step."""
    if after.exists() and (not after.is_dir() or any(after.iterdir())):
        raise ExecutionError(
            f"cannot move a partition to {target.full_name}: {after} has files that belong to no partition",
            hint="remove the folder, or run MSCK REPAIR TABLE and drop the partition",
        )
    parent = next(each for each in after.parents if each.exists())
    if before.exists() and before.stat().st_dev != parent.stat().st_dev:
        raise ExecutionError(
            f"cannot move {before} to {after}: they are on different file systems",
            hint="use INSERT OVERWRITE TABLE … PARTITION (…) SELECT, then ALTER TABLE … DROP PARTITION",
        )


def _check_loaded(action: LoadFiles, folder: Path) -> None:
    """Raises ExecutionError for a LOCATION that is a file, and for files that are moved to where they are."""
    if folder.is_file():
        raise ExecutionError(
            f"the LOCATION of {action.table.full_name} is the single file {folder}",
            hint="use a table whose LOCATION is a folder",
        )
    if not action.copies and any(Path(file).resolve().parent == folder.resolve() for file in action.files):
        raise ExecutionError(
            f"the files are in the folder of {action.table.full_name} already", hint="remove the statement"
        )


def _stage_files(action: LoadFiles, folder: Path) -> None:
    folder.mkdir(parents=True)
    for file in action.files:
        path = _free(folder, Path(file).name)
        try:
            if action.copies:
                raise OSError
            os.link(os.path.realpath(file), path)
        except OSError:
            shutil.copy(file, path)


def _names(name: str) -> Iterator[str]:
    """A name and those that Hive gives to files if it is taken (Hive.mvFile): `a.txt`, `a_copy_1.txt`, …."""
    yield name
    stem, dot, suffix = name.rpartition(".")
    yield from (f"{stem}_copy_{n}.{suffix}" if dot else f"{name}_copy_{n}" for n in count(1))


def _free(folder: Path, name: str) -> Path:
    return next(path for path in (folder / each for each in _names(name)) if not path.exists())


def _remove_abandoned(base: Path, services: Services, prefix: str = _STAGED) -> None:
    """Remove what statements staged that were killed before all of their rows were there."""
    unfinished = {job.statement_id for job in Operations(services.catalog).unfinished()}
    for folder in base.glob(f"{glob.escape(prefix)}*"):
        statement_id = folder.name.removeprefix(prefix)
        if statement_id not in unfinished and not is_running(services.home, services.catalog, statement_id):
            staging.remove(str(folder), services)


def _moves(action: WriteTable, staged: Path, services: Services) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The staged partitions, and where their files go. The partition of PARTITION (…) is written without rows, too."""
    table = action.table
    columns = table.partition_columns
    known = {each.values: each for each in _known(table, services)}
    found: dict[tuple[str, ...], str] = {}
    for name in local_names(str(staged), len(columns)):
        partition = parse_name(name, columns)
        if partition is not None:
            found[partition.values] = name
    if action.partition is not None and action.partition.values not in found:
        name = action.partition.name(columns)
        (staged / name).mkdir(parents=True)
        found[action.partition.values] = name
    for values, name in found.items():
        _check_format(known.get(values), table)
        folder = known.get(values, Partition(values)).folder(table)
        yield values, name, str(_local_folder(folder, table, name))


def _check_number(action: WriteTable, number: int, services: Services) -> None:
    """Raises ExecutionError if the rows are in more partitions than hive.exec.max.dynamic.partitions."""
    most = int(services.setting(MOST_PARTITIONS))
    if most and action.partition is None and number > most:
        raise ExecutionError(
            f"Number of dynamic partitions created is {number}, which is more than {most}",
            hint=f"SET {MOST_PARTITIONS} to at least {number}; no row was written",
        )


def _known(table: Table, services: Services) -> tuple[Partition, ...]:
    if table.metastore:
        return services.metastore.partitions(table, None)
    return partitions_of(table, services.catalog, services.settings)


def _check_format(partition: Partition | None, table: Table) -> None:
    """Raises UnsupportedError for a partition in a Hive metastore whose files have another format than the table's."""
    if partition is not None and (partition.files is not None or partition.unreadable):
        raise UnsupportedError(
            f"cannot insert into partition {partition.name(table.partition_columns)} of {table.full_name}: its files"
            " have another format than those of the table",
            hint="write to it in Hive",
        )


def _local_folder(folder: str, table: Table, name: str) -> Path:
    path = local_path(folder)
    if path is None:
        raise UnsupportedError(
            f"INSERT into partition {name} of {table.full_name} at {folder} is not supported: its files cannot be"
            " moved",
            hint="ALTER TABLE … PARTITION … SET LOCATION to a folder on this machine",
        )
    return path


def complete(job: PartitionJob, services: Services) -> None:
    """Move the files that are still staged, and add new partitions to the catalog; or delete dropped files."""
    table = _table_of(job, services)
    store = Operations(services.catalog)
    if table is None or table.table_id != job.table_id:
        store.move(job, "cancelled", error="the table was dropped")
        if job.staged:
            shutil.rmtree(job.staged, ignore_errors=True)
        return
    if job.drops:
        Partitions(services.catalog).remove(table, [Partition(values) for values, _, _ in job.moves])
        delete_folders(job, table, services)
        store.move(job, "done")
        return
    written = [_written(job, *move) for move in job.moves if move[0]]
    if table.metastore:
        services.metastore.begin_write(table, written)
    try:
        for _, name, folder in job.moves:
            if job.giver:
                move_folder(Path(name), Path(folder))
            else:
                move_files(Path(job.staged, name), Path(folder), job)
        for source in job.sources:
            Path(source).unlink(missing_ok=True)
    except OSError as error:
        raise ExecutionError(
            f"cannot move the files of {table.full_name}: {error}",
            hint=f"remove the cause, then RESUME JOB '{job.id}'",
        ) from error
    if table.metastore:
        services.metastore.add_partitions(table, written)
    with services.catalog.transaction():
        if not table.metastore:
            Partitions(services.catalog).add(table, written)
        if job.giver and (giver := _resolved(*job.giver, services=services)) is not None:
            Partitions(services.catalog).remove(giver, written)
        store.move(job, "done")
    if job.staged:
        shutil.rmtree(job.staged, ignore_errors=True)


def delete_folders(job: PartitionJob, table: Table, services: Services) -> None:
    for _, _, folder in job.moves:
        try:
            open_location(folder, Access.of(services.settings)).remove()
        except OSError as error:
            raise ExecutionError(
                f"cannot delete the folder {folder} of {table.full_name}: {error.strerror or error}",
                hint=f"remove the cause, then RESUME JOB '{job.id}'",
            ) from error


def _written(job: PartitionJob, values: tuple[str, ...], before: str, folder: str) -> Partition:
    """The partition of a move; it has a LOCATION if its folder stays where it is."""
    return Partition(values, folder if job.giver and before == folder else None)


def move_folder(before: Path, after: Path) -> None:
    """Move the folder of a partition; nothing, if that was done before."""
    if before == after or not before.exists():
        return
    after.parent.mkdir(parents=True, exist_ok=True)
    if after.exists():
        after.rmdir()  # it is empty: that was checked
    before.rename(after)


def _resolved(database: str, name: str, table_id: str, *, services: Services) -> Table | None:
    """The table of the home's catalog or the session with that name and id."""
    found = (services.catalog.resolve(database, name), services.catalog.find(database, name))
    return next((table for table in found if table is not None and table.table_id == table_id), None)


def _table_of(job: PartitionJob, services: Services) -> Table | None:
    """Raises ConnectError if that is not known, since the table is in a Hive metastore that cannot be reached."""
    names = services.catalogs.names
    table = _resolved(job.database, job.table, job.table_id, services=services) or names.find(job.database, job.table)
    if table is None and is_in_metastore(job.table_id) and (names.problem is not None or names.metastore is None):
        raise names.problem or ConnectError(
            f"job {job.id} writes to {job.full_name} in a Hive metastore, and {URIS} is not set",
            hint=f"SET {URIS}=thrift://…, then RESUME JOB '{job.id}'",
        )
    return table


def move_files(staged: Path, folder: Path, job: PartitionJob) -> None:
    """Move the files of a partition; nothing, if that was done before."""
    if not staged.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    if job.overwrites:
        if folder.exists():
            former = Path(job.staged, f".former-{uuid4().hex}")
            folder.rename(former)
        staged.rename(folder)
        return
    folder.mkdir(exist_ok=True)
    for name in sorted(os.listdir(staged)):  # noqa: PTH208
        _move_file(staged / name, folder)
    staged.rmdir()


def _move_file(file: Path, folder: Path) -> None:
    """Move a file under a name that is not taken. A link fails if it is, unlike a rename."""
    for name in _names(file.name):
        path = folder / name
        try:
            os.link(file, path)
        except FileExistsError:
            if path.samefile(file):  # the process was killed after this link
                break
            continue
        except OSError:  # a file system without links
            if path.exists():
                continue
            file.rename(path)
            return
        break
    file.unlink()


def complete_interrupted(services: Services) -> bool:
    """Complete the moves of interrupted statements, so that every table has all of their rows; whether there were
    any. Those into tables of a Hive metastore that cannot be reached remain."""
    jobs = [job for job in Operations(services.catalog).unfinished() if isinstance(job, PartitionJob)]
    interrupted = [job for job in jobs if not is_running(services.home, services.catalog, job.statement_id)]
    remaining = 0
    for job in interrupted:
        try:
            resume(job, services)
        except ConnectError as error:
            remaining += 1
            services.note(f"the interrupted {job.statement} of {job.full_name} is not complete: {error.message}")
    return remaining < len(interrupted)


def resume(job: PartitionJob, services: Services) -> None:
    store = Operations(services.catalog)
    with owned(services.home, job, store):
        stored = store.current(job)
        if not stored.has_ended:
            complete(stored, services)
            services.note(f"completed the interrupted {job.statement} of {job.full_name}")
