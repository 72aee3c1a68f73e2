"""Runs the cases of a suite, on the embedded store, and decides what each of them is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.errors import HiveDruidError, ParseError, SemanticError, TableNotFound
from hivedruid.session import Session
from hivedruid.spark.jobs import SparkRunner
from tests.suites.cases import Case, NotComparable, Outcome, Row, Table
from tests.support.loads import index_task, ingest

SETTINGS = {
    "hive.groupby.position.alias": "true",
    "hive.local.time.zone": "UTC",
}
"""GROUP BY 1 is a position. NULL is the lowest value in SQLite and Spark, and in Druid's suites in the versions that were read."""
_VIEW = re.compile(r"(?is)create\b.*?\bview\s+([\w.`]+)")
_TEXTS = ("date", "decimal")
"""Types that Druid stores as text."""
INSTANT = 1_577_836_800_000
"""The `__time` of every row."""


class NeedsSpark(Exception):  # noqa: N818 - an outcome, not an error
    """Raised where a statement would start Spark."""


class WithoutSpark(Session):
    def _get_spark(self) -> SparkRunner:
        raise NeedsSpark


class Runner:
    """A session with the tables of the last case; `spark`: whether statements may use Spark; `nulls_last`: whether NULL
    sorts as the highest value."""

    def __init__(self, home: Path, *, spark: bool, nulls_last: bool = False) -> None:
        kind = Session if spark else WithoutSpark
        self.session = kind(home, configured={**SETTINGS, "hive.default.nulls.last": str(nulls_last).lower()})
        self._tables: dict[str, Table] = {}
        self._views: tuple[str, ...] = ()
        self._error: Outcome | None = None

    def close(self) -> None:
        self.session.close()

    def run(self, cases: Iterable[Case]) -> Iterator[Outcome]:
        return map(self.outcome, cases)

    def outcome(self, case: Case) -> Outcome:
        """What a case is. An error that is not of hivedruid's kind is refused, too: its name is the reason."""
        if case.reason:
            return Outcome(case, "not comparable", case.reason)
        try:
            self._provide(case)
            rows = self._rows(case.sql)
            if case.expected.matches(rows):
                return Outcome(case, "equal")
            if case.retry is not None and self._is_right(case.retry[0], case):
                return Outcome(case, "not comparable", case.retry[1], rows)
            return Outcome(case, "wrong", "other rows", rows)
        except NeedsSpark:
            return Outcome(case, "needs Spark")
        except NotComparable as reason:
            return Outcome(case, "not comparable", str(reason))
        except TableNotFound:
            return Outcome(case, "not comparable", "a table of its script has no statement in Hive's SQL")
        except (ParseError, SemanticError) as error:
            return Outcome(case, "not Hive's SQL", error.message)
        except HiveDruidError as error:
            return Outcome(case, "refused", error.message)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong belongs into the report
            return Outcome(case, "wrong", f"{type(error).__name__}: {str(error)[:300]}")

    def _is_right(self, sql: str, case: Case) -> bool:
        try:
            return case.expected.matches(self._rows(sql))
        except HiveDruidError:
            return False

    def _rows(self, sql: str) -> tuple[Row, ...]:
        rows: tuple[Row, ...] = ()
        for statement in self.session.statements(sql):
            rows = tuple(self.session.execute(statement).rows)
        return rows

    # --- tables and views ------------------------------------------------------------------------------------------

    def _provide(self, case: Case) -> None:
        """The tables and views of a case, as far as those of the case before are others."""
        for table in case.tables:
            if self._tables.get(table.name) is not table:
                self._load(table)
                self._tables[table.name] = table
        if self._views == case.views:
            return
        self._views = case.views
        for view in case.views:
            try:
                self._rows(view)
            except (HiveDruidError, NeedsSpark):  # a query over it then says that there is no such table
                if (name := _VIEW.match(view)) is not None:
                    self._rows(f"DROP VIEW IF EXISTS {name[1]}")

    def _load(self, table: Table) -> None:
        """A table of the embedded store, whose time is the TIMESTAMP of the suite's table, or a constant. A view over it has
        the names of the suite: suites have `SELECT *`. Its rows are loaded as a task of Druid would do it: CREATE TABLE AS
        SELECT starts Spark."""
        time = next((name for name, type_ in table.columns if type_ == "timestamp"), "")
        names = [TIME_COLUMN if name == time else name for name, _ in table.columns]
        stored = table.name if time == TIME_COLUMN else f"{table.name}_rows"
        columns = [(name, type_) for name, (_, type_) in zip(names, table.columns, strict=True) if name != TIME_COLUMN]
        declared = ", ".join(f"`{name}` {type_}" for name, type_ in ((TIME_COLUMN, "timestamp"), *columns))
        texts = ", ".join(f"{name}:string" for name, type_ in columns if type_.startswith(_TEXTS))
        as_texts = f", 'druid.columns.as' = '{texts}'" if texts else ""
        if stored != table.name:
            self._rows(f"DROP VIEW IF EXISTS `{table.name}`")
        self._rows(
            f"DROP TABLE IF EXISTS `{stored}`; CREATE EXTERNAL TABLE `{stored}` ({declared}) STORED BY 'druid'"
            f" TBLPROPERTIES ('druid.rollup' = 'false', 'external.table.purge' = 'true'{as_texts})"
        )
        created = self.session.catalog.resolve("default", stored)
        assert created is not None
        with TemporaryDirectory() as folder:
            lines = (json.dumps({TIME_COLUMN: INSTANT, **dict(zip(names, row, strict=True))}) for row in table.rows)
            Path(folder, "rows.json").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            if table.rows:
                ingest(self.session.store, index_task(created, Path(folder)))
        if stored != table.name:
            items = ", ".join(
                f"{f'CAST(`{name}` AS {type_})' if type_.startswith(_TEXTS) else f'`{name}`'} AS `{own}`"
                for name, (own, type_) in zip(names, table.columns, strict=True)
            )
            self._rows(f"CREATE VIEW `{table.name}` AS SELECT {items} FROM `{stored}`")
