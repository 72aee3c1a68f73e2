"""`dataclass` of the standard library for classes of which a command has few values.

`dataclasses.dataclass` compiles six methods, 0.3 to 1 ms for a class. A command defines hundreds of classes, and most
of those that it uses have less than ten values. So a method is made at its first use, from functions that are not
compiled for the class. One that is called often is replaced by that of the standard library, which is faster.
`benchmarks/startup.py` measures the start.
"""

from __future__ import annotations

import dataclasses
import inspect
from reprlib import recursive_repr
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """See `dataclasses.dataclass`. With others of the options than these three, the methods are made at once."""
        if not options.keys() <= {"frozen", "eq", "kw_only"}:
            return dataclasses.dataclass(cls, **options)
        if cls is None:
            return lambda each: _postpone(each, options)
        return _postpone(cls, options)


__all__ = ["dataclass"]
_FEW = 128
"""Calls of a method before it is compiled."""

_making = RLock()


class _Postponed:
    """An attribute of a class that is made when it is first read."""

    def __init__(self, cls: type, name: str, make: Callable[[], Any]) -> None:
        self._cls, self._name, self._make = cls, name, make

    def __get__(self, instance: Any, owner: type) -> Any:
        """The attribute of this class, also where a subclass has its own and calls it by `super()`."""
        with _making:
            if vars(self._cls)[self._name] is self:
                setattr(self._cls, self._name, self._make())
        attribute = vars(self._cls)[self._name]
        bind = getattr(type(attribute), "__get__", None)
        return attribute if bind is None else bind(attribute, instance, owner)


def _postpone(cls: Any, options: Mapping[str, bool]) -> Any:
    own = vars(cls)
    declared = {name: value for name, value in own.items() if isinstance(value, dataclasses.Field)}
    makers: dict[str, Callable[[], Any]] = {
        "__init__": lambda: _method(cls, "__init__", options),
        "__repr__": lambda: _method(cls, "__repr__", options),
        "__dataclass_fields__": lambda: _fields(cls, declared, options),
        "__dataclass_params__": lambda: _params(options),
        "__match_args__": lambda: tuple(f.name for f in dataclasses.fields(cls) if f.init and not f.kw_only),
    }
    makers = {name: make for name, make in makers.items() if name not in own}
    if options.get("eq", True):
        if "__eq__" not in own:
            makers["__eq__"] = lambda: _method(cls, "__eq__", options)
        if own.get("__hash__") is None:  # Python sets None in a class with its own __eq__
            makers["__hash__"] = lambda: _method(cls, "__hash__", options) if options.get("frozen") else None
    for name, make in makers.items():
        setattr(cls, name, _Postponed(cls, name, make))
    for name, value in declared.items():
        if value.default is dataclasses.MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, value.default)
    if options.get("frozen"):
        cls.__setattr__, cls.__delattr__ = _refuse_assignment, _refuse_deletion
    return cls


def _fields(cls: type, declared: dict[str, Any], options: Mapping[str, bool]) -> dict[str, Any]:
    """The fields of the bases and of the class. Those of the class are made by the standard library from a class that
    has nothing else.
    """
    annotations = inspect.get_annotations(cls)
    values = {name: vars(cls)[name] for name in annotations if name in vars(cls)} | declared
    fields: dict[str, Any] = {}
    for base in cls.__mro__[:0:-1]:
        fields |= getattr(base, "__dataclass_fields__", {})
    without_methods = {**options, "init": False, "repr": False, "eq": False, "frozen": False}
    own: dict[str, Any] = _standard(cls, annotations, values, without_methods)["__dataclass_fields__"]
    return fields | own


def _standard(
    cls: type, annotations: Mapping[str, Any], values: Mapping[str, Any], options: Mapping[str, bool]
) -> Mapping[str, Any]:
    """The attributes that the standard library gives to a class with these annotations and values."""
    # from an empty docstring it would derive the signature, which takes longer than all else
    described = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__ or cls.__name__}
    other = type(cls.__name__, (), {**values, **described, "__annotations__": annotations})
    return vars(dataclasses.dataclass(**options)(other))


def _params(options: Mapping[str, bool]) -> Any:
    params = _standard(object, {}, {}, {"init": False, "repr": False, "eq": False})["__dataclass_params__"]
    for name, value in {"init": True, "repr": True, "eq": True, **options}.items():
        setattr(params, name, value)
    return params


def _method(cls: type, name: str, options: Mapping[str, bool]) -> Callable[..., Any]:
    """A method that is compiled when it has been called a few times."""
    simple = _SIMPLE[name](cls, options)
    count = 0

    def method(self: Any, /, *values: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if count <= _FEW:
            return simple(self, *values, **named)
        if vars(cls)[name] is method:
            setattr(cls, name, _compiled(cls, name, options))
        return vars(cls)[name](self, *values, **named)

    method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
    return method


def _compiled(cls: Any, name: str, options: Mapping[str, bool]) -> Callable[..., Any]:
    """A method of the standard library."""
    fields: dict[str, Any] = {field.name: field for field in dataclasses.fields(cls)}
    annotations = {key: field.type for key, field in fields.items()}
    if hasattr(cls, "__post_init__"):
        fields["__post_init__"] = cls.__post_init__
    chosen = {"init": name == "__init__", "repr": name == "__repr__", "eq": name in ("__eq__", "__hash__")}
    method: Callable[..., Any] = _standard(cls, annotations, fields, {**options, **chosen})[name]
    return method


def _init(cls: Any, options: Mapping[str, bool]) -> Callable[..., None]:
    fields = dataclasses.fields(cls)
    parameters = [f for f in fields if f.init]
    positional = [f.name for f in parameters if not f.kw_only]
    names = {f.name for f in parameters}
    required = {f.name for f in parameters if f.default is f.default_factory is dataclasses.MISSING}
    assign = object.__setattr__ if options.get("frozen") else setattr
    is_completed = hasattr(cls, "__post_init__")

    def init(self: Any, /, *values: Any, **named: Any) -> None:
        given = dict(zip(positional, values, strict=False)) | named
        if len(given) < len(values) + len(named) or not required <= given.keys() <= names:
            _compiled(cls, "__init__", options)(self, *values, **named)  # reports what is wrong
        for field in fields:
            if field.name in given:
                assign(self, field.name, given[field.name])
            elif field.default_factory is not dataclasses.MISSING:
                assign(self, field.name, field.default_factory())
            elif field.init:
                assign(self, field.name, field.default)
        if is_completed:
            self.__post_init__()

    return init


def _repr(cls: Any, _: Mapping[str, bool]) -> Callable[[Any], str]:
    names = [field.name for field in dataclasses.fields(cls) if field.repr]

    @recursive_repr()
    def text(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return text


def _eq(cls: Any, _: Mapping[str, bool]) -> Callable[[Any, object], bool]:
    names = [field.name for field in dataclasses.fields(cls) if field.compare]

    def is_equal(self: Any, other: object) -> bool:
        return _values(self, names) == _values(other, names) if type(other) is type(self) else NotImplemented

    return is_equal


def _hash(cls: Any, _: Mapping[str, bool]) -> Callable[[Any], int]:
    names = [field.name for field in dataclasses.fields(cls) if (field.compare if field.hash is None else field.hash)]
    return lambda self: hash(_values(self, names))


def _values(instance: object, names: list[str]) -> tuple[object, ...]:
    return tuple([getattr(instance, name) for name in names])


_SIMPLE: dict[str, Callable[[Any, Mapping[str, bool]], Callable[..., Any]]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
}


def _refuse_assignment(instance: Any, name: str, value: object) -> None:
    """`__setattr__` of a frozen class."""
    _refuse(instance, name)
    object.__setattr__(instance, name, value)


def _refuse_deletion(instance: Any, name: str) -> None:
    """`__delattr__` of a frozen class."""
    _refuse(instance, name)
    object.__delattr__(instance, name)


def _refuse(instance: Any, name: str) -> None:
    """Subclasses that are no dataclasses may have attributes that are no fields."""
    cls: Any = type(instance)
    if "__dataclass_fields__" in vars(cls) or name in {field.name for field in dataclasses.fields(cls)}:
        raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")
