"""Row expressions: typed, resolved, frozen. The name is Calcite's.

Every operator and function is a `Call` under one canonical lower-case name, so that the translations to Druid
(`druid.expressions`, `druid.filters`) and to Spark (`plan.spark_sql`) are tables keyed by it:
comparisons `= <> < <= > >= <=>`, logic `and or not`, `is_null`, arithmetic `+ - * / % div negative`,
`in` (value, items…), `like`, `rlike`, `case` (when, then, …, [else]), `cast`, time `floor_<unit>` and
`extract_<unit>`, and Hive's function names for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard
from typing import Literal as Choice

from hivedruid.catalog.functions import SPARK_PREFIXES, VARYING_PREFIX
from hivedruid.catalog.types import BOOLEAN, INT, STRING, HiveType
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.plan.nodes import Node


@dataclass(frozen=True)
class Rex:
    """Base of row expressions; `type` is the Hive type of its value."""

    type: HiveType

    @cached_property
    def reads(self) -> frozenset[str]:
        """Ids of the columns that it reads, including correlated subqueries. Kept, since a condition passes many nodes
        on its way through a plan."""
        return frozenset[str]().union(*map(refs, self.args)) if _is_and(self) else _refs(self)

    @cached_property
    def kinds(self) -> frozenset[object]:
        """The classes of the expressions inside it, and its own."""
        if _is_and(self):
            return frozenset((Call,)).union(*(a.kinds for a in self.args))
        return frozenset(map(type, walk(self)))

    @cached_property
    def is_deterministic(self) -> bool:
        if _is_and(self):
            return all(a.is_deterministic for a in self.args)
        return not any(isinstance(node, Call) and _may_vary(node.op) for node in walk(self))


@dataclass(frozen=True)
class Ref(Rex):
    """A column of the input, by its plan-wide unique id."""

    id: str


@dataclass(frozen=True)
class Literal(Rex):
    """A constant: None, bool, int, float, Decimal, str, date, naive datetime (`timestamp`), aware UTC datetime
    (`timestamp with local time zone`), (months, microseconds) for intervals."""

    value: Any


@dataclass(frozen=True)
class Call(Rex):
    """A scalar operator or function over its arguments."""

    op: str
    args: tuple[Rex, ...]

    @cached_property
    def rendered(self) -> dict[Any, Any]:
        """The native filter for each set of input columns, where it is written often."""
        return {}

    @cached_property
    def terms(self) -> tuple[Rex, ...]:
        """The terms of an AND, flattened; a long one is often taken apart."""
        if not any(_is_and(arg) for arg in self.args):
            return self.args
        return tuple([term for arg in self.args for term in conjuncts(arg)])


@dataclass(frozen=True)
class Agg(Rex):
    """An aggregate function; `args` is empty for COUNT(*). `condition` is FILTER (WHERE …)."""

    op: str
    args: tuple[Rex, ...]
    distinct: bool = False
    condition: Rex | None = None


@dataclass(frozen=True)
class SortKey:
    """One ORDER BY item with an explicit null order."""

    rex: Rex
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Over(Rex):
    """A window function: `call` (an Agg or a ranking Call) over its window; `frame` is the clause's text."""

    call: Rex
    partition: tuple[Rex, ...]
    order: tuple[SortKey, ...]
    frame: str


@dataclass(frozen=True)
class Subquery(Rex):
    """`scalar`: the single value of `plan`; `exists`; `in`: whether `args` is among its rows.

    The plan may refer to columns of the outer query by their ids.
    """

    kind: Choice["scalar", "exists", "in"]
    plan: Node
    args: tuple[Rex, ...] = ()


def conjuncts(rex: Rex | None) -> list[Rex]:
    """The terms of an AND, flattened; empty without a condition."""
    if rex is None:
        return []
    return list(rex.terms) if _is_and(rex) else [rex]


def conjunction(terms: list[Rex]) -> Rex | None:
    """AND of the terms, None for no terms."""
    if not terms:
        return None
    return terms[0] if len(terms) == 1 else Call(BOOLEAN, "and", tuple(terms))


def disjunction(terms: Iterable[Rex]) -> Rex | None:
    """OR of the terms, None for no terms."""
    terms = tuple(terms)
    if not terms:
        return None
    return terms[0] if len(terms) == 1 else Call(BOOLEAN, "or", terms)


def with_lists(terms: Iterable[Rex]) -> list[Rex]:
    """The alternatives of an OR with an IN for the comparisons of one expression with texts or whole numbers, so that
    the expression is evaluated once. Comparisons of columns stay as they are."""
    lists: dict[Rex, list[Literal]] = {}
    found: list[Rex] = []
    for term in terms:
        match term:
            case Call(op="=", args=(Call() as value, Literal() as item)) if _has_list(value, item):
                if value not in lists:
                    found.append(value)
                lists.setdefault(value, []).append(item)
            case _:
                found.append(term)
    return [
        Call(BOOLEAN, "in" if len(lists[term]) > 1 else "=", (term, *lists[term])) if term in lists else term
        for term in found
    ]


def _has_list(value: Rex, item: Literal) -> bool:
    return item.value is not None and value.type == item.type and value.type in (STRING, INT) and value.is_deterministic


def both(a: Rex | None, b: Rex | None) -> Rex | None:
    """The AND of two optional conditions."""
    return conjunction([*conjuncts(a), *conjuncts(b)])


def children(rex: Rex) -> tuple[Rex, ...]:
    kind = type(rex)
    if kind is Ref or kind is Literal:
        return ()
    if isinstance(rex, Call | Subquery):
        return rex.args
    if isinstance(rex, Agg):
        return (*rex.args, rex.condition) if rex.condition else rex.args
    if isinstance(rex, Over):
        return (rex.call, *rex.partition, *(key.rex for key in rex.order))
    return ()


def walk(rex: Rex) -> Iterator[Rex]:
    """The expression and all inside it, each before its arguments."""
    stack = [rex]
    while stack:
        node = stack.pop()
        yield node
        if below := children(node):
            stack += below[::-1]


def transform(rex: Rex, change: Callable[[Rex], Rex | None]) -> Rex:
    """Rebuild top-down: if `change` returns a rex it replaces the whole subtree, otherwise its children are visited."""
    changed = change(rex)
    if changed is not None:
        return changed
    if isinstance(rex, Call):
        args = tuple([transform(a, change) for a in rex.args])
        return rex if args == rex.args else Call(rex.type, rex.op, args)
    if isinstance(rex, Agg):
        args = tuple([transform(a, change) for a in rex.args])
        condition = transform(rex.condition, change) if rex.condition else None
        return Agg(rex.type, rex.op, args, rex.distinct, condition)
    if isinstance(rex, Over):
        order = tuple(SortKey(transform(k.rex, change), k.descending, k.nulls_first) for k in rex.order)
        partition = tuple(transform(p, change) for p in rex.partition)
        return Over(rex.type, transform(rex.call, change), partition, order, rex.frame)
    if isinstance(rex, Subquery):
        args = tuple(transform(a, change) for a in rex.args)
        return Subquery(rex.type, rex.kind, rex.plan, args)
    return rex


def substitute(rex: Rex, mapping: dict[str, Rex]) -> Rex:
    """Replace column references by expressions."""

    def change(node: Rex) -> Rex | None:
        return mapping.get(node.id) if isinstance(node, Ref) else None

    return transform(rex, change)


def refs(rex: Rex) -> frozenset[str]:
    """Ids of the columns that an expression reads, including correlated subqueries."""
    return frozenset((rex.id,)) if type(rex) is Ref else rex.reads


def _refs(rex: Rex) -> frozenset[str]:
    ids = set()
    stack = [rex]
    while stack:
        node = stack.pop()
        if isinstance(node, Ref):
            ids.add(node.id)
        else:
            stack += children(node)
            if isinstance(node, Subquery):
                ids |= node.plan.outer_refs()
    return frozenset(ids)


def _is_and(rex: Rex) -> TypeGuard[Call]:
    """A long AND is often built anew from the same terms."""
    return isinstance(rex, Call) and rex.op == "and"


def has(rex: Rex, *kinds: type[Rex]) -> bool:
    """Whether an expression of one of the classes is inside it."""
    return not rex.kinds.isdisjoint(kinds)


def asks_for_grouping(rex: Rex) -> bool:
    """Whether it contains grouping(…), which depends on the row's grouping set."""
    return any(isinstance(node, Call) and node.op == "grouping" for node in walk(rex))


def decisive(rex: Rex) -> set[Rex]:
    """The parts that decide what a block means, and whether it is valid: columns, aggregates, windows, subqueries,
    grouping(…) and functions that may vary."""
    return {part for part in walk(rex) if not isinstance(part, Literal | Call) or _decides(part)}


def _decides(part: Rex) -> bool:
    return isinstance(part, Call) and (part.op == "grouping" or _may_vary(part.op))


NON_DETERMINISTIC = frozenset({"rand", "random", "uuid", "randn", "monotonically_increasing_id", "surrogate_key"})


def _may_vary(op: str) -> bool:
    """Whether calls stay where the statement has them. Those of functions of users may fail for other rows."""
    return op in NON_DETERMINISTIC or op.startswith(SPARK_PREFIXES)


def is_random(rex: Rex) -> bool:
    """Whether another evaluation may have another result."""
    calls = (node.op for node in walk(rex) if isinstance(node, Call))
    return not rex.is_deterministic and any(op in NON_DETERMINISTIC or op.startswith(VARYING_PREFIX) for op in calls)


def is_deterministic(rex: Rex) -> bool:
    return rex.is_deterministic
