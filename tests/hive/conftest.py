"""The embedded store in which Hive's values are computed again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.embedded.store import EmbeddedStore


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    home = tmp_path_factory.mktemp("store")
    with closing(open_database(home)) as connection, closing(EmbeddedStore(home, connection)) as made:
        yield made
