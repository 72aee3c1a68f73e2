"""Hides the secrets in a text: those after their keys (`secret_values`), in other forms (`secret_forms`), after SET,
and the values that are known to be secret.

Statements may be malformed in any way, so anything that looks like a secret's value counts as one. Every way out of
the process (messages, plans, logs, listings, echoes) goes through `redact`, or `mask_text`, which preserves positions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from hivedruid import secret_forms, secret_values
from hivedruid.lazy_regex import regex
from hivedruid.secret_values import GAP, QUOTES
from hivedruid.secrets import MASK, is_secret, is_shown

if TYPE_CHECKING:
    from hivedruid.errors import HiveDruidError

_SET = regex(
    rf"(?:\A|;){GAP}(?:explain\s+(?:extended\s+|formatted\s+|cbo\s+)?)?{GAP}set\b[\s=:]*(?P<head>[^=;]*)", re.I
)
_WORD = regex(r"(?:[^\W\d]|\$)[\w.$-]*")
_SAID = regex(r"""['"`](?P<quoted>[^'"`]{2,})['"`]|\bfound (?P<found>[^'"`]+)$""")
"""A quotation of a statement in a message."""
_REFERENCE = regex(
    rf"""['"](?P<key>[^'"]{{1,500}})['"]{GAP}={GAP}(?P<quote>['"])(?P<value>\$\{{env:[A-Za-z_]\w*\}})(?P=quote)""",
    re.ASCII,
)
_ESCAPE = regex(r"\\(?:u(?P<hexadecimal>[0-9A-Fa-f]{4})|(?P<octal>[0-3][0-7]{2})|(?P<character>.))", re.S)
_MARGIN = regex(r"\n  +")
"""Most of a long plan: secrets are searched for in the text without it, and only if there are some in the text itself.
One blank stays, since a value of YAML may be indented by one."""
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_LAYERS = 3
"""Literals inside literals whose escapes are resolved."""
_remembered: dict[str, None] = {}
_of_statement: tuple[str, ...] = ()
_WORDS = ("secret", "token", "password", "credential")
_LEAST_OF_LETTERS = 8
_LEAST = 5
"""Minimum length of a secret that is recognized by value; a shorter one would match other words."""


def ranges(text: str, *, statement: bool, known: tuple[str, ...] = ()) -> list[tuple[int, int]]:
    """The ranges of secrets in a text, sorted and disjoint, with those of the values in `known`. In a `statement`, a
    quoted key may be followed by its value without an operator, and everything after `SET key` is a value; messages
    may mention keys in that form without a value.
    """
    result = _found(text, statement)
    by_value = [
        match.span()
        for value in (*_remembered, *_of_statement, *known)
        if value in text
        for match in re.finditer(re.escape(value), text)
    ]
    return _joined([*result, *by_value]) if by_value else list(result)


@lru_cache(maxsize=4)
def _found(text: str, statement: bool) -> tuple[tuple[int, int], ...]:
    without_margins = _MARGIN.sub("\n ", text)
    if without_margins != text and not _in_layers(without_margins, statement):
        return ()
    return tuple(_joined(_in_layers(text, statement)))


def _in_layers(text: str, statement: bool) -> list[tuple[int, int]]:
    """The ranges in the text, and in the string literals inside it."""
    spans = _in_text(text, statement)
    layers = [text]
    while "\\" in layers[-1] and len(layers) <= _LAYERS:
        inner = _ESCAPE.sub(_unescaped, layers[-1])
        found = _in_text(inner, statement)
        for layer in reversed(layers) if found else ():
            starts = _starts(layer)
            found = [(starts[start], starts[end]) for start, end in found]
        spans += found
        layers.append(inner)
    return spans


def _in_text(text: str, statement: bool) -> list[tuple[int, int]]:
    spans = list(secret_values.assigned(text, statement=statement))
    if statement and _SET.match(text):  # an unquoted value ends with the statement
        spans = [(start, end if text[start - 1] in QUOTES else len(text)) for start, end in spans]
        spans += _set(text)
    return [*spans, *secret_values.assigned_by_parts(text), *secret_forms.spans(text)]


def _unescaped(escape: re.Match[str]) -> str:
    """The character that an escape in a string literal of SQL, JSON or Python means."""
    if character := escape["character"]:
        return _CONTROLS.get(character, character)
    return chr(int(escape["hexadecimal"], 16) if escape["hexadecimal"] else int(escape["octal"], 8))


def _starts(text: str) -> list[int]:
    """Where each character of the content of string literals begins in their text, and the end."""
    starts: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        starts += range(end, match.start() + 1)
        end = match.end()
    return [*starts, *range(end, len(text) + 1)]


def mask_text(text: str) -> str:
    """The text of a statement with its secrets replaced by stars; all other characters keep their positions."""
    parts, end = [], 0
    for start, stop in ranges(text, statement=True):
        parts += [text[end:start], re.sub(r"[^\s'\"]", "*", text[start:stop])]
        end = stop
    return "".join(parts) + text[end:] if parts else text


def redact(text: str, known: tuple[str, ...] = ()) -> str:
    """A message, or any other text that is not a statement, without its secrets and those that are `known`."""
    parts, end = [], 0
    for start, stop in ranges(text, statement=False, known=known):
        parts += [text[end:start], MASK]
        end = stop
    return "".join(parts) + text[end:] if parts else text


def hide_in(error: BaseException) -> None:
    """Replace the secrets in the message and hint of an error of hivedruid, before its caller sees it."""
    from hivedruid.errors import HiveDruidError

    if isinstance(error, HiveDruidError):
        error.message = redact(error.message)
        error.hint = redact(error.hint) if error.hint else error.hint
        error.args = (error.message,)


def holds_key(text: str) -> bool:
    """Whether a text contains a secret, or a word that looks like the name of one."""
    return bool(ranges(text, statement=True)) or any(is_secret(word) for word in _WORD.findall(text))


def closed(error: HiveDruidError, line: int, text: str) -> None:
    """Remove possible secrets from an error about an unparsable statement, since the end of a secret is unknown.
    `text` is the statement as written in its script, which starts in that line.
    """
    secrets = ranges(text, statement=True)
    if not secrets:
        return
    behind = text[secrets[0][0] :]

    def hidden(match: re.Match[str]) -> str:
        quoted = match["quoted"] or match["found"]
        return match[0].replace(quoted, MASK) if quoted in behind else match[0]

    error.message = _SAID.sub(hidden, error.message)
    error.hint = _SAID.sub(hidden, error.hint) if error.hint else error.hint
    error.args = (error.message,)
    lines = mask_from_first(text).split("\n")
    if error.span is not None and 0 <= error.span.line - line < len(lines):
        shown = lines[error.span.line - line].rstrip("\r")
        indent = " " * (len(error.span.source_line) - len(shown))
        error.span = replace(error.span, source_line=indent + shown)


def mask_from_first(text: str) -> str:
    """Like `mask_text`, but everything after the first secret is masked, too, since the end of the secret is
    unknown."""
    secrets = ranges(text, statement=True)
    if not secrets:
        return text
    start = secrets[0][0]
    return text[:start] + re.sub(r"[^\s]", "*", text[start:])


def reference_places(text: str) -> frozenset[int]:
    """The ranges of `${env:NAME}` in SQL text that are the whole value of a secret property: these references must not
    be substituted."""
    return frozenset(match.start("value") for match in _REFERENCE.finditer(text) if is_secret(match["key"]))


def remember(values: Iterable[str]) -> None:
    """Register values as secrets for the lifetime of the process: those of variables with secret names."""
    _remembered.update(dict.fromkeys(value for value in values if _is_distinct(value)))


def remember_statement(text: str) -> None:
    """Register the secrets of the running statement, so that messages about it are redacted."""
    global _of_statement  # noqa: PLW0603 - one statement runs at a time
    _of_statement = secrets_of(text)


def secrets_of(text: str) -> tuple[str, ...]:
    """The secrets in a statement that are distinct enough to be recognized elsewhere."""
    secrets = ranges(text, statement=True)[:100]
    values = {text[start:end] for start, end in secrets}
    values |= {part.strip() for value in values for part in re.split(f"[{QUOTES}]", value)}
    values |= {value.partition(":")[2] for value in values} | {re.sub(r"\\(.)", r"\1", value) for value in values}
    values |= {unquote(value) for value in values if "%" in value}
    return tuple(sorted(filter(_is_distinct, values), key=len, reverse=True))


def _is_distinct(value: str) -> bool:
    least = _LEAST_OF_LETTERS if value.isalpha() else _LEAST
    return len(value) >= least and not is_shown(value) and not value.isdigit() and value.lower() not in _WORDS


def _set(text: str) -> Iterator[tuple[int, int]]:
    """The value after a key in SET, with any separator."""
    for match in _SET.finditer(text):
        for word in _WORD.finditer(text, match.start("head"), match.end("head")):
            if is_secret(word[0]):
                start = len(text) - len(text[word.end() :].lstrip(f" \t\r\n=:>\\{QUOTES}"))
                if start < len(text) and not is_shown(text[start:].strip("'\" \t\n")):
                    yield start, len(text)
                return


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
