"""Long lists of constants after IN, such as programs write: sqlglot parses the first item, and the others, which differ
from it only in their text, are added to its tree. Its parser calls some twenty functions for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import Token, TokenType, exp

_LITERALS = frozenset({TokenType.STRING, TokenType.NUMBER})
_LONG = 100
"""Items of a list that are parsed by sqlglot."""

Lists = Mapping[int, Sequence[Sequence[Token]]]
"""The literals of each item but the first, by the position of the first literal of the list."""


def with_short_lists(tokens: list[Token]) -> tuple[list[Token], Lists]:
    """The tokens with only the first item of each long list of literals, or of rows of literals; and the others."""
    kinds = [*(token.token_type for token in tokens), None]
    result: list[Token] = []
    lists: dict[int, Sequence[Sequence[Token]]] = {}
    done = 0
    for place in [place for place, kind in enumerate(kinds) if kind is TokenType.IN]:
        items, end = _items(kinds, place + 2) if kinds[place + 1] is TokenType.L_PAREN else ([], place)
        if len(items) > _LONG:
            first = items[0]
            lists[tokens[first.start].start] = [tokens[item.start : item.stop : 2] for item in items[1:]]
            result += tokens[done : items[1].start - 1 - (len(first) > 1)]
            done = end
    return ([*result, *tokens[done:]], lists) if lists else (tokens, lists)


def _items(kinds: list[TokenType | None], place: int) -> tuple[list[range], int]:
    """The positions of the literals of each item of the list from `place` on, and the end of the list. No items if one
    is something else."""
    is_row = kinds[place] is TokenType.L_PAREN
    width = 1
    while is_row and kinds[place + width] in _LITERALS and kinds[place + width + 1] is TokenType.COMMA:
        width += 2
    commas = [TokenType.COMMA] * (width // 2)
    items: list[range] = []
    while True:
        begin = place + is_row
        end = begin + width
        if not _LITERALS.issuperset(kinds[begin:end:2]) or kinds[begin + 1 : end : 2] != commas:
            return [], place
        if is_row and (width == 1 or kinds[place] is not TokenType.L_PAREN or kinds[end] is not TokenType.R_PAREN):
            return [], place
        items.append(range(begin, end, 2))
        place = end + is_row
        if kinds[place] is not TokenType.COMMA:
            return (items if kinds[place] is TokenType.R_PAREN else []), place
        place += 1


def set_lists(tree: exp.Expr, lists: Lists) -> bool:
    """Add the other items, in place. False if the tree has not all lists: the IN of `position('a' IN (…))` is none."""
    missing = dict(lists)
    for node in tree.find_all(exp.In) if lists else ():
        first = next(iter(node.expressions), None)
        literal = next(iter(first.expressions), None) if isinstance(first, exp.Tuple) else first
        place = literal.meta.get("start", -1) if isinstance(literal, exp.Literal) else -1
        if place in lists:
            rows = [[_literal(token) for token in item] for item in lists[place]]
            others = [row[0] for row in rows] if first is literal else [exp.Tuple(expressions=row) for row in rows]
            node.set("expressions", [first, *others])
            missing.pop(place, None)
    return not missing


def _literal(token: Token) -> exp.Literal:
    literal = exp.Literal(this=token.text, is_string=token.token_type == TokenType.STRING)
    return literal.update_positions(token)
