"""The Iceberg catalog of managed tables, from the settings `hivedruid.iceberg.catalog.*`.

The default is the home folder's own: Iceberg's JdbcCatalog on a SQLite file (`home_catalog`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hivedruid.iceberg import home_catalog
from hivedruid.references import check_transport, secret
from hivedruid.secrets import is_secret
from hivedruid.settings import ICEBERG_CATALOG

_ELSEWHERE = ("uri", "warehouse", "catalog-impl")
"""Properties that are only set for a catalog outside the home folder."""


def is_own(settings: Mapping[str, str]) -> bool:
    """Whether the catalog is the home folder's own."""
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
    for name in filter(is_secret, given):
        check_transport(given.get("uri", ""), f"{ICEBERG_CATALOG}{name}", settings)
    resolved = {name: _resolved(name, value) for name, value in given.items()}
    if is_own(settings):
        return {**home_catalog.properties(home), **resolved}
    return resolved if "catalog-impl" in resolved else {"type": kind, **resolved}


def _resolved(name: str, value: str) -> str:
    is_reference = is_secret(name) and value.startswith(("env:", "file:"))
    return secret(f"{ICEBERG_CATALOG}{name}", value) if is_reference else value
