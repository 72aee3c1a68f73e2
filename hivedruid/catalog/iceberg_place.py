"""Where a table is that an Iceberg catalog has, and the interface of such a catalog: the databases of CREATE DATABASE …
USING ICEBERG CATALOG."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table

TYPE = "type"
NAMESPACE = "namespace"
NAME = "name"
"""Properties of the database that are not those of Iceberg; the others are."""


@dataclass(frozen=True)
class IcebergPlace:
    """A namespace of an Iceberg catalog, and with `name` a table in it. `properties` are those of the catalog, by
    Iceberg's names, with references to secrets; `type` is that of the catalog."""

    database: str
    type: str
    catalog_name: str
    namespace: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    name: str = ""

    @property
    def catalog(self) -> str:
        """The catalog's name in Spark, where a name always means the same catalog. A JDBC catalog stores its name with
        each table."""
        if self.catalog_name:
            return self.catalog_name
        from hashlib import sha256

        digest = sha256(json.dumps([self.type, *self.properties]).encode()).hexdigest()
        return f"iceberg_{digest[:12]}"

    @property
    def table_id(self) -> str:
        """An id that no table of the home has."""
        return f"{self.catalog}.{'.'.join((*self.namespace, self.name))}"

    def table(self, name: str) -> IcebergPlace:
        return replace(self, name=name)

    def __str__(self) -> str:
        return f"the Iceberg catalog of database {self.database}"


def place_of(database: str, properties: Mapping[str, str]) -> IcebergPlace:
    """The namespace of a database with these properties, by default the one of its name."""
    own = {key: value for key, value in properties.items() if key not in (TYPE, NAMESPACE, NAME)}
    namespace = properties.get(NAMESPACE) or database
    return IcebergPlace(
        database, properties[TYPE].lower(), properties.get(NAME, ""), tuple(namespace.split(".")),
        tuple(sorted(own.items())),
    )  # fmt: skip


class IcebergCatalog(Protocol):
    """The tables of a namespace of an Iceberg catalog. Every method raises ConnectError if the catalog cannot be
    reached, and ExecutionError if it refuses a request."""

    def table_names(self) -> tuple[str, ...]: ...

    def table(self, name: str) -> Table | None:
        """The table of a name in any case."""

    def make_namespace(self) -> None:
        """Create the namespace if it does not exist."""
