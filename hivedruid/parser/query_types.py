"""Types inside queries, which sqlglot parses: CHAR and TIMESTAMPLOCALTZ are names there, except in its own casts."""

from __future__ import annotations

from sqlglot import Token, TokenType

from hivedruid.parser.functions import PREFIX
from hivedruid.parser.tokens import token_at

_KINDS = {"CHAR": TokenType.CHAR, "TIMESTAMPLOCALTZ": TokenType.TIMESTAMPLTZ}
_NESTED = ("ARRAY", "MAP", "STRUCT")
_FIELD_ENDS = ("<", ",", ":")


def with_type_words(tokens: list[Token]) -> list[Token]:
    """The tokens with CHAR and TIMESTAMPLOCALTZ as types, inside of ARRAY, MAP and STRUCT and in the list of columns of
    a script (`USING 'program' AS (a CHAR(3))`)."""
    if not any(_kind(token) for token in tokens):
        return tokens
    changed: list[Token] = []
    angles = columns = 0
    for i, token in enumerate(tokens):
        before = tokens[i - 1].text if i else ""
        if token.text == "<" and (angles or before.upper() in _NESTED):
            angles += 1
        elif angles and token.text in (">", ">>"):
            angles -= len(token.text)
        elif _begins_columns(tokens, i):
            columns = 1
        elif columns and not angles:
            columns += (token.text == "(") - (token.text == ")")
        kind = _kind(token)
        is_type = before in _FIELD_ENDS if angles else columns == 1 and before not in ("(", ",")
        changed.append(token_at(token, kind, token.text.removeprefix(PREFIX)) if kind and is_type else token)
    return changed


def _kind(token: Token) -> TokenType | None:
    """Of a word; `keep_function_names` has put PREFIX before it if a parenthesis follows."""
    return _KINDS.get(token.text.removeprefix(PREFIX).upper()) if token.token_type == TokenType.VAR else None


def _begins_columns(tokens: list[Token], i: int) -> bool:
    kinds = (TokenType.USING, TokenType.STRING, TokenType.ALIAS, TokenType.L_PAREN)
    return i >= len(kinds) - 1 and tuple(token.token_type for token in tokens[i - 3 : i + 1]) == kinds
