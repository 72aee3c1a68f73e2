"""MAP a, b USING and REDUCE a, b USING, which mean SELECT TRANSFORM (a, b) USING."""

from __future__ import annotations

from sqlglot import Token, TokenType

_ENDS = frozenset({TokenType.SELECT, TokenType.FROM, TokenType.WHERE, TokenType.SEMICOLON, TokenType.JOIN})


def with_transform(tokens: list[Token]) -> list[Token]:
    """The tokens with SELECT TRANSFORM (…) in place of MAP … and REDUCE …."""
    changed: list[Token] = []
    closing: set[int] = set()
    for i, token in enumerate(tokens):
        if i in closing:
            changed.append(_token(TokenType.R_PAREN, ")", token))
        end = _using(tokens, i + 1) if _may_begin(tokens, i) else None
        if end is None:
            changed.append(token)
            continue
        closing.add(end)
        kinds = (TokenType.SELECT, "SELECT"), (TokenType.VAR, "TRANSFORM"), (TokenType.L_PAREN, "(")
        changed += [_token(kind, text, token) for kind, text in kinds]
    return changed


def _may_begin(tokens: list[Token], i: int) -> bool:
    is_word = tokens[i].text.upper() in ("MAP", "REDUCE") and tokens[i].token_type != TokenType.IDENTIFIER
    following = tokens[i + 1] if i + 1 < len(tokens) else None
    if not is_word or following is None or following.token_type in (TokenType.L_PAREN, TokenType.LT):
        return False
    return following.text.upper() != "KEYS"  # MAP KEYS TERMINATED BY


def _using(tokens: list[Token], start: int) -> int | None:
    """The position after the list of expressions: of USING, or of ROW FORMAT before it; None if there is no USING."""
    depth, format_ = 0, None
    for i in range(start, len(tokens)):
        kind = tokens[i].token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if depth < 0 or kind in _ENDS:
            return None
        if depth == 0 and tokens[i].text.upper() == "ROW" and tokens[i + 1 : i + 2] and _is_format(tokens[i + 1]):
            format_ = format_ or i
        if depth == 0 and kind == TokenType.USING:
            is_command = i > start and tokens[i + 1 : i + 2] and tokens[i + 1].token_type == TokenType.STRING
            return (format_ or i) if is_command else None  # JOIN map USING (…) is no script
    return None


def _is_format(token: Token) -> bool:
    return token.text.upper() == "FORMAT"


def _token(kind: TokenType, text: str, place: Token) -> Token:
    return Token(kind, text, place.line, place.col, place.start, place.end)
