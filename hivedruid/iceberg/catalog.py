"""The Iceberg catalog of managed tables, from the settings `hivedruid.iceberg.catalog.*`.

The default is the home folder's own: Iceberg's JdbcCatalog on a SQLite file (`home_catalog`). With hivedruid's catalog
on PostgreSQL it is a JdbcCatalog in the same schema.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hivedruid.catalog.iceberg_place import IcebergPlace
from hivedruid.catalog.iceberg_tables import metadata_location
from hivedruid.catalog.opening import catalog_password, catalog_url
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.errors import UsageError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.metadata import local_path
from hivedruid.references import check_transport, secret
from hivedruid.secret_text import remember
from hivedruid.secrets import is_secret
from hivedruid.settings import ICEBERG_CATALOG

_ELSEWHERE = ("uri", "warehouse", "catalog-impl")
"""Properties that are only set for a catalog outside the home folder."""


def is_own(settings: Mapping[str, str], table: Table | None = None) -> bool:
    """Whether the catalog, or that of a table, is the home folder's own."""
    if table is not None and table.iceberg is not None:
        return False
    kind = settings.get(f"{ICEBERG_CATALOG}type") or "jdbc"
    return (
        kind == "jdbc"
        and not any(settings.get(f"{ICEBERG_CATALOG}{name}") for name in _ELSEWHERE)
        and catalog_url(settings) is None
    )


def is_on_postgres(settings: Mapping[str, str]) -> bool:
    """Whether the catalog is in the schema of hivedruid's own catalog on PostgreSQL."""
    kind = settings.get(f"{ICEBERG_CATALOG}type") or "jdbc"
    elsewhere = any(settings.get(f"{ICEBERG_CATALOG}{name}") for name in ("uri", "catalog-impl"))
    return kind == "jdbc" and not elsewhere and catalog_url(settings) is not None


def jdbc_driver(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The artifacts with the JDBC drivers that Spark needs for the catalog besides its own libraries."""
    return ("postgresql",) if is_on_postgres(settings) else ()


def properties(settings: Mapping[str, str], home: Path) -> dict[str, str]:
    """The catalog's properties, by Iceberg's names, with secrets resolved. Raises UsageError for a missing secret,
    and for one that would be sent over plain http."""
    given = {
        key.removeprefix(ICEBERG_CATALOG): value
        for key, value in settings.items()
        if key.startswith(ICEBERG_CATALOG) and value
    }
    kind = given.pop("type", "jdbc")
    found = resolved(given, ICEBERG_CATALOG, settings)
    if is_own(settings):
        return {**home_catalog.properties(home), **found}
    if is_on_postgres(settings):
        return {**_on_postgres(settings), **found}
    return found if "catalog-impl" in found else {"type": kind, **found}


def properties_of(place: IcebergPlace, settings: Mapping[str, str]) -> dict[str, str]:
    """The same for the catalog of a database."""
    return {"type": place.type, **resolved(dict(place.properties), "", settings)}


def current_metadata(settings: Mapping[str, str], home: Path, known: Catalog, table_id: str) -> Path | None:
    """A table's current metadata file, as far as it is known without Spark: in the home's own catalog, and in one on
    PostgreSQL whose warehouse is a folder; None also if nothing has been written to the table."""
    if is_own(settings):
        return home_catalog.current_metadata(home, table_id)
    if not is_on_postgres(settings):
        return None
    location = metadata_location(known, home_catalog.CATALOG, home_catalog.NAMESPACE, table_id)
    return local_path(location) if location is not None and location.startswith(("file:", "/")) else None


def check_warehouse(settings: Mapping[str, str]) -> None:
    """Raise UsageError for managed tables of a catalog on PostgreSQL without a warehouse: in the home folder, which is
    the default, other machines would not find their files."""
    if is_on_postgres(settings) and not settings.get(f"{ICEBERG_CATALOG}warehouse"):
        raise UsageError(
            "managed tables of a catalog on PostgreSQL require a warehouse that all machines can reach",
            hint=f"set {ICEBERG_CATALOG}warehouse to a folder that they share, or to a URI such as s3a://bucket/folder",
        )


def _on_postgres(settings: Mapping[str, str]) -> dict[str, str]:
    """The properties of the catalog on PostgreSQL, but for its warehouse."""
    url = catalog_url(settings)
    assert url is not None
    password = catalog_password(settings) or os.environ.get("PGPASSWORD")
    remember([password] if password else [])
    found = {
        "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "uri": url.jdbc,
        "jdbc.schema-version": "V1",
        "jdbc.user": url.user or os.environ.get("PGUSER") or _user(),
    }
    return found if password is None else {**found, "jdbc.password": password}


def _user() -> str:
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError, ImportError):  # in a container, a user id may have no name
        raise UsageError(
            "the user of the catalog on PostgreSQL is not known",
            hint="name it in hivedruid.catalog.url: postgresql://user@host/database",
        ) from None


def resolved(given: Mapping[str, str], prefix: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Properties with their secrets; `prefix` comes before their names in messages. Raises UsageError as above."""
    for name in filter(is_secret, given):
        for address in ("uri", "oauth2-server-uri"):
            check_transport(given.get(address, ""), f"{prefix}{name}", settings)
    return {name: _resolved(name, value, prefix) for name, value in given.items()}


def _resolved(name: str, value: str, prefix: str) -> str:
    is_reference = is_secret(name) and value.startswith(("env:", "file:"))
    return secret(f"{prefix}{name}", value) if is_reference else value
