"""A session on a home folder: settings, variables, current database, and the execution of statements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid import configuration, script
from hivedruid.catalog.failures import catalog_errors
from hivedruid.catalog.opening import copy_catalog, is_shared, of_home, open_catalog
from hivedruid.catalog.store import Catalog
from hivedruid.catalogs import Catalogs
from hivedruid.engine.kinds import kind_of, require
from hivedruid.errors import (
    ExecutionError,
    ResourceError,
    SegmentReadError,
    SemanticError,
    Span,
    SparkOptimizerError,
    TableNotFound,
    TiersChangedError,
)
from hivedruid.hive_settings import mapped, noted_once, with_mapped
from hivedruid.locations import anchored
from hivedruid.positions import items_with_position, with_position
from hivedruid.query_log import LogEntry, QueryLog, new_id
from hivedruid.results import Result, text_result, through
from hivedruid.scratch import remove_leftovers, remove_rows, scratch_folder
from hivedruid.script import SourceStatement
from hivedruid.secret_text import mask_text, redact, remember, remember_statement
from hivedruid.secrets import is_secret
from hivedruid.setting_types import EMBEDDED, seconds
from hivedruid.settings import Settings

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts
    from hivedruid.actions.loose_files import LooseFiles
    from hivedruid.actions.model import Action
    from hivedruid.actions.services import Services
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.actions.statement_plan import Note, StatementPlan
    from hivedruid.catalog.functions import UserFunction
    from hivedruid.catalog.table import Table
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.embedded.store import EmbeddedStore
    from hivedruid.engine.capabilities import SegmentStorage
    from hivedruid.engine.engine import DruidEngine
    from hivedruid.kept_secrets import KeptSecrets
    from hivedruid.parser.macros import Macro
    from hivedruid.parser.statements import Statement
    from hivedruid.spark.jobs import SparkRunner

MAX_SOURCE_DEPTH = 16
MAX_FRAMES = 16_000
"""The recursion limit of Python. 500 nested parentheses or calls take 14,000 frames of the parser. A C stack of the
usual 8 MB is sufficient for more than twice as many."""


def _quiet(_text: str) -> None: ...


class Session:
    """Runs statements against one home folder. With `dry_run`, every statement returns its plan, and only metadata of
    Druid is read; the catalog is a copy in memory, so that later statements see what a script creates.

    `configured` are the settings below `hiveconf`, by default those of `configuration`. `note` receives one-line notes,
    `progress` a status line that replaces the previous one ("" clears it), `info` the outcome of a writing statement.
    `confirm` is called before records are lost or reread. Not thread-safe, except for `interrupt`: `background` names
    work of another thread, with its own Spark session and no log, `spark_name` only its Spark session. Close it.
    """

    def __init__(
        self,
        home: Path,
        *,
        configured: Mapping[str, str] | None = None,
        hiveconf: Mapping[str, str] | None = None,
        hivevar: Mapping[str, str] | None = None,
        dry_run: bool = False,
        note: Callable[[str], None] = _quiet,
        progress: Callable[[str], None] = _quiet,
        info: Callable[[str], None] = _quiet,
        confirm: Callable[[str], bool] = lambda _: False,
        background: str = "",
        spark_name: str = "",
    ) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), MAX_FRAMES))
        self.home = home.absolute()
        self._defaults = configuration.values(self.home) if configured is None else configured
        self.settings = Settings({**self._defaults, **with_mapped(hiveconf or {})})
        self._initial = self.settings.copy()
        self.variables: dict[str, str] = dict(hivevar or {})
        for given in (self.settings.changed(), self.variables):
            remember(value for key, value in given.items() if is_secret(key))
        self.database = "default"
        self._macros: dict[str, Macro] = {}
        self.temporary_functions: dict[tuple[str, str], UserFunction] = {}
        self._note = note
        self._progress = progress
        self._info = info
        self._confirm = confirm
        self._spark_name = spark_name or background
        self.on_plan: Callable[[list[str]], None] | None = None
        """Receives the short plan of a statement before it runs."""
        self._log = None if dry_run or background else QueryLog(self.home, note)
        self._dry_run = dry_run
        self._connection = (copy_catalog if dry_run else open_catalog)(self.home, self.settings)
        self.catalog = Catalog(self._connection)
        self._catalogs = Catalogs(self.catalog, self.settings)
        self._store: EmbeddedStore | None = None
        self._cluster: DruidCluster | None = None
        self._services: Services | None = None
        self._spark: SparkRunner | None = None
        self._kept: KeptSecrets | None = None
        if not dry_run:
            remove_leftovers(scratch_folder(self.home))
        self._note_setting = noted_once(note)
        self._noted_places: set[tuple[str, str]] = set()
        for initial in (hiveconf or {}).items():
            self._note_setting(*initial)
        self._unreadable = "SOURCE is only supported as a statement of a script"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for table in self.catalog.temporary_tables():
            remove_rows(table.location)
            self.catalog.remove(table)
        if "_loose_files" in vars(self):
            self._loose_files.close()
        if self._spark is not None:
            self._spark.close()
        if self._store is not None:
            self._store.close()
        if self._cluster is not None:
            self._cluster.close()
        self._catalogs.close()
        self._connection.close()

    def interrupt(self) -> None:
        """End the native query or the Spark jobs that another thread is waiting for in this session. Its statement
        fails, unless nothing of it was running at that moment."""
        for engine in (self._store, self._cluster):
            if engine is not None:
                engine.interrupt()
        if self._spark is not None:
            from hivedruid.spark.session import interrupt

            interrupt(self.home, self._spark_name)

    # --- statements --------------------------------------------------------------------------------------------

    def statements(self, text: str, file: str | None = None) -> Iterator[SourceStatement]:
        """The statements of a script, with `${…}` substituted one statement at a time; SOURCE is expanded in place.
        Raises ParseError at an unterminated string or comment."""
        yield from self._statements(text, file, 0)

    def _statements(self, text: str, file: str | None, depth: int) -> Iterator[SourceStatement]:
        for raw in list(script.split(text, file)):  # an incomplete script does not run at all
            statement = self._substituted(raw)
            sourced = script.source_path(statement)
            if sourced is None:
                yield statement
                continue
            if depth >= MAX_SOURCE_DEPTH:
                self._unreadable = "SOURCE includes itself"
                yield statement
                continue
            path = Path(os.path.dirname(file) if file else "") / sourced  # noqa: PTH120 - pathlib.parent of "" is "."
            try:
                inner = path.read_text(encoding="utf-8-sig")
            except (OSError, ValueError) as error:
                reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
                self._unreadable = f"cannot read the script {path}: {getattr(error, 'strerror', None) or reason}"
                yield statement  # fails when executed, as one statement of the script
                continue
            yield from self._statements(inner, str(path), depth + 1)

    def _substituted(self, statement: SourceStatement) -> SourceStatement:
        statement = replace(statement, nulls_last=self.settings.get_bool("hive.default.nulls.last"))
        if "${" not in statement.text or not self.settings.get_bool("hive.variable.substitute"):
            return statement
        depth = self.settings.get_int("hive.variable.substitute.depth")
        substituted = script.substitute(statement, self.variables, self.settings, os.environ, depth=depth)
        if "${env:" in statement.text:
            remember(value for name, value in os.environ.items() if is_secret(name) and value in substituted.text)
        return substituted

    def execute(self, statement: SourceStatement) -> Result:
        """Run one statement. Result rows may be computed lazily, and fail while they are read. Raises HiveDruidError
        for every error other than a bug.
        """
        query_id = new_id(self.settings["druid.query.id.prefix"])
        remember_statement(statement.text)
        texts = self.settings.get_bool("hivedruid.log.statements")
        entry = LogEntry(self._log, query_id, statement, self.settings["druid.url"], texts=texts)
        try:
            result = self._execute(statement, query_id)
        except RecursionError:
            deep = SemanticError(
                "the statement is nested too deeply",
                span=statement.span(0, 1),
                hint="move part of the expression into a subquery or a view",
            )
            entry.done(error=deep)
            raise deep from None
        except BaseException as error:
            entry.done(error=error)
            raise
        if not result.columns:
            entry.done()
            return result
        rows = through(result.rows, lambda items: entry.counted(items_with_position(items, statement)))
        return replace(result, rows=rows)

    def _execute(self, statement: SourceStatement, query_id: str) -> Result:
        from hivedruid.parser import parse
        from hivedruid.parser.statements import Explain, SourceScript

        parsed = self._without_secrets(anchored(parse(statement, self._macros)))
        if isinstance(parsed, SourceScript):
            raise ExecutionError(self._unreadable, span=statement.span(0, len(statement.text)))
        with with_position(statement), catalog_errors(), self._with_closest_table():
            snapshot = self._gathered(parsed)
            self._note_facts(snapshot)
            if isinstance(parsed, Explain):
                from hivedruid.actions.explain import explain

                return _redacted(explain(parsed, snapshot, self._warn, self._built))
            return self._run(parsed, snapshot, query_id)

    def _gathered(self, parsed: Statement) -> Snapshot:
        from hivedruid.actions.gather import gather

        snapshot = gather(parsed, self.facts())
        return replace(snapshot, scans_only=True) if self.settings["hivedruid.pushdown"] == "scans" else snapshot

    @contextmanager
    def _with_closest_table(self) -> Iterator[None]:
        """Add the closest table name to a TableNotFound: no other statement reads the names of all tables."""
        try:
            yield
        except TableNotFound as error:
            from hivedruid.actions.loose_files import meant

            if problem := self._catalogs.names.problem:
                raise problem.at(error.span) from None
            error.hint = meant(error, self.catalog.table_names(error.database)) or error.hint
            raise

    def _run(self, parsed: Statement, snapshot: Snapshot, query_id: str) -> Result:
        """Build the actions and execute them; a query that Druid rejects for lack of resources is rebuilt with scans
        only."""
        if snapshot.has_moves and not self._dry_run:
            from hivedruid.actions.partitioning.moves import complete_interrupted

            snapshot = self._gathered(parsed) if complete_interrupted(self._get_services()) else snapshot
        if snapshot.tiers and not self._dry_run:
            from hivedruid.actions.tiering.exclusion import unmoved

            with unmoved(self._get_services().locks, snapshot, parsed) as is_locked:
                return self._run_built(parsed, self._gathered(parsed) if is_locked else snapshot, query_id)
        return self._run_built(parsed, snapshot, query_id)

    def _run_built(self, parsed: Statement, snapshot: Snapshot, query_id: str) -> Result:
        from hivedruid.actions.build import job_origin
        from hivedruid.actions.execute import execute

        built = self._built(parsed, snapshot, self._warn)
        if self._dry_run:
            return self._rehearse(parsed, built)
        if self.on_plan is not None:
            from hivedruid.actions.brief import brief

            self.on_plan([redact(line) for line in brief(built.actions)])

        def fallback(refused: ResourceError) -> tuple[Action, ...]:
            if isinstance(refused, TiersChangedError):
                return self._built(parsed, self._gathered(parsed)).actions
            if isinstance(refused, SparkOptimizerError):
                return self._built(parsed, replace(snapshot, reads_whole_files=True)).actions
            if isinstance(refused, SegmentReadError):
                self._note(f"{refused.message}; reading the rows with queries")
                return self._built(parsed, replace(snapshot, segments={})).actions
            self._note(f"Druid rejected the query ({refused.message}); running it on Spark over plain scans")
            return self._built(parsed, replace(snapshot, scans_only=True)).actions

        def replan(answers: Mapping[str, Sequence[Any]]) -> tuple[Action, ...]:
            return self._built(parsed, replace(snapshot, answers=answers)).actions

        if snapshot.called or self._spark is not None:
            self._get_spark().use(snapshot.called)
        origin = job_origin(parsed, snapshot)
        return execute(built.actions, self._get_services(), query_id, fallback, origin, replan)

    def _built(self, parsed: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
        from hivedruid.actions.complete_plan import complete_plan
        from hivedruid.clients.topics import topic_state

        return complete_plan(parsed, snapshot, note, self._get_services(), topic_state)

    def _rehearse(self, parsed: Statement, built: StatementPlan) -> Result:
        """The plan of a statement; catalog names and settings are changed so that later statements see them."""
        from hivedruid.actions.execute import execute
        from hivedruid.actions.explain import user_level

        answer = execute([a.names_only for a in built.actions if a.names_only], self._get_services(), "", lambda _: ())
        first = mask_text(parsed.source.text.strip()).partition("\n")[0]
        heading = f"-- {parsed.source.file or 'line'}:{parsed.source.line}: {first}"
        if answer.columns:
            return answer
        return _redacted(text_result("Plan", "\n".join(["", heading, *user_level(built, self.settings)])))

    def _note_facts(self, snapshot: Snapshot) -> None:
        """Print notes about facts that affect the plan or the result."""
        for text in self._loose_files.new_summaries(snapshot.tables.values()) if snapshot.loose_files else ():
            self._note(text)
        if snapshot.unreachable is not None:
            self._note(f"planned from the catalog only: {snapshot.unreachable}")
        here = self._place() if snapshot.read else ""
        for table in snapshot.read if here else ():
            self._note_place(table, here, is_absent=table.data_source in snapshot.absent)

    def _note_place(self, table: Table, here: str, *, is_absent: bool) -> None:
        """Note, once, that the rows of a table are in another Druid, and record where they are."""
        from hivedruid.catalog.places import IN_HOME, Places, elsewhere

        places, data_source = Places(self.catalog), table.data_source
        if (place := places.find(data_source)) is None and not is_absent:
            with suppress(ExecutionError):  # a read-only catalog is sufficient
                places.remember(data_source, here)
        elif place is None and here != IN_HOME and not is_shared(self.catalog) and self.store.schema(data_source):
            place = IN_HOME
        begun_with = self._defaults.get("druid.url", EMBEDDED)
        unknown = place is None and is_absent and here == IN_HOME and not kind_of(begun_with).is_in_home
        if (place in (None, here) and not unknown) or (here, data_source) in self._noted_places:
            return
        self._noted_places.add((here, data_source))
        if place is None:
            self._note(f"data source {data_source} is not in the embedded store; this home's druid.url is {begun_with}")
        else:
            self._note(elsewhere(table.full_name, data_source, place, here, is_absent=is_absent))

    def _place(self) -> str:
        """The Druid that druid.url names."""
        from hivedruid.local.state import place_of

        return place_of(self.settings["druid.url"], self.home)

    def _see_version(self, version: str) -> None:
        """Record the version of a cluster, and note that it has changed."""
        from hivedruid.catalog.places import Places

        with suppress(ExecutionError):  # a read-only catalog is sufficient
            if change := Places(self.catalog).see_version(self._place(), version):
                self._note(change)

    def _without_secrets(self, statement: Statement) -> Statement:
        """Replace plain-text secrets by references if they are allowed; otherwise they are rejected later."""
        if not self.settings.get_bool("hivedruid.clear.text.secrets"):
            return statement
        if self._kept is None:
            from hivedruid.kept_secrets import KeptSecrets

            self._kept = KeptSecrets()
            if self._cluster is not None:
                self._cluster.kept = self._kept
        return self._kept.without_secrets(statement)

    def _warn(self, message: str, span: Span | None) -> None:
        self._note(message if span is None else f"line {span.line}: {message}")

    # --- what statements see and change ------------------------------------------------------------------------

    @property
    def store(self) -> EmbeddedStore:
        if self._store is None:
            from hivedruid.embedded.store import EmbeddedStore

            self._store = EmbeddedStore(self.home, of_home(self._connection))
        return self._store

    def druid(self) -> DruidEngine:
        """The Druid that druid.url names. Raises ConnectError for `local` if the cluster is not running."""
        if kind_of(self.settings["druid.url"]).is_in_home:
            return self.store
        from hivedruid.clients.address import address
        from hivedruid.clients.cluster import DruidCluster
        from hivedruid.local.state import running

        url = address(self.settings, running(self.home))
        if self._cluster is None or self._cluster.address != url:
            if self._cluster is not None:
                self._cluster.close()
            self._cluster = DruidCluster(url, progress=self._progress, note=self._note, kept=self._kept)
            self._cluster.see_version = self._see_version
        self._cluster.patience = seconds(self.settings["hivedruid.segment.load.timeout"])
        self._cluster.slot_patience = seconds(self.settings["hivedruid.task.slot.timeout"])
        return self._cluster

    def now(self) -> datetime:
        """The current time, or the value of hivedruid.now (UTC)."""
        pinned = self.settings["hivedruid.now"]
        return datetime.fromisoformat(pinned).replace(tzinfo=UTC) if pinned else datetime.now(UTC)

    def facts(self) -> Facts:
        from hivedruid.actions.facts import Facts

        return Facts(
            self.catalog, self._catalogs.renewed(), self.druid, self._get_spark,
            {**self.settings, "hive.local.time.zone": self.settings.time_zone}, self.now(), self.database, self.home,
            self.variables, self._dry_run, asks_spark=not self._dry_run, temporary_functions=self.temporary_functions,
            loose_files=lambda: self._loose_files,
        )  # fmt: skip

    @cached_property
    def _loose_files(self) -> LooseFiles:
        from hivedruid.actions.loose_files import LooseFiles

        return LooseFiles(self.home)

    def _get_services(self) -> Services:
        if self._services is None:
            from hivedruid.actions.services import Services

            self._services = Services(
                self.home, self.catalog, self._catalogs, self.druid, self._get_spark,
                partial(setattr, self, "database"), self._change_setting, self._reset_setting, self._macros,
                self.temporary_functions, lambda: self.settings.time_zone, self._place, self._query_context,
                self.settings, self._note, self._info, self._confirm,
            )  # fmt: skip
        return self._services

    def _get_spark(self) -> SparkRunner:
        if self._spark is None:
            from hivedruid.actions.rejects import RejectsTables
            from hivedruid.clients.avro_schemas import AvroSchemas
            from hivedruid.clients.topics import check_same
            from hivedruid.spark.jobs import SparkRunner

            self._spark = SparkRunner(
                self.home, self.settings, self.druid, self._progress, self._note,
                self._segment_storage, AvroSchemas(self.settings), check_same, RejectsTables(self.home, self.catalog),
                self._spark_name,
            )  # fmt: skip
        return self._spark

    def _segment_storage(self) -> SegmentStorage:
        from hivedruid.engine.capabilities import SegmentStorage

        return require(self.druid(), SegmentStorage)

    def _query_context(self) -> Mapping[str, Any]:
        from hivedruid.druid.context import query_context

        return query_context(self.settings)

    def _change_setting(self, key: str, value: str) -> None:
        if is_secret(key):
            remember([value])
        self._note_setting(key, value)
        if key.startswith("hivevar:"):
            self.variables[key.removeprefix("hivevar:")] = value
        else:
            self.settings.set(key, value)
        if (target := mapped(key, value)) is not None:
            self._change_setting(*target)

    def _reset_setting(self, key: str | None) -> None:
        if key is None:
            self.settings.reset()  # the same object: the runner of Spark jobs has a reference to it, too
            for initial, value in self._initial.changed().items():
                self.settings.set(initial, value)
        elif key in self._initial.changed():
            self.settings.set(key, self._initial[key])
        else:
            self.settings.reset(key)

    # --- names, for completion ---------------------------------------------------------------------------------

    def table_names(self) -> tuple[str, ...]:
        return self.catalog.table_names(self.database)


def _redacted(plan: Result) -> Result:
    """A plan without secrets: it may contain literals and properties of the statement."""
    shown = redact("\n".join([line for (line,) in plan.rows]))
    return replace(plan, rows=[(line,) for line in shown.split("\n")])
