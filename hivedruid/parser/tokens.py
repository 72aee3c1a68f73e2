"""Hive's tokens: sqlglot's tokens, corrected where Hive differs; and a cursor over them for hand-written parsers."""

from __future__ import annotations

import codecs
import logging
import re
from itertools import pairwise
from typing import NoReturn

from sqlglot import Token, TokenType
from sqlglot.dialects.hive import Hive
from sqlglot.errors import TokenError

from hivedruid.errors import ParseError, Span, UnsetVariableError, did_you_mean
from hivedruid.lazy_regex import regex
from hivedruid.parser.statements import TableName
from hivedruid.script import SourceStatement

if logging.getLogger("sqlglot").level == logging.NOTSET:  # its warnings do not apply here; set a log level to see them
    logging.getLogger("sqlglot").setLevel(logging.ERROR)

HIVE = Hive()
HIVE_NULLS_LAST = Hive()
HIVE_NULLS_LAST.NULL_ORDERING = "nulls_are_large"
"""Hive 4's default order of nulls (hive.default.nulls.last): last ascending, first descending."""

_SKIP = r"(?:\s|--[^\r\n]*(?:[\r\n]|$)|/\*.*?\*/)*"
_BLANKS = regex(_SKIP, re.DOTALL)
_WORD = regex(_SKIP + r"([^\W\d]\w*)", re.S)


def next_word(text: str, offset: int = 0) -> tuple[str, int, int]:
    """The first word from `offset` on, comments skipped: in upper case, with its range. An empty word if there is
    none."""
    match = _WORD.match(text, offset)
    return (match[1].upper(), match.start(1), match.end(1)) if match else ("", offset, offset)


def next_sign(text: str, offset: int = 0) -> tuple[str, int]:
    """The first character from `offset` on, blanks and comments skipped, and its position; empty at the end."""
    match = _BLANKS.match(text, offset)
    place = match.end() if match else offset
    return text[place : place + 1], place


_FIRST = "x"
"""A word before the tokens: at the start, sqlglot reads `execute SET a = 1`, the rest of an UPDATE, as a command."""


def tokenize(source: SourceStatement, start: int = 0) -> list[Token]:
    """The tokens of `source.text[start:]`, whose positions count from the start of the text.

    Adjacent string literals become one, as Hive concatenates them, and `TIMESTAMPLOCALTZ '…'` becomes the tokens of
    `CAST('…' AS TIMESTAMPLTZ)`, for which sqlglot has no literal.
    """
    text = source.text if start == 0 else _FIRST.ljust(start) + source.text[start:]
    try:
        tokens = HIVE.tokenize(text)[len(_FIRST) if start else 0 :]
    except TokenError:
        raise ParseError("cannot parse the text into tokens", span=source.span(start)) from None
    if _CHARSET.search(text):
        tokens = _with_charset_texts(text, tokens)
    if _HEX.search(text):
        _refuse_hex(source, tokens)
    if _DIGITS.search(text):
        _refuse_digits(source, tokens)
    if any(token.token_type == TokenType.STRING for token in tokens) or "timestamplocaltz" in text.lower():
        return _put_right(tokens)
    return tokens


_HEX = regex(r"\b0x", re.IGNORECASE)


def _refuse_hex(source: SourceStatement, tokens: list[Token]) -> None:
    """`0x1F` is one token in Hive, which is valid only after the name of a character set; sqlglot reads `0 AS x1F`."""
    for zero, digits in pairwise(tokens):
        if zero.text == "0" and digits.start == zero.end + 1 and digits.text[:1] in ("x", "X"):
            raise ParseError(
                f"hexadecimal number '0{digits.text}' is not Hive SQL",
                span=source.span(zero.start, digits.end + 1),
                hint=f"use conv('{digits.text[1:]}', 16, 10), or add a blank before an alias",
            )


MOST_DIGITS = 1000
"""Of a number. Hive's have at most 38; Python converts at most 4,300 to an integer."""
_DIGITS = regex(f"[0-9]{{{MOST_DIGITS + 1}}}")


def _refuse_digits(source: SourceStatement, tokens: list[Token]) -> None:
    for token in tokens:
        if token.token_type == TokenType.NUMBER and _DIGITS.search(token.text):
            raise ParseError(
                f"a number of {len(token.text):,} characters is too long",
                span=source.span(token.start),
                hint="quote it, if it is a string; numbers have at most 38 digits",
            )


_CHARSET = regex(r"_((?:utf|us|iso)-[\w-]+)\s*(?:0x((?:[0-9a-f]{2})+)\b|(?='))", re.IGNORECASE)


def _with_charset_texts(text: str, tokens: list[Token]) -> list[Token]:
    """`_UTF-8 0x41` is the string of these bytes in this character set, `_UTF-8'…'` the string decoded with it."""
    result: list[Token] = []
    skipped, codec = -1, ""
    for token in tokens:
        if token.start < skipped:
            continue
        match = _CHARSET.match(text, token.start) if token.token_type == TokenType.VAR else None
        if match is not None and _is_codec(match[1]):
            skipped, codec = match.end(), match[1]
            if match[2]:
                decoded = bytes.fromhex(match[2]).decode(codec, "replace")
                result.append(Token(TokenType.STRING, decoded, token.line, token.col, token.start, skipped - 1))
                codec = ""
            continue
        text_of_token = token.text.encode().decode(codec, "replace") if codec else token.text
        result.append(
            Token(token.token_type, text_of_token, token.line, token.col, token.start, token.end) if codec else token
        )
        codec = ""
    return result


def _is_codec(name: str) -> bool:
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True


def _put_right(tokens: list[Token]) -> list[Token]:
    result: list[Token] = []
    for token in tokens:
        last = result[-1] if result else None
        if token.token_type == TokenType.STRING and last and last.token_type == TokenType.STRING:
            result[-1] = Token(TokenType.STRING, last.text + token.text, last.line, last.col, last.start, token.end)
        else:
            result.append(token)
    if any(_is_ltz(token) for token in result):
        return _with_casts(result)
    return result


def _is_ltz(token: Token) -> bool:
    return token.token_type == TokenType.VAR and token.text.upper() == "TIMESTAMPLOCALTZ"


def token_at(token: Token, kind: TokenType, text: str) -> Token:
    """A token that is not in the text, at the position of another one."""
    return Token(kind, text, token.line, token.col, token.start, token.end)


def _with_casts(tokens: list[Token]) -> list[Token]:
    result: list[Token] = []
    literal = None
    for i, token in enumerate(tokens):
        if literal is not None:
            parts = (
                (TokenType.VAR, "CAST", literal),
                (TokenType.L_PAREN, "(", literal),
                (TokenType.STRING, token.text, token),
                (TokenType.ALIAS, "AS", token),
                (TokenType.TIMESTAMPLTZ, "TIMESTAMPLTZ", token),
                (TokenType.R_PAREN, ")", token),
            )
            result += [token_at(at, kind, text) for kind, text, at in parts]
            literal = None
        elif _is_ltz(token) and i + 1 < len(tokens) and tokens[i + 1].token_type == TokenType.STRING:
            literal = token
        elif _is_ltz(token) and i > 0 and tokens[i - 1].token_type == TokenType.ALIAS:
            result.append(token_at(token, TokenType.TIMESTAMPLTZ, token.text))
        else:
            result.append(token)
    return result


_NAME = regex(r"\w+")
# Words that must be quoted as names. Hive reserves more (USER, DATE, …); those are unambiguous here.
_RESERVED = frozenset(
    """
    ALL ALTER AND AS BETWEEN BY CASE CREATE CROSS DELETE DESCRIBE DISTINCT DROP ELSE END EXISTS FALSE FROM FULL GROUP
    HAVING IF IN INNER INSERT INTERSECT INTO IS JOIN LEFT LIKE NOT NULL ON OR ORDER OUTER PARTITION RIGHT
    SELECT SET TABLE THEN TO TRUE TRUNCATE UNION UPDATE USING VALUES WHEN WHERE WITH
    """.split()  # noqa: SIM905 - a list of words reads better as words
)


class Cursor:
    """Reads a list of tokens from left to right. Words are compared in upper case; quoted names and strings do not
    match words."""

    def __init__(self, source: SourceStatement, tokens: list[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.index = 0

    @property
    def current(self) -> Token | None:
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    @property
    def at_end(self) -> bool:
        return self.index >= len(self.tokens)

    def word(self, ahead: int = 0) -> str:
        """The word or symbol at offset `ahead` from the cursor in upper case; empty at the end and for quoted names
        and strings."""
        index = self.index + ahead
        return _word_of(self.tokens[index]) if index < len(self.tokens) else ""

    def accept(self, *words: str) -> bool:
        """Skip these words if they are next. (A token of sqlglot may contain two words: `PARTITIONED BY`.)"""
        index = self.index
        position = 0
        while position < len(words):
            parts = _word_of(self.tokens[index]).split() if index < len(self.tokens) else []
            if not parts or tuple(parts) != words[position : position + len(parts)]:
                return False
            position += len(parts)
            index += 1
        self.index = index
        return True

    def accept_one(self, *words: str) -> str | None:
        """Skip one of these words and return it."""
        word = self.word()
        if word in words:
            self.index += 1
            return word
        return None

    def expect(self, *words: str) -> None:
        if not self.accept(*words):
            self.fail(" ".join(words))

    def string(self, what: str = "a string") -> tuple[str, Token]:
        """A string literal: its text without quotes, and its token."""
        token = self.current
        if token is None or token.token_type != TokenType.STRING:
            self.fail(what)
        self.index += 1
        return token.text, token

    def integer(self, what: str = "an integer") -> int:
        token = self.current
        if token is None or token.token_type != TokenType.NUMBER or not token.text.isdecimal():
            self.fail(what)
        self.index += 1
        return int(token.text)

    def name(self, what: str = "a name") -> tuple[str, Token]:
        """A name, in backquotes or plain (letters, digits and `_`): lower-cased, as Hive keeps names."""
        token = self.current
        if token is None or not (token.token_type == TokenType.IDENTIFIER or _is_plain_name(token)):
            self.fail(what)
        self.index += 1
        return token.text.lower(), token

    def table_name(self) -> TableName:
        """`[database.]name`, also as `` `database.name` `` in one pair of backquotes, as in Hive."""
        first, start = self.name("a table name")
        end = start
        database = None
        if self.accept("."):
            database = first
            first, end = self.name("a table name")
        elif "." in first:
            database, _, first = first.partition(".")
        if not re.fullmatch(r"\w+", first, re.ASCII) or (database and not re.fullmatch(r"\w+", database, re.ASCII)):
            raise ParseError(
                f"'{first}' is not a valid table name",
                span=self.span(start, end),
                hint="use letters, digits and underscores",
            )
        return TableName(first, database, self.span(start, end))

    def rest(self) -> list[Token]:
        """Return all remaining tokens and move to the end."""
        rest = self.tokens[self.index :]
        self.index = len(self.tokens)
        return rest

    def skip_group(self) -> None:
        """Skip a `( … )` group of a rejected clause."""
        self.expect("(")
        depth = 1
        while depth:
            if self.at_end:
                self.fail(")")
            depth += {"(": 1, ")": -1}.get(self.word(), 0)
            self.index += 1

    def end(self) -> None:
        """Fail if tokens are left."""
        if not self.at_end:
            self.fail("the end of the statement")

    def span(self, start: Token | None = None, end: Token | None = None) -> Span:
        """The position of a token, or of a range of tokens; by default of the current one."""
        start = start or self.current
        if start is None:
            return self.source.span(len(self.source.text))
        return self.source.span(start.start, (end or start).end + 1)

    def span_from(self, index: int) -> Span:
        """The position from the token at `index` to the previous one."""
        return self.span(self.tokens[index], self.tokens[max(index, self.index - 1)])

    def text_from(self, index: int) -> str:
        """The text of the statement from the token at `index` to the previous one."""
        return self.source.text[self.tokens[index].start : self.tokens[self.index - 1].end + 1]

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        """Raise ParseError: what was expected, in words or as keywords (`TABLE, VIEW or DATABASE`), and what was
        found. Without a hint, the closest keyword is suggested. A variable without a value is named instead.
        """
        if self.current is not None and (unset := unset_variable(self.source, self.current.start)) is not None:
            raise unset
        candidates = re.findall(r"[A-Z]{3,}", expected)
        if hint is None and self.word() and self.word() not in candidates:
            hint = did_you_mean(self.word(), candidates)
        message = f"expected {_quoted(expected)}, found {describe(self.source, self.current)}"
        raise ParseError(message, span=self.span(), hint=hint)


_UNSET = regex(r"\$\{(?:(?P<space>hivevar|hiveconf|env|system):)?(?P<name>[^}$ ]+)\}")


def unset_variable(source: SourceStatement, start: int) -> UnsetVariableError | None:
    """The error of a `${variable}` at an offset: those with values are replaced before the text is parsed."""
    if (variable := _UNSET.match(source.text, start)) is None:
        return None
    space, name = variable["space"], variable["name"]
    if space in ("env", "system"):
        hint = "set the environment variable" if space == "env" else "use ${hivevar:name}"
    elif space == "hiveconf":
        hint = f"set it with --hiveconf {name}=value or SET {name}=value"
    else:
        hint = f"set it with --hivevar {name}=value or SET hivevar:{name}=value"
    span = source.span(variable.start(), variable.end())
    return UnsetVariableError(f"variable {variable[0]} is not set", span=span, hint=hint)


def describe(source: SourceStatement, token: Token | None) -> str:
    """A token as shown in errors."""
    if token is None:
        return "the end of the statement"
    text = source.text[token.start : token.end + 1]
    if token.token_type == TokenType.STRING:
        return "a string"  # its text may be a secret
    return f"'{text if len(text) <= 40 else text[:37] + '…'}'"


def _quoted(expected: str) -> str:
    return expected if expected[:1].islower() or " or " in expected else f"'{expected}'"


def _word_of(token: Token) -> str:
    if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return ""
    return token.text.upper()


def _is_plain_name(token: Token) -> bool:
    if token.token_type in (TokenType.STRING, TokenType.NUMBER) or token.text.upper() in _RESERVED:
        return False
    return _NAME.fullmatch(token.text) is not None
