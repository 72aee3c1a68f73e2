"""A position in bytes, for the formats of Avro and Thrift. Reading past the end raises ValueError."""

from __future__ import annotations


class ByteReader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        if self.at >= len(self.data):
            raise ValueError("the file is truncated")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, size: int) -> bytes:
        end = self.at + size
        if not self.at <= end <= len(self.data):
            raise ValueError("the file is truncated")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def varint(self) -> int:
        """An integer of at most 64 bits, 7 of them in each byte."""
        result = shift = 0
        while self.at < len(self.data) and shift <= 63:
            byte = self.data[self.at]
            self.at += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result
            shift += 7
        raise ValueError("the file is damaged" if shift > 63 else "the file is truncated")

    def zigzag(self) -> int:
        """A signed integer as a varint."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)
