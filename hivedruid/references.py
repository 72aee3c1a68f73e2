"""Settings that name a secret instead of holding it: `env:NAME` and `file:PATH`."""

from __future__ import annotations

import os
from pathlib import Path

from hivedruid.errors import UsageError
from hivedruid.secret_text import remember
from hivedruid.secrets import ENVIRONMENT_PREFIX


def secret(key: str, reference: str) -> str:
    """The secret behind a reference (env:NAME, file:PATH); `key` is the setting with that value. Raises UsageError."""
    if reference.startswith(ENVIRONMENT_PREFIX):
        name = reference.removeprefix(ENVIRONMENT_PREFIX)
        value = os.environ.get(name)
        if value is None:
            raise UsageError(f"{key} refers to the environment variable {name}, which is not set")
    else:
        try:
            value = readable(key, reference.removeprefix("file:")).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"{key} refers to a file that is not UTF-8 text") from None
    value = value.strip("\r\n")
    if not value or "\n" in value or "\r" in value:
        raise UsageError(f"{key} refers to a secret that is {'empty' if not value else 'more than one line'}")
    if key.endswith("token") and not (value.isascii() and value.isprintable()):
        raise UsageError(
            f"{key} refers to a token with characters that are not valid in an HTTP header",
            hint="a token consists of printable ASCII characters: check the content of the variable or file",
        )
    remember([value])
    return value


def readable(key: str, path: str) -> Path:
    """The file that a setting names. Raises UsageError if it cannot be read."""
    try:
        with Path(path).open("rb"):
            return Path(path)
    except OSError as error:
        raise UsageError(f"{key}: cannot read {path}: {error.strerror}") from None
