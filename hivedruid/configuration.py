"""The settings of a session before its own: those of hivedruid.toml, of the home folder, of the environment and of a
named cluster.

Each layer replaces values of those before it: `[settings]` of the user's file, `[settings]` of the home's file, what
`hivedruid local up` has saved in the home, HIVEDRUID_… variables, `[clusters.NAME]`. Options and SET come after them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from hivedruid import defaults, notices
from hivedruid.configuration_file import ConfigurationFile, Entry
from hivedruid.errors import SemanticError, UsageError, did_you_mean
from hivedruid.lazy_dataclass import dataclass
from hivedruid.settings import SETTINGS, check

FILE = "hivedruid.toml"
PREFIX = "HIVEDRUID_"
CLUSTER = "HIVEDRUID_CLUSTER"
"""The variable with the name of the cluster if no option gives one."""

Source = Literal["default", "file", "saved", "environment", "cluster", "option"]

CONNECTION = (
    "druid.coordinator.url",
    "druid.overlord.url",
    "druid.auth.username",
    "druid.auth.password",
    "druid.auth.token",
    "druid.tls.certificate.file",
    "druid.tls.key.file",
)
"""Settings that belong to one Druid: a cluster or an option that names another Druid does not get them from other
layers, so that no statement is sent to the coordinator of another Druid, and no password to another Druid."""


@dataclass(frozen=True)
class Configured:
    """A value, the layer that it comes from, and the file or variable."""

    value: str
    source: Source
    place: str = ""


def read(home: Path, cluster: str | None = None, druid: str | None = None) -> dict[str, Configured]:
    """The settings of all layers, by key. `cluster` is the name of a cluster, "" for none; by default that of
    HIVEDRUID_CLUSTER. `druid` is the Druid that an option names: it belongs to no cluster.

    Raises UsageError for a file that cannot be read, an unknown key, an invalid value and an unknown cluster.
    """
    files = _files(home)
    found: dict[str, Configured] = {}
    for file in files:
        found |= {key: Configured(entry.value, "file", file.place(entry)) for key, entry in file.settings.items()}
    saved = str(home / defaults.FILE)
    found |= {key: Configured(value, "saved", saved) for key, value in defaults.read(home).items()}
    found |= _environment()
    if druid:
        return _for_druid(found, druid, cluster)
    name = os.environ.get(CLUSTER, "") if cluster is None else cluster
    if not name:
        return found
    file, entries = _cluster(files, name)
    if "druid.url" in entries:
        found = _without_connection(found)
    return found | {key: Configured(entry.value, "cluster", file.place(entry)) for key, entry in entries.items()}


def values(home: Path, cluster: str | None = None, druid: str | None = None) -> dict[str, str]:
    """The values of `read`."""
    return {key: known.value for key, known in read(home, cluster, druid).items()}


def _for_druid(found: dict[str, Configured], druid: str, cluster: str | None) -> dict[str, Configured]:
    if cluster:
        raise UsageError("a cluster and a Druid exclude each other", hint="remove --cluster or --druid")
    configured = found.get("druid.url")
    return found if configured is None or configured.value == druid else _without_connection(found)


def _without_connection(found: dict[str, Configured]) -> dict[str, Configured]:
    return {key: known for key, known in found.items() if key not in CONNECTION}


def cluster_names(home: Path) -> list[str]:
    """The names of all clusters, sorted."""
    return sorted({name for file in _files(home) for name in file.clusters})


def user_file() -> Path:
    """The file of the user: `~/.config/hivedruid/hivedruid.toml`, or that below XDG_CONFIG_HOME."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "hivedruid" / FILE


def variable(key: str) -> str:
    """The environment variable of a setting: its key without `hivedruid.`, in upper case, with `_` in place of `.`,
    after HIVEDRUID_."""
    return PREFIX + key.removeprefix("hivedruid.").replace(".", "_").upper()


VARIABLES: dict[str, str] = {variable(key): key for key in SETTINGS}


def _files(home: Path) -> list[ConfigurationFile]:
    """The files that exist: that of the user, then that of the home."""
    return [file for path in (user_file(), home / FILE) if (file := ConfigurationFile.read(path)) is not None]


def _cluster(files: list[ConfigurationFile], name: str) -> tuple[ConfigurationFile, Mapping[str, Entry]]:
    """The settings of a cluster, and the file with them: the home's cluster, not that of the user's file."""
    for file in reversed(files):
        if name in file.clusters:
            return file, file.clusters[name]
    names = sorted({known for file in files for known in file.clusters})
    listed = f"the clusters are {', '.join(names)}" if names else f"define [clusters.{name}] in {user_file()}"
    raise UsageError(f"unknown cluster '{name}'", hint=did_you_mean(name, names) or listed)


def _environment() -> Iterator[tuple[str, Configured]]:
    """The settings of HIVEDRUID_… variables; an empty variable is none. A misspelt variable is noted."""
    for name, value in os.environ.items():
        if not name.startswith(PREFIX) or not value:
            continue
        if name not in VARIABLES:
            _note_misspelt(name)
            continue
        key = VARIABLES[name]
        try:
            yield key, Configured(check(key, value), "environment", name)
        except SemanticError as error:
            raise UsageError(f"{name}: {error.message}", hint=error.hint) from None


def _note_misspelt(name: str) -> None:
    from difflib import get_close_matches

    known = [each.removeprefix(PREFIX) for each in VARIABLES]
    if close := get_close_matches(name.removeprefix(PREFIX), known, 1, 0.85):
        notices.note(f"{name} is not the variable of a setting; did you mean {PREFIX}{close[0]}?")
