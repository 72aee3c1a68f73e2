"""Which catalog a name belongs to: this is decided here, and nowhere else.

A database that was created USING ICEBERG CATALOG has the tables of that catalog, and temporary ones. Every other name
belongs to the home if the home has it, and otherwise to the Hive metastore of hive.metastore.uris. So a statement about
tables of the home never waits for a metastore. A database may be in both: then it has the tables of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog.databases import details_of
from hivedruid.catalog.iceberg_place import IcebergPlace, place_of
from hivedruid.errors import ConnectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hivedruid.catalog.iceberg_place import IcebergCatalog
    from hivedruid.catalog.metastore import Metastore, StoredDatabase
    from hivedruid.catalog.store import Catalog
    from hivedruid.catalog.table import Table


class Names:
    """The names that one statement sees. `problem` is the reason why a table may be missing: another catalog could
    not be reached. It is requested only once for a statement."""

    def __init__(
        self,
        home: Catalog,
        metastore: Metastore | None = None,
        iceberg: Callable[[IcebergPlace], IcebergCatalog] | None = None,
    ) -> None:
        """`iceberg` opens the catalog of a database."""
        self._home = home
        self._metastore = metastore
        self._iceberg = iceberg
        self.problem: ConnectError | None = None

    @property
    def metastore(self) -> Metastore | None:
        return self._metastore

    def resolve(self, database: str, name: str) -> Table | None:
        """What the name means in this session: a temporary table hides another table of its name."""
        return self._home.resolve(database, name) or self._elsewhere(database, name)

    def find(self, database: str, name: str) -> Table | None:
        """The same without temporary tables."""
        return self._home.find(database, name) or self._elsewhere(database, name)

    def _elsewhere(self, database: str, name: str) -> Table | None:
        if self.problem is not None:
            return None
        try:
            if (catalog := self.iceberg(database.lower())) is not None:
                return catalog.table(name.lower())
            return None if self._metastore is None else self._metastore.table(database.lower(), name.lower())
        except ConnectError as error:
            self.problem = error
            return None

    def iceberg_place(self, database: str) -> IcebergPlace | None:
        """The namespace of the Iceberg catalog whose tables the database has; None for other databases."""
        details = details_of(self._home, database)
        return place_of(database, details.properties) if details.uses_iceberg else None

    def iceberg(self, database: str) -> IcebergCatalog | None:
        """The Iceberg catalog whose tables the database has; None for other databases."""
        place = self.iceberg_place(database) if self._iceberg is not None else None
        return None if place is None or self._iceberg is None else self._iceberg(place)

    def databases(self) -> tuple[str, ...]:
        """The names of all databases. Raises ConnectError if those of the metastore are not known."""
        home = self._home.databases()
        return home if self._metastore is None else tuple(sorted({*home, *self._metastore.database_names()}))

    def databases_with(self, names: Iterable[str]) -> tuple[str, ...]:
        """The databases of the home, and those of these names that the metastore has. Raises ConnectError if there is
        one that the home does not have, and the metastore cannot be reached."""
        home = self._home.databases()
        return tuple(sorted({*home, *(name for name in {*names} - {*home} if self.database(name) is not None)}))

    def database(self, name: str) -> StoredDatabase | None:
        """The database of the metastore of that name. Raises ConnectError."""
        if self.problem is not None:
            raise self.problem
        return None if self._metastore is None else self._metastore.database(name)

    def in_home(self, database: str) -> bool:
        return self._home.database_comment(database) is not None

    def table_names(self, database: str) -> tuple[str, ...]:
        """Raises ConnectError if the tables of the other catalog are not known."""
        home = self._home.table_names(database)
        if (catalog := self.iceberg(database)) is not None:
            return tuple(sorted({*home, *catalog.table_names()}))
        return home if self._metastore is None else tuple(sorted({*home, *self._metastore.table_names(database)}))

    def names_in_home(self, database: str) -> tuple[str, ...]:
        """The tables of the home's catalog in a database."""
        return self._home.table_names(database, with_temporary=False)

    def names_elsewhere(self, database: str) -> tuple[str, ...]:
        """The tables of the metastore in a database. Raises ConnectError."""
        return () if self._metastore is None else self._metastore.table_names(database)

    def view_names(self, database: str) -> tuple[str, ...]:
        home = self._home.view_names(database)
        if self._metastore is None or self.iceberg_place(database) is not None:
            return home
        hidden = {*self._home.table_names(database)}
        views = self._metastore.table_names(database, only_views=True)
        return tuple(sorted({*home, *(name for name in views if name not in hidden)}))
