"""Settings that name a secret instead of holding it, `env:NAME` and `file:PATH`; where secrets may be sent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from hivedruid.errors import UsageError
from hivedruid.secret_text import remember
from hivedruid.secrets import ENVIRONMENT_PREFIX

OVER_HTTP = "hivedruid.secrets.over.http"
SECURITY_PAGE = "see docs/security.md"
"""The end of hints about secrets in wrong places."""


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


def check_transport(url: str, key: str, settings: Mapping[str, str]) -> None:
    """Raises UsageError if the secret of the setting `key` would be sent to another machine over plain http, where
    everyone on the way can read it, unless a setting allows that.
    """
    parts = urlsplit(url)
    if parts.scheme.lower() == "http" and not is_here(parts.hostname or "") and settings.get(OVER_HTTP) != "true":
        raise UsageError(
            f"the secret of {key} would be sent to {parts.hostname} over plain http",
            hint=f"use https, or SET {OVER_HTTP}=true if the network is trusted",
        )


def is_here(host: str) -> bool:
    """Whether a host is this machine by its name or address alone, without a name service."""
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def readable(key: str, path: str) -> Path:
    """The file that a setting names. Raises UsageError if it cannot be read."""
    try:
        with Path(path).open("rb"):
            return Path(path)
    except OSError as error:
        raise UsageError(f"{key}: cannot read {path}: {error.strerror}") from None
