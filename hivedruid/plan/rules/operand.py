"""The operands of rules. Most queries match few rules, so the module of a rule is loaded with the first node that
matches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module

from hivedruid.druid.aggregators import UNIONS
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import Aggregate, DruidQuery, Node
from hivedruid.plan.rex import Agg, Call, Subquery, conjuncts, has
from hivedruid.plan.rules.context import Rule, RuleContext

NodeTypes = tuple[type[Node], ...]


@dataclass(frozen=True)
class OperandRule:
    """A rule of `plan/rules/<module>.py`, by its name, with its operand (Calcite's RelOptRuleOperand).

    It is tried on a node of one of the types `of`; if `over` is given, one of the inputs must be of one of those types;
    and `where` must hold. This only saves calls: the rule itself checks what it requires. `logical` rules do not depend
    on Druid.
    """

    module: str
    name: str
    of: NodeTypes
    over: NodeTypes = ()
    where: Callable[[Node], bool] | None = None
    logical: bool = False

    @property
    def __name__(self) -> str:
        return self.name

    @cached_property
    def rewrite(self) -> Rule:
        """The function; loads its module."""
        rule: Rule = getattr(import_module(f"hivedruid.plan.rules.{self.module}"), self.name)
        return rule

    def __call__(self, node: Node, context: RuleContext) -> Node | None:
        if not isinstance(node, self.of) or (self.over and not any(isinstance(i, self.over) for i in node.inputs)):
            return None
        if self.where is not None and not self.where(node):
            return None
        return self.rewrite(node, context)


def has_subquery(node: Node) -> bool:
    return any(has(rex, Subquery) for rex in node.expressions())


def has_decimals(node: Node) -> bool:
    """Whether an aggregate function has a decimal argument."""
    return any(arg.type.name == "decimal" for call in _calls(node) for arg in call.args)


def has_distinct(node: Node) -> bool:
    """Whether an aggregate function is DISTINCT."""
    return any(call.distinct for call in _calls(node))


def has_unions(node: Node) -> bool:
    """Whether an aggregate function is a union of sketches that Druid computes."""
    return any(call.op in UNIONS for call in _calls(node))


def has_filter(node: Node) -> bool:
    """Whether an aggregate function has FILTER (WHERE …)."""
    return any(call.condition is not None for call in _calls(node))


def has_and(node: Node) -> bool:
    """Whether its condition has several terms."""
    return any(isinstance(rex, Call) and rex.op == "and" for rex in node.expressions())


def has_or(node: Node) -> bool:
    """Whether a term of its condition is an OR."""
    return any(isinstance(t, Call) and t.op == "or" for rex in node.expressions() for t in conjuncts(rex))


def has_case(node: Node) -> bool:
    """Whether the argument of an aggregate function may be a CASE, in the aggregate or in the native query below."""
    below = node.inputs[0] if node.inputs else None
    args = [arg for call in _calls(node) for arg in call.args]
    return any(
        isinstance(rex, Call) and rex.op == "case"
        for rex in (*args, *(below.exprs if isinstance(below, DruidQuery) else ()))
    )


def _calls(node: Node) -> tuple[Agg, ...]:
    return node.calls if isinstance(node, Aggregate) else ()
