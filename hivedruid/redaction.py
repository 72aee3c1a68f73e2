"""Redacts secrets in messages of services and in specs read from Druid. `secrets` defines what a secret is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hivedruid.secret_text import redact
from hivedruid.secrets import MASK, is_kept, is_secret

__all__ = ["redact", "redact_below", "redact_spec"]

_ANY_USER_INFO = re.compile(r"""(?<=://)[^\s'"]*(?=@)""")
"""Up to the last @, since a password may contain @."""
_WHOLE = re.compile(r"LoginModule\s+(required|requisite|sufficient|optional)\b|-----BEGIN [A-Z ]*PRIVATE KEY", re.I)
"""A JAAS configuration or a private key, of which every word may be a secret."""
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def redact_spec(spec: Any) -> Any:
    """A spec, or a part of it, with every secret replaced by stars, at any depth and in JSON inside strings. Values
    below a secret's name are starred, except references: the variable names in Druid's `environment` providers are
    kept.
    """
    return _redacted(spec, below_secret=False)


def redact_below(value: Any, *, numbers: bool) -> Any:
    """As `redact_spec`, of a value below a secret's name; `numbers` says whether it may be a number."""
    return _redacted(value, below_secret=True, numbers=numbers)


def _redacted(value: Any, *, below_secret: bool, numbers: bool = True) -> Any:
    if isinstance(value, Mapping):
        if value.get("type") == "environment":
            return {key: _reference(key, item) for key, item in value.items()}
        # a provider of this type contains the secrets themselves, whatever their names
        provided = value.get("type") == "mapString"
        return {
            key: item
            if key == "type" and isinstance(item, str) and _VARIABLE.fullmatch(item)
            else _redacted(item, below_secret=below_secret or is_named, numbers=numbers or is_named)
            for key, item in value.items()
            for is_named in [is_secret(key) or (provided and key == "config")]
        }
    if isinstance(value, list | tuple):
        return [_redacted(item, below_secret=below_secret, numbers=numbers) for item in value]
    if below_secret:
        is_shown = (
            value is None
            or value == ""
            or isinstance(value, bool)
            or (isinstance(value, str) and is_kept(value))
            or (isinstance(value, int | float) and not numbers)
        )
        return value if is_shown else MASK
    return _redacted_text(value) if isinstance(value, str) else value


def _reference(key: str, value: Any) -> Any:
    """A part of an `environment` provider: only valid variable names are kept."""
    if isinstance(value, Mapping):
        return {name: _reference(key, item) for name, item in value.items()}
    is_name = isinstance(value, str) and _VARIABLE.fullmatch(value) is not None
    return value if is_name and key in ("type", "variable", "variables") else _redacted(value, below_secret=True)


def _redacted_text(text: str) -> str:
    if text[:1] in ("{", "[", '"') or text[:1].isspace():
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            inner = None
        if isinstance(inner, dict | list | str):
            shown = redact_spec(inner)
            return text if shown == inner else json.dumps(shown, ensure_ascii=False)
    return MASK if _WHOLE.search(text) else redact(_ANY_USER_INFO.sub(MASK, text))
