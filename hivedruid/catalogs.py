"""The catalogs of a session: that of the home, and the Hive metastore of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hivedruid.catalog.metastore import URIS
from hivedruid.catalog.resolution import Names

if TYPE_CHECKING:
    from hivedruid.catalog.store import Catalog
    from hivedruid.clients.metastore import HiveMetastore


class Catalogs:
    """`names` are those that the current statement sees. `settings` may change between statements."""

    def __init__(self, home: Catalog, settings: Mapping[str, str]) -> None:
        self._home = home
        self._settings = settings
        self._metastore: HiveMetastore | None = None
        self.names = Names(home)

    def renewed(self) -> Names:
        """The names for the next statement."""
        uris = self._settings[URIS]
        if self._metastore is not None and self._metastore.uris != uris:
            self.close()
        if self._metastore is None and uris:
            from hivedruid.clients.metastore import HiveMetastore

            self._metastore = HiveMetastore(self._settings)
        self.names = Names(self._home, self._metastore)
        return self.names

    def close(self) -> None:
        if self._metastore is not None:
            self._metastore.close()
        self._metastore = None
