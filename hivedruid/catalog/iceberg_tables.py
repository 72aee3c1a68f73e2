"""The tables of Iceberg's JdbcCatalog beside those of the catalog on PostgreSQL."""

from __future__ import annotations

from hivedruid.catalog.opening import on_postgres
from hivedruid.catalog.store import Catalog


def metadata_location(catalog: Catalog, name: str, namespace: str, table: str) -> str | None:
    """The location of a table's current metadata file in the Iceberg catalog of that name; None if it is not there."""
    query = (
        "SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"
    )
    session = on_postgres(catalog.connection)  # a copy of the catalog does not have these tables
    row = None if session is None else session.execute(query, (name, namespace, table)).fetchone()
    return None if row is None else str(row[0])
