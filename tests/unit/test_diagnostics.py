from __future__ import annotations

import io
import re

import pytest

from hivedruid import errors
from hivedruid.diagnostics import (
    FAILED,
    INTERRUPTED,
    MAX_SOURCE_WIDTH,
    UNREACHABLE,
    USAGE,
    Diagnostics,
    excerpt,
    exit_code,
)
from hivedruid.errors import HiveDruidError, SemanticError, Span
from hivedruid.script import SourceStatement
from hivedruid.terminal import display_width
from tests.support.ingestion import until


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "HIVEDRUID_DEBUG"):
        monkeypatch.delenv(name, raising=False)


def reported(error: BaseException, stream: io.StringIO | None = None) -> str:
    stream = stream or io.StringIO()
    Diagnostics(stream).report(error)
    return stream.getvalue()


CODES = {
    errors.HiveDruidError: FAILED,
    errors.UsageError: USAGE,
    errors.ParseError: USAGE,
    errors.UnsetVariableError: USAGE,
    errors.SemanticError: FAILED,
    errors.CatalogStateError: FAILED,
    errors.FunctionNotFound: FAILED,
    errors.TableNotFound: FAILED,
    errors.UnsupportedError: FAILED,
    errors.CapabilityError: FAILED,
    errors.PlanError: FAILED,
    errors.ExecutionError: FAILED,
    errors.ConstraintError: FAILED,
    errors.DruidError: FAILED,
    errors.ResourceError: FAILED,
    errors.SegmentReadError: FAILED,
    errors.SparkOptimizerError: FAILED,
    errors.TiersChangedError: FAILED,
    errors.SparkError: FAILED,
    errors.KafkaError: FAILED,
    errors.MalformedRecordError: FAILED,
    errors.RejectLimitError: FAILED,
    errors.CommitConflictError: FAILED,
    errors.CancelledError: FAILED,
    errors.ConnectError: UNREACHABLE,
}


def test_every_error_class_has_its_exit_code() -> None:
    classes = {c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, HiveDruidError)}
    assert {c: exit_code(c("x")) for c in classes} == CODES
    assert exit_code(KeyboardInterrupt()) == INTERRUPTED
    assert exit_code(ValueError()) == FAILED


def test_an_error_has_message_place_caret_and_hint() -> None:
    statement = SourceStatement("SELECT pgae\nFROM wiki", line=3, column=1, file="a.q")
    error = SemanticError("no column 'pgae' in wiki", span=statement.span(7, 11), hint="did you mean 'page'?")
    assert reported(error) == (
        "error: no column 'pgae' in wiki\n  --> a.q:3:8\n    SELECT pgae\n           ^^^^\nhint: did you mean 'page'?\n"
    )


def test_text_without_a_file_has_line_and_column() -> None:
    error = SemanticError("no", span=SourceStatement("SELECT a, b").span(10))
    assert reported(error) == "error: no\n  --> line 1:11\n    SELECT a, b\n              ^\n"


def test_message_and_hint_stay_on_one_line_each() -> None:
    error = HiveDruidError("first\n  second\x1b[2J", hint="a\nb")
    assert reported(error) == "error: first second\\x1b[2J\nhint: a b\n"


def caret_at(line: str, column: int, length: int = 1) -> str:
    """The characters of the shown line above the carets."""
    text, caret = excerpt(Span(1, column, length, line))
    start = caret.index("^")
    cells = "".join(character.ljust(display_width(character), "\0") for character in text if display_width(character))
    return cells[start : len(caret)].replace("\0", "")


@pytest.mark.parametrize(
    ("line", "column", "length", "under"),
    [
        ("SELECT x", 8, 1, "x"),
        ("\tSELECT\tx y", 9, 1, "x"),
        ("SELECT '日本', x", 14, 1, "x"),
        ("SELECT 日本 x", 8, 2, "日本"),
        ("SELECT e\u0301, x", 12, 1, "x"),
        ("SELECT '\x1b[31m', x", 17, 1, "x"),
        ("                SELECT x", 24, 1, "x"),
        ("SELECT x", 8, 50, "x"),
        ("a" * 500 + " here " + "b" * 500, 502, 4, "here"),
        ("日" * 500 + " here " + "本" * 500, 502, 4, "here"),
        ("a" * 500 + " here", 502, 4, "here"),
        ("here " + "b" * 500, 1, 4, "here"),
    ],
)
def test_the_caret_stands_under_what_it_is_about(line: str, column: int, length: int, under: str) -> None:
    assert caret_at(line, column, length) == under
    assert display_width(excerpt(Span(1, column, length, line))[0]) <= MAX_SOURCE_WIDTH


def test_a_long_underlined_text_is_cut() -> None:
    text, caret = excerpt(Span(1, 8, 5000, "SELECT " + "x" * 5000))
    assert text == "SELECT " + "x" * 57 + "..."
    assert caret == " " * 7 + "^" * 60


def test_the_caret_can_stand_behind_the_line() -> None:
    assert excerpt(Span(1, 7, 1, "SELECT")) == ("SELECT", "      ^")
    assert excerpt(Span(1, 99, 1, "")) == ("", "^")


def test_no_secret_is_shown() -> None:
    statement = SourceStatement("TBLPROPERTIES ('druid.password' =\n 'hunter2', 'nope' = '1')")
    offset = statement.text.index("'nope'")
    shown = reported(
        SemanticError(
            "druid.password=hunter2 was refused", span=statement.span(offset, offset + 6), hint="http://u:hunter2@host"
        )
    )
    assert "hunter2" not in shown
    assert shown.splitlines()[3].index("^") == shown.splitlines()[2].index("'nope'")


def test_a_bug_is_one_line_and_says_how_to_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        raise KeyError("password=hunter2")
    except KeyError as error:
        short = reported(error)
        monkeypatch.setenv("HIVEDRUID_DEBUG", "1")
        long = reported(error)
    assert short.splitlines()[0].startswith("internal error: KeyError: ")
    assert "HIVEDRUID_DEBUG=1" in short.splitlines()[1]
    assert "Traceback" not in short
    assert "Traceback" in long
    assert "test_diagnostics.py" in long
    assert "hunter2" not in short + long


def test_colours_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    error = SemanticError("no", span=SourceStatement("SELECT a").span(7), hint="try")
    coloured = reported(error, Terminal())
    assert "\033[" in coloured
    assert re.sub(r"\033\[\d*m", "", coloured) == reported(error)
    monkeypatch.setenv("NO_COLOR", "1")
    assert reported(error, Terminal()) == reported(error)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert reported(error, Terminal()) == reported(error)


def test_notes_and_counts_are_silent_when_quiet() -> None:
    loud, quiet = io.StringIO(), io.StringIO()
    for stream, is_quiet in ((loud, False), (quiet, True)):
        diagnostics = Diagnostics(stream, quiet=is_quiet)
        diagnostics.note("3 rows of\nwiki.json skipped, password=hunter2")
        diagnostics.info("2 rows")
    assert loud.getvalue() == "note: 3 rows of wiki.json skipped, password=******\n2 rows\n"
    assert quiet.getvalue() == ""


def test_timing_is_hives_line() -> None:
    stream = io.StringIO()
    Diagnostics(stream).timing(0.1414, 10)
    Diagnostics(stream).timing(2, None)
    assert stream.getvalue() == "Time taken: 0.141 seconds, Fetched: 10 row(s)\nTime taken: 2.000 seconds\n"


def test_progress_is_rewritten_in_place_and_erased_before_other_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    diagnostics = Diagnostics(stream)
    diagnostics.progress("stage 1")
    diagnostics.progress("stage 2")
    diagnostics.note("done")
    diagnostics.progress("")
    erase = "\r\033[K"
    assert stream.getvalue() == f"{erase}stage 1{erase}stage 2{erase}note: done\n"


def test_progress_fits_the_line() -> None:
    stream = Terminal()
    Diagnostics(stream).progress("x" * 500)
    assert len(re.sub(r"\033\[\d*[mK]|\r", "", stream.getvalue())) == 79


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True)])
def test_no_progress_elsewhere(terminal: bool, quiet: bool) -> None:
    stream = Terminal() if terminal else io.StringIO()
    Diagnostics(stream, quiet=quiet).progress("stage 1")
    assert stream.getvalue() == ""


def test_a_progress_line_that_stays_shows_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hivedruid.diagnostics.TICK", 0.05)
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    diagnostics = Diagnostics(stream)
    diagnostics.progress("Spark: starting")
    until(lambda: "Spark: starting (1 s)" in stream.getvalue(), "the first second")
    diagnostics.progress("Spark: stage 1/2 (3 s)")  # has its seconds
    diagnostics.progress("")
    shown = stream.getvalue()
    assert shown.startswith("\r\033[KSpark: starting\r\033[KSpark: starting (0 s)")
    assert shown.endswith("\r\033[KSpark: stage 1/2 (3 s)\r\033[K")
    assert "(3 s) (" not in shown


def test_the_beginning_of_a_long_wait_without_a_terminal() -> None:
    stream = io.StringIO()
    diagnostics = Diagnostics(stream)
    texts = (
        "Spark: starting", "Spark: starting", "Spark: stage 1/2", "Looking up 13 Java artifacts",
        "Downloading 13 Java artifacts: 1 of 55 MB", "Downloading 13 Java artifacts: 2 of 55 MB, 1.0 MB/s, 0:53 left",
        "Spark: starting again with the libraries for managed tables and Kafka", "",
        "Druid: waiting until the tasks of default.e have published: 2", "Druid: waiting until the tasks of default.e have published: 1",
    )  # fmt: skip
    for text in texts:
        diagnostics.progress(text)
    lines = [
        "Spark: starting",
        "Downloading 13 Java artifacts",
        "Spark: starting again with the libraries for managed tables and Kafka",
        "Druid: waiting until the tasks of default.e have published",
    ]
    assert stream.getvalue().splitlines() == lines
    Diagnostics(stream, quiet=True).progress("Spark: starting")
    assert stream.getvalue().splitlines() == lines
