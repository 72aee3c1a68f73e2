"""The catalog that the settings of a session name: a SQLite file in the home folder, or a schema on PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from hivedruid.catalog.connection import Connection
from hivedruid.catalog.database import copy_database, open_database
from hivedruid.errors import ExecutionError, UnsupportedError
from hivedruid.postgres_url import PostgresUrl, parse
from hivedruid.private import private_home
from hivedruid.references import secret
from hivedruid.settings import CATALOG_PASSWORD, CATALOG_URL


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
    return open_postgres(url, catalog_password(settings))


def copy_catalog(home: Path, settings: Mapping[str, str]) -> Connection:
    """A copy of the catalog in memory. Nothing is written. Raises ExecutionError."""
    url = catalog_url(settings)
    if url is None:
        return copy_database(home)
    from hivedruid.catalog.postgres import read_postgres
    from hivedruid.catalog.postgres_copy import in_sqlite

    with closing(read_postgres(url, catalog_password(settings))) as source:
        return in_sqlite(source)


def of_home(connection: Connection) -> sqlite3.Connection:
    """The connection of a catalog in the home folder, whose database also has the segments of the embedded store.

    Raises UnsupportedError for another catalog: the rows of the embedded store would be missing on other machines.
    """
    if isinstance(connection, sqlite3.Connection):
        return connection
    raise UnsupportedError(
        "the embedded store is not supported with a catalog on PostgreSQL: its rows are in this home folder alone",
        hint="set druid.url to the router of a Druid cluster",
    )


def is_in_home(connection: Connection) -> bool:
    """Whether a catalog is in the home folder, where no other machine sees it."""
    return isinstance(connection, sqlite3.Connection)
