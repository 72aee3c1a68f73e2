"""`hivedruid sample`: downloads and verifies sample data sets."""

from __future__ import annotations

import sys
from pathlib import Path

import click

NAMES = ("wikiticker", "flights", "foodmart")
"""The keys of samples.SAMPLES, written out so that `--help` loads nothing."""


@click.command()
@click.argument("names", nargs=-1, required=True, type=click.Choice(NAMES), metavar="NAME...")
@click.option("--topic", help="Write the lines of the file to this new Kafka topic and print Kafka's address.")
@click.option(
    "--partitions", type=click.IntRange(min=1), default=2, show_default=True, help="Number of partitions of the topic."
)
@click.option("--kafka", metavar="HOST:PORT", help="Kafka bootstrap server. [the local cluster]")
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    envvar="HIVEDRUID_HOME",
    help="Home folder of the local cluster. [~/.hivedruid]",
)
def sample(names: tuple[str, ...], *, topic: str | None, partitions: int, kafka: str | None, home: Path | None) -> int:
    """Download sample data sets, once, and print their paths, one per line.

    \b
    wikiticker  39,244 edits of Wikipedia on one day of 2015: a JSON lines file
    flights     336,776 departures from New York in 2013, with airlines,
                airports, planes and weather: a folder of CSV files
    foodmart    the supermarkets of Calcite's tests, sales and dimensions:
                a folder of JSON lines files

    Exit codes: 0 success, 1 failure, 2 usage error, 3 download unavailable, 130 interrupted.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        from hivedruid.local.samples import fetch

        if topic is not None:
            if names != ("wikiticker",):
                raise click.UsageError("--topic is only supported for wikiticker: the other data sets are folders")
            address = kafka or _local_kafka(home)
            from hivedruid.clients.produce import produce_lines

            path = fetch("wikiticker", diagnostics.progress)
            count = produce_lines(path, address, topic, partitions=partitions, progress=diagnostics.progress)
            diagnostics.info(f"wrote {count} records to topic {topic}, {partitions} partition(s)")
            sys.stdout.write(f"{address}\n")
            return 0
        for name in names:
            sys.stdout.write(f"{fetch(name, diagnostics.progress)}\n")
            sys.stdout.flush()
        return 0

    return guarded(run, diagnostics)


def _local_kafka(home: Path | None) -> str:
    from hivedruid.cli import default_home
    from hivedruid.errors import ConnectError
    from hivedruid.local.state import running

    services = running(home or default_home())
    if services is None or not services.kafka:
        raise ConnectError("the local cluster's Kafka is not running", hint="run hivedruid local up")
    return services.kafka
