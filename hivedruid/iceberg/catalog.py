"""The Iceberg catalog of managed tables, from the settings `hivedruid.iceberg.catalog.*`.

The default is the home folder's own: Iceberg's JdbcCatalog on a SQLite file (`home_catalog`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hivedruid.catalog.iceberg_place import IcebergPlace
from hivedruid.catalog.table import Table
from hivedruid.iceberg import home_catalog
from hivedruid.references import check_transport, secret
from hivedruid.secrets import is_secret
from hivedruid.settings import ICEBERG_CATALOG

_ELSEWHERE = ("uri", "warehouse", "catalog-impl")
"""Properties that are only set for a catalog outside the home folder."""


def is_own(settings: Mapping[str, str], table: Table | None = None) -> bool:
    """Whether the catalog, or that of a table, is the home folder's own."""
    if table is not None and table.iceberg is not None:
        return False
    kind = settings.get(f"{ICEBERG_CATALOG}type") or "jdbc"
    return kind == "jdbc" and not any(settings.get(f"{ICEBERG_CATALOG}{name}") for name in _ELSEWHERE)


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
    return found if "catalog-impl" in found else {"type": kind, **found}


def properties_of(place: IcebergPlace, settings: Mapping[str, str]) -> dict[str, str]:
    """The same for the catalog of a database."""
    return {"type": place.type, **resolved(dict(place.properties), "", settings)}


def resolved(given: Mapping[str, str], prefix: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Properties with their secrets; `prefix` comes before their names in messages. Raises UsageError as above."""
    for name in filter(is_secret, given):
        check_transport(given.get("uri", ""), f"{prefix}{name}", settings)
    return {name: _resolved(name, value, prefix) for name, value in given.items()}


def _resolved(name: str, value: str, prefix: str) -> str:
    is_reference = is_secret(name) and value.startswith(("env:", "file:"))
    return secret(f"{prefix}{name}", value) if is_reference else value
