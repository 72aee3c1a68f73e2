"""Rules about AND: one range of values in place of several comparisons, and conditions that are never true."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.plan.fold import FALSE
from hivedruid.plan.implication import Values, intersection, normal, values_of, within
from hivedruid.plan.nodes import Filter, Node
from hivedruid.plan.nullability import rejects_null
from hivedruid.plan.redundancy import redundant
from hivedruid.plan.rex import Call, Literal, Ref, Rex, Subquery, conjunction, conjuncts, has, is_deterministic
from hivedruid.plan.rules.context import RuleContext

MAX_SPANS = 1_000
"""The maximum number of ranges of a term that is compared with others: of a long list only a part is worth it."""

_OPS = frozenset({"=", "<>", "<", "<=", ">", ">=", "in", "or", "not"})


def filter_ranges_merge(node: Node, context: RuleContext) -> Node | None:
    """Filter[x > 3 AND x > 5](y) => Filter[x > 5](y); Filter[x < 3 AND x > 5](y) => Filter[FALSE](y)

    Removes terms that follow from the others, and constants of a list that the others exclude.
    """
    if not isinstance(node, Filter):
        return None
    terms = conjuncts(node.condition)
    made: list[Rex] = [FALSE] if _is_contradiction(terms) else merged(terms, context.zone)
    condition = conjunction(made)
    return None if made == terms or condition is None else replace(node, condition=condition)


def _is_contradiction(terms: list[Rex]) -> bool:
    """Whether a column must be null and must not, or a condition must be true and must not."""
    calls = [t for t in terms if isinstance(t, Call) and is_deterministic(t)]
    nulls = [t.args[0].id for t in calls if t.op == "is_null" and isinstance(t.args[0], Ref)]
    negated = {t.args[0] for t in calls if t.op == "not"}
    return any(t in negated or any(rejects_null(t, column) for column in nulls) for t in calls)


def merged(terms: list[Rex], zone: str) -> list[Rex]:
    """The terms without those that others imply; FALSE if no value satisfies all of them."""
    kept = dict(enumerate(terms))
    for ranges in _by_subject(terms, zone):
        try:
            allowed = intersection(*ranges.values())
            if not allowed:
                return [FALSE]
            _narrow_lists(kept, ranges, allowed, zone)
            places = list(ranges)
            for position in redundant(list(ranges.values())):
                del kept[places[position]]
        except TypeError:  # constants of types that are not comparable
            continue
    return list(kept.values())


def _by_subject(terms: list[Rex], zone: str) -> list[dict[int, Values]]:
    """The values that terms allow by their places, for each expression that several terms compare with constants."""
    found: dict[Rex, dict[int, Values]] = {}
    for place, term in enumerate(terms):
        if not isinstance(term, Call) or term.op not in _OPS or not is_deterministic(term) or has(term, Subquery):
            continue
        form = normal(term) if isinstance(term.args[0], Literal) else term
        allowed = values_of(form, frozenset(), zone)
        if allowed is not None and len(allowed[1]) <= MAX_SPANS:
            found.setdefault(allowed[0], {})[place] = allowed[1]
    return [ranges for ranges in found.values() if len(ranges) > 1]


def _narrow_lists(kept: dict[int, Rex], ranges: dict[int, Values], allowed: Values, zone: str) -> None:
    """Remove the constants of IN that are not allowed."""
    for place in ranges:
        term = kept[place]
        if not isinstance(term, Call) or term.op != "in":
            continue
        subject, *items = term.args
        points = [values_of(Call(term.type, "=", (subject, item)), frozenset(), zone) for item in items]
        possible = [item for item, point in zip(items, points, strict=True) if point and within(point[1], allowed)]
        if len(possible) < len(items):
            op = "=" if len(possible) == 1 else "in"
            kept[place], ranges[place] = Call(term.type, op, (subject, *possible)), allowed
