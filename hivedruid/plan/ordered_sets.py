"""Ordered-set aggregates, `f(…) WITHIN GROUP (ORDER BY …)`: percentiles, and the rank of a hypothetical row. Pure."""

from __future__ import annotations

from collections.abc import Callable

from hivedruid.catalog import types as t
from hivedruid.plan.rex import Agg, Call, Literal, Rex, SortKey, conjunction

Compare = Callable[[str, Rex, Rex], Rex]
"""A comparison, both sides cast to their comparison type."""

PERCENTILES = frozenset({"percentile_cont", "percentile_disc"})
RANKS = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})


def percentile(name: str, fraction: Rex, key: SortKey) -> Rex:
    """The value at this fraction of the ordered rows; for the descending order there is a separate function."""
    return Agg(t.DOUBLE, f"{name}_desc" if key.descending else name, (key.rex, fraction))


def hypothetical_rank(name: str, values: list[Rex], keys: list[SortKey], compare: Compare) -> Rex:
    """The result of the function for a hypothetical row with these values among those of the group."""
    before = _before(values, keys, compare)
    if name == "dense_rank":
        columns = keys[0].rex if len(keys) == 1 else _struct([k.rex for k in keys])
        distinct = Agg(t.BIGINT, "count", (columns,), True, before)
        if len(keys) > 1:
            return _plus_one(distinct)
        null_before = Call(t.BOOLEAN, "and", (Call(t.BOOLEAN, "is_null", (keys[0].rex,)), before))
        nulls = Call(t.BOOLEAN, ">", (Agg(t.BIGINT, "count", (), False, null_before), Literal(t.BIGINT, 0)))
        one_more = Call(t.BIGINT, "case", (nulls, Literal(t.BIGINT, 1), Literal(t.BIGINT, 0)))
        return _plus_one(Call(t.BIGINT, "+", (distinct, one_more)))
    rows = Agg(t.BIGINT, "count", ())
    smaller = Agg(t.BIGINT, "count", (), False, before)
    if name == "rank":
        return _plus_one(smaller)
    if name == "percent_rank":
        empty = Call(t.BOOLEAN, "=", (rows, Literal(t.BIGINT, 0)))
        share = Call(t.DOUBLE, "/", (smaller, rows))
        return Call(t.DOUBLE, "case", (empty, Literal(t.DOUBLE, float("nan")), share))
    equal = conjunction([compare("<=>", k.rex, v) for k, v in zip(keys, values, strict=True)])
    assert equal is not None
    not_after = Agg(t.BIGINT, "count", (), False, Call(t.BOOLEAN, "or", (before, equal)))
    return Call(t.DOUBLE, "/", (_plus_one(not_after), _plus_one(rows)))


def _plus_one(rex: Rex) -> Rex:
    return Call(t.BIGINT, "+", (rex, Literal(t.BIGINT, 1)))


def _struct(items: list[Rex]) -> Rex:
    fields = [x for i, item in enumerate(items) for x in (Literal(t.STRING, f"col{i + 1}"), item)]
    return Call(t.UNKNOWN, "named_struct", tuple(fields))


def _before(values: list[Rex], keys: list[SortKey], compare: Compare) -> Rex:
    """Whether a row comes before the values: by its first key that differs."""
    cases: list[Rex] = []
    same: list[Rex] = []
    for key, value in zip(keys, values, strict=True):
        first = conjunction([*same, _key_before(key, value, compare)])
        assert first is not None
        cases.append(first)
        same.append(compare("<=>", key.rex, value))
    return cases[0] if len(cases) == 1 else Call(t.BOOLEAN, "or", tuple(cases))


def _key_before(key: SortKey, value: Rex, compare: Compare) -> Rex:
    nulls_first = key.nulls_first != key.descending  # Hive reverses the order of nulls together with that of the values
    null, other = (key.rex, value) if nulls_first else (value, key.rex)
    one_null = Call(t.BOOLEAN, "and", (Call(t.BOOLEAN, "is_null", (null,)), Call(t.BOOLEAN, "is_not_null", (other,))))
    return Call(t.BOOLEAN, "or", (compare(">" if key.descending else "<", key.rex, value), one_null))
