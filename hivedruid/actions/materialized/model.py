"""The action that builds a materialized view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from hivedruid.actions.ddl.model import AddTable
from hivedruid.actions.model import Action
from hivedruid.actions.writing.model import IngestDruid, WriteTable
from hivedruid.catalog.materialized_views import Built
from hivedruid.catalog.table import Table
from hivedruid.plan.physical import DruidRead, SparkJob


@dataclass(frozen=True)
class RootChecks:
    """`counts` answers with the number of rows of each table; `keys[i]` with what shows that all others are unique, seen from table i.

    Its row has pairs: rows with a key, and different keys.
    """

    counts: SparkJob
    keys: tuple[SparkJob, ...]


@dataclass(frozen=True)
class BuildView(Action):
    """Compute a view's rows and keep what they were computed from: `built`, complete but for the view's own data.

    `creates`: the table becomes visible with its rows. Else its rows are replaced, those of `intervals` alone where that is enough, and
    only if its last build is still `base`. `why` says which of it, and why. `checks` find out what its joins keep.
    """

    write: IngestDruid | WriteTable
    built: Built
    creates: bool
    why: str
    base: Built | None = None
    checks: RootChecks | None = None
    intervals: tuple[tuple[int, int], ...] | None = None

    @property
    def table(self) -> Table:
        return self.write.table

    @property
    def writes(self) -> IngestDruid | WriteTable:
        return self.write

    @property
    def ingests(self) -> IngestDruid | None:
        return self.write.ingests

    def with_job(self, job_id: str) -> Self:
        return replace(self, write=self.write.with_job(job_id))

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        return replace(self, write=self.write.with_reads(change))

    @property
    def names_only(self) -> Action | None:
        return AddTable(self.table) if self.creates else None


MaterializedAction = BuildView
