"""The Druid that holds the rows of each data source, so that an empty answer of another Druid is not silent; and the
versions of the clusters that were used.

A place is a text for display: `the embedded store of this home`, `the local cluster 3f2a…`, or a URL.
"""

from __future__ import annotations

from hivedruid.catalog.store import Catalog

IN_HOME = "the embedded store of this home"


class Places:
    """The places of data sources, and the versions of clusters, in the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, data_source: str) -> str | None:
        query = "SELECT druid FROM places WHERE data_source = ?"
        row = self._catalog.connection.execute(query, (data_source,)).fetchone()
        return row[0] if row else None

    def remember(self, data_source: str, place: str) -> None:
        """Record that rows were written there."""
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO places (data_source, druid) VALUES (?, ?)"
                " ON CONFLICT (data_source) DO UPDATE SET druid = excluded.druid",
                (data_source, place),
            )

    def all(self) -> dict[str, str]:
        return dict(self._catalog.connection.execute("SELECT data_source, druid FROM places"))

    def version(self, place: str) -> str:
        """The version of a cluster when it was last used; "" if it never was."""
        query = "SELECT version FROM druid_versions WHERE druid = ?"
        row = self._catalog.connection.execute(query, (place,)).fetchone()
        return row[0] if row else ""

    def see_version(self, place: str, version: str) -> str:
        """Record the version of a cluster that is used; returns the note that it has changed, or ""."""
        before = self.version(place)
        if not place or before == version:
            return ""
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO druid_versions (druid, version) VALUES (?, ?)"
                " ON CONFLICT (druid) DO UPDATE SET version = excluded.version",
                (place, version),
            )
        druid = f"Druid at {place}" if "://" in place else place
        return f"{druid} is version {version}; it was {before} when it was last used" if before else ""


def elsewhere(name: str, data_source: str, place: str, here: str, *, is_absent: bool) -> str:
    """The note for a table that is read from another Druid than the one that holds its rows."""
    absent = f", which has no data source {data_source}" if is_absent else ""
    return f"the rows of {name} were written to {place}; this statement reads {here}{absent}"
