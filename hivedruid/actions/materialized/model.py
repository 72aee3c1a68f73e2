"""The action that builds a materialized view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Self

from hivedruid.actions.ddl.model import AddTable
from hivedruid.actions.model import Action
from hivedruid.actions.writing.model import IngestDruid, WriteTable
from hivedruid.catalog.materialized_views import Built
from hivedruid.catalog.table import Table
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.views import ManagedViewJob
from hivedruid.plan.physical import DruidRead, SparkJob


@dataclass(frozen=True)
class RootChecks:
    """`counts` returns the number of rows of each table; `keys[i]` whether the joined keys are unique if table i is the
    root.

    Its row holds pairs: the number of rows with a key, and of distinct keys.
    """

    counts: SparkJob
    keys: tuple[SparkJob, ...]


@dataclass(frozen=True)
class BuildView(Action):
    """Compute a view's rows and record their sources: `built`, complete except for the view's own data.

    `creates`: the table becomes visible with its rows. Otherwise its rows are replaced, only those of `intervals` if
    given, and only if its last build is still `base`. `why` explains the extent of the build. `checks` find the view's
    root table.
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


@dataclass(frozen=True)
class ForgetBuild(Action):
    """CANCEL JOB of an interrupted build: the view remains as it is, not built."""

    job: ManagedViewJob


MaterializedAction = BuildView | ForgetBuild
