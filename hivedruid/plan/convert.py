"""Scalar expressions: sqlglot's tree to typed `Rex`, with Hive's conversions between types written out."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType, decimal
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.functions import PREFIX
from hivedruid.plan import fold, literals
from hivedruid.plan.functions import (
    AGGREGATES,
    ALIASES,
    ANY_NUMBER,
    ARGUMENTS,
    EXTRACT_UNITS,
    GENERATORS,
    TIME_UNITS,
    arithmetic_type,
    common_type,
    comparison_type,
    function_type,
)
from hivedruid.plan.rex import Agg, Call, Literal, Over, Rex, SortKey

if TYPE_CHECKING:
    from hivedruid.plan.build import Builder
    from hivedruid.plan.scope import Scope

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
_TYPES: dict[Any, HiveType] = {
    exp.DataType.Type.BOOLEAN: t.BOOLEAN,
    exp.DataType.Type.TINYINT: t.TINYINT,
    exp.DataType.Type.SMALLINT: t.SMALLINT,
    exp.DataType.Type.INT: t.INT,
    exp.DataType.Type.BIGINT: t.BIGINT,
    exp.DataType.Type.FLOAT: t.FLOAT,
    exp.DataType.Type.DOUBLE: t.DOUBLE,
    exp.DataType.Type.TEXT: t.STRING,
    exp.DataType.Type.DATE: t.DATE,
    exp.DataType.Type.TIMESTAMP: t.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPLTZ: t.TIMESTAMP_LTZ,
    exp.DataType.Type.TIMESTAMPTZ: t.TIMESTAMP_LTZ,
}


class Converter:
    """Converts the expressions of one query block."""

    def __init__(self, builder: Builder, scope: Scope) -> None:
        self.builder = builder
        self.scope = scope
        self.zone = builder.zone
        self.windows: dict[str, exp.Expr] = {}
        self.generator_call: exp.Expr | None = None
        """What stands by itself in SELECT or LATERAL VIEW, where alone a function may make rows."""
        self.window_call: exp.Expr | None = None
        """What is written before OVER: an aggregate there may be one of aggregates, as in sum(count(*)) OVER (…)."""

    def convert(self, e: exp.Expr) -> Rex:
        handler = _HANDLERS.get(type(e))
        if handler is not None:
            return handler(self, e)
        if type(e) in COMPARISONS:
            return self.compare(COMPARISONS[type(e)], self.convert(e.this), self.convert(e.expression), self._span(e))
        if type(e) in ARITHMETIC:
            return self._arithmetic(ARITHMETIC[type(e)], self.convert(e.this), self.convert(e.expression))
        if type(e) in BITWISE:
            args = (self.convert(e.this), self.convert(e.expression))
            return Call(arithmetic_type("+", args[0].type, args[1].type), BITWISE[type(e)], args)
        raise UnsupportedError(
            f"this form of expression is not supported: {e.sql('hive')[:80]}",
            span=self._span(e),
            hint="write it with functions that SHOW FUNCTIONS lists",
        )

    def _span(self, e: exp.Expr) -> Span | None:
        return self.builder.span(e)

    def call(self, op: str, *args: Rex) -> Rex:
        """A function call, typed and folded."""
        return fold.fold(Call(function_type(op, args), op, args), self.zone)

    def cast(self, rex: Rex, to: HiveType) -> Rex:
        return fold.cast(rex, to, self.zone)

    def boolean(self, e: exp.Expr) -> Rex:
        """A condition; a string or number in its place is cast, as Hive does."""
        rex = self.convert(e)
        if rex.type in (t.BOOLEAN, t.UNKNOWN):
            return rex
        return Literal(t.BOOLEAN, None) if rex.type is t.VOID else self.cast(rex, t.BOOLEAN)

    # --- comparisons -------------------------------------------------------------------------------------------

    def compare(self, op: str, a: Rex, b: Rex, span: Span | None = None) -> Rex:
        a, b = self._comparable(a, b, span), self._comparable(b, a, span)
        if isinstance(a, Literal) and not isinstance(b, Literal):
            op, a, b = _FLIPPED[op], b, a
        return fold.fold(Call(t.BOOLEAN, op, (a, b)), self.zone)

    def _comparable(self, rex: Rex, other: Rex, span: Span | None) -> Rex:
        """`rex` brought to the type in which the two are compared."""
        target = comparison_type(rex.type, other.type)
        if target is t.UNKNOWN or rex.type == target or (rex.type.is_numeric and target.is_numeric):
            return rex
        if rex.type.is_string and target.is_string:
            return rex
        result = self.cast(rex, target)
        if isinstance(rex, Literal) and rex.value is not None and isinstance(result, Literal) and result.value is None:
            self.builder.note(f"{rex.value!r} is no {target}, so this comparison is NULL, as in Hive", span)
        return result

    def _between(self, e: exp.Expr) -> Rex:
        value = self.convert(e.this)
        low = self.compare(">=", value, self.convert(e.args["low"]), self._span(e))
        high = self.compare("<=", value, self.convert(e.args["high"]), self._span(e))
        return fold.fold(Call(t.BOOLEAN, "and", (low, high)), self.zone)

    def _in(self, e: exp.Expr) -> Rex:
        query = e.args.get("query")
        if query is not None:
            values = tuple(self.convert(v) for v in (e.this.expressions if isinstance(e.this, exp.Tuple) else [e.this]))
            return self.builder.in_subquery(values, query, self.scope)
        if isinstance(e.this, exp.Tuple):
            rows = [self._tuple_equals(e.this.expressions, item.expressions) for item in e.expressions]
            return fold.fold(Call(t.BOOLEAN, "or", tuple(rows)), self.zone)
        return self.in_list(self.convert(e.this), [self.convert(item) for item in e.expressions], self._span(e))

    def _tuple_equals(self, left: list[exp.Expr], right: list[exp.Expr]) -> Rex:
        terms = [self.compare("=", self.convert(a), self.convert(b)) for a, b in zip(left, right, strict=True)]
        return fold.fold(Call(t.BOOLEAN, "and", tuple(terms)), self.zone)

    def in_list(self, value: Rex, items: list[Rex], span: Span | None) -> Rex:
        """`value IN (…)`, all brought to one type (GenericUDFIn compares in the common type)."""
        kinds = {comparison_type(value.type, item.type) for item in items}
        if len(kinds) > 1 or not all(isinstance(item, Literal) for item in items):
            terms = tuple(self.compare("=", value, item, span) for item in items)
            return fold.fold(Call(t.BOOLEAN, "or", terms), self.zone)
        pairs = [(self._comparable(value, item, span), self._comparable(item, value, span)) for item in items]
        value = pairs[0][0]
        unique = tuple(dict.fromkeys(item for _, item in pairs))
        if len(unique) == 1:
            return self.compare("=", value, unique[0], span)
        return Call(t.BOOLEAN, "in", (value, *unique))

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
        return self.call("not", self.compare("<=>", self.convert(e.this), self.convert(e.expression), self._span(e)))

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
        return fold.fold(Call(t.BOOLEAN, op, tuple(terms)), self.zone)

    def _like(self, e: exp.Expr) -> Rex:
        value = self._string(self.convert(e.this))
        pattern = e.expression
        if isinstance(pattern, exp.Any | exp.All):
            op, items = ("or" if isinstance(pattern, exp.Any) else "and"), pattern.this.unnest()
            patterns = items.expressions if isinstance(items, exp.Tuple) else [items]
            terms = tuple(self.call("like", value, self.convert(p)) for p in patterns)
            rex = fold.fold(Call(t.BOOLEAN, op, terms), self.zone)
        else:
            rex = self.call("like", value, self._string(self.convert(pattern)))
        return self.call("not", rex) if e.args.get("negate") else rex

    def _escape(self, e: exp.Expr) -> Rex:
        like = e.this
        value, pattern = self._string(self.convert(like.this)), self.convert(like.expression)
        rex = self.call("like", value, pattern, self.convert(e.expression))
        return self.call("not", rex) if like.args.get("negate") else rex

    def _rlike(self, e: exp.Expr) -> Rex:
        rex = self.call("rlike", self._string(self.convert(e.this)), self._string(self.convert(e.expression.unnest())))
        return self.call("not", rex) if e.args.get("negate") else rex

    def _string(self, rex: Rex) -> Rex:
        return rex if rex.type.is_string or rex.type in (t.UNKNOWN, t.VOID) else self.cast(rex, t.STRING)

    # --- arithmetic and time -----------------------------------------------------------------------------------

    def _arithmetic(self, op: str, a: Rex, b: Rex) -> Rex:
        interval = next((x for x in (a, b) if x.type.name.startswith("interval")), None)
        if interval is not None:
            return self._interval_arithmetic(op, a, b, interval)
        if op in ("+", "-") and (a.type.is_time or b.type.is_time):
            return Call(t.UNKNOWN, op, (a, b))
        type_ = arithmetic_type(op, a.type, b.type)
        a, b = (self.cast(x, t.DOUBLE) if x.type.is_string else x for x in (a, b))
        return fold.fold(Call(type_, op, (a, b)), self.zone)

    def _interval_arithmetic(self, op: str, a: Rex, b: Rex, interval: Rex) -> Rex:
        moment = b if interval is a else a
        if moment.type.is_string:
            moment = self.cast(moment, t.TIMESTAMP)
        daytime = interval.type == t.INTERVAL_DAY_TIME
        type_ = t.TIMESTAMP if moment.type == t.DATE and daytime else moment.type
        args = (interval, moment) if interval is a else (moment, interval)
        return fold.fold(Call(type_ if moment.type.is_time else t.UNKNOWN, op, args), self.zone)

    def _interval(self, e: exp.Expr) -> Rex:
        unit = e.args["unit"]
        name = f"{unit.this.name} to {unit.expression.name}" if isinstance(unit, exp.IntervalSpan) else unit.name
        amount = self.convert(e.this)
        value = literals.parse_interval(str(amount.value), name) if isinstance(amount, Literal) else None
        if value is None:
            raise SemanticError(
                f"INTERVAL {e.this.sql('hive')} {name.upper()} is no interval",
                span=self._span(e),
                hint="write INTERVAL '1' DAY, INTERVAL '1-2' YEAR TO MONTH or INTERVAL '1 02:03:04' DAY TO SECOND",
            )
        return Literal(t.INTERVAL_YEAR_MONTH if value[0] or "year" in name.lower() else t.INTERVAL_DAY_TIME, value)

    def _floor(self, e: exp.Expr) -> Rex:
        op = "floor" if isinstance(e, exp.Floor) else "ceil"
        if e.this is None:
            self._check_count(op, op, 0, e)
        unit = e.args.get("to")
        if unit is None:
            extra = [self.convert(e.args["decimals"])] if e.args.get("decimals") else []
            return self._function(op, [self.convert(e.this), *extra], e)
        return self._time_unit(op, unit.name.lower(), self.convert(e.this), e)

    def _time_unit(self, op: str, unit: str, value: Rex, e: exp.Expr) -> Rex:
        """floor(x TO unit) and floor_unit(x); the units are Druid's granularities."""
        if unit not in TIME_UNITS:
            raise SemanticError(
                f"unknown time unit '{unit}'", span=self._span(e), hint="units: " + ", ".join(TIME_UNITS)
            )
        if value.type.is_string or value.type == t.DATE:
            value = self.cast(value, t.TIMESTAMP)
        return fold.fold(Call(value.type, f"{op}_{unit}", (value,)), self.zone)

    def _extract(self, e: exp.Expr) -> Rex:
        unit = {"dow": "dayofweek", "doy": "dayofyear"}.get(e.this.name.lower(), e.this.name.lower())
        if unit not in EXTRACT_UNITS:
            raise SemanticError(
                f"unknown time unit '{unit}'", span=self._span(e), hint="units: " + ", ".join(EXTRACT_UNITS)
            )
        return self._function(f"extract_{unit}", [self.convert(e.expression)], e)

    # --- literals, casts, columns ------------------------------------------------------------------------------

    def _literal(self, e: exp.Expr) -> Rex:
        text = str(e.this)
        if e.args["is_string"]:
            return Literal(t.STRING, text)
        if text.isdigit():
            value = int(text)
            if value < 1 << 31:
                return Literal(t.INT, value)
            return Literal(t.BIGINT, value) if value < 1 << 63 else Literal(decimal(len(text), 0), Decimal(value))
        if "e" in text.lower():
            return Literal(t.DOUBLE, float(text))
        number = Decimal(text)
        scale = max(0, -int(number.as_tuple().exponent))
        return Literal(decimal(max(len(number.as_tuple().digits), scale), scale), number)

    def _cast(self, e: exp.Cast) -> Rex:
        value, to = self.convert(e.this), self._data_type(e.to, e)
        if isinstance(e, exp.TryCast) or not isinstance(value, Literal) or value.type != t.STRING:
            return self.cast(value, to)
        result = self.cast(value, to)  # a typed literal: DATE '…', TIMESTAMP '…'
        if isinstance(result, Literal) and result.value is None:
            raise SemanticError(
                f"'{value.value}' is no {to}",
                span=self._span(e),
                hint="dates are yyyy-MM-dd, timestamps yyyy-MM-dd HH:mm:ss[.fff]",
            )
        return result

    def _data_type(self, to: exp.DataType, e: exp.Expr) -> HiveType:
        numbers = tuple(int(p.name) for p in to.expressions if isinstance(p, exp.DataTypeParam))
        if to.this == exp.DataType.Type.DECIMAL:
            return decimal(*numbers)
        if to.this in (exp.DataType.Type.BINARY, exp.DataType.Type.VARBINARY):
            if not numbers:
                return t.BINARY  # with a length it is a varchar or char, marked so by parser.functions
            return HiveType("varchar" if to.this == exp.DataType.Type.BINARY else "char", numbers)
        if to.this in _TYPES:
            return _TYPES[to.this]
        children = tuple(self._data_type(c, e) for c in to.expressions if isinstance(c, exp.DataType))
        if to.this == exp.DataType.Type.ARRAY and len(children) == 1:
            return t.array_of(children[0])
        if to.this == exp.DataType.Type.MAP and len(children) == 2:
            return HiveType("map", children=children)
        raise UnsupportedError(f"cannot cast to {to.sql('hive')}", span=self._span(e))

    def _column(self, e: exp.Column) -> Rex:
        parts = [part.name for part in e.parts]
        if parts[-1].lower() == "grouping__id" and self.builder.grouping_id is not None and len(parts) == 1:
            return self.builder.grouping_id.ref
        return self.scope.resolve(parts, self._span(e))

    def _dot(self, e: exp.Expr) -> Rex:
        return Call(t.UNKNOWN, f"field:{e.expression.name}", (self.convert(e.this),))

    def _bracket(self, e: exp.Expr) -> Rex:
        value = self.convert(e.this)
        element = value.type.children[-1] if value.type.name in ("array", "map") else t.UNKNOWN
        return Call(element, "element", (value, self.convert(e.expressions[0])))

    # --- CASE and functions ------------------------------------------------------------------------------------

    def _case(self, e: exp.Expr) -> Rex:
        operand = self.convert(e.this) if e.this is not None else None
        whens: list[Rex] = []
        values: list[Rex] = []
        for branch in e.args["ifs"]:
            condition = (
                self.boolean(branch.this) if operand is None else self.compare("=", operand, self.convert(branch.this))
            )
            whens.append(condition)
            values.append(self.convert(branch.args["true"]))
        default = e.args.get("default")
        if default is not None:
            values.append(self.convert(default))
        return self.case(whens, values)

    def case(self, whens: list[Rex], values: list[Rex]) -> Rex:
        """CASE with all values brought to one type; `values` has one more item than `whens` if there is an ELSE."""
        type_ = common_type([v.type for v in values])
        values = [self._branch(v, type_) for v in values]
        args: list[Rex] = [x for pair in zip(whens, values, strict=False) for x in pair]
        return Call(type_, "case", (*args, *values[len(whens) :]))

    def _branch(self, rex: Rex, to: HiveType) -> Rex:
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

    def _anonymous(self, e: exp.Expr) -> Rex:
        name = e.this.name if isinstance(e.this, exp.Identifier) else str(e.this)
        name = name.removeprefix(PREFIX).lower()
        written, name = name, ALIASES.get(name, name)
        self._check_count(written, name, len(e.expressions), e)
        if name in AGGREGATES:
            return self._aggregate(name, e)
        if name in GENERATORS and e is not self.generator_call:
            raise SemanticError(
                f"{written}() makes rows: it stands by itself in SELECT, and nowhere else",
                span=self._span(e),
                hint=f"write LATERAL VIEW {written}(…) t AS x, and x here",
            )
        if name in (
            "date",
            "timestamp",
            "int",
            "bigint",
            "double",
            "string",
            "boolean",
            "float",
            "smallint",
            "tinyint",
        ):
            return self.cast(self.convert(e.expressions[0]), HiveType(name))
        return self._function(name, [self.convert(arg) for arg in e.expressions], e)

    def _check_count(self, written: str, name: str, given: int, e: exp.Expr) -> None:
        least, most = ARGUMENTS.get(name, (0, ANY_NUMBER))
        if least <= given <= most:
            return
        wanted = f"{least}" if least == most else f"at least {least}" if most == ANY_NUMBER else f"{least} to {most}"
        plural = "" if wanted == "1" else "s"
        raise SemanticError(f"{written}() takes {wanted} argument{plural}, not {given}", span=self._span(e))

    def _aggregate(self, name: str, e: exp.Expr) -> Rex:
        arguments = list(e.expressions)
        distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
        if distinct:
            arguments = arguments[0].expressions + arguments[1:]
        if name == "count" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
            return Agg(t.BIGINT, "count", ())
        args = tuple(self.convert(arg) for arg in arguments)
        if e is not self.window_call and any(isinstance(x, Agg) for arg in args for x in _inside(arg)):
            raise SemanticError(
                "an aggregate function inside another one",
                span=self._span(e),
                hint="compute the inner one in a subquery",
            )
        if name == "count" and not distinct and all(isinstance(a, Literal) and a.value is not None for a in args):
            return Agg(t.BIGINT, "count", ())
        if not args:
            raise SemanticError(f"{name}() needs an argument", span=self._span(e))
        if name in ("sum", "avg") and args[0].type.is_string:
            args = (self.cast(args[0], t.DOUBLE), *args[1:])
        return Agg(function_type(name, args), name, args, distinct and name not in ("min", "max"))

    def _filter(self, e: exp.Expr) -> Rex:
        agg = self.convert(e.this)
        if not isinstance(agg, Agg):
            raise SemanticError("FILTER belongs to an aggregate function", span=self._span(e))
        return Agg(agg.type, agg.op, agg.args, agg.distinct, self.boolean(e.expression.this))

    def _function(self, name: str, args: list[Rex], e: exp.Expr) -> Rex:
        self._check_count(name, name, len(args), e)
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, args, e)
        if name.startswith("floor_") and len(args) == 1:
            return self._time_unit("floor", name[6:], args[0], e)
        if name.startswith("extract_") and len(args) == 1:
            return self.call(name, self.cast(args[0], t.TIMESTAMP) if args[0].type.is_string else args[0])
        if name in _STRINGS:
            args = [self._string(arg) if i in _STRINGS[name] else arg for i, arg in enumerate(args)]
        if name in _DOUBLES:
            args = [self.cast(arg, t.DOUBLE) if arg.type.is_string else arg for arg in args]
        return self.call(name, *args)

    def _window(self, e: exp.Expr) -> Rex:
        inner = e.this
        suffix = ""
        if isinstance(inner, exp.IgnoreNulls | exp.RespectNulls):
            suffix = " IGNORE NULLS" if isinstance(inner, exp.IgnoreNulls) else ""
            inner = inner.this
        self.window_call = inner
        call = self.convert(inner)
        spec = self.windows.get(e.args["alias"].name.lower()) if e.args.get("alias") else e
        if spec is None:
            raise SemanticError(f"unknown window '{e.args['alias'].name}'", span=self._span(e))
        partition = tuple(self.convert(p) for p in spec.args.get("partition_by") or ())
        order_by = spec.args.get("order")
        order = tuple(self.sort_key(o) for o in order_by.expressions) if order_by else ()
        frame = spec.args["spec"].sql("spark") if spec.args.get("spec") else ""
        return Over(call.type, call, partition, order, (suffix + "|" + frame))

    def sort_key(self, e: exp.Expr) -> SortKey:
        """One ORDER BY item; the null order left out is Hive's (hive.default.nulls.last)."""
        return SortKey(self.convert(e.this), bool(e.args.get("desc")), bool(e.args.get("nulls_first")))

    def _subquery(self, e: exp.Expr) -> Rex:
        return self.builder.scalar_subquery(e, self.scope)

    def _exists(self, e: exp.Expr) -> Rex:
        return self.builder.exists_subquery(e.this, self.scope)


def _inside(rex: Rex) -> list[Rex]:
    from hivedruid.plan.rex import walk

    return list(walk(rex))


def _coalesce(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    type_ = common_type([a.type for a in args])
    kept = [c._branch(a, type_) for a in args if not (isinstance(a, Literal) and a.value is None)]
    for i, arg in enumerate(kept):
        if isinstance(arg, Literal):
            kept = kept[: i + 1]
            break
    if not kept:
        return Literal(type_, None)
    return kept[0] if len(kept) == 1 else Call(type_, "coalesce", tuple(kept))


def _nullif(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return Call(args[0].type, "case", (c.compare("=", args[0], args[1]), Literal(args[0].type, None), args[0]))


def _extremum(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
        type_ = common_type([a.type for a in args])
        return Call(type_, name, tuple(c._branch(a, type_) for a in args))

    return convert


def _to_date(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return c.cast(args[0], t.DATE)


def _date_add(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
        day = c.cast(args[0], t.DATE) if args[0].type.is_string or args[0].type.is_timestamp else args[0]
        return c.call(name, day, *args[1:])

    return convert


def _datediff(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return c.call("datediff", *(c.cast(a, t.DATE) if a.type != t.DATE and a.type is not t.UNKNOWN else a for a in args))


def _locate(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return c.call("instr", c._string(args[1]), c._string(args[0])) if len(args) == 2 else c.call("locate", *args)


def _now(type_: HiveType) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, _args: list[Rex], _e: exp.Expr) -> Rex:
        return c.cast(Literal(t.TIMESTAMP_LTZ, fold.utc(c.builder.snapshot.now)), type_)

    return convert


def _unix_timestamp(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    if not args:
        return Literal(t.BIGINT, int(fold.utc(c.builder.snapshot.now).timestamp()))
    return c.call("unix_timestamp", *args)


def _concat(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return c.call("concat", *(c._string(arg) for arg in args))


def _current_database(c: Converter, _args: list[Rex], _e: exp.Expr) -> Rex:
    return Literal(t.STRING, c.builder.snapshot.database)


_SPECIAL: dict[str, Callable[[Converter, list[Rex], exp.Expr], Rex]] = {
    "coalesce": _coalesce,
    "nvl": _coalesce,
    "ifnull": _coalesce,
    "nullif": _nullif,
    "greatest": _extremum("greatest"),
    "least": _extremum("least"),
    "to_date": _to_date,
    "date_add": _date_add("date_add"),
    "date_sub": _date_add("date_sub"),
    "add_months": _date_add("add_months"),
    "last_day": _date_add("last_day"),
    "datediff": _datediff,
    "locate": _locate,
    "current_database": _current_database,
    "current_date": _now(t.DATE),
    "current_timestamp": _now(t.TIMESTAMP),
    "unix_timestamp": _unix_timestamp,
    "concat": _concat,
    "mod": lambda c, args, _e: c._arithmetic("%", args[0], args[1]),
}

_STRINGS: dict[str, frozenset[int]] = {
    name: frozenset(positions)
    for name, positions in {
        "upper": (0,), "lower": (0,), "trim": (0,), "ltrim": (0,), "rtrim": (0,), "length": (0,), "reverse": (0,),
        "substring": (0,), "replace": (0, 1, 2), "lpad": (0, 2), "rpad": (0, 2), "repeat": (0,), "instr": (0, 1),
        "regexp_extract": (0, 1), "regexp_replace": (0, 1, 2), "split": (0, 1), "initcap": (0,), "translate": (0, 1, 2),
    }.items()
}  # fmt: skip
"""Argument positions that Hive reads as text whatever they are."""

_DOUBLES = frozenset(
    {
        "sqrt",
        "exp",
        "ln",
        "log",
        "log10",
        "log2",
        "power",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "abs",
        "floor",
        "ceil",
        "round",
    }
)


def _unary(op: str) -> Callable[[Converter, Any], Rex]:
    def convert(c: Converter, e: exp.Expr) -> Rex:
        value = c.convert(e.this)
        return fold.fold(Call(t.DOUBLE if value.type.is_string else value.type, op, (value,)), c.zone)

    return convert


def _named(name: str, *keys: str) -> Callable[[Converter, Any], Rex]:
    """A function with a syntax of its own, whose arguments sqlglot keeps under `keys`."""

    def convert(c: Converter, e: exp.Expr) -> Rex:
        args = [c.convert(e.args[key]) for key in keys if e.args.get(key) is not None]
        return c._function(name, args, e)

    return convert


def _trim(c: Converter, e: exp.Expr) -> Rex:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(e.args.get("position") or "").upper(), "trim")
    args = [c.convert(e.this)] + ([c.convert(e.expression)] if e.args.get("expression") else [])
    return c._function(name, args, e)


def _array(c: Converter, e: exp.Expr) -> Rex:
    return c.call("array", *(c.convert(item) for item in e.expressions))


def _var_map(c: Converter, e: exp.Expr) -> Rex:
    pairs = zip(e.args["keys"].expressions, e.args["values"].expressions, strict=True)
    return c.call("map", *(c.convert(x) for pair in pairs for x in pair))


def _struct(c: Converter, e: exp.Expr) -> Rex:
    args: list[Rex] = []
    for item in e.expressions:
        args += [Literal(t.STRING, item.this.name), c.convert(item.expression)]
    return c.call("named_struct", *args)


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
    exp.DPipe: lambda c, e: _concat(c, [c.convert(e.this), c.convert(e.expression)], e),
    exp.Concat: lambda c, e: _concat(c, [c.convert(x) for x in e.expressions], e),
    exp.Case: Converter._case,
    exp.If: Converter._if,
    exp.Cast: Converter._cast,
    exp.TryCast: Converter._cast,
    exp.Interval: Converter._interval,
    exp.Floor: Converter._floor,
    exp.Ceil: Converter._floor,
    exp.Extract: Converter._extract,
    exp.Anonymous: Converter._anonymous,
    exp.Trim: _trim,
    exp.Substring: _named("substring", "this", "start", "length"),
    exp.StrPosition: _named("instr", "this", "substr"),
    exp.CurrentDate: lambda c, e: _now(t.DATE)(c, [], e),
    exp.CurrentTimestamp: lambda c, e: _now(t.TIMESTAMP)(c, [], e),
    exp.Filter: Converter._filter,
    exp.Window: Converter._window,
    exp.Subquery: Converter._subquery,
    exp.Select: Converter._subquery,
    exp.Exists: Converter._exists,
    exp.Dot: Converter._dot,
    exp.Bracket: Converter._bracket,
    exp.Array: _array,
    exp.VarMap: _var_map,
    exp.Struct: _struct,
}
