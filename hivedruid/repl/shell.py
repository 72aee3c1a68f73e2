"""What an input at the prompt does: it runs statements, or a backslash command."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hivedruid.errors import HiveDruidError, UsageError
from hivedruid.repl.commands import Command, find, listing, parse_command
from hivedruid.repl.display import Display, screen_size
from hivedruid.run import Output, Writer, run_text
from hivedruid.script import is_complete, split

if TYPE_CHECKING:
    from hivedruid.diagnostics import Diagnostics
    from hivedruid.session import Session

HELP = """\
A statement may span several lines and ends with ;  At its end, \\G in place of ; shows one line for each column.
  SHOW TABLES;  DESCRIBE t;  SHOW FUNCTIONS;   list tables, columns, functions
  EXPLAIN SELECT …;                            show the plan of a statement
  SET;  SET -v;                                show changed settings, show all settings
Tab: complete - Ctrl-R: search history - Ctrl-C: clear the line, cancel a statement - Ctrl-D, exit, quit: leave

"""
WATCH_SECONDS = 2.0
VERTICAL = "\\G"
UNFINISHED = "this line belongs to the statement above, which has no ; yet: ; runs it, Ctrl-C drops it"
_EXIT = ("exit", "quit", ":q")
_HELP = ("help", "?", "\\h", ":help")


def is_finished(text: str) -> bool:
    """Whether Enter runs an input, in place of beginning a new line."""
    return not text.strip() or is_command(text) or _word(text) in _EXIT + _HELP or _is_complete(text)


def is_meant_for_prompt(line: str) -> bool:
    """Whether a further line of a statement is a word or a command of the prompt."""
    words = line.split()
    return bool(words) and (_word(line) in _EXIT + _HELP or (line[0] in "\\." and find(words[0]) is not None))


def is_command(text: str) -> bool:
    """Whether an input is a command of the prompt; no statement begins with a dot."""
    return text.lstrip().startswith(("\\", "."))


def _is_complete(text: str) -> bool:
    return is_complete(text) or (text.rstrip().endswith(VERTICAL) and is_complete(text.rstrip()[:-2] + ";"))


def _word(text: str) -> str:
    return text.strip().rstrip(";").rstrip().lower()


def place(session: Session) -> str:
    """Where a prompt is: its home folder and the tables in it, and the Druid that it uses."""
    home = session.home.resolve()
    shown = f"~/{home.relative_to(Path.home())}" if home.is_relative_to(Path.home()) else str(home)
    return f"home {shown}: {_tables(session)}; Druid: {_host(session.settings['druid.url'])}"


def _tables(session: Session) -> str:
    try:
        number = len(session.catalog.table_names(session.database))
    except HiveDruidError:  # the first statement reports it
        return "its catalog cannot be read"
    if not number:
        return "no tables yet (`hivedruid demo` loads sample data)"
    return f"{number} table{'' if number == 1 else 's'} in {session.database}"


def head(session: Session) -> str:
    """The prompt: the current database, and the Druid that druid.url names."""
    return f"hivedruid ({session.database}@{_host(session.settings['druid.url'])})> "


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or url.rstrip(":")


def inputs(script: str) -> Iterator[str]:
    """The inputs of a script, as if its lines were typed. Each begins with the line ends before it, so that positions
    are those of the script."""
    pending, before = "", 0
    for number, line in enumerate(script.splitlines(keepends=True), 1):
        pending += line
        if is_finished(pending):
            if pending.strip():
                yield "\n" * before + pending
            pending, before = "", number
    if pending.strip():
        yield "\n" * before + pending


class Shell:
    """The state of a prompt. `suggested` is the text to edit at the next prompt."""

    def __init__(self, session: Session, output: Output, diagnostics: Diagnostics) -> None:
        self._session = session
        self._output = output
        self._diagnostics = diagnostics
        self._display = Display()
        self._last = ""
        self._starts = False
        self.suggested = ""

    def run(self, text: str, file: str | None = None) -> bool:
        """Run an input; returns whether the prompt goes on. Ctrl-C ends what is running."""
        try:
            return self._run(text, file)
        except BrokenPipeError:
            raise
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - a bug, too, must not end a prompt
            self._diagnostics.report(error)
        return True

    def run_init(self, path: Path) -> bool:
        """Run the inputs of an init file, if it exists; returns whether the prompt goes on."""
        try:
            script = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return True
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            self._diagnostics.report(UsageError(f"cannot read {path}: {reason}"))
            return True
        self._starts = True
        goes_on = all(self.run(text, str(path)) for text in inputs(script))
        self._starts, self._last = False, ""
        return goes_on

    def close(self) -> None:
        if self._display.file is not None:
            self._display.file.close()

    def _run(self, text: str, file: str | None) -> bool:
        word = _word(text)
        if word in _EXIT:
            return False
        if word in _HELP:
            text = "\\?"
        if not is_command(text):
            self._last = text.strip()
            self._run_statements(text, file)
            return True
        command, argument = parse_command(text)
        if command.statement is not None:
            self._run_statements(command.statement(argument) + ";", None)
        return self._act(command, argument)

    def _act(self, command: Command, argument: str) -> bool:
        if command.name == "\\q":
            return False
        if command.statement is None:
            ACTIONS[command.name](self, argument)
        return True

    def _run_statements(self, text: str, file: str | None, write: Writer | None = None) -> int:
        output = replace(self._output, time=False) if self._starts else self._output
        if text.rstrip().endswith(VERTICAL):
            text, output = text.rstrip()[:-2] + ";", replace(output, layout="vertical")
        return run_text(self._session, text, output, self._diagnostics, file=file, write=write or self._display.write)

    def _help(self, _: str) -> None:
        sys.stdout.write(HELP + listing() + "\n")
        sys.stdout.flush()

    def _expand(self, argument: str) -> None:
        self._display.expanded = argument or ("off" if self._display.expanded == "on" else "on")
        self._diagnostics.info(f"\\x is {self._display.expanded}")

    def _time(self, argument: str) -> None:
        self._output = replace(self._output, time=argument == "on" if argument else not self._output.time)
        self._diagnostics.info(f"\\timing is {'on' if self._output.time else 'off'}")

    def _write_to(self, argument: str) -> None:
        opened = None
        if argument:
            try:
                opened = Path(argument).expanduser().open("w", encoding="utf-8", errors="backslashreplace")
            except OSError as error:
                raise UsageError(f"cannot write {argument}: {error.strerror}") from None
        self.close()
        self._display.file = opened
        self._diagnostics.info(f"results are written to {argument or 'the terminal'}")

    def _edit(self, _: str) -> None:
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.NamedTemporaryFile("w+", suffix=".sql", encoding="utf-8") as file:  # readable by the owner only
            file.write(self._last + "\n")
            file.flush()
            try:
                subprocess.run([*shlex.split(editor), file.name], check=True)
            except (OSError, ValueError, subprocess.CalledProcessError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                raise UsageError(
                    f"cannot run the editor '{editor}': {reason}",
                    hint="set VISUAL or EDITOR to the command of an editor",
                ) from None
            self.suggested = Path(file.name).read_text(encoding="utf-8").strip()

    def _watch(self, argument: str) -> None:
        seconds = _seconds(argument)
        self._require_reads("\\watch repeats")
        self._display.pages = False
        try:
            while True:
                self._diagnostics.info(f"{datetime.now():%Y-%m-%d %H:%M:%S} (every {seconds:g} s, Ctrl-C: stop)")
                if self._run_statements(self._last, None):
                    return
                Event().wait(seconds)
        finally:
            self._display.pages = True

    def _require_reads(self, command: str) -> None:
        """Raises UsageError if the last statement changes something: it is not to be repeated by mistake."""
        from hivedruid.parser import parse
        from hivedruid.parser.statements import Explain, Query

        self._require_last(command)
        for statement in split(self._last.removesuffix(VERTICAL)):
            if statement.text.split(None, 1)[0].upper() in ("SHOW", "DESCRIBE", "DESC"):
                continue
            if not isinstance(parse(statement), Query | Explain):
                raise UsageError(f"{command} queries, SHOW, DESCRIBE and EXPLAIN only")

    def _require_last(self, command: str) -> None:
        if not self._last:
            raise UsageError(f"{command} the last statement, and there is none", hint="run a query first")

    def _picture(self, argument: str) -> None:
        from hivedruid.explained import draw

        self._require_last("\\gv shows the plan of")
        *_, last = self._session.statements(self._last.removesuffix(VERTICAL))
        file = Path(argument).expanduser() if argument else None
        draw(self._session, last, file, screen_size()[0], self._display.text, self._diagnostics.info)

    def _chart(self, _: str) -> None:
        self._require_reads("\\chart draws")
        self._run_statements(self._last, None, self._display.chart)


def _seconds(argument: str) -> float:
    try:
        seconds = float(argument or WATCH_SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 86_400:
        raise UsageError(f"invalid argument '{argument}' of \\watch", hint="use a number of seconds from 0.1 to 86400")
    return seconds


ACTIONS: Mapping[str, Callable[[Shell, str], None]] = {
    "\\?": Shell._help,
    "\\x": Shell._expand,
    "\\timing": Shell._time,
    "\\o": Shell._write_to,
    "\\e": Shell._edit,
    "\\watch": Shell._watch,
    "\\gv": Shell._picture,
    "\\chart": Shell._chart,
}
"""What runs the commands of COMMANDS that stand for no statement, other than `\\q`."""
