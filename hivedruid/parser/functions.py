"""Keep function calls as written.

sqlglot turns the functions it knows into cross-dialect nodes (`date_format` becomes TimeToStr with a strftime pattern,
`day` wraps its argument), which loses their Hive semantics. Unknown functions become `exp.Anonymous` with unchanged
arguments, so known function names get a prefix in the token stream that makes them unknown. Names with special
argument syntax are kept.
"""

from __future__ import annotations

from functools import cache

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

PREFIX = "$"
"""The prefix of a kept name; no Hive identifier starts with it."""

_OWN_SYNTAX = frozenset(
    {"CAST", "TRY_CAST", "EXTRACT", "FLOOR", "CEIL", "CEILING", "TRIM", "SUBSTRING", "POSITION", "IF"}
    | {"MAP", "ARRAY", "INTERVAL", "EXISTS", "CURRENT_DATE", "CURRENT_TIMESTAMP", "VALUES"}
    | {
        "FILTER",
        "ANY",
        "ALL",
        "SOME",
        "LIKE",
        "ILIKE",
        "RLIKE",
        "REGEXP",
        "AND",
        "OR",
        "XOR",
        "NOT",
        "IN",
        "OVERLAPS",
        "CASE",
        "INSERT",
    }
)


def called_name(call: exp.Expr) -> str:
    """The name of a called function as it is written, in lower case."""
    return str(call.this.name if isinstance(call.this, exp.Expr) else call.this).removeprefix(PREFIX).lower()


@cache
def _known_functions() -> frozenset[str]:
    from sqlglot.dialects.dialect import Dialect

    parser = Dialect.get_or_raise("hive").parser_class
    return (frozenset(parser.FUNCTIONS) | frozenset(parser.FUNCTION_PARSERS)) - _OWN_SYNTAX


def keep_function_names(tokens: list[Token]) -> list[Token]:
    """The same tokens, with the names in calls of known functions prefixed so that sqlglot keeps the calls as
    they are."""
    known = _known_functions()
    tokens = _without_table_word(tokens)
    kept = _with_text_lengths(tokens)
    for position in range(len(tokens) - 1):
        token = tokens[position]
        if (
            tokens[position + 1].token_type == TokenType.L_PAREN
            and token.token_type != TokenType.STRING
            and kept[position] is token
            and (token.text.upper() in known or _is_plain_position(tokens, position))
            and not _is_new_name(tokens, position)
            and not _is_script(tokens, position)
        ):
            kept[position] = Token(
                TokenType.VAR, PREFIX + token.text, token.line, token.col, token.start, token.end, token.comments
            )
    return kept


def _is_script(tokens: list[Token], position: int) -> bool:
    """Whether it is SELECT TRANSFORM (…) USING."""
    is_first = position > 0 and tokens[position - 1].token_type == TokenType.SELECT
    return is_first and tokens[position].token_type == TokenType.VAR and tokens[position].text.upper() == "TRANSFORM"


_BEFORE_PLAIN_NAME = {TokenType.ALIAS, TokenType.WITH, TokenType.R_PAREN}
_BEFORE_QUOTED_NAME = _BEFORE_PLAIN_NAME | {
    TokenType.INTO, TokenType.TABLE, TokenType.DOT, TokenType.IDENTIFIER, TokenType.VAR,
}  # fmt: skip


def _is_new_name(tokens: list[Token], position: int) -> bool:
    """Whether a name is that of a table or alias, whose columns follow in parentheses."""
    is_quoted = tokens[position].token_type == TokenType.IDENTIFIER
    before = tokens[position - 1].token_type if position > 0 else None
    if before == TokenType.COMMA:
        return _is_later_cte(tokens, position)
    return before in (_BEFORE_QUOTED_NAME if is_quoted else _BEFORE_PLAIN_NAME)


def _is_later_cte(tokens: list[Token], position: int) -> bool:
    """Whether it is the name of another CTE: `, name (columns) AS (query)`; the columns have no parentheses."""
    end = position + 2
    while end < len(tokens) and tokens[end].token_type not in (TokenType.L_PAREN, TokenType.R_PAREN):
        end += 1
    after = [token.token_type for token in tokens[end : end + 4]]
    return after[:3] == [TokenType.R_PAREN, TokenType.ALIAS, TokenType.L_PAREN] and after[3:] in _QUERIES


_QUERIES = ([TokenType.SELECT], [TokenType.WITH], [TokenType.FROM], [TokenType.VALUES], [TokenType.L_PAREN])


def _is_plain_position(tokens: list[Token], position: int) -> bool:
    """Whether it is a call of position(a, b), not position(a IN b)."""
    if tokens[position].text.upper() != "POSITION":
        return False
    depth = 0
    for token in tokens[position + 1 :]:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 0 or (depth == 1 and token.token_type == TokenType.IN):
            return depth == 0
    return False


_LENGTH_CARRIERS = {TokenType.VARCHAR: TokenType.BINARY, TokenType.CHAR: TokenType.VARBINARY}


def _with_text_lengths(tokens: list[Token]) -> list[Token]:
    """CAST(… AS varchar(n)) keeps its n: sqlglot converts it to a plain string, so the type is encoded as binary(n),
    char as varbinary(n)."""
    kept = list(tokens)
    for position in range(1, len(tokens) - 1):
        token = tokens[position]
        carrier = _LENGTH_CARRIERS.get(token.token_type)
        if (
            carrier is not None
            and tokens[position - 1].token_type == TokenType.ALIAS
            and tokens[position + 1].token_type == TokenType.L_PAREN
        ):
            kept[position] = Token(carrier, token.text, token.line, token.col, token.start, token.end, token.comments)
    return kept


def _without_table_word(tokens: list[Token]) -> list[Token]:
    """`FROM TABLE (VALUES …) AS t (a, b)` is `FROM (VALUES …) AS t (a, b)`."""
    return [
        token
        for position, token in enumerate(tokens)
        if not (
            token.token_type == TokenType.TABLE
            and [t.token_type for t in tokens[position + 1 : position + 3]] == [TokenType.L_PAREN, TokenType.VALUES]
        )
    ]
