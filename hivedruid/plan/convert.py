"""Converts scalar expressions from sqlglot's tree to typed `Rex`, with Hive's implicit casts made explicit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType
from hivedruid.errors import HiveDruidError, SemanticError, Span, UnsupportedError
from hivedruid.plan import exact, floats, fold, operands
from hivedruid.plan.common_types import arithmetic_type, common_type, comparison_type
from hivedruid.plan.convert_calls import (
    anonymous,
    array,
    filtered,
    function,
    named,
    trim,
    var_map,
    window,
    within_group,
)
from hivedruid.plan.convert_lists import in_list, in_rows
from hivedruid.plan.convert_times import extract, floor, interval, interval_arithmetic
from hivedruid.plan.convert_types import data_type
from hivedruid.plan.functions import function_type
from hivedruid.plan.rex import Call, Literal, Ref, Rex, SortKey, decisive
from hivedruid.plan.scope import Scope, struct_field
from hivedruid.plan.user_functions import qualified_call

if TYPE_CHECKING:
    from hivedruid.plan.build import Builder


COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}
_FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "<=>": "<=>"}
ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
}
BITWISE: dict[type[exp.Expr], str] = {exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^"}


class Converter:
    """Converts the expressions of one query block."""

    def __init__(self, builder: Builder, scope: Scope) -> None:
        self.builder = builder
        self.scope = scope
        self.zone = builder.zone
        self.windows: dict[str, exp.Expr] = {}
        self.aliases: dict[str, Rex] = {}
        """The SELECT aliases so far: a window may use them if no column has the name."""
        self.generator_call: exp.Expr | None = None
        """The complete item of SELECT or LATERAL VIEW, where a table-generating function is allowed."""
        self.window_call: exp.Expr | None = None
        """The call before OVER, which may be an aggregate of aggregates, as in sum(count(*)) OVER (…)."""

    def convert(self, e: exp.Expr) -> Rex:
        """The expression; errors without a position get that of the innermost part."""
        try:
            handler = _HANDLERS.get(type(e))
            if handler is not None:
                return handler(self, e)
            if type(e) in COMPARISONS:
                if isinstance(e.expression, exp.Any | exp.All):
                    return self._quantified(e)
                a, b = self.pair(e.this, e.expression)
                return self.compare(COMPARISONS[type(e)], a, b, e)
            if type(e) in ARITHMETIC:
                return self.arithmetic(ARITHMETIC[type(e)], self.convert(e.this), self.convert(e.expression))
            if type(e) in BITWISE:
                return self._bitwise(BITWISE[type(e)], self.convert(e.this), self.convert(e.expression))
        except HiveDruidError as error:
            raise error.at(error.span or self.span(e)) from None
        raise UnsupportedError(
            f"this form of expression is not supported: {e.sql('hive')[:80]}",
            span=self.span(e),
            hint="use supported functions; SHOW FUNCTIONS lists them",
        )

    def span(self, e: exp.Expr) -> Span | None:
        return self.builder.span(e)

    def call(self, op: str, *args: Rex) -> Rex:
        """A function call, typed and folded."""
        return self.fold(Call(function_type(op, args), op, args))

    def fold(self, call: Call) -> Rex:
        """The call, folded, unless that removes a part that decides what the block means: `NULL + count(*)` is an
        aggregate. `Builder.complete` folds these when everything is decided.
        """
        folded = fold.fold(call, self.zone)
        if folded is call or decisive(call) <= decisive(folded):
            return folded
        self.builder.folds_later = True
        return call

    def constant(self, type_: HiveType, value: Any, *args: Rex) -> Rex:
        """A call whose value is constant, whatever its arguments are."""
        literal = Literal(type_, value)
        return self.fold(Call(type_, "case", tuple([x for arg in (literal, *args) for x in (fold.TRUE, arg)])))

    def complete(self, rex: Rex) -> Rex:
        """An expression that is not part of a query, folded after it was checked."""
        return fold.refold(rex, self.zone) if self.builder.folds_later else rex

    def cast(self, rex: Rex, to: HiveType) -> Rex:
        """The value cast, if Hive supports the cast."""
        if not to.is_known:
            return rex
        operands.check_cast(rex.type, to)
        return fold.cast(rex, to, self.zone)

    def boolean(self, e: exp.Expr) -> Rex:
        """A condition; a string or number is cast, as in Hive."""
        rex = self.convert(e)
        if rex.type in (t.BOOLEAN, t.UNKNOWN):
            return rex
        operands.check_condition(rex.type)
        return self.constant(t.BOOLEAN, None, rex) if rex.type is t.VOID else self.cast(rex, t.BOOLEAN)

    # --- comparisons -------------------------------------------------------------------------------------------

    def compare(self, op: str, a: Rex, b: Rex, where: exp.Expr | None = None) -> Rex:
        """A comparison of two values in a common type; `where` is its position for a note."""
        return self.of_sides(op, *self.sides(op, a, b, where))

    def of_sides(self, op: str, a: Rex, b: Rex) -> Rex:
        """A comparison of two values that have its type."""
        if isinstance(a, Literal) and not isinstance(b, Literal):
            op, a, b = _FLIPPED[op], b, a
        return self.fold(Call(t.BOOLEAN, op, (a, b)))

    def sides(self, op: str, a: Rex, b: Rex, where: exp.Expr | None) -> tuple[Rex, Rex]:
        """Two values in the type of their comparison."""
        a, b = self.beside_number(a, b), self.beside_number(b, a)
        operands.check_comparison(op, a.type, b.type, comparison_type(a.type, b.type))
        return self.comparable(a, b, where), self.comparable(b, a, where)

    def beside_number(self, rex: Rex, other: Rex) -> Rex:
        """A boolean that is compared with a number is 0 or 1."""
        return self.cast(rex, t.INT) if rex.type == t.BOOLEAN and other.type.is_numeric else rex

    def comparable(self, rex: Rex, other: Rex, where: exp.Expr | None) -> Rex:
        """`rex` cast to the comparison type of the two."""
        if (
            other.type.name == "char"
            and isinstance(other, Ref)
            and isinstance(rex, Literal)
            and isinstance(rex.value, str)
        ):
            return Literal(rex.type, rex.value.rstrip(" "))  # a constant compared with a char column is a char
        target = comparison_type(rex.type, other.type)
        if target == t.FLOAT and rex.type != t.FLOAT:
            return floats.as_float(rex, self.zone)
        if target is t.UNKNOWN or rex.type == target or (rex.type.is_numeric and target.is_numeric):
            return rex
        if rex.type.is_string and target.is_string:
            return rex
        result = self.cast(rex, target)
        if isinstance(rex, Literal) and rex.value is not None and isinstance(result, Literal) and result.value is None:
            self.builder.note(
                f"{rex.value!r} is not a valid {target}: the comparison is NULL, as in Hive",
                self.span(where) if where is not None else None,
            )
        return result

    def pair(self, a: exp.Expr, b: exp.Expr) -> tuple[Rex, Rex]:
        """Both sides of a comparison."""
        one, other = self.convert(a), self.convert(b)
        return floats.beside(one, a, other), floats.beside(other, b, one)

    def _quantified(self, e: exp.Expr) -> Rex:
        """`x > ALL (SELECT …)`, and ANY or SOME."""
        query, is_any = e.expression.this, isinstance(e.expression, exp.Any)
        op = COMPARISONS[type(e)]
        if not isinstance(query, exp.Query) or op == "<=>":
            raise SemanticError(
                f"{'ANY' if is_any else 'ALL'} must be followed by a subquery and preceded by one of = <> < <= > >=",
                span=self.span(e),
            )
        plan, (value,) = self.builder.compared_subquery((self.convert(e.this),), query, self.scope)
        from hivedruid.plan.quantified import quantified

        return quantified(op, value, plan, is_any, self.builder.new_column)

    def _between(self, e: exp.Expr) -> Rex:
        value = self.convert(e.this)
        low = self.compare(">=", value, self.convert(e.args["low"]), e)
        high = self.compare("<=", value, self.convert(e.args["high"]), e)
        return self.fold(Call(t.BOOLEAN, "and", (low, high)))

    def _in(self, e: exp.Expr) -> Rex:
        query = e.args.get("query")
        if query is not None:
            values = tuple(self.convert(v) for v in (e.this.expressions if isinstance(e.this, exp.Tuple) else [e.this]))
            return self.builder.in_subquery(values, query, self.scope)
        if not e.expressions:
            raise SemanticError("IN requires a list in parentheses", span=self.span(e), hint="for example: x IN (1, 2)")
        if isinstance(e.this, exp.Tuple):
            return in_rows(self, e.this.expressions, e.expressions)
        value = self.convert(e.this)
        return in_list(self, value, [floats.beside(self.convert(item), item, value) for item in e.expressions], e)

    def _is(self, e: exp.Expr) -> Rex:
        value, what = self.convert(e.this), e.expression
        if isinstance(what, exp.Null):
            return self.call("is_null", value)
        return self.call("is_true" if what.this else "is_false", self.cast(value, t.BOOLEAN))

    def _not(self, e: exp.Expr) -> Rex:
        inner = e.this.unnest()
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            return self.call("is_not_null", self.convert(inner.this))
        if isinstance(inner, exp.Is):
            return self.call(
                "is_not_true" if inner.expression.this else "is_not_false",
                self.cast(self.convert(inner.this), t.BOOLEAN),
            )
        return self.call("not", self.boolean(inner))

    def _not_distinct(self, e: exp.Expr) -> Rex:
        return self.call("not", self.compare("<=>", *self.pair(e.this, e.expression), e))

    def _logic(self, e: exp.Expr) -> Rex:
        op = "and" if isinstance(e, exp.And) else "or"
        terms: list[Rex] = []
        stack = [e]
        while stack:  # iterative: generated filters nest thousands deep
            node = stack.pop()
            if isinstance(node, type(e)):
                stack += [node.expression, node.this]
            else:
                rex = self.boolean(node.unnest())
                terms += rex.args if isinstance(rex, Call) and rex.op == op else (rex,)
        return self.fold(Call(t.BOOLEAN, op, tuple(terms)))

    def _like(self, e: exp.Expr) -> Rex:
        value = operands.matched(self, "LIKE", self.convert(e.this))
        pattern = e.expression
        if isinstance(pattern, exp.Any | exp.All):
            op, items = ("or" if isinstance(pattern, exp.Any) else "and"), pattern.this.unnest()
            patterns = items.expressions if isinstance(items, exp.Tuple) else [items]
            terms = tuple(self.call("like", value, self.convert(p)) for p in patterns)
            rex = self.fold(Call(t.BOOLEAN, op, terms))
        else:
            rex = self.call("like", value, self.text(self.convert(pattern)))
        return self.call("not", rex) if e.args.get("negate") else rex

    def _escape(self, e: exp.Expr) -> Rex:
        like = e.this
        value, pattern = operands.matched(self, "LIKE", self.convert(like.this)), self.convert(like.expression)
        escape = self.convert(e.expression)
        operands.check_escape(pattern, escape)
        rex = self.call("like", value, pattern, escape)
        return self.call("not", rex) if like.args.get("negate") else rex

    def _rlike(self, e: exp.Expr) -> Rex:
        value = operands.matched(self, "RLIKE", self.convert(e.this))
        rex = self.call("rlike", value, self.text(self.convert(e.expression.unnest())))
        return self.call("not", rex) if e.args.get("negate") else rex

    def text(self, rex: Rex) -> Rex:
        return rex if rex.type.is_string or rex.type in (t.UNKNOWN, t.VOID) else self.cast(rex, t.STRING)

    # --- arithmetic and time -----------------------------------------------------------------------------------

    def arithmetic(self, op: str, a: Rex, b: Rex) -> Rex:
        interval = next((x for x in (a, b) if x.type.name.startswith("interval")), None)
        if interval is not None:
            return interval_arithmetic(self, op, a, b, interval)
        if op in ("+", "-") and a.type == t.DATE and b.type.is_integer:
            return self.call("date_add" if op == "+" else "date_sub", a, operands.days_of(self, b))
        if op == "-" and a.type.is_time and (b.type.is_time or b.type.is_string):
            return Call(t.INTERVAL_DAY_TIME, "time_difference", (a, self.cast(b, a.type) if b.type.is_string else b))
        a, b = operands.narrowed(a, b), operands.narrowed(b, a)
        type_ = arithmetic_type(op, a.type, b.type)
        operands.check_operands(op, (a.type, b.type), type_)
        a, b = (self.cast(x, t.DOUBLE) if x.type.is_string else x for x in (a, b))
        return self.fold(Call(type_, op, (a, b)))

    def _bitwise(self, op: str, a: Rex, b: Rex) -> Rex:
        operands.check_bits(op, (a.type, b.type))
        return Call(arithmetic_type("+", a.type, b.type), op, (a, b))

    # --- literals, casts, columns ------------------------------------------------------------------------------

    def _literal(self, e: exp.Expr) -> Rex:
        text = str(e.this)
        if e.args["is_string"]:
            return Literal(t.STRING, text)
        if text.isdigit():
            value = int(text)
            if value < 1 << 31:
                return Literal(t.INT, value)
            return Literal(t.BIGINT, value) if value < 1 << 63 else _decimal_literal(Decimal(value))
        if "e" in text.lower():
            return Literal(t.DOUBLE, float(text))
        return _decimal_literal(Decimal(text))

    def _cast(self, e: exp.Cast) -> Rex:
        value, to = self.convert(e.this), data_type(self, e.to, e)
        if to.is_timestamp and isinstance(value, Literal):
            self.builder.note_cut(value, self.span(e))
        if isinstance(e, exp.TryCast) or not isinstance(value, Literal) or value.type != t.STRING:
            return self.cast(value, to)
        result = self.cast(value, to)  # a typed literal: DATE '…', TIMESTAMP '…'
        if isinstance(result, Literal) and result.value is None:
            raise SemanticError(
                f"invalid {to.name.upper()} literal '{value.value}'",
                span=self.span(e),
                hint="the format is yyyy-MM-dd for dates and yyyy-MM-dd HH:mm:ss[.fff] for timestamps",
            )
        return result

    def _column(self, e: exp.Column) -> Rex:
        parts = [part.name for part in e.parts]
        if parts[-1].lower() == "grouping__id" and self.builder.grouping_id is not None and len(parts) == 1:
            return self.builder.grouping_id.ref
        return self.scope.resolve(parts, self.span(e))

    def _dot(self, e: exp.Expr) -> Rex:
        if isinstance(e.expression, exp.Anonymous):
            return qualified_call(self, e)
        return struct_field(self.convert(e.this), e.expression.name, self.span(e))

    def _bracket(self, e: exp.Expr) -> Rex:
        value = self.convert(e.this)
        if value.type.name not in ("array", "map", "unknown"):
            raise SemanticError(f"[ ] requires an array or a map, not {value.type}", span=self.span(e))
        element = value.type.children[-1] if value.type.children else t.UNKNOWN
        return Call(element, "element", (value, self.convert(e.expressions[0])))

    # --- CASE and functions ------------------------------------------------------------------------------------

    def _case(self, e: exp.Expr) -> Rex:
        branches = [branch.this for branch in e.args["ifs"]]
        whens = self._simple_case(e.this, branches) if e.this is not None else [self.boolean(b) for b in branches]
        values = [self.convert(branch.args["true"]) for branch in e.args["ifs"]]
        default = e.args.get("default")
        if default is not None:
            values.append(self.convert(default))
        return self.case(whens, values)

    def _simple_case(self, operand: exp.Expr, branches: list[exp.Expr]) -> list[Rex]:
        """The conditions of CASE x WHEN a WHEN b."""
        pairs = (self.pair(operand, branch) for branch in branches)
        return [self.compare("=", *self._alike(a, b)) for a, b in pairs]

    def _alike(self, operand: Rex, when: Rex) -> tuple[Rex, Rex]:
        """Hive compares a string with a number as numbers, but as strings in CASE x WHEN y, unless y is a constant."""
        if operand.type.is_string and when.type.is_numeric:
            if isinstance(when, Literal) and isinstance(when.value, Decimal):
                return operand, Literal(t.STRING, f"{when.value.normalize():f}")
            return operand, self.text(when)
        if operand.type.is_numeric and when.type.is_string and not isinstance(when, Literal):
            return self.text(operand), when
        return operand, when

    def case(self, whens: list[Rex], values: list[Rex]) -> Rex:
        """CASE with all values cast to one type; `values` has one more item than `whens` if there is an ELSE."""
        type_ = self.common(values, "the values of CASE and IF")
        values = [self.branch(v, type_) for v in values]
        args: list[Rex] = [x for pair in zip(whens, values, strict=False) for x in pair]
        return self.fold(Call(type_, "case", (*args, *values[len(whens) :])))

    def common(self, values: Sequence[Rex], what: str) -> HiveType:
        """The common type of several values, UNKNOWN if only Spark knows it; `what` describes them for a message."""
        types = [value.type for value in values]
        type_ = common_type(types)
        operands.check_branches(types, type_, what)
        return type_

    def branch(self, rex: Rex, to: HiveType) -> Rex:
        if (
            to is t.UNKNOWN
            or rex.type == to
            or (rex.type.is_integer and to.is_integer)
            or (rex.type.is_string and to.is_string)
        ):
            return Literal(to, rex.value) if isinstance(rex, Literal) and rex.type.is_integer and to.is_integer else rex
        return self.cast(rex, to)

    def _if(self, e: exp.Expr) -> Rex:
        values = [self.convert(e.args["true"])]
        if e.args.get("false") is not None:
            values.append(self.convert(e.args["false"]))
        return self.case([self.boolean(e.this)], values)

    def sort_key(self, e: exp.Expr) -> SortKey:
        """One ORDER BY item; the default null order is Hive's (hive.default.nulls.last)."""
        return SortKey(self.convert(e.this), bool(e.args.get("desc")), bool(e.args.get("nulls_first")))

    def _subquery(self, e: exp.Expr) -> Rex:
        return self.builder.scalar_subquery(e, self.scope)

    def _exists(self, e: exp.Expr) -> Rex:
        return self.builder.exists_subquery(e.this, self.scope)


def _decimal_literal(number: Decimal) -> Literal:
    """A number literal with exactly its digits; with more than 38 integer digits it is a double."""
    kept = exact.trimmed(number)
    type_ = exact.literal_type(kept) if kept is not None else None
    if kept is None or type_ is None:
        return Literal(t.DOUBLE, float(number))
    return Literal(type_, exact.fitted(kept, type_))


def _unary(op: str) -> Callable[[Converter, Any], Rex]:
    def convert(c: Converter, e: exp.Expr) -> Rex:
        value = c.convert(e.this)
        if op == "~":
            operands.check_bits(op, [value.type])
        elif not (value.type.is_numeric or value.type.is_string or operands.is_interval(value.type)):
            operands.check_operands("-", [value.type], value.type if value.type is t.VOID else t.UNKNOWN)
        value = c.cast(value, t.DOUBLE) if value.type.is_string else value
        return c.fold(Call(value.type, op, (value,)))

    return convert


_HANDLERS: dict[type[exp.Expr], Callable[[Converter, Any], Rex]] = {
    exp.Column: Converter._column,
    exp.Literal: Converter._literal,
    exp.Boolean: lambda _c, e: Literal(t.BOOLEAN, bool(e.this)),
    exp.Null: lambda _c, _e: Literal(t.VOID, None),
    exp.Paren: lambda c, e: c.convert(e.this),
    exp.Alias: lambda c, e: c.convert(e.this),
    exp.And: Converter._logic,
    exp.Or: Converter._logic,
    exp.Not: Converter._not,
    exp.Is: Converter._is,
    exp.Between: Converter._between,
    exp.In: Converter._in,
    exp.Like: Converter._like,
    exp.Escape: Converter._escape,
    exp.RegexpLike: Converter._rlike,
    exp.NullSafeNEQ: Converter._not_distinct,
    exp.Neg: _unary("negative"),
    exp.BitwiseNot: _unary("~"),
    exp.DPipe: lambda c, e: function(c, "concat", [c.convert(e.this), c.convert(e.expression)], e),
    exp.Concat: lambda c, e: function(c, "concat", [c.convert(x) for x in e.expressions], e),
    exp.Case: Converter._case,
    exp.If: Converter._if,
    exp.Cast: Converter._cast,
    exp.TryCast: Converter._cast,
    exp.Interval: interval,
    exp.Floor: floor,
    exp.Ceil: floor,
    exp.Extract: extract,
    exp.Anonymous: anonymous,
    exp.Trim: trim,
    exp.Substring: named("substring", "this", "start", "length"),
    exp.StrPosition: named("locate", "substr", "this", "position"),
    exp.CurrentDate: lambda c, e: function(c, "current_date", [], e),
    exp.CurrentTimestamp: lambda c, e: function(c, "current_timestamp", [], e),
    exp.Filter: filtered,
    exp.Window: window,
    exp.WithinGroup: within_group,
    exp.Subquery: Converter._subquery,
    exp.Select: Converter._subquery,
    exp.Exists: Converter._exists,
    exp.Dot: Converter._dot,
    exp.Bracket: Converter._bracket,
    exp.Array: array,
    exp.VarMap: var_map,
}
