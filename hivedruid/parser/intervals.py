"""Intervals without the word INTERVAL: `2 days`, `'1-2' YEAR TO MONTH`, `(1) month`.

Hive's grammar parses a number or a string, optionally in parentheses, before a unit as an interval
(IdentifiersParser.g, intervalLiteral); sqlglot parses the unit as an alias. So the word is inserted in the token
stream.
"""

from __future__ import annotations

from sqlglot import Token, TokenType

from hivedruid.parser.tokens import token_at

_UNITS = {
    unit + plural for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND") for plural in ("", "S")
}  # a quoted name is not a unit
_VALUES = {TokenType.NUMBER, TokenType.STRING}
_TYPED = {"DATE", "TIMESTAMP", "TIMESTAMPLOCALTZ", "INTERVAL", "LIMIT", "OFFSET", "AS"}
"""Before a string these form another kind of literal, and the next word is an alias."""


def with_interval_words(tokens: list[Token]) -> list[Token]:
    """The tokens with INTERVAL inserted before each value followed by a unit."""
    starts = {
        start
        for position in range(1, len(tokens))
        if _is_unit(tokens[position]) and (start := _value_before(tokens, position)) is not None
    }
    if not starts:
        return tokens
    result: list[Token] = []
    for position, token in enumerate(tokens):
        if position in starts:
            result.append(token_at(token, TokenType.INTERVAL, "INTERVAL"))
        result.append(token)
    return result


def _is_unit(token: Token) -> bool:
    return token.text.upper() in _UNITS and token.token_type not in (TokenType.IDENTIFIER, TokenType.STRING)


def _value_before(tokens: list[Token], unit: int) -> int | None:
    """The start of the value of a unit; None if there is none, or it already has an INTERVAL."""
    start = unit - 1
    if tokens[start].token_type == TokenType.R_PAREN and start >= 2:
        start -= 2
        is_value = tokens[start + 1].token_type in _VALUES and tokens[start].token_type == TokenType.L_PAREN
        if not is_value or (start and _is_word(tokens[start - 1])):
            return None
    elif tokens[start].token_type not in _VALUES:
        return None
    return None if start and tokens[start - 1].text.upper() in _TYPED else start


def _is_word(token: Token) -> bool:
    """Whether a parenthesis after the token starts arguments or a list."""
    return token.text.upper() not in ("SELECT", "DISTINCT", "WHEN", "THEN", "ELSE", "AND", "OR", "NOT", "BETWEEN") and (
        token.token_type == TokenType.IDENTIFIER or token.text.replace("_", "a").isalnum()
    )
