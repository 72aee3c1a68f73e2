"""The home folder's own Iceberg catalog: a SQLite file that Iceberg's JdbcCatalog commits to.

This module reads it without Spark. Iceberg's own tables contain one row for each table: the location of its current
metadata file, which every commit replaces by compare-and-swap. Any Spark and pyiceberg's SqlCatalog can open the same
file.

Homes of earlier versions have their tables in the layout of Iceberg's Hadoop catalog: numbered metadata files, with the
number of the current one in version-hint.text. Such a table is read from there until the first Spark job that uses it
registers it in the catalog by `register_table`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hivedruid.errors import ExecutionError
from hivedruid.iceberg.files import TableFiles, read_files
from hivedruid.iceberg.history import TableHistory, read_history
from hivedruid.iceberg.metadata import TableState, document, local_path, read
from hivedruid.private import is_read_only, private_file, private_folder, private_home
from hivedruid.scratch import working_folder
from hivedruid.sqlite_waits import CatalogConnection, connect, copy_file, in_memory

FILE_NAME = "iceberg.sqlite"
CATALOG = "hivedruid"
"""The name of the catalog, in Spark and in its own tables."""
NAMESPACE = "tables"
SPARK_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
"""Iceberg's SQL, for `spark.sql.extensions`."""
BUSY = 20.0
"""Seconds to wait while another process commits."""

_SCHEMA_VERSION = 1
_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS iceberg_tables (
        catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
        metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
        PRIMARY KEY (catalog_name, table_namespace, table_name))""",
    """CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
        catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255),
        property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key))""",
    f"INSERT OR IGNORE INTO iceberg_namespace_properties VALUES ('{CATALOG}', '{NAMESPACE}', 'exists', 'true')",
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
)
"""The schema that JdbcCatalog (jdbc.schema-version V1) would create; here it is created in one transaction, readable
only by the owner."""

_KEY = f"catalog_name = '{CATALOG}' AND table_namespace = '{NAMESPACE}' AND table_name = ?"


def properties(home: Path) -> dict[str, str]:
    """The properties of the catalog for Iceberg."""
    file = catalog_file(working_folder(home))
    return {
        "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "uri": f"jdbc:sqlite:{file.as_uri()}?journal_mode=WAL&busy_timeout={BUSY * 1000:.0f}",
        "jdbc.schema-version": "V1",
        "warehouse": f"file://{home.absolute() / 'warehouse'}",
    }


def catalog_file(home: Path) -> Path:
    """The catalog's SQLite file."""
    return home.absolute() / FILE_NAME


def folder(home: Path, table_id: str) -> Path:
    """The folder of a table's files."""
    return home.absolute() / "warehouse" / NAMESPACE / table_id


def prepare(home: Path) -> None:
    """Create the catalog if it does not exist; for a home that can only be read, bring the copy for Spark up to date.
    Raises ExecutionError if that is not possible."""
    path = catalog_file(home)
    with _errors(path):
        if is_read_only(home):
            _copy_for_spark(path, catalog_file(working_folder(home)))
            return
        private_home(home)
        private_folder(home / "warehouse")
        private_file(path)
        with closing(connect(path, mode="rwc", patience=BUSY)) as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] >= _SCHEMA_VERSION:
                return
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("COMMIT")


def _copy_for_spark(path: Path, copy: Path) -> None:
    private_folder(copy.parent)
    private_file(copy)
    with closing(connect(copy, mode="rwc", patience=BUSY)) as target:
        copy_file(path, target, patience=BUSY)


@contextmanager
def _reading(home: Path) -> Iterator[sqlite3.Connection]:
    """A connection for reading the catalog; one with a copy if SQLite cannot create the files of its log."""
    path = catalog_file(home)
    with _errors(path):
        if is_read_only(home):
            connection: sqlite3.Connection = in_memory(CatalogConnection)
            copy_file(path, connection, patience=BUSY)
        else:
            connection = connect(path, mode="rw", patience=BUSY)
        with closing(connection):
            yield connection


def registered(home: Path, table_id: str) -> str | None:
    """The location of a table's current metadata file in the catalog; None if the catalog does not contain the
    table."""
    if not catalog_file(home).exists():
        return None
    with _reading(home) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'iceberg_tables'").fetchone():
            return None
        query = f"SELECT metadata_location FROM iceberg_tables WHERE {_KEY}"
        row = connection.execute(query, (table_id,)).fetchone()
    return None if row is None else str(row[0])


def names(home: Path, prefix: str) -> list[str]:
    """The tables in the catalog whose names begin with `prefix`."""
    with _reading(home) as connection:
        query = "SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND substr(table_name, 1, ?) = ?"
        return [str(name) for (name,) in connection.execute(query, (CATALOG, len(prefix), prefix))]


def replace_metadata(home: Path, table_id: str, before: str | None, after: str) -> bool:
    """Make a metadata file the current one of a table if it is the one `before`, or the table has none; whether it was.
    As in JdbcCatalog, this is a commit."""
    path = catalog_file(home)
    with _errors(path), closing(connect(path, mode="rw", patience=BUSY)) as connection:
        if before is None:
            statement = "INSERT OR IGNORE INTO iceberg_tables VALUES (?, ?, ?, ?, NULL, 'TABLE')"
            done = connection.execute(statement, (CATALOG, NAMESPACE, table_id, after))
        else:
            done = connection.execute(
                "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?"
                f" WHERE {_KEY} AND metadata_location = ?",
                (after, before, table_id, before),
            )
        return done.rowcount == 1


def remove(home: Path, table_id: str) -> None:
    """Remove a table from the catalog, if it is in it."""
    path = catalog_file(home)
    if not path.exists() or registered(home, table_id) is None:
        return
    with _errors(path), closing(connect(path, mode="rwc", patience=BUSY)) as connection:
        connection.execute(f"DELETE FROM iceberg_tables WHERE {_KEY}", (table_id,))


def to_register(home: Path, table_id: str) -> Path | None:
    """The current metadata file of a table that an earlier version wrote and that is not registered in the catalog
    yet.
    """
    return hadoop_metadata(folder(home, table_id)) if registered(home, table_id) is None else None


def current_metadata(home: Path, table_id: str) -> Path | None:
    """A table's current metadata file; None if nothing has been written to the table."""
    location = registered(home, table_id)
    return hadoop_metadata(folder(home, table_id)) if location is None else local_path(location)


def exists(home: Path, table_id: str) -> bool:
    """Whether the table has been created, and its folder exists."""
    metadata = current_metadata(home, table_id)
    return metadata is not None and metadata.parent.is_dir()


def state(home: Path, table_id: str) -> TableState | None:
    """The state of a table in its current metadata file; None if nothing has been written to it.

    Raises OSError and ValueError if that file cannot be read.
    """
    metadata = current_metadata(home, table_id)
    return read(metadata) if metadata is not None else None


def files(home: Path, table_id: str) -> TableFiles:
    """The files of a table at its current commit. Raises OSError and ValueError if they cannot be read."""
    metadata = current_metadata(home, table_id)
    return read_files(metadata) if metadata is not None else TableFiles()


def history(home: Path, table_id: str) -> TableHistory | None:
    """The snapshots of a table; None if nothing has been written to it. Raises OSError and ValueError as `state`."""
    metadata = current_metadata(home, table_id)
    return read_history(metadata) if metadata is not None else None


def undo_empty_commit(home: Path, table_id: str) -> bool:
    """Make the metadata before the last commit the current one again if that commit changed no file; whether it did.

    Nothing is done if the commit was followed by another one, or if the metadata differ in more than the snapshot.
    """
    location = registered(home, table_id)
    if location is None:
        return False
    with _errors(catalog_file(home)), closing(connect(catalog_file(home), mode="rw", patience=BUSY)) as connection:
        query = f"SELECT previous_metadata_location FROM iceberg_tables WHERE {_KEY} AND metadata_location = ?"
        row = connection.execute(query, (table_id, location)).fetchone()
        if row is None or row[0] is None or not _is_empty(local_path(location), local_path(row[0])):
            return False
        undone = connection.execute(
            f"UPDATE iceberg_tables SET metadata_location = previous_metadata_location WHERE {_KEY}"
            " AND metadata_location = ?",
            (table_id, location),
        )
        return undone.rowcount == 1


_OF_COMMIT = frozenset(
    (
        "current-snapshot-id",
        "last-sequence-number",
        "last-updated-ms",
        "metadata-log",
        "refs",
        "snapshot-log",
        "snapshots",
    )
)
"""The fields of metadata that every commit changes."""
_COUNTS = ("added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files")


def _is_empty(after: Path, before: Path) -> bool:
    """Whether the only difference of two metadata files is one snapshot without changed files."""
    try:
        new, old = document(after), document(before)
    except (OSError, ValueError):
        return False
    snapshot = next((s for s in new["snapshots"] if s["snapshot-id"] == new.get("current-snapshot-id")), None)
    if snapshot is None or any(snapshot["summary"].get(name, "0") != "0" for name in _COUNTS):
        return False
    former = old.get("current-snapshot-id")
    parent = snapshot.get("parent-snapshot-id")
    is_next = (None if former == -1 else former) == parent and len(new["snapshots"]) == len(old["snapshots"]) + 1
    return is_next and all(new.get(key) == old.get(key) for key in (new.keys() | old.keys()) - _OF_COMMIT)


def hadoop_metadata(table_folder: Path) -> Path | None:
    """The current metadata file in the layout of the Hadoop catalog, found as in HadoopTableOperations:
    version-hint.text may be outdated or missing; the file with the next number is current as soon as it exists.
    """
    metadata = table_folder / "metadata"
    try:
        version = int((metadata / "version-hint.text").read_text(encoding="utf-8").strip())
    except (OSError, ValueError):
        version = max(_versions(metadata), default=0)
    path = _numbered(metadata, version)
    while (following := _numbered(metadata, version + 1)) is not None:
        version, path = version + 1, following
    if path is None and version:
        raise ExecutionError(
            f"version {version} of the metadata in {metadata} is missing", hint="restore the files from a backup"
        )
    return path


def _versions(metadata: Path) -> Iterator[int]:
    for path in metadata.glob("v*.metadata.json*"):
        number = path.name[1:].partition(".")[0]
        if number.isdigit():
            yield int(number)


def _numbered(metadata: Path, version: int) -> Path | None:
    names = (f"v{version}.metadata.json", f"v{version}.gz.metadata.json", f"v{version}.metadata.json.gz")
    return next((metadata / name for name in names if (metadata / name).exists()), None)


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise ExecutionError(
            f"cannot open the Iceberg catalog {path}: {error}",
            hint="check the permissions of the home folder, or restore the file from a backup",
        ) from error
