"""Secrets in text that is not SQL: messages of services, JSON, URLs, tracebacks. `secrets` knows what is one."""

from __future__ import annotations

import re

from hivedruid.secrets import MASK, is_secret

_VALUE = r"""'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^\s'",;(){}]+"""
_ASSIGNMENT = re.compile(
    rf"""(?P<quote>['"`]?)(?P<key>[\w.:-]+)(?P=quote)\s*(?:=|(?<=['"`])\s*:)\s*(?P<value>{_VALUE})""", re.S
)
_USER_INFO = re.compile(r"""(?<=://)[^\s/@'"]*:[^\s/@'"]*(?=@)""")
_AUTHORIZATION = re.compile(r"\b(Basic|Bearer) [\w+/=.~-]+")


def redact(text: str) -> str:
    """`text` without the values of secrets: `password=…`, `"password": "…"`, `http://user:…@host`, `Bearer …`."""
    text = _ASSIGNMENT.sub(_masked, text)
    return _AUTHORIZATION.sub(rf"\1 {MASK}", _USER_INFO.sub(MASK, text))


def _masked(match: re.Match[str]) -> str:
    value = match["value"]
    if not is_secret(match["key"]) or value in ("''", '""'):
        return match[0]
    quote = value[0] if value[0] in "'\"" else ""
    return f"{match[0][: -len(value)]}{quote}{MASK}{quote}"
