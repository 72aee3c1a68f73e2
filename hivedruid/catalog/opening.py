"""The catalog that the settings of a session name: a SQLite file in the home folder, or a schema on PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid import configuration, notices
from hivedruid.catalog.connection import Connection
from hivedruid.catalog.database import FILE_NAME, copy_database, open_database
from hivedruid.errors import ExecutionError, UnsupportedError
from hivedruid.postgres_url import PostgresUrl, parse
from hivedruid.private import private_home
from hivedruid.references import secret
from hivedruid.settings import CATALOG_PASSWORD, CATALOG_URL
from hivedruid.sqlite_waits import WaitingConnection

if TYPE_CHECKING:
    from hivedruid.catalog.postgres import PostgresConnection
    from hivedruid.catalog.store import Catalog


def catalog_url(settings: Mapping[str, str]) -> PostgresUrl | None:
    """The address of the catalog on PostgreSQL; None if the catalog is in the home folder."""
    text = settings.get(CATALOG_URL)
    return parse(text) if text else None


def catalog_password(settings: Mapping[str, str]) -> str | None:
    """The password that the settings refer to; None if they leave it to PGPASSWORD and ~/.pgpass.

    Raises UsageError if there is none at the reference.
    """
    reference = settings.get(CATALOG_PASSWORD)
    return secret(CATALOG_PASSWORD, reference) if reference else None


def open_catalog(home: Path, settings: Mapping[str, str]) -> Connection:
    """The catalog, created or migrated if needed. Raises ExecutionError."""
    url = catalog_url(settings)
    if url is None:
        return open_database(home)
    from hivedruid.catalog.postgres import open_postgres

    try:
        private_home(home)
    except OSError as error:
        raise ExecutionError(f"cannot create the home folder {home}: {error}") from error
    connection = open_postgres(url, catalog_password(settings))
    if connection.is_new and (home / FILE_NAME).exists():
        notices.note(f"created the catalog {url.shown}; the tables of {home / FILE_NAME} are not in it")
    return connection


def copy_catalog(home: Path, settings: Mapping[str, str]) -> Connection:
    """A copy of the catalog in memory. Nothing is written. Raises ExecutionError."""
    url = catalog_url(settings)
    if url is None:
        return copy_database(home)
    from hivedruid.catalog.postgres import read_postgres

    return _copied(read_postgres(url, catalog_password(settings)))


def read_catalog(home: Path, settings: Mapping[str, str]) -> Connection:
    """The catalog, only to be read. Nothing is created or migrated. Raises ExecutionError."""
    url = catalog_url(settings)
    if url is None:
        return copy_database(home)
    from hivedruid.catalog.postgres import read_postgres

    source = read_postgres(url, catalog_password(settings))
    return source if source.is_current else _copied(source)


def _copied(source: PostgresConnection) -> Connection:
    from hivedruid.catalog.postgres_copy import in_sqlite

    try:
        return in_sqlite(source)
    except BaseException:
        source.close()
        raise


def described(settings: Mapping[str, str]) -> str:
    """The catalog on PostgreSQL, for a report. Nothing is created. Raises ExecutionError if it cannot be read."""
    from hivedruid.catalog.postgres import read_postgres

    url = catalog_url(settings)
    assert url is not None
    with closing(read_postgres(url, catalog_password(settings))) as connection:
        return connection.described()


def of_home(connection: Connection) -> sqlite3.Connection:
    """The connection of a catalog in the home folder, whose database also has the segments of the embedded store.

    Raises UnsupportedError for another catalog: the rows of the embedded store would be missing on other machines.
    """
    if isinstance(connection, sqlite3.Connection) and on_postgres(connection) is None:
        return connection
    raise UnsupportedError(
        "the embedded store is not supported with a catalog on PostgreSQL: its rows are in this home folder alone",
        hint="set druid.url to the router of a Druid cluster",
    )


def on_postgres(connection: Connection) -> PostgresConnection | None:
    """The session with a catalog on PostgreSQL, or with the one that was copied; None for a catalog in a home."""
    if isinstance(connection, WaitingConnection):
        return None
    from hivedruid.catalog.postgres import PostgresConnection

    source = getattr(connection, "source", connection)
    return source if isinstance(source, PostgresConnection) else None


def is_shared(catalog: Catalog) -> bool:
    """Whether other homes may have the same catalog."""
    return on_postgres(catalog.connection) is not None


def still_exists(home: Path, catalog: Catalog) -> bool:
    """Whether the home has not been deleted since the catalog was opened."""
    return home.is_dir() if is_shared(catalog) else (home / FILE_NAME).exists()


def is_there(home: Path) -> bool:
    """Whether the home has a catalog, as far as that is known without opening it."""
    return (home / FILE_NAME).exists() or bool(configuration.values(home).get(CATALOG_URL))


def catalog_name(home: Path, catalog: Catalog) -> str:
    """The name of a catalog in messages of others: that of its home, with user and host, or that of the database."""
    shared = on_postgres(catalog.connection)
    if shared is not None:
        from hivedruid.catalog.postgres import identity

        return identity(shared)
    import getpass
    import socket

    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container whose user has no name
        user = "?"
    return f"{user}@{socket.gethostname()}:{home}"
