"""Code of Java's tests, evaluated as far as its values are constants: what a method calls, with which arguments.

Tests are straight code: they make lists and maps of constants and pass them to a method. Any other call has the value
`Call`, which lists its arguments. A method with a loop, or with a condition that is not a constant, is not evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.suites.classfile import ClassFile, Dynamic, Float, Member

STEPS = 100_000


class NotConstant(Exception):  # noqa: N818 - an outcome, not an error
    """The code of a method has no constant value here."""


@dataclass(eq=False)
class Call:
    """The value of a call, or a new object, which has the arguments of its constructor."""

    member: Member
    receiver: Any
    arguments: list[Any] = field(default_factory=list)

    def chain(self) -> Iterator[Call]:
        """The calls of `a.b(1).c(2)`, from the last one."""
        call: Any = self
        while isinstance(call, Call):
            yield call
            call = call.receiver


class Pairs(dict[Any, Any]):
    """A map; its class tells a builder of maps from one of lists."""


def calls(file: ClassFile, method: str) -> list[Call]:
    """The calls of a method in their order, and those of stores into static fields as calls of `putstatic`."""
    return _Frame(file, method).run()


class _Frame:
    def __init__(self, file: ClassFile, method: str) -> None:
        self.constants, self.code = file.constants, file.methods[method]
        self.stack: list[Any] = []
        self.locals: dict[int, Any] = {}
        self.statics: dict[str, Any] = {}
        self.calls: list[Call] = []

    def run(self) -> list[Call]:
        place = 0
        for _ in range(STEPS):
            code = self.code[place]
            if 0xAC <= code <= 0xB1:  # a return
                return self.calls
            place = self._step(code, place)
        raise NotConstant("a loop")

    def _step(self, code: int, place: int) -> int:
        """Evaluates the instruction at this place, and returns the next one."""
        size = _SIZES.get(code, 1)
        operand = int.from_bytes(self.code[place + 1 : place + size], "big", signed=code in _SIGNED)
        if code in _PUSHES:
            self.stack.append(_PUSHES[code])
        elif code in (0x10, 0x11):  # bipush, sipush
            self.stack.append(operand)
        elif code in (0x12, 0x13, 0x14):  # ldc
            self.stack.append(self.constants[operand])
        elif 0x15 <= code <= 0x2D:  # load
            self.stack.append(self.locals.get(operand if code <= 0x19 else (code - 0x1A) % 4))
        elif 0x36 <= code <= 0x4E:  # store
            self.locals[operand if code <= 0x3A else (code - 0x3B) % 4] = self.stack.pop()
        elif 0x4F <= code <= 0x56:  # into an array
            array, index, value = self._pop(3)
            array[index] = value
        elif code in _STACK:
            _STACK[code](self.stack)
        elif code in _NUMBERS:
            count, function = _NUMBERS[code]
            self.stack.append(function(*map(_number, self._pop(count))))
        elif code in _JUMPS:
            count, condition = _JUMPS[code]
            return place + operand if condition(*map(_condition, self._pop(count))) else place + size
        elif code in (0xBC, 0xBD):  # a new array
            self.stack.append([0 if code == 0xBC else None] * self.stack.pop())
        elif code != 0xC0:  # not a cast
            self._refer(code, self.constants.get(operand if size == 3 else operand >> 16))
        return place + size

    def _pop(self, count: int) -> list[Any]:
        values = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return values

    def _refer(self, code: int, constant: Any) -> None:
        """Instructions with a class, a field or a method."""
        if code == 0xBB:
            self.stack.append(Call(Member(constant.name, "<init>", "()V"), None))
        elif code == 0xB2:
            self.stack.append(self.statics.get(constant.name, Call(constant, None)))
        elif code == 0xB3:
            self.statics[constant.name] = self.stack.pop()
            self.calls.append(
                Call(Member(constant.owner, "putstatic", "()V"), None, [constant.name, self.statics[constant.name]])
            )
        elif code == 0xB4:
            self.stack.append(Call(constant, self.stack.pop()))
        elif code == 0xBA:
            arguments = self._pop(constant.member.parameters)
            self.stack.append(_concatenation(constant, arguments))
        elif 0xB6 <= code <= 0xB9:
            arguments = self._pop(constant.parameters)
            self._invoke(constant, None if code == 0xB8 else self.stack.pop(), arguments)
        else:
            raise NotConstant(f"the instruction {code:#x}")

    def _invoke(self, member: Member, receiver: Any, arguments: list[Any]) -> None:
        if member.name == "<init>" and isinstance(receiver, Call):
            receiver.arguments = arguments
            return
        value = known_value(member, receiver, arguments)
        if isinstance(value, Call):
            self.calls.append(value)
        if member.returns:
            self.stack.append(value)


# --- instructions ---------------------------------------------------------------------------------------------------

_PUSHES: Mapping[int, Any] = {
    1: None, **{code: code - 3 for code in range(2, 9)}, 9: 0, 10: 1,
    **{code: Float(float(code - 11)) for code in (11, 12, 13)}, 14: 0.0, 15: 1.0,
}  # fmt: skip
_SIZES: Mapping[int, int] = {
    **dict.fromkeys((0x10, 0x12, *range(0x15, 0x1A), *range(0x36, 0x3B), 0xBC), 2),
    **dict.fromkeys((0x11, 0x13, 0x14, *range(0x99, 0xA8), *range(0xB2, 0xB9), 0xBB, 0xBD, 0xC0, 0xC6, 0xC7), 3),
    **dict.fromkeys((0xB9, 0xBA), 5),
}
_SIGNED = frozenset((0x10, 0x11, *range(0x99, 0xA8), 0xC6, 0xC7))


def _swap(stack: list[Any]) -> None:
    stack[-2:] = stack[:-3:-1]


_STACK: Mapping[int, Callable[[list[Any]], object]] = {
    0x00: lambda stack: None,
    0x57: list.pop,
    0x58: list.pop,  # pop2 of one long value
    0x59: lambda stack: stack.append(stack[-1]),
    0x5A: lambda stack: stack.insert(-2, stack[-1]),
    0x5B: lambda stack: stack.insert(-3, stack[-1]),
    0x5C: lambda stack: stack.append(stack[-1]),  # dup2 of one long value
    0x5F: _swap,
}
_NUMBERS: Mapping[int, tuple[int, Callable[..., Any]]] = {
    **{code: (2, lambda a, b: a + b) for code in range(0x60, 0x64)},
    **{code: (2, lambda a, b: a - b) for code in range(0x64, 0x68)},
    **{code: (2, lambda a, b: a * b) for code in range(0x68, 0x6C)},
    **{code: (1, lambda a: -a) for code in range(0x74, 0x78)},
    **{code: (1, lambda a: a) for code in (0x85, 0x88, 0x8D, 0x91, 0x92, 0x93)},
    **dict.fromkeys((134, 135, 137, 138, 144), (1, float)),
    **dict.fromkeys((139, 140, 142, 143), (1, int)),
}
"""Sums, differences, products, signs and conversions: constants of tests do not overflow."""
_JUMPS: Mapping[int, tuple[int, Callable[..., bool]]] = {
    0x99: (1, lambda a: a == 0), 0x9A: (1, lambda a: a != 0), 0xA7: (0, lambda: True),
    0xC6: (1, lambda a: a is None), 0xC7: (1, lambda a: a is not None),
}  # fmt: skip


def _number(value: Any) -> Any:
    if isinstance(value, Float):
        return value.value
    if not isinstance(value, int | float):
        raise NotConstant("a number of a call")
    return value


def _condition(value: Any) -> Any:
    if isinstance(value, Call):
        raise NotConstant("a condition of a call")
    return value


def _concatenation(site: Any, arguments: Sequence[Any]) -> Any:
    """`"a" + b`: the recipe has the character 1 for each argument."""
    if not (isinstance(site, Dynamic) and isinstance(site.recipe, str)):
        return Call(site.member, None, list(arguments))  # a lambda
    parts = site.recipe.split("\x01")
    if len(parts) != len(arguments) + 1 or not all(isinstance(value, str | int | float) for value in arguments):
        return Call(site.member, None, list(arguments))
    return "".join(f"{part}{value}" for part, value in zip(parts, (*arguments, ""), strict=True))


# --- methods of Java, Guava and Druid's tests ---------------------------------------------------------------------------


def known_value(member: Member, receiver: Any, arguments: list[Any]) -> Any:
    """The value of a call that makes a list, a map or a time; else the call."""
    owner, name = member.owner.rpartition("/")[2], member.name
    if owner == "Boolean" and name == "valueOf":
        return bool(arguments[0])
    if name in ("valueOf", "longValue", "intValue", "doubleValue") and owner in _BOXES:
        return arguments[0] if arguments else receiver
    if owner in _LISTS and name in ("of", "asList", "singletonList", "emptyList", "newArrayList"):
        has_array = "[Ljava/lang/Object;)" in member.descriptor
        return [*arguments[:-1], *arguments[-1]] if has_array else list(arguments)
    if owner in ("ImmutableMap", "Collections") and name in ("of", "emptyMap", "singletonMap"):
        return Pairs(zip(arguments[::2], arguments[1::2], strict=True))
    if name == "builder" and owner in ("ImmutableList", "ImmutableMap"):
        return [] if owner == "ImmutableList" else Pairs()
    if owner.startswith("Immutable") or owner in ("List", "Map"):
        return _of_collection(member, receiver, arguments)
    return _of_text(member, receiver, arguments)


_BOXES = frozenset(("Long", "Integer", "Double", "Float", "Short", "Byte", "String"))
_LISTS = frozenset(("ImmutableList", "Arrays", "Collections", "List", "Lists", "ImmutableSet"))


def _of_collection(member: Member, receiver: Any, arguments: list[Any]) -> Any:
    if member.name == "build" and isinstance(receiver, list | Pairs):
        return receiver
    if member.name == "put" and isinstance(receiver, Pairs):
        receiver[arguments[0]] = arguments[1]
        return receiver
    if member.name == "add" and isinstance(receiver, list):
        receiver.extend(arguments[0] if "([" in member.descriptor else arguments)
        return receiver
    return Call(member, receiver, arguments)


def _of_text(member: Member, receiver: Any, arguments: list[Any]) -> Any:
    """Times as milliseconds."""
    if member.name == "timestamp" and isinstance(arguments[0], str):
        return milliseconds(arguments[0])
    if member.name == "getMillis" and isinstance(receiver, Call) and receiver.member.owner.endswith("/DateTimes"):
        return milliseconds(receiver.arguments[0])
    if (
        member.name == "format"
        and arguments
        and all(isinstance(value, str) for value in (arguments[0], *arguments[-1]))
    ):
        return arguments[0] % tuple(arguments[-1])
    return Call(member, receiver, arguments)


def milliseconds(text: str) -> int:
    """A time as Joda reads it: in UTC, with any parts from the right missing."""
    time = datetime.fromisoformat({4: f"{text}-01-01", 7: f"{text}-01"}.get(len(text), text))
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
