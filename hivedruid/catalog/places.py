"""The Druid that holds the rows of each data source, so that an empty answer of another Druid is not silent.

A place is a text for display: `the embedded store of this home`, `the local cluster 3f2a…`, or a URL.
"""

from __future__ import annotations

from hivedruid.catalog.store import Catalog

IN_HOME = "the embedded store of this home"


class Places:
    """The places of data sources in the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, data_source: str) -> str | None:
        query = "SELECT druid FROM places WHERE data_source = ?"
        row = self._catalog.connection.execute(query, (data_source,)).fetchone()
        return row[0] if row else None

    def remember(self, data_source: str, place: str) -> None:
        """Record that rows were written there."""
        with self._catalog.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO places VALUES (?, ?)", (data_source, place))

    def all(self) -> dict[str, str]:
        return dict(self._catalog.connection.execute("SELECT data_source, druid FROM places"))


def elsewhere(name: str, data_source: str, place: str, here: str, *, is_absent: bool) -> str:
    """The note for a table that is read from another Druid than the one that holds its rows."""
    absent = f", which has no data source {data_source}" if is_absent else ""
    return f"the rows of {name} were written to {place}; this statement reads {here}{absent}"
