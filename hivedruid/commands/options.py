"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path

import click

from hivedruid import completion

HOME = click.option(
    "--home",
    type=click.Path(path_type=Path),
    envvar="HIVEDRUID_HOME",
    help="Home folder (catalog and data). [~/.hivedruid]",
)
CLUSTER = click.option(
    "--cluster",
    metavar="NAME",
    shell_complete=completion.clusters,
    help="Use the settings of [clusters.NAME] in hivedruid.toml. [$HIVEDRUID_CLUSTER]",
)


def assignments(_: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """`key=value` options as a mapping; the last value of a key wins."""
    pairs = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not key.strip() or not equals:
            raise click.BadParameter(f"'{key}' must have the form KEY=VALUE.", param=parameter)
        pairs[key.strip()] = text
    return pairs


HIVECONF = click.option(
    "--hiveconf",
    multiple=True,
    metavar="KEY=VALUE",
    callback=assignments,
    shell_complete=completion.settings,
    help="Set a configuration setting, like SET.",
)
HIVEVAR = click.option(
    "-d",
    "--define",
    "--hivevar",
    "hivevar",
    multiple=True,
    metavar="KEY=VALUE",
    callback=assignments,
    help="Define ${KEY}.",
)
