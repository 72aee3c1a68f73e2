"""The compliance suite of DB-API 2.0, of the package dbapi-compliance, over managed tables."""

from __future__ import annotations

import tempfile

import dbapi20

from hivedruid import dbapi


class TestCompliance(dbapi20.DatabaseAPI20Test):  # type: ignore[misc]
    driver = dbapi

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.connect_args = (folder.name, "embedded:")

    def test_nextset(self) -> None:
        """A statement has one result."""
        assert not hasattr(dbapi.Cursor, "nextset")

    def test_setoutputsize(self) -> None:
        """Values have no maximum size."""
        with dbapi.connect(*self.connect_args) as connection:
            cursor = connection.cursor()
            cursor.setoutputsize(1)
            assert cursor.execute("SELECT 'long'").fetchall() == [("long",)]
