"""Upper bounds of the number of distinct values of an expression, for any data."""

from __future__ import annotations

from hivedruid.plan.rex import Call, Literal, Rex, conjuncts

_PARTS = {
    "extract_second": 61, "extract_minute": 60, "extract_hour": 24, "extract_day": 31, "extract_dayofweek": 7,
    "extract_dayofyear": 366, "extract_week": 53, "extract_month": 12, "extract_quarter": 4,
}  # fmt: skip
"""Calendar fields and their numbers of values."""

_PREDICATES = frozenset(
    ("=", "<>", "<", "<=", ">", ">=", "<=>", "and", "or", "not", "is_null", "is_not_null", "in", "like", "rlike")
)


def bounded_values(rex: Rex, condition: Rex | None = None) -> int | None:
    """The maximum number of values that an expression can have in any data, null included, over rows that satisfy the
    condition.

    None if there is no bound: a column whose values the condition does not list.
    """
    for term in conjuncts(condition) if condition is not None else ():
        if isinstance(term, Call) and term.op in ("=", "in") and term.args[0] == rex:
            items = term.args[1:]
            if all(isinstance(i, Literal) for i in items):
                return len(items)
    if isinstance(rex, Literal):
        return 1
    if not isinstance(rex, Call):  # a Hive boolean column may contain any number in Druid
        return None
    if rex.op in _PARTS and len(rex.args) == 1:
        return _PARTS[rex.op] + 1
    if rex.op in _PREDICATES:
        return 3
    if rex.op == "case":
        return _case_values(rex, condition)
    if rex.op in ("cast", "upper", "lower", "trim", "negative") and rex.args:  # a function of one value
        return bounded_values(rex.args[0], condition)
    return None


def _case_values(rex: Call, condition: Rex | None) -> int | None:
    """The values of a CASE are those of its branches, and null without ELSE."""
    pairs = len(rex.args) // 2
    results = [rex.args[2 * i + 1] for i in range(pairs)] + list(rex.args[2 * pairs :])
    counts = [bounded_values(r, condition) for r in results]
    if None in counts:
        return None
    return sum(c for c in counts if c is not None) + (0 if len(rex.args) % 2 else 1)
