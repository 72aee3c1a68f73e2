"""Functions whose arguments need more than their row in `functions.py`: conversions, defaults, constants."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType
from hivedruid.errors import HiveDruidError, SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.plan import fold, masks, operands, sketch_calls
from hivedruid.plan.common_types import common_type, comparison_type
from hivedruid.plan.rex import Call, Literal, Rex

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.plan.convert import Converter


def _coalesce(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    type_ = c.common(args, "the arguments of coalesce() and nvl()")
    return c.fold(Call(type_, "coalesce", tuple(c.branch(a, type_) for a in args)))


def _nullif(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return Call(args[0].type, "case", (c.compare("=", args[0], args[1]), Literal(args[0].type, None), args[0]))


def _extremum(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    """The arguments are cast to their comparison type (GenericUDFBaseNwayCompare)."""

    def convert(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
        type_ = reduce(_compared, [a.type for a in args])
        return c.fold(Call(type_, name, tuple(c.branch(a, type_) for a in args)))

    return convert


def _compared(a: HiveType, b: HiveType) -> HiveType:
    """The type in which greatest() and least() compare two values: strings if there is no other common type."""
    if a.is_string and b.is_string:
        return common_type([a, b])
    type_ = comparison_type(a, b)
    if type_ is t.UNKNOWN and t.BOOLEAN in (a, b) and not (a.is_time or b.is_time):
        return t.DOUBLE
    return t.STRING if type_ is t.UNKNOWN and t.UNKNOWN not in (a, b) else type_


def _to_date(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return c.cast(args[0], t.DATE)


def _date_add(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
        day = c.cast(args[0], t.DATE) if args[0].type.is_string or args[0].type.is_timestamp else args[0]
        return c.call(name, day, *[operands.days_of(c, arg) for arg in args[1:]])

    return convert


def _texts_as(to: HiveType, name: str, count: int = 1) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    """A function whose first arguments are times: strings are cast, as in Hive."""

    def convert(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
        times = [c.cast(a, to) if a.type.is_string else a for a in args[:count]]
        return c.call(name, *times, *args[count:])

    return convert


def _add_months(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
    """With a pattern the time of day matters, too."""
    return (_date_add("add_months") if len(args) < 3 else _texts_as(t.TIMESTAMP, "add_months"))(c, args, e)


def _trunc(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
    number = len(args) == 1 or args[1].type.is_numeric
    if not number and args[0].type.is_numeric:
        raise SemanticError(f"trunc() of {args[0].type} requires the number of digits to keep", span=c.span(e))
    if args[0].type.name == "decimal" and len(args) > 1 and not isinstance(args[1], Literal):
        raise UnsupportedError("trunc() of a decimal requires a constant number of digits", span=c.span(e))
    return c.call("trunc", c.cast(args[0], t.DOUBLE) if number and args[0].type.is_string else args[0], *args[1:])


def _datediff(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return c.call("datediff", *(c.cast(a, t.DATE) if a.type != t.DATE and a.type is not t.UNKNOWN else a for a in args))


def _locate(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    """With two arguments the search starts at the first character; counts characters, while instr() counts UTF-16
    units.
    """
    sought, text, *start = args
    return c.call("locate", c.text(sought), c.text(text), *(start or [Literal(t.INT, 1)]))


def _now(type_: HiveType) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, _args: list[Rex], _e: exp.Expr) -> Rex:
        return c.cast(Literal(t.TIMESTAMP_LTZ, fold.utc(c.builder.snapshot.now)), type_)

    return convert


def _pmod(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return c.call("pmod", operands.narrowed(args[0], args[1]), operands.narrowed(args[1], args[0]))


def _unix_timestamp(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    if not args:
        return Literal(t.BIGINT, int(fold.utc(c.builder.snapshot.now).timestamp()))
    return c.call("unix_timestamp", *args)


def _concat(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    return c.call("concat", *(c.text(arg) for arg in args))


def _current_database(c: Converter, _args: list[Rex], _e: exp.Expr) -> Rex:
    return Literal(t.STRING, c.builder.snapshot.database)


def _array_contains(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
    array, value = args
    if t.VOID in (_element_of(array), value.type):
        return c.constant(t.BOOLEAN, False, *args)
    _check_alike("array_contains", _element_of(array), value.type, c.span(e))
    return c.call("array_contains", array, value)


def _element_of(array: Rex) -> HiveType:
    return array.type.children[0] if array.type.name == "array" else t.UNKNOWN


def _check_alike(name: str, a: HiveType, b: HiveType, span: Span | None) -> None:
    alike = a == b or (a.is_numeric and b.is_numeric) or (a.is_string and b.is_string)
    if not alike and t.UNKNOWN not in (a, b) and t.VOID not in (a, b):
        raise SemanticError(
            f"{name}() cannot compare {a} with {b}", span=span, hint="CAST one of them to the type of the other"
        )
    if operands.has_map(a):
        raise UnsupportedError(
            f"{name}() of {a} is not supported", span=span, hint="compare the keys or values of the maps"
        )


def _of_two_arrays(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
        _check_alike(name, _element_of(args[0]), _element_of(args[1]), c.span(e))
        return c.call(name, *args)

    return convert


def _array_remove(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
    _check_alike("array_remove", _element_of(args[0]), args[1].type, c.span(e))
    return c.call("array_remove", *args)


def _sort_array_by(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
    """The names of fields are lower case, and the order is always the last argument."""
    names = [a.value.lower() for a in args[1:] if isinstance(a, Literal) and isinstance(a.value, str)]
    if len(names) < len(args) - 1:
        raise UnsupportedError("the field names in sort_array_by() must be constants", span=c.span(e))
    element = _element_of(args[0])
    if element.name != "struct":
        raise SemanticError(f"sort_array_by() takes an array of structs, not {args[0].type}", span=c.span(e))
    order = names.pop() if len(names) > 1 and names[-1] in ("asc", "desc") else "asc"
    types = dict(zip(element.fields, element.children, strict=True))
    for name in names:
        if name not in types:
            hint = did_you_mean(name, types)
            raise SemanticError(f"sort_array_by(): unknown field '{name}'", span=c.span(e), hint=hint)
        _check_alike("sort_array_by", types[name], types[name], c.span(e))
    return c.call("sort_array_by", args[0], *(Literal(t.STRING, name) for name in (*names, order)))


def _field(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    """A value of another type than the first is never equal to it (GenericUDFField)."""
    alike = [a if a.type.name == args[0].type.name else c.constant(args[0].type, None, a) for a in args]
    type_ = common_type([a.type for a in alike])
    return c.call("field", *(c.branch(a, type_) for a in alike))


def _printf(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    """Hive passes a decimal to Java's Formatter as a double."""
    return c.call(
        "printf",
        *(c.text(a) if a.type.is_time else c.cast(a, t.DOUBLE) if a.type.name == "decimal" else a for a in args),
    )


def _pairs(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
        names = [a.value for a in args[::2] if isinstance(a, Literal)] if name == "named_struct" else []
        if len({str(n).lower() for n in names}) < len(names):
            raise SemanticError(f"duplicate field name in {name}()", span=c.span(e))
        if len(args) % 2:
            raise SemanticError(f"{name}() takes pairs of a name or key and a value", span=c.span(e))
        return c.call(name, *args)

    return convert


def _struct(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    """The fields are always named col1, col2 …"""
    pairs = [(Literal(t.STRING, f"col{number}"), arg) for number, arg in enumerate(args, 1)]
    return c.call("named_struct", *(x for pair in pairs for x in pair))


def _neighbour(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    """lag() and lead(): the default for a missing row has the type of the value."""

    def convert(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
        if len(args) < 3:
            return c.call(name, *args)
        value, by, default = args
        type_ = default.type if value.type is t.VOID else value.type
        return c.call(name, c.cast(value, type_), by, c.cast(default, type_))

    return convert


_CHARSETS = frozenset({"US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16BE", "UTF-16LE", "UTF-16"})


def _get_json_object(c: Converter, args: list[Rex], _e: exp.Expr) -> Rex:
    path = args[1]
    if isinstance(path, Literal) and isinstance(path.value, str):
        from hivedruid.plan import json_path

        path = Literal(t.STRING, json_path.spark_path(path.value))
    return c.call("get_json_object", args[0], path)


def _mask(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
        try:
            return masks.mask(name, args)
        except HiveDruidError as error:
            raise error.at(c.span(e)) from None

    return convert


def _charset(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
        given = args[1]
        if isinstance(given, Literal) and given.value is not None and str(given.value).upper() not in _CHARSETS:
            known = ", ".join(sorted(_CHARSETS))
            raise SemanticError(f"{name}(): unknown character set '{given.value}'", span=c.span(e), hint=known)
        return c.call(name, *args)

    return convert


def _typeof(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
    if args[0].type is t.UNKNOWN:
        raise UnsupportedError("typeof() requires a value whose type is known before Spark runs", span=c.span(e))
    return c.constant(t.STRING, str(args[0].type), args[0])


HIVE_VERSION = "4.0.1 r3af4517eb8cfd9407ad34ed78a0b48b57dfaa264"
"""The result of version(): the Hive version whose results are the reference."""


SPECIAL: dict[str, Callable[[Converter, list[Rex], exp.Expr], Rex]] = {
    "coalesce": _coalesce,
    "nvl": _coalesce,
    "nullif": _nullif,
    "greatest": _extremum("greatest"),
    "least": _extremum("least"),
    "to_date": _to_date,
    "date_add": _date_add("date_add"),
    "date_sub": _date_add("date_sub"),
    "add_months": _add_months,
    "date_format": _texts_as(t.TIMESTAMP, "date_format"),
    "from_utc_timestamp": _texts_as(t.TIMESTAMP, "from_utc_timestamp"),
    "to_utc_timestamp": _texts_as(t.TIMESTAMP, "to_utc_timestamp"),
    "months_between": _texts_as(t.TIMESTAMP, "months_between", 2),
    "next_day": _texts_as(t.DATE, "next_day"),
    "trunc": _trunc,
    "last_day": _date_add("last_day"),
    "datediff": _datediff,
    "locate": _locate,
    "array_contains": _array_contains,
    "array_union": _of_two_arrays("array_union"),
    "array_except": _of_two_arrays("array_except"),
    "array_intersect": _of_two_arrays("array_intersect"),
    "array_remove": _array_remove,
    "sort_array_by": _sort_array_by,
    "field": _field,
    "printf": _printf,
    "named_struct": _pairs("named_struct"),
    "struct": _struct,
    "get_json_object": _get_json_object,
    **{name: _mask(name) for name in masks.MASKS},
    "lag": _neighbour("lag"),
    "lead": _neighbour("lead"),
    "encode": _charset("encode"),
    "decode": _charset("decode"),
    "typeof": _typeof,
    "version": lambda _c, _args, _e: Literal(t.STRING, HIVE_VERSION),
    "current_database": _current_database,
    "current_date": _now(t.DATE),
    "current_timestamp": _now(t.TIMESTAMP),
    "unix_timestamp": _unix_timestamp,
    "concat": _concat,
    "pmod": _pmod,
    **sketch_calls.SPECIAL,
    "mod": lambda c, args, _e: c.arithmetic("%", args[0], args[1]),
}
