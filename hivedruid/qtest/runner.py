"""`.q` scripts as tests: the expected output of a script is in `.q.out` beside it.

Each script runs in a home of its own, with the clock and the time zone pinned, so that its output is the same
on every machine and every day. See docs/q-tests.md for the format.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.diagnostics import FAILED, OK, one_line
from hivedruid.engine.capabilities import Loading
from hivedruid.engine.kinds import require, session_kind
from hivedruid.errors import HiveDruidError, ParseError, UsageError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.output_file import write_text
from hivedruid.qtest.sharing import sharing_spark
from hivedruid.secret_text import mask_from_first, mask_text

if TYPE_CHECKING:
    from hivedruid.results import Result
    from hivedruid.script import SourceStatement
    from hivedruid.session import Session

PINNED = {
    "hive.local.time.zone": "UTC",
    "hivedruid.now": "2026-01-01 00:00:00",
    "hivedruid.kafka.check": "off",
}
"""Settings of every test, so that results do not depend on the clock or on Kafka; a script may SET others."""

MAX_JOBS = 4
SCRIPTS_PER_JOB = 8
"""Scripts per worker process; fewer are not worth it, since the first Spark job of each process starts Spark."""

_REPLACE = re.compile(
    r"^[ \t]*--![ \t]*qt:replace:/(?P<pattern>(?:[^/\\]|\\.)+)/(?P<text>(?:[^/\\]|\\.)*)/[ \t]*$", re.MULTILINE
)
"""Hive's directive (QTestReplaceHandler): a pattern that differs between runs, and its replacement."""

_SORT = re.compile(r"^\s*--\s*SORT_QUERY_RESULTS\s*$", re.MULTILINE)


Progress = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a script: `diff` from the expected output, and `bugs` found; both are empty if it passed.

    `updated`: the expected output was rewritten.
    """

    script: Path
    diff: str = ""
    bugs: tuple[str, ...] = ()
    updated: bool = False

    @property
    def passed(self) -> bool:
        return not self.diff and not self.bugs


@dataclass(frozen=True)
class Transcript:
    """The output of a script, and its unexpected exceptions: those are bugs, never expected output."""

    text: str
    bugs: tuple[str, ...] = ()


def run_paths(
    paths: Iterable[Path],
    *,
    update: bool = False,
    jobs: int | None = None,
    colour: bool | None = None,
    settings: Mapping[str, str] | None = None,
    progress: Progress = lambda _: None,
) -> int:
    """Run every `.q` under `paths`, print each outcome to stdout when its script ends, and return the exit code.
    `settings` apply to every script. On a cluster (druid.url) the scripts run sequentially. `progress` receives what is
    waited for.
    """
    scripts = find_scripts(paths)
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") if colour is None else colour
    jobs = (
        1 if _on_cluster(settings) else jobs or min(os.cpu_count() or 1, MAX_JOBS, -(-len(scripts) // SCRIPTS_PER_JOB))
    )
    failed = 0
    with sharing_spark():
        for outcome in _run_all(scripts, update, min(jobs, len(scripts)), settings, progress):
            failed += not outcome.passed
            progress("")
            sys.stdout.write(report(outcome, colour=colour))
            sys.stdout.flush()
    sys.stdout.write(f"{len(scripts) - failed} passed, {failed} failed\n")
    return FAILED if failed else OK


def find_scripts(paths: Iterable[Path]) -> list[Path]:
    """The `.q` files in `paths`, sorted and without duplicates. Raises UsageError if there is none."""
    scripts: set[Path] = set()
    for path in paths:
        matches = {path} if path.is_file() else set(path.rglob("*.q"))
        if not matches:
            reason = "it contains no .q script" if path.is_dir() else "no such file or folder"
            raise UsageError(f"nothing to test in {path}: {reason}")
        scripts |= matches
    return sorted(scripts)


def report(outcome: Outcome, *, colour: bool) -> str:
    """One line for a script that passed, the diff or the bug for one that did not."""
    word = "updated" if outcome.updated else "ok" if outcome.passed else "FAILED"
    lines = [f"{word:7} {outcome.script}\n"]
    lines += [f"        bug: {bug}\n" for bug in outcome.bugs]
    if outcome.diff:
        lines.append(_coloured(outcome.diff) if colour else outcome.diff)
    return "".join(lines)


def run_script(
    script: Path,
    *,
    update: bool = False,
    scratch: Path | None = None,
    settings: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
    progress: Progress = lambda _: None,
) -> Outcome:
    """Run one script and compare with, or with `update` rewrite, the `.q.out` beside it."""
    transcript = transcribe(script, scratch=scratch, settings=settings, variables=variables, progress=progress)
    expected_file = script.with_name(f"{script.name}.out")
    expected = expected_file.read_text(encoding="utf-8") if expected_file.exists() else None
    if transcript.bugs or transcript.text == expected:
        return Outcome(script, bugs=transcript.bugs)
    if update:
        write_text(expected_file, transcript.text)
        return Outcome(script, updated=True)
    if expected is None:
        return Outcome(script, diff=f"{expected_file} is missing: create it with --update and review it\n")
    return Outcome(script, diff=unified_diff(expected, transcript.text, expected_file))


def transcribe(
    script: Path,
    *,
    scratch: Path | None = None,
    settings: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
    progress: Progress = lambda _: None,
) -> Transcript:
    """Run a script in a new home (under `scratch`) and record each statement with its result.

    `settings` override the pinned ones, `variables` are hivevars. On a cluster, ingestion started by the script is
    stopped and its data sources are dropped afterwards. Errors are recorded and do not stop the script. Raises
    UsageError if the script cannot be read.
    """
    from shutil import rmtree
    from tempfile import mkdtemp

    from hivedruid.session import Session

    try:
        text = script.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {script}: {error}") from None
    home = Path(mkdtemp(prefix="hivedruid-test-", dir=scratch)).resolve()
    folder = script.resolve().parent
    notes: list[str] = []
    try:
        session = Session(
            home,
            configured={},
            hiveconf={**PINNED, **(settings or {})},
            hivevar={"home": str(home), "dir": str(folder), **(variables or {})},
            note=notes.append,
            progress=progress,
            confirm=lambda _: True,
        )
        try:
            with _no_new_data_sources(session) if _on_cluster(settings) else nullcontext():
                transcript = _Transcriber(session, notes).run(text, str(script.resolve()))
        finally:
            session.close()
    finally:
        rmtree(home, ignore_errors=True)
    named = transcript.text.replace(str(home), "${home}").replace(str(folder), "${dir}")
    return Transcript(named, transcript.bugs)


def _on_cluster(settings: Mapping[str, str] | None) -> bool:
    return not session_kind(settings or {}).is_in_home


@contextmanager
def _no_new_data_sources(session: Session) -> Iterator[None]:
    """Drop what the script created afterwards, because the cluster is shared."""
    before = set(session.druid().data_sources())
    try:
        yield
    finally:
        _end_ingestions(session)
        for data_source in sorted(set(session.druid().data_sources()) - before):
            require(session.druid(), Loading).drop(data_source)


def _end_ingestions(session: Session) -> None:
    """Stop all ingestion that the script started."""
    from hivedruid.catalog.ingestions import Ingestions
    from hivedruid.operations.change_store import Changes

    records = Ingestions(session.catalog).all()
    unfinished = Changes(session.catalog).unfinished()
    for database in session.catalog.databases():
        for table in session.catalog.tables(database):
            record = records.get(table.table_id)
            if (record is not None and record.started) or table.table_id in unfinished:
                for statement in session.statements(f"DROP TABLE `{database}`.`{table.name}` PURGE"):
                    session.execute(statement)


class _Transcriber:
    """Runs the statements of one script and writes the blocks of its `.q.out`."""

    def __init__(self, session: Session, notes: list[str]) -> None:
        self._session = session
        self._notes = notes
        self._bugs: list[str] = []
        self._unread = False
        self._replace: Callable[[str], str] = lambda answer: answer

    def run(self, text: str, file: str) -> Transcript:
        blocks: list[str] = []
        self._replace = _replacing(text, file)
        sorting = _Sorting(text, file)
        statements = self._session.statements(text, file)
        while True:
            try:
                statement = next(statements, None)
            except HiveDruidError as error:
                blocks.append(f"-- !error\n{_error_text(error)}")
                break
            if statement is None:
                break
            answer = self._answer(statement, sort=sorting.applies_to(statement))
            hide = mask_from_first if self._unread else mask_text
            written = hide(statement.text if statement.original is None else statement.original)
            blocks.append(f"-- !statement\n{written}\n{answer}")
        return Transcript("\n".join(blocks), tuple(self._bugs))

    def _answer(self, statement: SourceStatement, *, sort: bool) -> str:
        self._unread = False
        try:
            output = _output_text(self._session.execute(statement), sort=sort)
        except HiveDruidError as error:
            self._unread = isinstance(error, ParseError)
            output = f"-- !error\n{_error_text(error, statement)}"
        except Exception as error:  # noqa: BLE001 - told apart from expected errors, and the file fails
            bug = f"{type(error).__name__}: {one_line(str(error))}"
            self._bugs.append(f"{_place(statement)}: {bug}")
            output = f"-- !error\ninternal error: {bug}\n"
        notes = "".join(f"-- !note {one_line(note)}\n" for note in self._notes)
        self._notes.clear()
        return self._replace(notes + output)


def _replacing(text: str, file: str) -> Callable[[str], str]:
    """What the directives `--! qt:replace:/regular expression/replacement/` of a script do to an answer; `$1` is a
    group."""
    rules: list[tuple[re.Pattern[str], str]] = []
    for match in _REPLACE.finditer(text):
        try:
            pattern = re.compile(match["pattern"].replace(r"\/", "/"), re.MULTILINE)
            replacement = re.sub(r"\$(\d)", r"\\\1", match["text"].replace(r"\/", "/"))
            pattern.sub(replacement, "")
        except re.error as error:
            line = text.count("\n", 0, match.end()) + 1
            raise UsageError(
                f"{file}:{line}: '{match['pattern']}' is not a valid regular expression: {error}"
            ) from None
        rules.append((pattern, replacement))

    def replace(answer: str) -> str:
        for pattern, replacement in rules:
            answer = pattern.sub(replacement, answer)
        return answer

    return replace


class _Sorting:
    """`-- SORT_QUERY_RESULTS`: applies to the whole script before the first statement, otherwise to the next
    statement."""

    def __init__(self, text: str, file: str) -> None:
        self._lines = [text.count("\n", 0, match.end()) + 1 for match in _SORT.finditer(text)]
        self._file = file
        self._last: int | None = None
        self._all = False

    def applies_to(self, statement: SourceStatement) -> bool:
        if statement.file != self._file:
            return self._all
        named = any((self._last or 0) < line <= statement.line for line in self._lines)
        self._all = self._all or (named and self._last is None)
        written = statement.text if statement.original is None else statement.original
        self._last = statement.line + written.count("\n")
        return self._all or named


def _output_text(result: Result, *, sort: bool) -> str:
    """The names and types of the columns, then the rows as `--format tsv` prints them."""
    from hivedruid import render

    lines = list(render.lines(result, "tsv", header=False))
    if sort and not result.is_text:
        lines.sort()
    schema = ", ".join(f"{column.name} {column.type}" for column in result.columns)
    shown = f"-- !schema {schema}\n" if schema and not result.is_text else ""
    return f"{shown}-- !output\n{''.join(lines)}"


def _error_text(error: HiveDruidError, statement: SourceStatement | None = None) -> str:
    """Class, message and place of an error; lines count from the start of its statement."""
    place = ""
    if error.span is not None:
        same = statement is not None and error.span.file == statement.file
        line = error.span.line - (statement.line - 1 if statement is not None and same else 0)
        place = f" (line {line}, column {error.span.column})"
    hint = f"hint: {one_line(error.hint)}\n" if error.hint else ""
    return f"{error.kind}: {one_line(error.message)}{place}\n{hint}"


def _place(statement: SourceStatement) -> str:
    return f"line {statement.line}" if statement.file is None else f"{statement.file}:{statement.line}"


def unified_diff(expected: str, actual: str, file: Path) -> str:
    from difflib import unified_diff as diff

    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in diff(
            expected.splitlines(keepends=True),
            actual.splitlines(keepends=True),
            f"{file} (expected)",
            f"{file} (actual)",
        )
    )


def _coloured(diff: str) -> str:
    colours = {"-": "\033[31m", "+": "\033[32m", "@": "\033[36m"}
    lines = diff.splitlines()
    return "".join(f"{colours[line[0]]}{line}\033[0m\n" if line[:1] in colours else f"{line}\n" for line in lines)


def _run_all(
    scripts: Sequence[Path],
    update: bool,
    jobs: int,
    settings: Mapping[str, str] | None,
    progress: Progress,
) -> Iterator[Outcome]:
    """The outcome of each script when it ends. A worker process runs several scripts and loads modules only once."""
    from shutil import rmtree
    from tempfile import mkdtemp

    scratch = Path(mkdtemp(prefix="hivedruid-tests-"))
    run = partial(run_script, update=update, scratch=scratch, settings=settings)
    try:
        if jobs == 1:
            yield from (run(script, progress=progress) for script in scripts)
            return
        from concurrent.futures import ProcessPoolExecutor, as_completed
        from multiprocessing import get_context

        with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_die_on_interrupt) as pool:
            try:
                waiting = [pool.submit(run, script) for script in scripts]
                for number, done in enumerate(as_completed(waiting)):
                    yield done.result()
                    progress(f"{number + 1} of {len(scripts)} scripts")
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        rmtree(scratch, ignore_errors=True)


def _die_on_interrupt() -> None:
    """Ctrl-C reaches every process of the terminal: workers exit silently, the parent reports it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
