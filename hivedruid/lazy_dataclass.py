"""`dataclass` of the standard library, which writes the methods of a class at its first use and not when it is defined.

`dataclasses.dataclass` compiles six methods, 0.3 to 1 ms for a class. A command defines hundreds of classes, has values
of some tens of them, and compares or prints those of few. `benchmarks/startup.py` measures the start.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
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
_AT_FIRST = ("__init__", "__dataclass_fields__", "__dataclass_params__", "__match_args__")
_FROZEN = ("__setattr__", "__delattr__")
_LATER = ("__repr__", "__eq__", "__hash__")
"""Methods that few classes need."""
_OF_EACH_CLASS = frozenset({"__dict__", "__weakref__", "__abstractmethods__", "_abc_impl"})
"""Attributes that a class gets when it is created."""

_writing = RLock()


class _Postponed:
    """An attribute of a class that exists as soon as somebody looks at it."""

    def __init__(self, cls: type, name: str, write: Callable[[], None]) -> None:
        self._cls, self._name, self._write = cls, name, write

    def __get__(self, instance: Any, owner: type) -> Any:
        """The attribute of this class, also where a subclass has its own and calls it by `super()`."""
        self._write()
        if self._name not in vars(self._cls):
            return getattr(super(self._cls, owner if instance is None else instance), self._name)
        attribute = vars(self._cls)[self._name]
        bind = getattr(type(attribute), "__get__", None)
        return attribute if bind is None else bind(attribute, instance, owner)


def _postpone(cls: type, options: Mapping[str, bool]) -> type:
    own = {name: value for name, value in vars(cls).items() if name not in _OF_EACH_CLASS}
    at_first = (*_AT_FIRST, *_FROZEN) if options.get("frozen") else _AT_FIRST
    # a class with its own __eq__ needs a __hash__ at once
    fewer = {} if "__eq__" in own else {"repr": False, "eq": False}
    defaults = [name for name, value in own.items() if isinstance(value, dataclasses.Field)]
    for names, used, attributes in ((at_first, {**options, **fewer}, defaults), (_LATER, options, [])):
        postponed = [name for name in names if name not in own]
        write = partial(_write, cls, own, postponed, used)
        for name in (*postponed, *attributes):
            setattr(cls, name, _Postponed(cls, name, write))
    return cls


def _write(cls: type, own: Mapping[str, Any], names: Sequence[str], options: Mapping[str, bool]) -> None:
    """Write methods into a copy of a class and move them: another thread sees each as postponed or as written."""
    with _writing:
        if not any(isinstance(vars(cls).get(name), _Postponed) for name in names):
            return
        doc = own["__doc__"] or cls.__name__  # else a signature, which takes long
        copy = type(cls)(cls.__name__, cls.__bases__, {**own, "__qualname__": cls.__qualname__, "__doc__": doc})
        written = vars(dataclasses.dataclass(**options)(copy))
        for name, value in own.items():  # defaults, which `field()` contains
            if name not in written and name in vars(cls):
                delattr(cls, name)
            elif written.get(name, value) is not value:
                setattr(cls, name, written[name])
        for name in names:
            if name in _FROZEN:
                setattr(cls, name, _refusal(cls, name))
            elif name in written:
                setattr(cls, name, written[name])
            else:
                delattr(cls, name)


def _refusal(cls: type, method: str) -> Callable[..., None]:
    """`__setattr__` or `__delattr__` of a frozen class; its subclasses may have attributes that are no fields."""

    def refuse(instance: Any, name: str, *value: object) -> None:
        if type(instance) is cls or name in {field.name for field in dataclasses.fields(cast("Any", cls))}:
            raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")
        getattr(super(cls, instance), method)(name, *value)

    return refuse
