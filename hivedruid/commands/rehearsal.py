"""What each statement of imported scripts would do: planned in a session without rows, in which later statements see
the tables of earlier ones. No statement is run, no service is contacted, no file is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from hivedruid.actions.families import builder, family_of
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.errors import CatalogStateError, ExecutionError, HiveDruidError, TableNotFound
from hivedruid.hive_ddl import UNCHECKED, Finding, Imported
from hivedruid.parser.statements import Statement, TableName
from hivedruid.plan.scripts import ENABLED
from hivedruid.redaction import redact
from hivedruid.session import Session

Status = Literal["runs", "changed", "left out", "not checked", "cannot run"]
STATUSES: tuple[Status, ...] = ("runs", "changed", "left out", "not checked", "cannot run")

_OFFLINE = {"druid.url": "embedded:", "hivedruid.kafka.check": "off"}
_OF_SERVICES = ("druid.", "hive.druid.", "hivedruid.", "spark.", "kafka.")
"""The beginnings of settings that a rehearsal does not change: with them it could contact a service."""


@dataclass(frozen=True)
class Judged:
    """A converted statement, and whether it runs."""

    imported: Imported
    status: Status


class Rehearsal:
    """Judges the statements of scripts, in their order. A script begins without the settings, variables and temporary
    tables of the one before it, but with its tables."""

    def __init__(self, session: PlanningSession, hivevar: Mapping[str, str]) -> None:
        self._session = session
        self._variables = dict(hivevar)

    def judged(self, scripts: Iterable[Iterable[Imported]]) -> Iterator[list[Judged]]:
        """The statements of each script. Scripts that need what later ones create are planned again at the end."""
        planned = [(items := list(script), list(self._script(items))) for script in scripts]
        for items, first in planned:
            waits = any(isinstance(each, _Waiting) for each in first)
            again = list(self._script(items)) if waits else first
            yield [_settled(b if isinstance(a, _Waiting) else a) for a, b in zip(first, again, strict=True)]

    def _script(self, items: Iterable[Imported]) -> Iterator[Judged | _Waiting]:
        self._begin()
        for item in items:
            try:
                yield self._judge(item)
            except (TableNotFound, CatalogStateError) as error:
                yield _Waiting(item, error)

    def _begin(self) -> None:
        session = self._session
        for table in session.catalog.temporary_tables():
            session.catalog.remove(table)
        session.settings.reset()
        for key, value in _OFFLINE.items():
            session.settings.set(key, value)
        session.variables.clear()
        session.variables.update(self._variables)
        session.database = "default"

    def _judge(self, item: Imported) -> Judged:
        if item.text is None:
            return Judged(item, "cannot run")
        if not item.text:
            return Judged(item, "left out")
        try:
            self._run(item.text, item.source.file)
        except (TableNotFound, CatalogStateError):
            raise
        except ExecutionError as error:  # of a file or a service
            return _unchecked(item, error.message, error.hint)
        except HiveDruidError as error:
            if "${" in self._session.planned:
                return _unchecked(item, f"a variable has no value: {error.message}", "use --hivevar NAME=VALUE")
            if self._session.depends_on_services:
                return _unchecked(item, error.message, "run EXPLAIN where its files and services are")
            refused = Finding("refused", redact(error.message), redact(error.hint or ""))
            return Judged(replace(item, text=None, findings=(*item.findings, refused)), "cannot run")
        return Judged(replace(item, findings=_checked(item)), "runs" if item.text == item.source.text else "changed")

    def _run(self, text: str, file: str | None) -> None:
        for statement in self._session.statements(text, file):
            self._session.planned, self._session.depends_on_services = statement.text, False
            self._session.execute(statement)


@dataclass(frozen=True)
class _Waiting:
    """A statement that needs what no statement before it creates."""

    item: Imported
    error: TableNotFound | CatalogStateError


def _settled(each: Judged | _Waiting) -> Judged:
    if isinstance(each, Judged):
        return each
    is_table = isinstance(each.error, TableNotFound)
    return _unchecked(each.item, each.error.message, "add the script that creates it" if is_table else each.error.hint)


def _unchecked(item: Imported, why: str, hint: str | None) -> Judged:
    note = Finding("note", redact(f"not checked: {why}"), redact(hint or ""))
    return Judged(replace(item, findings=(*_checked(item), note)), "not checked")


def _checked(item: Imported) -> tuple[Finding, ...]:
    """The findings without the note that the conversion could not check variables."""
    return tuple(each for each in item.findings if not each.text.startswith(UNCHECKED))


class PlanningSession(Session):
    """A dry run that plans without Druid, Kafka and Spark, and without the settings that name them."""

    planned = ""
    """The statement, with its variables substituted."""
    depends_on_services = False
    """Whether the statement reads what only Druid, Kafka or files have."""

    def _gathered(self, parsed: Statement) -> Snapshot:
        from hivedruid.parser.statements.ddl import CreateTable, CreateView
        from hivedruid.parser.statements.writing import LoadData

        is_created = isinstance(parsed, CreateTable) and (parsed.storage_handler or parsed.like_file) is not None
        self.depends_on_services = is_created or isinstance(parsed, LoadData)
        if isinstance(parsed, CreateTable | CreateView) and not parsed.if_not_exists:
            self._make_room(parsed.name)
        snapshot = super()._gathered(parsed)
        self.depends_on_services |= any(t.has_data_source or t.has_topic for t in snapshot.tables.values())
        return snapshot

    def _make_room(self, name: TableName) -> None:
        """Scripts that were run one at a time may create the same table."""
        existing = self.catalog.find(name.database or self.database, name.name)
        if existing is not None:
            self.catalog.remove(existing)

    def _built(self, parsed: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
        return builder(family_of(parsed))(parsed, snapshot, note)

    def _change_setting(self, key: str, value: str) -> None:
        if key.lower() == ENABLED or not key.lower().startswith(_OF_SERVICES):
            super()._change_setting(key, value)


@contextmanager
def rehearsing(hivevar: Mapping[str, str]) -> Iterator[Rehearsal]:
    with TemporaryDirectory(prefix="hivedruid-import-") as folder:
        session = PlanningSession(Path(folder), configured={}, hiveconf=_OFFLINE, hivevar=hivevar, dry_run=True)
        with session:
            yield Rehearsal(session, hivevar)
