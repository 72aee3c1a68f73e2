"""SMILE, the binary JSON in which Druid stores JSON columns (github.com/FasterXML/smile-format-specification)."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

from hivedruid.segments.cursor import Cursor, text
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError

_HEADER = b":)\n"
_SHARED_NAMES, _SHARED_VALUES = 1, 2
_MOST_SHARED, _SHARED_BYTES = 1024, 64
_END_OF_STRING = 0xFC
_MOST_DEPTH = 500


def json_of(document: bytes) -> str | None:
    """A SMILE document as JSON text; None for null and for no bytes. Raises SegmentError."""
    if not document:
        return None
    value = _Decoder(Cursor(memoryview(document))).document()
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass
class _Decoder:
    cursor: Cursor
    names: list[str] | None = field(default_factory=list)
    values: list[str] | None = None

    def document(self) -> Any:
        if bytes(self.cursor.take(3)) != _HEADER:
            raise DamagedSegmentError("a JSON value does not begin with the header of SMILE")
        flags = self.cursor.u8()
        if flags >> 4:
            raise UnsupportedSegmentError(f"unknown version {flags >> 4} of SMILE")
        self.names = [] if flags & _SHARED_NAMES else None
        self.values = [] if flags & _SHARED_VALUES else None
        return self.value(0)

    def value(self, depth: int) -> Any:
        token = self.cursor.u8()
        if 0x40 <= token < 0xC0:
            return self._short_text(token)
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
            return _shared(self.values, (token & 3) << 8 | self.cursor.u8())
        return self._number(token)

    def _short_text(self, token: int) -> str:
        first = {0x40: 1, 0x60: 33, 0x80: 2, 0xA0: 34}[token & 0xE0]
        found = text(self.cursor.take((token & 0x1F) + first))
        _share(self.values, found)
        return found

    def _long_text(self) -> str:
        start = self.cursor.position
        end = bytes(self.cursor.data[start:]).find(_END_OF_STRING)
        if end < 0:
            raise DamagedSegmentError("a string in JSON has no end")
        found = text(self.cursor.take(end))
        self.cursor.u8()
        return found

    def _number(self, token: int) -> Any:
        if token in (0x24, 0x25):
            return _unzigzag(self._unsigned())
        if token == 0x28:
            return struct.unpack(">f", self._sevens(5, 4))[0]
        if token == 0x29:
            return struct.unpack(">d", self._sevens(10, 8))[0]
        if token == 0x26:
            return int.from_bytes(self._packed(), signed=True)
        if token == 0x2A:
            scale = _unzigzag(self._unsigned())
            return float(f"{int.from_bytes(self._packed(), signed=True)}e{-scale}")
        raise UnsupportedSegmentError(f"unknown token {token:#x} of SMILE")

    def _array(self, depth: int) -> list[Any]:
        _check_depth(depth)
        found = []
        while self.cursor.peek() != 0xF9:
            found.append(self.value(depth + 1))
        self.cursor.u8()
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        _check_depth(depth)
        found = {}
        while (token := self.cursor.u8()) != 0xFB:
            name = self._name(token)
            found[name] = self.value(depth + 1)
        return found

    def _name(self, token: int) -> str:
        if token == 0x20:
            return ""
        if 0x30 <= token < 0x34:
            return _shared(self.names, (token & 3) << 8 | self.cursor.u8())
        if 0x40 <= token < 0x80:
            return _shared(self.names, token - 0x40)
        if token == 0x34:
            return self._long_text()
        if 0x80 <= token < 0xF8:
            size = (token & 0x3F) + 1 if token < 0xC0 else token - 0xC0 + 2
            found = text(self.cursor.take(size))
            _share(self.names, found)
            return found
        raise DamagedSegmentError(f"unknown name token {token:#x} of SMILE")

    def _unsigned(self) -> int:
        """7 bits a byte, the high ones first; the last byte has 6 bits and the high bit."""
        value = 0
        for _ in range(10):
            byte = self.cursor.u8()
            if byte & 0x80:
                return value << 6 | (byte & 0x3F)
            value = value << 7 | byte
        raise DamagedSegmentError("a number in JSON has no end")

    def _sevens(self, count: int, size: int) -> bytes:
        """`count` bytes of 7 bits each, as `size` bytes."""
        value = 0
        for byte in self.cursor.take(count):
            value = value << 7 | (byte & 0x7F)
        return (value & ((1 << 8 * size) - 1)).to_bytes(size)

    def _packed(self) -> bytes:
        """Bytes with their number before them: seven in eight bytes of 7 bits, the rest aligned to its last byte."""
        size = self._unsigned()
        found = bytearray()
        while size > len(found):
            part = min(7, size - len(found))
            value = 0
            for index, byte in enumerate(self.cursor.take(part + 1)):
                bits = 7 if index < part else part
                value = value << bits | (byte & ((1 << bits) - 1))
            found += value.to_bytes(part)
        return bytes(found)


_CONSTANTS = {0x20: "", 0x21: None, 0x22: False, 0x23: True}


def _unzigzag(value: int) -> int:
    return value >> 1 ^ -(value & 1)


def _share(texts: list[str] | None, value: str) -> None:
    """Remember a text that later ones may refer to."""
    if texts is not None and len(value.encode()) <= _SHARED_BYTES:
        if len(texts) == _MOST_SHARED:
            texts.clear()
        texts.append(value)


def _shared(texts: list[str] | None, index: int) -> str:
    if texts is None or index >= len(texts):
        raise DamagedSegmentError("a reference in JSON has no target")
    return texts[index]


def _check_depth(depth: int) -> None:
    if depth >= _MOST_DEPTH:
        raise UnsupportedSegmentError(f"JSON with more than {_MOST_DEPTH} levels")
