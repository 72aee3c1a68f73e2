"""Class files of Java (JVM specification, chapter 4), as far as their constants and the code of their methods."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Float:
    """A float constant: its digits are fewer than those of a double."""

    value: float


@dataclass(frozen=True)
class ClassName:
    name: str


@dataclass(frozen=True)
class Member:
    """A field or a method that code refers to."""

    owner: str
    name: str
    descriptor: str

    @property
    def parameters(self) -> int:
        """The number of parameters in `(JLjava/lang/String;[I)V`."""
        count, place = 0, 1
        while self.descriptor[place] != ")":
            while self.descriptor[place] == "[":
                place += 1
            place = self.descriptor.index(";", place) + 1 if self.descriptor[place] == "L" else place + 1
            count += 1
        return count

    @property
    def returns(self) -> bool:
        return not self.descriptor.endswith(")V")


@dataclass(frozen=True)
class Dynamic:
    """A call site, whose `recipe` is the first constant of its bootstrap method: the form of a concatenation of strings."""

    member: Member
    recipe: object


Constant = int | float | str | Float | ClassName | Member | Dynamic | None


@dataclass(frozen=True)
class ClassFile:
    constants: Mapping[int, Constant]
    methods: Mapping[str, bytes]
    """The code by name and descriptor; methods without code are left out."""


class _Reader:
    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data, self.place = data, place

    def take(self, form: str) -> int:
        """An unsigned number."""
        (value,) = struct.unpack_from(f">{form}", self.data, self.place)
        self.place += struct.calcsize(form)
        return int(value)

    def bytes(self, count: int) -> bytes:
        start, self.place = self.place, self.place + count
        return self.data[start : self.place]


def read_class(data: bytes) -> ClassFile:
    reader = _Reader(data, 8)
    raw = _raw_constants(reader)
    reader.bytes(6)  # access, this class, its superclass
    reader.bytes(2 * reader.take("H"))  # interfaces
    _members(reader, raw)
    codes = _members(reader, raw)
    sites = _bootstrap_arguments(reader, raw)
    methods = {name: code for name, code in codes.items() if code is not None}
    return ClassFile({number: _constant(raw, number, sites) for number in raw}, methods)


# --- constants ------------------------------------------------------------------------------------------------------

_FORMS = {3: ">i", 4: ">f", 5: ">q", 6: ">d"}
_PAIRS, _SINGLE, _HANDLE = (9, 10, 11, 12, 17, 18), (7, 8, 16, 19, 20), 15
_Raw = Mapping[int, tuple[int, tuple[int | float | str, ...]]]


def _raw_constants(reader: _Reader) -> _Raw:
    """Kinds and contents by number: numbers of other constants are not yet followed."""
    raw: dict[int, tuple[int, tuple[int | float | str, ...]]] = {}
    number, count = 1, reader.take("H")
    while number < count:
        kind = reader.take("B")
        if kind == 1:
            raw[number] = kind, (reader.bytes(reader.take("H")).decode("utf-8", "replace"),)
        elif kind in _FORMS:
            raw[number] = kind, struct.unpack(_FORMS[kind], reader.bytes(struct.calcsize(_FORMS[kind])))
        elif kind in _PAIRS:
            raw[number] = kind, (reader.take("H"), reader.take("H"))
        elif kind in _SINGLE:
            raw[number] = kind, (reader.take("H"),)
        elif kind == _HANDLE:
            raw[number] = kind, (reader.take("B"), reader.take("H"))
        else:
            raise ValueError(f"unknown kind of constant {kind}")
        number += 2 if kind in (5, 6) else 1
    return raw


def _text(raw: _Raw, number: int | float | str) -> str:
    return str(raw[int(number)][1][0])


def _constant(raw: _Raw, number: int, sites: list[tuple[int, ...]]) -> Constant:
    kind, content = raw[number]
    if kind == 4:
        return Float(float(content[0]))
    if kind == 1 or kind in _FORMS:
        return content[0]
    if kind == 8:
        return _text(raw, content[0])
    if kind == 7:
        return ClassName(_text(raw, content[0]))
    if kind in (9, 10, 11):
        owner = _text(raw, raw[int(content[0])][1][0])
        return _member(raw, owner, content[1])
    if kind == 18:
        arguments = sites[int(content[0])]
        recipe = _constant(raw, arguments[0], sites) if arguments else None
        return Dynamic(_member(raw, "", content[1]), recipe)
    return None


def _member(raw: _Raw, owner: str, name_and_type: int | float | str) -> Member:
    name, descriptor = raw[int(name_and_type)][1]
    return Member(owner, _text(raw, name), _text(raw, descriptor))


# --- methods --------------------------------------------------------------------------------------------------------


def _members(reader: _Reader, raw: _Raw) -> dict[str, bytes | None]:
    codes: dict[str, bytes | None] = {}
    for _ in range(reader.take("H")):
        reader.take("H")
        name = _text(raw, reader.take("H")) + _text(raw, reader.take("H"))
        code = _attributes(reader, raw).get("Code")
        codes[name] = None if code is None else code[8 : 8 + struct.unpack_from(">I", code, 4)[0]]
    return codes


def _attributes(reader: _Reader, raw: _Raw) -> dict[str, bytes]:
    return {_text(raw, reader.take("H")): reader.bytes(reader.take("I")) for _ in range(reader.take("H"))}


def _bootstrap_arguments(reader: _Reader, raw: _Raw) -> list[tuple[int, ...]]:
    content = _attributes(reader, raw).get("BootstrapMethods")
    if content is None:
        return []
    sites = _Reader(content)
    methods = []
    for _ in range(sites.take("H")):
        sites.take("H")
        methods.append(tuple(sites.take("H") for _ in range(sites.take("H"))))
    return methods
