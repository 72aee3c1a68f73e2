"""The backslash commands of the prompt: a table, from which `\\?`, the documentation and completion are made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hivedruid.errors import UsageError, did_you_mean
from hivedruid.lazy_dataclass import dataclass

STATES = ("on", "off", "auto")
FILE = "file"
"""The argument is a path."""


@dataclass(frozen=True)
class Command:
    r"""A command such as `\d [table]`. `statement` makes the statement that it stands for from the argument; without
    one the prompt itself runs it. `values` are the allowed arguments, `completes` is the statement before an argument
    that completes like a part of it, or FILE.
    """

    name: str
    argument: str
    doc: str
    statement: Callable[[str], str] | None = None
    values: tuple[str, ...] = ()
    completes: str = ""

    @property
    def usage(self) -> str:
        return f"{self.name} {self.argument}".rstrip()

    @property
    def requires(self) -> bool:
        """Whether it does not run without an argument."""
        return bool(self.argument) and not self.argument.startswith("[")


def _like(statement: str) -> Callable[[str], str]:
    """SHOW with an optional pattern."""
    return lambda pattern: f"{statement} LIKE {_literal(pattern)}" if pattern else statement


def _literal(text: str) -> str:
    quoted = text.strip("'").replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("\\?", "", "list the commands"),
        Command(
            "\\d",
            "[table]",
            "SHOW TABLES, or DESCRIBE table",
            lambda name: f"DESCRIBE {name}" if name else "SHOW TABLES",
            completes="DESCRIBE ",
        ),
        Command("\\dt", "[pattern]", "SHOW TABLES", _like("SHOW TABLES")),
        Command("\\dv", "[pattern]", "SHOW VIEWS", _like("SHOW VIEWS")),
        Command("\\df", "[pattern]", "SHOW FUNCTIONS", _like("SHOW FUNCTIONS")),
        Command("\\di", "[pattern]", "SHOW INGESTIONS", _like("SHOW INGESTIONS")),
        Command("\\ds", "[pattern]", "SHOW STREAMS", _like("SHOW STREAMS")),
        Command("\\dj", "", "SHOW JOBS", lambda _: "SHOW JOBS"),
        Command("\\l", "[pattern]", "SHOW DATABASES", _like("SHOW DATABASES")),
        Command("\\c", "database", "USE database", lambda name: f"USE {name}", completes="USE "),
        Command(
            "\\i", "file", "run a script: SOURCE file", lambda path: f"SOURCE {Path(path).expanduser()}", completes=FILE
        ),
        Command("\\o", "[file]", "write results to a file; without a name, to the terminal again", completes=FILE),
        Command(
            "\\x",
            "[on|off|auto]",
            "one line for each column: always, never, or where a table is too wide",
            values=STATES,
        ),
        Command("\\timing", "[on|off]", "show the run time of statements", values=STATES[:2]),
        Command("\\e", "", "edit the last statement in $VISUAL or $EDITOR"),
        Command("\\watch", "[seconds]", "repeat the last query, by default every 2 seconds, until Ctrl-C"),
        Command("\\gv", "[file]", "show the plan of the last statement, or write it as an SVG picture", completes=FILE),
        Command("\\chart", "", "draw the result of the last query: lines over time, or bars"),
        Command("\\q", "", "leave"),
    )
}
"""Every command by its name."""


DOTTED = {
    ".help": "\\?",
    ".tables": "\\dt",
    ".databases": "\\l",
    ".read": "\\i",
    ".output": "\\o",
    ".timer": "\\timing",
    ".exit": "\\q",
    ".quit": "\\q",
}
"""The commands under the names that they have in the shells of SQLite and DuckDB."""


def find(name: str) -> Command | None:
    """The command of this name."""
    return COMMANDS.get(DOTTED.get(name, name))


def parse_command(line: str) -> tuple[Command, str]:
    """A line such as `\\d t` as its command and argument. Raises UsageError for an unknown command, and for a missing,
    superfluous or invalid argument."""
    name, _, rest = line.strip().partition(" ")
    argument = rest.strip().removesuffix(";").rstrip()
    name = name.removesuffix(";")
    command = find(name)
    if command is None:
        every = (*COMMANDS, *DOTTED)
        raise UsageError(f"unknown command '{name}'", hint=did_you_mean(name, every) or "run \\? to list them")
    if command.requires and not argument:
        raise UsageError(f"{name} requires an argument", hint=f"use {command.usage}")
    if argument and not command.argument:
        raise UsageError(f"{name} has no argument, found '{argument}'", hint=f"use {command.usage}")
    if argument and command.values and argument.lower() not in command.values:
        raise UsageError(f"invalid argument '{argument}' of {name}", hint=f"use {command.usage}")
    return command, argument.lower() if command.values else argument


def listing() -> str:
    """What `\\?` prints."""
    width = max(len(command.usage) for command in COMMANDS.values())
    return "\n".join(f"  {command.usage.ljust(width)}  {command.doc}" for command in COMMANDS.values())


def markdown() -> str:
    """The table in the documentation."""
    rows = (f"| `{command.usage.replace('|', chr(92) + '|')}` | {command.doc} |" for command in COMMANDS.values())
    return "\n".join(("| command | does |", "|---|---|", *rows))
