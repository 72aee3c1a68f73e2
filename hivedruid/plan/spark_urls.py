"""parse_url() in Spark SQL, as java.net.URL divides a URL: it accepts spaces and other characters that Spark's own
function, with the stricter java.net.URI, refuses, and only the protocols that Java knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.errors import UnsupportedError
from hivedruid.plan.rex import Call, Literal
from hivedruid.plan.spark_text import quote_string

if TYPE_CHECKING:
    from hivedruid.plan.spark_rex import SparkRex

_USER, _HOST, _PORT = "(?:([^/?#@]*)@)?", r"(\[[^\]/?#]*\]|[^:/?#@\[\]]*)", r"(?::[0-9]*)?"
_WITHOUT_HOST = "[^/?#@]*@[^/?#@]*@[^/?#]*"
_AUTHORITY = f"{_USER}{_HOST}{_PORT}|{_WITHOUT_HOST}"
_URL = (
    r"(?s)^(?i:url:)?((?i)https?|ftp|file|jar|mailto):"
    rf"(?:(//({_AUTHORITY})(?=[/?#]|$))|(?!//))([^?#]*)(\?[^#]*)?(#.*)?$"
)
_BLANKS = r"^[\x00- ]+|[\x00- ]+$"
_GROUPS = {"PROTOCOL": 1, "AUTHORITY": 3, "USERINFO": 4, "HOST": 5, "PATH": 6, "QUERY": 7, "REF": 8}


def parse_url(s: SparkRex, rex: Call) -> str:
    url, *rest = (s.render(arg) for arg in rex.args)
    key = rest[1] if len(rest) > 1 else None
    part = rex.args[1]
    if isinstance(part, Literal):
        return part_of(url, str(part.value), key)
    parts = (f"WHEN {quote_string(name)} THEN {part_of(url, name, key)}" for name in (*_GROUPS, "FILE"))
    return f"(CASE {rest[0]} {' '.join(parts)} END)"


def parse_url_tuple(s: SparkRex, rex: Call) -> str:
    """An entry of parse_url(); QUERY:name returns one of the query's values."""
    url = s.render(rex.args[0])
    parts = []
    for arg in rex.args[1:]:
        if not isinstance(arg, Literal) or not isinstance(arg.value, str):
            raise UnsupportedError("the part names in parse_url_tuple() must be constants", hint="use parse_url()")
        part, _, key = arg.value.partition(":")
        parts.append(part_of(url, part, quote_string(key) if key else None))
    return f"stack(1, {', '.join(parts)})"


def part_of(url: str, part: str, key: str | None = None) -> str:
    """A part of a URL; NULL if the URL is not valid, and for an unknown part. Only QUERY has a key."""
    text = f"regexp_replace({url}, {quote_string(_BLANKS)}, '')"
    if part == "FILE" and key is None:
        return f"concat({_group(text, _GROUPS['PATH'])}, {_group(text, _GROUPS['QUERY'])})"
    if part not in _GROUPS or (key is not None and part != "QUERY"):
        return "CAST(NULL AS STRING)"
    group = _group(text, _GROUPS[part])
    if part == "PROTOCOL":
        return f"lower({group})"
    if part in ("QUERY", "REF"):
        group = f"substring(nullif({group}, ''), 2)"
    if part == "AUTHORITY":
        group = f"IF({_group(text, 2)} <> '', {group}, NULL)"
    if part == "USERINFO":
        group = f"IF({_group(text, 3)} LIKE '%@%' AND {_group(text, 3)} NOT LIKE '%@%@%', {group}, NULL)"
    if key is not None:
        pattern = f"concat('(&|^)', {key}, '=([^&]*)')"
        return f"IF({group} RLIKE {pattern}, regexp_extract({group}, {pattern}, 2), NULL)"
    return group


def _group(text: str, number: int) -> str:
    """A group of the URL; NULL if the URL is not valid."""
    return f"IF({text} RLIKE {quote_string(_URL)}, regexp_extract({text}, {quote_string(_URL)}, {number}), NULL)"
