"""Table functions of FROM, `f(ON t PARTITION BY …)`, rewritten as equivalent tokens. Hive's noop, noopwithmap and
their streaming forms return their input unchanged: they exist for tests.
"""

from __future__ import annotations

from sqlglot import Token, TokenType

from hivedruid.errors import UnsupportedError
from hivedruid.parser.tokens import token_at
from hivedruid.script import SourceStatement

_NOOP = frozenset({"NOOP", "NOOPWITHMAP", "NOOPSTREAMING", "NOOPWITHMAPSTREAMING"})
_INPUT_ENDS = {
    TokenType.PARTITION_BY,
    TokenType.DISTRIBUTE_BY,
    TokenType.ORDER_BY,
    TokenType.SORT_BY,
    TokenType.CLUSTER_BY,
}


def without_table_functions(source: SourceStatement, tokens: list[Token]) -> list[Token]:
    """`noop(ON t PARTITION BY a ORDER BY b)` is `(SELECT * FROM t)`, at any depth.

    Raises UnsupportedError for MATCHPATH.
    """
    if not any(_is_call(tokens, i) for i in range(len(tokens) - 2)):
        return tokens
    result: list[Token] = []
    position = 0
    while position < len(tokens):
        if not _is_call(tokens, position):
            result.append(tokens[position])
            position += 1
            continue
        name = tokens[position]
        if name.text.upper() not in _NOOP:
            raise UnsupportedError(
                f"the table function {name.text}(ON …) is not supported",
                span=source.span(name.start, name.end + 1),
                hint="use window functions such as lag() and lead()",
            )
        end = _closing(tokens, position + 1)
        inner = tokens[position + 3 : _input_end(tokens, position + 3, end)]
        words = (
            (TokenType.L_PAREN, "("),
            (TokenType.SELECT, "SELECT"),
            (TokenType.STAR, "*"),
            (TokenType.FROM, "FROM"),
        )
        result += [token_at(name, kind, text) for kind, text in words]
        result += without_table_functions(source, inner)
        result += tokens[end : end + 1]
        position = end + 1
    return result


def _is_call(tokens: list[Token], position: int) -> bool:
    """Whether `name(ON …` starts here, which cannot be a join."""
    kinds = [token.token_type for token in tokens[position + 1 : position + 3]]
    return kinds == [TokenType.L_PAREN, TokenType.ON] and tokens[position].token_type not in (
        TokenType.STRING,
        TokenType.NUMBER,
        TokenType.R_PAREN,
    )


def _closing(tokens: list[Token], opening: int) -> int:
    """The position of the closing parenthesis, or the end."""
    depth = 0
    for i in range(opening, len(tokens)):
        kind = tokens[i].token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if depth == 0:
            return i
    return len(tokens)


def _input_end(tokens: list[Token], start: int, end: int) -> int:
    """The end of the input, before PARTITION BY and ORDER BY."""
    depth = 0
    for i in range(start, end):
        kind = tokens[i].token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if depth == 0 and (kind in _INPUT_ENDS or tokens[i].text.upper() in ("PARTITION", "DISTRIBUTE", "SORT")):
            return i
    return end
