"""The same rows in a Druid cluster and in an embedded store, to compare their results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.catalog.database import open_database
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, HiveType
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.plan.physical import DruidRead, Field
from tests.support.loads import ingest
from tests.support.native_json import ETERNITY, Json

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster

NEW_YEAR = 1_704_067_200_000  # 2024-01-01, a Monday
DAY = 86_400_000

EDITS: list[Json] = [
    {"__time": NEW_YEAR, "s": "a", "l": 1, "d": 1.5, "f": 0.5, "g": "x"},
    {"__time": NEW_YEAR + 1, "s": "b", "l": 2, "d": 2.0, "f": 1.5, "g": "x"},
    {"__time": NEW_YEAR + DAY, "s": "", "l": 2**53 + 1, "d": "NaN", "f": 2.5, "g": "y"},
    {"__time": NEW_YEAR + DAY + 1},
    {"__time": NEW_YEAR + DAY + 2, "s": "a", "l": -7, "d": -0.0, "f": -0.0, "g": "y"},
    {"__time": NEW_YEAR + 40 * DAY, "s": "😀", "l": 0, "d": 0.0, "f": 0.0},
    {"__time": NEW_YEAR + 40 * DAY, "s": "é", "l": 2**53, "d": 1e22, "f": 3.5, "g": "x"},
    {"__time": NEW_YEAR + 40 * DAY + 5, "s": "zz", "l": 2**62, "d": "-Infinity", "f": 4.5, "g": "z"},
]
PAGES: list[Json] = [
    {"__time": NEW_YEAR, "k": "a", "n": 1, "x": 1.5, "name": "A1"},
    {"__time": NEW_YEAR + 3, "k": "a", "n": 2, "x": 2.0, "name": "A2"},
    {"__time": NEW_YEAR + DAY, "k": "", "n": 2**53, "x": "NaN", "name": "E"},
    {"__time": NEW_YEAR + DAY, "name": "N"},
    {"__time": NEW_YEAR + DAY, "k": "😀", "n": 0, "x": 0.0, "name": "S"},
    {"__time": NEW_YEAR + 2 * DAY, "k": "unused", "n": 77, "x": -0.0},
    {"__time": NEW_YEAR + 2 * DAY, "k": "zz", "n": -7, "x": 1e22, "name": "Z"},
]
EDIT_COLUMNS = {"s": "string", "l": "long", "d": "double", "f": "float", "g": "string"}
PAGE_COLUMNS = {"k": "string", "n": "long", "x": "double", "name": "string"}
TYPES: dict[str, HiveType] = {"l": BIGINT, "d": DOUBLE, "s": STRING}
"""Field types as letters: `n:l` is a field n, a BIGINT."""


@dataclass(frozen=True)
class Both:
    """A Druid cluster and an embedded store that contain the same rows under the same names."""

    druid: DruidCluster
    store: EmbeddedStore
    edits: str
    pages: str

    def named(self, value: Any) -> Any:
        """The JSON with the data sources' real names."""
        text = json.dumps(value).replace('"edits"', json.dumps(self.edits)).replace('"pages"', json.dumps(self.pages))
        return json.loads(text)

    def read(self, query: Json, fields: str) -> DruidRead:
        named = [field.split(":") for field in fields.split()]
        return DruidRead(self.named({"intervals": ETERNITY, **query}), tuple(Field(n, TYPES[k]) for n, k in named))


@contextmanager
def stored_in_both(cluster: Cluster, folder: Path, rows: list[Json], columns: Mapping[str, str]) -> Iterator[Both]:
    """One data source with these rows, in segments of a year, in both engines; dropped at the end of the block."""
    from tests.support.staged import stage, task

    name = f"both_{uuid4().hex[:12]}"
    connection = open_database(folder / "home")
    store = EmbeddedStore(folder / "home", connection)
    druid = cluster.druid()
    spec = task(name, stage(folder / name, rows), columns=columns, segment="YEAR")
    for engine in (store, druid):
        ingest(engine, spec)
    yield Both(druid, store, name, name)
    druid.drop(name)
    druid.close()
    store.close()
    connection.close()
