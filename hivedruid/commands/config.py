"""`hivedruid config`: every setting, its value, and where the value comes from."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hivedruid.commands.options import CLUSTER, HIVECONF, HOME

if TYPE_CHECKING:
    from hivedruid.configuration import Configured


@click.command()
@HOME
@CLUSTER
@click.option("--druid", metavar="URL", help="Druid to use, as in `sql --druid`.")
@HIVECONF
@click.option("--changed", is_flag=True, help="Only settings whose value does not come from the default.")
@click.option("--format", "layout", type=click.Choice(("table", "json", "tsv")), default="table", show_default=True)
def config(
    *, home: Path | None, cluster: str | None, druid: str | None, hiveconf: dict[str, str], changed: bool, layout: str
) -> int:
    """Show every setting, its value, and where it comes from.

    The options are those of `hivedruid sql`, which would run with these settings. Secrets are masked. Sources are
    default, file (hivedruid.toml), saved (in the home folder), environment, cluster, and option.
    """
    from hivedruid.cli import default_home, guarded
    from hivedruid.diagnostics import OK, Diagnostics

    def run() -> int:
        from hivedruid import configuration, render
        from hivedruid.catalog.types import STRING
        from hivedruid.configuration import Configured
        from hivedruid.errors import SemanticError, UsageError
        from hivedruid.results import Result, ResultColumn
        from hivedruid.settings import Settings

        folder = (home or default_home()).absolute()
        given = configuration.read(folder, cluster, druid or hiveconf.get("druid.url"))
        given |= {key: Configured(value, "option", "--hiveconf") for key, value in hiveconf.items()}
        if druid:
            given["druid.url"] = Configured(druid, "option", "--druid")
        try:
            settings = Settings({key: known.value for key, known in given.items()})
        except SemanticError as error:
            raise UsageError(error.message, hint=error.hint) from None
        columns = tuple(ResultColumn(name, STRING) for name in ("setting", "value", "source", "place"))
        rows = sorted(_rows(given if changed else settings, settings, given))
        sys.stdout.writelines(render.lines(Result(columns, rows), layout))
        return OK

    return guarded(run, Diagnostics())


def _rows(
    keys: Iterable[str], settings: Mapping[str, str], given: Mapping[str, Configured]
) -> Iterator[tuple[str, str, str, str]]:
    from hivedruid.settings import shown

    for key in keys:
        known = given.get(key)
        source, place = (known.source, known.place) if known else ("default", "")
        yield key, shown(key, settings[key]), source, place
