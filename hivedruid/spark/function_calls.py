"""Calls of a user's Python function in Spark's workers, with a check of its results: Spark would return NULL in place
of a value of another type. Depends on nothing, since it is sent to the workers by value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from numbers import Integral, Real
from typing import Any

MARK = "the Python function "
"""The beginning of the messages of errors."""

Layout = tuple[Any, ...]
"""A type: its name, and its parameters, names of fields or layouts of children."""

_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}


def layout(type_: Any) -> Layout:
    """The layout of a HiveType."""
    return type_.name, type_.params, type_.fields, tuple(layout(each) for each in type_.children)


class FunctionError(Exception):
    """A call that failed. The message has one line."""


class Checked:
    """A function whose results have exactly the type that it declares."""

    def __init__(self, name: str, function: Callable[..., Any], returns: Layout) -> None:
        self.name, self.function, self.returns = name, function, returns

    def __call__(self, *args: Any) -> Any:
        try:
            return value_of(self.returns, self.function(*args))
        except Exception as error:
            text = f"{type(error).__name__}: {error}".replace("\n", " ")
            raise FunctionError(f"{MARK}{self.name}() failed: {text}") from error


def value_of(returns: Layout, value: Any) -> Any:
    """The value as Spark expects it. Raises TypeError for another type, and OverflowError if it does not fit."""
    if value is None:
        return None
    name, params, names, children = returns
    if name in _BITS and isinstance(value, Integral) and not isinstance(value, bool):
        return _integer(name, int(value))
    if name in ("float", "double") and isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    if name == "decimal" and isinstance(value, Decimal | int) and not isinstance(value, bool):
        return _decimal(Decimal(value), *params)
    if name == "binary" and isinstance(value, bytes | bytearray):
        return bytes(value)
    if name == "timestamp" and isinstance(value, datetime):
        if value.tzinfo is not None:
            raise TypeError("it returned a datetime with a time zone; a timestamp has none")
        return value
    if name == "array" and isinstance(value, list | tuple):
        return [value_of(children[0], each) for each in value]
    if name == "map" and isinstance(value, Mapping):
        return {value_of(children[0], key): value_of(children[1], each) for key, each in value.items()}
    if name == "struct" and (isinstance(value, Mapping | tuple)):
        given = [value[each] for each in names] if isinstance(value, Mapping) else list(value)
        return tuple(value_of(child, each) for child, each in zip(children, given, strict=True))
    plain = {"boolean": bool, "string": str, "date": date}.get(name)
    if plain is not None and isinstance(value, plain) and not (name == "date" and isinstance(value, datetime)):
        return value
    raise TypeError(f"it returned a value of type {type(value).__name__} in place of {name}")


def _integer(name: str, value: int) -> int:
    most = 1 << _BITS[name]
    if not -most <= value < most:
        raise OverflowError(f"it returned {value}, which does not fit into {name}")
    return value


def _decimal(value: Decimal, precision: int, scale: int) -> Decimal:
    """Rounded half up to the scale, as Hive does."""
    if not value.is_finite():
        raise OverflowError(f"it returned {value}, which is not a decimal")
    with localcontext() as context:
        context.prec = 100
        rounded = value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    if rounded and rounded.adjusted() >= precision - scale:
        raise OverflowError(f"it returned {value}, which does not fit into decimal({precision},{scale})")
    return rounded
