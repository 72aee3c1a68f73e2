"""What each statement of imported scripts would do: planned in a session without rows, in which later statements see
the tables of earlier ones. No statement is run, no service is contacted, no file is written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from hivedruid.actions.families import builder, family_of
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.errors import (
    CapabilityError,
    CatalogStateError,
    ExecutionError,
    FunctionNotFound,
    HiveDruidError,
    Span,
    TableNotFound,
    UnsetVariableError,
)
from hivedruid.hive_ddl import UNCHECKED, Finding, Imported
from hivedruid.hive_settings import note_of
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.plan.scripts import ENABLED
from hivedruid.redaction import redact
from hivedruid.session import Session
from hivedruid.settings import JARS, TRANSFORM_FILES
from hivedruid.tables.definition import table_kind

Status = Literal["runs", "changed", "left out", "not checked", "cannot run"]
STATUSES: tuple[Status, ...] = ("runs", "changed", "left out", "not checked", "cannot run")

_OFFLINE = {"druid.url": "embedded:", "hivedruid.kafka.check": "off"}
_OF_SERVICES = ("druid.", "hive.druid.", "hivedruid.", "spark.", "kafka.")
"""The beginnings of settings that a rehearsal does not change: with them it could contact a service …"""
_OF_STATEMENTS = (ENABLED, JARS, TRANSFORM_FILES)
"""… except these, which later statements need."""
_SET_VARIABLES = "use --hivevar NAME=VALUE, or --hiveconf for ${hiveconf:NAME}"
_ELSEWHERE = "run EXPLAIN where its files and services are"


@dataclass(frozen=True)
class Judged:
    """A converted statement, and whether it runs."""

    imported: Imported
    status: Status
    without_effect: tuple[NoEffect, ...] = ()


@dataclass(frozen=True)
class NoEffect:
    """A setting or a clause that is accepted and has no effect."""

    name: str
    reason: str


class Rehearsal:
    """Judges the statements of scripts, in their order. A script begins without the settings, variables and temporary
    tables of the one before it, but with its tables."""

    def __init__(self, session: PlanningSession, hivevar: Mapping[str, str], hiveconf: Mapping[str, str]) -> None:
        self._session = session
        self._variables = dict(hivevar)
        self._settings = dict(hiveconf)
        self._created_by: dict[str, str] = {}
        """By the name that a statement would create, but is not known to: where that statement is, and its status."""

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
            judged = self._judge(item)
            status = judged.status if isinstance(judged, Judged) else "not checked"
            if status in ("not checked", "cannot run"):
                verb = "is not checked" if status == "not checked" else status
                self._created_by.setdefault(_created_name(item), f"{item.place}, which {verb}")
            yield judged

    def _begin(self) -> None:
        session = self._session
        for table in session.catalog.temporary_tables():
            session.catalog.remove(table)
        session.settings.reset()
        for key, value in _OFFLINE.items():
            session.settings.set(key, value)
        for key, value in self._settings.items():
            session._change_setting(key, value)
        session.variables.clear()
        session.variables.update(self._variables)
        session.database = "default"

    def _judge(self, item: Imported) -> Judged | _Waiting:
        if item.text is None:
            return Judged(item, "cannot run")
        if not item.text:
            return Judged(item, "left out")
        try:
            self._run(item.text, item.source.file)
        except (TableNotFound, CatalogStateError) as error:
            return self._of_lost_name(item, error) or _Waiting(item, error)
        except HiveDruidError as error:
            return self._of_lost_name(item, error) or self._failed(item, error)
        session = self._session
        notes = [Finding("note", f"cannot read {path} on this machine") for path in session.missing_files]
        if unset := session.unset_variables():
            notes.append(Finding("note", f"{unset}: the text stays as it is", _SET_VARIABLES))
        status: Status = "runs" if item.text == item.source.text else "changed"
        found = replace(item, findings=(*_checked(item), *notes))
        return Judged(found, status, tuple(_without_effect(session.notes)))

    def _run(self, text: str, file: str | None) -> None:
        for statement in self._session.statements(text, file):
            self._session.begin(statement.text)
            self._session.execute(statement)

    def _of_lost_name(self, item: Imported, error: HiveDruidError) -> Judged | None:
        """The judgment of a statement that fails because one before it did not create a table or the like."""
        if not isinstance(error, TableNotFound | CatalogStateError | FunctionNotFound):
            return None
        for word in re.findall(r"\w+", error.message.lower()):
            if creator := self._created_by.get(word):
                return _unchecked(item, f"{word} is created by {creator}", "see there")
        return None

    def _failed(self, item: Imported, error: HiveDruidError) -> Judged:
        session = self._session
        if isinstance(error, ExecutionError | UnsetVariableError):  # of a file, a service or a variable
            return _unchecked(item, error.message, error.hint)
        if isinstance(error, CapabilityError):
            return _unchecked(item, "it needs a Druid cluster", "run EXPLAIN with --druid URL")
        if unset := session.unset_variables():
            return _unchecked(item, f"{error.message} ({unset})", _SET_VARIABLES)
        if session.depends_on_services:
            return _unchecked(item, error.message, error.hint or _ELSEWHERE)
        refused = Finding("refused", redact(error.message), redact(error.hint or ""))
        return Judged(replace(item, text=None, findings=(*item.findings, refused)), "cannot run")


@dataclass(frozen=True)
class _Waiting:
    """A statement that needs what no statement before it creates."""

    item: Imported
    error: TableNotFound | CatalogStateError


_CREATES = re.compile(
    r"\s*CREATE\s+(?:\w+\s+)*?(?:TABLE|VIEW|FUNCTION|MACRO|DATABASE|SCHEMA)\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.`${}:]+)",
    re.IGNORECASE,
)


def _created_name(item: Imported) -> str:
    """The name of what a statement creates, without its database; empty if it creates nothing."""
    match = _CREATES.match(item.source.text)
    return match[1].replace("`", "").rpartition(".")[2].lower() if match else ""


_NO_EFFECT = re.compile(
    r"'?(?P<name>[^':;]+?)'?(?: is an (?P<unknown>unknown setting) and)? ha(?:s|ve) no effect(?:[:;] (?P<why>.+)|$)"
)
"""Notes on what is accepted for compatibility with Hive."""


def _without_effect(notes: Iterable[str]) -> Iterator[NoEffect]:
    for match in filter(None, map(_NO_EFFECT.match, notes)):
        yield NoEffect(match["name"], "; ".join(filter(None, (match["unknown"], match["why"]))))


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
    missing_files: tuple[str, ...] = ()
    """The files that the statement names and that cannot be read."""
    notes: tuple[str, ...] = ()
    """The notes on the statement."""

    def begin(self, planned: str) -> None:
        """A new statement."""
        self.planned, self.depends_on_services, self.missing_files, self.notes = planned, False, (), ()

    def unset_variables(self) -> str:
        """That variables of the statement have no value; empty if all have one."""
        names = dict.fromkeys(re.findall(r"\$\{(?!env:)[^}$ ]+\}", self.planned))
        return f"no value for {', '.join(names)}" if names else ""

    def _warn(self, message: str, span: Span | None) -> None:  # noqa: ARG002
        self.notes += (message,)

    def _gathered(self, parsed: Statement) -> Snapshot:
        from hivedruid.parser.statements.ddl import CreateFunction, CreateView
        from hivedruid.parser.statements.writing import LoadData

        is_created = isinstance(parsed, CreateTable) and (parsed.storage_handler or parsed.like_file) is not None
        self.missing_files = tuple(path for path in self._files(parsed) if not os.access(path, os.R_OK))
        is_incomplete = isinstance(parsed, CreateFunction) and bool(self.missing_files)
        self.depends_on_services = is_created or is_incomplete or isinstance(parsed, LoadData)
        if isinstance(parsed, CreateTable) and _takes_columns_of_druid(parsed):
            raise ExecutionError(
                "the columns of the data source are read from Druid", hint="run EXPLAIN with --druid URL"
            )
        if isinstance(parsed, CreateTable | CreateView) and not parsed.if_not_exists:
            self._make_room(parsed.name)
        snapshot = super()._gathered(parsed)
        self.depends_on_services |= any(t.has_data_source or t.has_topic for t in snapshot.tables.values())
        return snapshot

    def _files(self, parsed: Statement) -> tuple[str, ...]:
        """The files of ADD JAR and ADD FILE, and the jars in which CREATE FUNCTION finds classes."""
        from hivedruid.parser.statements import utility as u
        from hivedruid.parser.statements.ddl import CreateFunction

        match parsed:
            case u.Resources(change="add", paths=paths) | u.WithoutEffect(files=paths):
                return paths
            case CreateFunction(file="", jars=jars):
                return (*jars, *self.settings[JARS].splitlines())
        return ()

    def _make_room(self, name: TableName) -> None:
        """Scripts that were run one at a time may create the same table."""
        existing = self.catalog.find(name.database or self.database, name.name)
        if existing is not None:
            self.catalog.remove(existing)

    def _built(self, parsed: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
        return builder(family_of(parsed))(parsed, snapshot, note)

    def _change_setting(self, key: str, value: str) -> None:
        if key.lower() in _OF_STATEMENTS or not key.lower().startswith(_OF_SERVICES):
            super()._change_setting(key, value)
        if (note := note_of(key, value)) is not None:
            self.notes += (note,)


def _takes_columns_of_druid(statement: CreateTable) -> bool:
    return table_kind(statement) == "druid" and not statement.columns and statement.query is None and not statement.like


@contextmanager
def rehearsing(hivevar: Mapping[str, str], hiveconf: Mapping[str, str]) -> Iterator[Rehearsal]:
    with TemporaryDirectory(prefix="hivedruid-import-") as folder:
        session = PlanningSession(Path(folder), configured={}, hiveconf=_OFFLINE, hivevar=hivevar, dry_run=True)
        with session:
            yield Rehearsal(session, hivevar, hiveconf)
