"""`dataclass` of the standard library, which writes the methods of a class at its first use and not when it is defined.

`dataclasses.dataclass` compiles six methods, 0.3 to 1 ms for a class. A command defines hundreds of classes and has
values of some tens of them. `benchmarks/startup.py` measures the start.
"""

from __future__ import annotations

import dataclasses
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """See `dataclasses.dataclass`. With `order` or `slots` the methods are written at once."""
        if options.get("order") or options.get("slots"):
            return dataclasses.dataclass(cls, **options)
        if cls is None:
            return lambda each: _postpone(each, options)
        return _postpone(cls, options)


__all__ = ["dataclass"]
_METHODS = ("__init__", "__repr__", "__eq__", "__hash__")
_FACTS = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")
_FROZEN = ("__setattr__", "__delattr__")
_OF_EACH_CLASS = frozenset({"__dict__", "__weakref__", "__abstractmethods__", "_abc_impl"})
"""Attributes that a class gets when it is created."""

_writing = RLock()


class _Postponed:
    """An attribute of a class that exists as soon as somebody looks at it."""

    def __init__(self, name: str, write: Callable[[], None]) -> None:
        self._name, self._write = name, write

    def __get__(self, instance: Any, owner: type) -> Any:
        self._write()
        return getattr(owner if instance is None else instance, self._name)


def _postpone(cls: type, options: Mapping[str, bool]) -> type:
    names = [*_METHODS, *_FACTS, *(_FROZEN if options.get("frozen") else ())]
    postponed = {name for name in names if name not in vars(cls)}

    def write() -> None:
        with _writing:
            if isinstance(vars(cls).get("__dataclass_fields__"), _Postponed):
                _write_methods(cls, options, postponed)

    for name in postponed:
        setattr(cls, name, _Postponed(name, write))
    return cls


def _write_methods(cls: type, options: Mapping[str, bool], postponed: set[str]) -> None:
    """Write them into a copy and move each: another thread finds a method, postponed or written, at any time."""
    own = {name: value for name, value in vars(cls).items() if name not in postponed | _OF_EACH_CLASS}
    named = {**own, "__qualname__": cls.__qualname__}
    named["__doc__"] = own["__doc__"] or cls.__name__  # else its signature, which takes long
    written = vars(dataclasses.dataclass(**options)(type(cls)(cls.__name__, cls.__bases__, named)))
    for name in own.keys() - written.keys():
        delattr(cls, name)  # the `field()` of a default factory
    for name, value in written.items():
        if name in _FROZEN:
            setattr(cls, name, _refuse_change)
        elif name not in _OF_EACH_CLASS and own.get(name, _refuse_change) is not value:
            setattr(cls, name, value)
    for name in postponed - written.keys():
        delattr(cls, name)


def _refuse_change(_: object, name: str, *__: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")
