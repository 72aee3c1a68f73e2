"""A catalog on PostgreSQL as a SQLite database in memory, so that statements that only plan can change it."""

from __future__ import annotations

from hivedruid.catalog.database import migrate
from hivedruid.catalog.postgres import PostgresConnection, schema_version
from hivedruid.sqlite_waits import CatalogConnection, in_memory


class CopiedConnection(CatalogConnection):
    """The copy. Which locks are held, the `source` knows."""

    source: PostgresConnection

    def close(self) -> None:
        self.source.close()
        super().close()


def in_sqlite(source: PostgresConnection) -> CopiedConnection:
    """All rows at one moment. The schema is that of the source, and then brought to the newest version."""
    target = in_memory(CopiedConnection)
    target.source = source
    source.begin_reading()
    version = schema_version(source)
    if version:
        migrate(target, version)
        for (table,) in target.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            _copy(source, target, table)
    source.rollback()
    target.execute("PRAGMA foreign_keys = ON")
    migrate(target)
    return target


def _copy(source: PostgresConnection, target: CatalogConnection, table: str) -> None:
    """The rows of a table, if the source has it."""
    query = (
        "SELECT column_name FROM information_schema.columns WHERE table_schema = ? AND table_name = ?"
        " ORDER BY ordinal_position"
    )
    names = [f'"{name}"' for (name,) in source.execute(query, (source.url.schema, table)).fetchall()]
    if not names:
        return
    listed = ", ".join(names)
    rows = source.execute(f'SELECT {listed} FROM "{table}"').fetchall()
    target.execute(f'DELETE FROM "{table}"')  # the default database
    target.executemany(f'INSERT INTO "{table}" ({listed}) VALUES ({", ".join("?" * len(names))})', rows)
