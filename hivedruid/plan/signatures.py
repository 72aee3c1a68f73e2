"""Function signatures: parameters, written as in `lpad(text, int, text)`, and the types that each kind of parameter
accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hivedruid.catalog.types import UNKNOWN, VOID, HiveType
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.rex import Rex

Returns = HiveType | Callable[[tuple[Rex, ...]], HiveType]

ANY_NUMBER = 1 << 30

_NESTED = ("array", "map", "struct", "uniontype")


def _is_primitive(t: HiveType) -> bool:
    return t.name not in _NESTED and not t.name.startswith("interval")


def _has_map(t: HiveType) -> bool:
    return t.name == "map" or any(map(_has_map, t.children))


KINDS: dict[str, tuple[str, Callable[[HiveType], bool]]] = {
    "any": ("a value", lambda _t: True),
    "primitive": ("a value of a primitive type", lambda t: t.name not in _NESTED),
    "ordered": ("a value without maps", lambda t: not _has_map(t)),
    "text": ("a string", _is_primitive),
    "string": ("a string", lambda t: t.is_string),
    "bytes": ("a string or binary", _is_primitive),
    "binary": ("a binary", lambda t: t.name == "binary"),
    "int": ("an integer", lambda t: t.is_integer),
    "double": ("a number", lambda t: t.is_numeric or t.is_string),
    "number": ("a number", lambda t: t.is_numeric or t.is_string),
    "boolean": ("a boolean", lambda t: t.name == "boolean"),
    "time": ("a date, timestamp or string", lambda t: t.is_time or t.is_string),
    "moment": (
        "a date, timestamp, interval or string",
        lambda t: t.is_time or t.is_string or "interval" in t.name,
    ),
    "instant": ("a timestamp, number or string", lambda t: t.is_time or t.is_string or t.is_numeric),
    "array": ("an array", lambda t: t.name == "array"),
    "sortable": ("an array without maps", lambda t: t.name == "array" and not _has_map(t)),
    "map": ("a map", lambda t: t.name == "map"),
    "nested": ("an array or a map", lambda t: t.name in ("array", "map")),
    "sketch": ("a sketch, as BINARY or in base64", lambda t: t.name == "binary" or t.is_string),
    "hashed": (
        "an integer, a FLOAT, a DOUBLE or a string",
        lambda t: t.is_integer or t.is_approximate or t.name in ("string", "varchar"),
    ),
    "list": (
        "a string or an array of strings",
        lambda t: t.is_string or (t.name == "array" and _is_text(t.children[0])),
    ),
}
"""The kinds of parameters: their description in messages, and the accepted types. `text` accepts every primitive value
and casts it to a string; `string` accepts only strings; `hashed` is what Hive adds to sketches of distinct values. NULL
and values of unknown type are always accepted."""


def _is_text(t: HiveType) -> bool:
    return t.is_string or t in (UNKNOWN, VOID)


def accepts(kind: str, type_: HiveType) -> bool:
    return type_ in (UNKNOWN, VOID) or KINDS[kind][1](type_)


@dataclass(frozen=True)
class Function:
    """One function: its result type, its signature, and its kind: scalar, aggregate, window or generator."""

    returns: Returns
    kind: str
    parameters: tuple[str, ...]
    least: int
    most: int

    def type(self, args: tuple[Rex, ...]) -> HiveType:
        return self.returns(args) if callable(self.returns) else self.returns

    def parameter(self, position: int) -> str:
        """The kind of the argument at a position; the last parameter applies to all further arguments."""
        return self.parameters[min(position, len(self.parameters) - 1)]

    def signature(self, name: str) -> str:
        """The call with the kinds of its arguments: `lpad(text, int, text)`, `trim(text[, text])`,
        `concat(primitive, …)`."""
        fixed = min(self.least, len(self.parameters))
        shown = list(self.parameters[:fixed])
        if self.most == ANY_NUMBER:
            return f"{name}({', '.join([*shown, '…'])})"
        optional = self.parameters[fixed:]
        rest = "".join(f"[{', ' if shown or number else ''}{each}" for number, each in enumerate(optional))
        return f"{name}({', '.join(shown)}{rest}{']' * len(optional)})"

    def wanted(self) -> str:
        """The number of arguments, for a message."""
        least, most = self.least, self.most
        count = f"{least}" if least == most else f"at least {least}" if most == ANY_NUMBER else f"{least} to {most}"
        return f"{count} argument{'' if count == '1' else 's'}"


def functions(kind: str, returns: Returns, signatures: str) -> Iterator[tuple[str, Function]]:
    """Table entries from signatures such as `lpad(text,int,text) trim(text,text?) concat(text,text*)`: `?` marks an
    optional parameter, `*` any number of arguments."""
    for signature in signatures.split():
        name, _, rest = signature.partition("(")
        written = [p for p in rest.rstrip(")").split(",") if p]
        least = sum(p[-1] not in "?*" for p in written)
        most = ANY_NUMBER if written and written[-1].endswith("*") else len(written)
        yield name, Function(returns, kind, tuple(p.rstrip("?*") for p in written), least, most)
