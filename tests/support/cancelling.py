"""A statement of the Python API that another thread cancels."""

from __future__ import annotations

from threading import Thread

from hivedruid.api import Connection
from hivedruid.errors import CancelledError


def cancelled(connection: Connection, sql: str) -> CancelledError:
    """The error of a query that runs in another thread and is cancelled until it has ended."""
    errors: list[CancelledError] = []

    def run() -> None:
        try:
            connection.sql(sql).fetchall()
        except CancelledError as error:
            errors.append(error)

    thread = Thread(target=run)
    thread.start()
    while thread.is_alive():
        connection.cancel()
    (error,) = errors
    return error
