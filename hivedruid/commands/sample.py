"""`hivedruid sample`: real data sets, fetched and checked."""

from __future__ import annotations

import sys

import click

NAMES = ("wikiticker", "flights", "foodmart")
"""The keys of samples.SAMPLES, written out so that `--help` loads nothing."""


@click.command()
@click.argument("names", nargs=-1, required=True, type=click.Choice(NAMES), metavar="NAME...")
def sample(names: tuple[str, ...]) -> int:
    """Fetch real data sets, once, and print where they are: a file or a folder of files, one path per line.

    \b
    wikiticker  39,244 edits of Wikipedia on one day of 2015: a JSON lines file
    flights     336,776 departures from New York in 2013, with airlines,
                airports, planes and weather: a folder of CSV files
    foodmart    the supermarkets of Calcite's tests, sales and dimensions:
                a folder of JSON lines files

    Exit codes: 0 ok, 1 failed, 2 usage error, 3 nothing to download from, 130 interrupted.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        from hivedruid.local.samples import fetch

        for name in names:
            sys.stdout.write(f"{fetch(name, diagnostics.progress)}\n")
            sys.stdout.flush()
        return 0

    return guarded(run, diagnostics)
