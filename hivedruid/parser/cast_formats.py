"""CAST(x AS type FORMAT 'pattern'), which sqlglot reads as other functions."""

from __future__ import annotations

from sqlglot import Token, TokenType

from hivedruid.parser.tokens import token_at

CAST_FORMAT = "$cast format"
"""The name of the function that takes the cast and the pattern; no function of a statement has it."""
CASTS = frozenset({"CAST", "TRY_CAST"})


def with_cast_formats(tokens: list[Token]) -> list[Token]:
    """The same tokens, with `$cast format`(CAST(x AS type), 'pattern') for CAST(x AS type FORMAT 'pattern')."""
    if not any(token.token_type == TokenType.FORMAT for token in tokens):
        return tokens
    result: list[Token] = []
    casts: list[int | None] = []  # for each open parenthesis, the place of CAST before it
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.L_PAREN:
            casts.append(len(result) - 1 if i and tokens[i - 1].text.upper() in CASTS else None)
        elif token.token_type == TokenType.R_PAREN and casts:
            casts.pop()
        elif token.token_type == TokenType.FORMAT and casts and casts[-1] is not None and _is_pattern(tokens, i + 1):
            place = casts[-1]
            cast = result[place]
            result[place:place] = [token_at(cast, TokenType.VAR, CAST_FORMAT), token_at(cast, TokenType.L_PAREN, "(")]
            result += [token_at(token, TokenType.R_PAREN, ")"), token_at(token, TokenType.COMMA, ",")]
            continue
        result.append(token)
    return result


def _is_pattern(tokens: list[Token], place: int) -> bool:
    kinds = [token.token_type for token in tokens[place : place + 2]]
    return kinds == [TokenType.STRING, TokenType.R_PAREN]
