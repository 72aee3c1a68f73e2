"""JSON as a type of `wire`: what the type requires must fit it, all else may be new.

A later version of a service may add keys, and other values under known keys. Unknown keys are ignored. A value that
does not fit an optional field counts as missing, and an entry that does not fit a map is left out, unless no entry
fits: then the answer is another one. A field whose default would be taken for a fact is `Exact`.
"""

from __future__ import annotations

from threading import Lock
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import msgspec

from hivedruid.druid.instants import millis
from hivedruid.errors import DruidError

Shape = TypeVar("Shape")
_EXACT = object()
Exact = Annotated[Shape, _EXACT]
"""An optional field that must fit if it is there."""


class Interval:
    """`start/end` in milliseconds; the end is not part of it."""

    def __init__(self, text: str) -> None:
        start, _, end = text.partition("/")
        self.text = text
        self.span = millis(start), millis(end)


_one_at_a_time = Lock()
"""msgspec (0.22) prepares a type when it first meets it, and crashes the process if two threads do that concurrently.
"""


def fitted(value: Any, shape: type[Shape]) -> Shape:
    """Convert a JSON value to the type. Raises ValueError with the expected type and the position."""
    try:
        return convert_exactly(value, shape)
    except msgspec.ValidationError:
        return convert_exactly(trim(value, shape), shape)


def convert_exactly(value: Any, shape: type[Shape]) -> Shape:
    """The same for a value all of whose parts must fit, as far as they are there."""
    with _one_at_a_time:
        return msgspec.convert(value, shape, dec_hook=_interval)


def trim(value: Any, shape: Any) -> Any:
    """The value without the parts that the type does not require and that do not fit it. Unknown keys are kept."""
    inner = get_args(shape)
    match get_origin(shape):
        case origin if origin is Annotated:
            return trim(value, inner[0])
        case origin if origin in (Union, UnionType):
            return trim(value, next((each for each in inner if _is_container(value, each)), Any))
        case origin if origin is list and isinstance(value, list):
            return [trim(item, inner[0]) for item in value]
        case origin if origin is dict and isinstance(value, dict):
            entries = {key: trim(item, inner[1]) for key, item in value.items()}
            return {key: item for key, item in entries.items() if _fits(item, inner[1])} or entries
    return _trim_struct(value, shape) if _is_container(value, shape) else value


def _trim_struct(value: dict[str, Any], shape: type[msgspec.Struct]) -> dict[str, Any]:
    parts = dict(value)
    for field in msgspec.structs.fields(shape):
        if (name := field.encode_name) in value:
            parts[name] = trim(value[name], field.type)
            is_exact = field.required or _EXACT in get_args(field.type)
            if not is_exact and not _fits(parts[name], field.type):
                del parts[name]
    return parts


def _is_container(value: Any, shape: Any) -> bool:
    """Whether a type may have optional parts, and is of the value's kind."""
    if isinstance(value, list):
        return get_origin(shape) is list
    is_struct = isinstance(shape, type) and issubclass(shape, msgspec.Struct)
    return isinstance(value, dict) and (is_struct or get_origin(shape) is dict)


def _fits(value: Any, shape: Any) -> bool:
    try:
        convert_exactly(value, shape)
    except msgspec.ValidationError:
        return False
    return True


def _interval(shape: type, value: Any) -> Any:
    if shape is not Interval or not isinstance(value, str):
        raise ValueError("Expected an interval")
    try:
        return Interval(value)
    except DruidError as error:
        raise ValueError(error.message) from None
