"""The man pages, generated from the commands: `python -m tests.support.manual` writes them to `man`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from hivedruid.cli import cli
from hivedruid.versions import VERSION

FOLDER = Path(__file__).parents[2] / "man"
EXIT_CODES = "Exit codes:"
_ESCAPES = str.maketrans({"\\": "\\e", "-": "\\-", "`": "\\(ga", "~": "\\(ti", "^": "\\(ha"})


def pages() -> dict[str, str]:
    """The pages by their file name: one for each command."""
    return {
        f"{_page_name(ctx)}.1": "\n".join(_page(ctx)) + "\n"
        for ctx in _commands(click.Context(cli, None, "hivedruid", **cli.context_settings))
    }


def write(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    wanted = pages()
    for path in folder.glob("*.1"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def _commands(ctx: click.Context) -> Iterator[click.Context]:
    yield ctx
    for name, command in _subcommands(ctx).items():
        yield from _commands(click.Context(command, ctx, name))


def _subcommands(ctx: click.Context) -> dict[str, click.Command]:
    if not isinstance(ctx.command, click.Group):
        return {}
    names = ctx.command.list_commands(ctx)
    return {name: command for name in names if (command := ctx.command.get_command(ctx, name)) is not None}


def _page_name(ctx: click.Context) -> str:
    return ctx.command_path.replace(" ", "-")


def _page(ctx: click.Context) -> Iterator[str]:
    command, name = ctx.command, _page_name(ctx)
    paragraphs = [text.strip() for text in re.split(r"\n\s*\n", command.help or "")]
    codes = [text for text in paragraphs if text.startswith(EXIT_CODES)]
    yield f'.TH {name.upper().translate(_ESCAPES)} 1 "" "hivedruid {VERSION}" "hivedruid"'
    yield ".SH NAME"
    yield f"{plain(name)} \\- {plain(command.get_short_help_str(200)).rstrip('.')}"
    yield ".SH SYNOPSIS"
    yield f".B {plain(ctx.command_path)}"
    yield plain(" ".join(command.collect_usage_pieces(ctx)))
    yield ".SH DESCRIPTION"
    for number, paragraph in enumerate(text for text in paragraphs if text not in codes):
        yield from [".PP", plain(paragraph)] if number else [plain(paragraph)]
    records = [parameter.get_help_record(ctx) for parameter in command.get_params(ctx)]
    if any(records):
        yield ".SH OPTIONS"
    for record in filter(None, records):
        yield from (".TP", _option(record[0]), plain(record[1]))
    yield from _see(ctx)
    for text in codes:
        yield from (".SH EXIT STATUS", plain(text.removeprefix(EXIT_CODES)))


def _see(ctx: click.Context) -> Iterator[str]:
    """The commands of a group, and the pages of other commands."""
    subcommands = _subcommands(ctx)
    if subcommands:
        yield ".SH COMMANDS"
    for name, command in subcommands.items():
        yield from (".TP", f"\\fB{plain(name)}\\fR", plain(command.get_short_help_str(200)))
    yield ".SH SEE ALSO"
    others = [f"{_page_name(ctx)}-{name}" for name in subcommands]
    others += [_page_name(ctx.parent)] if ctx.parent else []
    yield ", ".join(f"\\fB{plain(name)}\\fR(1)" for name in others)


def _option(declaration: str) -> str:
    """`-f, --file FILE`: the options in bold, the values in italics."""
    words = re.split(r"(\s+|,\s*)", declaration)
    return "".join(
        f"\\fB{plain(word)}\\fR" if word.startswith("-") else f"\\fI{plain(word)}\\fR" if word.strip(", ") else word
        for word in words
    )


def plain(text: str) -> str:
    """Text on one line, without a meaning in roff."""
    line = " ".join(text.split()).translate(_ESCAPES)
    return f"\\&{line}" if line.startswith((".", "'")) else line


if __name__ == "__main__":
    write(FOLDER)
