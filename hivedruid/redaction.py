"""Secrets in what others say: messages of services, and specs read back from Druid. `secrets` knows what is one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hivedruid.secret_text import redact
from hivedruid.secrets import MASK, is_kept, is_secret

__all__ = ["redact", "redact_spec"]

_ANY_USER_INFO = re.compile(r"""(?<=://)[^\s'"]*(?=@)""")
"""To the last @, whatever a password holds."""
_WHOLE = re.compile(r"LoginModule\s+(required|requisite|sufficient|optional)\b|-----BEGIN [A-Z ]*PRIVATE KEY", re.I)
"""A JAAS configuration, a private key: every word of it may be one."""
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def redact_spec(spec: Any) -> Any:
    """A spec as it may be shown, any part of it: every secret starred, at any depth, in JSON inside strings, too.

    A name that speaks of a secret stars what is below it, but for references: in Druid's providers of type `environment`
    the names of variables stay.
    """
    return _redacted(spec, below_secret=False)


def _redacted(value: Any, *, below_secret: bool) -> Any:
    if isinstance(value, Mapping):
        if value.get("type") == "environment":
            return {key: _reference(key, item) for key, item in value.items()}
        # what a provider of this type holds are the secrets themselves, whatever their names
        provided = value.get("type") == "mapString"
        return {
            key: item
            if key == "type" and isinstance(item, str) and _VARIABLE.fullmatch(item)
            else _redacted(item, below_secret=below_secret or is_secret(key) or (provided and key == "config"))
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_redacted(item, below_secret=below_secret) for item in value]
    if below_secret:
        is_shown = (
            value is None or value == "" or isinstance(value, bool) or (isinstance(value, str) and is_kept(value))
        )
        return value if is_shown else MASK
    return _redacted_text(value) if isinstance(value, str) else value


def _reference(key: str, value: Any) -> Any:
    """A part of a provider of type `environment`: it holds names of variables, and nothing that could be none."""
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
