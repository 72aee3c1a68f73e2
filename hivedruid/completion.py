"""Completion in the shell, by click: `_HIVEDRUID_COMPLETE=bash_source hivedruid` prints a script for bash, zsh or fish,
which calls hivedruid again for each Tab. What cannot be read has no completions, and no error is printed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from click.shell_completion import BashComplete, CompletionItem, add_completion_class

if TYPE_CHECKING:
    import click

VARIABLE = "_HIVEDRUID_COMPLETE"
"""The variable by which click is asked for a script, or for completions."""


class Bash(BashComplete):
    """bash divides KEY=VALUE into three words, and appends a blank to what it has completed."""

    name = "bash"
    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value)\n            [[ $value == *= ]] && compopt -o nospace"
    )
    _before = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        if incomplete == "=":
            args, incomplete = [*args, "="], ""
        if len(args) >= 2 and args[-1] == "=" and not args[-2].startswith("-"):
            self._before = f"{args[-2]}="
            return args[:-2], self._before + incomplete
        return args, incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        return f"{item.type},{item.value.removeprefix(self._before)}"


def register() -> None:
    """Use these classes for this process."""
    add_completion_class(Bash)


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The shell's own completion of file names."""
    return [CompletionItem(incomplete, type="file")]


def settings(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """KEY= of --hiveconf, then the values that the setting has."""
    from hivedruid.settings import SETTINGS

    key, equals, _value = incomplete.partition("=")
    if not equals:
        return [CompletionItem(f"{name}=", help=SETTINGS[name].doc) for name in SETTINGS if name.startswith(key)]
    values = _values(key)
    return [CompletionItem(text) for value in values if (text := f"{key}={value}").startswith(incomplete)]


def clusters(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The clusters of hivedruid.toml."""
    from hivedruid.configuration import cluster_names
    from hivedruid.errors import HiveDruidError

    try:
        return [CompletionItem(name) for name in cluster_names(_home(ctx)) if name.startswith(incomplete)]
    except HiveDruidError:
        return []


def tables(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The Druid tables of the catalog: those of the database `default` by name, others as `database.name`."""
    from hivedruid import configuration
    from hivedruid.catalog.opening import read_catalog
    from hivedruid.catalog.store import Catalog
    from hivedruid.errors import HiveDruidError

    try:
        connection = read_catalog(_home(ctx), configuration.values(_home(ctx)))
    except (HiveDruidError, OSError):
        return []
    try:
        catalog = Catalog(connection)
        found = [table for database in catalog.databases() for table in catalog.tables(database)]
    finally:
        connection.close()
    names = sorted(table.full_name.removeprefix("default.") for table in found if table.has_data_source)
    return [CompletionItem(name) for name in names if name.startswith(incomplete.lower())]


def _values(key: str) -> tuple[str, ...]:
    from hivedruid.setting_types import written_values
    from hivedruid.settings import SETTINGS

    setting = SETTINGS.get(key)
    return written_values(setting.type, setting.values, setting.default) if setting is not None else ()


def _home(ctx: click.Context) -> Path:
    from hivedruid.defaults import default_home

    return Path(ctx.params.get("home") or default_home()).absolute()
