"""Finds secrets in text without parsing it: a word that looks like a secret's key, and the value after it, in any
quoting.

Statements may be malformed in any way, so anything that looks like a secret's value counts as one. Every way out of
the process (messages, plans, logs, listings, echoes) goes through `redact`, or `mask_text`, which preserves positions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from hivedruid.secrets import MASK, is_secret, is_shown

if TYPE_CHECKING:
    from hivedruid.errors import HiveDruidError

_SINGLE = "'`´‘’‚‛′＇"
_DOUBLE = '"“”„‟«»″＂'
_QUOTES = _SINGLE + _DOUBLE
_GAP = r"(?:\s|/\*[^*]{0,500}+\*/|--[^\n]*+\n)*+"
_SIGN = r"(?:[=:]{1,2}>?|＝|：|→|->)"
_KEY = re.compile(
    rf"(?<![\w.$])(?P<key>[A-Za-z_$][\w.$-]*+)(?P<close>[\\{_QUOTES}]++)?{_GAP}"
    rf"(?P<sign>{_SIGN}|(?(close)(?=[\w\\{_QUOTES}])|(?!)))(?:{_GAP}[(\[])*+{_GAP}"
)
"""A word, its closing quotes, an operator such as `=` (optional after a quote), and the start of a value."""
_SET = re.compile(rf"{_GAP}(?:explain\s+(?:extended\s+|formatted\s+|cbo\s+)?)?{_GAP}set\b[\s=:]*(?P<head>[^=]*)", re.I)
_WORD = re.compile(r"[A-Za-z_$][\w.$-]*")
_OPEN = re.compile(rf"(?P<quote>\\*+[{_QUOTES}])")
_BARE = re.compile(rf"(?:(?:Basic|Bearer|Digest|OAuth)\s+)?[^\s{_QUOTES}]+", re.I)
_PREFIX = re.compile(r"^[A-Za-z]$|\w\($")
"""`N'…'`, `concat('…'`."""
_PARAMETER = re.compile(rf"[^\s;&{_QUOTES}]+")
_END = re.compile(r"[\s,;:)}\]&>]|$|/\*|--|\.(?:\s|$)")
"""What may follow the closing quote of a value; quotes inside a value, as in `user='me'`, are followed by something
else."""
_AGAIN = re.compile(rf"{_GAP}(?:[+|]+{_GAP})?(?P<quote>\\*[{_QUOTES}])")
_KEYWORDS = frozenset(
    """
    and as asc between comment desc else end except for from group having in intersect is join like limit location not
    null
    on or order rows stored tblproperties then union when where with
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
"""What may follow a string in well-formed SQL."""
_OTHERS = (
    re.compile(r"(?<=://)[^\s/@'\"`:]{0,100}+:[^\s@'\"`]{0,500}+(?=@)"),
    re.compile(r"\b(?:Basic|Bearer)\s+(?P<value>[\w+/=.~-]{5,})"),
    re.compile(r"LoginModule\s+(?:required|requisite|sufficient|optional)\b(?P<value>[^;]*)", re.I),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<value>[^-]*)"),
    re.compile(r"[?&;](?:sig|signature|sas|pwd|code)=(?P<value>[^&\s'\"`;,)]+)", re.I),
)
"""User and password of a URL, HTTP's Authorization, a JAAS configuration, a private key, a signature in a URL."""

_VARIABLES = re.compile(r'"variables\\*"\s*:\s*\{[^{}]*\Z')
_SAID = re.compile(r"""['"`](?P<quoted>[^'"`]{2,})['"`]|\bfound (?P<found>[^'"`]+)$""")
"""A quotation of a statement in a message."""
_REFERENCE = re.compile(
    rf"""['"](?P<key>[^'"]{{1,500}})['"]{_GAP}={_GAP}(?P<quote>['"])(?P<value>\$\{{env:[A-Za-z_]\w*\}})(?P=quote)""",
    re.ASCII,
)
_remembered: dict[str, None] = {}
_of_statement: tuple[str, ...] = ()
_WORDS = ("secret", "token", "password", "credential")
_LEAST_OF_LETTERS = 8
_LEAST = 5
"""Minimum length of a secret that is recognized by value; a shorter one would match other words."""


def ranges(text: str, *, statement: bool) -> list[tuple[int, int]]:
    """The ranges of secrets in a text, sorted and disjoint. In a `statement`, a quoted key may be followed by its
    value without an operator, and everything after `SET key` is a value; messages may mention keys in that form
    without a value.
    """
    result = _found(text, statement)
    known = [
        match.span()
        for value in (*_remembered, *_of_statement)
        if value in text
        for match in re.finditer(re.escape(value), text)
    ]
    return _joined([*result, *known]) if known else list(result)


@lru_cache(maxsize=4)
def _found(text: str, statement: bool) -> tuple[tuple[int, int], ...]:
    spans = list(_assigned(text, statement=statement))
    for pattern in _OTHERS:
        spans += [match.span("value" if pattern.groups else 0) for match in pattern.finditer(text)]
    if statement:
        spans += _set(text)
    return tuple(_joined(spans))


def mask_text(text: str) -> str:
    """The text of a statement with its secrets replaced by stars; all other characters keep their positions."""
    parts, end = [], 0
    for start, stop in ranges(text, statement=True):
        parts += [text[end:start], re.sub(r"[^\s'\"]", "*", text[start:stop])]
        end = stop
    return "".join(parts) + text[end:] if parts else text


def redact(text: str) -> str:
    """A message, or any other text that is not a statement, without its secrets."""
    parts, end = [], 0
    for start, stop in ranges(text, statement=False):
        parts += [text[end:start], MASK]
        end = stop
    return "".join(parts) + text[end:] if parts else text


def holds_key(text: str) -> bool:
    """Whether a text contains a secret, or a word that looks like the name of one."""
    return bool(ranges(text, statement=True)) or any(
        is_secret(word) for word in re.findall(r"[A-Za-z_$][\w.$-]*", text)
    )


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
    secrets = ranges(text, statement=True)[:100]
    values = {text[start:end] for start, end in secrets}
    values |= {part.strip() for value in values for part in re.split(f"[{_QUOTES}]", value)}
    _of_statement = tuple(sorted(filter(_is_distinct, values), key=len, reverse=True))


def _is_distinct(value: str) -> bool:
    least = _LEAST_OF_LETTERS if value.isalpha() else _LEAST
    return len(value) >= least and not is_shown(value) and not value.isdigit() and value.lower() not in _WORDS


def _assigned(text: str, *, statement: bool) -> Iterator[tuple[int, int]]:
    """The values after secret keys; values of other keys are searched, too."""
    in_set = statement and _SET.match(text) is not None
    position = 0
    while match := _KEY.search(text, position):
        position = match.end()
        if (
            not is_secret(match["key"])
            or _is_prose(match)
            or not (match["sign"] or (statement and _is_whole(text, match)))
        ):
            continue
        start, end = _value(text, match.end(), parameter=text[match.start() - 1 : match.start()] in ("?", "&", ";"))
        if _is_value(match, text[start:end]) and not _names_variable(text, match.start(), text[start:end]):
            if in_set and start == match.end():  # a quoted value ends before the statement does
                end = len(text)
            yield start, end
            position = max(end, position)


def _is_whole(text: str, match: re.Match[str]) -> bool:
    """Whether a key is completely quoted, so that a value may follow without an operator."""
    before = text[match.start() - 1 : match.start()]
    return before != "" and before in _QUOTES and before != "`" and match["close"][-1] not in "\\`"


def _is_prose(match: re.Match[str]) -> bool:
    """`unexpected token: 'FROM'`."""
    return match["sign"] == ":" and not match["close"] and match["key"].lower() in ("token", "tokens", "secret")


def _is_value(match: re.Match[str], value: str) -> bool:
    if not value or is_shown(value.strip("'\"")):
        return False
    if match["sign"] == "==" and not match["close"]:  # a Druid expression
        return False
    if match["sign"]:
        name = match["key"].rpartition(".")[2]
        return not re.fullmatch(rf"[\w`]+\.`?{re.escape(name)}`?", value)  # a.token = b.token compares columns
    return value.lower() not in _KEYWORDS


def _names_variable(text: str, start: int, value: str) -> bool:
    """Whether the key at `start` is in Druid's `"variables": {…}`, whose values are names of environment variables."""
    return value.isidentifier() and _VARIABLES.search(text, max(0, start - 500), start) is not None


def _value(text: str, start: int, *, parameter: bool) -> tuple[int, int]:
    """The range of the value at `start`, without its quotes; the value of a URL `parameter` ends at the next
    parameter."""
    opened = _OPEN.match(text, start)
    if opened is None:
        bare = (_PARAMETER if parameter else _BARE).match(text, start)
        if bare is None or bare[0][0] in "{,":
            return start, start
        opened = _OPEN.match(text, bare.end()) if _PREFIX.search(bare[0]) else None
        if opened is None:
            return start, start + len(bare[0].rstrip(",;)}]>").rstrip("."))
    else:
        start = opened.end()
    end, after = _closing(text, opened)
    while again := _AGAIN.match(text, after):  # 'adjacent' 'texts'
        end, after = _closing(text, again)
    if opened.start() > 0 and text[opened.start() - 1] == "(" and start < opened.start():  # concat('…', '…')
        bracket = text.find(")", after)
        end = bracket if bracket >= 0 else len(text)
    return start, end


def _closing(text: str, opened: re.Match[str]) -> tuple[int, int]:
    """The position of the closing quote and the position after it; the end of the text if there is none."""
    quote = opened["quote"][-1]
    depth = len(opened["quote"]) - 1
    position = opened.end()
    for match in _CLOSERS[quote in _SINGLE].finditer(text, position):
        backslashes = len(match[0]) - 1
        is_escaped = backslashes > depth if depth else backslashes % 2 == 1
        if match.start() < position or is_escaped:
            continue
        if text[match.end() : match.end() + 1] == match[0][-1] == quote and not depth and match.start() > opened.end():
            position = match.end() + 1  # doubled
        elif _END.match(text, match.end()) or text[match.end()] in _QUOTES + "\\":
            return match.start(), match.end()
    return len(text), len(text)


_CLOSERS = {True: re.compile(rf"\\*[{_SINGLE}]"), False: re.compile(rf"\\*[{_DOUBLE}]")}


def _set(text: str) -> Iterator[tuple[int, int]]:
    """The value after a key in SET, with any separator."""
    if (match := _SET.match(text)) is None:
        return
    for word in _WORD.finditer(text, match.start("head"), match.end("head")):
        if is_secret(word[0]):
            start = len(text) - len(text[word.end() :].lstrip(f" \t\r\n=:>\\{_QUOTES}"))
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
