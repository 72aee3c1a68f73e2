"""The jobs that write to Druid as the catalog stores them: their ids, whether they have ended, and the `jobs.job.Job` as JSON."""

from __future__ import annotations

from hivedruid.catalog.store import Catalog


class JobRecords:
    """Every change is one transaction, or part of the caller's. Raises ExecutionError where the catalog cannot be written."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, job_id: str) -> str | None:
        """The JSON of a job."""
        return next(iter(self._select("WHERE job_id = ?", job_id)), None)

    def all(self) -> list[str]:
        """The JSON of every job, newest first, as in the next two."""
        return self._select("")

    def unfinished(self) -> list[str]:
        return self._select("WHERE ended = 0")

    def of_statement(self, statement_id: str) -> list[str]:
        return self._select("WHERE statement_id = ?", statement_id)

    def exist(self, *, ended: bool) -> bool:
        """Whether there is an unfinished job; with `ended`, any job."""
        query = "SELECT 1 FROM jobs WHERE ended = 0 OR ? LIMIT 1"
        return self._catalog.connection.execute(query, (ended,)).fetchone() is not None

    def _select(self, where: str, *values: str) -> list[str]:
        query = f"SELECT definition FROM jobs {where} ORDER BY rowid DESC"
        return [text for (text,) in self._catalog.connection.execute(query, values)]

    def add(self, job_id: str, statement_id: str, definition: str) -> None:
        """A job that has not ended."""
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO jobs (job_id, statement_id, ended, definition) VALUES (?, ?, 0, ?)",
                (job_id, statement_id, definition),
            )

    def update(self, job_id: str, definition: str, *, ended: bool) -> None:
        with self._catalog.transaction() as connection:
            connection.execute(
                "UPDATE jobs SET ended = ?, definition = ? WHERE job_id = ?", (ended, definition, job_id)
            )

    def remove_ended(self, keep: int) -> None:
        """Remove the ended jobs that are not among the `keep` newest jobs."""
        with self._catalog.transaction() as connection:
            connection.execute(
                "DELETE FROM jobs WHERE ended = 1 AND rowid <= (SELECT max(rowid) FROM jobs) - ?", (keep,)
            )
