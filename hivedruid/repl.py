"""The prompt: multi-line input, history, colours and completion on top of a session."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.filters import is_searching
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer, PygmentsLexer
from pygments.lexers.sql import SqlLexer  # type: ignore[import-untyped]

from hivedruid import __version__
from hivedruid.diagnostics import OK, Diagnostics
from hivedruid.errors import HiveDruidError, ParseError, UsageError
from hivedruid.run import Output, run_text
from hivedruid.script import is_complete, split
from hivedruid.secret_text import ranges
from hivedruid.settings import FAMILIES, SETTINGS

if TYPE_CHECKING:
    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from hivedruid.session import Session

KEYWORDS = """
    ADD ALL ALTER AND AS ASC BETWEEN BIGINT BOOLEAN BY CANCEL CASE CAST COLUMNS COMMENT COMPACT COMPACTIONS CREATE CROSS
    CURRENT_DATE CURRENT_TIMESTAMP DATABASE DATABASES DATE DECIMAL DELIMITED DESC DESCRIBE DISTINCT DOUBLE DROP EARLIEST
    ELSE END EXISTS EXPLAIN EXTENDED EXTERNAL EXTRACT FALSE FIELDS FLOAT FLOOR FOR FORMAT FORMATTED FROM FULL FUNCTIONS
    GROUP HANDOFF HAVING IF IN INGESTION INGESTIONS INNER INSERT INT INTERVAL INTO IS JOB JOBS JOIN KILL LAST LATEST
    LEFT LIKE LIMIT LOCATION NOT NULL NULLS OFFSET OFFSETS ON OR ORC ORDER OUTER OVER OVERWRITE PARQUET PARTITION
    PROBLEMS PURGE RENAME RESET RESUME RIGHT ROLLBACK ROW SEGMENTS SELECT SERDEPROPERTIES SET SHOW SMALLINT SOURCE START
    STATE STOP STORED STRING SUSPEND TABLE TABLES TASK TASKS TBLPROPERTIES TERMINATED TEXTFILE THEN TIMESTAMP TINYINT TO
    TOPIC TOPICS TRUE TRUNCATE UNION UNSET USE USING VALUES VARCHAR VIEW VIEWS WAIT WHEN WHERE WITH
""".split()  # noqa: SIM905 - a list of words reads better as words


HELP = """\
A statement may span several lines and ends with ;
  SHOW TABLES;  DESCRIBE t;  SHOW FUNCTIONS;   list tables, columns, functions
  EXPLAIN SELECT …;                            show the plan of a statement
  SET;  SET -v;                                show changed settings, show all settings
  SOURCE script.q;                             run a script
Tab: complete - Ctrl-R: search history - Ctrl-C: clear the line - Ctrl-D, exit, quit: leave"""

_WORD = re.compile(r"[\w.$`]+$")
_SET = re.compile(r"^\s*(?:SET|RESET)\s+(?:-v\s+)?\S*$", re.IGNORECASE)
_AFTER_TABLE_WORD = re.compile(
    r"\b(?:FROM|JOIN|INTO|TABLE|VIEW|DESCRIBE|DESC|OVERWRITE|EXTENDED|FORMATTED|TBLPROPERTIES|INGESTION|FOR)\s+"
    r"(?:IF\s+(?:NOT\s+)?EXISTS\s+)?[\w.`]*$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[\w.]+")
SHORT = 500
"""Lines of a statement that is coloured as a whole."""
_PATTERNS = {prefix: setting.key for prefix, setting in FAMILIES.items()}
"""Prefixes of settings, with the pattern that a completion displays for each."""


def run_repl(session: Session, history: Path, output: Output, diagnostics: Diagnostics) -> int:
    """Read and run statements until Ctrl-D, `exit` or `quit`; returns the exit code.

    `history` is the history file. Raises UsageError if it cannot be written.
    """
    prompt = _prompt_session(session, history)
    diagnostics.info(f"hivedruid {__version__} - statements end with ; - Tab: complete - Ctrl-D: leave")
    while True:
        head = f"hivedruid ({session.database})> "
        try:
            text = prompt.prompt(head, prompt_continuation="> ".rjust(len(head)))
        except KeyboardInterrupt:  # the line is dropped
            continue
        except EOFError:
            return OK
        if _is_exit(text):
            return OK
        if _is_help(text):
            diagnostics.info(HELP)
            continue
        try:
            run_text(session, text, output, diagnostics)
        except KeyboardInterrupt as interrupt:
            diagnostics.report(interrupt)


def _prompt_session(session: Session, history: Path) -> PromptSession[str]:
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)  # in a search, Enter accepts the match (prompt_toolkit's binding)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None  # Enter accepts the completion
        elif _is_finished(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return PromptSession(
        multiline=True,
        key_bindings=keys,
        history=History(history),
        lexer=StatementLexer(),
        completer=SqlCompleter(session),
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
    )


def _is_finished(text: str) -> bool:
    return not text.strip() or _is_exit(text) or _is_help(text) or is_complete(text)


def _is_exit(text: str) -> bool:
    return _command(text) in ("exit", "quit", "\\q", ":q")


def _is_help(text: str) -> bool:
    return _command(text) in ("help", "?", "\\?", "\\h", ":help")


def _command(text: str) -> str:
    return text.strip().rstrip(";").rstrip().lower()


class History(FileHistory):
    """The input history, in a private file, without statements that contain secrets."""

    def __init__(self, path: Path) -> None:
        try:
            path.touch(mode=0o600)
            path.chmod(0o600)
        except OSError as error:
            raise UsageError(f"cannot write the history {path}: {error.strerror}") from None
        super().__init__(path)

    def store_string(self, string: str) -> None:
        if string.strip() and not _holds_secret(string):
            super().store_string(string)


def _holds_secret(text: str) -> bool:
    try:
        return bool(ranges(text, statement=True)) or any(ranges(item.text, statement=True) for item in split(text))
    except ParseError:
        return True


class StatementLexer(Lexer):
    """The colours of a statement. Every key computes them anew: in a long one only from some lines before those on the
    screen, so that a comment or string of many lines may be displayed without its colour.
    """

    def __init__(self) -> None:
        self._from_start = PygmentsLexer(SqlLexer)
        self._from_screen = PygmentsLexer(SqlLexer, sync_from_start=False)

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lexer = self._from_start if document.line_count <= SHORT else self._from_screen
        return lexer.lex_document(document)


class SqlCompleter(Completer):
    """Context-dependent completion: settings after SET, tables after FROM, otherwise columns, functions and
    keywords."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002
        before = document.text_before_cursor
        statement = before[before.rfind(";") + 1 :]
        match = _WORD.search(statement)
        word = match[0].lstrip("`") if match else ""
        for kind, names in self._candidates(statement, document.text):
            prefix = word if kind == "setting" else word.rpartition(".")[2]
            for name in names:
                if name.lower().startswith(prefix.lower()):
                    text = name.lower() if kind == "keyword" and prefix.islower() else name
                    yield Completion(text, -len(prefix), display=_PATTERNS.get(name, text), display_meta=kind)

    def _candidates(self, statement: str, text: str) -> Iterator[tuple[str, Iterable[str]]]:
        if _SET.search(statement):
            yield "setting", (*SETTINGS, *_PATTERNS)
            if not statement.lstrip().upper().startswith("SET"):
                yield "keyword", ("INGESTION",)
            return
        try:
            tables = sorted(self._session.table_names())
            if _AFTER_TABLE_WORD.search(statement):
                yield "table", tables
                return
            named = {name.rpartition(".")[2].lower() for name in _NAME.findall(text)}
            columns = {c for table in tables if table.lower() in named for c in self._session.column_names(table)}
        except HiveDruidError:  # the catalog cannot be read: the next statement reports it
            tables, columns = [], set()
        yield "column", sorted(columns)
        yield "table", tables
        if "." not in statement.rpartition(" ")[2]:
            from hivedruid.plan.functions import function_names

            yield "function", (name for name in function_names() if name.isidentifier())
            yield "keyword", KEYWORDS
