"""Hive's precedence of `^`, `&`, `|` and `||` on sqlglot's tree.

sqlglot reads these four as one level, below `+` and `-`, from left to right. Hive's grammar (IdentifiersParser.g) has
a level for each: `2 * 3 ^ 1` is `2 * (3 ^ 1)`, and `2 | 4 & 1` is `2 | (4 & 1)`. Both trees have the same operands and
operators from left to right, so a chain is flattened in that order and rebuilt with Hive's levels.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

_LEVELS: tuple[tuple[type[exp.Expr], ...], ...] = (
    (exp.BitwiseOr,),
    (exp.BitwiseAnd,),
    (exp.DPipe,),
    (exp.Add, exp.Sub),
    (exp.Mul, exp.Div, exp.Mod, exp.IntDiv),
    (exp.BitwiseXor,),
)
"""Operators between two operands, the loosest first. Each level associates to the left."""
_BINARY = {kind: level for level, kinds in enumerate(_LEVELS) for kind in kinds}
_PREFIX = (exp.Neg, exp.BitwiseNot)
_TIGHTEST = len(_LEVELS)
_MOVED = (exp.BitwiseXor, exp.BitwiseAnd, exp.BitwiseOr, exp.DPipe)
"""Operators that sqlglot places differently from Hive; a chain without them is already correct."""


def arrange(tree: exp.Expression) -> exp.Expression:
    """The tree, changed in place, with every chain of operators grouped as Hive groups it."""
    known: dict[int, exp.Expr] = {}
    tops = {id(top): top for top in (_top(node, known) for node in tree.find_all(*_MOVED))}
    for top in tops.values():
        parent, key, index = top.parent, top.arg_key, top.index
        arranged = _Chain(_from_left_to_right(top)).climb(0)
        if parent is not None and key is not None and arranged is not top:
            parent.set(key, arranged, index)
    return tree


def _operands(node: exp.Expr) -> tuple[exp.Expr, ...]:
    """The operands of a chain operator; empty for other nodes."""
    if type(node) in _BINARY:
        return node.this, node.expression
    return (node.this,) if isinstance(node, _PREFIX) else ()


def _top(node: exp.Expr, known: dict[int, exp.Expr]) -> exp.Expr:
    """The outermost operator of the chain that `node` is in; `known` has those of the operators seen before."""
    path = []
    while id(node) not in known and node.parent is not None and any(o is node for o in _operands(node.parent)):
        path.append(node)
        node = node.parent
    top = known.get(id(node), node)
    known.update((id(passed), top) for passed in path)
    return top


def _from_left_to_right(top: exp.Expr) -> Iterator[tuple[exp.Expr, bool]]:
    """The chain's elements in source order, and whether each is an operator. Iterative: chains may be long."""
    stack = [(top, False)]
    while stack:
        node, is_operator = stack.pop()
        operands = () if is_operator else _operands(node)
        if len(operands) == 2:
            stack += [(operands[1], False), (node, True), (operands[0], False)]
        elif operands:
            stack += [(operands[0], False), (node, True)]
        else:
            yield node, is_operator


class _Chain:
    """Precedence climbing over the elements of a chain."""

    def __init__(self, elements: Iterator[tuple[exp.Expr, bool]]) -> None:
        self._elements = elements
        self._next: tuple[exp.Expr, bool] | None = None
        self._step()

    def _step(self) -> tuple[exp.Expr, bool]:
        """Return the current element and advance."""
        element, self._next = self._next, next(self._elements, None)
        return element  # type: ignore[return-value]  # None only before the first

    def climb(self, least: int) -> exp.Expr:
        """The expression up to the first operator with lower precedence than `least`."""
        left, is_prefix = self._step()
        if is_prefix:
            left.set("this", self.climb(_TIGHTEST))
        while self._next is not None and (level := _BINARY[type(self._next[0])]) >= least:
            operator, _ = self._step()
            operator.set("this", left)
            operator.set("expression", self.climb(level + 1))
            left = operator
        return left
