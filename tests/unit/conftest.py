"""Shared by the unit tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hivedruid.catalog.connection import Connection
    from hivedruid.catalog.store import Catalog
    from tests.support.postgres import Postgres


@pytest.fixture(params=["sqlite", "postgres"])
def catalog_settings(request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings of a new catalog, in the home folder and on PostgreSQL."""
    if request.param == "sqlite":
        return {}
    server: Postgres = request.getfixturevalue("postgres")
    return server.settings()


@pytest.fixture
def connect(tmp_path: Path, catalog_settings: dict[str, str]) -> Iterator[Callable[[], Connection]]:
    """Opens another connection to the catalog of a test."""
    from hivedruid.catalog.opening import open_catalog

    opened: list[Connection] = []

    def open_one() -> Connection:
        opened.append(open_catalog(tmp_path, catalog_settings))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture
def catalog(connect: Callable[[], Connection]) -> Catalog:
    """A new catalog, in the home folder `tmp_path` and on PostgreSQL."""
    from hivedruid.catalog.store import Catalog

    return Catalog(connect())
