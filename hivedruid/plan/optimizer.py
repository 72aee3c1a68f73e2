"""The driver of the rules. It checks every rule: bounded passes, no cycles, no schema changes, every step traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from hivedruid.errors import PlanError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import nodes
from hivedruid.plan.nodes import DruidQuery, Node, map_subqueries
from hivedruid.plan.rex import conjuncts, refs
from hivedruid.plan.rules import RULES, Rule, RuleContext

MAX_PASSES = 20
MAX_STEPS = 2000
"""Of a plan without inputs; each node, and each term of a condition, adds `MAX_PASSES`."""


Around = Callable[[Node], Node]
"""A function from the replacement of a node to the whole plan around it."""


@dataclass
class Trace:
    """The rules that fired, in order; with `keeps_plans` also the plan after each of them.

    For a rule that fired on the plan of a subquery expression, only that plan is kept.
    """

    fired: list[str] = field(default_factory=list)
    keeps_plans: bool = False
    plans: list[Node] = field(default_factory=list)


def optimize(node: Node, context: RuleContext, rules: Sequence[Rule] = RULES, trace: Trace | None = None) -> Node:
    """The node rewritten until no rule applies, its columns the same.

    Raises PlanError, naming the rule, if a rule changes the schema or the rules do not terminate.
    """
    driver = _Driver(context, rules, trace or Trace(), MAX_STEPS + MAX_PASSES * sum(map(_size, node.walk())))
    required = {c.id for c in node.columns}
    node = prune(node, set(required))  # before the rules, too: a native query of a wide table is long
    seen = [node]
    for _ in range(MAX_PASSES):
        driver.settled.clear()
        driver.subqueries.clear()
        changed = prune(driver.bottom_up(node), set(required))
        if changed is node or changed == node:
            return changed
        if any(changed == earlier for earlier in seen):
            raise PlanError(f"the rules form a cycle: {', '.join(driver.trace.fired[-5:])}")
        seen.append(changed)
        node = changed
    raise PlanError(f"the rules did not converge in {MAX_PASSES} passes: {', '.join(driver.trace.fired[-5:])}")


def _size(node: Node) -> int:
    return 1 + len(conjuncts(node.condition)) if isinstance(node, nodes.Filter | nodes.Join) else 1


class _Driver:
    def __init__(self, context: RuleContext, rules: Sequence[Rule], trace: Trace, most: int) -> None:
        self.most = most
        self.context = context
        self.rules = rules
        self.trace = trace
        self.steps = 0
        self.settled: dict[int, Node] = {}
        """Nodes that no rule changes in this pass, by identity: each rule that fires above them makes the driver visit
        them again."""
        self.subqueries: dict[int, tuple[Node, Node]] = {}
        """The plans of subqueries in this pass, before and after, by the identity of both."""

    def bottom_up(self, node: Node, around: Around | None = None) -> Node:
        """Inputs first, then the rules on the node itself until none applies."""
        while not isinstance(node, DruidQuery) and id(node) not in self.settled:
            inputs = self._inputs(node, around)
            if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
                node = node.with_inputs(inputs)
            node = self._subqueries(node)
            changed = self._first_change(node, around)
            if changed is None:
                self.settled[id(node)] = node
                break
            node = changed
        return node

    def _inputs(self, node: Node, around: Around | None) -> tuple[Node, ...]:
        if not self.trace.keeps_plans:
            return tuple([self.bottom_up(i) for i in node.inputs])
        done: tuple[Node, ...] = ()
        for place, given in enumerate(node.inputs, start=1):

            def whole(changed: Node, done: tuple[Node, ...] = done, place: int = place) -> Node:
                above = node.with_inputs((*done, changed, *node.inputs[place:]))
                return around(above) if around is not None else above

            done = (*done, self.bottom_up(given, whole))
        return done

    def _first_change(self, node: Node, around: Around | None) -> Node | None:
        for rule in self.rules:
            changed = rule(node, self.context)
            if changed is not None:
                self._check(rule, node, changed)
                if self.trace.keeps_plans:
                    self.trace.plans.append(around(changed) if around is not None else changed)
                return changed
        return None

    def _check(self, rule: Rule, before: Node, after: Node) -> None:
        name = getattr(rule, "__name__", str(rule))
        is_same = before.columns == after.columns  # quick, as most of the columns are the same objects
        if not is_same and [(c.id, c.type) for c in before.columns] != [(c.id, c.type) for c in after.columns]:
            raise PlanError(f"rule {name} changed the columns of a {type(before).__name__}")
        self.trace.fired.append(name)
        self.steps += 1
        if self.steps > self.most:
            raise PlanError(f"rule {name} does not terminate")

    def _subqueries(self, node: Node) -> Node:
        """Also optimize the plans inside expressions."""
        return map_subqueries(node, self._subquery_plan)

    def _subquery_plan(self, given: Node) -> Node:
        """The plan of a subquery, optimized once in this pass: a plan that is read twice stays one."""
        if id(given) not in self.subqueries:
            required = {c.id for c in given.columns}
            plan = prune(self.bottom_up(prune(given, set(required))), required)
            self.subqueries[id(given)] = self.subqueries[id(plan)] = (given, plan)
        return self.subqueries[id(given)][1]


def prune(node: Node, required: set[str]) -> Node:
    """Narrow tables and native queries to the columns that are read above them. Adds the ids of columns that are read
    inside to `required`."""
    if isinstance(node, DruidQuery):
        return _narrow_query(node, required)
    if isinstance(node, nodes.TableScan):
        kept = tuple(c for c in node.columns if c.id in required) or node.columns[:1]
        return node if kept == node.columns else replace(node, columns=kept)
    read: set[str] = set()
    for rex in node.expressions():
        read |= refs(rex)
    if isinstance(node, nodes.SetOp):
        node = _narrow_union(node, required)
        inputs = tuple(prune(b, {c.id for c in b.columns}) for b in node.inputs)
    elif isinstance(node, nodes.Aggregate | nodes.Project):
        inputs = (prune(node.input, read),)
    else:
        required |= read  # in place, as ids are unique in a plan: a chain of joins does not copy it for each of them
        inputs = tuple(prune(i, required) for i in node.inputs)
    if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
        return node
    node = node.with_inputs(inputs)
    return _same_columns_as_inputs(node)


def _narrow_union(node: nodes.SetOp, required: set[str]) -> nodes.SetOp:
    """UNION ALL with only the columns that are read; other set operations compare all columns."""
    kept = [i for i, c in enumerate(node.columns) if c.id in required] or [0]
    if node.kind != "union" or not node.all or len(kept) == len(node.columns):
        return node
    branches = []
    for branch in node.branches:
        columns = tuple(branch.columns[i] for i in kept)
        branches.append(nodes.Project(columns, branch, tuple(c.ref for c in columns)))
    return nodes.SetOp(tuple(node.columns[i] for i in kept), node.kind, node.all, tuple(branches))


def _same_columns_as_inputs(node: Node) -> Node:
    """Filter, Sort, Join and LateralView pass on the columns of their inputs."""
    if isinstance(node, nodes.Filter | nodes.Sort):
        return replace(node, columns=node.input.columns)
    if isinstance(node, nodes.LateralView):
        return replace(node, columns=(*node.input.columns, *node.generated))
    if isinstance(node, nodes.Join):
        one_side = node.kind in ("semi", "anti")
        return replace(node, columns=node.left.columns if one_side else (*node.left.columns, *node.right.columns))
    return node


def _narrow_query(query: DruidQuery, required: set[str]) -> DruidQuery:
    pairs = [(c, e) for c, e in zip(query.columns, query.exprs, strict=True) if c.id in required] or [
        (query.columns[0], query.exprs[0])
    ]
    if len(pairs) == len(query.columns):
        return query
    return replace(query, columns=tuple(c for c, _ in pairs), exprs=tuple(e for _, e in pairs))
