"""Reads the headers of Druid's formats. Every access is checked against the end of the bytes."""

from __future__ import annotations

import struct

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.errors import DamagedSegmentError

_I32 = struct.Struct(">i")
_I64 = struct.Struct(">q")
_VBYTE_LIMIT = 5


@dataclass
class Cursor:
    """A position in `data`. Numbers are big-endian."""

    data: memoryview
    position: int = 0

    def take(self, size: int) -> memoryview:
        """The next `size` bytes, without a copy."""
        end = self.position + size
        if size < 0 or end > len(self.data):
            raise DamagedSegmentError(f"{size} bytes expected at {self.position}, {self.remaining} left")
        taken = self.data[self.position : end]
        self.position = end
        return taken

    @property
    def remaining(self) -> int:
        return len(self.data) - self.position

    def rest(self) -> memoryview:
        return self.take(self.remaining)

    def peek(self) -> int:
        """The next byte, unsigned; it is not consumed."""
        byte = self.u8()
        self.position -= 1
        return byte

    def u8(self) -> int:
        return self.take(1)[0]

    def i8(self) -> int:
        return int.from_bytes(self.take(1), signed=True)

    def i32(self) -> int:
        return int(_I32.unpack(self.take(4))[0])

    def i64(self) -> int:
        return int(_I64.unpack(self.take(8))[0])

    def count(self) -> int:
        """A number of things, as int32."""
        value = self.i32()
        if value < 0:
            raise DamagedSegmentError(f"negative count {value} at {self.position - 4}")
        return value

    def string(self) -> str:
        """UTF-8 with its length as int32 (org.apache.druid.common.utils.SerializerUtils)."""
        return text(self.take(self.count()))

    def vbyte(self) -> int:
        """7 bits a byte, the low ones first; the high bit marks the last byte (org.apache.druid.segment.data.VByte)."""
        value = 0
        for index in range(_VBYTE_LIMIT):
            byte = self.u8()
            value |= (byte & 0x7F) << (7 * index)
            if byte & 0x80:
                return value
        raise DamagedSegmentError(f"a variable-length integer at {self.position} has no end")


def text(data: memoryview | bytes) -> str:
    """UTF-8 bytes as text. Raises DamagedSegmentError."""
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise DamagedSegmentError(f"invalid UTF-8: {error}") from error
