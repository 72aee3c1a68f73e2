"""Secrets in the properties of Kafka clients: references to the environment, and private files for Spark's processes.

Properties that are sent to Spark contain `${hivedruid:FOLDER:NAME}` in place of a secret. Java's clients resolve that
themselves, with Kafka's DirectoryConfigProvider; so secrets are in no option, plan, log or event of Spark.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from hivedruid.errors import KafkaError, SemanticError
from hivedruid.jaas import login_module
from hivedruid.private import private_folder
from hivedruid.secrets import is_kept, referenced

_PROVIDER = "hivedruid"
_IN_FILE = re.compile(rf"\$\{{{_PROVIDER}:([^:}}]+):([^:}}]+)\}}")
RESOLVES = {
    "config.providers": _PROVIDER,
    f"config.providers.{_PROVIDER}.class": "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
}
"""The properties with which a Java client resolves those of `in_files`."""


class OnlyDruidError(KafkaError):
    """The consumer's properties can only be used on Druid's hosts: variables that are not set here, Java key stores."""


def has_references(properties: Mapping[str, str]) -> bool:
    return any(referenced(value) or is_kept(value) for value in properties.values())


def in_files(properties: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The properties of a client, with the values of this process's variables in files of a new folder that only this
    user can read; without a reference no folder is created.

    Raises KafkaError for a secret that is not known here, or a login module that is not allowed.
    """
    if not has_references(properties):
        return dict(properties)
    if re.search("[:}]", str(folder)):
        raise KafkaError(f"Kafka's clients cannot read secrets from {folder}", hint="use a home without ':' and '}'")
    private_folder(folder)
    changed = dict(properties)
    for name, value in properties.items():
        secret = resolved(name, value)
        if name == "sasl.jaas.config":
            _check_login(secret)
        if secret != value:
            with os.fdopen(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secret)
            changed[name] = f"${{{_PROVIDER}:{folder}:{name}}}"
    return changed


def resolved(name: str, value: str) -> str:
    """The value of a property; a reference is resolved with the environment of this process, or a file of `in_files`.
    Raises OnlyDruidError."""
    if match := _IN_FILE.fullmatch(value):
        return Path(match[1], match[2]).read_text(encoding="utf-8")
    if is_kept(value):
        raise OnlyDruidError(
            f"the value of '{name}' was given in plain text to another session, and is known only there"
        )
    variable = referenced(value)
    if variable is None:
        return value
    if variable not in os.environ:
        raise OnlyDruidError(
            f"the environment variable {variable}, which '{name}' refers to, is not set on this machine",
            hint=f"set {variable} on this machine, too: hivedruid itself connects to Kafka",
        )
    return os.environ[variable]


def _check_login(configuration: str) -> None:
    try:
        login_module(configuration)
    except SemanticError as error:
        raise KafkaError(error.message, hint=error.hint) from None
