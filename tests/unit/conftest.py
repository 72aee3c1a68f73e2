"""Shared by the unit tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hivedruid.catalog.store import Catalog


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """The catalog of a new home folder."""
    from hivedruid.catalog.database import open_database
    from hivedruid.catalog.store import Catalog

    connection = open_database(tmp_path)
    yield Catalog(connection)
    connection.close()
