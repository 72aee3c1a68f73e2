"""Names that are words of sqlglot's grammar: Hive's grammar has no such word, or has it at another place."""

from __future__ import annotations

from sqlglot import Token, TokenType, exp

from hivedruid.parser.functions import BEFORE_CALL, PREFIX
from hivedruid.parser.tokens import token_at

# Words that Hive's queries do not contain: `SELECT a isnull FROM t lock` has two aliases.
_FOREIGN = frozenset(
    {
        TokenType.ASOF, TokenType.COLLATE, TokenType.CURRENT_DATETIME, TokenType.CURRENT_ROLE, TokenType.CURRENT_TIME,
        TokenType.CURRENT_USER, TokenType.GLOB, TokenType.ISNULL, TokenType.LIST, TokenType.LOCK, TokenType.NOTNULL,
        TokenType.NULLABLE, TokenType.OBJECT, TokenType.OPERATOR, TokenType.OVERLAPS, TokenType.RETURNING,
        TokenType.STRAIGHT_JOIN, TokenType.UNCACHE, TokenType.XOR,
    }
)  # fmt: skip
_FOREIGN_TEXTS = frozenset({"CONNECT_BY_ROOT", "PARTITIONED_BY"})
# Words that begin a clause or an operator only after an operand and before a value: `LIMIT 5`, `a ILIKE 'x'`.
_BEFORE_VALUE = frozenset({TokenType.LIMIT, TokenType.OFFSET, TokenType.ILIKE})
_VALUES = frozenset(
    {
        TokenType.ALL, TokenType.DASH, TokenType.IDENTIFIER, TokenType.L_PAREN, TokenType.NUMBER, TokenType.PARAMETER,
        TokenType.PLACEHOLDER, TokenType.STRING, TokenType.VAR,
    }
)  # fmt: skip
_BEFORE_OPERAND = BEFORE_CALL | {
    TokenType.ALIAS, TokenType.CLUSTER_BY, TokenType.DISTRIBUTE_BY, TokenType.DOT, TokenType.FROM, TokenType.JOIN,
    TokenType.OVER, TokenType.QUALIFY, TokenType.SORT_BY, TokenType.TABLE, TokenType.WINDOW, TokenType.WITH,
}  # fmt: skip
_JOINS = frozenset({TokenType.JOIN, TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.INNER, TokenType.CROSS})
_CONTEXTUAL = _BEFORE_VALUE | {
    TokenType.ANTI, TokenType.NATURAL, TokenType.RECURSIVE, TokenType.SEMI, TokenType.SERDE_PROPERTIES,
    TokenType.STRUCT,
}  # fmt: skip
_WATCHED = _FOREIGN | _CONTEXTUAL


def with_names(tokens: list[Token]) -> list[Token]:
    """The tokens of a query with those words as quoted names that are names in Hive."""
    if not any(token.token_type in _WATCHED or token.text.upper() in _FOREIGN_TEXTS for token in tokens):
        return tokens
    return [
        token_at(token, _name_kind(tokens, i), token.text) if _is_name(tokens, i) else token
        for i, token in enumerate(tokens)
    ]


def _name_kind(tokens: list[Token], i: int) -> TokenType:
    """A quoted name never begins a clause; that of a function is plain: see `functions`."""
    return TokenType.VAR if _kind(tokens, i + 1) == TokenType.L_PAREN else TokenType.IDENTIFIER


def _kind(tokens: list[Token], i: int) -> TokenType | None:
    return tokens[i].token_type if 0 <= i < len(tokens) else None


_CONSTRUCTORS = frozenset({"ARRAY", "LIST"})


def with_marked_elements(tokens: list[Token]) -> list[Token]:
    """The tokens with PREFIX before a name such as list in `t.list[0]`, which sqlglot would read as `list(0)`."""
    return [
        token_at(token, token.token_type, PREFIX + token.text)
        if token.token_type in (TokenType.IDENTIFIER, TokenType.VAR)
        and token.text.upper() in _CONSTRUCTORS
        and _kind(tokens, i + 1) == TokenType.L_BRACKET
        else token
        for i, token in enumerate(tokens)
    ]


def without_marks(tree: exp.Expression) -> None:
    """Remove the marks in place."""
    for name in tree.find_all(exp.Identifier):
        if name.name.removeprefix(PREFIX).upper() in _CONSTRUCTORS:
            name.set("this", name.name.removeprefix(PREFIX))


def _is_name(tokens: list[Token], i: int) -> bool:
    token = tokens[i]
    kind = token.token_type
    before, after = _kind(tokens, i - 1), _kind(tokens, i + 1)
    if kind in _FOREIGN or (token.text.upper() in _FOREIGN_TEXTS and kind != TokenType.STRING):
        return True
    if kind in _BEFORE_VALUE:
        return after not in _VALUES or (before in _BEFORE_OPERAND and after != TokenType.NUMBER)
    if kind in (TokenType.SEMI, TokenType.ANTI):
        return before != TokenType.LEFT
    if kind == TokenType.NATURAL:
        return after not in _JOINS  # the planner explains NATURAL JOIN
    if kind == TokenType.RECURSIVE:
        return after == TokenType.ALIAS
    if kind == TokenType.STRUCT:  # struct(a), STRUCT<a: INT>
        is_type = after == TokenType.LT and _kind(tokens, i + 3) == TokenType.COLON
        return after != TokenType.L_PAREN and not is_type
    return kind == TokenType.SERDE_PROPERTIES and not (before == TokenType.WITH and after == TokenType.L_PAREN)
