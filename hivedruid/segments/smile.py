"""SMILE, the binary JSON in which Druid stores JSON columns (github.com/FasterXML/smile-format-specification)."""

from __future__ import annotations

import json
from math import isfinite
from struct import unpack
from typing import Any

from hivedruid.java_numbers import double_text
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError

_HEADER = b":)\n"
_SHARED_NAMES, _SHARED_VALUES = 1, 2
_MOST_SHARED, _SHARED_BYTES = 1024, 64
_END_OF_STRING = b"\xfc"
_MOST_DEPTH = 500
_MOST_NUMBER = 1 << 10
"""Bytes of a number; Python writes no text of much larger ones."""
_CONSTANTS = {0x20: "", 0x21: None, 0x22: False, 0x23: True}


def text_of(document: bytes) -> str | None:
    """The value of a SMILE document as the text of a column of strings: a string as it is, a number as Java writes it,
    else JSON without blanks; None for null and for no bytes. Raises SegmentError."""
    if not document:
        return None
    value = _Decoder(document).document()
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return double_text(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class _Decoder:
    """Reads `data` from the position `at`. Texts that later ones may refer to are kept in `names` and `values`; None if
    the document has no such references. Slots and slices, since there is one for each document."""

    __slots__ = ("at", "data", "names", "values")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 4
        self.names: list[str] | None = None
        self.values: list[str] | None = None

    def document(self) -> Any:
        """The value. Raises SegmentError."""
        if self.data[:3] != _HEADER:
            raise DamagedSegmentError("a JSON value does not begin with the header of SMILE")
        try:
            flags = self.data[3]
            if flags >> 4:
                raise UnsupportedSegmentError(f"unknown version {flags >> 4} of SMILE")
            self.names = [] if flags & _SHARED_NAMES else None
            self.values = [] if flags & _SHARED_VALUES else None
            value = self._value(0)
        except IndexError:
            raise DamagedSegmentError("a JSON value has no end") from None
        except UnicodeDecodeError as error:
            raise DamagedSegmentError(f"invalid UTF-8: {error}") from error
        if self.at > len(self.data):
            raise DamagedSegmentError("a JSON value has no end")
        return value

    def _value(self, depth: int) -> Any:
        token = self.data[self.at]
        self.at += 1
        if 0x40 <= token < 0xC0:  # of ASCII characters up to 0x7F
            return self._text(token - (0x3F if token < 0x80 else 0x7E), self.values)
        if 0xC0 <= token < 0xE0:
            return _unzigzag(token & 0x1F)
        if token == 0xF8:
            return self._array(depth)
        if token == 0xFA:
            return self._object(depth)
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        if token in (0xE0, 0xE4):
            return self._long_text()
        if 0x01 <= token < 0x20:
            return _shared(self.values, token - 1)
        if 0xEC <= token < 0xF0:
            return _shared(self.values, (token & 3) << 8 | self._byte())
        return self._number(token)

    def _byte(self) -> int:
        byte = self.data[self.at]
        self.at += 1
        return byte

    def _text(self, size: int, texts: list[str] | None) -> str:
        """A text of this number of bytes, which is remembered in `texts` if later ones may refer to it."""
        start = self.at
        self.at = end = start + size
        found = str(self.data[start:end], "utf-8")
        if texts is not None and size <= _SHARED_BYTES:
            if len(texts) == _MOST_SHARED:
                texts.clear()
            texts.append(found)
        return found

    def _long_text(self) -> str:
        start, end = self.at, self.data.find(_END_OF_STRING, self.at)
        if end < 0:
            raise DamagedSegmentError("a string in JSON has no end")
        self.at = end + 1
        return str(self.data[start:end], "utf-8")

    def _number(self, token: int) -> Any:
        if token in (0x24, 0x25):
            return _unzigzag(self._unsigned())
        if token == 0x29:
            number: float = unpack(">d", self._sevens(10, 8))[0]
            return number if isfinite(number) else double_text(number)  # JSON has no such numbers: Druid quotes them
        if token == 0x26:
            return int.from_bytes(self._packed(), signed=True)
        if token == 0x2A:
            scale = _unzigzag(self._unsigned())
            return float(f"{int.from_bytes(self._packed(), signed=True)}e{-scale}")
        raise UnsupportedSegmentError(f"unknown token {token:#x} of SMILE")

    def _array(self, depth: int) -> list[Any]:
        _check_depth(depth)
        found, data = [], self.data
        while data[self.at] != 0xF9:
            found.append(self._value(depth + 1))
        self.at += 1
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        _check_depth(depth)
        found = {}
        while (token := self._byte()) != 0xFB:
            name = self._name(token)
            found[name] = self._value(depth + 1)
        return found

    def _name(self, token: int) -> str:
        if 0x40 <= token < 0x80:
            return _shared(self.names, token - 0x40)
        if 0x80 <= token < 0xF8:
            return self._text(token - (0x7F if token < 0xC0 else 0xBE), self.names)
        if 0x30 <= token < 0x34:
            return _shared(self.names, (token & 3) << 8 | self._byte())
        if token == 0x34:
            return self._long_text()
        if token == 0x20:
            return ""
        raise DamagedSegmentError(f"unknown name token {token:#x} of SMILE")

    def _unsigned(self) -> int:
        """7 bits a byte, the high ones first; the last byte has 6 bits and the high bit."""
        value = 0
        for _ in range(10):
            byte = self._byte()
            if byte & 0x80:
                return value << 6 | (byte & 0x3F)
            value = value << 7 | byte
        raise DamagedSegmentError("a number in JSON has no end")

    def _taken(self, size: int) -> bytes:
        start = self.at
        self.at = end = start + size
        if end > len(self.data):
            raise DamagedSegmentError("a number in JSON has no end")
        return self.data[start:end]

    def _sevens(self, count: int, size: int) -> bytes:
        """`count` bytes of 7 bits each, as `size` bytes."""
        value = 0
        for byte in self._taken(count):
            value = value << 7 | (byte & 0x7F)
        return (value & ((1 << 8 * size) - 1)).to_bytes(size)

    def _packed(self) -> bytes:
        """Bytes with their number before them: seven in eight bytes of 7 bits, the rest aligned to its last byte."""
        size = self._unsigned()
        if size > _MOST_NUMBER:
            raise UnsupportedSegmentError(f"a number of {size} bytes")
        found = bytearray()
        while size > len(found):
            part = min(7, size - len(found))
            value = 0
            for index, byte in enumerate(self._taken(part + 1)):
                bits = 7 if index < part else part
                value = value << bits | (byte & ((1 << bits) - 1))
            found += value.to_bytes(part)
        return bytes(found)


def _unzigzag(value: int) -> int:
    return value >> 1 ^ -(value & 1)


def _shared(texts: list[str] | None, index: int) -> str:
    if texts is None or index >= len(texts):
        raise DamagedSegmentError("a reference in JSON has no target")
    return texts[index]


def _check_depth(depth: int) -> None:
    if depth >= _MOST_DEPTH:
        raise UnsupportedSegmentError(f"JSON with more than {_MOST_DEPTH} levels")
