"""The postponed methods of a dataclass are those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from functools import cached_property
from threading import Barrier
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from hivedruid import lazy_dataclass
from hivedruid.lazy_dataclass import dataclass as lazy

T = TypeVar("T")


def classes(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """The same classes by each decorator."""

    @dataclass(frozen=True)
    class Base(ABC):
        a: int
        items: tuple[int, ...] = field(default=(), compare=False)
        kinds: ClassVar[int] = 3

        @abstractmethod
        def text(self) -> str: ...

        @cached_property
        def double(self) -> int:
            return self.a * 2

    @dataclass(frozen=True)
    class Child(Base):
        """A child."""

        b: list[int] = field(default_factory=list, hash=False)
        a: int = 5

        def text(self) -> str:
            return f"{self.a} {super().kinds}"

    class Grandchild(Child):
        pass

    @dataclass(frozen=True)
    class Wrapped(Child):
        """Calls the methods of its base."""

        def __repr__(self) -> str:
            return f"<{super().__repr__()}>"

        def __hash__(self) -> int:
            return super().__hash__() + 1

    class Noted(Child):
        def __init__(self, a: int) -> None:
            super().__init__(a + 1)
            self.note = "x"

    @dataclass(frozen=True, kw_only=True)
    class Keys:
        a: int = 1
        b: str

        def __hash__(self) -> int:
            return 4

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Keys)

    @dataclass
    class Mutable(Generic[T]):
        a: T
        total: int = field(init=False, repr=False)

        def __post_init__(self) -> None:
            self.total = 7

    @dataclass(order=True)
    class Ordered:
        a: int

    @dataclass(frozen=True)
    class Own:
        a: int = field(default=3)

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __hash__(self) -> int:
            return 4

    return {each.__name__: each for each in (Base, Child, Grandchild, Wrapped, Noted, Keys, Mutable, Ordered, Own)}


def result(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (AttributeError, TypeError) as error:
        return type(error)


def message(call: Callable[[], Any]) -> str:
    with pytest.raises(TypeError) as error:
        call()
    return str(error.value)


CALLS: dict[str, Callable[[Any], Any]] = {
    "repr": lambda of: repr(of["Child"](1, (2,), [3])),
    "repr of a subclass": lambda of: repr(of["Grandchild"](1)),
    "own repr": lambda of: repr(of["Keys"](b="x")),
    "abstract": lambda of: of["Base"](1),
    "too few": lambda of: of["Keys"](),
    "position": lambda of: of["Keys"](1),
    "too many": lambda of: message(lambda: of["Child"](1, (), [], 4)),
    "an unknown name": lambda of: message(lambda: of["Child"](1, c=2)),
    "a missing name": lambda of: message(of["Mutable"]),
    "a value that is given twice": lambda of: message(lambda: of["Child"](1, a=2)),
    "defaults": lambda of: of["Child"]().b is not of["Child"]().b,
    "default of the class": lambda of: (of["Child"](), of["Child"].a, of["Child"].items)[1:],
    "no default of the class": lambda of: (of["Child"](), of["Child"].b),
    "default of a class without values": lambda of: of["Child"].items,
    "no default of a class without values": lambda of: of["Child"].b,
    "default of a value without fields": lambda of: object.__new__(of["Grandchild"]).items,
    "base's repr": lambda of: repr(of["Wrapped"](1)),
    "base's hash": lambda of: hash(of["Wrapped"](1)) - hash(of["Child"](1)),
    "base's init and an attribute of a subclass": lambda of: (vars(of["Noted"](1)), of["Noted"](1).__delattr__("note")),
    "assignment in a subclass": lambda of: setattr(of["Noted"](1), "b", 2),
    "deletion in a subclass": lambda of: of["Noted"](1).__delattr__("b"),
    "default of a class with own methods": lambda of: of["Own"].a,
    "equal": lambda of: (of["Child"](1, (2,)) == of["Child"](1, (3,)), of["Child"](1) == of["Grandchild"](1)),
    "own equality": lambda of: of["Keys"](b="x") == of["Keys"](b="y"),
    "hash": lambda of: hash(of["Child"](1, (2,), [3])) == hash(of["Child"](1, (3,), [4])),
    "hash of own equality": lambda of: hash(of["Keys"](b="x")),
    "no hash": lambda of: hash(of["Mutable"](1)),
    "assignment": lambda of: setattr(of["Child"](1), "a", 2),
    "assignment to a mutable one": lambda of: setattr(of["Mutable"](1), "a", 2),
    "deletion": lambda of: delattr(of["Child"](1), "a"),
    "cached": lambda of: of["Child"](4).double,
    "super": lambda of: of["Child"](4).text(),
    "post init": lambda of: of["Mutable"][int](1).total,
    "order": lambda of: of["Ordered"](1) < of["Ordered"](2),
    "replace": lambda of: repr(replace(of["Child"](1), b=[9])),
    "fields of the class": lambda of: [(f.name, f.type, f.compare) for f in fields(of["Child"])],
    "is a dataclass": lambda of: [is_dataclass(each) for each in of.values()],
    "match": lambda of: of["Child"].__match_args__,
    "asdict": lambda of: dataclasses.asdict(of["Child"](1, (2,), [3])),
    "doc": lambda of: of["Child"].__doc__,
    "qualified name": lambda of: (of["Child"](1), of["Child"].__init__.__qualname__)[1].rpartition("<locals>.")[2],
    "copied without __init__": lambda of: copy.copy(object.__new__(of["Child"])).a,
}


@pytest.mark.parametrize("calls", [0, 128])
@pytest.mark.parametrize("name", CALLS)
def test_the_first_use_and_that_of_compiled_methods_are_as_in_the_standard_library(
    monkeypatch: pytest.MonkeyPatch, name: str, calls: int
) -> None:
    monkeypatch.setattr(lazy_dataclass, "_FEW", calls)
    assert result(lambda: CALLS[name](classes(lazy))) == result(lambda: CALLS[name](classes(dataclasses.dataclass)))


@lazy(frozen=True)
class Value:
    a: int
    b: str = "x"


def test_values_of_another_process_are_equal_before_any_is_made_here() -> None:
    """Unpickling calls no `__init__`."""
    text = pickle.dumps(Value(1, "y"))
    program = (
        "import pickle; from tests.unit import test_lazy_dataclass as t\n"
        f"a, b = pickle.loads({text!r}), pickle.loads({text!r})\n"
        "match a:\n  case t.Value(1, b='y'): print(a == b, hash(a) == hash(b), a)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "Value(a=1,", "b='y')"]


def test_threads_that_use_a_class_first_at_the_same_time() -> None:
    threads = 8
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(50):
            child, barrier = classes(lazy)["Child"], Barrier(threads)

            def use(number: int, child: Any = child, barrier: Barrier = barrier) -> bool:
                barrier.wait()
                return bool(child(number) == child(number)) and "a=" in repr(child(1))

            assert all(pool.map(use, range(threads)))


def test_nothing_can_be_assigned_before_the_methods_are_written() -> None:
    raw = object.__new__(classes(lazy)["Child"])
    with pytest.raises(FrozenInstanceError, match="cannot change field 'a'"):
        raw.a = 1


def test_many_values_of_a_class() -> None:
    """The methods are compiled while they are in use."""
    child = classes(lazy)["Child"]
    values = [child(number, b=[number]) for number in range(300)]
    assert [value.a for value in values] == list(range(300))
    assert all(value == replace(value) and hash(value) == hash(replace(value)) for value in values)
    assert {repr(value) for value in values} == {
        f"classes.<locals>.Child(a={number}, items=(), b=[{number}])" for number in range(300)
    }
    assert child.__init__.__qualname__ == "classes.<locals>.Child.__init__"
