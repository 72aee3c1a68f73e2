"""The command lines of the documentation: their words, and what is wrong with them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click

from hivedruid.cli import cli
from tests.support.pages import ROOT

OTHERS = ("cat", "python3", ".", "export", "unset", "hive", "spark-submit", "eval", "man")
"""Programs whose options are not checked."""
PACKAGES = ("apache-superset", "flask-caching", "cachetools", "sqlalchemy", "numpy", "pandas", "pyarrow")
"""Packages of others that the docs install."""

_NESTED = re.compile(r"\$\(([^()]*)\)")
_KNOWN = re.compile(r"^(?:\S*/)?hivedruid(\s|$)|^(pip|make|hive) |^\w+=\$\(")
_REDIRECTION = re.compile(r"\s\d?(?:<|>>?)\s*(?:[\w./-]+|&\d)")


def commands(text: str, *, strict: bool) -> Iterator[list[str]]:
    """The words of each command. Without `strict` a block without a known program has no commands; in it, what follows two
    blanks describes the line."""
    lines = re.sub(
        r" *\\\n *", " ", re.sub(r"<<'END'\n.*?^END$", "", text, flags=re.MULTILINE | re.DOTALL)
    ).splitlines()
    if not strict and not _KNOWN.match(lines[0]):
        return
    for line in lines:
        yield from _commands(line if strict else _without_description(line))


def _without_description(line: str) -> str:
    return re.split(r"\s{2,}", line.strip())[0]


def _commands(line: str) -> Iterator[list[str]]:
    while found := _NESTED.search(line):
        yield from _commands(found[1])
        line = line[: found.start()] + "VALUE" + line[found.end() :]
    optional = re.sub(r"(?<=\s)\[([^\]]*)\]…?|(?<=\w)(?:…|\.\.\.)", r"\1", line)  # [--home DIR], PATH...
    reader = shlex.shlex(_REDIRECTION.sub("", optional), posix=True, punctuation_chars="|;&")
    reader.whitespace_split = True
    words: list[str] = []
    for word in [*reader, ";"]:
        if set(word) <= set("|;&"):
            if words:
                yield words
            words = []
        elif words or not re.match(r"\w+=", word):
            words.append(word)


def check(words: list[str]) -> str:
    """What is wrong with a command; empty if nothing is."""
    program, *arguments = words[0].rpartition("/")[2], *words[1:]
    if program == "hivedruid":
        return _parsed(cli, "hivedruid", arguments, None)
    if program == "pip":
        return _extras(arguments)
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return "" if arguments[0] in targets else "there is no such target"
    return "" if program in OTHERS else f"unknown program {program}"


def _parsed(command: click.Command, name: str, arguments: list[str], parent: click.Context | None) -> str:
    try:
        with command.make_context(name, list(arguments), parent=parent) as ctx:
            rest = [*ctx._protected_args, *ctx.args]
            if isinstance(command, click.Group) and rest:
                found, child, left = command.resolve_command(ctx, rest)
                assert child is not None
                return _parsed(child, found or "", left, ctx)
    except click.exceptions.Exit:  # --help, --version
        return ""
    except click.ClickException as error:
        return "" if not arguments else error.format_message()
    return ""


def _extras(arguments: list[str]) -> str:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, extra in re.findall(r"(?:^|,)([\w-]+)(?:\[(\w+)\])?", ",".join(arguments[1:])):
        if name not in {project["name"], *PACKAGES} or (extra and extra not in project["optional-dependencies"]):
            return f"unknown package or extra {name} {extra}".rstrip()
    return ""
