"""`FOR SYSTEM_TIME AS OF time` and `FOR SYSTEM_VERSION AS OF id` after the name of a table, as sqlglot parses them."""

from __future__ import annotations

from sqlglot import Token, TokenType

from hivedruid.errors import ParseError
from hivedruid.parser.checks import span_of
from hivedruid.parser.tokens import describe, token_at
from hivedruid.script import SourceStatement

_WORDS = {"SYSTEM_TIME": "TIMESTAMP", "SYSTEM_VERSION": "VERSION"}
_AS_OF = ["AS", "OF"]


def with_time_travel(source: SourceStatement, tokens: list[Token]) -> list[Token]:
    """The tokens with sqlglot's words. Raises ParseError for its forms that Hive does not have: `VERSION AS OF`,
    `FOR VERSION AS OF`, `FOR SYSTEM_TIME FROM`."""
    if not any(token.token_type != TokenType.STRING and token.text.upper() == "OF" for token in tokens):
        return tokens
    result = list(tokens)
    for place, token in enumerate(tokens):
        word = _word(token)
        if place < 1 or [_word(each) for each in tokens[place + 1 : place + 3]] != _AS_OF:
            continue
        is_for = _word(tokens[place - 1]) == "FOR"
        if word in _WORDS and is_for:
            result[place - 1] = token_at(tokens[place - 1], TokenType.VAR, "FOR")
            result[place] = token_at(token, TokenType.VAR, _WORDS[word])
        elif word in _WORDS.values() and tokens[place - 1].token_type not in (TokenType.FROM, TokenType.JOIN):
            wrong = tokens[place - 1] if is_for else token
            raise ParseError(
                f"unexpected {describe(source, wrong)}",
                span=span_of(source, wrong),
                hint=f"use FOR SYSTEM_{'TIME' if word == 'TIMESTAMP' else 'VERSION'} AS OF",
            )
    return result


def _word(token: Token) -> str:
    return "" if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) else token.text.upper()
