"""The catalogs of a session: that of the home, the Hive metastore of its settings, and the Iceberg catalogs of
databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hivedruid.catalog.metastore import URIS
from hivedruid.catalog.resolution import Names

if TYPE_CHECKING:
    from hivedruid.catalog.iceberg_place import IcebergCatalog, IcebergPlace
    from hivedruid.catalog.store import Catalog
    from hivedruid.clients.iceberg_catalog import IcebergNamespace
    from hivedruid.clients.metastore import HiveMetastore


class Catalogs:
    """`names` are those that the current statement sees. `settings` may change between statements."""

    def __init__(self, home: Catalog, settings: Mapping[str, str]) -> None:
        self._home = home
        self._settings = settings
        self._metastore: HiveMetastore | None = None
        self._iceberg: dict[IcebergPlace, IcebergNamespace] = {}
        self.names = Names(home, None, self.iceberg)

    def renewed(self) -> Names:
        """The names for the next statement."""
        uris = self._settings[URIS]
        if self._metastore is not None and self._metastore.uris != uris:
            self._metastore.close()
            self._metastore = None
        if self._metastore is None and uris:
            from hivedruid.clients.metastore import HiveMetastore

            self._metastore = HiveMetastore(self._settings)
        self.names = Names(self._home, self._metastore, self.iceberg)
        return self.names

    def iceberg(self, place: IcebergPlace) -> IcebergCatalog:
        """The catalog of a database. Its connection is kept."""
        if place not in self._iceberg:
            from hivedruid.clients.iceberg_catalog import IcebergNamespace

            self._iceberg[place] = IcebergNamespace(place, self._settings)
        return self._iceberg[place]

    def close(self) -> None:
        for catalog in self._iceberg.values():
            catalog.close()
        self._iceberg.clear()
        if self._metastore is not None:
            self._metastore.close()
        self._metastore = None
