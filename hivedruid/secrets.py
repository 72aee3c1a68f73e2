"""What must never be shown: which keys hold secrets, and how they are shown instead."""

from __future__ import annotations

import re
from collections.abc import Mapping

MASK = "******"

ENVIRONMENT_PREFIX = "env:"
"""What a secret property's value begins with: the rest names the environment variable that holds the secret."""

SESSION_PREFIX = "session:"
"""What a reference to a secret that only a session knows begins with (`kept_secrets`)."""

_KEPT = re.compile(SESSION_PREFIX + r"[0-9a-f]{12}")
_REFERENCE = re.compile(r"env:([A-Za-z_]\w*)|\$\{env:([A-Za-z_]\w*)\}", re.ASCII)
_SECRET_KEY = re.compile(
    r"authorization|password|passwd|secret|token|jaas|credential|auth\.user\.info"
    r"|(^|[._-])(api|access|account|encryption|keystore|master|private|shared|truststore)[._-]?key$"
    r"|^(druid|hive\.kafka|kafka|spark)\..*\.key$",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"""(?P<open>['"])(?P<key>[^'"]*)(?P=open)(?P<gap>(?:\s|/\*.*?\*/|--[^\n]*\n)*=(?:\s|/\*.*?\*/|--[^\n]*\n)*)(?P<value>'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?)""",
    re.S,
)
_JSON_SECRET = re.compile(r"""(\\?")([^"\\]+)\1\s*:\s*\1""")
_JSON_END = re.compile(r"""\\?"\s*[,}\]]|\Z""")
_USER_INFO = re.compile(r"(://)[^/@\s]+@")
_URL_PASSWORD = re.compile(r"""(://)([^\s/@'":]*:[^\s@'"]*)(?=@)""")
_URL_TOKEN = re.compile(r"(;token=)([^;\s'\"]+)", re.IGNORECASE)
"""The token in the address of a Spark Connect server."""
_SET = re.compile(r"^(?P<head>\s*set\s+(?P<key>[^\s=]+)\s*=\s*)(?P<value>.*)$", re.I | re.S)


def is_secret(key: str) -> bool:
    """Whether a setting or table property of that name holds a secret, going by its name."""
    return _SECRET_KEY.search(key) is not None


def referenced(value: str) -> str | None:
    """The environment variable that a value refers to, as `env:NAME` or `${env:NAME}`; None where it is no reference."""
    match = _REFERENCE.fullmatch(value)
    return (match[1] or match[2]) if match else None


def is_kept(value: str) -> bool:
    """Whether a value refers to a secret in the memory of a session."""
    return _KEPT.fullmatch(value) is not None


def secret_in(text: str) -> str | None:
    """The first key in a JSON text that holds a secret in clear (an object below it is a reference), or None."""
    import json

    try:
        todo = [("", json.loads(text))]
    except (ValueError, RecursionError):
        return None
    while todo:
        key, item = todo.pop()
        if isinstance(item, dict):
            todo += item.items()
        elif isinstance(item, list):
            todo += [(key, inner) for inner in item]
        elif isinstance(item, str) and masked(key, item) != item:
            return key
    return None


def masked(key: str, value: str) -> str:
    """The value as it may be shown: a secret as stars, a URL without its user and password.

    A reference to an environment variable, or to a secret that a session keeps, is no secret.
    """
    if value and is_secret(key) and not value.startswith(ENVIRONMENT_PREFIX) and not is_kept(value):
        return MASK
    return _URL_TOKEN.sub(rf"\1{MASK}", _USER_INFO.sub(rf"\1{MASK}@", value))


def masked_all(values: Mapping[str, str]) -> dict[str, str]:
    return {key: masked(key, value) for key, value in values.items()}


def mask_text(text: str) -> str:
    """SQL text with the values of secret properties and settings starred out; every other character keeps its place."""

    def pair(match: re.Match[str]) -> str:
        if not is_secret(match["key"]):
            return match[0]
        quote = match["open"]
        return f"{quote}{match['key']}{quote}{match['gap']}{_starred(match['value'])}"

    if (setting := _SET.match(text)) and is_secret(setting["key"]):
        return setting["head"] + _starred(setting["value"])
    text = _starred_json(_PAIR.sub(pair, text))
    for pattern in (_URL_PASSWORD, _URL_TOKEN):
        text = pattern.sub(lambda match: match[1] + _starred(match[2]), text)
    return text


def reference_places(text: str) -> frozenset[int]:
    """Where in SQL text `${env:NAME}` is the whole value of a secret property: it is a reference, not to be replaced."""
    return frozenset(
        match.start("value") + 1
        for match in _PAIR.finditer(text)
        if is_secret(match["key"]) and match["value"].startswith(("'${", '"${')) and referenced(match["value"][1:-1])
    )


def _starred_json(text: str) -> str:
    """The secrets in JSON that is the value of a property, up to a quote that may end a value of JSON."""
    for match in _JSON_SECRET.finditer(text):
        end = _JSON_END.search(text, match.end())
        if is_secret(match[2]) and end is not None:
            text = text[: match.end()] + _starred(text[match.end() : end.start()]) + text[end.start() :]
    return text


def _starred(value: str) -> str:
    return re.sub(r"[^\s'\"]", "*", value)
