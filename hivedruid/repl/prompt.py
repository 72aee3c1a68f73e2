"""The prompt: multi-line input, history, colours and completion on top of a session."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter, get_common_complete_suffix
from prompt_toolkit.document import Document
from prompt_toolkit.filters import is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from hivedruid.diagnostics import OK, Diagnostics
from hivedruid.repl import vocabulary
from hivedruid.repl.commands import FILE, find
from hivedruid.repl.completion import Names, complete
from hivedruid.repl.elsewhere import NamesElsewhere
from hivedruid.repl.history import History, StatementLexer
from hivedruid.repl.shell import UNFINISHED, Shell, head, is_finished, is_meant_for_prompt, place
from hivedruid.versions import VERSION

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.buffer import Buffer

    from hivedruid.run import Output
    from hivedruid.session import Session

INIT = "init.sql"
"""The file in the home folder that a prompt runs first."""


def run_repl(session: Session, history: Path, output: Output, diagnostics: Diagnostics) -> int:
    """Read and run statements until Ctrl-D, `exit` or `quit`; returns the exit code.

    `history` is the history file. Raises UsageError if it cannot be written.
    """
    completer = SqlCompleter(session)
    prompt = _prompt_session(completer, history, diagnostics)
    shell = Shell(session, output, diagnostics)
    diagnostics.info(f"hivedruid {VERSION} - statements end with ; - Tab: complete - \\?: help - Ctrl-D: leave")
    diagnostics.info(place(session))
    try:
        if shell.run_init(history.with_name(INIT)):
            _read_inputs(prompt, completer, session, shell)
    finally:
        shell.close()
    return OK


def _read_inputs(prompt: PromptSession[str], completer: SqlCompleter, session: Session, shell: Shell) -> None:
    prompt.app.after_render += _load_vocabulary
    goes_on = True
    while goes_on:
        try:
            completer.refresh()
            suggested, shell.suggested = shell.suggested, ""
            text = prompt.prompt(head(session), prompt_continuation=_continuation, default=suggested)
            goes_on = shell.run(text)
        except KeyboardInterrupt:  # the line is dropped, or Ctrl-C came again while a statement was cancelled
            continue
        except EOFError:
            return


def _continuation(width: int, _: int, is_wrapped: int) -> str:
    """What stands before a further line: nothing if it is the rest of a line that is too long for the screen."""
    return "" if is_wrapped else "> ".rjust(width)


def _load_vocabulary(app: Application[str]) -> None:
    """Load what the first completion needs, when the prompt is on the screen: the import of the parser takes longer
    than a key may."""
    app.after_render -= _load_vocabulary
    Thread(target=vocabulary.load, name="completion").start()


def _prompt_session(completer: SqlCompleter, history: Path, diagnostics: Diagnostics) -> PromptSession[str]:
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)  # in a search, Enter accepts the match (prompt_toolkit's binding)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None  # Enter accepts the completion
        elif is_finished(buffer.text):
            buffer.validate_and_handle()
        else:
            line = buffer.document.current_line
            buffer.insert_text("\n")
            if is_meant_for_prompt(line):
                run_in_terminal(partial(diagnostics.note, UNFINISHED))

    @keys.add("tab", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        _complete(event.current_buffer)

    return PromptSession(
        multiline=True,
        key_bindings=keys,
        history=History(history),
        lexer=StatementLexer(),
        completer=completer,
        complete_while_typing=True,
        auto_suggest=AutoSuggestFromHistory(),
        enable_open_in_editor=True,
        tempfile_suffix=".sql",
    )


def _complete(buffer: Buffer) -> None:
    """Tab: insert what all completions have in common, then one after the other. They are computed here: prompt_toolkit
    drops a request for completions while those of the last key are computed."""
    if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
        buffer.complete_next()
        return
    document = buffer.document
    found = list(buffer.completer.get_completions(document, CompleteEvent(completion_requested=True)))
    if len(found) == 1:
        buffer.apply_completion(found[0])
    elif found and (rest := get_common_complete_suffix(document, found)):
        buffer.insert_text(rest)
    elif found:
        buffer.complete_state = CompletionState(document, found)
        buffer.on_completions_changed.fire()
        buffer.complete_next()


class SqlCompleter(Completer):
    """Completion of names at the cursor. The names of the catalog are read once for each prompt, those of other
    catalogs in the background."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._paths = PathCompleter(expanduser=True)
        self._elsewhere = NamesElsewhere(session.settings)
        self.refresh()

    def refresh(self) -> None:
        """Read the names of the catalog again when the next completion needs them."""
        self._names = Names(self._session, self._elsewhere)
        self._elsewhere.databases()

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        is_typing = complete_event.text_inserted
        if is_typing and not (document.char_before_cursor.isalnum() or document.char_before_cursor in "_.'\\"):
            return
        if (path := _path(document.text_before_cursor)) is not None:
            yield from self._paths.get_completions(Document(path), complete_event)
            return
        typed, found = complete(document.text, document.cursor_position, self._names)
        if is_typing and [each.text for each in found] == [typed]:
            return
        for each in found:
            yield Completion(
                each.text, -len(typed), display=each.display or each.text, display_meta=each.help or each.kind
            )


def _path(before: str) -> str | None:
    """The path that is typed after a command whose argument is a file."""
    name, space, argument = before.lstrip().partition(" ")
    command = find(name)
    return argument.lstrip() if space and command is not None and command.completes == FILE else None
