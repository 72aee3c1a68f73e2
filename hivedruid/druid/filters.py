"""Predicates as native filters: typed ones (`equals`, `range`, `inType`, `null`, `like`, `regex`), else an expression.

The compared value is a column or a virtual column. Druid 32 and later evaluate filters with SQL's three truth values,
so `not` means NOT.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple

from hivedruid.catalog.stored_types import CAST
from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.catalog.types import DOUBLE, STRING
from hivedruid.druid import intervals
from hivedruid.druid.arrays import array_column
from hivedruid.druid.decimals import solved_comparison
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.expressions import Compute, DruidColumn, DruidExpressions, check_order, druid_type
from hivedruid.druid.filter_lists import distinct, merged
from hivedruid.druid.syntax import MAX_DECIMAL_DIGITS, exact_number, integer_bound, zeros_twice
from hivedruid.plan.rex import Call, Literal, Ref, Rex, refs, walk

Filter = dict[str, Any]
TRUE: Filter = {"type": "true"}
FALSE: Filter = {"type": "false"}
MAX_RANGES = 16
"""Maximum time ranges of a condition under OR; with more it remains an expression."""


def to_filter(rex: Rex, expressions: DruidExpressions, compute: Compute | None = None) -> Filter:
    """The native filter of a condition; raises NotExact if there is none. Without `compute` (HAVING does not support
    virtual columns) expressions are not converted.
    """
    return _Filters(expressions, compute).filter(rex)


class Rendered(NamedTuple):
    """A filter, and the virtual columns that it reads: expression, type and column."""

    filter: Filter
    virtual: tuple[tuple[str, str, DruidColumn], ...]


class _Filters:
    def __init__(self, expressions: DruidExpressions, compute: Compute | None) -> None:
        self.expressions = expressions
        self.compute = compute
        self.virtual: list[tuple[str, str, DruidColumn]] = []
        """The virtual columns of the filters so far, in order, with repetition."""
        self.shares = False
        """Whether an expression of one of them reads a virtual column itself."""

    def filter(self, rex: Rex) -> Filter:
        """The filter; it stays with the expression, which is rendered again with each change of the query. Those of the
        parts of an OR do not."""
        if not isinstance(rex, Call):
            return self._part(rex)
        inputs = self.expressions
        columns = tuple([inputs.columns.get(i) for i in sorted(refs(rex))])
        key = (columns, inputs.session_zone, inputs.times, self.compute is None)
        known: Rendered | None = rex.rendered.get(key)
        if known is not None and all(self._computed(text, type_) == column for text, type_, column in known.virtual):
            return known.filter
        begin, shares, self.shares = len(self.virtual), self.shares, False
        native = self._converted(rex, self.filter if rex.op == "and" else self._part)
        if not self.shares:
            rex.rendered[key] = Rendered(native, tuple(self.virtual[begin:]))
        self.shares |= shares
        return native

    def _computed(self, text: str, type_: str) -> DruidColumn:
        """The virtual column of an expression."""
        assert self.compute is not None
        column = self.compute(text, type_)
        self.virtual.append((text, type_, column))
        return column

    def _part(self, rex: Rex) -> Filter:
        return self._converted(rex, self._part)

    def _converted(self, rex: Rex, inner: Callable[[Rex], Filter]) -> Filter:
        """The filter; `inner` converts the operands of AND, OR and NOT."""
        if isinstance(rex, Literal):
            if rex.value is None:
                raise NotExact("a NULL condition")
            return TRUE if rex.value else FALSE
        if isinstance(rex, Ref):
            return _equals(self.expressions.column(rex)._replace(type="LONG"), 1)
        if not isinstance(rex, Call):
            raise NotExact(f"{type(rex).__name__.lower()} expressions are computed outside Druid")
        if rex.op in ("and", "or"):
            fields = merged(rex.op, [inner(a) for a in rex.args])
            return {"type": rex.op, "fields": fields} if len(fields) > 1 else fields[0]
        if rex.op == "not":
            return {"type": "not", "field": inner(rex.args[0])}
        if rex.op in ("is_true", "is_false", "is_not_true", "is_not_false"):
            truth: Filter = {"type": rex.op.replace("_not", "").replace("_", ""), "field": inner(rex.args[0])}
            return {"type": "not", "field": truth} if "_not_" in rex.op else truth
        return self._leaf(rex)

    def _leaf(self, rex: Call) -> Filter:
        solved = solved_comparison(rex) if rex.op in _COMPARED else rex
        native = self._typed(solved) or self._times(solved)
        if native is not None:
            return native
        self.shares = self.shares or any(isinstance(part, Call) and part.op in SHARED for part in walk(rex))
        text = self.expressions.text(solved)
        return self._of_expression(solved) or {"type": "expression", "expression": text}

    def _typed(self, rex: Call) -> Filter | None:
        """A filter on a column, which reads its index or its values directly."""
        scanned = self.expressions.scanned(rex.args[0]) if rex.args else None
        if scanned is not None and rex.op in ("is_null", "is_not_null"):
            return self._compared(rex, scanned, lambda column: column)
        if not rex.args or not isinstance(rex.args[0], Ref):
            return None
        if rex.args[0].type.name == "array":
            return self._of_array(rex)
        column = self.expressions.column(rex.args[0])
        return None if column.reading == CAST else self._compared(rex, column, lambda column: column)

    def _of_array(self, rex: Call) -> Filter | None:
        """A filter on an array element; in Hive the condition is never NULL."""
        value = rex.args[1] if rex.op == "array_contains" else None
        if not isinstance(value, Literal) or not isinstance(value.value, str) or value.type != STRING:
            return None
        column = array_column(self.expressions, rex.args[0])
        native: Filter = {"type": "arrayContainsElement", "column": column}
        return {
            "type": "istrue",
            "field": {**native, "elementMatchValueType": "STRING", "elementMatchValue": value.value},
        }

    def _times(self, rex: Call) -> Filter | None:
        """A condition on `__time` that means a few ranges of it."""
        time_id = self.expressions.times.id
        if time_id is None or refs(rex) != {time_id}:
            return None
        span = intervals.of_predicate(rex, time_id, self.expressions.session_zone)
        if span is None or len(span) > MAX_RANGES:
            return None
        ranges = [_time_range(start, end) for start, end in span]
        return FALSE if not ranges else ranges[0] if len(ranges) == 1 else {"type": "or", "fields": ranges}

    def _of_expression(self, rex: Call) -> Filter | None:
        """A filter on a virtual column, for a comparison of an expression with constants."""
        if self.compute is None or rex.op not in _ON_VIRTUAL or not isinstance(rex.args[0], Call | Ref):
            return None
        value = rex.args[0]
        try:
            text, type_ = self.expressions.text(value), druid_type(value.type)
        except NotExact:
            return None  # the comparison may require less than the value
        return self._compared(rex, DruidColumn("", type_), lambda column: self._computed(text, column.type))

    def _compared(self, rex: Call, column: DruidColumn, made: Callable[[DruidColumn], DruidColumn]) -> Filter | None:
        """The typed filter; `made` is only called once it is certain that there is one."""
        value, arguments = rex.args[0], rex.args[1:]
        if rex.op in ("is_null", "is_not_null"):
            null: Filter = {"type": "null", "column": made(column).name}
            return null if rex.op == "is_null" else {"type": "not", "field": null}
        if rex.op == "like" and column.type == "STRING":
            from hivedruid.druid.string_functions import like_pattern

            pattern, escape = like_pattern(rex)
            like: Filter = {"type": "like", "dimension": made(column).name, "pattern": pattern}
            return {**like, "escape": escape} if escape else like
        if rex.op == "rlike" and column.type == "STRING":
            from hivedruid.druid.string_functions import regex_of

            regex = regex_of(arguments[0])
            return {"type": "regex", "dimension": made(column).name, "pattern": regex}
        if rex.op == "in":
            values = self._listed(value, arguments, column)
            return None if values is None else _one_of(made(column), values)
        if rex.op == "<=>" and isinstance(arguments[0], Literal):
            if arguments[0].value is None:
                return {"type": "null", "column": made(column).name}
            bound = _bound("=", value, arguments[0], column)
            return None if bound is None else {"type": "istrue", "field": _equals(made(column), bound[1])}
        if rex.op in ("=", "<>", "<", "<=", ">", ">=") and isinstance(arguments[0], Literal):
            bound = _bound(rex.op, value, arguments[0], column)
            return None if bound is None or _is_blurred(*bound) else _side(made(column), *bound)
        return None

    def _listed(self, value: Rex, items: tuple[Rex, ...], column: DruidColumn) -> list[Any] | None:
        values = []
        for item in items:
            if not isinstance(item, Literal) or item.value is None:
                return None
            if column.type == "DOUBLE" and value.type == DOUBLE and item.value == 0:
                values += zeros_twice([0.0])
                continue
            bound = _bound("=", value, item, column)
            if bound is None or bound[0] != "=":
                return None
            values.append(bound[1])
        return distinct(values)


SHARED = frozenset({"get_json_object"})
"""Functions that become virtual columns inside expressions (`DruidExpressions.shared`)."""
_COMPARED = frozenset({"=", "<>", "<", "<=", ">", ">="})
_ON_VIRTUAL = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "in", "like", "rlike", "is_null", "is_not_null"})


def _equals(column: DruidColumn, value: Any) -> Filter:
    return {"type": "equals", "column": column.name, "matchValueType": column.type, "matchValue": value}


def _one_of(column: DruidColumn, values: list[Any]) -> Filter:
    return {"type": "inType", "column": column.name, "matchValueType": column.type, "values": values}


def _side(column: DruidColumn, op: str, value: Any) -> Filter:
    if op == "=":
        return _equals(column, value)
    if op == "<>":
        return {"type": "not", "field": _equals(column, value)}
    range_: Filter = {"type": "range", "column": column.name, "matchValueType": column.type}
    if op in (">", ">="):
        range_["lower"] = value
        return {**range_, "lowerOpen": True} if op == ">" else range_
    range_["upper"] = value
    return {**range_, "upperOpen": True} if op == "<" else range_


def _is_blurred(op: str, value: Any) -> bool:
    """RangeFilter converts the bounds of LONGs to doubles; an expression compares them exactly."""
    return op not in ("=", "<>") and isinstance(value, int) and int(float(value)) != value


def _time_range(start: int, end: int) -> Filter:
    range_: Filter = {"type": "range", "column": TIME_COLUMN, "matchValueType": "LONG"}
    range_ |= {"lower": start} if start != intervals.MIN else {}
    range_ |= {"upper": end, "upperOpen": True} if end != intervals.MAX else {}
    return range_ if len(range_) > 3 else TRUE


def _bound(op: str, value: Rex, literal: Literal, column: DruidColumn) -> tuple[str, Any] | None:
    """The comparison with a constant of the column's own Druid type; None if an expression is required."""
    constant = literal.value
    if column.type == "STRING":
        if op not in ("=", "<>"):
            check_order(literal)
        return (op, constant) if isinstance(constant, str) and value.type.is_string else None
    if column.type == "LONG":
        number = exact_number(literal, value.type)
        bound = integer_bound(op, number) if number is not None else None
        return None if bound is None or isinstance(bound, bool) else bound
    if column.type == "DOUBLE" and isinstance(constant, int | float | Decimal) and isfinite(constant):
        if float(constant) == 0 and op not in (">", "<=") and value.type == DOUBLE:
            return None  # these must treat 0.0 and -0.0 alike, but Druid's filters distinguish them
        if value.type.name == "decimal" and literal.type != DOUBLE and _is_long_decimal(constant):
            return None
        return op, float(constant) + 0.0
    return None  # FLOAT: Druid would round the constant to single precision, Hive widens the column


def _is_long_decimal(constant: int | float | Decimal) -> bool:
    """Whether a constant has more digits than a double can represent."""
    return len(Decimal(constant).normalize().as_tuple().digits) > MAX_DECIMAL_DIGITS
